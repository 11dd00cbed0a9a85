// Which programs may be padded, and why others may not.
#include "optimized/analysis/padding.h"

#include "optimized/program_test.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;

// A program over %x : f32[s0, 4] (and %i : i64[s0], %w : f32[4, 5], %b : f32[8, 4]) with this body.
spec::Program with_body(const std::string& body) {
  return program_of(R"(program "rows" {
  symbol s0 in [1, 64]
  buffer %b "b" : f32[8, 4] = [)" +
                    [] {
                      std::string zeros = "0.0";
                      for (int i = 1; i < 32; ++i) zeros += ", 0.0";
                      return zeros;
                    }() +
                    R"(]
  input %x : f32[s0, 4]
  input %i : i64[s0]
  input %w : f32[4, 5]
)" + body + "}");
}

std::string refusal(const std::string& body, std::initializer_list<Deviation> deviations = {}) {
  spec::DeviationSet set;
  for (const Deviation deviation : deviations) set.add(deviation);
  const auto proof = prove_padding(with_body(body), "s0", spec::builtin_op_table(), set);
  EXPECT_EQ(proof.padding.has_value(), proof.refusal.empty());
  return proof.refusal;
}

TEST(Padding, IsLegalWhereEveryOpKeepsRowsApart) {
  const spec::Program program = with_body(R"(
  %h : f32[s0, 5] = aten.mm.default(%x, %w)
  %n : f32[s0, 5] = aten._softmax.default(%h, 1, False)
  %t : f32[5, s0]{1, 5} = aten.transpose.int(%n, 0, 1)
  %e : f32[s0, 4] = aten.embedding.default(%b, %i)
  %s : f32[s0] = aten.sum.dim_IntList(%e, [1])
  %c : f32[s0, 9] = aten.cat.default([%n, %x], 1)
  output %t
  output %s
  output %c
  output 3
)");
  const auto proof = prove_padding(program, "s0", spec::builtin_op_table());
  ASSERT_TRUE(proof.padding) << proof.refusal;
  using Dims = std::vector<std::optional<std::uint32_t>>;
  EXPECT_EQ(proof.padding->input_dims, (Dims{{}, 0, 0, {}}));
  EXPECT_EQ(proof.padding->output_dims, (Dims{1, 0, 0, {}}));
}

TEST(Padding, FollowsRowsThroughViewsThatKeepThemWhole) {
  EXPECT_EQ(refusal(R"(
  %n : symint = aten.sym_size.int(%x, 0)
  %m : symint = _operator.mul(%n, 4)
  %v : f32[4*s0] = aten.view.default(%x, [%m])
  %r : f32[4*s0] = aten.relu.default(%v)
  %y : f32[s0, 2, 2] = aten.view.default(%r, [%n, 2, 2])
  output %y
)"),
            "");
  EXPECT_EQ(refusal(R"(
  %n : symint = aten.sym_size.int(%x, 0)
  %v : f32[4, s0] = aten.view.default(%x, [4, %n])
  output %v
)"),
            "node 'v' (aten.view.default): takes rows apart");
}

TEST(Padding, IsRefusedByOpsThatMixRows) {
  EXPECT_EQ(refusal("%y : f32[4] = aten.sum.dim_IntList(%x, [0])\n output %y\n"),
            "node 'y' (aten.sum.dim_IntList): works along the rows");
  EXPECT_EQ(refusal("%y : f32[] = aten.amax.default(%x)\n output %y\n"),
            "node 'y' (aten.amax.default): works along the rows");
  EXPECT_EQ(refusal("%y : f32[s0, 4] = aten._softmax.default(%x, -2, False)\n output %y\n"),
            "node 'y' (aten._softmax.default): works along the rows");
  EXPECT_EQ(refusal("%y : f32[s0, 4] = aten.cumsum.default(%x, 0)\n output %y\n"),
            "node 'y' (aten.cumsum.default): works along the rows");
  EXPECT_EQ(refusal("%y : f32[s0, 4] = aten.flip.default(%x, [0])\n output %y\n"),
            "node 'y' (aten.flip.default): works along the rows");
  EXPECT_EQ(refusal(R"(
  %t : f32[4, s0]{1, 4} = aten.transpose.int(%x, 0, 1)
  %y : f32[4, 4] = aten.mm.default(%t, %x)
  output %y
)"),
            "node 'y' (aten.mm.default): sums over the rows");
  EXPECT_EQ(refusal(R"(
  %t : f32[4, s0]{1, 4} = aten.transpose.int(%x, 0, 1)
  %y : f32[s0, s0] = aten.mm.default(%x, %t)
  output %y
)"),
            "node 'y' (aten.mm.default): 'y' has 's0' in two dimensions");
  EXPECT_EQ(refusal("%y : f32[s0, 4] = aten.index.Tensor(%x, [%i])\n output %y\n"),
            "node 'y' (aten.index.Tensor): looks rows up");
}

// Rows that are looked up by their own number stay where they are.
TEST(Padding, KnowsRowsThatAreLookedUpByTheirOwnNumber) {
  EXPECT_EQ(refusal(R"(
  %n : symint = aten.sym_size.int(%x, 0)
  %a : i64[s0] = aten.arange.default(%n)
  %u : i64[s0, 1] = aten.unsqueeze.default(%a, 1)
  %j : i64[4] = aten.arange.default(4)
  %y : f32[s0, 4] = aten.index.Tensor(%x, [%u, %j])
  output %y
)"),
            "");
  EXPECT_EQ(refusal(R"(
  %n : symint = aten.sym_size.int(%x, 0)
  %a : i64[s0] = aten.arange.start(1, %n)
  %y : f32[s0, 4] = aten.index.Tensor(%x, [%a])
  output %y
)"),
            "node 'y' (aten.index.Tensor): looks rows up");
}

TEST(Padding, IsRefusedWhereRowsAreScatteredOrWrittenIntoState) {
  const char* const scatter = R"(
  %z : f32[8, 4] = aten.zeros.default([8, 4])
  %y : f32[8, 4] = aten.index_put.default(%z, [%i], %x)
  output %y
)";
  EXPECT_EQ(refusal(scatter),
            "node 'y' (aten.index_put.default): writes to as many places as there are rows");
  EXPECT_EQ(refusal(scatter, {Deviation::kPadsThroughScatters}), "");
  const char* const state = R"(
  %n : symint = aten.sym_size.int(%x, 0)
  %v : f32[s0, 4] = aten.slice.Tensor(%b, 0, 0, %n)
  %a : f32[s0, 4] = aten.add_.Tensor(%v, %x)
  output %a
)";
  EXPECT_EQ(refusal(state), "node 'a' (aten.add_.Tensor): writes rows into state 'b'");
  EXPECT_EQ(refusal(state, {Deviation::kPadsThroughReductions}), refusal(state));
  EXPECT_EQ(refusal(state, {Deviation::kPadsThroughState}), "");
  EXPECT_EQ(refusal(R"(
  %n : symint = aten.sym_size.int(%x, 0)
  %z : f32[8, 4] = aten.zeros.default([8, 4])
  %v : f32[s0, 4] = aten.slice.Tensor(%z, 0, 0, %n)
  %a : f32[s0, 4] = aten.copy_.default(%v, %x)
  %s : f32[] = aten.sum.default(%z)
  output %s
)"),
            "node 'a' (aten.copy_.default): writes rows into 'z'");
}

TEST(Padding, LeavesStateAloneThatNoRowReaches) {
  EXPECT_EQ(refusal(R"(
  %c : f32[8, 4] = aten.add_.Tensor(%b, 1.0)
  %m : f32[4] = aten.mean.dim(%b, [0])
  %y : f32[s0, 4] = aten.add.Tensor(%x, %m)
  output %y
)"),
            "");
}

TEST(Padding, IsRefusedWhereTheSymbolIsMoreThanASize) {
  EXPECT_EQ(refusal(R"(
  %n : symint = aten.sym_size.int(%x, 0)
  %y : f32[s0, 4] = aten.div.Tensor(%x, %n)
  output %y
)"),
            "node 'y' (aten.div.Tensor): computes with 'n', which depends on 's0'");
  EXPECT_EQ(refusal(R"(
  %n : symint = aten.sym_size.int(%x, 0)
  output %n
)"),
            "output 'n' is a number that depends on 's0'");
  EXPECT_EQ(refusal("%y : f32[4*s0] = aten.view.default(%x, [-1])\n output %y\n"),
            "output 'y' has 's0' in a product");
  EXPECT_EQ(refusal("%y = aten.relu.default(%x)\n output %y\n"),
            "node 'y' (aten.relu.default): 'y' has no stated type");
}

TEST(Padding, IsRefusedByOpsThatNothingIsKnownOf) {
  EXPECT_EQ(refusal("%y : f32[s0, 4] = aten.renorm.default(%x, 2.0, 1, 1.0)\n output %y\n"),
            "node 'y' (aten.renorm.default): is not known to keep rows apart");
  EXPECT_EQ(refusal("%y : f32[s0, 4] = aten.dropout.default(%x, 0.5, True)\n output %y\n"),
            "node 'y' (aten.dropout.default): draws random numbers");
  EXPECT_EQ(refusal(R"(
  %l : tensors = aten.split.Tensor(%x, 2, 1)
  %y : f32[2*s0, 2] = aten.cat.default(%l, 0)
  output %y
)"),
            "node 'y' (aten.cat.default): takes a whole list");
}

TEST(Padding, GoesThroughReductionsWhenAsked) {
  const char* const body = "%y : f32[4] = aten.sum.dim_IntList(%x, [0])\n output %y\n";
  EXPECT_EQ(refusal(body, {Deviation::kPadsThroughReductions}), "");
  EXPECT_NE(refusal(body, {Deviation::kPadsThroughState, Deviation::kPadsThroughScatters}), "");
}

TEST(SizeProduct, KnowsProductsInAnyOrder) {
  const auto product = [](const char* text) {
    SizeProduct out;
    out.multiply(spec::parse_sym_expr(text).value());
    return out;
  };
  EXPECT_EQ(product("2*s0*s1"), product("s1*s0*2"));
  EXPECT_NE(product("s0*s0"), product("s0"));
  EXPECT_NE(product("s0 + 1"), product("s0"));
}

}  // namespace
}  // namespace graphgate::optimized
