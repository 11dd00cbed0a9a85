// Numbers and small tensors in host memory, in programs whose main device is another: inputs,
// buffers that count, what is made and computed there, and what an op on the main device reads of
// it. All of generator 11.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

constexpr int kSince = 11;

// A number that float32 rounds, so that a dtype which does not hold it shows.
constexpr std::int64_t kBeyondFloat32 = (std::int64_t{1} << 24) + 1;

bool is_computed(const DrawnTensor& tensor) {
  return is_computed_float(tensor.dtype) || spec::is_integral(tensor.dtype);
}

// A new input or buffer in host memory: a number mostly.
TensorIndex add_host_input(Draft& draft, GeneReader& genes) {
  static constexpr DType kDTypes[] = {DType::kFloat32, DType::kInt64, DType::kFloat32,
                                      DType::kFloat64};
  static constexpr spec::InputKind kKinds[] = {
      spec::InputKind::kUserInput, spec::InputKind::kUserInput, spec::InputKind::kBuffer};
  const DType dtype = genes.of(kDTypes);
  const auto& dims = draft.settings().dims;
  Shape sizes;
  const Size size = dims[genes.below(dims.size())];
  if (genes.chance(30) && is_constant(size)) sizes.push(size);
  const TensorIndex made = draft.add_input(genes.of(kKinds), dtype, sizes);
  draft.set_on_host(made);
  return made;
}

// One of those that are there, by gene, or a new one.
TensorIndex pick_host(Draft& draft, GeneReader& genes) {
  if (genes.chance(70)) {
    if (const auto found = draft.pick_on_host(is_computed)) return *found;
  }
  return add_host_input(draft, genes);
}

// Host memory plus or times a number, in place for some genes: a step count, as optimizers keep.
bool draw_host_op(Draft& draft, GeneReader& genes, std::size_t multiplies) {
  if (!draft.settings().on_accelerator) return false;
  draft.set_out_gene(0);  // what out= forms write lies on the main device
  const TensorIndex self = pick_host(draft, genes);
  const DrawnTensor from = draft.tensor(self);
  const bool is_floating = spec::is_floating_point(from.dtype);
  spec::Argument other = is_floating        ? draw_scalar(genes, from.dtype)
                         : genes.chance(50) ? spec::Argument{kBeyondFloat32}
                                            : draw_scalar(genes, from.dtype);
  const bool in_place = genes.chance(35) && draft.may_write(self);
  const Layout layout = preserved_layout(draft, self);
  const std::string name = multiplies == 1 ? "aten.mul" : "aten.add";
  NodeBuilder node(draft, name + (in_place ? "_.Scalar" : ".Scalar"));
  node.tensor("self", self).argument("other", std::move(other));
  if (in_place) {
    node.written(self);
  } else {
    draft.set_on_host(node.fresh(from.dtype, from.sizes, layout));
  }
  return true;
}

// A constant or a range that is made in host memory.
bool draw_made_on_host(Draft& draft, GeneReader& genes, std::size_t is_range) {
  if (!draft.settings().on_accelerator) return false;
  draft.set_out_gene(0);
  const spec::Argument host{spec::Device{"cpu", -1}};
  if (is_range == 1) {
    const auto size = static_cast<Size>(1 + genes.below(6));
    NodeBuilder node(draft, "aten.arange.default");
    node.integer("end", size).argument("device", host);
    const TensorIndex made = node.fresh(DType::kInt64, Shape{size});
    draft.set_on_host(made);
    draft.set_range(made, {0, size - 1});
    return true;
  }
  const bool is_integer = genes.chance(50);
  const DType dtype = is_integer ? DType::kInt64 : draft.draw_floating(genes);
  NodeBuilder node(draft, "aten.full.default");
  node.sizes("size", {});
  node.argument("fill_value",
                is_integer ? spec::Argument{kBeyondFloat32} : draw_scalar(genes, dtype));
  node.dtype("dtype", dtype).argument("device", host);
  draft.set_on_host(node.fresh(dtype, Shape{}));
  return true;
}

// A number in host memory, of whatever dtype, as second operand of an op on the main device.
bool draw_host_number(Draft& draft, GeneReader& genes, std::size_t variant) {
  if (!draft.settings().on_accelerator) return false;
  static constexpr std::string_view kOps[] = {"aten.add", "aten.mul", "aten.sub"};
  const auto found = draft.pick(genes, [](const DrawnTensor& tensor) {
    return is_computed(tensor) && tensor.sizes.rank > 0;
  });
  const TensorIndex self = found ? *found : draft.pick_floating(genes, 1);
  auto number = draft.pick_on_host(
      [](const DrawnTensor& tensor) { return is_computed(tensor) && tensor.sizes.rank == 0; });
  if (!number || genes.chance(30)) {
    const DType dtype = genes.chance(40) ? DType::kInt64 : draft.draw_floating(genes);
    number = draft.add_input(spec::InputKind::kUserInput, dtype, {});
    draft.set_on_host(*number);
  }
  const DrawnTensor from = draft.tensor(self);
  const DType dtype = result_dtype(from, draft.tensor(*number));
  const OpForms forms = forms_of(kOps[variant], "Tensor");
  add_pointwise(draft, genes, forms, {{"self", self}, {"other", *number}}, dtype, 1,
                [](NodeBuilder&) {});
  return true;
}

constexpr DrawnOp kHostRows[] = {
    {"host.add", 5, draw_host_op, 0, kSince, {}, "aten.add"},
    {"host.mul", 2, draw_host_op, 1, kSince, {}, "aten.mul"},
    {"host.full", 2, draw_made_on_host, 0, kSince, {}, "aten.full"},
    {"host.arange", 1, draw_made_on_host, 1, kSince, {}, "aten.arange"},
    {"host-number.add", 5, draw_host_number, 0, kSince, {}, "aten.add"},
    {"host-number.mul", 4, draw_host_number, 1, kSince, {}, "aten.mul"},
    {"host-number.sub", 2, draw_host_number, 2, kSince, {}, "aten.sub"},
};

}  // namespace

std::span<const DrawnOp> host_rows() { return kHostRows; }

}  // namespace graphgate::fuzz
