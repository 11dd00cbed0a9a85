// Random kernels with a generator's state: words as the standard library's twister has them, and
// numbers as PyTorch draws them from seed 0.
#include "optimized/kernels/seeded.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "optimized/kernels/kernel_test.h"
#include "optimized/twister.h"

namespace graphgate::optimized::testing {
namespace {

Tensor seeded_state(std::uint32_t seed) {
  Numbers bytes;
  const auto append = [&bytes](std::uint64_t number) {
    for (int i = 0; i < 8; ++i, number >>= 8U) bytes.push_back(static_cast<double>(number % 256));
  };
  append(seed);
  append(1 + (std::uint64_t{1} << 32U));  // one word left, seeded
  append(0);
  std::uint32_t word = seed;
  for (std::uint32_t i = 1; i <= 624; ++i) {
    append(word);
    word = (word ^ word >> 30U) * 1812433253U + i;
  }
  for (int i = 0; i < 5; ++i) append(0);
  return make_tensor(DType::kUInt8, {Twister::kStateBytes}, bytes);
}

TEST(Twister, HasTheWordsOfTheStandardLibrary) {
  for (const std::uint32_t seed : {0U, 5489U, 4294967295U}) {
    Twister twister(seeded_state(seed));
    std::mt19937 words(seed);
    for (int i = 0; i < 2000; ++i) ASSERT_EQ(twister.next(), words()) << seed << " " << i;
  }
}

TEST(Twister, WantsAState) {
  EXPECT_THROW(Twister(make_tensor(DType::kUInt8, {8}, Numbers(8, 1))), OpError);
  EXPECT_THROW(Twister(make_tensor(DType::kUInt8, {5056}, Numbers(5056, 0))), OpError);
}

TEST(SeededKernels, DrawWhatPyTorchDraws) {
  const Tensor state = seeded_state(0);
  const auto drawn = [&state](const char* op, std::initializer_list<TestArgument> arguments) {
    return numbers(run_one(op, arguments, {{"generator", state}}));
  };
  const auto is_near = [](const Numbers& found, const Numbers& expected) {
    return std::ranges::equal(found, expected,
                              [](double a, double b) { return std::abs(a - b) < 2e-6; });
  };
  EXPECT_TRUE(is_near(drawn("aten.rand.generator", {Sizes{4}}),
                      {0.496256590, 0.768221796, 0.088477433, 0.132030487}));
  EXPECT_TRUE(is_near(drawn("aten.randn.generator", {Sizes{3}}),
                      {1.540996075, -0.293428898, -2.178789377}));
  EXPECT_TRUE(
      is_near(drawn("aten.randn.generator", {Sizes{17}}),
              {-1.125839829, -1.695931196, 0.566650629, 0.793508351, 0.598839462, -1.555095077,
               -0.341360390, 1.853006124, 0.468096405, -0.585497558, -0.173396751, 0.183477938,
               1.389366150, 1.586334229, 0.946298361, -0.843676746, 0.931826591}));
  EXPECT_EQ(drawn("aten.randint.generator", {10, Sizes{6}}), (Numbers{4, 9, 3, 0, 3, 9}));
  EXPECT_EQ(drawn("aten.randperm.generator", {6}), (Numbers{2, 5, 3, 0, 1, 4}));
  const Tensor six = make_tensor(DType::kFloat32, {6}, Numbers(6, 0));
  EXPECT_EQ(drawn("aten.bernoulli_.float", {six, 0.5}), (Numbers{0, 0, 1, 0, 0, 0}));
  const Tensor two = make_tensor(DType::kFloat32, {2}, {0, 0});
  EXPECT_TRUE(is_near(drawn("aten.exponential_.default", {two, 2.0}), {1.754163146, 0.615192354}));
  EXPECT_TRUE(
      is_near(drawn("aten.log_normal_.default", {two, 0.0, 1.0}), {4.669239044, 0.745702207}));
  EXPECT_TRUE(is_near(drawn("aten.cauchy_.default", {two}), {10.597729683, 0.764767289}));
  const Tensor three = make_tensor(DType::kFloat32, {3}, {0, 0, 0});
  EXPECT_EQ(drawn("aten.geometric_.default", {three, 0.25}), (Numbers{1, 2, 3}));
}

// torch.manual_seed(0); torch.rand(10, device="cuda").
TEST(SeededKernels, DrawWhatCudaDraws) {
  const Tensor zero = make_tensor(DType::kInt64, {}, {0});
  const std::vector<Item> both =
      run_op("rngprims.philox_rand.default",
             {Sizes{10}, zero, zero, Item{}, spec::Device{"cuda", 0}, DType::kFloat32});
  const Numbers drawn = numbers(*both[0].as<Tensor>());
  const Numbers expected = {0.3990, 0.5167, 0.0249, 0.9401, 0.9459,
                            0.7967, 0.4150, 0.8203, 0.2290, 0.9096};
  for (std::size_t i = 0; i < drawn.size(); ++i) EXPECT_NEAR(drawn[i], expected[i], 5e-5);
  EXPECT_EQ(numbers(*both[1].as<Tensor>()), (Numbers{4}));
  EXPECT_THROW(run_op("rngprims.philox_rand.default",
                      {Sizes{10}, zero, zero, Item{}, spec::Device{}, DType::kFloat32}),
               OpError);
}

TEST(RandomKernels, DropWholeFeaturesAndToTheLimitOfSelu) {
  const Tensor x = make_tensor(DType::kFloat32, {8, 4, 3}, Numbers(96, 3));
  const Numbers out = numbers(run_one("aten.feature_dropout.default", {x, 0.25, true}));
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_TRUE(out[i] == 0 || out[i] == 4) << out[i];
    EXPECT_EQ(out[i], out[i / 3 * 3]);
  }
  for (const double y : numbers(run_one("aten.alpha_dropout.default", {x, 0.5, true}))) {
    EXPECT_TRUE(std::abs(y + 0.7791939) < 1e-6 || std::abs(y - 3.4384084) < 1e-6) << y;
  }
  const Tensor row = make_tensor(DType::kFloat32, {3}, {1, 2, 3});
  EXPECT_THROW(run_op("aten.feature_dropout.default", {row, 0.5, true}), OpError);
  EXPECT_EQ(run_one("aten.alpha_dropout.default", {row, 0.5, false}).bytes, row.bytes);
}

TEST(RandomKernels, CountWithMeansAndVariances) {
  constexpr std::int64_t kLong = 20'000;
  const auto mean = [](const Tensor& tensor) {
    double sum = 0;
    for (const double x : numbers(tensor)) sum += x;
    return sum / static_cast<double>(kLong);
  };
  const Tensor four = make_tensor(DType::kFloat64, {kLong}, Numbers(kLong, 4));
  const Tensor half = make_tensor(DType::kFloat64, {kLong}, Numbers(kLong, 0.5));
  // Six standard errors: sqrt(variance / 20000) is 0.0141, 0.0071 and 0.0141.
  EXPECT_NEAR(mean(run_one("aten.poisson.default", {four})), 4, 0.085);
  EXPECT_NEAR(mean(run_one("aten.binomial.default", {four, half})), 2, 0.043);
  EXPECT_NEAR(mean(run_one("aten._standard_gamma.default", {four})), 4, 0.085);
  const Numbers bytes =
      numbers(run_one("aten.random_.default", {make_tensor(DType::kInt8, {300}, Numbers(300, 0))}));
  EXPECT_GE(*std::ranges::min_element(bytes), 0);
  EXPECT_LE(*std::ranges::max_element(bytes), 127);
  EXPECT_GT(*std::ranges::max_element(bytes), 100);
}

}  // namespace
}  // namespace graphgate::optimized::testing
