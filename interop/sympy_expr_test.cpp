#include "interop/sympy_expr.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/result_test.h"

namespace graphgate::interop {
namespace {

using spec::SymExpr;
using spec::SymOp;

const SymbolInfos kSymbols = {{"s0", {1, 64, 8}}, {"u0", {0, std::nullopt, std::nullopt}}};

std::string infix(std::string_view text) {
  const auto parsed = parse_sympy(text);
  return parsed.ok() ? spec::print_sym_expr(parsed.value()) : parsed.error().message;
}

TEST(SympyParser, ReadsWhatPyTorchWrites) {
  EXPECT_EQ(parse_sympy("Mul(Integer(64), Symbol('s0', positive=True, integer=True))").value(),
            SymExpr::apply(SymOp::kMul, {SymExpr(64), SymExpr::symbol("s0")}));
  EXPECT_EQ(parse_sympy("GreaterThan(Symbol('u0', integer=True), Integer(0))").value(),
            SymExpr::apply(SymOp::kGe, {SymExpr::symbol("u0"), SymExpr(0)}));
  EXPECT_EQ(parse_sympy("Integer(-3)").value(), SymExpr(-3));
  EXPECT_EQ(parse_sympy("true").value(), SymExpr(1));
}

TEST(SympyParser, ReadsFractionsOfAProductAsAnExactDivision) {
  const SymExpr expected = SymExpr::apply(SymOp::kExactDiv, {SymExpr::symbol("s0"), SymExpr(2)});
  EXPECT_EQ(parse_sympy("Mul(Rational(1, 2), Symbol('s0', integer=True))").value(), expected);
}

TEST(SympyParser, GivesRoundedDivisionsTheirMeaning) {
  const spec::SymbolValues seven = {{"s0", 7}};
  const auto value = [&](std::string_view text) {
    return spec::evaluate(parse_sympy(text).value(), seven).value();
  };
  EXPECT_EQ(value("CeilDiv(Symbol('s0', integer=True), Integer(2))"), 4);
  EXPECT_EQ(value("FloorToInt(IntTrueDiv(Symbol('s0', integer=True), Integer(2)))"), 3);
  EXPECT_EQ(value("CeilToInt(IntTrueDiv(Symbol('s0', integer=True), Integer(2)))"), 4);
  EXPECT_EQ(value("floor(Mul(Rational(1, 3), Symbol('s0', integer=True)))"), 2);
  EXPECT_EQ(value("ModularIndexing(Symbol('s0', integer=True), Integer(2), Integer(2))"), 1);
  EXPECT_EQ(value("LShift(Integer(1), Integer(4))"), 16);
  EXPECT_EQ(value("PythonMod(Integer(-7), Integer(3))"), 2);
}

TEST(SympyParser, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(infix("Gamma(Integer(1))"), "column 1: unknown function 'Gamma'");
  EXPECT_EQ(infix("Add(Integer(1)"), "column 15: expected ')', found the end");
  EXPECT_EQ(infix("Add(Integer(1))"), "column 1: Add takes two or more operands, found 1");
  EXPECT_EQ(infix("Integer(99999999999999999999)"), "column 9: the integer does not fit 64 bits");
  EXPECT_EQ(infix("Integer(1) x"), "column 12: expected the end, found 'x'");
  EXPECT_EQ(infix(""), "column 1: expected an expression");
}

// As PyTorch 2.15 writes the sizes of an interpolation, and 1 / n**0.5.
TEST(SympyParser, ReadsFloatsInsideOfSizes) {
  const std::string symbol = "Symbol('s53', positive=True, integer=True)";
  EXPECT_EQ(
      infix("TruncToInt(Mul(Float('3.6600000000000001', precision=53), ToFloat(" + symbol + ")))"),
      "trunc_to_int(3.66*to_float(s53))");
  EXPECT_EQ(infix("FloatTrueDiv(Float('1.0', precision=53), FloatPow(ToFloat(" + symbol +
                  "), Float('0.5', precision=53)))"),
            "1.0 / to_float(s53)**0.5");
  EXPECT_EQ(infix("Piecewise(ExprCondPair(Integer(1), StrictLessThan(" + symbol +
                  ", Integer(4))), ExprCondPair(" + symbol + ", true))"),
            "where(s53 < 4, 1, s53)");
  EXPECT_EQ(infix("Where(StrictLessThan(" + symbol + ", Integer(4)), Integer(1), Integer(2))"),
            "where(s53 < 4, 1, 2)");
  EXPECT_EQ(infix("RoundToInt(IntTrueDiv(" + symbol + ", Integer(2)))"), "round_to_int(s53 / 2)");
  EXPECT_EQ(infix("FloorToInt(FloatTrueDiv(ToFloat(" + symbol + "), Float('2.0', precision=53)))"),
            "floor_to_int(to_float(s53) / 2.0)");
  EXPECT_EQ(infix("OpaqueUnaryFn_sqrt(ToFloat(" + symbol + "))"), "sqrt(to_float(s53))");
}

TEST(SympyParser, SaysWhatIsWrongInAFloat) {
  EXPECT_EQ(infix("Float('x', precision=53)"), "column 8: expected a float64");
  EXPECT_EQ(infix("Float('inf', precision=53)"), "column 8: expected a float64");
  EXPECT_EQ(infix("Float(1.0)"), "column 7: expected a quoted number");
  EXPECT_EQ(infix("Piecewise(Integer(1))"), "column 11: expected ExprCondPair");
}

TEST(SympyParser, RefusesByNameWhatHasNoMeaningHere) {
  for (const char* text :
       {"RoundDecimal(ToFloat(Integer(1)), Integer(2))",
        "Piecewise(ExprCondPair(Integer(1), StrictLessThan(Integer(3), Integer(4))))"}) {
    EXPECT_EQ(failure_of(parse_sympy(text), text).kind, ErrorKind::kUnsupported) << text;
  }
}

TEST(SympyPrinter, WritesFloatsThatAreReadBack) {
  for (const char* text :
       {"trunc_to_int(3.66*to_float(s0))", "1.0 / to_float(s0)**0.5", "round_to_int(s0 / 2)",
        "where(s0 < 4, 1, s0)", "ceil_to_int(sqrt(to_float(s0)))", "trunc_to_float(0.1*s0)"}) {
    const SymExpr expr = spec::parse_sym_expr(text).value();
    EXPECT_EQ(infix(print_sympy(expr, kSymbols)), text);
  }
}

TEST(SympyParser, LimitsHowDeepCallsNest) {
  std::string text = "Integer(1)";
  for (int i = 0; i < 100'000; ++i) text.insert(0, "Not(");
  EXPECT_TRUE(contains(infix(text), "nested deeper than 200 levels"));
}

TEST(SympyPrinter, DerivesAssumptionsFromNameAndRange) {
  EXPECT_EQ(print_sympy(SymExpr::symbol("s0"), kSymbols),
            "Symbol('s0', positive=True, integer=True)");
  EXPECT_EQ(print_sympy(SymExpr::symbol("u0"), kSymbols), "Symbol('u0', integer=True)");
}

rc::Gen<SymExpr> any_expr(int depth) {
  const auto leaf = rc::gen::oneOf(
      rc::gen::map(rc::gen::arbitrary<std::int64_t>(), [](std::int64_t n) { return SymExpr(n); }),
      rc::gen::map(rc::gen::element<std::string>("s0", "u0", "s_1"),
                   [](std::string name) { return SymExpr::symbol(std::move(name)); }));
  if (depth == 0) return leaf;
  return rc::gen::oneOf(
      leaf, rc::gen::mapcat(rc::gen::inRange(2, 20), [depth](int number) {
        const auto op = static_cast<SymOp>(number);
        const bool is_unary = op == SymOp::kNeg || op == SymOp::kNot;
        const bool is_variadic = op == SymOp::kAdd || op == SymOp::kMul || op == SymOp::kMin ||
                                 op == SymOp::kMax || op == SymOp::kAnd || op == SymOp::kOr;
        const std::size_t count = is_unary ? 1 : is_variadic ? 3 : 2;
        return rc::gen::map(rc::gen::container<std::vector<SymExpr>>(count, any_expr(depth - 1)),
                            [op](std::vector<SymExpr> operands) {
                              return SymExpr::apply(op, std::move(operands));
                            });
      }));
}

RC_GTEST_PROP(SympyPrinter, IsReadBackAsTheSameTree, ()) {
  const SymExpr expr = *any_expr(3);
  const auto parsed = parse_sympy(print_sympy(expr, kSymbols));
  RC_ASSERT(parsed.ok());
  RC_ASSERT(parsed.value() == expr);
}

}  // namespace
}  // namespace graphgate::interop
