#include "spec/type_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cmath>
#include <cstring>

#include "base/result_test.h"
#include "spec/element_text.h"

namespace graphgate::spec {
namespace {

Result<TensorType> parse_type(std::string_view text) {
  TextReader reader(text, "t");
  GRAPHGATE_TRY(TensorType type, read_tensor_type(reader));
  if (!reader.at(TokenKind::kEnd)) return reader.expected("the end");
  return type;
}

Result<HostTensor> parse_tensor(std::string_view type, std::string_view data) {
  TextReader reader(data, "t");
  return read_tensor_data(reader, parse_type(type).value());
}

TEST(TensorTypeText, ComesBackAsItWas) {
  for (const std::string_view text :
       {"f32[]", "bf16[8, 16]", "i64[s0, 16]", "f16[2*s0 + 1, s1, 4]{s1, 1, 0}@3 on cuda:1",
        "f8e4m3[0] layout none", "bool[2, 0, 4]", "f32[4]@s0 // 2 on meta",
        "f32[4] on \"privateuse one:3\"", "u8[4, 4]{1, 4}", "f32[2]{}", "c64[s0, 2]", "c128[]"}) {
    const auto type = must(parse_type(text));
    EXPECT_EQ(print_tensor_type(type), text);
  }
}

TEST(TensorTypeText, LeavesOutRowMajorStrides) {
  EXPECT_EQ(print_tensor_type(parse_type("f32[s0, s1, 4]{4*s1, 4, 1}").value()), "f32[s0, s1, 4]");
  EXPECT_EQ(print_tensor_type(parse_type("f32[2, s0, s1]{s0*s1, s1, 1}").value()),
            "f32[2, s0, s1]");
  EXPECT_EQ(print_tensor_type(parse_type("float32[2, 0, 3]{3, 3, 1}").value()), "f32[2, 0, 3]");
  EXPECT_EQ(print_tensor_type(parse_type("f32[2, s0, 1]{s0, 1, 1}").value()), "f32[2, s0, 1]");
}

TEST(TensorTypeText, NamesWhatItExpected) {
  const auto error = [](std::string_view text) { return parse_type(text).error().message; };
  EXPECT_TRUE(contains(error("x[2]"), "t:1:1: expected a dtype"));
  EXPECT_EQ(error("f32"), "t:1:4: expected '[', found the end of the text");
  EXPECT_EQ(error("f32[2"), "t:1:6: expected ',' or ']', found the end of the text");
  EXPECT_EQ(error("f32[2]{1"), "t:1:9: expected ',' or '}', found the end of the text");
  EXPECT_EQ(error("f32[2] layout x"), "t:1:15: expected a layout, strided or none, found 'x'");
  EXPECT_EQ(error("f32[1, 4611686018427387904, 4]"),
            "t:1:1: expected sizes whose product fits in 64 bits, found [1, 4611686018427387904, "
            "4]");
}

TEST(TensorData, ReadsAndPrintsElementsOfEachKind) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"f32[2, 3]", "[1.0, -0.0, inf, -inf, nan, 0.1]"},
      {"f64[2]", "[0.1, 1e-300]"},
      {"f16[4]", "[65504.0, 5.9604645e-08, -inf, nan]"},
      {"bf16[3]", "[0.100097656, 3.3895314e+38, -1.0]"},
      {"f8e4m3[4]", "[448.0, -0.001953125, nan, 0.0]"},
      {"f8e5m2[3]", "[57344.0, inf, -1.25]"},
      {"i64[2]", "[-9223372036854775808, 9223372036854775807]"},
      {"i8[2]", "[-128, 127]"},
      {"u8[2]", "[0, 255]"},
      {"bool[2]", "[True, False]"},
      {"c64[2]", "[complex(1.0, -0.0), complex(nan, 0.1)]"},
      {"c128[]", "[complex(1e-300, -inf)]"},
      {"f32[0, 4]", "[]"},
      {"i32[]", "[5]"},
      {"f32[2, 2]{1, 2}", "bytes \"0000803f0000004000004040000080400000a040\""},
      {"i8[2]@1", "bytes \"00010203\""}};
  for (const auto& [type, data] : cases) {
    const auto tensor = must(parse_tensor(type, data));
    EXPECT_EQ(print_tensor_data(tensor), data);
    EXPECT_EQ(print_tensor_type(type_of(tensor)), type);
  }
}

TEST(TensorData, RoundsToTheNearestValueTiesToEven) {
  const auto f16 = [](std::string_view text) {
    return print_tensor_data(parse_tensor("f16[1]", text).value());
  };
  EXPECT_EQ(f16("[2049]"), "[2048.0]");  // halfway between 2048 and 2050
  EXPECT_EQ(f16("[2051]"), "[2052.0]");  // halfway between 2050 and 2052
  EXPECT_EQ(f16("[65519.9]"), "[65504.0]");
  EXPECT_FALSE(parse_tensor("f16[1]", "[65520]").ok());
  EXPECT_FALSE(parse_tensor("f8e4m3[1]", "[inf]").ok());
  EXPECT_FALSE(parse_tensor("f32[1]", "[1e39]").ok());
  EXPECT_EQ(print_tensor_data(parse_tensor("f32[1]", "[1e-60]").value()), "[0.0]");
}

TEST(TensorData, RefusesWhatDoesNotFit) {
  const auto error = [](std::string_view type, std::string_view data) {
    return parse_tensor(type, data).error().message;
  };
  EXPECT_EQ(error("f32[2]", "[1.0]"), "t:1:1: expected 2 elements, found 1");
  EXPECT_EQ(error("f32[1]", "[1.0, 2.0]"), "t:1:1: expected 1 elements, found more");
  EXPECT_EQ(error("i8[1]", "[128]"), "t:1:2: the number 128 is out of the range of i8");
  EXPECT_EQ(error("i8[1]", "[1.0]"), "t:1:2: expected an integer, found '1.0'");
  EXPECT_EQ(error("bool[1]", "[1]"), "t:1:2: expected True or False, found '1'");
  EXPECT_EQ(error("c64[1]", "[1.0]"), "t:1:2: expected complex(REAL, IMAG), found '1.0'");
  EXPECT_EQ(error("c64[1]", "[complex(1e39, 0.0)]"),
            "t:1:10: the number 1e39 is out of the range of f32");
  EXPECT_EQ(error("c64[1]", "[complex(1.0)]"), "t:1:13: expected ',', found ')'");
  EXPECT_EQ(error("f32[s0]", "[1.0]"),
            "t:1:1: expected no elements here: the type f32[s0] is symbolic");
  EXPECT_EQ(error("f32[2]", "bytes \"00\""), "t:1:1: the elements of f32[2] do not fit in 1 bytes");
  EXPECT_EQ(error("f32[2]", "bytes \"0\""), "t:1:7: expected pairs of hexadecimal digits");
  EXPECT_EQ(error("f32[1152921504606846976]", "[1.0]"),
            "t:1:1: expected 1152921504606846976 elements, found 1");
  EXPECT_FALSE(parse_tensor("f32[4611686018427387904, 4]{0, 0}", "[1.0]").ok());
}

// Every bit pattern of the small formats, NaNs with a payload aside.
TEST(ElementText, BringsEveryBitPatternBack) {
  for (const DType dtype :
       {DType::kFloat16, DType::kBFloat16, DType::kFloat8E4M3FN, DType::kFloat8E5M2}) {
    const auto size = static_cast<std::size_t>(item_size_bytes(dtype));
    const unsigned patterns = size == 1 ? 256U : 65536U;
    unsigned payloads = 0;
    for (unsigned pattern = 0; pattern < patterns; ++pattern) {
      const std::array<std::byte, 2> bytes = {std::byte(pattern & 255U), std::byte(pattern >> 8U)};
      const auto text = print_element(dtype, std::span(bytes).first(size));
      if (!text) {
        ++payloads;
        continue;
      }
      std::array<std::byte, 2> again{};
      TextReader reader(*text, "t");
      ASSERT_TRUE(read_element(reader, dtype, std::span(again).first(size)).ok()) << *text;
      ASSERT_EQ(again, bytes) << *text;
    }
    const unsigned nans = dtype == DType::kFloat16      ? 2046U
                          : dtype == DType::kBFloat16   ? 254U
                          : dtype == DType::kFloat8E5M2 ? 6U
                                                        : 2U;
    EXPECT_EQ(payloads, nans - 1U) << short_name(dtype);
  }
}

RC_GTEST_PROP(ElementText, BringsEveryFiniteFloatBack, (std::uint32_t bits)) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  RC_PRE(!std::isnan(value));
  const auto text = print_element(DType::kFloat32, std::as_bytes(std::span(&value, 1)));
  std::uint32_t again = 0;
  TextReader reader(*text, "t");
  RC_ASSERT(
      read_element(reader, DType::kFloat32, std::as_writable_bytes(std::span(&again, 1))).ok());
  RC_ASSERT(again == bits);
}

}  // namespace
}  // namespace graphgate::spec
