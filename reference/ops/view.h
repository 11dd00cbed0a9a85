// The geometry of views: where a view of a tensor lies. Shared by the view ops and by the ops that
// are defined through views (stack, roll, pad, reshape).
//
// Rules are PyTorch's, strides included. Offsets and strides count elements of the base's storage.
// Every function throws OpError for what the tensor cannot be viewed as.
#pragma once

#include <optional>

#include "reference/array.h"
#include "reference/tensor.h"

namespace graphgate::reference {

struct Geometry {
  Sizes sizes;
  Sizes strides;
  std::int64_t offset = 0;
};

[[nodiscard]] inline Geometry geometry_of(const Tensor& tensor) {
  return {tensor.sizes, tensor.strides, tensor.offset};
}
[[nodiscard]] inline TensorRef view_of(const Tensor& base, const Geometry& at) {
  return view_of(base, at.sizes, at.strides, at.offset);
}

// `sizes` with its one -1 replaced by what `count` elements leave for it.
[[nodiscard]] Sizes infer_sizes(Sizes sizes, std::int64_t count);

// The strides under which a tensor can be seen with other sizes of the same count; nothing when it
// would have to be copied.
[[nodiscard]] std::optional<Sizes> strides_for_view(const Tensor& tensor, const Sizes& sizes);

// A view with these sizes (-1 allowed) if there is one, else a contiguous copy with them.
[[nodiscard]] TensorRef reshaped(const Tensor& tensor, const Sizes& sizes);

// A dimension of size 1 put before dimension `dim` (0 <= dim <= rank).
[[nodiscard]] Geometry with_new_dim(const Tensor& tensor, std::int64_t dim);

// Index `index` (negative counts from the end) of a dimension, which goes away.
[[nodiscard]] Geometry selected(const Tensor& tensor, std::int64_t dim, std::int64_t index);

// [start, end) in steps, clamped to the dimension; negative bounds count from the end.
[[nodiscard]] Geometry sliced(const Tensor& tensor, std::int64_t dim,
                              std::optional<std::int64_t> start, std::optional<std::int64_t> end,
                              std::int64_t step);

// Stretched to `sizes`: -1 keeps a dimension, size 1 stretches, new dimensions come in front.
[[nodiscard]] Geometry expanded(const Tensor& tensor, const Sizes& sizes);

// Dimension d of the result is dimension dims[d] of the tensor.
[[nodiscard]] Geometry permuted(const Tensor& tensor, const Sizes& dims);

// The diagonal of the planes of two dimensions, as a new last dimension.
[[nodiscard]] Geometry diagonal_of(const Tensor& tensor, std::int64_t offset, std::int64_t dim1,
                                   std::int64_t dim2);

// Any geometry at all, inside the tensor's storage.
[[nodiscard]] Geometry strided_at(const Tensor& tensor, Sizes sizes, Sizes strides,
                                  std::optional<std::int64_t> offset);

}  // namespace graphgate::reference
