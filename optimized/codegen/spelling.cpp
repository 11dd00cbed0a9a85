#include "optimized/codegen/spelling.h"

#include <algorithm>

#include "base/result.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

bool merges(const Walk& walk, const Sizes& outer, const Sizes& inner, std::int64_t inner_size) {
  for (std::size_t t = 0; t < walk.strides.size(); ++t) {
    if (outer[t] != inner[t] * inner_size) return false;
  }
  return true;
}

}  // namespace

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

std::string format_name(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return "Plain<double>";
    case DType::kFloat32:
      return "Plain<float>";
    case DType::kFloat16:
      return "F16";
    case DType::kBFloat16:
      return "BF16";
    case DType::kFloat8E4M3FN:
      return "F8E4M3FN";
    case DType::kFloat8E5M2:
      return "F8E5M2";
    case DType::kInt64:
      return "Plain<std::int64_t>";
    case DType::kInt32:
      return "Plain<std::int32_t>";
    case DType::kInt16:
      return "Plain<std::int16_t>";
    case DType::kInt8:
      return "Plain<std::int8_t>";
    case DType::kUInt8:
      return "Plain<std::uint8_t>";
    case DType::kBool:
      return "Boolean";
    case DType::kComplex64:
    case DType::kComplex128:
      break;  // two numbers an element
  }
  GRAPHGATE_CHECK(false);
}

std::string compute_name(DType dtype) {
  if (dtype == DType::kFloat64) return "double";
  return spec::is_floating_point(dtype) ? "float" : "std::int64_t";
}

DType compute_dtype(DType dtype) {
  if (dtype == DType::kFloat64) return dtype;
  return spec::is_floating_point(dtype) ? DType::kFloat32 : DType::kInt64;
}

std::string number_text(DType compute, std::uint64_t bits) {
  const bool is_narrow = compute_dtype(compute) == DType::kFloat32;
  return "std::bit_cast<" + compute_name(compute) + ">(" +
         (is_narrow ? "std::uint32_t{" : "std::uint64_t{") + std::to_string(bits) + "u})";
}

std::string load_text(DType dtype, DType as, DType compute, const std::string& at) {
  const std::string direct = "device::load<" + format_name(dtype) + ", ";
  if (dtype == as || as == compute_dtype(compute))
    return direct + compute_name(compute) + ">(" + at + ")";
  return "convert<" + compute_name(compute) + ">(device::rounded<" + format_name(as) + ">(" +
         direct + compute_name(dtype) + ">(" + at + ")))";
}

std::string cast_text(DType dtype, DType as, DType compute, const std::string& variable) {
  const std::string convert = "convert<" + compute_name(compute) + ">(";
  if (dtype == as || as == compute_dtype(compute)) return convert + variable + ")";
  return convert + "device::rounded<" + format_name(as) + ">(" + variable + "))";
}

std::string rounded_text(DType rounds_to, DType dtype, const std::string& value) {
  std::string rounded = "device::rounded<" + format_name(rounds_to) + ">(" + value + ")";
  if (rounds_to == dtype) return rounded;
  return "device::rounded<" + format_name(dtype) + ">(" + rounded + ")";
}

std::int64_t Walk::count() const {
  std::int64_t out = 1;
  for (const std::int64_t size : sizes) out *= size;
  return out;
}

Walk walk_of(const Sizes& sizes, std::span<const Tensor* const> tensors, bool keeps_order) {
  Walk walk;
  walk.strides.resize(tensors.size());
  std::vector<Sizes> by_dim(sizes.size(), Sizes(tensors.size()));  // per dimension, per tensor
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const Sizes elements = broadcast_strides(*tensors[t], sizes);
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      by_dim[d][t] = elements[d] * tensors[t]->item_bytes();
    }
  }
  std::vector<std::size_t> order;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != 1) order.push_back(d);
  }
  if (!keeps_order && !tensors.empty()) {
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return by_dim[a][0] > by_dim[b][0]; });
  }
  std::vector<Sizes> kept;
  for (const std::size_t d : order) {
    if (!kept.empty() && merges(walk, kept.back(), by_dim[d], sizes[d])) {
      walk.sizes.back() *= sizes[d];
      kept.back() = by_dim[d];
    } else {
      walk.sizes.push_back(sizes[d]);
      kept.push_back(by_dim[d]);
    }
  }
  for (const Sizes& strides : kept) {
    for (std::size_t t = 0; t < tensors.size(); ++t) walk.strides[t].push_back(strides[t]);
  }
  return walk;
}

std::string coordinates_text(const Sizes& sizes, const std::string& position,
                             const std::string& prefix) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  // Divisions of 32 bits are several times as fast.
  const char* type = count < (std::int64_t{1} << 31) ? "std::uint32_t" : "std::int64_t";
  std::string text;
  std::string rest = std::string("static_cast<") + type + ">(" + position + ")";
  for (std::size_t d = sizes.size(); d-- > 0;) {
    const std::string name = prefix + std::to_string(d);
    // Nobody asks for a place among no elements.
    const std::string size = std::to_string(std::max<std::int64_t>(sizes[d], 1));
    if (d == 0) {
      text += joined({"  const std::int64_t ", name, " = ", rest, ";\n"});
      break;
    }
    const std::string left = joined({prefix, "_", std::to_string(d)});
    text += joined({"  const ", type, " ", left, " = ", rest, ";\n"});
    text += joined({"  const std::int64_t ", name, " = ", left, " % ", size, ";\n"});
    rest = joined({left, " / ", size});
  }
  return text;
}

std::string offset_text(const Sizes& strides_bytes, const std::string& prefix) {
  std::string text;
  for (std::size_t d = 0; d < strides_bytes.size(); ++d) {
    if (strides_bytes[d] == 0) continue;
    text += (text.empty() ? "" : " + ") + prefix + std::to_string(d) + " * " +
            std::to_string(strides_bytes[d]);
  }
  return text.empty() ? "0" : text;
}

}  // namespace graphgate::optimized
