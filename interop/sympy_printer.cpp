#include <array>
#include <utility>

#include "base/formatted.h"
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
    case SymOp::kToFloat:
      return "ToFloat(";
    case SymOp::kTruncToInt:
      return "TruncToInt(";
    case SymOp::kFloorToInt:
      return "FloorToInt(";
    case SymOp::kCeilToInt:
      return "CeilToInt(";
    case SymOp::kRoundToInt:
      return "RoundToInt(";
    case SymOp::kTruncToFloat:
      return "TruncToFloat(";
    case SymOp::kTrueDiv:
      return "FloatTrueDiv(";
    case SymOp::kWhere:
      return "Where(";
    case SymOp::kSqrt:
      return "OpaqueUnaryFn_sqrt(";
    case SymOp::kExp:
      return "OpaqueUnaryFn_exp(";
    case SymOp::kLog:
      return "OpaqueUnaryFn_log(";
    case SymOp::kLog2:
      return "OpaqueUnaryFn_log2(";
    case SymOp::kSin:
      return "OpaqueUnaryFn_sin(";
    case SymOp::kCos:
      return "OpaqueUnaryFn_cos(";
    case SymOp::kTan:
      return "OpaqueUnaryFn_tan(";
    case SymOp::kAsin:
      return "OpaqueUnaryFn_asin(";
    case SymOp::kAcos:
      return "OpaqueUnaryFn_acos(";
    case SymOp::kAtan:
      return "OpaqueUnaryFn_atan(";
    case SymOp::kSinh:
      return "OpaqueUnaryFn_sinh(";
    case SymOp::kCosh:
      return "OpaqueUnaryFn_cosh(";
    case SymOp::kTanh:
      return "OpaqueUnaryFn_tanh(";
    case SymOp::kAsinh:
      return "OpaqueUnaryFn_asinh(";
    case SymOp::kConstant:
    case SymOp::kSymbol:
    case SymOp::kReal:
      break;
  }
  return "";
}

// Operations that SymPy has under another name where they are of floats or of integers.
std::string_view function_name(const SymExpr& expr) {
  if (expr.op() == SymOp::kPow && expr.is_real()) return "FloatPow(";
  const bool divides_integers = expr.op() == SymOp::kTrueDiv && !expr.operands()[0].is_real() &&
                                !expr.operands()[1].is_real();
  return divides_integers ? "IntTrueDiv(" : function_name(expr.op());
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
  if (expr.op() == SymOp::kReal) {
    out += formatted("Float('%.17g', precision=53)", expr.real());
    return;
  }
  out += function_name(expr);
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
