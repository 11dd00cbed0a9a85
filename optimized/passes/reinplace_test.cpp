#include "optimized/passes/pass_test.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;
using spec::DType;

// fused_add_rms_norm on two bases, as torch.export functionalizes it.
std::string functionalized(const std::string& input, const std::string& residual) {
  return "  %n : none, %i : f32[2, 4], %r : f32[2, 4] = higher_order.auto_functionalized_v2("
         "vllm.fused_add_rms_norm.default, weight=%w, epsilon=1e-06, _input_base_index=0, "
         "_residual_base_index=1, _all_bases=[%" +
         input + ", %" + residual + "]) as norm\n";
}

spec::Program norm_program(const std::string& bases, const std::string& input,
                           const std::string& residual, const std::string& rest) {
  return program_of("program \"p\" {\n  input %x : f32[2, 4]\n  input %w : f32[4]\n" + bases +
                    functionalized(input, residual) + rest + "}");
}

constexpr const char* kTwoBases =
    "  %a : f32[2, 4] = aten.exp.default(%x)\n  %b : f32[2, 4] = aten.neg.default(%x)\n";

Inputs norm_inputs() {
  return {values_of(DType::kFloat32, {2, 4}, 1), values_of(DType::kFloat32, {4}, 2)};
}

TEST(Reinplace, DropsTheCopiesOfBasesThatDie) {
  const spec::Program program = norm_program(kTwoBases, "a", "b", "  output %i\n  output %r\n");
  EXPECT_EQ(ops_of(program), "exp neg fused_add_rms_norm");
  EXPECT_EQ(counts_of(program).at("reinplace").matches, 2);
  expect_unchanged(program, {norm_inputs()});
}

TEST(Reinplace, KeepsTheCopyOfABaseThatIsReadLater) {
  const spec::Program program =
      norm_program(kTwoBases, "a", "b",
                   "  %l : f32[2, 4] = aten.sub.Tensor(%i, %a)\n  output %l\n  output %r\n");
  EXPECT_EQ(ops_of(program), "exp neg clone_preserve_strides fused_add_rms_norm sub");
  expect_unchanged(program, {norm_inputs()});
}

TEST(Reinplace, KeepsTheCopyOfABaseThatIsReadLaterThroughAView) {
  const spec::Program program = norm_program(
      std::string(kTwoBases) + "  %v : f32[4, 2]{1, 4} = aten.t.default(%a)\n", "a", "b",
      "  %l : f32[4, 2]{1, 4} = aten.neg.default(%v)\n  output %l\n  output %i\n");
  EXPECT_EQ(ops_of(program), "exp neg t clone_preserve_strides fused_add_rms_norm neg");
  expect_unchanged(program, {norm_inputs()});
}

TEST(Reinplace, KeepsTheCopyOfAnInputAndOfAnOutput) {
  const spec::Program program = norm_program("  %a : f32[2, 4] = aten.exp.default(%x)\n", "x", "a",
                                             "  output %i\n  output %r\n  output %a\n");
  EXPECT_EQ(ops_of(program),
            "exp clone_preserve_strides clone_preserve_strides fused_add_rms_norm");
  expect_unchanged(program, {norm_inputs()});
}

// pytorch 132238: one base for two written arguments.
TEST(Reinplace, KeepsOneOfTwoCopiesOfOneBaseUnlessADeviationAsksForIt) {
  const spec::Program program =
      norm_program("  %a : f32[2, 4] = aten.exp.default(%x)\n", "a", "a",
                   "  %l : f32[2, 4] = aten.sub.Tensor(%i, %r)\n  output %l\n");
  const CompileOptions wrong = deviating_by(Deviation::kReinplacesOverlaps);
  EXPECT_EQ(ops_of(program), "exp clone_preserve_strides fused_add_rms_norm sub");
  EXPECT_FALSE(changes(program, norm_inputs(), {}));
  EXPECT_EQ(ops_of(program, wrong), "exp fused_add_rms_norm sub");
  EXPECT_TRUE(changes(program, norm_inputs(), wrong));
}

TEST(Reinplace, WritesPartsOfOneStorageThatDoNotOverlapInPlace) {
  const spec::Program program = norm_program(
      "  %s : f32[4, 4] = aten.cat.default([%x, %x])\n"
      "  %a : f32[2, 4] = aten.slice.Tensor(%s, 0, 0, 2)\n"
      "  %b : f32[2, 4]@8 = aten.slice.Tensor(%s, 0, 2, 4)\n",
      "a", "b", "  %l : f32[2, 4] = aten.sub.Tensor(%i, %r)\n  output %l\n");
  EXPECT_EQ(ops_of(program), "cat slice slice fused_add_rms_norm sub");
  expect_unchanged(program, {norm_inputs()});
}

// pytorch 127821.
TEST(UndoFunctionalization, WiresConsumersToTheOldVersionWhereADeviationAsksForIt) {
  const spec::Program program =
      norm_program(kTwoBases, "a", "b",
                   "  %l : f32[2, 4] = aten.add.Tensor(%a, %i)\n  output %l\n  output %r\n");
  EXPECT_FALSE(changes(program, norm_inputs(), {}));
  EXPECT_TRUE(changes(program, norm_inputs(), deviating_by(Deviation::kConsumerReadsOldVersion)));
}

// silu_and_mul into the rows of one base, twice: pytorch 153389.
constexpr const char* kSiblings = R"(program "p" {
  input %x : f32[1, 4]
  input %q : f32[1, 4]
  %b : f32[2, 2] = aten.full.default([2, 2], 0.0)
  %n : none, %b1 : f32[2, 2] = higher_order.auto_functionalized_v2(vllm.silu_and_mul.default, input=%x, _out_base_index=0, _out_size=[1, 2], _out_stride=[2, 1], _out_storage_offset=0, _all_bases=[%b]) as first
  %m : none, %b2 : f32[2, 2] = higher_order.auto_functionalized_v2(vllm.silu_and_mul.default, input=%q, _out_base_index=0, _out_size=[1, 2], _out_stride=[2, 1], _out_storage_offset=2, _all_bases=[%b1]) as second
  %y : f32[2, 2] = aten.neg.default(%b2)
  output %y
})";

TEST(UndoFunctionalization, CopiesAStaleBaseForASiblingWhereADeviationAsksForIt) {
  const spec::Program program = program_of(kSiblings);
  const Inputs inputs = {values_of(DType::kFloat32, {1, 4}, 1),
                         values_of(DType::kFloat32, {1, 4}, 2)};
  EXPECT_EQ(ops_of(program), "full as_strided silu_and_mul as_strided silu_and_mul neg");
  EXPECT_FALSE(changes(program, inputs, {}));
  EXPECT_TRUE(changes(program, inputs, deviating_by(Deviation::kStaleBaseForSiblings)));
}

spec::Program scatter_program(const std::string& nodes) {
  return program_of(R"(program "p" {
  input %x : f32[4, 4]
  input %s : f32[2, 4]
  input %i : i64[2]
  %m : f32[4, 4] = aten.mm.default(%x, %x)
)" + nodes + "}");
}

Inputs scatter_inputs() {
  return {values_of(DType::kFloat32, {4, 4}, 1), values_of(DType::kFloat32, {2, 4}, 2),
          i64({2}, {3, 1})};
}

TEST(Reinplace, WritesScattersIntoDyingValuesInPlace) {
  const spec::Program program = scatter_program(R"(
  %a : f32[4, 4] = aten.index_put.default(%m, [%i], %s)
  %b : f32[4, 4] = aten.index_put.default(%a, [%i], %s, True)
  %c : f32[4, 4] = aten.slice_scatter.default(%b, %s, 0, 1, 3)
  %d : f32[4, 4] = aten.relu.default(%c)
  output %d
)");
  EXPECT_EQ(ops_of(program), "mm index_put_ index_put_ slice copy_ relu");
  EXPECT_EQ(counts_of(program).at("reinplace").matches, 3);
  expect_unchanged(program, {scatter_inputs()});
}

TEST(Reinplace, LeavesScattersIntoValuesThatLiveOn) {
  const spec::Program program = scatter_program(R"(
  %a : f32[4, 4] = aten.index_put.default(%m, [%i], %s)
  %c : f32[4, 4] = aten.slice_scatter.default(%x, %s, 0, 1, 3)
  %d : f32[4, 4] = aten.sub.Tensor(%a, %m)
  output %d
  output %c
)");
  EXPECT_EQ(ops_of(program), "mm index_put slice_scatter sub");
  expect_unchanged(program, {scatter_inputs()});
}

// Such an op launches nothing, and reads all the same.
TEST(Reinplace, LeavesAScatterIntoAValueThatTheHostReadsLater) {
  for (const std::string item : {"_local_scalar_dense", "item"}) {
    const spec::Program program = scatter_program(R"(
  %t : f32[] = aten.sum.default(%m)
  %b : bool[] = aten.eq.Tensor(%t, %t)
  %a : f32[] = aten.masked_fill.Scalar(%t, %b, 5)
  %k : symfloat = aten.)" + item + R"(.default(%t)
  %d : f32[4, 4] = aten.mul.Tensor(%x, %k)
  output %d
  output %a
)");
    EXPECT_EQ(ops_of(program), "mm sum eq masked_fill " + item + " mul");
    expect_unchanged(program, {scatter_inputs()});
  }
}

TEST(Reinplace, LeavesAScatterOfAViewOfItsOwnBase) {
  const spec::Program program = scatter_program(R"(
  %v : f32[2, 4] = aten.slice.Tensor(%m, 0, 0, 2)
  %c : f32[4, 4] = aten.slice_scatter.default(%m, %v, 0, 1, 3)
  %d : f32[4, 4] = aten.neg.default(%c)
  output %d
)");
  EXPECT_EQ(ops_of(program), "mm slice slice_scatter neg");
  expect_unchanged(program, {scatter_inputs()});
}

TEST(Reinplace, WritesSelectAndStridedScattersInPlace) {
  const spec::Program program = scatter_program(R"(
  %row : f32[4] = aten.select.int(%s, 0, 0)
  %a : f32[4, 4] = aten.select_scatter.default(%m, %row, 1, 2)
  %b : f32[4, 4] = aten.as_strided_scatter.default(%a, %s, [2, 4], [8, 1], 4)
  %d : f32[4, 4] = aten.neg.default(%b)
  output %d
)");
  EXPECT_EQ(ops_of(program), "mm select select copy_ as_strided copy_ neg");
  expect_unchanged(program, {scatter_inputs()});
}

}  // namespace
}  // namespace graphgate::optimized
