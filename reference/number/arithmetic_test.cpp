#include "reference/number/arithmetic.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "reference/number/bound_test.h"
#include "reference/number/functions.h"
#include "reference/number/sum.h"

namespace graphgate::reference {
namespace {

// x without what lies behind `bits` significant bits below 2^exponent: truncation toward zero.
double cut_at(double x, int exponent, int bits) {
  const double unit = std::ldexp(1.0, exponent - bits);
  return std::trunc(x / unit) * unit;
}
int exponent_of(double x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  return exponent;
}
double cut(double x, int bits) { return x == 0 ? 0 : cut_at(x, exponent_of(x), bits); }

// A matrix unit: exact products of cut operands; each block of terms and the accumulator is aligned
// to the largest of them, cut, added, and cut again.
double emulate(const Arithmetic& unit, const std::vector<float>& a, const std::vector<float>& b,
               std::size_t block) {
  double accumulator = 0;
  for (std::size_t begin = 0; begin < a.size(); begin += block) {
    std::vector<double> terms = {accumulator};
    for (std::size_t i = begin; i < std::min(begin + block, a.size()); ++i) {
      terms.push_back(cut(static_cast<double>(a[i]), unit.operand_bits) *
                      cut(static_cast<double>(b[i]), unit.operand_bits));
    }
    int largest = -1000;
    for (const double term : terms)
      largest = term == 0 ? largest : std::max(largest, exponent_of(term));
    double sum = 0;
    for (const double term : terms) sum += cut_at(term, largest, unit.accumulator_bits);
    accumulator = cut(sum, unit.accumulator_bits);
  }
  return accumulator;
}

std::vector<float> draw_operands(std::size_t count, int bits) {
  std::vector<float> out;
  for (std::size_t i = 0; i < count; ++i) {
    const int mantissa = *rc::gen::inRange(-(1 << bits), 1 << bits);
    out.push_back(std::ldexp(static_cast<float>(mantissa), *rc::gen::inRange(-8, 4) - bits));
  }
  return out;
}

Bounded dot(const Arithmetic& arithmetic, const std::vector<float>& a,
            const std::vector<float>& b) {
  const DeclaredArithmetic declared(arithmetic);
  Sum<Bounded> sum;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum.add_product({static_cast<long double>(a[i]), 0, kSingle},
                    {static_cast<long double>(b[i]), 0, kSingle});
  }
  return sum.result();
}

Bounded single(long double value) { return {value, 0, kSingle}; }

RC_GTEST_PROP(DeclaredArithmetic, HoldsWhatAMatrixUnitMakes, ()) {
  const auto count = static_cast<std::size_t>(*rc::gen::inRange(1, 80));
  const Arithmetic unit = *rc::gen::elementOf(
      std::vector<Arithmetic>(std::begin(kArithmetics) + 1, std::end(kArithmetics)));
  // Operands of tensor-core and fp8 have few bits; those of tf32 have all that float32 has.
  const int bits = unit.operand_bits < 24 ? 24 : 8;
  const std::vector<float> a = draw_operands(count, bits);
  const std::vector<float> b = draw_operands(count, bits);
  const auto block = static_cast<std::size_t>(*rc::gen::element(4, 8, 16, 32));
  RC_ASSERT(holds(dot(unit, a, b), emulate(unit, a, b, block)));
}

// The declaration matters: IEEE bounds exclude what each of the units makes of some data.
TEST(DeclaredArithmetic, IsWiderThanStrictWhereTheUnitIsWorse) {
  const std::vector<float> fine(4, 1.0F + 0x1p-12F);
  const Arithmetic tf32 = *parse_arithmetic("tf32");
  EXPECT_FALSE(holds(dot({}, fine, fine), emulate(tf32, fine, fine, 4)));
  EXPECT_TRUE(holds(dot(tf32, fine, fine), emulate(tf32, fine, fine, 4)));

  const Arithmetic fp8 = *parse_arithmetic("fp8");
  const std::vector<float> eighths(512, 1.125F);
  EXPECT_FALSE(holds(dot({}, eighths, eighths), emulate(fp8, eighths, eighths, 4)));
  EXPECT_TRUE(holds(dot(fp8, eighths, eighths), emulate(fp8, eighths, eighths, 4)));

  // A large term makes the accumulator cut the tails of all others, always to the same side.
  const Arithmetic cores = *parse_arithmetic("tensor-core");
  std::vector<float> mixed(4096, 1.0F + 0x1p-7F);
  mixed[0] = 0x1p20F;
  const std::vector<float> other(4096, 1.0F + 0x1p-7F);
  const double made = emulate(cores, mixed, other, 4);
  EXPECT_TRUE(holds(dot(cores, mixed, other), made));
  EXPECT_GT(dot(cores, mixed, other).radius, dot({}, mixed, other).radius);
}

TEST(DeclaredArithmetic, KeepsExactDataExact) {
  const std::vector<float> ones(100, 3.0F);
  for (const Arithmetic& arithmetic : kArithmetics) {
    const Bounded sum = dot(arithmetic, ones, ones);
    EXPECT_EQ(sum.value, 900);
    EXPECT_EQ(sum.radius, 0) << arithmetic.name;
  }
  const std::vector<float> many(4000, 3.0F);
  EXPECT_EQ(dot(*parse_arithmetic("tensor-core"), many, many).radius, 0);
  EXPECT_GT(dot(*parse_arithmetic("fp8"), many, many).radius, 0) << "36000 needs 16 bits";
}

// The square of a subnormal number is 0, and so is the norm of what is all subnormal.
template <class Number>
void expect_underflow(const Arithmetic& arithmetic) {
  const DeclaredArithmetic declared(arithmetic);
  const Number x{8.3e-39L, 0, Number::Arithmetic::kFloat32};
  Sum<Number> sum;
  for (int i = 0; i < 3; ++i) sum.add_product(x, x);
  const Number squares = sum.result();
  EXPECT_GE(squares.radius, static_cast<double>(squares.value)) << arithmetic.name;
  const Number norm = sqrt(squares);
  EXPECT_GE(norm.radius, static_cast<double>(norm.value)) << arithmetic.name;
}

TEST(DeclaredArithmetic, LetsProductsUnderflow) {
  for (const Arithmetic& arithmetic : kArithmetics) {
    expect_underflow<Bounded>(arithmetic);
    expect_underflow<Sampled>(arithmetic);
  }
}

TEST(DeclaredArithmetic, LeavesPlainSumsAndFloat64Alone) {
  const DeclaredArithmetic declared(*parse_arithmetic("fp8"));
  Sum<Bounded> plain;
  Sum<Bounded> wide;
  for (int i = 0; i < 100; ++i) {
    plain.add({0.1L, 0, kSingle});
    wide.add_product({0.1L, 0, Bounded::Arithmetic::kFloat64},
                     {0.3L, 0, Bounded::Arithmetic::kFloat64});
  }
  EXPECT_LT(plain.result().radius, 0x1p-10);
  EXPECT_LT(wide.result().radius, 0x1p-40);
}

TEST(DeclaredArithmetic, EndsWithItsScope) {
  {
    const DeclaredArithmetic declared(*parse_arithmetic("tf32"));
    EXPECT_EQ(declared_arithmetic().name, "tf32");
  }
  EXPECT_EQ(declared_arithmetic().name, "strict");
  EXPECT_FALSE(parse_arithmetic("loose").has_value());
}

TEST(FastArithmetic, MayLeaveACastOut) {
  const Bounded fine = single(1 + 0x1p-10L);
  EXPECT_EQ(cast(fine, spec::DType::kBFloat16).value, 1);
  EXPECT_EQ(cast(fine, spec::DType::kBFloat16).radius, 0);
  const DeclaredArithmetic declared(*parse_arithmetic("fast"));
  const Bounded kept = cast(fine, spec::DType::kBFloat16);
  EXPECT_TRUE(holds(kept, 1));
  EXPECT_TRUE(holds(kept, 1 + 0x1p-10));
  EXPECT_FALSE(holds(kept, 1 + 0x1p-7));
  EXPECT_EQ(cast(single(3), spec::DType::kBFloat16).radius, 0) << "bfloat16 holds it";
  EXPECT_EQ((single(3) / single(3)).radius, 0) << "quotients are IEEE's";
}

TEST(ApproximateArithmetic, DividesAndTakesRootsToTwoUlps) {
  EXPECT_EQ((single(6) / single(3)).radius, 0);
  const DeclaredArithmetic declared(*parse_arithmetic("approximate"));
  const Bounded one = single(3) / single(3);
  EXPECT_TRUE(holds(one, 1 - 0x1p-24));
  EXPECT_FALSE(holds(one, 1 - 5 * 0x1p-24));
  EXPECT_TRUE(holds(sqrt(single(4)), 2 + 0x1p-22));
  EXPECT_EQ((single(3) * single(3) + single(1)).radius, 0) << "only these approximate";
  const Bounded wide(3.0L, 0, Bounded::Arithmetic::kFloat64);
  EXPECT_EQ((wide / wide).radius, 0) << "float64 has no such unit";
}

// ex2(x log2(e)) in float32, as a compiler for GPUs has it.
TEST(ApproximateArithmetic, LetsAnExponentialErrWithItsExponent) {
  const auto by_powers_of_two = [](float x) {
    const float exponent = x * 1.44269504F;
    return static_cast<double>(static_cast<float>(std::exp2(static_cast<double>(exponent))));
  };
  bool leaves_strict = false;
  for (float x = -80; x < 80; x += 0.37F) {
    const Bounded strict = exp(single(static_cast<long double>(x)));
    const DeclaredArithmetic declared(*parse_arithmetic("approximate"));
    EXPECT_TRUE(holds(exp(single(static_cast<long double>(x))), by_powers_of_two(x))) << x;
    leaves_strict |= !holds(strict, by_powers_of_two(x));
  }
  EXPECT_TRUE(leaves_strict) << "the declaration matters";
}

TEST(ApproximateArithmetic, TakesSubnormalsForZero) {
  const long double tiny = 0x1p-130L;
  EXPECT_FALSE(holds(single(tiny) + single(0), 0));
  const DeclaredArithmetic declared(*parse_arithmetic("approximate"));
  EXPECT_TRUE(holds(single(tiny) + single(0), 0));
  EXPECT_TRUE(holds(single(tiny) + single(0), 0x1p-130));
  EXPECT_FALSE(holds(single(tiny) + single(0), 0x1p-120));
  EXPECT_EQ((single(0) + single(0)).radius, 0);
  EXPECT_EQ((single(0x1p-126L) + single(0)).radius, 0) << "normal";
  Sum<Bounded> sum;
  sum.add(single(tiny));
  sum.add(single(tiny));
  EXPECT_TRUE(holds(sum.result(), 0));
}

TEST(DivideByLogistic, AllowsZeroAndTheSmallNumberWhereTheExponentialOverflows) {
  const Bounded x(-93.0L, 0, kSingle);
  const Bounded sigmoid = divide_by_logistic(Bounded(1.0), x, spec::DType::kFloat32);
  EXPECT_TRUE(holds(sigmoid, 0));
  EXPECT_TRUE(holds(sigmoid, std::exp(-93.0)));
  EXPECT_FALSE(holds(sigmoid, std::exp(-92.0)));
  const Bounded silu = divide_by_logistic(x, x, spec::DType::kFloat32);
  EXPECT_TRUE(holds(silu, -0.0));
  EXPECT_TRUE(holds(silu, -93 * std::exp(-93.0)));
}

TEST(DivideByLogistic, AllowsTheProductWithASubnormalSigmoid) {
  const Bounded x(-88.0L, 0, kSingle);  // the sigmoid is 6.05e-39
  const Bounded quotient = x / (1.0 + exp(-x));
  const double lost = 88 * 0.5 * static_cast<double>(std::numeric_limits<float>::denorm_min());
  const Bounded silu = divide_by_logistic(x, x, spec::DType::kFloat32);
  const auto far = static_cast<double>(quotient.value) - quotient.radius;
  EXPECT_TRUE(holds(silu, far - 0.99 * lost));
  EXPECT_FALSE(holds(silu, far - 1.01 * lost));
  // Normal, it loses nothing.
  const Bounded y(-80.0L, 0, kSingle);
  EXPECT_LT(divide_by_logistic(y, y, spec::DType::kFloat32).radius, 80 * std::exp(-80.0) * 0x1p-20);
}

RC_GTEST_PROP(DivideByLogistic, HoldsWhatAWideArgumentMakes, ()) {
  const double middle = *rc::gen::inRange(-600, 601) / 10.0;
  const double radius = *rc::gen::inRange(0, 301) / 10.0;
  const bool is_silu = *rc::gen::arbitrary<bool>();
  const Bounded x(middle, radius, kSingle);
  const Bounded a = is_silu ? x : Bounded(1.0L, 0, kSingle);
  const Bounded bound = divide_by_logistic(a, x, spec::DType::kFloat32);
  RC_ASSERT(std::isfinite(bound.radius));
  for (int i = -8; i <= 8; ++i) {
    const auto at = static_cast<float>(middle + radius * 0.125 * i);
    if (std::fabs(at - middle) > radius) continue;  // rounded out of it
    const float factor = is_silu ? at : 1.0F;
    RC_ASSERT(holds(bound, factor / (1.0F + std::exp(-at))));
  }
}

TEST(InverseSquare, AllowsZeroAndTheSmallNumberWhereTheSquareOverflows) {
  const Bounded x(-0x1p67L, 0x1p60, kSingle);
  const Bounded result = inverse_square(x, spec::DType::kFloat32);
  EXPECT_TRUE(holds(result, 0));
  EXPECT_TRUE(holds(result, 0x1p-134));
  EXPECT_FALSE(holds(result, 0x1p-133));
  EXPECT_EQ(inverse_square(Bounded(0x1p63L, 0, kSingle), spec::DType::kFloat32).radius, 0);
  EXPECT_EQ(inverse_square(0x1p67, spec::DType::kFloat32), 0);
}

}  // namespace
}  // namespace graphgate::reference
