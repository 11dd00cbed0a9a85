#include "optimized/codegen/pointwise_text.h"

#include <array>

#include "base/result_test.h"
#include "optimized/codegen/kernels.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

std::array<std::byte, 4096> places;

Tensor tensor(std::size_t at, Sizes sizes, StorageIndex storage) {
  Tensor out;
  out.sizes = std::move(sizes);
  out.strides = row_major_strides(out.sizes);
  out.storage = storage;
  out.bytes = places.data() + at;
  return out;
}

PointwiseWork exp_work(const Tensor& result, const Tensor& operand) {
  return {result,
          DType::kFloat32,
          DType::kFloat32,
          "element::Exp{}",
          {{operand, DType::kFloat32, false, 0}}};
}

bool mentions(const TextWork& work, const std::string& text) {
  return work.statements.find(text) != std::string::npos;
}

TEST(PointwiseGroup, KeepsWhatNobodyElseReadsInRegisters) {
  const Tensor x = tensor(0, {8, 4}, 0);
  const Tensor inner = tensor(1024, {8, 4}, 1);
  const Tensor y = tensor(2048, {8, 1, 4}, 2);
  PointwiseGroup group(exp_work(inner, x));
  Tensor same = inner;
  same.sizes = {8, 1, 4};
  same.strides = {4, 4, 1};
  ASSERT_TRUE(group.takes(exp_work(y, same)));
  group.add(exp_work(y, same));
  const TextWork fused = group.text([](std::size_t work) { return work == 1; });
  EXPECT_EQ(fused.threads, 32);
  EXPECT_EQ(fused.pointers, (std::vector<std::byte*>{y.data(), x.data()}));
  const TextWork both = group.text([](std::size_t) { return true; });
  EXPECT_EQ(both.pointers.size(), 3U);
}

TEST(PointwiseGroup, RefusesAnotherShape) {
  const PointwiseGroup group(exp_work(tensor(1024, {8, 4}, 1), tensor(0, {8, 4}, 0)));
  EXPECT_FALSE(group.takes(exp_work(tensor(2048, {4, 8}, 2), tensor(0, {4, 8}, 0))));
}

TEST(PointwiseGroup, RefusesAReadOfWhatAnotherThreadMakes) {
  const PointwiseGroup group(exp_work(tensor(1024, {8, 8}, 1), tensor(0, {8, 8}, 0)));
  Tensor transposed = tensor(1024, {8, 8}, 1);
  transposed.strides = {1, 8};
  EXPECT_FALSE(group.takes(exp_work(tensor(2048, {8, 8}, 2), transposed)));
}

TEST(PointwiseGroup, RefusesAWriteOverWhatAnotherThreadReads) {
  Tensor transposed = tensor(0, {8, 8}, 0);
  transposed.strides = {1, 8};
  const PointwiseGroup group(exp_work(tensor(1024, {8, 8}, 1), transposed));
  EXPECT_FALSE(group.takes(exp_work(tensor(0, {8, 8}, 0), tensor(2048, {8, 8}, 2))));
  EXPECT_TRUE(group.takes(exp_work(tensor(3072, {8, 8}, 3), tensor(2048, {8, 8}, 2))));
}

TEST(DeviceProgramText, MakesOneKernelOfEqualWorks) {
  DeviceProgramText program;
  const Tensor x = tensor(0, {8}, 0);
  const auto first = program.add({exp_work(tensor(1024, {8}, 1), x)});
  const auto second = program.add({exp_work(tensor(2048, {8}, 2), x)});
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].name, second[0].name);
  EXPECT_NE(first[0].pointers, second[0].pointers);
  EXPECT_EQ(program.kernel_count(), 1U);
  (void)program.add({exp_work(tensor(1024, {16}, 1), tensor(0, {16}, 0))});
  EXPECT_EQ(program.kernel_count(), 2U);
  EXPECT_TRUE(contains(program.source(), "element::Exp{}"));
}

TEST(DeviceProgramText, SkipsWorksWithoutElements) {
  DeviceProgramText program;
  EXPECT_TRUE(program.add({exp_work(tensor(1024, {0}, 1), tensor(0, {0}, 0))}).empty());
  EXPECT_TRUE(program.empty());
}

TEST(PointwiseText, WalksAlongTheResultAndMergesDimensions) {
  const TextWork dense = pointwise_text(exp_work(tensor(1024, {8, 4}, 1), tensor(0, {8, 4}, 0)));
  EXPECT_TRUE(mentions(dense, "x0 * 4"));
  EXPECT_FALSE(mentions(dense, "x1"));
  Tensor row = tensor(0, {4}, 0);
  const TextWork broadcast = pointwise_text(exp_work(tensor(1024, {8, 4}, 1), row));
  EXPECT_TRUE(mentions(broadcast, "x1 * 4"));
}

}  // namespace
}  // namespace graphgate::optimized
