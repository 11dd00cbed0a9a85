#include "tools/golden/golden_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/sha256.h"
#include "conformance/compare/element.h"
#include "spec/element_text.h"
#include "spec/type_text.h"

namespace graphgate::tools {
namespace {

using spec::HostTensor;

// A floating dtype by the digits behind its point and its least normal exponent.
struct FloatShape {
  std::string_view name;
  int fraction_bits;
  int least_exponent;
};
constexpr std::array<FloatShape, 6> kFloats = {{{"f64", 52, -1022},
                                                {"f32", 23, -126},
                                                {"bf16", 7, -126},
                                                {"f16", 10, -14},
                                                {"f8e4m3", 3, -6},
                                                {"f8e5m2", 2, -14}}};

const FloatShape* float_shape(std::string_view dtype) {
  const auto* found = std::find_if(kFloats.begin(), kFloats.end(),
                                   [&](const FloatShape& shape) { return shape.name == dtype; });
  return found == kFloats.end() ? nullptr : found;
}

std::string print_hex(double value) {
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(value),
                                 std::chars_format::hex)
                       .ptr;
  return (std::signbit(value) ? "-0x" : "0x") + std::string(buffer.data(), end);
}

// All bits of an element, the highest first: what a NaN is told by.
std::string print_bits(std::span<const std::byte> element) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = element.size(); i-- > 0;) {
    const auto value = std::to_integer<unsigned>(element[i]);
    text += {kDigits[value >> 4U], kDigits[value & 15U]};
  }
  return text;
}

// An element from its bytes and its numbers: complex(0x1p+0,-0x1p+1).
std::string print_exactly(spec::DType dtype, std::span<const std::byte> element,
                          std::span<const long double> decoded) {
  if (decoded.size() == 2) {
    const std::size_t half = element.size() / 2;
    const spec::DType part = spec::component_dtype(dtype);
    return "complex(" + print_exactly(part, element.first(half), decoded.first(1)) + "," +
           print_exactly(part, element.subspan(half), decoded.last(1)) + ")";
  }
  if (std::isnan(decoded[0])) return "nan:" + print_bits(element);
  if (float_shape(spec::short_name(dtype))) return print_hex(static_cast<double>(decoded[0]));
  const auto text = spec::print_element(dtype, element);
  return text ? *text : "bits:" + print_bits(element);
}

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class Value>
GoldenValue golden_number(std::string place, const Value& value) {
  GoldenValue golden;
  golden.place = std::move(place);
  if (const auto* i = std::get_if<std::int64_t>(&value)) {
    golden.type = "int";
    golden.elements.push_back(std::to_string(*i));
  } else if (const auto* x = std::get_if<double>(&value)) {
    golden.type = "float";
    golden.elements.push_back(std::isnan(*x) ? "nan" : print_hex(*x));
  } else if (const auto* b = std::get_if<bool>(&value)) {
    golden.type = "bool";
    golden.elements.emplace_back(*b ? "True" : "False");
  } else {
    golden.type = "none";
  }
  return golden;
}

// "f32" of "f32[8, 16]"; a Python float is a float64.
std::string_view dtype_of(std::string_view type) {
  return type == "float" ? "f64" : type.substr(0, type.find('['));
}

std::optional<double> number_of(std::string_view text) {
  if (text.empty() || text.starts_with("nan") || text.starts_with("bits:")) return std::nullopt;
  const std::string ended(text);
  char* end = nullptr;
  const double value = std::strtod(ended.c_str(), &end);
  return *end == '\0' ? std::optional<double>(value) : std::nullopt;
}

// The place of a finite value among those of its format: neighbours differ by one, zeros are 0.
std::int64_t place_among(const FloatShape& shape, double value) {
  const double magnitude = std::abs(value);
  const int exponent =
      magnitude == 0 ? shape.least_exponent : std::max(std::ilogb(magnitude), shape.least_exponent);
  const auto significand =
      static_cast<std::int64_t>(std::ldexp(magnitude, shape.fraction_bits - exponent));
  const std::int64_t binades = exponent - shape.least_exponent;
  const std::int64_t place = (binades << shape.fraction_bits) + significand;
  return value < 0 ? -place : place;
}

// The count of elements that differ, and how far they are apart, where that can be told.
struct Apart {
  std::size_t count = 0;
  std::size_t first = 0;
  std::optional<std::uint64_t> at_most = 0;
};
Apart apart(const GoldenValue& before, const GoldenValue& after) {
  Apart out;
  const std::string_view dtype = dtype_of(before.type);
  for (std::size_t i = before.elements.size(); i-- > 0;) {
    if (before.elements[i] == after.elements[i]) continue;
    ++out.count;
    out.first = i;
    const auto ulps = ulps_between(dtype, before.elements[i], after.elements[i]);
    out.at_most = ulps && out.at_most ? std::optional(std::max(*out.at_most, *ulps)) : std::nullopt;
  }
  return out;
}

std::string describe(const Apart& found, const GoldenValue& before, const GoldenValue& after) {
  const std::string of = std::to_string(before.elements.size());
  std::string text = std::to_string(found.count) + " of ";
  text += before.some_of == 0 ? of
                              : "the " + of + " that are kept of " + std::to_string(before.some_of);
  text += " values changed";
  if (before.some_of == 0 && before.elements.size() == 1) text = "the value changed";
  if (found.at_most) {
    text +=
        (found.count == 1 ? ", by " : ", by at most ") + std::to_string(*found.at_most) + " ulp";
  }
  return text + (found.count == 1 ? " (from " : " (the first from ") +
         before.elements[found.first] + " to " + after.elements[found.first] + ")";
}

}  // namespace

std::string digest_of(std::string_view bytes) {
  return "sha256:" + sha256_hex(bytes).substr(0, 16);
}

GoldenValue golden_value(std::string place, const HostTensor& tensor) {
  GoldenValue golden;
  golden.place = std::move(place);
  golden.type = spec::print_tensor_type(spec::type_of(tensor));
  const std::vector<std::byte> bytes = spec::packed_bytes(tensor);
  golden.digest = digest_of(text_of(bytes));
  const std::vector<long double> decoded = conformance::decode_elements(tensor);
  const std::size_t parts = conformance::parts_of(tensor.dtype);
  const std::size_t count = decoded.size() / parts;
  const auto item = static_cast<std::size_t>(spec::item_size_bytes(tensor.dtype));
  const bool is_whole = count <= kWholeTensor;
  if (!is_whole) golden.some_of = count;
  const std::size_t kept = is_whole ? count : kSomeElements;
  for (std::size_t i = 0; i < kept; ++i) {
    const std::size_t at = is_whole ? i : i * count / kSomeElements;
    golden.elements.push_back(print_exactly(tensor.dtype, std::span(bytes).subspan(at * item, item),
                                            std::span(decoded).subspan(at * parts, parts)));
  }
  return golden;
}

GoldenValue golden_value(std::string place, const spec::OutputValue& value) {
  if (const auto* tensor = std::get_if<HostTensor>(&value)) {
    return golden_value(std::move(place), *tensor);
  }
  return golden_number(std::move(place), value);
}

GoldenValue golden_value(std::string place, const spec::InputValue& value) {
  if (const auto* tensor = std::get_if<HostTensor>(&value)) {
    return golden_value(std::move(place), *tensor);
  }
  return golden_number(std::move(place), value);
}

std::optional<std::uint64_t> ulps_between(std::string_view dtype, std::string_view before,
                                          std::string_view after) {
  const FloatShape* shape = float_shape(dtype);
  const auto a = number_of(before);
  const auto b = number_of(after);
  if (!shape || !a || !b || !std::isfinite(*a) || !std::isfinite(*b)) return std::nullopt;
  const std::int64_t x = place_among(*shape, *a);
  const std::int64_t y = place_among(*shape, *b);
  return x < y ? static_cast<std::uint64_t>(y) - static_cast<std::uint64_t>(x)
               : static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(y);
}

std::vector<std::string> diff_values(const GoldenValue& before, const GoldenValue& after) {
  std::vector<std::string> out;
  if (before.type != after.type) out.push_back(before.type + " became " + after.type);
  if (before.shares != after.shares) {
    out.push_back(after.shares.empty() ? "no longer shares memory with " + before.shares
                                       : "now shares memory with " + after.shares);
  }
  const bool is_comparable = dtype_of(before.type) == dtype_of(after.type) &&
                             before.some_of == after.some_of &&
                             before.elements.size() == after.elements.size();
  if (is_comparable) {
    const Apart found = apart(before, after);
    if (found.count > 0) {
      out.push_back(describe(found, before, after));
    } else if (before.digest != after.digest) {
      out.emplace_back("bytes changed, and none of the values that are kept");
    }
  } else if (out.empty()) {
    out.emplace_back("the number of values that are kept changed");
  }
  return out;
}

}  // namespace graphgate::tools
