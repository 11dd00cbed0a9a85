#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "interop/sympy_expr.h"

namespace graphgate::interop {

namespace {

using spec::SymExpr;
using spec::SymOp;
using Int = std::int64_t;

// A parsed expression as a fraction: value / divisor (divisor >= 1). Only Rational(p, q) and
// products with it have a divisor other than 1. `true_quotient` marks IntTrueDiv(a, b), kept as the
// pair of its operands until something rounds it.
struct Term {
  SymExpr value;
  Int divisor = 1;
  std::optional<SymExpr> true_quotient = std::nullopt;
};

// Functions of PyTorch's that have no meaning here.
constexpr std::array<std::string_view, 4> kForeign = {
    "RoundDecimal", "IsNonOverlappingAndDenseIndicator", "ceiling", "Heaviside"};

struct Function {
  std::string_view name;
  SymOp op;
  std::size_t operands;  // 0: two or more
};
constexpr std::array<Function, 41> kFunctions = {{
    {"Add", SymOp::kAdd, 0},
    {"Mul", SymOp::kMul, 0},
    {"Pow", SymOp::kPow, 2},
    {"PowByNatural", SymOp::kPow, 2},
    {"FloorDiv", SymOp::kFloorDiv, 2},
    {"CleanDiv", SymOp::kExactDiv, 2},
    {"Mod", SymOp::kMod, 2},
    {"PythonMod", SymOp::kMod, 2},
    {"Min", SymOp::kMin, 0},
    {"Max", SymOp::kMax, 0},
    {"Equality", SymOp::kEq, 2},
    {"Unequality", SymOp::kNe, 2},
    {"StrictLessThan", SymOp::kLt, 2},
    {"LessThan", SymOp::kLe, 2},
    {"StrictGreaterThan", SymOp::kGt, 2},
    {"GreaterThan", SymOp::kGe, 2},
    {"And", SymOp::kAnd, 0},
    {"Or", SymOp::kOr, 0},
    {"Not", SymOp::kNot, 1},
    {"ToFloat", SymOp::kToFloat, 1},
    {"TruncToInt", SymOp::kTruncToInt, 1},
    {"RoundToInt", SymOp::kRoundToInt, 1},
    {"TruncToFloat", SymOp::kTruncToFloat, 1},
    {"FloatTrueDiv", SymOp::kTrueDiv, 2},
    {"IntTrueDiv", SymOp::kTrueDiv, 2},
    {"FloatPow", SymOp::kPow, 2},
    {"Where", SymOp::kWhere, 3},
    {"OpaqueUnaryFn_sqrt", SymOp::kSqrt, 1},
    {"OpaqueUnaryFn_exp", SymOp::kExp, 1},
    {"OpaqueUnaryFn_log", SymOp::kLog, 1},
    {"OpaqueUnaryFn_log2", SymOp::kLog2, 1},
    {"OpaqueUnaryFn_sin", SymOp::kSin, 1},
    {"OpaqueUnaryFn_cos", SymOp::kCos, 1},
    {"OpaqueUnaryFn_tan", SymOp::kTan, 1},
    {"OpaqueUnaryFn_asin", SymOp::kAsin, 1},
    {"OpaqueUnaryFn_acos", SymOp::kAcos, 1},
    {"OpaqueUnaryFn_atan", SymOp::kAtan, 1},
    {"OpaqueUnaryFn_sinh", SymOp::kSinh, 1},
    {"OpaqueUnaryFn_cosh", SymOp::kCosh, 1},
    {"OpaqueUnaryFn_tanh", SymOp::kTanh, 1},
    {"OpaqueUnaryFn_asinh", SymOp::kAsinh, 1},
}};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<SymExpr> parse_all() {
    GRAPHGATE_TRY(const Term term, parse_term(0));
    skip_blanks();
    if (at_ < text_.size()) return error("expected the end, found '" + rest() + "'");
    return whole(term, 0);
  }

 private:
  Error error(const std::string& message) const { return error_at(at_, message); }
  static Error error_at(std::size_t position, const std::string& message) {
    return bad_input("column " + std::to_string(position + 1) + ": " + message);
  }
  std::string rest() const { return std::string(text_.substr(at_, 20)); }

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool accept(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  Result<void> expect(char c) {
    if (accept(c)) return {};
    std::string message = "expected '";
    message += c;
    return error(message + "', found " + (at_ < text_.size() ? "'" + rest() + "'" : "the end"));
  }
  std::string_view name() {
    skip_blanks();
    const std::size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '_' || text_[at_] == '.')) {
      ++at_;
    }
    return text_.substr(start, at_ - start);
  }
  Result<Int> integer() {
    skip_blanks();
    Int number = 0;
    const auto [end, status] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (status == std::errc::result_out_of_range) return error("the integer does not fit 64 bits");
    if (status != std::errc()) return error("expected an integer");
    at_ = static_cast<std::size_t>(end - text_.data());
    return number;
  }

  // The expression of a term. A quotient that nothing rounds is a float.
  static Result<SymExpr> whole(const Term& term, std::size_t position) {
    if (term.true_quotient)
      return SymExpr::apply(SymOp::kTrueDiv, {term.value, *term.true_quotient});
    if (term.divisor == 1) return term.value;
    if (term.value.is_real()) {
      return SymExpr::apply(SymOp::kTrueDiv, {term.value, SymExpr(term.divisor)});
    }
    if (term.value.is_constant()) {
      return unsupported("column " + std::to_string(position + 1) +
                         ": a Rational that is not a factor of a product");
    }
    return SymExpr::apply(SymOp::kExactDiv, {term.value, SymExpr(term.divisor)});
  }

  Result<Term> parse_term(int depth) {
    skip_blanks();
    const std::size_t start = at_;
    if (depth > kMaxSympyDepth) {
      return error("nested deeper than " + std::to_string(kMaxSympyDepth) + " levels");
    }
    if (at_ < text_.size() &&
        (text_[at_] == '-' || std::isdigit(static_cast<unsigned char>(text_[at_])) != 0)) {
      GRAPHGATE_TRY(const Int number, integer());
      return Term{number};
    }
    const std::string_view head = name();
    if (head.empty()) return error("expected an expression");
    if (head == "true" || head == "S.true") return Term{1};
    if (head == "false" || head == "S.false") return Term{0};
    if (head == "S.NegativeOne") return Term{-1};
    GRAPHGATE_TRY_VOID(expect('('));
    if (head == "Integer") return parse_integer();
    if (head == "Rational") return parse_rational();
    if (head == "Symbol") return parse_symbol();
    if (head == "Float") return parse_float();
    if (head == "Piecewise") return parse_piecewise(start, depth);
    return parse_call(head, start, depth);
  }

  Result<Term> parse_integer() {
    GRAPHGATE_TRY(const Int number, integer());
    GRAPHGATE_TRY_VOID(expect(')'));
    return Term{number};
  }

  Result<Term> parse_rational() {
    GRAPHGATE_TRY(const Int numerator, integer());
    GRAPHGATE_TRY_VOID(expect(','));
    const std::size_t position = at_;
    GRAPHGATE_TRY(const Int denominator, integer());
    if (denominator < 1) return error_at(position, "expected a denominator of 1 or more");
    GRAPHGATE_TRY_VOID(expect(')'));
    return Term{numerator, denominator};
  }

  // 'DIGITS', precision=53
  Result<Term> parse_float() {
    if (!accept('\'')) return error("expected a quoted number");
    const std::size_t position = at_;
    const std::size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) return error("expected a quote behind the number");
    double value = 0;
    const auto [last, status] = std::from_chars(text_.data() + at_, text_.data() + end, value);
    if (status != std::errc() || last != text_.data() + end || !std::isfinite(value)) {
      return error_at(position, "expected a float64");
    }
    at_ = end + 1;
    while (accept(',')) {
      (void)name();  // precision, dps
      GRAPHGATE_TRY_VOID(expect('='));
      GRAPHGATE_TRY_VOID(integer());
    }
    GRAPHGATE_TRY_VOID(expect(')'));
    return Term{SymExpr::real(value)};
  }

  // ExprCondPair(value, condition), ...: the first whose condition holds. The last must hold.
  Result<Term> parse_piecewise(std::size_t start, int depth) {
    std::vector<std::pair<SymExpr, SymExpr>> pieces;
    do {
      skip_blanks();
      const std::size_t position = at_;
      const std::string_view head = name();
      if (!head.empty() && head != "ExprCondPair") {
        return error_at(position, "expected ExprCondPair");
      }
      GRAPHGATE_TRY_VOID(expect('('));
      GRAPHGATE_TRY(const Term value, parse_term(depth + 1));
      GRAPHGATE_TRY_VOID(expect(','));
      GRAPHGATE_TRY(const Term condition, parse_term(depth + 1));
      GRAPHGATE_TRY_VOID(expect(')'));
      GRAPHGATE_TRY(SymExpr piece, whole(value, position));
      GRAPHGATE_TRY(SymExpr when, whole(condition, position));
      pieces.emplace_back(std::move(piece), std::move(when));
    } while (accept(','));
    GRAPHGATE_TRY_VOID(expect(')'));
    if (pieces.back().second != SymExpr(1)) {
      return unsupported("column " + std::to_string(start + 1) +
                         ": a Piecewise without a piece for what is left");
    }
    SymExpr out = std::move(pieces.back().first);
    for (std::size_t i = pieces.size() - 1; i-- > 0;) {
      auto& [piece, when] = pieces[i];
      out = SymExpr::apply(SymOp::kWhere, {std::move(when), std::move(piece), std::move(out)});
    }
    return Term{std::move(out)};
  }

  Result<Term> parse_symbol() {
    if (!accept('\'')) return error("expected a quoted name");
    const std::string symbol(name());
    if (symbol.empty() || symbol.find('.') != std::string::npos ||
        std::isdigit(static_cast<unsigned char>(symbol[0])) != 0) {
      return error("expected a symbol's name");
    }
    GRAPHGATE_TRY_VOID(expect('\''));
    while (accept(',')) {  // positive=True, integer=True: nothing that a range does not say
      const std::string_view assumption = name();
      GRAPHGATE_TRY_VOID(expect('='));
      const std::string_view value = name();
      if (assumption.empty() || (value != "True" && value != "False")) {
        return error("expected an assumption such as integer=True");
      }
    }
    GRAPHGATE_TRY_VOID(expect(')'));
    return Term{SymExpr::symbol(symbol)};
  }

  Result<Term> parse_call(std::string_view head, std::size_t start, int depth) {
    std::vector<Term> terms;
    std::vector<std::size_t> starts;
    const bool negates = head == "Mul" && text_.substr(at_).starts_with("S.NegativeOne,");
    if (!accept(')')) {
      do {
        skip_blanks();
        starts.push_back(at_);
        GRAPHGATE_TRY(terms.emplace_back(), parse_term(depth + 1));
      } while (accept(','));
      GRAPHGATE_TRY_VOID(expect(')'));
    }
    if (head == "Mul" && !negates && terms.size() >= 2) return product(terms, starts);
    if (head == "FloorToInt" || head == "CeilToInt" || head == "floor") {
      return rounded(head, terms, start);
    }
    std::vector<SymExpr> operands;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      GRAPHGATE_TRY(operands.emplace_back(), whole(terms[i], starts[i]));
    }
    if (negates && operands.size() == 2) return Term{SymExpr::apply(SymOp::kNeg, {operands[1]})};
    return build(head, std::move(operands), start);
  }

  static Result<Term> product(const std::vector<Term>& terms,
                              const std::vector<std::size_t>& starts) {
    Int divisor = 1;
    std::vector<SymExpr> factors;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (terms[i].true_quotient || __builtin_mul_overflow(divisor, terms[i].divisor, &divisor)) {
        return unsupported("column " + std::to_string(starts[i] + 1) + ": a product of fractions");
      }
      const bool is_unit = terms[i].divisor != 1 && terms[i].value == SymExpr(1);
      if (!is_unit) factors.push_back(terms[i].value);
    }
    if (factors.empty()) return Term{1, divisor};
    if (factors.size() == 1) return Term{factors[0], divisor};
    return Term{SymExpr::apply(SymOp::kMul, std::move(factors)), divisor};
  }

  // -((-a) // b)
  static SymExpr ceil_div(const SymExpr& a, const SymExpr& b) {
    const SymExpr negated = SymExpr::apply(SymOp::kNeg, {a});
    return SymExpr::apply(SymOp::kNeg, {SymExpr::apply(SymOp::kFloorDiv, {negated, b})});
  }

  static Result<Term> rounded(std::string_view head, const std::vector<Term>& terms,
                              std::size_t start) {
    if (terms.size() != 1) return error_at(start, std::string(head) + " takes 1 operand");
    const Term& term = terms[0];
    const bool is_exact =
        !term.value.is_real() && !(term.true_quotient && term.true_quotient->is_real());
    if (!is_exact) {
      const SymOp op = head == "CeilToInt" ? SymOp::kCeilToInt : SymOp::kFloorToInt;
      GRAPHGATE_TRY(SymExpr real, whole(term, start));
      return Term{SymExpr::apply(op, {std::move(real)})};
    }
    const SymExpr divisor = term.true_quotient ? *term.true_quotient : SymExpr(term.divisor);
    if (head == "CeilToInt") return Term{ceil_div(term.value, divisor)};
    if (divisor == SymExpr(1)) return Term{term.value};
    return Term{SymExpr::apply(SymOp::kFloorDiv, {term.value, divisor})};
  }

  static Result<Term> build(std::string_view head, std::vector<SymExpr> operands,
                            std::size_t start) {
    const std::size_t count = operands.size();
    const auto power = [&] { return SymExpr::apply(SymOp::kPow, {SymExpr(2), operands[1]}); };
    if (head == "Identity" && count == 1) return Term{operands[0]};
    if (head == "IntTrueDiv" && count == 2) return Term{operands[0], 1, operands[1]};
    if (head == "CeilDiv" && count == 2) return Term{ceil_div(operands[0], operands[1])};
    if (head == "LShift" && count == 2) {
      return Term{SymExpr::apply(SymOp::kMul, {operands[0], power()})};
    }
    if (head == "RShift" && count == 2) {
      return Term{SymExpr::apply(SymOp::kFloorDiv, {operands[0], power()})};
    }
    if (head == "ModularIndexing" && count == 3) {
      const SymExpr quotient = SymExpr::apply(SymOp::kFloorDiv, {operands[0], operands[1]});
      return Term{SymExpr::apply(SymOp::kMod, {quotient, operands[2]})};
    }
    for (const Function& function : kFunctions) {
      if (function.name != head) continue;
      const bool fits = function.operands == 0 ? count >= 2 : count == function.operands;
      if (!fits) {
        return error_at(start, std::string(head) + " takes " +
                                   (function.operands == 0
                                        ? "two or more operands"
                                        : std::to_string(function.operands) + " operand(s)") +
                                   ", found " + std::to_string(count));
      }
      return Term{SymExpr::apply(function.op, std::move(operands))};
    }
    for (const std::string_view foreign : kForeign) {
      if (head != foreign) continue;
      return unsupported("column " + std::to_string(start + 1) + ": function '" +
                         std::string(head) + "' has no integer value");
    }
    return error_at(start, "unknown function '" + std::string(head) + "'");
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<SymExpr> parse_sympy(std::string_view text) { return Parser(text).parse_all(); }

}  // namespace graphgate::interop
