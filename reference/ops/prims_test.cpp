#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

TEST(Prims, PutsDimensionsWhereTheyAreAsked) {
  const TensorRef column = counting({3, 1});
  const TensorRef out = run_tensor(
      "prims.broadcast_in_dim.default",
      {{"a", {column}}, {"shape", ints({2, 3, 4})}, {"broadcast_dimensions", ints({1, 2})}});
  EXPECT_EQ(out->strides, (Sizes{0, 1, 0}));
  EXPECT_EQ(out->storage, column->storage);
  EXPECT_THROW(
      (void)run("prims.broadcast_in_dim.default",
                {{"a", {column}}, {"shape", ints({2, 4})}, {"broadcast_dimensions", ints({0, 1})}}),
      OpError);
}

TEST(Prims, CollapsesAndSplitsDimensions) {
  const TensorRef x = tensor(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6}, {1, 2});
  const Arguments both = {{"a", {x}}, {"start", {0L}}, {"end", {1L}}};
  EXPECT_EQ(values(*run_tensor("prims.collapse.default", both)), (Numbers{1, 2, 3, 4, 5, 6}));
  EXPECT_THROW((void)run("prims.collapse_view.default", both), OpError);
  const TensorRef split =
      run_tensor("prims.split_dim.default",
                 {{"a", {counting({2, 6})}}, {"dim", {1L}}, {"outer_length", {3L}}});
  EXPECT_EQ(split->sizes, (Sizes{2, 3, 2}));
  EXPECT_EQ(split->strides, (Sizes{6, 2, 1}));
}

TEST(Prims, SumsIntegersInInt64) {
  const TensorRef x = tensor(DType::kUInt8, {2}, {200, 100});
  const TensorRef sum = run_tensor("prims.sum.default", {{"inp", {x}}, {"dims", ints({0})}});
  EXPECT_EQ(sum->dtype, DType::kInt64);
  EXPECT_EQ(values(*sum), Numbers{300});
}

TEST(Prims, CountsFromStartByStep) {
  const TensorRef out = run_tensor("prims.iota.default", {{"length", {3L}},
                                                          {"start", {1L}},
                                                          {"step", {-2L}},
                                                          {"dtype", {DType::kInt32}},
                                                          {"device", {spec::Device{}}},
                                                          {"requires_grad", {false}}});
  EXPECT_EQ(values(*out), (Numbers{1, -1, -3}));
}

}  // namespace
}  // namespace graphgate::reference::test
