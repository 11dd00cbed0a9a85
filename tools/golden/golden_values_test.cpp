#include "tools/golden/golden_values.h"

#include <cmath>
#include <limits>

#include "spec/host_tensor_test.h"

namespace graphgate::tools {
namespace {

using spec::DType;
using spec::HostTensor;
using Sentences = std::vector<std::string>;

std::string bits_of(std::string_view dtype, std::string_view before, std::string_view after) {
  const auto ulps = ulps_between(dtype, before, after);
  return ulps ? std::to_string(*ulps) : "none";
}

TEST(UlpsBetween, CountsTheValuesOfTheDtype) {
  EXPECT_EQ(bits_of("f32", "0x1p+0", "0x1.000002p+0"), "1");
  EXPECT_EQ(bits_of("f32", "0x1p+0", "0x1.fffffep-1"), "1");  // across a power of two
  EXPECT_EQ(bits_of("f64", "0x1p+0", "0x1.0000000000001p+0"), "1");
  EXPECT_EQ(bits_of("bf16", "0x1p+0", "0x1.04p+0"), "2");
  EXPECT_EQ(bits_of("f16", "0x1p+0", "0x1.004p+0"), "1");
  EXPECT_EQ(bits_of("f8e4m3", "0x1p+0", "0x1.2p+0"), "1");
  EXPECT_EQ(bits_of("f8e5m2", "0x1p+0", "0x1.4p+0"), "1");
}

TEST(UlpsBetween, CountsThroughSubnormalsAndZero) {
  EXPECT_EQ(bits_of("f32", "0x0p+0", "0x1p-149"), "1");
  EXPECT_EQ(bits_of("f32", "-0x1p-149", "0x1p-149"), "2");
  EXPECT_EQ(bits_of("f32", "0x0p+0", "-0x0p+0"), "0");
  EXPECT_EQ(bits_of("f32", "0x1.fffffcp-127", "0x1p-126"), "1");  // the least normal one
  EXPECT_EQ(bits_of("f64", "-0x1.fffffffffffffp+1023", "0x1.fffffffffffffp+1023"),
            std::to_string(2 * 0x7fefffffffffffffULL));
}

TEST(UlpsBetween, IsSilentWhereThereIsNoDistance) {
  EXPECT_EQ(bits_of("f32", "nan:7fc00000", "0x1p+0"), "none");
  EXPECT_EQ(bits_of("f32", "inf", "0x1p+0"), "none");
  EXPECT_EQ(bits_of("i64", "1", "2"), "none");
  EXPECT_EQ(bits_of("bool", "True", "False"), "none");
}

TEST(GoldenValue, HasAllElementsOfASmallTensorExactly) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const GoldenValue value =
      golden_value("output 0", spec::float_tensor({1.5F, -0.0F, 0.1F, nan, -infinity, 0x1p-149F}));
  EXPECT_EQ(value.type, "f32[6]");
  EXPECT_EQ(value.some_of, 0U);
  EXPECT_EQ(value.elements, (Sentences{"0x1.8p+0", "-0x0p+0", "0x1.99999ap-4", "nan:7fc00000",
                                       "-inf", "0x1p-149"}));
  // The first 16 digits of sha256 of no bytes.
  EXPECT_EQ(golden_value("output 0", spec::float_tensor({})).digest, "sha256:e3b0c44298fc1c14");
}

TEST(GoldenValue, HasSomeElementsOfALargeTensor) {
  std::vector<float> many(kWholeTensor + 1);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<float>(i);
  const GoldenValue value = golden_value("output 0", spec::float_tensor(many));
  EXPECT_EQ(value.some_of, many.size());
  ASSERT_EQ(value.elements.size(), kSomeElements);
  EXPECT_EQ(value.elements[0], "0x0p+0");
  EXPECT_EQ(value.elements[1], "0x1p+2");
}

TEST(GoldenValue, ReadsATensorThroughItsStrides) {
  HostTensor tensor = spec::float_tensor({1.0F, 2.0F, 3.0F, 4.0F});
  tensor.sizes = {2};
  tensor.strides = {2};
  tensor.storage_offset = 1;
  const GoldenValue value = golden_value("output 0", tensor);
  EXPECT_EQ(value.type, "f32[2]{2}@1");
  EXPECT_EQ(value.elements, (Sentences{"0x1p+1", "0x1p+2"}));
}

TEST(GoldenValue, HasBothPartsOfComplexNumbers) {
  const GoldenValue value = golden_value(
      "output 0",
      spec::host_tensor(DType::kComplex64, {2}, std::vector<float>{1, -0.0F, NAN, 0.5F}));
  EXPECT_EQ(value.type, "c64[2]");
  EXPECT_EQ(value.elements, (Sentences{"complex(0x1p+0,-0x0p+0)", "complex(nan:7fc00000,0x1p-1)"}));
}

TEST(GoldenValue, HasNumbersAndNothing) {
  EXPECT_EQ(golden_value("output 0", spec::OutputValue(std::int64_t{-3})).elements,
            Sentences{"-3"});
  EXPECT_EQ(golden_value("output 0", spec::OutputValue(0.5)).elements, Sentences{"0x1p-1"});
  EXPECT_EQ(golden_value("output 0", spec::OutputValue(true)).elements, Sentences{"True"});
  EXPECT_EQ(golden_value("output 0", spec::OutputValue(spec::None{})).type, "none");
}

Sentences diff(const std::vector<float>& before, const std::vector<float>& after) {
  return diff_values(golden_value("output 0", spec::float_tensor(before)),
                     golden_value("output 0", spec::float_tensor(after)));
}

TEST(DiffValues, SaysHowManyValuesMovedAndHowFar) {
  const float next = std::nextafter(1.0F, 2.0F);
  EXPECT_EQ(diff({1, 1, 1}, {1, 1, 1}), Sentences());
  EXPECT_EQ(diff({1, 1, 1}, {next, next, next}),
            Sentences{"3 of 3 values changed, by at most 1 ulp (the first from 0x1p+0 to "
                      "0x1.000002p+0)"});
  EXPECT_EQ(diff({1, 1, 1}, {1, std::nextafter(next, 2.0F), 1}),
            Sentences{"1 of 3 values changed, by 2 ulp (from 0x1p+0 to 0x1.000004p+0)"});
  EXPECT_EQ(diff({1, 2}, {1, NAN}),
            Sentences{"1 of 2 values changed (from 0x1p+1 to nan:7fc00000)"});
}

TEST(DiffValues, SaysWhenOnlyBytesThatAreNotKeptChanged) {
  std::vector<float> many(100, 1.0F);
  std::vector<float> other = many;
  other[1] = 2;
  EXPECT_EQ(diff(many, other), Sentences{"bytes changed, and none of the values that are kept"});
  other[0] = std::nextafter(1.0F, 2.0F);
  EXPECT_EQ(diff(many, other), Sentences{"1 of the 8 that are kept of 100 values changed, by 1 "
                                         "ulp (from 0x1p+0 to 0x1.000002p+0)"});
}

TEST(DiffValues, SaysWhatBecameOfTypeAndSharing) {
  GoldenValue before = golden_value("output 0", spec::float_tensor({1, 2}));
  GoldenValue after = before;
  after.type = "f32[2]{2}";
  after.shares = "input 1";
  EXPECT_EQ(diff_values(before, after),
            (Sentences{"f32[2] became f32[2]{2}", "now shares memory with input 1"}));
  after = before;
  before.shares = "input 1";
  EXPECT_EQ(diff_values(before, after), Sentences{"no longer shares memory with input 1"});
  EXPECT_EQ(diff({1}, {1, 2}), Sentences{"f32[1] became f32[2]"});
}

}  // namespace
}  // namespace graphgate::tools
