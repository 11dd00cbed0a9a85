#include "spec/sym_expr.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <variant>

namespace graphgate::spec {

struct SymExpr::Node {
  SymOp op;
  std::string name;
  std::vector<SymExpr> operands;
  double real = 0;
};

SymExpr SymExpr::symbol(std::string name) {
  SymExpr expr;
  expr.node_ = std::make_shared<const Node>(Node{SymOp::kSymbol, std::move(name), {}, 0});
  return expr;
}

SymExpr SymExpr::real(double constant) {
  SymExpr expr;
  expr.node_ = std::make_shared<const Node>(Node{SymOp::kReal, {}, {}, constant});
  return expr;
}

SymExpr SymExpr::apply(SymOp op, std::vector<SymExpr> operands) {
  GRAPHGATE_CHECK(!operands.empty());
  SymExpr expr;
  expr.node_ = std::make_shared<const Node>(Node{op, {}, std::move(operands), 0});
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

double SymExpr::real() const {
  GRAPHGATE_CHECK(op() == SymOp::kReal);
  return node_->real;
}

bool SymExpr::is_real() const {
  switch (op()) {
    case SymOp::kReal:
    case SymOp::kTrueDiv:
    case SymOp::kToFloat:
    case SymOp::kTruncToFloat:
      return true;
    case SymOp::kAdd:
    case SymOp::kMul:
    case SymOp::kPow:
    case SymOp::kNeg:
    case SymOp::kFloorDiv:
    case SymOp::kMod:
    case SymOp::kMin:
    case SymOp::kMax:
      return std::any_of(operands().begin(), operands().end(),
                         [](const SymExpr& operand) { return operand.is_real(); });
    case SymOp::kWhere:
      return operands()[1].is_real() || operands()[2].is_real();
    default:
      return op() >= SymOp::kSqrt;
  }
}

bool takes_operands(SymOp op, std::size_t count) {
  switch (op) {
    case SymOp::kConstant:
    case SymOp::kSymbol:
    case SymOp::kReal:
      return count == 0;
    case SymOp::kAdd:
    case SymOp::kMul:
    case SymOp::kMin:
    case SymOp::kMax:
    case SymOp::kAnd:
    case SymOp::kOr:
      return count >= 2;
    case SymOp::kWhere:
      return count == 3;
    case SymOp::kNeg:
    case SymOp::kNot:
    case SymOp::kToFloat:
    case SymOp::kTruncToInt:
    case SymOp::kFloorToInt:
    case SymOp::kCeilToInt:
    case SymOp::kRoundToInt:
    case SymOp::kTruncToFloat:
      return count == 1;
    default:
      return count == (op >= SymOp::kSqrt ? 1U : 2U);
  }
}

bool operator==(const SymExpr& a, const SymExpr& b) {
  if (!a.node_ || !b.node_) return !a.node_ && !b.node_ && a.constant_ == b.constant_;
  if (a.node_ == b.node_) return true;
  const auto bits = [](const SymExpr& x) { return std::bit_cast<std::uint64_t>(x.node_->real); };
  return a.node_->op == b.node_->op && a.node_->name == b.node_->name && bits(a) == bits(b) &&
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

// The value of an expression, as Python has it.
using Number = std::variant<Int, double>;
using Maybe = std::optional<Number>;

double to_real(const Number& x) {
  const auto* whole = std::get_if<Int>(&x);
  return whole ? static_cast<double>(*whole) : std::get<double>(x);
}

bool is_true(const Number& x) { return to_real(x) != 0; }

Maybe wrapped(std::optional<Int> x) { return x ? Maybe(*x) : std::nullopt; }

// Of integers as of their quotient, rounded once where both fit a float.
Maybe true_div(const Number& a, const Number& b) {
  const auto* x = std::get_if<Int>(&a);
  const auto* y = std::get_if<Int>(&b);
  if (to_real(b) == 0) return std::nullopt;
  if (!x || !y) return to_real(a) / to_real(b);
  return static_cast<double>(static_cast<long double>(*x) / static_cast<long double>(*y));
}

// Of two numbers, one of which at least is a float.
Maybe combine_reals(SymOp op, double a, double b) {
  switch (op) {
    case SymOp::kAdd:
      return a + b;
    case SymOp::kMul:
      return a * b;
    case SymOp::kPow:
      return std::pow(a, b);
    case SymOp::kFloorDiv:
      return b == 0 ? Maybe() : std::floor(a / b);
    case SymOp::kMod: {
      if (b == 0) return std::nullopt;
      const double rest = std::fmod(a, b);
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
    default:
      return std::nullopt;
  }
}

// An integer and a float are compared as they are: long double holds both.
Maybe compare(SymOp op, const Number& a, const Number& b) {
  const auto exact = [](const Number& x) {
    return std::visit([](auto number) { return static_cast<long double>(number); }, x);
  };
  const long double x = exact(a);
  const long double y = exact(b);
  switch (op) {
    case SymOp::kMin:
      return y < x ? b : a;
    case SymOp::kMax:
      return y > x ? b : a;
    case SymOp::kEq:
      return Int{x == y};
    case SymOp::kNe:
      return Int{x != y};
    case SymOp::kLt:
      return Int{x < y};
    case SymOp::kLe:
      return Int{x <= y};
    case SymOp::kGt:
      return Int{x > y};
    case SymOp::kGe:
      return Int{x >= y};
    default:
      return std::nullopt;
  }
}

// One binary step; nullopt on overflow or on an undefined division.
Maybe combine_numbers(SymOp op, const Number& a, const Number& b) {
  if (op == SymOp::kTrueDiv) return true_div(a, b);
  if (op == SymOp::kAnd) return Int{is_true(a) && is_true(b)};
  if (op == SymOp::kOr) return Int{is_true(a) || is_true(b)};
  const auto* x = std::get_if<Int>(&a);
  const auto* y = std::get_if<Int>(&b);
  if (x && y) return wrapped(combine(op, *x, *y));
  const Maybe compared = compare(op, a, b);
  return compared ? compared : combine_reals(op, to_real(a), to_real(b));
}

// A whole float as an integer; nullopt where it does not fit, and for NaN.
Maybe to_integer(double x) {
  if (!(x >= -0x1p63 && x < 0x1p63)) return std::nullopt;
  return static_cast<Int>(x);
}

Maybe apply_function(SymOp op, double x) {
  switch (op) {
    case SymOp::kToFloat:
      return x;
    case SymOp::kTruncToInt:
      return to_integer(std::trunc(x));
    case SymOp::kFloorToInt:
      return to_integer(std::floor(x));
    case SymOp::kCeilToInt:
      return to_integer(std::ceil(x));
    case SymOp::kRoundToInt:
      return to_integer(std::nearbyint(x));
    case SymOp::kTruncToFloat:
      return std::trunc(x);
    case SymOp::kSqrt:
      return std::sqrt(x);
    case SymOp::kExp:
      return std::exp(x);
    case SymOp::kLog:
      return std::log(x);
    case SymOp::kLog2:
      return std::log2(x);
    case SymOp::kSin:
      return std::sin(x);
    case SymOp::kCos:
      return std::cos(x);
    case SymOp::kTan:
      return std::tan(x);
    case SymOp::kAsin:
      return std::asin(x);
    case SymOp::kAcos:
      return std::acos(x);
    case SymOp::kAtan:
      return std::atan(x);
    case SymOp::kSinh:
      return std::sinh(x);
    case SymOp::kCosh:
      return std::cosh(x);
    case SymOp::kTanh:
      return std::tanh(x);
    case SymOp::kAsinh:
      return std::asinh(x);
    default:
      return std::nullopt;
  }
}

// Of rounding to an integer, what is one already is left alone.
bool rounds_to_int(SymOp op) {
  return op == SymOp::kTruncToInt || op == SymOp::kFloorToInt || op == SymOp::kCeilToInt ||
         op == SymOp::kRoundToInt;
}

Maybe apply_unary(SymOp op, const Number& x) {
  const auto* whole = std::get_if<Int>(&x);
  if (op == SymOp::kNot) return Int{!is_true(x)};
  if (op == SymOp::kNeg) return whole ? wrapped(checked_mul(*whole, -1)) : -std::get<double>(x);
  if (whole && rounds_to_int(op)) return x;
  return apply_function(op, to_real(x));
}

void collect_symbols(const SymExpr& expr, std::set<std::string>& names) {
  if (expr.op() == SymOp::kSymbol) names.insert(expr.name());
  for (const SymExpr& operand : expr.operands()) collect_symbols(operand, names);
}

Result<Number> number_of(const SymExpr& expr, const SymbolValues& symbols);

// The arm that does not count need not have a value.
Result<Number> chosen_of(const SymExpr& expr, const SymbolValues& symbols) {
  GRAPHGATE_TRY(const Number condition, number_of(expr.operands()[0], symbols));
  return number_of(expr.operands()[is_true(condition) ? 1 : 2], symbols);
}

Result<Number> number_of(const SymExpr& expr, const SymbolValues& symbols) {
  if (expr.is_constant()) return Number(expr.constant());
  if (expr.op() == SymOp::kReal) return Number(expr.real());
  if (expr.op() == SymOp::kWhere) return chosen_of(expr, symbols);
  if (expr.op() == SymOp::kSymbol) {
    const auto found = symbols.find(expr.name());
    if (found == symbols.end()) return bad_input("symbol " + expr.name() + " has no value");
    return Number(found->second);
  }
  Maybe value;
  for (const SymExpr& operand : expr.operands()) {
    GRAPHGATE_TRY(const Number next, number_of(operand, symbols));
    value = value ? combine_numbers(expr.op(), *value, next) : next;
    if (!value) break;
  }
  if (value && expr.operands().size() == 1) value = apply_unary(expr.op(), *value);
  if (!value) {
    return bad_input("'" + print_sym_expr(expr) +
                     "' has no 64-bit value (overflow, or a division that is not defined)");
  }
  return *value;
}

}  // namespace

Result<std::int64_t> evaluate(const SymExpr& expr, const SymbolValues& symbols) {
  GRAPHGATE_TRY(const Number value, number_of(expr, symbols));
  if (const auto* whole = std::get_if<Int>(&value)) return *whole;
  return bad_input("'" + print_sym_expr(expr) + "' is a float, where an integer is expected");
}

std::vector<std::string> free_symbols(const SymExpr& expr) {
  std::set<std::string> names;
  collect_symbols(expr, names);
  return {names.begin(), names.end()};
}

}  // namespace graphgate::spec
