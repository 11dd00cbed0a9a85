// prims: what core decompositions leave of PyTorch's own primitive ops. Each is an op of aten with
// its arguments in other places, or a view.
#include <array>

#include "reference/ops/composition.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

Datum sizes_datum(const Sizes& sizes) {
  Datum::List out;
  for (const std::int64_t size : sizes) out.push_back({size});
  return {std::move(out)};
}

std::int64_t dim_of(const Call& call, std::string_view name, std::int64_t rank) {
  const std::int64_t dim = call.integer(name);
  if (dim < 0 || dim >= std::max<std::int64_t>(rank, 1)) {
    throw OpError(std::string(name) + " is " + std::to_string(dim) + " of a tensor of rank " +
                  std::to_string(rank));
  }
  return dim;
}

// The sizes with dimensions [start, end] as one.
Sizes collapsed_sizes(const Call& call, const Tensor& a) {
  const std::int64_t start = dim_of(call, "start", a.rank());
  const std::int64_t end = dim_of(call, "end", a.rank());
  if (end < start) throw OpError("dimensions are collapsed from start to end");
  Sizes out(a.sizes.begin(), a.sizes.begin() + start);
  std::int64_t size = 1;
  for (std::int64_t d = start; d <= end && d < a.rank(); ++d) {
    size *= a.sizes[static_cast<std::size_t>(d)];
  }
  out.push_back(size);
  for (std::int64_t d = end + 1; d < a.rank(); ++d) {
    out.push_back(a.sizes[static_cast<std::size_t>(d)]);
  }
  return out;
}

// A copy, row-major.
void prim_collapse(Call& call) {
  const Composition run(call);
  const TensorRef& a = call.tensor("a");
  const TensorRef dense = run("aten.clone.default", {{a}, {spec::MemoryFormat::kContiguous}});
  call.emit_datum({run("aten.view.default", {{dense}, sizes_datum(collapsed_sizes(call, *a))})});
}

void prim_collapse_view(Call& call) {
  const TensorRef& a = call.tensor("a");
  call.emit_datum(
      {Composition(call)("aten.view.default", {{a}, sizes_datum(collapsed_sizes(call, *a))})});
}

void prim_split_dim(Call& call) {
  const TensorRef& a = call.tensor("a");
  const std::int64_t dim = dim_of(call, "dim", a->rank());
  const std::int64_t outer = call.integer("outer_length");
  const auto at = static_cast<std::size_t>(dim);
  if (a->rank() == 0 || outer <= 0 || a->sizes[at] % outer != 0) {
    throw OpError("a dimension does not split into " + std::to_string(outer));
  }
  Sizes sizes = a->sizes;
  Sizes strides = a->strides;
  const std::int64_t inner = sizes[at] / outer;
  sizes[at] = inner;
  sizes.insert(sizes.begin() + dim, outer);
  strides.insert(strides.begin() + dim, strides[at] * inner);
  call.emit_view(a, std::move(sizes), std::move(strides), a->offset);
}

// Dimension `dims[i]` of the result is dimension i of `a`; the others repeat it.
void prim_broadcast_in_dim(Call& call) {
  const TensorRef& a = call.tensor("a");
  const Sizes sizes = call.integers("shape");
  const Sizes dims = call.integers("broadcast_dimensions");
  if (static_cast<std::int64_t>(dims.size()) != a->rank()) {
    throw OpError("expected one dimension of the result for each of the operand");
  }
  Sizes strides(sizes.size(), 0);
  std::int64_t last = -1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto to = static_cast<std::size_t>(dims[i]);
    if (dims[i] <= last || to >= sizes.size()) throw OpError("dimensions must ascend");
    last = dims[i];
    if (a->sizes[i] != 1 && a->sizes[i] != sizes[to]) {
      throw OpError("a dimension of size " + std::to_string(a->sizes[i]) + " does not stretch to " +
                    std::to_string(sizes[to]));
    }
    if (a->sizes[i] == sizes[to]) strides[to] = a->strides[i];
  }
  call.emit_view(a, sizes, std::move(strides), a->offset);
}

void prim_squeeze(Call& call) {
  call.emit_datum(
      {Composition(call)("aten.squeeze.dims", {call.datum("a"), call.datum("dimensions")})});
}

void view_of_itself(Call& call) {
  const TensorRef& a = call.tensor("a");
  call.emit_view(a, a->sizes, a->strides, a->offset);
}

void prim_convert(Call& call) {
  call.emit_datum(
      {Composition(call)("aten._to_copy.default", {call.datum("a"), call.datum("dtype")})});
}

void prim_sqrt(Call& call) {
  call.emit_datum({Composition(call)("aten.sqrt.default", {call.datum("self")})});
}

void prim_sum(Call& call) {
  const auto dtype = call.optional_dtype("output_dtype");
  call.emit_datum({Composition(call)(
      "aten.sum.dim_IntList",
      {call.datum("inp"), call.datum("dims"), {false}, dtype ? Datum{*dtype} : Datum{}})});
}

void prim_var(Call& call) {
  const Composition run(call);
  const TensorRef out =
      run("aten.var.correction", {call.datum("inp"), call.datum("dims"), call.datum("correction")});
  const auto dtype = call.optional_dtype("output_dtype");
  call.emit_datum({dtype ? run("aten.to.dtype", {{out}, {*dtype}}) : out});
}

// `length` numbers from start on.
void prim_iota(Call& call) {
  const std::int64_t start = call.integer("start");
  const std::int64_t step = call.integer("step");
  const std::int64_t length = call.integer("length");
  if (length < 0 || step == 0) throw OpError("a sequence of steps of 0, or of less than none");
  const TensorRef out =
      new_tensor(*call.optional_dtype("dtype"), {length}, call.device_or(spec::Device{}));
  Array<Whole> numbers({length});
  for (std::int64_t i = 0; i < length; ++i) numbers[i] = Whole(start) + Whole(step) * Whole(i);
  store(*out, numbers);
  call.emit_datum({out});
}

constexpr std::array kPrimsOps = {
    OpBody{"prims.broadcast_in_dim", prim_broadcast_in_dim}.any_dtype(),
    OpBody{"prims.collapse", prim_collapse}.any_dtype().moves("a"),
    OpBody{"prims.collapse_view", prim_collapse_view}.any_dtype(),
    OpBody{"prims.convert_element_type", prim_convert}.any_dtype().moves("a"),
    OpBody{"prims.iota", prim_iota},
    OpBody{"prims.split_dim", prim_split_dim}.any_dtype(),
    OpBody{"prims.sqrt", prim_sqrt},
    OpBody{"prims.squeeze", prim_squeeze}.any_dtype(),
    OpBody{"prims.sum", prim_sum},
    OpBody{"prims.var", prim_var},
    OpBody{"prims.view_of", view_of_itself}.any_dtype(),
};

}  // namespace

std::span<const OpBody> prims_ops() { return kPrimsOps; }

}  // namespace graphgate::reference
