#include "reference/tensor.h"

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
  view->is_conj = base.is_conj;
  view->is_neg = base.is_neg;
  return view;
}

Tensor as_components(const Tensor& tensor) {
  Tensor parts = tensor;
  parts.is_conj = parts.is_neg = false;
  if (!spec::is_complex(tensor.dtype)) return parts;
  parts.dtype = spec::component_dtype(tensor.dtype);
  parts.offset *= 2;
  for (std::int64_t& stride : parts.strides) stride *= 2;
  parts.sizes.push_back(2);
  parts.strides.push_back(1);
  return parts;
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

// The last dimension so far is kept as the row: what is dense is one row, and takes no memory.
ElementWalk::ElementWalk(const Tensor& tensor) : row_(tensor.offset) {
  bool has_row = false;
  for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
    if (tensor.sizes[d] == 1) continue;
    const bool continues = has_row && stride_ == tensor.strides[d] * tensor.sizes[d];
    if (has_row && !continues) {
      sizes_.push_back(length_);
      strides_.push_back(stride_);
    }
    length_ = continues ? length_ * tensor.sizes[d] : tensor.sizes[d];
    stride_ = tensor.strides[d];
    has_row = true;
  }
  index_.assign(sizes_.size(), 0);
}

void ElementWalk::restart(std::int64_t offset) {
  row_ = offset;
  done_ = 0;
  std::ranges::fill(index_, 0);
}

void ElementWalk::next_row() {
  done_ = 0;
  for (std::size_t d = sizes_.size(); d-- > 0;) {
    row_ += strides_[d];
    if (++index_[d] < sizes_[d]) return;
    row_ -= strides_[d] * sizes_[d];
    index_[d] = 0;
  }
}

std::vector<std::int64_t> element_positions(const Tensor& tensor) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(tensor.count()));
  std::size_t i = 0;
  for_each_position(tensor, [&](std::int64_t position) { positions[i++] = position; });
  return positions;
}

namespace {

[[noreturn]] void refuse_to_decide() {
  throw Undecidable("what follows depends on a number that the oracle cannot tell");
}

}  // namespace

const double* decided_float(const Datum& datum) {
  if (datum.as<RoundedFloat>() != nullptr) refuse_to_decide();
  return datum.as<double>();
}

bool is_decided(const Tensor& tensor) {
  const std::vector<StoredMark>& marks = tensor.storage->marks;
  if (marks.empty()) return true;
  bool is_exact = true;
  for_each_position(as_components(tensor), [&](std::int64_t position) {
    is_exact = is_exact && marks[static_cast<std::size_t>(position)].radius() == 0;
  });
  return is_exact;
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
