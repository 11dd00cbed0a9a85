#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

Numbers padded(const char* mode, std::int64_t before, std::int64_t after) {
  return values(*run_tensor("aten.pad.default", {{"self", {counting({1, 4})}},
                                                 {"pad", ints({before, after})},
                                                 {"mode", {std::string(mode)}}}));
}

TEST(PaddingOps, EveryModeTakesItsOwnElements) {
  EXPECT_EQ(padded("constant", 2, 1), (Numbers{0, 0, 0, 1, 2, 3, 0}));
  EXPECT_EQ(padded("reflect", 2, 1), (Numbers{2, 1, 0, 1, 2, 3, 2}));
  EXPECT_EQ(padded("replicate", 2, 1), (Numbers{0, 0, 0, 1, 2, 3, 3}));
  EXPECT_EQ(padded("circular", 2, 1), (Numbers{2, 3, 0, 1, 2, 3, 0}));
}

TEST(PaddingOps, NegativePaddingCuts) {
  EXPECT_EQ(padded("constant", -1, 1), (Numbers{1, 2, 3, 0}));
  EXPECT_EQ(padded("reflect", -1, 2), (Numbers{1, 2, 3, 2, 1}));
  EXPECT_EQ(padded("constant", -2, -1), (Numbers{2}));
  EXPECT_EQ(padded("circular", -1, 2), (Numbers{1, 2, 3, 1, 2}));
  EXPECT_THROW(padded("circular", -4, 4), OpError);
  EXPECT_THROW(padded("constant", -3, -2), OpError);
}

TEST(PaddingOps, ReflectionMustBeShorterThanTheDimension) {
  EXPECT_THROW(padded("reflect", 4, 0), OpError);
  EXPECT_THROW(padded("circular", 5, 0), OpError);
  EXPECT_THROW(padded("mirror", 1, 1), OpError);
}

TEST(PaddingOps, TheListNamesTheLastDimensionFirst) {
  const TensorRef out =
      run_tensor("aten.constant_pad_nd.default",
                 {{"self", {counting({1, 2})}}, {"pad", ints({0, 1, 1, 0})}, {"value", {7.0}}});
  EXPECT_EQ(out->sizes, (Sizes{2, 3}));
  EXPECT_EQ(values(*out), (Numbers{7, 7, 7, 0, 1, 7}));
}

TEST(PaddingOps, AChannelsLastImageStaysChannelsLast) {
  const TensorRef x = tensor(spec::DType::kFloat32, {1, 2, 2, 2}, Numbers(8, 1), {8, 1, 4, 2});
  EXPECT_EQ(
      run_tensor("aten.reflection_pad2d.default", {{"self", {x}}, {"padding", ints({1, 1, 0, 0})}})
          ->strides,
      (Sizes{16, 1, 8, 2}));
}

}  // namespace
}  // namespace graphgate::reference::test
