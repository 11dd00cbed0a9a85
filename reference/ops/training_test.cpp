#include <cmath>

#include "base/split_mix.h"
#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

Arguments gradient(const TensorRef& above, std::string_view name, const TensorRef& other) {
  return {{"grad_output", {above}}, {std::string(name), {other}}};
}

TensorRef row(DType dtype, const Numbers& numbers) {
  return tensor(dtype, {static_cast<std::int64_t>(numbers.size())}, numbers);
}

Arithmetic cuda_kernels() {
  Arithmetic arithmetic;
  arithmetic.has_cuda_kernels = true;
  return arithmetic;
}

TEST(Gradients, OfSquashingFunctionsComeFromTheirOutputs) {
  const auto g = tensor(DType::kFloat32, {2}, {4, 1});
  const auto y = tensor(DType::kFloat32, {2}, {0.5, 0.25});
  EXPECT_EQ(values(*run_tensor("aten.sigmoid_backward.default", gradient(g, "output", y))),
            (Numbers{1, 0.1875}));
  EXPECT_EQ(values(*run_tensor("aten.tanh_backward.default", gradient(g, "output", y))),
            (Numbers{3, 0.9375}));
}

TEST(Gradients, AtZeroAreHalfOfWhatComesIn) {
  const auto g = tensor(DType::kFloat32, {1}, {3});
  const auto zero = tensor(DType::kFloat32, {1}, {0});
  for (const char* op : {"aten.silu_backward.default", "aten.gelu_backward.default"}) {
    EXPECT_EQ(values(*run_tensor(op, gradient(g, "self", zero))), (Numbers{1.5})) << op;
  }
  Arguments by_tanh = gradient(g, "self", zero);
  by_tanh.emplace_back("approximate", Datum{std::string("tanh")});
  EXPECT_EQ(values(*run_tensor("aten.gelu_backward.default", by_tanh)), (Numbers{1.5}));
}

TEST(ThresholdBackward, PassesAboveTheThresholdAndAtNaN) {
  const auto g = tensor(DType::kFloat32, {4}, {1, 2, 3, 4});
  const auto x = tensor(DType::kFloat32, {4}, {-1, 0, 1, kNan});
  Arguments arguments = gradient(g, "self", x);
  arguments.emplace_back("threshold", Datum{std::int64_t{0}});
  EXPECT_EQ(values(*run_tensor("aten.threshold_backward.default", arguments)),
            (Numbers{0, 0, 3, 4}));
}

TEST(Slopes, AreThoseOfTheirFunctionsAtTheEdges) {
  const auto slopes = [](const char* op, const Numbers& x, const Arguments& more = {},
                         const char* name = "grad_output") {
    Arguments arguments = {{name, {row(DType::kFloat32, Numbers(x.size(), 6))}},
                           {"self", {row(DType::kFloat32, x)}}};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return values(*run_tensor(op, arguments));
  };
  EXPECT_EQ(slopes("aten.hardtanh_backward.default", {-1, -0.5, 2, 3},
                   {{"min_val", {-1.0}}, {"max_val", {2.0}}}),
            (Numbers{0, 6, 0, 0}));
  EXPECT_EQ(slopes("aten.hardsigmoid_backward.default", {-3, 0, 3}), (Numbers{0, 1, 0}));
  EXPECT_EQ(slopes("aten.hardswish_backward.default", {-3, 0, 1.5, 3}), (Numbers{0, 3, 6, 6}));
  const Arguments half = {{"lambd", {0.5}}};
  EXPECT_EQ(slopes("aten.softshrink_backward.default", {-0.5, 0.5, 0.75}, half),
            (Numbers{0, 0, 6}));
  EXPECT_EQ(slopes("aten.hardshrink_backward.default", {-0.5, 0.5, 0.75}, half, "grad_out"),
            (Numbers{0, 0, 6}));
  EXPECT_EQ(
      slopes("aten.softplus_backward.default", {0, 21}, {{"beta", {1.0}}, {"threshold", {20.0}}}),
      (Numbers{3, 6}));
  EXPECT_EQ(slopes("aten.logit_backward.default", {0.5, 0.125}, {{"eps", {0.25}}}),
            (Numbers{24, 0}));
  const Numbers ends = slopes("aten.logit_backward.default", {0, 1, 2});
  EXPECT_TRUE(std::isinf(ends[0]) && std::isinf(ends[1]) && std::isnan(ends[2]));
  EXPECT_NEAR(slopes("aten.mish_backward.default", {0})[0], 3.6, 1e-6);
  EXPECT_EQ(slopes("aten.log_sigmoid_backward.default", {0, 0},
                   {{"buffer", {row(DType::kFloat32, {1, 1})}}}),
            (Numbers{3, 3}));
}

TEST(Slopes, OfNoiseAreTheNoiseInTrainingAndItsMiddleElse) {
  const auto slope = [](double upper, bool trains) {
    return values(*run_tensor("aten.rrelu_with_noise_backward.default",
                              {{"grad_output", {row(DType::kFloat32, {8, 8})}},
                               {"self", {row(DType::kFloat32, {1, -1})}},
                               {"noise", {row(DType::kFloat32, {1, 0.375})}},
                               {"lower", {0.25}},
                               {"upper", {upper}},
                               {"training", {trains}},
                               {"self_is_result", {false}}}));
  };
  EXPECT_EQ(slope(0.75, true), (Numbers{8, 3}));
  EXPECT_EQ(slope(0.75, false), (Numbers{8, 4}));
  EXPECT_EQ(slope(0.25, true), (Numbers{8, 3}));  // no draw, and the noise counts all the same
}

TEST(Slopes, GoToTheInputOrToTheWeightOfPrelu) {
  const std::vector<Datum> both =
      run("aten._prelu_kernel_backward.default", {{"grad_output", {row(DType::kFloat32, {4, 4})}},
                                                  {"self", {row(DType::kFloat32, {2, -2})}},
                                                  {"weight", {row(DType::kFloat32, {0.5, 0.5})}}});
  EXPECT_EQ(values(result(both, 0)), (Numbers{4, 2}));
  EXPECT_EQ(values(result(both, 1)), (Numbers{0, -8}));
}

TEST(DropoutBackward, MakesFloatsOfIntegers) {
  const auto g = tensor(DType::kInt64, {2}, {3, 5});
  const auto mask = tensor(DType::kBool, {2}, {1, 0});
  const auto out = run_tensor("aten.native_dropout_backward.default",
                              {{"grad_output", {g}}, {"mask", {mask}}, {"scale", {1.5}}});
  EXPECT_EQ(out->dtype, DType::kFloat32);
  EXPECT_EQ(values(*out), (Numbers{4.5, 0}));
}

// A transposed gradient suggests the contiguous format.
TEST(CudaKernels, MakeADropoutsGradientInTheFormatThatItSuggests) {
  const auto g = tensor(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6}, {1, 2});
  const auto mask = tensor(DType::kBool, {2, 3}, {1, 0, 1, 1, 1, 0});
  const auto made = [&] {
    return run_tensor("aten.native_dropout_backward.default",
                      {{"grad_output", {g}}, {"mask", {mask}}, {"scale", {2.0}}});
  };
  EXPECT_EQ(made()->strides, (Sizes{1, 2}));
  const DeclaredArithmetic declared(cuda_kernels());
  EXPECT_EQ(made()->strides, (Sizes{3, 1}));
  EXPECT_EQ(values(*made()), (Numbers{2, 0, 6, 8, 10, 0}));
}

// 2 / 15 is rounded to float32 before it is multiplied, on any device.
TEST(LossGradients, HoldTheShareOfAMeanInFloat32) {
  Numbers x;
  for (int i = 0; i < 15; ++i) x.push_back(0.37F * static_cast<float>(i) - 2.9F);
  const Arguments arguments = {{"grad_output", {tensor(DType::kFloat32, {}, {1.1F})}},
                               {"self", {tensor(DType::kFloat32, {15}, x)}},
                               {"target", {tensor(DType::kFloat32, {15}, Numbers(15, 0.7F))}},
                               {"reduction", {std::int64_t{1}}}};
  const std::vector<Mark> marks =
      marks_of(*run_tensor("aten.mse_loss_backward.default", arguments, Mode::kWorstCase));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double exactly = static_cast<long double>(2.0F / 15.0F) *
                                (static_cast<long double>(static_cast<float>(x[i])) - 0.7F) * 1.1F;
    EXPECT_NEAR(static_cast<double>(marks[i].value / exactly), 1, 1e-12) << i;
  }
}

// Whether an executor may have that number.
bool allows(const Mark& mark, float actual) {
  if (std::isinf(mark.radius)) return true;
  if (std::isnan(mark.value)) return std::isnan(actual);
  if (std::isinf(mark.value)) return mark.value == static_cast<long double>(actual);
  return std::fabs(static_cast<long double>(actual) - mark.value) <=
         static_cast<long double>(mark.radius);
}

// Numbers of which products overflow and underflow, or round.
const std::vector<float> kFarApart = {0,      -0.3F,   0.7F,  1,      1.7F,    -2.9F,   1e-40F,
                                      3e-38F, -1e-20F, 1e20F, -3e20F, 2.5e38F, -3.3e38F};

// Two numbers for each pair of `kFarApart`.
struct Pairs {
  Numbers first;
  Numbers second;
};
Pairs pairs_far_apart() {
  Pairs out;
  for (const float a : kFarApart) {
    for (const float b : kFarApart) {
      out.first.push_back(a);
      out.second.push_back(b);
    }
  }
  return out;
}
TensorRef line_of(const Numbers& numbers) {
  return tensor(DType::kFloat32, {std::ssize(numbers)}, numbers);
}

// What kernels and what Inductor compiles of a decomposition: where the product of two factors
// overflows and that of all does not, they differ.
template <class... Forms>
void expect_allowed(std::string_view op, const Arguments& arguments, const Pairs& pairs,
                    const Forms&... forms) {
  const std::vector<Mark> marks = marks_of(*run_tensor(op, arguments, Mode::kWorstCase));
  ASSERT_EQ(marks.size(), pairs.first.size());
  const auto expect = [&](std::size_t i, float made) {
    EXPECT_TRUE(allows(marks[i], made))
        << op << " of " << pairs.first[i] << " and " << pairs.second[i] << ": " << made
        << ", expected " << marks[i].value << " +- " << marks[i].radius;
  };
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const auto a = static_cast<float>(pairs.first[i]);
    const auto b = static_cast<float>(pairs.second[i]);
    (expect(i, forms(a, b)), ...);
  }
}

TEST(Gradients, OfASigmoidMayMakeTheSlopeFirst) {
  const Pairs pairs = pairs_far_apart();
  const Arguments arguments = gradient(line_of(pairs.first), "output", line_of(pairs.second));
  expect_allowed(
      "aten.sigmoid_backward.default", arguments, pairs,
      [](float g, float y) { return (g * (1.0F - y)) * y; },
      [](float g, float y) { return g * (y * (1.0F - y)); });
}

// Each factor rounds, and the decomposition has the product of alpha and scale as one number.
TEST(Gradients, OfExponentialUnitsMayMultiplyTheGradientFirst) {
  constexpr double kAlpha = 1.6732632423543772;
  constexpr double kScale = 1.0507009873554805;
  constexpr double kInputScale = 1.3;
  const auto input_scale = static_cast<float>(kInputScale);
  const Pairs pairs = pairs_far_apart();
  const float by_kernel = static_cast<float>(kAlpha) * static_cast<float>(kScale);
  const auto once = static_cast<float>(kAlpha * kScale);
  for (const bool is_result : {true, false}) {
    const Arguments arguments = {{"grad_output", {line_of(pairs.first)}},
                                 {"alpha", {kAlpha}},
                                 {"scale", {kScale}},
                                 {"input_scale", {kInputScale}},
                                 {"is_result", {is_result}},
                                 {"self_or_result", {line_of(pairs.second)}}};
    const auto form = [=](float low) {
      return [=](float g, float x) {
        if (x > 0) return g * static_cast<float>(kScale);
        if (is_result) return g * input_scale * (x + low);
        return g * input_scale * low * std::exp(x * input_scale);
      };
    };
    expect_allowed("aten.elu_backward.default", arguments, pairs, form(by_kernel), form(once));
  }
}

TEST(LossGradients, MayMultiplyTheGradientByTheShareFirst) {
  const Pairs pairs = pairs_far_apart();
  const auto share = 1.0F / static_cast<float>(pairs.first.size());
  for (const double beta : {0.0, 0.37, 3e38}) {
    const auto edge = static_cast<float>(beta);
    const Arguments arguments = {{"grad_output", {line_of(pairs.first)}},
                                 {"self", {line_of(pairs.second)}},
                                 {"target", {tensor(DType::kFloat32, {}, {0})}},
                                 {"reduction", {std::int64_t{1}}},
                                 {"beta", {beta}}};
    expect_allowed(
        "aten.smooth_l1_loss_backward.default", arguments, pairs,
        [=](float g, float z) {
          if (z <= -edge) return -share * g;
          return z >= edge ? share * g : share * z * g / edge;
        },
        [=](float g, float z) {
          const float shared = share * g;
          if (std::fabs(z) < edge) return shared * z / edge;
          return shared * static_cast<float>((z > 0) - (z < 0));
        });
  }
}

// Who computes in float32 has a number where a step in float16 overflows.
TEST(Gradients, AreOpenWhereAStepOverflowsSixteenBits) {
  const auto half = [](double x) { return Datum{tensor(DType::kFloat16, {1}, {x})}; };
  const auto radius = [](std::string_view op, const Arguments& arguments) {
    return radii(*run_tensor(op, arguments, Mode::kWorstCase))[0];
  };
  const auto dropout = [&](double mask) {
    return radius("aten.native_dropout_backward.default",
                  {{"grad_output", half(4e4)}, {"mask", half(mask)}, {"scale", {0.25}}});
  };
  EXPECT_TRUE(std::isinf(dropout(2)));
  EXPECT_EQ(dropout(1), 0);
  const auto loss = [&](std::string_view op, const char* other, double x, double y) {
    return radius(op, {{"grad_output", half(0.01)},
                       {"self", half(x)},
                       {other, half(y)},
                       {"reduction", {std::int64_t{0}}}});
  };
  EXPECT_TRUE(std::isinf(loss("aten.mse_loss_backward.default", "target", 6e4, -6e4)));
  EXPECT_FALSE(std::isinf(loss("aten.mse_loss_backward.default", "target", 2e4, 1e4)));
  const auto divergence = [&](double x, double y) {
    return radius("aten.kl_div.default",
                  {{"self", half(x)}, {"target", half(y)}, {"reduction", {std::int64_t{0}}}});
  };
  EXPECT_TRUE(std::isinf(divergence(10, 4e4)));
  EXPECT_FALSE(std::isinf(divergence(2, 3)));
}

// Rows whose gradients are wide or cancel, beside deviations that are small and large.
struct NormRows {
  static constexpr std::size_t kLength = 5;
  std::vector<float> x;
  std::vector<float> g;
  float mean = 0;
  float rstd = 0;
};
std::vector<NormRows> norm_rows() {
  std::vector<NormRows> out;
  SplitMix64 draws(7);
  const auto draw = [&] { return static_cast<float>(draws.next() % 2001) / 250.0F - 4.0F; };
  for (const float size : {1.0F, 23008.0F, 1e-20F, 1e15F}) {
    for (const float rstd : {0.61F, 7.5e-5F, 1e18F, 3e-20F}) {
      for (int i = 0; i < 8; ++i) {
        NormRows rows;
        for (std::size_t j = 0; j < NormRows::kLength; ++j) {
          rows.x.push_back(draw() * size);
          rows.g.push_back(i % 2 == 0 ? rows.x.back() : draw());
        }
        rows.mean = draw() * size;
        rows.rstd = rstd;
        out.push_back(rows);
      }
    }
  }
  return out;
}
Numbers wide(const std::vector<float>& numbers) { return {numbers.begin(), numbers.end()}; }

TEST(LayerNormGradient, MayMultiplyByTheCountAndDivideByIt) {
  constexpr auto kCount = static_cast<float>(NormRows::kLength);
  for (const NormRows& rows : norm_rows()) {
    const auto of_input =
        marks_of(result(run("aten.native_layer_norm_backward.default",
                            {{"grad_out", {tensor(DType::kFloat32, {1, 5}, wide(rows.g))}},
                             {"input", {tensor(DType::kFloat32, {1, 5}, wide(rows.x))}},
                             {"normalized_shape", ints({5})},
                             {"mean", {tensor(DType::kFloat32, {1, 1}, {rows.mean})}},
                             {"rstd", {tensor(DType::kFloat32, {1, 1}, {rows.rstd})}},
                             {"weight", {}},
                             {"bias", {}},
                             {"output_mask", {Datum::List{{true}, {true}, {true}}}}},
                            Mode::kWorstCase),
                        0));
    float sum = 0;
    float moment = 0;
    for (std::size_t i = 0; i < NormRows::kLength; ++i) {
      sum += rows.g[i];
      moment += rows.g[i] * ((rows.x[i] - rows.mean) * rows.rstd);
    }
    for (std::size_t i = 0; i < NormRows::kLength; ++i) {
      const float normal = (rows.x[i] - rows.mean) * rows.rstd;
      const float made = (rows.rstd / kCount) * (rows.g[i] * kCount - sum - normal * moment);
      EXPECT_TRUE(allows(of_input[i], made)) << i << ": " << made << ", expected "
                                             << of_input[i].value << " +- " << of_input[i].radius;
    }
  }
}

// The kernels divide by the count, and multiply by the weight last. The decomposition multiplies by
// 1 / count, and by the product of deviation and weight.
TEST(BatchNormGradient, MayMultiplyByOneOverTheCountAndByOneFactor) {
  constexpr auto kCount = static_cast<float>(NormRows::kLength);
  constexpr float kShare = 1.0F / kCount;
  for (const NormRows& rows : norm_rows()) {
    for (const float weight : {0.37F, -2e20F, 3e-30F}) {
      for (const bool trains : {true, false}) {
        const auto statistic = [](float x) { return Datum{tensor(DType::kFloat32, {1}, {x})}; };
        const float variance = 1 / (rows.rstd * rows.rstd);
        const auto of_input =
            marks_of(result(run("aten.native_batch_norm_backward.default",
                                {{"grad_out", {tensor(DType::kFloat32, {5, 1}, wide(rows.g))}},
                                 {"input", {tensor(DType::kFloat32, {5, 1}, wide(rows.x))}},
                                 {"weight", statistic(weight)},
                                 {"running_mean", statistic(rows.mean)},
                                 {"running_var", statistic(variance)},
                                 {"save_mean", statistic(rows.mean)},
                                 {"save_invstd", statistic(rows.rstd)},
                                 {"train", {trains}},
                                 {"eps", {0.0}},
                                 {"output_mask", {Datum::List{{true}, {true}, {true}}}}},
                                Mode::kWorstCase),
                            0));
        const float rstd = trains ? rows.rstd : 1 / std::sqrt(variance);
        float sum = 0;
        float along = 0;
        for (std::size_t i = 0; i < NormRows::kLength; ++i) {
          sum += rows.g[i];
          along += rows.g[i] * (rows.x[i] - rows.mean);
        }
        for (std::size_t i = 0; i < NormRows::kLength; ++i) {
          const float distance = rows.x[i] - rows.mean;
          const float by_kernel =
              trains ? (rows.g[i] - distance * (along * rstd * rstd / kCount) - sum / kCount) *
                           rstd * weight
                     : rows.g[i] * rstd * weight;
          const float decomposed =
              trains ? (rows.g[i] - distance * ((along * kShare) * (rstd * rstd)) - sum * kShare) *
                           (rstd * weight)
                     : rows.g[i] * (rstd * weight);
          for (const float made : {by_kernel, decomposed}) {
            EXPECT_TRUE(allows(of_input[i], made))
                << i << ": " << made << ", expected " << of_input[i].value << " +- "
                << of_input[i].radius << ", weight " << weight << ", deviation " << rstd;
          }
        }
      }
    }
  }
}

TEST(CudaKernels, RoundTheStepsOfAHyperbolicTangentsGradient) {
  const auto g = tensor(DType::kFloat16, {1}, {3.041015625});
  const auto y = tensor(DType::kFloat16, {1}, {0.763671875});
  const auto made = [&] {
    return values(*run_tensor("aten.tanh_backward.default", gradient(g, "output", y)));
  };
  EXPECT_EQ(made(), (Numbers{1.267578125}));
  const DeclaredArithmetic declared(cuda_kernels());
  EXPECT_EQ(made(), (Numbers{1.2685546875}));
}

// 101.6875 y is 77.5067, and 77.5 in float16; times 1 - y that is 18.430 or 18.429, two neighbours.
TEST(CudaKernels, RoundTheProductThatASoftmaxGradientSums) {
  Arguments arguments = gradient(tensor(DType::kFloat16, {1}, {101.6875}), "output",
                                 tensor(DType::kFloat16, {1}, {0.76220703125}));
  arguments.emplace_back("dim", Datum{std::int64_t{0}});
  arguments.emplace_back("input_dtype", Datum{DType::kFloat16});
  const auto made = [&] {
    return values(*run_tensor("aten._softmax_backward_data.default", arguments));
  };
  EXPECT_EQ(made(), (Numbers{18.4375}));
  const DeclaredArithmetic declared(cuda_kernels());
  EXPECT_EQ(made(), (Numbers{18.421875}));
}

TEST(SoftmaxBackward, TakesTheWeightedMeanOut) {
  const auto g = tensor(DType::kFloat32, {1, 2}, {1, 3});
  const auto y = tensor(DType::kFloat32, {1, 2}, {0.5, 0.5});
  Arguments arguments = gradient(g, "output", y);
  arguments.emplace_back("dim", Datum{std::int64_t{1}});
  arguments.emplace_back("input_dtype", Datum{DType::kFloat32});
  EXPECT_EQ(values(*run_tensor("aten._softmax_backward_data.default", arguments)),
            (Numbers{-0.5, 0.5}));
  Arguments of_log = gradient(g, "output", tensor(DType::kFloat32, {1, 2}, {0, -kInfinity}));
  of_log.emplace_back("dim", Datum{std::int64_t{1}});
  of_log.emplace_back("input_dtype", Datum{DType::kFloat32});
  EXPECT_EQ(values(*run_tensor("aten._log_softmax_backward_data.default", of_log)),
            (Numbers{-3, 3}));
}

TEST(Renorm, ScalesSlicesAboveTheLimitAlone) {
  const auto x = tensor(DType::kFloat64, {2, 2}, {3, 4, 0.5, 0});
  const auto out =
      run_tensor("aten.renorm.default",
                 {{"self", {x}}, {"p", {2.0}}, {"dim", {std::int64_t{0}}}, {"maxnorm", {1.0}}});
  const Numbers numbers = values(*out);
  EXPECT_NEAR(numbers[0], 0.6, 1e-7);
  EXPECT_EQ(numbers[2], 0.5);
}

TEST(SegmentReduce, OfAnEmptySegmentIsWhatItBeginsWith) {
  const auto x = tensor(DType::kFloat32, {3}, {1, 2, 6});
  const auto lengths = tensor(DType::kInt64, {3}, {2, 0, 1});
  const auto reduced = [&](const char* how, const Datum& initial) {
    return values(*run_tensor("aten.segment_reduce.default", {{"data", {x}},
                                                              {"reduce", {std::string(how)}},
                                                              {"lengths", {lengths}},
                                                              {"initial", initial}}));
  };
  EXPECT_EQ(reduced("sum", {}), (Numbers{3, 0, 6}));
  EXPECT_EQ(reduced("max", {}), (Numbers{2, -kInfinity, 6}));
  EXPECT_EQ(reduced("prod", {std::int64_t{2}}), (Numbers{4, 2, 12}));
  EXPECT_EQ(reduced("mean", {std::int64_t{1}}), (Numbers{2, 1, 7}));
  EXPECT_TRUE(std::isnan(reduced("mean", {})[1]));
}

TEST(EmbeddingBag, CountsNoPaddingAndTellsWhereAMaximumIs) {
  const auto weight = tensor(DType::kFloat64, {3, 1}, {1, 5, 3});
  const auto indices = tensor(DType::kInt64, {4}, {0, 1, 2, 2});
  const auto offsets = tensor(DType::kInt64, {3}, {0, 2, 2});
  const auto bags = [&](std::int64_t mode, std::int64_t padding) {
    return run("aten._embedding_bag_forward_only.default", {{"weight", {weight}},
                                                            {"indices", {indices}},
                                                            {"offsets", {offsets}},
                                                            {"mode", {mode}},
                                                            {"padding_idx", {padding}}});
  };
  const auto sums = bags(0, -1);
  EXPECT_EQ(values(result(sums, 0)), (Numbers{6, 0, 6}));
  EXPECT_EQ(values(result(sums, 1)), (Numbers{0, 0, 2, 2}));
  const auto means = bags(1, 1);
  EXPECT_EQ(values(result(means, 0)), (Numbers{1, 0, 3}));
  EXPECT_EQ(values(result(means, 2)), (Numbers{1, 0, 2}));
  const auto greatest = bags(2, -1);
  EXPECT_EQ(values(result(greatest, 0)), (Numbers{5, 0, 3}));
  EXPECT_EQ(values(result(greatest, 3)), (Numbers{1, 0, 2}));
}

// Products that overflow before they are multiplied by a deviation of 0.
TEST(BatchNormGradient, IsOpenWhereProductsOverflowBesideAZero) {
  const auto x = tensor(DType::kFloat32, {2, 1}, {1e30, -1e30});
  const auto zero = tensor(DType::kFloat32, {1}, {0});
  const auto gradients = [&](const TensorRef& from) {
    return run("aten.native_batch_norm_backward.default",
               {{"grad_out", {from}},
                {"input", {from}},
                {"weight", {}},
                {"running_mean", {}},
                {"running_var", {}},
                {"save_mean", {zero}},
                {"save_invstd", {zero}},
                {"train", {true}},
                {"eps", {1e-3}},
                {"output_mask", {Datum::List{{true}, {true}, {true}}}}},
               Mode::kWorstCase);
  };
  EXPECT_TRUE(std::isinf(radii(result(gradients(x), 1))[0]));
  const auto small = tensor(DType::kFloat32, {2, 1}, {1, -1});
  EXPECT_EQ(radii(result(gradients(small), 1)), Numbers{0});
}

// The CPU's kernel tells of sizes for means and maxima alone.
TEST(CudaKernels, TellTheSizesOfBagsThatAreSummed) {
  Arguments arguments = {{"weight", {tensor(DType::kFloat64, {3, 1}, {1, 5, 3})}},
                         {"indices", {tensor(DType::kInt64, {4}, {0, 1, 2, 2})}},
                         {"offsets", {tensor(DType::kInt64, {3}, {0, 3, 4})}},
                         {"mode", {std::int64_t{0}}}};
  const auto sizes = [&](Mode mode) {
    return result(run("aten._embedding_bag.default", arguments, mode), 2);
  };
  EXPECT_EQ(values(sizes(Mode::kEager)), (Numbers{0, 0, 0}));
  const DeclaredArithmetic declared(cuda_kernels());
  EXPECT_EQ(values(sizes(Mode::kEager)), (Numbers{3, 1, 0}));
  // An offset that ends the last bag has a size that nobody writes.
  arguments.push_back({"include_last_offset", {true}});
  const Tensor told = sizes(Mode::kWorstCase);
  EXPECT_EQ(told.sizes, (Sizes{3}));
  EXPECT_TRUE(std::isinf(radii(told)[2]));
}

}  // namespace
}  // namespace graphgate::reference::test
