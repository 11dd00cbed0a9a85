#include "optimized/memory/in_place.h"

#include "optimized/analysis/liveness.h"
#include "optimized/memory/memory_test.h"
#include "optimized/memory/placement.h"

namespace graphgate::optimized {
namespace {

// Whether `result` lies in the very place of `operand` in a program with input %x : f32[8, 8].
bool in_place(const std::string& nodes, const std::string& operand, const std::string& result) {
  CompileOptions options = with_strategy(MemoryStrategy::kPools);  // never over it by chance alone
  const std::string text = "program \"p\" {\n  input %x : f32[8, 8]\n" + nodes + "}";
  const spec::Plan plan = good_plan_of(program_of(text), {counting({8, 8})}, options);
  EXPECT_EQ(shared_in(plan), "");
  const auto results = last_output(text, {{counting({8, 8})}}, options);
  options.memory.in_place = false;
  EXPECT_EQ(results, last_output(text, {{counting({8, 8})}}, options));
  const spec::Plan apart = good_plan_of(program_of(text), {counting({8, 8})}, options);
  EXPECT_FALSE(share_bytes(apart, operand, result));
  return share_bytes(plan, operand, result);
}

TEST(InPlace, TakesOverAnOperandThatDies) {
  EXPECT_TRUE(
      in_place("  %a = aten.mm.default(%x, %x)\n  %b = aten.neg.default(%a)\n"
               "  output %b\n",
               "a", "b"));
}

TEST(InPlace, TakesOverAnyOperandOfAPointwiseOp) {
  EXPECT_TRUE(
      in_place("  %a = aten.mm.default(%x, %x)\n  %b = aten.sub.Tensor(%x, %a)\n"
               "  output %b\n",
               "a", "b"));
}

TEST(InPlace, TakesOverAnOperandThatIsReadTwiceTheSameWay) {
  EXPECT_TRUE(
      in_place("  %a = aten.mm.default(%x, %x)\n  %b = aten.mul.Tensor(%a, %a)\n"
               "  output %b\n",
               "a", "b"));
}

TEST(InPlace, LeavesAnOperandThatIsReadInAnotherGeometryToo) {
  EXPECT_FALSE(
      in_place("  %a = aten.mm.default(%x, %x)\n  %t = aten.t.default(%a)\n"
               "  %b = aten.sub.Tensor(%a, %t)\n  output %b\n",
               "a", "b"));
}

TEST(InPlace, LeavesAnOperandThatIsReadLaterThroughAView) {
  EXPECT_FALSE(
      in_place("  %a = aten.mm.default(%x, %x)\n  %t = aten.t.default(%a)\n"
               "  %b = aten.neg.default(%a)\n  %c = aten.mm.default(%b, %t)\n"
               "  output %c\n",
               "a", "b"));
}

TEST(InPlace, LeavesAnOperandThatTheProgramReturns) {
  EXPECT_FALSE(
      in_place("  %a = aten.mm.default(%x, %x)\n  %b = aten.neg.default(%a)\n"
               "  output %b\n  output %a\n",
               "a", "b"));
}

TEST(InPlace, LeavesInputs) {
  EXPECT_FALSE(in_place("  %b = aten.neg.default(%x)\n  output %b\n", "x", "b"));
}

TEST(InPlace, LeavesWhatAKernelReadsAfterItHasBegunToWrite) {
  EXPECT_FALSE(
      in_place("  %a = aten.neg.default(%x)\n  %b = aten.mm.default(%a, %x)\n"
               "  output %b\n",
               "a", "b"));
}

TEST(InPlace, LeavesAnotherDtypeAndAnotherShape) {
  EXPECT_FALSE(
      in_place("  %a = aten.mm.default(%x, %x)\n  %b = aten.gt.Scalar(%a, 0.0)\n"
               "  %c = aten.where.self(%b, %x, %x)\n  output %c\n",
               "a", "b"));
  EXPECT_FALSE(
      in_place("  %a = aten.sum.dim_IntList(%x, [0], True)\n"
               "  %b = aten.add.Tensor(%a, %x)\n  output %b\n",
               "a", "b"));
}

// The scattered copy may lie over what it copies, never over what it scatters.
TEST(InPlace, TakesOverOnlySelfOfAScatter) {
  EXPECT_TRUE(
      in_place("  %i = aten.zeros.default([8, 8], dtype=i64)\n"
               "  %a = aten.mm.default(%x, %x)\n"
               "  %b = aten.scatter.src(%a, 0, %i, %x)\n  output %b\n",
               "a", "b"));
  EXPECT_FALSE(
      in_place("  %i = aten.zeros.default([8, 8], dtype=i64)\n"
               "  %a = aten.mm.default(%x, %x)\n"
               "  %b = aten.scatter.src(%x, 0, %i, %a)\n  output %b\n",
               "a", "b"));
}

TEST(InPlace, LeavesWhatAnArmOfAConditionalHasFromOutside) {
  const std::string text = R"(program "arm" {
  input %p : bool[]
  input %x : f32[8]
  graph @yes {
    input %u : f32[8]
    %u1 = aten.neg.default(%u)
    output %u1
  }
  graph @no {
    input %v : f32[8]
    %v1 = aten.abs.default(%v)
    output %v1
  }
  %a = aten.cumsum.default(%x, 0)
  %y = higher_order.cond(%p, @yes, @no, [%a])
  output %y
})";
  const spec::Plan plan = good_plan_of(program_of(text), {bools({}, {1}), counting({8})},
                                       with_strategy(MemoryStrategy::kPack));
  EXPECT_FALSE(share_bytes(plan, "a", "u1"));
  EXPECT_FALSE(share_bytes(plan, "a", "v1"));
}

TEST(InPlace, NeverMakesAnArenaLarger) {
  const std::string text = R"(program "chain" {
  input %x : f32[64, 64]
  %a = aten.neg.default(%x)
  %b = aten.abs.default(%a)
  %c = aten.relu.default(%b)
  output %c
})";
  CompileOptions options = with_strategy(MemoryStrategy::kPack);
  const auto plan = good_plan_of(program_of(text), {counting({64, 64})}, options);
  options.memory.in_place = false;
  const auto apart = good_plan_of(program_of(text), {counting({64, 64})}, options);
  EXPECT_EQ(arena_bytes(plan), 64 * 64 * 4);
  EXPECT_EQ(arena_bytes(apart), 2 * 64 * 64 * 4);
}

// ---- a fused node: %t lives only inside, %r is what it makes

struct Fused {
  SizedGraph graph;
  StorageIndex m = 0, a = 0, t = 0, r = 0;
};

// m = mm(x, x), a = mm(x, x), [t = neg(a), r = abs(t)], z = sub(m, r)
Fused fused_program(bool reads_a_late) {
  const std::string last = reads_a_late ? "  %s = aten.add.Tensor(%r, %a)\n" : "";
  Fused out;
  out.graph = sized_graph_of(
      program_of("program \"p\" {\n  input %x : f32[8, 8]\n  %m = aten.mm.default(%x, %x)\n"
                 "  %a = aten.mm.default(%x, %x)\n  %t = aten.neg.default(%a)\n"
                 "  %r = aten.abs.default(%t)\n" +
                 last + "  %z = aten.sub.Tensor(%m, " + (reads_a_late ? "%s" : "%r") +
                 ")\n  output %z\n}"),
      {counting({8, 8})});
  auto& nodes = out.graph.blocks[0].nodes;
  const std::size_t end = nodes.size() - 1;
  SizedNode fused;
  fused.node.name = "fused";
  fused.node.op = kFusedOp;
  fused.body.assign(nodes.begin() + 2, nodes.begin() + static_cast<std::ptrdiff_t>(end));
  fused.node.arguments.push_back({"", nodes[2].node.arguments.front().argument});
  for (std::size_t n = 3; n < end; ++n) fused.node.results.push_back(nodes[n].node.results.front());
  nodes.erase(nodes.begin() + 2, nodes.begin() + static_cast<std::ptrdiff_t>(end));
  nodes.insert(nodes.begin() + 2, std::move(fused));
  for (StorageIndex s = 0; s < out.graph.storages.size(); ++s) {
    const std::string& name = out.graph.storages[s].name;
    if (name == "m") out.m = s;
    if (name == "a") out.a = s;
    if (name == "t") out.t = s;
    if (name == "r") out.r = s;
  }
  out.graph.storages[out.t].kind = StorageKind::kInner;
  return out;
}

struct Decided {
  std::vector<StorageIndex> takes_over;
  Placement placement;
};

Decided decide(const Fused& fused, const spec::DeviationSet& deviations) {
  const Liveness liveness = analyze_liveness(fused.graph);
  const Partitions partitions{{{{true, "", 0, 4}}}};
  Signatures signatures;
  signatures.blocks = {{{}}};
  const MemoryInput input{fused.graph, partitions, signatures, liveness, {}};
  const auto uses = storage_uses(input, {}, deviations);
  auto placement = must(plan_memory(input, {}, deviations));
  return {decide_in_place(input, uses, deviations), std::move(placement)};
}

bool lie_together(const Decided& decided, StorageIndex a, StorageIndex b) {
  const spec::PlanBuffer& x = decided.placement.buffers[decided.placement.of_storage[a].index];
  const spec::PlanBuffer& y = decided.placement.buffers[decided.placement.of_storage[b].index];
  return x.pool == y.pool && x.offset_bytes == y.offset_bytes;
}

TEST(InPlace, TakesOverWhatAFusedBodyIsDoneWith) {
  const Fused fused = fused_program(false);
  const Decided decided = decide(fused, {});
  EXPECT_EQ(decided.takes_over[fused.r], fused.a);
  EXPECT_TRUE(lie_together(decided, fused.r, fused.a));
  EXPECT_FALSE(lie_together(decided, fused.r, fused.m));
}

TEST(InPlace, LeavesWhatAFusedBodyReadsOnceMore) {
  const Fused fused = fused_program(true);
  const Decided decided = decide(fused, {});
  EXPECT_EQ(decided.takes_over[fused.r], kNoStorage);
}

// PyTorch 132018: nobody ever allocates what the result lies over.
TEST(InPlaceOverRemoved, WorksOverWhatFusionHasRemoved) {
  Fused fused = fused_program(false);
  // An input keeps its place, so that the removed %t is all there is to take.
  fused.graph.storages[fused.a].kind = StorageKind::kInput;
  const Decided right = decide(fused, {});
  EXPECT_EQ(right.takes_over[fused.r], kNoStorage);
  EXPECT_FALSE(lie_together(right, fused.r, fused.m));
  const Decided wrong = decide(fused, only(spec::Deviation::kInPlaceOverRemoved));
  EXPECT_EQ(wrong.takes_over[fused.r], fused.t);
  EXPECT_TRUE(lie_together(wrong, fused.r, fused.m)) << "m is read after r is written";
}

}  // namespace
}  // namespace graphgate::optimized
