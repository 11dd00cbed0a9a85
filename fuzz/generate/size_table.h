// Sizes of a program that is being drawn: numbers, or expressions over its symbols.
//
// A Size is a plain integer: 0 and more are that number, negative ones stand for an entry of the
// table. Equal expressions have one entry, so that shapes are compared as integers. Products are
// kept as a factor times atoms in order of appearance; atoms are symbols, sums and quotients.
// Invariant: bounds() holds whatever values the symbols take in their ranges.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/sym_expr.h"

namespace graphgate::fuzz {

using Size = std::int32_t;

[[nodiscard]] constexpr bool is_constant(Size size) { return size >= 0; }

// A closed range.
struct Bounds {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

class SizeTable {
 public:
  // A new symbol.
  Size symbol(std::string name, Bounds range);

  [[nodiscard]] Size sum(Size a, Size b);
  [[nodiscard]] Size plus(Size a, std::int64_t b);  // the result must not be negative
  [[nodiscard]] Size product(Size a, Size b);
  [[nodiscard]] Size quotient(Size a, std::int32_t divisor);  // rounds down

  [[nodiscard]] Bounds bounds(Size size) const;
  [[nodiscard]] std::int64_t least(Size size) const { return bounds(size).least; }
  // With symbols at the values given by their order of creation.
  [[nodiscard]] std::int64_t evaluate(Size size, const std::vector<std::int64_t>& symbols) const;
  // Every symbol at some value of its range that has no other reason: for comparing strides.
  [[nodiscard]] std::int64_t sample(Size size) const;
  // How many symbols, sums and quotients are multiplied in it.
  [[nodiscard]] int atoms(Size size) const { return is_constant(size) ? 0 : entry(size).atoms; }
  // The expression divides by this without remainder.
  [[nodiscard]] bool is_multiple(Size size, std::int64_t divisor) const;
  // Whether a symbol of unknown origin (unbacked) is in it; such symbols are named "u...".
  [[nodiscard]] bool is_unbacked(Size size) const;

  [[nodiscard]] spec::SymExpr expression(Size size) const;

  // An expression as an operation of Python's operator module on simpler ones.
  struct Split {
    std::string_view op;
    Size a = 0;
    Size b = 0;                          // may be negative as a number: see `number`
    std::optional<std::int64_t> number;  // stands for b
  };
  [[nodiscard]] Split split(Size size);

  void clear();

 private:
  struct Atom {
    enum class Kind : std::uint8_t { kSymbol, kSum, kQuotient };
    Kind kind = Kind::kSymbol;
    Size a = 0;          // of a sum, a quotient; the number of a symbol
    std::int64_t b = 0;  // a Size where `b_is_size`, else a number
    bool b_is_size = false;
    Bounds range;
    std::string name;
    bool unbacked = false;
    spec::SymExpr expression;
  };
  static constexpr int kMostAtoms = 8;
  struct Entry {
    std::int64_t factor = 1;
    int atoms = 0;
    std::int16_t atom[kMostAtoms] = {};
    spec::SymExpr expression;
  };
  [[nodiscard]] const Entry& entry(Size size) const {
    return entries_[static_cast<std::size_t>(-(size + 1))];
  }
  Size intern(Entry made);
  Size intern_atom(Atom made);

  std::vector<Atom> atoms_;
  std::vector<Entry> entries_;
};

}  // namespace graphgate::fuzz
