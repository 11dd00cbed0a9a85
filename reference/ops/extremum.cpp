// The largest and smallest over dimensions, and where they are. NaN is larger and smaller than
// every number; of equal elements the first counts.
#include <array>

#include "reference/ops/open_order.h"
#include "reference/pointwise.h"
#include "reference/registry.h"
#include "reference/slices.h"

namespace graphgate::reference {
namespace {

using spec::DType;

enum class Wanted { kLargest, kSmallest };

template <class N>
N better(const N& a, const N& b, Wanted wanted) {
  return wanted == Wanted::kLargest ? maximum(a, b) : minimum(a, b);
}

// Whether `a` must come before `b`.
template <class N>
bool beats(const N& a, const N& b, Wanted wanted) {
  if (is_nan(a).value != 0) return is_nan(b).value == 0;
  return (wanted == Wanted::kLargest ? less(b, a) : less(a, b)).value != 0;
}

template <class N>
N extreme_of(const Slice<N>& slice, Wanted wanted) {
  N best = slice[0];
  for (std::size_t i = 1; i < slice.size(); ++i) best = better(best, slice[i], wanted);
  return best;
}

template <class N>
Whole extreme_index(const Slice<N>& slice, Wanted wanted) {
  std::size_t best = 0;
  N found = slice[0];
  for (std::size_t i = 1; i < slice.size(); ++i) {
    if (!beats(slice[i], found, wanted)) continue;
    best = i;
    found = slice[i];
  }
  return {static_cast<std::int64_t>(best), has_rival(slice, best, true)};
}

void emit_extremes(Call& call, std::string_view name, Wanted wanted) {
  const Tensor& self = *call.tensor("self");
  const Reduction reduction(call, self);
  reduction.expect_elements(name);
  with_number(call.mode(), self.dtype, [&]<class N>() {
    const auto of = [wanted](const Slice<N>& slice) { return extreme_of<N>(slice, wanted); };
    emit_slices<N>(call, self, self.dtype, reduction, self.dtype, of);
  });
}

void emit_indices(Call& call, std::string_view name, Wanted wanted) {
  const Tensor& self = *call.tensor("self");
  const Reduction reduction(call, self);
  reduction.expect_elements(name);
  with_number(call.mode(), self.dtype, [&]<class N>() {
    const auto of = [wanted](const Slice<N>& slice) { return extreme_index<N>(slice, wanted); };
    emit_slices<N>(call, self, self.dtype, reduction, DType::kInt64, of);
  });
}

// Three forms: of two tensors, along a dimension with indices, over everything.
void max_or_min(Call& call, std::string_view name, Wanted wanted) {
  if (call.has("other")) {
    return pointwise(call, {"self", "other"},
                     [wanted](auto a, auto b) { return better(a, b, wanted); });
  }
  emit_extremes(call, name, wanted);
  if (call.has("dim")) emit_indices(call, name, wanted);
}

void max(Call& call) { max_or_min(call, "max", Wanted::kLargest); }
void min(Call& call) { max_or_min(call, "min", Wanted::kSmallest); }
void amax(Call& call) { emit_extremes(call, "amax", Wanted::kLargest); }
void amin(Call& call) { emit_extremes(call, "amin", Wanted::kSmallest); }
void aminmax(Call& call) {
  emit_extremes(call, "aminmax", Wanted::kSmallest);
  emit_extremes(call, "aminmax", Wanted::kLargest);
}

void argmax_or_argmin(Call& call, std::string_view name, Wanted wanted) {
  if (call.tensor("self")->dtype == DType::kBool) {
    throw OpError(std::string(name) + "(): bool is not supported");
  }
  emit_indices(call, name, wanted);
}
void argmax(Call& call) { argmax_or_argmin(call, "argmax", Wanted::kLargest); }
void argmin(Call& call) { argmax_or_argmin(call, "argmin", Wanted::kSmallest); }

constexpr std::array kExtremumOps = {
    OpBody{"aten.amax", amax},     OpBody{"aten.amin", amin},     OpBody{"aten.aminmax", aminmax},
    OpBody{"aten.argmax", argmax}, OpBody{"aten.argmin", argmin}, OpBody{"aten.max", max},
    OpBody{"aten.min", min},
};

}  // namespace

std::span<const OpBody> extremum_ops() { return kExtremumOps; }

}  // namespace graphgate::reference
