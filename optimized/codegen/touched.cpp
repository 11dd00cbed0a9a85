#include "optimized/codegen/touched.h"

#include <algorithm>
#include <cstdlib>

#include "optimized/analysis/dependences.h"

namespace graphgate::optimized {
namespace {

// The tensor in one storage that holds all memory, as provably_disjoint wants it: strides that are
// not negative, and an offset in whole elements.
Tensor at_address(const Tensor& tensor) {
  Tensor out = tensor;
  out.storage = 0;
  out.bytes = nullptr;
  std::int64_t address = reinterpret_cast<std::intptr_t>(tensor.data());  // NOLINT: a number
  for (std::size_t d = 0; d < out.sizes.size(); ++d) {
    if (out.strides[d] >= 0 || out.sizes[d] == 0) continue;
    address += (out.sizes[d] - 1) * out.strides[d] * tensor.item_bytes();
    out.strides[d] = -out.strides[d];
  }
  if (address % tensor.item_bytes() == 0) {
    out.offset = address / tensor.item_bytes();
    return out;
  }
  for (std::int64_t& stride : out.strides) stride *= tensor.item_bytes();
  out.sizes.push_back(tensor.item_bytes());
  out.strides.push_back(1);
  out.dtype = spec::DType::kUInt8;
  out.offset = address;
  return out;
}

// Visits the address of every element, as a number.
template <class Visit>
void for_each_address(const Tensor& tensor, Visit&& visit) {
  Sizes at(tensor.sizes.size(), 0);
  std::int64_t address = reinterpret_cast<std::intptr_t>(tensor.data());  // NOLINT: a number
  for (std::int64_t left = tensor.count(); left > 0; --left) {
    visit(address);
    for (std::size_t d = at.size(); d-- > 0;) {
      const std::int64_t stride = tensor.strides[d] * tensor.item_bytes();
      address += stride;
      if (++at[d] < tensor.sizes[d]) break;
      address -= at[d] * stride;
      at[d] = 0;
    }
  }
}

}  // namespace

bool are_among(const Tensor& all, std::span<const Tensor> some) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20;  // elements
  const ByteRange range = byte_range(at_address(all));
  const std::int64_t item = all.item_bytes();
  if (range.end - range.begin > kMost * item) return false;
  std::vector<bool> is_there(static_cast<std::size_t>((range.end - range.begin) / item));
  for (const Tensor& one : some) {
    if (!may_share_bytes(one, all)) continue;
    if (one.item_bytes() != item || one.count() > kMost) return false;
    for_each_address(one, [&](std::int64_t address) {
      const std::int64_t at = address - range.begin;
      if (at < 0 || address >= range.end || at % item != 0) return;
      is_there[static_cast<std::size_t>(at / item)] = true;
    });
  }
  bool are_all = true;
  for_each_address(all, [&](std::int64_t address) {
    are_all &= is_there[static_cast<std::size_t>((address - range.begin) / item)];
  });
  return are_all;
}

bool may_share_bytes(const Tensor& a, const Tensor& b) {
  return !provably_disjoint(at_address(a), at_address(b));
}

bool may_meet_itself(const Tensor& tensor) {
  std::vector<std::pair<std::int64_t, std::int64_t>> dims;  // stride, size
  for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
    if (tensor.sizes[d] == 0) return false;
    if (tensor.sizes[d] > 1) dims.emplace_back(std::abs(tensor.strides[d]), tensor.sizes[d]);
  }
  std::ranges::sort(dims);
  std::int64_t reach = 0;  // of the dimensions inside
  for (const auto& [stride, size] : dims) {
    if (stride <= reach) return true;
    reach += stride * (size - 1);
  }
  return false;
}

Tensor tensor_of_bytes(std::byte* first, std::int64_t size_bytes) {
  return Tensor{
      .dtype = spec::DType::kUInt8, .sizes = {size_bytes}, .strides = {1}, .bytes = first};
}

Touched::Touched(const DeviceWork& work) {
  if (const auto* pointwise = std::get_if<PointwiseWork>(&work)) {
    places_.push_back(place_of({pointwise->result, true}));
    for (const DeviceOperand& operand : pointwise->operands) {
      if (!operand.is_number) places_.push_back(place_of({operand.tensor, false}));
    }
    return;
  }
  *this = Touched(std::get<TextWork>(work).accesses);
}

Touched::Touched(std::span<const DeviceAccess> accesses) : is_told_(!accesses.empty()) {
  for (const DeviceAccess& access : accesses) places_.push_back(place_of(access));
}

Touched::Place Touched::place_of(const DeviceAccess& access) {
  Place place{at_address(access.tensor), {}, access.is_written};
  place.range = byte_range(place.elements);
  return place;
}

bool Touched::meet(const Place& a, const Place& b) {
  return a.range.overlaps(b.range) && !provably_disjoint(a.elements, b.elements);
}

void Touched::add(const Touched& other) {
  places_.insert(places_.end(), other.places_.begin(), other.places_.end());
  is_told_ &= other.is_told_;
}

bool Touched::keeps_order_with(const Touched& other) const {
  return !is_told_ || !other.is_told_ || bytes_in_order_with(other);
}

std::optional<ByteRange> Touched::bytes_in_order_with(const Touched& other) const {
  for (const Place& a : places_) {
    for (const Place& b : other.places_) {
      if (!(a.is_written || b.is_written) || !meet(a, b)) continue;
      return ByteRange{std::max(a.range.begin, b.range.begin), std::min(a.range.end, b.range.end)};
    }
  }
  return {};
}

bool Touched::may_read(const Tensor& tensor) const {
  if (!is_told_) return true;
  const Place place = place_of({tensor, false});
  return std::ranges::any_of(places_,
                             [&](const Place& own) { return !own.is_written && meet(own, place); });
}

}  // namespace graphgate::optimized
