#include "optimized/passes/pass_test.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;
using spec::DType;

const Inputs& four() {
  static const Inputs kInputs = {values_of(DType::kFloat32, {4}, 1)};
  return kInputs;
}

TEST(DeadCode, DropsWritesThatNobodyCanSee) {
  const spec::Program program = program_of(R"(program "p" {
  input %x : f32[4]
  %e = aten.exp.default(%x)
  %v = aten.slice.Tensor(%e, 0, 0, 2)
  %w = aten.add_.Tensor(%v, 1.0)
  %y = aten.relu.default(%x)
  output %y
})");
  EXPECT_EQ(ops_of(program), "relu");
  expect_unchanged(program, {four()});
}

TEST(DeadCode, KeepsAWriteThatIsReadThroughTheBase) {
  const spec::Program program = program_of(R"(program "p" {
  input %x : f32[4]
  %e = aten.exp.default(%x)
  %v = aten.slice.Tensor(%e, 0, 0, 2)
  %w = aten.add_.Tensor(%v, 1.0)
  %y = aten.relu.default(%e)
  output %y
})");
  EXPECT_EQ(ops_of(program), "exp slice add_ relu");
  expect_unchanged(program, {four()});
}

TEST(DeadCode, DropsAWriteAfterTheLastRead) {
  EXPECT_EQ(ops_of(program_of(R"(program "p" {
  input %x : f32[4]
  %e = aten.exp.default(%x)
  %y = aten.relu.default(%e)
  %w = aten.add_.Tensor(%e, 1.0)
  output %y
})")),
            "exp relu");
}

// pytorch 184016.
TEST(DeadCode, KeepsAWriteThroughAViewOfAnInputUnlessADeviationAsksForIt) {
  const spec::Program program = program_of(R"(program "p" {
  input %x : f32[4]
  %v = aten.slice.Tensor(%x, 0, 1, 3)
  %w = aten.add_.Tensor(%v, 1.0)
  %y = aten.relu.default(%x)
  output %y
})");
  const CompileOptions wrong = deviating_by(Deviation::kDeadCodeDropsAliasWrites);
  EXPECT_EQ(ops_of(program), "slice add_ relu");
  EXPECT_FALSE(changes(program, four(), {}));
  EXPECT_EQ(ops_of(program, wrong), "relu");
  EXPECT_TRUE(changes(program, four(), wrong));
}

TEST(DeadCode, KeepsAssertionsAndConditionals) {
  EXPECT_EQ(ops_of(program_of(R"(program "p" {
  input %x : f32[4]
  graph @arm {
    input %a : f32[4]
    %b = aten.relu.default(%a)
    output %b
  }
  %s = aten.sum.default(%x)
  %p = aten.gt.Scalar(%s, 0)
  %c = higher_order.cond(%p, @arm, @arm, [%x])
  aten._assert_tensor_metadata.default(%x, [4]) as check
  output %x
})")),
            "sum gt cond _assert_tensor_metadata");
}

// vllm 33945: an op that writes a cache and returns a token.
TEST(DeadCode, KeepsTokensAndHiddenStateUnlessADeviationAsksForIt) {
  spec::OpTable ops = spec::builtin_op_table();
  ASSERT_TRUE(ops.add_text("test::update(Tensor key, str layer) -> Tensor ; hidden_writes=layer\n"
                           "test::fence(Tensor x) -> Tensor ; orders=queue\n"
                           "test::look(Tensor x, str layer) -> Tensor ; hidden_reads=layer\n",
                           "test")
                  .ok());
  auto program = must(spec::parse_program(R"(program "p" {
  input %x : f32[4]
  %t = test.update.default(%x, "a")
  %f = test.fence.default(%x)
  %l = test.look.default(%x, "a")
  %y = aten.relu.default(%x)
  output %y
})",
                                          ops));
  CompileOptions options;
  options.ops = &ops;
  EXPECT_EQ(ops_of(program, options), "update fence relu");
  options.deviations.add(Deviation::kDeadCodeDropsTokens);
  EXPECT_EQ(ops_of(program, options), "relu");
}

}  // namespace
}  // namespace graphgate::optimized
