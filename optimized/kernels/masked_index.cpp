#include "optimized/kernels/masked_index.h"

#include <cstring>

#include "optimized/kernels/accumulation.h"
#include "optimized/kernels/fill.h"
#include "optimized/kernels/index_list.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

void check_inside_indices(const Tensor& self, std::span<const Tensor* const> indices) {
  for (const Tensor* index : indices) {
    if (index) check_index_dtype(*index);  // no masks among them
  }
  check_masks(self, indices);
}

// Index tensors with every element brought inside, which the list owns.
IndexList inside_indices(const Tensor& self, std::span<const Tensor* const> indices) {
  IndexList out;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    out.indices.emplace_back();
    if (!indices[d]) continue;
    const std::int64_t size = self.sizes[d];
    Tensor inside;
    inside.dtype = spec::DType::kInt64;
    inside.sizes = indices[d]->sizes;
    inside.strides = row_major_strides(inside.sizes);
    out.owned.emplace_back(static_cast<std::size_t>(inside.count()));
    inside.bytes = reinterpret_cast<std::byte*>(out.owned.back().data());
    copy_now(inside, *indices[d]);
    for (std::int64_t& i : out.owned.back()) i = std::min(std::max(i, -size), size - 1);
    out.indices.back() = std::move(inside);
  }
  return out;
}

// The frame from geometry alone: a tensor of sizes 0 is indexed as one with other sizes, filled.
IndexList as_given(std::span<const Tensor* const> indices) {
  IndexList out;
  for (const Tensor* index : indices) {
    out.indices.push_back(index ? std::optional(*index) : std::nullopt);
  }
  return out;
}
Tensor as_indexed(const Tensor& self, std::span<const Tensor* const> indices) {
  if (self.count() != 0) return self;
  Tensor out = self;
  for (std::size_t d = 0; d < out.sizes.size(); ++d) {
    const bool is_covered = d < indices.size();
    if (!is_covered) {
      out.sizes[d] = 0;
    } else if (indices[d] && out.sizes[d] == 0) {
      out.sizes[d] = 1;
    }
  }
  out.strides = row_major_strides(out.sizes);
  return out;
}

// Bytes of a tensor of its own.
struct Owned {
  Tensor tensor;
  std::vector<std::byte> bytes;

  Owned(spec::DType dtype, const Sizes& sizes) {
    tensor.dtype = dtype;
    tensor.sizes = sizes;
    tensor.strides = row_major_strides(sizes);
    bytes.resize(static_cast<std::size_t>(tensor.count() * tensor.item_bytes()));
    tensor.bytes = bytes.data();
  }
};

// Writes `value` into the elements of `target` where the mask, which broadcasts to it, is zero.
void fill_where_zero(const Tensor& target, const Tensor& mask, const Element& value) {
  const Tensor wide = broadcast_to(mask, target.sizes);
  const std::array<const Tensor*, 2> tensors = {&target, &wide};
  const auto item = static_cast<std::size_t>(target.item_bytes());
  with_compute(mask.dtype, [&]<class C>() {
    row_major_loop(target.sizes, tensors)
        .for_each_run([&](std::byte* const* at, const std::int64_t* strides, std::int64_t n) {
          for (std::int64_t i = 0; i < n; ++i) {
            if (load_element<C>(mask.dtype, at[2] + i * strides[2]) != C{0}) continue;
            std::memcpy(at[1] + i * strides[1], value.data(), item);
          }
        });
  });
}

}  // namespace

void infer_masked_index(Inference& call) {
  const Tensor& self = call.tensor("self");
  const auto indices = call.tensors("indices");
  check_inside_indices(self, indices);
  (void)element_of(call.item("fill"), self.dtype);
  const IndexFrame frame = index_frame(as_indexed(self, indices), as_given(indices));
  if (self.count() != 0) {
    return call.make(self.dtype, broadcast_sizes(frame.sizes, call.tensor("mask").sizes));
  }
  std::vector<Tensor> laid;
  laid.reserve(frame.dims.size());
  for (const IndexedDim& dim : frame.dims) laid.push_back(dim.index);
  for (Tensor& index : laid) index.dtype = spec::DType::kInt64;
  std::vector<const Tensor*> inputs = {&frame.indexed};
  for (const Tensor& index : laid) inputs.push_back(&index);
  call.make(self.dtype, frame.sizes, pointwise_strides(inputs, frame.sizes));
}

Launch bind_masked_index(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& result = call.result();
  const Element value = element_of(call.item("fill"), result.dtype);
  if (result.dtype != self.dtype) throw OpError("out is not of self's dtype");
  if (self.count() == 0) return fill_launch(call.listener(), result, value);
  return [call, self, result, value] {
    const IndexList list = inside_indices(self, call.tensors("indices"));
    IndexFrame frame = index_frame(self, list);
    const Owned found(self.dtype, frame.sizes);
    read_cells(nullptr, {frame.sizes, frame.indexed, {found.tensor}, std::move(frame.dims)},
               self.item_bytes())
        .run();
    copy_now(result, broadcast_to(found.tensor, result.sizes));
    fill_where_zero(result, call.tensor("mask"), value);
  };
}

void infer_masked_index_put(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& values = call.tensor("values");
  const auto indices = call.tensors("indices");
  check_inside_indices(self, indices);
  if (self.dtype != values.dtype) throw OpError("self and the values differ in dtype");
  if (self.count() != 0) {
    const IndexFrame frame = index_frame(self, as_given(indices));
    Tensor masked;
    masked.sizes = broadcast_sizes(values.sizes, call.tensor("mask").sizes);
    masked.strides = row_major_strides(masked.sizes);
    (void)broadcast_strides(masked, frame.sizes);
  }
  call.want_workspace(accumulation_bytes(self, false));
  call.make(self.dtype, self.sizes, strides_like(self, spec::MemoryFormat::kPreserve));
}

Launch bind_masked_index_put(const Binding& call) {
  const Tensor& self = call.tensor("self");
  if (self.count() == 0) return {};
  return [call, self] {
    const Tensor& values = call.tensor("values");
    const Tensor& mask = call.tensor("mask");
    const Owned masked(self.dtype, broadcast_sizes(values.sizes, mask.sizes));
    copy_now(masked.tensor, broadcast_to(values, masked.tensor.sizes));
    fill_where_zero(masked.tensor, mask, Element{});
    const IndexList list = inside_indices(self, call.tensors("indices"));
    Accumulation job;
    job.source = broadcast_to(masked.tensor, index_frame(self, list).sizes);
    job.cells = [&list](const Tensor& target, std::vector<Tensor> others) {
      IndexFrame at = index_frame(target, list);
      return IndexedCells{at.sizes, at.indexed, std::move(others), std::move(at.dims)};
    };
    accumulate(nullptr, call.result(), self, job, call.workspace()).run();
  };
}

}  // namespace graphgate::optimized
