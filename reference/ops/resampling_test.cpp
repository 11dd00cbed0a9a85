#include <cmath>

#include "reference/movement.h"
#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

// One pixel of a 2x2 image {1, 2; 3, 4}, read at (x, y) with corners aligned.
double sample(double x, double y, std::int64_t interpolation, std::int64_t padding) {
  const TensorRef out =
      run_tensor("aten.grid_sampler_2d.default",
                 {{"input", {tensor(DType::kFloat32, {1, 1, 2, 2}, {1, 2, 3, 4})}},
                  {"grid", {tensor(DType::kFloat32, {1, 1, 1, 2}, {x, y})}},
                  {"interpolation_mode", {interpolation}},
                  {"padding_mode", {padding}},
                  {"align_corners", {true}}});
  return values(*out)[0];
}

TEST(GridSampler, InterpolatesBetweenPixels) {
  EXPECT_EQ(sample(0, 0, 0, 0), 2.5);
  EXPECT_EQ(sample(1, -1, 0, 0), 2);
  EXPECT_EQ(sample(0.25, -1, 1, 0), 2);  // nearest: x is 0.625 pixels
}

TEST(GridSampler, PadsWithZerosTheBorderOrReflections) {
  EXPECT_EQ(sample(3, -1, 0, 0), 0);
  EXPECT_EQ(sample(2, -1, 0, 0), 1);  // half way between the last pixel and a zero
  EXPECT_EQ(sample(3, -1, 0, 1), 2);
  EXPECT_EQ(sample(3, -1, 0, 2), 1);
}

TEST(GridSampler, HasNoJumpWhereACoordinateCrossesAPixel) {
  const TensorRef image = tensor(DType::kFloat32, {1, 1, 1, 3}, {0, 1, 100});
  const TensorRef grid = tensor(DType::kFloat32, {1, 1, 1, 2}, {0, 0});
  Array<Bounded> coordinates = load<Bounded>(*grid, DType::kFloat32);
  coordinates[0].radius = 0x1p-10;  // the middle pixel, give or take
  store(*grid, coordinates);
  const TensorRef out = run_tensor("aten.grid_sampler_2d.default",
                                   {{"input", {image}},
                                    {"grid", {grid}},
                                    {"interpolation_mode", {std::int64_t{0}}},
                                    {"padding_mode", {std::int64_t{0}}},
                                    {"align_corners", {true}}},
                                   Mode::kWorstCase);
  EXPECT_EQ(values(*out)[0], 1);
  EXPECT_GE(radii(*out)[0], 99 * 0x1p-10);  // the steeper side
  EXPECT_LE(radii(*out)[0], 1);
}

// A weight of 1/4 is 2^13 of 2^15. Half way between 10 and 21 the sum is rounded up.
TEST(UpsampleLinear, ResizesBytesByWholeWeights) {
  const TensorRef out = run_tensor("aten.upsample_bilinear2d.default",
                                   {{"self", {tensor(DType::kUInt8, {1, 1, 1, 2}, {10, 21})}},
                                    {"output_size", ints({1, 3})},
                                    {"align_corners", {true}}});
  EXPECT_EQ(values(*out), (Numbers{10, 16, 21}));
  EXPECT_EQ(out->dtype, DType::kUInt8);
  const TensorRef cubic =
      run_tensor("aten.upsample_bicubic2d.default",
                 {{"self", {tensor(DType::kUInt8, {1, 1, 1, 4}, {0, 255, 255, 0})}},
                  {"output_size", ints({1, 8})},
                  {"align_corners", {false}}});
  EXPECT_EQ(values(*cubic)[3], 255);  // it would overshoot
}

TEST(UpsampleNearest, DecidesInSinglePrecision) {
  const TensorRef out =
      run_tensor("aten.upsample_nearest2d.default",
                 {{"self", {counting({1, 1, 1, 3})}}, {"output_size", ints({1, 7})}});
  EXPECT_EQ(values(*out), (Numbers{0, 0, 0, 1, 1, 2, 2}));
}

// Every second output takes a new pixel when the scale of 2 counts, though no size changes. In two
// dimensions it counts for large results that are not channels-last, in three unless a result is
// channels-last with more than three channels.
TEST(UpsampleNearest, FollowsAScaleThatContradictsTheSizesWherePyTorchDoes) {
  const auto upsampled = [](const char* op, const TensorRef& x, const Datum& size) {
    const Arguments given = {{"self", {x}},       {"output_size", size}, {"scales", {2.0}},
                             {"scales_d", {2.0}}, {"scales_h", {2.0}},   {"scales_w", {2.0}}};
    return values(*run_tensor(op, given));
  };
  const auto row = [&](const Sizes& sizes, const Sizes& strides = {}) {
    return view_of(*counting({200}), sizes,
                   strides.empty() ? spec::contiguous_strides(sizes) : strides, 0);
  };
  EXPECT_EQ(upsampled("aten.upsample_nearest1d.default", row({1, 1, 3}), ints({3})),
            (Numbers{0, 0, 1}));
  EXPECT_EQ(upsampled("aten.upsample_nearest2d.default", row({1, 1, 1, 3}), ints({1, 3})),
            (Numbers{0, 1, 2}));
  const Numbers wide =
      upsampled("aten.upsample_nearest2d.default", row({1, 1, 1, 128}), ints({1, 128}));
  EXPECT_EQ(wide[127], 63);
  EXPECT_EQ(upsampled("aten.upsample_nearest3d.default", row({1, 1, 1, 1, 3}), ints({1, 1, 3})),
            (Numbers{0, 0, 1}));
  const TensorRef channels_last = row({1, 4, 1, 1, 3}, {12, 1, 12, 12, 4});
  const Numbers kept = upsampled("aten.upsample_nearest3d.default", channels_last, ints({1, 1, 3}));
  EXPECT_EQ(kept, values(*channels_last));
}

TEST(UpsampleLinear, CopiesAlongADimensionWhoseSizeStays) {
  const TensorRef x = tensor(DType::kFloat32, {1, 1, 2, 3}, {0, 4, 8, 2, 6, 10});
  const Arguments given = {{"self", {x}},
                           {"output_size", ints({4, 3})},
                           {"align_corners", {false}},
                           {"scales_h", {2.0}},
                           {"scales_w", {2.0}}};
  EXPECT_EQ(values(*run_tensor("aten.upsample_bilinear2d.default", given)),
            (Numbers{0, 4, 8, 0.5, 4.5, 8.5, 1.5, 5.5, 9.5, 2, 6, 10}));
}

TEST(UpsampleLinear, OfASizeThatStaysKeepsAnInfinityToItself) {
  const TensorRef x = tensor(DType::kFloat32, {1, 1, 3}, {1, HUGE_VAL, 2});
  const Arguments given = {{"self", {x}}, {"output_size", ints({3})}, {"align_corners", {false}}};
  const Numbers out = values(*run_tensor("aten.upsample_linear1d.default", given));
  EXPECT_EQ(out[0], 1);
  EXPECT_TRUE(std::isnan(out[1]));
  EXPECT_EQ(out[2], 2);
}

// Of these two a quarter and three quarters are exact, and so is their sum; three quarters of their
// difference are not.
TEST(UpsampleLinear, CoversWhatDifferencesRoundTo) {
  const double a = 0x1.5cd8abe47d14ep+0;
  const double b = -0x1.07323993d0780p-2;
  const TensorRef x = tensor(DType::kFloat64, {1, 1, 8}, {0, a, b, 0, 0, 0, 0, 0});
  const Arguments given = {{"self", {x}}, {"output_size", ints({5})}, {"align_corners", {true}}};
  const char* const op = "aten.upsample_linear1d.default";
  EXPECT_EQ(values(*run_tensor(op, given))[1], 0x1.2ee6016b4175cp-3);
  const double radius = test::radii(*run_tensor(op, given, Mode::kWorstCase))[1];
  EXPECT_GE(radius, 0x1p-53) << "compiled code gives 0x1.2ee6016b4176p-3";
  EXPECT_LE(radius, 0x1p-51);
}

TEST(UpsampleBilinear, RepeatsTheBorder) {
  const TensorRef out = run_tensor("aten.upsample_bilinear2d.default",
                                   {{"self", {tensor(DType::kFloat32, {1, 1, 1, 2}, {0, 4})}},
                                    {"output_size", ints({1, 4})},
                                    {"align_corners", {false}}});
  EXPECT_EQ(values(*out), (Numbers{0, 1, 3, 4}));
}

// A weight of 511/512, which bfloat16 takes for 1. The kernel over whole pixels (here for the sake
// of four channels-last channels) keeps it, the one that takes a dimension at a time does not.
TEST(UpsampleBilinear, RoundsWeightsOfLargeResultsThatAreNotChannelsLast) {
  const auto second = [](const TensorRef& x) {
    const Arguments given = {
        {"self", {x}}, {"output_size", ints({1, 513})}, {"align_corners", {true}}};
    return values(*run_tensor("aten.upsample_bilinear2d.default", given))[1];
  };
  const TensorRef x = tensor(DType::kBFloat16, {1, 4, 1, 2}, {-1, 1, -1, 1, -1, 1, -1, 1});
  EXPECT_EQ(second(x), -1);
  const TensorRef channels_last = copy_of(*x, {8, 1, 8, 4});
  EXPECT_EQ(second(channels_last), -1 + 2.0 / 512);
}

TEST(UpsampleBilinear, KeepsChannelsLast) {
  const TensorRef self =
      tensor(DType::kFloat32, {1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}, {8, 1, 4, 2});
  const TensorRef out =
      run_tensor("aten.upsample_bilinear2d.default",
                 {{"self", {self}}, {"output_size", ints({3, 3})}, {"align_corners", {true}}});
  EXPECT_EQ(out->strides, (Sizes{18, 1, 6, 2}));
}

// Of the pixels of a row, the first is read with weight 1, the second with weight 0: some executors
// read it and some do not. Half of an infinity is one for all.
TEST(UpsampleLinear, LeavesOpenWhatAWeightOfZeroHides) {
  const auto upsampled = [](const Numbers& pixels) {
    const Arguments given = {{"self", {tensor(DType::kFloat32, {1, 1, 3}, pixels)}},
                             {"output_size", ints({5})},
                             {"align_corners", {true}}};
    return run_tensor("aten.upsample_linear1d.default", given, Mode::kWorstCase);
  };
  const TensorRef hidden = upsampled({1, HUGE_VAL, 2});
  EXPECT_TRUE(std::isinf(radii(*hidden)[0]));
  EXPECT_TRUE(std::isinf(values(*hidden)[1]));
  EXPECT_EQ(radii(*hidden)[1], 0);
  EXPECT_EQ(radii(*upsampled({1, 5, 2}))[0], 0);
}

TEST(GridSampler, LeavesOpenANearestPixelThatMayLieOutside) {
  const TensorRef grid = tensor(DType::kFloat32, {1, 1, 1, 2}, {-1, 0});
  Array<Bounded> coordinates = load<Bounded>(*grid, DType::kFloat32);
  coordinates[0] = Bounded(-1.4L, 0.2, coordinates[0].arithmetic);  // pixel -0.7, or -0.3
  store(*grid, coordinates);
  const TensorRef out =
      run_tensor("aten.grid_sampler_2d.default",
                 {{"input", {tensor(DType::kFloat32, {1, 1, 1, 4}, {7, 1, 2, 3})}},
                  {"grid", {grid}},
                  {"interpolation_mode", {std::int64_t{1}}},
                  {"padding_mode", {std::int64_t{0}}},
                  {"align_corners", {true}}},
                 Mode::kWorstCase);
  EXPECT_TRUE(std::isinf(radii(*out)[0]));
}

TEST(GridSampler, LeavesOpenAtInfinityWhatKernelsReadEitherWay) {
  const auto sampled = [](std::int64_t interpolation, std::int64_t padding) {
    return run_tensor("aten.grid_sampler_2d.default",
                      {{"input", {tensor(DType::kFloat32, {1, 1, 1, 4}, {7, 1, 2, 3})}},
                       {"grid", {tensor(DType::kFloat32, {1, 1, 1, 2}, {HUGE_VAL, 0})}},
                       {"interpolation_mode", {interpolation}},
                       {"padding_mode", {padding}},
                       {"align_corners", {true}}},
                      Mode::kWorstCase);
  };
  EXPECT_TRUE(std::isinf(radii(*sampled(0, 0))[0]));
  EXPECT_TRUE(std::isinf(radii(*sampled(0, 2))[0]));
  EXPECT_TRUE(std::isinf(radii(*sampled(1, 2))[0]));
  EXPECT_EQ(radii(*sampled(0, 1))[0], 0);
  EXPECT_EQ(values(*sampled(0, 1))[0], 3);
  EXPECT_EQ(radii(*sampled(1, 0))[0], 0);
  EXPECT_EQ(values(*sampled(1, 0))[0], 0);
  EXPECT_TRUE(std::isnan(values(*sampled(2, 0))[0]));
}

}  // namespace
}  // namespace graphgate::reference::test
