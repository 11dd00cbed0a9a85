#include "reference/number/split_sum.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "reference/number/bound_test.h"

namespace graphgate::reference {
namespace {

using spec::DType;
using Operands = std::vector<double>;

// Both 16-bit dtypes' parts.
Arithmetic splitting() {
  Arithmetic arithmetic;
  arithmetic.splits_float16 = arithmetic.splits_bfloat16 = true;
  return arithmetic;
}

template <class P>
Tracked<P> exact(double x) {
  return {static_cast<long double>(x), 0, Tracked<P>::Arithmetic::kFloat32};
}

// The sum of a[i] * b[i] and `addend` as an oracle has it.
template <class P>
Tracked<P> dot(const Operands& a, const Operands& b, DType dtype, double addend = 0) {
  std::vector<Tracked<P>> left;
  std::vector<Tracked<P>> right;
  Sum<Tracked<P>> sum;
  if (addend != 0) sum.add(exact<P>(addend));
  for (std::size_t i = 0; i < a.size(); ++i) {
    left.push_back(exact<P>(a[i]));
    right.push_back(exact<P>(b[i]));
    sum.add_product(left[i], right[i]);
  }
  return allow_split(sum.result(), exact<P>(addend), left.data(), right.data(),
                     static_cast<std::int64_t>(a.size()), dtype);
}

// cuBLASLt's two schemes: sums of parts that lie in the dtype, and the buffer of the result.
enum class Scheme : std::uint8_t { kOutputType, kInPlace };

double emulate(Scheme scheme, const Operands& a, const Operands& b, std::size_t depth, DType dtype,
               double addend) {
  double total = addend;
  // One part alone is what the result rounds.
  const bool rounds_parts = scheme == Scheme::kOutputType && (a.size() > depth || addend != 0);
  for (std::size_t begin = 0; begin < a.size(); begin += depth) {
    double part = 0;
    for (std::size_t i = begin; i < std::min(begin + depth, a.size()); ++i) part += a[i] * b[i];
    total += rounds_parts ? round_to_dtype(part, dtype) : part;
    const bool is_last = begin + depth >= a.size();
    if (scheme == Scheme::kInPlace && !is_last) total = round_to_dtype(total, dtype);
  }
  return total;  // what the result rounds is not in the radius
}

Operands draw(std::size_t count, DType dtype, bool is_positive) {
  Operands out;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = std::ldexp(*rc::gen::inRange(is_positive ? 1 : -2048, 2048), -11);
    out.push_back(round_to_dtype(std::ldexp(x, *rc::gen::inRange(-6, 3)), dtype));
  }
  return out;
}

RC_GTEST_PROP(SplitSum, HoldsWhatPartsInTheDtypeMake, ()) {
  const DType dtype = *rc::gen::element(DType::kFloat16, DType::kBFloat16);
  const auto count = static_cast<std::size_t>(*rc::gen::inRange(9, 300));
  const bool is_positive = *rc::gen::arbitrary<bool>();
  const Operands a = draw(count, dtype, is_positive);
  const Operands b = draw(count, dtype, is_positive);
  const double addend = draw(1, dtype, false)[0] * *rc::gen::element(0, 1);
  const auto depth = static_cast<std::size_t>(*rc::gen::element(8, 16, 24, 64, 128));
  const DeclaredArithmetic declared(splitting());
  const Bounded bound = dot<WorstCase>(a, b, dtype, addend);
  RC_ASSERT(holds(bound, emulate(Scheme::kOutputType, a, b, depth, dtype, addend)));
  RC_ASSERT(holds(bound, emulate(Scheme::kInPlace, a, b, depth, dtype, addend)));
}

// Six times the estimate, as a judge of one element allows at least.
RC_GTEST_PROP(SplitSum, EstimatesWhatPartsInTheDtypeMake, ()) {
  const DType dtype = *rc::gen::element(DType::kFloat16, DType::kBFloat16);
  const auto count = static_cast<std::size_t>(*rc::gen::inRange(9, 300));
  const Operands a = draw(count, dtype, false);
  const Operands b = draw(count, dtype, false);
  const auto depth = static_cast<std::size_t>(*rc::gen::element(8, 16, 64));
  const DeclaredArithmetic declared(splitting());
  const Sampled estimate = dot<RootSumSquare>(a, b, dtype);
  for (const Scheme scheme : {Scheme::kOutputType, Scheme::kInPlace}) {
    const long double error = emulate(scheme, a, b, depth, dtype, 0) - estimate.value;
    RC_ASSERT(std::fabs(error) <= 6 * static_cast<long double>(estimate.radius));
  }
  RC_ASSERT(estimate.radius <= dot<WorstCase>(a, b, dtype).radius);
}

// Two parts of 1 + 2^-9 and -1: in bfloat16 they cancel, and 2^-9 is lost.
TEST(SplitSum, ExcludesWhatNoPartsMake) {
  Operands a(16, 0);
  const Operands ones(16, 1);
  a[0] = 1;
  a[1] = 0x1p-9;
  a[8] = -1;
  const double strict = dot<WorstCase>(a, ones, DType::kBFloat16).radius;
  EXPECT_LT(strict, 0x1p-20);
  const DeclaredArithmetic declared(splitting());
  const Bounded bound = dot<WorstCase>(a, ones, DType::kBFloat16);
  EXPECT_EQ(bound.value, 0x1p-9);
  EXPECT_TRUE(holds(bound, 0));
  EXPECT_FALSE(holds(bound, 4 * 0x1p-8)) << "of 2 + 2^-9 one rounding to bfloat16 loses no more "
                                            "than 2 * 2^-8";
  EXPECT_LT(dot<WorstCase>(a, ones, DType::kFloat32).radius, 0x1p-20);
}

TEST(SplitSum, IsOfTheDtypesThatAreDeclaredAlone) {
  Arithmetic arithmetic;
  arithmetic.splits_bfloat16 = true;
  const DeclaredArithmetic declared(arithmetic);
  const Operands a(16, 1 + 0x1p-7);
  EXPECT_GT(dot<WorstCase>(a, a, DType::kBFloat16).radius, 0x1p-8);
  EXPECT_LT(dot<WorstCase>(a, a, DType::kFloat16).radius, 0x1p-16);
}

TEST(SplitSum, NeedsTwoPartsOfEight) {
  const DeclaredArithmetic declared(splitting());
  const auto radius = [](std::size_t count) {
    const Operands a(count, 1 + 0x1p-7);
    return dot<WorstCase>(a, a, DType::kBFloat16).radius;
  };
  EXPECT_LT(radius(8), 0x1p-16);
  EXPECT_GT(radius(9), 9 * 0x1p-8);
  EXPECT_LT(radius(16), 17 * 0x1p-8);
}

TEST(SplitSum, KeepsExactDataExact) {
  const DeclaredArithmetic declared(splitting());
  EXPECT_EQ(dot<WorstCase>(Operands(27, 3), Operands(27, 3), DType::kBFloat16, 4).radius, 0);
  EXPECT_GT(dot<WorstCase>(Operands(29, 3), Operands(29, 3), DType::kBFloat16, 4).radius, 0)
      << "265 needs 9 bits";
  EXPECT_EQ(dot<RootSumSquare>(Operands(27, 3), Operands(27, 3), DType::kBFloat16, 4).radius, 0);
}

TEST(SplitSum, IsOpenWhereAPartMayOverflow) {
  Operands a(16, 200);
  for (std::size_t i = 8; i < 16; ++i) a[i] = -200;
  const Operands b(16, 50);
  const DeclaredArithmetic declared(splitting());
  EXPECT_TRUE(std::isinf(dot<WorstCase>(a, b, DType::kFloat16).radius)) << "80000 and -80000";
  EXPECT_FALSE(std::isinf(dot<WorstCase>(a, b, DType::kBFloat16).radius));
}

}  // namespace
}  // namespace graphgate::reference
