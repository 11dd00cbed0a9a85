#include <cmath>

#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

// For the parameters that schemas make optional but do not default.
const Datum kNone;

// A weight of 0: who adds a bias of 0, or folds both into a factor and a term, has another zero.
TEST(LayerNorm, OfAWeightOfZeroHasAZeroOfEitherSign) {
  const auto x = tensor(DType::kFloat32, {1, 2}, {-1, 1});
  const auto weight = tensor(DType::kFloat32, {2}, {0, 1});
  const auto out = run_tensor("aten.native_layer_norm.default",
                              {{"input", {x}},
                               {"normalized_shape", ints({2})},
                               {"weight", {weight}},
                               {"bias", kNone},
                               {"eps", {1e-5}}},
                              Mode::kWorstCase);
  const auto angle =
      run_tensor("aten.atan2.default", {{"self", {out}}, {"other", {x}}}, Mode::kWorstCase);
  EXPECT_GT(radii(*angle)[0], 6);
}

TEST(Softmax, OfEqualScoresIsUniformAndOfMaskedRowsIsNaN) {
  const auto x = tensor(DType::kFloat32, {2, 2}, {3, 3, -kInfinity, -kInfinity});
  const Arguments arguments = {
      {"self", {x}}, {"dim", {std::int64_t{1}}}, {"half_to_float", {false}}};
  const Numbers out = values(*run_tensor("aten._softmax.default", arguments));
  EXPECT_EQ(out[0], 0.5);
  EXPECT_TRUE(std::isnan(out[2]));
  const auto safe = run_tensor("aten._safe_softmax.default", {arguments[0], arguments[1]});
  EXPECT_EQ(values(*safe)[2], 0);
}

TEST(Softmax, RefusesIntegersUnlessADtypeIsAskedFor) {
  const Arguments plain = {{"self", {counting({2}, DType::kInt64)}}, {"dim", {std::int64_t{0}}}};
  EXPECT_THROW(run("aten.softmax.int", plain), OpError);
  Arguments cast = plain;
  cast.emplace_back("dtype", Datum{DType::kFloat32});
  EXPECT_EQ(run_tensor("aten.softmax.int", cast)->dtype, DType::kFloat32);
}

TEST(LayerNorm, ReturnsStatisticsWithOnesForNormalizedDimensions) {
  const auto x = tensor(DType::kFloat32, {2, 2}, {1, 3, 2, 2});
  const auto out = run("aten.native_layer_norm.default", {{"input", {x}},
                                                          {"weight", kNone},
                                                          {"bias", kNone},
                                                          {"normalized_shape", ints({2})},
                                                          {"eps", {0.0}}});
  EXPECT_EQ(result(out, 1).sizes, (Sizes{2, 1}));
  EXPECT_EQ(values(result(out, 1)), (Numbers{2, 2}));
  EXPECT_EQ(values(result(out, 0))[0], -1);
  EXPECT_EQ(values(result(out, 2))[1], kInfinity);
}

// 0.1 * 3 - 0.3 is nothing but its error: so is the variance. The root of eps is its bound.
TEST(LayerNorm, HasABoundWhereTheVarianceMayBeZero) {
  for (const Mode mode : {Mode::kWorstCase, Mode::kSampled}) {
    const auto x = tensor(DType::kFloat32, {1, 4}, {0.1, 0.1, 0.1, 0.1});
    const auto scaled = run("aten.mul.Tensor", {{"self", {x}}, {"other", {3.0}}}, mode);
    const auto rest = run("aten.sub.Tensor", {{"self", scaled[0]}, {"other", {0.3}}}, mode);
    const auto big = run("aten.mul.Tensor", {{"self", rest[0]}, {"other", {1e6}}}, mode);
    const auto out = run("aten.native_layer_norm.default",
                         {{"input", big[0]},
                          {"weight", kNone},
                          {"bias", kNone},
                          {"normalized_shape", ints({4})},
                          {"eps", {1e-5}}},
                         mode);
    const Mark rstd = marks_of(result(out, 2))[0];
    EXPECT_TRUE(std::isfinite(rstd.radius));
    const long double most = rstd.value + static_cast<long double>(8 * rstd.radius);
    EXPECT_GE(most, 1 / std::sqrt(1e-5L));
    EXPECT_TRUE(std::isfinite(marks_of(result(out, 0))[0].radius));
  }
}

TEST(LayerNorm, KeepsStatisticsInFloat32BesideFloat32Parameters) {
  const auto x = tensor(DType::kBFloat16, {1, 2}, {1, 3});
  const auto weight = tensor(DType::kFloat32, {2}, {1, 1});
  const Arguments arguments = {{"input", {x}},
                               {"normalized_shape", ints({2})},
                               {"weight", {weight}},
                               {"bias", kNone},
                               {"eps", {1e-5}}};
  const auto out = run("aten.native_layer_norm.default", arguments);
  EXPECT_EQ(result(out, 0).dtype, DType::kBFloat16);
  EXPECT_EQ(result(out, 2).dtype, DType::kFloat32);
}

TEST(LayerNorm, AllowsForTheFormThatSubtractsScaledNumbers) {
  const auto x = tensor(DType::kFloat32, {1, 2}, {1000, 1002});
  const auto out = run("aten.native_layer_norm.default",
                       {{"input", {x}},
                        {"weight", kNone},
                        {"bias", kNone},
                        {"normalized_shape", ints({2})},
                        {"eps", {1e-5}}},
                       Mode::kWorstCase);
  EXPECT_GT(radii(result(out, 0))[0], 1000 * std::ldexp(1.0, -24));
}

// The variance is 0, or NaN where it is made of squares.
TEST(LayerNorm, IsOpenWhereASquareOverflows) {
  const auto radius = [](double number) {
    const auto out = run("aten.native_layer_norm.default",
                         {{"input", {tensor(DType::kFloat64, {1, 1}, {number})}},
                          {"weight", {tensor(DType::kFloat64, {1}, {0.001})}},
                          {"bias", kNone},
                          {"normalized_shape", ints({1})},
                          {"eps", {1e-5}}},
                         Mode::kWorstCase);
    return radii(result(out, 0))[0];
  };
  EXPECT_TRUE(std::isinf(radius(1e200)));
  EXPECT_FALSE(std::isinf(radius(1e150)));
}

// A kernel that folds them holds weight times scale: half of the least subnormal, or its double.
TEST(LayerNorm, AllowsForAFactorThatIsSubnormal) {
  const double tiny = std::ldexp(1.0, -149);
  const auto x = tensor(DType::kFloat32, {1, 2}, {1000, 1016});
  const auto out = run("aten.native_layer_norm.default",
                       {{"input", {x}},
                        {"weight", {tensor(DType::kFloat32, {2}, {tiny, tiny})}},
                        {"bias", kNone},
                        {"normalized_shape", ints({2})},
                        {"eps", {1e-5}}},
                       Mode::kWorstCase);
  EXPECT_GT(radii(result(out, 0))[0], 1000 * tiny / 2);
  EXPECT_LT(radii(result(out, 0))[0], 4000 * tiny);
}

Arguments batch_norm_arguments(const TensorRef& mean, const TensorRef& variance, bool training) {
  return {{"input", {tensor(DType::kFloat32, {2, 1}, {1, 3})}},
          {"weight", kNone},
          {"bias", kNone},
          {"running_mean", {mean}},
          {"running_var", {variance}},
          {"training", {training}},
          {"momentum", {0.5}},
          {"eps", {0.0}}};
}

TEST(BatchNorm, UpdatesRunningStatisticsInTrainingWithTheUnbiasedVariance) {
  const auto mean = tensor(DType::kFloat32, {1}, {0});
  const auto variance = tensor(DType::kFloat32, {1}, {4});
  const auto out =
      run("aten._native_batch_norm_legit.default", batch_norm_arguments(mean, variance, true));
  EXPECT_EQ(values(result(out, 0)), (Numbers{-1, 1}));
  EXPECT_EQ(values(*mean), Numbers{1});
  EXPECT_EQ(values(*variance), Numbers{3});
  EXPECT_EQ(values(result(out, 1)), Numbers{2});
}

TEST(BatchNorm, WritesWhatTheCompositeDoesNotDeclare) {
  const auto mean = tensor(DType::kFloat32, {1}, {0});
  const auto variance = tensor(DType::kFloat32, {1}, {4});
  Arguments arguments = batch_norm_arguments(mean, variance, true);
  arguments.emplace_back("cudnn_enabled", Datum{false});
  run("aten.batch_norm.default", arguments);
  EXPECT_EQ(values(*mean), Numbers{1});
}

TEST(BatchNorm, ReturnsEmptyStatisticsOutOfTraining) {
  const auto mean = tensor(DType::kFloat32, {1}, {1});
  const auto variance = tensor(DType::kFloat32, {1}, {4});
  const auto out =
      run("aten._native_batch_norm_legit.default", batch_norm_arguments(mean, variance, false));
  EXPECT_EQ(values(result(out, 0)), (Numbers{0, 1}));
  EXPECT_EQ(result(out, 1).sizes, Sizes{0});
  EXPECT_EQ(values(*mean), Numbers{1});
}

TEST(BatchNorm, OfCudaKernelsReturnsTheRunningStatisticsOutOfTraining) {
  Arithmetic arithmetic;
  arithmetic.has_cuda_kernels = true;
  const DeclaredArithmetic declared(arithmetic);
  const TensorRef mean = tensor(DType::kFloat32, {1}, {2});
  const TensorRef variance = tensor(DType::kFloat32, {1}, {4});
  const auto out =
      run("aten._native_batch_norm_legit.default", batch_norm_arguments(mean, variance, false));
  EXPECT_EQ(values(result(out, 1)), Numbers{2});
  EXPECT_EQ(values(result(out, 2)), Numbers{0.5});
}

// One image: the stride of the batch says nothing, though it does not suggest channels-last.
TEST(BatchNorm, KeepsChannelsLastOfASingleImage) {
  const TensorRef x = view_of(*counting({60}), {1, 3, 4, 5}, {3, 1, 15, 3}, 0);
  const TensorRef channel = tensor(DType::kFloat32, {3}, {1, 1, 1});
  const auto strides_with = [&](const TensorRef& weight) {
    return run_tensor("aten.batch_norm.default", {{"input", {x}},
                                                  {"weight", {weight}},
                                                  {"bias", kNone},
                                                  {"running_mean", {channel}},
                                                  {"running_var", {channel}},
                                                  {"training", {false}},
                                                  {"momentum", {0.1}},
                                                  {"eps", {0.0}},
                                                  {"cudnn_enabled", {false}}})
        ->strides;
  };
  EXPECT_EQ(strides_with(channel), (Sizes{60, 1, 15, 3}));
  EXPECT_EQ(strides_with(view_of(*counting({6}), {3}, {2}, 0)), (Sizes{60, 20, 5, 1}));
}

TEST(GroupNorm, NormalizesEachRunOfChannels) {
  const auto x = tensor(DType::kFloat32, {1, 4, 1}, {1, 3, 10, 30});
  const auto out = run("aten.native_group_norm.default", {{"input", {x}},
                                                          {"weight", kNone},
                                                          {"bias", kNone},
                                                          {"N", {std::int64_t{1}}},
                                                          {"C", {std::int64_t{4}}},
                                                          {"HxW", {std::int64_t{1}}},
                                                          {"group", {std::int64_t{2}}},
                                                          {"eps", {0.0}}});
  EXPECT_EQ(values(result(out, 0)), (Numbers{-1, 1, -1, 1}));
  EXPECT_EQ(result(out, 1).sizes, (Sizes{1, 2}));
}

}  // namespace
}  // namespace graphgate::reference::test
