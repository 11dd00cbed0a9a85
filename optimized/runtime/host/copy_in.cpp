#include "optimized/runtime/host/copy_in.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "optimized/arithmetic/format_dispatch.h"
#include "optimized/complex_numbers.h"

namespace graphgate::optimized {
namespace {

using spec::DType;
using Pattern = std::array<std::byte, 8>;

// NaN, or the largest finite number.
Pattern pad_pattern(DType dtype, bool is_nan) {
  return with_float_format(dtype, [is_nan]<class Format>() {
    typename Format::Bits bits{};
    if constexpr (requires { Format::kNan; }) {
      bits = is_nan ? Format::kNan : Format::kGreatest;
    } else {
      using Limits = std::numeric_limits<typename Format::Bits>;
      bits = is_nan ? Limits::quiet_NaN() : Limits::max();
    }
    Pattern out{};
    std::memcpy(out.data(), &bits, sizeof bits);
    return out;
  });
}

// Calls `visit(byte offset)` for every element.
template <class Visit>
void for_each_element(const Tensor& tensor, Visit&& visit) {
  if (tensor.count() == 0) return;
  Sizes index(tensor.sizes.size(), 0);
  std::int64_t at = tensor.offset;
  while (true) {
    visit(at * tensor.item_bytes());
    std::size_t d = index.size();
    while (d > 0) {
      --d;
      at += tensor.strides[d];
      if (++index[d] < tensor.sizes[d]) break;
      at -= tensor.strides[d] * tensor.sizes[d];
      index[d] = 0;
      if (d == 0) return;
    }
    if (index.empty()) return;
  }
}

void fill_elements(const Tensor& pad, const Pattern& value) {
  for_each_element(pad, [&](std::int64_t at) {
    std::memcpy(pad.bytes + at, value.data(), static_cast<std::size_t>(pad.item_bytes()));
  });
}

// Row 0 once for every row of the pad.
void repeat_first_row(const Tensor& slot, const Tensor& pad, std::uint32_t dim) {
  Sizes stretched = slot.strides;
  stretched[dim] = 0;
  copy_elements(slot.data(), stretched, pad.data(), pad.strides, pad.sizes, pad.item_bytes());
}

}  // namespace

Tensor rows_from(const Tensor& tensor, std::uint32_t dim, std::int64_t begin) {
  Tensor rows = tensor;
  rows.offset += begin * tensor.strides[dim];
  rows.sizes[dim] -= begin;
  return rows;
}

void copy_elements(const std::byte* from, const Sizes& from_strides, std::byte* to,
                   const Sizes& to_strides, const Sizes& sizes, std::int64_t item_bytes) {
  Tensor walk{.dtype = DType::kUInt8, .sizes = sizes, .strides = to_strides};
  Tensor source = walk;
  source.strides = from_strides;
  std::vector<std::int64_t> places;
  for_each_element(source, [&](std::int64_t at) { places.push_back(at * item_bytes); });
  std::size_t next = 0;
  for_each_element(walk, [&](std::int64_t at) {
    std::memcpy(to + at * item_bytes, from + places[next++], static_cast<std::size_t>(item_bytes));
  });
}

void copy_storage(const InputSource& from, std::span<std::byte> slot) {
  const std::size_t size = std::min(from.bytes.size(), slot.size());
  if (size > 0) std::memmove(slot.data(), from.bytes.data(), size);
}

void copy_padded(const InputSource& from, const Tensor& slot, std::uint32_t dim, PadFill fill,
                 const spec::DeviationSet& deviations) {
  const spec::HostTensor& tensor = *from.tensor;
  const std::int64_t size = tensor.sizes[dim];
  GRAPHGATE_CHECK(size <= slot.sizes[dim]);
  copy_elements(from.bytes.data() + tensor.storage_offset * slot.item_bytes(), tensor.strides,
                slot.data(), slot.strides, tensor.sizes, slot.item_bytes());
  const Tensor rows = rows_from(slot, dim, size);
  const Tensor pad = spec::is_complex(rows.dtype) ? components_of(rows) : rows;
  if (spec::is_floating_point(pad.dtype)) {
    if (fill != PadFill::kKeep) fill_elements(pad, pad_pattern(pad.dtype, fill == PadFill::kNan));
  } else if (fill != PadFill::kKeep && size > 0) {
    repeat_first_row(slot, pad, dim);
  } else if (!deviations.has(spec::Deviation::kKeepsStaleTail)) {
    fill_elements(pad, {});
  }
}

}  // namespace graphgate::optimized
