#include <array>
#include <utility>

#include "interop/sympy_expr.h"

namespace graphgate::interop {

namespace {

using spec::SymExpr;
using spec::SymOp;

// kNeg is a product with S.NegativeOne, which SymPy evaluates to Integer(-1), so that it reads back
// as itself and not as a product with the constant -1.
std::string_view function_name(SymOp op) {
  switch (op) {
    case SymOp::kAdd:
      return "Add(";
    case SymOp::kMul:
      return "Mul(";
    case SymOp::kPow:
      return "Pow(";
    case SymOp::kNeg:
      return "Mul(S.NegativeOne, ";
    case SymOp::kFloorDiv:
      return "FloorDiv(";
    case SymOp::kExactDiv:
      return "CleanDiv(";
    case SymOp::kMod:
      return "PythonMod(";
    case SymOp::kMin:
      return "Min(";
    case SymOp::kMax:
      return "Max(";
    case SymOp::kEq:
      return "Equality(";
    case SymOp::kNe:
      return "Unequality(";
    case SymOp::kLt:
      return "StrictLessThan(";
    case SymOp::kLe:
      return "LessThan(";
    case SymOp::kGt:
      return "StrictGreaterThan(";
    case SymOp::kGe:
      return "GreaterThan(";
    case SymOp::kAnd:
      return "And(";
    case SymOp::kOr:
      return "Or(";
    case SymOp::kNot:
      return "Not(";
    case SymOp::kConstant:
    case SymOp::kSymbol:
      break;
  }
  return "";
}

void print(const SymExpr& expr, const SymbolInfos& symbols, std::string& out) {
  if (expr.is_constant()) {
    out += "Integer(" + std::to_string(expr.constant()) + ")";
    return;
  }
  if (expr.op() == SymOp::kSymbol) {
    const auto info = symbols.find(expr.name());
    const bool unbacked = expr.name().starts_with('u');
    const bool positive = !unbacked && info != symbols.end() && info->second.min >= 1;
    out += "Symbol('" + expr.name() + (positive ? "', positive=True" : "'") + ", integer=True)";
    return;
  }
  out += function_name(expr.op());
  bool first = true;
  for (const SymExpr& operand : expr.operands()) {
    if (!std::exchange(first, false)) out += ", ";
    print(operand, symbols, out);
  }
  out += ')';
}

}  // namespace

std::string print_sympy(const SymExpr& expr, const SymbolInfos& symbols) {
  std::string out;
  print(expr, symbols, out);
  return out;
}

}  // namespace graphgate::interop
