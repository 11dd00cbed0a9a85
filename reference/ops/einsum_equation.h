// The equation of an einsum: which label each dimension has, and in which order the dimensions of a
// contraction come. einsum.cpp computes with it.
//
// Every function throws OpError for what is no equation or does not fit the operands.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/tensor.h"

namespace graphgate::reference {

// Stands for "..." among labels, which are letters.
inline constexpr char kEllipsis = '.';

// "ij,...k->i" read: one string of labels per operand, kEllipsis for "...".
struct Equation {
  std::vector<std::string> inputs;
  std::optional<std::string> output;
};

// Without "->", the output is empty here: order_of() implies it. Spaces do not count.
[[nodiscard]] Equation parse_equation(std::string_view text, std::size_t operand_count);

// Where each label's dimension comes: those of the output first, then those to be summed.
struct Order {
  std::map<char, std::int64_t> place;
  std::int64_t ellipsis_dims = 0;  // that "..." stands for
  std::int64_t output_dims = 0;
  std::int64_t dims = 0;
};

[[nodiscard]] Order order_of(const Equation& equation, const std::vector<TensorRef>& operands);

// The dimensions that "..." covers in one operand; 0 without one.
[[nodiscard]] std::int64_t covered_dims(const std::string& labels, const Tensor& operand);

}  // namespace graphgate::reference
