// Cutting a block by split ops alone, after vllm.compilation.backends.split_graph (vLLM 0.27).
//
// Nodes are numbered by runs in program order; a split op gets a run of its own, which in all but
// the oldest generation takes in the split ops right behind it. Then, in the newest, a run that is
// one mere allocation joins the last run before it that holds no split op:
//
//   a b | (attn1) | empty | (attn2)   ->   a b empty | (attn1) | (attn2)
//
// so that nobody captures a run that launches nothing. It joins only if what it reads is made no
// later than in that run, and if it can be captured at all. partition.cpp calls this.
#pragma once

#include "optimized/partition/cut_rules.h"

namespace graphgate::optimized {

// The sizes of the runs, in order, none of them 0; the nodes of `block` stand run by run
// afterwards. At most options.max_nodes nodes in a run, unless that is 0.
[[nodiscard]] std::vector<std::uint32_t> split_block(const CutContext& context, SizedBlock& block);

}  // namespace graphgate::optimized
