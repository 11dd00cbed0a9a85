// Sums, products, counts and norms over dimensions. Results are contiguous, whatever the input's
// strides. 16-bit dtypes accumulate in float32 and round once, except in prod and logsumexp
// (there).
#include <algorithm>
#include <array>
#include <limits>

#include "reference/number/left_open.h"
#include "reference/number/product.h"
#include "reference/number/sum.h"
#include "reference/ops/contributions.h"
#include "reference/ops/vector_norm.h"
#include "reference/ops/view.h"
#include "reference/pointwise.h"
#include "reference/registry.h"
#include "reference/slices.h"

namespace graphgate::reference {
namespace {

using spec::DType;

DType to_summed(DType dtype) { return spec::is_floating_point(dtype) ? dtype : DType::kInt64; }

// The dtype of a sum or product: as asked, else that of the out= tensor, else int64 for integers.
DType accumulated_dtype(const Call& call) {
  if (const auto asked = call.optional_dtype("dtype")) return *asked;
  if (const TensorRef target = call.next_target()) return target->dtype;
  return to_summed(call.tensor("self")->dtype);
}

template <class N, class Numbers>
N sum_of(const Numbers& slice) {
  Sum<N> total;
  for (const N& x : slice) total.add(x);
  return total.result();
}

void sum(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Reduction reduction(call, self);
  const DType dtype = accumulated_dtype(call);
  with_number(call.mode(), dtype, [&]<class N>() {
    emit_slices<N>(call, self, dtype, reduction, dtype, sum_of<N, Slice<N>>);
  });
}

// Whether the CPU's kernel keeps partial sums in 16 bits: it adds one removed dimension after the
// other to the result where their elements do not follow each other.
bool adds_in_dtype(const Tensor& self, const Reduction& reduction, DType dtype) {
  if (compute_dtype(dtype) == dtype || declared_arithmetic().has_cuda_kernels) return false;
  const Tensor folded = reduction.folded(self);
  std::int64_t next = 0;  // where the elements behind those of a dimension begin; 0: none yet
  for (std::size_t d = folded.sizes.size(); d-- > 0;) {
    if (folded.sizes[d] == 1) continue;
    if (next != 0 && folded.strides[d] != next) return true;
    next = folded.strides[d] * folded.sizes[d];
  }
  return false;
}

// The sum of what is no NaN. (`sum` computes 16-bit data in float32.)
void nansum(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Reduction reduction(call, self);
  const DType dtype = accumulated_dtype(call);
  const bool in_dtype = spec::is_floating_point(dtype) && adds_in_dtype(self, reduction, dtype);
  const Accumulation how{.partials = in_dtype ? Partials::kOwnDtype : Partials::kWide};
  with_number(call.mode(), dtype, [&]<class N>() {
    const auto sum_numbers = [&](const Slice<N>& slice) {
      if constexpr (requires(N x) { x.radius; }) {
        if (in_dtype) {
          detail::Slot<N> slot;
          for (const N& x : slice) slot.add(select(is_nan(x), N(0), x), how, dtype);
          return slot.result(how, dtype);
        }
      }
      Sum<N> total;
      for (const N& x : slice) total.add(select(is_nan(x), N(0), x));
      return total.result();
    };
    emit_slices<N>(call, self, dtype, reduction, dtype, sum_numbers);
  });
}

inline double mean_by_factor(double mean, double /*sum*/, double /*count*/) { return mean; }
// CUDA's kernel multiplies the sum by the rounded reciprocal of the count.
template <class P>
Tracked<P> mean_by_factor(const Tracked<P>& mean, const Tracked<P>& sum, double count) {
  if (!declared_arithmetic().has_cuda_kernels) return mean;
  const Tracked<P> one = {1, 0, sum.arithmetic};
  return covering(mean, sum * (one / Tracked<P>(count)));
}

// 16-bit dtypes: the sum stays float32 until the quotient is rounded.
void mean(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Reduction reduction(call, self);
  const TensorRef target = call.next_target();
  const DType dtype = call.optional_dtype("dtype").value_or(target ? target->dtype : self.dtype);
  if (!spec::is_floating_point(dtype)) throw OpError("mean(): the dtype must be floating point");
  with_real(call.mode(), [&]<class N>() {
    const auto mean_of = [](const Slice<N>& slice) {
      const auto count = static_cast<double>(slice.size());
      const N sum = sum_of<N>(slice);
      return mean_by_factor(sum / N(count), sum, count);
    };
    emit_slices<N>(call, self, compute_dtype(dtype), reduction, dtype, mean_of);
  });
}

// PyTorch's CPU kernel multiplies 16-bit dtypes in the dtype itself.
void prod(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Reduction reduction(call, self);
  const DType dtype = accumulated_dtype(call);
  with_number(call.mode(), dtype, [&]<class N>() {
    const auto prod_of = [dtype](const Slice<N>& slice) {
      Product<N> total(dtype);
      for (const N& x : slice) total.include(x);
      return total.result();
    };
    emit_slices<N>(call, self, dtype, reduction, dtype, prod_of);
  });
}

// The sum of a matrix's diagonal.
void trace(Call& call) {
  const Tensor& self = *call.tensor("self");
  if (self.rank() != 2) throw OpError("trace: expected a matrix");
  if (self.dtype == DType::kBool) throw OpError("trace is not implemented for bool");
  const DType dtype = to_summed(self.dtype);
  const TensorRef diagonal = view_of(self, diagonal_of(self, 0, 0, 1));
  with_number(call.mode(), dtype, [&]<class N>() {
    Array<N> out(Sizes{});
    out[0] = sum_of<N>(load<N>(*diagonal, dtype).data);
    call.emit(out, dtype);
  });
}

// --- any, all, count_nonzero ---

template <class N>
Whole truth_of(const N& x) {
  return logical_not(is_zero(x));
}

// Emits the truth of each element.
template <class N>
void emit_truths(Call& call, const Tensor& self, DType dtype) {
  if (!call.reads_before_writing(self, self.sizes)) {
    const Array<N> values = load<N>(self, self.dtype);
    Array<Whole> out(self.sizes);
    for (std::int64_t i = 0; i < out.count(); ++i) out[i] = truth_of(values[i]);
    return call.emit(out, dtype);
  }
  Reader<N> reader(self, self.dtype);
  std::vector<N> values;
  call.emit_blocks<Whole>(self.sizes, dtype, {}, [&](std::span<Whole> block) {
    values.resize(block.size());
    reader.read(values);
    std::ranges::transform(values, block.begin(), truth_of<N>);
  });
}

// Whether some truth of the slice is `wanted`; one certain case decides it.
template <class N>
Whole contains(const Slice<N>& slice, bool wanted) {
  bool open = false;
  for (const N& x : slice) {
    const Whole truth = truth_of(x);
    const bool is_wanted = (truth.value != 0) == wanted;
    if (is_wanted && !truth.undecided) return 1;
    open = open || truth.undecided;
  }
  return {0, open};
}

// uint8 gives uint8, all else bool. The dims form takes an empty list literally: nothing is
// reduced.
void any_or_all(Call& call, bool wanted) {
  const Tensor& self = *call.tensor("self");
  const DType dtype = self.dtype == DType::kUInt8 ? DType::kUInt8 : DType::kBool;
  const bool keeps_all =
      call.has("dim") && call.datum("dim").as<Datum::List>() && call.integers("dim").empty();
  with_number(call.mode(), self.dtype, [&]<class N>() {
    if (keeps_all) return emit_truths<N>(call, self, dtype);
    const auto holds = [wanted](const Slice<N>& slice) {
      const Whole found = contains(slice, wanted);
      return wanted ? found : logical_not(found);
    };
    emit_slices<N>(call, self, self.dtype, Reduction(call, self), dtype, holds);
  });
}
void any(Call& call) { any_or_all(call, true); }
void all(Call& call) { any_or_all(call, false); }

void count_nonzero(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Reduction reduction(call, self);
  with_number(call.mode(), self.dtype, [&]<class N>() {
    const auto count = [](const Slice<N>& slice) {
      Sum<Whole> total;
      for (const N& x : slice) total.add(truth_of(x));
      return total.result();
    };
    emit_slices<N>(call, self, self.dtype, reduction, DType::kInt64, count);
  });
}

// --- logsumexp and norms ---

// A composite: each step is an op of its own and rounds to the dtype.
template <class N>
N logsumexp_of(const Slice<N>& slice, DType dtype) {
  N most = N(-std::numeric_limits<double>::infinity());
  for (const N& x : slice) most = maximum(most, x);
  const Whole is_infinite = equal(abs(most), N(std::numeric_limits<double>::infinity()));
  const N shift = select(is_infinite, N(0), most);
  Sum<N> total;
  for (const N& x : slice) {
    total.add(held_in(exp(held_in(x - shift, dtype)), dtype));
  }
  return held_in(log(held_in(total.result(), dtype)), dtype) + shift;
}

void logsumexp(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Reduction reduction(call, self);
  const DType dtype = to_floating(self.dtype);
  with_real(call.mode(), [&]<class N>() {
    const auto of = [dtype](const Slice<N>& slice) { return logsumexp_of<N>(slice, dtype); };
    emit_slices<N>(call, self, dtype, reduction, dtype, of);
  });
}

void norm_of_order(Call& call, double order) {
  const Tensor& self = *call.tensor("self");
  const Reduction reduction(call, self);
  const TensorRef target = call.next_target();
  const DType dtype = call.optional_dtype("dtype").value_or(target ? target->dtype : self.dtype);
  if (!spec::is_floating_point(self.dtype)) throw OpError("norm: the input must be floating point");
  const bool has_identity = order >= 0 && !std::isinf(order);
  if (!has_identity) reduction.expect_elements("norm");
  with_real(call.mode(), [&]<class N>() {
    const DType computed = compute_dtype(dtype);
    const auto of = [&](const Slice<N>& slice) { return norm_of<N>(slice, order, computed); };
    emit_slices<N>(call, self, computed, reduction, dtype, of);
  });
}
// The norm of a difference, which is a tensor of its own.
void dist(Call& call) {
  const Operands operands = gather_operands(call, {"self", "other"});
  const DType dtype = operands.common;
  require_floating(call, dtype);
  refuse_float8(call, dtype);
  const double order = call.real("p");
  if (count_of(operands.sizes) == 0 && (order < 0 || std::isinf(order))) {
    throw OpError("dist: a norm of this order has no value for no elements");
  }
  with_real(call.mode(), [&]<class N>() {
    const auto differences = detail::apply_formula<N>(
        operands, dtype, [dtype](const N& x, const N& y) { return held_in(x - y, dtype); },
        std::make_index_sequence<2>());
    call.emit(Array<N>(Sizes{}, norm_of<N>(differences.data, order, compute_dtype(dtype))), dtype);
  });
}
void linalg_vector_norm(Call& call) { norm_of_order(call, call.real("ord")); }
void norm(Call& call) { norm_of_order(call, call.optional_real("p").value_or(2)); }

constexpr std::array kReductionOps = {
    OpBody{"aten.all", all},
    OpBody{"aten.any", any},
    OpBody{"aten.count_nonzero", count_nonzero},
    OpBody{"aten.dist", dist},
    OpBody{"aten.linalg_vector_norm", linalg_vector_norm},
    OpBody{"aten.logsumexp", logsumexp},
    OpBody{"aten.mean", mean},
    OpBody{"aten.nansum", nansum},
    OpBody{"aten.norm", norm},
    OpBody{"aten.prod", prod},
    OpBody{"aten.sum", sum},
    OpBody{"aten.trace", trace},
};

}  // namespace

std::span<const OpBody> reduction_ops() { return kReductionOps; }

}  // namespace graphgate::reference
