// The seam between judges and executors. conformance/ and fuzz/ know executors only through this.
//
// An Executor loads a program; the LoadedProgram keeps its state (buffers, hidden state) from call
// to call. What a call returns is everything a call means: outputs with their geometry and storage
// sharing, and the final bytes of every input and buffer.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "spec/call_options.h"
#include "spec/finding.h"
#include "spec/program.h"
#include "spec/provenance.h"
#include "spec/sleep.h"

namespace graphgate::spec {

// What a caller passes for one user input: a tensor, or a number where the program takes one.
using InputValue = std::variant<HostTensor, std::int64_t, double, bool>;

// One user output: a tensor, a symbolic number, or None.
using OutputValue = std::variant<None, HostTensor, std::int64_t, double, bool>;

// What an oracle knows of a tensor's elements, in row-major order: the value in wider arithmetic,
// and how far from it a right executor may land. An infinite radius says that the oracle cannot
// tell (an index or a branch depended on a tie). Integers and booleans: radius 0, or infinite. A
// complex element has two entries, its real and then its imaginary part, each with a radius of its
// own.
struct Spread {
  std::vector<long double> values;
  std::vector<double> radii;
};

// After one call. Tensors that share a `storage` pointer alias, across all lists.
struct CallResult {
  std::vector<OutputValue> outputs;        // user outputs, in order
  std::vector<InputValue> final_inputs;    // user inputs after the call, in order
  std::vector<HostTensor> final_states;    // parameters, buffers and constants after the call,
  std::vector<std::string> state_targets;  //   with their targets
  // From an oracle, one Spread per tensor of the lists above, and of one element per float. A
  // Spread is empty for what else is no tensor, and for large inputs that nobody wrote
  // (spec/spread_limit.h). From an executor, the lists are empty.
  std::vector<Spread> output_spreads;
  std::vector<Spread> final_input_spreads;
  std::vector<Spread> final_state_spreads;
  // What the executor's own instruments saw during the call: reads of bytes that nothing wrote,
  // writes outside. Empty without them.
  std::vector<Finding> findings;
  // In a provenance run: every tensor read and made, in the order of execution, then the end.
  std::vector<ProvenanceRow> provenance;
};

struct Plan;

// A user output of an earlier call that the caller has kept where it lies, without a copy.
class HeldOutput {
 public:
  virtual ~HeldOutput() = default;
  // Its bytes as they are now. kBadInput, saying which run took its place, when the executor no
  // longer answers for them (a weak output, after another run of its pool).
  [[nodiscard]] virtual Result<HostTensor> read() const = 0;
};

class LoadedProgram {
 public:
  virtual ~LoadedProgram() = default;
  // Runs once. `inputs` are the user inputs in order; their storages are never written: mutation
  // of an input shows in CallResult::final_inputs. Fails with kBadInput on a wrong count, dtype,
  // size, or a size outside its symbol's range.
  virtual Result<CallResult> call(std::span<const InputValue> inputs) = 0;
  // The same, with a word on how. By default the options are ignored.
  virtual Result<CallResult> call_with(std::span<const InputValue> inputs,
                                       const CallOptions& /*options*/) {
    return call(inputs);
  }
  // Keeps user output `index` of the last call. kBadInput when there was none, or it is no tensor.
  // The result must not outlive the program.
  virtual Result<std::shared_ptr<HeldOutput>> hold(std::size_t /*index*/) {
    return unsupported("this executor hands out copies of its outputs only");
  }
  // Gives a parameter or buffer another content: written at the same address, or (`rebind`) bound
  // to new memory, as assigning to a module's attribute does. kBadInput for an unknown target or
  // another dtype or geometry.
  virtual Result<void> set_state(std::string_view /*target*/, const HostTensor& /*value*/,
                                 bool /*rebind*/) {
    return unsupported("this executor cannot replace state");
  }
  // The plan that the last call followed; null from executors that make none. It never changes:
  // who keeps it shares it.
  [[nodiscard]] virtual std::shared_ptr<const Plan> plan() const { return nullptr; }
  // What compiling has come to so far, as counts by name ("recompiles"); empty from executors that
  // count nothing.
  [[nodiscard]] virtual std::map<std::string, std::int64_t> counts() const { return {}; }
  // Of an executor that an instrument watches: whether plans, results and refusals are those of one
  // that nothing watches, so that one run can stand for both.
  [[nodiscard]] virtual bool is_as_unwatched() const { return false; }
};

class Executor {
 public:
  virtual ~Executor() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  // The program must outlive the result, and is not copied. Fails with kUnsupported, naming the
  // op or the feature, when this executor cannot run it.
  virtual Result<std::unique_ptr<LoadedProgram>> load(const Program& program) = 0;
  // Gives the memory of all that is loaded back, and keeps plans and graphs. Until wake() has
  // brought all of it back, calls and set_state of what still sleeps fail with kBadInput. Returns
  // whether it sleeps at all: by default nothing happens, and calls are served all the while.
  virtual Result<bool> sleep(const SleepRequest& /*asked*/) { return false; }
  // Takes the memory of this part back, or all; no error where it does not sleep. What was lost
  // holds anything until set_state gives it anew.
  virtual Result<void> wake(std::optional<SleepPart> /*part*/) { return {}; }
  // Ends it, and what it has loaded: nothing of it is used any more. A caller that does not ask for
  // this does not hear what goes wrong. kInternal where it breaks down over it.
  virtual Result<void> close() { return {}; }
};

}  // namespace graphgate::spec
