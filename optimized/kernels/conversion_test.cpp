#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "optimized/kernels/kernel_test.h"

namespace graphgate::optimized::testing {
namespace {

using spec::MemoryFormat;

TEST(Conversion, ReturnsItsArgumentWhenThereIsNothingToDo) {
  const Tensor x = make_tensor(DType::kFloat32, {2}, {1, 2});
  EXPECT_EQ(run_one("aten.to.dtype", {x, DType::kFloat32}).bytes, x.bytes);
  EXPECT_EQ(run_one("aten.type_as.default", {x, x}).bytes, x.bytes);
  EXPECT_EQ(run_one("aten.contiguous.default", {x}).bytes, x.bytes);
  const Tensor copy = run_one("aten.to.dtype", {x, DType::kFloat32}, {{"copy", true}});
  EXPECT_NE(copy.bytes, x.bytes);
  EXPECT_EQ(packed(copy), packed(x));
}

TEST(Conversion, KeepsDenseStridesAndClosesGaps) {
  const Tensor base = make_tensor(DType::kFloat32, {4, 6});
  const Tensor turned = view_of(base, {6, 4}, {1, 6});
  EXPECT_EQ(run_one("aten._to_copy.default", {turned}, {{"dtype", DType::kFloat64}}).strides,
            (Sizes{1, 6}));
  const Tensor gaps = view_of(base, {6, 2}, {1, 12});
  EXPECT_EQ(run_one("aten.clone.default", {gaps}).strides, (Sizes{1, 6}));
  EXPECT_EQ(run_one("aten.copy.default", {gaps, gaps}).strides, (Sizes{1, 12}));
}

TEST(Conversion, WrapsIntegersAndReadsNanAsTrue) {
  const Tensor wide = make_integers(DType::kInt64, {3}, {300, -1, 128});
  EXPECT_EQ(integers(run_one("aten.to.dtype", {wide, DType::kUInt8})),
            (std::vector<std::int64_t>{44, 255, 128}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = make_tensor(DType::kFloat32, {3}, {nan, 0, 0.5});
  EXPECT_EQ(integers(run_one("aten.to.dtype", {x, DType::kBool})),
            (std::vector<std::int64_t>{1, 0, 1}));
}

TEST(Conversion, CopiesOntoItselfThroughOverlap) {
  const Tensor base = make_tensor(DType::kInt32, {5}, {1, 2, 3, 4, 5});
  const Tensor tail = view_of(base, {4}, {1}, 1);
  run_op("aten.copy_.default", {tail, view_of(base, {4}, {1})});
  EXPECT_EQ(integers(base), (std::vector<std::int64_t>{1, 1, 2, 3, 4}));
}

TEST(Conversion, RefusesFillsThatOverflow) {
  const Tensor bytes = make_tensor(DType::kInt8, {2});
  EXPECT_THROW(run_op("aten.fill_.Scalar", {bytes, 300}), OpError);
  EXPECT_THROW(run_op("aten.fill_.Scalar", {make_tensor(DType::kFloat16, {1}), 1e9}), OpError);
  EXPECT_EQ(integers(run_one("aten.fill.Scalar", {make_tensor(DType::kUInt8, {1}), -1})),
            std::vector<std::int64_t>{255});
  EXPECT_THROW(run_op("aten.fill_.Tensor", {bytes, bytes}), OpError);
}

TEST(Conversion, FillsABoolWithWhetherTheNumberIsZero) {
  const Tensor flags = make_tensor(DType::kBool, {2});
  run_op("aten.fill_.Scalar", {flags, 0.5});
  EXPECT_EQ(integers(flags), (std::vector<std::int64_t>{1, 1}));
  run_op("aten.fill_.Scalar", {flags, 0.0});
  EXPECT_EQ(integers(flags), (std::vector<std::int64_t>{0, 0}));
}

TEST(Conversion, ReadsNumbersOnlyWhenThereAreBytes) {
  const Tensor flag = make_tensor(DType::kBool, {1, 1}, {1});
  EXPECT_TRUE(std::get<bool>(run_op("aten._local_scalar_dense.default", {flag})[0].value));
  EXPECT_THROW((void)infer_op("aten._local_scalar_dense.default", {flag}), NeedsData);
  EXPECT_THROW(run_op("aten._local_scalar_dense.default", {make_tensor(DType::kFloat32, {2})}),
               OpError);
}

}  // namespace
}  // namespace graphgate::optimized::testing
