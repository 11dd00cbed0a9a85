#include "spec/sym_expr.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/result_test.h"
#include "spec/sym_expr_text.h"

namespace graphgate::spec {
namespace {

SymExpr sym(const char* name) { return SymExpr::symbol(name); }
SymExpr apply(SymOp op, std::vector<SymExpr> operands) {
  return SymExpr::apply(op, std::move(operands));
}

std::int64_t value_of(std::string_view text, const SymbolValues& symbols = {}) {
  return evaluate(parse_sym_expr(text).value(), symbols).value();
}

TEST(SymExprEvaluate, RoundsDivisionTowardMinusInfinityAsPythonDoes) {
  EXPECT_EQ(value_of("-7 // 2"), -4);
  EXPECT_EQ(value_of("7 // -2"), -4);
  EXPECT_EQ(value_of("-7 % 4"), 1);
  EXPECT_EQ(value_of("7 % -4"), -1);
  EXPECT_EQ(value_of("-2**2"), -4);
  EXPECT_EQ(value_of("2**3**2"), 512);
}

TEST(SymExprEvaluate, ReadsSymbolsAndConnectives) {
  const SymbolValues values = {{"s0", 8}, {"u0", 0}};
  EXPECT_EQ(value_of("2*s0 + 1", values), 17);
  EXPECT_EQ(value_of("min(64, 2*s0, 9)", values), 9);
  EXPECT_EQ(value_of("max(s0, u0)", values), 8);
  EXPECT_EQ(value_of("u0 >= 0 and not s0 == 7", values), 1);
  EXPECT_EQ(value_of("u0 > 0 or s0 != 8", values), 0);
  EXPECT_EQ(value_of("exact_div(s0, 4)", values), 2);
}

TEST(SymExprEvaluate, FailsWhereNoValueExists) {
  const auto fails = [](std::string_view text) {
    return !evaluate(parse_sym_expr(text).value(), {}).ok();
  };
  EXPECT_TRUE(fails("s9"));
  EXPECT_TRUE(fails("1 // 0"));
  EXPECT_TRUE(fails("1 % 0"));
  EXPECT_TRUE(fails("exact_div(7, 2)"));
  EXPECT_TRUE(fails("9223372036854775807 + 1"));
  EXPECT_TRUE(fails("2**63"));
  EXPECT_TRUE(fails("2**(-1)"));
  EXPECT_TRUE(fails("-9223372036854775808 // -1"));
}

TEST(SymExpr, ListsItsFreeSymbolsSortedAndOnce) {
  const auto names = free_symbols(parse_sym_expr("s2*s1 + min(s1, u0)").value());
  EXPECT_EQ(names, (std::vector<std::string>{"s1", "s2", "u0"}));
}

TEST(SymExprText, ReadsARunOfOneOperatorAsOneNode) {
  const SymExpr a = sym("a");
  const SymExpr b = sym("b");
  EXPECT_EQ(parse_sym_expr("a + b + 1").value(), apply(SymOp::kAdd, {a, b, SymExpr(1)}));
  EXPECT_EQ(parse_sym_expr("(a + b) + 1").value(),
            apply(SymOp::kAdd, {apply(SymOp::kAdd, {a, b}), SymExpr(1)}));
  EXPECT_EQ(parse_sym_expr("a - 1").value(), apply(SymOp::kAdd, {a, SymExpr(-1)}));
  EXPECT_EQ(parse_sym_expr("a - b").value(), apply(SymOp::kAdd, {a, apply(SymOp::kNeg, {b})}));
  EXPECT_EQ(parse_sym_expr("a // b*2").value(),
            apply(SymOp::kMul, {apply(SymOp::kFloorDiv, {a, b}), SymExpr(2)}));
  EXPECT_EQ(parse_sym_expr("-2**a").value(),
            apply(SymOp::kNeg, {apply(SymOp::kPow, {SymExpr(2), a})}));
}

TEST(SymExprText, PrintsTheFewestParentheses) {
  for (const std::string_view text : {"2*s0 + 1",
                                      "s0**2",
                                      "s0 // 2",
                                      "exact_div(a, b)",
                                      "s0 % 4",
                                      "min(64, 2*s0)",
                                      "u0 >= 0",
                                      "not a and b or c",
                                      "a - b*c",
                                      "a - (b - c)",
                                      "(a + b)*c",
                                      "a*(b // c)",
                                      "a // b*c",
                                      "(a*b)*c",
                                      "a*b // c",
                                      "(-2)**a",
                                      "-2",
                                      "-a",
                                      "-(2)",
                                      "a - (1)",
                                      "a - (-1)",
                                      "--a",
                                      "a**-b",
                                      "(a**b)**c",
                                      "a**b**c",
                                      "(a < b) == c",
                                      "not (a and b)",
                                      "(not a) + 1",
                                      "-(a + b)",
                                      "-9223372036854775808",
                                      "a - 9223372036854775808",
                                      "a % (b % c)",
                                      "a % b % c"}) {
    const auto expr = must(parse_sym_expr(text), text);
    EXPECT_EQ(print_sym_expr(expr), text);
  }
}

TEST(SymExprText, NamesTheColumnAndWhatWasExpected) {
  const auto error = [](std::string_view text) { return parse_sym_expr(text).error().message; };
  EXPECT_EQ(error(""),
            "column 1: expected an integer, a symbol, '-', 'not' or '(', found the end "
            "of the text");
  EXPECT_EQ(error("2 * "),
            "column 5: expected an integer, a symbol, '-', 'not' or '(', found the "
            "end of the text");
  EXPECT_EQ(error("(a + 1"), "column 7: expected ')', found the end of the text");
  EXPECT_EQ(error("a < b < c"), "column 7: expected an operator or the end, found '<'");
  EXPECT_EQ(error("min(a)"), "column 6: expected ',' and another operand, found ')'");
  EXPECT_EQ(error("exact_div(a, b, c)"), "column 18: expected 2 operands of exact_div, found 3");
  EXPECT_EQ(error("a b"), "column 3: expected an operator or the end, found 'b'");
  EXPECT_EQ(error("9223372036854775808"),
            "column 1: the integer 9223372036854775808 does not fit in 64 bits");
  EXPECT_EQ(error("a.b"),
            "column 1: expected an integer, a symbol, '-', 'not' or '(', found 'a.b'");
}

TEST(SymExprText, RefusesDeepNestingInsteadOfOverflowingTheStack) {
  std::string chain = "a";
  for (int i = 0; i < 100000; ++i) chain += " // 1";
  std::string minuses(100000, '-');
  std::string nots;
  for (int i = 0; i < 100000; ++i) nots += "not ";
  std::string powers = "a";
  for (int i = 0; i < 100000; ++i) powers += "**a";
  for (const std::string& text :
       {std::string(100000, '('), chain, minuses + "a", nots + "a", powers}) {
    EXPECT_TRUE(contains(failure_of(parse_sym_expr(text)).message, "of depth 100 or less"));
  }
}

// The deepest tree that may be built, each level in need of parentheses.
TEST(SymExprText, ReadsTheDeepestTreeThatItPrints) {
  for (const SymOp op : {SymOp::kAdd, SymOp::kNeg, SymOp::kNot}) {
    SymExpr expr = sym("a");
    for (int depth = 1; depth < kMaxSymExprDepth; ++depth) {
      const bool sum = op == SymOp::kAdd || depth % 2 == 0;
      expr = sum ? apply(SymOp::kAdd, {expr, SymExpr(1)}) : apply(op, {expr});
    }
    const auto again = must(parse_sym_expr(print_sym_expr(expr)));
    EXPECT_EQ(again, expr);
  }
}

// A tree from genes: each gene picks an operator and how many operands it takes from the stack.
SymExpr tree_from(const std::vector<std::uint16_t>& genes) {
  constexpr SymOp kBinary[] = {SymOp::kPow, SymOp::kFloorDiv, SymOp::kExactDiv, SymOp::kMod,
                               SymOp::kEq,  SymOp::kNe,       SymOp::kLt,       SymOp::kLe,
                               SymOp::kGt,  SymOp::kGe};
  constexpr SymOp kMany[] = {SymOp::kAdd, SymOp::kMul, SymOp::kMin,
                             SymOp::kMax, SymOp::kAnd, SymOp::kOr};
  const SymExpr leaves[] = {sym("s0"),   sym("u1"),          SymExpr(0),        SymExpr(7),
                            SymExpr(-3), SymExpr(INT64_MIN), SymExpr(INT64_MAX)};
  std::vector<SymExpr> stack = {sym("s0")};
  const auto pop = [&](std::size_t most) {
    const std::size_t count = std::min(most, stack.size());
    std::vector<SymExpr> taken(stack.end() - static_cast<std::ptrdiff_t>(count), stack.end());
    stack.resize(stack.size() - count);
    while (taken.size() < most) taken.push_back(sym("s9"));
    return taken;
  };
  for (const std::uint16_t gene : genes) {
    const unsigned pick = gene / 8U;
    SymExpr next = leaves[pick % 7U];
    if (gene % 8U == 0) next = apply(kBinary[pick % 10U], pop(2));
    if (gene % 8U == 1 || gene % 8U == 2) next = apply(kMany[pick % 6U], pop(2 + pick % 3U));
    if (gene % 8U == 3) next = apply(pick % 2U == 0 ? SymOp::kNeg : SymOp::kNot, pop(1));
    stack.push_back(next);
  }
  return stack.back();
}

int depth_of(const SymExpr& expr) {
  int depth = 0;
  for (const SymExpr& operand : expr.operands()) depth = std::max(depth, depth_of(operand));
  return depth + 1;
}

RC_GTEST_PROP(SymExprText, ReadsTheTreeThatItPrinted, (std::vector<std::uint16_t> genes)) {
  const SymExpr expr = tree_from(genes);
  RC_PRE(depth_of(expr) <= kMaxSymExprDepth);
  const std::string text = print_sym_expr(expr);
  const auto again = parse_sym_expr(text);
  if (!again.ok()) RC_FAIL(text + ": " + again.error().message);
  RC_ASSERT(again.value() == expr);
  RC_ASSERT(print_sym_expr(again.value()) == text);
}

TEST(SymExprEvaluate, HasFloatsBetweenIntegersAsPythonHasThem) {
  const SymbolValues values = {{"s0", 7}};
  EXPECT_EQ(value_of("trunc_to_int(3.66*to_float(s0))", values), 25);
  EXPECT_EQ(value_of("floor_to_int(-s0 / 2)", values), -4);
  EXPECT_EQ(value_of("trunc_to_int(-s0 / 2)", values), -3);
  EXPECT_EQ(value_of("ceil_to_int(s0 / 2)", values), 4);
  EXPECT_EQ(value_of("round_to_int(2.5) + round_to_int(3.5)"), 6);
  EXPECT_EQ(value_of("trunc_to_int(to_float(s0)**0.5 * 100.0)", values), 264);
  EXPECT_EQ(value_of("trunc_to_int(1.0 / sqrt(to_float(s0)) * 1e3)", values), 377);
  EXPECT_EQ(value_of("where(s0 > 4, 2*s0, s0 // 0)", values), 14);
  EXPECT_EQ(value_of("s0 / 2 == 3.5 and max(s0, 6.5) == 7", values), 1);
  EXPECT_EQ(value_of("trunc_to_int(9007199254740993)"), 9007199254740993);
  const auto fails = [&](std::string_view text) {
    return !evaluate(parse_sym_expr(text).value(), values).ok();
  };
  EXPECT_TRUE(fails("s0 / 2"));  // a float
  EXPECT_TRUE(fails("trunc_to_int(s0 / 0)"));
  EXPECT_TRUE(fails("trunc_to_int(1e30)"));
  EXPECT_TRUE(fails("trunc_to_int(sqrt(to_float(-s0)))"));
}

TEST(SymExprText, PrintsFloatsThatItReadsBack) {
  for (const char* text :
       {"trunc_to_int(3.66*to_float(s0))", "a / b / c", "a / (b / c)", "a*b / c", "-0.5", "-(0.5)",
        "(-0.5)**2", "where(a < b, a, b)", "0.5 - a", "a - 0.5*b", "1.0 / to_float(a)**0.5",
        "round_to_int(1e+300*asinh(to_float(a)))", "4*max(1, trunc_to_int(0.1))"}) {
    const auto parsed = must(parse_sym_expr(text), text);
    EXPECT_EQ(print_sym_expr(parsed), text);
    EXPECT_EQ(parse_sym_expr(print_sym_expr(parsed)).value(), parsed);
  }
  EXPECT_FALSE(parse_sym_expr("where(a, b)").ok());
  EXPECT_FALSE(parse_sym_expr("sqrt(a, b)").ok());
  EXPECT_FALSE(parse_sym_expr("a / ").ok());
}

}  // namespace
}  // namespace graphgate::spec
