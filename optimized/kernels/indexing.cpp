// Reading through index tensors: embedding, gather, index, index_select, take. The ops whose sizes
// depend on bytes are in nonzero.cpp.
#include "optimized/analysis/row_rules.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/index_list.h"
#include "optimized/kernels/masked_index.h"
#include "optimized/kernels/nonzero.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

void check_out(const Binding& call, spec::DType dtype) {
  if (call.result().dtype == dtype) return;
  throw OpError("out has dtype " + std::string(spec::torch_name(call.result().dtype)) +
                ", the result " + std::string(spec::torch_name(dtype)));
}

// result[frame] = indexed[...], where `dims` say.
Launch read_launch(const DeviceListener* listener, const Binding& call, const Tensor& indexed,
                   std::vector<IndexedDim> dims) {
  check_out(call, indexed.dtype);
  const Tensor& result = call.result();
  return read_cells(listener, {indexed.sizes, indexed, {result}, std::move(dims)},
                    indexed.item_bytes());
}

void infer_embedding(Inference& call) {
  const Tensor& weight = call.tensor("weight");
  const Tensor& indices = call.tensor("indices");
  if (weight.rank() != 2) throw OpError("the weight has rank " + std::to_string(weight.rank()));
  check_index_dtype(indices);
  Sizes sizes = indices.sizes;
  sizes.push_back(weight.sizes[1]);
  call.make(weight.dtype, std::move(sizes));
}

Launch bind_embedding(const Binding& call) {
  const Tensor& weight = call.tensor("weight");
  Tensor index = call.tensor("indices");
  Tensor indexed = weight;
  indexed.sizes = index.sizes;
  indexed.sizes.push_back(weight.sizes[1]);
  indexed.strides.assign(index.sizes.size(), 0);
  indexed.strides.push_back(weight.strides[1]);
  index.sizes.push_back(1);
  index.strides.push_back(0);
  return read_launch(call.listener(), call, indexed,
                     {indexed_dim(weight, 0, std::move(index), false)});
}

void infer_gather(Inference& call) {
  const Tensor self = at_least_1d(call.tensor("self"));
  const Tensor index = at_least_1d(call.tensor("index"));
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  if (index.count() != 0) {  // an empty index may be of any dtype and sizes
    check_index_dtype(index);
    bool fits = index.rank() == self.rank();
    for (std::int64_t d = 0; fits && d < self.rank(); ++d) {
      fits = d == dim || index.size(d) <= self.size(d);
    }
    if (!fits) {
      throw OpError("the index of sizes " + print_sizes(index.sizes) + " does not fit sizes " +
                    print_sizes(self.sizes) + " apart from dimension " + std::to_string(dim));
    }
  }
  call.make(self.dtype, call.tensor("index").sizes);
}

Launch bind_gather(const Binding& call) {
  const Tensor self = at_least_1d(call.tensor("self"));
  Tensor index = at_least_1d(call.tensor("index"));
  if (index.count() == 0) return {};
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  Tensor indexed = pinned(self, dim, 0);
  indexed.sizes = index.sizes;
  check_out(call, self.dtype);
  const Tensor result = at_least_1d(call.result());
  return read_cells(call.listener(),
                    {index.sizes, indexed, {result}, {indexed_dim(self, dim, index, false)}},
                    self.item_bytes());
}

void infer_index_select(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& index = call.tensor("index");
  check_index_dtype(index);
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  if (index.rank() > 1) throw OpError("the index has rank " + std::to_string(index.rank()));
  if (self.rank() == 0 && index.count() != 1) throw OpError("a scalar takes one index");
  call.make(self.dtype, pinned(self, dim, index.count()).sizes);
}

Launch bind_index_select(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& index = call.tensor("index");
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  Tensor laid = along_dim(index, dim, self.rank());
  return read_launch(call.listener(), call, pinned(self, dim, index.count()),
                     {indexed_dim(self, dim, std::move(laid), false)});
}

void infer_take(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& index = call.tensor("index");
  if (index.dtype != spec::DType::kInt64) throw OpError("the index is not int64");
  if (self.count() == 0 && index.count() != 0) throw OpError("take from an empty tensor");
  call.make(self.dtype, index.sizes);
}

Launch bind_take(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& index = call.tensor("index");
  Tensor indexed = self;
  indexed.sizes = index.sizes;
  indexed.strides.assign(index.sizes.size(), 0);
  return read_launch(call.listener(), call, indexed, {indexed_elements(self, index)});
}

// The strides of the result, by TensorIterator's rule over self and the index tensors, which are
// int64 by then.
Sizes index_strides(const IndexFrame& frame) {
  std::vector<Tensor> indices;
  indices.reserve(frame.dims.size());
  for (const IndexedDim& dim : frame.dims) indices.push_back(dim.index);
  for (Tensor& index : indices) index.dtype = spec::DType::kInt64;
  std::vector<const Tensor*> inputs = {&frame.indexed};
  for (const Tensor& index : indices) inputs.push_back(&index);
  return pointwise_strides(inputs, frame.sizes);
}

void infer_index(Inference& call) {
  const Tensor& self = call.tensor("self");
  const auto indices = call.tensors("indices");
  check_masks(self, indices);
  if (has_mask(indices) && !call.has_data()) Inference::needs_data();
  const IndexFrame frame = index_frame(self, expand_masks(self, indices));
  call.make(self.dtype, frame.sizes, index_strides(frame));
}

Launch bind_index(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const auto indices = call.tensors("indices");
  if (!has_mask(indices)) {
    IndexFrame frame = index_frame(self, expand_masks(self, indices));
    return read_launch(call.listener(), call, frame.indexed, std::move(frame.dims));
  }
  return [call, self] {
    const IndexList list = expand_masks(self, call.tensors("indices"));
    IndexFrame frame = index_frame(self, list);
    if (frame.sizes != call.result().sizes) {
      throw OpError("the mask selects sizes " + print_sizes(frame.sizes) + ", not the result's " +
                    print_sizes(call.result().sizes));
    }
    read_launch(nullptr, call, frame.indexed, std::move(frame.dims)).run();
  };
}

}  // namespace

std::span<const Kernel> indexing_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten._unsafe_index", infer_index, bind_index}
          .any_dtype()
          .rows(row_rules::index)
          .moves("self"),
      Kernel{"aten._unsafe_masked_index", infer_masked_index, bind_masked_index}.any_dtype().moves(
          "self"),
      Kernel{"aten.embedding", infer_embedding, bind_embedding}
          .any_dtype()
          .rows(row_rules::embedding)
          .row_major(RowMajorRule::kAlways)
          .moves("weight"),
      Kernel{"aten.gather", infer_gather, bind_gather}
          .any_dtype()
          .rows(row_rules::gather)
          .moves("self"),
      Kernel{"aten.index", infer_index, bind_index}
          .any_dtype()
          .rows(row_rules::index)
          .moves("self"),
      Kernel{"aten.index_select", infer_index_select, bind_index_select}
          .any_dtype()
          .rows(row_rules::index_select)
          .moves("self"),
      Kernel{"aten.masked_select", infer_masked_select, bind_masked_select}.any_dtype().moves(
          "self"),
      {"aten.nonzero", infer_nonzero, bind_nonzero},
      {"aten.nonzero_static", infer_nonzero_static, bind_nonzero_static},
      Kernel{"aten.repeat_interleave", infer_repeat_interleave, bind_repeat_interleave}
          .any_dtype()
          .rows(row_rules::along_dim)
          .moves("self"),
      Kernel{"aten.take", infer_take, bind_take}.any_dtype().moves("self"),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
