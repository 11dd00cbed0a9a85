#include "conformance/compare/compare.h"

#include <cmath>
#include <limits>

#include "base/result_test.h"
#include "conformance/compare/element.h"
#include "spec/host_tensor_test.h"

namespace graphgate::conformance {
namespace {

using spec::DType;
using spec::HostTensor;
using spec::Spread;

constexpr long double kInf = std::numeric_limits<long double>::infinity();
constexpr long double kNaN = std::numeric_limits<long double>::quiet_NaN();

template <class T>
HostTensor tensor_of(DType dtype, const std::vector<T>& elements) {
  return spec::host_tensor(dtype, {static_cast<std::int64_t>(elements.size())}, elements);
}

TEST(Element, DecodesEveryFormatAtItsCorners) {
  using Bits16 = std::vector<std::uint16_t>;
  using Bits8 = std::vector<std::uint8_t>;
  EXPECT_EQ(decode_elements(tensor_of(DType::kFloat16, Bits16{0x3C00, 0x7BFF, 0x0001, 0xFC00})),
            (std::vector<long double>{1, 65504, 0x1p-24L, -kInf}));
  EXPECT_EQ(decode_elements(tensor_of(DType::kBFloat16, Bits16{0x3F80, 0xC000, 0x0001})),
            (std::vector<long double>{1, -2, 0x1p-133L}));
  EXPECT_EQ(decode_elements(tensor_of(DType::kFloat8E4M3FN, Bits8{0x38, 0x7E, 0x01, 0x80})),
            (std::vector<long double>{1, 448, 0x1p-9L, 0}));
  EXPECT_EQ(decode_elements(tensor_of(DType::kFloat8E5M2, Bits8{0x3C, 0x7B, 0x7C})),
            (std::vector<long double>{1, 57344, kInf}));
  EXPECT_TRUE(std::isnan(decode_elements(tensor_of(DType::kFloat8E4M3FN, Bits8{0x7F}))[0]));
}

TEST(Element, KeepsEveryInt64) {
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const auto elements = decode_elements(tensor_of(DType::kInt64, std::vector{least, least + 1}));
  EXPECT_EQ(static_cast<std::int64_t>(elements[0]), least);
  EXPECT_EQ(static_cast<std::int64_t>(elements[1]), least + 1);
}

TEST(Element, OverflowsHalfASpacingAboveTheLargestElement) {
  EXPECT_EQ(overflow_threshold(DType::kFloat16), 65520.0L);
  EXPECT_EQ(overflow_threshold(DType::kFloat8E4M3FN), 464.0L);
  EXPECT_EQ(overflow_threshold(DType::kFloat8E5M2), 61440.0L);
}

// Elements lie half as far apart below a power of two: the one before 1 is not 1 rounded.
TEST(CompareValues, TellsAnExactPowerOfTwoFromTheElementBelowIt) {
  const HostTensor below =
      tensor_of(DType::kBFloat16, std::vector<std::uint16_t>{0x3F7F, 0xBF7F, 0x3F81});
  const auto report = compare_values(below, Spread{{1.0L, -1.0L, 1.0L}, {0, 0, 0}}, 1);
  EXPECT_EQ(report.outside, 3);
  const HostTensor one = tensor_of(DType::kBFloat16, std::vector<std::uint16_t>{0x3F80, 0x3F80});
  EXPECT_TRUE(compare_values(one, Spread{{1 - 0x1p-10L, 1 + 0x1p-9L}, {0, 0}}, 1).ok());
}

TEST(CompareValues, AcceptsWhatLiesWithinTheRadius) {
  const auto report =
      compare_values(spec::float_tensor({1.0F, 2.5F}), Spread{{1.0, 2.0}, {0.0, 0.5}}, 1);
  EXPECT_TRUE(report.ok());
  EXPECT_DOUBLE_EQ(report.worst_ratio, 1.0);
  EXPECT_EQ(report.worst_index, 1);
}

TEST(CompareValues, NamesTheWorstElementOutside) {
  const auto report = compare_values(spec::float_tensor({1.0F, 2.6F, 9.0F}),
                                     Spread{{1.0, 2.0, 3.0}, {0.0, 0.5, 0.5}}, 1);
  EXPECT_EQ(report.outside, 2);
  EXPECT_EQ(report.worst_index, 2);
  EXPECT_TRUE(contains(report.message, "element [2] is 9, expected 3"));
}

TEST(CompareValues, WantsTheNearestElementWhereThereIsNoRadius) {
  const Spread third{{1.0L / 3.0L}, {0.0}};
  EXPECT_TRUE(compare_values(spec::float_tensor({1.0F / 3.0F}), third, 1).ok());
  EXPECT_FALSE(
      compare_values(spec::float_tensor({std::nextafter(1.0F / 3.0F, 1.0F)}), third, 1).ok());
}

TEST(CompareValues, HoldsIntegersToTheLastUnit) {
  const auto one = tensor_of(DType::kInt64, std::vector<std::int64_t>{1});
  EXPECT_TRUE(compare_values(one, Spread{{1}, {0}}, 1).ok());
  EXPECT_FALSE(compare_values(one, Spread{{2}, {0}}, 1).ok());
}

TEST(CompareValues, RequiresNaNExactlyWhereTheOracleHasIt) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(compare_values(spec::float_tensor({nan}), Spread{{kNaN}, {0}}, 1).ok());
  EXPECT_FALSE(compare_values(spec::float_tensor({nan}), Spread{{1}, {0.5}}, 1).ok());
  EXPECT_FALSE(compare_values(spec::float_tensor({1}), Spread{{kNaN}, {0}}, 1).ok());
}

TEST(CompareValues, AllowsInfinityOnlyWithinReachOfOverflow) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(compare_values(spec::float_tensor({inf}), Spread{{kInf}, {0}}, 1).ok());
  EXPECT_FALSE(compare_values(spec::float_tensor({-inf}), Spread{{kInf}, {0}}, 1).ok());
  EXPECT_FALSE(compare_values(spec::float_tensor({inf}), Spread{{3e38L}, {1e37}}, 1).ok());
  EXPECT_TRUE(compare_values(spec::float_tensor({inf}), Spread{{3.4e38L}, {1e37}}, 1).ok());
}

TEST(CompareValues, CountsWhatTheOracleCannotTell) {
  const double open = std::numeric_limits<double>::infinity();
  const auto report = compare_values(spec::float_tensor({7.0F}), Spread{{1}, {open}}, 1);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.undecided, 1);
}

TEST(SigmaMultiple, BoundsTheFalseAlarmsOfAllElementsTogether) {
  // 2 n exp(-k^2 / 2) is the rate.
  const double k = sigma_multiple(1000, 1e-9);
  EXPECT_NEAR(2 * 1000 * std::exp(-k * k / 2), 1e-9, 1e-15);
}

TEST(CompareGeometry, SaysWhatDiffers) {
  const HostTensor tensor = spec::make_host_tensor(DType::kFloat32, {2, 3});
  Geometry expected = geometry_of(tensor);
  EXPECT_EQ(compare_form(tensor, expected) + compare_layout(tensor, expected), "");
  expected.strides = {1, 2};
  EXPECT_EQ(compare_form(tensor, expected), "");
  EXPECT_EQ(compare_layout(tensor, expected), "strides are [3, 1], expected [1, 2]");
  expected = geometry_of(tensor);
  expected.storage_offset = 4;
  EXPECT_EQ(compare_layout(tensor, expected), "storage offset is 0, expected 4");
  expected.dtype = DType::kInt32;
  EXPECT_EQ(compare_form(tensor, expected), "dtype is float32, expected int32");
}

TEST(CompareGeometry, IgnoresStridesThatReachNoElement) {
  HostTensor row = spec::make_host_tensor(DType::kFloat32, {1, 3});
  Geometry expected = geometry_of(row);
  expected.strides = {7, 1};
  EXPECT_EQ(compare_layout(row, expected), "");
  expected.strides = {7, 2};
  EXPECT_NE(compare_layout(row, expected), "");
}

// A double has 53 bits: the last digits of a large integer would be others.
TEST(CompareValues, ShowsEveryDigitOfAnInteger) {
  const HostTensor actual =
      tensor_of(DType::kInt64, std::vector<std::int64_t>{90194313253, 9007199254740993, INT64_MIN});
  const auto message = [&](long double first, long double second, long double third) {
    return compare_values(actual, Spread{{first, second, third}, {0, 0, 0}}, 1).message;
  };
  EXPECT_EQ(message(90194313254, 9007199254740993, -0x1p63L),
            "element [0] is 90194313253, expected 90194313254 +- 0 (1 of 3 elements outside)");
  EXPECT_EQ(message(90194313253, 9007199254740994, -0x1p63L),
            "element [1] is 9007199254740993, expected 9007199254740994 +- 0 (1 of 3 elements "
            "outside)");
  EXPECT_TRUE(
      contains(message(90194313253, 9007199254740993, 0), "is -9223372036854775808, expected 0"));
}

TEST(Element, DecodesTheTwoPartsOfAComplexNumber) {
  const HostTensor z =
      spec::host_tensor(DType::kComplex64, {2}, std::vector<float>{1, -2, 0.5F, 4});
  EXPECT_EQ(decode_elements(z), (std::vector<long double>{1, -2, 0.5L, 4}));
  EXPECT_EQ(half_spacing(1, DType::kComplex128), half_spacing(1, DType::kFloat64));
  EXPECT_EQ(overflow_threshold(DType::kComplex64), overflow_threshold(DType::kFloat32));
}

TEST(CompareValues, JudgesThePartsOfAComplexNumberOneByOne) {
  const HostTensor z =
      spec::host_tensor(DType::kComplex64, {2}, std::vector<float>{1, -2, 0.5F, 4});
  const Spread right{{1, -2, 0.5L, 4}, {0, 0, 0, 0}};
  EXPECT_TRUE(compare_values(z, right, 1).ok());
  EXPECT_EQ(compare_values(z, right, 1).elements, 4);
  // A large error of one part does not cover the other.
  EXPECT_EQ(compare_values(z, Spread{{1, -2, 0.5L, 3}, {0, 0, 1e9, 0.25}}, 1).message,
            "element [1] is complex(0.5, 4), expected complex(0.5, 3), its imaginary part +- 0.25 "
            "(1 of 4 parts outside)");
  EXPECT_EQ(compare_values(z, Spread{{2, -2, 0.5L, 4}, {0, 0, 0, 0}}, 1).message,
            "element [0] is complex(1, -2), expected complex(2, -2), its real part +- 0 (1 of 4 "
            "parts outside)");
}

TEST(CompareValues, LeavesTheOpenPartOfAComplexNumberAlone) {
  constexpr double kOpen = std::numeric_limits<double>::infinity();
  const HostTensor z = spec::host_tensor(DType::kComplex128, {1}, std::vector<double>{NAN, 7});
  const auto report = compare_values(z, Spread{{3, 7}, {kOpen, 0}}, 1);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.undecided, 1);
  EXPECT_FALSE(compare_values(z, Spread{{3, 7}, {0, kOpen}}, 1).ok());
}

}  // namespace
}  // namespace graphgate::conformance
