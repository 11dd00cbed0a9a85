// What a generator's state makes known: the words of the twister, and PyTorch's numbers of seed 0
// (torch.manual_seed(0), then the op).
#include "reference/ops/known_draws.h"

#include <cmath>

#include "reference/ops/cpu_generator.h"
#include "reference/ops/op_test.h"
#include "reference/ops/philox.h"

namespace graphgate::reference::test {
namespace {

// The state behind torch.manual_seed(seed), or with a normal number that is kept.
TensorRef state_of(std::uint32_t seed, std::optional<double> kept = {}) {
  Numbers bytes;
  const auto put = [&](std::uint64_t number, int width) {
    for (int i = 0; i < width; ++i) {
      bytes.push_back(static_cast<double>(number >> (8 * static_cast<unsigned>(i)) & 0xFFU));
    }
  };
  put(seed, 8);
  put(1, 4);  // left
  put(1, 4);  // is seeded
  put(0, 8);  // next
  std::uint32_t word = seed;
  for (std::uint32_t i = 1; i <= 624; ++i) {
    put(word, 8);
    word = 1812433253U * (word ^ (word >> 30U)) + i;
  }
  put(0, 8);
  put(std::bit_cast<std::uint64_t>(kept.value_or(0)), 8);
  put(0, 8);
  put(kept ? 1 : 0, 8);
  put(0, 8);
  return tensor(DType::kUInt8, {static_cast<std::int64_t>(bytes.size())}, bytes);
}

// The published outputs of the seed 5489: the first three, and the ten thousandth, which the C++
// standard states.
TEST(CpuGenerator, IsTheMersenneTwister) {
  CpuGenerator generator(*state_of(5489));
  EXPECT_EQ(generator.word(), 3499211612U);
  EXPECT_EQ(generator.word(), 581869302U);
  EXPECT_EQ(generator.word(), 3890346734U);
  for (int i = 4; i < 10'000; ++i) (void)generator.word();
  EXPECT_EQ(generator.word(), 4123659995U);
}

TEST(CpuGenerator, RefusesWhatIsNoState) {
  EXPECT_THROW(CpuGenerator(*tensor(DType::kUInt8, {5}, Numbers(5, 1))), OpError);
  EXPECT_THROW(CpuGenerator(*tensor(DType::kUInt8, {5056}, Numbers(5056, 0))), OpError);
  EXPECT_THROW(CpuGenerator(*tensor(DType::kInt8, {5056}, Numbers(5056, 1))), OpError);
}

void expect_near(const Numbers& numbers, const Numbers& expected, double error) {
  ASSERT_EQ(numbers.size(), expected.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_NEAR(numbers[i], expected[i], error) << i;
}

TEST(KnownDraws, AreThoseOfPyTorch) {
  const auto drawn = [](const char* op, Arguments arguments) {
    arguments.emplace_back("generator", Datum{state_of(0)});
    return values(*run_tensor(op, arguments));
  };
  expect_near(drawn("aten.rand.generator", {{"size", ints({4})}}),
              {0.496256590, 0.768221796, 0.088477433, 0.132030487}, 5e-10);
  expect_near(drawn("aten.rand.generator", {{"size", ints({2})}, {"dtype", {DType::kFloat64}}}),
              {0.970053002, 0.707819864}, 5e-10);
  EXPECT_EQ(drawn("aten.rand.generator", {{"size", ints({4})}, {"dtype", {DType::kBFloat16}}}),
            (Numbers{0.49609375, 0.76953125, 0.08837890625, 0.1318359375}));
  expect_near(drawn("aten.randn.generator", {{"size", ints({3})}}),
              {1.540996075, -0.293428898, -2.178789377}, 1e-9);
  // The last sixteen are drawn again, behind seventeen.
  expect_near(drawn("aten.randn.generator", {{"size", ints({17})}}),
              {-1.125839829, -1.695931196, 0.566650629, 0.793508351, 0.598839462, -1.555095077,
               -0.341360390, 1.853006124, 0.468096405, -0.585497558, -0.173396751, 0.183477938,
               1.389366150, 1.586334229, 0.946298361, -0.843676746, 0.931826591},
              1e-6);
  EXPECT_EQ(drawn("aten.randint.generator", {{"high", {std::int64_t{10}}}, {"size", ints({6})}}),
            (Numbers{4, 9, 3, 0, 3, 9}));
  EXPECT_EQ(drawn("aten.randperm.generator", {{"n", {std::int64_t{6}}}}),
            (Numbers{2, 5, 3, 0, 1, 4}));
  const TensorRef six = tensor(DType::kFloat32, {6}, Numbers(6, 0));
  EXPECT_EQ(drawn("aten.bernoulli_.float", {{"self", {six}}, {"p", {0.5}}}),
            (Numbers{0, 0, 1, 0, 0, 0}));
  const TensorRef two = tensor(DType::kFloat32, {2}, {0, 0});
  expect_near(drawn("aten.exponential_.default", {{"self", {two}}, {"lambd", {2.0}}}),
              {1.754163146, 0.615192354}, 1e-7);
  expect_near(drawn("aten.log_normal_.default", {{"self", {two}}, {"mean", {0.0}}, {"std", {1.0}}}),
              {4.669239044, 0.745702207}, 1e-6);
  expect_near(drawn("aten.cauchy_.default", {{"self", {two}}}), {10.597729683, 0.764767289}, 1e-5);
  const TensorRef three = tensor(DType::kFloat32, {3}, {0, 0, 0});
  EXPECT_EQ(drawn("aten.geometric_.default", {{"self", {three}}, {"p", {0.25}}}),
            (Numbers{1, 2, 3}));
}

// torch.manual_seed(0); torch.rand(10, device="cuda"), as PyTorch's documentation and forum show
// it.
TEST(PhiloxRand, DrawsWhatCudaDraws) {
  const auto scalar = [](std::int64_t x) {
    return tensor(DType::kInt64, {}, {static_cast<double>(x)});
  };
  const auto drawn = [&](std::int64_t seed, std::int64_t offset, const char* device, Mode mode) {
    return run("rngprims.philox_rand.default",
               {{"size", ints({10})},
                {"seed", {scalar(seed)}},
                {"offset", {scalar(offset)}},
                {"stride", {spec::None{}}},
                {"device", {spec::Device{device, 0}}},
                {"dtype", {DType::kFloat32}}},
               mode);
  };
  const std::vector<Datum> both = drawn(0, 0, "cuda", Mode::kEager);
  expect_near(values(result(both, 0)),
              {0.3990, 0.5167, 0.0249, 0.9401, 0.9459, 0.7967, 0.4150, 0.8203, 0.2290, 0.9096},
              5e-5);
  EXPECT_EQ(values(result(both, 1)), (Numbers{4}));
  EXPECT_EQ(radii(result(drawn(0, 0, "cuda", Mode::kWorstCase), 0)), Numbers(10, 0));
  EXPECT_NE(values(result(drawn(0, 4, "cuda", Mode::kEager), 0)), values(result(both, 0)));
  EXPECT_THROW(drawn(0, 2, "cuda", Mode::kEager), OpError);
  EXPECT_THROW(drawn(0, 0, "cpu", Mode::kEager), OpError);
}

// Random123's known answers.
TEST(Philox, GivesThePublishedWords) {
  EXPECT_EQ(philox_words({0, 0, 0, 0}, 0),
            (std::array<std::uint32_t, 4>{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U}));
  EXPECT_EQ(philox_words({0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}, 0x299f31d0a4093822U),
            (std::array<std::uint32_t, 4>{0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U}));
}

TEST(KnownDraws, GoInTheOrderOfMemory) {
  const TensorRef x = tensor(DType::kFloat32, {3, 2}, Numbers(6, 0), {1, 3});
  (void)run_tensor("aten.uniform_.default", {{"self", {x}}, {"generator", {state_of(0)}}});
  expect_near(values(*x),
              {0.496256590, 0.132030487, 0.768221796, 0.307422817, 0.088477433, 0.634078681},
              5e-10);
}

TEST(KnownDraws, KeepTheSecondNormalNumber) {
  const TensorRef x = tensor(DType::kFloat32, {1}, {0});
  const Arguments arguments = {
      {"self", {x}}, {"mean", {1.0}}, {"std", {2.0}}, {"generator", {state_of(0, 0.25)}}};
  EXPECT_EQ(values(*run_tensor("aten.normal_.default", arguments)), (Numbers{1.5}));
}

// Nothing is open: whole and uniform numbers are exact, others as near as their roundings.
TEST(KnownDraws, AreKnownToOracles) {
  const Arguments arguments = {{"size", ints({5})}, {"generator", {state_of(0)}}};
  EXPECT_EQ(radii(*run_tensor("aten.rand.generator", arguments, Mode::kWorstCase)), Numbers(5, 0));
  for (const Mode mode : {Mode::kWorstCase, Mode::kSampled}) {
    for (const double radius : radii(*run_tensor("aten.randn.generator", arguments, mode))) {
      EXPECT_TRUE(radius < 1e-6) << radius;
    }
  }
}

}  // namespace
}  // namespace graphgate::reference::test
