// What one side of a gate came to: every case of the corpus, by name, with what was found there.
//
// `graphgate gate --save FILE` writes a side as JSON (docs/formats.md); such a file stands for that
// side in later runs. Processes that run single cases hand back the same form.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "conformance/judges/plan_quality.h"
#include "interop/json_cursor.h"
#include "spec/outcome.h"
#include "spec/torch_release.h"

namespace graphgate::tools {

inline constexpr int kGateSideVersion = 1;

// `signature` has no options: they vary from case to case, and a side has its own.
struct GateFinding {
  std::string signature;  // fuzz/reduce/signature.h: "verifier V3.overlap [mm, pointwise] {}"
  std::string message;
  friend bool operator==(const GateFinding&, const GateFinding&) = default;
};

struct GateCase {
  spec::Outcome outcome = spec::Outcome::kPass;  // kInfra: it could not be run
  std::string reason;
  std::string not_compared;                 // conformance::CaseReport::not_compared
  std::vector<GateFinding> findings;        // each signature once
  bool is_bad_input = false;                // what the case says cannot be run by anybody
  bool is_flaky = false;                    // looked at again, it showed something else
  std::vector<conformance::Quality> plans;  // by call; empty from executors that make none
  double seconds = 0;                       // by the clock, all looks together
  // For each look that a process answered, how long it was asked for, without its start.
  std::vector<double> answer_seconds = {};
  // The release of PyTorch that it was judged by; open where the side does not say.
  spec::TorchRelease torch = {};
  // What the reference met that releases do otherwise, and since which.
  std::map<std::string, spec::TorchRelease> version_facts = {};
  friend bool operator==(const GateCase&, const GateCase&) = default;
};

struct GateSide {
  std::string name;  // as on the command line: "torch-2.9.0"
  std::map<std::string, GateCase> cases;
  std::string identity = {};  // of a command, as it greets: "optimized 0.1.0"

  // "new (optimized 0.1.0)".
  [[nodiscard]] std::string title() const {
    return identity.empty() ? name : name + " (" + identity + ")";
  }
};

// Whether the side, or the judges of the case, were not done in time. That may be the machine's
// doing: nothing is held against the side, and what else the case shows is not whole.
[[nodiscard]] bool did_not_answer(const GateCase& one);

// A difference of answers in time that a person would notice, in seconds.
inline constexpr double kLeastSlowerSeconds = 0.5;

// Looks at each side that tell slower from late. Where nothing but a busy machine makes the
// difference, all six of one side take longer than all six of the other once in 924 times.
inline constexpr std::size_t kTimeLooks = 6;

// Whether answers on one side took longer than on another, by more than `threshold` of these and
// by kLeastSlowerSeconds at least, each look longer than all looks there, however few there are.
// Never where a side has no times.
[[nodiscard]] bool seems_slower(const GateCase& one, const GateCase& than, double threshold);
// The same of kTimeLooks looks at each.
[[nodiscard]] bool is_slower(const GateCase& one, const GateCase& than, double threshold);

// Whether JSON has the times of a case, which no two runs share.
enum class Times : bool { kNone, kToo };
[[nodiscard]] nlohmann::ordered_json json_of(const GateCase& one, Times times = Times::kNone);
[[nodiscard]] nlohmann::ordered_json json_of(const GateSide& side);

// The inverses. kBadInput names the place.
[[nodiscard]] Result<GateCase> read_gate_case(const interop::JsonCursor& object);
[[nodiscard]] Result<GateSide> read_gate_side(const std::string& text, const std::string& file);

}  // namespace graphgate::tools
