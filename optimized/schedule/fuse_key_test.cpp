#include "optimized/schedule/fuse_key.h"

#include <gtest/gtest.h>

namespace graphgate::optimized {
namespace {

Tensor tensor_over(StorageIndex storage, const Sizes& sizes = {4, 6}) {
  return Tensor{.sizes = sizes, .strides = row_major_strides(sizes), .storage = storage};
}

// add.Tensor(self, other, alpha=1) -> result
TileCall add_of(Tensor self, Tensor other, Tensor result) {
  TileCall call;
  call.row = spec::builtin_op_table().find("aten.add.Tensor");
  call.kernel = find_kernel(*call.row);
  call.arguments = {{std::move(self)}, {std::move(other)}, {std::int64_t{1}}};
  call.results = {std::move(result)};
  return call;
}

std::string key_of_one(const TileCall& call, StorageIndex inner = kNoStorage) {
  return key_of(std::span(&call, 1), [&](StorageIndex storage) { return storage == inner; });
}

const TileCall& plain() {
  static const TileCall kCall = add_of(tensor_over(0), tensor_over(1), tensor_over(2));
  return kCall;
}

TEST(CallKeys, AreEqualWhereOnlyStoragesHaveOtherNumbers) {
  EXPECT_EQ(key_of_one(plain()),
            key_of_one(add_of(tensor_over(7), tensor_over(3), tensor_over(9))));
}

TEST(CallKeys, TellWhichTensorsShareAStorage) {
  EXPECT_NE(key_of_one(plain()),
            key_of_one(add_of(tensor_over(0), tensor_over(0), tensor_over(2))));
  EXPECT_NE(key_of_one(plain()),
            key_of_one(add_of(tensor_over(0), tensor_over(1), tensor_over(0))));
}

TEST(CallKeys, TellGeometriesDtypesAndDevicesApart) {
  Tensor wide = tensor_over(1);
  wide.dtype = spec::DType::kFloat64;
  Tensor shifted = tensor_over(1);
  shifted.offset = 6;
  Tensor turned = tensor_over(1);
  turned.strides = {1, 4};
  Tensor elsewhere = tensor_over(1);
  elsewhere.device = {"cuda", 0};
  for (const Tensor& other : {wide, shifted, turned, elsewhere, tensor_over(1, {6})}) {
    EXPECT_NE(key_of_one(plain()), key_of_one(add_of(tensor_over(0), other, tensor_over(2))));
  }
}

TEST(CallKeys, TellOpsAndNumbersApart) {
  TileCall other_op = plain();
  other_op.row = spec::builtin_op_table().find("aten.sub.Tensor");
  other_op.kernel = find_kernel(*other_op.row);
  EXPECT_NE(key_of_one(plain()), key_of_one(other_op));
  TileCall other_number = plain();
  other_number.arguments[2] = {std::int64_t{2}};
  EXPECT_NE(key_of_one(plain()), key_of_one(other_number));
  TileCall other_kind = plain();
  other_kind.arguments[2] = {1.0};
  EXPECT_NE(key_of_one(plain()), key_of_one(other_kind));
}

TEST(CallKeys, TellInnerStoragesFromOthers) {
  EXPECT_NE(key_of_one(plain()), key_of_one(plain(), 2));
  EXPECT_NE(key_of_one(plain(), 1), key_of_one(plain(), 2));
}

// What one call makes and the next reads: the same as two calls apart but for the storage.
TEST(CallKeys, FollowStoragesFromCallToCall) {
  const auto none = [](StorageIndex /*storage*/) { return false; };
  const std::vector<TileCall> linked = {plain(),
                                        add_of(tensor_over(2), tensor_over(1), tensor_over(3))};
  const std::vector<TileCall> apart = {plain(),
                                       add_of(tensor_over(4), tensor_over(1), tensor_over(3))};
  EXPECT_NE(key_of(linked, none), key_of(apart, none));
}

}  // namespace
}  // namespace graphgate::optimized
