#include "reference/tensor.h"

#include <algorithm>
#include <numeric>

namespace graphgate::reference {

std::byte* Storage::writable_bytes() {
  if (borrowed) {
    host = std::make_shared<spec::HostStorage>(*host);
    borrowed = false;
  }
  return host->bytes.data();
}

std::int64_t count_of(const std::vector<std::int64_t>& sizes) {
  const auto count = spec::checked_element_count(sizes);
  if (!count) throw OpError("sizes must not be negative, and multiply to less than 2^63");
  return *count;
}

TensorRef new_tensor(spec::DType dtype, std::vector<std::int64_t> sizes,
                     std::vector<std::int64_t> strides, spec::Device device) {
  const auto count = spec::checked_element_count(sizes);
  if (!count || *count > kMostElements / spec::item_size_bytes(dtype)) {
    throw OpError("a result of more than 2^40 bytes was asked for");
  }
  std::int64_t reach = *count == 0 ? 0 : 1;
  for (std::size_t i = 0; *count > 0 && i < sizes.size(); ++i) reach += (sizes[i] - 1) * strides[i];
  auto tensor = std::make_shared<Tensor>();
  tensor->storage = std::make_shared<Storage>();
  tensor->storage->host = std::make_shared<spec::HostStorage>();
  tensor->storage->host->bytes.resize(
      static_cast<std::size_t>(reach * spec::item_size_bytes(dtype)));
  tensor->dtype = dtype;
  tensor->sizes = std::move(sizes);
  tensor->strides = std::move(strides);
  tensor->device = std::move(device);
  return tensor;
}

TensorRef new_tensor(spec::DType dtype, std::vector<std::int64_t> sizes, spec::Device device) {
  const bool has_strides = spec::checked_element_count(sizes).has_value();
  auto strides = has_strides ? spec::contiguous_strides(sizes) : sizes;  // the latter is refused
  return new_tensor(dtype, std::move(sizes), std::move(strides), std::move(device));
}

TensorRef view_of(const Tensor& base, std::vector<std::int64_t> sizes,
                  std::vector<std::int64_t> strides, std::int64_t offset) {
  (void)count_of(sizes);
  // Geometry without a storage, and strides that run backwards, are the reference's own making.
  const bool is_inner = !base.storage || std::any_of(strides.begin(), strides.end(),
                                                     [](std::int64_t x) { return x < 0; });
  spec::HostTensor geometry{base.dtype, std::move(sizes), std::move(strides), offset, {}, nullptr};
  if (!is_inner && !spec::geometry_fits(geometry, base.storage->size_bytes())) {
    throw OpError("the view reaches outside of its storage");
  }
  auto view = std::make_shared<Tensor>();
  view->storage = base.storage;
  view->dtype = base.dtype;
  view->sizes = std::move(geometry.sizes);
  view->strides = std::move(geometry.strides);
  view->offset = offset;
  view->device = base.device;
  return view;
}

bool is_contiguous(const Tensor& tensor) {
  std::int64_t expected = 1;
  bool is_row_major = true;
  for (std::size_t i = tensor.sizes.size(); i-- > 0;) {
    if (tensor.sizes[i] == 0) return true;
    if (tensor.sizes[i] == 1) continue;
    is_row_major = is_row_major && tensor.strides[i] == expected;
    expected *= tensor.sizes[i];
  }
  return is_row_major;
}

bool is_non_overlapping_and_dense(const Tensor& tensor) {
  if (is_contiguous(tensor)) return true;
  std::vector<std::size_t> order(tensor.sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
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

std::vector<std::int64_t> element_positions(const Tensor& tensor) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(tensor.count()));
  std::size_t i = 0;
  for_each_position(tensor, [&](std::int64_t position) { positions[i++] = position; });
  return positions;
}

namespace {

[[noreturn]] void refuse_to_decide() {
  throw Undecidable("what follows hangs on a number that the oracle cannot tell");
}

}  // namespace

const double* decided_float(const Datum& datum) {
  if (datum.as<RoundedFloat>() != nullptr) refuse_to_decide();
  return datum.as<double>();
}

bool is_decided(const Tensor& tensor) {
  const std::vector<Mark>& marks = tensor.storage->marks;
  if (marks.empty()) return true;
  const std::vector<std::int64_t> positions = element_positions(tensor);
  return std::all_of(positions.begin(), positions.end(), [&](std::int64_t position) {
    return marks[static_cast<std::size_t>(position)].radius == 0;
  });
}

void require_decided(const Tensor& tensor) {
  if (!is_decided(tensor)) refuse_to_decide();
}

std::string print_sizes(std::span<const std::int64_t> sizes) {
  std::string text;
  for (const std::int64_t x : sizes) text += (text.empty() ? "" : ", ") + std::to_string(x);
  return "[" + text + "]";
}

}  // namespace graphgate::reference
