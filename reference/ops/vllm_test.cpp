#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

TEST(UnifiedAttention, ReadsTheKeyHeadOfItsGroupAndNoLaterToken) {
  const TensorRef query = tensor(DType::kFloat32, {2, 2, 1}, {0, 0, 0, 0});
  const TensorRef value = tensor(DType::kFloat32, {2, 1, 1}, {2, 6});
  const TensorRef out = tensor(DType::kFloat32, {2, 2, 1}, Numbers(4, -1));
  run("vllm.unified_attention_with_output.default", {{"query", {query}},
                                                     {"key", {value}},
                                                     {"value", {value}},
                                                     {"output", {out}},
                                                     {"layer_name", {std::string("0")}}});
  EXPECT_EQ(values(*out), (Numbers{2, 2, 4, 4}));
}

// Every token sees itself: scores of -infinity are the data's, and no mask that gives zeros.
TEST(UnifiedAttention, MakesNaNOfScoresThatAreAllNegativeInfinity) {
  for (const Mode mode : {Mode::kEager, Mode::kWorstCase}) {
    const TensorRef out = tensor(DType::kFloat32, {2, 1, 1}, {-1, -1});
    run("vllm.unified_attention_with_output.default",
        {{"query", {tensor(DType::kFloat32, {2, 1, 1}, {1, -INFINITY})}},
         {"key", {tensor(DType::kFloat32, {2, 1, 1}, {1, 2})}},
         {"value", {tensor(DType::kFloat32, {2, 1, 1}, {3, 4})}},
         {"output", {out}},
         {"layer_name", {std::string("0")}}},
        mode);
    EXPECT_EQ(values(*out)[0], 3);
    EXPECT_TRUE(std::isnan(values(*out)[1]));
  }
}

TEST(FusedAddRmsNorm, WritesTheSumAndNormalizesIt) {
  const TensorRef input = tensor(DType::kFloat32, {1, 2}, {1, 1});
  const TensorRef residual = tensor(DType::kFloat32, {1, 2}, {2, -4});
  run("vllm.fused_add_rms_norm.default", {{"input", {input}},
                                          {"residual", {residual}},
                                          {"weight", {tensor(DType::kFloat32, {2}, {1, 10})}},
                                          {"epsilon", {7.0}}});
  EXPECT_EQ(values(*residual), (Numbers{3, -3}));
  EXPECT_EQ(values(*input), (Numbers{0.75, -7.5}));  // 1 / sqrt(9 + 7) is 1/4
}

TEST(SiluAndMul, GatesTheSecondHalfByTheFirst) {
  const TensorRef out = tensor(DType::kFloat32, {1, 1}, {-1});
  run("vllm.silu_and_mul.default",
      {{"out", {out}}, {"input", {tensor(DType::kFloat32, {1, 2}, {0, 5})}}});
  EXPECT_EQ(values(*out), Numbers{0});
}

// e^90 is infinite in float32: the gate is -0, or a small number that its factor makes visible.
TEST(SiluAndMul, LeavesOpenWhetherTheExponentialOverflows) {
  const TensorRef out = tensor(DType::kFloat32, {1, 1}, {-1});
  run("vllm.silu_and_mul.default",
      {{"out", {out}}, {"input", {tensor(DType::kFloat32, {1, 2}, {-90, 0x1p20})}}},
      Mode::kWorstCase);
  EXPECT_GE(radii(*out)[0], 0x1p20 * 90 * std::exp(-90.0));
}

TEST(GroupedProduct, TakesEachRowWithTheWeightOfItsGroup) {
  const TensorRef input = tensor(DType::kFloat32, {4, 1}, {1, 2, 3, 4});
  const TensorRef weight = tensor(DType::kFloat32, {3, 1, 1}, {10, 100, 1000});
  const TensorRef out = run_tensor("transformers.grouped_mm_fallback.default",
                                   {{"input", {input}},
                                    {"weight", {weight}},
                                    {"offs", {tensor(DType::kInt32, {3}, {1, 1, 3})}}});
  EXPECT_EQ(values(*out), (Numbers{10, 2000, 3000, 0}));
}

TEST(UnifiedAttention, LeavesOpenWhatIsNotFiniteAtLaterTokens) {
  const auto openness = [](const Numbers& key, const Numbers& value) {
    const TensorRef query = tensor(DType::kFloat32, {2, 1, 1}, {1, 1});
    const TensorRef out = tensor(DType::kFloat32, {2, 1, 1}, Numbers(2, -1));
    run("vllm.unified_attention_with_output.default",
        {{"query", {query}},
         {"key", {tensor(DType::kFloat32, {2, 1, 1}, key)}},
         {"value", {tensor(DType::kFloat32, {2, 1, 1}, value)}},
         {"output", {out}},
         {"layer_name", {std::string("0")}}},
        Mode::kWorstCase);
    return std::isinf(radii(*out)[0]);
  };
  EXPECT_TRUE(openness({1, 1}, {2, INFINITY}));
  EXPECT_TRUE(openness({1, NAN}, {2, 3}));
  EXPECT_FALSE(openness({1, 1}, {2, 3}));
}

// 16 products in two parts of bfloat16, where that is declared: 16, and -15 - 2^-8, which is none.
class SplitProducts : public ::testing::Test {
 protected:
  static Arithmetic splitting() {
    Arithmetic arithmetic;
    arithmetic.splits_bfloat16 = true;
    return arithmetic;
  }
  static Numbers two_parts() {
    Numbers out(16, 0);
    out[0] = 16;
    out[8] = -15;
    out[9] = -0x1p-8;
    return out;
  }
};

TEST_F(SplitProducts, OfGroupsHaveRoundedParts) {
  const auto radius = [] {
    const TensorRef input = tensor(DType::kBFloat16, {1, 16}, two_parts());
    const TensorRef weight = tensor(DType::kBFloat16, {1, 16, 1}, Numbers(16, 1));
    const Arguments given = {
        {"input", {input}}, {"weight", {weight}}, {"offs", {tensor(DType::kInt32, {1}, {1})}}};
    return radii(
        *run_tensor("transformers.grouped_mm_fallback.default", given, Mode::kWorstCase))[0];
  };
  EXPECT_LE(radius(), 0x1p-8);
  const DeclaredArithmetic declared(splitting());
  EXPECT_GE(radius(), 31 * 0x1p-8);
  EXPECT_LE(radius(), 33 * 0x1p-8);
}

// Equal scores of 16 tokens weigh each value by 1/16.
TEST_F(SplitProducts, OfAttentionHaveRoundedParts) {
  const auto radius = [](const Numbers& key, const Numbers& value) {
    const auto width = static_cast<std::int64_t>(key.size() / 16);
    const TensorRef query = tensor(DType::kBFloat16, {16, 1, width}, Numbers(key.size(), 1));
    const TensorRef out = tensor(DType::kBFloat16, {16, 1, width}, Numbers(key.size(), -1));
    run("vllm.unified_attention_with_output.default",
        {{"query", {query}},
         {"key", {tensor(DType::kBFloat16, {16, 1, width}, key)}},
         {"value", {tensor(DType::kBFloat16, {16, 1, width}, value)}},
         {"output", {out}},
         {"layer_name", {std::string("0")}}},
        Mode::kWorstCase);
    return radii(*out)[15 * static_cast<std::size_t>(width)];
  };
  const double values_before = radius(Numbers(16, 0), two_parts());
  Numbers keys;
  Numbers distinct;
  for (int token = 0; token < 16; ++token) {
    const Numbers row = two_parts();
    keys.insert(keys.end(), row.begin(), row.end());
    distinct.insert(distinct.end(), 16, token);
  }
  const double scores_before = radius(keys, distinct);
  const DeclaredArithmetic declared(splitting());
  const double values_after = radius(Numbers(16, 0), two_parts());
  EXPECT_GE(values_after - values_before, 31 * 0x1p-12);
  EXPECT_LE(values_after - values_before, 33 * 0x1p-12);
  EXPECT_GT(radius(keys, distinct), scores_before + 31 * 0x1p-8 / 4);
}

}  // namespace
}  // namespace graphgate::reference::test
