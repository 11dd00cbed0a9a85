// Losses of scores for classes against the numbers of the right ones: negative log likelihood and
// margins, and gradients. PyTorch's CPU kernels keep sums in the dtype itself, 16-bit ones too.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "reference/number/left_open.h"
#include "reference/ops/contributions.h"
#include "reference/ops/loss.h"
#include "reference/ops/softmax_line.h"
#include "reference/pointwise.h"
#include "reference/registry.h"
#include "reference/slices.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// The sum of the terms, as the kernel adds them in `dtype`.
template <class N>
N sum_held_in(const std::vector<N>& terms, DType dtype) {
  const Accumulation how{.partials = Partials::kOwnDtype};
  detail::Slot<N> sum;
  for (const N& term : terms) sum.add(term, how, dtype);
  return sum.result(how, dtype);
}

// --- negative log likelihood ---

// Scores [batch, classes, area] and their targets [batch, area]: of one row there is no batch, and
// of rows no area.
struct Likelihood {
  std::int64_t classes = 1;
  std::int64_t area = 1;
  DType dtype;
  Sizes target_sizes;
  std::vector<Whole> targets;
  std::int64_t ignored;  // the class whose targets count for nothing

  explicit Likelihood(const Call& call)
      : dtype(call.tensor("self")->dtype), ignored(call.integer("ignore_index")) {
    const Tensor& self = *call.tensor("self");
    const Tensor& target = *call.tensor("target");
    require_floating(call, dtype);
    refuse_float8(call, dtype);
    if (target.dtype != DType::kInt64 && target.dtype != DType::kUInt8) {
      throw OpError("expected target dtype to be Long or Byte");
    }
    if (self.rank() < 1) throw OpError("nll_loss: the input must have a dimension");
    const std::size_t class_dim = self.rank() == 1 ? 0 : 1;
    classes = self.sizes[class_dim];
    Sizes expected = self.sizes;
    expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(class_dim));
    const bool is_one_in_a_list = self.rank() == 1 && target.sizes == Sizes{1};
    if (target.sizes != expected && !is_one_in_a_list) {
      throw OpError("nll_loss: the target does not fit the input");
    }
    for (std::size_t d = 2; d < self.sizes.size(); ++d) area *= self.sizes[d];
    target_sizes = self.rank() == 1 ? Sizes{} : target.sizes;
    targets = load<Whole>(target, DType::kInt64).data;
    if (const TensorRef weight = call.optional_tensor("weight")) {
      if (weight->dtype != dtype) throw OpError("the weight must have the dtype of the input");
      if (weight->sizes != Sizes{classes}) {
        throw OpError("weight tensor should be defined either for all classes or no classes");
      }
    }
  }

  // Calls visit(i, position of the score, class) for every target that counts. Nothing is said of
  // those that nobody knows: is_open() tells.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const Whole target = targets[i];
      if (target.undecided || target.value == ignored) continue;
      if (target.value < 0 || target.value >= classes) {
        throw OpError("Target " + std::to_string(target.value) + " is out of bounds.");
      }
      const auto at = static_cast<std::int64_t>(i);
      visit(at, (at / area * classes + target.value) * area + at % area, target.value);
    }
  }
  [[nodiscard]] bool is_open() const {
    return std::any_of(targets.begin(), targets.end(), [](Whole t) { return t.undecided; });
  }
};

template <class N>
std::vector<N> class_weights(const Call& call, const Likelihood& of) {
  const TensorRef weight = call.optional_tensor("weight");
  if (weight) return load<N>(*weight, of.dtype).data;
  return std::vector<N>(static_cast<std::size_t>(of.classes), N(1));
}

template <class N>
struct LikelihoodLoss {
  Array<N> losses;
  N total_weight;
};

// A mean is weighted: the sum over the sum of the weights that count.
template <class N>
LikelihoodLoss<N> likelihood_loss(const Call& call, const Array<N>& scores, const Likelihood& of,
                                  LossReduction reduction) {
  const bool is_weighted = call.has("weight");
  const std::vector<N> weights = class_weights<N>(call, of);
  Array<N> losses(of.target_sizes, N(0));
  std::vector<N> terms;
  std::vector<N> counted;
  of.for_each([&](std::int64_t i, std::int64_t position, std::int64_t chosen) {
    const N& weight = weights[static_cast<std::size_t>(chosen)];
    losses[i] = -held_in(scores[position] * weight, of.dtype);
    terms.push_back(losses[i]);
    counted.push_back(weight);
  });
  if (of.is_open()) {
    for (N& loss : losses.data) loss = left_open(loss);
  }
  const bool is_row = scores.rank() == 1;
  if (reduction == LossReduction::kNone && !is_row) return {std::move(losses), N(0)};
  const N count = cast(N(static_cast<double>(counted.size())), of.dtype);
  N total = is_weighted ? sum_held_in(counted, of.dtype) : count;
  N sum = held_in(sum_held_in(terms, of.dtype), of.dtype);
  if (of.is_open()) {
    total = left_open(total);
    sum = left_open(sum);
  }
  if (reduction == LossReduction::kMean) sum = sum / held_in(total, of.dtype);
  return {Array<N>(Sizes{}, sum), total};
}

void nll_loss_forward(Call& call) {
  const Likelihood of(call);
  with_real(call.mode(), [&]<class N>() {
    const Array<N> scores = load<N>(*call.tensor("self"), of.dtype);
    const auto loss = likelihood_loss(call, scores, of, loss_reduction(call));
    call.emit(loss.losses, of.dtype);
    call.emit(Array<N>(Sizes{}, loss.total_weight), of.dtype);
  });
}

// The composite forms: the loss alone.
void nll_loss(Call& call) {
  const Likelihood of(call);
  with_real(call.mode(), [&]<class N>() {
    const Array<N> scores = load<N>(*call.tensor("self"), of.dtype);
    call.emit(likelihood_loss(call, scores, of, loss_reduction(call)).losses, of.dtype);
  });
}

// --- cross entropy: a composite, each of whose steps rounds to the dtype ---

// The logarithms of the softmax over the classes of `self`, held in its dtype.
template <class N>
Array<N> log_probabilities(const Tensor& self) {
  const std::int64_t dim = self.rank() < 2 ? 0 : 1;
  const std::int64_t length = self.sizes[static_cast<std::size_t>(dim)];
  const SoftmaxKernel kernel{self.dtype, dim + 1 >= self.rank()};
  Array<N> out = map_lines(load<N>(self, self.dtype), dim, length,
                           [&](std::span<const N> line) { return log_softmax_of(line, kernel); });
  for (N& x : out.data) x = held_in(x, self.dtype);
  return out;
}

// -sum_c weight_c target_c log p_c at each place; `target` gives the target of an element.
template <class N, class F>
Array<N> entropies(const Array<N>& logs, const std::vector<N>& weights, DType dtype, F target) {
  const std::int64_t dim = logs.rank() < 2 ? 0 : 1;
  const Lines lines(logs.sizes, dim);
  Sizes sizes = logs.sizes;
  sizes.erase(sizes.begin() + dim);
  Array<N> out(sizes);
  for (std::int64_t i = 0; i < out.count(); ++i) {
    Sum<N> sum;
    for (std::int64_t c = 0; c < lines.length; ++c) {
      const std::int64_t at = lines.first(i) + c * lines.step;
      const N product = held_in(logs[at] * target(at), dtype);
      sum.add(held_in(product * weights[static_cast<std::size_t>(c)], dtype));
    }
    out[i] = -held_in(sum.result(), dtype);
  }
  return out;
}

// Targets that are probabilities; smoothed, each class has a part of it.
template <class N>
void emit_soft_entropy(Call& call, double smoothing) {
  const Tensor& self = *call.tensor("self");
  const Tensor& target = *call.tensor("target");
  const DType dtype = promote(self.dtype, target.dtype);
  const Array<N> logs = log_probabilities<N>(self);
  Array<N> targets = load<N>(target, target.dtype);
  const std::int64_t classes = self.sizes[self.rank() < 2 ? 0 : 1];
  if (smoothing > 0) {
    const N part(smoothing / static_cast<double>(classes));
    for (N& x : targets.data) {
      x = held_in(held_in(x * N(1 - smoothing), target.dtype) + part, target.dtype);
    }
  }
  std::vector<N> weights(static_cast<std::size_t>(classes), N(1));
  if (call.has("weight")) weights = load<N>(*call.tensor("weight"), dtype).data;
  const Array<N> each = entropies(logs, weights, dtype, [&](std::int64_t i) { return targets[i]; });
  const LossReduction reduction = loss_reduction(call);
  if (reduction == LossReduction::kNone) return call.emit(each, dtype);
  Sum<N> sum;
  for (const N& loss : each.data) sum.add(loss);
  N total = sum.result();
  if (reduction == LossReduction::kMean) {
    total = held_in(total, dtype) / N(static_cast<double>(each.count()));
  }
  call.emit(Array<N>(Sizes{}, total), dtype);
}

// (1 - s) times the loss of the targets, and s / classes times that of all classes alike.
template <class N>
void emit_smoothed_entropy(Call& call, const Likelihood& of, double smoothing) {
  const LossReduction reduction = loss_reduction(call);
  const Array<N> logs = log_probabilities<N>(*call.tensor("self"));
  const LikelihoodLoss<N> hard = likelihood_loss(call, logs, of, reduction);
  const std::vector<N> weights = class_weights<N>(call, of);
  Array<N> all = entropies(logs, weights, of.dtype, [](std::int64_t) { return N(1); });
  Sum<N> counted;
  Sum<N> sum;
  for (std::size_t i = 0; i < of.targets.size(); ++i) {
    if (of.targets[i].value == of.ignored) {
      all.data[i] = N(0);
      continue;
    }
    sum.add(all.data[i]);
    counted.add(weights[static_cast<std::size_t>(of.targets[i].value)]);
  }
  if (reduction != LossReduction::kNone) {
    N total = held_in(sum.result(), of.dtype);
    if (reduction == LossReduction::kMean) total = total / held_in(counted.result(), of.dtype);
    all = Array<N>(hard.losses.sizes, total);
  }
  const N part(smoothing / static_cast<double>(of.classes));
  for (std::size_t i = 0; i < all.data.size(); ++i) {
    const N first = held_in(N(1 - smoothing) * held_in(hard.losses.data[i], of.dtype), of.dtype);
    all.data[i] = first + held_in(held_in(all.data[i], of.dtype) * part, of.dtype);
    if (of.is_open()) all.data[i] = left_open(all.data[i]);
  }
  call.emit(all, of.dtype);
}

void cross_entropy_loss(Call& call) {
  const Tensor& self = *call.tensor("self");
  require_floating(call, self.dtype);
  refuse_float8(call, self.dtype);
  if (self.rank() < 1) throw OpError("cross_entropy_loss: the input must have a dimension");
  const double smoothing = call.real("label_smoothing");
  if (smoothing < 0 || smoothing > 1) {
    throw OpError("label_smoothing must be between 0.0 and 1.0");
  }
  const bool is_soft = self.sizes == call.tensor("target")->sizes;
  if (is_soft && !spec::is_floating_point(call.tensor("target")->dtype)) {
    throw OpError("Expected floating point type for target with class probabilities");
  }
  if (is_soft && call.integer("ignore_index") >= 0) {
    throw OpError("ignore_index is not supported for floating point target");
  }
  with_real(call.mode(), [&]<class N>() {
    if (is_soft) return emit_soft_entropy<N>(call, smoothing);
    const Likelihood of(call);
    if (smoothing > 0) return emit_smoothed_entropy<N>(call, of, smoothing);
    const Array<N> logs = log_probabilities<N>(self);
    call.emit(likelihood_loss(call, logs, of, loss_reduction(call)).losses, of.dtype);
  });
}

// -weight * grad_output at each score that was taken, divided by the total weight of a mean.
void nll_loss_backward(Call& call) {
  const Likelihood of(call);
  const Tensor& self = *call.tensor("self");
  const Tensor& grad = *call.tensor("grad_output");
  const LossReduction reduction = loss_reduction(call);
  const bool is_each = reduction == LossReduction::kNone && self.rank() != 1;
  const Sizes expected = is_each ? of.target_sizes : Sizes{};
  if (grad.sizes != expected && (is_each || grad.count() != 1)) {
    throw OpError("nll_loss_backward: grad_output does not fit the loss");
  }
  with_real(call.mode(), [&]<class N>() {
    const Array<N> gradient = load<N>(grad, of.dtype);
    const std::vector<N> weights = class_weights<N>(call, of);
    const N total = load<N>(*call.tensor("total_weight"), of.dtype)[0];
    Array<N> out(self.sizes, N(0));
    of.for_each([&](std::int64_t i, std::int64_t position, std::int64_t chosen) {
      const N& weight = weights[static_cast<std::size_t>(chosen)];
      const N& above = gradient[is_each ? i : 0];
      if (reduction != LossReduction::kMean) {
        out[position] = -weight * above;
        return;
      }
      out[position] = -covering(weight * held_in(above / total, of.dtype),
                                held_in(weight * above, of.dtype) / total);
    });
    if (of.is_open()) {
      for (N& x : out.data) x = left_open(x);
    }
    call.emit(out, of.dtype);
  });
}

// --- margins ---

// Scores as rows: [rows, classes].
struct ScoreRows {
  std::int64_t rows = 1;
  std::int64_t classes = 1;

  explicit ScoreRows(const Tensor& self) {
    const std::int64_t rank = self.rank();
    const bool has_classes = rank == 0 || self.sizes.back() != 0;
    if (rank > 2 || !has_classes) {
      throw OpError("Expected non-empty vector or matrix with optional 0-dim batch size");
    }
    if (rank == 2) rows = self.sizes[0];
    if (rank > 0) classes = self.sizes.back();
  }
};

// Returns the sum of each of them divided by that.
template <class N>
N sum_of_quotients(const std::vector<N>& of, double divisor) {
  Sum<N> sum;
  for (const N& x : of) sum.add(x / N(divisor));
  return sum.result();
}

// Emits the losses of rows, each `sums` over the classes divided by their number. Of no row nothing
// is written. For a mean CUDA's kernels divide by the number of rows and classes at once.
template <class N>
void emit_row_losses(Call& call, const std::vector<N>& sums, std::int64_t classes,
                     const Sizes& sizes, bool is_open) {
  const DType dtype = call.tensor("self")->dtype;
  const LossReduction reduction = loss_reduction(call);
  const auto rows = static_cast<double>(sums.size());
  const auto count = static_cast<double>(classes);
  Array<N> out(sizes);
  if (reduction == LossReduction::kNone) {
    out.data.clear();
    for (const N& sum : sums) out.data.push_back(sum / N(count));
  } else {
    N total = sum_of_quotients(sums, count);
    if (reduction == LossReduction::kMean) {
      total = total / N(rows);
      const bool by_cuda = declared_arithmetic().has_cuda_kernels;
      if (by_cuda) total = covering(total, sum_of_quotients(sums, rows * count));
    }
    out = Array<N>(Sizes{}, total);
    is_open = is_open || rows == 0;
  }
  if (is_open) {
    for (N& x : out.data) x = left_open(x);
  }
  call.emit(out, dtype);
}

// The mean over the classes of max(0, margin - x[target] + x[i])^p, the target's own left out.
void multi_margin_loss(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Tensor& target = *call.tensor("target");
  const DType dtype = self.dtype;
  require_floating(call, dtype);
  refuse_float8(call, dtype);
  const ScoreRows of(self);
  const double p = call.real("p");
  if (p != 1 && p != 2) throw OpError("only p == 1 and p == 2 supported");
  if (target.dtype != DType::kInt64) throw OpError("expected scalar type Long for the target");
  if (target.rank() > 1 || target.count() != of.rows) throw OpError("inconsistent target size");
  const TensorRef weight = call.optional_tensor("weight");
  if (weight && (weight->rank() > 1 || weight->count() != of.classes || weight->dtype != dtype)) {
    throw OpError("inconsistent weight size");
  }
  with_real(call.mode(), [&]<class N>() {
    const Array<N> x = load<N>(self, dtype);
    const Array<Whole> targets = load<Whole>(target, DType::kInt64);
    const N margin = held_in(number<N>(call.datum("margin"), dtype), dtype);
    std::vector<N> weights;
    if (weight) weights = load<N>(*weight, dtype).data;
    std::vector<N> sums;
    bool is_open = false;
    for (std::int64_t row = 0; row < of.rows; ++row) {
      const Whole chosen = targets[row];
      is_open = is_open || chosen.undecided;
      if (chosen.value < 0 || chosen.value >= of.classes) {
        if (!chosen.undecided) throw OpError("target out of range");
        sums.push_back(N(0));
        continue;
      }
      Sum<N> sum;
      for (std::int64_t i = 0; i < of.classes; ++i) {
        if (i == chosen.value) continue;
        const N z = margin - x[row * of.classes + chosen.value] + x[row * of.classes + i];
        N loss = p == 1 ? z : z * z;
        if (weight) loss = loss * weights[static_cast<std::size_t>(chosen.value)];
        sum.add(select(less(N(0), z), loss, N(0)));
      }
      sums.push_back(sum.result());
    }
    emit_row_losses(call, sums, of.classes, target.rank() > 0 ? Sizes{of.rows} : Sizes{}, is_open);
  });
}

// The mean over the classes of max(0, 1 - x[target] + x[i]), summed over the targets of the row,
// for the classes i that are none. A row's targets end at the first -1.
void multilabel_margin_loss_forward(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Tensor& target = *call.tensor("target");
  const DType dtype = self.dtype;
  require_floating(call, dtype);
  refuse_float8(call, dtype);
  const ScoreRows of(self);
  if (target.dtype != DType::kInt64) throw OpError("expected scalar type Long for the target");
  const bool fits = self.rank() < 2 ? target.rank() < 2 && target.count() == of.classes
                                    : target.sizes == self.sizes;
  if (!fits) throw OpError("inconsistent target size");
  with_real(call.mode(), [&]<class N>() {
    const Array<N> x = load<N>(self, dtype);
    const Array<Whole> targets = load<Whole>(target, DType::kInt64);
    Array<N> is_target(target.sizes, N(0));
    bool is_open = false;
    for (const Whole chosen : targets.data) {
      is_open = is_open || chosen.undecided;
      if (!chosen.undecided && (chosen.value < -1 || chosen.value >= of.classes)) {
        throw OpError("argument #2 'target' is out of range");
      }
    }
    std::vector<N> sums;
    for (std::int64_t row = 0; row < of.rows; ++row) {
      const std::int64_t first = row * of.classes;
      std::vector<std::int64_t> chosen;
      for (std::int64_t i = 0; i < of.classes && targets[first + i].value >= 0; ++i) {
        chosen.push_back(std::min(targets[first + i].value, of.classes - 1));
        is_target[first + chosen.back()] = N(1);
      }
      Sum<N> sum;
      for (const std::int64_t t : chosen) {
        for (std::int64_t i = 0; i < of.classes; ++i) {
          if (is_zero(is_target[first + i]).value == 0) continue;  // a target itself
          const N z = 1.0 - x[first + t] + x[first + i];
          sum.add(select(less(N(0), z), z, N(0)));
        }
      }
      sums.push_back(sum.result());
    }
    const Sizes sizes = self.rank() < 2 ? Sizes{} : Sizes{of.rows};
    emit_row_losses(call, sums, of.classes, sizes, is_open);
    if (is_open) {
      for (N& flag : is_target.data) flag = left_open(flag);
    }
    call.emit(is_target, dtype);
  });
}

constexpr std::array kClassLossOps = {
    OpBody{"aten.cross_entropy_loss", cross_entropy_loss},
    OpBody{"aten.multi_margin_loss", multi_margin_loss},
    OpBody{"aten.multilabel_margin_loss_forward", multilabel_margin_loss_forward},
    OpBody{"aten.nll_loss", nll_loss},
    OpBody{"aten.nll_loss2d", nll_loss},
    OpBody{"aten.nll_loss2d_backward", nll_loss_backward},
    OpBody{"aten.nll_loss2d_forward", nll_loss_forward},
    OpBody{"aten.nll_loss_backward", nll_loss_backward},
    OpBody{"aten.nll_loss_forward", nll_loss_forward},
    OpBody{"aten.nll_loss_nd", nll_loss},
};

}  // namespace

std::span<const OpBody> class_loss_ops() { return kClassLossOps; }

}  // namespace graphgate::reference
