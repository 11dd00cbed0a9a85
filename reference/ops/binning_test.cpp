#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

Datum reals(std::initializer_list<double> list) {
  Datum::List out;
  for (const double x : list) out.push_back({x});
  return {out};
}

TEST(Histogram, CountsTheUpperEdgeInTheLastBin) {
  const auto x = tensor(DType::kFloat32, {6}, {0, 0.5, 1, 1, 2, 3});
  const auto out =
      run("aten.histogram.bin_ct", {{"self", {x}}, {"bins", {4L}}, {"range", reals({0, 2})}});
  EXPECT_EQ(values(result(out, 0)), (Numbers{1, 1, 2, 1}));
  EXPECT_EQ(values(result(out, 1)), (Numbers{0, 0.5, 1, 1.5, 2}));
}

TEST(Histogram, DividesADensityBySumAndWidth) {
  const auto x = tensor(DType::kFloat32, {3}, {0, 1, 2});
  const auto out =
      run("aten.histogram.bins_tensor", {{"self", {x}},
                                         {"bins", {tensor(DType::kFloat32, {3}, {0, 1, 3})}},
                                         {"weight", {tensor(DType::kFloat32, {3}, {2, 1, 1})}},
                                         {"density", {true}}});
  EXPECT_EQ(values(result(out, 0)), (Numbers{0.5, 0.25}));
  EXPECT_EQ(values(result(out, 1)), (Numbers{0, 1, 3}));
}

TEST(Histogram, WidensTheRangeOfEqualNumbersByAHalf) {
  const auto out = run("aten.histogram.bin_ct",
                       {{"self", {tensor(DType::kFloat32, {3}, {1, 1, 1})}}, {"bins", {2L}}});
  EXPECT_EQ(values(result(out, 0)), (Numbers{0, 3}));
  EXPECT_EQ(values(result(out, 1)), (Numbers{0.5, 1, 1.5}));
}

TEST(Histogram, CountsPointsOfTwoDimensions) {
  const auto points = tensor(DType::kFloat32, {3, 2}, {0, 0, 1, 1, 5, 1});
  const auto out = run_tensor("aten._histogramdd_from_bin_tensors.default",
                              {{"self", {points}},
                               {"bins", list_of({tensor(DType::kFloat32, {3}, {0, 1, 2}),
                                                 tensor(DType::kFloat32, {2}, {0, 2})})}});
  EXPECT_EQ(out->sizes, (Sizes{2, 1}));
  EXPECT_EQ(values(*out), (Numbers{1, 1}));
}

TEST(Histogram, LeavesOpenWhereARoundedNumberMayCount) {
  // On the edge, known within a half.
  TensorRef x = tensor(DType::kFloat32, {1}, {1});
  add_marks(*x);
  x->storage->marks[0] = {1, 0.5};
  const auto out = run("aten.histogram.bin_ct",
                       {{"self", {x}}, {"bins", {2L}}, {"range", reals({0, 2})}}, Mode::kWorstCase);
  EXPECT_NEAR(radii(result(out, 0))[0], 1, 1e-6);
  EXPECT_NEAR(radii(result(out, 0))[1], 1, 1e-6);
}

}  // namespace
}  // namespace graphgate::reference::test
