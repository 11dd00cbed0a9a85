// A scenario: calls over one or more programs, and what happens between them. The unit of test.
//
//   call g1 s0=8 mode=captured inputs=first
//   call g2 size=3
//   hold g1.out0
//   call g1 size=16 flag.uniform_decode=true
//   swap-weights g1 seed=3
//   swap-weights g1 seed=4 target=cache rebind=true
//   static g1.in0
//   feed-back g1.out0 -> g1.in1
//   release g1.out0
//   check held
//   sleep level=2 cache="k"
//   wake weights
//   restart no-pass="dead_code"
//
// Steps are plain data, run in order by the harness and drawn by the fuzzer; a step stands on a
// line of its own, or behind `;`. Programs are named as the case names them, in quotes where the
// name is no word.
//
// Invariant: read_step reads what print_step printed, and the other way round.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "spec/call_options.h"
#include "spec/sleep.h"
#include "spec/text_lexer.h"

namespace graphgate::spec {

// Runs a program once.
struct CallStep {
  std::string program;
  // Values of symbols. The name `size` stands for the leading symbol of the first user input: its
  // outermost symbolic size.
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  std::optional<CallMode> mode;
  std::optional<std::string> inputs;              // the name of a set of inputs in the case
  std::map<std::string, std::string> flags = {};  // CallOptions::flags; written flag.NAME=VALUE
  friend bool operator==(const CallStep&, const CallStep&) = default;
};

// An input or output of a program by position (from 0, among its user inputs or outputs). An empty
// `program` means the one called last.
struct PortRef {
  std::string program;
  std::uint32_t index = 0;
  friend bool operator==(const PortRef&, const PortRef&) = default;
};

// Keeps the output of the latest call alive, with a copy of its bytes as they are now.
struct HoldStep {
  PortRef output;
  friend bool operator==(const HoldStep&, const HoldStep&) = default;
};

// Lets a held output go.
struct ReleaseStep {
  PortRef output;
  friend bool operator==(const ReleaseStep&, const ReleaseStep&) = default;
};

// Replaces the contents of every parameter by seeded values, at the same addresses.
struct SwapWeightsStep {
  std::string program;
  std::optional<std::uint64_t> seed;       // absent: the case's seed and the step's number decide
  std::optional<std::string> target = {};  // this parameter or buffer alone
  bool rebind = false;                     // binds new memory instead (LoadedProgram::set_state)
  friend bool operator==(const SwapWeightsStep&, const SwapWeightsStep&) = default;
};

// The next call of `input.program` takes that output of the latest call, the very tensor, as this
// input.
struct FeedBackStep {
  PortRef output;
  PortRef input;
  friend bool operator==(const FeedBackStep&, const FeedBackStep&) = default;
};

// Compares now: what is held with its copy, or parameters, buffers and hidden state with the
// reference's. (Outputs and inputs are compared after every call, asked or not.)
struct CheckStep {
  enum class What : std::uint8_t { kHeld, kState };
  What what = What::kHeld;
  friend bool operator==(const CheckStep&, const CheckStep&) = default;
};

// As if the process ended and another one began: programs are loaded anew, from the case's state,
// by an executor with the case's options and these over them. A folder for a cache stays.
struct RestartStep {
  std::map<std::string, std::string> options;
  // Rows that replace the case's rows of the same op, as when a custom op is registered otherwise.
  std::vector<std::string> ops = {};
  friend bool operator==(const RestartStep&, const RestartStep&) = default;
};

// From here on the program's calls pass this input at one address, as a caller does that keeps
// memory for it: what a call gives is written there, in place, before the call. Behind a restart
// that memory is another.
struct StaticStep {
  PortRef input;
  friend bool operator==(const StaticStep&, const StaticStep&) = default;
};

// The executor gives its memory back, and keeps its graphs. Until all of it has come back it
// refuses to be called. What is lost is given anew (swap-weights) before the program is called
// again.
struct SleepStep {
  SleepRequest asked;
  friend bool operator==(const SleepStep&, const SleepStep&) = default;
};

// Memory comes back: this part of it, or all.
struct WakeStep {
  std::optional<SleepPart> part = {};
  friend bool operator==(const WakeStep&, const WakeStep&) = default;
};

using Step = std::variant<CallStep, HoldStep, ReleaseStep, SwapWeightsStep, FeedBackStep, CheckStep,
                          RestartStep, StaticStep, SleepStep, WakeStep>;

struct Scenario {
  std::vector<Step> steps;
  friend bool operator==(const Scenario&, const Scenario&) = default;
};

// One step, without a line end.
[[nodiscard]] std::string print_step(const Step& step);
// A line for each step, each ending in a line end.
[[nodiscard]] std::string print_scenario(const Scenario& scenario);

// Reads one step of a longer text, and stops behind it. Errors: "SOURCE:LINE:COLUMN: expected ...,
// found ...".
[[nodiscard]] Result<Step> read_step(TextReader& reader);

}  // namespace graphgate::spec
