// Orders along rows as kernels: what kernels/sorting.cpp does.
//
// Rows of `self` along `dims` become entries (kernels/elements/order.h) in scratch of the device
// alone; some of them go into the results, bit by bit as they were read. Nothing where there is no
// scratch, or where rows are too long (2^30).
#pragma once

#include "optimized/codegen/work.h"

namespace graphgate::optimized {

struct OrderWork {
  Tensor self;
  std::vector<std::int64_t> dims;
  // Rows along `result_dims`, which take neighbouring entries: their values, and where they stood.
  Tensor values;
  std::optional<Tensor> places;
  std::vector<std::int64_t> result_dims;
};

// A warp calls `function` (an expression: a callable of order.h) with a row's entries; those from
// `first` on go out. For ops that name one of several equal elements by how they go about it.
[[nodiscard]] std::optional<DeviceWorks> select_works(const DeviceListener& listener,
                                                      const OrderWork& work,
                                                      const std::string& function,
                                                      std::int64_t first = 0);

// All entries of a row in the stable order by `before`, a thread for each: runs of neighbours
// first, then one pass for each doubling.
[[nodiscard]] std::optional<DeviceWorks> stable_order_works(const DeviceListener& listener,
                                                            const OrderWork& work,
                                                            const std::string& before);

// The entry of a row that `function` names, given all in the stable order from the least on.
[[nodiscard]] std::optional<DeviceWorks> median_works(const DeviceListener& listener,
                                                      const OrderWork& work,
                                                      const std::string& function);

}  // namespace graphgate::optimized
