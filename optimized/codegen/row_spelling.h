// Where the elements of rows lie, as expressions of device text: what optimized/rows.h is to the
// host. Rows and their elements are counted as there.
#pragma once

#include <string>
#include <vector>

#include "optimized/codegen/work.h"

namespace graphgate::optimized {

// Kernels count the elements of a row in 32 bits.
inline constexpr std::int64_t kLongestRow = (std::int64_t{1} << 30) - 1;

// The sizes and strides (in bytes) of a tensor along some dimensions.
struct RowPart {
  Sizes sizes;
  Sizes strides;
  [[nodiscard]] std::int64_t count() const;
};

// Rows along some dimensions: `outer` has the others.
struct RowParts {
  RowPart outer, inner;
};
[[nodiscard]] RowParts rows_of(const Tensor& tensor, const std::vector<std::int64_t>& dims);

// "char* const NAME = pK + ...;" for row `row`, a variable.
[[nodiscard]] std::string first_text(const std::string& name, std::size_t pointer,
                                     const RowPart& outer);
// "const auto at_NAME = [&](std::int64_t i) -> char* {...};": where element i of the row lies.
[[nodiscard]] std::string place_text(const std::string& name, const RowPart& inner);
// Both, at the end of a text, for a tensor that it touches: another pointer of it.
void add_rows(TextWork& out, const Tensor& tensor, const std::vector<std::int64_t>& dims,
              const std::string& name, bool is_written = false);

// A warp takes a row of `count`, and ends where there is none: defines `row`.
[[nodiscard]] std::string row_of_warp_text(std::int64_t count);

}  // namespace graphgate::optimized
