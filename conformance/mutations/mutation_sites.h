// Where in a plan each mutation applies: what plan_mutations.cpp is made of. Inside this folder
// only.
//
// A site is a change that is ready to be made to a copy of the plan it was found in. Sites may
// propose too much: apply_mutation() takes the first, from where the seed says, whose result is
// well formed as promised and differs from the plan.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "conformance/mutations/plan_mutations.h"
#include "spec/plan_drawing.h"

namespace graphgate::conformance {

using Sites = std::vector<std::function<void(spec::Plan&)>>;

struct MutationRow {
  PlanMutation mutation;
  Sites (*find_sites)(const spec::Plan& plan);
};

// By the part of the plan that changes: pools, buffers and values; steps;
// streams and events; partitions with their signatures; what the plan says of calls (inputs,
// outputs, key, symbols, padding).
[[nodiscard]] std::span<const MutationRow> memory_mutations();
[[nodiscard]] std::span<const MutationRow> step_mutations();
[[nodiscard]] std::span<const MutationRow> stream_mutations();
[[nodiscard]] std::span<const MutationRow> partition_mutations();
[[nodiscard]] std::span<const MutationRow> claim_mutations();

// What a plan says of times and neighbours.
class PlanTimes {
 public:
  explicit PlanTimes(const spec::Plan& plan);

  // Positions in the order of execution at which the buffer is in use; nothing if it never is.
  [[nodiscard]] const std::optional<spec::BufferUse>& use(std::size_t buffer) const {
    return uses_[buffer];
  }
  // Both are in use at two steps or more: bytes of one must not be bytes of the other.
  [[nodiscard]] bool live_together(std::size_t a, std::size_t b) const;
  // The position of a step.
  [[nodiscard]] std::uint32_t position(std::size_t step) const { return positions_[step]; }
  // Whether the buffer at `offset_bytes` would cover bytes of another one that is live with it.
  [[nodiscard]] bool collides(std::size_t buffer, std::int64_t offset_bytes) const;

 private:
  const spec::Plan& plan_;
  std::vector<std::optional<spec::BufferUse>> uses_;  // by buffer
  std::vector<std::uint32_t> positions_;              // by step
};

// Buffers in a pool of this kind, with bytes, that some step uses.
[[nodiscard]] std::vector<std::size_t> used_buffers(const spec::Plan& plan, const PlanTimes& times,
                                                    spec::PoolKind kind);

// A conditional.
[[nodiscard]] bool runs_blocks(const spec::PlanStep& step);

// The nodes that a step runs: its body, or itself.
[[nodiscard]] std::span<const spec::Node> nodes_of(const spec::PlanStep& step);

// Buffers that a step reads or writes through its operands and results, and those of them that it
// writes by what its results say; each once, ascending.
[[nodiscard]] std::vector<std::uint32_t> touched_buffers(const spec::Plan& plan,
                                                         const spec::PlanStep& step);
[[nodiscard]] std::vector<std::uint32_t> written_buffers(const spec::Plan& plan,
                                                         const spec::PlanStep& step);

// Whether one of the two writes a byte that the other touches, by the places of buffers.
[[nodiscard]] bool may_conflict(const spec::Plan& plan, const spec::PlanStep& a,
                                const spec::PlanStep& b);

template <class List>
void erase_at(List& list, std::size_t index) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(index));
}

// Two tensors of equal dtype, sizes, strides, offset and device.
[[nodiscard]] bool same_type(const spec::PlanValue& a, const spec::PlanValue& b);

}  // namespace graphgate::conformance
