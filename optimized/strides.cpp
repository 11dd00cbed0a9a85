#include "optimized/strides.h"

#include <algorithm>
#include <numeric>

namespace graphgate::optimized {
namespace {

using DimOrder = std::vector<std::size_t>;  // dimensions, the fastest first

// Dense strides with the dimensions of `order` from fastest to slowest. Beside a dimension of 0 the
// order shows: in order of the dimensions ATen makes strides as of a new tensor, in another it goes
// on with 0.
Sizes strides_in_order(const Sizes& sizes, const DimOrder& order) {
  if (std::is_sorted(order.rbegin(), order.rend())) return row_major_strides(sizes);
  Sizes strides(sizes.size());
  std::int64_t stride = 1;
  for (const std::size_t d : order) {
    strides[d] = stride;
    stride *= sizes[d];
  }
  return strides;
}

// Whether dimension `a`, which comes before `b` (is faster), should come behind it: 1 yes, -1 no, 0
// nothing speaks for either.
int should_swap(const std::vector<Sizes>& strides, const Sizes& sizes, std::size_t a,
                std::size_t b) {
  for (const Sizes& input : strides) {
    if (input[a] == 0 || input[b] == 0) continue;  // stretched: it does not care
    if (input[a] != input[b]) return input[a] < input[b] ? -1 : 1;
    if (sizes[a] > sizes[b]) return 1;
  }
  return 0;
}

// TensorIterator's insertion sort: stable, and undecided pairs are stepped over.
DimOrder order_of(const std::vector<Sizes>& strides, const Sizes& sizes) {
  DimOrder order(sizes.size());
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  for (std::size_t i = 1; i < order.size(); ++i) {
    std::size_t moving = i;
    for (std::size_t j = i; j-- > 0;) {
      const int swap = should_swap(strides, sizes, order[j], order[moving]);
      if (swap < 0) break;
      if (swap == 0) continue;
      std::swap(order[j], order[moving]);
      moving = j;
    }
  }
  return order;
}

// Strides in bytes, so that inputs of several dtypes compare; 0 where a size of 1 is stretched.
Sizes stretched_strides(const Tensor& input, const Sizes& sizes) {
  Sizes out = broadcast_strides(input, sizes);
  for (std::int64_t& stride : out) stride *= input.item_bytes();
  return out;
}

bool matches_format(const Tensor& tensor, const DimOrder& order) {
  std::int64_t expected = 1;
  for (const std::size_t d : order) {
    if (tensor.sizes[d] != 1 && tensor.strides[d] != expected) return false;
    expected *= tensor.sizes[d];
  }
  return true;
}

DimOrder format_order(std::size_t rank) {
  DimOrder order{1};  // channels are the fastest
  for (std::size_t d = rank; d-- > 2;) order.push_back(d);
  order.push_back(0);
  return order;
}

// Whether strides grow along `order`, as ATen's is_channels_last_strides decides.
bool suggests_channels_last(const Tensor& tensor) {
  const DimOrder order = format_order(tensor.sizes.size());
  if (tensor.strides[1] == 0) return false;
  std::int64_t least = 0;
  for (const std::size_t d : order) {
    if (tensor.sizes[d] == 0 || tensor.strides[d] < least) return false;
    // All strides equal 1 on a 1x1 image: contiguous wins.
    if (d == 0 && least == tensor.strides[1]) return false;
    least = tensor.strides[d];
    if (tensor.sizes[d] > 1) least *= tensor.sizes[d];
  }
  return true;
}

bool all_share_one_layout(std::span<const Tensor* const> inputs, const Sizes& sizes) {
  const Tensor* first = nullptr;
  for (const Tensor* input : inputs) {
    if (!input) continue;
    if (input->sizes != sizes || !is_dense(*input)) return false;
    if (!first) first = input;
    if (input->strides != first->strides) return false;
  }
  return first != nullptr;
}

bool all_contiguous(std::span<const Tensor* const> inputs, const Sizes& sizes) {
  return std::ranges::all_of(inputs, [&](const Tensor* input) {
    return !input || (input->sizes == sizes && is_contiguous(*input));
  });
}

// TensorIterator knows no such case for channels_last_3d.
bool all_channels_last(std::span<const Tensor* const> inputs, const Sizes& sizes) {
  return sizes.size() == 4 && std::ranges::all_of(inputs, [&](const Tensor* input) {
           return !input || (input->sizes == sizes &&
                             is_contiguous_in(*input, spec::MemoryFormat::kChannelsLast));
         });
}

}  // namespace

Sizes pointwise_strides(std::span<const Tensor* const> inputs, const Sizes& sizes) {
  if (all_contiguous(inputs, sizes)) return row_major_strides(sizes);
  // Strides of dimensions of size 1 are the format's then, and not those of the inputs.
  if (all_channels_last(inputs, sizes)) {
    return strides_in_format(sizes, spec::MemoryFormat::kChannelsLast);
  }
  if (all_share_one_layout(inputs, sizes)) {
    const auto first = std::ranges::find_if(inputs, [](auto* t) { return t; });
    return (*first)->strides;
  }
  std::vector<Sizes> strides;
  for (const Tensor* input : inputs) {
    if (input) strides.push_back(stretched_strides(*input, sizes));
  }
  return strides_in_order(sizes, order_of(strides, sizes));
}

Sizes pointwise_strides(std::initializer_list<const Tensor*> inputs, const Sizes& sizes) {
  return pointwise_strides(std::span(inputs.begin(), inputs.size()), sizes);
}

Sizes strides_like(const Tensor& tensor, spec::MemoryFormat format) {
  if (format != spec::MemoryFormat::kPreserve) return strides_in_format(tensor.sizes, format);
  if (is_dense(tensor)) return tensor.strides;
  return strides_in_order(tensor.sizes, order_of({tensor.strides}, tensor.sizes));
}

Sizes strides_in_format(const Sizes& sizes, spec::MemoryFormat format) {
  using spec::MemoryFormat;
  if (format == MemoryFormat::kContiguous || format == MemoryFormat::kPreserve) {
    return row_major_strides(sizes);
  }
  const std::size_t rank = format == MemoryFormat::kChannelsLast ? 4 : 5;
  if (sizes.size() != rank) {
    throw OpError(std::string(spec::memory_format_name(format)) + " wants rank " +
                  std::to_string(rank) + ", not " + print_sizes(sizes));
  }
  return strides_in_order(sizes, format_order(rank));
}

bool is_contiguous_in(const Tensor& tensor, spec::MemoryFormat format) {
  using spec::MemoryFormat;
  if (format == MemoryFormat::kContiguous) return is_contiguous(tensor);
  if (format == MemoryFormat::kPreserve) return true;
  const std::size_t rank = format == MemoryFormat::kChannelsLast ? 4 : 5;
  return tensor.sizes.size() == rank && matches_format(tensor, format_order(rank));
}

spec::MemoryFormat suggested_format(const Tensor& tensor) {
  if (tensor.rank() == 4 && suggests_channels_last(tensor)) {
    return spec::MemoryFormat::kChannelsLast;
  }
  if (tensor.rank() == 5 && suggests_channels_last(tensor)) {
    return spec::MemoryFormat::kChannelsLast3d;
  }
  return spec::MemoryFormat::kContiguous;
}

}  // namespace graphgate::optimized
