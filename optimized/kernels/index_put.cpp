#include "optimized/kernels/index_put.h"

#include "optimized/kernels/accumulation.h"
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/index_list.h"
#include "optimized/kernels/pointwise.h"
#include "optimized/strides.h"
#include "optimized/word_dtype.h"

namespace graphgate::optimized {
namespace {

void check_values(const Sizes& frame, const Tensor& values) {
  (void)broadcast_strides(values, frame);
}

// The launch for index tensors that are known: at bind, or behind masks at every run.
Launch index_put_launch(const DeviceListener* listener, const Binding& call,
                        const IndexList& list) {
  const Tensor& self = call.tensor("self");
  const Sizes frame = index_frame(self, list).sizes;
  const Tensor values = broadcast_to(call.tensor("values"), frame);
  Accumulation job;
  job.source = values;
  job.cells = [&list](const Tensor& target, std::vector<Tensor> others) {
    IndexFrame at = index_frame(target, list);
    return IndexedCells{at.sizes, at.indexed, std::move(others), std::move(at.dims)};
  };
  if (call.boolean("accumulate"))
    return accumulate(listener, call.result(), self, job, call.workspace());
  return in_turn({start_from_self(listener, call.result(), self),
                  write_cells(listener, job.cells(call.result(), {values}), self.item_bytes())});
}

// A lone mask, and values that are the same wherever it is true: a choice between the two.
std::optional<Launch> masked_put(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const Tensor* mask = nullptr;
  std::size_t before = 0;
  for (const Tensor* index : call.tensors("indices")) {
    if (index && mask) return {};
    if (index) mask = index;
    if (!mask) ++before;
  }
  if (!mask || call.boolean("accumulate") || self.item_bytes() > 8) return {};
  // The frame has one dimension in the place of those that the mask covers.
  const auto covered = mask->sizes.size();
  Sizes frame = self.sizes;
  const auto first = frame.begin() + static_cast<std::ptrdiff_t>(before);
  frame.erase(first, first + static_cast<std::ptrdiff_t>(covered));
  frame.insert(frame.begin() + static_cast<std::ptrdiff_t>(before), 1);
  Tensor values = call.tensor("values");
  if (values.sizes.size() > frame.size()) return {};
  const std::size_t missing = frame.size() - values.sizes.size();
  if (before >= missing && values.sizes[before - missing] != 1) return {};
  values.strides = broadcast_strides(values, frame);
  values.strides.erase(values.strides.begin() + static_cast<std::ptrdiff_t>(before));
  values.strides.insert(values.strides.begin() + static_cast<std::ptrdiff_t>(before), covered, 0);
  values.sizes = self.sizes;
  Tensor at_self = *mask;
  at_self.sizes = self.sizes;
  at_self.strides.insert(at_self.strides.begin(), before, 0);
  at_self.strides.resize(self.sizes.size(), 0);
  const auto as_word = [](Tensor tensor) {
    tensor.dtype = word_dtype(tensor.dtype);
    return tensor;
  };
  if (call.result().dtype != self.dtype) return {};
  return launch_tensors<std::int64_t>(call.listener(), as_word(call.result()),
                                      word_dtype(self.dtype), element::Select(), at_self,
                                      as_word(values), as_word(self));
}

}  // namespace

void infer_index_put(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& values = call.tensor("values");
  const auto indices = call.tensors("indices");
  if (self.dtype != values.dtype) {
    throw OpError("self has dtype " + std::string(spec::torch_name(self.dtype)) + ", the values " +
                  std::string(spec::torch_name(values.dtype)));
  }
  const Tensor* written = call.written_result(0);
  if (written && same_geometry(*written, values)) {
    throw OpError("the values are the tensor that is written");
  }
  check_masks(self, indices);
  if (!has_mask(indices))
    check_values(index_frame(self, expand_masks(self, indices)).sizes, values);
  if (call.boolean("accumulate")) call.want_workspace(accumulation_bytes(self, false));
  call.make(self.dtype, self.sizes, strides_like(self, spec::MemoryFormat::kPreserve));
}

Launch bind_index_put(const Binding& call) {
  const auto indices = call.tensors("indices");
  if (!has_mask(indices)) {
    return index_put_launch(call.listener(), call, expand_masks(call.tensor("self"), indices));
  }
  if (auto launch = masked_put(call)) return *std::move(launch);
  return [call] {
    const IndexList list = expand_masks(call.tensor("self"), call.tensors("indices"));
    index_put_launch(nullptr, call, list).run();
  };
}

}  // namespace graphgate::optimized
