#include "conformance/compare/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <span>

#include "conformance/compare/element.h"

namespace graphgate::conformance {
namespace {

// One element's verdict.
struct Element {
  bool undecided = false;
  long double error = 0;
  long double allowed = 0;
  [[nodiscard]] bool outside() const { return !undecided && !(error <= allowed); }
};

// Half the spacing of the elements between `value` and `actual`: below a power of two it is half of
// what it is above.
long double half_spacing_toward(long double actual, long double value, spec::DType dtype) {
  const bool below = std::fabs(actual) < std::fabs(value);
  return half_spacing(below ? std::nextafter(value, 0.0L) : value, dtype);
}

Element compare_element(long double actual, long double value, double radius, double multiple,
                        spec::DType dtype) {
  constexpr long double kFar = std::numeric_limits<long double>::infinity();
  if (!std::isfinite(radius)) return {true, 0, 0};
  if (std::isnan(value) || std::isnan(actual)) {
    const bool overflow =
        std::isnan(actual) && dtype == spec::DType::kFloat8E4M3FN &&
        std::fabs(value) + static_cast<long double>(multiple * radius) >= overflow_threshold(dtype);
    return {false, (std::isnan(value) && std::isnan(actual)) || overflow ? 0 : kFar, 0};
  }
  const auto allowed = static_cast<long double>(multiple) * static_cast<long double>(radius);
  if (actual == value) return {false, 0, allowed};
  if (std::isinf(actual) || std::isinf(value)) {
    const bool same_sign = std::signbit(actual) == std::signbit(value);
    const bool overflow =
        same_sign && std::isinf(actual) && std::fabs(value) + allowed >= overflow_threshold(dtype);
    return {false, overflow ? 0 : kFar, allowed};
  }
  const long double error = std::fabs(actual - value);
  // Without a radius, the nearest element is right and its distance no error.
  if (radius == 0 && error <= half_spacing_toward(actual, value, dtype)) return {false, 0, 0};
  return {false, error, allowed};
}

std::string format(const char* pattern, auto... values) {
  char text[256];
  std::snprintf(text, sizeof(text), pattern, values...);
  return text;
}

std::string print_list(const std::vector<std::int64_t>& list) {
  std::string text;
  for (const std::int64_t x : list) text += (text.empty() ? "" : ", ") + std::to_string(x);
  return "[" + text + "]";
}

// Strides with those that mean nothing set to 0.
std::vector<std::int64_t> meaningful(const std::vector<std::int64_t>& strides,
                                     const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> out = strides;
  const bool empty = std::ranges::find(sizes, 0) != sizes.end();
  for (std::size_t d = 0; d < out.size(); ++d) {
    if (empty || sizes[d] == 1) out[d] = 0;
  }
  return out;
}

std::string describe_worst(const spec::HostTensor& actual, std::span<const long double> elements,
                           const spec::Spread& expected, const ValueComparison& seen) {
  const std::size_t parts = parts_of(actual.dtype);
  const auto worst = static_cast<std::size_t>(seen.worst_index);
  const std::size_t first = worst - worst % parts;
  const std::span<const long double> values(expected.values);
  return "element " +
         print_index(seen.worst_index / static_cast<std::int64_t>(parts), actual.sizes) + " is " +
         shown_element(elements.subspan(first, parts), actual.dtype) + ", expected " +
         shown_element(values.subspan(first, parts), actual.dtype) +
         (parts == 2 ? worst % 2 == 0 ? ", its real part" : ", its imaginary part" : "") +
         format(" +- %.3g (%lld of %lld %s outside)", seen.worst_allowed,
                static_cast<long long>(seen.outside), static_cast<long long>(seen.elements),
                parts == 2 ? "parts" : "elements");
}

}  // namespace

namespace {

// Calls visit(first, numbers) for the numbers of a tensor, as decode_elements() has them, some at a
// time.
template <class Visit>
void for_each_block_of(const spec::HostTensor& tensor, Visit&& visit) {
  if (tensor.strides != spec::contiguous_strides(tensor.sizes)) {
    return visit(std::size_t{0}, std::span<const long double>(decode_elements(tensor)));
  }
  std::array<long double, 1024> block;
  const std::size_t count =
      static_cast<std::size_t>(spec::element_count(tensor.sizes)) * parts_of(tensor.dtype);
  for (std::size_t first = 0; first < count; first += block.size()) {
    const std::span<long double> numbers =
        std::span(block).first(std::min(block.size(), count - first));
    decode_row_major(tensor, first, numbers);
    visit(first, std::span<const long double>(numbers));
  }
}

}  // namespace

spec::HostTensor number_tensor(double number) {
  spec::HostTensor tensor = spec::make_host_tensor(spec::DType::kFloat64, {});
  std::memcpy(tensor.storage->bytes.data(), &number, sizeof(number));
  return tensor;
}

ValueComparison compare_values(const spec::HostTensor& actual, const spec::Spread& expected,
                               double multiple) {
  ValueComparison out;
  out.elements =
      spec::element_count(actual.sizes) * static_cast<std::int64_t>(parts_of(actual.dtype));
  GRAPHGATE_CHECK(static_cast<std::size_t>(out.elements) == expected.values.size());
  long double worst = -1;
  const auto compare = [&](std::size_t i, long double number) {
    // Most: no error, whatever the radius.
    if (number == expected.values[i] && std::isfinite(expected.radii[i])) return;
    const Element element =
        compare_element(number, expected.values[i], expected.radii[i], multiple, actual.dtype);
    if (element.undecided) ++out.undecided;
    if (element.outside()) ++out.outside;
    if (element.undecided || element.error == 0) return;
    // Most again: nearer than the worst, by more than the quotient is rounded.
    constexpr long double kClearly = 1 - 0x1p-40L;
    if (element.error < worst * element.allowed * kClearly) return;
    const long double ratio = element.allowed == 0 ? std::numeric_limits<long double>::infinity()
                                                   : element.error / element.allowed;
    if (ratio <= worst) return;
    worst = ratio;
    out.worst_index = static_cast<std::int64_t>(i);
    out.worst_ratio = static_cast<double>(ratio);
    out.worst_error = static_cast<double>(element.error);
    out.worst_allowed = static_cast<double>(element.allowed);
  };
  for_each_block_of(actual, [&](std::size_t first, std::span<const long double> numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) compare(first + i, numbers[i]);
  });
  if (out.outside > 0) {
    out.message = describe_worst(actual, decode_elements(actual), expected, out);
  }
  return out;
}

double sigma_multiple(std::int64_t elements, double false_alarm_rate) {
  const double count = static_cast<double>(std::max<std::int64_t>(elements, 1));
  return std::sqrt(2 * std::log(2 * count / false_alarm_rate));
}

Geometry geometry_of(const spec::HostTensor& tensor) {
  return {tensor.dtype, tensor.sizes, tensor.strides, tensor.storage_offset, std::nullopt};
}

std::string compare_form(const spec::HostTensor& actual, const Geometry& expected) {
  if (actual.dtype != expected.dtype) {
    return "dtype is " + std::string(spec::torch_name(actual.dtype)) + ", expected " +
           std::string(spec::torch_name(expected.dtype));
  }
  if (actual.sizes != expected.sizes) {
    return "sizes are " + print_list(actual.sizes) + ", expected " + print_list(expected.sizes);
  }
  if (expected.device && actual.device.type != expected.device->type) {
    return "device is " + actual.device.type + ", expected " + expected.device->type;
  }
  return "";
}

std::string compare_layout(const spec::HostTensor& actual, const Geometry& expected) {
  if (meaningful(actual.strides, actual.sizes) != meaningful(expected.strides, expected.sizes)) {
    return "strides are " + print_list(actual.strides) + ", expected " +
           print_list(expected.strides);
  }
  const bool empty = spec::element_count(actual.sizes) == 0;
  if (!empty && actual.storage_offset != expected.storage_offset) {
    return "storage offset is " + std::to_string(actual.storage_offset) + ", expected " +
           std::to_string(expected.storage_offset);
  }
  return "";
}

}  // namespace graphgate::conformance
