#include "reference/tensor.h"

#include <gtest/gtest.h>

#include "reference/array.h"

namespace graphgate::reference {
namespace {

using spec::DType;

TensorRef filled(const Sizes& sizes) {
  TensorRef tensor = new_tensor(DType::kFloat32, sizes, spec::Device{});
  Array<double> numbers(sizes);
  for (std::int64_t i = 0; i < numbers.count(); ++i) numbers[i] = static_cast<double>(i);
  store(*tensor, numbers);
  return tensor;
}

TEST(NewTensor, HasAStorageJustLargeEnoughForItsGeometry) {
  EXPECT_EQ(new_tensor(DType::kFloat32, {2, 3}, {10, 2}, {})->storage->size_bytes(), 4 * 15);
  EXPECT_EQ(new_tensor(DType::kFloat32, {2, 3}, {0, 0}, {})->storage->size_bytes(), 4);
  EXPECT_EQ(new_tensor(DType::kFloat32, {0, 3}, {3, 1}, {})->storage->size_bytes(), 0);
  EXPECT_EQ(new_tensor(DType::kInt64, Sizes{}, spec::Device{})->storage->size_bytes(), 8);
}

TEST(NewTensor, RefusesSizesThatNoMachineHolds) {
  EXPECT_THROW((void)new_tensor(DType::kFloat32, {std::int64_t{1} << 40}, spec::Device{}), OpError);
  EXPECT_THROW((void)new_tensor(DType::kFloat32, {std::int64_t{1} << 62, 4}, spec::Device{}),
               OpError);
}

TEST(ElementPositions, FollowStridesInRowMajorOrder) {
  const TensorRef base = filled({2, 3});
  const TensorRef transposed = view_of(*base, {3, 2}, {1, 3}, 0);
  EXPECT_EQ(element_positions(*transposed), (std::vector<std::int64_t>{0, 3, 1, 4, 2, 5}));
  const TensorRef slice = view_of(*base, {2}, {3}, 2);
  EXPECT_EQ(element_positions(*slice), (std::vector<std::int64_t>{2, 5}));
  const TensorRef expanded = view_of(*base, {2, 2}, {0, 1}, 1);
  EXPECT_EQ(element_positions(*expanded), (std::vector<std::int64_t>{1, 2, 1, 2}));
}

TEST(ElementPositions, AreOneWithoutDimensionsAndNoneForASizeOfZero) {
  const TensorRef base = filled({4});
  EXPECT_EQ(element_positions(*view_of(*base, {}, {}, 3)), (std::vector<std::int64_t>{3}));
  EXPECT_TRUE(element_positions(*view_of(*base, {0, 2}, {2, 1}, 0)).empty());
}

TEST(Contiguity, IgnoresTheStridesOfDimensionsOfSizeOne) {
  const TensorRef base = filled({6});
  EXPECT_TRUE(is_contiguous(*view_of(*base, {2, 1, 3}, {3, 77, 1}, 0)));
  EXPECT_FALSE(is_contiguous(*view_of(*base, {3, 2}, {1, 3}, 0)));
  EXPECT_TRUE(is_contiguous(*view_of(*base, {0, 2}, {9, 9}, 0)));
}

TEST(Density, HoldsForPermutationsAndNotForGapsOrOverlaps) {
  const TensorRef base = filled({6});
  EXPECT_TRUE(is_non_overlapping_and_dense(*view_of(*base, {3, 2}, {1, 3}, 0)));
  EXPECT_FALSE(is_non_overlapping_and_dense(*view_of(*base, {3}, {2}, 0)));
  EXPECT_FALSE(is_non_overlapping_and_dense(*view_of(*base, {2, 3}, {0, 1}, 0)));
}

TEST(Views, SeeWhatIsWrittenThroughAnother) {
  const TensorRef base = filled({2, 2});
  const TensorRef column = view_of(*base, {2}, {2}, 1);
  store(*column, Array<double>({2}, 9));
  EXPECT_EQ(load<double>(*base, DType::kFloat32).data, (std::vector<double>{0, 9, 2, 9}));
}

TEST(BorrowedStorage, IsCopiedByTheFirstWriteForAllItsViews) {
  const TensorRef base = filled({2});
  const std::shared_ptr<spec::HostStorage> lender = base->storage->host;
  const std::vector<std::byte> before = lender->bytes;
  base->storage->borrowed = true;
  const TensorRef view = view_of(*base, {1}, {1}, 1);
  store(*view, Array<double>({1}, 5));
  EXPECT_EQ(lender->bytes, before);
  EXPECT_EQ(load<double>(*base, DType::kFloat32).data, (std::vector<double>{0, 5}));
  const std::shared_ptr<spec::HostStorage> own = base->storage->host;
  store(*view, Array<double>({1}, 6));  // the second write stays in the copy
  EXPECT_EQ(base->storage->host, own);
}

}  // namespace
}  // namespace graphgate::reference
