#include "optimized/schedule/fuse_groups.h"

#include "optimized/program_test.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;

// "{a b} mm {c}": the steps of block 0, bodies in braces without the views among them.
std::string steps_of(const spec::Plan& plan) {
  std::string text;
  for (const spec::PlanStep& step : plan.steps) {
    std::string names;
    for (const spec::Node& node : step.body) {
      if (node.op == "aten.as_strided.default") continue;
      names += (names.empty() ? "" : " ") + node.name;
    }
    text += (text.empty() ? "" : " ") + (step.body.empty() ? step.node.name : "{" + names + "}");
  }
  return text;
}

spec::HostTensor some_numbers(std::vector<std::int64_t> sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(i * 5 % 13) - 5.2F);
  }
  return f32(std::move(sizes), std::move(values));
}

CompileOptions with(std::initializer_list<Deviation> deviations,
                    const std::string& compiler = "fused") {
  CompileOptions options;
  options.compiler.name = compiler;
  options.compiler.realize.recompute = false;
  for (const Deviation deviation : deviations) options.deviations.add(deviation);
  return options;
}

std::string groups_of(const std::string& text, const Inputs& inputs,
                      std::initializer_list<Deviation> deviations = {}) {
  return steps_of(good_plan_of(program_of(text), inputs, with(deviations), Launches::kAsAsked));
}

// The bytes of all outputs and final inputs.
std::vector<std::vector<std::byte>> bytes_of(const std::string& text, const Inputs& inputs,
                                             const CompileOptions& compile) {
  Options options;
  options.compile = compile;
  std::vector<std::vector<std::byte>> out;
  for (const spec::CallResult& result : run_calls(program_of(text), {inputs}, options)) {
    for (const spec::OutputValue& value : result.outputs) {
      out.push_back(spec::packed_bytes(std::get<spec::HostTensor>(value)));
    }
  }
  return out;
}

void expect_same_bits(const std::string& text, const Inputs& inputs) {
  const auto eager = bytes_of(text, inputs, with({}, "eager"));
  ASSERT_FALSE(eager.empty());
  EXPECT_EQ(bytes_of(text, inputs, with({})), eager);
}

TEST(FusionGroups, TakePointwiseChainsAndRowsTogether) {
  const std::string text = R"(program "p" {
  input %x : f32[7, 6]
  input %w : f32[6]
  %a = aten.mul.Tensor(%x, %x)
  %m = aten.mean.dim(%a, [1], True)
  %r = aten.rsqrt.default(%m)
  %n = aten.mul.Tensor(%x, %r)
  %o = aten.mul.Tensor(%n, %w)
  %s = aten._softmax.default(%o, -1, False)
  output %s
})";
  EXPECT_EQ(groups_of(text, {some_numbers({7, 6}), some_numbers({6})}), "{a m r n o s}");
  expect_same_bits(text, {some_numbers({7, 6}), some_numbers({6})});
}

TEST(FusionGroups, EndWhereRowsDoNotGoTogether) {
  const std::string text = R"(program "p" {
  input %x : f32[6, 6]
  %a = aten.mul.Tensor(%x, 2.0)
  %m = aten.sum.dim_IntList(%a, [0])
  %b = aten.add.Tensor(%a, %m)
  %t = aten.permute.default(%b, [1, 0])
  %c = aten.add.Tensor(%b, %t)
  %k = aten.cumsum.default(%c, 0)
  output %k
})";
  CompileOptions options = with({});
  options.compiler.limits.row_bytes = 32;
  EXPECT_EQ(
      steps_of(good_plan_of(program_of(text), {some_numbers({6, 6})}, options, Launches::kAsAsked)),
      "a m b c k");
  // What fits in one tile needs no rows.
  EXPECT_EQ(groups_of(text, {some_numbers({6, 6})}), "{a m b c} k");
  expect_same_bits(text, {some_numbers({6, 6})});
}

// All rows of %e are one element, in a dimension of its own: a tile of it has rows where a tile of
// %x has one, and the two broadcast to what is no tile of %a.
TEST(FusionGroups, AskWhetherTilesOfOperandsBroadcastToTilesOfResults) {
  const std::string text = R"(program "p" {
  input %x : f32[4, 3]
  input %y : f32[1, 1]
  %e = aten.expand.default(%y, [4, 1])
  %a = aten.mul.Tensor(%x, %e)
  %b = aten.relu.default(%a)
  output %b
})";
  EXPECT_EQ(groups_of(text, {some_numbers({4, 3}), some_numbers({1, 1})}), "a b");
  expect_same_bits(text, {some_numbers({4, 3}), some_numbers({1, 1})});
}

TEST(FusionGroups, SeeTheViewsOfWhatTheyKeepInside) {
  const std::string text = R"(program "p" {
  input %x : f32[5, 8]
  %a = aten.mul.Tensor(%x, 3.0)
  %l = aten.slice.Tensor(%a, 1, 0, 4)
  %h = aten.slice.Tensor(%a, 1, 4, 8)
  %n = aten.neg.default(%h)
  %s = aten.add.Tensor(%n, %l)
  %v = aten.view.default(%s, [20])
  %o = aten.relu.default(%v)
  output %o
})";
  EXPECT_EQ(groups_of(text, {some_numbers({5, 8})}), "{a n s o}");
  expect_same_bits(text, {some_numbers({5, 8})});
}

TEST(FusionGroups, PassNodesByThatTouchNothingOfTheirs) {
  const std::string text = R"(program "p" {
  input %x : f32[4, 4]
  input %y : f32[4, 4]
  %a = aten.relu.default(%x)
  %b = aten.mm.default(%y, %y)
  %c = aten.mul.Tensor(%a, 2.0)
  %d = aten.mm.default(%b, %c)
  output %d
})";
  EXPECT_EQ(groups_of(text, {some_numbers({4, 4}), some_numbers({4, 4})}), "b {a c} d");
}

TEST(FusionGroups, KeepReadersInFrontOfWrites) {
  const std::string text = R"(program "p" {
  input %x : f32[4, 4]
  input %y : f32[4, 4]
  %a = aten.relu.default(%x)
  %c = aten.mul.Tensor(%a, 2.0)
  %w = aten.index_fill_.int_Scalar(%x, 0, %i, 9.0)
  %d = aten.add.Tensor(%c, %y)
  output %d
})";
  std::string with_index = text;
  with_index.replace(with_index.find("  %a ="), 0, "  %i = aten.arange.default(2)\n");
  EXPECT_EQ(groups_of(with_index, {some_numbers({4, 4}), some_numbers({4, 4})}), "i {a c} w d");
  expect_same_bits(with_index, {some_numbers({4, 4}), some_numbers({4, 4})});
}

TEST(FusionGroups, JoinAWriteThatGoesRowByRowWithItsReaders) {
  const std::string text = R"(program "p" {
  input %x : f32[9, 4]
  input %y : f32[9, 4]
  %a = aten.relu.default(%x)
  %w = aten.copy_.default(%x, %y)
  %b = aten.add.Tensor(%a, %x)
  output %b
})";
  EXPECT_EQ(groups_of(text, {some_numbers({9, 4}), f32({9, 4}, std::vector<float>(36, 2.5F))}),
            "{a w b}");
  expect_same_bits(text, {some_numbers({9, 4}), f32({9, 4}, std::vector<float>(36, 2.5F))});
}

TEST(FusionGroups, StayWithinTheirLimit) {
  std::string text = "program \"p\" {\n  input %v0 : f32[3]\n";
  for (int i = 1; i <= 7; ++i) {
    text += "  %v" + std::to_string(i) + " = aten.neg.default(%v" + std::to_string(i - 1) + ")\n";
  }
  text += "  output %v7\n}";
  CompileOptions options = with({});
  options.compiler.limits.nodes = 3;
  EXPECT_EQ(
      steps_of(good_plan_of(program_of(text), {some_numbers({3})}, options, Launches::kAsAsked)),
      "{v1 v2 v3} {v4 v5 v6} v7");
}

// Written by a node that no group takes in, behind readers that wait; what reads it next cannot go
// with them.
std::string written_behind(const std::string& readers, const std::string& written) {
  return R"(program "p" {
  input %x : f32[4, 4]
  input %y : f32[4, 4]
  %i = aten.arange.default(4)
)" + readers +
         "  %w = aten.index_copy_.default(" + written + R"(, 0, %i, %y)
  %m = aten.mm.default(%x, %x)
  output %r
  output %m
})";
}

const Inputs& two_squares() {
  static const Inputs kInputs = {some_numbers({4, 4}), f32({4, 4}, std::vector<float>(16, 7.0F))};
  return kInputs;
}

void expect_wrong_only_with(Deviation deviation, const std::string& text,
                            const std::string& wrong_groups) {
  const auto right = bytes_of(text, two_squares(), with({}, "eager"));
  EXPECT_EQ(bytes_of(text, two_squares(), with({})), right);
  EXPECT_EQ(groups_of(text, two_squares(), {deviation}), wrong_groups);
  EXPECT_NE(bytes_of(text, two_squares(), with({deviation})), right);
}

// PyTorch 107614.
TEST(WritesBeforePendingReaders, RunsAReaderBehindTheWrite) {
  const std::string text = written_behind("  %r = aten.relu.default(%x)\n", "%x");
  EXPECT_EQ(groups_of(text, two_squares()), "i r w m");
  expect_wrong_only_with(Deviation::kWritesBeforePendingReaders, text, "i w m r");
}

// PyTorch 198104.
TEST(PendingReadersByName, MissesTheReadersOfViews) {
  const std::string view = "  %v = aten.view.default(%x, [16])\n  %r = aten.relu.default(%v)\n";
  expect_wrong_only_with(Deviation::kPendingReadersByName, written_behind(view, "%x"), "i w m r");
  const std::string plain = written_behind("  %r = aten.relu.default(%x)\n", "%x");
  EXPECT_EQ(groups_of(plain, two_squares(), {Deviation::kPendingReadersByName}), "i r w m");
}

// PyTorch 162316.
TEST(PrunesWeakDependences, ForgetsTheReadsOfFusedNodes) {
  const std::string fused = "  %q = aten.relu.default(%x)\n  %r = aten.mul.Tensor(%q, 2.0)\n";
  expect_wrong_only_with(Deviation::kPrunesWeakDependences, written_behind(fused, "%x"),
                         "i w m {q r}");
  const std::string plain = written_behind("  %r = aten.relu.default(%x)\n", "%x");
  EXPECT_EQ(groups_of(plain, two_squares(), {Deviation::kPrunesWeakDependences}), "i r w m");
}

// PyTorch 109172.
TEST(FusesReaderWithScatter, PutsBothInOneLaunch) {
  const std::string text = R"(program "p" {
  input %x : f32[6]
  input %i : i64[6]
  input %y : f32[6]
  %s = aten.scatter_add.default(%x, 0, %i, %y)
  %r = aten.relu.default(%s)
  output %r
})";
  const Inputs inputs = {some_numbers({6}), i64({6}, {0, 5, 1, 1, 2, 0}), some_numbers({6})};
  EXPECT_EQ(groups_of(text, inputs), "s r");
  EXPECT_EQ(groups_of(text, inputs, {Deviation::kFusesReaderWithScatter}), "{s r}");
}

// vllm 42913: a value that stays inside is not rounded to bfloat16.
TEST(RealizationMovesRounding, KeepsInnerValuesWide) {
  const std::string text = R"(program "p" {
  input %x : f32[64]
  %b = aten._to_copy.default(%x, dtype=bf16)
  %c = aten.mul.Tensor(%b, %b)
  %d = aten.mul.Tensor(%c, %c)
  %e = aten.sub.Tensor(%d, %b)
  output %e
})";
  const Inputs inputs = {some_numbers({64})};
  const auto right = bytes_of(text, inputs, with({}, "eager"));
  EXPECT_EQ(bytes_of(text, inputs, with({})), right);
  EXPECT_NE(bytes_of(text, inputs, with({Deviation::kRealizationMovesRounding})), right);
  EXPECT_EQ(groups_of(text, inputs, {Deviation::kRealizationMovesRounding}),
            groups_of(text, inputs));
}

}  // namespace
}  // namespace graphgate::optimized
