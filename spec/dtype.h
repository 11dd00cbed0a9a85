// Element types, devices, layouts and memory formats, by PyTorch's names.
//
// Vocabulary only: sizes and names. How a dtype rounds, promotes or converts is for each executor
// to derive on its own (independence before reuse).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace graphgate::spec {

enum class DType : std::uint8_t {
  kFloat64,
  kFloat32,
  kFloat16,
  kBFloat16,
  kFloat8E4M3FN,
  kFloat8E5M2,
  kInt64,
  kInt32,
  kInt16,
  kInt8,
  kUInt8,
  kBool,
  kComplex64,
  kComplex128,
};
inline constexpr int kDTypeCount = 14;

// Bytes of one element.
[[nodiscard]] std::int64_t item_size_bytes(DType dtype);

// torch's name: "float32", "bfloat16", "float8_e4m3fn", "bool", "complex64".
[[nodiscard]] std::string_view torch_name(DType dtype);
// The short name of graph text: "f32", "bf16", "f8e4m3", "bool", "c64".
[[nodiscard]] std::string_view short_name(DType dtype);
// The inverse of either name; nullopt when it names no dtype of ours.
[[nodiscard]] std::optional<DType> parse_dtype(std::string_view name);

[[nodiscard]] bool is_floating_point(DType dtype);
// Integers, without bool.
[[nodiscard]] bool is_integral(DType dtype);
[[nodiscard]] bool is_complex(DType dtype);
// The dtype of the real and of the imaginary part, which lie side by side in this order: float32 for
// complex64. Of another dtype, itself.
[[nodiscard]] DType component_dtype(DType dtype);

// A device type and an index; an index of -1 means "the current one", printed without a number.
struct Device {
  std::string type = "cpu";
  int index = -1;
  friend bool operator==(const Device&, const Device&) = default;
};

// "cpu", "cuda", "cuda:1".
[[nodiscard]] std::string print_device(const Device& device);
[[nodiscard]] std::optional<Device> parse_device(std::string_view text);

// kNone is the layout of effect-only results, which have no elements.
enum class Layout : std::uint8_t { kStrided, kNone };
[[nodiscard]] std::string_view layout_name(Layout layout);
[[nodiscard]] std::optional<Layout> parse_layout(std::string_view name);

enum class MemoryFormat : std::uint8_t { kContiguous, kPreserve, kChannelsLast, kChannelsLast3d };
// torch's names: "contiguous_format", "preserve_format", "channels_last", "channels_last_3d".
[[nodiscard]] std::string_view memory_format_name(MemoryFormat format);
[[nodiscard]] std::optional<MemoryFormat> parse_memory_format(std::string_view name);

}  // namespace graphgate::spec
