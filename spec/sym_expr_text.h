// Symbolic expressions inside a longer text. graph_text and the scenario reader call this; for an
// expression on its own see print_sym_expr and parse_sym_expr in sym_expr.h.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "spec/sym_expr.h"
#include "spec/text_lexer.h"

namespace graphgate::spec {

// Deeper trees, and texts that nest deeper, are refused: nobody writes them, and all code that
// walks an expression recurses.
inline constexpr int kMaxSymExprDepth = 100;

// The operators and functions of the text, by node.
inline constexpr std::array<std::pair<SymOp, std::string_view>, 6> kSymComparisons = {{
    {SymOp::kEq, "=="},
    {SymOp::kNe, "!="},
    {SymOp::kLt, "<"},
    {SymOp::kLe, "<="},
    {SymOp::kGt, ">"},
    {SymOp::kGe, ">="},
}};
inline constexpr std::array<std::pair<SymOp, std::string_view>, 24> kSymFunctions = {{
    {SymOp::kMin, "min"},
    {SymOp::kMax, "max"},
    {SymOp::kExactDiv, "exact_div"},
    {SymOp::kToFloat, "to_float"},
    {SymOp::kTruncToInt, "trunc_to_int"},
    {SymOp::kFloorToInt, "floor_to_int"},
    {SymOp::kCeilToInt, "ceil_to_int"},
    {SymOp::kRoundToInt, "round_to_int"},
    {SymOp::kTruncToFloat, "trunc_to_float"},
    {SymOp::kWhere, "where"},
    {SymOp::kSqrt, "sqrt"},
    {SymOp::kExp, "exp"},
    {SymOp::kLog, "log"},
    {SymOp::kLog2, "log2"},
    {SymOp::kSin, "sin"},
    {SymOp::kCos, "cos"},
    {SymOp::kTan, "tan"},
    {SymOp::kAsin, "asin"},
    {SymOp::kAcos, "acos"},
    {SymOp::kAtan, "atan"},
    {SymOp::kSinh, "sinh"},
    {SymOp::kCosh, "cosh"},
    {SymOp::kTanh, "tanh"},
    {SymOp::kAsinh, "asinh"},
}};

// Reads one expression and stops at the first token that cannot continue it.
[[nodiscard]] Result<SymExpr> read_sym_expr(TextReader& reader);

// Whether a symbol of this name can be read back: letters, digits and `_`, not a keyword.
[[nodiscard]] bool is_symbol_name(std::string_view name);

}  // namespace graphgate::spec
