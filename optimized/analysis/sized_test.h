// For tests of single stages: the sized graph of a program in text.
#pragma once

#include "optimized/analysis/specialize.h"
#include "optimized/program_test.h"

namespace graphgate::optimized {

inline SizedGraph sized_graph_of(const spec::Program& program, const Inputs& inputs,
                                 const CompileOptions& options = {}) {
  const auto symbols = must(bind_symbols(program, inputs, false));
  const auto prepared = must(prepare(program, options));
  return specialize(program, prepared, inputs, symbols, *options.ops, options.deviations);
}

// Zeros of these sizes.
inline spec::InputValue zeros(std::vector<std::int64_t> sizes) {
  return spec::make_host_tensor(spec::DType::kFloat32, std::move(sizes));
}

// 1, 2, 3... of these sizes.
inline spec::InputValue counting(std::vector<std::int64_t> sizes) {
  std::vector<float> values(static_cast<std::size_t>(spec::element_count(sizes)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
  return f32(std::move(sizes), std::move(values));
}

inline spec::DeviationSet only(spec::Deviation deviation) {
  spec::DeviationSet out;
  out.add(deviation);
  return out;
}

}  // namespace graphgate::optimized
