// Compilers: who decides what of a partition runs in one launch.
//
// One small interface, after vLLM's CompilerInterface: a name, a hash for the cache key, a folder
// to keep things in, compile and load. What a compiler hands back is data, and has a text form that
// is stored apart from everything else (`handle`); load() must make the same of it. Kernels,
// rounding and memory are not a compiler's business: whatever it answers, results keep their bits.
//
//   fused       groups of pointwise and row ops (schedule/fuse_groups.h)          the default
//   eager       a launch per node
//   standalone  as fused, but what runs is what was loaded from the stored text
//
// compile.cpp calls compile_partitions once per plan, behind the partitioner. A context is for one
// partition of one compile; nothing is global.
#pragma once

#include <filesystem>
#include <memory>

#include "base/result.h"
#include "optimized/compilers/options.h"
#include "optimized/partition/partition.h"
#include "optimized/schedule/fuse_groups.h"
#include "optimized/schedule/fuse_realize.h"

namespace graphgate::optimized {

// One partition: nodes [begin_node, end_node) of a block.
struct CompilerSource {
  const SizedGraph& graph;
  std::uint32_t block = 0;
  const Partition& partition;

  [[nodiscard]] std::span<const SizedNode> nodes() const {
    return std::span(graph.blocks[block].nodes)
        .subspan(partition.begin_node, partition.end_node - partition.begin_node);
  }
};

struct CompilerContext {
  std::uint32_t partition_index = 0;            // counted over all blocks
  std::map<std::string, std::int64_t> symbols;  // the sizes that the plan is for
  const NodeAccesses& accesses;                 // of all nodes of the graph
  const StorageMentions& mentions;
  FuseLimits limits;
  RealizeOptions realize;
  spec::DeviationSet deviations;
};

// Which nodes run in one launch, in the order of the launches. Places are counted from the first
// node of the partition and ascend within a launch; each stands in one launch at least, and in
// several if it is computed again in each.
struct CompiledPartition {
  std::vector<Launched> launches;
  friend bool operator==(const CompiledPartition&, const CompiledPartition&) = default;
};

class PartitionCompiler {
 public:
  virtual ~PartitionCompiler() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  // Of everything that alters its answers, but the source and the context.
  [[nodiscard]] virtual std::string hash() const = 0;
  // Called before the first compile when artifacts may be kept there.
  virtual Result<void> initialize_cache(const std::filesystem::path& /*folder*/) { return {}; }
  virtual Result<CompiledPartition> compile(const CompilerSource& source,
                                            const CompilerContext& context) = 0;
  // What was stored for the same source and context: print_compiled of what compile() gave.
  virtual Result<CompiledPartition> load(std::string_view stored, const CompilerSource& source,
                                         const CompilerContext& context);
};

// The compiler that the options ask for. They are valid.
[[nodiscard]] std::shared_ptr<PartitionCompiler> make_compiler(const CompilerOptions& options);

// "launch 0\nlaunch 1 2 5\n": a line for each launch. Errors name the line.
[[nodiscard]] std::string print_compiled(const CompiledPartition& compiled);
[[nodiscard]] Result<CompiledPartition> parse_compiled(std::string_view text);

// Replaces the nodes of every partition by what the compiler makes of them. kBadInput, naming the
// compiler and the partition, where its answer leaves a node out, or fuses what cannot go tile by
// tile.
[[nodiscard]] Result<void> compile_partitions(SizedGraph& graph, Partitions& partitions,
                                              const CompilerOptions& options,
                                              const spec::OpTable& ops,
                                              const spec::DeviationSet& deviations);

}  // namespace graphgate::optimized
