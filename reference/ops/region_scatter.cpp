// Ops that write a whole region of a tensor: a view of it, a mask, or what a list of indices names.
#include <algorithm>
#include <array>
#include <map>

#include "reference/ops/advanced_index.h"
#include "reference/ops/contributions.h"
#include "reference/ops/scatter.h"
#include "reference/ops/view.h"
#include "reference/overlap.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// ---- views of a copy --------------------------------------------------------------------------

// A copy of self with its strides, offset and whole storage, which PyTorch keeps for these ops; an
// expanded self is laid out anew.
TensorRef copy_with_storage(const Tensor& self) {
  bool overlaps = false;
  for (std::size_t d = 0; d < self.sizes.size(); ++d) {
    overlaps = overlaps || (self.strides[d] == 0 && self.sizes[d] > 1);
  }
  if (overlaps) return copy_of(self, strides_like(self, spec::MemoryFormat::kPreserve));
  auto copy = std::make_shared<Tensor>(self);
  copy->storage = std::make_shared<Storage>(*self.storage);
  copy->storage->borrowed = true;  // the bytes are copied at the first write
  return copy;
}

// Where a view has several elements in one place, the order of writing says which of them stays;
// PyTorch's follows the strides of the source.
void leave_open_what_is_written_twice(Tensor& view) {
  const std::vector<std::int64_t> stored = element_positions(view);
  std::map<std::int64_t, std::int64_t> writes;
  for (const std::int64_t at : stored) ++writes[at];
  std::vector<std::int64_t> unknown;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    if (writes[stored[i]] > 1) unknown.push_back(static_cast<std::int64_t>(i));
  }
  mark_unknown(view, unknown);
}

void write_view(Call& call, const TensorRef& copy, const Geometry& at, const char* what) {
  const Tensor& source = *call.tensor("src");
  if (source.sizes != at.sizes) {
    throw OpError("expected src to have a size equal to the " + std::string(what) + " of self");
  }
  const TensorRef view = view_of(*copy, at);
  assign(call.mode(), *view, source);
  const bool is_oracle = call.mode() == Mode::kWorstCase || call.mode() == Mode::kSampled;
  if (is_oracle) leave_open_what_is_written_twice(*view);
  emit_made(call, copy);
}

void select_scatter(Call& call) {
  const TensorRef copy = copy_with_storage(*call.tensor("self"));
  write_view(call, copy, selected(*copy, call.integer("dim"), call.integer("index")), "slice");
}

void slice_scatter(Call& call) {
  const TensorRef copy = copy_with_storage(*call.tensor("self"));
  const Geometry at = sliced(*copy, call.integer("dim"), call.optional_integer("start"),
                             call.optional_integer("end"), call.integer("step"));
  write_view(call, copy, at, "slice");
}

void diagonal_scatter(Call& call) {
  const TensorRef copy = copy_with_storage(*call.tensor("self"));
  const Geometry at =
      diagonal_of(*copy, call.integer("offset"), call.integer("dim1"), call.integer("dim2"));
  write_view(call, copy, at, "slice");
}

void as_strided_scatter(Call& call) {
  const TensorRef copy = copy_with_storage(*call.tensor("self"));
  const Geometry at = strided_at(*copy, call.integers("size"), call.integers("stride"),
                                 call.optional_integer("storage_offset"));
  write_view(call, copy, at, "view");
}

// ---- masked_scatter ---------------------------------------------------------------------------

// From the first undecided element of the mask on, any element of the source may come next.
void mark_after_undecided(Tensor& written, const Tensor& mask) {
  const auto elements = load<Whole>(mask, DType::kBool);
  const auto first = std::find_if(elements.data.begin(), elements.data.end(),
                                  [](const Whole& x) { return x.undecided; });
  std::vector<std::int64_t> unknown;
  for (auto i = first - elements.data.begin(); i < elements.count(); ++i) unknown.push_back(i);
  mark_unknown(written, unknown);
}

void masked_scatter(Call& call) {
  require_apart(call.row(), call.arguments());
  const TensorRef& self = call.tensor("self");
  const Tensor& mask = *call.tensor("mask");
  const Tensor& source = *call.tensor("source");
  if (mask.dtype != DType::kBool) {
    throw OpError("masked_scatter_ only supports boolean masks");
  }
  check_same_dtype(*self, source);
  const bool in_place = call.next_target() == self;
  const Sizes sizes = in_place ? self->sizes : broadcast_sizes({self->sizes, mask.sizes});
  const TensorRef wide_mask = view_of(mask, expanded(mask, sizes));
  const TensorRef written = in_place ? self : copy_of(*view_of(*self, expanded(*self, sizes)));
  const std::vector<Picked> picked = true_positions(call.mode(), *wide_mask);
  if (source.count() < static_cast<std::int64_t>(picked.size())) {
    throw OpError("masked_scatter: Number of elements of source < number of ones in mask");
  }
  std::vector<std::int64_t> from(picked.size());
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::int64_t>(i);
  place(call.mode(), *written, picked, source, from);
  mark_after_undecided(*written, *wide_mask);
  emit_written(call, written);
}

// ---- index_put --------------------------------------------------------------------------------

void index_put(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Tensor& values = *call.tensor("values");
  if (self.dtype != values.dtype) {
    throw OpError("Index put requires the source and destination dtypes match");
  }
  const IndexPlan plan = plan_index(call.mode(), self, call.tensors("indices"));
  const TensorRef written = written_tensor(call, strides_like(self, spec::MemoryFormat::kPreserve));
  const std::vector<std::int64_t> from = stretched_positions(values.sizes, plan.sizes);
  if (call.boolean("accumulate")) {
    accumulate(call.mode(), *written, plan.picked, values, from,
               {Combining::kSum, Partials::kOwnDtype});
  } else {
    place(call.mode(), *written, plan.picked, values, from);
  }
  const bool undecided = std::any_of(plan.picked.begin(), plan.picked.end(),
                                     [](const Picked& picked) { return picked.undecided; });
  if (undecided) mark_all_unknown(*written);
  emit_written(call, written);
}

// The gradient of _unsafe_masked_index: values are added at the indices, which are brought inside;
// zeros where the mask does not hold.
void unsafe_masked_index_put_accumulate(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Tensor& mask = *call.tensor("mask");
  const Tensor& values = *call.tensor("values");
  check_same_dtype(self, values);
  const TensorRef written = written_tensor(call, strides_like(self, spec::MemoryFormat::kPreserve));
  if (self.count() == 0) return emit_written(call, written);
  const IndexPlan plan =
      plan_index(call.mode(), self, clamped_indices(self.sizes, call.tensors("indices")));
  const Sizes sizes = broadcast_sizes({values.sizes, mask.sizes});
  const auto kept = load<Whole>(mask, DType::kBool);
  with_number(call.mode(), self.dtype, [&]<class N>() {
    const Array<Whole> is_kept = broadcast_to(kept, sizes);
    Array<N> masked = broadcast_to(load<N>(values, self.dtype), sizes);
    for (std::int64_t i = 0; i < masked.count(); ++i) {
      masked[i] = select(is_kept[i], masked[i], N(0));
    }
    std::vector<N> terms;
    for (const std::int64_t at : stretched_positions(sizes, plan.sizes))
      terms.push_back(masked[at]);
    accumulate(*written, plan.picked, terms, {Combining::kSum, Partials::kOwnDtype});
  });
  const bool undecided = std::any_of(plan.picked.begin(), plan.picked.end(),
                                     [](const Picked& picked) { return picked.undecided; });
  if (undecided) mark_all_unknown(*written);
  emit_written(call, written);
}

constexpr std::array kRegionScatterOps = {
    OpBody{"aten._index_put_impl", index_put}.any_dtype().moves("self", "values"),
    OpBody{"aten._unsafe_index_put", index_put}.any_dtype().moves("self", "values"),
    OpBody{"aten._unsafe_masked_index_put_accumulate", unsafe_masked_index_put_accumulate},
    OpBody{"aten.as_strided_scatter", as_strided_scatter}.any_dtype().moves("self", "src"),
    OpBody{"aten.diagonal_scatter", diagonal_scatter}.any_dtype().moves("self", "src"),
    OpBody{"aten.index_put", index_put}.any_dtype().moves("self", "values"),
    OpBody{"aten.masked_scatter", masked_scatter}.any_dtype().moves("self", "source"),
    OpBody{"aten.select_scatter", select_scatter}.any_dtype().moves("self", "src"),
    OpBody{"aten.slice_scatter", slice_scatter}.any_dtype().moves("self", "src"),
};

}  // namespace

std::span<const OpBody> region_scatter_ops() { return kRegionScatterOps; }

}  // namespace graphgate::reference
