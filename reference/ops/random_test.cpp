// What is known of random draws, and what is open: ranges, shapes, and results computed of them.
#include <algorithm>
#include <cmath>

#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

Datum sizes_of(std::initializer_list<std::int64_t> list) { return ints(list); }

// The marks of a result: the numbers that it may lie between, of each element.
struct Ends {
  long double least = 0;
  long double greatest = 0;
};
Ends ends_of(const Tensor& tensor, std::size_t i = 0) {
  const Mark mark = marks_of(tensor)[i];
  return {mark.value - mark.radius, mark.value + mark.radius};
}

TEST(Random, RandLiesInTheUnitIntervalWithoutItsEnd) {
  const Arguments arguments = {{"size", sizes_of({100})}};
  const TensorRef drawn = run_tensor("aten.rand.default", arguments);
  EXPECT_EQ(drawn->dtype, DType::kFloat32);
  for (const double x : values(*drawn)) EXPECT_TRUE(x >= 0 && x < 1) << x;
  const TensorRef known = run_tensor("aten.rand.default", arguments, Mode::kWorstCase);
  EXPECT_EQ(ends_of(*known).least, 0);
  EXPECT_LT(ends_of(*known).greatest, 1);
  EXPECT_GT(ends_of(*known).greatest, 1 - 0x1p-22);
  // A draw in float32 may round to 1.
  const TensorRef narrow =
      run_tensor("aten.rand.default", {{"size", sizes_of({2})}, {"dtype", {DType::kBFloat16}}},
                 Mode::kWorstCase);
  EXPECT_GE(ends_of(*narrow).greatest, 1);
}

TEST(Random, IsOpenToTheEstimate) {
  for (const auto& [op, arguments] : {
           std::pair("aten.rand.default", Arguments{{"size", sizes_of({3})}}),
           std::pair("aten.randn.default", Arguments{{"size", sizes_of({3})}}),
           std::pair("aten.randint.default",
                     Arguments{{"size", sizes_of({3})}, {"high", {std::int64_t{5}}}}),
           std::pair("aten.randperm.default", Arguments{{"n", {std::int64_t{3}}}}),
       }) {
    const TensorRef drawn = run_tensor(op, arguments, Mode::kSampled);
    for (const Mark& mark : marks_of(*drawn)) EXPECT_TRUE(std::isinf(mark.radius)) << op;
  }
}

TEST(Random, RandintHasBothEndsAndNoFraction) {
  const auto drawn = [&](DType dtype, Mode mode) {
    return run_tensor("aten.randint.low",
                      {{"low", {std::int64_t{-2}}},
                       {"high", {std::int64_t{3}}},
                       {"size", sizes_of({200})},
                       {"dtype", {dtype}}},
                      mode);
  };
  for (const DType dtype : {DType::kInt64, DType::kInt8, DType::kFloat32}) {
    Numbers numbers = values(*drawn(dtype, Mode::kEager));
    std::ranges::sort(numbers);
    const auto rest = std::ranges::unique(numbers);
    numbers.erase(rest.begin(), rest.end());
    EXPECT_EQ(numbers, (Numbers{-2, -1, 0, 1, 2}));
    const Ends ends = ends_of(*drawn(dtype, Mode::kWorstCase));
    EXPECT_EQ(ends.least, -2);
    EXPECT_EQ(ends.greatest, 2);
  }
  const auto refused = [](std::int64_t low, std::int64_t high, DType dtype) {
    EXPECT_THROW(run("aten.randint.low",
                     {{"low", {low}}, {"high", {high}}, {"size", ints({2})}, {"dtype", {dtype}}}),
                 OpError)
        << low << " " << high;
  };
  refused(3, 3, DType::kInt64);
  refused(-1, 3, DType::kUInt8);
  refused(0, 129, DType::kInt8);
  refused(0, 3, DType::kBool);
  refused(0, 70'000, DType::kFloat16);
}

TEST(Random, RandpermIsAPermutation) {
  for (const std::int64_t n : {0, 1, 5, 64}) {
    Numbers numbers = values(*run_tensor("aten.randperm.default", {{"n", {n}}}));
    std::ranges::sort(numbers);
    for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(numbers[static_cast<std::size_t>(i)], i);
  }
  EXPECT_THROW(run("aten.randperm.default", {{"n", {std::int64_t{-1}}}}), OpError);
  EXPECT_THROW(
      run("aten.randperm.default", {{"n", {std::int64_t{300}}}, {"dtype", {DType::kInt8}}}),
      OpError);
}

TEST(Random, CoinsOfCertainChancesAreKnown) {
  const TensorRef chances = tensor(DType::kFloat32, {3}, {0, 0.5, 1});
  const TensorRef coins = run_tensor("aten.bernoulli.default", {{"self", {chances}}});
  EXPECT_EQ(values(*coins)[0], 0);
  EXPECT_EQ(values(*coins)[2], 1);
  const TensorRef known =
      run_tensor("aten.bernoulli.default", {{"self", {chances}}}, Mode::kWorstCase);
  EXPECT_EQ(radii(*known), (Numbers{0, 0.5, 0}));
  const TensorRef none = tensor(DType::kFloat32, {2}, {-0.5, 0});
  EXPECT_THROW(run("aten.bernoulli.default", {{"self", {none}}}), OpError);
  EXPECT_THROW(run("aten.bernoulli_.float", {{"self", {none}}, {"p", {1.5}}}), OpError);
  const TensorRef whole = tensor(DType::kInt64, {2}, {7, 7});
  EXPECT_EQ(values(*run_tensor("aten.bernoulli_.float", {{"self", {whole}}, {"p", {1.0}}})),
            (Numbers{1, 1}));
}

TEST(Random, InPlaceFormsKeepTheTensor) {
  const TensorRef x = tensor(DType::kFloat32, {2, 3}, Numbers(6, 9), {1, 2});
  const TensorRef drawn =
      run_tensor("aten.uniform_.default", {{"self", {x}}, {"from", {2.0}}, {"to", {3.0}}});
  EXPECT_EQ(drawn, x);
  for (const double number : values(*x)) EXPECT_TRUE(number >= 2 && number <= 3) << number;
  const Ends ends = ends_of(*run_tensor(
      "aten.uniform_.default", {{"self", {x}}, {"from", {2.0}}, {"to", {3.0}}}, Mode::kWorstCase));
  EXPECT_LE(ends.least, 2);
  EXPECT_GT(ends.least, 1.999);
  EXPECT_GE(ends.greatest, 3);
  EXPECT_LT(ends.greatest, 3.001);
  EXPECT_THROW(run("aten.uniform_.default", {{"self", {x}}, {"from", {1.0}}, {"to", {0.0}}}),
               OpError);
  const TensorRef whole = tensor(DType::kInt64, {2}, {7, 7});
  EXPECT_THROW(run("aten.uniform_.default", {{"self", {whole}}}), OpError);
}

TEST(Random, DropoutOutOfTrainingIsItsArgument) {
  const TensorRef x = tensor(DType::kFloat32, {2}, {1, 2});
  const auto dropped = [&](double p, bool train) {
    return run_tensor("aten.dropout.default", {{"input", {x}}, {"p", {p}}, {"train", {train}}});
  };
  EXPECT_EQ(dropped(0.5, false), x);
  EXPECT_EQ(dropped(0, true), x);
  EXPECT_EQ(values(*dropped(1, true)), (Numbers{0, 0}));
}

TEST(Random, DropoutKeepsOrDropsEachElement) {
  const TensorRef x = tensor(DType::kFloat32, {40}, Numbers(40, 3));
  const Arguments arguments = {{"input", {x}}, {"p", {0.25}}, {"train", {true}}};
  for (const double number : values(*run_tensor("aten.dropout.default", arguments))) {
    EXPECT_TRUE(number == 0 || number == 4) << number;
  }
  const std::vector<Datum> both = run("aten.native_dropout.default", arguments);
  const Numbers out = values(result(both, 0));
  const Numbers mask = values(result(both, 1));
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], mask[i] * 4);
  const std::vector<Datum> known = run("aten.native_dropout.default", arguments, Mode::kWorstCase);
  const Ends ends = ends_of(result(known, 0));
  EXPECT_LE(ends.least, 0);
  EXPECT_GT(ends.least, -0x1p-20);
  EXPECT_GE(ends.greatest, 4);
  EXPECT_LT(ends.greatest, 4 + 0x1p-19);
  EXPECT_TRUE(std::isinf(marks_of(result(known, 1))[0].radius));
}

TEST(Random, RreluTakesASlopeForWhatIsNotAboveZero) {
  const TensorRef x = tensor(DType::kFloat32, {3}, {-4, 0, 2});
  const TensorRef noise = tensor(DType::kFloat32, {3}, {7, 7, 7});
  Arguments arguments = {
      {"self", {x}}, {"noise", {noise}}, {"lower", {0.25}}, {"upper", {0.5}}, {"training", {true}}};
  const TensorRef out = run_tensor("aten.rrelu_with_noise.default", arguments);
  const double slope = values(*noise)[0];
  EXPECT_TRUE(slope >= 0.25 && slope <= 0.5) << slope;
  EXPECT_EQ(values(*out)[0], -4 * slope);
  EXPECT_EQ(values(*out)[2], 2);
  EXPECT_EQ(values(*noise)[2], 1);
  const TensorRef known = run_tensor("aten.rrelu_with_noise.default", arguments, Mode::kWorstCase);
  EXPECT_NEAR(static_cast<double>(ends_of(*known, 0).least), -2, 1e-5);
  EXPECT_NEAR(static_cast<double>(ends_of(*known, 0).greatest), -1, 1e-5);
  EXPECT_EQ(radii(*known)[2], 0);
  arguments[4].second = {false};
  EXPECT_EQ(values(*run_tensor("aten.rrelu_with_noise.default", arguments))[0], -1.5);
}

TEST(Random, MultinomialChoosesByWeight) {
  const TensorRef weights = tensor(DType::kFloat32, {2, 3}, {0, 1, 0, 1, 1, 2});
  const auto chosen = [&](std::int64_t samples, bool replacement) {
    return values(*run_tensor(
        "aten.multinomial.default",
        {{"self", {weights}}, {"num_samples", {samples}}, {"replacement", {replacement}}}));
  };
  EXPECT_EQ(chosen(1, false)[0], 1);
  const Numbers all = chosen(3, false);
  for (const std::size_t row : {0U, 3U}) {
    Numbers of_row(all.begin() + static_cast<std::ptrdiff_t>(row),
                   all.begin() + static_cast<std::ptrdiff_t>(row + 3));
    std::ranges::sort(of_row);
    EXPECT_EQ(of_row, (Numbers{0, 1, 2}));
  }
  EXPECT_THROW(chosen(4, false), OpError);
  EXPECT_EQ(chosen(4, true)[0], 1);
  const TensorRef nothing = tensor(DType::kFloat32, {2}, {0, 0});
  EXPECT_THROW(
      run("aten.multinomial.default", {{"self", {nothing}}, {"num_samples", {std::int64_t{1}}}}),
      OpError);
}

TEST(Random, FeaturesAreDroppedTogether) {
  const TensorRef x = tensor(DType::kFloat32, {8, 4, 3}, Numbers(96, 3));
  const Arguments arguments = {{"input", {x}}, {"p", {0.25}}, {"train", {true}}};
  const Numbers out = values(*run_tensor("aten.feature_dropout.default", arguments));
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_TRUE(out[i] == 0 || out[i] == 4) << out[i];
    EXPECT_EQ(out[i], out[i / 3 * 3]);
  }
  const TensorRef row = tensor(DType::kFloat32, {3}, {1, 2, 3});
  EXPECT_THROW(
      run("aten.feature_dropout.default", {{"input", {row}}, {"p", {0.5}}, {"train", {true}}}),
      OpError);
}

// With p = 0.5 an element x stays a x + b or becomes b', where a = 1 / sqrt((1.7581^2 / 2 + 1) / 2)
// = 0.88641, b = a 1.7581 / 2 = 0.77919 and b' = -b.
TEST(Random, AlphaDropoutGoesToTheLimitOfSelu) {
  const TensorRef x = tensor(DType::kFloat32, {40}, Numbers(40, 3));
  const Arguments arguments = {{"input", {x}}, {"p", {0.5}}, {"train", {true}}};
  for (const char* op : {"aten.alpha_dropout.default", "aten.alpha_dropout_.default"}) {
    Arguments given = arguments;
    if (std::string_view(op).find("_.") != std::string_view::npos) given[0].first = "self";
    for (const double number : values(*run_tensor(op, given))) {
      EXPECT_TRUE(std::fabs(number + 0.7791939) < 1e-6 || std::fabs(number - 3.4384084) < 1e-6)
          << number;
    }
    x->storage = tensor(DType::kFloat32, {40}, Numbers(40, 3))->storage;
  }
  const Ends ends = ends_of(*run_tensor("aten.alpha_dropout.default", arguments, Mode::kWorstCase));
  EXPECT_NEAR(static_cast<double>(ends.least), -0.7791939, 1e-5);
  EXPECT_NEAR(static_cast<double>(ends.greatest), 3.4384084, 1e-5);
}

TEST(Random, CountsLieBetweenTheirEnds) {
  const TensorRef rates = tensor(DType::kFloat32, {3}, {0, 2, 1e6});
  const Numbers counts = values(*run_tensor("aten.poisson.default", {{"self", {rates}}}));
  EXPECT_EQ(counts[0], 0);
  EXPECT_EQ(counts[1], std::floor(counts[1]));
  EXPECT_NEAR(counts[2], 1e6, 1e4);
  const TensorRef known = run_tensor("aten.poisson.default", {{"self", {rates}}}, Mode::kWorstCase);
  EXPECT_EQ(radii(*known)[0], 0);
  EXPECT_EQ(ends_of(*known, 1).least, 0);
  EXPECT_THROW(run("aten.poisson.default", {{"self", {tensor(DType::kFloat32, {1}, {-1})}}}),
               OpError);
  const TensorRef tries = tensor(DType::kFloat64, {4}, {0, 7, 7, 7});
  const TensorRef chances = tensor(DType::kFloat64, {4}, {0.5, 0, 1, 0.5});
  const Arguments arguments = {{"count", {tries}}, {"prob", {chances}}};
  const Numbers successes = values(*run_tensor("aten.binomial.default", arguments));
  EXPECT_EQ(successes[0], 0);
  EXPECT_EQ(successes[1], 0);
  EXPECT_EQ(successes[2], 7);
  EXPECT_TRUE(successes[3] >= 0 && successes[3] <= 7);
  EXPECT_EQ(radii(*run_tensor("aten.binomial.default", arguments, Mode::kWorstCase)),
            (Numbers{0, 0, 0, 3.5}));
}

TEST(Random, SharesComeToOne) {
  const TensorRef shapes = tensor(DType::kFloat64, {2, 3}, {1, 2, 3, 0, 0, 0});
  const Numbers shares =
      values(*run_tensor("aten._sample_dirichlet.default", {{"self", {shapes}}}));
  EXPECT_NEAR(shares[0] + shares[1] + shares[2], 1, 1e-15);
  EXPECT_NEAR(shares[3], 1 / 3.0, 1e-15);
  const Numbers gamma = values(*run_tensor("aten._standard_gamma.default", {{"self", {shapes}}}));
  EXPECT_GT(gamma[0], 0);
  EXPECT_EQ(gamma[3], std::numeric_limits<double>::min());
}

TEST(Random, WithoutEndsRandomFillsTheDtype) {
  const auto ends = [](DType dtype, const Arguments& more, const char* op) {
    Arguments arguments = {{"self", {tensor(dtype, {2}, {0, 0})}}};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return ends_of(*run_tensor(op, arguments, Mode::kWorstCase));
  };
  EXPECT_EQ(ends(DType::kInt8, {}, "aten.random.default").greatest, 127);
  EXPECT_EQ(ends(DType::kUInt8, {}, "aten.random.default").greatest, 255);
  EXPECT_EQ(ends(DType::kBool, {}, "aten.random.default").greatest, 1);
  EXPECT_EQ(ends(DType::kFloat32, {}, "aten.random.default").greatest, 0x1p24L);
  EXPECT_EQ(ends(DType::kBFloat16, {}, "aten.random.default").greatest, 0x1p8L);
  EXPECT_EQ(ends(DType::kInt32, {{"to", {std::int64_t{5}}}}, "aten.random.to").greatest, 4);
  const Ends some = ends(DType::kInt16, {{"from", {std::int64_t{-3}}}, {"to", {spec::None{}}}},
                         "aten.random.from");
  EXPECT_EQ(some.least, -3);
  EXPECT_EQ(some.greatest, 32767);
}

TEST(Random, RreluNeedsNoNoise) {
  const TensorRef x = tensor(DType::kFloat32, {2}, {-4, 2});
  Arguments arguments = {{"self", {x}}, {"lower", {0.25}}, {"upper", {0.5}}, {"training", {true}}};
  const Numbers out = values(*run_tensor("aten.rrelu.default", arguments));
  EXPECT_TRUE(out[0] >= -2 && out[0] <= -1) << out[0];
  EXPECT_EQ(out[1], 2);
  arguments[3].second = {false};
  EXPECT_EQ(values(*run_tensor("aten.rrelu.default", arguments)), (Numbers{-1.5, 2}));
  arguments[1].second = {0.75};
  EXPECT_THROW(run("aten.rrelu.default", arguments), OpError);
}

TEST(Random, AttentionDropsWeights) {
  // One key: its weight is 1, and comes to 0 or 4 / 3.
  const TensorRef one = tensor(DType::kFloat32, {1, 1}, {3});
  const Arguments arguments = {
      {"query", {one}}, {"key", {one}}, {"value", {one}}, {"dropout_p", {0.25}}};
  const char* op = "aten.scaled_dot_product_attention.default";
  const double out = values(*run_tensor(op, arguments))[0];
  EXPECT_TRUE(out == 0 || out == 4) << out;
  const Ends ends = ends_of(*run_tensor(op, arguments, Mode::kWorstCase));
  EXPECT_NEAR(static_cast<double>(ends.least), 0, 1e-5);
  EXPECT_NEAR(static_cast<double>(ends.greatest), 4, 1e-4);
  EXPECT_TRUE(std::isinf(marks_of(*run_tensor(op, arguments, Mode::kSampled))[0].radius));
}

TEST(Random, NormalIsOfTheFirstTensorsDtypeAndRowMajor) {
  const TensorRef mean = tensor(DType::kFloat16, {2, 3}, Numbers(6, 1), {1, 2});
  const TensorRef deviation = tensor(DType::kFloat64, {3}, {0, 0, 0});
  const TensorRef drawn =
      run_tensor("aten.normal.Tensor_Tensor", {{"mean", {mean}}, {"std", {deviation}}});
  EXPECT_EQ(drawn->dtype, DType::kFloat16);
  EXPECT_EQ(drawn->strides, (Sizes{3, 1}));
  EXPECT_EQ(values(*drawn), Numbers(6, 1));
  EXPECT_THROW(run("aten.normal.Tensor_float", {{"mean", {mean}}, {"std", {-1.0}}}), OpError);
}

}  // namespace
}  // namespace graphgate::reference::test
