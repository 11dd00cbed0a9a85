// What ops do otherwise in other releases of PyTorch.
//
// A fact stands beside the op's body, as a VersionFact, and the body asks holds() where the result
// of this very call depends on it. The run's release says whether it holds. Where nobody says which
// release the executor under test goes by, the call is left open: holds() throws Undecidable.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "reference/tensor.h"
#include "spec/torch_release.h"

namespace graphgate::reference {

struct VersionFact {
  std::string_view what;     // one line: "clamp: a bound beyond the dtype bounds nothing"
  spec::TorchRelease since;  // the first release of which it holds
};

// Collects the facts that runs met. May be shared by threads.
class VersionLog {
 public:
  void note(const VersionFact& fact) {
    const std::scoped_lock lock(mutex_);
    met_.emplace(fact.what, fact.since);
  }
  // Returns them by what they say.
  [[nodiscard]] std::map<std::string, spec::TorchRelease> met() const {
    const std::scoped_lock lock(mutex_);
    return met_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, spec::TorchRelease> met_;
};

// What a run goes by.
struct Semantics {
  spec::TorchRelease release = spec::kNewestTorchRelease;
  VersionLog* log = nullptr;  // takes what the run meets; null: nobody does
};

// Those of the running thread. executor.cpp sets them for a run.
[[nodiscard]] inline Semantics& declared_semantics() {
  thread_local Semantics semantics;
  return semantics;
}

// Sets them as long as it lives.
class DeclaredSemantics {
 public:
  explicit DeclaredSemantics(const Semantics& semantics) : before_(declared_semantics()) {
    declared_semantics() = semantics;
  }
  DeclaredSemantics(const DeclaredSemantics&) = delete;
  DeclaredSemantics& operator=(const DeclaredSemantics&) = delete;
  ~DeclaredSemantics() { declared_semantics() = before_; }

 private:
  Semantics before_;
};

// Notes that a result may depend on the fact, where the oracle leaves it open in every release.
inline void meet(const VersionFact& fact) {
  if (VersionLog* const log = declared_semantics().log) log->note(fact);
}

// Whether the fact holds in the run's release. Throws Undecidable where that is open.
[[nodiscard]] inline bool holds(const VersionFact& fact) {
  const Semantics& semantics = declared_semantics();
  meet(fact);
  if (semantics.release.is_open()) {
    throw Undecidable(
        "releases of PyTorch differ here, and the executor does not say by which it "
        "goes: " +
        std::string(fact.what) + ", since " + spec::print_torch_release(fact.since));
  }
  return semantics.release >= fact.since;
}

}  // namespace graphgate::reference
