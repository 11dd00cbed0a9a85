#include <cmath>

#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

TensorRef attend(const TensorRef& query, const TensorRef& key, const TensorRef& value,
                 Arguments more = {}, Mode mode = Mode::kEager) {
  more.insert(more.end(), {{"query", {query}}, {"key", {key}}, {"value", {value}}});
  return run_tensor("aten.scaled_dot_product_attention.default", more, mode);
}

// Queries of zeros weigh all keys alike.
const TensorRef& zeros() {
  static const TensorRef kZeros = tensor(DType::kFloat32, {1, 1, 2, 1}, {0, 0});
  return kZeros;
}

TEST(Attention, IsCausalFromTheFirstKeyOn) {
  const TensorRef value = tensor(DType::kFloat32, {1, 1, 2, 1}, {2, 6});
  EXPECT_EQ(values(*attend(zeros(), zeros(), value, {{"is_causal", {true}}})), (Numbers{2, 4}));
}

TEST(Attention, GivesZerosWhereEveryKeyIsMasked) {
  const TensorRef value = tensor(DType::kFloat32, {1, 1, 2, 1}, {2, 6});
  const TensorRef mask = tensor(DType::kBool, {2, 2}, {0, 0, 0, 1});
  EXPECT_EQ(values(*attend(zeros(), zeros(), value, {{"attn_mask", {mask}}})), (Numbers{0, 6}));
}

TEST(Attention, AMaskedInfinityIsNotHidden) {
  const TensorRef value = tensor(DType::kFloat32, {1, 1, 2, 1}, {2, INFINITY});
  const TensorRef mask = tensor(DType::kBool, {1, 2}, {1, 0});
  EXPECT_TRUE(std::isnan(values(*attend(zeros(), zeros(), value, {{"attn_mask", {mask}}}))[0]));
}

TEST(Attention, SharesKeyHeadsInGroups) {
  const TensorRef query = tensor(DType::kFloat32, {1, 4, 1, 1}, {1, 1, 1, 1});
  const TensorRef key = tensor(DType::kFloat32, {1, 2, 1, 1}, {1, 1});
  const TensorRef value = tensor(DType::kFloat32, {1, 2, 1, 1}, {5, 7});
  EXPECT_EQ(values(*attend(query, key, value, {{"enable_gqa", {true}}})), (Numbers{5, 5, 7, 7}));
}

TEST(Attention, KeepsTheStridesOfTheQueryInTheFusedKernel) {
  const TensorRef query = tensor(DType::kFloat32, {1, 2, 3, 4}, Numbers(24, 1), {24, 4, 8, 1});
  EXPECT_EQ(attend(query, query, query)->strides, (Sizes{24, 4, 8, 1}));
}

// What an H200 gave in eager mode.
TEST(Attention, HasTheStridesOfCudaKernels) {
  Arithmetic arithmetic;
  arithmetic.has_cuda_kernels = true;
  const DeclaredArithmetic declared(arithmetic);
  const auto strides = [](DType dtype, Sizes sizes, std::int64_t keys, Arguments more) {
    const TensorRef query = new_tensor(dtype, sizes, {});
    sizes[2] = keys;
    const TensorRef key = new_tensor(dtype, sizes, {});
    return attend(query, key, key, std::move(more))->strides;
  };
  const Arguments causal = {{"is_causal", {true}}};
  EXPECT_EQ(strides(DType::kFloat32, {1, 2, 7, 4}, 7, {}), (Sizes{56, 4, 8, 1}));
  EXPECT_EQ(strides(DType::kFloat32, {1, 2, 7, 4}, 5, causal), (Sizes{56, 4, 8, 1}));
  EXPECT_EQ(strides(DType::kFloat32, {2, 3, 1, 8}, 4, {}), (Sizes{24, 8, 24, 1}));
  EXPECT_EQ(strides(DType::kFloat32, {1, 2, 4, 3}, 4, {}), (Sizes{24, 12, 3, 1}));
  EXPECT_EQ(strides(DType::kFloat32, {1, 2, 0, 8}, 4, {}), (Sizes{16, 8, 8, 1}));
  EXPECT_EQ(strides(DType::kFloat16, {1, 2, 7, 4}, 7, causal), (Sizes{112, 56, 8, 1}));
  EXPECT_EQ(strides(DType::kFloat16, {1, 2, 7, 4}, 5, causal), (Sizes{56, 28, 4, 1}));
  EXPECT_EQ(strides(DType::kBFloat16, {1, 2, 7, 4}, 5, {}), (Sizes{112, 56, 8, 1}));
  const TensorRef mask = tensor(DType::kBFloat16, {7, 7}, Numbers(49, 0));
  EXPECT_EQ(strides(DType::kBFloat16, {1, 2, 7, 4}, 7, {{"attn_mask", {mask}}}),
            (Sizes{56, 28, 4, 1}));
  EXPECT_EQ(strides(DType::kBFloat16, {1, 2, 4, 64}, 4, {}), (Sizes{512, 256, 64, 1}));
  EXPECT_EQ(strides(DType::kFloat64, {1, 2, 7, 4}, 7, {}), (Sizes{56, 28, 4, 1}));
}

TEST(Attention, BoundsTheCastOfItsWeightsTo16Bits) {
  // Weights 1/3 and 2/3 of the values 0 and 1: off by half a unit in the last place of the weight
  // and of the result.
  const TensorRef query = tensor(DType::kBFloat16, {1, 1, 1, 1}, {1});
  const TensorRef key = tensor(DType::kBFloat16, {1, 1, 3, 1}, {1, 1, 1});
  const TensorRef value = tensor(DType::kBFloat16, {1, 1, 3, 1}, {0, 0, 1});
  const TensorRef out = attend(query, key, value, {}, Mode::kWorstCase);
  const double radius = radii(*out)[0];
  EXPECT_GE(radius, 0x1p-8 / 3);
  EXPECT_LE(radius, 0x1p-8 / 3 + 0x1.1p-10);
}

TEST(FusedAttention, GivesTheLogarithmOfTheSumWithHeadsFastest) {
  const TensorRef query = tensor(DType::kFloat32, {1, 2, 2, 1}, {0, 0, 0, 0});
  const std::vector<Datum> results =
      run("aten._scaled_dot_product_flash_attention_for_cpu.default",
          {{"query", {query}}, {"key", {query}}, {"value", {query}}});
  const Tensor& sums = **results.at(1).as<TensorRef>();
  EXPECT_EQ(sums.strides, (Sizes{4, 1, 2}));
  for (const double x : values(sums)) EXPECT_NEAR(x, std::log(2.0), 1e-7);
}

// Kernels that pass over masked keys see no infinity behind the mask, those that multiply by zero
// make NaN of it. The first query sees all keys but the last.
TEST(Attention, LeavesOpenWhatIsNotFiniteBehindTheMask) {
  const auto is_open = [](const Numbers& key, const Numbers& value, bool causal) {
    const TensorRef k = tensor(DType::kFloat32, {1, 1, 2, 1}, key);
    const TensorRef v = tensor(DType::kFloat32, {1, 1, 2, 1}, value);
    const TensorRef query = tensor(DType::kFloat32, {1, 1, 1, 1}, {1});
    const TensorRef mask = tensor(DType::kBool, {1, 2}, {1, 0});
    const Arguments more = {causal ? std::pair<std::string, Datum>{"is_causal", {true}}
                                   : std::pair<std::string, Datum>{"attn_mask", {mask}}};
    return std::isinf(radii(*attend(query, k, v, more, Mode::kWorstCase))[0]);
  };
  for (const bool causal : {false, true}) {
    EXPECT_TRUE(is_open({1, 1}, {2, INFINITY}, causal));
    EXPECT_TRUE(is_open({1, 1}, {2, NAN}, causal));
    EXPECT_TRUE(is_open({1, NAN}, {2, 3}, causal));
    EXPECT_FALSE(is_open({1, 1}, {2, 3}, causal));
  }
}

// The mask of the first query is -infinity or NaN, and so no weight of its row is sure.
TEST(Attention, LeavesARowOpenThatMayBeMasked) {
  const TensorRef mask = tensor(DType::kFloat64, {2, 2}, Numbers(4, -INFINITY));
  add_marks(*mask);
  mask->storage->marks[0].set_radius(INFINITY);
  mask->storage->marks[1].set_radius(INFINITY);
  const TensorRef query = tensor(DType::kFloat64, {1, 1, 2, 1}, {0, 0});
  const TensorRef value = tensor(DType::kFloat64, {1, 1, 2, 1}, {2, 6});
  const TensorRef out = attend(query, query, value, {{"attn_mask", {mask}}}, Mode::kWorstCase);
  EXPECT_EQ(radii(*out), (Numbers{INFINITY, 0}));
}

}  // namespace
}  // namespace graphgate::reference::test
