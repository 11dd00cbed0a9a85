#include "conformance/judges/idle_nodes.h"

#include "base/result_test.h"
#include "spec/graph_text.h"

namespace graphgate::conformance {
namespace {

// The names of the nodes that stay where %want is wanted, and what the caller sees of its inputs.
std::string kept(const std::string& nodes, bool are_inputs_wanted = true) {
  spec::OpTable ops = spec::builtin_op_table();
  EXPECT_TRUE(ops.add_text("aten::neg.note(Tensor self) -> Tensor ; hidden_writes=notes\n"
                           "aten::neg.turn(Tensor self) -> Tensor ; orders=kv\n",
                           "ops")
                  .ok());
  auto program = must(spec::parse_program(
      "program \"p\" {\n  symbol u0 in [0, 8]\n  input %x : f32[8]\n  input %p : bool[]\n"
      "  graph @plain {\n    input %plain_x : f32[8]\n    %plain_y = aten.neg.default(%plain_x)\n"
      "    output %plain_y\n  }\n"
      "  graph @writes {\n    input %writes_x : f32[8]\n"
      "    %writes_y = aten.neg_.default(%writes_x)\n    output %writes_y\n  }\n"
      "  graph @notes {\n    input %notes_x : f32[8]\n"
      "    %notes_y = aten.neg.note(%notes_x)\n    output %notes_y\n  }\n" +
          nodes + "}\n",
      ops));
  spec::Graph graph = std::move(program.graph);
  std::vector<spec::ValueId> wanted;
  if (are_inputs_wanted) wanted = graph.inputs;
  for (std::uint32_t i = 0; i < graph.values.size(); ++i) {
    if (graph.values[i].name == "want") wanted.push_back({i});
  }
  drop_idle_nodes(graph, wanted, ops);
  std::string out;
  for (const spec::Node& node : graph.nodes) out += (out.empty() ? "" : " ") + node.name;
  return out;
}

TEST(IdleNodes, AreThoseThatNothingWantedHangsOn) {
  EXPECT_EQ(kept("  %a = aten.exp.default(%x)\n  %b = aten.neg.default(%a)\n"
                 "  %want = aten.sin.default(%a)\n  %c = aten.cos.default(%want)\n"),
            "a want");
}

// What is in the way of an oracle, and what follows from it.
TEST(IdleNodes, MakeSizesAndWriteIntoWhatNobodySees) {
  EXPECT_EQ(kept("  %a = aten.exp.default(%x)\n  %m = aten.gt.Scalar(%a, 0)\n"
                 "  %s : f32[u0] = aten.masked_select.default(%x, %m)\n"
                 "  %t : f32[u0] = aten.sigmoid_.default(%s)\n"
                 "  %want = aten.sin.default(%a)\n"),
            "a want");
}

TEST(IdleNodes, DoNotWriteWhatIsReadLaterOrThroughAView) {
  EXPECT_EQ(kept("  %a = aten.exp.default(%x)\n  %v = aten.view.default(%a, [2, 4])\n"
                 "  %w = aten.neg_.default(%v)\n  %want = aten.sin.default(%a)\n"
                 "  %z = aten.cos_.default(%a)\n"),
            "a v w want");
  EXPECT_EQ(kept("  %v = aten.view.default(%x, [2, 4])\n  %w = aten.neg_.default(%v)\n"), "v w")
      << "the caller sees its input";
  EXPECT_EQ(kept("  %v = aten.view.default(%x, [2, 4])\n  %w = aten.neg.default(%v)\n"), "");
}

TEST(IdleNodes, MayWriteInputsThatNobodyAsksFor) {
  EXPECT_EQ(kept("  %w = aten.neg_.default(%x)\n", false), "");
  EXPECT_EQ(kept("  %c = higher_order.cond(%p, @plain, @writes, [%x])\n", false), "");
  EXPECT_EQ(kept("  %w = aten.neg_.default(%x)\n  %want = aten.sin.default(%x)\n"
                 "  %z = aten.cos_.default(%x)\n",
                 false),
            "w want");
}

TEST(IdleNodes, LeaveNoNotesAndWaitForNobody) {
  EXPECT_EQ(kept("  %a = aten.neg.note(%x)\n  %b = aten.neg.turn(%x)\n"
                 "  %c = aten.neg.default(%x)\n"),
            "a b");
}

TEST(IdleNodes, MayBeConditionals) {
  EXPECT_EQ(kept("  %c = higher_order.cond(%p, @plain, @plain, [%x])\n"), "");
  EXPECT_EQ(kept("  %want = higher_order.cond(%p, @plain, @plain, [%x])\n"), "want");
  EXPECT_EQ(kept("  %c = higher_order.cond(%p, @plain, @writes, [%x])\n"), "c");
  EXPECT_EQ(kept("  %c = higher_order.cond(%p, @notes, @plain, [%x])\n"), "c");
}

}  // namespace
}  // namespace graphgate::conformance
