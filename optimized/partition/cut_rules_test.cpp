#include "optimized/partition/cut_rules.h"

#include "optimized/analysis/sized_test.h"
#include "optimized/partition/partition.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;

// "partitions; reason; reason": of a plan, with the reasons of its eager partitions.
std::string cuts_of(const spec::Program& program, const Inputs& inputs,
                    const CompileOptions& options = {}) {
  const spec::Plan plan = good_plan_of(program, inputs, options);
  std::string text = partitions_of(plan);
  for (const spec::PlanPartition& partition : plan.blocks.front().partitions) {
    if (!partition.captured) text += "; " + partition.reason;
  }
  return text;
}

CompileOptions deviating(Deviation deviation) {
  CompileOptions options;
  options.deviations.add(deviation);
  return options;
}

spec::Program attention() {
  return program_of(R"(program "p" {
  input %q : f32[2, 2, 4]
  %k = aten.relu.default(%q)
  %o = aten.neg.default(%q)
  vllm.unified_attention_with_output.default(%q, %k, %k, %o, "layer") as attn
  %y = aten.mul.Tensor(%o, 2.0)
  output %y
})");
}

TEST(CutRules, CutSplitOpsByAnyOfTheirNames) {
  CompileOptions options;
  for (const char* name : {"aten.neg", "aten::neg", "aten.neg.default"}) {
    options.partition.split_ops = {name};
    EXPECT_EQ(cuts_of(attention(), {zeros({2, 2, 4})}, options),
              "k | (o) | attn y; split op " + std::string(name));
  }
}

TEST(CutRules, IgnoreTheSplitOpsWhereADeviationAsksForIt) {
  EXPECT_EQ(cuts_of(attention(), {zeros({2, 2, 4})}),
            "k o | (attn) | y; split op vllm.unified_attention_with_output");
  EXPECT_EQ(cuts_of(attention(), {zeros({2, 2, 4})}, deviating(Deviation::kIgnoresPartitionOption)),
            "k o attn y");
}

spec::Program host_scalar() {
  return program_of(R"(program "p" {
  input %x : f32[4] on cuda
  input %s : f32[]
  %a = aten.relu.default(%x)
  %b = aten.mul.Tensor(%a, %s)
  output %b
})");
}

TEST(CutRules, CutReadersOfHostScalars) {
  EXPECT_EQ(cuts_of(host_scalar(), {zeros({4}), zeros({})}), "a | (b); reads a scalar on cpu");
}

// PyTorch 154013.
TEST(CutRules, CaptureReadersOfHostScalarsWhereADeviationAsksForIt) {
  EXPECT_EQ(
      cuts_of(host_scalar(), {zeros({4}), zeros({})}, deviating(Deviation::kCapturesHostScalars)),
      "a b");
}

spec::Program dynamic() {
  return program_of(R"(program "p" {
  symbol u0 in [0, 4]
  input %x : f32[4]
  %a = aten.relu.default(%x)
  %i : i64[u0, 1] = aten.nonzero.default(%a)
  %j : i64[u0, 1] = aten.add.Tensor(%i, 1)
  %t : i64[1] = aten.sum.dim_IntList(%j, [0])
  %b = aten.neg.default(%t)
  output %b
})");
}

TEST(CutRules, CutWhatOnlyTheCallKnows) {
  EXPECT_EQ(cuts_of(dynamic(), {zeros({4})}), "a | (i j t) | b; unbacked symbol");
}

TEST(CutRules, NameTheUnsafeOpThatASizeComesFrom) {
  CompileOptions options;
  options.partition.unsafe_unbacked_ops = {"aten::nonzero"};
  EXPECT_EQ(cuts_of(dynamic(), {zeros({4})}, options),
            "a | (i j t) | b; unbacked symbol; uses an unbacked symbol of aten.nonzero.default");
}

std::vector<Partition> partitions_at(const SizedGraph& graph, const PartitionOptions& options,
                                     const spec::DeviationSet& deviations) {
  SizedGraph copy = graph;
  return make_partitions(copy, options, deviations).blocks.front();
}

// PyTorch 173159: what uses the count of nonzero elements would be captured with the first one.
TEST(CutRules, CaptureUsersOfUnbackedSymbolsWhereADeviationAsksForIt) {
  const SizedGraph graph = sized_graph_of(dynamic(), {zeros({4})});
  const auto without = partitions_at(graph, {}, {});
  ASSERT_EQ(without.size(), 3U);
  EXPECT_EQ(without[1], (Partition{false, "unbacked symbol", 1, 4}));
  EXPECT_EQ(partitions_at(graph, {}, only(Deviation::kCapturesUnbackedSymbols)), without)
      << "the option names no op";
  PartitionOptions options;
  options.unsafe_unbacked_ops = {"aten.nonzero"};
  const auto wrong = partitions_at(graph, options, only(Deviation::kCapturesUnbackedSymbols));
  ASSERT_EQ(wrong.size(), 3U);
  EXPECT_EQ(wrong[1], (Partition{false, "unbacked symbol", 1, 2})) << "the op that makes it";
  EXPECT_EQ(wrong[2], (Partition{true, "", 2, 5}));
}

// Such a capture cannot be recorded before the call tells the count: the host backend refuses it.
TEST(CutRules, GiveAPlanThatCannotBeRecordedWhereUnbackedSymbolsAreCaptured) {
  Options options;
  EXPECT_EQ(run_calls(dynamic(), {{counting({4})}}, options).size(), 1U);
  options.compile.partition.unsafe_unbacked_ops = {"aten.nonzero"};
  options.compile.deviations.add(Deviation::kCapturesUnbackedSymbols);
  const spec::Program program = dynamic();
  const auto loaded = must(make_executor(options)->load(program));
  const Inputs inputs = {counting({4})};
  EXPECT_TRUE(contains(failure_of(loaded->call(inputs)).message, "node 'j' (aten.add.Tensor)"));
}

// PyTorch 196504: the sum reads something dynamic, and its own result is static.
TEST(CutRules, CaptureStaticResultsOfDynamicOperandsWhereADeviationAsksForIt) {
  const SizedGraph graph = sized_graph_of(dynamic(), {zeros({4})});
  const auto wrong = partitions_at(graph, {}, only(Deviation::kDynamicByOutputOnly));
  ASSERT_EQ(wrong.size(), 3U);
  EXPECT_EQ(wrong[1], (Partition{false, "unbacked symbol", 1, 3}));
  EXPECT_EQ(wrong[2], (Partition{true, "", 3, 5}));
}

spec::Program symbolic() {
  return program_of(R"(program "p" {
  symbol s0 in [2, 64] hint 4
  input %x : f32[s0]
  input %w : f32[3]
  %a : f32[s0] = aten.relu.default(%x)
  %b : f32[3] = aten.neg.default(%w)
  output %a
  output %b
})");
}

TEST(CutRules, CutNodesThatHangOnASymbolOnRequest) {
  CompileOptions options;
  EXPECT_EQ(cuts_of(symbolic(), {zeros({4}), zeros({3})}, options), "a b");
  options.partition.skip_dynamic_graphs = true;
  EXPECT_EQ(cuts_of(symbolic(), {zeros({4}), zeros({3})}, options), "(a) | b; uses symbol s0");
}

// PyTorch 197139.
TEST(CutRules, CutNodesThatHangOnASymbolWhereADeviationAsksForIt) {
  EXPECT_EQ(cuts_of(symbolic(), {zeros({4}), zeros({3})}, deviating(Deviation::kAnySymbolIsUnsafe)),
            "(a) | b; uses symbol s0");
}

TEST(CutRules, CutATaggedOpAndAConditional) {
  spec::OpTable table = spec::builtin_op_table();
  ASSERT_TRUE(
      table.add_text("aten::relu.unsafe(Tensor self) -> Tensor ; tags=cudagraph_unsafe\n", "test")
          .ok());
  CompileOptions options;
  options.ops = &table;
  auto program = must(spec::parse_program(R"(program "p" {
  input %p : bool[]
  input %x : f32[4]
  graph @yes {
    input %u : f32[4]
    %u1 = aten.relu.default(%u)
    output %u1
  }
  graph @no {
    input %v : f32[4]
    %v1 = aten.neg.default(%v)
    output %v1
  }
  %a = aten.relu.unsafe(%x)
  %b = aten.neg.default(%a)
  %c = higher_order.cond(%p, @yes, @no, [%b])
  output %c
})",
                                          table));
  EXPECT_EQ(cuts_of(program, {bools({}, {1}), zeros({4})}, options),
            "(a) | b | (c); tag cudagraph_unsafe; conditional");
}

// A functionalized call comes out of the passes as a call of the op itself: the program has no node
// of that op.
constexpr const char* kFunctionalized = R"(program "p" {
  input %q : f32[2, 2, 4]
  %o = aten.neg.default(%q)
  %n : none, %r = higher_order.auto_functionalized_v2(vllm.unified_attention_with_output.default, query=%q, key=%q, value=%q, layer_name="layer", _output_base_index=0, _all_bases=[%o]) as attn
  %y = aten.mul.Tensor(%r, 2.0)
  output %y
})";

TEST(CutRules, CutWhatAGpuHasNoKernelForWhereCapturesRunOnOne) {
  const spec::Program program = program_of(R"(program "p" {
  input %x : i64[4]
  %a = aten.relu.default(%x)
  %b = aten.repeat_interleave.Tensor(%a, output_size=4)
  %y = aten.neg.default(%b)
  output %y
})");
  CompileOptions options;
  const Inputs x = {i64({4}, {0, 1, 1, 2})};
  EXPECT_EQ(cuts_of(program, x, options), "a b y");
  options.partition.device_kernels = true;
  EXPECT_EQ(cuts_of(program, x, options),
            "a | (b) | y; no GPU kernel for aten.repeat_interleave.Tensor");
}

TEST(CutRules, HoldForNodesThatPassesHaveMade) {
  auto program = must(spec::parse_program(kFunctionalized, spec::builtin_op_table()));
  const spec::Plan right = good_plan_of(program, {zeros({2, 2, 4})});
  const spec::Plan wrong =
      good_plan_of(program, {zeros({2, 2, 4})}, deviating(Deviation::kCapturesNodesWithoutOrigin));
  const auto eager = [](const spec::Plan& plan) {
    std::string names;
    for (const spec::PlanPartition& partition : plan.blocks.front().partitions) {
      for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) {
        if (!partition.captured) names += plan.steps[s].node.name + " ";
      }
    }
    return names;
  };
  EXPECT_EQ(eager(right), "attn ");
  EXPECT_EQ(eager(wrong), "") << "vllm#26735";
}

TEST(CutRules, CutAFusedNodeForAnyNodeOfItsBody) {
  const SizedGraph graph = sized_graph_of(host_scalar(), {zeros({4}), zeros({})});
  SizedNode fused;
  fused.node.op = kFusedOp;
  fused.body = graph.blocks.front().nodes;
  const PartitionOptions options;
  const spec::DeviationSet deviations;
  const CutContext context(graph, options, deviations);
  EXPECT_EQ(cut_reason(context, fused), "reads a scalar on cpu");
  fused.body.pop_back();
  EXPECT_EQ(cut_reason(context, fused), std::nullopt);
}

}  // namespace
}  // namespace graphgate::optimized
