// Symbolic expressions as torch.export writes them: printed SymPy trees.
//
//   Mul(Integer(64), Symbol('s70', positive=True, integer=True))
//   GreaterThan(Symbol('u0', integer=True), Integer(0))
//
// Operators and functions of PyTorch's become spec::SymExpr; the few that have no meaning there
// (RoundDecimal, say) are kUnsupported, by name, and anything else is kBadInput with its column. No
// simplification is done: the tree is taken as printed, except that
//   Mul(Rational(1, 2), x)   is read as  CleanDiv(x, 2)
//   Piecewise(ExprCondPair(a, c), ExprCondPair(b, true))  is read as  Where(c, a, b)
//   CeilDiv(a, b), LShift, RShift, ModularIndexing, FloorToInt(IntTrueDiv(a, b)) and
//   floor(Mul(Rational(1, q), x))  are read as what they compute.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "spec/sym_expr.h"

namespace graphgate::interop {

// How deep calls may nest.
inline constexpr int kMaxSympyDepth = 200;

// Errors start with "column N: " (from 1).
[[nodiscard]] Result<spec::SymExpr> parse_sympy(std::string_view text);

// The inverse: parse_sympy(print_sympy(e)) == e, and SymPy reads it back. What a symbol is assumed
// to be follows from its name and its range alone, since SymPy takes two symbols of one name with
// other assumptions for two symbols. Unbacked ones (u0) are integers, the others positive integers
// when their range starts at 1 or more.
using SymbolInfos = std::map<std::string, spec::SymbolInfo, std::less<>>;
[[nodiscard]] std::string print_sympy(const spec::SymExpr& expr, const SymbolInfos& symbols);

}  // namespace graphgate::interop
