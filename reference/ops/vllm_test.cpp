#include "reference/ops/op_test.h"

namespace graphgate::reference {
namespace {

using spec::DType;
using test::tensor;
using test::values;
using Values = std::vector<double>;

TEST(UnifiedAttention, ReadsTheKeyHeadOfItsGroupAndNoLaterToken) {
  const TensorRef query = tensor(DType::kFloat32, {2, 2, 1}, {0, 0, 0, 0});
  const TensorRef value = tensor(DType::kFloat32, {2, 1, 1}, {2, 6});
  const TensorRef out = tensor(DType::kFloat32, {2, 2, 1}, Values(4, -1));
  test::run("vllm.unified_attention_with_output.default", {{"query", {query}},
                                                           {"key", {value}},
                                                           {"value", {value}},
                                                           {"output", {out}},
                                                           {"layer_name", {std::string("0")}}});
  EXPECT_EQ(values(*out), (Values{2, 2, 4, 4}));
}

TEST(FusedAddRmsNorm, WritesTheSumAndNormalizesIt) {
  const TensorRef input = tensor(DType::kFloat32, {1, 2}, {1, 1});
  const TensorRef residual = tensor(DType::kFloat32, {1, 2}, {2, -4});
  test::run("vllm.fused_add_rms_norm.default", {{"input", {input}},
                                                {"residual", {residual}},
                                                {"weight", {tensor(DType::kFloat32, {2}, {1, 10})}},
                                                {"epsilon", {7.0}}});
  EXPECT_EQ(values(*residual), (Values{3, -3}));
  EXPECT_EQ(values(*input), (Values{0.75, -7.5}));  // 1 / sqrt(9 + 7) is 1/4
}

TEST(SiluAndMul, GatesTheSecondHalfByTheFirst) {
  const TensorRef out = tensor(DType::kFloat32, {1, 1}, {-1});
  test::run("vllm.silu_and_mul.default",
            {{"out", {out}}, {"input", {tensor(DType::kFloat32, {1, 2}, {0, 5})}}});
  EXPECT_EQ(values(*out), Values{0});
}

TEST(GroupedProduct, TakesEachRowWithTheWeightOfItsGroup) {
  const TensorRef input = tensor(DType::kFloat32, {4, 1}, {1, 2, 3, 4});
  const TensorRef weight = tensor(DType::kFloat32, {3, 1, 1}, {10, 100, 1000});
  const TensorRef out = test::run_tensor("transformers.grouped_mm_fallback.default",
                                         {{"input", {input}},
                                          {"weight", {weight}},
                                          {"offs", {tensor(DType::kInt32, {3}, {1, 1, 3})}}});
  EXPECT_EQ(values(*out), (Values{10, 2000, 3000, 0}));
}

TEST(UnifiedAttention, LeavesOpenWhatIsNotFiniteAtLaterTokens) {
  const auto openness = [](const Values& key, const Values& value) {
    const TensorRef query = tensor(DType::kFloat32, {2, 1, 1}, {1, 1});
    const TensorRef out = tensor(DType::kFloat32, {2, 1, 1}, Values(2, -1));
    test::run("vllm.unified_attention_with_output.default",
              {{"query", {query}},
               {"key", {tensor(DType::kFloat32, {2, 1, 1}, key)}},
               {"value", {tensor(DType::kFloat32, {2, 1, 1}, value)}},
               {"output", {out}},
               {"layer_name", {std::string("0")}}},
              Mode::kWorstCase);
    return std::isinf(test::radii(*out)[0]);
  };
  EXPECT_TRUE(openness({1, 1}, {2, INFINITY}));
  EXPECT_TRUE(openness({1, NAN}, {2, 3}));
  EXPECT_FALSE(openness({1, 1}, {2, 3}));
}

}  // namespace
}  // namespace graphgate::reference
