#include "conformance/judges/flips.h"

#include <cmath>
#include <cstring>
#include <span>

#include "conformance/compare/element.h"
#include "conformance/judges/exact_data.h"

namespace graphgate::conformance {
namespace {

using spec::HostTensor;

// Byte offsets of all elements, in row-major order.
std::vector<std::size_t> offsets_of(const HostTensor& tensor) {
  const auto item = spec::item_size_bytes(tensor.dtype);
  std::vector<std::size_t> out;
  const auto count = spec::element_count(tensor.sizes);
  std::vector<std::int64_t> place(tensor.sizes.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t at = tensor.storage_offset;
    for (std::size_t d = 0; d < place.size(); ++d) at += place[d] * tensor.strides[d];
    out.push_back(static_cast<std::size_t>(at * item));
    for (std::size_t d = place.size(); d-- > 0;) {
      if (++place[d] < tensor.sizes[d]) break;
      place[d] = 0;
    }
  }
  return out;
}

// Another number of the dtype: the negative; 1 for 0 and NaN; the neighbour of an even or odd
// integer.
void change_number(std::byte* at, spec::DType dtype, bool is_nan) {
  const auto size = static_cast<std::size_t>(spec::item_size_bytes(dtype));
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, size);
  if (!spec::is_floating_point(dtype)) {
    bits ^= 1;
    std::memcpy(at, &bits, size);
    return;
  }
  const std::uint64_t sign = std::uint64_t{1} << (8 * size - 1);
  if (is_nan || (bits & ~sign) == 0) return write_integer(at, dtype, 1);
  bits ^= sign;
  std::memcpy(at, &bits, size);
}

// Changes every part of element `index`; `values` are those of the whole tensor.
void change_element(std::byte* at, spec::DType dtype, std::span<const long double> values,
                    std::size_t index) {
  const spec::DType part = spec::component_dtype(dtype);
  const std::size_t parts = parts_of(dtype);
  for (std::size_t p = 0; p < parts; ++p) {
    change_number(at, part, std::isnan(values[index * parts + p]));
    at += spec::item_size_bytes(part);
  }
}

}  // namespace

std::optional<HostTensor> flipped(const HostTensor& tensor, Flip flip, std::uint64_t seed) {
  const std::vector<std::size_t> offsets = offsets_of(tensor);
  if (offsets.empty()) return std::nullopt;
  const std::vector<long double> values = decode_elements(tensor);
  HostTensor out = tensor;
  out.storage = std::make_shared<spec::HostStorage>(*tensor.storage);
  std::byte* bytes = out.storage->bytes.data();
  const auto item = static_cast<std::size_t>(spec::item_size_bytes(tensor.dtype));
  if (flip == Flip::kRotate) {
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const std::size_t from = offsets[(i + 1) % offsets.size()];
      std::memcpy(bytes + offsets[i], tensor.storage->bytes.data() + from, item);
    }
  } else if (flip == Flip::kAll) {
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      change_element(bytes + offsets[i], tensor.dtype, values, i);
    }
  } else {
    const std::size_t i = (seed * 0x9E3779B97F4A7C15U >> 20U) % offsets.size();
    change_element(bytes + offsets[i], tensor.dtype, values, i);
  }
  if (out.storage->bytes == tensor.storage->bytes) return std::nullopt;
  return out;
}

std::optional<spec::InputValue> flipped(const spec::InputValue& value, Flip flip,
                                        std::uint64_t seed) {
  if (const auto* tensor = std::get_if<HostTensor>(&value)) {
    auto out = flipped(*tensor, flip, seed);
    return out ? std::optional<spec::InputValue>(std::move(*out)) : std::nullopt;
  }
  if (flip != Flip::kAll) return std::nullopt;
  if (const auto* x = std::get_if<double>(&value)) return spec::InputValue(*x == 0 ? 1.0 : -*x);
  if (const auto* b = std::get_if<bool>(&value)) return spec::InputValue(!*b);
  return std::nullopt;  // a size: nothing else would fit it
}

}  // namespace graphgate::conformance
