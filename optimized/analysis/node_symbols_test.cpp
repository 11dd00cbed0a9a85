#include "optimized/analysis/node_symbols.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "base/result_test.h"

namespace graphgate::optimized {
namespace {

using Names = std::vector<std::string>;

Names needed(const std::string& text) {
  const auto expr = must(spec::parse_sym_expr(text));
  return needed_symbols(expr);
}

TEST(NeededSymbols, AreThoseThatRemainWhenTermsCancel) {
  EXPECT_EQ(needed("7"), Names{});
  EXPECT_EQ(needed("2*s0"), Names{"s0"});
  EXPECT_EQ(needed("s0 - s0 + 4"), Names{});
  EXPECT_EQ(needed("(s0 + 1)*(s0 - 1) - s0*s0"), Names{});
  EXPECT_EQ(needed("s0*s1 - s1*s0 + s2"), Names{"s2"});
  EXPECT_EQ(needed("0*s0"), Names{});
}

TEST(NeededSymbols, SeeThroughDivisionsThatComeOutEven) {
  EXPECT_EQ(needed("(2*s0) // 2 - s0"), Names{});
  EXPECT_EQ(needed("(4*s0 + 8) % 4"), Names{});
  EXPECT_EQ(needed("(s0 + 1) // 2"), Names{"s0"});
  EXPECT_EQ(needed("(s0 + 1) // 2 - (s0 + 1) // 2"), Names{});
  EXPECT_EQ(needed("min(3, s1 - s1 + 5) + s0"), Names{"s0"});
}

spec::SymExpr random_expr(int depth) {
  using spec::SymExpr;
  using spec::SymOp;
  const int kind = depth == 0 ? *rc::gen::inRange(0, 2) : *rc::gen::inRange(0, 8);
  if (kind == 0) return {*rc::gen::inRange<std::int64_t>(-3, 4)};
  if (kind == 1) return SymExpr::symbol(*rc::gen::element<std::string>("s0", "s1", "s2"));
  const SymExpr a = random_expr(depth - 1);
  if (kind == 2) return SymExpr::apply(SymOp::kNeg, {a});
  if (kind == 3)
    return SymExpr::apply(SymOp::kFloorDiv, {a, *rc::gen::inRange<std::int64_t>(1, 4)});
  if (kind == 4) return SymExpr::apply(SymOp::kMod, {a, *rc::gen::inRange<std::int64_t>(1, 4)});
  const SymExpr b = random_expr(depth - 1);
  if (kind == 5) return SymExpr::apply(SymOp::kMax, {a, b});
  return SymExpr::apply(kind == 6 ? SymOp::kAdd : SymOp::kMul, {a, b});
}

// A symbol that is not needed can have any value.
RC_GTEST_PROP(NeededSymbols, DecideTheValue, ()) {
  const spec::SymExpr expr = random_expr(4);
  const Names names = needed_symbols(expr);
  spec::SymbolValues one;
  spec::SymbolValues other;
  for (const char* name : {"s0", "s1", "s2"}) {
    one[name] = *rc::gen::inRange<std::int64_t>(0, 50);
    const bool is_needed = std::find(names.begin(), names.end(), name) != names.end();
    other[name] = is_needed ? one[name] : *rc::gen::inRange<std::int64_t>(0, 50);
  }
  const auto a = spec::evaluate(expr, one);
  const auto b = spec::evaluate(expr, other);
  RC_PRE(a.ok() && b.ok());
  RC_ASSERT(a.value() == b.value());
}

}  // namespace
}  // namespace graphgate::optimized
