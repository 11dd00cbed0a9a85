// Losses of scores for classes, whose targets are numbers of classes. They run on the host: which
// scores count depends on the targets.
#include <algorithm>
#include <array>

#include "optimized/arithmetic/functions.h"
#include "optimized/arithmetic/sum.h"
#include "optimized/converted_rows.h"
#include "optimized/kernels/families.h"
#include "optimized/promotion.h"

namespace graphgate::optimized {
namespace {

using Dims = std::vector<std::int64_t>;
using spec::DType;

Dims every_dim(const Tensor& tensor) {
  Dims dims(at(tensor.rank()));
  for (std::int64_t d = 0; d < tensor.rank(); ++d) dims[at(d)] = d;
  return dims;
}

// All elements in row-major order; none of a tensor that is missing.
template <class C>
std::vector<C> all_elements(const std::optional<Rows>& rows) {
  std::vector<C> out;
  if (!rows) return out;
  out.resize(at(rows->length()));
  if (rows->count() != 0) rows->load<C>(0, out.data());
  return out;
}
std::optional<Rows> whole_of(const Tensor* tensor) {
  if (!tensor) return {};
  return Rows(*tensor, every_dim(*tensor));
}

enum class ClassReduction : std::uint8_t { kNone, kMean, kSum };

ClassReduction class_reduction(const KernelCall& call) {
  const std::int64_t number = call.integer("reduction");
  if (number < 0 || number > 2) {
    throw OpError("reduction is 0, 1 or 2, not " + std::to_string(number));
  }
  return static_cast<ClassReduction>(number);
}

void require_scores(const Tensor& self) {
  if (!spec::is_floating_point(self.dtype) || spec::item_size_bytes(self.dtype) == 1) {
    throw OpError("scores are not " + std::string(spec::torch_name(self.dtype)));
  }
}

// ---- negative log likelihood

// Where the score of element i of the targets is: class c of it at (i / area * classes + c) * area
// + i % area.
struct ScorePlaces {
  std::int64_t classes = 1;
  std::int64_t area = 1;
  std::int64_t ignored = 0;

  // The place for a target; nothing for one that is ignored. Throws OpError for one that is no
  // class.
  [[nodiscard]] std::optional<std::int64_t> operator()(std::int64_t i, std::int64_t target) const {
    if (target == ignored) return {};
    if (target < 0 || target >= classes) {
      throw OpError("target " + std::to_string(target) + " is none of " + std::to_string(classes) +
                    " classes");
    }
    return (i / area * classes + target) * area + i % area;
  }
};

ScorePlaces score_places(const KernelCall& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& target = call.tensor("target");
  require_scores(self);
  if (self.rank() == 0) throw OpError("scores have a dimension of classes");
  if (target.dtype != DType::kInt64 && target.dtype != DType::kUInt8) {
    throw OpError("targets are int64 or uint8");
  }
  ScorePlaces out;
  out.ignored = call.integer("ignore_index");
  out.classes = self.rank() == 1 ? self.sizes[0] : self.sizes[1];
  bool fits = self.rank() == 1
                  ? target.rank() < 2 && target.count() == 1
                  : target.rank() == self.rank() - 1 && target.sizes[0] == self.sizes[0];
  for (std::int64_t d = 2; fits && d < self.rank(); ++d) {
    fits = target.size(d - 1) == self.size(d);
    out.area *= self.size(d);
  }
  if (!fits) {
    throw OpError("targets of sizes " + print_sizes(target.sizes) + " do not fit scores of " +
                  print_sizes(self.sizes));
  }
  if (const Tensor* weight = call.optional_tensor("weight")) {
    if (weight->sizes != Sizes{out.classes} || weight->dtype != self.dtype) {
      throw OpError("there must be a weight for each class, of the dtype of the scores");
    }
  }
  return out;
}

// Whether each target has a loss of its own: one row has none.
bool has_each_loss(const KernelCall& call) {
  return class_reduction(call) == ClassReduction::kNone && call.tensor("self").rank() != 1;
}

template <bool gives_total>
void infer_likelihood(Inference& call) {
  (void)score_places(call);
  const Tensor& self = call.tensor("self");
  call.make(self.dtype, has_each_loss(call) ? call.tensor("target").sizes : Sizes{});
  if (gives_total) call.make(self.dtype, {});
}

template <class C>
struct LikelihoodLaunch {
  Tensor result;
  std::optional<Tensor> total_weight;
  DType dtype;
  std::optional<Rows> self, target, weight;
  ScorePlaces place;
  ClassReduction reduction;
  bool is_each;

  void operator()() const {
    const std::vector<C> scores = all_elements<C>(self);
    const std::vector<std::int64_t> targets = all_elements<std::int64_t>(target);
    const std::vector<C> weights = all_elements<C>(weight);
    std::vector<C> losses;
    std::vector<C> counted;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(targets.size()); ++i) {
      const auto score = place(i, targets[at(i)]);
      if (score) counted.push_back(weights.empty() ? C(1) : weights[at(targets[at(i)])]);
      if (score) losses.push_back(-scores[at(*score)] * counted.back());
      if (!score && is_each) losses.push_back(C(0));
    }
    if (is_each) {
      store_row<C>(result, *whole_of(&result), 0, dtype, losses.data());
      return write(total_weight, C(0));
    }
    C total = ordered_sum(counted.data(), static_cast<std::int64_t>(counted.size()));
    C loss = ordered_sum(losses.data(), static_cast<std::int64_t>(losses.size()));
    if (reduction == ClassReduction::kMean) loss /= total;
    write(result, loss);
    write(total_weight, total);
  }

  void write(const std::optional<Tensor>& to, C value) const {
    if (to) store_result<C>(*to, Rows(*to, {}), 0, dtype, value);
  }
};

template <bool gives_total>
Launch bind_likelihood(const Binding& call) {
  const Tensor& self = call.tensor("self");
  return with_real(self.dtype, [&]<class C>() -> Launch {
    return LikelihoodLaunch<C>{
        .result = call.result(),
        .total_weight = gives_total ? std::optional(call.result(1)) : std::nullopt,
        .dtype = self.dtype,
        .self = whole_of(&self),
        .target = whole_of(&call.tensor("target")),
        .weight = whole_of(call.optional_tensor("weight")),
        .place = score_places(call),
        .reduction = class_reduction(call),
        .is_each = has_each_loss(call)};
  });
}

// ---- cross entropy: of the softmax of the scores

struct EntropyForm {
  std::int64_t classes = 1;
  std::int64_t area = 1;
  bool is_soft = false;  // targets are probabilities
  DType dtype = DType::kFloat32;
};

EntropyForm entropy_form(const KernelCall& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& target = call.tensor("target");
  require_scores(self);
  const double smoothing = call.real("label_smoothing");
  if (!(smoothing >= 0 && smoothing <= 1)) throw OpError("label_smoothing is between 0 and 1");
  EntropyForm out;
  out.dtype = self.dtype;
  out.is_soft = self.rank() != 0 && self.sizes == target.sizes;
  if (!out.is_soft) {
    const ScorePlaces places = score_places(call);
    out.classes = places.classes;
    out.area = places.area;
    return out;
  }
  require_scores(target);
  if (call.integer("ignore_index") >= 0) throw OpError("no probability is ignored");
  out.classes = self.size(self.rank() == 1 ? 0 : 1);
  for (std::int64_t d = 2; d < self.rank(); ++d) out.area *= self.size(d);
  const std::array<const Tensor*, 2> both = {&self, &target};
  out.dtype = result_type(both);
  const Tensor* weight = call.optional_tensor("weight");
  if (weight && weight->sizes != Sizes{out.classes}) {
    throw OpError("there must be a weight for each class");
  }
  return out;
}

void infer_entropy(Inference& call) {
  const Tensor& self = call.tensor("self");
  const EntropyForm form = entropy_form(call);
  const bool is_each = class_reduction(call) == ClassReduction::kNone;
  Sizes sizes;
  for (std::int64_t d = 0; is_each && d < self.rank(); ++d) {
    if (d != (self.rank() == 1 ? 0 : 1)) sizes.push_back(self.size(d));
  }
  call.make(form.dtype, std::move(sizes));
}

template <class C>
struct EntropyLaunch {
  Tensor result;
  EntropyForm form;
  Rows self, target;
  std::optional<Rows> weight;
  std::int64_t ignored;
  ClassReduction reduction;
  C smoothing;

  void operator()() const {
    std::vector<C> scores(at(self.length()));
    if (self.count() != 0) self.template load<C>(0, scores.data());
    const std::vector<C> weights = all_elements<C>(weight);
    const std::vector<C> soft =
        form.is_soft ? all_elements<C>(std::optional(target)) : std::vector<C>();
    const std::vector<std::int64_t> chosen =
        form.is_soft ? std::vector<std::int64_t>()
                     : all_elements<std::int64_t>(std::optional(target));
    const std::int64_t places =
        form.classes == 0 ? 0 : static_cast<std::int64_t>(scores.size()) / form.classes;
    std::vector<C> hard;    // of the targets
    std::vector<C> spread;  // of all classes alike
    std::vector<C> counted;
    std::vector<C> logs(at(form.classes));
    for (std::int64_t i = 0; i < places; ++i) {
      const std::int64_t first = i / form.area * form.classes * form.area + i % form.area;
      log_softmax(scores, first, logs);
      const auto weight_of = [&](std::int64_t c) {
        return weights.empty() ? C(1) : weights[at(c)];
      };
      const auto sum_of = [&](auto factor) {
        return -ordered_sum_of<C>(
            form.classes, [&](std::int64_t c) { return weight_of(c) * logs[at(c)] * factor(c); });
      };
      const auto one = [](std::int64_t) { return C(1); };
      if (form.is_soft) {
        hard.push_back(sum_of([&](std::int64_t c) { return soft[at(first + c * form.area)]; }));
        spread.push_back(smoothing > C(0) ? sum_of(one) : C(0));
        continue;
      }
      const std::int64_t c = chosen[at(i)];
      const bool counts = c != ignored;
      if (counts && (c < 0 || c >= form.classes)) throw OpError("a target is no class");
      hard.push_back(counts ? -weight_of(c) * logs[at(c)] : C(0));
      spread.push_back(counts && smoothing > C(0) ? sum_of(one) : C(0));
      if (counts) counted.push_back(weight_of(c));
    }
    write(hard, spread, counted);
  }

  // Into `logs`, of the scores that begin at `first`.
  void log_softmax(const std::vector<C>& scores, std::int64_t first, std::vector<C>& logs) const {
    for (std::size_t c = 0; c < logs.size(); ++c) {
      logs[c] = scores[at(first + static_cast<std::int64_t>(c) * form.area)];
    }
    const auto n = static_cast<std::int64_t>(logs.size());
    const C top = greatest_of<C>(n, [&](std::int64_t c) { return logs[at(c)]; });
    const C sum = ordered_sum_of<C>(n, [&](std::int64_t c) { return exp(logs[at(c)] - top); });
    const C log_sum = log(sum);
    for (C& x : logs) x = x - top - log_sum;
  }

  void write(const std::vector<C>& hard, const std::vector<C>& spread,
             const std::vector<C>& counted) const {
    const C part = smoothing / static_cast<C>(form.classes);
    const auto mixed = [&](C of_target, C of_all) {
      return smoothing > C(0) ? (C(1) - smoothing) * of_target + of_all * part : of_target;
    };
    if (reduction == ClassReduction::kNone) {
      std::vector<C> out(hard.size());
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = mixed(hard[i], spread[i]);
      if (!out.empty()) store_row<C>(result, *whole_of(&result), 0, form.dtype, out.data());
      return;
    }
    const auto n = static_cast<std::int64_t>(hard.size());
    C of_targets = ordered_sum(hard.data(), n);
    C of_all = ordered_sum(spread.data(), n);
    if (reduction == ClassReduction::kMean) {
      const C divisor =
          form.is_soft ? static_cast<C>(n)
                       : ordered_sum(counted.data(), static_cast<std::int64_t>(counted.size()));
      of_targets /= divisor;
      of_all /= divisor;
    }
    store_result<C>(result, Rows(result, {}), 0, form.dtype, mixed(of_targets, of_all));
  }
};

Launch bind_entropy(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& target = call.tensor("target");
  const EntropyForm form = entropy_form(call);
  return with_real(form.dtype, [&]<class C>() -> Launch {
    return EntropyLaunch<C>{.result = call.result(),
                            .form = form,
                            .self = Rows(self, every_dim(self)),
                            .target = Rows(target, every_dim(target)),
                            .weight = whole_of(call.optional_tensor("weight")),
                            .ignored = call.integer("ignore_index"),
                            .reduction = class_reduction(call),
                            .smoothing = static_cast<C>(call.real("label_smoothing"))};
  });
}

void infer_likelihood_backward(Inference& call) {
  (void)score_places(call);
  const Tensor& self = call.tensor("self");
  const Tensor& gradient = call.tensor("grad_output");
  const bool fits =
      has_each_loss(call) ? gradient.sizes == call.tensor("target").sizes : gradient.count() == 1;
  if (!fits || gradient.dtype != self.dtype) {
    throw OpError("the gradient of sizes " + print_sizes(gradient.sizes) +
                  " is not that of such losses");
  }
  call.make(self.dtype, self.sizes);
}

Launch bind_likelihood_backward(const Binding& call) {
  const Tensor& self = call.tensor("self");
  return with_real(self.dtype, [&]<class C>() -> Launch {
    return
        [result = call.result(), dtype = self.dtype,
         gradient = whole_of(&call.tensor("grad_output")),
         target = whole_of(&call.tensor("target")),
         weight = whole_of(call.optional_tensor("weight")),
         total = whole_of(&call.tensor("total_weight")), place = score_places(call),
         is_mean = class_reduction(call) == ClassReduction::kMean, is_each = has_each_loss(call)] {
          std::vector<C> out(at(result.count()), C(0));
          const std::vector<C> above = all_elements<C>(gradient);
          const std::vector<C> weights = all_elements<C>(weight);
          const std::vector<std::int64_t> targets = all_elements<std::int64_t>(target);
          const C divisor = is_mean ? all_elements<C>(total).front() : C(1);
          for (std::int64_t i = 0; i < static_cast<std::int64_t>(targets.size()); ++i) {
            const auto score = place(i, targets[at(i)]);
            if (!score) continue;
            const C each = above[is_each ? at(i) : 0] / divisor;
            out[at(*score)] = weights.empty() ? -each : -each * weights[at(targets[at(i)])];
          }
          if (!out.empty()) store_row<C>(result, *whole_of(&result), 0, dtype, out.data());
        };
  });
}

// ---- margins

// Scores as rows of classes.
struct ScoreTable {
  std::int64_t rows = 1;
  std::int64_t classes = 1;
};
ScoreTable score_table(const Tensor& self) {
  require_scores(self);
  if (self.rank() > 2 || (self.rank() > 0 && self.size(-1) == 0)) {
    throw OpError("scores are rows of classes, not " + print_sizes(self.sizes));
  }
  return {self.rank() == 2 ? self.sizes[0] : 1, self.rank() == 0 ? 1 : self.size(-1)};
}

// Writes the losses of rows, or their sum or mean.
template <class C>
void write_row_losses(const Tensor& result, DType dtype, ClassReduction reduction,
                      std::vector<C>& losses) {
  if (reduction == ClassReduction::kNone) {
    if (!losses.empty()) store_row<C>(result, *whole_of(&result), 0, dtype, losses.data());
    return;
  }
  const auto rows = static_cast<std::int64_t>(losses.size());
  C sum = ordered_sum(losses.data(), rows);
  if (reduction == ClassReduction::kMean && rows != 0) sum /= static_cast<C>(rows);
  store_result<C>(result, Rows(result, {}), 0, dtype, sum);
}

void infer_multi_margin(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& target = call.tensor("target");
  const ScoreTable table = score_table(self);
  const double p = call.real("p");
  if (p != 1 && p != 2) throw OpError("p of multi_margin_loss is 1 or 2");
  if (target.dtype != DType::kInt64 || target.rank() > 1 || target.count() != table.rows) {
    throw OpError("there must be an int64 target for each row");
  }
  if (const Tensor* weight = call.optional_tensor("weight")) {
    if (weight->rank() > 1 || weight->count() != table.classes || weight->dtype != self.dtype) {
      throw OpError("there must be a weight for each class, of the dtype of the scores");
    }
  }
  const bool is_each = class_reduction(call) == ClassReduction::kNone && target.rank() > 0;
  call.make(self.dtype, is_each ? Sizes{table.rows} : Sizes{});
}

Launch bind_multi_margin(const Binding& call) {
  const Tensor& self = call.tensor("self");
  return with_real(self.dtype, [&]<class C>() -> Launch {
    return [result = call.result(), dtype = self.dtype, table = score_table(self),
            reduction = class_reduction(call), self = whole_of(&self),
            target = whole_of(&call.tensor("target")),
            weight = whole_of(call.optional_tensor("weight")),
            margin = number_as<C>(call.item("margin")), is_squared = call.real("p") == 2] {
      const std::vector<C> scores = all_elements<C>(self);
      const std::vector<C> weights = all_elements<C>(weight);
      const std::vector<std::int64_t> targets = all_elements<std::int64_t>(target);
      std::vector<C> losses;
      for (std::int64_t row = 0; row < table.rows; ++row) {
        const std::int64_t chosen = targets[at(row)];
        if (chosen < 0 || chosen >= table.classes) throw OpError("a target is no class");
        const C* x = scores.data() + row * table.classes;
        const C factor = weights.empty() ? C(1) : weights[at(chosen)];
        const C sum = ordered_sum_of<C>(table.classes, [&](std::int64_t i) {
          const C lacking = margin - x[chosen] + x[i];
          if (i == chosen || !(lacking > C(0))) return C(0);
          return factor * (is_squared ? lacking * lacking : lacking);
        });
        losses.push_back(sum / static_cast<C>(table.classes));
      }
      write_row_losses<C>(result, dtype, reduction, losses);
    };
  });
}

void infer_multilabel_margin(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& target = call.tensor("target");
  const ScoreTable table = score_table(self);
  const bool fits = self.rank() < 2 ? target.rank() < 2 && target.count() == table.classes
                                    : target.sizes == self.sizes;
  if (!fits || target.dtype != DType::kInt64) {
    throw OpError("targets are int64, as many as there are scores");
  }
  const bool is_each = class_reduction(call) == ClassReduction::kNone && self.rank() == 2;
  call.make(self.dtype, is_each ? Sizes{table.rows} : Sizes{});
  call.make(self.dtype, target.sizes);
}

Launch bind_multilabel_margin(const Binding& call) {
  const Tensor& self = call.tensor("self");
  return with_real(self.dtype, [&]<class C>() -> Launch {
    return [result = call.result(), flags = call.result(1), dtype = self.dtype,
            table = score_table(self), reduction = class_reduction(call), self = whole_of(&self),
            target = whole_of(&call.tensor("target"))] {
      const std::vector<C> scores = all_elements<C>(self);
      const std::vector<std::int64_t> targets = all_elements<std::int64_t>(target);
      for (const std::int64_t chosen : targets) {
        if (chosen < -1 || chosen >= table.classes) throw OpError("a target is no class");
      }
      std::vector<C> is_target(targets.size(), C(0));
      std::vector<C> losses;
      for (std::int64_t row = 0; row < table.rows; ++row) {
        const std::int64_t* chosen = targets.data() + row * table.classes;
        const std::int64_t count =
            std::find(chosen, chosen + table.classes, std::int64_t{-1}) - chosen;
        C* flag = is_target.data() + row * table.classes;
        for (std::int64_t i = 0; i < count; ++i) flag[chosen[i]] = C(1);
        const C* x = scores.data() + row * table.classes;
        const C sum = ordered_sum_of<C>(count * table.classes, [&](std::int64_t pair) {
          const std::int64_t i = pair % table.classes;
          const C lacking = C(1) - x[chosen[pair / table.classes]] + x[i];
          return flag[i] == C(0) && lacking > C(0) ? lacking : C(0);
        });
        losses.push_back(sum / static_cast<C>(table.classes));
      }
      write_row_losses<C>(result, dtype, reduction, losses);
      if (!is_target.empty()) store_row<C>(flags, *whole_of(&flags), 0, dtype, is_target.data());
    };
  });
}

}  // namespace

std::span<const Kernel> class_loss_kernels() {
  static constexpr Kernel kKernels[] = {
      {"aten.cross_entropy_loss", infer_entropy, bind_entropy},
      {"aten.multi_margin_loss", infer_multi_margin, bind_multi_margin},
      {"aten.multilabel_margin_loss_forward", infer_multilabel_margin, bind_multilabel_margin},
      {"aten.nll_loss", infer_likelihood<false>, bind_likelihood<false>},
      {"aten.nll_loss2d", infer_likelihood<false>, bind_likelihood<false>},
      {"aten.nll_loss2d_backward", infer_likelihood_backward, bind_likelihood_backward},
      {"aten.nll_loss2d_forward", infer_likelihood<true>, bind_likelihood<true>},
      {"aten.nll_loss_backward", infer_likelihood_backward, bind_likelihood_backward},
      {"aten.nll_loss_forward", infer_likelihood<true>, bind_likelihood<true>},
      {"aten.nll_loss_nd", infer_likelihood<false>, bind_likelihood<false>},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
