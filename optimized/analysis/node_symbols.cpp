#include "optimized/analysis/node_symbols.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace graphgate::optimized {
namespace {

using spec::SymExpr;
using spec::SymOp;

// A product of atoms with exponents, and a sum of such products with factors. An atom is a symbol,
// or an operation that has no polynomial, by its text.
using Product = std::map<std::string, int>;
using Polynomial = std::map<Product, std::int64_t>;

constexpr std::size_t kMostTerms = 64;
constexpr std::int64_t kMostPower = 8;

// Expands expressions. Everything that overflows or grows too long becomes an atom.
class Expander {
 public:
  Polynomial expand(const SymExpr& expr) {
    if (expr.is_constant()) return constant(expr.constant());
    if (expr.op() == SymOp::kSymbol) return atom(expr.name(), {expr.name()});
    // What has floats in it is no polynomial of integers.
    if (expr.is_real()) return atom(spec::print_sym_expr(expr), names_in(expr));
    std::vector<Polynomial> operands;
    for (const SymExpr& operand : expr.operands()) operands.push_back(expand(operand));
    auto whole = combine(expr.op(), operands);
    if (!whole || whole->size() > kMostTerms) return opaque(expr, operands);
    return std::move(*whole);
  }

  [[nodiscard]] std::set<std::string> symbols_in(const Polynomial& polynomial) const {
    std::set<std::string> out;
    for (const auto& [product, factor] : polynomial) {
      for (const auto& [name, exponent] : product) {
        const auto& symbols = atoms_.at(name);
        out.insert(symbols.begin(), symbols.end());
      }
    }
    return out;
  }

 private:
  using Maybe = std::optional<Polynomial>;

  static std::set<std::string> names_in(const SymExpr& expr) {
    const std::vector<std::string> names = spec::free_symbols(expr);
    return {names.begin(), names.end()};
  }

  static Polynomial constant(std::int64_t value) {
    return value == 0 ? Polynomial() : Polynomial{{{}, value}};
  }
  static std::optional<std::int64_t> as_constant(const Polynomial& polynomial) {
    if (polynomial.empty()) return 0;
    if (polynomial.size() == 1 && polynomial.begin()->first.empty()) {
      return polynomial.begin()->second;
    }
    return {};
  }

  Polynomial atom(const std::string& text, const std::set<std::string>& symbols) {
    atoms_.emplace(text, symbols);
    return {{{{text, 1}}, 1}};
  }

  static bool add_term(Polynomial& sum, const Product& product, std::int64_t factor) {
    std::int64_t& total = sum[product];
    if (__builtin_add_overflow(total, factor, &total)) return false;
    if (total == 0) sum.erase(product);
    return true;
  }

  static Maybe added(Polynomial a, const Polynomial& b) {
    for (const auto& [product, factor] : b) {
      if (!add_term(a, product, factor)) return {};
    }
    return a;
  }

  static Maybe multiplied(const Polynomial& a, const Polynomial& b) {
    if (a.size() * b.size() > kMostTerms) return {};
    Polynomial out;
    for (const auto& [product_a, factor_a] : a) {
      for (const auto& [product_b, factor_b] : b) {
        Product product = product_a;
        for (const auto& [name, exponent] : product_b) product[name] += exponent;
        std::int64_t factor = 0;
        if (__builtin_mul_overflow(factor_a, factor_b, &factor)) return {};
        if (!add_term(out, product, factor)) return {};
      }
    }
    return out;
  }

  static Maybe powered(const Polynomial& base, const Polynomial& exponent) {
    const auto times = as_constant(exponent);
    if (!times || *times < 0 || *times > kMostPower) return {};
    Maybe out = constant(1);
    for (std::int64_t i = 0; out && i < *times; ++i) out = multiplied(*out, base);
    return out;
  }

  // By a constant that divides every factor: what comes out, or the rest, which is 0.
  static Maybe divided(Polynomial a, const Polynomial& by, bool wants_rest) {
    const auto divisor = as_constant(by);
    if (!divisor || *divisor < 1) return {};
    for (auto& [product, factor] : a) {
      if (factor % *divisor != 0) return {};
      factor /= *divisor;
    }
    return wants_rest ? Polynomial() : std::move(a);
  }

  static Maybe combine(SymOp op, const std::vector<Polynomial>& operands) {
    if (op == SymOp::kNeg) return multiplied(operands.front(), constant(-1));
    if (op == SymOp::kAdd || op == SymOp::kMul) {
      Maybe out = operands.front();
      for (std::size_t i = 1; out && i < operands.size(); ++i) {
        out = op == SymOp::kAdd ? added(*out, operands[i]) : multiplied(*out, operands[i]);
      }
      return out;
    }
    if (op == SymOp::kPow) return powered(operands[0], operands[1]);
    if (op == SymOp::kFloorDiv || op == SymOp::kExactDiv) {
      return divided(operands[0], operands[1], false);
    }
    if (op == SymOp::kMod) return divided(operands[0], operands[1], true);
    return {};
  }

  // An operation on what it is given: a constant if all of that is.
  Polynomial opaque(const SymExpr& expr, const std::vector<Polynomial>& operands) {
    std::vector<SymExpr> constants;
    std::set<std::string> symbols;
    for (const Polynomial& operand : operands) {
      if (const auto value = as_constant(operand)) constants.emplace_back(*value);
      symbols.merge(symbols_in(operand));
    }
    if (constants.size() == operands.size()) {
      const auto value = spec::evaluate(SymExpr::apply(expr.op(), std::move(constants)), {});
      if (value.ok()) return constant(value.value());
    }
    return atom(spec::print_sym_expr(expr), symbols);
  }

  std::map<std::string, std::set<std::string>> atoms_;
};

// False where the list has it; else it takes its place in the order.
bool add_once(std::vector<std::string>& sorted, const std::string& name) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), name);
  if (at != sorted.end() && *at == name) return false;
  sorted.insert(at, name);
  return true;
}

// Whether the expression is sums and products in which each symbol stands once, and no constant 0:
// then none of its symbols can vanish, and `out` has them all. 2 * s0 * (s1 + 1), say.
bool add_plain(const SymExpr& expr, std::vector<std::string>& out) {
  if (expr.op() == SymOp::kSymbol) return add_once(out, expr.name());
  if (expr.op() != SymOp::kAdd && expr.op() != SymOp::kMul) return false;
  const std::size_t before = out.size();
  for (const SymExpr& operand : expr.operands()) {
    const bool is_plain = operand.is_constant() ? operand.constant() != 0 : add_plain(operand, out);
    if (!is_plain) return false;
  }
  return out.size() > before;
}

class Collector {
 public:
  explicit Collector(const spec::DeviationSet& deviations)
      : plain_only_(deviations.has(spec::Deviation::kBindsPlainSymbolsOnly)),
        sizes_only_(deviations.has(spec::Deviation::kSymbolsFromSizesOnly)) {}

  void add(const spec::Value& value) {
    if (value.type) {
      for (const SymExpr& size : value.type->sizes) add(size);
    }
    if (sizes_only_) return;
    if (value.expr) add(*value.expr);
    if (!value.type) return;
    for (const SymExpr& stride : value.type->strides) add(stride);
    add(value.type->storage_offset);
  }

  [[nodiscard]] std::vector<std::string> take() { return std::move(symbols_); }

 private:
  void add(const SymExpr& expr) {
    if (expr.is_constant()) return;
    if (expr.op() == SymOp::kSymbol) {
      add_once(symbols_, expr.name());
      return;
    }
    if (plain_only_) return;
    for (const std::string& name : needed_symbols(expr)) add_once(symbols_, name);
  }

  bool plain_only_;
  bool sizes_only_;
  std::vector<std::string> symbols_;  // sorted; few
};

}  // namespace

std::vector<std::string> needed_symbols(const SymExpr& expr) {
  if (expr.is_constant()) return {};
  if (std::vector<std::string> plain; add_plain(expr, plain)) return plain;
  Expander expander;
  const auto symbols = expander.symbols_in(expander.expand(expr));
  return {symbols.begin(), symbols.end()};
}

std::vector<std::string> symbols_of(const spec::Graph& graph, const spec::Node& node,
                                    const spec::DeviationSet& deviations) {
  Collector collector(deviations);
  for_each_operand(node, [&](spec::ValueId id) { collector.add(graph.value(id)); });
  for (const spec::NodeResult& result : node.results) {
    for (const spec::ValueId id : result.values) collector.add(graph.value(id));
  }
  return collector.take();
}

std::vector<std::string> symbols_of(const spec::Graph& graph,
                                    const std::vector<spec::ValueId>& values,
                                    const spec::DeviationSet& deviations) {
  Collector collector(deviations);
  for (const spec::ValueId id : values) collector.add(graph.value(id));
  return collector.take();
}

}  // namespace graphgate::optimized
