// Recording captured partitions, and telling which have to be recorded anew when memory moves.
#include <utility>

#include "optimized/runtime/device/streams.h"
#include "optimized/runtime/host/host_program.h"

namespace graphgate::optimized {

using spec::Deviation;

// With nothing moved: every captured partition. Where that fails nothing counts as recorded, and
// the next run does it anew.
void HostProgram::record_all(const std::set<std::uint32_t>& moved_buffers) {
  is_recorded_ = false;
  recordings_.resize(plan_.blocks.size());
  eager_buffers_.clear();
  for (const spec::PlanBlock& block : plan_.blocks) {
    for (const spec::PlanPartition& partition : block.partitions) {
      if (partition.captured) continue;
      for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) {
        for (const spec::NodeResult& result : plan_.steps[s].node.results) {
          for (const spec::ValueId id : result.values) {
            if (plan_.values[id.index].buffer) {
              eager_buffers_.insert(plan_.values[id.index].buffer->index);
            }
          }
        }
      }
    }
  }
  if (options_.device) {
    on_device_ = nullptr;
    on_device_ = std::make_unique<OnDevice>(options_.device->memory(), plan_.arithmetic == "fast");
  }
  for (std::size_t b = 0; b < plan_.blocks.size(); ++b) {
    const auto& partitions = plan_.blocks[b].partitions;
    recordings_[b].resize(partitions.size());
    for (std::size_t p = 0; p < partitions.size(); ++p) {
      if (!partitions[p].captured) continue;
      const bool is_first = moved_buffers.empty() || on_device_;
      if (is_first || must_record(partitions[p], moved_buffers)) {
        recordings_[b][p] = record(partitions[p]);
      }
    }
  }
  if (options_.device) record_on_device();
  is_recorded_ = true;
}

// The buffers that the steps of a partition name, those inside fused steps included.
std::set<std::uint32_t> HostProgram::buffers_of(const spec::PlanPartition& partition) const {
  std::set<std::uint32_t> out;
  const auto add = [&](spec::ValueId id) {
    if (const auto& buffer = plan_.values[id.index].buffer) out.insert(buffer->index);
  };
  for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) {
    const spec::PlanStep& step = plan_.steps[s];
    if (step.workspace) out.insert(step.workspace->index);
    for_each_operand(step.node, add);
    for (const spec::NodeResult& result : step.node.results) {
      for (const spec::ValueId id : result.values) add(id);
    }
  }
  return out;
}

bool HostProgram::must_record(const spec::PlanPartition& partition,
                              const std::set<std::uint32_t>& moved_buffers) const {
  bool must = false;
  for (const std::uint32_t buffer : buffers_of(partition)) {
    // What is taken for static keeps the whole recording as it is.
    if (eager_buffers_.contains(buffer) &&
        options_.deviations.has(Deviation::kEagerResultsAreStatic)) {
      return false;
    }
    must |= moved_buffers.contains(buffer) && sees_move(buffer);
  }
  return must;
}

bool HostProgram::sees_move(std::uint32_t buffer) const {
  for (const spec::PlanInput& input : plan_.inputs) {
    if (input.kind == spec::InputKind::kUserInput || input.constant ||
        plan_.values[input.value.index].buffer->index != buffer) {
      continue;
    }
    const bool is_parameter = input.kind == spec::InputKind::kParameter;
    return !options_.deviations.has(is_parameter ? Deviation::kStateAddressesUnchecked
                                                 : Deviation::kReplaysReboundState);
  }
  return true;
}

HostProgram::Recording HostProgram::record(const spec::PlanPartition& partition) {
  ++recorded_count_;
  std::vector<Recorded> bound;
  std::vector<HostMemory> heap_of_call = std::exchange(heap_, {});
  std::optional<DeviceListener> listener;
  if (options_.device) listener.emplace(device_listener());
  with_place([&] {
    for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) {
      running_ = s;
      bound.push_back(bind_step(plan_.steps[s], false, listener ? &*listener : nullptr));
    }
  });
  Recording recording;
  const auto steps = std::span(plan_.steps).subspan(partition.begin_step, bound.size());
  for (const std::uint32_t i : interleave(steps, options_.interleaving_seed)) {
    if (bound[i]) recording.launches.push_back(std::move(bound[i]));
  }
  recording.scratch = std::exchange(heap_, std::move(heap_of_call));
  heap_bytes_.resize(heap_.size());
  recording.memory = pools_;
  for (const auto& [place, memory] : state_.rebound) recording.memory.push_back(memory);
  return recording;
}

}  // namespace graphgate::optimized
