#include "optimized/passes/size_facts.h"

#include <algorithm>

namespace graphgate::optimized {
namespace {

using spec::SymExpr;
using spec::SymOp;

// Coefficients by the sorted atoms of a term; terms with coefficient 0 are left out.
using Polynomial = std::map<std::vector<std::string>, std::int64_t>;

constexpr std::size_t kMaxTerms = 64;  // beyond: the whole expression is one atom

bool add_term(Polynomial& sum, const std::vector<std::string>& atoms, std::int64_t coefficient) {
  std::int64_t& term = sum[atoms];
  if (__builtin_add_overflow(term, coefficient, &term)) return false;
  if (term == 0) sum.erase(atoms);
  return sum.size() <= kMaxTerms;
}

std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b) {
  Polynomial out;
  for (const auto& [first, x] : a) {
    for (const auto& [second, y] : b) {
      std::vector<std::string> atoms = first;
      atoms.insert(atoms.end(), second.begin(), second.end());
      std::ranges::sort(atoms);
      std::int64_t coefficient = 0;
      if (__builtin_mul_overflow(x, y, &coefficient) || !add_term(out, atoms, coefficient)) {
        return std::nullopt;
      }
    }
  }
  return out;
}

Polynomial atom(const SymExpr& expr) {
  if (expr.op() == SymOp::kSymbol) return {{{expr.name()}, 1}};
  return {{{"(" + spec::print_sym_expr(expr) + ")"}, 1}};
}

std::optional<Polynomial> polynomial_of(const SymExpr& expr) {
  if (expr.is_constant()) {
    return expr.constant() == 0 ? Polynomial{} : Polynomial{{{}, expr.constant()}};
  }
  const SymOp op = expr.op();
  if (op == SymOp::kNeg) {
    const auto inner = polynomial_of(expr.operands().front());
    return inner ? product(*inner, {{{}, -1}}) : std::nullopt;
  }
  if (op != SymOp::kAdd && op != SymOp::kMul) return atom(expr);
  Polynomial out = op == SymOp::kAdd ? Polynomial{} : Polynomial{{{}, 1}};
  for (const SymExpr& operand : expr.operands()) {
    const auto next = polynomial_of(operand);
    if (!next) return std::nullopt;
    if (op == SymOp::kMul) {
      auto times = product(out, *next);
      if (!times) return std::nullopt;
      out = std::move(*times);
      continue;
    }
    for (const auto& [atoms, coefficient] : *next) {
      if (!add_term(out, atoms, coefficient)) return std::nullopt;
    }
  }
  return out;
}

}  // namespace

bool provably_equal(const SymExpr& a, const SymExpr& b) {
  if (a.is_constant() && b.is_constant()) return a.constant() == b.constant();
  if (a == b) return true;
  const auto first = polynomial_of(a);
  const auto second = polynomial_of(b);
  return first && second && *first == *second;
}

bool provably_equal(const std::vector<SymExpr>& a, const std::vector<SymExpr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const SymExpr& x, const SymExpr& y) { return provably_equal(x, y); });
}

std::optional<std::int64_t> upper_bound(const SymExpr& expr, const SymbolRanges& ranges) {
  if (expr.is_constant()) return expr.constant();
  const SymOp op = expr.op();
  if (op == SymOp::kSymbol) {
    const auto found = ranges.find(expr.name());
    return found == ranges.end() || found->second.min < 0 ? std::nullopt : found->second.max;
  }
  if (op != SymOp::kAdd && op != SymOp::kMul && op != SymOp::kMin && op != SymOp::kMax) {
    return std::nullopt;
  }
  std::optional<std::int64_t> out;
  for (const SymExpr& operand : expr.operands()) {
    const auto bound = upper_bound(operand, ranges);
    if (!bound || *bound < 0) return std::nullopt;  // sizes; negative factors turn bounds around
    if (!out) {
      out = bound;
    } else if (op == SymOp::kMin || op == SymOp::kMax) {
      out = op == SymOp::kMin ? std::min(*out, *bound) : std::max(*out, *bound);
    } else if (op == SymOp::kAdd ? __builtin_add_overflow(*out, *bound, &*out)
                                 : __builtin_mul_overflow(*out, *bound, &*out)) {
      return std::nullopt;
    }
  }
  return out;
}

std::optional<std::int64_t> value_at_hints(const SymExpr& expr, const SymbolRanges& ranges) {
  spec::SymbolValues values;
  for (const auto& [name, info] : ranges) {
    if (info.hint) values.emplace(name, *info.hint);
  }
  const auto value = spec::evaluate(expr, values);
  return value.ok() ? std::optional(value.value()) : std::nullopt;
}

}  // namespace graphgate::optimized
