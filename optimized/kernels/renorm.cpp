// Scaling parts of a tensor whose norm is above a limit.
#include <algorithm>
#include <cmath>

#include "optimized/kernels/accumulation.h"
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/elements/rows.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/pointwise.h"
#include "optimized/kernels/reduction_frame.h"
#include "optimized/scratch.h"
#include "optimized/value_errors.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

void require_norms(const Tensor& self) {
  if (!spec::is_floating_point(self.dtype) || spec::item_size_bytes(self.dtype) == 1) {
    throw OpError("there are no norms of " + std::string(spec::torch_name(self.dtype)));
  }
}

// All dimensions but `dim`.
Dims others_than(std::int64_t dim, std::int64_t rank) {
  Dims out;
  for (std::int64_t d = 0; d < rank; ++d) {
    if (d != dim) out.push_back(d);
  }
  return out;
}

struct RenormParts {
  Dims across;
  Sizes sizes;  // of the norms
  DType wide;
};
RenormParts renorm_parts(const KernelCall& call) {
  const Tensor& self = call.tensor("self");
  if (self.rank() < 2) throw OpError("renorm wants a rank of 2 or more");
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  Dims across = others_than(dim, self.rank());
  Sizes sizes = reduced_sizes(self, across, true);
  const DType wide = self.dtype == DType::kFloat64 ? self.dtype : DType::kFloat32;
  return {std::move(across), std::move(sizes), wide};
}

void infer_renorm(Inference& call) {
  const Tensor& self = call.tensor("self");
  require_norms(self);
  if (!(call.real("p") > 0)) throw OpError("renorm wants an order above 0");
  if (!(call.real("maxnorm") >= 0)) throw OpError("renorm wants a limit that is not negative");
  const RenormParts parts = renorm_parts(call);
  call.want_workspace(scratch_bytes(parts.wide, parts.sizes) +
                      scratch_bytes(self.dtype, parts.sizes));
  call.make(self.dtype, self.sizes);
}

// Norms, then factors in the dtype, then products.
Launch bind_renorm(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const RenormParts parts = renorm_parts(call);
  if (self.count() == 0) return {};
  std::byte* workspace = call.workspace();
  const Tensor norms = scratch_tensor(parts.wide, parts.sizes, workspace);
  const Tensor factors = scratch_tensor(self.dtype, parts.sizes, workspace);
  return with_real(parts.wide, [&]<class C>() {
    const auto* listener = call.listener();
    const auto order = static_cast<C>(call.real("p"));
    const auto limit = static_cast<C>(call.real("maxnorm"));
    return in_turn(
        {reduce_launch<C, C>(listener, norms, self, parts.across, self.dtype, parts.wide,
                             element::RowNorm<C>{order}),
         launch_tensors<C>(listener, factors, self.dtype, element::FactorTo<C>{limit}, norms),
         launch_tensors<C>(listener, call.result(), self.dtype, element::Multiply(), self,
                           factors)});
  });
}

// ---- embedding_renorm: rows that are indexed, on the host

void infer_embedding_renorm(Inference& call) {
  const Tensor& self = call.tensor("self");
  const DType index = call.tensor("indices").dtype;
  require_norms(self);
  if (self.rank() != 2) throw OpError("the weight has rank " + std::to_string(self.rank()));
  if (index != DType::kInt64 && index != DType::kInt32) throw OpError("indices are integers");
  call.make(self.dtype, self.sizes, strides_like(self, spec::MemoryFormat::kPreserve));
}

Launch bind_embedding_renorm(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& indices = call.tensor("indices");
  Dims all(at(indices.rank()));
  for (std::size_t d = 0; d < all.size(); ++d) all[d] = static_cast<std::int64_t>(d);
  Launch start = start_from_self(nullptr, call.result(), self);
  return with_real(self.dtype, [&]<class C>() -> Launch {
    return [start = std::move(start), index = Rows(indices, all), rows = Rows(call.result(), {1}),
            dtype = self.dtype, limit = call.real("max_norm"),
            norm_of = element::RowNorm<C>{static_cast<C>(call.real("norm_type"))}] {
      if (start.run) start.run();
      std::vector<std::int64_t> named(at(index.length()));
      if (index.count() != 0) index.template load<std::int64_t>(0, named.data());
      for (std::int64_t& row : named) {
        if (row < -rows.count() || row >= rows.count()) {
          throw_index_out_of_range(row, 0, rows.count());
        }
        if (row < 0) row += rows.count();
      }
      std::sort(named.begin(), named.end());
      named.erase(std::unique(named.begin(), named.end()), named.end());
      std::vector<C> row(at(rows.length()));
      for (const std::int64_t r : named) {
        rows.template load<C>(r, row.data());
        C norm = norm_of(static_cast<const C*>(row.data()), rows.length());
        round_values<C>(dtype, &norm, 1);
        const auto exact = static_cast<double>(norm);
        if (!(exact > limit)) continue;
        const auto factor = static_cast<C>(limit / (exact + 1e-7));
        for (C& x : row) x *= factor;
        rows.template store<C>(r, row.data());
      }
    };
  });
}

}  // namespace

std::span<const Kernel> renorm_kernels() {
  static constexpr Kernel kKernels[] = {
      {"aten.embedding_renorm", infer_embedding_renorm, bind_embedding_renorm},
      {"aten.renorm", infer_renorm, bind_renorm},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
