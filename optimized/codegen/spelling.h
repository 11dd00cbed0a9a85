// Names and expressions of device text: dtypes, numbers, and where an element lies.
#pragma once

#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "optimized/tensor.h"

namespace graphgate::optimized {

// One text of several, in order.
[[nodiscard]] std::string joined(std::initializer_list<std::string_view> parts);

[[nodiscard]] inline std::string text_of(std::int64_t number) { return std::to_string(number); }

// The format of arithmetic/formats.h: "BF16", "Plain<float>".
[[nodiscard]] std::string format_name(spec::DType dtype);
// The compute type of a dtype, as loop.h has it: "float", "double" or "std::int64_t".
[[nodiscard]] std::string compute_name(spec::DType dtype);
// The dtype that holds every number of that type.
[[nodiscard]] spec::DType compute_dtype(spec::DType dtype);
// The bits of a number in the compute type whose own dtype is `compute`, as an expression.
[[nodiscard]] std::string number_text(spec::DType compute, std::uint64_t bits);
// Those bits.
template <class C>
[[nodiscard]] std::uint64_t number_bits(C number) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &number, sizeof number);
  return bits;
}
// Reads an element at address `at` (an expression): cast to `as`, then in the compute type whose
// own dtype is `compute`, as load_tile_as does.
[[nodiscard]] std::string load_text(spec::DType dtype, spec::DType as, spec::DType compute,
                                    const std::string& at);
// The same for a value that a variable holds, which is an element of `dtype` widened.
[[nodiscard]] std::string cast_text(spec::DType dtype, spec::DType as, spec::DType compute,
                                    const std::string& variable);
// An expression of compute type, rounded to `rounds_to` and then into `dtype`, widened again.
[[nodiscard]] std::string rounded_text(spec::DType rounds_to, spec::DType dtype,
                                       const std::string& value);

// The same places visited by several tensors together: the dimensions that are left when those of
// size 1 are dropped and neighbours are merged.
struct Walk {
  Sizes sizes;                 // outermost first
  std::vector<Sizes> strides;  // per tensor, in bytes
  [[nodiscard]] std::int64_t count() const;
};
// Tensors broadcast to `sizes`. With `keeps_order` positions are row-major in `sizes`; else they
// follow the first tensor's strides.
[[nodiscard]] Walk walk_of(const Sizes& sizes, std::span<const Tensor* const> tensors,
                           bool keeps_order);

// Statements that take a position (a variable) apart into `prefix`0, `prefix`1..., row-major.
[[nodiscard]] std::string coordinates_text(const Sizes& sizes, const std::string& position,
                                           const std::string& prefix);
// The offset in bytes at those coordinates: "x0 * 64 + x1 * 4", "0" where nothing moves.
[[nodiscard]] std::string offset_text(const Sizes& strides_bytes, const std::string& prefix);

}  // namespace graphgate::optimized
