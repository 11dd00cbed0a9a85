#include <cmath>

#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

Arguments gradient(const TensorRef& above, std::string_view name, const TensorRef& other) {
  return {{"grad_output", {above}}, {std::string(name), {other}}};
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

TEST(DropoutBackward, MakesFloatsOfIntegers) {
  const auto g = tensor(DType::kInt64, {2}, {3, 5});
  const auto mask = tensor(DType::kBool, {2}, {1, 0});
  const auto out = run_tensor("aten.native_dropout_backward.default",
                              {{"grad_output", {g}}, {"mask", {mask}}, {"scale", {1.5}}});
  EXPECT_EQ(out->dtype, DType::kFloat32);
  EXPECT_EQ(values(*out), (Numbers{4.5, 0}));
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

}  // namespace
}  // namespace graphgate::reference::test
