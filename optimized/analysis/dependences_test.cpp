#include "optimized/analysis/dependences.h"

#include <gtest/gtest.h>
#include <set>

#include "optimized/analysis/sized_test.h"

namespace graphgate::optimized {
namespace {

using Kind = DependenceKind;

// "b->a:raw c->a:war+waw": the edges of block 0, by the names of nodes.
std::string edges_of(const SizedGraph& graph, const spec::DeviationSet& deviations = {}) {
  const auto& nodes = graph.blocks.front().nodes;
  const Dependences dependences = analyze_dependences(graph, 0, deviations);
  std::string text;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    for (const Dependence& one : dependences[n]) {
      text += text.empty() ? "" : " ";
      text += nodes[n].node.name + "->" + nodes[one.node].node.name;
      char mark = ':';
      for (const auto& [kind, name] :
           {std::pair{Kind::kReadAfterWrite, "raw"}, std::pair{Kind::kWriteAfterRead, "war"},
            std::pair{Kind::kWriteAfterWrite, "waw"}, std::pair{Kind::kOrder, "order"}}) {
        if (!one.has(kind)) continue;
        text += mark + std::string(name);
        mark = '+';
      }
    }
  }
  return text;
}

std::string edges_of(const char* text, const Inputs& inputs) {
  return edges_of(sized_graph_of(program_of(text), inputs));
}

TEST(Dependences, KeepReadsAndWritesOfAStorageInOrder) {
  EXPECT_EQ(edges_of(R"(program "p" {
  input %x : f32[4]
  %y = aten.relu.default(%x)
  %z = aten.neg.default(%y)
  %w = aten.zero_.default(%y)
  output %z
  output %w
})",
                     {zeros({4})}),
            "z->y:raw w->y:raw+waw w->z:war");
}

TEST(Dependences, CallAReadBeforeAWriteWeak) {
  const SizedGraph graph = sized_graph_of(program_of(R"(program "p" {
  input %x : f32[4]
  input %y : f32[4]
  %z = aten.neg.default(%x)
  %w = aten.copy_.default(%x, %y)
  output %z
})"),
                                          {zeros({4}), zeros({4})});
  const auto dependences = analyze_dependences(graph, 0);
  ASSERT_EQ(dependences[1].size(), 1U);
  EXPECT_TRUE(dependences[1].front().is_weak());
}

// Sibling views of one storage: halves, even and odd columns, blocks of columns are independent.
TEST(Dependences, TellSiblingViewsApartThatShareNoElement) {
  for (const char* views :
       {"%a = aten.slice.Tensor(%y, 0, 0, 2)\n%b = aten.slice.Tensor(%y, 0, 2, 4)",
        "%a = aten.slice.Tensor(%y, 1, 0, 6, 2)\n"
        "%b = aten.slice.Tensor(%y, 1, 1, 6, 2)",
        "%a = aten.slice.Tensor(%y, 1, 0, 2)\n%b = aten.slice.Tensor(%y, 1, 2, 6)",
        "%a = aten.select.int(%y, 1, 3)\n%b = aten.slice.Tensor(%y, 1, 4, 6)"}) {
    const std::string text = std::string(R"(program "p" {
  input %x : f32[4, 6]
  %y = aten.relu.default(%x)
)") + views + R"(
  %w1 = aten.zero_.default(%a)
  %w2 = aten.zero_.default(%b)
  %r = aten.neg.default(%a)
  output %y
  output %r
})";
    EXPECT_EQ(edges_of(text.c_str(), {zeros({4, 6})}),
              "w1->y:raw+waw w2->y:raw+waw r->y:raw r->w1:raw")
        << views;
  }
}

TEST(Dependences, OrderSiblingViewsThatOverlap) {
  EXPECT_EQ(edges_of(R"(program "p" {
  input %x : f32[4, 6]
  %a = aten.slice.Tensor(%x, 1, 0, 3)
  %b = aten.slice.Tensor(%x, 1, 2, 6)
  %w1 = aten.zero_.default(%a)
  %w2 = aten.zero_.default(%b)
  output %x
})",
                     {zeros({4, 6})}),
            "w2->w1:raw+waw");
}

TEST(Dependences, FollowNumbersAndEmptyTensorsToTheirMakers) {
  EXPECT_EQ(edges_of(R"(program "p" {
  input %x : f32[4]
  input %e : f32[0]
  %s = aten.sum.default(%x)
  %n : symint = aten.item.default(%s)
  %m = aten.mul.Tensor(%x, %n)
  %t = aten.relu.default(%e)
  %u = aten.neg.default(%t)
  output %m
  output %u
})",
                     {zeros({4}), zeros({0})}),
            "n->s:raw m->n:raw u->t:raw");
}

// Ops that the built-in table lacks, with kernels that it has.
const spec::OpTable& ordered_ops() {
  static const spec::OpTable kTable = [] {
    spec::OpTable table = spec::builtin_op_table();
    must(table.add_text(R"(aten::relu.tick(Tensor self) -> Tensor ; orders=tick
aten::neg.cached(Tensor self, str layer) -> Tensor ; hidden_writes=layer
aten::abs.cached(Tensor self, str layer) -> Tensor ; hidden_reads=layer
aten::mul.scratch(Tensor self, Tensor other) -> Tensor ; undeclared_writes=other
)",
                        "test"));
    return table;
  }();
  return kTable;
}

std::string ordered_edges_of(const char* text, const Inputs& inputs) {
  auto program = must(spec::parse_program(text, ordered_ops()));
  CompileOptions options;
  options.ops = &ordered_ops();
  return edges_of(sized_graph_of(program, inputs, options));
}

TEST(Dependences, KeepTheOrderOfTokensAndOfHiddenStatesByName) {
  EXPECT_EQ(ordered_edges_of(R"(program "p" {
  input %x : f32[4]
  %a = aten.relu.tick(%x)
  %b = aten.neg.cached(%x, "one")
  %c = aten.neg.cached(%x, "two")
  %d = aten.abs.cached(%x, "one")
  %e = aten.relu.tick(%x)
  output %a
  output %b
  output %c
  output %d
  output %e
})",
                             {zeros({4})}),
            "d->b:order e->a:order");
}

TEST(Dependences, CountWritesThatNoSchemaDeclares) {
  EXPECT_EQ(ordered_edges_of(R"(program "p" {
  input %x : f32[4]
  input %y : f32[4]
  %a = aten.mul.scratch(%x, %y)
  %b = aten.neg.default(%y)
  output %a
  output %b
})",
                             {zeros({4}), zeros({4})}),
            "b->a:raw");
}

// A conditional reads and writes what its arms do.
TEST(Dependences, CountAConditionalAsItsArms) {
  EXPECT_EQ(edges_of(R"(program "p" {
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
  %k = aten.neg.default(%x)
  %y = higher_order.cond(%p, @yes, @no, [%k])
  %w = aten.zero_.default(%k)
  output %y
  output %w
})",
                     {bools({}, {1}), zeros({4})}),
            "y->k:raw w->k:raw+waw w->y:war");
}

// One node for a run of others, as fusion leaves it: what it mentions is what they mention.
SizedGraph fuse(SizedGraph graph, std::size_t begin, std::size_t end) {
  auto& nodes = graph.blocks.front().nodes;
  SizedNode fused;
  fused.node.name = "fused";
  fused.node.op = kFusedOp;
  std::set<spec::ValueId> made;
  std::set<spec::ValueId> read;
  for (std::size_t n = begin; n < end; ++n) {
    for_each_operand(nodes[n].node, [&](spec::ValueId id) {
      if (!made.contains(id)) read.insert(id);
    });
    for (const spec::NodeResult& result : nodes[n].node.results) {
      for (const spec::ValueId id : result.values) made.insert(id);
    }
    fused.body.push_back(nodes[n]);
  }
  for (const spec::ValueId id : read) fused.node.arguments.push_back({"", {id}});
  for (const spec::ValueId id : made) fused.node.results.push_back({false, {id}});
  nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(begin),
              nodes.begin() + static_cast<std::ptrdiff_t>(end));
  nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(begin), std::move(fused));
  return graph;
}

constexpr const char* kReadThenWritten = R"(program "p" {
  input %x : f32[4]
  input %y : f32[4]
  %s = aten.sum.default(%x)
  %a = aten.relu.default(%y)
  %w = aten.copy_.default(%x, %a)
  output %s
  output %w
})";

TEST(Dependences, SurviveFusionWithTheWeakOnes) {
  const SizedGraph graph =
      fuse(sized_graph_of(program_of(kReadThenWritten), {zeros({4}), zeros({4})}), 1, 3);
  EXPECT_EQ(edges_of(graph), "fused->s:war");
}

// PyTorch 177816: the fused node's dependences, computed anew from its body, no longer say that
// the sum reads %x first.
TEST(Dependences, ForgetEarlierReadersOfFusedWritesWhereADeviationAsksForIt) {
  const SizedGraph graph =
      fuse(sized_graph_of(program_of(kReadThenWritten), {zeros({4}), zeros({4})}), 1, 3);
  EXPECT_EQ(edges_of(graph, only(spec::Deviation::kRecomputesDependencesFromBody)), "");
}

}  // namespace
}  // namespace graphgate::optimized
