#include "base/result_test.h"
#include "conformance/judges/judge_nodes.h"
#include "spec/graph_text.h"

namespace graphgate::conformance {
namespace {

using Outputs = std::vector<std::size_t>;

// The outputs of the taps before the last node.
Outputs outputs_before_last(const std::string& nodes, OperandTaps operands = OperandTaps::kOnce) {
  spec::OpTable ops = spec::builtin_op_table();
  EXPECT_TRUE(
      ops.add_text("aten::neg.note(Tensor self) -> Tensor ; hidden_writes=notes\n", "t").ok());
  const auto program = must(spec::parse_program(
      "program \"p\" {\n  input %x : f32[4]\n  input %y : f32[4]\n" + nodes + "}\n", ops));
  const TappedProgram tapped = tap_nodes(program, ops, operands);
  Outputs outputs;
  for (const TappedProgram::Tap& tap : tapped.nodes.back().before) outputs.push_back(tap.output);
  return outputs;
}

// Taps count from 0 in the order of the program: of %x, of %y, of %a.
TEST(TapNodes, TapOperandsAgainOrOnce) {
  const std::string nodes = "  %a = aten.add.Tensor(%x, %y)\n  %b = aten.mul.Tensor(%a, %x)\n";
  EXPECT_EQ(outputs_before_last(nodes, OperandTaps::kEach), (Outputs{3, 4}));
  EXPECT_EQ(outputs_before_last(nodes, OperandTaps::kOnce), (Outputs{2, 0}));
}

TEST(TapNodes, TapAgainWhatMayShareTheStorageOfAWrittenTensor) {
  // Of %x, %a, %v and once more %v; then %a, of which %v is a view, and %x as before.
  EXPECT_EQ(outputs_before_last("  %a = aten.neg.default(%x)\n"
                                "  %v = aten.view.default(%a, [2, 2])\n"
                                "  %w = aten.neg_.default(%v)\n  %b = aten.mul.Tensor(%a, %x)\n"),
            (Outputs{5, 0}));
  // Inputs may share bytes. Of %x and %y, of %w and %x.
  EXPECT_EQ(outputs_before_last("  %a = aten.add.Tensor(%x, %y)\n  %w = aten.neg_.default(%x)\n"
                                "  %b = aten.mul.Tensor(%x, %y)\n"),
            (Outputs{4, 5}));
}

TEST(TapNodes, TapAllAgainBehindWhatNoSchemaSays) {
  EXPECT_EQ(outputs_before_last("  %a = aten.neg.note(%x)\n  %b = aten.mul.Tensor(%a, %x)\n"),
            (Outputs{1, 2}));
  // A functionalized op writes copies.
  EXPECT_EQ(outputs_before_last(
                "  %n : none, %w = higher_order.auto_functionalized_v2(vllm.silu_and_mul.default, "
                "input=%x, _result_base_index=0, _all_bases=[%y])\n"
                "  %b = aten.mul.Tensor(%y, %w)\n"),
            (Outputs{1, 2}));
}

}  // namespace
}  // namespace graphgate::conformance
