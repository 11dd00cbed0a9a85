// Scaling parts of a tensor whose norm is above a limit.
#include <array>
#include <cmath>
#include <vector>

#include "reference/movement.h"
#include "reference/ops/index_access.h"
#include "reference/ops/vector_norm.h"
#include "reference/pointwise.h"
#include "reference/registry.h"
#include "reference/slices.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// limit / (norm + 1e-7) of a norm above the limit, else 1; all of it in `dtype`.
template <class N>
N scale_to(const N& norm, double limit, DType dtype) {
  const N most(round_to_dtype(limit, dtype));
  const N least(round_to_dtype(1e-7, dtype));
  return select(less(most, norm), most / (norm + least), N(1));
}

void check_floating(const Call& call) {
  require_floating(call, call.tensor("self")->dtype);
  refuse_float8(call, call.tensor("self")->dtype);
}

// Of every slice across `dim`. The norms of 16-bit data are float32, the factors are not.
void renorm(Call& call) {
  const Tensor& self = *call.tensor("self");
  check_floating(call);
  const double p = call.real("p");
  const double limit = call.real("maxnorm");
  if (!(p > 0)) throw OpError("renorm: non-positive-norm not supported");
  if (!(limit >= 0)) throw OpError("renorm: expected maxnorm to be >= 0");
  if (self.rank() < 2) throw OpError("renorm: input needs at least 2 dimensions");
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  Sizes others;
  for (std::int64_t d = 0; d < self.rank(); ++d) {
    if (d != dim) others.push_back(d);
  }
  const Reduction across(self.sizes, others, /*keepdim=*/true);
  if (std::isinf(p)) across.expect_elements("renorm");
  with_real(call.mode(), [&]<class N>() {
    Array<N> x = load<N>(self, self.dtype);
    const auto factor_of = [&](std::span<const N> slice) {
      const DType wide = compute_dtype(self.dtype);
      return held_in(scale_to(held_in(norm_of<N>(slice, p, wide), wide), limit, wide), self.dtype);
    };
    const Array<N> factors = broadcast_to(reduce(x, across, factor_of), self.sizes);
    for (std::int64_t i = 0; i < x.count(); ++i) x[i] = x[i] * factors[i];
    call.emit(x, self.dtype);
  });
}

// Of the rows that are indexed, each once; the others stay as they are. The norm is held in the
// dtype, and the limit compared with it and divided by it as a Python number; the factor may be
// held in the dtype, too.
void embedding_renorm(Call& call) {
  const Tensor& self = *call.tensor("self");
  check_floating(call);
  if (self.rank() != 2) throw OpError("embedding_renorm: expected 2-dimensional tensor");
  const std::int64_t width = self.sizes[1];
  std::vector<bool> is_named(static_cast<std::size_t>(self.sizes[0]));
  for (const Whole index : load_index(*call.tensor("indices")).data) {
    if (index.undecided) throw Undecidable("which rows are scaled depends on rounding");
    is_named[static_cast<std::size_t>(checked_index(index, self.sizes[0], 0, Negative::kWraps))] =
        true;
  }
  const double order = call.real("norm_type");
  const double limit = call.real("max_norm");
  const TensorRef made = copy_of(self);
  with_real(call.mode(), [&]<class N>() {
    const Array<N> x = load<N>(self, self.dtype);
    Array<N> scaled({0});
    std::vector<std::int64_t> from(static_cast<std::size_t>(self.count()), -1);
    for (std::int64_t row = 0; row < self.sizes[0]; ++row) {
      if (!is_named[static_cast<std::size_t>(row)]) continue;
      const std::span<const N> elements(x.data.data() + row * width,
                                        static_cast<std::size_t>(width));
      const N norm = held_in(norm_of<N>(elements, order, compute_dtype(self.dtype)), self.dtype);
      const N factor = held_in(scale_to(norm, limit, DType::kFloat64), self.dtype);
      const Whole is_kept = equal(factor, N(1));
      if (is_kept.value != 0 && !is_kept.undecided) continue;
      for (std::int64_t i = 0; i < width; ++i) {
        from[static_cast<std::size_t>(row * width + i)] = scaled.count();
        scaled.data.push_back(elements[static_cast<std::size_t>(i)] * factor);
      }
    }
    scaled.sizes = {scaled.count()};
    const TensorRef rows = new_tensor(self.dtype, scaled.sizes, self.device);
    store(*rows, scaled);
    move_elements(*made, *rows, from);
  });
  emit_made(call, made);
}

constexpr std::array kRenormOps = {
    OpBody{"aten.embedding_renorm", embedding_renorm},
    OpBody{"aten.renorm", renorm},
};

}  // namespace

std::span<const OpBody> renorm_ops() { return kRenormOps; }

}  // namespace graphgate::reference
