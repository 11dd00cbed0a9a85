// Prints with the fewest parentheses that the grammar in sym_expr_text.cpp needs to read the same
// tree again.
#include <cmath>
#include <utility>

#include "spec/sym_expr_text.h"

namespace graphgate::spec {
namespace {

// How tightly an expression binds. The printer puts parentheses around a looser one.
enum class Level { kOr, kAnd, kNot, kComparison, kSum, kTerm, kUnary, kPower, kAtom };

template <std::size_t N>
std::string_view spelling(const std::array<std::pair<SymOp, std::string_view>, N>& table,
                          SymOp op) {
  for (const auto& [row_op, text] : table) {
    if (row_op == op) return text;
  }
  return {};
}

Level level_of(const SymExpr& expr) {
  switch (expr.op()) {
    case SymOp::kConstant:
      return expr.constant() < 0 ? Level::kUnary : Level::kAtom;
    case SymOp::kOr:
      return Level::kOr;
    case SymOp::kAnd:
      return Level::kAnd;
    case SymOp::kNot:
      return Level::kNot;
    case SymOp::kAdd:
      return Level::kSum;
    case SymOp::kMul:
    case SymOp::kFloorDiv:
    case SymOp::kTrueDiv:
    case SymOp::kMod:
      return Level::kTerm;
    case SymOp::kReal:
      return std::signbit(expr.real()) ? Level::kUnary : Level::kAtom;
    case SymOp::kNeg:
      return Level::kUnary;
    case SymOp::kPow:
      return Level::kPower;
    default:
      return spelling(kSymComparisons, expr.op()).empty() ? Level::kAtom : Level::kComparison;
  }
}

class ExpressionPrinter {
 public:
  std::string take() { return std::move(out_); }

  void print(const SymExpr& expr) {
    const std::vector<SymExpr>& operands = expr.operands();
    switch (expr.op()) {
      case SymOp::kConstant:
        out_ += std::to_string(expr.constant());
        return;
      case SymOp::kSymbol:
        out_ += expr.name();
        return;
      case SymOp::kAdd:
        print_sum(operands);
        return;
      case SymOp::kMul:
        print_product(operands);
        return;
      case SymOp::kFloorDiv:
        print_pair(operands, " // ", Level::kTerm, Level::kUnary);
        return;
      case SymOp::kTrueDiv:
        print_pair(operands, " / ", Level::kTerm, Level::kUnary);
        return;
      case SymOp::kReal:
        out_ += print_float(expr.real());
        return;
      case SymOp::kMod:
        print_pair(operands, " % ", Level::kTerm, Level::kUnary);
        return;
      case SymOp::kPow:
        print_pair(operands, "**", Level::kAtom, Level::kUnary);
        return;
      case SymOp::kNeg:
        print_prefixed("-", operands, Level::kUnary);
        return;
      case SymOp::kNot:
        print_prefixed("not ", operands, Level::kNot);
        return;
      case SymOp::kAnd:
        print_run(operands, " and ", Level::kNot);
        return;
      case SymOp::kOr:
        print_run(operands, " or ", Level::kAnd);
        return;
      default:
        break;
    }
    const std::string_view comparison = spelling(kSymComparisons, expr.op());
    if (comparison.empty()) return print_call(expr);
    print_pair(operands, " " + std::string(comparison) + " ", Level::kSum, Level::kSum);
  }

 private:
  void print_at(const SymExpr& expr, Level loosest) {
    const bool bare = level_of(expr) >= loosest;
    if (!bare) out_ += '(';
    print(expr);
    if (!bare) out_ += ')';
  }

  void print_enclosed(const SymExpr& expr) {
    out_ += '(';
    print(expr);
    out_ += ')';
  }

  void print_run(const std::vector<SymExpr>& operands, std::string_view mark, Level loosest) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (i > 0) out_ += mark;
      print_at(operands[i], loosest);
    }
  }

  void print_pair(const std::vector<SymExpr>& operands, std::string_view mark, Level left,
                  Level right) {
    print_at(operands.at(0), left);
    out_ += mark;
    print_at(operands.at(1), right);
  }

  // -1 is the constant, so the negation of a constant needs its parentheses.
  void print_prefixed(std::string_view mark, const std::vector<SymExpr>& operands, Level loosest) {
    out_ += mark;
    const bool is_number = operands.at(0).is_constant() || operands[0].op() == SymOp::kReal;
    if (mark == "-" && is_number) return print_enclosed(operands[0]);
    print_at(operands.at(0), loosest);
  }

  void print_sum(const std::vector<SymExpr>& operands) {
    print_at(operands.at(0), Level::kTerm);
    for (std::size_t i = 1; i < operands.size(); ++i) print_summand(operands[i]);
  }

  void print_summand(const SymExpr& expr) {
    if (expr.is_constant() && expr.constant() < 0) {
      out_ += " - " + std::to_string(expr.constant()).substr(1);
    } else if (expr.op() == SymOp::kNeg) {
      out_ += " - ";
      const SymExpr& inner = expr.operands().at(0);
      if (inner.is_constant() || inner.op() == SymOp::kReal) return print_enclosed(inner);
      print_at(inner, Level::kTerm);
    } else {
      out_ += " + ";
      print_at(expr, Level::kTerm);
    }
  }

  // The first operand may be a quotient (a // b*c multiplies the quotient) but not a product, which
  // would melt into this one.
  void print_product(const std::vector<SymExpr>& operands) {
    const bool product = operands.at(0).op() == SymOp::kMul;
    print_at(operands[0], product ? Level::kUnary : Level::kTerm);
    for (std::size_t i = 1; i < operands.size(); ++i) {
      out_ += '*';
      print_at(operands[i], Level::kUnary);
    }
  }

  void print_call(const SymExpr& expr) {
    out_ += spelling(kSymFunctions, expr.op());
    out_ += '(';
    print_run(expr.operands(), ", ", Level::kOr);
    out_ += ')';
  }

  std::string out_;
};

}  // namespace

std::string print_sym_expr(const SymExpr& expr) {
  ExpressionPrinter printer;
  printer.print(expr);
  return printer.take();
}

}  // namespace graphgate::spec
