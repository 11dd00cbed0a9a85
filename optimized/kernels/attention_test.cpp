#include <gtest/gtest.h>

#include <cmath>

#include "optimized/kernels/kernel_test.h"

namespace graphgate::optimized::testing {
namespace {

const spec::None kNone;

Tensor rough(const Sizes& sizes, int seed, DType dtype = DType::kFloat32) {
  Numbers values(static_cast<std::size_t>(checked_count(sizes)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(static_cast<double>(i) * 1.7 + seed);
  }
  return make_tensor(dtype, sizes, values);
}

TEST(Attention, GivesAQueryTheSameBitsAloneAndAmongOthers) {
  const Tensor q = rough({1, 2, 200, 8}, 1);
  const Tensor k = rough({1, 2, 150, 8}, 2);
  const Tensor v = rough({1, 2, 150, 8}, 3);
  const Tensor all = run_one("aten.scaled_dot_product_attention.default", {q, k, v});
  const Sizes strides = {3200, 1600, 8, 1};
  const Tensor alone = run_one("aten.scaled_dot_product_attention.default",
                               {view_of(q, {1, 2, 1, 8}, strides, 130 * 8), k, v});
  EXPECT_EQ(packed(alone), packed(view_of(all, {1, 2, 1, 8}, strides, 130 * 8)));
}

TEST(Attention, ReadsSharedHeadsAsIfTheyWereRepeated) {
  const Tensor q = rough({1, 4, 3, 8}, 1);
  const Tensor k = rough({1, 2, 5, 8}, 2);
  const Tensor v = rough({1, 2, 5, 8}, 3);
  const Tensor k_all = run_one("aten.repeat_interleave.self_int", {k, 2, 1});
  const Tensor v_all = run_one("aten.repeat_interleave.self_int", {v, 2, 1});
  EXPECT_EQ(packed(run_one("aten.scaled_dot_product_attention.default", {q, k, v},
                           {{"enable_gqa", true}})),
            packed(run_one("aten.scaled_dot_product_attention.default", {q, k_all, v_all})));
}

TEST(Attention, OfNothingButMaskedKeysIsZero) {
  const Tensor q = rough({1, 1, 2, 4}, 1);
  const Tensor mask = make_tensor(DType::kBool, {2, 2}, {0, 0, 1, 0});
  const Tensor out = run_one("aten.scaled_dot_product_attention.default", {q, q, q, mask});
  const Numbers values = numbers(out);
  EXPECT_EQ(Numbers(values.begin(), values.begin() + 4), (Numbers{0, 0, 0, 0}));
  const Numbers first = numbers(q);
  EXPECT_EQ(Numbers(values.begin() + 4, values.end()), Numbers(first.begin(), first.begin() + 4));
}

TEST(Attention, SeesNoKeyAfterItsQueryWhenCausal) {
  const Tensor q = rough({1, 1, 2, 4}, 1);
  const Tensor out =
      run_one("aten.scaled_dot_product_attention.default", {q, q, q, kNone, 0.0, true});
  const Numbers first = numbers(q);
  const Numbers values = numbers(out);
  EXPECT_EQ(Numbers(values.begin(), values.begin() + 4), Numbers(first.begin(), first.begin() + 4));
}

TEST(Vllm, AttendsIntoItsOwnQuery) {
  const Tensor q = rough({3, 2, 4}, 1);
  const Tensor same = run_one("aten.clone.default", {q});
  const Tensor out = make_tensor(DType::kFloat32, {3, 2, 4});
  run_op("vllm.unified_attention_with_output.default", {q, q, q, out, "layer"});
  run_op("vllm.unified_attention_with_output.default", {same, same, same, same, "layer"});
  EXPECT_EQ(packed(same), packed(out));
}

TEST(Vllm, RoundsEveryOperationOfRmsNorm) {
  const Tensor x = make_tensor(DType::kBFloat16, {1, 2}, {1, 0.00390625});
  const Tensor residual = make_tensor(DType::kBFloat16, {1, 2}, {1, 1});
  const Tensor weight = make_tensor(DType::kBFloat16, {2}, {1, 1});
  run_op("vllm.fused_add_rms_norm.default", {x, residual, weight, 0.0});
  EXPECT_EQ(numbers(residual), (Numbers{2, 1}));
  EXPECT_EQ(numbers(x), (Numbers{1.265625, 0.6328125}));  // rsqrt(2.5) is 0.6328125 in bf16
}

TEST(Vllm, MultipliesGroupsByTheirWeights) {
  const Tensor x = make_tensor(DType::kFloat32, {3, 1}, {1, 2, 3});
  const Tensor w = make_tensor(DType::kFloat32, {2, 1, 1}, {10, 100});
  const auto run = [&](std::int64_t a, std::int64_t b) {
    return numbers(run_one("transformers.grouped_mm_fallback.default",
                           {x, w, make_integers(DType::kInt32, {2}, {a, b})}));
  };
  EXPECT_EQ(run(1, 3), (Numbers{10, 200, 300}));
  EXPECT_EQ(run(0, 2), (Numbers{100, 200, 0}));
  EXPECT_THROW(run(2, 1), OpError);
  EXPECT_THROW(run(1, 4), OpError);
}

}  // namespace
}  // namespace graphgate::optimized::testing
