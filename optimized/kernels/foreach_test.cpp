#include <gtest/gtest.h>

#include "optimized/kernels/kernel_test.h"

namespace graphgate::optimized::testing {
namespace {

Numbers element_of(const std::vector<Item>& results, std::size_t i) {
  return numbers(*(*results[0].as<Item::List>())[i].as<Tensor>());
}

TEST(Foreach, RunsItsOpOnEachElement) {
  const std::vector<Tensor> list = {make_tensor(DType::kFloat32, {2}, {1, 2}),
                                    make_tensor(DType::kFloat64, {1}, {4})};
  const auto sums = run_op("aten._foreach_add.List", {list, list}, {{"alpha", 2}});
  EXPECT_EQ(element_of(sums, 0), (Numbers{3, 6}));
  EXPECT_EQ(element_of(sums, 1), (Numbers{12}));
  const auto roots = run_op("aten._foreach_sqrt.default", {list});
  EXPECT_EQ(element_of(roots, 1), (Numbers{2}));
  const auto norms = run_op("aten._foreach_norm.Scalar", {list, 1});
  EXPECT_EQ(element_of(norms, 0), (Numbers{3}));
}

TEST(Foreach, WritesItsElementsInPlace) {
  const std::vector<Tensor> list = {make_tensor(DType::kFloat32, {2}, {1, 2}),
                                    make_tensor(DType::kFloat32, {1}, {4})};
  run_op("aten._foreach_mul_.Scalar", {list, 3});
  EXPECT_EQ(numbers(list[0]), (Numbers{3, 6}));
  EXPECT_EQ(numbers(list[1]), (Numbers{12}));
  run_op("aten._foreach_zero_.default", {list});
  EXPECT_EQ(numbers(list[1]), (Numbers{0}));
}

TEST(Prims, MakesViewsAndCopies) {
  const Tensor x = make_tensor(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6}, {1, 2});
  EXPECT_EQ(numbers(run_one("prims.collapse.default", {x, 0, 1})), (Numbers{1, 2, 3, 4, 5, 6}));
  EXPECT_THROW((void)run_one("prims.collapse_view.default", {x, 0, 1}), OpError);
  const Tensor split = run_one("prims.split_dim.default", {x, 1, 3});
  EXPECT_EQ(split.sizes, (Sizes{2, 3, 1}));
  EXPECT_EQ(split.bytes, x.bytes);
  const Tensor wide = run_one("prims.broadcast_in_dim.default", {x, Sizes{4, 2, 3}, Sizes{1, 2}});
  EXPECT_EQ(wide.strides, (Sizes{0, 1, 2}));
}

TEST(Prims, SumsIntegersInInt64) {
  const Tensor x = make_integers(DType::kUInt8, {2}, {200, 100});
  const Tensor sum = run_one("prims.sum.default", {x, Sizes{0}});
  EXPECT_EQ(sum.dtype, DType::kInt64);
  EXPECT_EQ(integers(sum), (std::vector<std::int64_t>{300}));
  const Tensor spread = make_tensor(DType::kFloat32, {2}, {1, 3});
  EXPECT_EQ(numbers(run_one("prims.var.default", {spread, Sizes{0}})), (Numbers{2}));
}

}  // namespace
}  // namespace graphgate::optimized::testing
