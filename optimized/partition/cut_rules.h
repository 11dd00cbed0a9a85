// Why a node cannot be, or shall not be, part of a captured partition.
//
// Each rule is a function that gives a reason in words, or nothing. The first that has one decides,
// in the order of torch._inductor.scheduler.should_partition (PyTorch 2.11): the user's choice,
// devices, control flow, sizes that only the call knows, and what an op says of itself. A fused
// node is cut out for the reason of any node of its body.
//
// partition.h asks for every node of a block, schedule/reorder.h before that, to bring what is cut
// out together.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "optimized/partition/options.h"
#include "optimized/sized_graph.h"
#include "spec/deviation.h"

namespace graphgate::optimized {

// What the rules look at, beside the node. Made once per compile; options, deviations and graph
// outlive it.
class CutContext {
 public:
  // `origin` is the program's graph as it came, or null: then every node counts as one of its own.
  CutContext(const SizedGraph& graph, const PartitionOptions& options,
             const spec::DeviationSet& deviations, const spec::Graph* origin = nullptr);

  [[nodiscard]] const SizedGraph& graph() const { return graph_; }
  [[nodiscard]] const PartitionOptions& options() const { return options_; }
  [[nodiscard]] bool has(spec::Deviation deviation) const { return deviations_.has(deviation); }
  // The device type that captures run on.
  [[nodiscard]] const std::string& accelerator() const { return accelerator_; }
  // The op among unsafe_unbacked_ops that a dynamic value depends on, or "".
  [[nodiscard]] const std::string& unsafe_source(spec::ValueId id) const;
  // Whether it is no split op, whatever the options say: under captures_nodes_without_origin, where
  // no node of that name and op stands in the program; passes and write-backs make such.
  [[nodiscard]] bool is_overlooked(const SizedNode& node) const;
  // The same of a node of the program that runs `op`: auto_functionalized runs one of another name.
  [[nodiscard]] bool is_overlooked(const spec::Node& node, const std::string& op) const;

 private:
  void trace_unsafe(std::size_t block);
  void note_origins(const spec::Graph& origin);

  const SizedGraph& graph_;
  const PartitionOptions& options_;
  const spec::DeviationSet& deviations_;
  std::string accelerator_;
  std::vector<std::string> unsafe_sources_;  // by value; empty when nothing is listed
  bool follows_origins_;
  std::set<std::pair<std::string, std::string>> origins_;  // name, op
};

struct CutRule {
  std::string_view name;
  std::optional<std::string> (*reason)(const CutContext& context, const SizedNode& node);
};

[[nodiscard]] const std::vector<CutRule>& cut_rules();

// The reason of the first rule that has one.
[[nodiscard]] std::optional<std::string> cut_reason(const CutContext& context,
                                                    const SizedNode& node);

// The name among the options' split ops that names the node, or null.
[[nodiscard]] const std::string* split_op_of(const CutContext& context, const SizedNode& node);
// The same of a node of the program, which may run its op by auto_functionalized.
[[nodiscard]] const std::string* split_op_of(const CutContext& context, const spec::Node& node);

// Whether the options ask for a partition's end between these nodes; `count` nodes up to `last`
// stand in the partition so far.
[[nodiscard]] bool must_end(const CutContext& context, const SizedNode& last, std::size_t count);

// Whether the node launches anything. Mere allocations (empty) do not.
[[nodiscard]] bool launches(const SizedNode& node);

// The device type that most tensors of the graph live on; one that is not the CPU wins a tie. A
// program whose tensors all live on the CPU has the CPU for its accelerator.
[[nodiscard]] std::string accelerator_of(const SizedGraph& graph);

}  // namespace graphgate::optimized
