// Ops that PyTorch defines by others, whatever the device: CompositeImplicitAutograd in
// native_functions.yaml. torch.export leaves them in a program that nobody has decomposed. The
// steps are those of ATen's own functions.
#include <algorithm>
#include <limits>
#include <set>

#include "reference/ops/composition.h"

namespace graphgate::reference {
namespace composite {
namespace {

using spec::DType;

std::size_t at(std::int64_t dim) { return static_cast<std::size_t>(dim); }

// --- the same elements with other sizes ---

void expand_as(Call& call) {
  const Composition run(call);
  call.emit_datum(
      {run("aten.expand.default", {{call.tensor("self")}, list_of(call.tensor("other")->sizes)})});
}

void view_as(Call& call) {
  const Composition run(call);
  call.emit_datum(
      {run("aten.view.default", {{call.tensor("self")}, list_of(call.tensor("other")->sizes)})});
}

void matrix_transpose(Call& call) {
  const Composition run(call);
  if (call.tensor("self")->rank() < 2) throw OpError("expected a matrix, or a batch of them");
  call.emit_datum({transposed(run, call.tensor("self"), -2, -1)});
}

void matrix_h(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  if (self->rank() != 0 && self->rank() != 2) throw OpError("tensor.H takes matrices alone");
  call.emit_datum({self->rank() == 0 ? self : transposed(run, self, 0, 1)});
}

void swapaxes(Call& call) {
  const Composition run(call);
  if (call.row().effects.is_in_place) {
    return call.emit_datum(
        {run("aten.transpose_.default",
             {{call.tensor("self")}, {call.integer("axis0")}, {call.integer("axis1")}})});
  }
  call.emit_datum(
      {transposed(run, call.tensor("self"), call.integer("axis0"), call.integer("axis1"))});
}

// Dimensions go from `source` to `destination`; the others keep their order.
void movedim(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  const std::int64_t rank = self->rank();
  const auto wrapped = [&](std::string_view name) {
    Sizes dims = call.integers(name);
    for (std::int64_t& dim : dims) dim = wrap_dim(dim, rank);
    if (std::set<std::int64_t>(dims.begin(), dims.end()).size() != dims.size()) {
      throw OpError("movedim: a dimension is repeated");
    }
    return dims;
  };
  const Sizes source = wrapped("source");
  const Sizes destination = wrapped("destination");
  if (source.size() != destination.size()) {
    throw OpError("movedim: source and destination must be as many dimensions");
  }
  if (rank == 0) return call.emit_datum({run("aten.alias.default", {{self}})});
  Sizes order(at(rank), -1);
  std::vector<bool> is_moved(at(rank), false);
  for (std::size_t i = 0; i < source.size(); ++i) {
    order[at(destination[i])] = source[i];
    is_moved[at(source[i])] = true;
  }
  std::int64_t next = 0;
  for (std::int64_t& dim : order) {
    if (dim >= 0) continue;
    while (is_moved[at(next)]) ++next;
    dim = next++;
  }
  call.emit_datum({run("aten.permute.default", {{self}, list_of(order)})});
}

TensorRef flat(const Composition& run, const TensorRef& tensor) {
  const TensorRef contiguous = run("aten.contiguous.default", {{tensor}});
  return run("aten.view.default", {{contiguous}, list_of(Sizes{-1})});
}

void ravel(Call& call) {
  const Composition run(call);
  call.emit_datum({flat(run, call.tensor("self"))});
}

// A tensor of at least `rank` dimensions, at most 3.
TensorRef at_least(const Composition& run, const TensorRef& tensor, std::int64_t rank) {
  if (tensor->rank() >= rank) return tensor;
  if (tensor->rank() == 0) {
    return run("aten.reshape.default", {{tensor}, list_of(Sizes(at(rank), 1))});
  }
  TensorRef out = tensor;
  if (out->rank() == 1) out = unsqueezed(run, out, 0);
  if (out->rank() < rank) out = unsqueezed(run, out, -1);
  return out;
}

template <std::int64_t rank>
void atleast(Call& call) {
  const Composition run(call);
  if (call.row().schema.overload != "Sequence") {
    return call.emit_datum({at_least(run, call.tensor("self"), rank)});
  }
  std::vector<TensorRef> out;
  for (const TensorRef& tensor : call.tensors("tensors")) {
    out.push_back(at_least(run, tensor, rank));
  }
  call.emit_datum(list_of(out));
}

Sizes common_sizes(const std::vector<TensorRef>& tensors) {
  Sizes sizes;
  for (const TensorRef& tensor : tensors) broadcast_with(sizes, tensor->sizes);
  return sizes;
}

std::vector<TensorRef> expanded(const Composition& run, std::vector<TensorRef> tensors,
                                const Sizes& sizes) {
  for (TensorRef& tensor : tensors) {
    tensor = run("aten.expand.default", {{tensor}, list_of(sizes)});
  }
  return tensors;
}

void broadcast_tensors(Call& call) {
  const Composition run(call);
  const std::vector<TensorRef> tensors = call.tensors("tensors");
  call.emit_datum(list_of(expanded(run, tensors, common_sizes(tensors))));
}

// Grids of the tensors' elements: result i varies along dimension i; of "xy" the first two trade
// places.
std::vector<TensorRef> grids(const Composition& run, std::vector<TensorRef> tensors,
                             std::string_view indexing) {
  if (tensors.empty()) throw OpError("meshgrid expects a non-empty list of tensors");
  if (indexing != "ij" && indexing != "xy") throw OpError("indexing must be 'xy' or 'ij'");
  const bool swaps = indexing == "xy" && tensors.size() >= 2;
  if (swaps) std::swap(tensors[0], tensors[1]);
  Sizes sizes;
  for (const TensorRef& tensor : tensors) {
    if (tensor->rank() > 1) throw OpError("meshgrid takes tensors of at most one dimension");
    sizes.push_back(tensor->count());
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Sizes view(tensors.size(), 1);
    view[i] = -1;
    tensors[i] = run("aten.view.default", {{tensors[i]}, list_of(view)});
  }
  tensors = expanded(run, std::move(tensors), sizes);
  if (swaps) std::swap(tensors[0], tensors[1]);
  return tensors;
}

void meshgrid(Call& call) {
  const Composition run(call);
  const bool has_indexing = call.row().schema.overload == "indexing";
  call.emit_datum(
      list_of(grids(run, call.tensors("tensors"), has_indexing ? call.text("indexing") : "ij")));
}

void cartesian_prod(Call& call) {
  const Composition run(call);
  const std::vector<TensorRef> tensors = call.tensors("tensors");
  for (const TensorRef& tensor : tensors) {
    if (tensor->rank() != 1) throw OpError("cartesian_prod: expected tensors of one dimension");
  }
  if (tensors.size() == 1) return call.emit_datum({tensors.front()});
  std::vector<TensorRef> columns = grids(run, tensors, "ij");
  for (TensorRef& column : columns) column = run("aten.flatten.using_ints", {{column}});
  call.emit_datum({run("aten.stack.default", {list_of(columns), {std::int64_t{1}}})});
}

void returns_self(Call& call) { call.emit_datum({call.tensor("self")}); }

void positive(Call& call) {
  if (call.tensor("self")->dtype == DType::kBool) {
    throw OpError("the + operator on a bool tensor is not supported");
  }
  returns_self(call);
}

void linalg_diagonal(Call& call) {
  const Composition run(call);
  call.emit_datum(
      {run("aten.diagonal.default",
           {{call.tensor("A")}, call.datum("offset"), call.datum("dim1"), call.datum("dim2")})});
}

// --- parts ---

std::vector<TensorRef> split_evenly(const Composition& run, const TensorRef& tensor,
                                    std::int64_t sections, std::int64_t dim) {
  if (sections <= 0) throw OpError("number of sections must be larger than 0");
  const std::int64_t size = tensor->sizes[at(dim)];
  std::vector<TensorRef> parts;
  for (std::int64_t i = 0, start = 0; i < sections; ++i) {
    const std::int64_t end = start + size / sections + (i < size % sections ? 1 : 0);
    parts.push_back(part(run, tensor, dim, start, end));
    start = end;
  }
  return parts;
}

std::vector<TensorRef> split_at(const Composition& run, const TensorRef& tensor,
                                const Sizes& indices, std::int64_t dim) {
  std::vector<TensorRef> parts;
  std::int64_t start = 0;
  for (const std::int64_t end : indices) {
    parts.push_back(part(run, tensor, dim, start, end));
    start = end;
  }
  parts.push_back(part(run, tensor, dim, start, tensor->sizes[at(dim)]));
  return parts;
}

// `indices_or_sections` is a number of parts, or where they end.
void tensor_split_by_tensor(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  if (self->rank() == 0) throw OpError("tensor_split expected at least a 1-dimensional tensor");
  const Tensor& given = *call.tensor("tensor_indices_or_sections");
  if (given.rank() > 1 || given.dtype != DType::kInt64) {
    throw OpError("tensor_split expected tensor_indices_or_sections to be a vector of int64");
  }
  Sizes numbers;
  for (const Whole number : load<Whole>(given, DType::kInt64).data) {
    if (number.undecided) throw Undecidable("where a tensor is split depends on rounding");
    numbers.push_back(number.value);
  }
  const std::int64_t dim = wrap_dim(call.integer("dim"), self->rank());
  call.emit_datum(list_of(given.rank() == 0 ? split_evenly(run, self, numbers.front(), dim)
                                            : split_at(run, self, numbers, dim)));
}

void tensor_split(Call& call) {
  if (call.row().schema.overload == "tensor_indices_or_sections") {
    return tensor_split_by_tensor(call);
  }
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  if (self->rank() == 0) throw OpError("tensor_split expected at least a 1-dimensional tensor");
  const std::int64_t dim = wrap_dim(call.integer("dim"), self->rank());
  call.emit_datum(list_of(call.row().schema.overload == "sections"
                              ? split_evenly(run, self, call.integer("sections"), dim)
                              : split_at(run, self, call.integers("indices"), dim)));
}

// hsplit, vsplit and dsplit: along dimension 1 (0 of a vector), 0 and 2.
template <std::int64_t along, std::int64_t least_rank>
void split_along(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  if (self->rank() < least_rank) {
    throw OpError("expected a tensor of at least " + std::to_string(least_rank) + " dimensions");
  }
  const std::int64_t dim = self->rank() == 1 ? 0 : along;
  if (call.row().schema.overload == "array") {
    return call.emit_datum(list_of(split_at(run, self, call.integers("indices"), dim)));
  }
  const std::int64_t sections = call.integer("sections");
  if (sections <= 0 || self->sizes[at(dim)] % sections != 0) {
    throw OpError("attempted to split along a dimension that is no multiple of the sections");
  }
  call.emit_datum(list_of(split_evenly(run, self, sections, dim)));
}

void unsafe_chunk(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  if (self->rank() == 0) throw OpError("chunk expects at least a 1-dimensional tensor");
  const std::int64_t chunks = call.integer("chunks");
  if (chunks <= 0) throw OpError("chunk expects `chunks` to be greater than 0");
  const std::int64_t size = self->sizes[at(wrap_dim(call.integer("dim"), self->rank()))];
  const std::int64_t each = (size + chunks - 1) / chunks;
  if (each == 0) {
    const std::int64_t dim = wrap_dim(call.integer("dim"), self->rank());
    return call.emit_datum(list_of(split_evenly(run, self, chunks, dim)));
  }
  call.emit_datum(run.datum("aten.unsafe_split.Tensor", {{self}, {each}, call.datum("dim")}));
}

// --- elements elsewhere ---

void take_along_dim(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  const TensorRef& indices = call.tensor("indices");
  const auto gather = [&](const TensorRef& from, std::int64_t dim, const TensorRef& by) {
    call.emit_datum({run("aten.gather.default", {{from}, {dim}, {by}})});
  };
  if (call.datum("dim").is_none()) {
    const auto as_vector = [&](const TensorRef& tensor) {
      return run("aten.view.default", {{tensor}, list_of(Sizes{-1})});
    };
    return gather(as_vector(self), 0, as_vector(indices));
  }
  if (self->rank() != indices->rank()) {
    throw OpError("take_along_dim: input and indices must have the same number of dimensions");
  }
  const std::int64_t dim = wrap_dim(call.integer("dim"), self->rank());
  if (self->rank() == 0) return gather(self, dim, indices);
  const auto without = [&](const TensorRef& tensor) {
    Sizes sizes = tensor->sizes;
    sizes[at(dim)] = 1;
    return sizes;
  };
  Sizes sizes = broadcast_sizes({without(self), without(indices)});
  sizes[at(dim)] = self->sizes[at(dim)];
  const TensorRef from = run("aten.expand.default", {{self}, list_of(sizes)});
  sizes[at(dim)] = indices->sizes[at(dim)];
  const TensorRef by = run("aten.expand.default", {{indices}, list_of(sizes)});
  // Negative indices count from the end.
  const std::int64_t size = self->sizes[at(dim)];
  gather(from, dim, run("aten.remainder.Scalar", {{by}, {size}}));
}

void argsort(Call& call) {
  const Composition run(call);
  const bool says_stable = call.row().schema.overload == "stable";
  call.emit_datum(says_stable ? run.all("aten.sort.stable", {{call.tensor("self")},
                                                             call.datum("stable"),
                                                             call.datum("dim"),
                                                             call.datum("descending")})[1]
                              : run.all("aten.sort.default", {{call.tensor("self")},
                                                              call.datum("dim"),
                                                              call.datum("descending")})[1]);
}

void msort(Call& call) {
  const Composition run(call);
  call.emit_datum(
      run.datum("aten.sort.default", {{call.tensor("self")}, {std::int64_t{0}}, {false}}));
}

template <std::int64_t dim>
void flip_dim(Call& call) {
  const Composition run(call);
  if (call.tensor("self")->rank() <= dim) throw OpError("the tensor has too few dimensions");
  call.emit_datum({run("aten.flip.default", {{call.tensor("self")}, list_of(Sizes{dim})})});
}

void diagflat(Call& call) {
  const Composition run(call);
  call.emit_datum(
      {run("aten.diag_embed.default", {{flat(run, call.tensor("self"))}, call.datum("offset")})});
}

void tile(Call& call) {
  const Composition run(call);
  Sizes repeats = call.integers("dims");
  const auto rank = at(call.tensor("self")->rank());
  if (repeats.size() < rank) repeats.insert(repeats.begin(), rank - repeats.size(), 1);
  call.emit_datum({run("aten.repeat.default", {{call.tensor("self")}, list_of(repeats)})});
}

void emit_joined(Call& call, const Composition& run, std::vector<TensorRef> tensors,
                 std::int64_t rank, std::int64_t dim) {
  for (TensorRef& tensor : tensors) tensor = at_least(run, tensor, rank);
  call.emit_datum({run("aten.cat.default", {list_of(tensors), {dim}})});
}

std::vector<TensorRef> operands(const Call& call) {
  std::vector<TensorRef> tensors = call.tensors("tensors");
  if (tensors.empty()) throw OpError("expects a non-empty list of tensors");
  return tensors;
}

void hstack(Call& call) {
  const Composition run(call);
  const std::vector<TensorRef> tensors = operands(call);
  emit_joined(call, run, tensors, 1, tensors.front()->rank() <= 1 ? 0 : 1);
}
void vstack(Call& call) { emit_joined(call, Composition(call), operands(call), 2, 0); }
void dstack(Call& call) { emit_joined(call, Composition(call), operands(call), 3, 2); }

void column_stack(Call& call) {
  const Composition run(call);
  std::vector<TensorRef> tensors = operands(call);
  for (TensorRef& tensor : tensors) {
    if (tensor->rank() > 1) continue;
    tensor = run("aten.reshape.default", {{tensor}, list_of(Sizes{tensor->count(), 1})});
  }
  emit_joined(call, run, std::move(tensors), 1, 1);
}

// Adds the choices of `count` of [first, size) behind what is chosen, in lexicographic order.
void add_choices(std::int64_t size, std::int64_t count, std::int64_t first, bool repeats,
                 Sizes& chosen, Array<Whole>& out) {
  if (count == 0) {
    out.data.insert(out.data.end(), chosen.begin(), chosen.end());
    return;
  }
  for (std::int64_t i = first; i < size; ++i) {
    chosen.push_back(i);
    add_choices(size, count - 1, repeats ? i : i + 1, repeats, chosen, out);
    chosen.pop_back();
  }
}

void combinations(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  const std::int64_t count = call.integer("r");
  if (self->rank() != 1) throw OpError("Expect a 1D vector");
  if (count < 0) throw OpError("Expect a non-negative number");
  if (count == 0) {
    return call.emit_datum({run("aten.new_empty.default", {{self}, list_of(Sizes{0})})});
  }
  Array<Whole> choices(Sizes{0, count});
  Sizes chosen;
  add_choices(self->count(), count, 0, call.boolean("with_replacement"), chosen, choices);
  choices.sizes[0] = std::ssize(choices.data) / count;
  const TensorRef index = new_tensor(DType::kInt64, choices.sizes, self->device);
  store(*index, choices);
  call.emit_datum({run("aten.index.Tensor", {{self}, list_of(std::vector{index})})});
}

// Tensors of other lengths below each other, filled up at their end or their begin.
void pad_sequence(Call& call) {
  const Composition run(call);
  const std::vector<TensorRef> sequences = call.tensors("sequences");
  if (sequences.empty()) throw OpError("received an empty list of sequences");
  const std::string_view side = call.text("padding_side");
  if (side != "left" && side != "right") throw OpError("Expected padding_side to be left or right");
  const std::int64_t batch_dim = call.boolean("batch_first") ? 0 : 1;
  const TensorRef& first = sequences.front();
  if (first->rank() == 0) throw OpError("pad_sequence: expected sequences with a dimension");
  std::int64_t longest = 0;
  for (const TensorRef& sequence : sequences) {
    if (sequence->rank() != first->rank()) throw OpError("pad_sequence: the ranks differ");
    longest = std::max(longest, sequence->sizes[0]);
  }
  Sizes sizes = first->sizes;
  sizes[0] = longest;
  sizes.insert(sizes.begin() + batch_dim, std::ssize(sequences));
  const TensorRef out =
      run("aten.new_full.default", {{first}, list_of(sizes), call.datum("padding_value")});
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const std::int64_t length = sequences[i]->sizes[0];
    const std::int64_t start = side == "left" ? longest - length : 0;
    const TensorRef row =
        run("aten.select.int", {{out}, {batch_dim}, {static_cast<std::int64_t>(i)}});
    (void)run("aten.copy_.default", {{part(run, row, 0, start, start + length)}, {sequences[i]}});
  }
  call.emit_datum({out});
}

// Elements whose indices are all the same; with `wrap` a tall matrix has several such diagonals,
// a row apart.
void fill_diagonal(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  if (self->rank() < 2) throw OpError("dimensions must be 2 or more");
  for (const std::int64_t size : self->sizes) {
    if (self->rank() > 2 && size != self->sizes[0]) {
      throw OpError("all dimensions of input must be of equal length");
    }
  }
  const std::int64_t height = self->sizes[0];
  const std::int64_t width = self->sizes[1];
  std::int64_t stride = 0;
  for (const std::int64_t each : self->strides) stride += each;
  const auto fill = [&](std::int64_t count, std::int64_t offset) {
    const TensorRef diagonal =
        run("aten.as_strided.default",
            {{self}, list_of(Sizes{count}), list_of(Sizes{stride}), {offset}});
    (void)run("aten.fill_.Scalar", {{diagonal}, call.datum("fill_value")});
  };
  const std::int64_t least = std::min(height, width);
  fill(least, self->offset);
  if (call.boolean("wrap") && self->rank() == 2 && height > width + 1) {
    const std::int64_t step = width + 1;
    const std::int64_t others = (self->count() + step - 1) / step - least;
    fill(others, self->offset + self->strides[0] * step);
  }
  call.emit_datum({self});
}

void one_hot(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  const std::int64_t classes = call.integer("num_classes");
  if (self->dtype != DType::kInt64) throw OpError("one_hot is only applicable to index tensors");
  if (classes <= 0) throw Undecidable("one_hot: the number of classes depends on the data");
  Sizes sizes = self->sizes;
  sizes.push_back(classes);
  const TensorRef zeros =
      run("aten.zeros.default", {list_of(sizes), {DType::kInt64}, {spec::None{}}, {self->device}});
  call.emit_datum(
      {run("aten.scatter.value",
           {{zeros}, {std::int64_t{-1}}, {unsqueezed(run, self, -1)}, {std::int64_t{1}}})});
}

// --- pointwise ---

TensorRef ones_like(const Composition& run, const TensorRef& tensor, DType dtype) {
  return run("aten.ones_like.default", {{tensor}, {dtype}});
}

void isreal(Call& call) {
  const Composition run(call);
  call.emit_datum({ones_like(run, call.tensor("self"), DType::kBool)});
}

TensorRef finite(const Composition& run, const TensorRef& tensor) {
  if (!spec::is_floating_point(tensor->dtype)) return ones_like(run, tensor, DType::kBool);
  const TensorRef is_number = run("aten.eq.Tensor", {{tensor}, {tensor}});
  const TensorRef is_bounded = run("aten.ne.Scalar", {{run("aten.abs.default", {{tensor}})},
                                                      {std::numeric_limits<double>::infinity()}});
  return run("aten.mul.Tensor", {{is_number}, {is_bounded}});
}

void isfinite(Call& call) {
  const Composition run(call);
  call.emit_datum({finite(run, call.tensor("self"))});
}

// |self - other| <= atol + |rtol * other|, or equal.
void isclose(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  const TensorRef& other = call.tensor("other");
  if (self->dtype != other->dtype) throw OpError("isclose: self and other have other dtypes");
  const double rtol = call.real("rtol");
  const double atol = call.real("atol");
  if (rtol < 0 || atol < 0) throw OpError("rtol and atol must not be negative");
  TensorRef close = run("aten.eq.Tensor", {{self}, {other}});
  if (call.boolean("equal_nan") && spec::is_floating_point(self->dtype)) {
    const TensorRef both = run("aten.bitwise_and.Tensor", {{run("aten.isnan.default", {{self}})},
                                                           {run("aten.isnan.default", {{other}})}});
    close = run("aten.bitwise_or.Tensor", {{close}, {both}});
  }
  if (rtol == 0 && atol == 0) return call.emit_datum({close});
  const auto as_float = [&](const TensorRef& tensor) {
    return run("aten.to.dtype", {{tensor}, {DType::kFloat32}});
  };
  const TensorRef cast_self = self->dtype == DType::kBool ? as_float(self) : self;
  const TensorRef cast_other = spec::is_floating_point(self->dtype) ? other : as_float(other);
  const TensorRef share =
      run("aten.abs.default", {{run("aten.mul.Scalar", {{cast_other}, {rtol}})}});
  const TensorRef allowed = run("aten.add.Scalar", {{share}, {atol}});
  const TensorRef actual =
      run("aten.abs.default", {{run("aten.sub.Tensor", {{cast_self}, {cast_other}})}});
  const TensorRef within =
      run("aten.bitwise_and.Tensor",
          {{finite(run, actual)}, {run("aten.le.Tensor", {{actual}, {allowed}})}});
  call.emit_datum({run("aten.bitwise_or.Tensor", {{close}, {within}})});
}

// An op or its in-place form, as the schema that is run is one.
std::string form_of(const Call& call, std::string_view base) {
  return std::string(base) + (call.row().effects.is_in_place ? "_.default" : ".default");
}

void relu6(Call& call) {
  const Composition run(call);
  call.emit_datum({run(form_of(call, "aten.hardtanh"), {{call.tensor("self")}, {0.0}, {6.0}})});
}

void selu(Call& call) {
  constexpr double kAlpha = 1.6732632423543772848170429916717;
  constexpr double kScale = 1.0507009873554804934193349852946;
  const Composition run(call);
  call.emit_datum({run(form_of(call, "aten.elu"), {{call.tensor("self")}, {kAlpha}, {kScale}})});
}

void ndtr(Call& call) {
  constexpr double kRootOfHalf = 0.70710678118654752440;
  const Composition run(call);
  const TensorRef scaled = run("aten.mul.Scalar", {{call.tensor("self")}, {kRootOfHalf}});
  const TensorRef sum =
      run("aten.add.Scalar", {{run("aten.erf.default", {{scaled}})}, {std::int64_t{1}}});
  call.emit_datum({run("aten.mul.Scalar", {{sum}, {0.5}})});
}

// --- sums and products ---

// all, of bool alone.
void is_all_true(Call& call) {
  const TensorRef& self = call.tensor("self");
  if (self->dtype != DType::kBool) throw OpError("expected a tensor of bool");
  call.emit_datum({Composition(call)("aten.all.default", {{self}})});
}

void sum_to_size(Call& call) {
  const Composition run(call);
  TensorRef out = call.tensor("self");
  const Sizes sizes = call.integers("size");
  const std::int64_t leading = out->rank() - std::ssize(sizes);
  if (leading < 0 || broadcast_sizes({sizes, out->sizes}) != out->sizes) {
    throw OpError("the size does not stretch to the tensor's");
  }
  if (sizes.empty()) return call.emit_datum({run("aten.sum.default", {{out}})});
  Sizes dims;
  for (std::int64_t d = 0; d < out->rank(); ++d) {
    const bool is_stretched = d >= leading && sizes[at(d - leading)] == 1 && out->sizes[at(d)] != 1;
    if (d < leading || is_stretched) dims.push_back(d);
  }
  if (!dims.empty()) out = sum_of(run, out, dims, true);
  if (leading > 0) out = run("aten.view.default", {{out}, list_of(sizes)});
  call.emit_datum({out});
}

void nanmean(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  if (!spec::is_floating_point(self->dtype)) throw OpError("nanmean(): expected floating point");
  const TensorRef is_number =
      run("aten.logical_not.default", {{run("aten.isnan.default", {{self}})}});
  const TensorRef count =
      run("aten.sum.dim_IntList", {{is_number}, call.datum("dim"), call.datum("keepdim")});
  const TensorRef sum =
      run("aten.nansum.default",
          {{self}, call.datum("dim"), call.datum("keepdim"), call.datum("dtype")});
  call.emit_datum({run("aten.div.Tensor", {{sum}, {count}})});
}

void outer(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  const TensorRef& other = call.tensor("vec2");
  if (self->rank() != 1 || other->rank() != 1) throw OpError("outer: expected 1-D tensors");
  const TensorRef column = run("aten.reshape.default", {{self}, list_of(Sizes{self->count(), 1})});
  call.emit_datum({run("aten.mul.Tensor", {{column}, {other}})});
}

// The product over dims_a of `a` and dims_b of `b`, pairwise; a dimension of size 1 stretches.
TensorRef contracted(const Composition& run, TensorRef a, TensorRef b, Sizes dims_a, Sizes dims_b) {
  if (dims_a.size() != dims_b.size()) throw OpError("tensordot: as many dimensions of both");
  if (a->dtype != b->dtype) throw OpError("both inputs should have the same dtype");
  std::int64_t depth = 1;
  for (std::size_t i = 0; i < dims_a.size(); ++i) {
    dims_a[i] = wrap_dim(dims_a[i], a->rank());
    dims_b[i] = wrap_dim(dims_b[i], b->rank());
    const std::int64_t size_a = a->sizes[at(dims_a[i])];
    const std::int64_t size_b = b->sizes[at(dims_b[i])];
    const auto summed = [&](const TensorRef& tensor, std::int64_t dim) {
      return run("aten.sum.dim_IntList", {{tensor}, list_of(Sizes{dim}), {true}, {tensor->dtype}});
    };
    if (size_b == 1) {
      a = summed(a, dims_a[i]);
    } else if (size_a == 1) {
      b = summed(b, dims_b[i]);
    } else {
      if (size_a != size_b) throw OpError("contracted dimensions need to match");
      depth *= size_a;
    }
  }
  const auto others = [](const TensorRef& tensor, const Sizes& dims) {
    Sizes out;
    for (std::int64_t d = 0; d < tensor->rank(); ++d) {
      if (std::ranges::find(dims, d) == dims.end()) out.push_back(d);
    }
    return out;
  };
  const Sizes rows = others(a, dims_a);
  const Sizes columns = others(b, dims_b);
  Sizes sizes;
  std::int64_t row_count = 1;
  std::int64_t column_count = 1;
  for (const std::int64_t d : rows) sizes.push_back(a->sizes[at(d)]), row_count *= sizes.back();
  for (const std::int64_t d : columns) {
    sizes.push_back(b->sizes[at(d)]);
    column_count *= sizes.back();
  }
  const auto matrix = [&](const TensorRef& tensor, Sizes first, const Sizes& second,
                          const Sizes& as) {
    first.insert(first.end(), second.begin(), second.end());
    const TensorRef ordered = run("aten.permute.default", {{tensor}, list_of(first)});
    return run("aten.reshape.default", {{ordered}, list_of(as)});
  };
  const TensorRef product =
      run("aten.mm.default", {{matrix(a, rows, dims_a, {row_count, depth})},
                              {matrix(b, dims_b, columns, {depth, column_count})}});
  return run("aten.reshape.default", {{product}, list_of(sizes)});
}

void tensordot(Call& call) {
  const Composition run(call);
  call.emit_datum({contracted(run, call.tensor("self"), call.tensor("other"),
                              call.integers("dims_self"), call.integers("dims_other"))});
}

void inner(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  const TensorRef& other = call.tensor("other");
  if (self->rank() == 0 || other->rank() == 0) {
    return call.emit_datum({run("aten.mul.Tensor", {{self}, {other}})});
  }
  if (self->sizes.back() != other->sizes.back()) {
    throw OpError("inner() the last dimension must match on both inputs");
  }
  call.emit_datum({contracted(run, self, other, {-1}, {-1})});
}

void kron(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  const TensorRef& other = call.tensor("other");
  const std::int64_t rank = std::max(self->rank(), other->rank());
  Sizes a;
  Sizes b;
  Sizes sizes;
  for (std::int64_t d = 0; d < rank; ++d) {
    const auto size_of = [&](const TensorRef& tensor) {
      const std::int64_t own = d - (rank - tensor->rank());
      return own >= 0 ? tensor->sizes[at(own)] : 1;
    };
    a.insert(a.end(), {size_of(self), 1});
    b.insert(b.end(), {1, size_of(other)});
    sizes.push_back(size_of(self) * size_of(other));
  }
  const TensorRef product =
      run("aten.mul.Tensor", {{run("aten.reshape.default", {{self}, list_of(a)})},
                              {run("aten.reshape.default", {{other}, list_of(b)})}});
  call.emit_datum({run("aten._unsafe_view.default", {{product}, list_of(sizes)})});
}

void vecdot(Call& call) {
  const Composition run(call);
  const TensorRef& x = call.tensor("x");
  const TensorRef& y = call.tensor("y");
  if (!spec::is_floating_point(x->dtype)) throw OpError("linalg.vecdot: expected floating point");
  if (x->rank() == 1 && y->rank() == 1) {
    return call.emit_datum({run("aten.vdot.default", {{x}, {y}})});
  }
  const TensorRef product = run("aten.mul.Tensor", {{x}, {y}});
  call.emit_datum({run("aten.sum.dim_IntList", {{product}, list_of(Sizes{call.integer("dim")})})});
}

// x of a trapezoid, as sizes that stretch over y.
TensorRef places_along(const Composition& run, const TensorRef& x, const TensorRef& y,
                       std::int64_t dim) {
  Sizes sizes = x->sizes;
  if (x->rank() == 1 && y->rank() != 1) {
    sizes.assign(at(y->rank()), 1);
    sizes[at(dim)] = x->count();
  } else if (x->rank() < y->rank()) {
    sizes.insert(sizes.begin(), at(y->rank() - x->rank()), 1);
  } else {
    return x;
  }
  return run("aten.view.default", {{x}, list_of(sizes)});
}

// All but the last element along `dim`, or all but the first.
TensorRef without_last(const Composition& run, const TensorRef& tensor, std::int64_t dim) {
  return part(run, tensor, dim, 0, -1);
}
TensorRef without_first(const Composition& run, const TensorRef& tensor, std::int64_t dim) {
  return part(run, tensor, dim, 1, tensor->sizes[at(dim)]);
}

// y[:-1] + y[1:], and those times the steps of x.
TensorRef pair_sums(const Composition& run, const TensorRef& y, std::int64_t dim) {
  return run("aten.add.Tensor", {{without_last(run, y, dim)}, {without_first(run, y, dim)}});
}
TensorRef double_areas(const Composition& run, const TensorRef& x, const TensorRef& y,
                       std::int64_t dim) {
  const TensorRef places = places_along(run, x, y, dim);
  const TensorRef steps =
      run("aten.sub.Tensor", {{without_first(run, places, dim)}, {without_last(run, places, dim)}});
  return run("aten.mul.Tensor", {{pair_sums(run, y, dim)}, {steps}});
}

// ((y[:-1] + y[1:]) * dx).sum / 2, of equal steps as a sum without half of both ends.
void trapezoid(Call& call) {
  const Composition run(call);
  const TensorRef& y = call.tensor("y");
  const std::int64_t dim = wrap_dim(call.integer("dim"), y->rank());
  const std::int64_t count = y->rank() == 0 ? 1 : y->sizes[at(dim)];
  const auto select = [&](std::int64_t index) {
    return run("aten.select.int", {{y}, {dim}, {index}});
  };
  if (count == 0) {
    Sizes sizes = y->sizes;
    sizes.erase(sizes.begin() + dim);
    return call.emit_datum({run("aten.new_zeros.default", {{y}, list_of(sizes)})});
  }
  if (y->dtype == DType::kBool) throw OpError("trapezoid: received a bool input for y");
  if (call.row().schema.overload == "dx") {
    const TensorRef ends = run("aten.add.Tensor", {{select(0)}, {select(-1)}});
    const TensorRef sum = sum_of(run, y, {dim}, false);
    const TensorRef without =
        run("aten.sub.Tensor", {{sum}, {run("aten.mul.Scalar", {{ends}, {0.5}})}});
    return call.emit_datum({run("aten.mul.Scalar", {{without}, call.datum("dx")})});
  }
  const TensorRef areas = double_areas(run, call.tensor("x"), y, dim);
  call.emit_datum({run("aten.div.Scalar", {{sum_of(run, areas, {dim}, false)}, {2.0}})});
}

void cumulative_trapezoid(Call& call) {
  const Composition run(call);
  const TensorRef& y = call.tensor("y");
  const std::int64_t dim = wrap_dim(call.integer("dim"), y->rank());
  if (y->rank() == 0) throw OpError("cumulative_trapezoid: y must have a dimension");
  if (y->dtype == DType::kBool) throw OpError("cumulative_trapezoid: received a bool input for y");
  if (call.row().schema.overload == "dx") {
    const double half = call.real("dx") / 2;
    const TensorRef areas = run("aten.mul.Scalar", {{pair_sums(run, y, dim)}, {half}});
    return call.emit_datum({run("aten.cumsum.default", {{areas}, {dim}})});
  }
  const TensorRef& x = call.tensor("x");
  if (x->rank() == 1 && x->count() != y->sizes[at(dim)]) {
    throw OpError("cumulative_trapezoid: there must be one x value for each sample point");
  }
  const TensorRef sums = run("aten.cumsum.default", {{double_areas(run, x, y, dim)}, {dim}});
  call.emit_datum({run("aten.div.Scalar", {{sums}, {2.0}})});
}

// --- others ---

void grid_sampler(Call& call) {
  const Composition run(call);
  const bool is_plane = call.tensor("input")->rank() == 4;
  call.emit_datum({run(is_plane ? "aten.grid_sampler_2d.default" : "aten.grid_sampler_3d.default",
                       {{call.tensor("input")},
                        {call.tensor("grid")},
                        call.datum("interpolation_mode"),
                        call.datum("padding_mode"),
                        call.datum("align_corners")})});
}

void adaptive_max_pool1d(Call& call) {
  const Composition run(call);
  const std::vector<Datum> both =
      run.all("aten.adaptive_max_pool2d.default",
              {{unsqueezed(run, call.tensor("self"), -2)},
               list_of(Sizes{1, call.integers("output_size").front()})});
  for (const Datum& one : both) {
    call.emit_datum({run("aten.squeeze.dim", {one, {std::int64_t{-2}}})});
  }
}

// Along `dim`, or the first dimension of size 3.
void cross(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  Datum dim = call.datum("dim");
  if (dim.is_none()) {
    const auto found = std::ranges::find(self->sizes, 3);
    if (found == self->sizes.end()) throw OpError("no dimension of size 3 in input");
    dim = {static_cast<std::int64_t>(found - self->sizes.begin())};
  }
  call.emit_datum({run("aten.linalg_cross.default", {{self}, {call.tensor("other")}, dim})});
}

void bilinear(Call& call) {
  const Composition run(call);
  const TensorRef& a = call.tensor("input1");
  const TensorRef& b = call.tensor("input2");
  const TensorRef& weight = call.tensor("weight");
  if (a->rank() != b->rank() || a->rank() == 0 || weight->rank() != 3) {
    throw OpError("bilinear(): expected inputs of as many dimensions and a weight of three");
  }
  const auto rows_of = [&](const TensorRef& tensor) {
    return run("aten.reshape.default", {{tensor}, list_of(Sizes{-1, tensor->sizes.back()})});
  };
  Sizes sizes = a->sizes;
  sizes.back() = weight->sizes[0];
  const TensorRef products = run("aten._trilinear.default", {{rows_of(a)},
                                                             {weight},
                                                             {rows_of(b)},
                                                             list_of(Sizes{1, 3}),
                                                             list_of(Sizes{0}),
                                                             list_of(Sizes{1, 2}),
                                                             list_of(Sizes{2, 3})});
  TensorRef out = run("aten.reshape.default", {{products}, list_of(sizes)});
  if (const TensorRef bias = call.optional_tensor("bias")) {
    out = run("aten.add.Tensor", {{out}, {bias}});
  }
  call.emit_datum({out});
}

void cdist(Call& call) {
  const Composition run(call);
  call.emit_datum({run(
      "aten._cdist_forward.default",
      {{call.tensor("x1")}, {call.tensor("x2")}, call.datum("p"), call.datum("compute_mode")})});
}

void multilabel_margin_loss(Call& call) {
  const Composition run(call);
  call.emit_datum({run("aten.multilabel_margin_loss_forward.default",
                       {{call.tensor("self")}, {call.tensor("target")}, call.datum("reduction")})});
}

constexpr OpBody kCompositeOps[] = {
    OpBody{"aten._is_all_true", is_all_true},
    OpBody{"aten.bilinear", bilinear},
    OpBody{"aten.cdist", cdist},
    OpBody{"aten.cross", cross},
    OpBody{"aten.multilabel_margin_loss", multilabel_margin_loss},
    OpBody{"aten.adaptive_max_pool1d", adaptive_max_pool1d},
    OpBody{"aten.argsort", argsort},
    OpBody{"aten.atleast_1d", atleast<1>}.any_dtype(),
    OpBody{"aten.atleast_2d", atleast<2>}.any_dtype(),
    OpBody{"aten.atleast_3d", atleast<3>}.any_dtype(),
    OpBody{"aten.broadcast_tensors", broadcast_tensors}.any_dtype(),
    OpBody{"aten.cartesian_prod", cartesian_prod}.any_dtype().moves("tensors"),
    OpBody{"aten.column_stack", column_stack}.any_dtype().moves("tensors"),
    OpBody{"aten.combinations", combinations}.moves("self"),
    OpBody{"aten.conj", returns_self},
    OpBody{"aten.cumulative_trapezoid", cumulative_trapezoid},
    OpBody{"aten.diagflat", diagflat}.any_dtype(),
    OpBody{"aten.dsplit", split_along<2, 3>}.any_dtype(),
    OpBody{"aten.dstack", dstack}.any_dtype().moves("tensors"),
    OpBody{"aten.expand_as", expand_as}.any_dtype(),
    OpBody{"aten.fill_diagonal", fill_diagonal},
    OpBody{"aten.fliplr", flip_dim<1>}.any_dtype().moves("self"),
    OpBody{"aten.flipud", flip_dim<0>}.any_dtype().moves("self"),
    OpBody{"aten.grid_sampler", grid_sampler},
    OpBody{"aten.hsplit", split_along<1, 1>}.any_dtype(),
    OpBody{"aten.hstack", hstack}.any_dtype().moves("tensors"),
    OpBody{"aten.inner", inner}.any_dtype(),
    OpBody{"aten.isclose", isclose},
    OpBody{"aten.isfinite", isfinite},
    OpBody{"aten.isreal", isreal},
    OpBody{"aten.kron", kron}.any_dtype(),
    OpBody{"aten.linalg_diagonal", linalg_diagonal}.any_dtype(),
    OpBody{"aten.linalg_vecdot", vecdot},
    OpBody{"aten.mH", matrix_transpose},
    OpBody{"aten.mT", matrix_transpose}.any_dtype(),
    OpBody{"aten.matrix_H", matrix_h},
    OpBody{"aten.meshgrid", meshgrid}.any_dtype(),
    OpBody{"aten.movedim", movedim}.any_dtype(),
    OpBody{"aten.msort", msort},
    OpBody{"aten.nanmean", nanmean},
    OpBody{"aten.one_hot", one_hot},
    OpBody{"aten.outer", outer}.any_dtype(),
    OpBody{"aten.pad_sequence", pad_sequence},
    OpBody{"aten.positive", positive}.any_dtype(),
    OpBody{"aten.ravel", ravel}.any_dtype().moves("self"),
    OpBody{"aten.real", returns_self},
    OpBody{"aten.relu6", relu6},
    OpBody{"aten.resolve_conj", returns_self},
    OpBody{"aten.resolve_neg", returns_self},
    OpBody{"aten.selu", selu},
    OpBody{"aten.special_ndtr", ndtr},
    OpBody{"aten.sum_to_size", sum_to_size}.any_dtype(),
    OpBody{"aten.swapaxes", swapaxes}.any_dtype(),
    OpBody{"aten.take_along_dim", take_along_dim}.any_dtype().moves("self"),
    OpBody{"aten.tensor_split", tensor_split}.any_dtype(),
    OpBody{"aten.tensordot", tensordot}.any_dtype(),
    OpBody{"aten.tile", tile}.any_dtype().moves("self"),
    OpBody{"aten.trapezoid", trapezoid}.any_dtype(),
    OpBody{"aten.unsafe_chunk", unsafe_chunk}.any_dtype().moves("self"),
    OpBody{"aten.view_as", view_as}.any_dtype(),
    OpBody{"aten.vsplit", split_along<0, 2>}.any_dtype(),
    OpBody{"aten.vstack", vstack}.any_dtype().moves("tensors"),
};

}  // namespace
}  // namespace composite

std::span<const OpBody> composite_ops() { return composite::kCompositeOps; }

}  // namespace graphgate::reference
