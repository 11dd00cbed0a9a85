#include "optimized/kernels/fill.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "optimized/codegen/copy_work.h"
#include "optimized/codegen/work.h"
#include "optimized/complex_numbers.h"
#include "optimized/loop.h"

namespace graphgate::optimized {
namespace {

struct IntegerRange {
  std::int64_t least = 0;
  std::int64_t greatest = 0;
};

IntegerRange range_of(spec::DType dtype) {
  if (dtype == spec::DType::kUInt8) return {0, 255};
  const auto bits = static_cast<int>(8 * spec::item_size_bytes(dtype));
  const std::int64_t greatest = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
  return {-greatest - 1, greatest};
}

[[noreturn]] void overflows(spec::DType dtype) {
  throw OpError("the number does not fit " + std::string(spec::torch_name(dtype)));
}

void check_integer(std::int64_t number, spec::DType dtype) {
  IntegerRange range = range_of(dtype);
  if (dtype == spec::DType::kUInt8) range.least = -255;
  if (number < range.least || number > range.greatest) overflows(dtype);
}

void check_real(double number, spec::DType dtype) {
  if (dtype == spec::DType::kFloat32) {
    if (std::isfinite(number) && std::fabs(number) > std::numeric_limits<float>::max()) {
      overflows(dtype);
    }
  } else if (spec::is_integral(dtype)) {
    const IntegerRange range = range_of(dtype);
    // The greatest int64 is no double: 2^63 itself is out.
    const bool is_inside = number >= static_cast<double>(range.least) &&
                           number <= static_cast<double>(range.greatest) && number < 0x1p63;
    if (!is_inside) overflows(dtype);
  }
}

template <class Word>
Launch fill_words(const Tensor& target, const Element& element) {
  Word word{};
  std::memcpy(&word, element.data(), sizeof(Word));
  const std::array<const Tensor*, 1> tensors = {&target};
  return [loop = Loop(tensors), word] {
    loop.for_each_run(
        [word](std::byte* const* firsts, const std::int64_t* strides, std::int64_t n) {
          std::byte* at = firsts[0];
          if (strides[0] == static_cast<std::int64_t>(sizeof(Word))) {
            for (std::int64_t i = 0; i < n; ++i) {
              std::memcpy(at + i * static_cast<std::int64_t>(sizeof(Word)), &word, sizeof(Word));
            }
            return;
          }
          for (std::int64_t i = 0; i < n; ++i)
            std::memcpy(at + i * strides[0], &word, sizeof(Word));
        });
  };
}

Launch fill_bytes(const Tensor& target, const Element& element) {
  switch (target.item_bytes()) {
    case 1:
      return fill_words<std::uint8_t>(target, element);
    case 2:
      return fill_words<std::uint16_t>(target, element);
    case 4:
      return fill_words<std::uint32_t>(target, element);
    default:
      return fill_words<std::uint64_t>(target, element);
  }
}

// The real components are filled, and then the imaginary ones.
Launch fill_components(const DeviceListener* listener, const Tensor& target,
                       const Element& element) {
  std::vector<Launch> launches;
  for (const int which : {0, 1}) {
    const Tensor part = component_of(target, which);
    Element own{};
    const auto bytes = static_cast<std::size_t>(part.item_bytes());
    std::memcpy(own.data(), element.data() + static_cast<std::size_t>(which) * bytes, bytes);
    launches.push_back(fill_launch(listener, part, own));
  }
  return in_turn(std::move(launches));
}

Element complex_element(const Item& number, spec::DType dtype) {
  Item real = number;
  Item imag = {std::int64_t{0}};
  if (const auto* pair = number.as<spec::ComplexNumber>()) {
    real = {pair->real};
    imag = {pair->imag};
  }
  const spec::DType component = spec::component_dtype(dtype);
  Element out = element_of(real, component);
  const auto bytes = static_cast<std::size_t>(spec::item_size_bytes(component));
  std::memcpy(out.data() + bytes, element_of(imag, component).data(), bytes);
  return out;
}

}  // namespace

Element element_of(const Item& number, spec::DType dtype) {
  if (spec::is_complex(dtype)) return complex_element(number, dtype);
  if (const auto* pair = number.as<spec::ComplexNumber>()) {
    if (pair->imag != 0) overflows(dtype);
    return element_of({pair->real}, dtype);
  }
  Element out{};
  if (const auto* real = number.as<double>()) {
    check_real(*real, dtype);
    store_element<double>(dtype, *real, out.data());
    return out;
  }
  const auto integer = number_as<std::int64_t>(number);
  if (spec::is_integral(dtype)) check_integer(integer, dtype);
  store_element<std::int64_t>(dtype, integer, out.data());
  return out;
}

Launch fill_launch(const DeviceListener* listener, const Tensor& target, const Element& element) {
  if (spec::is_complex(target.dtype)) return fill_components(listener, target, element);
  Launch launch = fill_bytes(target, element);
  if (listener == nullptr) return launch;
  std::array<std::byte, 8> bytes{};
  std::copy_n(element.begin(), bytes.size(), bytes.begin());
  return described(std::move(launch), {fill_work(target, bytes)});
}

}  // namespace graphgate::optimized
