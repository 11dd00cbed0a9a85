// Copies, casts and fills.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

bool is_number(const DrawnTensor& tensor) {
  return is_computed_float(tensor.dtype) || spec::is_integral(tensor.dtype);
}

// copy_ and copy: the source broadcasts, and is cast.
bool draw_copy(Draft& draft, GeneReader& genes, std::size_t in_place) {
  auto self = draft.pick(
      genes, [&](const DrawnTensor& tensor) { return is_number(tensor) && !tensor.overlaps; });
  if (in_place == 1) {
    // Whatever is empty yet comes first.
    for (std::size_t i = 0; i < draft.tensors().size(); ++i) {
      const auto index = static_cast<TensorIndex>(i);
      if (draft.storage_of(index).is_unfilled && draft.may_write(index) && genes.chance(50)) {
        self = index;
        break;
      }
    }
  }
  if (!self) return false;
  const DrawnTensor target = draft.tensor(*self);
  const bool casts = genes.chance(20);
  const auto source = draft.pick(genes, [&](const DrawnTensor& tensor) {
    const bool fits = casts ? can_store(tensor.dtype, target.dtype) && is_number(tensor)
                            : tensor.dtype == target.dtype;
    return fits && broadcasts_to(tensor.sizes, target.sizes);
  });
  if (!source) return false;
  if (in_place == 1 && draft.may_write(*self) && draft.may_read_while_writing(*source, *self)) {
    const Bounds range = draft.range(*source);
    NodeBuilder node(draft, "aten.copy_.default");
    node.tensor("self", *self).tensor("src", *source).written(*self, range);
    return true;
  }
  if (draft.storage_of(*self).is_unfilled) return false;
  // It copies the whole storage that self is a view of, gaps and offset included.
  const bool is_known = draft.is_row_major(target) && target.offset == 0;
  NodeBuilder node(draft, "aten.copy.default");
  node.tensor("self", *self)
      .tensor("src", *source)
      .fresh(target.dtype, target.sizes, Layout{is_known, draft.row_major(target.sizes)});
  return true;
}

bool draw_clone(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = draft.pick(genes, [](const DrawnTensor&) { return true; });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const Bounds range = draft.range(*self);
  NodeBuilder node(draft, "aten.clone.default");
  node.tensor("self", *self);
  TensorIndex made = 0;
  if (genes.chance(40)) {
    node.argument("memory_format", {spec::MemoryFormat::kContiguous});
    made = node.fresh(from.dtype, from.sizes);
  } else {
    made = node.fresh(from.dtype, from.sizes, preserved_layout(draft, *self));
  }
  draft.set_range(made, range);
  return true;
}

// Casts keep values that the other dtype can hold; floats do not become integers.
DType draw_target_dtype(Draft& draft, GeneReader& genes, DType from) {
  static constexpr DType kFloats[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16,
                                      DType::kFloat64};
  static constexpr DType kEight[] = {DType::kFloat8E4M3FN, DType::kFloat8E5M2};
  static constexpr DType kIntegers[] = {DType::kInt64, DType::kInt32, DType::kInt16, DType::kInt8};
  const std::uint32_t gene = genes.next();
  if (!spec::is_floating_point(from) && gene % 3 == 2) return kIntegers[gene / 4 % 4];
  if (is_computed_float(from) && gene % 16 == 15) return kEight[gene / 16 % 2];
  if (gene % 2 == 0) return draft.draw_floating(genes);
  return kFloats[gene / 4 % 4];
}

// _to_copy makes a copy; to.dtype may hand on its operand; type_as takes another tensor's dtype.
bool draw_cast(Draft& draft, GeneReader& genes, std::size_t variant) {
  const auto self = draft.pick(genes, [](const DrawnTensor&) { return true; });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  DType dtype = draw_target_dtype(draft, genes, from.dtype);
  std::optional<TensorIndex> other;
  if (variant == 2) {
    other = draft.pick(genes, [&](const DrawnTensor& t) { return is_computed_float(t.dtype); });
    if (!other) return false;
    dtype = draft.tensor(*other).dtype;
  }
  const Layout layout = preserved_layout(draft, *self);
  static constexpr const char* kNames[] = {"aten._to_copy.default", "aten.to.dtype",
                                           "aten.type_as.default"};
  NodeBuilder node(draft, kNames[variant]);
  node.tensor("self", *self);
  if (other) {
    node.tensor("other", *other);
  } else {
    node.dtype("dtype", dtype);
  }
  if (variant != 0 && dtype == from.dtype) {
    node.view(*self, from.sizes, from.strides, from.offset);
  } else {
    node.fresh(dtype, from.sizes, layout);
  }
  return true;
}

bool draw_fill(Draft& draft, GeneReader& genes, std::size_t variant) {
  const auto self = draft.pick(genes, is_number);
  if (!self) return false;
  const DrawnTensor target = draft.tensor(*self);
  const bool in_place = draft.may_write(*self) && genes.chance(60);
  const spec::Argument value = draw_scalar(genes, target.dtype);
  const bool zeroes = variant == 1;
  const Layout layout = preserved_layout(draft, *self);
  NodeBuilder node(draft, zeroes ? (in_place ? "aten.zero_.default" : "aten.zero.default")
                                 : (in_place ? "aten.fill_.Scalar" : "aten.fill.Scalar"));
  node.tensor("self", *self);
  if (!zeroes) node.argument("value", value);
  const auto* number = value.as<std::int64_t>();
  const std::int64_t written = zeroes || !number ? 0 : *number;
  if (in_place) {
    node.written(*self, {written, written});
  } else {
    draft.set_range(node.fresh(target.dtype, target.sizes, layout), {written, written});
  }
  return true;
}

// A fill with what a tensor of one element holds.
bool draw_fill_tensor(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes);
  const DrawnTensor target = draft.tensor(self);
  const auto value = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.dtype == target.dtype && tensor.sizes.rank == 0;
  });
  if (!value || !draft.may_write(self) || draft.tensor(*value).storage == target.storage) {
    return false;
  }
  NodeBuilder node(draft, "aten.fill_.Tensor");
  node.tensor("self", self).tensor("value", *value).written(self);
  return true;
}

// contiguous and dropout out of training hand on their operand where they can.
bool draw_contiguous(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = draft.pick(genes, [](const DrawnTensor& t) { return t.has_layout; });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const bool is_same = draft.is_contiguous(from);
  const Bounds range = draft.range(*self);
  NodeBuilder node(draft, "aten.contiguous.default");
  node.tensor("self", *self);
  if (is_same) {
    node.view(*self, from.sizes, from.strides, from.offset);
  } else {
    const TensorIndex made = node.fresh(from.dtype, from.sizes);
    draft.set_range(made, range);
    draft.note_copy(made, *self);
  }
  return true;
}

bool draw_dropout(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes);
  const DrawnTensor from = draft.tensor(self);
  NodeBuilder node(draft, "aten.dropout.default");
  node.tensor("input", self).real("p", 0.5).boolean("train", false);
  node.view(self, from.sizes, from.strides, from.offset);
  return true;
}

bool draw_lift(Draft& draft, GeneReader& genes, std::size_t copies) {
  const TensorIndex self = draft.pick_floating(genes);
  const DrawnTensor from = draft.tensor(self);
  NodeBuilder node(draft, copies == 1 ? "aten.lift_fresh_copy.default" : "aten.lift_fresh.default");
  node.tensor("self", self);
  if (copies == 1) {
    node.fresh(from.dtype, from.sizes);
  } else {
    node.view(self, from.sizes, from.strides, from.offset);
  }
  return true;
}

// Between the main device and host memory.
bool draw_device_copy(Draft& draft, GeneReader& genes, std::size_t) {
  if (!draft.settings().on_accelerator) return false;
  const bool comes_back = genes.chance(50);
  auto self = comes_back ? draft.pick_on_host([](const DrawnTensor& tensor) {
    return is_computed_float(tensor.dtype);
  })
                         : std::nullopt;
  const bool to_main = self.has_value();
  if (!self) self = draft.pick_floating(genes);
  const DrawnTensor from = draft.tensor(*self);
  const Layout layout = preserved_layout(draft, *self);
  NodeBuilder node(draft, "aten._to_copy.default");
  node.tensor("self", *self);
  node.argument("device", {to_main ? draft.main_device() : spec::Device{"cpu", -1}});
  const TensorIndex made = node.fresh(from.dtype, from.sizes, layout);
  if (!to_main) draft.set_on_host(made);
  return true;
}

// A scalar in host memory as operand of an op on the main device.
bool draw_host_scalar(Draft& draft, GeneReader& genes, std::size_t) {
  if (!draft.settings().on_accelerator) return false;
  const TensorIndex self = draft.pick_floating(genes, 1);
  const DrawnTensor from = draft.tensor(self);
  auto scalar = draft.pick_on_host([&](const DrawnTensor& tensor) {
    return tensor.dtype == from.dtype && tensor.sizes.rank == 0;
  });
  if (!scalar) {
    scalar = draft.add_input(spec::InputKind::kUserInput, from.dtype, {});
    draft.set_on_host(*scalar);
  }
  const TensorIndex operands[] = {self};
  const Layout layout = pointwise_layout(draft, operands, from.sizes, 1);
  NodeBuilder node(draft, "aten.mul.Tensor");
  node.tensor("self", self).tensor("other", *scalar).fresh(from.dtype, from.sizes, layout);
  return true;
}

constexpr DrawnOp kConversionRows[] = {
    {"device-copy", 6, draw_device_copy, 0},
    {"host-scalar", 6, draw_host_scalar, 0},
    {"aten.copy_", 16, draw_copy, 1},
    {"aten.copy", 2, draw_copy, 0},
    {"aten.clone", 6, draw_clone, 0},
    {"aten._to_copy", 6, draw_cast, 0},
    {"aten.to", 3, draw_cast, 1},
    {"aten.type_as", 1, draw_cast, 2},
    {"aten.fill", 5, draw_fill, 0},
    {"aten.zero", 3, draw_fill, 1},
    {"aten.fill_", 2, draw_fill_tensor, 0},
    {"aten.contiguous", 3, draw_contiguous, 0},
    {"aten.dropout", 1, draw_dropout, 0},
    {"aten.lift_fresh_copy", 1, draw_lift, 1},
    {"aten.lift_fresh", 1, draw_lift, 0},
};

}  // namespace

std::span<const DrawnOp> conversion_rows() { return kConversionRows; }

}  // namespace graphgate::fuzz
