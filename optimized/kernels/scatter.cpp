// Writing through index tensors along one dimension: scatter and its reductions, index_add,
// index_copy, index_fill, index_reduce; and put, which counts elements.
#include "optimized/analysis/row_rules.h"
#include "optimized/kernels/accumulation.h"
#include "optimized/kernels/families.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

// A source that is the very tensor being written would be read after it was overwritten.
void refuse_written(const KernelCall& call, const Tensor& source) {
  const Tensor* written = call.written_result(0);
  if (written && same_geometry(*written, source)) {
    throw OpError("the source is the tensor that is written");
  }
}

void check_same_dtype(const Tensor& self, const Tensor& source) {
  if (self.dtype == source.dtype) return;
  throw OpError("self has dtype " + std::string(spec::torch_name(self.dtype)) + ", the source " +
                std::string(spec::torch_name(source.dtype)));
}

// ---- scatter: one index per element of the source

const Tensor* scatter_source(const KernelCall& call) {
  return call.is_tensor("src") ? &call.tensor("src") : nullptr;
}

void check_scatter_sizes(const Tensor& self, const Tensor& index, const Tensor* source,
                         std::int64_t dim) {
  bool fits = index.rank() == self.rank() && (!source || source->rank() == self.rank());
  for (std::int64_t d = 0; fits && d < self.rank(); ++d) {
    fits = (d == dim || index.size(d) <= self.size(d)) &&
           (!source || index.size(d) <= source->size(d));
  }
  if (fits) return;
  throw OpError("the index of sizes " + print_sizes(index.sizes) + " does not fit self of sizes " +
                print_sizes(self.sizes) +
                (source ? " and the source of sizes " + print_sizes(source->sizes) : ""));
}

bool is_scatter_mean(const KernelCall& call) {
  return call.has("reduce") && call.text("reduce") == "mean";
}

bool is_scatter_assignment(const KernelCall& call) {
  return !call.has("reduce") && call.row().schema.base_name() != "scatter_add";
}

void infer_scatter(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Tensor index = at_least_1d(call.tensor("index"));
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  std::optional<Tensor> source;
  if (const Tensor* given = scatter_source(call)) {
    check_same_dtype(self, *given);
    refuse_written(call, *given);
    source = at_least_1d(*given);
  }
  if (index.count() != 0) {  // an empty index may be of any dtype and sizes
    check_index_dtype(index);
    check_scatter_sizes(at_least_1d(self), index, source ? &*source : nullptr, dim);
  }
  if (!is_scatter_assignment(call)) {
    call.want_workspace(accumulation_bytes(self, is_scatter_mean(call)));
  }
  call.make(self.dtype, self.sizes);
}

// The index's places in `target`, which is seen at the index's sizes.
IndexedCells scatter_cells(const Tensor& target, const Tensor& index, std::int64_t dim,
                           std::vector<Tensor> others) {
  const Tensor base = at_least_1d(target);
  Tensor indexed = pinned(base, dim, 0);
  indexed.sizes = index.sizes;
  return {index.sizes, indexed, std::move(others), {indexed_dim(base, dim, index, false)}};
}

Launch bind_scatter(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const Tensor index = at_least_1d(call.tensor("index"));
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  Launch start = start_from_self(call.listener(), call.result(), self);
  if (index.count() == 0) return start;
  Accumulation job;
  if (const Tensor* given = scatter_source(call)) {
    job.source = at_least_1d(*given);
    job.source->sizes = index.sizes;
  }
  if (!is_scatter_assignment(call)) {
    if (!job.source) job.constant = call.item("value");
    if (call.has("reduce")) set_reduction(job, call.text("reduce"));
    job.includes_self = call.boolean_or("include_self", true);
    job.cells = [index, dim](const Tensor& target, std::vector<Tensor> others) {
      return scatter_cells(target, index, dim, std::move(others));
    };
    return accumulate(call.listener(), call.result(), self, job, call.workspace());
  }
  if (job.source) {
    return in_turn(
        {std::move(start),
         write_cells(call.listener(), scatter_cells(call.result(), index, dim, {*job.source}),
                     self.item_bytes())});
  }
  return in_turn({std::move(start),
                  fill_cells(call.listener(), scatter_cells(call.result(), index, dim, {}),
                             self.item_bytes(), element_bytes(self.dtype, call.item("value")))});
}

// ---- index_add and its like: one index per slice of the source

void check_index_slices(const Tensor& self, const Tensor& index, const Tensor& source,
                        std::int64_t dim) {
  bool fits = index.rank() <= 1 && self.rank() == source.rank() &&
              at_least_1d(source).size(dim) == index.count();
  for (std::int64_t d = 0; fits && d < self.rank(); ++d) {
    fits = d == dim || self.size(d) == source.size(d);
  }
  if (fits) return;
  throw OpError("the index of sizes " + print_sizes(index.sizes) + " and the source of sizes " +
                print_sizes(source.sizes) + " do not fit self of sizes " + print_sizes(self.sizes) +
                " along dimension " + std::to_string(dim));
}

// A scalar source stands for one element where self has one dimension, and the other way round.
Tensor index_source(const KernelCall& call) {
  const Tensor& source = call.tensor("source");
  return call.tensor("self").rank() > 0 ? at_least_1d(source) : source;
}

void check_slices(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& index = call.tensor("index");
  check_index_dtype(index);
  const Tensor source = index_source(call);
  check_same_dtype(self, source);
  refuse_written(call, call.tensor("source"));
  Tensor base = self;
  if (source.rank() == 1) base = at_least_1d(self);
  check_index_slices(base, index, source, wrap_dim(call.integer("dim"), self.rank()));
}

void infer_index_copy(Inference& call) {
  check_slices(call);
  if (call.tensor("index").dtype != spec::DType::kInt64) throw OpError("the index is not int64");
  call.make(call.tensor("self").dtype, call.tensor("self").sizes);
}

void infer_index_accumulation(Inference& call) {
  check_slices(call);
  const Tensor& self = call.tensor("self");
  call.want_workspace(accumulation_bytes(self, is_scatter_mean(call)));
  call.make(self.dtype, self.sizes);
}

// The slices of `target`, which is seen at the source's sizes.
IndexedCells slice_cells(const Tensor& target, const Tensor& index, std::int64_t dim,
                         std::vector<Tensor> others) {
  const Tensor base = at_least_1d(target);
  const Tensor indexed = pinned(base, dim, index.count());
  return {indexed.sizes,
          indexed,
          std::move(others),
          {indexed_dim(base, dim, along_dim(index, dim, base.rank()), false)}};
}

Launch bind_index_copy(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const Tensor source = at_least_1d(call.tensor("source"));
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  return in_turn(
      {start_from_self(call.listener(), call.result(), self),
       write_cells(call.listener(), slice_cells(call.result(), call.tensor("index"), dim, {source}),
                   self.item_bytes())});
}

Launch bind_index_accumulation(const Binding& call) {
  const Tensor& self = call.tensor("self");
  Accumulation job;
  job.source = at_least_1d(call.tensor("source"));
  if (call.has("alpha")) job.scale = call.item("alpha");
  if (call.has("reduce")) set_reduction(job, call.text("reduce"));
  job.includes_self = call.boolean_or("include_self", true);
  job.cells = [index = call.tensor("index"), dim = wrap_dim(call.integer("dim"), self.rank())](
                  const Tensor& target, std::vector<Tensor> others) {
    return slice_cells(target, index, dim, std::move(others));
  };
  return accumulate(call.listener(), call.result(), self, job, call.workspace());
}

void infer_index_fill(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& index = call.tensor("index");
  if (index.dtype != spec::DType::kInt64) throw OpError("the index is not int64");
  if (index.rank() > 1) throw OpError("the index has rank " + std::to_string(index.rank()));
  (void)wrap_dim(call.integer("dim"), self.rank());
  if (call.is_tensor("value")) {
    if (call.tensor("value").rank() != 0) throw OpError("the value is not a scalar");
    call.want_workspace(8);
  }
  call.make(self.dtype, self.sizes, strides_like(self, spec::MemoryFormat::kPreserve));
}

Launch bind_index_fill(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& result = call.result();
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  const Tensor base = at_least_1d(result);
  const Tensor& index = call.tensor("index");
  const Tensor indexed = pinned(base, dim, index.count());
  const auto make_cells = [&](std::vector<Tensor> others) {
    return IndexedCells{indexed.sizes,
                        indexed,
                        std::move(others),
                        {indexed_dim(base, dim, along_dim(index, dim, base.rank()), true)}};
  };
  Launch start = start_from_self(call.listener(), result, self);
  if (!call.is_tensor("value")) {
    return in_turn({std::move(start), fill_cells(call.listener(), make_cells({}), self.item_bytes(),
                                                 element_bytes(self.dtype, call.item("value")))});
  }
  Tensor value = call.tensor("value");
  value.dtype = self.dtype;
  value.offset = 0;
  value.bytes = call.workspace();
  value.storage = kNoStorage;
  return in_turn({copy_launch(call.listener(), value, call.tensor("value")), std::move(start),
                  write_cells(call.listener(), make_cells({value}), self.item_bytes())});
}

// ---- put: one index per element, which counts self's elements in row-major order

std::int64_t put_copy_bytes(const Tensor& source) {
  return is_contiguous(source) ? 0 : (source.count() * source.item_bytes() + 63) / 64 * 64;
}

void infer_put(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& index = call.tensor("index");
  const Tensor& source = call.tensor("source");
  check_same_dtype(self, source);
  refuse_written(call, source);
  if (index.dtype != spec::DType::kInt64) throw OpError("the index is not int64");
  if (index.count() != source.count()) {
    throw OpError(std::to_string(source.count()) + " elements for " +
                  std::to_string(index.count()) + " indices");
  }
  if (self.count() == 0 && index.count() != 0) throw OpError("put into an empty tensor");
  call.want_workspace(put_copy_bytes(source) + accumulation_bytes(self, false));
  call.make(self.dtype, self.sizes, strides_like(self, spec::MemoryFormat::kPreserve));
}

Launch bind_put(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& index = call.tensor("index");
  Tensor source = call.tensor("source");
  std::byte* workspace = call.workspace();
  Launch pack;
  if (!is_contiguous(source)) {
    Tensor packed = source;
    packed.strides = row_major_strides(source.sizes);
    packed.offset = 0;
    packed.storage = kNoStorage;
    packed.bytes = workspace;
    workspace += put_copy_bytes(source);
    pack = copy_launch(call.listener(), packed, source);
    source = std::move(packed);
  }
  source.sizes = index.sizes;
  source.strides = row_major_strides(index.sizes);
  Accumulation job;
  job.source = source;
  job.cells = [index](const Tensor& target, std::vector<Tensor> others) {
    Tensor indexed = target;
    indexed.sizes = index.sizes;
    indexed.strides.assign(index.sizes.size(), 0);
    return IndexedCells{index.sizes, indexed, std::move(others), {indexed_elements(target, index)}};
  };
  if (call.boolean("accumulate")) {
    return in_turn(
        {std::move(pack), accumulate(call.listener(), call.result(), self, job, workspace)});
  }
  return in_turn(
      {std::move(pack), start_from_self(call.listener(), call.result(), self),
       write_cells(call.listener(), job.cells(call.result(), {source}), self.item_bytes())});
}

}  // namespace

std::span<const Kernel> scatter_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten.index_add", infer_index_accumulation, bind_index_accumulation,
             Overlap::kSameGeometry}
          .fuses(Fusion::kScatter)
          .rows(row_rules::scatter_along_dim),
      Kernel{"aten.index_copy", infer_index_copy, bind_index_copy, Overlap::kSameGeometry}
          .any_dtype()
          .rows(row_rules::scatter_along_dim)
          .moves("self", "source"),
      Kernel{"aten.index_fill", infer_index_fill, bind_index_fill, Overlap::kSameGeometry}
          .rows(row_rules::scatter_along_dim)
          .moves("self", "value"),
      Kernel{"aten.index_reduce", infer_index_accumulation, bind_index_accumulation,
             Overlap::kSameGeometry}
          .rows(row_rules::scatter_along_dim),
      Kernel{"aten.put", infer_put, bind_put, Overlap::kSameGeometry}
          .any_dtype()
          .rows(row_rules::scatter_anywhere)
          .moves("self", "source"),
      Kernel{"aten.scatter", infer_scatter, bind_scatter, Overlap::kSameGeometry}
          .any_dtype()
          .fuses(Fusion::kScatter)
          .rows(row_rules::scatter_along_dim)
          .row_major(RowMajorRule::kLikeSelf)
          .moves("self", "src"),
      Kernel{"aten.scatter_add", infer_scatter, bind_scatter, Overlap::kSameGeometry}
          .fuses(Fusion::kScatter)
          .rows(row_rules::scatter_along_dim)
          .row_major(RowMajorRule::kLikeSelf),
      Kernel{"aten.scatter_reduce", infer_scatter, bind_scatter, Overlap::kSameGeometry}
          .fuses(Fusion::kScatter)
          .rows(row_rules::scatter_along_dim),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
