#include "optimized/codegen/row_spelling.h"

#include <algorithm>

#include "optimized/codegen/spelling.h"

namespace graphgate::optimized {

std::int64_t RowPart::count() const {
  std::int64_t out = 1;
  for (const std::int64_t size : sizes) out *= size;
  return out;
}

RowParts rows_of(const Tensor& tensor, const std::vector<std::int64_t>& dims) {
  RowParts out;
  const auto add = [&](RowPart& part, std::int64_t dim) {
    part.sizes.push_back(tensor.sizes[static_cast<std::size_t>(dim)]);
    part.strides.push_back(tensor.strides[static_cast<std::size_t>(dim)] * tensor.item_bytes());
  };
  for (std::int64_t d = 0; d < tensor.rank(); ++d) {
    if (std::ranges::find(dims, d) == dims.end()) add(out.outer, d);
  }
  for (const std::int64_t d : dims) {
    if (d < tensor.rank()) add(out.inner, d);
  }
  return out;
}

std::string first_text(const std::string& name, std::size_t pointer, const RowPart& outer) {
  const std::string prefix = name + "_o";
  return coordinates_text(outer.sizes, "row", prefix) + "  char* const " + name + " = p" +
         std::to_string(pointer) + " + " + offset_text(outer.strides, prefix) + ";\n";
}

std::string place_text(const std::string& name, const RowPart& inner) {
  return "  const auto at_" + name + " = [&](std::int64_t i) -> char* {\n  " +
         coordinates_text(inner.sizes, "i", "i") + "    return " + name + " + " +
         offset_text(inner.strides, "i") + ";\n  };\n";
}

void add_rows(TextWork& out, const Tensor& tensor, const std::vector<std::int64_t>& dims,
              const std::string& name, bool is_written) {
  const RowParts parts = rows_of(tensor, dims);
  out.statements +=
      first_text(name, out.pointers.size(), parts.outer) + place_text(name, parts.inner);
  out.pointers.push_back(tensor.data());
  out.accesses.push_back({tensor, is_written});
}

std::string row_of_warp_text(std::int64_t count) {
  return "  const std::int64_t row = thread / 32;\n  if (row >= " + std::to_string(count) +
         ") return;\n";
}

}  // namespace graphgate::optimized
