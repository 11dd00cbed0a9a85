// Losses between numbers, element by element. Where they are reduced, the losses are a tensor in
// the workspace first, rounded to their dtype, and its sum or mean is the result.
#include <array>
#include <utility>

#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/elements/rows.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/pointwise.h"
#include "optimized/kernels/reduction_frame.h"
#include "optimized/scratch.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

enum class LossReduction : std::uint8_t { kNone, kMean, kSum };

LossReduction reduction_of_losses(const KernelCall& call) {
  const std::int64_t number = call.integer("reduction");
  if (number < 0 || number > 2) {
    throw OpError("reduction is 0, 1 or 2, not " + std::to_string(number));
  }
  return static_cast<LossReduction>(number);
}

// The losses as the op makes them.
struct Losses {
  DType dtype;
  Sizes sizes;
  Sizes strides;
};

void require_loss_dtype(DType dtype) {
  const bool is_computed = spec::is_floating_point(dtype) && spec::item_size_bytes(dtype) > 1;
  if (!is_computed) {
    throw OpError("a loss is not implemented for " + std::string(spec::torch_name(dtype)));
  }
}

void infer_losses(Inference& call, Losses losses, std::int64_t more_workspace = 0) {
  check_written(call, losses.dtype);
  if (reduction_of_losses(call) == LossReduction::kNone) {
    if (more_workspace != 0) call.want_workspace(more_workspace);
    return call.make(losses.dtype, std::move(losses.sizes), std::move(losses.strides));
  }
  call.want_workspace(scratch_bytes(losses.dtype, losses.sizes) + more_workspace);
  const bool is_whole = !spec::is_floating_point(losses.dtype);
  if (is_whole && reduction_of_losses(call) == LossReduction::kMean) {
    throw OpError("the mean of a loss wants a floating dtype");
  }
  call.make(is_whole ? DType::kInt64 : losses.dtype, {});
}

// The launch of losses of `sizes`: make(target) fills what they go into.
template <class C, class Make>
Launch launch_losses(const Binding& call, DType dtype, const Sizes& sizes, std::byte* workspace,
                     Make make) {
  const LossReduction reduction = reduction_of_losses(call);
  if (reduction == LossReduction::kNone) return make(call.result());
  const Tensor losses = scratch_tensor(dtype, sizes, workspace);
  Dims dims(sizes.size());
  for (std::size_t d = 0; d < dims.size(); ++d) dims[d] = static_cast<std::int64_t>(d);
  const DType rounds_to = std::is_same_v<C, std::int64_t> ? DType::kInt64 : dtype;
  const auto reduced = [&](auto of_row) {
    return reduce_launch<C, C>(call.listener(), call.result(), losses, dims, dtype, rounds_to,
                               of_row);
  };
  Launch whole;
  if constexpr (std::is_same_v<C, std::int64_t>) {
    whole = reduced(element::RowSum<C>());
  } else {
    whole = reduction == LossReduction::kMean ? reduced(element::RowMean<C>())
                                              : reduced(element::RowSum<C>());
  }
  return in_turn({make(losses), std::move(whole)});
}

// ---- losses of self and target alone

constexpr PointwiseSignature kLossPair{.operands = 2, .numbers = Numbers::kFloating};

Losses losses_of_pair(const KernelCall& call) {
  const DType common = common_dtype(call, kLossPair);
  require_loss_dtype(common);
  const std::array<const Tensor*, 2> inputs = {&call.tensor("self"), &call.tensor("target")};
  Sizes sizes = broadcast_sizes(inputs);
  Sizes strides = pointwise_strides(inputs, sizes);
  return {common, std::move(sizes), std::move(strides)};
}

void infer_pair(Inference& call) { infer_losses(call, losses_of_pair(call)); }

// make.operator()<C>() gives the function of a prediction and its target.
template <class Make>
Launch bind_pair_of(const Binding& call, const Losses& losses, Make make) {
  const DType common = common_dtype(call, kLossPair);
  return with_real(common, [&]<class C>() {
    return launch_losses<C>(
        call, losses.dtype, losses.sizes, call.workspace(), [&](const Tensor& target) {
          return launch_sources<C>(
              call.listener(), target, losses.dtype,
              std::array<Source<C>, 2>{Source<C>(call.tensor("self"), common),
                                       Source<C>(call.tensor("target"), common)},
              make.template operator()<C>());
        });
  });
}

Launch bind_mse(const Binding& call) {
  return bind_pair_of(call, losses_of_pair(call),
                      []<class C>() { return element::SquaredError(); });
}

void infer_smooth_l1(Inference& call) {
  if (!(call.real("beta") >= 0)) throw OpError("beta of smooth_l1_loss must not be negative");
  infer_pair(call);
}
Launch bind_smooth_l1(const Binding& call) {
  return bind_pair_of(call, losses_of_pair(call), [&]<class C>() {
    return element::SmoothError<C>{number_as<C>(call.item("beta"))};
  });
}

// The losses are like self, in dtype and layout.
Losses huber_losses(const KernelCall& call) {
  Losses losses = losses_of_pair(call);
  const Tensor& self = call.tensor("self");
  require_loss_dtype(self.dtype);
  losses.dtype = self.dtype;
  if (losses.sizes == self.sizes) {
    losses.strides = strides_like(self, spec::MemoryFormat::kPreserve);
  }
  return losses;
}
void infer_huber(Inference& call) {
  if (!(call.real("delta") > 0)) throw OpError("delta of huber_loss must be above 0");
  infer_losses(call, huber_losses(call));
}
Launch bind_huber(const Binding& call) {
  return bind_pair_of(call, huber_losses(call), [&]<class C>() {
    return element::HuberError<C>{number_as<C>(call.item("delta"))};
  });
}

// target * (log target - self): the target's term is made first, and decides the strides.
Losses divergence_losses(const KernelCall& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& target = call.tensor("target");
  if (!spec::is_floating_point(self.dtype) || !spec::is_floating_point(target.dtype)) {
    throw OpError("kl_div has no integral inputs");
  }
  Losses losses = losses_of_pair(call);
  Tensor term = target;
  term.strides = pointwise_strides({&target}, target.sizes);
  Tensor product = self;
  product.sizes = losses.sizes;
  product.strides = pointwise_strides({&target, &self}, losses.sizes);
  losses.strides = pointwise_strides({&term, &product}, losses.sizes);
  return losses;
}
void infer_divergence(Inference& call) { infer_losses(call, divergence_losses(call)); }
Launch bind_divergence(const Binding& call) {
  const Losses losses = divergence_losses(call);
  if (call.boolean("log_target")) {
    return bind_pair_of(call, losses, []<class C>() { return element::DivergenceOfLogs(); });
  }
  return bind_pair_of(call, losses, []<class C>() { return element::Divergence(); });
}

// ---- l1: integers, too

constexpr PointwiseSignature kAnyPair{.operands = 2, .numbers = Numbers::kNotBool};

Losses absolute_losses(const KernelCall& call) {
  const DType common = common_dtype(call, kAnyPair);
  if (spec::is_floating_point(common)) require_loss_dtype(common);
  const std::array<const Tensor*, 2> inputs = {&call.tensor("self"), &call.tensor("target")};
  Sizes sizes = broadcast_sizes(inputs);
  Sizes strides = pointwise_strides(inputs, sizes);
  return {common, std::move(sizes), std::move(strides)};
}

void infer_absolute(Inference& call) {
  Losses losses = absolute_losses(call);
  const bool is_whole = !spec::is_floating_point(losses.dtype);
  const std::int64_t bytes = is_whole ? scratch_bytes(losses.dtype, losses.sizes) : 0;
  infer_losses(call, std::move(losses), bytes);
}

// Differences of integers wrap before they lose their sign.
Launch bind_absolute(const Binding& call) {
  const Losses losses = absolute_losses(call);
  if (spec::is_floating_point(losses.dtype)) {
    return bind_pair_of(call, losses, []<class C>() { return element::AbsoluteError(); });
  }
  using C = std::int64_t;
  std::byte* workspace = call.workspace();
  const Tensor differences = scratch_tensor(losses.dtype, losses.sizes, workspace);
  return launch_losses<C>(call, losses.dtype, losses.sizes, workspace, [&](const Tensor& target) {
    return in_turn(
        {launch_sources<C>(call.listener(), differences, losses.dtype,
                           std::array<Source<C>, 2>{Source<C>(call.tensor("self"), losses.dtype),
                                                    Source<C>(call.tensor("target"), losses.dtype)},
                           element::Subtract()),
         launch_sources<C>(call.listener(), target, losses.dtype,
                           std::array<Source<C>, 1>{Source<C>(differences, losses.dtype)},
                           element::Absolute())});
  });
}

// ---- losses that are made in a tensor of self's, or of the target's

DType promoted_pair(const Tensor& a, const Tensor& b) {
  const std::array<const Tensor*, 2> both = {&a, &b};
  return result_type(both);
}

void require_within(const Tensor& tensor, const Sizes& sizes, const char* name) {
  if (broadcast_sizes(tensor.sizes, sizes) != sizes) {
    throw OpError("'" + std::string(name) + "' of sizes " + print_sizes(tensor.sizes) +
                  " does not broadcast to " + print_sizes(sizes));
  }
}

Losses soft_margin_losses(const KernelCall& call) {
  const Tensor& self = call.tensor("self");
  require_loss_dtype(self.dtype);
  require_within(call.tensor("target"), self.sizes, "target");
  return {self.dtype, self.sizes, pointwise_strides({&self}, self.sizes)};
}
void infer_soft_margin(Inference& call) { infer_losses(call, soft_margin_losses(call)); }
Launch bind_soft_margin(const Binding& call) {
  return bind_pair_of(call, soft_margin_losses(call),
                      []<class C>() { return element::SoftMargin(); });
}

// A prediction that is no probability is an error of the values: it shows when the launch runs.
struct CheckedCrossEntropy {
  template <class C>
  C operator()(C x, C y, C weight) const {
    if (!(x >= C(0) && x <= C(1))) throw OpError("a prediction is not between 0 and 1");
    return element::cross_entropy(x, y) * weight;
  }
};

// The sizes without those of 1.
Sizes without_ones(const Sizes& sizes) {
  Sizes out;
  for (const std::int64_t size : sizes) {
    if (size != 1) out.push_back(size);
  }
  return out;
}

Losses cross_entropy_losses(const KernelCall& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& target = call.tensor("target");
  require_loss_dtype(self.dtype);
  if (target.dtype != self.dtype) throw OpError("self and target must have one dtype");
  if (without_ones(target.sizes) != without_ones(self.sizes)) {
    throw OpError("the target of sizes " + print_sizes(target.sizes) + " does not fit sizes " +
                  print_sizes(self.sizes));
  }
  if (const Tensor* weight = call.optional_tensor("weight")) {
    require_within(*weight, self.sizes, "weight");
  }
  return {self.dtype, self.sizes, strides_like(self, spec::MemoryFormat::kPreserve)};
}
void infer_cross_entropy(Inference& call) { infer_losses(call, cross_entropy_losses(call)); }

// The tensor with other sizes of 1 in between.
Tensor with_ones_of(Tensor tensor, const Sizes& sizes) {
  Sizes strides;
  for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
    if (tensor.sizes[d] != 1) strides.push_back(tensor.strides[d]);
  }
  tensor.strides.assign(sizes.size(), 0);
  std::size_t next = 0;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != 1) tensor.strides[d] = strides[next++];
  }
  tensor.sizes = sizes;
  return tensor;
}

template <class C>
Source<C> weight_source(const KernelCall& call, std::string_view name) {
  if (const Tensor* weight = call.optional_tensor(name)) return {*weight, native_dtype<C>()};
  return {Item{1.0}, native_dtype<C>()};
}

Launch bind_cross_entropy(const Binding& call) {
  const Losses losses = cross_entropy_losses(call);
  const Tensor& self = call.tensor("self");
  const Tensor target = with_ones_of(call.tensor("target"), self.sizes);
  return with_real(self.dtype, [&]<class C>() {
    return launch_losses<C>(
        call, losses.dtype, losses.sizes, call.workspace(), [&](const Tensor& result) {
          return launch_sources<C>(
              call.listener(), result, losses.dtype,
              std::array<Source<C>, 3>{Source<C>(self, self.dtype), Source<C>(target, self.dtype),
                                       weight_source<C>(call, "weight")},
              CheckedCrossEntropy());
        });
  });
}

// 1 - target is what the losses are made in.
Losses logit_losses(const KernelCall& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& target = call.tensor("target");
  require_loss_dtype(self.dtype);
  require_loss_dtype(target.dtype);
  require_within(self, target.sizes, "self");
  if (const Tensor* weight = call.optional_tensor("weight")) {
    require_within(*weight, target.sizes, "weight");
  }
  if (const Tensor* positive = call.optional_tensor("pos_weight")) {
    require_within(*positive, self.sizes, "pos_weight");
    require_within(target, self.sizes, "target");
  }
  const Tensor number{};
  return {target.dtype, target.sizes, pointwise_strides({&number, &target}, target.sizes)};
}
void infer_logit_cross_entropy(Inference& call) { infer_losses(call, logit_losses(call)); }
Launch bind_logit_cross_entropy(const Binding& call) {
  const Losses losses = logit_losses(call);
  const Tensor& self = call.tensor("self");
  const Tensor& target = call.tensor("target");
  return with_real(promoted_pair(self, target), [&]<class C>() {
    return launch_losses<C>(
        call, losses.dtype, losses.sizes, call.workspace(), [&](const Tensor& result) {
          const Source<C> x(self, self.dtype);
          const Source<C> y(target, target.dtype);
          const Source<C> weight = weight_source<C>(call, "weight");
          if (!call.has("pos_weight")) {
            return launch_sources<C>(call.listener(), result, losses.dtype,
                                     std::array<Source<C>, 3>{x, y, weight},
                                     element::LogitCrossEntropy());
          }
          return launch_sources<C>(
              call.listener(), result, losses.dtype,
              std::array<Source<C>, 4>{x, y, weight, weight_source<C>(call, "pos_weight")},
              element::WeightedLogitCrossEntropy());
        });
  });
}

}  // namespace

std::span<const Kernel> loss_kernels() {
  static constexpr Kernel kKernels[] = {
      {"aten.binary_cross_entropy", infer_cross_entropy, bind_cross_entropy},
      {"aten.binary_cross_entropy_with_logits", infer_logit_cross_entropy,
       bind_logit_cross_entropy},
      {"aten.huber_loss", infer_huber, bind_huber},
      {"aten.kl_div", infer_divergence, bind_divergence},
      {"aten.l1_loss", infer_absolute, bind_absolute},
      {"aten.mse_loss", infer_pair, bind_mse},
      {"aten.smooth_l1_loss", infer_smooth_l1, bind_smooth_l1},
      {"aten.soft_margin_loss", infer_soft_margin, bind_soft_margin},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
