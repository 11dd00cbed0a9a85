// Tensors as the optimized executor's stages and kernels see them: a geometry over a storage.
//
// While shapes are inferred there are no bytes; when a step is bound, `bytes` is the address that
// the plan gave to the storage. Sizes, strides and offsets are numbers by then: a plan is for one
// binding of the symbols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "optimized/small_vector.h"
#include "spec/dtype.h"

namespace graphgate::optimized {

// Few tensors have more dimensions.
using Sizes = SmallVector<std::int64_t, 6>;

// Returns the number of a dimension, or another that is not negative, as a container's index.
[[nodiscard]] constexpr std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// What an op refuses: wrong sizes, dtypes or numbers. Thrown inside optimized/, and turned into an
// Error with the node's name where it leaves the folder.
class OpError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Thrown where an op is right, and this executor cannot run it.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using StorageIndex = std::uint32_t;
inline constexpr StorageIndex kNoStorage = static_cast<StorageIndex>(-1);

// `strides` and `offset` count elements; `offset` is from the start of the storage. Two tensors
// with one `storage` share bytes. `bytes` is the storage's first byte, null while shapes are
// inferred.
struct Tensor {
  spec::DType dtype = spec::DType::kFloat32;
  Sizes sizes = {};
  Sizes strides = {};
  std::int64_t offset = 0;
  spec::Device device = {};
  StorageIndex storage = kNoStorage;
  std::byte* bytes = nullptr;

  [[nodiscard]] std::int64_t rank() const { return static_cast<std::int64_t>(sizes.size()); }
  [[nodiscard]] std::int64_t count() const;       // elements
  [[nodiscard]] std::int64_t item_bytes() const;  // of one element
  // The first element. Null without bytes.
  [[nodiscard]] std::byte* data() const;
  [[nodiscard]] std::int64_t size(std::int64_t dim) const;  // dim in [-rank, rank)
  // The same geometry at the same address.
  friend bool operator==(const Tensor&, const Tensor&) = default;
};

// Bytes [begin, end) of a storage.
struct ByteRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  [[nodiscard]] bool overlaps(const ByteRange& other) const {
    return begin < other.end && other.begin < end;
  }
};
// The least range that holds every element; empty for a tensor without elements. Strides >= 0.
[[nodiscard]] ByteRange byte_range(const Tensor& tensor);
// Whether the two may share a byte: one storage, and ranges that overlap.
[[nodiscard]] bool may_overlap(const Tensor& a, const Tensor& b);
[[nodiscard]] bool same_geometry(const Tensor& a, const Tensor& b);

// The product of sizes. Throws OpError for a negative size or a product of 2^63 or more.
[[nodiscard]] std::int64_t checked_count(const Sizes& sizes);
// Row-major; a size of 0 counts as 1.
[[nodiscard]] Sizes row_major_strides(const Sizes& sizes);
[[nodiscard]] Sizes strides_in_bytes(const Tensor& tensor);
// Dense in row-major order (Tensor.is_contiguous()).
[[nodiscard]] bool is_contiguous(const Tensor& tensor);
// Every element of the span of bytes belongs to exactly one index, in some order of dimensions.
[[nodiscard]] bool is_dense(const Tensor& tensor);

// `dim` in [-rank, rank) as one in [0, rank); a rank of 0 counts as 1. Throws OpError.
[[nodiscard]] std::int64_t wrap_dim(std::int64_t dim, std::int64_t rank);
// The same for several, each at most once; all dimensions in order when `dims` is empty and
// `empty_is_all`.
[[nodiscard]] std::vector<std::int64_t> wrap_dims(const Sizes& dims, std::int64_t rank,
                                                  bool empty_is_all);

// The common sizes of a broadcast. Throws OpError naming both sizes when they do not fit.
[[nodiscard]] Sizes broadcast_sizes(const Sizes& a, const Sizes& b);
[[nodiscard]] Sizes broadcast_sizes(std::span<const Tensor* const> tensors);
// The strides of `tensor` at the sizes that it broadcasts to: 0 where it is stretched.
[[nodiscard]] Sizes broadcast_strides(const Tensor& tensor, const Sizes& sizes);
// A view of it at those sizes.
[[nodiscard]] Tensor broadcast_to(const Tensor& tensor, const Sizes& sizes);

// "[2, 3]", for messages.
[[nodiscard]] std::string print_sizes(const Sizes& sizes);

}  // namespace graphgate::optimized
