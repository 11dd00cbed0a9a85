// Running sums, products and extremes along a dimension, and differences of neighbours.
#include <algorithm>
#include <array>
#include <limits>

#include "reference/number/moments.h"
#include "reference/number/product.h"
#include "reference/number/sum.h"
#include "reference/ops/contributions.h"
#include "reference/ops/open_order.h"
#include "reference/registry.h"
#include "reference/slices.h"

namespace graphgate::reference {
namespace {

using spec::DType;

DType scanned_dtype(const Call& call) {
  if (const auto asked = call.optional_dtype("dtype")) return *asked;
  if (const TensorRef target = call.next_target()) return target->dtype;
  const DType own = call.tensor("self")->dtype;
  return spec::is_floating_point(own) ? own : DType::kInt64;
}

// Emits f(line) for every line along `dim`, computed in `dtype`.
template <class N, class F>
void emit_scanned(Call& call, DType dtype, F f) {
  const Tensor& self = *call.tensor("self");
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  emit_lines<N>(call, self, dtype, dim, line_length(self, dim), dtype, f);
}

// CUDA's scan rounds every partial total to the dtype, in an order of its own.
void total_by_cuda(Call& call, Combining reduction) {
  const DType dtype = scanned_dtype(call);
  const Accumulation how{reduction, Partials::kOwnDtype};
  with_number(call.mode(), dtype, [&]<class N>() {
    emit_scanned<N>(call, dtype, [&](std::span<const N> line) {
      detail::Slot<N> total;
      std::vector<N> out;
      for (const N& x : line) {
        total.add(x, how, dtype);
        out.push_back(total.result(how, dtype));
      }
      return out;
    });
  });
}

// The running total is float32 (float64 for float64 data) and rounds to the dtype element by
// element.
void cumsum(Call& call) {
  if (declared_arithmetic().has_cuda_kernels) return total_by_cuda(call, Combining::kSum);
  const DType dtype = scanned_dtype(call);
  with_number(call.mode(), dtype, [&]<class N>() {
    emit_scanned<N>(call, dtype, [](std::span<const N> line) {
      Sum<N> total;
      std::vector<N> out;
      for (const N& x : line) {
        total.add(x);
        out.push_back(total.result());
      }
      return out;
    });
  });
}

void cumprod(Call& call) {
  if (declared_arithmetic().has_cuda_kernels) return total_by_cuda(call, Combining::kProduct);
  const DType dtype = scanned_dtype(call);
  with_number(call.mode(), dtype, [&]<class N>() {
    emit_scanned<N>(call, dtype, [dtype](std::span<const N> line) {
      Product<N> total(compute_dtype(dtype));
      std::vector<N> out;
      for (const N& x : line) {
        total.include(x);
        out.push_back(total.result());
      }
      return out;
    });
  });
}

inline double allow_narrow_steps(double x, double /*most*/, double /*steps*/, DType) { return x; }
// CUDA's scan rounds every partial result, `most` at most, to the dtype.
template <class P>
Tracked<P> allow_narrow_steps(const Tracked<P>& x, const Tracked<P>& most, double steps,
                              DType dtype) {
  const bool is_narrow = compute_dtype(dtype) != dtype;
  if (!is_narrow || !declared_arithmetic().has_cuda_kernels || !is_finite(most)) return x;
  const double each = P::of_rounding(half_ulp(most.value, dtype));
  return {x.value, P::combine(x.radius, each * steps), x.arithmetic};
}

// log(sum(exp(x))) of each prefix, shifted by the prefix's maximum. Executors add one element at a
// time, log1p(exp(low - high)) + high, which rounds three numbers no larger than the magnitudes
// here per step. A step of what is infinite is exact.
template <class N>
std::vector<N> running_logsumexp(std::span<const N> line, DType dtype) {
  std::vector<N> out;
  N most = N(-std::numeric_limits<double>::infinity());
  N magnitude = 1;
  for (std::size_t n = 1; n <= line.size(); ++n) {
    most = maximum(most, line[n - 1]);
    if (is_finite(line[n - 1])) magnitude = maximum(magnitude, abs(line[n - 1]));
    const Whole is_infinite = equal(abs(most), N(std::numeric_limits<double>::infinity()));
    const N shift = select(is_infinite, N(0), most);
    Sum<N> total;
    for (const N& x : line.first(n)) total.add(exp(x - shift));
    const N value = log(total.result()) + shift;
    const auto steps = static_cast<double>(n - 1);
    out.push_back(allow_narrow_steps(allow_roundings(value, magnitude + N(1), 3 * steps),
                                     magnitude + log(N(static_cast<double>(n))), steps, dtype));
  }
  return out;
}

void logcumsumexp(Call& call) {
  const DType dtype = call.tensor("self")->dtype;
  if (!spec::is_floating_point(dtype)) throw OpError("logcumsumexp: wants a floating dtype");
  with_real(call.mode(), [&]<class N>() {
    emit_scanned<N>(call, dtype,
                    [&](std::span<const N> line) { return running_logsumexp(line, dtype); });
  });
}

// --- cummax, cummin: NaN stays, and of equal elements (or NaNs) the last counts ---

template <class N>
std::vector<Whole> running_best(std::span<const N> line, bool largest) {
  std::vector<Whole> out;
  std::size_t best = 0;
  const bool inexact = has_inexact(line);
  for (std::size_t i = 0; i < line.size(); ++i) {
    const Whole worse = largest ? less(line[i], line[best]) : less(line[best], line[i]);
    const bool both = is_nan(line[best]).value != 0 || worse.value != 0;
    if (is_nan(line[i]).value != 0 || !both) best = i;
    out.emplace_back(static_cast<std::int64_t>(best),
                     inexact && has_rival(line.first(i + 1), best, false));
  }
  return out;
}

void cummax_or_cummin(Call& call, bool largest) {
  const Tensor& self = *call.tensor("self");
  with_number(call.mode(), self.dtype, [&]<class N>() {
    emit_scanned<N>(call, self.dtype, [largest](std::span<const N> line) {
      std::vector<N> out;
      for (const N& x : line) {
        if (out.empty())
          out.push_back(x);
        else
          out.push_back(largest ? maximum(out.back(), x) : minimum(out.back(), x));
      }
      return out;
    });
    const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
    const auto best = [largest](std::span<const N> line) { return running_best(line, largest); };
    emit_lines<N>(call, self, self.dtype, dim, line_length(self, dim), DType::kInt64, best);
  });
}
void cummax(Call& call) { cummax_or_cummin(call, true); }
void cummin(Call& call) { cummax_or_cummin(call, false); }

// --- diff ---

// prepend, self and append along `dim`, in their common dtype; and the strides PyTorch would give.
struct Joined {
  std::vector<TensorRef> parts;
  DType dtype = DType::kFloat32;
  Sizes strides;
};

Joined join(const Call& call, std::size_t dim) {
  Joined out;
  std::vector<Datum> data;
  for (const std::string_view name : {"prepend", "self", "append"}) {
    if (!call.has(name)) continue;
    out.parts.push_back(call.tensor(name));
    data.push_back({out.parts.back()});
  }
  out.dtype = result_type(data);
  const Tensor& self = *call.tensor("self");
  out.strides = self.strides;
  if (out.parts.size() == 1) return out;
  Sizes sizes = self.sizes;
  sizes[dim] = 0;
  for (const TensorRef& part : out.parts) sizes[dim] += part->sizes[dim];
  const bool last = std::all_of(out.parts.begin(), out.parts.end(),
                                [](const TensorRef& t) { return suggests_channels_last(*t); });
  const auto format =
      sizes.size() == 4 ? spec::MemoryFormat::kChannelsLast : spec::MemoryFormat::kChannelsLast3d;
  out.strides = last ? strides_in_format(sizes, format) : spec::contiguous_strides(sizes);
  return out;
}

template <class N>
Array<N> joined_array(const Joined& joined, std::int64_t dim) {
  std::vector<Array<N>> parts;
  std::int64_t length = 0;
  for (const TensorRef& part : joined.parts) {
    parts.push_back(load<N>(*part, joined.dtype));
    length += parts.back().size(dim);
  }
  Array<N> out(with_length(parts.front().sizes, dim, length));
  const Lines to(out.sizes, dim);
  for (std::int64_t i = 0; i < to.count(); ++i) {
    std::vector<N> line;
    for (const Array<N>& part : parts) {
      const Lines from(part.sizes, dim);
      if (from.count() != to.count()) throw OpError("diff: prepend and append must fit the input");
      for (const N& x : from.gather(part, from.first(i))) line.push_back(x);
    }
    to.put(out, to.first(i), line);
  }
  return out;
}

// Neighbours' differences, rounded to the dtype each time; `differs` for bool.
template <class N>
Array<N> differences(const Array<N>& array, std::int64_t dim, DType dtype) {
  const std::int64_t length = std::max<std::int64_t>(array.size(dim) - 1, 0);
  return map_lines(array, dim, length, [&](std::span<const N> line) {
    std::vector<N> out;
    for (std::size_t i = 1; i < line.size(); ++i) {
      const N gap = line[i] - line[i - 1];
      if constexpr (std::is_same_v<N, Whole>) {
        out.push_back(dtype == DType::kBool ? logical_not(is_zero(gap)) : gap);
      } else {
        out.push_back(held_in(gap, dtype));
      }
    }
    return out;
  });
}

// Each difference is a pointwise op over two narrowed views, and has its strides.
Sizes differences_strides(const Sizes& strides, const Sizes& sizes) {
  const auto view = std::make_shared<Tensor>();
  view->sizes = sizes;
  view->strides = strides;
  const std::vector<TensorRef> views = {view, view};
  return pointwise_strides(views, sizes);
}

void diff(Call& call) {
  const Tensor& self = *call.tensor("self");
  if (self.rank() == 0) throw OpError("diff: the input must have at least one dimension");
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  const std::int64_t count = call.integer("n");
  if (count < 0) throw OpError("diff: the order must not be negative");
  if (count == 0) {
    return with_number(call.mode(), self.dtype, [&]<class N>() {
      call.emit(load<N>(self, self.dtype), self.dtype,
                strides_like(self, spec::MemoryFormat::kPreserve));
    });
  }
  const Joined joined = join(call, static_cast<std::size_t>(dim));
  with_number(call.mode(), joined.dtype, [&]<class N>() {
    Array<N> array = joined_array<N>(joined, dim);
    Sizes strides = joined.strides;
    const std::int64_t rounds = std::min(count, std::max<std::int64_t>(array.size(dim), 1));
    for (std::int64_t i = 0; i < rounds; ++i) {
      array = differences(array, dim, joined.dtype);
      strides = differences_strides(strides, array.sizes);
    }
    call.emit(array, joined.dtype, strides);
  });
}

constexpr std::array kScanOps = {
    OpBody{"aten.cummax", cummax},   OpBody{"aten.cummin", cummin},
    OpBody{"aten.cumprod", cumprod}, OpBody{"aten.cumsum", cumsum},
    OpBody{"aten.diff", diff},       OpBody{"aten.logcumsumexp", logcumsumexp},
};

}  // namespace

std::span<const OpBody> scan_ops() { return kScanOps; }

}  // namespace graphgate::reference
