#include "optimized/partition/signature.h"

#include "optimized/analysis/sized_test.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;

// "in ... free ... out ... const ... | ...": every partition of block 0.
std::string signatures_of(const spec::Plan& plan) {
  std::string text;
  for (std::size_t p = 0; p < plan.blocks.front().partitions.size(); ++p) {
    text += (p == 0 ? "" : " | ") + signature_of(plan, p);
  }
  return text;
}

std::string signatures_of(const char* text, const Inputs& inputs,
                          std::optional<Deviation> deviation = {}) {
  CompileOptions options;
  options.partition.split_ops = {"aten.exp", "aten.exp_", "aten.index_put_", "aten.copy_"};
  if (deviation) options.deviations.add(*deviation);
  return signatures_of(good_plan_of(program_of(text), inputs, options));
}

// The last partition frees %y, which it knows as a view alone.
constexpr const char* kFreedByAView = R"(program "p" {
  input %x : f32[2, 2]
  %y = aten.add.Tensor(%x, 1.0)
  %v = aten.transpose.int(%y, 0, 1)
  %e = aten.exp.default(%x)
  %z = aten.mul.Tensor(%v, %e)
  output %z
})";

TEST(Signature, PassesWhatAPartitionFreesThoughItReadsAViewAlone) {
  EXPECT_EQ(signatures_of(kFreedByAView, {zeros({2, 2})}),
            "in x free out x y const | in x free out x e const | in free y e out z const");
}

// A view as another dtype is the only kind that upstream calls by another name.
constexpr const char* kFreedAsAnotherDtype = R"(program "p" {
  input %x : f32[2, 2]
  %y = aten.add.Tensor(%x, 1.0)
  %v = aten.view.dtype(%y, i16)
  %e = aten.exp.default(%x)
  %z = aten.bitwise_not.default(%v)
  output %e
  output %z
})";

// PyTorch 165815: nobody passes %y, and nobody returns it.
TEST(Signature, OmitsWhatIsFreedAndNotReadWhereADeviationAsksForIt) {
  EXPECT_EQ(signatures_of(kFreedAsAnotherDtype, {zeros({2, 2})}),
            "in x free out x y const | in x free out x e const | in free y out z const");
  EXPECT_EQ(signatures_of(kFreedAsAnotherDtype, {zeros({2, 2})}, Deviation::kSignatureOmitsFrees),
            "in x free out x const | in x free out x e const | in free out z const");
  EXPECT_EQ(signatures_of(kFreedByAView, {zeros({2, 2})}, Deviation::kSignatureOmitsFrees),
            signatures_of(kFreedByAView, {zeros({2, 2})}));
}

constexpr const char* kWrittenInBetween = R"(program "p" {
  input %x : f32[4]
  %b = aten.add.Tensor(%x, 1.0)
  %c = aten.exp_.default(%b)
  %d = aten.mul.Tensor(%c, %x)
  output %d
})";

TEST(Signature, HandsOnWhatAnOpHasWritten) {
  EXPECT_EQ(signatures_of(kWrittenInBetween, {zeros({4})}),
            "in x free out x b const | in b free out b const | in x free b out x d const");
}

// %b, between two cuts, written by a split op, and read behind it by what does not free it.
std::string written_by(const std::string& writer) {
  return R"(program "p" {
  input %x : i64[4]
  input %m : bool[4]
  input %r : f32[4]
  %i = aten.arange.default(2)
  %b = aten.add.Tensor(%x, 1)
  %f = aten.add.Tensor(%r, 1.0)
)" + writer +
         R"(
  %e = aten.exp.default(%r)
  %d = aten.mul.Tensor(%w, %x)
  output %w
  output %d
  output %e
})";
}

std::string signatures_of_writer(const char* writer, std::optional<Deviation> deviation = {}) {
  const Inputs inputs = {i64({4}, {0, 1, 2, 3}), bools({4}, {0, 0, 0, 0}), zeros({4})};
  return signatures_of(written_by(writer).c_str(), inputs, deviation);
}

// PyTorch 172483: such a kernel's buffer has no layout, and the last partition asks for it alone.
TEST(Signature, LosesWhatAKernelWithoutALayoutWroteWhereADeviationAsksForIt) {
  for (const char* writer :
       {"%w = aten.index_put_.default(%b, [%i], %i, True)",
        "%w = aten.index_put.default(%b, [%i], %i, True)",
        "%w = aten.index_put.default(%f, [%m], %f)", "%w = aten.index_add.default(%b, 0, %i, %i)",
        "%w = aten.scatter_add.default(%b, 0, %i, %i)", "%w = aten.scatter.src(%b, 0, %i, %i)",
        "%w = aten.scatter_reduce.two(%f, 0, %x, %r, \"amax\")"}) {
    EXPECT_NE(signatures_of_writer(writer, Deviation::kSignatureIgnoresMutations),
              signatures_of_writer(writer))
        << writer;
  }
}

TEST(Signature, KeepsWhatAllOtherWritersWroteUnderTheDeviation) {
  for (const char* writer :
       {"%w = aten.neg_.default(%b)", "%w = aten.copy_.default(%b, %x)",
        "%w = aten.index_put_.default(%b, [%i], %i)", "%w = aten.add.out(%b, %x, out=%b)",
        "%w = aten.index_put.default(%f, [%x], %r, True)",
        "%w = aten.scatter_reduce.two(%f, 0, %x, %r, \"sum\")",
        "%w = aten.scatter.src(%f, 0, %x, %r)"}) {
    EXPECT_EQ(signatures_of_writer(writer, Deviation::kSignatureIgnoresMutations),
              signatures_of_writer(writer))
        << writer;
  }
  EXPECT_EQ(signatures_of(kWrittenInBetween, {zeros({4})}, Deviation::kSignatureIgnoresMutations),
            signatures_of(kWrittenInBetween, {zeros({4})}));
}

constexpr const char* kCounted = R"(program "p" {
  input %x : i64[4]
  %i = aten.arange.default(2)
  %b = aten.add.Tensor(%x, 1)
  %c = aten.index_put_.default(%b, [%i], %i, True)
  %d = aten.mul.Tensor(%c, %x)
  output %d
})";

// What a partition frees it is given, whatever it is called.
TEST(Signature, PassesWhatIsFreedUnderANameWithoutALayout) {
  const Inputs inputs = {i64({4}, {0, 1, 2, 3})};
  EXPECT_EQ(signatures_of(kCounted, inputs, Deviation::kSignatureIgnoresMutations),
            signatures_of(kCounted, inputs));
}

// Whatever writes, be it by its schema's word, as an out argument, through a view or an index: what
// it writes is one storage with one name before and after.
TEST(Signature, MapsWhatEveryKindOfWriterWritesToItsStorage) {
  for (const char* writer :
       {"%w = aten.exp_.default(%b)", "%w = aten.copy_.default(%b, %x)",
        "%w = aten.index_put_.default(%b, [%i], %s)", "%w = aten.exp.out(%x, out=%b)",
        "%v = aten.view.default(%b, [2, 2])\n%w = aten.exp_.default(%v)"}) {
    const std::string text = std::string(R"(program "p" {
  input %x : f32[4]
  input %i : i64[1]
  input %s : f32[]
  %b = aten.add.Tensor(%x, 1.0)
)") + writer + R"(
  %d = aten.mul.Tensor(%b, %b)
  output %d
})";
    CompileOptions options;
    options.partition.split_ops = {"aten.exp", "aten.exp_", "aten.index_put_", "aten.copy_"};
    const spec::Plan plan =
        good_plan_of(program_of(text), {zeros({4}), i64({1}, {0}), zeros({})}, options);
    ASSERT_EQ(plan.blocks[0].partitions.size(), 3U) << writer;
    const std::string middle = signature_of(plan, 1);
    EXPECT_TRUE(contains(middle, " b")) << writer << ": " << middle;
    EXPECT_TRUE(contains(middle, "b const")) << writer << ": " << middle;
    EXPECT_EQ(signature_of(plan, 2), "in free b out d const") << writer;
  }
}

// An op that returns nothing (upstream's NoneLayout) leaves no name behind.
TEST(Signature, NamesNothingForAnOpThatReturnsNothing) {
  const spec::Plan plan = good_plan_of(program_of(R"(program "p" {
  input %q : f32[2, 2, 4]
  %o = aten.neg.default(%q)
  vllm.unified_attention_with_output.default(%q, %q, %q, %o, "layer") as attn
  %y = aten.mul.Tensor(%o, 2.0)
  output %y
})"),
                                       {zeros({2, 2, 4})});
  EXPECT_EQ(signatures_of(plan),
            "in q free out q o const | in q o free out q o const | in free o out y const");
}

std::vector<std::string> symbols_of_first(const char* text, const Inputs& inputs,
                                          std::optional<Deviation> deviation = {}) {
  CompileOptions options;
  if (deviation) options.deviations.add(*deviation);
  const spec::Plan plan = good_plan_of(program_of(text), inputs, options);
  return plan.blocks.front().partitions.front().signature.symbols;
}

using Names = std::vector<std::string>;

constexpr const char* kDoubled = R"(program "p" {
  symbol s0 in [2, 64] hint 2
  symbol s1 in [2, 64] hint 3
  input %n : f32[s0]
  input %x : f32[2*s0]
  input %w : f32[s1]
  %a : f32[2*s0] = aten.relu.default(%x)
  %b : f32[s1] = aten.relu.default(%w)
  output %a
  output %b
})";

TEST(Signature, ListsSymbolsThatStandInsideExpressions) {
  EXPECT_EQ(symbols_of_first(kDoubled, {zeros({2}), zeros({4}), zeros({3})}), (Names{"s0", "s1"}));
}

// PyTorch 154679.
TEST(Signature, ListsPlainSymbolsAloneWhereADeviationAsksForIt) {
  EXPECT_EQ(symbols_of_first(kDoubled, {zeros({2}), zeros({4}), zeros({3})},
                             Deviation::kBindsPlainSymbolsOnly),
            (Names{"s1"}));
}

// The last row: a tensor of constant size, at a place that depends on s0.
constexpr const char* kLastRow = R"(program "p" {
  symbol s0 in [2, 64] hint 4
  input %x : f32[s0, 2]
  %c : f32[2]@2*s0 - 2 = aten.select.int(%x, 0, -1)
  %r : f32[2] = aten.relu.default(%c)
  output %r
})";

TEST(Signature, ListsTheSymbolsOfOffsets) {
  EXPECT_EQ(symbols_of_first(kLastRow, {zeros({4, 2})}), (Names{"s0"}));
}

// PyTorch 149458.
TEST(Signature, ListsSymbolsOfSizesAloneWhereADeviationAsksForIt) {
  EXPECT_EQ(symbols_of_first(kLastRow, {zeros({4, 2})}, Deviation::kSymbolsFromSizesOnly), Names{});
}

// Fusion keeps %y inside one launch of the first partition, and `last`, in the last one, has it
// too.
SizedGraph fused_graph(const std::string& last) {
  SizedGraph graph = sized_graph_of(program_of(R"(program "p" {
  input %x : f32[4]
  %y = aten.add.Tensor(%x, 1.0)
  %z = aten.mul.Tensor(%y, 2.0)
  %e = aten.exp.default(%z)
  )" + last + R"(
  output %w
})"),
                                    {zeros({4})});
  auto& nodes = graph.blocks.front().nodes;
  SizedNode fused;
  fused.node = {"fused", std::string(kFusedOp), {nodes[0].node.arguments[0]}, {}};
  fused.node.results = {nodes[0].node.results[0], nodes[1].node.results[0]};
  fused.body = {nodes[0], nodes[1]};
  nodes.erase(nodes.begin());
  nodes.front() = fused;
  return graph;
}

std::string names_of(const SizedGraph& graph, const std::vector<StorageIndex>& storages) {
  std::string text;
  for (const StorageIndex storage : storages) {
    text += (text.empty() ? "" : " ") + graph.storages[storage].name;
  }
  return text;
}

TEST(Signature, ReturnsWhatAFusedNodeMakesForALaterPartition) {
  SizedGraph graph = fused_graph("%w = aten.sub.Tensor(%e, %y)");
  PartitionOptions options;
  options.split_ops = {"aten.exp"};
  const Partitions partitions = make_partitions(graph, options);
  ASSERT_EQ(partitions.blocks[0].size(), 3U);
  const Liveness liveness = analyze_liveness(graph);
  const auto right = derive_signatures(graph, partitions, liveness).blocks[0];
  EXPECT_EQ(names_of(graph, right[0].outputs), "x y z");
  EXPECT_EQ(names_of(graph, right[2].inputs), "y e");
  EXPECT_EQ(right[2].deallocate, (std::vector<bool>{true, true}));
  // Fusion removes nothing that another partition reads.
  const auto same =
      derive_signatures(graph, partitions, liveness, only(Deviation::kSignatureFiltersRemoved))
          .blocks[0];
  EXPECT_EQ(names_of(graph, same[0].outputs), "x y z");
  EXPECT_EQ(names_of(graph, same[2].inputs), "y e");
}

// PyTorch 169584: removed in one partition, as nobody else needs a byte of it, stripped from all.
TEST(Signature, StripsWhatOneFusedNodeNeedsWhereADeviationAsksForIt) {
  SizedGraph graph = fused_graph(
      "%o = aten.empty_like.default(%y)\n"
      "  %w = aten.add.out(%e, %x, out=%o)");
  PartitionOptions options;
  options.split_ops = {"aten.exp"};
  const Partitions partitions = make_partitions(graph, options);
  ASSERT_EQ(partitions.blocks[0].size(), 3U);
  const Liveness liveness = analyze_liveness(graph);
  const auto right = derive_signatures(graph, partitions, liveness).blocks[0];
  EXPECT_EQ(names_of(graph, right[0].outputs), "x y z");
  EXPECT_EQ(names_of(graph, right[2].inputs), "x y e");
  const auto wrong =
      derive_signatures(graph, partitions, liveness, only(Deviation::kSignatureFiltersRemoved))
          .blocks[0];
  EXPECT_EQ(names_of(graph, wrong[0].outputs), "x z");
  EXPECT_EQ(names_of(graph, wrong[2].inputs), "x e");
}

}  // namespace
}  // namespace graphgate::optimized
