#include "fuzz/generate/size_table.h"

#include <algorithm>

#include "base/result.h"

namespace graphgate::fuzz {

using spec::SymExpr;
using spec::SymOp;

Size SizeTable::intern(Entry made) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& known = entries_[i];
    if (known.factor != made.factor || known.atoms != made.atoms) continue;
    if (std::equal(known.atom, known.atom + known.atoms, made.atom)) {
      return -static_cast<Size>(i) - 1;
    }
  }
  std::vector<SymExpr> factors;
  if (made.factor != 1) factors.emplace_back(made.factor);
  for (int i = 0; i < made.atoms; ++i) {
    factors.push_back(atoms_[static_cast<std::size_t>(made.atom[i])].expression);
  }
  made.expression =
      factors.size() == 1 ? factors.front() : SymExpr::apply(SymOp::kMul, std::move(factors));
  entries_.push_back(std::move(made));
  return -static_cast<Size>(entries_.size());
}

Size SizeTable::intern_atom(Atom made) {
  std::size_t at = 0;
  for (; at < atoms_.size(); ++at) {
    const Atom& known = atoms_[at];
    if (made.kind != Atom::Kind::kSymbol && known.kind == made.kind && known.a == made.a &&
        known.b == made.b && known.b_is_size == made.b_is_size) {
      break;
    }
  }
  if (at == atoms_.size()) atoms_.push_back(std::move(made));
  Entry entry;
  entry.atoms = 1;
  entry.atom[0] = static_cast<std::int16_t>(at);
  return intern(std::move(entry));
}

Size SizeTable::symbol(std::string name, Bounds range) {
  Atom atom;
  atom.expression = SymExpr::symbol(name);
  atom.unbacked = name.front() == 'u';
  atom.name = std::move(name);
  atom.range = range;
  atom.a = static_cast<Size>(std::count_if(atoms_.begin(), atoms_.end(), [](const Atom& known) {
    return known.kind == Atom::Kind::kSymbol;
  }));
  return intern_atom(std::move(atom));
}

Size SizeTable::plus(Size a, std::int64_t b) {
  if (is_constant(a)) return static_cast<Size>(a + b);
  if (b == 0) return a;
  const Entry& x = entry(a);
  if (x.factor == 1 && x.atoms == 1) {
    const Atom& inner = atoms_[static_cast<std::size_t>(x.atom[0])];
    if (inner.kind == Atom::Kind::kSum && !inner.b_is_size) return plus(inner.a, inner.b + b);
  }
  Atom atom;
  atom.kind = Atom::Kind::kSum;
  atom.a = a;
  atom.b = b;
  atom.range = {bounds(a).least + b, bounds(a).most + b};
  atom.expression = SymExpr::apply(SymOp::kAdd, {expression(a), SymExpr(b)});
  return intern_atom(std::move(atom));
}

Size SizeTable::sum(Size a, Size b) {
  if (is_constant(b)) return plus(a, b);
  if (is_constant(a)) return plus(b, a);
  const Entry& x = entry(a);
  const Entry& y = entry(b);
  if (x.atoms == y.atoms && std::equal(x.atom, x.atom + x.atoms, y.atom)) {
    Entry both = x;
    both.factor = x.factor + y.factor;
    return intern(std::move(both));
  }
  Atom atom;
  atom.kind = Atom::Kind::kSum;
  atom.a = a;
  atom.b = b;
  atom.b_is_size = true;
  atom.range = {bounds(a).least + bounds(b).least, bounds(a).most + bounds(b).most};
  atom.expression = SymExpr::apply(SymOp::kAdd, {expression(a), expression(b)});
  return intern_atom(std::move(atom));
}

Size SizeTable::product(Size a, Size b) {
  if (is_constant(a) && is_constant(b)) return a * b;
  if (a == 0 || b == 0) return 0;
  Entry made;
  for (const Size side : {a, b}) {
    if (is_constant(side)) {
      made.factor *= side;
      continue;
    }
    const Entry& of = entry(side);
    made.factor *= of.factor;
    // More atoms than there is room for do not come up: shapes have few symbolic sizes.
    for (int i = 0; i < of.atoms; ++i) {
      GRAPHGATE_CHECK(made.atoms < kMostAtoms);
      made.atom[made.atoms++] = of.atom[i];
    }
  }
  return intern(std::move(made));
}

Size SizeTable::quotient(Size a, std::int32_t divisor) {
  if (is_constant(a)) return a / divisor;
  if (divisor == 1) return a;
  if (entry(a).factor % divisor == 0) {
    Entry made = entry(a);
    made.factor /= divisor;
    return intern(std::move(made));
  }
  Atom atom;
  atom.kind = Atom::Kind::kQuotient;
  atom.a = a;
  atom.b = divisor;
  atom.range = {bounds(a).least / divisor, bounds(a).most / divisor};
  atom.expression = SymExpr::apply(SymOp::kFloorDiv, {expression(a), SymExpr(divisor)});
  return intern_atom(std::move(atom));
}

Bounds SizeTable::bounds(Size size) const {
  if (is_constant(size)) return {size, size};
  const Entry& of = entry(size);
  Bounds range{of.factor, of.factor};
  for (int i = 0; i < of.atoms; ++i) {
    const Bounds& atom = atoms_[static_cast<std::size_t>(of.atom[i])].range;
    range.least *= atom.least;
    range.most *= atom.most;
  }
  return range;
}

std::int64_t SizeTable::evaluate(Size size, const std::vector<std::int64_t>& symbols) const {
  if (is_constant(size)) return size;
  const Entry& of = entry(size);
  std::int64_t value = of.factor;
  for (int i = 0; i < of.atoms; ++i) {
    const Atom& atom = atoms_[static_cast<std::size_t>(of.atom[i])];
    switch (atom.kind) {
      case Atom::Kind::kSymbol:
        value *= symbols[static_cast<std::size_t>(atom.a)];
        break;
      case Atom::Kind::kSum:
        value *= evaluate(atom.a, symbols) +
                 (atom.b_is_size ? evaluate(static_cast<Size>(atom.b), symbols) : atom.b);
        break;
      case Atom::Kind::kQuotient:
        value *= evaluate(atom.a, symbols) / atom.b;
        break;
    }
  }
  return value;
}

std::int64_t SizeTable::sample(Size size) const {
  if (is_constant(size)) return size;
  const Entry& of = entry(size);
  std::int64_t value = of.factor;
  for (int i = 0; i < of.atoms; ++i) {
    const Atom& atom = atoms_[static_cast<std::size_t>(of.atom[i])];
    if (atom.kind == Atom::Kind::kSymbol) {
      value *= std::clamp<std::int64_t>(7, atom.range.least, atom.range.most);
    } else if (atom.kind == Atom::Kind::kSum) {
      value *= sample(atom.a) + (atom.b_is_size ? sample(static_cast<Size>(atom.b)) : atom.b);
    } else {
      value *= sample(atom.a) / atom.b;
    }
  }
  return value;
}

bool SizeTable::is_multiple(Size size, std::int64_t divisor) const {
  return (is_constant(size) ? size : entry(size).factor) % divisor == 0;
}

bool SizeTable::is_unbacked(Size size) const {
  if (is_constant(size)) return false;
  const Entry& of = entry(size);
  for (int i = 0; i < of.atoms; ++i) {
    const Atom& atom = atoms_[static_cast<std::size_t>(of.atom[i])];
    if (atom.unbacked) return true;
    if (atom.kind == Atom::Kind::kSymbol) continue;
    if (is_unbacked(atom.a)) return true;
    if (atom.b_is_size && is_unbacked(static_cast<Size>(atom.b))) return true;
  }
  return false;
}

SymExpr SizeTable::expression(Size size) const {
  return is_constant(size) ? SymExpr(size) : entry(size).expression;
}

SizeTable::Split SizeTable::split(Size size) {
  const Entry of = entry(size);
  Entry first;
  first.atoms = 1;
  first.atom[0] = of.atom[0];
  if (of.atoms > 1) {
    Entry rest = of;
    rest.atoms = of.atoms - 1;
    std::copy(of.atom + 1, of.atom + of.atoms, rest.atom);
    return {"_operator.mul", intern(std::move(first)), intern(std::move(rest)), std::nullopt};
  }
  if (of.factor != 1) {
    return {"_operator.mul", intern(std::move(first)), 0, of.factor};
  }
  const Atom& atom = atoms_[static_cast<std::size_t>(of.atom[0])];
  GRAPHGATE_CHECK(atom.kind != Atom::Kind::kSymbol);  // inputs have it among their sizes
  if (atom.kind == Atom::Kind::kQuotient) return {"_operator.floordiv", atom.a, 0, atom.b};
  if (atom.b_is_size) {
    return {"_operator.add", atom.a, static_cast<Size>(atom.b), std::nullopt};
  }
  return {"_operator.add", atom.a, 0, atom.b};
}

void SizeTable::clear() {
  atoms_.clear();
  entries_.clear();
}

}  // namespace graphgate::fuzz
