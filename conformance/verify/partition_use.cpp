#include "conformance/verify/partition_use.h"

namespace graphgate::verify {
namespace {

void add_buffers(const spec::Plan& plan, const spec::Argument& argument, BufferSet& out) {
  spec::for_each_value(argument, [&](spec::ValueId id) {
    const auto buffer = plan.values[id.index].buffer;
    if (buffer) out.insert(buffer->index);
  });
}

BufferSet results_of(const spec::Plan& plan, std::uint32_t block) {
  BufferSet out;
  for (const spec::Argument& output : plan.blocks[block].outputs) add_buffers(plan, output, out);
  if (block != 0) return out;
  for (const spec::Argument& output : plan.outputs) add_buffers(plan, output, out);
  return out;
}

}  // namespace

std::string PartitionUses::name_of(const spec::Plan& plan, const PartitionUse& use) {
  const std::string text = "partition " + std::to_string(use.index);
  return use.block == 0 ? text : text + " of block '" + plan.blocks[use.block].name + "'";
}

PartitionUses partition_uses(const Accesses& accesses) {
  const spec::Plan& plan = *accesses.plan;
  PartitionUses uses;
  for (const spec::PlanInput& input : plan.inputs) {
    if (input.constant || !plan.values[input.value.index].buffer) continue;
    const std::uint32_t buffer = plan.values[input.value.index].buffer->index;
    uses.program_inputs.insert(buffer);
    if (input.kind != spec::InputKind::kUserInput) uses.states.insert(buffer);
  }
  for (std::uint32_t b = 0; b < plan.blocks.size(); ++b) {
    uses.results.push_back(results_of(plan, b));
  }
  uses.outputs = uses.results.front();
  std::vector<std::vector<std::size_t>> place(plan.blocks.size());  // into `all`
  for (std::uint32_t b = 0; b < plan.blocks.size(); ++b) {
    for (std::uint32_t p = 0; p < plan.blocks[b].partitions.size(); ++p) {
      place[b].push_back(uses.all.size());
      uses.all.push_back({b, p, &plan.blocks[b].partitions[p], {}, {}, {}});
    }
  }
  BufferSet there = uses.program_inputs;
  for (const Access& access : accesses.all) {
    if (!access.buffer || access.kind == AccessKind::kWorkspace) continue;
    const std::uint32_t buffer = access.buffer->index;
    // A tensor without elements is written without a byte.
    const bool no_bytes =
        accesses.is_known[access.value->index] && accesses.value_bytes[access.value->index].empty();
    if (access.writes && !no_bytes) uses.written.insert(buffer);
    if (access.writes) {
      const auto& bases = accesses.may_lie_in[buffer];
      uses.may_be_written.insert(buffer);
      uses.may_be_written.insert_all(bases);
    }
    const bool is_new = access.makes && there.insert(buffer);
    // The partition of the step, and those of the conditionals around it.
    for (std::optional<std::uint32_t> step = access.step; step;
         step = accesses.places[*step].conditional) {
      const StepPlace& at = accesses.places[*step];
      PartitionUse& use = uses.all[place[at.block][at.partition]];
      if (is_new) use.made.insert(buffer);
      if (!use.touched.insert(buffer)) continue;
      use.reached.insert(buffer);
      const auto& bases = accesses.may_lie_in[buffer];
      use.reached.insert_all(bases);
    }
  }
  return uses;
}

spec::Finding buffer_finding(const spec::Plan& plan, std::uint32_t id, std::string rule,
                             std::string message) {
  const spec::PlanBuffer& buffer = plan.buffers[id];
  return spec::Finding{.rule = std::move(rule),
                       .message = std::move(message),
                       .buffers = {buffer.name},
                       .ranges = {{plan.pools[buffer.pool.index].name, buffer.offset_bytes,
                                   buffer.offset_bytes + buffer.size_bytes}}};
}

}  // namespace graphgate::verify
