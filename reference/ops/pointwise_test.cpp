#include <cmath>
#include <limits>

#include "reference/number/arithmetic.h"
#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

// x times the rounded 1/3 is two roundings, x / 3 is one.
TEST(CudaKernels, MultiplyByTheReciprocalOfANumber) {
  const TensorRef x = tensor(DType::kFloat32, {1}, {5});
  const auto radius = [&](const Datum& divisor) {
    return radii(
        *run_tensor("aten.div.Tensor", {{"self", {x}}, {"other", divisor}}, Mode::kWorstCase))[0];
  };
  const Datum number = {3.0};
  const Datum other = {tensor(DType::kFloat32, {1}, {3})};
  const double once = radius(number);
  EXPECT_EQ(radius(other), once);
  Arithmetic arithmetic;
  arithmetic.has_cuda_kernels = true;
  const DeclaredArithmetic declared(arithmetic);
  EXPECT_EQ(radius(other), once);
  EXPECT_GT(radius(number), 1.5 * once);
  EXPECT_LT(radius(number), 4 * once);
}

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Numbers unary(std::string_view op, DType dtype, const Numbers& x) {
  const Sizes sizes = {static_cast<std::int64_t>(x.size())};
  return values(*run_tensor(op, {{"self", {tensor(dtype, sizes, x)}}}));
}
TensorRef row(DType dtype, const Numbers& x) {
  return tensor(dtype, {static_cast<std::int64_t>(x.size())}, x);
}

TEST(Relu, LeavesTheSignOfAZeroOpen) {
  const TensorRef x = tensor(DType::kFloat64, {3}, {-0.0, 0.0, -1.0});
  const auto out = run_tensor("aten.relu.default", {{"self", {x}}}, Mode::kWorstCase);
  const Numbers radius = radii(*out);
  EXPECT_GT(radius[0], 0);
  EXPECT_LT(radius[0], 1e-300);
  EXPECT_EQ(radius[1], 0);
  EXPECT_EQ(radius[2], 0);
}

TEST(PointwiseUnary, IntegersBecomeFloat32InRealFunctionsAndStayInOthers) {
  EXPECT_EQ(run_tensor("aten.sqrt.default", {{"self", {row(DType::kInt64, {4})}}})->dtype,
            DType::kFloat32);
  EXPECT_EQ(run_tensor("aten.floor.default", {{"self", {row(DType::kInt8, {4})}}})->dtype,
            DType::kInt8);
  EXPECT_EQ(unary("aten.neg.default", DType::kUInt8, {1, 0, 255}), (Numbers{255, 0, 1}));
  EXPECT_EQ(unary("aten.abs.default", DType::kInt8, {-128, -5}), (Numbers{-128, 5}));
}

TEST(PointwiseUnary, RoundTakesHalvesToEvenAndDecimals) {
  EXPECT_EQ(unary("aten.round.default", DType::kFloat32, {0.5, 1.5, 2.5, -0.5}),
            (Numbers{0, 2, 2, 0}));
  EXPECT_EQ(
      values(*run_tensor("aten.round.decimals", {{"self", {row(DType::kFloat64, {1250, 1350})}},
                                                 {"decimals", {std::int64_t{-2}}}})),
      (Numbers{1200, 1400}));
}

TEST(PointwiseUnary, SignOfNaNIsZeroAndReluKeepsNaN) {
  EXPECT_EQ(unary("aten.sign.default", DType::kFloat32, {-2, 0, 3, kNaN}), (Numbers{-1, 0, 1, 0}));
  EXPECT_TRUE(std::isnan(unary("aten.relu.default", DType::kFloat32, {kNaN})[0]));
}

TEST(PointwiseUnary, BitwiseNotOfBoolIsLogical) {
  EXPECT_EQ(unary("aten.bitwise_not.default", DType::kBool, {1, 0}), (Numbers{0, 1}));
  EXPECT_EQ(unary("aten.bitwise_not.default", DType::kUInt8, {1}), (Numbers{254}));
  EXPECT_THROW(unary("aten.bitwise_not.default", DType::kFloat32, {1}), OpError);
}

TEST(PointwiseUnary, ExpOverflowsWhereFloat32Does) {
  EXPECT_EQ(unary("aten.silu.default", DType::kFloat32, {-100, 0, 200}), (Numbers{0, 0, 200}));
  EXPECT_EQ(unary("aten.sigmoid.default", DType::kBFloat16, {-100, 0}), (Numbers{0, 0.5}));
}

TEST(PointwiseUnary, EightBitFloatsAreRefused) {
  EXPECT_THROW(unary("aten.exp.default", DType::kFloat8E5M2, {1}), OpError);
}

TEST(PointwiseUnary, ExactInputsOfExactFunctionsHaveNoRadius) {
  const TensorRef out =
      run_tensor("aten.sqrt.default", {{"self", {row(DType::kFloat32, {4, 2})}}}, Mode::kWorstCase);
  EXPECT_EQ(radii(*out)[0], 0);
  EXPECT_EQ(radii(*out)[1], 0x1p-24 * 2);  // half a unit: as an operation, and as a result
}

Numbers binary(std::string_view op, const TensorRef& a, const Datum& b) {
  return values(*run_tensor(op, {{"self", {a}}, {"other", b}}));
}

TEST(PointwiseBinary, ANumberIsConvertedToTheCommonDtypeButNotInProducts) {
  const TensorRef x = row(DType::kBFloat16, {4});
  // 1.01 is 1.0078125 in bfloat16; 4 * 1.01 rounds up from 4.04.
  EXPECT_EQ(binary("aten.eq.Scalar", row(DType::kBFloat16, {1.0078125}), {1.01}), (Numbers{1}));
  EXPECT_EQ(binary("aten.mul.Scalar", row(DType::kBFloat16, {129}), {1.01}), (Numbers{130}));
  EXPECT_EQ(
      binary("aten.mul.Tensor", row(DType::kBFloat16, {129}), {row(DType::kBFloat16, {1.01})}),
      (Numbers{130}));
  EXPECT_EQ(binary("aten.add.Scalar", x, {0.0}), (Numbers{4}));
}

// 3 * 30000 is no float16; -60000 is one, for who computes in float32.
TEST(PointwiseBinary, AProductWithAlphaThatOverflowsIsOpen) {
  const TensorRef x = row(DType::kFloat16, {1000, 30000});
  const TensorRef difference = run_tensor(
      "aten.sub.Tensor", {{"self", {x}}, {"other", {x}}, {"alpha", {3.0}}}, Mode::kWorstCase);
  EXPECT_EQ(radii(*difference), (Numbers{0, INFINITY}));
}

TEST(PointwiseBinary, IntegersWrapAndAlphaMustBeOne) {
  EXPECT_EQ(binary("aten.add.Scalar", row(DType::kUInt8, {250}), {std::int64_t{10}}), (Numbers{4}));
  EXPECT_EQ(binary("aten.mul.Tensor", row(DType::kInt8, {100}), {row(DType::kInt8, {3})}),
            (Numbers{44}));
  EXPECT_THROW(run_tensor("aten.add.Tensor", {{"self", {row(DType::kInt64, {1})}},
                                              {"other", {row(DType::kInt64, {1})}},
                                              {"alpha", {1.5}}}),
               OpError);
}

TEST(PointwiseBinary, AnInPlaceResultMustFitItsTarget) {
  EXPECT_THROW(binary("aten.mul_.Scalar", row(DType::kInt64, {1}), {2.5}), OpError);
  EXPECT_EQ(binary("aten.eq_.Scalar", row(DType::kFloat32, {1, 2}), {std::int64_t{2}}),
            (Numbers{0, 1}));
}

TEST(PointwiseBinary, BoolsAddButDoNotSubtract) {
  const TensorRef yes = row(DType::kBool, {1});
  EXPECT_EQ(binary("aten.add.Tensor", yes, {yes}), (Numbers{1}));
  EXPECT_THROW(binary("aten.sub.Tensor", yes, {yes}), OpError);
}

// Seen on an H200: the cube of a float16 number, whose square was rounded.
TEST(PointwiseBinary, CudaRoundsBetweenTheMultiplicationsOfAPower) {
  const auto distance = [] {
    const TensorRef cube = run_tensor(
        "aten.pow.Tensor_Scalar",
        {{"self", {row(DType::kFloat16, {1.7265625})}}, {"exponent", {3.0}}}, Mode::kWorstCase);
    return std::fabs(values(*cube)[0] - 5.14453125) / radii(*cube)[0];
  };
  EXPECT_GT(distance(), 1);
  Arithmetic arithmetic = *parse_arithmetic("strict");
  arithmetic.has_cuda_kernels = true;
  const DeclaredArithmetic declared(arithmetic);
  EXPECT_LE(distance(), 1);
}

Numbers power(const TensorRef& x, const Datum& exponent) {
  return values(*run_tensor("aten.pow.Tensor_Scalar", {{"self", {x}}, {"exponent", exponent}}));
}

TEST(PointwiseBinary, PowersHaveTheirCorners) {
  const Numbers roots = power(row(DType::kFloat32, {-kInf, -0.0}), {0.5});
  EXPECT_TRUE(std::isnan(roots[0]));
  EXPECT_TRUE(std::signbit(roots[1]));
  EXPECT_EQ(power(row(DType::kFloat16, {-kInf}), {0.5})[0], kInf);
  EXPECT_EQ(power(row(DType::kFloat32, {kNaN}), {0.0})[0], 1);
  EXPECT_THROW(power(row(DType::kInt64, {2}), {std::int64_t{-1}}), OpError);
  EXPECT_EQ(values(*run_tensor("aten.pow.Tensor_Tensor",
                               {{"self", {row(DType::kInt64, {-1, 1, 2, 0, 3})}},
                                {"exponent", {row(DType::kInt64, {-1, -3, -2, -1, 2})}}})),
            (Numbers{-1, 1, 0, 0, 9}));
}

Numbers divided(const char* mode, const TensorRef& a, const TensorRef& b) {
  return values(
      *run_tensor("aten.div.Tensor_mode",
                  {{"self", {a}}, {"other", {b}}, {"rounding_mode", {std::string(mode)}}}));
}

TEST(PointwiseUnary, HardswishOverflowsWhereItsProductBySixDoes) {
  EXPECT_EQ(unary("aten.hardswish.default", DType::kFloat32, {1e38, 0x1p120, -5}),
            (Numbers{kInf, 0x1p120, 0}));
  EXPECT_EQ(unary("aten.hardswish.default", DType::kFloat64, {0x1p200}), (Numbers{0x1p200}));
}

TEST(PointwiseBinary, IntegersWrapInTheirCommonDtypeBeforeTheyGoIntoAWiderOut) {
  const auto into = [](std::string_view op, DType out, const TensorRef& a, const TensorRef& b) {
    return values(*run_tensor(op, {{"self", {a}}, {"other", {b}}, {"out", {row(out, {0, 0})}}}));
  };
  const TensorRef a = row(DType::kInt8, {127, 1});
  const TensorRef b = row(DType::kInt8, {1, 1});
  for (const DType out : {DType::kFloat64, DType::kFloat32, DType::kInt32}) {
    EXPECT_EQ(into("aten.add.out", out, a, b), (Numbers{-128, 2}));
  }
  const TensorRef c = row(DType::kUInt8, {1, 9});
  const TensorRef d = row(DType::kUInt8, {2, 1});
  EXPECT_EQ(into("aten.sub.out", DType::kFloat64, c, d), (Numbers{255, 8}));
  const TensorRef e = row(DType::kInt32, {65536, 3});
  EXPECT_EQ(into("aten.mul.out", DType::kFloat64, e, e), (Numbers{0, 9}));
  const TensorRef f = row(DType::kBool, {1, 0});
  EXPECT_EQ(into("aten.add.out", DType::kFloat64, f, f), (Numbers{1, 0}));
}

TEST(PointwiseDivision, FloorAndTruncDifferBelowZero) {
  const TensorRef a = row(DType::kInt32, {7, -7, 7, -7});
  const TensorRef b = row(DType::kInt32, {2, 2, -2, -2});
  EXPECT_EQ(divided("floor", a, b), (Numbers{3, -4, -4, 3}));
  EXPECT_EQ(divided("trunc", a, b), (Numbers{3, -3, -3, 3}));
  EXPECT_EQ(binary("aten.remainder.Tensor", a, {b}), (Numbers{1, 1, -1, -1}));
  EXPECT_EQ(binary("aten.fmod.Tensor", a, {b}), (Numbers{1, -1, 1, -1}));
}

TEST(PointwiseDivision, IntegersRefuseZeroAndFloatsDoNot) {
  const TensorRef zero = row(DType::kInt64, {0});
  EXPECT_THROW(binary("aten.floor_divide.default", row(DType::kInt64, {1}), {zero}), OpError);
  EXPECT_THROW(binary("aten.remainder.Tensor", row(DType::kInt64, {1}), {zero}), OpError);
  EXPECT_EQ(divided("floor", row(DType::kFloat32, {1, -1}), row(DType::kFloat32, {0, 0})),
            (Numbers{kInf, -kInf}));
  EXPECT_EQ(divided("floor", row(DType::kFloat32, {-1, 1}), row(DType::kFloat32, {kInf, kInf})),
            (Numbers{-1, 0}));
}

TEST(PointwiseDivision, AFlooredQuotientOfExactNumbersIsExactInTheOracle) {
  const TensorRef out = run_tensor("aten.floor_divide.default",
                                   {{"self", {row(DType::kFloat32, {10.1, 1e5, -3})}},
                                    {"other", {row(DType::kFloat32, {0.1, 0.7, 2})}}},
                                   Mode::kWorstCase);
  EXPECT_EQ(radii(*out), (Numbers{0, 0, 0}));
}

TEST(Addcmul, LeavesOpenInWhichOrderItsFactorsMultiply) {
  const float x = 13459775;
  const TensorRef out = run_tensor("aten.addcmul.default",
                                   {{"self", {row(DType::kFloat32, {0})}},
                                    {"tensor1", {row(DType::kFloat32, {5})}},
                                    {"tensor2", {row(DType::kFloat32, {x})}},
                                    {"value", {3.0}}},
                                   Mode::kWorstCase);
  const double exactly = 15.0 * static_cast<double>(x);
  EXPECT_GE(radii(*out)[0], std::fabs(static_cast<double>(3.0F * (5.0F * x)) - exactly));
  EXPECT_LE(radii(*out)[0], 3 * 0x1p-24 * exactly);
}

// As PyTorch 2.11 lays them out: a number beside a tensor is an operand of TensorIterator, which
// then goes by self's strides, but for the exponent of a power; some results are made as
// empty_like(self).
TEST(Pointwise, StridesOfDimensionsOfSizeOneAreThoseOfPyTorch) {
  const TensorRef x = tensor(DType::kFloat32, {2, 1, 3}, {1, 2, 3, 4, 5, 6}, {3, 7, 1});
  const auto strides = [&](std::string_view op, Arguments arguments = {}) {
    arguments.push_back({"self", {x}});
    return run_tensor(op, arguments)->strides;
  };
  EXPECT_EQ(strides("aten.relu.default"), (Sizes{3, 3, 1}));
  EXPECT_EQ(strides("aten.mul.Tensor", {{"other", {2.0}}}), (Sizes{3, 6, 1}));
  EXPECT_EQ(strides("aten.pow.Tensor_Scalar", {{"exponent", {2.0}}}), (Sizes{3, 3, 1}));
  for (const char* op : {"aten.deg2rad.default", "aten.rad2deg.default", "aten.nan_to_num.default",
                         "aten.hardtanh.default"}) {
    EXPECT_EQ(strides(op), (Sizes{3, 7, 1})) << op;
  }
}

TEST(Pointwise, BoundsThatNoIntegerReachesWrapOrAreRefusedInOlderReleases) {
  VersionLog log;
  const auto clamp = [&](spec::TorchRelease release, std::int64_t low, std::int64_t high) {
    const DeclaredSemantics declared({release, &log});
    return values(*run_tensor(
        "aten.clamp.default",
        {{"self", {row(DType::kUInt8, {0, 2, 200})}}, {"min", {low}}, {"max", {high}}}));
  };
  const auto tanh = [](double low, double high) {
    const DeclaredSemantics declared({{2, 11}, nullptr});
    return values(*run_tensor(
        "aten.hardtanh.default",
        {{"self", {row(DType::kUInt8, {0, 2})}}, {"min_val", {low}}, {"max_val", {high}}}));
  };
  EXPECT_EQ(clamp({2, 11}, 1, 100), (Numbers{1, 2, 100}));
  EXPECT_TRUE(log.met().empty());
  EXPECT_EQ(clamp({2, 11}, -1, 100), (Numbers{100, 100, 100}));
  EXPECT_EQ(log.met().size(), 1U);
  EXPECT_EQ(clamp({2, 15}, -1, 100), (Numbers{0, 2, 100}));
  EXPECT_THROW(clamp({2, 11}, -300, 100), OpError);
  EXPECT_EQ(clamp({2, 15}, -300, 100), (Numbers{0, 2, 100}));
  EXPECT_THROW(clamp({}, -300, 100), Undecidable);
  EXPECT_THROW(tanh(-1, 1), OpError);
  EXPECT_THROW(tanh(0, 300), OpError);
  EXPECT_EQ(tanh(0, 1), (Numbers{0, 1}));
}

TEST(Pointwise, BoundsThatNoIntegerReachesBoundNothing) {
  const auto bounded = [](std::string_view op, std::string_view low, std::string_view high,
                          DType dtype, const Numbers& numbers, double least, double most) {
    return values(*run_tensor(op, {{"self", {row(dtype, numbers)}},
                                   {std::string(low), {least}},
                                   {std::string(high), {most}}}));
  };
  const auto tanh = [&](DType dtype, const Numbers& numbers, double least, double most) {
    return bounded("aten.hardtanh.default", "min_val", "max_val", dtype, numbers, least, most);
  };
  EXPECT_EQ(tanh(DType::kUInt8, {0, 2, 200}, -0.5, 1.9), (Numbers{0, 1, 1}));
  EXPECT_EQ(tanh(DType::kUInt8, {0, 2, 200}, -300, 300), (Numbers{0, 2, 200}));
  EXPECT_EQ(tanh(DType::kInt8, {-100, 2, 120}, -300, 100), (Numbers{-100, 2, 100}));
  EXPECT_THROW(tanh(DType::kUInt8, {1}, -5, -1), OpError);
  EXPECT_THROW(tanh(DType::kUInt8, {1}, 256, 300), OpError);
  EXPECT_THROW(tanh(DType::kInt32, {1}, 5, 1), OpError);
  EXPECT_EQ(values(*run_tensor("aten.clamp.default", {{"self", {row(DType::kUInt8, {0, 2, 200})}},
                                                      {"min", {std::int64_t{-300}}},
                                                      {"max", {std::int64_t{100}}}})),
            (Numbers{0, 2, 100}));
}

TEST(PointwiseUnary, AnglesConjugatesAndSquares) {
  const Numbers angles = unary("aten.angle.default", DType::kFloat64, {-2, -0.0, 3, kNaN});
  EXPECT_EQ(angles[0], 3.141592653589793);
  EXPECT_EQ(angles[1], 0);
  EXPECT_EQ(angles[2], 0);
  EXPECT_TRUE(std::isnan(angles[3]));
  EXPECT_EQ(unary("aten.square.default", DType::kInt8, {-12, 3}), (Numbers{-112, 9}));
  EXPECT_EQ(run_tensor("aten.square.default", {{"self", {row(DType::kBool, {1})}}})->dtype,
            DType::kInt64);
  EXPECT_EQ(unary("aten.conj_physical_.default", DType::kFloat32, {-2, 3}), (Numbers{-2, 3}));
  // sin(pi/2) / (pi/2) = 2 / pi
  EXPECT_NEAR(unary("aten.sinc.default", DType::kFloat64, {0.5})[0], 0.63661977236758134, 1e-15);
  EXPECT_EQ(unary("aten.sinc.default", DType::kFloat32, {0})[0], 1);
}

TEST(PointwiseUnary, FrexpTakesNumbersApart) {
  const auto parts =
      run("aten.frexp.Tensor", {{"self", {row(DType::kFloat32, {8, -0.75, 0, 1e-40, kInf})}}});
  EXPECT_EQ(values(result(parts, 0)),
            (Numbers{0.5, -0.75, 0, std::ldexp(double{1e-40F}, 132), kInf}));
  EXPECT_EQ(values(result(parts, 1)), (Numbers{4, 0, 0, -132, 0}));
  EXPECT_EQ(result(parts, 1).dtype, DType::kInt32);
}

// log(1 + exp(z)) is z there, or infinite for who makes the exponential.
TEST(Softplus, IsOpenWhereItsExponentialOverflows) {
  const auto radius = [](double x) {
    return radii(*run_tensor("aten.softplus.default",
                             {{"self", {row(DType::kFloat32, {x})}}, {"threshold", {1e3}}},
                             Mode::kWorstCase))[0];
  };
  EXPECT_TRUE(std::isinf(radius(100)));
  EXPECT_FALSE(std::isinf(radius(80)));
  EXPECT_EQ(radius(2000), 0) << "beyond the threshold";
  EXPECT_EQ(radius(kInf), 0);
}

// Zero has the exponent of a half, though all that lies between has others.
TEST(PointwiseUnary, FrexpLeavesTheExponentOpenWhereTheNumberMayBeZero) {
  const auto is_open = [](double value, double radius) {
    const TensorRef x = row(DType::kFloat32, {0});
    Array<Bounded> marks(Sizes{1});
    marks[0] = Bounded(value, radius, Bounded::Arithmetic::kFloat32);
    store(*x, marks);
    const auto parts = run("aten.frexp.Tensor", {{"self", {x}}}, Mode::kWorstCase);
    return std::isinf(radii(result(parts, 0))[0]);
  };
  EXPECT_TRUE(is_open(0, 0.75));
  EXPECT_TRUE(is_open(0.5, 0.5));
  EXPECT_TRUE(is_open(0.6, 0.2)) << "below a half";
  EXPECT_FALSE(is_open(0.7, 0.1));
  EXPECT_FALSE(is_open(0, 0));
  EXPECT_FALSE(is_open(0, std::numeric_limits<double>::denorm_min())) << "a zero of either sign";
}

TEST(PointwiseBinary, NumbersWinOverNaN) {
  const TensorRef a = row(DType::kFloat32, {1, kNaN, kNaN});
  const TensorRef b = row(DType::kFloat32, {2, 3, kNaN});
  const Numbers larger = binary("aten.fmax.default", a, {b});
  EXPECT_EQ(larger[0], 2);
  EXPECT_EQ(larger[1], 3);
  EXPECT_TRUE(std::isnan(larger[2]));
  EXPECT_EQ(binary("aten.fmin.default", a, {b})[0], 1);
}

TEST(PointwiseBinary, DivisorsAndMultiplesWrapAsPyTorchs) {
  // |-128| is -128 in int8, and so a divisor may be negative.
  EXPECT_EQ(binary("aten.gcd.default", row(DType::kInt8, {-128, 96, 12, 0}),
                   {row(DType::kInt8, {96, -128, 18, 0})}),
            (Numbers{-32, -32, 6, 0}));
  EXPECT_EQ(binary("aten.lcm.default", row(DType::kInt8, {100, -128, 0, 4}),
                   {row(DType::kInt8, {75, 1, 5, 6})}),
            (Numbers{44, -128, 0, 12}));
  EXPECT_EQ(binary("aten.lcm.default", row(DType::kInt32, {0x1p30}), {row(DType::kInt32, {21})}),
            (Numbers{0x1p30}));
  EXPECT_THROW(binary("aten.gcd.default", row(DType::kFloat32, {1}), {row(DType::kFloat32, {1})}),
               OpError);
}

TEST(PointwiseBinary, ShiftsByTooMuchMoveEverythingOut) {
  EXPECT_EQ(binary("aten.bitwise_left_shift.Tensor", row(DType::kInt8, {1, 1, 1, -5}),
                   {row(DType::kInt8, {7, 8, -1, 2})}),
            (Numbers{-128, 0, 0, -20}));
  EXPECT_EQ(binary("aten.bitwise_right_shift.Tensor", row(DType::kInt8, {100, -100, -5, -5}),
                   {row(DType::kInt8, {8, -1, 2, 0})}),
            (Numbers{0, -1, -2, -5}));
  EXPECT_EQ(binary("aten.__rshift__.Scalar", row(DType::kUInt8, {200, 200}), {std::int64_t{7}}),
            (Numbers{1, 1}));
  EXPECT_THROW(binary("aten.__lshift__.Scalar", row(DType::kBool, {1}), {true}), OpError);
}

TEST(PointwiseBinary, NextAfterStepsInTheDtype) {
  EXPECT_EQ(binary("aten.nextafter.default", row(DType::kBFloat16, {1, 1, 0, 2}),
                   {row(DType::kBFloat16, {2, 0, -1, 2})}),
            (Numbers{1.0078125, 0.99609375, -0x1p-133, 2}));
  EXPECT_EQ(binary("aten.nextafter.default", row(DType::kFloat16, {kInf, 65504}),
                   {row(DType::kFloat16, {0, kInf})}),
            (Numbers{65504, kInf}));
  EXPECT_EQ(binary("aten.nextafter.default", row(DType::kFloat32, {0x1p-149}),
                   {row(DType::kFloat32, {-1})}),
            (Numbers{0}));
}

TEST(PointwiseBinary, LdexpTakesAPowerInADtypeOfItsOwn) {
  const TensorRef exponents = row(DType::kInt32, {3, 200});
  const TensorRef out = run_tensor(
      "aten.ldexp.Tensor", {{"self", {row(DType::kFloat64, {1.5, 1})}}, {"other", {exponents}}});
  EXPECT_EQ(out->dtype, DType::kFloat64);
  EXPECT_EQ(values(*out), (Numbers{12, 0x1p200}));
  // Of integers 2^200 is a float32 first.
  const TensorRef whole = row(DType::kInt32, {3, 1});
  EXPECT_EQ(values(*run_tensor("aten.ldexp.Tensor", {{"self", {whole}}, {"other", {exponents}}})),
            (Numbers{24, kInf}));
}

TEST(PointwiseBinary, LogaddexpOfPowersOfTwo) {
  EXPECT_NEAR(
      binary("aten.logaddexp2.default", row(DType::kFloat64, {3}), {row(DType::kFloat64, {3})})[0],
      4, 1e-15);
  EXPECT_EQ(binary("aten.logaddexp2.default", row(DType::kFloat32, {-kInf}),
                   {row(DType::kFloat32, {-kInf})})[0],
            -kInf);
  EXPECT_EQ(binary("aten.special_xlog1py.default", row(DType::kFloat32, {0}),
                   {row(DType::kFloat32, {-2})})[0],
            0);
}

}  // namespace
}  // namespace graphgate::reference::test
