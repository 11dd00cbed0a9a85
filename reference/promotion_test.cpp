#include "reference/promotion.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <sstream>
#include <string>

namespace graphgate::reference {
namespace {

using spec::DType;

// torch.promote_types for every pair, rows and columns in the order of kDTypes; "none" where
// PyTorch refuses. Taken from PyTorch 2.11.
constexpr std::array kDTypes = {
    DType::kFloat64,      DType::kFloat32,    DType::kFloat16, DType::kBFloat16,
    DType::kFloat8E4M3FN, DType::kFloat8E5M2, DType::kInt64,   DType::kInt32,
    DType::kInt16,        DType::kInt8,       DType::kUInt8,   DType::kBool,
};
constexpr const char* kTable = R"(
    f64 f64 f64 f64 none none f64 f64 f64 f64 f64 f64
    f64 f32 f32 f32 none none f32 f32 f32 f32 f32 f32
    f64 f32 f16 f32 none none f16 f16 f16 f16 f16 f16
    f64 f32 f32 bf16 none none bf16 bf16 bf16 bf16 bf16 bf16
    none none none none f8e4m3 none none none none none none none
    none none none none none f8e5m2 none none none none none none
    f64 f32 f16 bf16 none none i64 i64 i64 i64 i64 i64
    f64 f32 f16 bf16 none none i64 i32 i32 i32 i32 i32
    f64 f32 f16 bf16 none none i64 i32 i16 i16 i16 i16
    f64 f32 f16 bf16 none none i64 i32 i16 i8 i16 i8
    f64 f32 f16 bf16 none none i64 i32 i16 i16 u8 u8
    f64 f32 f16 bf16 none none i64 i32 i16 i8 u8 bool
)";

TEST(Promotion, MatchesTheWholeTableOfPyTorch) {
  std::istringstream table(kTable);
  for (const DType a : kDTypes) {
    for (const DType b : kDTypes) {
      std::string expected;
      ASSERT_TRUE(table >> expected);
      const std::string pair =
          std::string(spec::short_name(a)) + " with " + std::string(spec::short_name(b));
      if (expected == "none") {
        EXPECT_THROW((void)promote(a, b), OpError) << pair;
      } else {
        EXPECT_EQ(spec::short_name(promote(a, b)), expected) << pair;
      }
    }
  }
}

Datum of(DType dtype, const std::vector<std::int64_t>& sizes) {
  return {new_tensor(dtype, sizes, spec::Device{})};
}
DType common(std::initializer_list<Datum> operands) {
  return result_type(std::vector<Datum>(operands));
}

TEST(Promotion, ATensorWithoutDimensionsDoesNotWidenOneOfTheSameCategory) {
  EXPECT_EQ(common({of(DType::kFloat16, {2}), of(DType::kFloat64, {})}), DType::kFloat16);
  EXPECT_EQ(common({of(DType::kInt8, {2}), of(DType::kInt64, {})}), DType::kInt8);
  EXPECT_EQ(common({of(DType::kUInt8, {2}), of(DType::kFloat64, {})}), DType::kFloat64);
  EXPECT_EQ(common({of(DType::kFloat16, {}), of(DType::kFloat64, {})}), DType::kFloat64);
}

TEST(Promotion, ANumberCountsOnlyWhenItsCategoryIsHigher) {
  EXPECT_EQ(common({of(DType::kBFloat16, {2}), {0.1}}), DType::kBFloat16);
  EXPECT_EQ(common({of(DType::kInt8, {2}), {std::int64_t{300}}}), DType::kInt8);
  EXPECT_EQ(common({of(DType::kInt8, {2}), {0.5}}), DType::kFloat32);
  EXPECT_EQ(common({of(DType::kBool, {}), {std::int64_t{2}}}), DType::kInt64);
  EXPECT_EQ(common({of(DType::kFloat8E5M2, {2}), {2.5}}), DType::kFloat8E5M2);
  EXPECT_EQ(common({{true}, {std::int64_t{2}}}), DType::kInt64);
  EXPECT_THROW((void)common({Datum{spec::None{}}}), OpError);
}

}  // namespace
}  // namespace graphgate::reference
