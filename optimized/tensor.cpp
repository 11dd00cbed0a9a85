#include "optimized/tensor.h"

#include <algorithm>
#include <numeric>

namespace graphgate::optimized {

std::int64_t Tensor::count() const { return checked_count(sizes); }

std::int64_t Tensor::item_bytes() const { return spec::item_size_bytes(dtype); }

std::byte* Tensor::data() const { return bytes ? bytes + offset * item_bytes() : nullptr; }

std::int64_t Tensor::size(std::int64_t dim) const {
  return rank() == 0 ? 1 : sizes[static_cast<std::size_t>(wrap_dim(dim, rank()))];
}

ByteRange byte_range(const Tensor& tensor) {
  std::int64_t last = tensor.offset;
  for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
    if (tensor.sizes[d] == 0) return {};
    last += (tensor.sizes[d] - 1) * tensor.strides[d];
  }
  return {tensor.offset * tensor.item_bytes(), (last + 1) * tensor.item_bytes()};
}

bool may_overlap(const Tensor& a, const Tensor& b) {
  return a.storage == b.storage && byte_range(a).overlaps(byte_range(b));
}

bool same_geometry(const Tensor& a, const Tensor& b) {
  return a.storage == b.storage && a.dtype == b.dtype && a.offset == b.offset &&
         a.sizes == b.sizes && a.strides == b.strides;
}

std::int64_t checked_count(const Sizes& sizes) {
  std::int64_t count = 1;
  bool overflow = false;
  for (const std::int64_t size : sizes) {
    if (size < 0) throw OpError("a size is negative: " + print_sizes(sizes));
    if (size == 0) return 0;
    overflow |= __builtin_mul_overflow(count, size, &count);
  }
  if (overflow) throw OpError("too many elements: " + print_sizes(sizes));
  return count;
}

Sizes row_major_strides(const Sizes& sizes) {
  Sizes strides(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<std::int64_t>(sizes[d], 1);
  }
  return strides;
}

Sizes strides_in_bytes(const Tensor& tensor) {
  Sizes out = tensor.strides;
  for (std::int64_t& stride : out) stride *= tensor.item_bytes();
  return out;
}

bool is_contiguous(const Tensor& tensor) {
  std::int64_t expected = 1;
  bool contiguous = true;
  for (std::size_t d = tensor.sizes.size(); d-- > 0;) {
    if (tensor.sizes[d] == 0) return true;
    if (tensor.sizes[d] == 1) continue;
    contiguous &= tensor.strides[d] == expected;
    expected *= tensor.sizes[d];
  }
  return contiguous;
}

bool is_dense(const Tensor& tensor) {
  if (std::ranges::find(tensor.sizes, 0) != tensor.sizes.end()) return true;
  std::vector<std::size_t> order(tensor.sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Sizes below 2 take no part: they stand last.
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    if (tensor.sizes[a] < 2) return false;
    return tensor.sizes[b] < 2 || tensor.strides[a] < tensor.strides[b];
  });
  std::int64_t expected = 1;
  for (const std::size_t d : order) {
    if (tensor.sizes[d] < 2) return true;
    if (tensor.strides[d] != expected) return false;
    expected *= tensor.sizes[d];
  }
  return true;
}

std::int64_t wrap_dim(std::int64_t dim, std::int64_t rank) {
  const std::int64_t extent = std::max<std::int64_t>(rank, 1);
  if (dim < -extent || dim >= extent) {
    throw OpError("dimension " + std::to_string(dim) + " is outside [" + std::to_string(-extent) +
                  ", " + std::to_string(extent) + ")");
  }
  return dim < 0 ? dim + extent : dim;
}

std::vector<std::int64_t> wrap_dims(const Sizes& dims, std::int64_t rank, bool empty_is_all) {
  std::vector<std::int64_t> out;
  if (dims.empty() && empty_is_all) {
    out.resize(static_cast<std::size_t>(rank));
    std::iota(out.begin(), out.end(), std::int64_t{0});
    return out;
  }
  for (const std::int64_t dim : dims) {
    const std::int64_t wrapped = wrap_dim(dim, rank);
    if (std::ranges::find(out, wrapped) != out.end()) {
      throw OpError("dimension " + std::to_string(wrapped) + " appears twice");
    }
    out.push_back(wrapped);
  }
  return out;
}

Sizes broadcast_sizes(const Sizes& a, const Sizes& b) {
  const Sizes& longer = a.size() >= b.size() ? a : b;
  const Sizes& shorter = a.size() >= b.size() ? b : a;
  Sizes out = longer;
  const std::size_t skip = longer.size() - shorter.size();
  for (std::size_t d = 0; d < shorter.size(); ++d) {
    std::int64_t& size = out[skip + d];
    if (size == 1) {
      size = shorter[d];
    } else if (shorter[d] != 1 && shorter[d] != size) {
      throw OpError("sizes " + print_sizes(a) + " and " + print_sizes(b) + " do not broadcast");
    }
  }
  return out;
}

Sizes broadcast_sizes(std::span<const Tensor* const> tensors) {
  Sizes out;
  for (const Tensor* tensor : tensors) out = broadcast_sizes(out, tensor->sizes);
  return out;
}

Sizes broadcast_strides(const Tensor& tensor, const Sizes& sizes) {
  if (tensor.sizes.size() > sizes.size()) {
    throw OpError("sizes " + print_sizes(tensor.sizes) + " do not broadcast to " +
                  print_sizes(sizes));
  }
  Sizes out(sizes.size(), 0);
  const std::size_t skip = sizes.size() - tensor.sizes.size();
  for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
    if (tensor.sizes[d] == sizes[skip + d]) {
      out[skip + d] = tensor.strides[d];
    } else if (tensor.sizes[d] != 1) {
      throw OpError("sizes " + print_sizes(tensor.sizes) + " do not broadcast to " +
                    print_sizes(sizes));
    }
  }
  return out;
}

Tensor broadcast_to(const Tensor& tensor, const Sizes& sizes) {
  Tensor out = tensor;
  out.strides = broadcast_strides(tensor, sizes);
  out.sizes = sizes;
  return out;
}

std::string print_sizes(const Sizes& sizes) {
  std::string text = "[";
  for (const std::int64_t size : sizes) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  }
  return text + "]";
}

}  // namespace graphgate::optimized
