// What reductions along dimensions share: which dimensions, the result's sizes, the loop over rows.
//
// Used by: reduction, variance. The result is row-major, as PyTorch makes it.
#pragma once

#include <algorithm>
#include <functional>
#include <string>

#include "optimized/codegen/row_text.h"
#include "optimized/codegen/type_text.h"
#include "optimized/converted_rows.h"

namespace graphgate::optimized {

using Dims = std::vector<std::int64_t>;

// The sizes without `dims`, or with 1 in their places.
[[nodiscard]] inline Sizes reduced_sizes(const Tensor& self, const Dims& dims, bool keeps) {
  Sizes out;
  for (std::int64_t d = 0; d < self.rank(); ++d) {
    const bool is_reduced = std::find(dims.begin(), dims.end(), d) != dims.end();
    if (!is_reduced) out.push_back(self.sizes[static_cast<std::size_t>(d)]);
    if (is_reduced && keeps) out.push_back(1);
  }
  return out;
}

// The dimensions that argument `dim` names: one, several, or all where it is missing or None. An
// empty list is all of them, but for `empty_is_none`.
[[nodiscard]] inline Dims reduced_dims(const KernelCall& call, const Tensor& self,
                                       bool empty_is_none = false) {
  const auto given = call.optional_integers("dim");
  if (!given) return wrap_dims({}, self.rank(), true);
  return wrap_dims(*given, self.rank(), !empty_is_none);
}

// The dtype that holds every value of C.
template <class C>
[[nodiscard]] constexpr spec::DType compute_dtype() {
  if (std::is_same_v<C, double>) return spec::DType::kFloat64;
  return std::is_same_v<C, float> ? spec::DType::kFloat32 : spec::DType::kInt64;
}

// Gives R of the n elements of a row.
template <class C, class R>
using RowFunction = std::function<R(const C* row, std::int64_t n)>;

// The launch of reduce_launch without what a device is told.
template <class C, class R>
[[nodiscard]] Launch row_launch(const Tensor& result, const Tensor& self, const Dims& dims,
                                spec::DType dtype, spec::DType rounds_to, RowFunction<C, R> f) {
  return [from = ConvertedRows(self, dims, dtype), to = Rows(result, {}), result, rounds_to,
          f = std::move(f)] {
    std::vector<C> row(static_cast<std::size_t>(from.length()));
    for (std::int64_t r = 0; r < to.count(); ++r) {
      from.template load<C>(r, row.data());
      store_result<R>(result, to, r, rounds_to, f(row.data(), from.length()));
    }
  };
}

// result[r] = f(row r of self, converted to `dtype`, n), rounded to `rounds_to`. C is the type f
// reads, R what it returns.
template <class C, class R, class F>
[[nodiscard]] Launch reduce_launch(const DeviceListener* listener, const Tensor& result,
                                   const Tensor& self, const Dims& dims, spec::DType dtype,
                                   spec::DType rounds_to, F f) {
  std::string function;
  if (listener != nullptr) function = callable_text<C>(f);
  Launch launch = row_launch<C, R>(result, self, dims, dtype, rounds_to, std::move(f));
  if (function.empty()) return launch;
  auto work = reduce_text({result, self, dims, dtype, rounds_to, compute_dtype<C>(), function});
  if (!work) return launch;
  return described(std::move(launch), {std::move(*work)});
}

}  // namespace graphgate::optimized
