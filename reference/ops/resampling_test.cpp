#include <cmath>

#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

using Numbers = std::vector<double>;

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

TEST(UpsampleNearest, DecidesInSinglePrecision) {
  const TensorRef out =
      run_tensor("aten.upsample_nearest2d.default",
                 {{"self", {counting({1, 1, 1, 3})}}, {"output_size", ints({1, 7})}});
  EXPECT_EQ(values(*out), (Numbers{0, 0, 0, 1, 1, 2, 2}));
}

TEST(UpsampleBilinear, RepeatsTheBorder) {
  const TensorRef out = run_tensor("aten.upsample_bilinear2d.default",
                                   {{"self", {tensor(DType::kFloat32, {1, 1, 1, 2}, {0, 4})}},
                                    {"output_size", ints({1, 4})},
                                    {"align_corners", {false}}});
  EXPECT_EQ(values(*out), (Numbers{0, 1, 3, 4}));
}

TEST(UpsampleBilinear, KeepsChannelsLast) {
  const TensorRef self =
      tensor(DType::kFloat32, {1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}, {8, 1, 4, 2});
  const TensorRef out =
      run_tensor("aten.upsample_bilinear2d.default",
                 {{"self", {self}}, {"output_size", ints({3, 3})}, {"align_corners", {true}}});
  EXPECT_EQ(out->strides, (Sizes{18, 1, 6, 2}));
}

}  // namespace
}  // namespace graphgate::reference::test
