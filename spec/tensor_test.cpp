#include "spec/tensor.h"

#include <gtest/gtest.h>

namespace graphgate::spec {
namespace {

TEST(ElementCount, RefusesNegativeSizesAndOverflow) {
  EXPECT_EQ(checked_element_count({}), 1);
  EXPECT_EQ(checked_element_count({2, 0, 3}), 0);
  EXPECT_EQ(checked_element_count({2, -1}), std::nullopt);
  EXPECT_EQ(checked_element_count({std::int64_t{1} << 32, std::int64_t{1} << 31}), std::nullopt);
}

TEST(ContiguousStrides, CountASizeOfZeroAsOne) {
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (std::vector<std::int64_t>{12, 4, 1}));
  EXPECT_EQ(contiguous_strides({2, 0, 4}), (std::vector<std::int64_t>{4, 4, 1}));
}

TEST(GeometryFits, LooksAtTheLastElement) {
  HostTensor tensor = make_host_tensor(DType::kFloat32, {2, 3});
  EXPECT_TRUE(geometry_fits(tensor, 24));
  EXPECT_FALSE(geometry_fits(tensor, 23));
  tensor.storage_offset = 1;
  EXPECT_FALSE(geometry_fits(tensor, 24));
  EXPECT_TRUE(geometry_fits(tensor, 28));
  tensor.strides = {-3, 1};
  EXPECT_FALSE(geometry_fits(tensor, 1000));
  tensor.strides = {INT64_MAX, INT64_MAX};
  EXPECT_FALSE(geometry_fits(tensor, INT64_MAX));
  tensor.strides = {1};
  EXPECT_FALSE(geometry_fits(tensor, 1000));
}

TEST(PackedBytes, FollowTheStrides) {
  HostTensor tensor = make_host_tensor(DType::kUInt8, {6});
  for (std::size_t i = 0; i < 6; ++i) tensor.storage->bytes[i] = static_cast<std::byte>(i);
  tensor.sizes = {2, 2};
  tensor.strides = {1, 3};
  tensor.storage_offset = 1;
  EXPECT_EQ(packed_bytes(tensor),
            (std::vector<std::byte>{std::byte{1}, std::byte{4}, std::byte{2}, std::byte{5}}));
}

}  // namespace
}  // namespace graphgate::spec
