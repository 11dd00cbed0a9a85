// Edits of symbolic expressions, for the passes that change sizes.
#pragma once

#include <utility>
#include <vector>

#include "spec/sym_expr.h"

namespace graphgate::fuzz {

// The expression with some leaves changed (`change` takes a leaf and returns what stands for it);
// what has no symbol left becomes a number, where it has a value.
template <class ChangeLeaf>
spec::SymExpr rebuilt(const spec::SymExpr& expr, ChangeLeaf&& change) {
  if (expr.is_constant() || expr.op() == spec::SymOp::kSymbol) return change(expr);
  if (expr.op() == spec::SymOp::kReal) return expr;
  std::vector<spec::SymExpr> operands;
  bool is_constant = true;
  for (const spec::SymExpr& operand : expr.operands()) {
    operands.push_back(rebuilt(operand, change));
    is_constant &= spec::free_symbols(operands.back()).empty();
  }
  spec::SymExpr out = spec::SymExpr::apply(expr.op(), std::move(operands));
  if (!is_constant) return out;
  const auto value = spec::evaluate(out, {});
  return value.ok() ? spec::SymExpr(value.value()) : out;
}

}  // namespace graphgate::fuzz
