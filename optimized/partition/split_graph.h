// Cutting a block into pieces by split ops alone, after vllm.compilation.backends.split_graph
// (vLLM 0.33).
//
// Pieces are counted over the nodes of the program as it came, views and sizes among them:
//
//   - a split op has a piece of its own; in all but the oldest generation split ops right behind
//     each other share one. Behind a node with several results stand the nodes that take them apart
//     (getitem), so that it shares with nobody behind it;
//   - getitem goes to the piece of what it takes apart;
//   - in the newest generation a piece that is one mere allocation joins the last piece before it
//     that holds no split op, if what it reads is made no later than there:
//
//       a b | (attn1) | empty | (attn2)   ->   a b empty | (attn1) | (attn2)
//
// What is launched then goes to the piece of the node that it comes from. Parts of a node go with
// it; what a pass or a write-back made, of no node of the program, stays with what stands before
// it. Of a piece of views alone nothing is left: its run is empty. partition.cpp calls this.
#pragma once

#include "optimized/partition/cut_rules.h"

namespace graphgate::optimized {

struct SplitRun {
  std::uint32_t size = 0;                 // nodes; 0: nothing of the piece is launched
  const std::string* split_op = nullptr;  // the option that names the op it is made of, or null
};

// The runs of a block, in order; the nodes of `block` stand run by run afterwards. `origin`: the
// program's graph, or null: then every node of the block counts, and no other. At most
// options.max_nodes nodes in a run, unless that is 0.
[[nodiscard]] std::vector<SplitRun> split_block(const CutContext& context,
                                                const spec::Graph* origin, SizedBlock& block,
                                                bool is_program);

}  // namespace graphgate::optimized
