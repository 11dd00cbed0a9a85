#include <cmath>

#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

Datum evaluate(const char* op, Datum a, Datum b) {
  return run(op, {{"a", std::move(a)}, {"b", std::move(b)}})[0];
}
std::int64_t integer(const char* op, std::int64_t a, std::int64_t b) {
  const Datum out = evaluate(op, {a}, {b});
  EXPECT_TRUE(out.as<std::int64_t>());
  return out.as<std::int64_t>() ? *out.as<std::int64_t>() : 0;
}

TEST(SymbolicOps, DivisionRoundsTowardMinusInfinityAsInPython) {
  EXPECT_EQ(integer("_operator.floordiv", -7, 2), -4);
  EXPECT_EQ(integer("_operator.mod", -7, 2), 1);
  EXPECT_EQ(integer("_operator.mod", 7, -2), -1);
  EXPECT_EQ(*evaluate("_operator.truediv", {7L}, {2L}).as<double>(), 3.5);
  EXPECT_EQ(*evaluate("_operator.floordiv", {-7.5}, {2L}).as<double>(), -4);
  EXPECT_THROW(integer("_operator.floordiv", 1, 0), OpError);
}

TEST(SymbolicOps, WhatLeaves64BitsIsAnError) {
  EXPECT_THROW(integer("_operator.add", INT64_MAX, 1), OpError);
  EXPECT_THROW(integer("_operator.mul", 1L << 40, 1L << 40), OpError);
  EXPECT_THROW(integer("_operator.pow", 10, 19), OpError);
  EXPECT_THROW(integer("_operator.floordiv", INT64_MIN, -1), OpError);
  EXPECT_THROW(integer("_operator.lshift", 3, 62), OpError);
  EXPECT_EQ(integer("_operator.pow", -2, 63), INT64_MIN);
  EXPECT_EQ(integer("_operator.mod", INT64_MIN, -1), 0);
}

TEST(SymbolicOps, ComparisonsAreExactBetweenIntegersAndFloats) {
  const Datum big{(1L << 53) + 1};
  EXPECT_TRUE(*evaluate("_operator.gt", big, {0x1p53}).as<bool>());
  EXPECT_FALSE(*evaluate("_operator.eq", big, {0x1p53}).as<bool>());
  EXPECT_FALSE(*evaluate("_operator.le", {NAN}, {1L}).as<bool>());
  EXPECT_TRUE(*evaluate("_operator.ne", {NAN}, {NAN}).as<bool>());
}

TEST(SymbolicOps, AndOfBoolsIsABoolAndOfIntegersBitwise) {
  EXPECT_FALSE(*evaluate("_operator.and_", {true}, {false}).as<bool>());
  EXPECT_EQ(integer("_operator.or_", 4, 1), 5);
}

TEST(SymbolicOps, GetitemReturnsTheVeryElement) {
  const TensorRef x = counting({2});
  const auto out =
      run("_operator.getitem", {{"self", list_of({counting({1}), x})}, {"index", {-1L}}});
  EXPECT_EQ(*out[0].as<TensorRef>(), x);
}

TEST(SymbolicOps, RoundingAFloatGivesAnIntegerThatFits) {
  EXPECT_EQ(*run("math.ceil", {{"x", {1.2}}})[0].as<std::int64_t>(), 2);
  EXPECT_EQ(*run("torch.sym_int", {{"a", {-1.7}}})[0].as<std::int64_t>(), -1);
  EXPECT_THROW((void)run("math.floor", {{"x", {1e300}}}), OpError);
  EXPECT_THROW((void)run("math.floor", {{"x", {NAN}}}), OpError);
}

TEST(AssertionOps, AFalseScalarStopsTheRunWithItsMessage) {
  const auto check = [](Datum value) {
    (void)run("aten._assert_scalar.default",
              {{"self", std::move(value)}, {"assert_msg", {std::string("u0 >= 0")}}});
  };
  EXPECT_NO_THROW(check({true}));
  EXPECT_THROW(check({0L}), OpError);
}

TEST(AssertionOps, MetadataIsComparedOnlyWhereGiven) {
  const TensorRef x = counting({2, 3});
  EXPECT_NO_THROW((void)run("aten._assert_tensor_metadata.default", {{"a", {x}}}));
  EXPECT_THROW((void)run("aten._assert_tensor_metadata.default",
                         {{"a", {x}}, {"dtype", {spec::DType::kInt64}}}),
               OpError);
  EXPECT_THROW(
      (void)run("aten._assert_tensor_metadata.default", {{"a", {x}}, {"stride", ints({1, 2})}}),
      OpError);
  EXPECT_THROW((void)run("aten._assert_tensor_metadata.default",
                         {{"a", {x}}, {"device", {spec::Device{"cuda", 0}}}}),
               OpError);
}

}  // namespace
}  // namespace graphgate::reference::test
