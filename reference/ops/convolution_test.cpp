#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

TensorRef transpose_of(const TensorRef& input, const TensorRef& weight, std::int64_t stride,
                       std::int64_t output_padding) {
  return run_tensor("aten.convolution.default", {{"input", {input}},
                                                 {"weight", {weight}},
                                                 {"bias", {}},
                                                 {"stride", ints({stride})},
                                                 {"padding", ints({0})},
                                                 {"dilation", ints({1})},
                                                 {"transposed", {true}},
                                                 {"output_padding", ints({output_padding})},
                                                 {"groups", {std::int64_t{1}}}});
}

TEST(Convolution, SlidesTheKernelWithoutTurningIt) {
  const TensorRef input = tensor(DType::kFloat32, {1, 1, 4}, {1, 2, 3, 4});
  const TensorRef weight = tensor(DType::kFloat32, {1, 1, 2}, {1, 10});
  const TensorRef out = run_tensor(
      "aten.conv1d.default",
      {{"input", {input}}, {"weight", {weight}}, {"bias", {tensor(DType::kFloat32, {1}, {100})}}});
  EXPECT_EQ(values(*out), (Numbers{121, 132, 143}));
}

// 1 + 2^-12 has 13 bits, TF32 keeps 11: what is cut off is less than 2^-10 of it. A product of
// matrices is not meant.
TEST(Convolution, MayRoundItsFactorsToTf32) {
  const TensorRef input = tensor(DType::kFloat32, {1, 1, 1}, {1 + 0x1p-12});
  const TensorRef weight = tensor(DType::kFloat32, {1, 1, 1}, {1});
  const auto radius = [&] {
    return radii(*run_tensor("aten.conv1d.default", {{"input", {input}}, {"weight", {weight}}},
                             Mode::kWorstCase))[0];
  };
  EXPECT_EQ(radius(), 0);
  Arithmetic arithmetic;
  arithmetic.tf32_convolutions = true;
  const DeclaredArithmetic declared(arithmetic);
  EXPECT_GE(radius(), 0x1p-12);
  EXPECT_LE(radius(), 0x1p-9);
  const TensorRef matrix = tensor(DType::kFloat32, {1, 1}, {1 + 0x1p-12});
  const TensorRef one = tensor(DType::kFloat32, {1, 1}, {1});
  EXPECT_EQ(radii(*run_tensor("aten.mm.default", {{"self", {matrix}}, {"mat2", {one}}},
                              Mode::kWorstCase))[0],
            0);
}

// cuDNN gives 0 for a sum of subnormal products. A CPU's kernels do not, nor do products of
// matrices.
TEST(Convolution, OfCudaKernelsMayTakeSubnormalNumbersForZero) {
  const TensorRef input = tensor(DType::kFloat32, {1, 1, 1}, {0x1p-120});
  const TensorRef weight = tensor(DType::kFloat32, {1, 1, 1}, {0x1.8p-20});
  const auto radius = [&] {
    return radii(*run_tensor("aten.conv1d.default", {{"input", {input}}, {"weight", {weight}}},
                             Mode::kWorstCase))[0];
  };
  EXPECT_EQ(radius(), 0);
  Arithmetic arithmetic;
  arithmetic.has_cuda_kernels = true;
  const DeclaredArithmetic declared(arithmetic);
  EXPECT_GE(radius(), 0x1.8p-140);
  EXPECT_LE(radius(), 0x1p-125);
  const TensorRef left = tensor(DType::kFloat32, {1, 1}, {0x1p-120});
  const TensorRef right = tensor(DType::kFloat32, {1, 1}, {0x1.8p-20});
  EXPECT_EQ(radii(*run_tensor("aten.mm.default", {{"self", {left}}, {"mat2", {right}}},
                              Mode::kWorstCase))[0],
            0);
}

TEST(Convolution, PadsTheOddOneBehindForSame) {
  const TensorRef input = tensor(DType::kFloat32, {1, 1, 3}, {1, 2, 3});
  const TensorRef weight = tensor(DType::kFloat32, {1, 1, 2}, {1, 10});
  const TensorRef out =
      run_tensor("aten.conv1d.padding",
                 {{"input", {input}}, {"weight", {weight}}, {"padding", {std::string("same")}}});
  EXPECT_EQ(values(*out), (Numbers{21, 32, 3}));
}

TEST(Convolution, KeepsGroupsApart) {
  const TensorRef input = tensor(DType::kFloat32, {1, 2, 1, 1}, {2, 3});
  const TensorRef weight = tensor(DType::kFloat32, {2, 1, 1, 1}, {10, 100});
  const TensorRef out =
      run_tensor("aten.conv2d.default",
                 {{"input", {input}}, {"weight", {weight}}, {"groups", {std::int64_t{2}}}});
  EXPECT_EQ(values(*out), (Numbers{20, 300}));
}

TEST(Convolution, TransposedScattersAndLeavesGapsAndOutputPadding) {
  const TensorRef input = tensor(DType::kFloat32, {1, 1, 2}, {1, 2});
  const TensorRef weight = tensor(DType::kFloat32, {1, 1, 2}, {1, 10});
  const TensorRef out = transpose_of(input, weight, 3, 1);
  EXPECT_EQ(values(*out), (Numbers{1, 10, 0, 2, 20, 0}));
}

TEST(Convolution, IsChannelsLastWhenItsInputIs) {
  const TensorRef input = tensor(DType::kFloat32, {1, 2, 3, 3}, Numbers(18, 1), {18, 1, 6, 2});
  const TensorRef out =
      run_tensor("aten.conv2d.default", {{"input", {input}}, {"weight", {counting({2, 2, 2, 2})}}});
  EXPECT_EQ(out->strides, (Sizes{8, 1, 4, 2}));
}

Arguments backward(const TensorRef& gradient, const TensorRef& input, const TensorRef& weight,
                   std::int64_t stride, bool is_transposed) {
  return {{"grad_output", {gradient}},
          {"input", {input}},
          {"weight", {weight}},
          {"bias_sizes", ints({1})},
          {"stride", ints({stride})},
          {"padding", ints({0})},
          {"dilation", ints({1})},
          {"transposed", {is_transposed}},
          {"output_padding", ints({0})},
          {"groups", {std::int64_t{1}}},
          {"output_mask", {Datum::List{{true}, {true}, {true}}}}};
}

TEST(ConvolutionBackward, SendsGradientsBackThroughEachTap) {
  const TensorRef input = tensor(DType::kFloat32, {1, 1, 3}, {1, 2, 3});
  const TensorRef weight = tensor(DType::kFloat32, {1, 1, 2}, {10, 100});
  const TensorRef gradient = tensor(DType::kFloat32, {1, 1, 2}, {1, 2});
  const auto out =
      run("aten.convolution_backward.default", backward(gradient, input, weight, 1, false));
  EXPECT_EQ(values(result(out, 0)), (Numbers{10, 120, 200}));
  EXPECT_EQ(values(result(out, 1)), (Numbers{5, 8}));
  EXPECT_EQ(values(result(out, 2)), Numbers{3});
}

TEST(ConvolutionBackward, GathersThemWhereTheConvolutionScatters) {
  const TensorRef input = tensor(DType::kFloat32, {1, 1, 2}, {1, 2});
  const TensorRef weight = tensor(DType::kFloat32, {1, 1, 2}, {1, 10});
  const TensorRef gradient = tensor(DType::kFloat32, {1, 1, 4}, {1, 2, 3, 4});
  const auto out =
      run("aten.convolution_backward.default", backward(gradient, input, weight, 2, true));
  EXPECT_EQ(values(result(out, 0)), (Numbers{21, 43}));
  EXPECT_EQ(values(result(out, 1)), (Numbers{7, 10}));
  EXPECT_EQ(values(result(out, 2)), Numbers{10});
}

// Intel's units for bfloat16 take what is subnormal for 0: a factor, a sum and a result.
TEST(ConvolutionBackward, MayFlushSubnormalBFloat16) {
  const double tiny = 0x1p-130;
  const TensorRef input = tensor(DType::kBFloat16, {1, 1, 1}, {tiny});
  const TensorRef weight = tensor(DType::kBFloat16, {1, 1, 1}, {64});
  const auto least = [&](DType dtype) {
    const auto retyped = [&](const TensorRef& t) { return tensor(dtype, t->sizes, values(*t)); };
    const auto out =
        run("aten.convolution_backward.default",
            backward(retyped(input), retyped(input), retyped(weight), 1, false), Mode::kWorstCase);
    const Mark mark = marks_of(result(out, 0))[0];
    return mark.value - static_cast<long double>(mark.radius);
  };
  EXPECT_LE(least(DType::kBFloat16), 0);
  EXPECT_GT(least(DType::kFloat32), 0);
}

TEST(ConvolutionBackward, LeavesOutWhatNobodyAsksFor) {
  Arguments arguments =
      backward(counting({1, 1, 2}), counting({1, 1, 3}), counting({1, 1, 2}), 1, false);
  arguments.back().second = {Datum::List{{false}, {true}, {false}}};
  const auto out = run("aten.convolution_backward.default", arguments);
  EXPECT_TRUE(out[0].is_none());
  EXPECT_FALSE(out[1].is_none());
  EXPECT_TRUE(out[2].is_none());
  arguments[0].second = {counting({1, 1, 3})};
  EXPECT_THROW((void)run("aten.convolution_backward.default", arguments), OpError);
}

TEST(Convolution, TakesAnInputWithoutABatch) {
  const TensorRef out = run_tensor(
      "aten.conv1d.default", {{"input", {counting({1, 3})}}, {"weight", {counting({2, 1, 2})}}});
  EXPECT_EQ(out->sizes, (Sizes{2, 2}));
  EXPECT_EQ(values(*out), (Numbers{1, 2, 3, 8}));
}

TEST(Convolution, RefusesAKernelLargerThanItsInput) {
  EXPECT_THROW(run_tensor("aten.conv1d.default",
                          {{"input", {counting({1, 1, 2})}}, {"weight", {counting({1, 1, 3})}}}),
               OpError);
}

}  // namespace
}  // namespace graphgate::reference::test
