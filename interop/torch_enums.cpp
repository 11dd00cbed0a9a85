#include "interop/torch_enums.h"

#include <array>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace graphgate::interop {

namespace {

using spec::DType;
using spec::Layout;
using spec::MemoryFormat;

constexpr std::array<std::pair<int, DType>, spec::kDTypeCount> kDTypes = {{
    {1, DType::kUInt8},
    {2, DType::kInt8},
    {3, DType::kInt16},
    {4, DType::kInt32},
    {5, DType::kInt64},
    {6, DType::kFloat16},
    {7, DType::kFloat32},
    {8, DType::kFloat64},
    {10, DType::kComplex64},
    {11, DType::kComplex128},
    {12, DType::kBool},
    {13, DType::kBFloat16},
    {29, DType::kFloat8E4M3FN},
    {30, DType::kFloat8E5M2},
}};
constexpr std::array<std::pair<int, Layout>, 1> kLayouts = {{{7, Layout::kStrided}}};
constexpr std::array<std::pair<int, MemoryFormat>, 4> kMemoryFormats = {{
    {1, MemoryFormat::kContiguous},
    {2, MemoryFormat::kChannelsLast},
    {3, MemoryFormat::kChannelsLast3d},
    {4, MemoryFormat::kPreserve},
}};

// What PyTorch knows and this project has not.
constexpr std::array<std::pair<int, std::string_view>, 7> kForeignDTypes = {{
    {9, "complex32"},
    {28, "uint16"},
    {31, "float8_e4m3fnuz"},
    {32, "float8_e5m2fnuz"},
    {33, "float8_e8m0fnu"},
    {34, "uint32"},
    {35, "uint64"},
}};
constexpr std::array<std::pair<int, std::string_view>, 6> kForeignLayouts = {{
    {1, "sparse_coo"},
    {2, "sparse_csr"},
    {3, "sparse_csc"},
    {4, "sparse_bsr"},
    {5, "sparse_bsc"},
    {6, "_mkldnn"},
}};

template <class Known, class Foreign>
auto find_number(const Known& known, const Foreign& foreign, std::int64_t number,
                 const std::string& what)
    -> Result<std::remove_cvref_t<decltype(known[0].second)>> {
  for (const auto& [candidate, value] : known) {
    if (candidate == number) return value;
  }
  for (const auto& [candidate, name] : foreign) {
    if (candidate == number)
      return unsupported(what + " " + std::string(name) + " is not supported");
  }
  return bad_input("unknown " + what + " number " + std::to_string(number));
}

template <class Known, class Value>
std::int64_t find_value(const Known& known, Value value) {
  for (const auto& [number, candidate] : known) {
    if (candidate == value) return number;
  }
  return 0;
}

constexpr std::array<std::pair<int, std::string_view>, 0> kNothing = {};

}  // namespace

Result<DType> dtype_of_number(std::int64_t number) {
  return find_number(kDTypes, kForeignDTypes, number, "dtype");
}
Result<Layout> layout_of_number(std::int64_t number) {
  return find_number(kLayouts, kForeignLayouts, number, "layout");
}
Result<MemoryFormat> memory_format_of_number(std::int64_t number) {
  return find_number(kMemoryFormats, kNothing, number, "memory format");
}

std::int64_t number_of(DType dtype) { return find_value(kDTypes, dtype); }
std::int64_t number_of(Layout layout) { return find_value(kLayouts, layout); }
std::int64_t number_of(MemoryFormat format) { return find_value(kMemoryFormats, format); }

}  // namespace graphgate::interop
