#include "conformance/judges/same_bits.h"

#include <cmath>
#include <limits>

#include "base/result_test.h"
#include "conformance/run/scripted_source_test.h"

namespace graphgate::conformance {
namespace {

spec::CallResult returning(const std::vector<float>& output) {
  spec::CallResult result;
  result.outputs = {spec::float_tensor(output)};
  result.final_states = {spec::float_tensor({7, 8})};
  result.state_targets = {"s"};
  return result;
}

TEST(SameBits, SayWhichElementDiffersAndItsBits) {
  const BitReport report = compare_bits(returning({1, 2, 3}), returning({1, 2, 4}), "default", {});
  ASSERT_EQ(report.differences.size(), 1U);
  EXPECT_EQ(report.differences[0].where, "output 0");
  EXPECT_EQ(report.differences[0].message,
            "element [2] is 3 (bits 0x40400000), default 4 (bits 0x40800000) (1 of 3 elements "
            "differ)");
  EXPECT_EQ(report.compared, 5);
}

TEST(SameBits, TellMinusZeroFromZeroUnlessAskedNotTo) {
  EXPECT_EQ(compare_bits(returning({0.0F}), returning({-0.0F}), "d", {}).differences.size(), 1U);
  BitOptions loose;
  loose.signed_zeros = false;
  EXPECT_TRUE(compare_bits(returning({0.0F}), returning({-0.0F}), "d", loose).differences.empty());
}

TEST(SameBits, TakeAnyNanForAnyOther) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(compare_bits(returning({nan}), returning({-nan}), "d", {}).differences.empty());
  EXPECT_FALSE(compare_bits(returning({nan}), returning({1}), "d", {}).differences.empty());
}

TEST(SameBits, LeaveOutWhatTheOracleLeavesOpen) {
  spec::CallResult oracle = returning({1, 2});
  oracle.output_spreads = {{{1, 2}, {0, std::numeric_limits<double>::infinity()}}};
  BitOptions options;
  options.oracle = &oracle;
  const BitReport open = compare_bits(returning({1, 9}), returning({1, 2}), "d", options);
  EXPECT_TRUE(open.differences.empty());
  EXPECT_EQ(open.open, 1);
  EXPECT_FALSE(
      compare_bits(returning({9, 2}), returning({1, 2}), "d", options).differences.empty());
}

TEST(SameBits, CountOnlyExactElementsWhenAsked) {
  spec::CallResult oracle = returning({1, 2});
  oracle.output_spreads = {{{1, 2}, {0, 0.5}}};
  BitOptions options{.oracle = &oracle, .exact_only = true};
  const BitReport report = compare_bits(returning({1, 9}), returning({1, 2}), "d", options);
  EXPECT_TRUE(report.differences.empty());
  EXPECT_EQ(report.compared, 1);
}

TEST(SameBits, SeeAnotherSharing) {
  spec::CallResult shared = returning({7, 8});
  shared.outputs = {shared.final_states[0]};
  const BitReport report = compare_bits(shared, returning({7, 8}), "default", {});
  ASSERT_EQ(report.differences.size(), 1U);
  EXPECT_EQ(report.differences[0].where, "state 's'");
  EXPECT_TRUE(contains(report.differences[0].message, "shares its storage with output 0"));
}

TEST(SameBits, SeeOtherStridesAndOtherCounts) {
  spec::CallResult turned = returning({1, 2});
  auto& tensor = std::get<spec::HostTensor>(turned.outputs[0]);
  tensor.strides = {0};
  EXPECT_FALSE(compare_bits(turned, returning({1, 2}), "d", {}).differences.empty());
  spec::CallResult more = returning({1});
  more.outputs.emplace_back(spec::float_tensor({1}));
  EXPECT_EQ(compare_bits(more, returning({1}), "d", {}).differences[0].where, "results");
}

TEST(SameBits, NameThePartOfAComplexElement) {
  const auto complex = [](const std::vector<float>& parts) {
    spec::CallResult result;
    result.outputs = {spec::host_tensor(spec::DType::kComplex64, {2}, parts)};
    return result;
  };
  const BitReport report =
      compare_bits(complex({1, 2, 3, 4}), complex({1, 2, 3, 5}), "default", {});
  ASSERT_EQ(report.differences.size(), 1U);
  EXPECT_EQ(report.differences[0].message,
            "the imaginary part of element [1] is 4 (bits 0x40800000), default 5 (bits 0x40a00000) "
            "(1 of 4 parts differ)");
  EXPECT_TRUE(
      compare_bits(complex({1, 2, 3, NAN}), complex({1, 2, 3, -NAN}), "d", {}).differences.empty());
}

}  // namespace
}  // namespace graphgate::conformance
