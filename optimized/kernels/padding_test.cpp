#include <gtest/gtest.h>

#include "optimized/kernels/kernel_test.h"
#include "optimized/kernels/view_geometry.h"

namespace graphgate::optimized::testing {
namespace {

Tensor row() { return make_tensor(DType::kFloat32, {1, 5}, {0, 1, 2, 3, 4}); }

TEST(ConstantPad, CutsWithNegativeNumbersAndTruncatesTheValue) {
  EXPECT_EQ(numbers(run_one("aten.constant_pad_nd.default", {row(), Sizes{-3, 3}, 9})),
            (Numbers{3, 4, 9, 9, 9}));
  const Tensor bytes = make_tensor(DType::kInt8, {2}, {5, 6});
  EXPECT_EQ(numbers(run_one("aten.constant_pad_nd.default", {bytes, Sizes{1, 0}, 1.7})),
            (Numbers{1, 5, 6}));
  EXPECT_THROW(run_one("aten.constant_pad_nd.default", {row(), Sizes{-6, 0}}), OpError);
  EXPECT_THROW(run_one("aten.constant_pad_nd.default", {row(), Sizes{1}}), OpError);
  EXPECT_THROW(run_one("aten.constant_pad_nd.default", {row(), Sizes{1, 1, 1, 1, 1, 1}}), OpError);
}

TEST(ReflectionPad, TurnsAtTheEdgesAndTakesNegativeNumbers) {
  EXPECT_EQ(numbers(run_one("aten.reflection_pad1d.default", {row(), Sizes{4, 1}})),
            (Numbers{4, 3, 2, 1, 0, 1, 2, 3, 4, 3}));
  EXPECT_EQ(numbers(run_one("aten.reflection_pad1d.default", {row(), Sizes{-4, 2}})),
            (Numbers{4, 3, 2}));
  EXPECT_THROW(run_one("aten.reflection_pad1d.default", {row(), Sizes{5, 0}}), OpError);
  EXPECT_THROW(run_one("aten.reflection_pad2d.default", {row(), Sizes{1, 1, 0, 0}}), OpError);
}

TEST(ReplicationPad, RepeatsTheEdges) {
  EXPECT_EQ(numbers(run_one("aten.replication_pad1d.default", {row(), Sizes{2, -3}})),
            (Numbers{0, 0, 0, 1}));
  EXPECT_EQ(numbers(run_one("aten.replication_pad1d.default", {row(), Sizes{-6, 3}})),
            (Numbers{4, 4}));
}

TEST(CircularPad, RepeatsWhatNegativeNumbersLeave) {
  EXPECT_EQ(numbers(run_one("aten.pad.default", {row(), Sizes{-1, 2}, "circular"})),
            (Numbers{1, 2, 3, 4, 1, 2}));
  EXPECT_THROW(run_one("aten.pad.default", {row(), Sizes{6, 0}, "circular"}), OpError);
}

TEST(Pad, TakesAValueInTheConstantModeAlone) {
  EXPECT_THROW(run_one("aten.pad.default", {row(), Sizes{1, 1}, "reflect", 1.5}), OpError);
  EXPECT_THROW(run_one("aten.pad.default", {row(), Sizes{1, 1}, "wrap"}), OpError);
}

TEST(PadOut, ReadsAnInputThatTheResultOverwrites) {
  const Tensor base = make_tensor(DType::kFloat32, {1, 6}, {0, 1, 2, 3, 4, 5});
  const Tensor middle = narrowed(base, 1, 1, 4);
  run_one("aten.reflection_pad1d.out", {middle, Sizes{1, 1}}, {{"out", base}});
  EXPECT_EQ(numbers(base), (Numbers{2, 1, 2, 3, 4, 3}));
}

}  // namespace
}  // namespace graphgate::optimized::testing
