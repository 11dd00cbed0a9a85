// Special functions and orthogonal polynomials: known values, PyTorch's values at poles and
// infinities, and how wide the oracle's bounds are.
#include <cmath>
#include <numbers>

#include "reference/number/special_functions.h"
#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

Numbers special_of(std::string_view op, const Numbers& x, DType dtype = DType::kFloat64,
                   std::string_view argument = "self") {
  const Sizes sizes = {static_cast<std::int64_t>(x.size())};
  return values(*run_tensor(op, {{std::string(argument), {tensor(dtype, sizes, x)}}}));
}
Numbers special_of_two(std::string_view op, const Numbers& a, const Numbers& b,
                       DType dtype = DType::kFloat64) {
  const Sizes sizes = {static_cast<std::int64_t>(a.size())};
  return values(
      *run_tensor(op, {{"self", {tensor(dtype, sizes, a)}}, {"other", {tensor(dtype, sizes, b)}}}));
}

TEST(Special, HasTheValuesOfTables) {
  // NIST Digital Library of Mathematical Functions, and Abramowitz and Stegun.
  EXPECT_NEAR(special_of("aten.lgamma.default", {0.5})[0], 0.57236494292470008707, 1e-15);
  EXPECT_NEAR(special_of("aten.digamma.default", {1})[0], -0.57721566490153286061, 1e-15);
  EXPECT_NEAR(special_of("aten.i0.default", {1})[0], 1.2660658777520083356, 1e-15);
  EXPECT_NEAR(special_of("aten.special_i1.default", {-1})[0], -0.56515910399248502721, 1e-15);
  EXPECT_NEAR(special_of("aten.special_modified_bessel_k0.default", {1})[0], 0.42102443824070833334,
              1e-15);
  EXPECT_NEAR(special_of("aten.special_modified_bessel_k1.default", {1})[0], 0.60190723019723457474,
              1e-15);
  EXPECT_NEAR(special_of("aten.special_bessel_j0.default", {1})[0], 0.76519768655796655145, 1e-15);
  EXPECT_NEAR(special_of("aten.special_bessel_y1.default", {1})[0], -0.78121282130028871655, 1e-15);
  EXPECT_NEAR(special_of("aten.special_airy_ai.default", {0}, DType::kFloat64, "x")[0],
              0.35502805388781723926, 1e-15);
  EXPECT_NEAR(special_of("aten.special_erfcx.default", {1})[0], 0.42758357615580700442, 1e-15);
  EXPECT_NEAR(special_of("aten.special_ndtri.default", {0.975})[0], 1.9599639845400542355, 1e-14);
  EXPECT_NEAR(special_of("aten.special_log_ndtr.default", {0})[0], -0.69314718055994530942, 1e-15);
  EXPECT_NEAR(special_of_two("aten.special_zeta.default", {2}, {1})[0], 1.6449340668482264365,
              1e-15);
  EXPECT_NEAR(special_of_two("aten.igamma.default", {1}, {1})[0], 0.63212055882855767840, 1e-15);
  EXPECT_NEAR(special_of_two("aten.igammac.default", {1}, {1})[0], 0.36787944117144232160, 1e-15);
}

// The constant may be the first term of the sum as well as the last.
TEST(Mvlgamma, HoldsSumsInWhateverOrder) {
  for (const int p : {3, 6}) {
    Numbers x;
    for (int i = 0; i < 2000; ++i) x.push_back(0.5 * p + 0.00025 * i);
    const auto self = tensor(DType::kFloat64, {static_cast<std::int64_t>(x.size())}, x);
    const auto bound = run_tensor("aten.mvlgamma.default",
                                  {{"self", {self}}, {"p", {std::int64_t{p}}}}, Mode::kWorstCase);
    const std::vector<Mark> marks = marks_of(*bound);
    for (std::size_t i = 0; i < x.size(); ++i) {
      double sum = p * (p - 1) * std::log(std::numbers::pi) / 4;
      for (int j = 0; j < p; ++j) sum += static_cast<double>(exact::lgamma(x[i] - 0.5 * j));
      EXPECT_LE(std::fabs(static_cast<long double>(sum) - marks[i].value), marks[i].radius)
          << "p " << p << ", x " << x[i];
      EXPECT_LT(marks[i].radius, 1e-13);
    }
  }
}

TEST(Special, SaysWhatPyTorchSaysAtPolesAndInfinities) {
  EXPECT_EQ(special_of("aten.lgamma.default", {0, -2, -kInfinity}),
            (Numbers{kInfinity, kInfinity, kInfinity}));
  const Numbers psi = special_of("aten.digamma.default", {0.0, -0.0, -1});
  EXPECT_EQ(psi[0], -kInfinity);
  EXPECT_EQ(psi[1], kInfinity);
  EXPECT_TRUE(std::isnan(psi[2]));
  EXPECT_TRUE(std::isnan(special_of("aten.i0.default", {kInfinity})[0]));
  EXPECT_EQ(special_of("aten.special_i0e.default", {kInfinity})[0], 0);
  EXPECT_EQ(special_of("aten.special_bessel_y0.default", {0})[0], -kInfinity);
  EXPECT_TRUE(std::isnan(special_of("aten.special_bessel_y0.default", {-1})[0]));
  EXPECT_EQ(special_of("aten.erfinv.default", {1, -1}), (Numbers{kInfinity, -kInfinity}));
  EXPECT_EQ(special_of("aten.special_ndtri.default", {0, 1}), (Numbers{-kInfinity, kInfinity}));
  EXPECT_EQ(special_of("aten.special_entr.default", {0, -1}), (Numbers{0, -kInfinity}));
  EXPECT_EQ(special_of_two("aten.special_zeta.default", {1, 3}, {1, -2}),
            (Numbers{kInfinity, kInfinity}));
  EXPECT_EQ(special_of_two("aten.igamma.default", {0, 2, kInfinity}, {1, kInfinity, 1}),
            (Numbers{1, 1, 0}));
  // 9! overflows float16.
  const TensorRef one = tensor(DType::kFloat16, {1}, {1});
  EXPECT_EQ(
      values(*run_tensor("aten.polygamma.default", {{"n", {std::int64_t{9}}}, {"self", {one}}}))[0],
      kInfinity);
}

// ATen's formula gives no number, the function is infinite, and a right executor has either.
TEST(Special, BesselFunctionsAreOpenAtInfinity) {
  const TensorRef x = tensor(DType::kFloat32, {3}, {kInfinity, -kInfinity, 2});
  for (const char* op :
       {"aten.i0.default", "aten.special_i1.default", "aten.special_modified_bessel_i0.default"}) {
    for (const Mode mode : {Mode::kWorstCase, Mode::kSampled}) {
      const std::vector<Mark> marks = marks_of(*run_tensor(op, {{"self", {x}}}, mode));
      EXPECT_TRUE(std::isinf(marks[0].radius) && std::isinf(marks[1].radius)) << op;
      EXPECT_TRUE(marks[2].radius > 0 && marks[2].radius < 1e-5) << op;
    }
  }
}

TEST(Special, ZetaAndPolygammaAgreeWithTrigamma) {
  // psi'(x) = zeta(2, x); below 0 Boost.Math has it by reflection, the series here directly.
  for (const long double x : {0.25L, 3.5L, 40.0L, -0.5L, -7.25L}) {
    EXPECT_NEAR(static_cast<double>(exact::zeta(2, x) / exact::trigamma(x)), 1, 1e-16) << x;
  }
  const TensorRef x = tensor(DType::kFloat64, {1}, {1});
  const auto third =
      run_tensor("aten.polygamma.default", {{"n", {std::int64_t{3}}}, {"self", {x}}});
  EXPECT_NEAR(values(*third)[0], 6.4939394022668291491, 1e-14);  // pi^4 / 15
}

TEST(Special, LargeOrdersOfTheIncompleteGammaFunctionsMeet) {
  // On both sides of where the uniform expansion takes over, and P + Q = 1.
  for (const long double a : {0.9e8L, 1.1e8L}) {
    const long double x = a + std::sqrt(a);
    EXPECT_NEAR(static_cast<double>(exact::igamma(a, x)), 0.84134475, 1e-8) << a;
    EXPECT_NEAR(static_cast<double>(exact::igamma(a, x) + exact::igammac(a, x)), 1, 1e-16) << a;
  }
}

TEST(Special, BoundsAreSomeUnitsWide) {
  const TensorRef x = tensor(DType::kFloat32, {1}, {1.25});
  for (const std::string_view op :
       {"aten.lgamma.default", "aten.digamma.default", "aten.i0.default", "aten.erfinv.default",
        "aten.special_erfcx.default", "aten.special_modified_bessel_k0.default",
        "aten.special_bessel_j0.default"}) {
    const Numbers at = {op == "aten.erfinv.default" ? 0.75 : 1.25};
    const auto out =
        run_tensor(op, {{"self", {tensor(DType::kFloat32, {1}, at)}}}, Mode::kWorstCase);
    const double radius = radii(*out)[0];
    EXPECT_GT(radius, 0) << op;
    EXPECT_LT(radius, 0x1p-18 * std::max(1.0, std::fabs(values(*out)[0]))) << op;
  }
  // A pole within the radius leaves all open; exact numbers beside one do not.
  const Bounded beside(-0.999L, 0.01, Bounded::Arithmetic::kFloat32);
  EXPECT_TRUE(std::isinf(digamma(beside).radius));
  EXPECT_TRUE(std::isinf(lgamma(beside).radius));
  const Bounded known(-0.999L, 0, Bounded::Arithmetic::kFloat32);
  EXPECT_FALSE(std::isinf(digamma(known).radius));
  // lgamma has a minimum near 1.46: both ends of a radius around it are higher.
  const Bounded around(1.4616L, 0.25, Bounded::Arithmetic::kFloat64);
  EXPECT_GT(lgamma(around).radius, 0.02);
}

// As PyTorch's kernels compute it in float32, for a positive x: ten steps up, then the logarithm
// and the first terms of its series.
float digamma_by_steps(float x) {
  float sum = 0;
  for (; x < 10; x += 1) sum -= 1 / x;
  const float z = 1 / (x * x);
  return sum + std::log(x) - 0.5F / x - z * (1.0F / 12 - z * (1.0F / 120 - z / 252));
}

// Each step rounds a sum that may be larger than the result.
TEST(Special, DigammaMayRoundEachStepOfItsRecurrence) {
  double worst = 0;
  for (int i = 1; i < 4000; ++i) {
    const float x = static_cast<float>(i) * 0.0025F;
    const Bounded exactly = digamma(Bounded(x, 0, Bounded::Arithmetic::kFloat32));
    const auto error = static_cast<double>(
        std::fabs(static_cast<long double>(digamma_by_steps(x)) - exactly.value));
    EXPECT_LE(error, exactly.radius) << x;
    worst = std::max(worst, error / exactly.radius);
  }
  EXPECT_GT(worst, 0.1);
}

// As CUDA's kernel sums it in float32, in the order of aten/src/ATen/native/cuda/Math.cuh, without
// the terms of its series that are below a unit.
float zeta_by_steps(float s, float q) {
  float base = q;
  float sum = std::pow(q, -s);
  float term = 0;
  for (int i = 0; i < 9 || base <= 9; ++i) {
    base += 1;
    term = std::pow(base, -s);
    sum += term;
  }
  sum += term * base / (s - 1);
  sum -= 0.5F * term;
  return sum + s * term / base / 12;
}

// Below 0 terms of both signs cancel, and what the largest one rounds is left.
TEST(CudaKernels, SumZetaInFloat32) {
  Numbers x;
  for (int i = 1; i < 1200; ++i) {
    if (i % 400 != 0) x.push_back(-0.0025 * i);
  }
  const auto self = tensor(DType::kFloat32, {std::ssize(x)}, x);
  const auto outside = [&] {
    const auto bound = run_tensor("aten.polygamma.default",
                                  {{"n", {std::int64_t{2}}}, {"self", {self}}}, Mode::kWorstCase);
    const std::vector<Mark> marks = marks_of(*bound);
    const Numbers held = values(*self);
    int count = 0;
    for (std::size_t i = 0; i < held.size(); ++i) {
      const float made = -2 * zeta_by_steps(3, static_cast<float>(held[i]));
      const auto error = std::fabs(static_cast<long double>(made) - marks[i].value);
      count += error <= marks[i].radius ? 0 : 1;
      EXPECT_LT(marks[i].radius, 1e-4 * (30 + std::fabs(marks[i].value))) << held[i];
    }
    return count;
  };
  EXPECT_GT(outside(), 0);
  Arithmetic arithmetic;
  arithmetic.has_cuda_kernels = true;
  const DeclaredArithmetic declared(arithmetic);
  EXPECT_EQ(outside(), 0);
}

// 2 x^1/4 e^zeta overflows where the result is subnormal.
TEST(AiryFunction, MayBeZeroWhereItsDivisorOverflows) {
  const auto reaches_zero = [](double x) {
    const auto bound = run_tensor("aten.special_airy_ai.default",
                                  {{"x", {tensor(DType::kFloat32, {1}, {x})}}}, Mode::kWorstCase);
    const Mark mark = marks_of(*bound)[0];
    return mark.value <= static_cast<long double>(mark.radius);
  };
  EXPECT_TRUE(reaches_zero(25.8));  // 1.4e-39, and 0 of PyTorch 2.15.0
  EXPECT_FALSE(reaches_zero(25.6));
}

// What PyTorch 2.15.0 has on a CPU (x86-64), off by 44, 39 and 36 units of Q: a fraction of eighty
// steps for x near 1.
TEST(IncompleteGamma, MayRoundEachStepOfItsFraction) {
  const Numbers a = {0x1.0dcbaa69b0b93p+0, 0x1.0cfdc37e9a176p-1, 0x1.8eeb3c0ef50cap-3};
  const Numbers x = {0x1.2852ab3dcb30ep+0, 0x1.2bb07fb9bba4fp+0, 0x1.452a782dc8421p+0};
  const Numbers upper = {0x1.57bf4d1224691p-2, 0x1.131a4caa3ef99p-3, 0x1.16b4f6c9babcfp-5};
  const Numbers lower = {0x1.54205976edce1p-1, 0x1.bb396cd57042ap-1, 0x1.ee94b09364546p-1};
  const Arguments both = {{"self", {tensor(DType::kFloat64, {3}, a)}},
                          {"other", {tensor(DType::kFloat64, {3}, x)}}};
  const auto fits = [&](const char* op, const Numbers& made) {
    const std::vector<Mark> marks = marks_of(*run_tensor(op, both, Mode::kWorstCase));
    for (std::size_t i = 0; i < made.size(); ++i) {
      EXPECT_LE(std::fabs(static_cast<long double>(made[i]) - marks[i].value), marks[i].radius)
          << i;
      EXPECT_LT(marks[i].radius, 1e-12) << i;
    }
  };
  fits("aten.igammac.default", upper);
  fits("aten.igamma.default", lower);
}

// (x / (a + 5.5))^a is 1e-42, a subnormal float32 of ten bits (PyTorch 2.15.0 on a CPU).
TEST(IncompleteGamma, LosesWhatASubnormalPowerLoses) {
  const auto bound = run_tensor("aten.igamma.default",
                                {{"self", {tensor(DType::kFloat32, {1}, {0x1.8f51ecp+7})}},
                                 {"other", {tensor(DType::kFloat32, {1}, {0x1.fa70a4p+6})}}},
                                Mode::kWorstCase);
  const Mark mark = marks_of(*bound)[0];
  EXPECT_LE(std::fabs(0x1.5e80aep-30L - mark.value), mark.radius);
  EXPECT_LT(mark.radius, 2e-12);
}

// pi's logarithm is added to a sum in 16 bits: 1.717 as it is, or as 1.71875.
TEST(CudaKernels, AddTheConstantOfMvlgammaInFloat32) {
  const Arguments arguments = {{"self", {tensor(DType::kBFloat16, {1}, {3})}},
                               {"p", {std::int64_t{3}}}};
  const auto value = [&] {
    return marks_of(*run_tensor("aten.mvlgamma.default", arguments, Mode::kWorstCase))[0].value;
  };
  const long double held = value();
  Arithmetic arithmetic;
  arithmetic.has_cuda_kernels = true;
  const DeclaredArithmetic declared(arithmetic);
  EXPECT_NEAR(static_cast<double>(held - value()), 1.71875 - 1.5 * std::log(std::numbers::pi),
              1e-6);
}

Numbers polynomial_of(std::string_view op, const Numbers& x, double n,
                      DType dtype = DType::kFloat64) {
  const Sizes sizes = {static_cast<std::int64_t>(x.size())};
  return values(*run_tensor(op, {{"x", {tensor(dtype, sizes, x)}}, {"n", {n}}}));
}

TEST(OrthogonalPolynomial, HasTheFirstDegrees) {
  const Numbers at = {3};
  EXPECT_EQ(polynomial_of("aten.special_chebyshev_polynomial_t.n_scalar", at, 3), (Numbers{99}));
  EXPECT_EQ(polynomial_of("aten.special_chebyshev_polynomial_u.n_scalar", at, 2), (Numbers{35}));
  EXPECT_EQ(polynomial_of("aten.special_chebyshev_polynomial_v.n_scalar", at, 2), (Numbers{29}));
  EXPECT_EQ(polynomial_of("aten.special_chebyshev_polynomial_w.n_scalar", at, 2), (Numbers{41}));
  EXPECT_EQ(polynomial_of("aten.special_hermite_polynomial_h.n_scalar", at, 3), (Numbers{180}));
  EXPECT_EQ(polynomial_of("aten.special_hermite_polynomial_he.n_scalar", at, 3), (Numbers{18}));
  EXPECT_EQ(polynomial_of("aten.special_laguerre_polynomial_l.n_scalar", at, 2), (Numbers{-0.5}));
  EXPECT_EQ(polynomial_of("aten.special_legendre_polynomial_p.n_scalar", at, 3), (Numbers{63}));
  // T*(x) = T(2x - 1)
  EXPECT_EQ(polynomial_of("aten.special_shifted_chebyshev_polynomial_t.n_scalar", {2}, 3),
            (Numbers{99}));
}

TEST(OrthogonalPolynomial, KnowsEndsNegativeDegreesAndOverflow) {
  EXPECT_EQ(polynomial_of("aten.special_chebyshev_polynomial_u.n_scalar", {1, -1}, 9),
            (Numbers{10, -10}));
  EXPECT_EQ(polynomial_of("aten.special_chebyshev_polynomial_v.n_scalar", {1, -1}, 4),
            (Numbers{1, 9}));
  EXPECT_EQ(polynomial_of("aten.special_legendre_polynomial_p.n_scalar", {0.3}, -1), (Numbers{0}));
  // By angles: cos(10 acos(1/2)).
  EXPECT_NEAR(polynomial_of("aten.special_chebyshev_polynomial_t.n_scalar", {0.5}, 10)[0], -0.5,
              1e-14);
  // The recurrence overflows to infinity, and from there to NaN.
  EXPECT_TRUE(std::isnan(polynomial_of("aten.special_chebyshev_polynomial_t.n_scalar", {1e30}, 9,
                                       DType::kFloat32)[0]));
  EXPECT_TRUE(std::isnan(
      polynomial_of("aten.special_hermite_polynomial_h.n_scalar", {1}, 129, DType::kFloat32)[0]));
}

}  // namespace
}  // namespace graphgate::reference::test
