#include "spec/sym_expr.h"

#include <algorithm>
#include <limits>
#include <set>

namespace graphgate::spec {

struct SymExpr::Node {
  SymOp op;
  std::string name;
  std::vector<SymExpr> operands;
};

SymExpr SymExpr::symbol(std::string name) {
  SymExpr expr;
  expr.node_ = std::make_shared<const Node>(Node{SymOp::kSymbol, std::move(name), {}});
  return expr;
}

SymExpr SymExpr::apply(SymOp op, std::vector<SymExpr> operands) {
  GRAPHGATE_CHECK(!operands.empty());
  SymExpr expr;
  expr.node_ = std::make_shared<const Node>(Node{op, {}, std::move(operands)});
  return expr;
}

SymOp SymExpr::op() const { return node_ ? node_->op : SymOp::kConstant; }

const std::string& SymExpr::name() const {
  GRAPHGATE_CHECK(op() == SymOp::kSymbol);
  return node_->name;
}

const std::vector<SymExpr>& SymExpr::operands() const {
  static const std::vector<SymExpr> kNone;
  return node_ ? node_->operands : kNone;
}

bool operator==(const SymExpr& a, const SymExpr& b) {
  if (!a.node_ || !b.node_) return !a.node_ && !b.node_ && a.constant_ == b.constant_;
  if (a.node_ == b.node_) return true;
  return a.node_->op == b.node_->op && a.node_->name == b.node_->name &&
         a.node_->operands == b.node_->operands;
}

namespace {

using Int = std::int64_t;

std::optional<Int> checked_add(Int a, Int b) {
  Int out = 0;
  return __builtin_add_overflow(a, b, &out) ? std::nullopt : std::optional(out);
}

std::optional<Int> checked_mul(Int a, Int b) {
  Int out = 0;
  return __builtin_mul_overflow(a, b, &out) ? std::nullopt : std::optional(out);
}

std::optional<Int> checked_pow(Int base, Int exponent) {
  if (exponent < 0) return std::nullopt;
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  Int out = 1;
  for (Int i = 0; i < exponent; ++i) {  // at most 63 turns before |base| >= 2 overflows
    const auto next = checked_mul(out, base);
    if (!next) return std::nullopt;
    out = *next;
  }
  return out;
}

bool divides(Int a, Int b) { return b != 0 && !(a == std::numeric_limits<Int>::min() && b == -1); }

std::optional<Int> floor_div(Int a, Int b) {
  if (!divides(a, b)) return std::nullopt;
  return a / b - ((a % b != 0 && (a % b < 0) != (b < 0)) ? 1 : 0);
}

std::optional<Int> floor_mod(Int a, Int b) {
  if (!divides(a, b)) return std::nullopt;
  const Int rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

std::optional<Int> exact_div(Int a, Int b) {
  if (!divides(a, b) || a % b != 0) return std::nullopt;
  return a / b;
}

// One binary step; nullopt on overflow or on an undefined division.
std::optional<Int> combine(SymOp op, Int a, Int b) {
  switch (op) {
    case SymOp::kAdd:
      return checked_add(a, b);
    case SymOp::kMul:
      return checked_mul(a, b);
    case SymOp::kPow:
      return checked_pow(a, b);
    case SymOp::kFloorDiv:
      return floor_div(a, b);
    case SymOp::kExactDiv:
      return exact_div(a, b);
    case SymOp::kMod:
      return floor_mod(a, b);
    case SymOp::kMin:
      return std::min(a, b);
    case SymOp::kMax:
      return std::max(a, b);
    case SymOp::kEq:
      return a == b;
    case SymOp::kNe:
      return a != b;
    case SymOp::kLt:
      return a < b;
    case SymOp::kLe:
      return a <= b;
    case SymOp::kGt:
      return a > b;
    case SymOp::kGe:
      return a >= b;
    case SymOp::kAnd:
      return a != 0 && b != 0;
    case SymOp::kOr:
      return a != 0 || b != 0;
    default:
      return std::nullopt;
  }
}

std::optional<Int> apply_unary(SymOp op, Int a) {
  if (op == SymOp::kNot) return a == 0;
  if (op == SymOp::kNeg) return checked_mul(a, -1);
  return a;
}

void collect_symbols(const SymExpr& expr, std::set<std::string>& names) {
  if (expr.op() == SymOp::kSymbol) names.insert(expr.name());
  for (const SymExpr& operand : expr.operands()) collect_symbols(operand, names);
}

}  // namespace

Result<std::int64_t> evaluate(const SymExpr& expr, const SymbolValues& symbols) {
  if (expr.is_constant()) return expr.constant();
  if (expr.op() == SymOp::kSymbol) {
    const auto found = symbols.find(expr.name());
    if (found == symbols.end()) return bad_input("symbol " + expr.name() + " has no value");
    return found->second;
  }
  std::optional<Int> value;
  for (const SymExpr& operand : expr.operands()) {
    GRAPHGATE_TRY(const Int next, evaluate(operand, symbols));
    value = value ? combine(expr.op(), *value, next) : next;
    if (!value) break;
  }
  if (value && expr.operands().size() == 1) value = apply_unary(expr.op(), *value);
  if (!value) {
    return bad_input("'" + print_sym_expr(expr) +
                     "' has no 64-bit value (overflow, or a division that is not defined)");
  }
  return *value;
}

std::vector<std::string> free_symbols(const SymExpr& expr) {
  std::set<std::string> names;
  collect_symbols(expr, names);
  return {names.begin(), names.end()};
}

}  // namespace graphgate::spec
