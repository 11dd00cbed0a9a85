#include "reference/trial.h"

#include <cmath>
#include <string>

#include "reference/program_test.h"

namespace graphgate::reference {
namespace {

spec::Spread spread_of(const spec::Program& program, const test::Inputs& inputs,
                       std::optional<Trial> trial) {
  Options options;
  options.mode = Mode::kSampled;
  options.trial = trial;
  return test::Loaded(program, options).call(inputs).output_spreads.at(0);
}

// How far trials lie from the estimate's value, in its radii: the root of the mean square.
double spread_of_trials(const spec::Program& program, const test::Inputs& inputs) {
  constexpr int kTrials = 200;
  const spec::Spread estimate = spread_of(program, inputs, std::nullopt);
  double squares = 0;
  for (int i = 0; i < kTrials; ++i) {
    const spec::Spread trial = spread_of(program, inputs, Trial{static_cast<std::uint64_t>(i)});
    const auto away = static_cast<double>(trial.values.at(0) - estimate.values.at(0));
    squares += away * away;
  }
  return std::sqrt(squares / kTrials) / estimate.radii.at(0);
}

spec::Program tanh_of(int count) {
  return test::program("program \"p\" {\n  input %x : f32[" + std::to_string(count) +
                       "]\n  %y = aten.tanh.default(%x)\n  output %y\n}\n");
}

std::vector<float> thirds(int count) {
  std::vector<float> out;
  for (int i = 1; i <= count; ++i) out.push_back(static_cast<float>(i) / 3);
  return out;
}

TEST(Trials, GoOnWithNumbersWithoutARadiusTheSameForTheSameTrial) {
  const spec::Program program = tanh_of(4);
  const test::Inputs inputs = {test::floats({4}, thirds(4))};
  const spec::Spread estimate = spread_of(program, inputs, std::nullopt);
  const spec::Spread trial = spread_of(program, inputs, Trial{3});
  EXPECT_EQ(trial.radii, std::vector<double>(4, 0));
  EXPECT_NE(trial.values, estimate.values);
  EXPECT_EQ(trial.values, spread_of(program, inputs, Trial{3}).values);
  EXPECT_NE(trial.values, spread_of(program, inputs, Trial{4}).values);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_LT(std::fabs(trial.values[i] - estimate.values[i]), 6 * estimate.radii[i]);
  }
}

TEST(Trials, ScaleTheSameErrors) {
  const spec::Program program = tanh_of(1);
  const test::Inputs inputs = {test::floats({1}, {0.3F})};
  const long double value = spread_of(program, inputs, std::nullopt).values[0];
  const long double once = spread_of(program, inputs, Trial{2, 1}).values[0];
  const long double thrice = spread_of(program, inputs, Trial{2, 3}).values[0];
  EXPECT_EQ(std::lround(1024 * (thrice - value) / (once - value)), 3 * 1024);
}

TEST(Trials, LeaveExactNumbersAsTheyAre) {
  const spec::Program program = test::program(R"(program "p" {
  input %x : f32[4]
  %y = aten.add.Tensor(%x, %x)
  output %y
}
)");
  const test::Inputs inputs = {test::floats({4}, {1, 2, -3, 0})};
  EXPECT_EQ(spread_of(program, inputs, Trial{1}).values,
            (std::vector<long double>{2.0L, 4.0L, -6.0L, 0.0L}));
}

TEST(Trials, GiveEqualNumbersEqualErrors) {
  const spec::Program program = tanh_of(3);
  const spec::Spread trial = spread_of(program, {test::floats({3}, {0.3F, 0.7F, 0.3F})}, Trial{1});
  EXPECT_EQ(trial.values[0], trial.values[2]);
}

TEST(Trials, RoundEveryOtherTime) {
  const spec::Program program = tanh_of(1);
  const auto is_float = [&](std::uint64_t trial) {
    const long double value =
        spread_of(program, {test::floats({1}, {0.3F})}, Trial{trial}).values[0];
    return value == static_cast<long double>(static_cast<float>(value));
  };
  EXPECT_TRUE(is_float(1) && is_float(3));
  EXPECT_FALSE(is_float(2) || is_float(4));
}

// A trial that rounds has one error more.
TEST(Trials, LieAsFarAsTheEstimateSaysWhereErrorsAreIndependent) {
  const spec::Program program = test::program(R"(program "p" {
  input %x : f32[64]
  %y = aten.sin.default(%x)
  %z = aten.sum.default(%y)
  output %z
}
)");
  const double spread = spread_of_trials(program, {test::floats({64}, thirds(64))});
  EXPECT_GT(spread, 0.8);
  EXPECT_LT(spread, 1.4);
}

TEST(Trials, KeepOneErrorInAllTermsOfASum) {
  std::string text = "program \"p\" {\n  input %x : f32[64]\n  input %a : f32[]\n";
  text += "  %m0 = aten.mul.Tensor(%a, %a)\n";
  for (int i = 1; i < 200; ++i) {
    const std::string n = std::to_string(i);
    text += "  %m" + n + " = aten.mul.Tensor(%m" + std::to_string(i - 1) + ", %a)\n";
  }
  text += "  %y = aten.add.Tensor(%x, %m199)\n  %z = aten.sum.default(%y)\n  output %z\n}\n";
  std::vector<float> small = thirds(64);
  for (float& x : small) x /= 1024;
  const double spread = spread_of_trials(test::program(text),
                                         {test::floats({64}, small), test::floats({}, {1.001F})});
  EXPECT_GT(spread, 2.5);
}

}  // namespace
}  // namespace graphgate::reference
