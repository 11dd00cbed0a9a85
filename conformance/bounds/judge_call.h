// One call, judged: what an executor and a recording say, against what an oracle allows.
//
// Used for single ops (worst-case radii, multiple 1) and for whole programs (standard deviations, a
// multiple from the false-alarm rate) alike. Everything compared is collected; nothing stops at the
// first difference.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/run/expected_call.h"
#include "spec/executor.h"

namespace graphgate::conformance {

// One difference. `where` is "output 0", "final input 1", "state 'cache'"; `subject` says who is
// off: the executor's name or "recording".
struct Difference {
  enum class Kind : std::uint8_t {
    kNumber,   // out of bounds
    kExact,    // what no rounding can move: counts, integers, radius 0
    kForm,     // dtype, sizes or device
    kLayout,   // strides or storage offset
    kSharing,  // whose storage it is
  };
  std::string subject;
  std::string where;
  std::string message;
  Kind kind = Kind::kExact;
};

// What one call came to.
struct CallReport {
  std::vector<Difference> differences;
  std::int64_t elements = 0;
  std::int64_t undecided = 0;
  bool has_blind_tensor = false;  // some floating tensor of which the oracle could tell no element
  double worst_ratio = 0;         // over all comparisons
  double worst_error = 0;         // at the same element
  double worst_allowed = 0;       // at the same element
  // For each compared tensor with an error: |error| / allowed of its worst element, recordings
  // only.
  std::vector<double> recording_ratios;
};

struct JudgeOptions {
  // Radii allowed; absent: sigma_multiple of the call's element count at `false_alarm_rate`.
  std::optional<double> multiple = {};
  double false_alarm_rate = 1e-9;
  // Outputs are looked at; else only what a call leaves behind: final inputs and states.
  bool outputs = true;
  // Outputs have the strides and storage offsets of the oracle (Promises::keeps_layouts).
  bool layouts = true;
  // A recording lists every input that a call changes: the others must be as they were given.
  bool lists_changed_inputs = true;
  // The program returns new contents of what it mutates, so an output that was a view of a mutated
  // tensor may come as a tensor of its own.
  bool functionalized = false;
};

// `actual` from an executor named `name`, `oracle` from an oracle executor on the same inputs.
[[nodiscard]] CallReport judge_call(const std::string& name, const spec::CallResult& actual,
                                    const spec::CallResult& oracle, const ExpectedCall& expected,
                                    const JudgeOptions& options);

// Returns what the recording alone says of `actual`, where no oracle could run the call. It
// compares how many outputs there are and of which kind, dtypes, sizes, strides, sharing and
// integers. It also compares which inputs stay as they were given. Tensors' values are not
// compared, so the report counts no elements.
[[nodiscard]] CallReport judge_recorded_form(const std::string& name,
                                             const spec::CallResult& actual,
                                             const ExpectedCall& expected,
                                             const JudgeOptions& options);

}  // namespace graphgate::conformance
