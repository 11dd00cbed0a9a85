// What a caller may say about partitions. One set for one compile: nothing here is global, so two
// programs of one process can be cut by different ops.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "spec/op_table.h"

namespace graphgate::optimized {

enum class PartitionMode : std::uint8_t {
  // TorchInductor's: every rule of cut_rules.h cuts, by one linear scan.
  kScheduler,
  // vLLM's split_graph: split ops of the program cut and nothing else (split_graph.h). A run that
  // holds what cannot be captured is eager as a whole.
  kSplitGraph,
};

// How kSplitGraph treats what lies around split ops.
enum class SplitGeneration : std::uint8_t {
  kOlder,     // each split op is a partition
  kAdjacent,  // adjacent split ops share one
  // They do, and a partition that is one mere allocation joins the last one before it that holds no
  // split op, if what it reads is there by then.
  kNewer,
};

// Ops are named "ns.name", for every overload, or "ns.name.overload"; "ns::name" will do.
struct PartitionOptions {
  PartitionMode mode = PartitionMode::kScheduler;
  SplitGeneration split_generation = SplitGeneration::kNewer;
  // Ops that are never captured. The default is vLLM's attention, whose kernels read metadata that
  // changes from call to call.
  std::vector<std::string> split_ops = {"vllm.unified_attention_with_output"};
  // Nodes that use a size or a number which one of these made are cut out, with that reason.
  std::vector<std::string> unsafe_unbacked_ops;
  // Nodes are cut out whose types or arguments depend on a symbol.
  bool skip_dynamic_graphs = false;
  // Captured partitions with fewer launches are eager instead; allocations are no launches.
  std::uint32_t min_partition_size = 0;
  // At most so many nodes in a partition; 0: no limit. 1 cuts after every node.
  std::uint32_t max_nodes = 0;
  // Nodes, by name, behind which a partition ends. Names of nodes that there are not cut nothing.
  std::vector<std::string> cut_after;
  // No partition is captured; the reason says so.
  bool capture = true;
  // Captures run on a GPU: nodes that have no kernel there are cut out.
  bool device_kernels = false;
};

// Whether `op` ("ns.name.overload") is the op, or an overload of the op, that an option names.
[[nodiscard]] bool names_op(const std::string& option, const std::string& op);
// kBadInput, with the option's name in front, for a name that means no op of the table.
[[nodiscard]] Result<void> validate_op_names(const std::string& option,
                                             const std::vector<std::string>& names,
                                             const spec::OpTable& ops);

// kBadInput, naming the option and the op, for ops that the table lacks.
[[nodiscard]] Result<void> validate_options(const PartitionOptions& options,
                                            const spec::OpTable& ops);

}  // namespace graphgate::optimized
