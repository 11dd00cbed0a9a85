#include "optimized/runtime/host/recordings.h"

#include <optional>

#include "optimized/runtime/device/streams.h"

namespace graphgate::optimized {

using spec::Deviation;

Recordings::Recordings(const spec::Plan& plan, PlanMemory& memory, StepBinder& binder,
                       const HostOptions& options)
    : plan_(plan), memory_(memory), binder_(binder), options_(options) {
  for (const spec::PlanBlock& block : plan_.blocks) {
    recordings_.emplace_back(block.partitions.size());
    for (const spec::PlanPartition& partition : block.partitions) {
      if (partition.captured) continue;
      for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) {
        for (const spec::ValueId id : flat_results(plan_.steps[s].node)) {
          if (const auto& buffer = plan_.values[id.index].buffer) {
            eager_buffers_.insert(buffer->index);
          }
        }
      }
    }
  }
}

void Recordings::record(const std::set<std::uint32_t>& moved_buffers,
                        const DeviceListener* listener) {
  for (std::size_t b = 0; b < plan_.blocks.size(); ++b) {
    const auto& partitions = plan_.blocks[b].partitions;
    for (std::size_t p = 0; p < partitions.size(); ++p) {
      if (!partitions[p].captured) continue;
      if (moved_buffers.empty() || must_record(partitions[p], moved_buffers)) {
        recordings_[b][p] = recorded(partitions[p], listener);
      }
    }
  }
}

void Recordings::drop() {
  for (auto& block : recordings_) {
    for (Recording& recording : block) recording = {};
  }
}

// The buffers that the steps of a partition name, those inside fused steps included.
std::set<std::uint32_t> Recordings::buffers_of(const spec::PlanPartition& partition) const {
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

bool Recordings::must_record(const spec::PlanPartition& partition,
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

bool Recordings::sees_move(std::uint32_t buffer) const {
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

Recording Recordings::recorded(const spec::PlanPartition& partition,
                               const DeviceListener* listener) {
  ++count_;
  Recording recording;
  std::vector<BoundLaunch> bound;
  std::uint32_t running = partition.begin_step;
  recording.scratch = memory_.allocated_by([&] {
    with_place(plan_, running, [&] {
      try {
        for (; running < partition.end_step; ++running) {
          bound.push_back(binder_.bind(running, false, listener));
        }
      } catch (const NeedsData&) {
        throw OpError("is captured, and what it makes depends on what it reads");
      }
    });
  });
  const auto steps = std::span(plan_.steps).subspan(partition.begin_step, bound.size());
  for (const std::uint32_t i : interleave(steps, options_.interleaving_seed)) {
    if (bound[i]) recording.launches.push_back(std::move(bound[i]));
  }
  recording.memory = memory_.pools();
  for (const auto& [place, memory] : memory_.state().rebound) recording.memory.push_back(memory);
  return recording;
}

}  // namespace graphgate::optimized
