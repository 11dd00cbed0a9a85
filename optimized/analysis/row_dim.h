// Which dimension of a tensor counts the rows of a symbol, and how many elements a row has there.
//
// A symbol's *rows* are what it counts: the requests of a batch, the tokens of a step. In a tensor
// they lie along one dimension, whose size is the symbol times a factor that does not depend on it:
//
//   f32[s0, 64]      dimension 0, one index per row
//   f32[12*s0, 7]    dimension 0, twelve indices per row
//   f32[s0, s0]      two dimensions: no rows to speak of
//   f32[s0 + 1]      the symbol stands otherwise: none either
//
// Rows are the outer part of such a dimension: index i belongs to row i / 12. Sizes say nothing of
// that; the rules of padding_rules.h only let through what keeps it so. padding.cpp asks here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "spec/tensor.h"

namespace graphgate::optimized {

// A product of symbols and other expressions, up to the order of factors: 2*s0*s1 == s1*2*s0.
// Expressions that are no products (s0 + 1) count as one factor, by their text.
struct SizeProduct {
  std::int64_t constant = 1;
  std::map<std::string, int> factors;  // with their exponents, none of them 0

  void multiply(const spec::SymExpr& expr);
  void multiply(const SizeProduct& other);
  friend bool operator==(const SizeProduct&, const SizeProduct&) = default;
};

struct RowDim {
  std::size_t dim = 0;
  std::size_t rank = 0;
  SizeProduct per_row;  // indices along `dim` that belong to one row

  // Counted from the last dimension, which is 0: what broadcasting aligns by.
  [[nodiscard]] std::size_t from_the_right() const { return rank - 1 - dim; }
};

// Whether the symbol stands anywhere in the expression.
[[nodiscard]] bool mentions(const spec::SymExpr& expr, std::string_view symbol);

// Nothing where no size mentions the symbol. kUnsupported, in words that go behind the name of the
// value, where sizes, strides or the offset depend on it otherwise than as one dimension of rows.
[[nodiscard]] Result<std::optional<RowDim>> find_row_dim(const spec::TensorType& type,
                                                         std::string_view symbol);

}  // namespace graphgate::optimized
