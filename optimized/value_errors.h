// What only the values of a call can get wrong, in words.
//
// Host kernels throw these where they meet such a value; who runs a device's kernels throws them
// for the record that those have left (codegen/kernels.h). So both end a call alike. All throw
// OpError.
#pragma once

#include <cstdint>

namespace graphgate::optimized {

[[noreturn]] void throw_index_out_of_range(std::int64_t index, std::int64_t dim, std::int64_t size);
// A place of a pooled plane of `size` elements.
[[noreturn]] void throw_index_outside_plane(std::int64_t index, std::int64_t size);
[[noreturn]] void throw_division_by_zero();
// The ends of a grouped product's rows.
[[noreturn]] void throw_groups_do_not_ascend();
// masked_scatter from a source of `size` elements.
[[noreturn]] void throw_source_too_short(std::int64_t size);
// Of searchsorted.
[[noreturn]] void throw_sorter_out_of_range(std::int64_t index, std::int64_t size);
// Of histc: where it takes its range from the elements, and of any range.
[[noreturn]] void throw_elements_not_finite();
[[noreturn]] void throw_bins_not_finite();

}  // namespace graphgate::optimized
