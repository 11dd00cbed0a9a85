#include "reference/layout.h"

#include <algorithm>
#include <numeric>

namespace graphgate::reference {

Sizes stretched_strides(const Tensor& input, const Sizes& sizes) {
  Sizes strides(sizes.size(), 0);
  const std::size_t lead = sizes.size() - input.sizes.size();
  for (std::size_t d = 0; d < input.sizes.size(); ++d) {
    const bool stretched = input.sizes[d] == 1 && sizes[d + lead] != 1;
    strides[d + lead] = stretched ? 0 : input.strides[d];
  }
  return strides;
}

namespace {

// Whether dimension a should be slower than (swapped with) b: 1 yes, -1 no, 0 no input tells.
int compare_dims(std::span<const Sizes> strides, const Sizes& sizes, std::size_t a, std::size_t b) {
  for (const Sizes& of_input : strides) {
    const std::int64_t sa = of_input[a];
    const std::int64_t sb = of_input[b];
    if (sa == 0 || sb == 0) continue;
    if (sa < sb) return -1;
    if (sa > sb) return 1;
    if (sizes[a] > sizes[b]) return 1;
  }
  return 0;
}

// Dimensions from fastest to slowest, by insertion sort: comparisons that no input decides leave
// the row-major order, and stop nothing.
std::vector<std::size_t> dims_by_speed(std::span<const Sizes> strides, const Sizes& sizes) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.rbegin(), order.rend(), 0);
  for (std::size_t i = 1; i < order.size(); ++i) {
    std::size_t moving = i;
    for (std::size_t j = i; j-- > 0;) {
      const int verdict = compare_dims(strides, sizes, order[j], order[moving]);
      if (verdict < 0) break;
      if (verdict > 0) {
        std::swap(order[j], order[moving]);
        moving = j;
      }
    }
  }
  return order;
}

bool same_everywhere(std::span<const TensorRef> inputs, const Sizes& sizes) {
  const Tensor& first = *inputs.front();
  return std::all_of(inputs.begin(), inputs.end(), [&](const TensorRef& input) {
    return input->sizes == sizes && input->strides == first.strides &&
           is_non_overlapping_and_dense(*input);
  });
}

bool all_contiguous(std::span<const TensorRef> inputs, const Sizes& sizes) {
  return std::all_of(inputs.begin(), inputs.end(), [&](const TensorRef& input) {
    return input->sizes == sizes && is_contiguous(*input);
  });
}

}  // namespace

Sizes strides_in_order(const Sizes& sizes, const std::vector<std::size_t>& order) {
  Sizes strides(sizes.size(), 1);
  std::int64_t next = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = next;
    next *= sizes[order[i]];
  }
  return strides;
}

namespace {

bool is_row_major(const std::vector<std::size_t>& order) {
  return std::is_sorted(order.begin(), order.end());
}

bool all_channels_last(std::span<const TensorRef> inputs, const Sizes& sizes) {
  return std::all_of(inputs.begin(), inputs.end(), [&](const TensorRef& input) {
    return input->sizes == sizes && is_contiguous_in(*input, spec::MemoryFormat::kChannelsLast);
  });
}

}  // namespace

bool is_contiguous_in(const Tensor& tensor, spec::MemoryFormat format) {
  if (format == spec::MemoryFormat::kContiguous) return is_contiguous(tensor);
  const bool planar = format == spec::MemoryFormat::kChannelsLast;
  if (tensor.rank() != (planar ? 4 : 5)) return false;
  const Sizes wanted = strides_in_format(tensor.sizes, format);
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    if (tensor.sizes[d] != 1 && tensor.strides[d] != wanted[d]) return false;
  }
  return true;
}

Sizes pointwise_strides(std::span<const TensorRef> inputs, const Sizes& sizes) {
  if (inputs.empty() || all_contiguous(inputs, sizes)) return spec::contiguous_strides(sizes);
  if (all_channels_last(inputs, sizes)) {
    return strides_in_format(sizes, spec::MemoryFormat::kChannelsLast);
  }
  if (same_everywhere(inputs, sizes)) return inputs.front()->strides;
  std::vector<Sizes> strides;
  for (const TensorRef& input : inputs) strides.push_back(stretched_strides(*input, sizes));
  std::vector<std::size_t> order = dims_by_speed(strides, sizes);
  std::reverse(order.begin(), order.end());
  return is_row_major(order) ? spec::contiguous_strides(sizes) : strides_in_order(sizes, order);
}

Sizes strides_in_format(const Sizes& sizes, spec::MemoryFormat format) {
  if (format == spec::MemoryFormat::kChannelsLast) {
    if (sizes.size() != 4) throw OpError("channels_last wants a tensor of rank 4");
    return strides_in_order(sizes, {0, 2, 3, 1});
  }
  if (format == spec::MemoryFormat::kChannelsLast3d) {
    if (sizes.size() != 5) throw OpError("channels_last_3d wants a tensor of rank 5");
    return strides_in_order(sizes, {0, 2, 3, 4, 1});
  }
  return spec::contiguous_strides(sizes);
}

Sizes strides_like(const Tensor& tensor, spec::MemoryFormat format) {
  if (format != spec::MemoryFormat::kPreserve) return strides_in_format(tensor.sizes, format);
  if (is_non_overlapping_and_dense(tensor)) return tensor.strides;
  const std::vector<Sizes> strides = {tensor.strides};
  std::vector<std::size_t> order = dims_by_speed(strides, tensor.sizes);
  std::reverse(order.begin(), order.end());
  Sizes filled = tensor.sizes;
  for (std::int64_t& size : filled) size = std::max<std::int64_t>(size, 1);
  return strides_in_order(filled, order);
}

bool suggests_channels_last(const Tensor& tensor) {
  const std::size_t rank = tensor.sizes.size();
  if (rank != 4 && rank != 5) return false;
  std::vector<std::size_t> fastest_first =
      rank == 4 ? std::vector<std::size_t>{1, 3, 2, 0} : std::vector<std::size_t>{1, 4, 3, 2, 0};
  std::int64_t least = 0;
  if (tensor.strides[1] == 0) return false;
  for (const std::size_t d : fastest_first) {
    if (tensor.sizes[d] == 0 || tensor.strides[d] < least) return false;
    // A 1x1 image with both orders legal is taken as contiguous, as PyTorch does.
    if (d == 0 && least == tensor.strides[1]) return false;
    least = tensor.strides[d] * (tensor.sizes[d] > 1 ? tensor.sizes[d] : 1);
  }
  return true;
}

spec::MemoryFormat suggested_format(const Tensor& tensor) {
  using spec::MemoryFormat;
  if (!suggests_channels_last(tensor)) return MemoryFormat::kContiguous;
  return tensor.rank() == 4 ? MemoryFormat::kChannelsLast : MemoryFormat::kChannelsLast3d;
}

}  // namespace graphgate::reference
