// The generator against its published vectors, and what the random kernels make of it.
#include <algorithm>
#include <cmath>

#include "optimized/draws.h"
#include "optimized/kernels/kernel_test.h"

namespace graphgate::optimized::testing {
namespace {

// Random123's known answers.
TEST(Philox, GivesThePublishedNumbers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (PhiloxWords{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U}));
  constexpr std::uint32_t kOnes = 0xffffffffU;
  EXPECT_EQ(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (PhiloxWords{0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU}));
  EXPECT_EQ(
      philox({0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}, {0xa4093822U, 0x299f31d0U}),
      (PhiloxWords{0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U}));
}

TEST(Draws, HangOnTheCallTheNodeAndItsLaunchAlone) {
  const auto last = [](std::uint64_t call, const char* node, int launches) {
    const DrawScope scope(call);
    const DrawSourceScope of_node(node);
    std::uint64_t bits = Draws({1}).bits(0);  // another node's
    for (int i = 0; i < launches; ++i) bits = Draws(draw_source()).bits(0);
    return bits;
  };
  EXPECT_EQ(last(3, "x", 2), last(3, "x", 2));
  EXPECT_NE(last(3, "x", 2), last(3, "x", 1));
  EXPECT_NE(last(3, "x", 2), last(4, "x", 2));
  EXPECT_NE(last(3, "x", 2), last(3, "y", 2));
}

double mean_of(const Numbers& numbers) {
  double sum = 0;
  for (const double x : numbers) sum += x;
  return sum / static_cast<double>(numbers.size());
}
double deviation_of(const Numbers& numbers) {
  const double mean = mean_of(numbers);
  double sum = 0;
  for (const double x : numbers) sum += (x - mean) * (x - mean);
  return std::sqrt(sum / static_cast<double>(numbers.size()));
}

constexpr std::int64_t kMany = 40'000;

// Means and deviations within six standard errors of what they are of the distribution.
TEST(RandomKernels, DrawFromTheirDistributions) {
  const auto near = [](const char* op, const Numbers& drawn, double mean, double deviation) {
    const double error = deviation / std::sqrt(static_cast<double>(kMany));
    EXPECT_NEAR(mean_of(drawn), mean, 6 * error) << op;
    EXPECT_NEAR(deviation_of(drawn), deviation, 30 * error) << op;
  };
  const Tensor x = make_tensor(DType::kFloat64, {kMany}, Numbers(kMany, 0));
  const Sizes many = {kMany};
  near("rand", numbers(run_one("aten.rand.default", {many})), 0.5, std::sqrt(1 / 12.0));
  near("randn", numbers(run_one("aten.randn.default", {many})), 0, 1);
  near("uniform", numbers(run_one("aten.uniform_.default", {x, -1.0, 3.0})), 1,
       4 / std::sqrt(12.0));
  near("normal", numbers(run_one("aten.normal_.default", {x, 2.0, 3.0})), 2, 3);
  near("exponential", numbers(run_one("aten.exponential_.default", {x, 2.0})), 0.5, 0.5);
  near("log_normal", numbers(run_one("aten.log_normal_.default", {x, 0.0, 0.25})),
       std::exp(1 / 32.0), std::exp(1 / 32.0) * std::sqrt(std::exp(1 / 16.0) - 1));
  near("geometric", numbers(run_one("aten.geometric_.default", {x, 0.25})), 4, std::sqrt(12.0));
  near("bernoulli", numbers(run_one("aten.bernoulli_.float", {x, 0.25})), 0.25, std::sqrt(3.0) / 4);
  near("randint", numbers(run_one("aten.randint.low", {-1, 3, many})), 0.5, std::sqrt(15 / 12.0));
  Numbers cauchy = numbers(run_one("aten.cauchy_.default", {x, 1.0, 2.0}));
  std::ranges::sort(cauchy);
  EXPECT_NEAR(cauchy[kMany / 4], -1, 0.2);
  EXPECT_NEAR(cauchy[kMany / 2], 1, 0.1);
  EXPECT_NEAR(cauchy[3 * kMany / 4], 3, 0.2);
}

TEST(RandomKernels, DropoutKeepsWhatTheMaskSays) {
  const Tensor x = make_tensor(DType::kFloat32, {kMany}, Numbers(kMany, 3));
  const std::vector<Item> both = run_op("aten.native_dropout.default", {x, 0.25, true});
  const Numbers out = numbers(*both[0].as<Tensor>());
  const Numbers mask = numbers(*both[1].as<Tensor>());
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], mask[i] * 4);
  EXPECT_NEAR(mean_of(mask), 0.75, 0.02);
  const Numbers dropped = numbers(run_one("aten.dropout.default", {x, 0.25, true}));
  EXPECT_NEAR(mean_of(dropped), 3, 0.1);
  EXPECT_EQ(run_one("aten.dropout.default", {x, 0.5, false}).bytes, x.bytes);
  EXPECT_THROW(run_op("aten.dropout.default", {x, 1.5, false}), OpError);
}

TEST(RandomKernels, MultinomialAndRandpermRepeatNothing) {
  Numbers order = numbers(run_one("aten.randperm.default", {64}));
  EXPECT_FALSE(std::ranges::is_sorted(order));
  std::ranges::sort(order);
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], static_cast<double>(i));
  const Tensor weights = make_tensor(DType::kFloat32, {2, 3}, {0, 1, 0, 1, 1, 2});
  const Numbers all = numbers(run_one("aten.multinomial.default", {weights, 3, false}));
  EXPECT_EQ(all[0], 1);
  for (const std::size_t row : {0U, 3U}) {
    Numbers of_row(all.begin() + static_cast<std::ptrdiff_t>(row),
                   all.begin() + static_cast<std::ptrdiff_t>(row + 3));
    std::ranges::sort(of_row);
    EXPECT_EQ(of_row, (Numbers{0, 1, 2}));
  }
  EXPECT_THROW(run_op("aten.multinomial.default", {weights, 4, false}), OpError);
  EXPECT_THROW(
      run_op("aten.multinomial.default", {make_tensor(DType::kFloat32, {2}, {0, 0}), 1, false}),
      OpError);
}

TEST(RandomKernels, RefuseWhatIsNoDistribution) {
  const Tensor x = make_tensor(DType::kFloat32, {2}, {0, 0});
  const Tensor whole = make_tensor(DType::kInt64, {2}, {0, 0});
  EXPECT_THROW(run_op("aten.uniform_.default", {x, 1.0, 0.0}), OpError);
  EXPECT_THROW(run_op("aten.uniform_.default", {whole}), OpError);
  EXPECT_THROW(run_op("aten.bernoulli_.float", {x, 1.5}), OpError);
  EXPECT_THROW(run_op("aten.exponential_.default", {x, 0.0}), OpError);
  EXPECT_THROW(run_op("aten.normal_.default", {x, 0.0, -1.0}), OpError);
  EXPECT_THROW(run_op("aten.geometric_.default", {x, 1.0}), OpError);
  EXPECT_THROW(run_op("aten.randint.low", {3, 3, Sizes{2}}), OpError);
  EXPECT_THROW(run_op("aten.bernoulli.default", {make_tensor(DType::kFloat32, {2}, {0.5, 1.5})}),
               OpError);
}

}  // namespace
}  // namespace graphgate::optimized::testing
