// What can be proved of symbolic sizes for every size of a compile: never for a hint alone.
//
// Used by: noop elimination and patterns, which compare declared sizes. Sums and products are
// compared as polynomials; anything else (floor division, min, max) is an atom that equals only
// itself. "Not proved" says nothing.
#pragma once

#include "optimized/passes/pass.h"

namespace graphgate::optimized {

// 2*s0 + 2 and 2*(s0 + 1) are.
[[nodiscard]] bool provably_equal(const spec::SymExpr& a, const spec::SymExpr& b);
[[nodiscard]] bool provably_equal(const std::vector<spec::SymExpr>& a,
                                  const std::vector<spec::SymExpr>& b);
// The greatest value that the expression can have where every symbol is in its range; nothing where
// that is unbounded, overflows, or needs more than sums, products, minima and maxima.
[[nodiscard]] std::optional<std::int64_t> upper_bound(const spec::SymExpr& expr,
                                                      const SymbolRanges& ranges);
// The value at the hints that the program was traced with, or nothing.
[[nodiscard]] std::optional<std::int64_t> value_at_hints(const spec::SymExpr& expr,
                                                         const SymbolRanges& ranges);

}  // namespace graphgate::optimized
