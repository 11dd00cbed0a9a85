#include "reference/tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/split_mix.h"
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

TEST(ElementWalk, MeetsEachElementInRowMajorOrderHoweverMuchIsAskedForAtOnce) {
  SplitMix64 draw(1);
  for (int round = 0; round < 2000; ++round) {
    Tensor tensor;
    tensor.offset = static_cast<std::int64_t>(draw.next() % 3);
    std::int64_t dense = 1;
    for (std::uint64_t d = 0, rank = draw.next() % 5; d < rank; ++d) {
      const auto size = static_cast<std::int64_t>(draw.next() % 4);
      // Dense where it can be, so that dimensions join; else at any distance, or none.
      const bool is_dense = draw.next() % 4 != 0;
      const std::int64_t stride = is_dense ? dense : static_cast<std::int64_t>(draw.next() % 7);
      tensor.sizes.insert(tensor.sizes.begin(), size);
      tensor.strides.insert(tensor.strides.begin(), stride);
      dense = stride * size;
    }
    std::vector<std::int64_t> met;
    ElementWalk walk(tensor);
    for (std::int64_t left = tensor.count(); left > 0;) {
      const std::int64_t part = std::min(left, static_cast<std::int64_t>(1 + draw.next() % 5));
      walk.next(part, [&](std::int64_t position, std::int64_t stride, std::int64_t count) {
        for (; count > 0; --count, position += stride) met.push_back(position);
      });
      left -= part;
    }
    EXPECT_EQ(met, element_positions(tensor)) << "round " << round;
  }
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

TEST(StoredMark, HoldsTheValueWholeAndTheRadiusRoundedUp) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  constexpr double kLeast = std::numeric_limits<double>::denorm_min();
  constexpr long double kWide = std::numeric_limits<long double>::max();
  for (const long double value : {0.0L, -0.0L, 1 / 3.0L, -kWide, 0x1p-16400L}) {
    EXPECT_EQ(StoredMark(value, 0).value(), value);
    EXPECT_EQ(std::signbit(StoredMark(value, 0).value()), std::signbit(value));
  }
  EXPECT_TRUE(std::isnan(StoredMark(std::numeric_limits<long double>::quiet_NaN(), 0).value()));
  for (const double radius : {0.0, kLeast, 0x1p-24, 0x1.123456789p-3, kInfinite}) {
    EXPECT_EQ(StoredMark(1, radius).radius(), radius);
  }
  for (const double radius : {2 * kLeast, 65536 * kLeast, 1e-310, 1 / 3.0, 0x1.fffffffffffffp0,
                              std::numeric_limits<double>::max()}) {
    const double held = StoredMark(1, radius).radius();
    EXPECT_GE(held, radius);
    EXPECT_LE(held, radius * (1 + 0x1p-36) + 0x20000 * kLeast);
  }
  EXPECT_TRUE(std::isnan(StoredMark(1, std::numeric_limits<double>::quiet_NaN()).radius()));
}

}  // namespace
}  // namespace graphgate::reference
