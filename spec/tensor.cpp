#include "spec/tensor.h"

#include <algorithm>
#include <cstring>

namespace graphgate::spec {

std::optional<std::int64_t> checked_element_count(const std::vector<std::int64_t>& sizes) {
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t size : sizes) {
    if (size < 0) return std::nullopt;
    if (size == 0) empty = true;
    if (__builtin_mul_overflow(count, std::max<std::int64_t>(size, 1), &count)) return std::nullopt;
  }
  return empty ? 0 : count;
}

std::int64_t element_count(const std::vector<std::int64_t>& sizes) {
  const auto count = checked_element_count(sizes);
  GRAPHGATE_CHECK(count.has_value());
  return *count;
}

std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * std::max<std::int64_t>(sizes[i], 1);
  }
  return strides;
}

bool geometry_fits(const HostTensor& tensor, std::int64_t storage_bytes) {
  const auto count = checked_element_count(tensor.sizes);
  if (!count || tensor.sizes.size() != tensor.strides.size() || tensor.storage_offset < 0) {
    return false;
  }
  if (*count == 0) return true;
  std::int64_t last = tensor.storage_offset;
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
    std::int64_t reach = 0;
    if (tensor.strides[i] < 0 ||
        __builtin_mul_overflow(tensor.sizes[i] - 1, tensor.strides[i], &reach) ||
        __builtin_add_overflow(last, reach, &last)) {
      return false;
    }
  }
  return last < storage_bytes / item_size_bytes(tensor.dtype);
}

HostTensor make_host_tensor(DType dtype, std::vector<std::int64_t> sizes, Device device) {
  HostTensor tensor;
  tensor.dtype = dtype;
  tensor.strides = contiguous_strides(sizes);
  tensor.sizes = std::move(sizes);
  tensor.device = std::move(device);
  tensor.storage = std::make_shared<HostStorage>();
  const std::int64_t bytes = element_count(tensor.sizes) * item_size_bytes(dtype);
  tensor.storage->bytes.resize(static_cast<std::size_t>(bytes));
  return tensor;
}

std::vector<std::byte> packed_bytes(const HostTensor& tensor) {
  const auto item = static_cast<std::size_t>(item_size_bytes(tensor.dtype));
  const std::int64_t count = element_count(tensor.sizes);
  if (count > 0 && tensor.strides == contiguous_strides(tensor.sizes)) {
    const std::byte* first =
        tensor.storage->bytes.data() + static_cast<std::size_t>(tensor.storage_offset) * item;
    return {first, first + static_cast<std::size_t>(count) * item};
  }
  std::vector<std::byte> packed(static_cast<std::size_t>(count) * item);
  std::vector<std::int64_t> index(tensor.sizes.size(), 0);
  std::int64_t position = tensor.storage_offset;
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(packed.data() + static_cast<std::size_t>(i) * item,
                tensor.storage->bytes.data() + static_cast<std::size_t>(position) * item, item);
    for (std::size_t d = index.size(); d-- > 0;) {
      position += tensor.strides[d];
      if (++index[d] < tensor.sizes[d]) break;
      position -= tensor.strides[d] * tensor.sizes[d];
      index[d] = 0;
    }
  }
  return packed;
}

}  // namespace graphgate::spec
