#include <gtest/gtest.h>

#include "optimized/kernels/kernel_test.h"

namespace graphgate::optimized::testing {
namespace {

using Integers = std::vector<std::int64_t>;

TEST(Quantization, RoundsShiftsAndClamps) {
  const Tensor x = make_tensor(DType::kFloat32, {6}, {-1, 0.25, 0.5, 0.75, 200, kNan});
  const Tensor out = run_one("quantized_decomposed.quantize_per_tensor.default",
                             {x, 0.5, 1, -128, 127, DType::kInt8});
  EXPECT_EQ(out.dtype, DType::kInt8);
  EXPECT_EQ(integers(out), (Integers{-1, 1, 2, 3, 127, 0}));
  const Tensor scale = make_tensor(DType::kFloat64, {1}, {0.5});
  const Tensor zero_point = make_integers(DType::kInt64, {1}, {1});
  EXPECT_EQ(packed(run_one("quantized_decomposed.quantize_per_tensor.tensor",
                           {x, scale, zero_point, -128, 127, DType::kInt8})),
            packed(out));
}

TEST(Quantization, GoesBackInEveryDtype) {
  const Tensor x = make_integers(DType::kInt8, {2}, {-1, 3});
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kBFloat16, DType::kFloat16}) {
    const Tensor out = run_one("quantized_decomposed.dequantize_per_tensor.default",
                               {x, 0.5, 1, -128, 127, DType::kInt8}, {{"out_dtype", dtype}});
    EXPECT_EQ(out.dtype, dtype);
    EXPECT_EQ(numbers(out), (Numbers{-1, 1}));
  }
}

TEST(Quantization, KeepsTheLayoutOfItsInput) {
  const Tensor x = make_tensor(DType::kBFloat16, {2, 3}, {1, 2, 3, 4, 5, 6}, {1, 2});
  const Tensor scales = make_tensor(DType::kFloat32, {3}, {1, 0.5, 0.25});
  const Tensor zero_points = make_integers(DType::kInt64, {3}, {0, 1, 2});
  const Tensor out = run_one("quantized_decomposed.quantize_per_channel.default",
                             {x, scales, zero_points, 1, 0, 255, DType::kUInt8});
  EXPECT_EQ(out.strides, (Sizes{1, 2}));
  EXPECT_EQ(integers(out), (Integers{1, 5, 14, 4, 11, 26}));
  const Tensor back = run_one("quantized_decomposed.dequantize_per_channel.default",
                              {out, scales, zero_points, 1, 0, 255, DType::kUInt8});
  EXPECT_EQ(numbers(back), (Numbers{1, 2, 3, 4, 5, 6}));
}

TEST(Quantization, RoundsBetweenTheStepsOfNarrowTokens) {
  // 129 + 1 is no bfloat16: it rounds to 130; 257 * 1 is 256 before anything is added.
  const Tensor x = make_tensor(DType::kBFloat16, {1, 2}, {129, 256});
  const Tensor scales = make_tensor(DType::kBFloat16, {1, 1}, {1});
  const Tensor zero_points = make_tensor(DType::kBFloat16, {1, 1}, {1});
  EXPECT_EQ(integers(run_one("quantized_decomposed.quantize_per_token.default",
                             {x, scales, zero_points, -32768, 32767, DType::kInt16})),
            (Integers{130, 256}));
}

TEST(Quantization, SubtractsZeroPointsAsIntegers) {
  // 2^24 + 1 is no float32, but what is left of it is.
  const Tensor x = make_integers(DType::kInt32, {1, 1}, {(1 << 24) + 1});
  const Tensor scales = make_tensor(DType::kFloat32, {1, 1}, {2});
  const Tensor zero_points = make_integers(DType::kInt32, {1, 1}, {1 << 24});
  EXPECT_EQ(numbers(run_one("quantized_decomposed.dequantize_per_token.default",
                            {x, scales, zero_points, -8, 7, DType::kInt32, DType::kFloat32})),
            Numbers{2});
}

TEST(Quantization, FindsGroupsInRows) {
  const Tensor x = make_tensor(DType::kFloat32, {2, 4}, {1, 2, 1, 2, 1, 2, 1, 2});
  const Tensor scales = make_tensor(DType::kFloat32, {2, 2}, {1, 0.5, 0.25, 1});
  const Tensor zero_points = make_integers(DType::kInt32, {2, 2}, {0, 1, 0, -1});
  EXPECT_EQ(integers(run_one("quantized_decomposed.quantize_per_channel_group.default",
                             {x, scales, zero_points, -8, 7, DType::kInt8, 2})),
            (Integers{1, 2, 3, 5, 4, 7, 0, 1}));
  const Tensor nan = make_tensor(DType::kFloat32, {2, 4}, {1, 2, 1, kNan, 1, 2, 1, 2});
  EXPECT_THROW((void)run_one("quantized_decomposed.quantize_per_channel_group.default",
                             {nan, scales, zero_points, -8, 7, DType::kInt8, 2}),
               OpError);
}

TEST(Quantization, ChoosesScalesAndZeroPoints) {
  const Tensor x = make_tensor(DType::kFloat32, {1, 2}, {-1, 3});
  const auto chosen =
      run_op("quantized_decomposed.choose_qparams.tensor", {x, 0, 255, 1e-6, DType::kUInt8});
  EXPECT_EQ(numbers(*chosen[0].as<Tensor>()), Numbers{static_cast<double>(4.0F / 255)});
  EXPECT_EQ(integers(*chosen[1].as<Tensor>()), Integers{64});
  const auto symmetric = run_op("quantized_decomposed.choose_qparams_symmetric.tensor",
                                {x, 0, 255, 1e-6, DType::kUInt8});
  EXPECT_EQ(numbers(*symmetric[0].as<Tensor>()), Numbers{static_cast<double>(3.0F / 127.5F)});
  EXPECT_EQ(integers(*symmetric[1].as<Tensor>()), Integers{128});
  const auto tokens =
      run_op("quantized_decomposed.choose_qparams_per_token_asymmetric.default", {x, DType::kInt8});
  EXPECT_EQ(integers(*tokens[1].as<Tensor>()), Integers{-64});
}

}  // namespace
}  // namespace graphgate::optimized::testing
