#include "optimized/value_errors.h"

#include <string>

#include "optimized/tensor.h"

namespace graphgate::optimized {

void throw_index_out_of_range(std::int64_t index, std::int64_t dim, std::int64_t size) {
  throw OpError("index " + std::to_string(index) + " is out of range for dimension " +
                std::to_string(dim) + " of size " + std::to_string(size));
}

void throw_index_outside_plane(std::int64_t index, std::int64_t size) {
  throw OpError("index " + std::to_string(index) + " is outside a plane of " +
                std::to_string(size) + " elements");
}

void throw_division_by_zero() { throw OpError("ZeroDivisionError: integer division by zero"); }

void throw_groups_do_not_ascend() { throw OpError("offs does not ascend within rows"); }

void throw_source_too_short(std::int64_t size) {
  throw OpError("the source has " + std::to_string(size) +
                " elements, fewer than the mask has true ones");
}

void throw_sorter_out_of_range(std::int64_t index, std::int64_t size) {
  throw OpError("sorter index " + std::to_string(index) + " is outside [0, " +
                std::to_string(size) + ")");
}

void throw_elements_not_finite() { throw OpError("the range of the elements is not finite"); }

void throw_bins_not_finite() { throw OpError("the range of the bins is not finite"); }

}  // namespace graphgate::optimized
