// Running a fused step on the host: its nodes, tile by tile.
//
// A group of pointwise and row ops goes over memory once. Each node's own kernel is bound to tiles
// in scratch memory (schedule/fuse_layout.h), so that fusion adds no arithmetic of its own, and no
// bit can differ from a run node by node. The runtime calls this where it binds a step with a body.
#pragma once

#include "optimized/binding.h"
#include "optimized/schedule/fuse_layout.h"
#include "spec/plan.h"

namespace graphgate::optimized {

// The nodes of a step's body that launch something, and which of their storages are inner ones.
struct BodyCalls {
  std::vector<TileCall> calls;
  std::vector<const spec::Node*> nodes;  // of the calls
  StorageIndex first_inner = 0;  // storages from here on are inner; others are buffers of the plan
};

// `lookup` gives the values of the plan that have buffers. Throws OpError for arguments that ops do
// not take.
[[nodiscard]] BodyCalls body_calls(const spec::Plan& plan, const spec::PlanStep& step,
                                   const spec::OpTable& ops, const Lookup& lookup);

// `calls` are the nodes of the body in order, without views: tensors of the plan have addresses,
// inner ones none. `workspace` has at least the scratch bytes of the layout, aligned to 64, and
// belongs to the launch alone while it runs.
[[nodiscard]] Launch fused_launch(std::span<const TileCall> calls,
                                  const std::function<bool(StorageIndex)>& is_inner,
                                  std::span<std::byte> workspace);

}  // namespace graphgate::optimized
