// Views: other geometries over the same storage, and their copying twins.
#include <algorithm>

#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

// A geometry over the storage of another tensor.
struct Geometry {
  Shape sizes;
  Shape strides;
  Size offset = 0;
  bool overlaps = false;
};

Geometry geometry_of(const DrawnTensor& tensor) {
  return {tensor.sizes, tensor.strides, tensor.offset, false};
}

// Ends the node: with a view, or with a copy of what the view would show.
void end(Draft& draft, NodeBuilder& node, TensorIndex self, const Geometry& to, bool copies) {
  if (copies) {
    // The copy keeps the strides of the view where these are dense; that is left open here.
    DrawnTensor shown = draft.tensor(self);
    shown.sizes = to.sizes;
    shown.strides = to.strides;
    const bool is_known = draft.is_row_major(shown) && !to.overlaps;
    node.fresh(shown.dtype, to.sizes, Layout{is_known, draft.row_major(to.sizes)});
    return;
  }
  node.view(self, to.sizes, to.strides, to.offset, to.overlaps);
}

std::optional<TensorIndex> pick_any(Draft& draft, GeneReader& genes, int least_rank,
                                    int most_rank = kMostRank) {
  const auto found = draft.pick_of_any_dtype(genes, [&](const DrawnTensor& tensor) {
    return tensor.sizes.rank >= least_rank && tensor.sizes.rank <= most_rank;
  });
  if (found) return found;
  return draft.pick_floating(genes, least_rank, std::max(least_rank, std::min(most_rank, 3)));
}

enum Kind : std::size_t { kView = 0, kCopy = 1, kInPlace = 2 };

// A slice of one dimension: halves and thirds that touch, steps, ends counted from behind.
bool draw_slice(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = pick_any(draft, genes, 1);
  const DrawnTensor from = draft.tensor(*self);
  const int dim = draw_dim(genes, from.sizes.rank);
  const Size size = from.sizes[dim];
  const auto least = static_cast<std::int32_t>(draft.table().least(size));
  const std::uint32_t form = genes.next() % 8;
  if (least < 2) return false;
  Geometry to = geometry_of(from);
  std::int32_t start = 0;
  std::int32_t step = 1;
  std::optional<Size> end_size;  // absent: all that is left
  const std::int32_t half = least / 2;
  switch (form) {
    case 0:
      end_size = half;
      break;
    case 1:
      start = half;
      break;
    case 2:
      start = 1;
      break;
    case 3:
      end_size = least - 1;
      break;
    case 4:
      start = static_cast<std::int32_t>(genes.next() % static_cast<std::uint32_t>(least - 1));
      end_size =
          start + 1 + static_cast<Size>(genes.next() % static_cast<std::uint32_t>(least - start));
      break;
    case 5:
      step = 2;
      break;
    case 6:
      // Half of a size that only a call knows.
      if (!is_constant(size)) end_size = draft.table().quotient(size, 2);
      if (is_constant(size)) end_size = half;
      break;
    default:
      start = half;
      end_size = size;
      break;
  }
  const Size stop = end_size.value_or(size);
  Size length = draft.table().plus(stop, -start);
  if (step == 2) length = draft.table().quotient(draft.table().plus(length, 1), 2);
  to.sizes[dim] = length;
  if (from.has_layout) {
    to.offset = draft.table().sum(from.offset, draft.table().product(from.strides[dim], start));
    to.strides[dim] = draft.table().product(from.strides[dim], step);
  }
  const bool ends_early = end_size.has_value() && stop != size;
  NodeBuilder node(draft, "aten.slice.Tensor");
  node.tensor("self", *self).integer("dim", dim).integer("start", start);
  if (ends_early) {
    node.size("end", stop);
  } else if (step != 1 || form == 7) {
    node.integer("end", INT64_MAX);
  }
  if (step != 1) node.integer("step", step);
  end(draft, node, *self, to, false);
  return true;
}

bool draw_select(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = pick_any(draft, genes, 1);
  const DrawnTensor from = draft.tensor(*self);
  const int dim = draw_dim(genes, from.sizes.rank);
  const Size size = from.sizes[dim];
  const std::int64_t least = draft.table().least(size);
  if (least < 1) return false;
  const bool from_behind = genes.chance(25);
  const auto index = static_cast<std::int32_t>(genes.next() % static_cast<std::uint32_t>(least));
  Geometry to = geometry_of(from);
  to.sizes.erase(dim);
  to.strides.erase(dim);
  if (from.has_layout) {
    const Size at = from_behind ? draft.table().plus(size, -1) : index;
    to.offset = draft.table().sum(from.offset, draft.table().product(at, from.strides[dim]));
  }
  NodeBuilder node(draft, "aten.select.int");
  node.tensor("self", *self).integer("dim", dim).integer("index", from_behind ? -1 : index);
  end(draft, node, *self, to, false);
  return true;
}

// transpose, permute, t: dimensions in another order.
bool draw_transpose(Draft& draft, GeneReader& genes, std::size_t kind) {
  const auto self = pick_any(draft, genes, 2);
  const DrawnTensor from = draft.tensor(*self);
  const int a = draw_dim(genes, from.sizes.rank);
  const int b = (a + 1 + static_cast<int>(genes.next() % 2)) % from.sizes.rank;
  Geometry to = geometry_of(from);
  std::swap(to.sizes[a], to.sizes[b]);
  std::swap(to.strides[a], to.strides[b]);
  NodeBuilder node(draft, kind == kCopy ? "aten.transpose_copy.int" : "aten.transpose.int");
  node.tensor("self", *self).integer("dim0", a).integer("dim1", b);
  end(draft, node, *self, to, kind == kCopy);
  return true;
}

bool draw_t(Draft& draft, GeneReader& genes, std::size_t kind) {
  const auto self = pick_any(draft, genes, 2, 2);
  const DrawnTensor from = draft.tensor(*self);
  const Geometry to{
      {from.sizes[1], from.sizes[0]}, {from.strides[1], from.strides[0]}, from.offset, false};
  NodeBuilder node(draft, kind == kCopy ? "aten.t_copy.default" : "aten.t.default");
  node.tensor("self", *self);
  end(draft, node, *self, to, kind == kCopy);
  return true;
}

bool draw_permute(Draft& draft, GeneReader& genes, std::size_t kind) {
  const auto self = pick_any(draft, genes, 2);
  const DrawnTensor from = draft.tensor(*self);
  const int rank = from.sizes.rank;
  const int shift = 1 + static_cast<int>(genes.next() % static_cast<std::uint32_t>(rank - 1));
  Geometry to = geometry_of(from);
  std::vector<std::int64_t> dims;
  for (int d = 0; d < rank; ++d) {
    const int source = (d + shift) % rank;
    dims.push_back(source);
    to.sizes[d] = from.sizes[source];
    to.strides[d] = from.strides[source];
  }
  NodeBuilder node(draft, kind == kCopy ? "aten.permute_copy.default" : "aten.permute.default");
  node.tensor("self", *self).integers("dims", dims);
  end(draft, node, *self, to, kind == kCopy);
  return true;
}

bool draw_unsqueeze(Draft& draft, GeneReader& genes, std::size_t kind) {
  const auto self = pick_any(draft, genes, 0, kMostRank - 2);
  const DrawnTensor from = draft.tensor(*self);
  const int dim = static_cast<int>(genes.below(static_cast<std::size_t>(from.sizes.rank) + 1));
  Geometry to = geometry_of(from);
  const Size stride =
      dim == from.sizes.rank ? 1 : draft.table().product(from.sizes[dim], from.strides[dim]);
  to.sizes.insert(dim, 1);
  to.strides.insert(dim, from.has_layout ? stride : 0);
  NodeBuilder node(draft, kind == kCopy ? "aten.unsqueeze_copy.default" : "aten.unsqueeze.default");
  node.tensor("self", *self).integer("dim", dim);
  end(draft, node, *self, to, kind == kCopy);
  return true;
}

// squeeze of one dimension, or of all. squeeze_ changes its operand's geometry.
bool draw_squeeze(Draft& draft, GeneReader& genes, std::size_t kind) {
  // A symbolic size may come to 1, which squeeze of all dimensions would see.
  // And inputs keep their geometry: the next call would find it changed.
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    bool has_one = false;
    if (kind == kInPlace && draft.is_input(tensor)) return false;
    for (int d = 0; d < tensor.sizes.rank; ++d) {
      if (!is_constant(tensor.sizes[d])) return false;
      has_one = has_one || tensor.sizes[d] == 1;
    }
    return has_one;
  });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  Geometry to = geometry_of(from);
  int first = 0;
  while (from.sizes[first] != 1) ++first;
  const bool one = genes.chance(50);
  for (int d = from.sizes.rank; d-- > 0;) {
    if (to.sizes[d] != 1 || (one && d != first)) continue;
    to.sizes.erase(d);
    to.strides.erase(d);
  }
  static constexpr const char* kAll[] = {"aten.squeeze.default", "aten.squeeze_copy.default",
                                         "aten.squeeze_.default"};
  static constexpr const char* kOne[] = {"aten.squeeze.dim", "aten.squeeze_copy.dim",
                                         "aten.squeeze_.dim"};
  NodeBuilder node(draft, (one ? kOne : kAll)[kind]);
  node.tensor("self", *self);
  if (one) node.integer("dim", first);
  end(draft, node, *self, to, kind == kCopy);
  if (kind == kInPlace) draft.retire_older(*self);
  return true;
}

bool draw_expand(Draft& draft, GeneReader& genes, std::size_t kind) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.sizes.rank < 3 && is_computed_float(tensor.dtype);
  });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  Geometry to = geometry_of(from);
  for (int d = 0; d < from.sizes.rank; ++d) {
    if (from.sizes[d] != 1) continue;
    to.sizes[d] = draft.settings().dims[genes.below(draft.settings().dims.size())];
    to.strides[d] = 0;
  }
  if (to.sizes == from.sizes) {
    to.sizes.insert(0, 2);
    to.strides.insert(0, 0);
  }
  if (!draft.is_small(to.sizes)) return false;
  to.overlaps = true;
  NodeBuilder node(draft, kind == kCopy ? "aten.expand_copy.default" : "aten.expand.default");
  node.tensor("self", *self).sizes("size", to.sizes);
  end(draft, node, *self, to, kind == kCopy);
  return true;
}

// Another shape for the same elements: split a dimension, join two, or flatten all.
Shape draw_reshaped(Draft& draft, GeneReader& genes, const Shape& sizes) {
  const std::uint32_t form = genes.next() % 3;
  Shape out = sizes;
  if (form == 0 || sizes.rank == 0) {
    out = {};
    out.push(draft.elements(sizes));
    return out;
  }
  const int dim = draw_dim(genes, sizes.rank);
  if (form == 1 && sizes.rank > 1) {
    const int first = std::min(dim, sizes.rank - 2);
    out[first] = draft.table().product(sizes[first], sizes[first + 1]);
    out.erase(first + 1);
    return out;
  }
  for (const std::int32_t factor : {2, 3}) {
    if (out.rank >= 4 || !draft.table().is_multiple(sizes[dim], factor) || sizes[dim] == 0)
      continue;
    out[dim] = factor;
    out.insert(dim, draft.table().quotient(sizes[dim], factor));
    return out;
  }
  return out;
}

// view wants a row-major operand here; reshape, flatten and _unsafe_view get one too, so that what
// they alias is known.
bool draw_view(Draft& draft, GeneReader& genes, std::size_t variant) {
  const auto self =
      draft.pick(genes, [&](const DrawnTensor& tensor) { return draft.is_row_major(tensor); });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  static constexpr const char* kNames[] = {"aten.view.default", "aten.reshape.default",
                                           "aten._unsafe_view.default", "aten.view_copy.default"};
  Geometry to = geometry_of(from);
  to.sizes = draw_reshaped(draft, genes, from.sizes);
  to.strides = draft.row_major(to.sizes);
  const bool infers_one = genes.chance(30);
  // The sizes first: those that only a call knows are nodes of their own.
  spec::Argument::List sizes;
  int inferred = -1;
  for (int d = 0; d < to.sizes.rank; ++d) {
    const bool is_this = inferred < 0 && (infers_one || !is_constant(to.sizes[d])) &&
                         (d + 1 == to.sizes.rank || !is_constant(to.sizes[d]));
    if (is_this && draft.table().least(draft.elements(to.sizes)) > 0) {
      inferred = d;
      sizes.push_back({std::int64_t{-1}});
    } else {
      sizes.push_back(draft.size_argument(to.sizes[d]));
    }
  }
  NodeBuilder node(draft, kNames[variant]);
  node.tensor("self", *self).argument(variant == 1 ? "shape" : "size", {std::move(sizes)});
  end(draft, node, *self, to, variant == 3);
  // _unsafe_view shares the bytes without saying so: nothing may write them from here on.
  if (variant == 2) draft.storage_of(*self).may_be_written = false;
  return true;
}

bool draw_flatten(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.sizes.rank > 0 && draft.is_row_major(tensor);
  });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const Shape sizes{draft.elements(from.sizes)};
  NodeBuilder node(draft, "aten.flatten.using_ints");
  node.tensor("self", *self);
  node.view(*self, sizes, Shape{1}, from.offset);
  return true;
}

bool draw_alias(Draft& draft, GeneReader& genes, std::size_t variant) {
  const auto self = pick_any(draft, genes, 0);
  const DrawnTensor from = draft.tensor(*self);
  static constexpr const char* kNames[] = {"aten.alias.default", "aten.detach.default",
                                           "aten.alias_copy.default"};
  NodeBuilder node(draft, kNames[variant]);
  node.tensor("self", *self);
  end(draft, node, *self, geometry_of(from), variant == 2);
  return true;
}

bool draw_diagonal(Draft& draft, GeneReader& genes, std::size_t kind) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.sizes.rank >= 2 && is_constant(tensor.sizes[0]) && is_constant(tensor.sizes[1]);
  });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const bool above = from.sizes[1] > 1 && genes.chance(40);
  const Size length = std::min(from.sizes[0], from.sizes[1] - (above ? 1 : 0));
  if (length < 1) return false;
  Geometry to = geometry_of(from);
  to.sizes.erase(0);
  to.sizes.erase(0);
  to.strides.erase(0);
  to.strides.erase(0);
  to.sizes.push(length);
  to.strides.push(draft.table().sum(from.strides[0], from.strides[1]));
  if (above) to.offset = draft.table().sum(from.offset, from.strides[1]);
  NodeBuilder node(draft, kind == kCopy ? "aten.diagonal_copy.default" : "aten.diagonal.default");
  node.tensor("self", *self);
  if (above) node.integer("offset", 1);
  end(draft, node, *self, to, kind == kCopy);
  return true;
}

bool draw_unfold(Draft& draft, GeneReader& genes, std::size_t kind) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.sizes.rank >= 1 && tensor.sizes.rank <= 3 && is_constant(tensor.sizes[0]) &&
           tensor.sizes[0] >= 2;
  });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const Size step = genes.chance(50) ? 2 : 1;
  Geometry to = geometry_of(from);
  to.sizes[0] = (from.sizes[0] - 2) / step + 1;
  to.strides[0] = draft.table().product(from.strides[0], step);
  to.sizes.push(2);
  to.strides.push(from.strides[0]);
  to.overlaps = step < 2;
  NodeBuilder node(draft, kind == kCopy ? "aten.unfold_copy.default" : "aten.unfold.default");
  node.tensor("self", *self).integer("dimension", 0).integer("size", 2).integer("step", step);
  end(draft, node, *self, to, kind == kCopy);
  return true;
}

// A geometry inside of the operand's own bytes, given in full.
bool draw_as_strided(Draft& draft, GeneReader& genes, std::size_t kind) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    const Size count = draft.elements(tensor.sizes);
    return is_constant(count) && count >= 4 && is_constant(tensor.offset) &&
           draft.is_row_major(tensor);
  });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const Size count = draft.elements(from.sizes);
  Geometry to;
  const std::uint32_t form = genes.next() % 3;
  const Size skipped = static_cast<Size>(genes.next() % 2);
  if (form == 0) {
    to.sizes = {2, count / 2 - skipped};
    to.strides = {count / 2, 1};
  } else if (form == 1) {
    to.sizes = {(count - skipped) / 2};
    to.strides = {2};
  } else {
    to.sizes = {count / 2 - skipped, 2};
    to.strides = {1, count / 2};
  }
  to.offset = from.offset + skipped;
  if (draft.elements(to.sizes) == 0) return false;
  draft.keep_places();
  const auto numbers = [](const Shape& shape) {
    std::vector<std::int64_t> out;
    out.reserve(static_cast<std::size_t>(shape.rank));
    for (int d = 0; d < shape.rank; ++d) out.push_back(shape[d]);
    return out;
  };
  NodeBuilder node(draft,
                   kind == kCopy ? "aten.as_strided_copy.default" : "aten.as_strided.default");
  node.tensor("self", *self)
      .integers("size", numbers(to.sizes))
      .integers("stride", numbers(to.strides))
      .integer("storage_offset", to.offset);
  end(draft, node, *self, to, kind == kCopy);
  return true;
}

bool draw_narrow_copy(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = pick_any(draft, genes, 1);
  const DrawnTensor from = draft.tensor(*self);
  const std::int64_t least = draft.table().least(from.sizes[0]);
  if (least < 2) return false;
  Shape sizes = from.sizes;
  sizes[0] = static_cast<Size>(least - 1);
  NodeBuilder node(draft, "aten.narrow_copy.default");
  node.tensor("self", *self).integer("dim", 0).integer("start", 1).integer("length", least - 1);
  node.fresh(from.dtype, sizes, Layout{draft.is_row_major(from), draft.row_major(sizes)});
  return true;
}

bool draw_narrow(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = pick_any(draft, genes, 1);
  const DrawnTensor from = draft.tensor(*self);
  const std::int64_t least = draft.table().least(from.sizes[0]);
  if (least < 2) return false;
  Geometry to = geometry_of(from);
  to.sizes[0] = static_cast<Size>(least - 1);
  if (from.has_layout) to.offset = draft.table().sum(from.offset, from.strides[0]);
  NodeBuilder node(draft, "aten.narrow.default");
  node.tensor("self", *self).integer("dim", 0).integer("start", 1).integer("length", least - 1);
  end(draft, node, *self, to, false);
  return true;
}

// Two more of it in front.
bool draw_broadcast_to(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.sizes.rank < 3 && is_computed_float(tensor.dtype);
  });
  if (!self) return false;
  Geometry to = geometry_of(draft.tensor(*self));
  to.sizes.insert(0, 2);
  to.strides.insert(0, 0);
  if (!draft.is_small(to.sizes)) return false;
  to.overlaps = true;
  NodeBuilder node(draft, "aten.broadcast_to.default");
  node.tensor("self", *self).sizes("size", to.sizes);
  end(draft, node, *self, to, false);
  return true;
}

// The last dimension, an even one, in two.
bool draw_unflatten(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    if (tensor.sizes.rank < 1 || tensor.sizes.rank > 3) return false;
    const Size last = tensor.sizes[tensor.sizes.rank - 1];
    return is_constant(last) && last > 0 && last % 2 == 0 && draft.is_row_major(tensor);
  });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const int dim = from.sizes.rank - 1;
  Geometry to = geometry_of(from);
  to.sizes[dim] = 2;
  to.sizes.insert(dim, from.sizes[dim] / 2);
  to.strides = draft.row_major(to.sizes);
  const bool infers = genes.chance(40);
  NodeBuilder node(draft, "aten.unflatten.int");
  node.tensor("self", *self).integer("dim", -1);
  node.integers("sizes", {infers ? -1 : from.sizes[dim] / 2, 2});
  end(draft, node, *self, to, false);
  return true;
}

// A row-major tensor in the shape of another one that has as many elements.
bool draw_reshape_as(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self =
      draft.pick(genes, [&](const DrawnTensor& tensor) { return draft.is_row_major(tensor); });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const auto other = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return draft.elements(tensor.sizes) == draft.elements(from.sizes);
  });
  if (!other) return false;
  Geometry to = geometry_of(from);
  to.sizes = draft.tensor(*other).sizes;
  to.strides = draft.row_major(to.sizes);
  NodeBuilder node(draft, "aten.reshape_as.default");
  node.tensor("self", *self).tensor("other", *other);
  end(draft, node, *self, to, false);
  return true;
}

// The first two elements of a vector.
bool draw_resize_as(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.sizes.rank == 1 && draft.table().least(tensor.sizes[0]) >= 2 &&
           draft.is_row_major(tensor) && is_computed_float(tensor.dtype);
  });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const TensorIndex like = draft.pick_like(genes, from.dtype, Shape{2});
  NodeBuilder node(draft, "aten.resize_as.default");
  node.tensor("self", *self).tensor("the_template", like).fresh(from.dtype, Shape{2});
  return true;
}

// The same bytes as elements of another dtype of their size. Where the bits were computed, an error
// that is allowed would be any other number: so of inputs that nothing writes.
bool draw_view_dtype(Draft& draft, GeneReader& genes, std::size_t kind) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return draft.is_input(tensor) && is_computed_float(tensor.dtype);
  });
  if (!self || draft.storage_of(*self).writes > 0 || draft.storage_of(*self).is_state) return false;
  const DrawnTensor from = draft.tensor(*self);
  const std::int64_t bytes = spec::item_size_bytes(from.dtype);
  const spec::DType to = bytes == 8   ? spec::DType::kInt64
                         : bytes == 4 ? spec::DType::kInt32
                                      : spec::DType::kInt16;
  draft.storage_of(*self).may_be_written = false;
  NodeBuilder node(draft, kind == kCopy ? "aten.view_copy.dtype" : "aten.view.dtype");
  node.tensor("self", *self).dtype("dtype", to);
  if (kind == kCopy) {
    node.fresh(to, from.sizes, Layout{draft.is_row_major(from), draft.row_major(from.sizes)});
  } else {
    node.view_as(*self, to);
  }
  return true;
}

constexpr DrawnOp kViewRows[] = {
    {"aten.slice", 20, draw_slice, kView},
    {"aten.select", 8, draw_select, kView},
    {"aten.view", 14, draw_view, 0},
    {"aten.reshape", 5, draw_view, 1},
    {"aten._unsafe_view", 1, draw_view, 2},
    {"aten.view_copy", 1, draw_view, 3},
    {"aten.view.dtype", 2, draw_view_dtype, kView},
    {"aten.view_copy.dtype", 1, draw_view_dtype, kCopy},
    {"aten.flatten", 1, draw_flatten, 0},
    {"aten.transpose", 8, draw_transpose, kView},
    {"aten.transpose_copy", 1, draw_transpose, kCopy},
    {"aten.t", 5, draw_t, kView},
    {"aten.t_copy", 1, draw_t, kCopy},
    {"aten.permute", 5, draw_permute, kView},
    {"aten.permute_copy", 1, draw_permute, kCopy},
    {"aten.unsqueeze", 6, draw_unsqueeze, kView},
    {"aten.unsqueeze_copy", 1, draw_unsqueeze, kCopy},
    {"aten.squeeze", 4, draw_squeeze, kView},
    {"aten.squeeze_copy", 1, draw_squeeze, kCopy},
    {"aten.squeeze_", 1, draw_squeeze, kInPlace},
    {"aten.expand", 4, draw_expand, kView},
    {"aten.expand_copy", 1, draw_expand, kCopy},
    {"aten.alias", 3, draw_alias, 0},
    {"aten.detach", 2, draw_alias, 1},
    {"aten.alias_copy", 1, draw_alias, 2},
    {"aten.diagonal", 3, draw_diagonal, kView},
    {"aten.diagonal_copy", 1, draw_diagonal, kCopy},
    {"aten.unfold", 2, draw_unfold, kView},
    {"aten.unfold_copy", 1, draw_unfold, kCopy},
    {"aten.as_strided", 3, draw_as_strided, kView},
    {"aten.as_strided_copy", 1, draw_as_strided, kCopy},
    {"aten.narrow_copy", 1, draw_narrow_copy, 0},
    {"aten.narrow", 2, draw_narrow, 0, 6},
    {"aten.broadcast_to", 2, draw_broadcast_to, 0, 6},
    {"aten.unflatten", 2, draw_unflatten, 0, 6},
    {"aten.reshape_as", 1, draw_reshape_as, 0, 6},
    {"aten.resize_as", 1, draw_resize_as, 0, 6},
};

}  // namespace

std::span<const DrawnOp> view_rows() { return kViewRows; }

}  // namespace graphgate::fuzz
