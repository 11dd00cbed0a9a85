// Counting into bins, and places among boundaries, as kernels: what kernels/histogram.cpp does.
#pragma once

#include "optimized/codegen/work.h"

namespace graphgate::optimized {

// How many elements of `self` are in each of `count` bins goes into `result`. The bins cover
// [low, high], bits of the compute type of self; null: what the elements cover, and then a range
// that is not finite is a fault. Nothing without scratch.
struct BinsWork {
  Tensor result;
  Tensor self;
  std::int64_t count = 0;
  struct Range {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
  };
  std::optional<Range> range;
};
[[nodiscard]] std::optional<DeviceWorks> bins_works(const DeviceListener& listener,
                                                    const BinsWork& work);

// Rows of `result` along `dims` get the places of `values` (else of `number`, bits of the compute
// type of `dtype`) among the boundaries. These are of the same row along their last dimension, or
// of the only one. Boundaries are read in the sorter's order. An index in it that is out of range
// is a fault.
struct SearchWork {
  Tensor result;
  std::vector<std::int64_t> dims;
  Tensor boundaries;
  std::optional<Tensor> sorter;
  std::optional<Tensor> values;
  std::uint64_t number = 0;
  spec::DType dtype = spec::DType::kInt64;
  bool right = false;
};
[[nodiscard]] DeviceWorks search_works(const SearchWork& work);

}  // namespace graphgate::optimized
