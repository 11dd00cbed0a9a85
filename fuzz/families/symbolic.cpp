// Numbers that sizes and elements give, and arithmetic on them.
#include <algorithm>
#include <cstdlib>
#include <optional>

#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

// The first size that is no constant, of a tensor that has one; nothing without such a tensor.
std::optional<Size> pick_symbolic_size(Draft& draft, GeneReader& genes) {
  const auto find = [](const Shape& sizes) -> std::optional<Size> {
    for (int d = 0; d < sizes.rank; ++d) {
      if (!is_constant(sizes[d])) return sizes[d];
    }
    return std::nullopt;
  };
  const auto self =
      draft.pick(genes, [&](const DrawnTensor& tensor) { return find(tensor.sizes).has_value(); });
  return self ? find(draft.tensor(*self).sizes) : std::nullopt;
}

// A size becomes a number, which others are made from, and which tensors take as a scalar.
bool draw_arithmetic(Draft& draft, GeneReader& genes, std::size_t variant) {
  const auto symbolic = pick_symbolic_size(draft, genes);
  if (!symbolic) return false;
  const spec::Argument size = draft.size_argument(*symbolic);
  static constexpr const char* kNames[] = {"_operator.add",      "_operator.mul", "_operator.sub",
                                           "_operator.floordiv", "_operator.mod", "torch.sym_max",
                                           "torch.sym_min"};
  spec::ValueId number;
  {
    NodeBuilder node(draft, kNames[variant]);
    const auto by = 2 + static_cast<std::int64_t>(genes.below(3));
    node.argument("a", size).integer("b", by);
    std::optional<Size> known;
    if (variant == 0) known = draft.table().plus(*symbolic, by);
    if (variant == 1) known = draft.table().product(static_cast<Size>(by), *symbolic);
    if (variant == 3) known = draft.table().quotient(*symbolic, static_cast<Size>(by));
    number = node.number(spec::ValueKind::kSymInt, known);
  }
  use_number(draft, genes, "aten.add.Tensor", number);
  return true;
}

// A number that is being computed of a size, and between what it lies.
struct ComputedSize {
  spec::Argument value;
  Bounds range;
};

// One more operation on it, by a number that may be negative.
void compute_on(Draft& draft, GeneReader& genes, ComputedSize& size) {
  enum Kind : std::uint8_t { kSub, kMul, kFloorDiv, kMod, kAdd };
  struct Step {
    Kind kind;
    const char* op;
    std::int64_t by;
  };
  static constexpr Step kSteps[] = {
      {kSub, "_operator.sub", 9},          {kFloorDiv, "_operator.floordiv", 2},
      {kMod, "_operator.mod", -3},         {kMul, "_operator.mul", -1},
      {kAdd, "_operator.add", 30},         {kFloorDiv, "_operator.floordiv", -2},
      {kMod, "_operator.mod", 5},          {kMul, "_operator.mul", 3},
      {kSub, "_operator.sub", 2},          {kFloorDiv, "_operator.floordiv", -3},
      {kMod, "_operator.mod", 3},          {kMul, "_operator.mul", -2},
      {kFloorDiv, "_operator.floordiv", 3}};
  const Step step = genes.of(kSteps);
  NodeBuilder node(draft, step.op);
  node.argument("a", size.value).integer("b", step.by);
  size.value = {node.number(spec::ValueKind::kSymInt, std::nullopt)};
  const auto [least, most] = size.range;
  const std::int64_t far = std::max(std::abs(least), std::abs(most));
  switch (step.kind) {
    case kSub:
      size.range = {least - step.by, most - step.by};
      break;
    case kAdd:
      size.range = {least + step.by, most + step.by};
      break;
    case kMul:
      size.range = {std::min(least * step.by, most * step.by),
                    std::max(least * step.by, most * step.by)};
      break;
    case kFloorDiv:
      size.range = {-far, far};
      break;
    case kMod:
      size.range = {std::min<std::int64_t>(0, step.by), std::max<std::int64_t>(0, step.by)};
      break;
  }
}

// What is made of it in the end: itself, a power of two, or a number that floats have rounded.
void use_computed(Draft& draft, GeneReader& genes, const ComputedSize& size) {
  enum End : std::uint8_t { kItself, kPower, kShifted, kTimesNumbers, kFraction, kEnds };
  auto end = static_cast<End>(genes.below(kEnds));
  constexpr std::int64_t kMostShift = 62;
  const bool is_exponent = size.range.least >= 0 && size.range.most <= kMostShift;
  if ((end == kPower || end == kShifted) && !is_exponent) end = kItself;
  const auto binary = [&](const char* op, spec::Argument a, spec::Argument b,
                          spec::ValueKind kind) {
    NodeBuilder node(draft, op);
    node.argument("a", std::move(a)).argument("b", std::move(b));
    return node.number(kind, std::nullopt);
  };
  spec::ValueId number;
  switch (end) {
    case kPower:
      number = binary("_operator.pow", {std::int64_t{2}}, size.value, spec::ValueKind::kSymInt);
      break;
    case kShifted:
      number = binary("_operator.lshift", {std::int64_t{1}}, size.value, spec::ValueKind::kSymInt);
      break;
    case kTimesNumbers: {
      static constexpr double kFactors[] = {0.7, 0.1, 1.1};
      number =
          binary("_operator.mul", size.value, {genes.of(kFactors)}, spec::ValueKind::kSymFloat);
      number = binary("_operator.mul", {number}, {10.0}, spec::ValueKind::kSymFloat);
      NodeBuilder node(draft, "torch.sym_int");
      number = node.value("a", number).number(spec::ValueKind::kSymInt, std::nullopt);
      break;
    }
    case kFraction:
      number = binary("_operator.mul", size.value, {0.3}, spec::ValueKind::kSymFloat);
      number = binary("_operator.mod", {number}, {1.0}, spec::ValueKind::kSymFloat);
      break;
    default:
      number = binary("_operator.add", size.value, {std::int64_t{1}}, spec::ValueKind::kSymInt);
  }
  use_number(draft, genes, "aten.add.Tensor", number);
}

// A size is taken apart by several operations, negative numbers among their operands.
bool draw_computed(Draft& draft, GeneReader& genes, std::size_t) {
  const auto symbolic = pick_symbolic_size(draft, genes);
  if (!symbolic) return false;
  ComputedSize size{draft.size_argument(*symbolic), draft.table().bounds(*symbolic)};
  constexpr std::int64_t kMostSize = 100'000;
  if (size.range.most > kMostSize) return true;
  const std::uint32_t steps = 2 + genes.below(2);
  for (std::uint32_t s = 0; s < steps; ++s) compute_on(draft, genes, size);
  use_computed(draft, genes, size);
  return true;
}

// An element read on the host, and used as a number.
bool draw_item(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return is_plain_float(tensor.dtype) && tensor.sizes.rank == 0;
  });
  if (!self) return false;
  spec::ValueId number;
  {
    NodeBuilder node(draft, "aten._local_scalar_dense.default");
    number = node.tensor("self", *self).number(spec::ValueKind::kSymFloat, std::nullopt);
  }
  use_number(draft, genes, "aten.mul.Tensor", number);
  return true;
}

// A number that calls pass.
bool draw_number_input(Draft& draft, GeneReader& genes, std::size_t) {
  if (draft.number_inputs() >= 1) return false;
  const spec::ValueId number = draft.add_number_input(spec::ValueKind::kSymFloat);
  use_number(draft, genes, "aten.mul.Tensor", number);
  return true;
}

constexpr DrawnOp kSymbolicRows[] = {
    {"_operator.add", 1, draw_arithmetic, 0},
    {"_operator.mul", 1, draw_arithmetic, 1},
    {"_operator.sub", 1, draw_arithmetic, 2},
    {"_operator.floordiv", 1, draw_arithmetic, 3},
    {"_operator.mod", 1, draw_arithmetic, 4},
    {"torch.sym_max", 1, draw_arithmetic, 5},
    {"torch.sym_min", 1, draw_arithmetic, 6},
    {"aten._local_scalar_dense", 2, draw_item, 0},
    {"input", 1, draw_number_input, 0},
    {"sizes",
     4,
     draw_computed,
     0,
     13,
     {},
     "_operator.add _operator.floordiv _operator.lshift _operator.mod _operator.mul _operator.pow "
     "_operator.sub torch.sym_int"}};

}  // namespace

std::span<const DrawnOp> symbolic_rows() { return kSymbolicRows; }

}  // namespace graphgate::fuzz
