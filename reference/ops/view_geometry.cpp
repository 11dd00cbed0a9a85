#include <algorithm>

#include "reference/ops/view.h"

namespace graphgate::reference {
namespace {

std::size_t at(std::int64_t dim) { return static_cast<std::size_t>(dim); }

// Row-major strides as view gives them to a tensor without elements: a size of 0 counts as 1.
Sizes strides_without_elements(const Sizes& sizes) { return spec::contiguous_strides(sizes); }

}  // namespace

Sizes infer_sizes(Sizes sizes, std::int64_t count) {
  std::optional<std::size_t> unknown;
  Sizes given = sizes;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == -1) {
      if (unknown) throw OpError("only one dimension can be inferred");
      unknown = d;
      given[d] = 1;
    } else if (sizes[d] < 0) {
      throw OpError("invalid shape dimension " + std::to_string(sizes[d]));
    }
  }
  const auto checked = spec::checked_element_count(given);
  if (!checked) throw OpError("the sizes of a view multiply to more than 2^63");
  const std::int64_t known = *checked;
  if (unknown && known == 0) {
    throw OpError("cannot reshape: the size written -1 could be anything beside a size of 0");
  }
  const bool fits = unknown ? count % known == 0 : count == known;
  if (!fits) {
    throw OpError("sizes of " + std::to_string(known) + " elements are invalid for a tensor of " +
                  std::to_string(count));
  }
  if (unknown) sizes[*unknown] = count / known;
  return sizes;
}

std::optional<Sizes> strides_for_view(const Tensor& tensor, const Sizes& sizes) {
  if (tensor.rank() == 0) return Sizes(sizes.size(), 1);
  if (tensor.count() == 0) {
    return tensor.sizes == sizes ? tensor.strides : strides_without_elements(sizes);
  }
  Sizes strides(sizes.size(), 0);
  std::size_t next = sizes.size();  // view dimensions below it are still without a stride
  std::int64_t in_chunk = 1;        // elements of the run of dimensions that step as one
  std::int64_t chunk_stride = tensor.strides.back();
  for (std::size_t d = tensor.sizes.size(); d-- > 0;) {
    in_chunk *= tensor.sizes[d];
    const bool ends =
        d == 0 || (tensor.sizes[d - 1] != 1 && tensor.strides[d - 1] != in_chunk * chunk_stride);
    if (!ends) continue;
    std::int64_t placed = 1;
    while (next > 0 && (placed < in_chunk || sizes[next - 1] == 1)) {
      --next;
      strides[next] = placed * chunk_stride;
      placed *= sizes[next];
    }
    if (placed != in_chunk) return std::nullopt;
    if (d > 0) chunk_stride = tensor.strides[d - 1];
    in_chunk = 1;
  }
  return next == 0 ? std::optional(strides) : std::nullopt;
}

Geometry with_new_dim(const Tensor& tensor, std::int64_t dim) {
  Geometry out = geometry_of(tensor);
  const std::int64_t stride =
      dim < tensor.rank() ? tensor.sizes[at(dim)] * tensor.strides[at(dim)] : 1;
  out.sizes.insert(out.sizes.begin() + dim, 1);
  out.strides.insert(out.strides.begin() + dim, stride);
  return out;
}

Geometry selected(const Tensor& tensor, std::int64_t dim, std::int64_t index) {
  if (tensor.rank() == 0) throw OpError("select() cannot be applied to a 0-dim tensor");
  const std::int64_t d = wrap_dim(dim, tensor.rank());
  const std::int64_t size = tensor.sizes[at(d)];
  if (index < -size || index >= size) {
    throw OpError("select(): index " + std::to_string(index) + " out of range for size " +
                  std::to_string(size) + " of dimension " + std::to_string(d));
  }
  Geometry out = geometry_of(tensor);
  out.offset += (index < 0 ? index + size : index) * tensor.strides[at(d)];
  out.sizes.erase(out.sizes.begin() + d);
  out.strides.erase(out.strides.begin() + d);
  return out;
}

Geometry sliced(const Tensor& tensor, std::int64_t dim, std::optional<std::int64_t> start,
                std::optional<std::int64_t> end, std::int64_t step) {
  if (tensor.rank() == 0) throw OpError("slice() cannot be applied to a 0-dim tensor");
  if (step <= 0) throw OpError("slice step must be positive");
  const std::size_t d = at(wrap_dim(dim, tensor.rank()));
  const std::int64_t size = tensor.sizes[d];
  const auto clamped = [size](std::int64_t bound) {
    return std::clamp<std::int64_t>(bound < 0 ? bound + size : bound, 0, size);
  };
  const std::int64_t from = clamped(start.value_or(0));
  const std::int64_t to = std::max(from, clamped(end.value_or(INT64_MAX)));
  Geometry out = geometry_of(tensor);
  const std::int64_t length = to - from;
  out.offset += from * tensor.strides[d];
  out.sizes[d] = length / step + (length % step == 0 ? 0 : 1);
  if (__builtin_mul_overflow(tensor.strides[d], step, &out.strides[d])) {
    throw OpError("slice step is too large");
  }
  return out;
}

Geometry expanded(const Tensor& tensor, const Sizes& sizes) {
  const auto lead = static_cast<std::int64_t>(sizes.size()) - tensor.rank();
  if (lead < 0) throw OpError("expand: fewer sizes than the tensor has dimensions");
  Geometry out{sizes, Sizes(sizes.size(), 0), tensor.offset};
  for (std::size_t d = sizes.size(); d-- > 0;) {
    const bool is_new = static_cast<std::int64_t>(d) < lead;
    const bool is_last = d + 1 == sizes.size();
    const std::size_t old = is_new ? 0 : d - at(lead);
    const std::int64_t size = is_new ? 1 : tensor.sizes[old];
    const std::int64_t contiguous = is_last ? 1 : out.sizes[d + 1] * out.strides[d + 1];
    if (sizes[d] < -1 || (sizes[d] == -1 && is_new)) {
      throw OpError("expand: size " + std::to_string(sizes[d]) + " of dimension " +
                    std::to_string(d) + " is not allowed");
    }
    if (sizes[d] == -1) out.sizes[d] = size;
    if (out.sizes[d] != size && size != 1) {
      throw OpError("expand: size " + std::to_string(size) + " of dimension " + std::to_string(d) +
                    " cannot become " + std::to_string(sizes[d]));
    }
    if (out.sizes[d] == size) out.strides[d] = is_new ? contiguous : tensor.strides[old];
  }
  return out;
}

Geometry permuted(const Tensor& tensor, const Sizes& dims) {
  if (dims.size() != tensor.sizes.size()) {
    throw OpError("permute: " + std::to_string(dims.size()) + " dimensions for a tensor of rank " +
                  std::to_string(tensor.rank()));
  }
  Geometry out{{}, {}, tensor.offset};
  std::vector<bool> seen(dims.size(), false);
  for (const std::int64_t dim : dims) {
    const std::size_t d = at(wrap_dim(dim, tensor.rank()));
    if (seen[d]) throw OpError("permute: a dimension is repeated");
    seen[d] = true;
    out.sizes.push_back(tensor.sizes[d]);
    out.strides.push_back(tensor.strides[d]);
  }
  return out;
}

Geometry diagonal_of(const Tensor& tensor, std::int64_t offset, std::int64_t dim1,
                     std::int64_t dim2) {
  const std::int64_t first = wrap_dim(dim1, tensor.rank());
  const std::int64_t second = wrap_dim(dim2, tensor.rank());
  if (first == second) throw OpError("diagonal dimensions cannot be identical");
  if (offset == INT64_MIN) throw OpError("diagonal: the offset is out of range");
  const std::int64_t down = std::max<std::int64_t>(-offset, 0);
  const std::int64_t right = std::max<std::int64_t>(offset, 0);
  const std::int64_t size = std::max<std::int64_t>(
      std::min(tensor.sizes[at(first)] - down, tensor.sizes[at(second)] - right), 0);
  Geometry out = geometry_of(tensor);
  const std::int64_t stride = tensor.strides[at(first)] + tensor.strides[at(second)];
  if (size > 0) {
    out.offset += down * tensor.strides[at(first)] + right * tensor.strides[at(second)];
  }
  for (const std::int64_t dim : {std::max(first, second), std::min(first, second)}) {
    out.sizes.erase(out.sizes.begin() + dim);
    out.strides.erase(out.strides.begin() + dim);
  }
  out.sizes.push_back(size);
  out.strides.push_back(stride);
  return out;
}

Geometry strided_at(const Tensor& tensor, Sizes sizes, Sizes strides,
                    std::optional<std::int64_t> offset) {
  const spec::HostTensor asked{tensor.dtype, sizes, strides, offset.value_or(tensor.offset),
                               {},           {}};
  // Sums of a few such strides stay within 64 bits, also where no element is reached.
  constexpr std::int64_t kMostStride = std::int64_t{1} << 50;
  const bool has_plain_strides =
      std::all_of(strides.begin(), strides.end(),
                  [](std::int64_t stride) { return stride >= 0 && stride <= kMostStride; });
  if (!has_plain_strides || !spec::geometry_fits(asked, tensor.storage->size_bytes())) {
    throw OpError("as_strided: the geometry is out of bounds for a storage of " +
                  std::to_string(tensor.storage->size_bytes()) + " bytes");
  }
  return {std::move(sizes), std::move(strides), asked.storage_offset};
}

}  // namespace graphgate::reference
