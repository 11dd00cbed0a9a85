// For tests of the optimized executor: programs from text, inputs from numbers, plans and runs.
#pragma once

#include <cstring>
#include <initializer_list>
#include <string>

#include "base/result_test.h"
#include "optimized/analysis/symbols.h"
#include "optimized/deviation_programs_test.h"
#include "optimized/optimized.h"
#include "spec/graph_text.h"
#include "spec/host_tensor_test.h"
#include "spec/plan_text.h"

namespace graphgate::optimized {

using Inputs = std::vector<spec::InputValue>;

inline spec::Program program_of(const std::string& text) {
  return must(spec::parse_program(text, spec::builtin_op_table()));
}

inline spec::HostTensor f32(std::vector<std::int64_t> sizes, const std::vector<float>& values) {
  return spec::host_tensor(spec::DType::kFloat32, std::move(sizes), values);
}

inline spec::HostTensor i64(std::vector<std::int64_t> sizes,
                            const std::vector<std::int64_t>& values) {
  return spec::host_tensor(spec::DType::kInt64, std::move(sizes), values);
}

inline spec::HostTensor bools(std::vector<std::int64_t> sizes,
                              const std::vector<std::uint8_t>& values) {
  return spec::host_tensor(spec::DType::kBool, std::move(sizes), values);
}

// The elements of a float32 tensor in row-major order.
inline std::vector<float> floats(const spec::HostTensor& tensor) {
  EXPECT_EQ(tensor.dtype, spec::DType::kFloat32);
  return spec::elements_of(tensor);
}
inline std::vector<float> floats(const spec::OutputValue& value) {
  return floats(std::get<spec::HostTensor>(value));
}

// Stages are tested with a launch per node, so that every node stands in the plan by its name;
// tests of compilers take what the options ask for.
enum class Launches : std::uint8_t { kPerNode, kAsAsked };

inline Result<spec::Plan> plan_of(const spec::Program& program, const Inputs& inputs,
                                  CompileOptions options = {},
                                  Launches launches = Launches::kPerNode) {
  if (launches == Launches::kPerNode) options.compiler.name = "eager";
  GRAPHGATE_TRY(const auto symbols, bind_symbols(program, inputs, false));
  GRAPHGATE_TRY(const spec::Graph prepared, prepare(program, options));
  return compile(program, prepared, inputs, symbols, options);
}

inline spec::Plan good_plan_of(const spec::Program& program, const Inputs& inputs,
                               const CompileOptions& options = {},
                               Launches launches = Launches::kPerNode) {
  auto plan = must(plan_of(program, inputs, options, launches));
  must(spec::check_plan(plan));
  return plan;
}

// Runs each call in turn on one loaded program.
inline std::vector<spec::CallResult> run_calls(const spec::Program& program,
                                               const std::vector<Inputs>& calls,
                                               const Options& options = {}) {
  std::vector<spec::CallResult> results;
  auto loaded = must(make_executor(options)->load(program));
  for (const auto& inputs : calls) {
    results.push_back(must(loaded->call(inputs)));
  }
  return results;
}

// "step step | step" with the node names of block 0, `|` between partitions, () around eager ones.
inline std::string partitions_of(const spec::Plan& plan) {
  std::string text;
  for (const spec::PlanPartition& partition : plan.blocks.front().partitions) {
    if (!text.empty()) text += " | ";
    std::string steps;
    for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) {
      steps += (steps.empty() ? "" : " ") + plan.steps[s].node.name;
    }
    text += partition.captured ? steps : "(" + steps + ")";
  }
  return text;
}

// "in a b free c out d const w" for one partition of block 0, by the names of buffers.
inline std::string signature_of(const spec::Plan& plan, std::size_t partition) {
  const spec::PlanSignature& signature = plan.blocks.front().partitions.at(partition).signature;
  const auto name = [&](spec::BufferId id) { return " " + plan.buffers[id.index].name; };
  std::string in;
  std::string free;
  for (const spec::SignatureInput& input : signature.inputs) {
    (input.deallocate ? free : in) += name(input.buffer);
  }
  std::string out;
  for (const spec::BufferId id : signature.outputs) out += name(id);
  std::string constants;
  for (const spec::BufferId id : signature.constants) constants += name(id);
  return "in" + in + " free" + free + " out" + out + " const" + constants;
}

}  // namespace graphgate::optimized
