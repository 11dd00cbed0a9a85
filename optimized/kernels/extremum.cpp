// Least and greatest elements, along dimensions or of pairs, and where they stand. NaN is both: it
// wins over every number. Of equal elements the first one counts.
#include "optimized/codegen/row_text.h"
#include "optimized/codegen/spelling.h"
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/pointwise.h"
#include "optimized/rows.h"

namespace graphgate::optimized {
namespace {

enum class Extreme : std::uint8_t { kLeast, kGreatest };

template <Extreme extreme, class C>
bool beats(C x, C best) {
  return extreme == Extreme::kGreatest ? x > best : x < best;
}

// The first place of the extreme element, or of the first NaN.
template <Extreme extreme, class C>
std::int64_t extreme_index(const C* x, std::int64_t n) {
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    if (x[i] != x[i]) return i;
    if (beats<extreme>(x[i], x[at])) at = i;
  }
  return at;
}

// The element alone: eight lanes, which the compiler makes a vector.
template <Extreme extreme, class C>
C extreme_value(const C* x, std::int64_t n) {
  constexpr std::int64_t kLanes = 8;
  std::array<C, kLanes> best;
  best.fill(x[0]);
  const auto keep = [&](std::size_t lane, C value) {
    C& kept = best[lane];
    kept = beats<extreme>(value, kept) || value != value ? value : kept;
  };
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::int64_t j = 0; j < kLanes; ++j) {
      C& kept = best[static_cast<std::size_t>(j)];
      const C value = x[i + j];
      const bool stays = kept != kept || !(beats<extreme>(value, kept) || value != value);
      kept = stays ? kept : value;
    }
  }
  for (; i < n; ++i) {
    if (best[0] == best[0]) keep(0, x[i]);
  }
  for (std::size_t j = 1; j < kLanes; ++j) {
    if (best[0] == best[0]) keep(0, best[j]);
  }
  return best[0];
}

// What one call reduces.
struct Reduction {
  std::vector<std::int64_t> dims;  // in order
  Sizes sizes;                     // of the result
};

Reduction reduction_of(const Tensor& self, const Sizes& dims, bool keeps_dims) {
  Reduction out;
  out.dims = wrap_dims(dims, self.rank(), true);
  std::sort(out.dims.begin(), out.dims.end());
  for (std::int64_t d = 0; d < self.rank(); ++d) {
    const bool is_reduced = std::find(out.dims.begin(), out.dims.end(), d) != out.dims.end();
    if (is_reduced && self.size(d) == 0) {
      throw OpError("dimension " + std::to_string(d) + " is empty: it has no extreme element");
    }
    if (!is_reduced) {
      out.sizes.push_back(self.size(d));
    } else if (keeps_dims) {
      out.sizes.push_back(1);
    }
  }
  return out;
}

// By the arguments `dim` (one, several or none: all) and `keepdim`.
Reduction reduction_of(const KernelCall& call) {
  return reduction_of(call.tensor("self"), call.optional_integers("dim").value_or(Sizes{}),
                      call.boolean_or("keepdim", false));
}

std::int64_t row_bytes(const Tensor& self, const Reduction& reduction) {
  return Rows(self, reduction.dims).length() * static_cast<std::int64_t>(sizeof(std::int64_t));
}

// Calls finish(row, x) for every row of self, loaded into the workspace.
template <class C, class Finish>
Launch each_row(const Binding& call, const Finish& finish) {
  const Reduction reduction = reduction_of(call);
  return [rows = Rows(call.tensor("self"), reduction.dims),
          x = reinterpret_cast<C*>(call.workspace()), finish] {
    for (std::int64_t row = 0; row < rows.count(); ++row) {
      rows.load(row, x);
      finish(row, x, rows.length());
    }
  };
}

// The launch, and what it does for a device: `function` of a row (prelude.cuh) goes into `result`.
// Where two results come of a row, there are two works.
struct RowFunction {
  const Tensor& result;
  const char* name;
  Extreme extreme;
};
Launch told(Launch launch, const Binding& call, std::initializer_list<RowFunction> functions) {
  if (call.listener() == nullptr) return launch;
  const Tensor& self = call.tensor("self");
  DeviceWorks works;
  for (const RowFunction& function : functions) {
    const spec::DType dtype = self.dtype;
    auto work = reduce_text(
        {function.result, self, reduction_of(call).dims, dtype, function.result.dtype, dtype,
         std::string("device::") + function.name + "<" + compute_name(dtype) +
             (function.extreme == Extreme::kGreatest ? ", true>{}" : ", false>{}")});
    if (!work) return launch;
    works.emplace_back(std::move(*work));
  }
  return described(std::move(launch), std::move(works));
}

// ---- values alone: amax, amin, max(self), min(self), aminmax

template <int results>
void infer_values(Inference& call) {
  const Tensor& self = call.tensor("self");
  Reduction reduction = reduction_of(call);
  call.want_workspace(row_bytes(self, reduction));
  for (int i = 0; i < results; ++i) call.make(self.dtype, reduction.sizes);
}

template <Extreme extreme>
Launch bind_values(const Binding& call) {
  Launch launch = with_compute(call.tensor("self").dtype, [&]<class C>() {
    return each_row<C>(
        call, [out = Rows(call.result(), {})](std::int64_t row, const C* x, std::int64_t n) {
          out.store_one<C>(row, extreme_value<extreme>(x, n));
        });
  });
  return told(std::move(launch), call, {{call.result(), "ExtremeValue", extreme}});
}

Launch bind_aminmax(const Binding& call) {
  Launch launch = with_compute(call.tensor("self").dtype, [&]<class C>() {
    return each_row<C>(call,
                       [least = Rows(call.result(0), {}), greatest = Rows(call.result(1), {})](
                           std::int64_t row, const C* x, std::int64_t n) {
                         least.store_one<C>(row, extreme_value<Extreme::kLeast>(x, n));
                         greatest.store_one<C>(row, extreme_value<Extreme::kGreatest>(x, n));
                       });
  });
  return told(std::move(launch), call,
              {{call.result(0), "ExtremeValue", Extreme::kLeast},
               {call.result(1), "ExtremeValue", Extreme::kGreatest}});
}

// ---- places: argmax, argmin

void infer_places(Inference& call) {
  const Tensor& self = call.tensor("self");
  if (self.dtype == spec::DType::kBool) throw OpError("bool has no argmax or argmin");
  Reduction reduction = reduction_of(call);
  call.want_workspace(row_bytes(self, reduction));
  call.make(spec::DType::kInt64, std::move(reduction.sizes));
}

template <Extreme extreme>
Launch bind_places(const Binding& call) {
  Launch launch = with_compute(call.tensor("self").dtype, [&]<class C>() {
    return each_row<C>(
        call, [out = Rows(call.result(), {})](std::int64_t row, const C* x, std::int64_t n) {
          out.store_one<std::int64_t>(row, extreme_index<extreme>(x, n));
        });
  });
  return told(std::move(launch), call, {{call.result(), "ExtremeIndex", extreme}});
}

// ---- max and min: of all, along a dimension with places, or of two tensors

void infer_maximum_or_minimum(Inference& call) {
  if (call.has("other")) {
    const Tensor& self = call.tensor("self");
    const Tensor& other = call.tensor("other");
    const Sizes sizes = broadcast_sizes(self.sizes, other.sizes);
    return call.make(result_type({&call.item("self"), &call.item("other")}), sizes,
                     pointwise_strides({&self, &other}, sizes));
  }
  infer_values<1>(call);
  if (call.has("dim")) call.make(spec::DType::kInt64, reduction_of(call).sizes);
}

template <Extreme extreme>
Launch bind_pairs(const Binding& call) {
  const spec::DType dtype = result_type({&call.item("self"), &call.item("other")});
  return with_compute(dtype, [&]<class C>() {
    using Pair = std::conditional_t<extreme == Extreme::kGreatest, element::MaximumOrFirst,
                                    element::MinimumOrFirst>;
    return launch_tensors<C>(call.listener(), call.result(), dtype, Pair(), call.tensor("self"),
                             call.tensor("other"));
  });
}

template <Extreme extreme>
Launch bind_maximum_or_minimum(const Binding& call) {
  if (call.has("other")) return bind_pairs<extreme>(call);
  if (!call.has("dim")) return bind_values<extreme>(call);
  Launch launch = with_compute(call.tensor("self").dtype, [&]<class C>() {
    return each_row<C>(call, [values = Rows(call.result(0), {}), places = Rows(call.result(1), {})](
                                 std::int64_t row, const C* x, std::int64_t n) {
      const std::int64_t at = extreme_index<extreme>(x, n);
      values.store_one<C>(row, x[at]);
      places.store_one<std::int64_t>(row, at);
    });
  });
  return told(
      std::move(launch), call,
      {{call.result(0), "ExtremeElement", extreme}, {call.result(1), "ExtremeIndex", extreme}});
}

}  // namespace

std::span<const Kernel> extremum_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten.amax", infer_values<1>, bind_values<Extreme::kGreatest>}
          .fuses(Fusion::kAlongDim)
          .row_major(RowMajorRule::kAlways),
      Kernel{"aten.amin", infer_values<1>, bind_values<Extreme::kLeast>}
          .fuses(Fusion::kAlongDim)
          .row_major(RowMajorRule::kAlways),
      {"aten.aminmax", infer_values<2>, bind_aminmax},
      {"aten.argmax", infer_places, bind_places<Extreme::kGreatest>},
      {"aten.argmin", infer_places, bind_places<Extreme::kLeast>},
      {"aten.max", infer_maximum_or_minimum, bind_maximum_or_minimum<Extreme::kGreatest>},
      {"aten.min", infer_maximum_or_minimum, bind_maximum_or_minimum<Extreme::kLeast>},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
