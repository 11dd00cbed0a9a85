#include "optimized/runtime/device/device.h"

#include "optimized/value_errors.h"

namespace graphgate::optimized {

void throw_fault(const DeviceFault& fault) {
  if (fault.kind == 0) return;
  if (fault.kind == DeviceFault::kBrokenCanary) {
    throw BrokenCanary(fault.dim, fault.index, fault.size);
  }
  switch (fault.kind) {
    case DeviceFault::kDivisionByZero:
      throw_division_by_zero();
    case DeviceFault::kIndexOutsidePlane:
      throw_index_outside_plane(fault.index, fault.size);
    case DeviceFault::kGroupsDoNotAscend:
      throw_groups_do_not_ascend();
    case DeviceFault::kSourceTooShort:
      throw_source_too_short(fault.size);
    case DeviceFault::kSorterOutOfRange:
      throw_sorter_out_of_range(fault.index, fault.size);
    case DeviceFault::kElementsNotFinite:
      throw_elements_not_finite();
    case DeviceFault::kBinsNotFinite:
      throw_bins_not_finite();
    default:
      throw_index_out_of_range(fault.index, fault.dim, fault.size);
  }
}

std::optional<double> bytes_of_each(std::span<const std::int64_t> free_bytes) {
  std::size_t first = 0;
  std::size_t last = 0;
  for (std::size_t i = 1; i < free_bytes.size(); ++i) {
    if (free_bytes[i] > free_bytes[i - 1]) return {};  // somebody else gave some back
    if (free_bytes[i] == free_bytes[i - 1]) continue;
    if (first == 0) first = i;
    last = i;
  }
  if (first == last) return {};
  return static_cast<double>(free_bytes[first] - free_bytes[last]) /
         static_cast<double>(last - first);
}

}  // namespace graphgate::optimized
