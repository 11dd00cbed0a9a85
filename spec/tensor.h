// Tensors as vocabulary: the declared type of a value, and bytes with a geometry.
//
// TensorType is what a graph says of a value (sizes may be symbolic). HostTensor is what goes in
// and out of an executor: a geometry over a storage. Two HostTensors that hold the same storage
// pointer alias.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "spec/dtype.h"
#include "spec/sym_expr.h"

namespace graphgate::spec {

// sizes and strides have the same length, the rank; strides and storage_offset count elements.
struct TensorType {
  DType dtype = DType::kFloat32;
  std::vector<SymExpr> sizes;
  std::vector<SymExpr> strides;
  SymExpr storage_offset;
  Device device;
  Layout layout = Layout::kStrided;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

// The bytes that views share. Elements are little-endian, one after the other.
struct HostStorage {
  std::vector<std::byte> bytes;
};

// A strided view of a storage; strides and storage_offset count elements of `dtype`.
// Invariant (checked by whoever builds one from outside): every element lies inside the storage.
struct HostTensor {
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::int64_t storage_offset = 0;
  Device device;
  std::shared_ptr<HostStorage> storage;
};

// Product of sizes; 1 for rank 0. Sizes must be >= 0 and the product below 2^63.
[[nodiscard]] std::int64_t element_count(const std::vector<std::int64_t>& sizes);

// The same with every check: nullopt for a negative size or a product of 2^63 or more.
[[nodiscard]] std::optional<std::int64_t> checked_element_count(
    const std::vector<std::int64_t>& sizes);

// Row-major strides in elements; a size of 0 counts as 1, as in PyTorch.
[[nodiscard]] std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& sizes);

// Whether every element of the geometry lies in a storage of `storage_bytes` bytes. False on
// overflow, a negative size, stride or offset, and mismatched ranks.
[[nodiscard]] bool geometry_fits(const HostTensor& tensor, std::int64_t storage_bytes);

// A zero-filled contiguous tensor with a storage of its own.
[[nodiscard]] HostTensor make_host_tensor(DType dtype, std::vector<std::int64_t> sizes,
                                          Device device = {});

// The elements in row-major order, as tightly packed bytes: what a file stores.
[[nodiscard]] std::vector<std::byte> packed_bytes(const HostTensor& tensor);

}  // namespace graphgate::spec
