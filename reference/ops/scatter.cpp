// Ops that write elements at indices, along one dimension or into the flattened tensor.
#include <array>
#include <numeric>

#include "reference/number/left_open.h"
#include "reference/ops/contributions.h"
#include "reference/ops/scatter.h"
#include "reference/overlap.h"
#include "reference/registry.h"

namespace graphgate::reference {

TensorRef written_tensor(const Call& call, Sizes strides) {
  require_apart(call.row(), call.arguments());
  const TensorRef& self = call.tensor("self");
  return call.next_target() == self ? self : copy_of(*self, std::move(strides));
}

void emit_written(Call& call, const TensorRef& written) {
  if (written == call.next_target()) {
    call.emit_datum({written});
  } else {
    emit_made(call, written);
  }
}

void check_same_dtype(const Tensor& self, const Tensor& source) {
  if (self.dtype == source.dtype) return;
  throw OpError("self and source must have the same dtype, but got " +
                std::string(spec::torch_name(self.dtype)) + " and " +
                std::string(spec::torch_name(source.dtype)));
}

TensorRef value_tensor(Mode mode, const Tensor& self, const Datum& value) {
  const TensorRef made = new_tensor(self.dtype, {}, self.device);
  if (const auto* tensor = value.as<TensorRef>()) {
    if ((*tensor)->rank() != 0) throw OpError("the value must be a tensor of zero dimensions");
    assign(mode, *made, **tensor);
  } else {
    fill(mode, *made, value);
  }
  return made;
}

namespace {

Sizes contiguous(const Tensor& tensor) { return spec::contiguous_strides(tensor.sizes); }
Sizes preserved(const Tensor& tensor) {
  return strides_like(tensor, spec::MemoryFormat::kPreserve);
}

// ---- scatter, scatter_add, scatter_reduce ----------------------------------------------------

void check_index_sizes(const Sizes& index, const Sizes& limit, std::int64_t free_dim,
                       const char* what) {
  if (index.size() != limit.size()) {
    throw OpError(std::string("index must have the same number of dimensions as ") + what);
  }
  for (std::size_t d = 0; d < index.size(); ++d) {
    if (static_cast<std::int64_t>(d) == free_dim || index[d] <= limit[d]) continue;
    throw OpError("index is larger than " + std::string(what) + " along dimension " +
                  std::to_string(d));
  }
}

// Writes `source` (a tensor of self's rank, or one value for all) at the index, or lets it
// contribute when `how` is given.
void scatter_along(Call& call, const TensorRef& source, bool is_value, const Accumulation* how) {
  const TensorRef written = written_tensor(call, contiguous(*call.tensor("self")));
  const std::int64_t dim = wrap_dim(call.integer("dim"), written->rank());
  check_same_dtype(*written, *source);
  if (call.tensor("index")->count() > 0) {  // else it may be of any dtype
    Array<Whole> index = load_index(*call.tensor("index"));
    index.sizes = at_least_1d(index.sizes);
    const Sizes sizes = at_least_1d(written->sizes);
    check_index_sizes(index.sizes, sizes, dim, "self");
    std::vector<std::int64_t> from(index.data.size(), 0);
    if (!is_value) {
      check_index_sizes(index.sizes, at_least_1d(source->sizes), -1, "src");
      from = corner_positions(index.sizes, at_least_1d(source->sizes));
    }
    const std::vector<Picked> picked = positions_along(index, sizes, dim);
    if (how) {
      accumulate(call.mode(), *written, picked, *source, from, *how);
    } else {
      place(call.mode(), *written, picked, *source, from);
    }
    mark_lines_unknown(*written, picked, dim);
  }
  emit_written(call, written);
}

void scatter(Call& call) {
  const bool is_value = call.has("value");
  TensorRef source = is_value ? call.tensor("self") : call.tensor("src");
  if (is_value && call.tensor("index")->count() > 0) {  // else the value may be out of range
    source = value_tensor(call.mode(), *source, call.datum("value"));
  }
  if (!call.has("reduce")) {
    scatter_along(call, source, is_value, nullptr);
    return;
  }
  const std::string_view name = call.text("reduce");
  if (name != "add" && name != "multiply") {
    throw OpError("reduce argument must be either add or multiply.");
  }
  const Accumulation how{reduction_of(name)};
  scatter_along(call, source, is_value, &how);
}

void scatter_add(Call& call) {
  const Accumulation how;
  scatter_along(call, call.tensor("src"), false, &how);
}

void scatter_reduce(Call& call) {
  const Accumulation how{reduction_of(call.text("reduce")), Partials::kWide,
                         call.boolean("include_self")};
  scatter_along(call, call.tensor("src"), false, &how);
}

// ---- index_add, index_copy, index_fill, index_reduce -----------------------------------------

// The rows of self that the index names, once the source has been found to fit them.
std::vector<Picked> rows_for_source(const Call& call, const Tensor& self) {
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  const Array<Whole> index = load_index(*call.tensor("index"));
  const Tensor& source = *call.tensor("source");
  if (index.rank() > 1) throw OpError("index must have one dimension or none");
  check_same_dtype(self, source);
  Sizes expected = at_least_1d(self.sizes);
  expected[static_cast<std::size_t>(dim)] = index.count();
  if (at_least_1d(source.sizes) != expected) {
    throw OpError("source must have the sizes of self, and one row per index");
  }
  return rows_along(at_least_1d(self.sizes), dim, index.data, Negative::kRefused);
}

std::vector<std::int64_t> all_positions(std::size_t count) {
  std::vector<std::int64_t> positions(count);
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

// Undecided rows may be any along the dimension.
void emit_rows(Call& call, const TensorRef& written, const std::vector<Picked>& rows) {
  mark_lines_unknown(*written, rows, wrap_dim(call.integer("dim"), written->rank()));
  emit_written(call, written);
}

// alpha * source rounds before it is added, and may be infinite then, or not: both are within the
// bound.
void index_add(Call& call) {
  const TensorRef written = written_tensor(call, contiguous(*call.tensor("self")));
  const std::vector<Picked> rows = rows_for_source(call, *written);
  const spec::DType dtype = written->dtype;
  with_number(call.mode(), dtype, [&]<class N>() {
    const Array<N> source = load<N>(*call.tensor("source"), dtype);
    const N alpha = number<N>(call.datum("alpha"), dtype);
    const bool is_narrow = spec::is_floating_point(dtype) && compute_dtype(dtype) != dtype;
    std::vector<N> terms;
    for (const N& x : source.data) {
      const N term = x * alpha;
      terms.push_back(is_narrow ? covering(detail::rounded_to(term, dtype), term) : term);
    }
    accumulate(*written, rows, terms, {Combining::kSum, Partials::kOwnDtype});
  });
  emit_rows(call, written, rows);
}

void index_copy(Call& call) {
  const TensorRef written = written_tensor(call, contiguous(*call.tensor("self")));
  const std::vector<Picked> rows = rows_for_source(call, *written);
  place(call.mode(), *written, rows, *call.tensor("source"), all_positions(rows.size()));
  emit_rows(call, written, rows);
}

void index_fill(Call& call) {
  const TensorRef written = written_tensor(call, preserved(*call.tensor("self")));
  const std::int64_t dim = wrap_dim(call.integer("dim"), written->rank());
  const Array<Whole> index = load_index(*call.tensor("index"));
  if (index.rank() > 1) throw OpError("index_fill_(): Index has to be a vector/scalar");
  const std::vector<Picked> rows =
      rows_along(at_least_1d(written->sizes), dim, index.data, Negative::kWraps);
  const TensorRef value = value_tensor(call.mode(), *written, call.datum("value"));
  place(call.mode(), *written, rows, *value, std::vector<std::int64_t>(rows.size(), 0));
  emit_rows(call, written, rows);
}

void index_reduce(Call& call) {
  const TensorRef written = written_tensor(call, contiguous(*call.tensor("self")));
  const std::vector<Picked> rows = rows_for_source(call, *written);
  const Accumulation how{reduction_of(call.text("reduce")), Partials::kOwnDtype,
                         call.boolean("include_self")};
  accumulate(call.mode(), *written, rows, *call.tensor("source"), all_positions(rows.size()), how);
  emit_rows(call, written, rows);
}

// ---- put --------------------------------------------------------------------------------------

void put(Call& call) {
  const TensorRef written = written_tensor(call, preserved(*call.tensor("self")));
  const Tensor& source = *call.tensor("source");
  const Array<Whole> index = load_index(*call.tensor("index"));
  check_same_dtype(*written, source);
  if (index.count() != source.count()) {
    throw OpError("put_(): Expected source and index to have the same number of elements");
  }
  const std::vector<Picked> picked =
      rows_along({written->count()}, 0, index.data, Negative::kWraps);
  const std::vector<std::int64_t> from = all_positions(picked.size());
  if (call.boolean("accumulate")) {
    accumulate(call.mode(), *written, picked, source, from, {Combining::kSum, Partials::kOwnDtype});
  } else {
    place(call.mode(), *written, picked, source, from);
  }
  for (const Picked& element : picked) {
    if (!element.undecided) continue;
    mark_all_unknown(*written);
    break;
  }
  emit_written(call, written);
}

constexpr std::array kScatterOps = {
    OpBody{"aten.index_add", index_add},
    OpBody{"aten.index_copy", index_copy}.any_dtype().moves("self", "source"),
    OpBody{"aten.index_fill", index_fill}.any_dtype().moves("self", "value"),
    OpBody{"aten.index_reduce", index_reduce},
    OpBody{"aten.put", put}.any_dtype().moves("self", "source"),
    OpBody{"aten.scatter", scatter}.any_dtype().moves("self", "src"),
    OpBody{"aten.scatter_add", scatter_add}.any_dtype(),
    OpBody{"aten.scatter_reduce", scatter_reduce}.any_dtype(),
};

}  // namespace

std::span<const OpBody> scatter_ops() { return kScatterOps; }

}  // namespace graphgate::reference
