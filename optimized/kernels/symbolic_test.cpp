// Python's arithmetic, at the places where C++ has another.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "optimized/kernels/kernel_test.h"

namespace graphgate::optimized::testing {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

template <class T>
T result(std::string_view op, const std::vector<TestArgument>& arguments) {
  return std::get<T>(run_op(op, arguments).at(0).value);
}
constexpr auto kInteger = result<std::int64_t>;
constexpr auto kReal = result<double>;
constexpr auto kTruth = result<bool>;

TEST(Symbolic, DividesIntegersTowardMinusInfinity) {
  EXPECT_EQ(kInteger("_operator.floordiv", {-7, 2}), -4);
  EXPECT_EQ(kInteger("_operator.floordiv", {7, -2}), -4);
  EXPECT_EQ(kInteger("_operator.mod", {-7, 2}), 1);
  EXPECT_EQ(kInteger("_operator.mod", {7, -2}), -1);
  EXPECT_EQ(kInteger("_operator.mod", {kMin, -1}), 0);
  EXPECT_EQ(kReal("_operator.floordiv", {-7.5, 2}), -4.0);
  EXPECT_EQ(kReal("_operator.mod", {-7.5, 2}), 0.5);
}

TEST(Symbolic, RefusesWhatPythonRaisesOrSixtyFourBitsDoNotHold) {
  for (const char* op : {"_operator.floordiv", "_operator.mod", "_operator.truediv"}) {
    EXPECT_THROW(run_op(op, {1, 0}), OpError) << op;
    EXPECT_THROW(run_op(op, {1.5, 0}), OpError) << op;
  }
  EXPECT_THROW(run_op("_operator.add", {kMax, 1}), OpError);
  EXPECT_THROW(run_op("_operator.sub", {kMin, 1}), OpError);
  EXPECT_THROW(run_op("_operator.mul", {kMax, 2}), OpError);
  EXPECT_THROW(run_op("_operator.neg", {kMin}), OpError);
  EXPECT_THROW(run_op("_operator.floordiv", {kMin, -1}), OpError);
  EXPECT_THROW(run_op("_operator.pow", {2, 63}), OpError);
  EXPECT_THROW(run_op("_operator.pow", {0, -1}), OpError);
  EXPECT_THROW(run_op("_operator.lshift", {1, 63}), OpError);
  EXPECT_THROW(run_op("_operator.lshift", {1, -1}), OpError);
  EXPECT_THROW(run_op("torch.sym_int", {1e300}), OpError);
  EXPECT_THROW(run_op("torch.sym_int", {std::nan("")}), OpError);
  EXPECT_THROW(run_op("torch.sym_sqrt", {-1}), OpError);
}

TEST(Symbolic, DividesGreatIntegersToTheNearestDouble) {
  // Both operands round as doubles, the quotient does not.
  EXPECT_EQ(kReal("_operator.truediv", {9007199254740993, 9007199254740993}), 1.0);
  EXPECT_EQ(kReal("_operator.truediv", {kMin, -1}), 0x1p63);
  EXPECT_EQ(kReal("_operator.truediv", {kMax, 3}), 3074457345618258602.3333);
  EXPECT_EQ(kReal("_operator.truediv", {1, 3}), 1.0 / 3.0);
  EXPECT_EQ(kReal("_operator.truediv", {-9007199254740993, 2}), -4503599627370496.5);
}

TEST(Symbolic, ComparesIntegersAndFloatsExactly) {
  EXPECT_FALSE(kTruth("_operator.eq", {9007199254740993, 9007199254740992.0}));
  EXPECT_TRUE(kTruth("_operator.gt", {9007199254740993, 9007199254740992.0}));
  EXPECT_TRUE(kTruth("_operator.lt", {kMax, 0x1p63}));
  EXPECT_TRUE(kTruth("_operator.ge", {0.5, 0}));
  EXPECT_TRUE(kTruth("_operator.lt", {-1, -0.5}));
  EXPECT_FALSE(kTruth("_operator.eq", {1, std::nan("")}));
  EXPECT_TRUE(kTruth("_operator.ne", {1, std::nan("")}));
}

TEST(Symbolic, CountsBoolsAsIntegersInArithmeticOnly) {
  EXPECT_EQ(kInteger("_operator.add", {true, true}), 2);
  EXPECT_EQ(kInteger("_operator.neg", {true}), -1);
  EXPECT_FALSE(kTruth("_operator.and_", {true, false}));
  EXPECT_TRUE(kTruth("_operator.or_", {true, false}));
}

TEST(Symbolic, RaisesToPowers) {
  EXPECT_EQ(kInteger("_operator.pow", {-3, 3}), -27);
  EXPECT_EQ(kInteger("_operator.pow", {0, 0}), 1);
  EXPECT_EQ(kInteger("_operator.pow", {-2, 63}), kMin);
  EXPECT_EQ(kReal("_operator.pow", {2, -2}), 0.25);
  EXPECT_EQ(kReal("_operator.pow", {2.0, 0.5}), std::sqrt(2.0));
}

TEST(Symbolic, ShiftsAndRounds) {
  EXPECT_EQ(kInteger("_operator.lshift", {-1, 63}), kMin);
  EXPECT_EQ(kInteger("_operator.rshift", {-5, 1}), -3);
  EXPECT_EQ(kInteger("_operator.rshift", {-5, 100}), -1);
  EXPECT_EQ(kInteger("math.floor", {-1.5}), -2);
  EXPECT_EQ(kInteger("math.ceil", {-1.5}), -1);
  EXPECT_EQ(kInteger("math.trunc", {-1.5}), -1);
  EXPECT_EQ(kInteger("torch.sym_int", {7}), 7);
}

TEST(Symbolic, ChoosesTheFirstOfEqualsAndAFloatWhereEitherIs) {
  EXPECT_EQ(kReal("torch.sym_max", {1, 0.5}), 1.0);
  EXPECT_EQ(kInteger("torch.sym_min", {1, 2}), 1);
  EXPECT_TRUE(std::signbit(kReal("torch.sym_max", {-0.0, 0.0})));
  EXPECT_EQ(kInteger("torch.sym_ite", {false, 1, 2}), 2);
}

TEST(SymSize, ReadsASizeAndRefusesScalars) {
  const Tensor self = make_tensor(spec::DType::kFloat32, {2, 3});
  EXPECT_EQ(kInteger("aten.sym_size.int", {self, -1}), 3);
  EXPECT_THROW(run_op("aten.sym_size.int", {self, 2}), OpError);
  EXPECT_THROW(run_op("aten.sym_size.int", {make_tensor(spec::DType::kFloat32, {}), 0}), OpError);
}

}  // namespace
}  // namespace graphgate::optimized::testing
