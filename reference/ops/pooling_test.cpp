#include <cmath>
#include <limits>

#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

TEST(AveragePool, CountsPaddingOnlyWhenAskedAndNeverBeyondThePaddedEnd) {
  const auto ones = tensor(DType::kFloat32, {1, 1, 4}, {1, 1, 1, 1});
  Arguments arguments = {{"self", {ones}},
                         {"kernel_size", ints({1, 3})},
                         {"stride", ints({1, 2})},
                         {"padding", ints({0, 1})},
                         {"ceil_mode", {true}}};
  const auto counted = run_tensor("aten.avg_pool2d.default", arguments);
  EXPECT_FLOAT_EQ(static_cast<float>(values(*counted)[0]), 2.0F / 3);
  EXPECT_EQ(values(*counted)[2], 0.5);
  arguments.emplace_back("count_include_pad", Datum{false});
  EXPECT_EQ(values(*run_tensor("aten.avg_pool2d.default", arguments)), (Numbers{1, 1, 1}));
  arguments.emplace_back("divisor_override", Datum{std::int64_t{2}});
  EXPECT_EQ(values(*run_tensor("aten.avg_pool2d.default", arguments)), (Numbers{1, 1.5, 0.5}));
}

TEST(AveragePool, KeepsChannelsLastInTwoDimensionsOnly) {
  const auto x = tensor(DType::kFloat32, {1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}, {8, 1, 4, 2});
  const auto out =
      run_tensor("aten.avg_pool2d.default", {{"self", {x}}, {"kernel_size", ints({1})}});
  EXPECT_EQ(out->strides, (Sizes{8, 1, 4, 2}));
  EXPECT_EQ(values(*out), values(*x));
}

TEST(MaxPool, GivesTheLowestValueForAWindowWhoseTapsAllLieOutside) {
  const Arguments options = {{"kernel_size", ints({3})}, {"stride", ints({3})},
                             {"padding", ints({1})},     {"dilation", ints({2})},
                             {"ceil_mode", {true}},      {"self", {counting({1, 1, 1})}}};
  const auto results = run("aten.max_pool2d_with_indices.default", options);
  EXPECT_EQ(values(result(results, 0)), Numbers{-std::numeric_limits<double>::infinity()});
  EXPECT_EQ(values(result(results, 1)), Numbers{2});
}

TEST(AdaptivePool, OverlapsWindowsThatDoNotDivideTheInput) {
  const auto x = tensor(DType::kFloat32, {1, 5}, {1, 2, 3, 4, 5});
  const auto out =
      run_tensor("aten.adaptive_avg_pool1d.default", {{"self", {x}}, {"output_size", ints({3})}});
  EXPECT_EQ(values(*out), (Numbers{1.5, 3, 4.5}));
}

TEST(MaxPool, TakesTheFirstOfEqualElementsAndTheLastNaN) {
  const Arguments kernel = {{"kernel_size", ints({2})}};
  const auto pool = [&](const Numbers& elements) {
    return run("aten.max_pool2d_with_indices.default",
               {{"self", {tensor(DType::kFloat32, {1, 2, 2}, elements)}}, kernel[0]});
  };
  EXPECT_EQ(values(result(pool({3, 3, 1, 3}), 1)), Numbers{0});
  EXPECT_EQ(values(result(pool({1, kNan, kNan, 2}), 1)), Numbers{2});
}

TEST(MaxPool, NeverChoosesPadding) {
  const auto x = tensor(DType::kFloat32, {1, 1, 2}, {-5, -7});
  const auto out = run("aten.max_pool2d_with_indices.default", {{"self", {x}},
                                                                {"kernel_size", ints({1, 2})},
                                                                {"stride", ints({1, 1})},
                                                                {"padding", ints({0, 1})}});
  EXPECT_EQ(values(result(out, 0)), (Numbers{-5, -5, -7}));
  EXPECT_EQ(values(result(out, 1)), (Numbers{0, 0, 1}));
}

TEST(MaxPool, RefusesPaddingOfMoreThanHalfTheKernel) {
  EXPECT_THROW(
      run("aten.max_pool2d.default",
          {{"self", {counting({1, 4, 4})}}, {"kernel_size", ints({2})}, {"padding", ints({2})}}),
      OpError);
}

TEST(MaxPoolBackward, AddsGradientsThatMeet) {
  const auto x = tensor(DType::kFloat32, {1, 1, 3}, {1, 9, 1});
  const auto grad = tensor(DType::kFloat32, {1, 1, 2}, {2, 5});
  const auto indices = tensor(DType::kInt64, {1, 1, 2}, {1, 1});
  const auto out =
      run_tensor("aten.max_pool2d_with_indices_backward.default", {{"grad_output", {grad}},
                                                                   {"self", {x}},
                                                                   {"kernel_size", ints({1, 2})},
                                                                   {"stride", ints({1, 1})},
                                                                   {"padding", ints({0, 0})},
                                                                   {"dilation", ints({1, 1})},
                                                                   {"ceil_mode", {false}},
                                                                   {"indices", {indices}}});
  EXPECT_EQ(values(*out), (Numbers{0, 7, 0}));
}

// 1 is lost where it comes before the two others, and left where it comes last.
TEST(MaxPoolBackward, AddsGradientsThatMeetInAnyOrder) {
  const auto out =
      run_tensor("aten.max_pool2d_with_indices_backward.default",
                 {{"grad_output", {tensor(DType::kFloat32, {1, 1, 3}, {1e8, -1e8, 1})}},
                  {"self", {tensor(DType::kFloat32, {1, 1, 3}, {1, 9, 1})}},
                  {"kernel_size", ints({1, 2})},
                  {"stride", ints({1, 1})},
                  {"padding", ints({0, 1})},
                  {"dilation", ints({1, 1})},
                  {"ceil_mode", {false}},
                  {"indices", {tensor(DType::kInt64, {1, 1, 3}, {1, 1, 1})}}},
                 Mode::kWorstCase);
  EXPECT_GE(radii(*out)[1], 1);
}

// 256 - 256 + 1, of which bfloat16 loses the 1 where 256 + 1 comes first.
TEST(AdaptivePool, AddsInTheDtypeInAnyOrder) {
  const auto out = run_tensor("aten._adaptive_avg_pool3d.default",
                              {{"self", {tensor(DType::kBFloat16, {1, 1, 1, 3}, {256, -256, 1})}},
                               {"output_size", ints({1, 1, 1})}},
                              Mode::kWorstCase);
  EXPECT_GE(radii(*out)[0], 1.0 / 3);
}

TEST(MaxUnpool, PutsValuesBackAndRefusesPlacesOutside) {
  const Arguments arguments = {{"self", {tensor(DType::kFloat32, {1, 1, 2}, {5, 7})}},
                               {"indices", {tensor(DType::kInt64, {1, 1, 2}, {3, 0})}},
                               {"output_size", ints({2, 2})}};
  EXPECT_EQ(values(*run_tensor("aten.max_unpool2d.default", arguments)), (Numbers{7, 0, 0, 5}));
  Arguments outside = arguments;
  outside[1].second = {tensor(DType::kInt64, {1, 1, 2}, {4, 0})};
  EXPECT_THROW(run("aten.max_unpool2d.default", outside), OpError);
}

TEST(FractionalMaxPool, PutsWindowsWhereTheSampleSays) {
  // alpha is 3 / 2: windows begin at floor(1.5 (i + 0.5)) - floor(0.75), the last one at 3.
  const auto out = run("aten.fractional_max_pool2d.default",
                       {{"self", {counting({1, 1, 5})}},
                        {"kernel_size", ints({1, 2})},
                        {"output_size", ints({1, 3})},
                        {"random_samples", {tensor(DType::kFloat32, {1, 1, 2}, {0.5, 0})}}});
  EXPECT_EQ(values(result(out, 0)), (Numbers{1, 3, 4}));
  EXPECT_EQ(values(result(out, 1)), (Numbers{1, 3, 4}));
}

TEST(LinePool, TakesALineForAnImageOfHeightOne) {
  const auto x = tensor(DType::kFloat32, {1, 2, 4}, {0, 1, 2, 3, 4, 5, 6, 7}, {8, 1, 2});
  const Arguments arguments = {{"self", {x}}, {"kernel_size", ints({2})}};
  const auto average = run_tensor("aten.avg_pool1d.default", arguments);
  EXPECT_EQ(values(*average), (Numbers{0.5, 2.5, 4.5, 6.5}));
  EXPECT_EQ(average->strides, (Sizes{4, 1, 2}));
  EXPECT_EQ(run_tensor("aten.max_pool1d.default", arguments)->strides, (Sizes{4, 2, 1}));
  const auto places = run("aten.max_pool1d_with_indices.default", arguments);
  EXPECT_EQ(values(result(places, 0)), (Numbers{1, 3, 5, 7}));
  EXPECT_EQ(values(result(places, 1)), (Numbers{1, 3, 1, 3}));
  EXPECT_EQ(result(places, 1).strides, (Sizes{4, 1, 2}));
}

TEST(UpsampleBackward, AddsTheGradientsOfEachPixel) {
  const auto out =
      run_tensor("aten.upsample_nearest2d_backward.default",
                 {{"grad_output", {tensor(DType::kFloat32, {1, 1, 1, 4}, {1, 2, 3, 4})}},
                  {"output_size", ints({1, 4})},
                  {"input_size", ints({1, 1, 1, 3})}});
  EXPECT_EQ(values(*out), (Numbers{3, 3, 4}));
}

}  // namespace
}  // namespace graphgate::reference::test
