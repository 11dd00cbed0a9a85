#include "spec/dtype.h"

#include <gtest/gtest.h>

namespace graphgate::spec {
namespace {

TEST(DType, IsFoundByEitherOfItsNames) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(parse_dtype(torch_name(dtype)), dtype);
    EXPECT_EQ(parse_dtype(short_name(dtype)), dtype);
  }
  EXPECT_EQ(parse_dtype("complex32"), std::nullopt);
  EXPECT_EQ(parse_dtype(""), std::nullopt);
}

TEST(DType, IsFloatingIntegralOrBool) {
  EXPECT_TRUE(is_floating_point(DType::kFloat8E5M2));
  EXPECT_FALSE(is_floating_point(DType::kInt64));
  EXPECT_TRUE(is_integral(DType::kUInt8));
  EXPECT_FALSE(is_integral(DType::kBool));
  EXPECT_FALSE(is_integral(DType::kBFloat16));
}

TEST(DType, OfComplexNumbersIsNeitherFloatingNorIntegralAndHasTwoParts) {
  EXPECT_TRUE(is_complex(DType::kComplex64));
  EXPECT_FALSE(is_complex(DType::kBool));
  EXPECT_FALSE(is_floating_point(DType::kComplex64));
  EXPECT_FALSE(is_integral(DType::kComplex128));
  EXPECT_EQ(component_dtype(DType::kComplex64), DType::kFloat32);
  EXPECT_EQ(component_dtype(DType::kComplex128), DType::kFloat64);
  EXPECT_EQ(item_size_bytes(DType::kComplex128), 2 * item_size_bytes(DType::kFloat64));
}

TEST(Device, PrintsAndReadsItsIndex) {
  EXPECT_EQ(print_device({"cuda", 1}), "cuda:1");
  EXPECT_EQ(parse_device("cuda:1"), (Device{"cuda", 1}));
  EXPECT_EQ(parse_device("cpu"), Device{});
  for (const std::string_view bad : {"", ":1", "cuda:", "cuda:x", "cuda:-1", "cuda:1x"}) {
    EXPECT_EQ(parse_device(bad), std::nullopt) << bad;
  }
}

TEST(LayoutsAndMemoryFormats, AreFoundByName) {
  EXPECT_EQ(parse_layout(layout_name(Layout::kNone)), Layout::kNone);
  EXPECT_EQ(parse_layout("sparse_coo"), std::nullopt);
  EXPECT_EQ(parse_memory_format("channels_last_3d"), MemoryFormat::kChannelsLast3d);
  EXPECT_EQ(parse_memory_format("channels"), std::nullopt);
}

}  // namespace
}  // namespace graphgate::spec
