#include "interop/pt2_effect_tokens.h"

#include <gtest/gtest.h>

#include "base/result_test.h"
#include "spec/graph_text.h"

namespace graphgate::interop {
namespace {

const char* const kTokenInputs =
    "  input %t : f32[0]\n  input %x : f32[2]\n  input %info : i32[]\n";

spec::Program program_with(const std::string& body) {
  return must(spec::parse_program("program \"p\" {\n" + std::string(kTokenInputs) + body + "}\n",
                                  spec::builtin_op_table(), "test"));
}

TEST(Pt2EffectTokens, RunsTheOpsInTheirOrderWithoutTokens) {
  spec::Program program = program_with(
      "  %a : f32[0], %n : none = higher_order.with_effects(%t, aten._linalg_check_errors.default, "
      "%info, \"linalg.inv\", is_matrix=True) as first\n"
      "  %b : f32[0], %y : f32[2] = higher_order.with_effects(%a, aten.relu.default, %x) as "
      "second\n"
      "  output %b\n  output %y\n");
  EXPECT_EQ(drop_effect_tokens(program.graph).size(), 3U);
  const spec::Graph& graph = program.graph;
  ASSERT_EQ(graph.inputs.size(), 2U);
  EXPECT_EQ(graph.value(graph.inputs[0]).name, "x");
  ASSERT_EQ(graph.outputs.size(), 1U);
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(graph.nodes[0].op, "aten._linalg_check_errors.default");
  EXPECT_EQ(graph.nodes[0].name, "first");
  EXPECT_TRUE(graph.nodes[0].results.empty());
  ASSERT_EQ(graph.nodes[0].arguments.size(), 3U);
  EXPECT_EQ(graph.nodes[0].arguments[1].name, "api_name");
  EXPECT_EQ(graph.nodes[1].op, "aten.relu.default");
  EXPECT_EQ(graph.nodes[1].arguments[0].name, "self");
  EXPECT_EQ(graph.value(graph.nodes[1].results.at(0).values.at(0)).name, "y");
}

TEST(Pt2EffectTokens, LeavesTokensThatGoElsewhere) {
  spec::Program program = program_with(
      "  %a : f32[0], %y : f32[2] = higher_order.with_effects(%t, aten.relu.default, %x)\n"
      "  %z : f32[0] = aten.relu.default(%a)\n"
      "  output %z\n  output %y\n");
  const spec::Program before = program;
  EXPECT_TRUE(drop_effect_tokens(program.graph).empty());
  EXPECT_EQ(program.graph, before.graph);
}

TEST(Pt2EffectTokens, LeavesOpsThatNobodyKnows) {
  spec::Program program = program_with(
      "  %a : f32[0], %y : f32[2] = higher_order.with_effects(%t, my.own.default, %x)\n"
      "  output %a\n  output %y\n");
  EXPECT_TRUE(drop_effect_tokens(program.graph).empty());
  EXPECT_EQ(program.graph.inputs.size(), 3U);
}

}  // namespace
}  // namespace graphgate::interop
