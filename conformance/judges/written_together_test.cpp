#include "conformance/judges/written_together.h"

#include "base/result_test.h"
#include "spec/graph_text.h"

namespace graphgate::conformance {
namespace {

bool last_writes_together(const std::string& nodes,
                          const std::vector<spec::InputValue>& inputs = {}) {
  const auto program = must(spec::parse_program(
      "program \"p\" {\n  symbol s0 in [2, 8]\n  input %x : f32[8, 4]\n  input %y : f32[8, 4]\n" +
          nodes + "}\n",
      spec::builtin_op_table()));
  return written_together(program, inputs, spec::builtin_op_table()).back();
}

TEST(WrittenTogether, AreViewsOfOneStorage) {
  EXPECT_TRUE(last_writes_together(
      "  %a : f32[4, 4] = aten.slice.Tensor(%x, 0, 0, 4)\n"
      "  %b : f32[4, 4]@12 = aten.slice.Tensor(%x, 0, 3, 7)\n  %c = aten.add_.Tensor(%a, %b)\n"));
  EXPECT_FALSE(last_writes_together(
      "  %a : f32[8, 4] = aten.neg.default(%x)\n  %c = aten.add_.Tensor(%a, %x)\n"));
}

TEST(WrittenTogether, AreNotViewsThatTheProgramStatesApart) {
  const std::string halves =
      "  (%a : f32[4, 4], %b : f32[4, 4]@16) = aten.split.Tensor(%x, 4)\n"
      "  %c = aten.add_.Tensor(%a, %b)\n";
  EXPECT_FALSE(last_writes_together(halves));
  // Unstated, or stated in symbols, they may be anywhere; so may they where inputs share bytes.
  EXPECT_TRUE(last_writes_together(
      "  (%a, %b) = aten.split.Tensor(%x, 4)\n  %c = aten.add_.Tensor(%a, %b)\n"));
  EXPECT_TRUE(
      last_writes_together("  (%a : f32[s0, 4], %b : f32[s0, 4]@16) = aten.split.Tensor(%x, 4)\n"
                           "  %c = aten.add_.Tensor(%a, %b)\n"));
  const spec::HostTensor shared = spec::make_host_tensor(spec::DType::kFloat32, {8, 4});
  EXPECT_TRUE(last_writes_together(halves, {shared, shared}));
  EXPECT_FALSE(last_writes_together(
      halves, {shared, spec::make_host_tensor(spec::DType::kFloat32, {8, 4})}));
}

// The copy keeps the strides of self, and so its overlaps; a copy of the operand has none.
TEST(WrittenTogether, AreCopiesThatKeepAnOverlap) {
  const std::string windows = "  %w = aten.unfold.default(%x, 0, 2, 1)\n";
  EXPECT_TRUE(last_writes_together(windows + "  %c = aten.select_scatter.default(%w, %y, 0, 0)\n"));
  EXPECT_FALSE(last_writes_together(windows + "  %c = aten.add.Tensor(%w, %w)\n"));
  EXPECT_TRUE(last_writes_together(windows + "  %b = aten.select_scatter.default(%w, %y, 0, 0)\n"
                                             "  %c = aten.select_scatter.default(%b, %y, 0, 0)\n"));
  EXPECT_FALSE(last_writes_together("  %c = aten.slice_scatter.default(%x, %y)\n"));
}

// A functionalized op writes such a copy of its base.
TEST(WrittenTogether, AreNewBasesOfBasesThatOverlap) {
  const auto functionalized = [](const std::string& base, const std::string& result) {
    return "  %n" + result + " : none, %" + result +
           " = higher_order.auto_functionalized_v2(vllm.silu_and_mul.default, input=%x, "
           "_out_base_index=0, _all_bases=[%" +
           base + "])\n";
  };
  const std::string windows = "  %w = aten.unfold.default(%x, 0, 2, 1)\n";
  EXPECT_TRUE(last_writes_together(windows + functionalized("w", "c")));
  EXPECT_TRUE(
      last_writes_together(windows + functionalized("w", "b") + "  %c = aten.neg_.default(%b)\n"));
  EXPECT_FALSE(last_writes_together(functionalized("y", "c")));
  EXPECT_FALSE(last_writes_together(functionalized("x", "b") + "  %c = aten.neg_.default(%b)\n"));
}

}  // namespace
}  // namespace graphgate::conformance
