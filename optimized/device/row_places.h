// Where the elements of rows lie: expressions of device text, for works along rows.
#pragma once

#include <string>
#include <vector>

#include "optimized/tensor.h"

namespace graphgate::optimized {

// The sizes and strides (in bytes) of a tensor along some dimensions.
struct RowPart {
  Sizes sizes;
  Sizes strides;
  [[nodiscard]] std::int64_t count() const;
};
// Along `dims`, in their order (the elements of a row), and along the others (the rows).
struct RowPlaces {
  RowPart outer, inner;
};
[[nodiscard]] RowPlaces rows_of(const Tensor& tensor, const std::vector<std::int64_t>& dims);

// "char* const NAME = pK + ...;" for row `row`.
[[nodiscard]] std::string first_text(const std::string& name, std::size_t pointer,
                                     const RowPart& outer);
// "const auto at_NAME = [&](std::int64_t i) -> char* {...};": where element i of the row lies.
[[nodiscard]] std::string place_text(const std::string& name, const RowPart& inner);
// A warp takes a row: its number is `row`.
[[nodiscard]] std::string begin_rows(std::int64_t count);

}  // namespace graphgate::optimized
