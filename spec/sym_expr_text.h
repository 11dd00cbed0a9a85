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
inline constexpr std::array<std::pair<SymOp, std::string_view>, 3> kSymFunctions = {{
    {SymOp::kMin, "min"},
    {SymOp::kMax, "max"},
    {SymOp::kExactDiv, "exact_div"},
}};

// Reads one expression and stops at the first token that cannot continue it.
[[nodiscard]] Result<SymExpr> read_sym_expr(TextReader& reader);

// Whether a symbol of this name can be read back: letters, digits and `_`, not a keyword.
[[nodiscard]] bool is_symbol_name(std::string_view name);

}  // namespace graphgate::spec
