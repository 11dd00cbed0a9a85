// Ops that read elements at indices, and ops that find the indices of elements.
#include <algorithm>
#include <array>

#include "reference/movement.h"
#include "reference/ops/advanced_index.h"
#include "reference/ops/view.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

void index(Call& call) {
  const Tensor& self = *call.tensor("self");
  for (const TensorRef& index : call.tensors("indices")) {
    if (index && index->dtype == DType::kBool) require_decided(*index);
  }
  const IndexPlan plan = plan_index(call.mode(), self, call.tensors("indices"));
  emit_made(call, pick(self, plan.sizes, plan.picked, plan.strides));
}

// Elements at indices where the mask holds, `fill` elsewhere; no index is out of range. Of a tensor
// without elements there is nothing to index: PyTorch indexes one that is full of `fill` and has
// size 1 for 0 where there is an index, and 0 where the list of indices has ended.
void unsafe_masked_index(Call& call) {
  TensorRef self = call.tensor("self");
  const std::vector<TensorRef> indices = call.tensors("indices");
  const std::vector<TensorRef> inside = clamped_indices(self->sizes, indices);
  const TensorRef fill_value = new_tensor(self->dtype, {}, self->device);
  fill(call.mode(), *fill_value, call.datum("fill"));
  if (self->count() == 0) {
    Sizes sizes(self->sizes.size(), 0);
    for (std::size_t d = 0; d < indices.size(); ++d) {
      sizes[d] = indices[d] && self->sizes[d] == 0 ? 1 : self->sizes[d];
    }
    self = copy_of(*view_of(*fill_value, expanded(*fill_value, sizes)));
    const IndexPlan plan = plan_index(call.mode(), *self, inside);
    return emit_made(call, pick(*self, plan.sizes, plan.picked, plan.strides));
  }
  const IndexPlan plan = plan_index(call.mode(), *self, inside);
  const TensorRef found = pick(*self, plan.sizes, plan.picked);
  const Tensor& mask = *call.tensor("mask");
  const Sizes sizes = broadcast_sizes({plan.sizes, mask.sizes});
  const TensorRef made = copy_of(*view_of(*found, expanded(*found, sizes)));
  with_number(call.mode(), mask.dtype, [&]<class N>() {
    const Array<N> kept = broadcast_to(load<N>(mask, mask.dtype), sizes);
    std::vector<Picked> filled;
    std::vector<std::int64_t> unknown;
    for (std::int64_t i = 0; i < kept.count(); ++i) {
      const Whole is_out = is_zero(kept[i]);
      if (is_out.undecided) unknown.push_back(i);
      if (is_out.value != 0) filled.push_back({i, false});
    }
    place(call.mode(), *made, filled, *fill_value, std::vector<std::int64_t>(filled.size(), 0));
    mark_unknown(*made, unknown);
  });
  emit_made(call, made);
}

void gather(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Sizes sizes = at_least_1d(self.sizes);
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  const Sizes out = call.tensor("index")->sizes;
  if (call.tensor("index")->count() == 0) {  // of any dtype
    emit_made(call, pick(self, out, {}));
    return;
  }
  const Tensor& index = *call.tensor("index");
  require_index(index);
  const Sizes index_sizes = at_least_1d(index.sizes);
  if (index_sizes.size() != sizes.size()) {
    throw OpError("index must have the same number of dimensions as the input");
  }
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (static_cast<std::int64_t>(d) == dim || index_sizes[d] <= sizes[d]) continue;
    throw OpError("index is larger than self along dimension " + std::to_string(d));
  }
  PositionsAlong positions(index, sizes, dim);
  emit_made(call, pick_blocks(self, out, [&](std::span<Picked> block) { positions.next(block); }));
}

// Self's elements whose coordinate along `dim` is each of `index`; [.., index count, ..].
TensorRef select_along(const Tensor& self, std::int64_t dim, const std::vector<Whole>& index) {
  const Sizes sizes = at_least_1d(self.sizes);
  Sizes out = sizes;
  out[static_cast<std::size_t>(dim)] = static_cast<std::int64_t>(index.size());
  const auto d = static_cast<std::size_t>(dim);
  const std::int64_t inner = count_of({sizes.begin() + dim + 1, sizes.end()});
  const auto rows = static_cast<std::int64_t>(index.size());
  if (count_of({sizes.begin(), sizes.begin() + dim}) > 0) {  // of rows without elements, too
    for (const Whole row : index) (void)checked_index(row, sizes[d], dim, Negative::kRefused);
  }
  std::int64_t at = 0;
  return pick_blocks(self, self.sizes.empty() ? Sizes{} : out, [&](std::span<Picked> block) {
    for (Picked& picked : block) {
      const Whole row = index[static_cast<std::size_t>(at / inner % rows)];
      const std::int64_t start =
          at / inner / rows * sizes[d] + checked_index(row, sizes[d], dim, Negative::kRefused);
      picked = {start * inner + at % inner, row.undecided};
      ++at;
    }
  });
}

void index_select(Call& call) {
  const Tensor& self = *call.tensor("self");
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  const Array<Whole> index = load_index(*call.tensor("index"));
  if (index.rank() > 1) throw OpError("index_select(): Index is supposed to be a vector");
  if (self.rank() == 0 && index.count() != 1) {
    throw OpError("index_select(): Index to scalar can have only 1 value");
  }
  emit_made(call, select_along(self, dim, index.data));
}

// Padding is a matter of gradients: padding_idx, scale_grad_by_freq and sparse do nothing here.
void embedding(Call& call) {
  const Tensor& weight = *call.tensor("weight");
  if (weight.rank() != 2) throw OpError("'weight' must be 2-D");
  const Array<Whole> indices = load_index(*call.tensor("indices"));
  const TensorRef rows = select_along(weight, 0, indices.data);
  Sizes sizes = indices.sizes;
  sizes.push_back(weight.sizes[1]);
  emit_made(call, view_of(*rows, sizes, spec::contiguous_strides(sizes), 0));
}

void take(Call& call) {
  const Tensor& self = *call.tensor("self");
  if (call.tensor("index")->dtype != DType::kInt64) {
    throw OpError("take(): Expected a long tensor for index");
  }
  const Array<Whole> index = load_index(*call.tensor("index"));
  std::vector<Picked> picked;
  picked.reserve(index.data.size());
  for (const Whole at : index.data) {
    picked.push_back({checked_index(at, self.count(), 0, Negative::kWraps), at.undecided});
  }
  emit_made(call, pick(self, index.sizes, picked));
}

// An out= tensor of other sizes takes the column-major geometry too.
void nonzero(Call& call) {
  require_decided_zeros(call.mode(), *call.tensor("self"));
  const TensorRef made = nonzero_of(call.mode(), *call.tensor("self"));
  const TensorRef target = call.next_target();
  if (target && target->sizes != made->sizes) {
    if (target->dtype != DType::kInt64) throw OpError("nonzero: out must be of dtype int64");
    call.resize_out(target, made->sizes, made->strides);
  }
  emit_made(call, made);
}

void nonzero_static(Call& call) {
  const Tensor& self = *call.tensor("self");
  const std::int64_t size = call.integer("size");
  if (size < 0) throw OpError("nonzero_static: 'size' must be a non-negative integer");
  const auto found = load<Whole>(*nonzero_of(call.mode(), self), DType::kInt64);
  Array<Whole> out({size, self.rank()}, Whole(call.integer("fill_value")));
  const std::int64_t filled = std::min(out.count(), found.count());
  for (std::int64_t i = 0; i < filled; ++i) out[i] = found[i];
  // An undecided count leaves the fill open as well.
  const bool open = has_undecided_zero(call.mode(), self);
  for (std::int64_t i = filled; i < out.count(); ++i) out[i].undecided = open;
  // CUDA's kernel fills a coordinate at a time.
  const bool by_coordinate = declared_arithmetic().has_cuda_kernels;
  call.emit(out, DType::kInt64,
            by_coordinate ? Sizes{1, std::max<std::int64_t>(size, 1)} : Sizes());
}

void masked_select(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Tensor& mask = *call.tensor("mask");
  if (mask.dtype != DType::kBool) throw OpError("masked_select: expected BoolTensor for mask");
  require_decided(mask);
  const Sizes sizes = broadcast_sizes({self.sizes, mask.sizes});
  const std::vector<Picked> picked =
      true_positions(call.mode(), *view_of(mask, expanded(mask, sizes)));
  const Sizes out = {static_cast<std::int64_t>(picked.size())};
  emit_made(call, pick(*view_of(self, expanded(self, sizes)), out, picked));
}

// Index i as often as repeats[i] says.
std::vector<Whole> repeated_indices(const Array<Whole>& repeats) {
  std::vector<Whole> out;
  for (std::int64_t i = 0; i < repeats.count(); ++i) {
    if (repeats[i].value < 0) throw OpError("repeats can not be negative");
    if (repeats[i].value > kMostElements - static_cast<std::int64_t>(out.size())) {
      throw OpError("repeat_interleave: the result is too large");
    }
    if (repeats[i].undecided) throw Undecidable("the count depends on a tie");
    out.insert(out.end(), static_cast<std::size_t>(repeats[i].value), Whole(i));
  }
  return out;
}

void check_output_size(const Call& call, std::size_t size) {
  const auto expected = call.optional_integer("output_size");
  if (expected && *expected != static_cast<std::int64_t>(size)) {
    throw OpError("allocated size does not match required size: output_size is " +
                  std::to_string(*expected) + ", the repeats give " + std::to_string(size));
  }
}

// The indices alone: repeat_interleave(repeats).
void emit_repeated_indices(Call& call) {
  const Tensor& repeats = *call.tensor("repeats");
  if (repeats.rank() != 1) throw OpError("repeat_interleave only accept 1D vector as repeat");
  const std::vector<Whole> indices = repeated_indices(load_index(repeats));
  check_output_size(call, indices.size());
  Array<Whole> out({static_cast<std::int64_t>(indices.size())});
  out.data = indices;
  call.emit(out, repeats.dtype);
}

void repeat_interleave(Call& call) {
  if (!call.has("self")) {
    emit_repeated_indices(call);
    return;
  }
  TensorRef self = call.tensor("self");
  const auto given_dim = call.optional_integer("dim");
  if (!given_dim || self->rank() == 0) {
    const std::int64_t count = self->count();
    self = view_of(*copy_of(*self), {count}, {1}, 0);
  }
  const std::int64_t dim = given_dim ? wrap_dim(*given_dim, self->rank()) : 0;
  const std::int64_t length = self->sizes[static_cast<std::size_t>(dim)];
  Array<Whole> repeats({1});
  if (call.datum("repeats").as<TensorRef>()) {
    repeats = load_index(*call.tensor("repeats"));
  } else {
    repeats[0] = call.integer("repeats");
  }
  if (repeats.rank() > 1) throw OpError("repeats must be 0-dim or 1-dim tensor");
  if (repeats.count() == 1) repeats = Array<Whole>({length}, repeats[0]);
  if (repeats.count() != length) {
    throw OpError("repeats must have the same size as input along dim, but got " +
                  std::to_string(repeats.count()) + " and " + std::to_string(length));
  }
  const std::vector<Whole> indices = repeated_indices(repeats);
  check_output_size(call, indices.size());
  emit_made(call, select_along(*self, dim, indices));
}

constexpr std::array kIndexingOps = {
    OpBody{"aten._unsafe_index", index}.any_dtype().moves("self"),
    OpBody{"aten._unsafe_masked_index", unsafe_masked_index}.any_dtype().moves("self"),
    OpBody{"aten.embedding", embedding}.any_dtype().moves("weight"),
    OpBody{"aten.gather", gather}.any_dtype().moves("self"),
    OpBody{"aten.index", index}.any_dtype().moves("self"),
    OpBody{"aten.index_select", index_select}.any_dtype().moves("self"),
    OpBody{"aten.masked_select", masked_select}.any_dtype().moves("self"),
    OpBody{"aten.nonzero", nonzero},
    OpBody{"aten.nonzero_static", nonzero_static},
    OpBody{"aten.repeat_interleave", repeat_interleave}.any_dtype().moves("self"),
    OpBody{"aten.take", take}.any_dtype().moves("self"),
};

}  // namespace

std::span<const OpBody> indexing_ops() { return kIndexingOps; }

}  // namespace graphgate::reference
