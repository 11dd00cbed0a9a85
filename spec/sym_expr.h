// Symbolic integer and boolean expressions: the sizes, strides and offsets of a program whose
// shapes are not all known before it is called.
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

#include "spec/result.h"

namespace graphgate::spec {

// Operand counts: kAdd, kMul, kMin, kMax, kAnd, kOr take two or more; kNeg and kNot one; the rest
// two. kFloorDiv and kMod round toward minus infinity, as Python's // and % do; kPow wants an
// exponent >= 0; kExactDiv fails unless the division leaves no remainder. Comparisons and
// connectives evaluate to 0 or 1.
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
};

// Values of symbols: "s26" -> 8.
using SymbolValues = std::map<std::string, std::int64_t, std::less<>>;

class SymExpr {
 public:
  SymExpr() = default;                                     // the constant 0
  SymExpr(std::int64_t constant) : constant_(constant) {}  // NOLINT: implicit on purpose
  [[nodiscard]] static SymExpr symbol(std::string name);
  // `operands` must have the count that SymOp's comment gives for `op`.
  [[nodiscard]] static SymExpr apply(SymOp op, std::vector<SymExpr> operands);

  [[nodiscard]] SymOp op() const;
  [[nodiscard]] bool is_constant() const { return node_ == nullptr; }
  [[nodiscard]] std::int64_t constant() const { return constant_; }  // when is_constant()
  [[nodiscard]] const std::string& name() const;                     // when op() is kSymbol
  [[nodiscard]] const std::vector<SymExpr>& operands() const;        // empty for leaves

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

// The value under `symbols`. Fails on an unbound symbol, on 64-bit overflow, on division by zero.
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
