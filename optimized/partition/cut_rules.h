// Why a node cannot be, or shall not be, part of a captured partition.
//
// Each rule is a function that gives a reason in words, or nothing. The first that has one decides,
// in the order of torch._inductor.scheduler.should_partition (PyTorch 2.11): the user's choice,
// devices, control flow, sizes that only the call knows, and what an op says of itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "optimized/sized_graph.h"

namespace graphgate::optimized {

struct CutContext {
  const SizedGraph& graph;
  std::string accelerator;                    // the device type that captures run on
  const std::vector<std::string>& split_ops;  // "ns.name", or with its overload
};

struct CutRule {
  std::string_view name;
  std::optional<std::string> (*reason)(const CutContext& context, const SizedNode& node);
};

[[nodiscard]] const std::vector<CutRule>& cut_rules();

// The reason of the first rule that has one.
[[nodiscard]] std::optional<std::string> cut_reason(const CutContext& context,
                                                    const SizedNode& node);

// The device type that most tensors of the graph live on; one that is not the CPU wins a tie. A
// program whose tensors all live on the CPU has the CPU for its accelerator.
[[nodiscard]] std::string accelerator_of(const SizedGraph& graph);

}  // namespace graphgate::optimized
