#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

Datum whole(std::int64_t x) { return {x}; }

Arguments limits(std::int64_t low, std::int64_t high, DType dtype) {
  return {{"quant_min", whole(low)}, {"quant_max", whole(high)}, {"dtype", {dtype}}};
}

Arguments with(Arguments all, const Arguments& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(Quantization, RoundsHalvesToEvenBeforeTheZeroPointAndClamps) {
  const TensorRef x = tensor(DType::kFloat32, {6}, {-1, 0.25, 0.5, 0.75, 200, kNan});
  const TensorRef out =
      run_tensor("quantized_decomposed.quantize_per_tensor.default",
                 with(limits(-128, 127, DType::kInt8),
                      {{"input", {x}}, {"scale", {0.5}}, {"zero_point", whole(1)}}));
  EXPECT_EQ(out->dtype, DType::kInt8);
  EXPECT_EQ(values(*out), (Numbers{-1, 1, 2, 3, 127, 0}));
}

TEST(Quantization, TakesTheInverseOfTheScaleInDoubleAndRoundsItOnce) {
  // 1 / 0.1 is 10 in float64 and float32, 1 / float32(0.1) is not.
  const TensorRef x = tensor(DType::kFloat32, {1}, {0.25});
  for (const Mode mode : {Mode::kEager, Mode::kWorstCase}) {
    const TensorRef out =
        run_tensor("quantized_decomposed.quantize_per_tensor.default",
                   with(limits(-128, 127, DType::kInt8),
                        {{"input", {x}}, {"scale", {0.1}}, {"zero_point", whole(0)}}),
                   mode);
    EXPECT_EQ(values(*out), Numbers{2});  // 2.5, exactly
    EXPECT_TRUE(is_decided(*out));
  }
}

TEST(Quantization, RefusesLimitsBeyondTheDtypeAndAScaleOfZero) {
  const TensorRef x = counting({2});
  const Arguments call = {{"input", {x}}, {"scale", {0.5}}, {"zero_point", whole(0)}};
  EXPECT_THROW((void)run("quantized_decomposed.quantize_per_tensor.default",
                         with(call, limits(-129, 127, DType::kInt8))),
               OpError);
  EXPECT_THROW((void)run("quantized_decomposed.quantize_per_tensor.default",
                         with(limits(0, 255, DType::kUInt8),
                              {{"input", {x}}, {"scale", {0.0}}, {"zero_point", whole(0)}})),
               OpError);
  EXPECT_THROW(
      (void)run("quantized_decomposed.quantize_per_tensor.default",
                with(limits(0, 255, DType::kUInt8), {{"input", {counting({2}, DType::kFloat64)}},
                                                     {"scale", {0.5}},
                                                     {"zero_point", whole(0)}})),
      OpError);
}

TEST(Quantization, ReadsScalesFromTensorsOfOneElement) {
  const TensorRef x = tensor(DType::kBFloat16, {2}, {1, -3});
  const TensorRef out = run_tensor(
      "quantized_decomposed.quantize_per_tensor.tensor",
      with(limits(0, 255, DType::kUInt8), {{"input", {x}},
                                           {"scale", {tensor(DType::kFloat64, {1}, {0.25})}},
                                           {"zero_point", {tensor(DType::kInt64, {1}, {8})}}}));
  EXPECT_EQ(values(*out), (Numbers{12, 0}));
  EXPECT_THROW((void)run("quantized_decomposed.quantize_per_tensor.tensor",
                         with(limits(0, 255, DType::kUInt8),
                              {{"input", {x}},
                               {"scale", {counting({2})}},
                               {"zero_point", {tensor(DType::kInt64, {1}, {8})}}})),
               OpError);
}

TEST(Quantization, ComesBackInTheDtypeThatIsAskedFor) {
  const TensorRef x = tensor(DType::kInt8, {2}, {-1, 3});
  const Arguments call = with(limits(-128, 127, DType::kInt8),
                              {{"input", {x}}, {"scale", {0.5}}, {"zero_point", whole(1)}});
  const TensorRef single = run_tensor("quantized_decomposed.dequantize_per_tensor.default", call);
  EXPECT_EQ(single->dtype, DType::kFloat32);
  EXPECT_EQ(values(*single), (Numbers{-1, 1}));
  const TensorRef narrow = run_tensor("quantized_decomposed.dequantize_per_tensor.default",
                                      with(call, {{"out_dtype", {DType::kBFloat16}}}));
  EXPECT_EQ(narrow->dtype, DType::kBFloat16);
  EXPECT_EQ(values(*narrow), (Numbers{-1, 1}));
}

TEST(Quantization, TakesParametersAlongTheAxis) {
  const TensorRef x = tensor(DType::kFloat32, {2, 2}, {1, 1, 2, 2});
  const Arguments parameters = {{"scales", {tensor(DType::kFloat32, {2}, {1, 0.5})}},
                                {"zero_points", {tensor(DType::kInt64, {2}, {0, 10})}},
                                {"axis", whole(1)}};
  const TensorRef out =
      run_tensor("quantized_decomposed.quantize_per_channel.default",
                 with(with(limits(-128, 127, DType::kInt8), parameters), {{"input", {x}}}));
  EXPECT_EQ(values(*out), (Numbers{1, 12, 2, 14}));
  const TensorRef back =
      run_tensor("quantized_decomposed.dequantize_per_channel.default",
                 with(with(limits(-128, 127, DType::kInt8), parameters), {{"input", {out}}}));
  EXPECT_EQ(values(*back), values(*x));
}

TEST(Quantization, ShiftsTokensBeforeItRounds) {
  // 0.5 + 1 is a half to round; 0.5 alone would have been one, too, and 0 + 1 come out.
  const TensorRef out = run_tensor("quantized_decomposed.quantize_per_token.default",
                                   with(limits(-128, 127, DType::kInt8),
                                        {{"input", {tensor(DType::kFloat32, {1, 1}, {0.5})}},
                                         {"scales", {tensor(DType::kFloat32, {1, 1}, {1})}},
                                         {"zero_points", {tensor(DType::kInt64, {1, 1}, {1})}}}));
  EXPECT_EQ(values(*out), Numbers{2});
}

TEST(Quantization, GroupsPartsOfRows) {
  const TensorRef x = tensor(DType::kFloat32, {1, 4}, {1, 2, 1, 2});
  const Arguments parameters = {{"scales", {tensor(DType::kFloat32, {1, 2}, {1, 0.5})}},
                                {"zero_points", {tensor(DType::kInt32, {1, 2}, {0, 1})}},
                                {"group_size", whole(2)}};
  const TensorRef out =
      run_tensor("quantized_decomposed.quantize_per_channel_group.default",
                 with(with(limits(-8, 7, DType::kInt8), parameters), {{"input", {x}}}));
  EXPECT_EQ(values(*out), (Numbers{1, 2, 3, 5}));
  const TensorRef back = run_tensor("quantized_decomposed.dequantize_per_channel_group.default",
                                    with(with(limits(-8, 7, DType::kInt8), parameters),
                                         {{"input", {out}}, {"output_dtype", {DType::kFloat32}}}));
  EXPECT_EQ(values(*back), values(*x));
  EXPECT_THROW((void)run("quantized_decomposed.quantize_per_channel_group.default",
                         with(with(limits(-8, 7, DType::kInt8), parameters),
                              {{"input", {tensor(DType::kFloat32, {1, 2}, {1, kNan})}}})),
               OpError);
}

TEST(Quantization, ChoosesParametersThatHoldTheRangeAndZero) {
  const TensorRef x = tensor(DType::kFloat32, {2}, {-1, 3});
  const auto chosen = run("quantized_decomposed.choose_qparams.tensor",
                          with(limits(0, 255, DType::kUInt8), {{"input", {x}}, {"eps", {1e-6}}}));
  EXPECT_EQ(values(result(chosen, 0)), Numbers{static_cast<double>(4.0F / 255)});
  EXPECT_EQ(values(result(chosen, 1)), Numbers{64});  // 63.75
  EXPECT_EQ(result(chosen, 0).dtype, DType::kFloat64);
  const auto symmetric =
      run("quantized_decomposed.choose_qparams_symmetric.tensor",
          with(limits(-128, 127, DType::kInt8), {{"input", {x}}, {"eps", {1e-6}}}));
  EXPECT_EQ(values(result(symmetric, 0)), Numbers{static_cast<double>(3.0F / 127.5F)});
  EXPECT_EQ(values(result(symmetric, 1)), Numbers{0});
  const auto tokens =
      run("quantized_decomposed.choose_qparams_per_token_asymmetric.default",
          {{"input", {tensor(DType::kFloat32, {1, 2}, {-1, 3})}}, {"dtype", {DType::kInt8}}});
  EXPECT_EQ(values(result(tokens, 1)), Numbers{-64});  // -128 + 63.75
  const auto magnitudes =
      run("quantized_decomposed.choose_qparams_per_token.default",
          {{"input", {tensor(DType::kFloat32, {1, 2}, {-254, 3})}}, {"dtype", {DType::kInt8}}});
  EXPECT_EQ(values(result(magnitudes, 0)), Numbers{2});
}

}  // namespace
}  // namespace graphgate::reference::test
