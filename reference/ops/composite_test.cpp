#include <cmath>

#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

TensorRef vector_of(const Numbers& numbers, DType dtype = DType::kFloat32) {
  return tensor(dtype, {static_cast<std::int64_t>(numbers.size())}, numbers);
}

Datum list_of_numbers(const Numbers& numbers) {
  Datum::List out;
  for (const double number : numbers) out.push_back({number});
  return {out};
}

// The elements of the list of tensors that is an op's first result.
std::vector<Numbers> lists(std::string_view op, const Arguments& arguments) {
  std::vector<Numbers> out;
  const std::vector<Datum> results = run(op, arguments);
  for (const Datum& element : *results.front().as<Datum::List>()) {
    out.push_back(values(**element.as<TensorRef>()));
  }
  return out;
}

TEST(Quantile, InterpolatesBetweenSortedNumbers) {
  const Datum self = {vector_of({4, 1, 3, 2})};
  const auto at = [&](double q, const std::string& rule) {
    return values(*run_tensor("aten.quantile.scalar",
                              {{"self", self}, {"q", {q}}, {"interpolation", {rule}}}));
  };
  EXPECT_EQ(at(0.5, "linear"), Numbers{2.5});
  EXPECT_EQ(at(0.25, "linear"), Numbers{1.75});
  EXPECT_EQ(at(0.25, "lower"), Numbers{1});
  EXPECT_EQ(at(0.25, "higher"), Numbers{2});
  EXPECT_EQ(at(0.25, "midpoint"), Numbers{1.5});
  EXPECT_EQ(at(0.5, "nearest"), Numbers{3});  // place 1.5 rounds to the even 2
  EXPECT_THROW(at(0.5, "cubic"), OpError);
  for (const double outside : {-0.1, 1.5, kNan}) EXPECT_THROW(at(outside, "linear"), OpError);
}

// Of a tensor of shares PyTorch asks the same on a CPU, and nothing on a GPU.
TEST(Quantile, RefusesSharesThatAreNone) {
  const auto run_with = [](double share) {
    return run("aten.quantile.default", {{"self", {vector_of({4, 1, 3, 2})}},
                                         {"q", {vector_of({0.5, share})}},
                                         {"dim", {}},
                                         {"keepdim", {false}},
                                         {"interpolation", {std::string("lower")}}});
  };
  EXPECT_NO_THROW(run_with(1));
  EXPECT_THROW(run_with(1.125), OpError);
  EXPECT_THROW(run_with(-0.25), OpError);
  EXPECT_THROW(run_with(std::nan("")), OpError);
  Arithmetic arithmetic;
  arithmetic.has_cuda_kernels = true;
  const DeclaredArithmetic declared(arithmetic);
  EXPECT_NO_THROW(run_with(1.125));
}

TEST(Quantile, GivesNanForARowThatHoldsOneOrLeavesItOut) {
  const Arguments arguments = {{"self", {tensor(DType::kFloat32, {2, 3}, {1, kNan, 5, 1, 2, 6})}},
                               {"q", {vector_of({0, 0.5})}},
                               {"dim", {1L}}};
  const Numbers all = values(*run_tensor("aten.quantile.default", arguments));
  EXPECT_TRUE(std::isnan(all[0]) && std::isnan(all[2]));
  EXPECT_EQ(all[1], 1);
  EXPECT_EQ(all[3], 2);
  EXPECT_EQ(values(*run_tensor("aten.nanquantile.default", arguments)), (Numbers{1, 1, 3, 2}));
}

TEST(Gradient, TakesDifferencesOverStepsAndPlaces) {
  const Datum self = {vector_of({1, 2, 4, 8})};
  EXPECT_EQ(lists("aten.gradient.scalarint", {{"self", self}}).front(), (Numbers{1, 1.5, 3, 4}));
  EXPECT_EQ(lists("aten.gradient.scalarint", {{"self", self}, {"spacing", {2L}}}).front(),
            (Numbers{0.5, 0.75, 1.5, 2}));
  // (-3 * 1 + 4 * 2 - 4) / 2 and (3 * 8 - 4 * 4 + 2) / 2 at the ends.
  EXPECT_EQ(lists("aten.gradient.scalarint", {{"self", self}, {"edge_order", {2L}}}).front(),
            (Numbers{0.5, 1.5, 3, 5}));
  // Of x * x at 0, 1, 3: exact inside and with order 2 at the ends.
  const Arguments placed = {{"self", {vector_of({0, 1, 9})}},
                            {"spacing", list_of({vector_of({0, 1, 3})})},
                            {"edge_order", {2L}}};
  const Numbers slopes = lists("aten.gradient.tensorarrayint", placed).front();
  EXPECT_NEAR(slopes[0], 0, 1e-6);
  EXPECT_NEAR(slopes[1], 2, 1e-6);
  EXPECT_NEAR(slopes[2], 6, 1e-6);
  EXPECT_THROW(run("aten.gradient.scalarint", {{"self", {vector_of({1})}}}), OpError);
  EXPECT_THROW(
      run("aten.gradient.scalarrayint", {{"self", self}, {"spacing", list_of_numbers({1, 2})}}),
      OpError);
}

TEST(Covariance, WeighsObservations) {
  const Datum self = {tensor(DType::kFloat64, {2, 3}, {1, 2, 3, 2, 4, 6})};
  EXPECT_EQ(values(*run_tensor("aten.cov.default", {{"self", self}})), (Numbers{1, 2, 2, 4}));
  // The second observation counts twice: means 2 and 4, sums of squares 2, 4 and 8 over 4.
  const auto weighted = run_tensor(
      "aten.cov.default",
      {{"self", self}, {"correction", {0L}}, {"fweights", {vector_of({1, 2, 1}, DType::kInt64)}}});
  EXPECT_EQ(values(*weighted), (Numbers{0.5, 1, 1, 2}));
  EXPECT_EQ(values(*run_tensor("aten.corrcoef.default", {{"self", self}})), (Numbers{1, 1, 1, 1}));
}

TEST(Trapezoid, AddsUpAreas) {
  const Datum y = {vector_of({1, 3, 7})};
  EXPECT_EQ(values(*run_tensor("aten.cumulative_trapezoid.dx", {{"y", y}})), (Numbers{2, 7}));
  EXPECT_EQ(
      values(*run_tensor("aten.cumulative_trapezoid.x", {{"y", y}, {"x", {vector_of({0, 1, 3})}}})),
      (Numbers{2, 12}));
}

TEST(Combinations, ComeInLexicographicOrder) {
  const Datum self = {vector_of({7, 8, 9})};
  EXPECT_EQ(values(*run_tensor("aten.combinations.default", {{"self", self}})),
            (Numbers{7, 8, 7, 9, 8, 9}));
  const auto repeated = run_tensor("aten.combinations.default",
                                   {{"self", self}, {"r", {1L}}, {"with_replacement", {true}}});
  EXPECT_EQ(repeated->sizes, (Sizes{3, 1}));
  EXPECT_EQ(run_tensor("aten.combinations.default", {{"self", self}, {"r", {4L}}})->sizes,
            (Sizes{0, 4}));
}

TEST(FillDiagonal, WrapsInATallMatrix) {
  const TensorRef self = tensor(DType::kFloat32, {5, 2}, Numbers(10, 0));
  run("aten.fill_diagonal_.default", {{"self", {self}}, {"fill_value", {1L}}, {"wrap", {true}}});
  EXPECT_EQ(values(*self), (Numbers{1, 0, 0, 1, 0, 0, 1, 0, 0, 1}));
  const TensorRef plain = tensor(DType::kFloat32, {5, 2}, Numbers(10, 0));
  run("aten.fill_diagonal_.default", {{"self", {plain}}, {"fill_value", {1L}}});
  EXPECT_EQ(values(*plain), (Numbers{1, 0, 0, 1, 0, 0, 0, 0, 0, 0}));
}

TEST(PadSequence, FillsUpAtEitherEnd) {
  const Datum sequences = list_of({vector_of({1, 2, 3}), vector_of({4})});
  EXPECT_EQ(values(*run_tensor("aten.pad_sequence.default",
                               {{"sequences", sequences}, {"batch_first", {true}}})),
            (Numbers{1, 2, 3, 4, 0, 0}));
  const auto left =
      run_tensor("aten.pad_sequence.default", {{"sequences", sequences},
                                               {"padding_value", {9.0}},
                                               {"padding_side", {std::string("left")}}});
  EXPECT_EQ(left->sizes, (Sizes{3, 2}));
  EXPECT_EQ(values(*left), (Numbers{1, 9, 2, 9, 3, 4}));
}

TEST(MatrixPower, SquaresAndInverts) {
  const Datum self = {tensor(DType::kFloat64, {2, 2}, {1, 1, 0, 1})};
  const auto power = [&](std::int64_t n) {
    return values(*run_tensor("aten.linalg_matrix_power.default", {{"self", self}, {"n", {n}}}));
  };
  EXPECT_EQ(power(0), (Numbers{1, 0, 0, 1}));
  EXPECT_EQ(power(6), (Numbers{1, 6, 0, 1}));
  EXPECT_EQ(power(-2), (Numbers{1, -2, 0, 1}));
}

TEST(MultiDot, MultipliesFromEitherEnd) {
  const auto out = run_tensor(
      "aten.linalg_multi_dot.default",
      {{"tensors", list_of({vector_of({1, 2}), tensor(DType::kFloat32, {2, 2}, {1, 2, 3, 4}),
                            vector_of({1, 1})})}});
  EXPECT_EQ(out->sizes, Sizes{});
  EXPECT_EQ(values(*out), Numbers{17});
}

TEST(MatrixNorm, TakesSingularValues) {
  const Datum self = {tensor(DType::kFloat64, {2, 2}, {3, 0, 0, -4})};
  const auto norm = [&](const Datum& order, const std::string& overload) {
    return values(
        *run_tensor("aten.linalg_matrix_norm." + overload, {{"self", self}, {"ord", order}}));
  };
  EXPECT_NEAR(norm({2L}, "default")[0], 4, 1e-12);
  EXPECT_NEAR(norm({-2L}, "default")[0], 3, 1e-12);
  EXPECT_NEAR(norm({std::string("nuc")}, "str_ord")[0], 7, 1e-12);
  EXPECT_NEAR(values(*run_tensor("aten.linalg_cond.default", {{"self", self}}))[0], 4.0 / 3, 1e-12);
  EXPECT_EQ(
      values(*run_tensor("aten.linalg_matrix_rank.default", {{"self", self}, {"tol", {3.5}}})),
      Numbers{1});
}

TEST(Vander, HasPowersInEitherOrder) {
  const Datum x = {vector_of({2, 3})};
  EXPECT_EQ(values(*run_tensor("aten.linalg_vander.default", {{"x", x}, {"N", {3L}}})),
            (Numbers{1, 2, 4, 1, 3, 9}));
  EXPECT_EQ(values(*run_tensor("aten.vander.default", {{"x", x}, {"N", {3L}}})),
            (Numbers{4, 2, 1, 9, 3, 1}));
}

TEST(Window, IsPeriodicOrSymmetric) {
  EXPECT_EQ(values(*run_tensor("aten.bartlett_window.default", {{"window_length", {4L}}})),
            (Numbers{0, 0.5, 1, 0.5}));
  EXPECT_EQ(values(*run_tensor("aten.bartlett_window.periodic",
                               {{"window_length", {3L}}, {"periodic", {false}}})),
            (Numbers{0, 1, 0}));
  EXPECT_EQ(values(*run_tensor("aten.kaiser_window.default", {{"window_length", {1L}}})),
            Numbers{1});
}

TEST(FakeQuantize, RoundsAndClampsToTheRange) {
  const std::vector<Datum> both = run("aten.fake_quantize_per_tensor_affine_cachemask.default",
                                      {{"self", {vector_of({0.6, -0.6, 2.75, 100})}},
                                       {"scale", {0.5}},
                                       {"zero_point", {1L}},
                                       {"quant_min", {0L}},
                                       {"quant_max", {7L}}});
  EXPECT_EQ(values(result(both, 0)), (Numbers{0.5, -0.5, 3, 3}));
  EXPECT_EQ(values(result(both, 1)), (Numbers{1, 1, 1, 0}));
}

TEST(BatchNormFunctional, LeavesRunningStatisticsAlone) {
  const TensorRef mean = vector_of({1});
  const TensorRef variance = vector_of({2});
  const std::vector<Datum> all = run("aten._native_batch_norm_legit_functional.default",
                                     {{"input", {tensor(DType::kFloat32, {2, 1}, {3, 5})}},
                                      {"weight", {}},
                                      {"bias", {}},
                                      {"running_mean", {mean}},
                                      {"running_var", {variance}},
                                      {"training", {true}},
                                      {"momentum", {0.5}},
                                      {"eps", {0.0}}});
  EXPECT_EQ(values(result(all, 0)), (Numbers{-1, 1}));
  EXPECT_EQ(values(result(all, 3)), Numbers{2.5});
  EXPECT_EQ(values(result(all, 4)), Numbers{2});
  EXPECT_EQ(values(*mean), Numbers{1});
  EXPECT_EQ(values(*variance), Numbers{2});
}

// Weights of zero leave all gates half open, and candidates at zero.
TEST(RecurrentCell, HalvesItsStateUnderZeroWeights) {
  const auto zeros = [](std::int64_t rows) {
    return Datum{tensor(DType::kFloat32, {rows, 1}, Numbers(static_cast<std::size_t>(rows), 0))};
  };
  const Datum input = {tensor(DType::kFloat32, {1, 1}, {3})};
  const TensorRef state = tensor(DType::kFloat32, {1, 1}, {4});
  const auto gru =
      run_tensor("aten.gru_cell.default",
                 {{"input", input}, {"hx", {state}}, {"w_ih", zeros(3)}, {"w_hh", zeros(3)}});
  EXPECT_EQ(values(*gru), Numbers{2});
  const std::vector<Datum> lstm = run(
      "aten.lstm_cell.default",
      {{"input", input}, {"hx", list_of({state, state})}, {"w_ih", zeros(4)}, {"w_hh", zeros(4)}});
  EXPECT_NEAR(values(result(lstm, 0))[0], std::tanh(2) / 2, 1e-6);
  EXPECT_EQ(values(result(lstm, 1)), Numbers{2});
}

// h = relu(x + h) over 1, 2, -9, forwards and backwards.
TEST(RecurrentLayer, RunsInBothDirections) {
  const Datum one = {tensor(DType::kFloat32, {1, 1}, {1})};
  Datum::List weights(4, one);
  const std::vector<Datum> all =
      run("aten.rnn_relu.input", {{"input", {tensor(DType::kFloat32, {3, 1, 1}, {1, 2, -9})}},
                                  {"hx", {tensor(DType::kFloat32, {2, 1, 1}, {0, 10})}},
                                  {"params", {weights}},
                                  {"has_biases", {false}},
                                  {"num_layers", {1L}},
                                  {"dropout", {0.0}},
                                  {"train", {false}},
                                  {"bidirectional", {true}},
                                  {"batch_first", {false}}});
  EXPECT_EQ(values(result(all, 0)), (Numbers{1, 4, 3, 3, 0, 1}));
  EXPECT_EQ(values(result(all, 1)), (Numbers{0, 4}));
}

// h = relu(x + h) over 3, below another of the same whose input is 3 or nothing, and twice as much
// of what is kept.
TEST(RecurrentLayer, DropsBetweenLayersInTrainingAlone) {
  const Datum one = {tensor(DType::kFloat32, {1, 1}, {1})};
  Datum::List weights(4, one);
  const auto state = [&](bool trains, double dropout) {
    const std::vector<Datum> all =
        run("aten.rnn_relu.input", {{"input", {tensor(DType::kFloat32, {1, 1, 1}, {3})}},
                                    {"hx", {tensor(DType::kFloat32, {2, 1, 1}, {0, 0})}},
                                    {"params", {weights}},
                                    {"has_biases", {false}},
                                    {"num_layers", {2L}},
                                    {"dropout", {dropout}},
                                    {"train", {trains}},
                                    {"bidirectional", {false}},
                                    {"batch_first", {false}}});
    return values(result(all, 1));
  };
  EXPECT_EQ(state(false, 0.5), (Numbers{3, 3}));
  EXPECT_EQ(state(true, 0), (Numbers{3, 3}));
  EXPECT_EQ(state(true, 1), (Numbers{3, 0}));
  const double second = state(true, 0.5)[1];
  EXPECT_TRUE(second == 0 || second == 6) << second;
}

}  // namespace
}  // namespace graphgate::reference::test
