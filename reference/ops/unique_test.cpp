#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

TEST(Unique, SortsWithNaNBehindAndEachByItself) {
  const auto x = tensor(DType::kFloat32, {2, 3}, {3, 1, kNan, 3, 2, 1});
  const auto out = run("aten._unique2.default",
                       {{"self", {x}}, {"return_inverse", {true}}, {"return_counts", {true}}});
  const Numbers found = values(result(out, 0));
  EXPECT_EQ((Numbers{found.begin(), found.begin() + 3}), (Numbers{1, 2, 3}));
  EXPECT_EQ(values(result(out, 1)), (Numbers{2, 0, 3, 2, 1, 0}));
  EXPECT_EQ(result(out, 1).sizes, (Sizes{2, 3}));
  EXPECT_EQ(values(result(out, 2)), (Numbers{2, 1, 2, 1}));
}

TEST(Unique, GivesNothingThatIsNotAskedFor) {
  const auto out = run("aten.unique_consecutive.default",
                       {{"self", {tensor(DType::kInt64, {4}, {7, 7, 1, 7})}}});
  EXPECT_EQ(values(result(out, 0)), (Numbers{7, 1, 7}));
  EXPECT_EQ(result(out, 1).sizes, Sizes{0});
  EXPECT_EQ(result(out, 2).sizes, Sizes{0});
}

TEST(Unique, TakesTheRowsOfOneDimensionForItsElements) {
  const TensorRef x = tensor(DType::kInt64, {4}, {7, 7, 1, 7});
  const auto inverse = [&](std::int64_t dim, bool asks) {
    return result(run("aten.unique_consecutive.default",
                      {{"self", {x}}, {"return_inverse", {asks}}, {"dim", {dim}}}),
                  1)
        .sizes;
  };
  EXPECT_EQ(inverse(0, false), Sizes{0});
  EXPECT_EQ(inverse(0, true), Sizes{4});
  EXPECT_EQ(inverse(-1, false), Sizes{4});  // PyTorch asks whether the dimension is 0
}

TEST(Unique, ComparesColumnsAndLaysThemOutAsRows) {
  const auto x = tensor(DType::kInt64, {2, 3}, {3, 1, 3, 2, 5, 2});
  const auto out = run("aten.unique_dim.default", {{"self", {x}}, {"dim", {1L}}});
  EXPECT_EQ(values(result(out, 0)), (Numbers{1, 3, 5, 2}));
  EXPECT_EQ(result(out, 0).strides, (Sizes{1, 2}));
  EXPECT_EQ(values(result(out, 1)), (Numbers{1, 0, 1}));
  EXPECT_EQ(values(result(out, 2)), (Numbers{1, 2}));
  const auto flat = run("aten.unique_dim_consecutive.default", {{"self", {x}}, {"dim", {1L}}});
  EXPECT_EQ(result(flat, 0).sizes, (Sizes{2, 3}));
}

TEST(Mode, IsTheLeastOfTheMostFrequentAndItsLastPlace) {
  const auto x = tensor(DType::kInt64, {5}, {2, 1, 2, 1, 3});
  const auto out = run("aten.mode.default", {{"self", {x}}});
  EXPECT_EQ(values(result(out, 0)), Numbers{1});
  EXPECT_EQ(values(result(out, 1)), Numbers{3});
}

bool answer(std::string_view op, const Arguments& arguments) {
  return std::get<bool>(run(op, arguments).front().value);
}

TEST(Equality, ComparesInTheCommonDtype) {
  const auto narrow = tensor(DType::kFloat32, {1}, {0.1});
  const auto wide = tensor(DType::kFloat64, {1}, {0.1});
  EXPECT_FALSE(answer("aten.equal.default", {{"self", {narrow}}, {"other", {wide}}}));
  EXPECT_TRUE(answer("aten.equal.default",
                     {{"self", {counting({2})}}, {"other", {counting({2}, DType::kInt64)}}}));
  EXPECT_FALSE(
      answer("aten.equal.default", {{"self", {counting({2})}}, {"other", {counting({2, 1})}}}));
  const auto nan = tensor(DType::kFloat32, {1}, {kNan});
  EXPECT_FALSE(answer("aten.equal.default", {{"self", {nan}}, {"other", {nan}}}));
}

TEST(Equality, IsCloseWithinBothDistances) {
  const auto close = [](DType dtype, double a, double b, bool equal_nan) {
    return answer("aten.allclose.default", {{"self", {tensor(dtype, {1}, {a})}},
                                            {"other", {tensor(dtype, {1}, {b})}},
                                            {"equal_nan", {equal_nan}}});
  };
  EXPECT_TRUE(close(DType::kInt64, 100000, 100001, false));
  EXPECT_FALSE(close(DType::kInt64, 100000, 100002, false));
  EXPECT_TRUE(close(DType::kFloat32, kInfinity, kInfinity, false));
  EXPECT_FALSE(close(DType::kFloat32, 1, kInfinity, false));
  EXPECT_FALSE(close(DType::kFloat32, kNan, kNan, false));
  EXPECT_TRUE(close(DType::kFloat32, kNan, kNan, true));
}

TEST(Isin, FindsNoNaNAndWrapsANumber) {
  const auto x = tensor(DType::kFloat32, {3}, {1, kNan, 2});
  const auto found =
      run_tensor("aten.isin.Tensor_Tensor", {{"elements", {x}}, {"test_elements", {x}}});
  EXPECT_EQ(values(*found), (Numbers{1, 0, 1}));
  const auto bytes = tensor(DType::kInt8, {2}, {44, 2});
  const auto wrapped =
      run_tensor("aten.isin.Tensor_Scalar",
                 {{"elements", {bytes}}, {"test_element", {300L}}, {"invert", {true}}});
  EXPECT_EQ(values(*wrapped), (Numbers{0, 1}));
}

}  // namespace
}  // namespace graphgate::reference::test
