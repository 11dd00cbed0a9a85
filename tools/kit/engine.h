// An engine of somebody else's under test, in C++: an executor (spec/executor.h) with its name and
// what it says of itself.
//
//   const Engine kEngine("mine", [] { return std::make_unique<MyExecutor>(); });
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "conformance/run/executor_source.h"
#include "fuzz/campaign/case_runs.h"

namespace graphgate::kit {

// Makes an executor for a case whose ops are these, which outlive it. `options` are those of the
// case that the engine takes.
using MakeExecutor = std::function<Result<std::unique_ptr<spec::Executor>>(
    const spec::Configuration& options, const spec::OpTable& ops)>;

struct EngineSettings {
  std::string name = "engine";
  // Names of options (docs/options.md) that `make` understands. Cases come without the others.
  std::vector<std::string> options = {};
  conformance::Promises promises = {};
  // The judges: names with commas (docs/judges.md). Those that need what the engine does not have,
  // a plan for the verifier, say nothing.
  std::string judges = "exact,bounds,verifier,state,happens-before";
  // Each look at a case is taken in a forked process, so that a crash or a hang is a finding with a
  // case. Not for engines that a fork breaks: those with threads or a GPU in use by then.
  bool is_forked = true;
  std::uint32_t timeout_seconds = 20;  // of each look; a forked one that takes longer is a finding
};

class Engine final : public conformance::ExecutorSource {
 public:
  Engine(EngineSettings settings, MakeExecutor make)
      : settings_(std::move(settings)), make_(std::move(make)) {}
  // An engine without options: `make()` returns a std::unique_ptr of an executor.
  template <class Make>
  requires std::is_invocable_v<const Make&> Engine(EngineSettings settings, Make make)
      : Engine(std::move(settings),
               MakeExecutor([make = std::move(make)](const spec::Configuration& /*options*/,
                                                     const spec::OpTable& /*ops*/) {
                 return Result<std::unique_ptr<spec::Executor>>(make());
               })) {}
  template <class Make>
  Engine(std::string name, Make make)
      : Engine(EngineSettings{.name = std::move(name)}, std::move(make)) {}

  [[nodiscard]] std::string_view name() const override { return settings_.name; }
  [[nodiscard]] const EngineSettings& settings() const { return settings_; }
  [[nodiscard]] conformance::Promises promises(
      const spec::Configuration& /*options*/) const override {
    return settings_.promises;
  }
  // kUnsupported for an option that the engine does not take.
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(
      const spec::Configuration& options, const spec::OpTable& ops) const override;

  [[nodiscard]] bool takes(std::string_view option) const;
  // Returns the case with those of its options that the engine takes.
  [[nodiscard]] spec::CaseFile with_own_options(spec::CaseFile the_case) const;
  // Loads each program of the case, in this process. Returns what the engine says where it does not
  // take one.
  [[nodiscard]] Result<void> load(const spec::CaseFile& the_case) const;
  // Returns how a look at a case is taken.
  [[nodiscard]] fuzz::Isolation isolation() const;

 private:
  EngineSettings settings_;
  MakeExecutor make_;
};

inline std::ostream& operator<<(std::ostream& out, const Engine& engine) {
  return out << "the engine '" << engine.name() << "'";
}

}  // namespace graphgate::kit
