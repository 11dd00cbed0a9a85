#include "spec/dtype.h"

#include <array>
#include <charconv>

namespace graphgate::spec {
namespace {

struct DTypeRow {
  std::string_view torch;
  std::string_view brief;
  std::int64_t bytes;
};

constexpr std::array<DTypeRow, kDTypeCount> kDTypes = {{
    {"float64", "f64", 8},
    {"float32", "f32", 4},
    {"float16", "f16", 2},
    {"bfloat16", "bf16", 2},
    {"float8_e4m3fn", "f8e4m3", 1},
    {"float8_e5m2", "f8e5m2", 1},
    {"int64", "i64", 8},
    {"int32", "i32", 4},
    {"int16", "i16", 2},
    {"int8", "i8", 1},
    {"uint8", "u8", 1},
    {"bool", "bool", 1},
    {"complex64", "c64", 8},
    {"complex128", "c128", 16},
}};

const DTypeRow& row(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)]; }

constexpr std::array<std::string_view, 2> kLayouts = {"strided", "none"};
constexpr std::array<std::string_view, 4> kFormats = {"contiguous_format", "preserve_format",
                                                      "channels_last", "channels_last_3d"};

template <class Enum, std::size_t N>
std::optional<Enum> find_name(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::int64_t item_size_bytes(DType dtype) { return row(dtype).bytes; }
std::string_view torch_name(DType dtype) { return row(dtype).torch; }
std::string_view short_name(DType dtype) { return row(dtype).brief; }

std::optional<DType> parse_dtype(std::string_view name) {
  for (std::size_t i = 0; i < kDTypes.size(); ++i) {
    if (kDTypes[i].torch == name || kDTypes[i].brief == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

bool is_floating_point(DType dtype) { return dtype <= DType::kFloat8E5M2; }
bool is_integral(DType dtype) { return dtype >= DType::kInt64 && dtype < DType::kBool; }
bool is_complex(DType dtype) { return dtype >= DType::kComplex64; }

DType component_dtype(DType dtype) {
  if (!is_complex(dtype)) return dtype;
  return dtype == DType::kComplex64 ? DType::kFloat32 : DType::kFloat64;
}

std::string print_device(const Device& device) {
  return device.index < 0 ? device.type : device.type + ":" + std::to_string(device.index);
}

std::optional<Device> parse_device(std::string_view text) {
  const std::size_t colon = text.find(':');
  Device device{std::string(text.substr(0, colon)), -1};
  if (device.type.empty()) return std::nullopt;
  if (colon == std::string_view::npos) return device;
  const std::string_view digits = text.substr(colon + 1);
  const auto [end, code] =
      std::from_chars(digits.data(), digits.data() + digits.size(), device.index);
  if (code != std::errc() || end != digits.data() + digits.size() || device.index < 0) {
    return std::nullopt;
  }
  return device;
}

std::string_view layout_name(Layout layout) { return kLayouts[static_cast<std::size_t>(layout)]; }
std::optional<Layout> parse_layout(std::string_view name) {
  return find_name<Layout>(kLayouts, name);
}

std::string_view memory_format_name(MemoryFormat format) {
  return kFormats[static_cast<std::size_t>(format)];
}
std::optional<MemoryFormat> parse_memory_format(std::string_view name) {
  return find_name<MemoryFormat>(kFormats, name);
}

}  // namespace graphgate::spec
