// What the pointwise families share (pointwise.h): casts, promotion, broadcasts, aliases, refusals.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "optimized/kernels/kernel_test.h"

namespace graphgate::optimized::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Pointwise, RoundsOnceIntoANarrowFloat) {
  // 1 + 2^-11 is a tie in float16 and goes to 1; with alpha the product is not rounded before.
  const Tensor x = make_tensor(DType::kFloat16, {1}, {1});
  const Tensor tiny = make_tensor(DType::kFloat16, {1}, {0x1p-11});
  EXPECT_EQ(numbers(run_one("aten.add.Tensor", {x, tiny})), Numbers{1});
  EXPECT_EQ(numbers(run_one("aten.add.Tensor", {x, tiny}, {{"alpha", 2}})), Numbers{1 + 0x1p-10});
}

TEST(Pointwise, CastsOperandsToTheCommonDtypeFirst) {
  // A rank-0 int8 takes part as uint8: -1 is 255 there.
  const Tensor bytes = make_tensor(DType::kUInt8, {2}, {3, 255});
  const Tensor minus_one = make_tensor(DType::kInt8, {}, {-1});
  EXPECT_EQ(integers(run_one("aten.lt.Tensor", {bytes, minus_one})),
            (std::vector<std::int64_t>{1, 0}));
  // 2049 has no float16, so it is 2048 before anything is added.
  const Tensor half = make_tensor(DType::kFloat16, {1}, {1});
  const Tensor odd = make_integers(DType::kInt64, {1}, {2049});
  EXPECT_EQ(numbers(run_one("aten.sub.Tensor", {odd, half})), Numbers{2047});
}

TEST(Pointwise, MultipliesByTheUnroundedNumber) {
  // With 0.1 rounded to bfloat16 first, the product would be 0.90234375.
  const Tensor nine = make_tensor(DType::kBFloat16, {1}, {9});
  EXPECT_EQ(numbers(run_one("aten.mul.Tensor", {nine, make_tensor(DType::kFloat32, {}, {0.1})})),
            Numbers{0.8984375});
  EXPECT_EQ(numbers(run_one("aten.mul.Scalar", {nine, 0.1})), Numbers{0.8984375});
}

TEST(Pointwise, WrapsIntegersAround) {
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const Tensor x = make_integers(DType::kInt64, {2}, {least, -1});
  EXPECT_EQ(integers(run_one("aten.add.Tensor", {x, x})), (std::vector<std::int64_t>{0, -2}));
  EXPECT_EQ(integers(run_one("aten.neg.default", {x})), (std::vector<std::int64_t>{least, 1}));
  const Tensor wrapping = make_tensor(DType::kUInt8, {3}, {1, 254, 255});
  EXPECT_EQ(integers(run_one("aten.floor_divide.Scalar", {wrapping, -2})),
            (std::vector<std::int64_t>{0, 1, 1}));
  EXPECT_EQ(integers(run_one("aten.floor_divide.Scalar", {x, -1})),
            (std::vector<std::int64_t>{least, 1}));
  const Tensor bytes = make_tensor(DType::kInt8, {1}, {100});
  EXPECT_EQ(integers(run_one("aten.mul.Tensor", {bytes, bytes})), std::vector<std::int64_t>{16});
  EXPECT_EQ(integers(run_one("aten.pow.Tensor_Scalar", {bytes, 2})), std::vector<std::int64_t>{16});
}

TEST(Pointwise, WritesInPlaceAndIntoOtherDtypes) {
  const Tensor x = make_tensor(DType::kFloat32, {2, 2}, {1, 2, 3, 4});
  const Tensor same = run_one("aten.add_.Tensor", {x, x});
  EXPECT_EQ(same.bytes, x.bytes);
  EXPECT_EQ(numbers(x), (Numbers{2, 4, 6, 8}));
  // Reads the transpose of what it writes.
  run_op("aten.add_.Tensor", {x, view_of(x, {2, 2}, {1, 2})});
  EXPECT_EQ(numbers(x), (Numbers{4, 10, 10, 16}));
  const Tensor wide = make_tensor(DType::kFloat64, {2, 2});
  run_op("aten.mul.out", {x, 0.1}, {{"out", wide}});
  EXPECT_EQ(numbers(wide)[0], static_cast<double>(4 * 0.1f));
  const Tensor ones = make_tensor(DType::kFloat32, {1}, {1});
  run_op("aten.eq_.Tensor", {ones, ones});
  EXPECT_EQ(numbers(ones), Numbers{1});
}

TEST(Pointwise, RefusesWhatThePlaceCannotHold) {
  const Tensor whole = make_tensor(DType::kInt32, {2}, {1, 2});
  EXPECT_THROW(run_op("aten.add_.Scalar", {whole, 1.5}), OpError);
  EXPECT_THROW(run_op("aten.mul_.Tensor", {make_tensor(DType::kInt32, {1}), whole}), OpError);
  const Tensor stretched = view_of(whole, {3, 2}, {0, 1});
  EXPECT_THROW(run_op("aten.add_.Scalar", {stretched, 1}), OpError);
  EXPECT_THROW(run_op("aten.add.Tensor", {whole, make_tensor(DType::kInt32, {3})}), OpError);
}

TEST(Pointwise, TakesEmptyAndStridedOperands) {
  const Tensor empty = make_tensor(DType::kFloat32, {0, 3});
  const Tensor row = make_tensor(DType::kFloat64, {1, 3}, {1, 2, 3});
  const Tensor none = run_one("aten.add.Tensor", {empty, row});
  EXPECT_EQ(none.sizes, (Sizes{0, 3}));
  EXPECT_EQ(none.dtype, DType::kFloat64);
  const Tensor base = make_tensor(DType::kFloat32, {3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const Tensor odd = view_of(base, {2, 3}, {2, 4}, 1);  // 1 5 9 / 3 7 11
  EXPECT_EQ(numbers(run_one("aten.add.Tensor", {odd, row})), (Numbers{2, 7, 12, 4, 9, 14}));
}

TEST(Pointwise, GivesOneElementTheSameBitsInAnyPlace) {
  Numbers values;
  for (int i = 0; i < 700; ++i) values.push_back(std::sin(i) * 20);
  const Tensor x = make_tensor(DType::kFloat32, {700}, values);
  const Tensor back = view_of(make_tensor(DType::kFloat32, {700, 3}), {700}, {3});
  run_op("aten.copy_.default", {back, x});
  for (const char* op : {"aten.exp.default", "aten.gelu.default", "aten.sigmoid.default"}) {
    EXPECT_EQ(packed(run_one(op, {x})), packed(run_one(op, {back}))) << op;
    const Tensor last = view_of(x, {1}, {1}, 699);
    EXPECT_EQ(numbers(run_one(op, {last}))[0], numbers(run_one(op, {x}))[699]) << op;
  }
}

TEST(Pointwise, GivesTheSameBitsWhereverOperandsAndResultsLie) {
  Numbers values = {-0.0, kNan, kInf};
  for (int i = 3; i < 700; ++i) values.push_back(std::sin(i) * 20);
  const Tensor x = make_tensor(DType::kFloat32, {700}, values);
  const Tensor number = make_tensor(DType::kFloat32, {700}, Numbers(700, 0.25));
  const Tensor apart = view_of(make_tensor(DType::kFloat32, {700, 3}), {700}, {3});
  Tensor unaligned = view_of(make_tensor(DType::kFloat32, {701}), {700}, {1});
  unaligned.bytes += 1;
  const Tensor room = make_tensor(DType::kFloat32, {701});
  for (const std::string op : {"aten.add", "aten.sub", "aten.mul", "aten.div"}) {
    const auto expected = packed(run_one(op + ".Tensor", {x, number}));
    EXPECT_EQ(packed(run_one(op + ".Scalar", {x, 0.25})), expected) << op;
    for (const Tensor& place : {apart, unaligned, view_of(room, {700}, {1}, 1)}) {
      run_op("aten.copy_.default", {place, x});
      EXPECT_EQ(packed(run_one(op + ".Tensor", {place, number})), expected) << op;
      EXPECT_EQ(packed(run_one(op + ".Scalar", {place, 0.25})), expected) << op;
      run_op(op + "_.Tensor", {place, number});
      EXPECT_EQ(packed(place), expected) << op;
    }
    // What is written begins one element behind, or before, what is read.
    for (const std::int64_t read_from : {0, 1}) {
      const Tensor read = view_of(room, {700}, {1}, read_from);
      const Tensor written = view_of(room, {700}, {1}, 1 - read_from);
      run_op("aten.copy_.default", {read, x});
      run_op(op + ".out", {read, number}, {{"out", written}});
      EXPECT_EQ(packed(written), expected) << op;
    }
  }
}

TEST(Pointwise, ComparesAlikeOverStridesAndNumbers) {
  Numbers values = {-0.0, kNan, kInf};
  for (int i = 3; i < 700; ++i) values.push_back(std::sin(i));
  const Tensor x = make_tensor(DType::kFloat32, {700}, values);
  const Tensor apart = view_of(make_tensor(DType::kFloat32, {700, 3}), {700}, {3});
  run_op("aten.copy_.default", {apart, x});
  const Tensor less = run_one("aten.lt.Scalar", {x, 0.25});
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(integers(less)[i], static_cast<float>(values[i]) < 0.25F ? 1 : 0) << i;
  }
  EXPECT_EQ(packed(run_one("aten.lt.Scalar", {apart, 0.25})), packed(less));
  const Tensor place = make_tensor(DType::kFloat32, {700});
  run_op("aten.lt.Scalar_out", {x, 0.25}, {{"out", place}});
  EXPECT_EQ(numbers(place), numbers(less));
}

TEST(Division, RefusesIntegerZerosWhenItRuns) {
  const Tensor x = make_tensor(DType::kInt32, {2}, {1, 2});
  const Tensor zero = make_tensor(DType::kInt32, {2}, {1, 0});
  for (const char* op :
       {"aten.floor_divide.default", "aten.fmod.Tensor", "aten.remainder.Tensor"}) {
    EXPECT_THROW(run_op(op, {x, zero}), OpError) << op;
    EXPECT_NO_THROW((void)infer_op(op, {x, zero})) << op;
  }
  EXPECT_THROW(run_op("aten.div.Tensor_mode", {x, x}, {{"rounding_mode", "up"}}), OpError);
}

TEST(Division, RoundsAsPythonDoes) {
  const Tensor x = make_tensor(DType::kInt64, {4}, {7, -7, 7, -7});
  const Tensor y = make_tensor(DType::kInt64, {4}, {2, 2, -2, -2});
  EXPECT_EQ(integers(run_one("aten.floor_divide.default", {x, y})),
            (std::vector<std::int64_t>{3, -4, -4, 3}));
  EXPECT_EQ(integers(run_one("aten.remainder.Tensor", {x, y})),
            (std::vector<std::int64_t>{1, 1, -1, -1}));
  EXPECT_EQ(integers(run_one("aten.fmod.Tensor", {x, y})),
            (std::vector<std::int64_t>{1, -1, 1, -1}));
  const Tensor f = make_tensor(DType::kFloat32, {4}, {-0.0, 1, -1, 7});
  const auto floored = numbers(run_one("aten.floor_divide.Scalar", {f, 0.1}));
  EXPECT_TRUE(std::signbit(floored[0]));
  EXPECT_EQ(floored[1], 9);  // 0.1f is above a tenth
  EXPECT_EQ(floored[2], -10);
}

TEST(Power, TakesRootsAndNegativeIntegers) {
  const Tensor x = make_tensor(DType::kFloat32, {3}, {-0.0, -kInf, 4});
  const auto roots = numbers(run_one("aten.pow.Tensor_Scalar", {x, 0.5}));
  EXPECT_TRUE(std::signbit(roots[0]));
  EXPECT_TRUE(std::isnan(roots[1]));
  EXPECT_EQ(roots[2], 2);
  const Tensor whole = make_tensor(DType::kInt64, {4}, {1, -1, 2, 0});
  const Tensor minus = make_tensor(DType::kInt64, {4}, {-1, -3, -2, -1});
  EXPECT_EQ(integers(run_one("aten.pow.Tensor_Tensor", {whole, minus})),
            (std::vector<std::int64_t>{1, -1, 0, 0}));
  EXPECT_THROW(run_op("aten.pow.Tensor_Scalar", {whole, -1}), OpError);
}

TEST(Binary, RefusesAlphasOfAnotherCategory) {
  const Tensor whole = make_tensor(DType::kInt8, {1}, {1});
  const Tensor flag = make_tensor(DType::kBool, {1}, {1});
  EXPECT_THROW(run_op("aten.add.Tensor", {whole, whole}, {{"alpha", 1.5}}), OpError);
  EXPECT_THROW(run_op("aten.add.Tensor", {whole, whole}, {{"alpha", true}}), OpError);
  EXPECT_THROW(run_op("aten.add.Tensor", {whole, whole}, {{"alpha", 300}}), OpError);
  EXPECT_THROW(run_op("aten.sub.Tensor", {whole, flag}), OpError);
  EXPECT_THROW(run_op("aten.lerp.Scalar", {whole, whole, 0.5}), OpError);
}

TEST(Unary, KeepsSignsAndPropagatesNan) {
  const Tensor x = make_tensor(DType::kFloat32, {4}, {-0.0, kNan, -2.5, kInf});
  const auto rounded = numbers(run_one("aten.round.default", {x}));
  EXPECT_TRUE(std::signbit(rounded[0]));
  EXPECT_TRUE(std::isnan(rounded[1]));
  EXPECT_EQ(rounded[2], -2);
  EXPECT_EQ(numbers(run_one("aten.sign.default", {x})), (Numbers{0, 0, -1, 1}));
  const auto relu = numbers(run_one("aten.relu.default", {x}));
  EXPECT_TRUE(std::signbit(relu[0]));
  EXPECT_TRUE(std::isnan(relu[1]));
  EXPECT_THROW(run_op("aten.neg.default", {make_tensor(DType::kBool, {1})}), OpError);
  EXPECT_EQ(integers(run_one("aten.bitwise_not.default", {make_tensor(DType::kBool, {2}, {0, 1})})),
            (std::vector<std::int64_t>{1, 0}));
}

// As PyTorch 2.11 lays them out: a number beside a tensor is an operand of TensorIterator, which
// then goes by self's strides, but for the exponent of a power; some results are made as
// empty_like(self).
TEST(Pointwise, StridesOfDimensionsOfSizeOneAreThoseOfPyTorch) {
  const auto strides = [](std::string_view op, std::vector<NamedTestArgument> more = {}) {
    const Tensor x = make_tensor(DType::kFloat32, {2, 1, 3}, {1, 2, 3, 4, 5, 6}, {3, 7, 1});
    return run_one(op, {x}, more).strides;
  };
  EXPECT_EQ(strides("aten.relu.default"), (Sizes{3, 3, 1}));
  EXPECT_EQ(strides("aten.mul.Tensor", {{"other", 2.0}}), (Sizes{3, 6, 1}));
  EXPECT_EQ(strides("aten.pow.Tensor_Scalar", {{"exponent", 2.0}}), (Sizes{3, 3, 1}));
  for (const char* op : {"aten.deg2rad.default", "aten.rad2deg.default", "aten.nan_to_num.default",
                         "aten.hardtanh.default"}) {
    EXPECT_EQ(strides(op), (Sizes{3, 7, 1})) << op;
  }
}

TEST(Pointwise, BoundsThatNoIntegerReachesBoundNothing) {
  const Tensor bytes = make_integers(DType::kUInt8, {3}, {0, 2, 200});
  const auto tanh = [&](double least, double most) {
    return integers(run_one("aten.hardtanh.default", {bytes, least, most}));
  };
  EXPECT_EQ(tanh(-0.5, 1.9), (std::vector<std::int64_t>{0, 1, 1}));
  EXPECT_EQ(tanh(-300, 300), (std::vector<std::int64_t>{0, 2, 200}));
  EXPECT_THROW(tanh(-5, -1), OpError);
  EXPECT_THROW(tanh(256, 300), OpError);
  EXPECT_THROW(tanh(5, 1), OpError);
  EXPECT_EQ(integers(run_one("aten.clamp.default", {bytes, -300, 100})),
            (std::vector<std::int64_t>{0, 2, 100}));
}

TEST(BatchNorm, LeavesTheStatisticsAloneWhereTheBatchIsEmpty) {
  const Tensor mean = make_tensor(DType::kFloat32, {2}, {3, 4});
  const Tensor variance = make_tensor(DType::kFloat32, {2}, {5, 6});
  const Tensor input = make_tensor(DType::kFloat32, {0, 2}, {});
  const Item none{spec::None{}};
  run_one("aten.batch_norm.default", {input, none, none, mean, variance, true, 0.1, 1e-5, false});
  EXPECT_EQ(numbers(mean), (Numbers{3, 4}));
  EXPECT_EQ(numbers(variance), (Numbers{5, 6}));
  EXPECT_THROW(run_op("aten.native_batch_norm.default",
                      {input, none, none, mean, variance, true, 0.1, 1e-5}),
               OpError);
}

TEST(Pointwise, DivisorsMultiplesAndShiftsWrapInTheirDtype) {
  const Tensor a = make_integers(DType::kInt8, {4}, {-128, 96, 12, 0});
  const Tensor b = make_integers(DType::kInt8, {4}, {96, -128, 18, 0});
  EXPECT_EQ(integers(run_one("aten.gcd.default", {a, b})),
            (std::vector<std::int64_t>{-32, -32, 6, 0}));
  const Tensor c = make_integers(DType::kInt8, {3}, {100, -128, 4});
  const Tensor d = make_integers(DType::kInt8, {3}, {75, 1, 6});
  EXPECT_EQ(integers(run_one("aten.lcm.default", {c, d})),
            (std::vector<std::int64_t>{44, -128, 12}));
  const Tensor large = make_integers(DType::kInt32, {1}, {1 << 30});
  const Tensor odd = make_integers(DType::kInt32, {1}, {21});
  EXPECT_EQ(integers(run_one("aten.lcm.default", {large, odd})),
            std::vector<std::int64_t>{1 << 30});
  const Tensor x = make_integers(DType::kInt8, {4}, {1, 1, -5, -100});
  const Tensor by = make_integers(DType::kInt8, {4}, {7, 8, 2, -1});
  EXPECT_EQ(integers(run_one("aten.bitwise_left_shift.Tensor", {x, by})),
            (std::vector<std::int64_t>{-128, 0, -20, 0}));
  EXPECT_EQ(integers(run_one("aten.__rshift__.Tensor", {x, by})),
            (std::vector<std::int64_t>{0, 0, -2, -1}));
  EXPECT_THROW(run_one("aten.__lshift__.Scalar", {make_tensor(DType::kBool, {1}, {1}), true}),
               OpError);
}

TEST(Pointwise, FrexpWritesMantissasAndExponents) {
  const Tensor x = make_tensor(DType::kFloat32, {5}, {8, -0.75, 0, 1e-40, kInf});
  const std::vector<Item> parts = run_op("aten.frexp.Tensor", {x});
  const Numbers mantissas = numbers(*parts[0].as<Tensor>());
  EXPECT_EQ(mantissas[0], 0.5);
  EXPECT_EQ(mantissas[1], -0.75);
  EXPECT_EQ(mantissas[3], std::ldexp(double{1e-40F}, 132));
  EXPECT_EQ(mantissas[4], kInf);
  EXPECT_EQ(integers(*parts[1].as<Tensor>()), (std::vector<std::int64_t>{4, 0, 0, -132, 0}));
}

TEST(Pointwise, StepsToTheNextNumberOfTheDtype) {
  const Tensor x = make_tensor(DType::kBFloat16, {4}, {1, 1, 0, 2});
  const Tensor y = make_tensor(DType::kBFloat16, {4}, {2, 0, -1, 2});
  EXPECT_EQ(numbers(run_one("aten.nextafter.default", {x, y})),
            (Numbers{1.0078125, 0.99609375, -0x1p-133, 2}));
  const Tensor end = make_tensor(DType::kFloat64, {1}, {kInf});
  const Tensor zero = make_tensor(DType::kFloat64, {1}, {0});
  EXPECT_EQ(numbers(run_one("aten.nextafter.default", {end, zero}))[0],
            std::numeric_limits<double>::max());
}

TEST(Pointwise, LdexpRoundsThePowerToItsOwnDtype) {
  const Tensor x = make_tensor(DType::kFloat64, {2}, {1.5, 1});
  const Tensor exponents = make_integers(DType::kInt32, {2}, {3, 200});
  EXPECT_EQ(numbers(run_one("aten.ldexp.Tensor", {x, exponents})), (Numbers{12, 0x1p200}));
  const Tensor whole = make_integers(DType::kInt32, {2}, {3, 1});
  EXPECT_EQ(numbers(run_one("aten.ldexp.Tensor", {whole, exponents})), (Numbers{24, kInf}));
}

TEST(Pointwise, OrthogonalPolynomialsHaveTheirFirstDegrees) {
  const Tensor x = make_tensor(DType::kFloat64, {1}, {3});
  const auto of = [&](const char* op, int n) { return numbers(run_one(op, {x, n}))[0]; };
  EXPECT_EQ(of("aten.special_chebyshev_polynomial_t.n_scalar", 3), 99);
  EXPECT_EQ(of("aten.special_chebyshev_polynomial_u.n_scalar", 2), 35);
  EXPECT_EQ(of("aten.special_chebyshev_polynomial_v.n_scalar", 2), 29);
  EXPECT_EQ(of("aten.special_chebyshev_polynomial_w.n_scalar", 2), 41);
  EXPECT_EQ(of("aten.special_hermite_polynomial_h.n_scalar", 3), 180);
  EXPECT_EQ(of("aten.special_hermite_polynomial_he.n_scalar", 3), 18);
  EXPECT_EQ(of("aten.special_laguerre_polynomial_l.n_scalar", 2), -0.5);
  EXPECT_EQ(of("aten.special_legendre_polynomial_p.n_scalar", 3), 63);
  EXPECT_EQ(of("aten.special_shifted_chebyshev_polynomial_t.n_scalar", -1), 0);
}

TEST(Pointwise, PolygammaTakesItsFactorialInTheDtype) {
  const Tensor half = make_tensor(DType::kFloat16, {1}, {1});
  EXPECT_EQ(numbers(run_one("aten.polygamma.default", {9, half}))[0], kInf);
  const Tensor one = make_tensor(DType::kFloat64, {1}, {1});
  EXPECT_NEAR(numbers(run_one("aten.polygamma.default", {3, one}))[0], 6.4939394022668291491,
              1e-14);
  EXPECT_NEAR(numbers(run_one("aten.mvlgamma.default", {one, 1}))[0], 0, 1e-15);
}

}  // namespace
}  // namespace graphgate::optimized::testing
