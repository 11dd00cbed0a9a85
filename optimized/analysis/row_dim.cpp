#include "optimized/analysis/row_dim.h"

#include <algorithm>

namespace graphgate::optimized {

void SizeProduct::multiply(const spec::SymExpr& expr) {
  if (expr.is_constant()) {
    constant *= expr.constant();
  } else if (expr.op() == spec::SymOp::kMul) {
    for (const spec::SymExpr& operand : expr.operands()) multiply(operand);
  } else {
    ++factors[spec::print_sym_expr(expr)];
  }
}

void SizeProduct::multiply(const SizeProduct& other) {
  constant *= other.constant;
  for (const auto& [factor, exponent] : other.factors) factors[factor] += exponent;
}

bool mentions(const spec::SymExpr& expr, std::string_view symbol) {
  const auto symbols = spec::free_symbols(expr);
  return std::binary_search(symbols.begin(), symbols.end(), symbol);
}

Result<std::optional<RowDim>> find_row_dim(const spec::TensorType& type, std::string_view symbol) {
  std::optional<RowDim> found;
  for (std::size_t d = 0; d < type.sizes.size(); ++d) {
    if (!mentions(type.sizes[d], symbol)) continue;
    if (found) return unsupported("has '" + std::string(symbol) + "' in two dimensions");
    RowDim row{d, type.sizes.size(), {}};
    row.per_row.multiply(type.sizes[d]);
    const auto factor = row.per_row.factors.find(std::string(symbol));
    const bool is_whole = factor != row.per_row.factors.end() && factor->second == 1;
    if (is_whole) row.per_row.factors.erase(factor);
    const bool is_left = std::ranges::any_of(row.per_row.factors, [&](const auto& entry) {
      const auto parsed = spec::parse_sym_expr(entry.first);
      return !parsed.ok() || mentions(parsed.value(), symbol);
    });
    if (!is_whole || is_left) {
      return unsupported("has size " + spec::print_sym_expr(type.sizes[d]) + ", of which '" +
                         std::string(symbol) + "' is no plain factor");
    }
    found = std::move(row);
  }
  return found;
}

}  // namespace graphgate::optimized
