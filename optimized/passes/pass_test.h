// For tests of passes: graphs after chosen passes, and runs compared bit by bit.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "optimized/arithmetic/tile.h"
#include "optimized/passes/pass_manager.h"
#include "optimized/program_test.h"

namespace graphgate::optimized {

inline CompileOptions deviating_by(spec::Deviation deviation) {
  CompileOptions options;
  options.deviations.add(deviation);
  return options;
}

inline spec::Graph prepared(const spec::Program& program, const CompileOptions& options = {}) {
  return must(prepare(program, options));
}

// "mm add relu": the ops of a graph without namespace and overload.
inline std::string ops_of(const spec::Graph& graph) {
  std::string out;
  for (const spec::Node& node : graph.nodes) {
    const std::size_t begin = node.op.find('.') + 1;
    out += (out.empty() ? "" : " ") + node.op.substr(begin, node.op.find('.', begin) - begin);
  }
  return out;
}
inline std::string ops_of(const spec::Program& program, const CompileOptions& options = {}) {
  return ops_of(prepared(program, options));
}

inline std::map<std::string, PassCount, std::less<>> counts_of(const spec::Program& program,
                                                               const CompileOptions& options = {}) {
  std::map<std::string, PassCount, std::less<>> counts;
  must(run_passes(program, *options.ops, options.deviations, options.passes, &counts));
  return counts;
}

// Everything off but what no program runs without.
inline CompileOptions without_passes() {
  CompileOptions options;
  for (const Pass& pass : builtin_passes()) {
    if (pass.name != "undo_functionalization") options.passes.disabled.push_back(pass.name);
  }
  return options;
}

// Values of mixed magnitudes and signs, the same for one seed on any machine.
inline spec::HostTensor values_of(spec::DType dtype, std::vector<std::int64_t> sizes,
                                  std::uint32_t seed) {
  spec::HostTensor tensor = spec::make_host_tensor(dtype, std::move(sizes));
  const std::int64_t item = spec::item_size_bytes(dtype);
  const auto count = static_cast<std::int64_t>(tensor.storage->bytes.size()) / item;
  std::mt19937 draw(seed);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto fraction = static_cast<double>(draw() & 0xffffffU) / 0x1p23 - 1;
    const double value = std::ldexp(fraction, static_cast<int>(draw() % 6U) - 2);
    store_element<double>(dtype, value, tensor.storage->bytes.data() + i * item);
  }
  return tensor;
}

inline std::vector<std::byte> bytes_of(const spec::CallResult& result) {
  std::vector<std::byte> out;
  const auto add = [&](const auto& value) {
    const auto* tensor = std::get_if<spec::HostTensor>(&value);
    if (!tensor) return;
    out.push_back(static_cast<std::byte>(tensor->dtype));
    for (const std::int64_t stride : tensor->strides) out.push_back(static_cast<std::byte>(stride));
    const auto bytes = spec::packed_bytes(*tensor);
    out.insert(out.end(), bytes.begin(), bytes.end());
  };
  for (const auto& output : result.outputs) add(output);
  for (const auto& input : result.final_inputs) add(input);
  for (const auto& state : result.final_states) add(spec::InputValue(state));
  return out;
}

inline std::vector<spec::CallResult> run_with(const spec::Program& program,
                                              const std::vector<Inputs>& calls,
                                              const CompileOptions& compile) {
  Options options;
  options.compile = compile;
  return run_calls(program, calls, options);
}

// Bits, strides and states are those of a run without passes.
inline void expect_unchanged(const spec::Program& program, const std::vector<Inputs>& calls,
                             const CompileOptions& options = {}) {
  const auto expected = run_with(program, calls, without_passes());
  const auto actual = run_with(program, calls, options);
  ASSERT_EQ(expected.size(), calls.size());
  ASSERT_EQ(actual.size(), calls.size());
  for (std::size_t c = 0; c < calls.size(); ++c) {
    EXPECT_EQ(bytes_of(expected[c]), bytes_of(actual[c])) << program.name << ", call " << c;
  }
}

// Whether some bit of the results differs from a run without passes: what a deviation should do.
inline bool changes(const spec::Program& program, const Inputs& inputs,
                    const CompileOptions& options) {
  const auto expected = run_with(program, {inputs}, without_passes());
  const auto actual = run_with(program, {inputs}, options);
  return expected.size() != 1 || actual.size() != 1 || bytes_of(expected[0]) != bytes_of(actual[0]);
}

}  // namespace graphgate::optimized
