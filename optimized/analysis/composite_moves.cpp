// Composite ops that give elements as they are: views, parts, joined and repeated tensors.
#include <algorithm>
#include <utility>

#include "optimized/analysis/composite.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using Values = std::vector<Argument>;

Argument list_argument(Values values) { return {Argument::List(std::move(values))}; }

Argument transpose_of(Parts& parts, const Argument& value, std::int64_t a, std::int64_t b) {
  return parts.run("aten.transpose.int", {value, {a}, {b}});
}

Values expand_to_other(Parts& parts) {
  return {parts.run("aten.expand.default",
                    {parts["self"], integers_argument(parts.tensor("other").sizes)})};
}

Values view_like_other(Parts& parts) {
  return {parts.run("aten.view.default",
                    {parts["self"], integers_argument(parts.tensor("other").sizes)})};
}

Values transpose_matrices(Parts& parts) {
  if (parts.tensor("self").rank() < 2) throw OpError("tensor.mT needs at least 2 dimensions");
  return {transpose_of(parts, parts["self"], -2, -1)};
}

Values swap_axes(Parts& parts) {
  if (parts.row().effects.is_in_place) {
    return {parts.run("aten.transpose_.default",
                      {parts["self"], {parts.integer("axis0")}, {parts.integer("axis1")}})};
  }
  return {transpose_of(parts, parts["self"], parts.integer("axis0"), parts.integer("axis1"))};
}

// Each of the dims is put where it goes; the others fill what is left.
Values move_dims(Parts& parts) {
  const std::int64_t rank = parts.tensor("self").rank();
  const auto from = wrap_dims(parts.integers("source"), rank, false);
  const auto to = wrap_dims(parts.integers("destination"), rank, false);
  if (from.size() != to.size()) throw OpError("source and destination differ in their number");
  if (rank == 0) return {parts.run("aten.alias.default", {parts["self"]})};
  std::vector<std::int64_t> rest;
  for (std::int64_t d = 0; d < rank; ++d) {
    if (std::ranges::find(from, d) == from.end()) rest.push_back(d);
  }
  std::vector<std::int64_t> order;
  std::size_t used = 0;
  for (std::int64_t d = 0; d < rank; ++d) {
    const auto found = std::ranges::find(to, d);
    order.push_back(found == to.end() ? rest[used++]
                                      : from[static_cast<std::size_t>(found - to.begin())]);
  }
  return {parts.run("aten.permute.default", {parts["self"], integers_argument(order)})};
}

Argument as_vector(Parts& parts, const Argument& value) {
  const Argument dense = parts.run("aten.contiguous.default", {value});
  return parts.run("aten.view.default", {dense, integers_argument({-1})});
}

Values make_vector(Parts& parts) { return {as_vector(parts, parts["self"])}; }

// Sizes of 1 are added so that there are `rank` dimensions.
Argument with_rank(Parts& parts, const Argument& value, std::int64_t rank) {
  const Sizes sizes = parts.of(value).sizes;
  const auto own = static_cast<std::int64_t>(sizes.size());
  if (own >= rank) return value;
  if (own == 0) {
    return parts.run("aten.reshape.default",
                     {value, integers_argument(std::vector<std::int64_t>(at(rank), 1))});
  }
  Argument out = own == 1 ? parts.run("aten.unsqueeze.default", {value, {std::int64_t{0}}}) : value;
  if (rank == 3) out = parts.run("aten.unsqueeze.default", {out, {std::int64_t{-1}}});
  return out;
}

Values all_with_rank(Parts& parts, Values values, std::int64_t rank) {
  for (Argument& value : values) value = with_rank(parts, value, rank);
  return values;
}

template <std::int64_t kRank>
Values at_least_dims(Parts& parts) {
  if (!parts.has("tensors")) return {with_rank(parts, parts["self"], kRank)};
  return {list_argument(all_with_rank(parts, parts.values("tensors"), kRank))};
}

Values broadcast_all(Parts& parts) {
  const Sizes sizes = broadcast_sizes(parts.tensors("tensors"));
  Values values = parts.values("tensors");
  for (Argument& value : values) {
    value = parts.run("aten.expand.default", {value, integers_argument(sizes)});
  }
  return {list_argument(std::move(values))};
}

// The grids of the tensors. With `swaps` dimensions 0 and 1 trade places.
Values grids_of(Parts& parts, Values axes, bool swaps) {
  if (swaps) std::swap(axes[0], axes[1]);
  std::vector<std::int64_t> sizes;
  for (const Argument& axis : axes) {
    if (parts.of(axis).rank() > 1) throw OpError("meshgrid: expected scalars or vectors");
    sizes.push_back(parts.of(axis).count());
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::vector<std::int64_t> own(axes.size(), 1);
    own[i] = sizes[i];
    const Argument view = parts.run("aten.view.default", {axes[i], integers_argument(own)});
    axes[i] = parts.run("aten.expand.default", {view, integers_argument(sizes)});
  }
  if (swaps) std::swap(axes[0], axes[1]);
  return axes;
}

Values make_grids(Parts& parts) {
  const std::string_view order = parts.has("indexing") ? parts.text("indexing") : "ij";
  if (order != "ij" && order != "xy") throw OpError("indexing must be ij or xy");
  Values axes = parts.values("tensors");
  const bool swaps = order == "xy" && axes.size() > 1;
  return {list_argument(grids_of(parts, std::move(axes), swaps))};
}

Values make_product(Parts& parts) {
  for (const Tensor* tensor : parts.tensors("tensors")) {
    if (tensor->rank() != 1) throw OpError("cartesian_prod: expected vectors");
  }
  Values columns = parts.values("tensors");
  if (columns.size() == 1) return columns;
  columns = grids_of(parts, std::move(columns), false);
  for (Argument& column : columns) {
    column = parts.run("aten.reshape.default", {column, integers_argument({-1})});
  }
  return {parts.run("aten.stack.default", {list_argument(std::move(columns)), {std::int64_t{1}}})};
}

Values same_number(Parts& parts) {
  if (parts.tensor("self").dtype == spec::DType::kBool) throw OpError("no + of a bool tensor");
  return {parts["self"]};
}

Values diagonal_of(Parts& parts) {
  return {parts.run("aten.diagonal.default",
                    {parts["A"], parts["offset"], parts["dim1"], parts["dim2"]})};
}

// Parts [bound i, bound i + 1) along `dim`.
Values slices(Parts& parts, std::int64_t dim, const std::vector<std::int64_t>& bounds) {
  Values out;
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    out.push_back(
        parts.run("aten.slice.Tensor", {parts["self"], {dim}, {bounds[i]}, {bounds[i + 1]}}));
  }
  return {list_argument(std::move(out))};
}

std::vector<std::int64_t> even_bounds(std::int64_t size, std::int64_t sections) {
  if (sections < 1) throw OpError("the number of sections must be positive");
  std::vector<std::int64_t> bounds = {0};
  for (std::int64_t i = 0; i < sections; ++i) {
    bounds.push_back(bounds.back() + size / sections + (i < size % sections ? 1 : 0));
  }
  return bounds;
}

Values split_dim(Parts& parts, std::int64_t dim, bool must_be_even) {
  const std::int64_t size = parts.tensor("self").size(dim);
  if (parts.has("sections")) {
    const std::int64_t sections = parts.integer("sections");
    if (must_be_even && (sections < 1 || size % sections != 0)) {
      throw OpError("the size is no multiple of the sections");
    }
    return slices(parts, dim, even_bounds(size, sections));
  }
  std::vector<std::int64_t> bounds = {0};
  for (const std::int64_t index : parts.integers("indices")) bounds.push_back(index);
  bounds.push_back(size);
  return slices(parts, dim, bounds);
}

template <std::int64_t kDim, std::int64_t kLeastRank>
Values split_known_dim(Parts& parts) {
  const std::int64_t rank = parts.tensor("self").rank();
  if (rank < kLeastRank) throw OpError("the tensor has too few dimensions");
  return split_dim(parts, std::min(kDim, rank - 1), true);
}

Values chunks_of(Parts& parts) {
  const Tensor& self = parts.tensor("self");
  const std::int64_t count = parts.integer("chunks");
  if (self.rank() == 0 || count < 1) throw OpError("expected dimensions and a positive number");
  const std::int64_t dim = wrap_dim(parts.integer("dim"), self.rank());
  const std::int64_t each = (self.size(dim) + count - 1) / count;
  if (each == 0) return slices(parts, dim, even_bounds(0, count));
  return parts.all("aten.unsafe_split.Tensor", {parts["self"], {each}, {dim}});
}

Values take_along(Parts& parts) {
  if (!parts.has("dim")) {
    const auto vector = [&](std::string_view name) {
      return parts.run("aten.view.default", {parts[name], integers_argument({-1})});
    };
    const Argument from = vector("self");
    return {parts.run("aten.gather.default", {from, {std::int64_t{0}}, vector("indices")})};
  }
  const Tensor self = parts.tensor("self");
  const Tensor indices = parts.tensor("indices");
  if (self.rank() != indices.rank()) throw OpError("input and indices differ in dimensions");
  const std::int64_t dim = wrap_dim(parts.integer("dim"), self.rank());
  if (self.rank() == 0) {
    return {parts.run("aten.gather.default", {parts["self"], {dim}, parts["indices"]})};
  }
  Sizes a = self.sizes;
  Sizes b = indices.sizes;
  a[at(dim)] = b[at(dim)] = 1;
  Sizes sizes = broadcast_sizes(a, b);
  sizes[at(dim)] = self.size(dim);
  const Argument from = parts.run("aten.expand.default", {parts["self"], integers_argument(sizes)});
  sizes[at(dim)] = indices.size(dim);
  const Argument by =
      parts.run("aten.expand.default", {parts["indices"], integers_argument(sizes)});
  // -1 is the last one.
  const Argument wrapped = parts.run("aten.remainder.Scalar", {by, {self.size(dim)}});
  return {parts.run("aten.gather.default", {from, {dim}, wrapped})};
}

Values sorting_indices(Parts& parts) {
  if (parts.has("stable")) {
    return {parts.all("aten.sort.stable",
                      {parts["self"], parts["stable"], parts["dim"], parts["descending"]})[1]};
  }
  return {parts.all("aten.sort.default", {parts["self"], parts["dim"], parts["descending"]})[1]};
}

Values sorted_rows(Parts& parts) {
  return {parts.run("aten.sort.default", {parts["self"], {std::int64_t{0}}, {false}})};
}

template <std::int64_t kDim>
Values flipped(Parts& parts) {
  if (parts.tensor("self").rank() <= kDim) throw OpError("the tensor has too few dimensions");
  return {parts.run("aten.flip.default", {parts["self"], integers_argument({kDim})})};
}

Values on_diagonal(Parts& parts) {
  const Argument vector = as_vector(parts, parts["self"]);
  return {parts.run("aten.diag_embed.default", {vector, parts["offset"]})};
}

Values tiled(Parts& parts) {
  const Sizes dims = parts.integers("dims");
  std::vector<std::int64_t> repeats(dims.begin(), dims.end());
  while (std::ssize(repeats) < parts.tensor("self").rank()) repeats.insert(repeats.begin(), 1);
  return {parts.run("aten.repeat.default", {parts["self"], integers_argument(repeats)})};
}

Values joined(Parts& parts, Values values, std::int64_t dim) {
  return {parts.run("aten.cat.default", {list_argument(std::move(values)), {dim}})};
}

Values beside_each_other(Parts& parts) {
  const std::int64_t dim = parts.tensors("tensors").at(0)->rank() < 2 ? 0 : 1;
  return joined(parts, all_with_rank(parts, parts.values("tensors"), 1), dim);
}
Values below_each_other(Parts& parts) {
  return joined(parts, all_with_rank(parts, parts.values("tensors"), 2), 0);
}
Values behind_each_other(Parts& parts) {
  return joined(parts, all_with_rank(parts, parts.values("tensors"), 3), 2);
}
Values as_columns(Parts& parts) {
  Values values = parts.values("tensors");
  for (Argument& value : values) {
    const Tensor& tensor = parts.of(value);
    if (tensor.rank() > 1) continue;
    value = parts.run("aten.reshape.default", {value, integers_argument({tensor.count(), 1})});
  }
  return joined(parts, std::move(values), 1);
}

// All choices of r places, in order: those of a grid of r dimensions whose indices ascend.
Values choices_of(Parts& parts) {
  const Tensor self = parts.tensor("self");
  const std::int64_t r = parts.integer("r");
  if (self.rank() != 1 || r < 0) throw OpError("combinations takes a vector, and r from 0 on");
  if (r == 0) {
    return {parts.run("aten.new_empty.default", {parts["self"], integers_argument({0})})};
  }
  const bool repeats = parts.boolean("with_replacement");
  const std::int64_t n = self.count();
  // (n over r), or (n + r - 1 over r); each step divides without a rest.
  const std::int64_t from = repeats ? n + r - 1 : n;
  std::int64_t count = 1;
  for (std::int64_t i = 0; i < r; ++i)
    count = count * std::max<std::int64_t>(from - i, 0) / (i + 1);
  const std::vector<std::int64_t> cube(at(r), n);
  const Argument places =
      parts.run("aten.arange.default", {{n}, {spec::DType::kInt64}, {spec::None{}}, {self.device}});
  Argument ascends = parts.run(
      "aten.full.default",
      {integers_argument(cube), {true}, {spec::DType::kBool}, {spec::None{}}, {self.device}});
  Argument before;
  for (std::int64_t d = 0; d < r; ++d) {
    std::vector<std::int64_t> own(at(r), 1);
    own[at(d)] = n;
    const Argument axis = parts.run("aten.view.default", {places, integers_argument(own)});
    if (d > 0) {
      const Argument pair =
          parts.run(repeats ? "aten.le.Tensor" : "aten.lt.Tensor", {before, axis});
      ascends = parts.run("aten.logical_and.default", {ascends, pair});
    }
    before = axis;
  }
  const Argument chosen = parts.run("aten.nonzero_static.default", {ascends, {count}});
  return {parts.run("aten.index.Tensor", {parts["self"], list_argument({chosen})})};
}

// The indices of what is not zero: the columns of nonzero's result.
Values indices_of_true(Parts& parts) {
  const std::string_view name = parts.has("condition") ? "condition" : "self";
  const std::int64_t rank = parts.tensor(name).rank();
  Argument asked = parts[name];
  if (rank == 0) asked = parts.run("aten.unsqueeze.default", {asked, {std::int64_t{0}}});
  const Argument found = parts.run("aten.nonzero.default", {asked});
  Values columns;
  for (std::int64_t d = 0; d < std::max<std::int64_t>(rank, 1); ++d) {
    columns.push_back(parts.run("aten.select.int", {found, {std::int64_t{1}}, {d}}));
  }
  return {list_argument(std::move(columns))};
}

// Each sequence is filled up to the longest; then they are stacked.
Values padded_sequences(Parts& parts) {
  Values sequences = parts.values("sequences");
  const std::string_view side = parts.text("padding_side");
  if (side != "left" && side != "right") throw OpError("the padding side is left or right");
  const Tensor first = parts.of(sequences.front());
  if (first.rank() == 0) throw OpError("a scalar is no sequence");
  std::int64_t longest = 0;
  for (const Argument& sequence : sequences) {
    longest = std::max(longest, parts.of(sequence).size(0));
  }
  for (Argument& sequence : sequences) {
    const std::int64_t missing = longest - parts.of(sequence).size(0);
    if (parts.of(sequence).dtype != first.dtype) {
      sequence = parts.run("aten.to.dtype", {sequence, {first.dtype}});
    }
    // Pairs from the last dimension on.
    std::vector<std::int64_t> pad(at(2 * first.rank()), 0);
    pad[pad.size() - (side == "left" ? 2 : 1)] = missing;
    sequence = parts.run("aten.constant_pad_nd.default",
                         {sequence, integers_argument(pad), parts["padding_value"]});
  }
  const std::int64_t dim = parts.boolean("batch_first") ? 0 : 1;
  return {parts.run("aten.stack.default", {list_argument(std::move(sequences)), {dim}})};
}

// The diagonal of all dimensions; with `wrap`, further ones of a tall matrix below it.
Values filled_diagonal(Parts& parts) {
  const Tensor self = parts.tensor("self");
  const auto [least, most] = std::ranges::minmax(self.sizes);
  if (self.rank() < 2 || (self.rank() > 2 && least != most)) {
    throw OpError("the diagonal of a matrix, or of a tensor of equal sizes");
  }
  std::int64_t stride = 0;
  for (const std::int64_t each : self.strides) stride += each;
  const auto fill = [&](std::int64_t count, std::int64_t offset) {
    const Argument line = parts.run("aten.as_strided.default", {parts["self"],
                                                                integers_argument({count}),
                                                                integers_argument({stride}),
                                                                {self.offset + offset}});
    (void)parts.run("aten.fill_.Scalar", {line, parts["fill_value"]});
  };
  fill(least, 0);
  if (parts.boolean("wrap") && self.rank() == 2) {
    // A row is left out between two diagonals.
    const std::int64_t period = self.size(1) + 1;
    const std::int64_t rows = self.size(0) - period;
    if (rows > 0) fill(rows - rows / period, self.strides[0] * period);
  }
  return {parts["self"]};
}

Values one_hot_rows(Parts& parts) {
  const Tensor self = parts.tensor("self");
  const std::int64_t classes = parts.integer("num_classes");
  if (self.dtype != spec::DType::kInt64) throw OpError("one_hot takes int64 alone");
  if (classes < 1) throw Unsupported("one_hot whose classes depend on the data");
  std::vector<std::int64_t> sizes(self.sizes.begin(), self.sizes.end());
  sizes.push_back(classes);
  const Argument zeros =
      parts.run("aten.zeros.default",
                {integers_argument(sizes), {spec::DType::kInt64}, {spec::None{}}, {self.device}});
  const Argument index = parts.run("aten.unsqueeze.default", {parts["self"], {std::int64_t{-1}}});
  return {parts.run("aten.scatter.value", {zeros, {std::int64_t{-1}}, index, {std::int64_t{1}}})};
}

constexpr CompositeOp kCompositeMoves[] = {
    {"aten.argsort", sorting_indices},
    {"aten.atleast_1d", at_least_dims<1>},
    {"aten.atleast_2d", at_least_dims<2>},
    {"aten.atleast_3d", at_least_dims<3>},
    {"aten.broadcast_tensors", broadcast_all},
    {"aten.cartesian_prod", make_product},
    {"aten.column_stack", as_columns},
    {"aten.combinations", choices_of},
    {"aten.diagflat", on_diagonal},
    {"aten.dsplit", split_known_dim<2, 3>},
    {"aten.dstack", behind_each_other},
    {"aten.expand_as", expand_to_other},
    {"aten.fill_diagonal", filled_diagonal},
    {"aten.fliplr", flipped<1>},
    {"aten.flipud", flipped<0>},
    {"aten.hsplit", split_known_dim<1, 1>},
    {"aten.hstack", beside_each_other},
    {"aten.linalg_diagonal", diagonal_of},
    {"aten.mT", transpose_matrices},
    {"aten.meshgrid", make_grids},
    {"aten.movedim", move_dims},
    {"aten.msort", sorted_rows},
    {"aten.nonzero_numpy", indices_of_true},
    {"aten.one_hot", one_hot_rows},
    {"aten.pad_sequence", padded_sequences},
    {"aten.positive", same_number},
    {"aten.ravel", make_vector},
    {"aten.swapaxes", swap_axes},
    {"aten.take_along_dim", take_along},
    {"aten.tile", tiled},
    {"aten.unsafe_chunk", chunks_of},
    {"aten.view_as", view_like_other},
    {"aten.vsplit", split_known_dim<0, 2>},
    {"aten.vstack", below_each_other},
    {"aten.where", indices_of_true, ""},
};

}  // namespace

std::span<const CompositeOp> composite_moves() { return kCompositeMoves; }

}  // namespace graphgate::optimized
