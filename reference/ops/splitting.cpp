// Ops that cut a tensor into a list of views along one dimension, and their copying forms.
#include <algorithm>
#include <array>

#include "reference/movement.h"
#include "reference/ops/view.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using Views = std::vector<Geometry> (*)(const Call&, const Tensor&);

template <Views kViews>
void views_op(Call& call) {
  const Tensor& self = *call.tensor("self");
  Datum::List views;
  for (const Geometry& view : kViews(call, self)) views.push_back({view_of(self, view)});
  call.emit_datum({std::move(views)});
}
// The out= form writes the parts into the tensors of the list `out`, and returns nothing.
template <Views kViews>
void copies_op(Call& call) {
  const Tensor& self = *call.tensor("self");
  Datum::List copies;
  for (const Geometry& view : kViews(call, self)) copies.push_back({copy_of(*view_of(self, view))});
  if (!call.has("out")) {
    call.emit_datum({std::move(copies)});
    return;
  }
  const std::vector<TensorRef> out = call.tensors("out");
  if (out.size() != copies.size()) throw OpError("the list 'out' has another length");
  for (std::size_t i = 0; i < out.size(); ++i) {
    const TensorRef& copy = *copies[i].as<TensorRef>();
    if (out[i]->sizes != copy->sizes) call.resize_out(out[i], copy->sizes);
    assign(call.mode(), *out[i], *copy);
  }
}

std::vector<Geometry> parts(const Tensor& self, std::int64_t dim, const Sizes& lengths) {
  std::vector<Geometry> out;
  const std::int64_t size = self.sizes[static_cast<std::size_t>(dim)];
  std::int64_t start = 0;
  for (const std::int64_t length : lengths) {
    if (length < 0) throw OpError("split sizes must be non-negative");
    if (length > size - start)
      throw OpError("split sizes sum to more than the size of the dimension");
    out.push_back(geometry_of(*narrowed(self, dim, start, length)));
    start += length;
  }
  if (start != size) {
    throw OpError("split sizes sum to " + std::to_string(start) + ", not to the size " +
                  std::to_string(size));
  }
  return out;
}

std::int64_t split_dim(const Call& call, const Tensor& self) {
  if (self.rank() == 0) throw OpError("split expects at least a 1-dimensional tensor");
  return wrap_dim(call.integer("dim"), self.rank());
}

// Lengths of `each`, the last one shorter; at least one part.
std::vector<Geometry> equal_parts(const Tensor& self, std::int64_t dim, std::int64_t each) {
  const std::int64_t size = self.sizes[static_cast<std::size_t>(dim)];
  if (each < 0 || (each == 0 && size != 0)) throw OpError("split size must be positive");
  Sizes lengths;
  std::int64_t left = size;
  do {
    lengths.push_back(std::min(each, left));
    left -= lengths.back();
  } while (left > 0);
  return parts(self, dim, lengths);
}

std::vector<Geometry> split(const Call& call, const Tensor& self) {
  const std::int64_t dim = split_dim(call, self);
  const bool has_list = call.datum("split_size").as<Datum::List>() != nullptr;
  if (has_list) return parts(self, dim, call.integers("split_size"));
  return equal_parts(self, dim, call.integer("split_size"));
}

std::vector<Geometry> split_with_sizes(const Call& call, const Tensor& self) {
  return parts(self, split_dim(call, self), call.integers("split_sizes"));
}

std::vector<Geometry> chunk(const Call& call, const Tensor& self) {
  const std::int64_t dim = split_dim(call, self);
  const std::int64_t size = self.sizes[static_cast<std::size_t>(dim)];
  const std::int64_t chunks = call.integer("chunks");
  if (chunks <= 0) throw OpError("chunk expects `chunks` to be greater than 0");
  if (size == 0) return parts(self, dim, Sizes(container_size({chunks}), 0));
  return equal_parts(self, dim, size / chunks + (size % chunks == 0 ? 0 : 1));
}

std::vector<Geometry> unbind(const Call& call, const Tensor& self) {
  const std::int64_t dim = split_dim(call, self);
  const std::int64_t count = self.sizes[static_cast<std::size_t>(dim)];
  std::vector<Geometry> out;
  out.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    out.push_back(selected(self, dim, i));
  }
  return out;
}

template <Views kViews>
void unsafe_views(Call& call) {
  return call.has("out") ? copies_op<kViews>(call) : views_op<kViews>(call);
}

constexpr std::array kSplittingOps = {
    OpBody{"aten.chunk", views_op<chunk>}.any_dtype(),
    OpBody{"aten.split", views_op<split>}.any_dtype(),
    OpBody{"aten.split_with_sizes", views_op<split_with_sizes>}.any_dtype(),
    OpBody{"aten.split_with_sizes_copy", copies_op<split_with_sizes>}.any_dtype().moves("self"),
    OpBody{"aten.unbind", views_op<unbind>}.any_dtype(),
    OpBody{"aten.unbind_copy", copies_op<unbind>}.any_dtype().moves("self"),
    OpBody{"aten.unsafe_split", unsafe_views<split>}.any_dtype().moves("self"),
    OpBody{"aten.unsafe_split_with_sizes", unsafe_views<split_with_sizes>}.any_dtype().moves(
        "self"),
};

}  // namespace

std::span<const OpBody> splitting_ops() { return kSplittingOps; }

}  // namespace graphgate::reference
