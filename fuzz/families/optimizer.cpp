// Steps of optimizers: parameters and states that a gradient moves on, in place or as torch.compile
// traces them, with new contents that are copied over the old ones at the end.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace optimizer {
namespace {

using spec::InputKind;

// What a step reads and moves on: lists of as many tensors.
struct Step {
  spec::DType dtype = spec::DType::kFloat32;
  std::vector<TensorIndex> gradients;
  std::vector<TensorIndex> parameters;
};

// Row-major, so that every result is, and of the same sizes in every call, as states are.
bool is_plain(Draft& draft, const DrawnTensor& tensor) {
  for (int d = 0; d < tensor.sizes.rank; ++d) {
    if (!is_constant(tensor.sizes[d])) return false;
  }
  return draft.is_row_major(tensor) && is_computed_float(tensor.dtype);
}

// Gradients of one dtype, and parameters of their sizes; none where there is no gradient.
Step draw_step(Draft& draft, GeneReader& genes, std::size_t most) {
  Step step;
  const std::size_t count = 1 + genes.next() % most;
  while (step.gradients.size() < count) {
    const auto next = draft.pick(genes, [&](const DrawnTensor& tensor) {
      return is_plain(draft, tensor) && (step.gradients.empty() || tensor.dtype == step.dtype);
    });
    if (!next) break;
    step.dtype = draft.tensor(*next).dtype;
    step.gradients.push_back(*next);
  }
  for (const TensorIndex gradient : step.gradients) {
    const Shape sizes = draft.tensor(gradient).sizes;
    step.parameters.push_back(draft.add_input(InputKind::kBuffer, step.dtype, sizes));
  }
  return step;
}

std::vector<TensorIndex> add_states(Draft& draft, const Step& step) {
  std::vector<TensorIndex> states;
  for (const TensorIndex gradient : step.gradients) {
    const Shape sizes = draft.tensor(gradient).sizes;
    states.push_back(draft.add_input(InputKind::kBuffer, step.dtype, sizes));
  }
  return states;
}

// An op that changes `target` by one or two others and a number. `name` is that of the number.
void change(Draft& draft, std::string_view op, TensorIndex target,
            std::initializer_list<Operand> operands, std::string_view name = {},
            double number = 0) {
  NodeBuilder node(draft, op);
  node.tensor("self", target);
  for (const Operand& operand : operands) node.tensor(operand.name, operand.index);
  if (!name.empty()) node.real(name, number);
  node.written(target);
}

// The same without a write.
TensorIndex computed(Draft& draft, std::string_view op, TensorIndex self,
                     std::initializer_list<Operand> operands, std::string_view name = {},
                     double number = 0) {
  const DrawnTensor from = draft.tensor(self);
  NodeBuilder node(draft, op);
  node.tensor("self", self);
  for (const Operand& operand : operands) node.tensor(operand.name, operand.index);
  if (!name.empty()) node.real(name, number);
  return node.fresh(from.dtype, from.sizes, preserved_layout(draft, self));
}

// momentum * velocity + gradient, of which the parameter moves on; with Nesterov's look ahead.
void move_by_momentum(Draft& draft, TensorIndex parameter, TensorIndex velocity,
                      TensorIndex gradient, bool looks_ahead) {
  change(draft, "aten.mul_.Scalar", velocity, {}, "other", 0.5);
  change(draft, "aten.add_.Tensor", velocity, {{"other", gradient}});
  if (looks_ahead) {
    const TensorIndex ahead = computed(draft, "aten.mul.Scalar", velocity, {}, "other", 0.5);
    change(draft, "aten.add_.Tensor", parameter, {{"other", gradient}}, "alpha", -0.125);
    change(draft, "aten.add_.Tensor", parameter, {{"other", ahead}}, "alpha", -0.125);
    return;
  }
  change(draft, "aten.add_.Tensor", parameter, {{"other", velocity}}, "alpha", -0.125);
}

// The moments of Adam: states that are never negative from the first step on.
void move_by_moments(Draft& draft, TensorIndex parameter, TensorIndex mean, TensorIndex square,
                     TensorIndex gradient, bool is_decayed) {
  if (is_decayed) change(draft, "aten.mul_.Scalar", parameter, {}, "other", 0.75);
  change(draft, "aten.lerp_.Scalar", mean, {{"end", gradient}}, "weight", 0.25);
  change(draft, "aten.abs_.default", square, {});
  change(draft, "aten.mul_.Scalar", square, {}, "other", 0.75);
  change(draft, "aten.addcmul_.default", square, {{"tensor1", gradient}, {"tensor2", gradient}},
         "value", 0.25);
  const TensorIndex root = computed(draft, "aten.sqrt.default", square, {});
  const TensorIndex divisor = computed(draft, "aten.add.Scalar", root, {}, "other", 0.125);
  change(draft, "aten.addcdiv_.default", parameter, {{"tensor1", mean}, {"tensor2", divisor}},
         "value", -0.125);
}

// As torch.compile traces it: a new content for each, and copies behind all that reads the old
// ones.
void move_by_copies(Draft& draft, TensorIndex parameter, TensorIndex square, TensorIndex gradient) {
  const TensorIndex positive = computed(draft, "aten.abs.default", square, {});
  const TensorIndex next_square =
      computed(draft, "aten.addcmul.default", positive,
               {{"tensor1", gradient}, {"tensor2", gradient}}, "value", 0.25);
  const TensorIndex root = computed(draft, "aten.sqrt.default", next_square, {});
  const TensorIndex divisor = computed(draft, "aten.add.Scalar", root, {}, "other", 0.125);
  const TensorIndex next = computed(draft, "aten.addcdiv.default", parameter,
                                    {{"tensor1", gradient}, {"tensor2", divisor}}, "value", -0.125);
  change(draft, "aten.copy_.default", parameter, {{"src", next}});
  change(draft, "aten.copy_.default", square, {{"src", next_square}});
}

bool draw_update(Draft& draft, GeneReader& genes, std::size_t variant) {
  const bool flag = genes.chance(50);
  const Step step = draw_step(draft, genes, 2);
  if (step.gradients.empty()) return false;
  const std::vector<TensorIndex> states = add_states(draft, step);
  const std::vector<TensorIndex> squares =
      variant == 1 ? add_states(draft, step) : std::vector<TensorIndex>();
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (variant == 0) {
      move_by_momentum(draft, step.parameters[i], states[i], step.gradients[i], flag);
    } else if (variant == 1) {
      move_by_moments(draft, step.parameters[i], states[i], squares[i], step.gradients[i], flag);
    } else {
      move_by_copies(draft, step.parameters[i], states[i], step.gradients[i]);
    }
  }
  return true;
}

// An op that changes every tensor of a list by those of others.
void change_all(Draft& draft, std::string_view op, const std::vector<TensorIndex>& targets,
                std::initializer_list<std::pair<std::string_view, std::vector<TensorIndex>>> others,
                std::string_view name = {}, double number = 0) {
  NodeBuilder node(draft, op);
  node.tensors("self", targets);
  for (const auto& [of, list] : others) node.tensors(of, list);
  if (!name.empty()) node.real(name, number);
  for (const TensorIndex target : targets) node.writes(target);
}

// The same steps over lists.
bool draw_list_update(Draft& draft, GeneReader& genes, std::size_t has_squares) {
  const Step step = draw_step(draft, genes, 3);
  if (step.gradients.empty()) return false;
  const std::vector<TensorIndex> states = add_states(draft, step);
  if (has_squares == 0) {
    change_all(draft, "aten._foreach_mul_.Scalar", states, {}, "scalar", 0.5);
    change_all(draft, "aten._foreach_add_.List", states, {{"other", step.gradients}}, "alpha", 1);
    change_all(draft, "aten._foreach_add_.List", step.parameters, {{"other", states}}, "alpha",
               -0.125);
    return true;
  }
  change_all(draft, "aten._foreach_addcmul_.Scalar", states,
             {{"tensor1", step.gradients}, {"tensor2", step.gradients}}, "value", 0.25);
  change_all(draft, "aten._foreach_abs_.default", states, {});
  change_all(draft, "aten._foreach_add_.Scalar", states, {}, "scalar", 0.125);
  change_all(draft, "aten._foreach_addcdiv_.Scalar", step.parameters,
             {{"tensor1", step.gradients}, {"tensor2", states}}, "value", -0.125);
  return true;
}

constexpr DrawnOp kOptimizerRows[] = {
    {"optimizer.momentum", 1, draw_update, 0, 8, {}, "aten.mul aten.add"},
    {"optimizer.moments",
     1,
     draw_update,
     1,
     8,
     {},
     "aten.mul aten.lerp aten.abs aten.addcmul aten.sqrt aten.add aten.addcdiv"},
    {"optimizer.copies",
     1,
     draw_update,
     2,
     8,
     {},
     "aten.abs aten.addcmul aten.sqrt aten.add aten.addcdiv aten.copy"},
    {"optimizer.momentum_list",
     1,
     draw_list_update,
     0,
     8,
     {},
     "aten._foreach_mul aten._foreach_add"},
    {"optimizer.squares_list",
     1,
     draw_list_update,
     1,
     8,
     {},
     "aten._foreach_addcmul aten._foreach_abs aten._foreach_add aten._foreach_addcdiv"},
};

}  // namespace
}  // namespace optimizer

std::span<const DrawnOp> optimizer_rows() { return optimizer::kOptimizerRows; }

}  // namespace graphgate::fuzz
