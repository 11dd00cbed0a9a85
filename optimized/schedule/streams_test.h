// For tests of streams: plans on several streams, what their streams and events order, and what
// runs in other orders come to. All of it is derived from plans alone, by definitions and without
// the code under test.
#pragma once

#include <algorithm>

#include "optimized/program_test.h"

namespace graphgate::optimized {

using spec::Plan;
using spec::PlanStep;

inline CompileOptions on_streams(std::uint32_t count) {
  CompileOptions options;
  options.streams.count = count;
  options.compiler.name = "eager";
  options.partition.split_ops = {"aten.neg.default"};
  return options;
}

inline CompileOptions with(CompileOptions options, spec::Deviation deviation) {
  options.deviations.add(deviation);
  return options;
}

// "a0 | b1 !0 | c0 ?0" for a on stream 0, b on stream 1 that records event 0, c that waits for it.
inline std::string streams_of(const Plan& plan) {
  std::string text;
  for (const PlanStep& step : plan.steps) {
    if (!text.empty()) text += " | ";
    text += step.node.name + std::to_string(step.stream);
    for (const spec::EventId event : step.waits) text += " ?" + std::to_string(event.index);
    for (const spec::EventId event : step.records) text += " !" + std::to_string(event.index);
  }
  return text;
}

// --- Programs whose plans race under a deviation ------------------------------------------------

inline CompileOptions side_streams() {
  CompileOptions options = on_streams(2);
  options.memory.in_place = false;
  return options;
}

// --- What streams and events order, and what touches which bytes, from the plan alone. -----------

using Order = std::vector<std::vector<bool>>;

inline std::vector<std::size_t> partition_of_steps(const Plan& plan) {
  std::vector<std::size_t> out(plan.steps.size());
  const auto& partitions = plan.blocks.front().partitions;
  for (std::size_t p = 0; p < partitions.size(); ++p) {
    for (std::uint32_t s = partitions[p].begin_step; s < partitions[p].end_step; ++s) out[s] = p;
  }
  return out;
}

inline bool records_for(const PlanStep& first, const PlanStep& second) {
  return std::any_of(first.records.begin(), first.records.end(), [&](spec::EventId event) {
    return std::find(second.waits.begin(), second.waits.end(), event) != second.waits.end();
  });
}

// [a][b]: a happens before b. The transitive closure, for a before b in program order.
inline Order happens_before(const Plan& plan) {
  const std::vector<std::size_t> partition = partition_of_steps(plan);
  const std::size_t count = plan.steps.size();
  Order before(count, std::vector<bool>(count, false));
  for (std::size_t b = 0; b < count; ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      before[a][b] = partition[a] != partition[b] || plan.steps[a].stream == plan.steps[b].stream ||
                     records_for(plan.steps[a], plan.steps[b]);
    }
  }
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t a = 0; a < k; ++a) {
      for (std::size_t b = k + 1; b < count; ++b) {
        if (before[a][k] && before[k][b]) before[a][b] = true;
      }
    }
  }
  return before;
}

struct Touch {
  spec::PoolId pool;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool writes = false;
};

inline void touch_value(const Plan& plan, spec::ValueId id, bool writes, std::vector<Touch>& out) {
  const spec::PlanValue& value = plan.values[id.index];
  if (!value.buffer || !value.value.type) return;
  const spec::PlanBuffer& buffer = plan.buffers[value.buffer->index];
  const spec::TensorType& type = *value.value.type;
  std::int64_t last = 0;
  for (std::size_t d = 0; d < type.sizes.size(); ++d) {
    last += (type.sizes[d].constant() - 1) * type.strides[d].constant();
  }
  const std::int64_t begin = buffer.offset_bytes + 4 * type.storage_offset.constant();
  out.push_back({buffer.pool, begin, begin + 4 * (last + 1), writes});
}

inline void touch_node(const Plan& plan, const spec::Node& node, std::vector<Touch>& out) {
  const spec::OpRow* row = spec::builtin_op_table().find(node.op);
  for (std::size_t i = 0; i < row->schema.arguments.size(); ++i) {
    for (const spec::NamedArgument& named : node.arguments) {
      if (named.name != row->schema.arguments[i].name) continue;
      for_each_value(named.argument,
                     [&](spec::ValueId id) { touch_value(plan, id, row->writes(i), out); });
    }
  }
  for (const spec::NodeResult& result : node.results) {
    for (const spec::ValueId id : result.values) touch_value(plan, id, true, out);
  }
}

inline std::vector<Touch> touches_of(const Plan& plan, const PlanStep& step) {
  std::vector<Touch> out;
  if (step.body.empty()) touch_node(plan, step.node, out);
  for (const spec::Node& node : step.body) touch_node(plan, node, out);
  if (step.workspace) {
    const spec::PlanBuffer& buffer = plan.buffers[step.workspace->index];
    out.push_back(
        {buffer.pool, buffer.offset_bytes, buffer.offset_bytes + buffer.size_bytes, true});
  }
  return out;
}

inline bool clash(const std::vector<Touch>& a, const std::vector<Touch>& b) {
  return std::any_of(a.begin(), a.end(), [&](const Touch& x) {
    return std::any_of(b.begin(), b.end(), [&](const Touch& y) {
      return x.pool == y.pool && x.begin < y.end && y.begin < x.end && (x.writes || y.writes);
    });
  });
}

// "a b" where both touch a byte, one of them writes it, and nothing orders them.
inline std::vector<std::string> races_of(const Plan& plan) {
  const Order before = happens_before(plan);
  std::vector<std::vector<Touch>> touches;
  for (const PlanStep& step : plan.steps) touches.push_back(touches_of(plan, step));
  std::vector<std::string> races;
  for (std::size_t b = 0; b < plan.steps.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      if (before[a][b] || !clash(touches[a], touches[b])) continue;
      races.push_back(plan.steps[a].node.name + " " + plan.steps[b].node.name);
    }
  }
  return races;
}

// The final bytes of outputs and inputs of one call, under one order of launches.
inline std::vector<std::vector<std::byte>> bytes_of_run(const spec::Program& program,
                                                        const CompileOptions& compile,
                                                        std::uint64_t seed, const Inputs& inputs) {
  Options options;
  options.compile = compile;
  options.interleaving_seed = seed;
  std::vector<std::vector<std::byte>> out;
  for (const spec::CallResult& result : run_calls(program, {inputs}, options)) {
    for (const auto& value : result.outputs) {
      out.push_back(spec::packed_bytes(std::get<spec::HostTensor>(value)));
    }
    for (const auto& value : result.final_inputs) {
      out.push_back(spec::packed_bytes(std::get<spec::HostTensor>(value)));
    }
  }
  return out;
}

// How many of some seeds give other results than program order on one stream.
inline int seeds_that_differ(const spec::Program& program, const CompileOptions& compile,
                             const Inputs& inputs) {
  const auto right = bytes_of_run(program, on_streams(1), 0, inputs);
  int count = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    if (bytes_of_run(program, compile, seed, inputs) != right) ++count;
  }
  return count;
}

inline Inputs eight() { return {f32({8}, {1, -2, 3, -4, 5, -6, 7, -8})}; }

}  // namespace graphgate::optimized
