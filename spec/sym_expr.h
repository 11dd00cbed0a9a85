// Symbolic expressions: the sizes, strides and offsets of a program whose shapes are not all known
// before it is called. They come to integers and booleans; inside of them there may be floats, as
// in the size that an interpolation by 3.66 gives: trunc_to_int(3.66*to_float(s0)).
//
// An expression is an immutable tree. Constants take no allocation, since nearly every size is
// one. Expressions are vocabulary: they can be printed, parsed, compared as trees and evaluated;
// they are never simplified here, so that no two parties can agree on a wrong simplification.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace graphgate::spec {

// Operand counts: kAdd, kMul, kMin, kMax, kAnd, kOr take two or more; kNeg and kNot one; the rest
// two. kFloorDiv and kMod round toward minus infinity, as Python's // and % do; kPow wants an
// exponent >= 0; kExactDiv fails unless the division leaves no remainder. Comparisons and
// connectives evaluate to 0 or 1.
//
// Floats are those of Python: an operation on a float and an integer is done in floats, kTrueDiv
// always gives one. kTruncToInt, kFloorToInt, kCeilToInt and kRoundToInt (to nearest, ties to even)
// give integers, kToFloat and kTruncToFloat floats. kSqrt and the functions behind it take one
// operand and give floats. kWhere has three operands: a condition, and what counts where it holds
// and where it does not.
enum class SymOp : std::uint8_t {
  kConstant,
  kSymbol,
  kAdd,
  kMul,
  kPow,
  kNeg,
  kFloorDiv,
  kExactDiv,
  kMod,
  kMin,
  kMax,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kAnd,
  kOr,
  kNot,
  kReal,  // a float constant
  kTrueDiv,
  kToFloat,
  kTruncToInt,
  kFloorToInt,
  kCeilToInt,
  kRoundToInt,
  kTruncToFloat,
  kWhere,
  kSqrt,
  kExp,
  kLog,
  kLog2,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
};

// Whether a node with this operation may have so many operands; leaves have none.
[[nodiscard]] bool takes_operands(SymOp op, std::size_t count);

// Values of symbols: "s26" -> 8.
using SymbolValues = std::map<std::string, std::int64_t, std::less<>>;

class SymExpr {
 public:
  SymExpr() = default;                                     // the constant 0
  SymExpr(std::int64_t constant) : constant_(constant) {}  // NOLINT: implicit on purpose
  [[nodiscard]] static SymExpr symbol(std::string name);
  [[nodiscard]] static SymExpr real(double constant);
  // `operands` must have the count that SymOp's comment gives for `op`.
  [[nodiscard]] static SymExpr apply(SymOp op, std::vector<SymExpr> operands);

  [[nodiscard]] SymOp op() const;
  [[nodiscard]] bool is_constant() const { return node_ == nullptr; }
  [[nodiscard]] std::int64_t constant() const { return constant_; }  // when is_constant()
  [[nodiscard]] const std::string& name() const;                     // when op() is kSymbol
  [[nodiscard]] double real() const;                                 // when op() is kReal
  [[nodiscard]] const std::vector<SymExpr>& operands() const;        // empty for leaves
  // Whether it is a float. Conditions and what is rounded to an integer are none.
  [[nodiscard]] bool is_real() const;

  // Equality of trees, not of meaning: 2*s0 differs from s0*2.
  friend bool operator==(const SymExpr& a, const SymExpr& b);

 private:
  struct Node;
  std::int64_t constant_ = 0;
  std::shared_ptr<const Node> node_;
};

// Infix text, as in graph text: "2*s0 + 1", "min(64, 2*s0)", "s0 // 2", "u0 >= 0".
[[nodiscard]] std::string print_sym_expr(const SymExpr& expr);
// The inverse. Errors name the column (from 1) and what was expected.
[[nodiscard]] Result<SymExpr> parse_sym_expr(std::string_view text);

// The value under `symbols`. Fails on an unbound symbol, on 64-bit overflow, on division by zero,
// and for a float.
[[nodiscard]] Result<std::int64_t> evaluate(const SymExpr& expr, const SymbolValues& symbols);

// Names of the symbols in it, sorted, each once.
[[nodiscard]] std::vector<std::string> free_symbols(const SymExpr& expr);

// What is known of a symbol: a closed range (max absent: unbounded) and the size it had when the
// program was traced.
struct SymbolInfo {
  std::int64_t min = 0;
  std::optional<std::int64_t> max;
  std::optional<std::int64_t> hint;
  friend bool operator==(const SymbolInfo&, const SymbolInfo&) = default;
};

}  // namespace graphgate::spec
