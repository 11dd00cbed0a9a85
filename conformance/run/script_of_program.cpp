// Scripts of programs alone: their recorded calls, or drawn ones.
#include "conformance/run/input_layout.h"
#include "conformance/run/script.h"
#include "conformance/run/seeded_inputs.h"
#include "conformance/run/storage_gaps.h"

namespace graphgate::conformance {

Result<Script> script_of(std::shared_ptr<const spec::Program> program,
                         std::span<const ExpectedCall> recorded, int seeded_calls,
                         std::uint64_t seed, std::shared_ptr<const spec::OpTable> ops) {
  Script script{.name = program->name, .ops = std::move(ops)};
  for (const ExpectedCall& expected : recorded) {
    ScriptCall call;
    call.inputs = expected.inputs;
    lay_out_inputs(*program, call.inputs);
    widen_storages(*program, *script.ops, expected.inputs, call.inputs);
    call.expected = expected;
    script.steps.emplace_back(std::move(call));
  }
  for (int i = 0; recorded.empty() && i < seeded_calls; ++i) {
    ScriptCall call;
    GRAPHGATE_TRY(call.inputs, seeded_inputs(*program, seed, i));
    script.steps.emplace_back(std::move(call));
  }
  script.programs.push_back(std::move(program));
  return script;
}

}  // namespace graphgate::conformance
