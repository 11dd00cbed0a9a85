// Batch normalization, per channel (dimension 1): by the batch's own statistics or by the running
// ones, which training moves toward the batch's.
#include <algorithm>
#include <cstring>

#include "optimized/analysis/row_rules.h"
#include "optimized/arithmetic/functions.h"
#include "optimized/arithmetic/sum.h"
#include "optimized/codegen/batch_norm_text.h"
#include "optimized/codegen/type_text.h"
#include "optimized/codegen/work.h"
#include "optimized/converted_rows.h"
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/families.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

using Dims = std::vector<std::int64_t>;
using spec::DType;

constexpr std::string_view kParameters[] = {"weight", "bias", "running_mean", "running_var"};

// The statistics' dtype: that of the first parameter that is not the input's.
DType statistics_dtype(const KernelCall& call) {
  const Tensor& input = call.tensor("input");
  for (const std::string_view name : kParameters) {
    const Tensor* parameter = call.optional_tensor(name);
    if (parameter && parameter->dtype != input.dtype) return parameter->dtype;
  }
  return input.dtype;
}

enum class Form {
  kPlain,       // batch_norm: one result
  kNative,      // three results; `training` decides
  kNoTraining,  // three results, by the running statistics
  kWithUpdate,  // four results, always training
};

bool is_training(const KernelCall& call, Form form) {
  if (form == Form::kNoTraining) return false;
  return form == Form::kWithUpdate || call.boolean("training");
}

template <Form form>
void infer_batch_norm(Inference& call) {
  const Tensor& input = call.tensor("input");
  if (input.rank() < 2) throw OpError("batch_norm wants an input of rank 2 or more");
  if (!spec::is_floating_point(input.dtype)) throw OpError("batch_norm wants a floating input");
  const std::int64_t channels = input.sizes[1];
  for (const std::string_view name : kParameters) {
    const Tensor* parameter = call.optional_tensor(name);
    if (parameter && parameter->sizes != Sizes{channels}) {
      throw OpError("'" + std::string(name) + "' must have one element per channel");
    }
  }
  const bool trains = is_training(call, form);
  if (trains && form != Form::kPlain && input.count() == 0) {
    throw OpError("batch_norm in training wants at least one element");
  }
  if (!trains && (!call.has("running_mean") || !call.has("running_var"))) {
    throw OpError("batch_norm without training wants running statistics");
  }
  call.make(input.dtype, input.sizes, strides_in_format(input.sizes, suggested_format(input)));
  if (form == Form::kPlain) return;
  const DType statistics = statistics_dtype(call);
  call.make(statistics, {trains ? channels : 0});
  call.make(statistics, {trains ? channels : 0});
  if (form == Form::kWithUpdate) call.make(DType::kUInt8, {0});
}

// One number per channel, in a tensor.
struct Channels {
  Tensor tensor;
  Rows rows;
  explicit Channels(const Tensor& t) : tensor(t), rows(t, {}) {}

  template <class C>
  [[nodiscard]] C get(std::int64_t channel) const {
    C value{};
    rows.load<C>(channel, &value);
    return value;
  }
  template <class C>
  void set(std::int64_t channel, C value) const {
    rows.store_one<C>(channel, value);
  }
};

std::optional<Channels> channels_of(const Tensor* tensor) {
  if (!tensor) return {};
  return Channels(*tensor);
}

template <class C>
struct BatchNorm {
  Tensor result;
  DType dtype;
  Rows from, to;
  std::optional<Channels> weight, bias, running_mean, running_var, save_mean, save_factor;
  bool trains;
  C momentum, epsilon;

  void operator()() const {
    std::vector<C> row(static_cast<std::size_t>(from.length()));
    for (std::int64_t channel = 0; channel < from.count(); ++channel) {
      from.template load<C>(channel, row.data());
      const C mean = trains ? center(row) : running_mean->template get<C>(channel);
      for (C& x : row) x -= mean;
      const C variance = trains ? learn(channel, row, mean) : running_var->template get<C>(channel);
      const C factor = C(1) / std::sqrt(variance + epsilon);
      if (trains && save_mean) save_mean->template set<C>(channel, mean);
      if (trains && save_factor) save_factor->template set<C>(channel, factor);
      const C scale = weight ? factor * weight->template get<C>(channel) : factor;
      const C shift = bias ? bias->template get<C>(channel) : C(0);
      for (C& x : row) x = x * scale + shift;
      store_row<C>(result, to, channel, dtype, row.data());
    }
  }

  static C center(const std::vector<C>& row) {
    const auto n = static_cast<std::int64_t>(row.size());
    return ordered_sum(row.data(), n) / static_cast<C>(n);
  }

  // The variance of a centred row; the running statistics move on.
  C learn(std::int64_t channel, const std::vector<C>& row, C mean) const {
    const auto n = static_cast<std::int64_t>(row.size());
    const C squares = ordered_dot(row.data(), row.data(), n);
    move_on(running_mean, channel, mean);
    move_on(running_var, channel, squares / static_cast<C>(n - 1));
    return squares / static_cast<C>(n);
  }
  void move_on(const std::optional<Channels>& running, std::int64_t channel, C value) const {
    if (!running) return;
    const C before = running->template get<C>(channel);
    running->template set<C>(channel, momentum * value + (C(1) - momentum) * before);
  }
};

// Without training every element stands for itself.
PointwiseWork inference_work(const Binding& call) {
  const Tensor& input = call.tensor("input");
  PointwiseWork work{call.result(), input.dtype, DType::kFloat32, "", {}};
  with_real(input.dtype, [&]<class C>() {
    work.compute = std::is_same_v<C, double> ? DType::kFloat64 : DType::kFloat32;
    work.function = callable_text<C>(element::BatchNorm<C>{static_cast<C>(call.real("eps"))});
    work.operands.push_back({input, input.dtype, false, 0});
    const auto add = [&](std::string_view name, C otherwise) {
      DeviceOperand operand{{}, work.compute, true, 0};
      std::memcpy(&operand.number, &otherwise, sizeof otherwise);
      if (const Tensor* tensor = call.optional_tensor(name)) {
        Tensor channels = *tensor;
        channels.sizes.assign(input.sizes.size() - 1, 1);
        channels.strides.assign(input.sizes.size() - 1, 0);
        channels.sizes[0] = tensor->sizes[0];
        channels.strides[0] = tensor->strides[0];
        operand = {channels, channels.dtype, false, 0};
      }
      work.operands.push_back(std::move(operand));
    };
    add("running_mean", C(0));
    add("running_var", C(1));
    add("weight", C(1));
    add("bias", C(0));
  });
  return work;
}

TextWork training_work(const Binding& call, bool saves) {
  const Tensor& input = call.tensor("input");
  BatchNormWork work{call.result(),
                     input,
                     call.optional_tensor("weight"),
                     call.optional_tensor("bias"),
                     call.optional_tensor("running_mean"),
                     call.optional_tensor("running_var"),
                     saves ? &call.result(1) : nullptr,
                     saves ? &call.result(2) : nullptr};
  with_real(input.dtype, [&]<class C>() {
    const std::array<C, 2> numbers = {static_cast<C>(call.real("momentum")),
                                      static_cast<C>(call.real("eps"))};
    std::memcpy(&work.momentum, &numbers[0], sizeof(C));
    std::memcpy(&work.epsilon, &numbers[1], sizeof(C));
  });
  return batch_norm_text(work);
}

template <Form form>
Launch bind_batch_norm(const Binding& call) {
  const Tensor& input = call.tensor("input");
  Dims dims = {0};
  for (std::int64_t d = 2; d < input.rank(); ++d) dims.push_back(d);
  // An empty batch leaves the running statistics alone.
  if (form == Form::kPlain && input.count() == 0) return {};
  const bool saves = form != Form::kPlain;
  Launch launch = with_real(input.dtype, [&]<class C>() -> Launch {
    return BatchNorm<C>{.result = call.result(),
                        .dtype = input.dtype,
                        .from = Rows(input, dims),
                        .to = Rows(call.result(), dims),
                        .weight = channels_of(call.optional_tensor("weight")),
                        .bias = channels_of(call.optional_tensor("bias")),
                        .running_mean = channels_of(call.optional_tensor("running_mean")),
                        .running_var = channels_of(call.optional_tensor("running_var")),
                        .save_mean = channels_of(saves ? &call.result(1) : nullptr),
                        .save_factor = channels_of(saves ? &call.result(2) : nullptr),
                        .trains = is_training(call, form),
                        .momentum = static_cast<C>(call.real("momentum")),
                        .epsilon = static_cast<C>(call.real("eps"))};
  });
  if (call.listener() == nullptr) return launch;
  if (!is_training(call, form)) return described(std::move(launch), {inference_work(call)});
  return described(std::move(launch), {training_work(call, saves)});
}

// ---- instance_norm: a batch norm of every channel of every image

void infer_instance_norm(Inference& call) {
  const Tensor& input = call.tensor("input");
  if (input.rank() < 2 || !spec::is_floating_point(input.dtype)) {
    throw OpError("instance_norm wants a floating input of rank 2 or more");
  }
  for (const std::string_view name : kParameters) {
    const Tensor* parameter = call.optional_tensor(name);
    if (parameter && parameter->sizes != Sizes{input.sizes[1]}) {
      throw OpError("'" + std::string(name) + "' must have one element per channel");
    }
  }
  if (!call.boolean("use_input_stats") && (!call.has("running_mean") || !call.has("running_var"))) {
    throw OpError("instance_norm by running statistics wants such");
  }
  call.make(input.dtype, input.sizes);
}

// Each image moves the running statistics on from where they are; the mean of what the images make
// is kept.
template <class C>
struct InstanceNorm {
  Tensor result;
  DType dtype;
  Rows from, to;  // a row is a channel of an image
  std::int64_t channels;
  std::optional<Channels> weight, bias, running_mean, running_var;
  bool trains;
  C momentum, epsilon;

  void operator()() const {
    std::vector<C> row(static_cast<std::size_t>(from.length()));
    std::vector<std::vector<C>> means(static_cast<std::size_t>(channels));
    std::vector<std::vector<C>> variances(static_cast<std::size_t>(channels));
    for (std::int64_t r = 0; r < from.count(); ++r) {
      const std::int64_t channel = r % channels;
      from.template load<C>(r, row.data());
      C mean{};
      C variance{};
      if (running_mean) mean = running_mean->template get<C>(channel);
      if (running_var) variance = running_var->template get<C>(channel);
      C kept_mean = mean;
      C kept_variance = variance;
      const auto n = static_cast<std::int64_t>(row.size());
      const bool learns = trains && n != 0;
      if (learns) mean = BatchNorm<C>::center(row);
      for (C& x : row) x -= mean;
      if (learns) {
        const C squares = ordered_dot(row.data(), row.data(), n);
        kept_mean = moved(kept_mean, mean);
        kept_variance = moved(kept_variance, squares / static_cast<C>(n - 1));
        variance = squares / static_cast<C>(n);
      }
      means[static_cast<std::size_t>(channel)].push_back(kept_mean);
      variances[static_cast<std::size_t>(channel)].push_back(kept_variance);
      const C factor = C(1) / std::sqrt(variance + epsilon);
      const C scale = weight ? factor * weight->template get<C>(channel) : factor;
      const C shift = bias ? bias->template get<C>(channel) : C(0);
      for (C& x : row) x = x * scale + shift;
      store_row<C>(result, to, r, dtype, row.data());
    }
    keep(running_mean, means);
    keep(running_var, variances);
  }

  C moved(C running, C batch) const { return momentum * batch + (C(1) - momentum) * running; }

  // The means over the images, each rounded to the statistic's dtype first.
  void keep(const std::optional<Channels>& running, std::vector<std::vector<C>>& made) const {
    if (!running) return;
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      std::vector<C>& of = made[static_cast<std::size_t>(channel)];
      const auto images = static_cast<std::int64_t>(of.size());
      round_values<C>(running->tensor.dtype, of.data(), images);
      running->set(channel, ordered_sum(of.data(), images) / static_cast<C>(images));
    }
  }
};

Launch bind_instance_norm(const Binding& call) {
  const Tensor& input = call.tensor("input");
  Dims dims;
  for (std::int64_t d = 2; d < input.rank(); ++d) dims.push_back(d);
  Launch launch = with_real(input.dtype, [&]<class C>() -> Launch {
    return InstanceNorm<C>{.result = call.result(),
                           .dtype = input.dtype,
                           .from = Rows(input, dims),
                           .to = Rows(call.result(), dims),
                           .channels = input.sizes[1],
                           .weight = channels_of(call.optional_tensor("weight")),
                           .bias = channels_of(call.optional_tensor("bias")),
                           .running_mean = channels_of(call.optional_tensor("running_mean")),
                           .running_var = channels_of(call.optional_tensor("running_var")),
                           .trains = call.boolean("use_input_stats"),
                           .momentum = static_cast<C>(call.real("momentum")),
                           .epsilon = static_cast<C>(call.real("eps"))};
  });
  return launch;
}

}  // namespace

std::span<const Kernel> batch_norm_kernels() {
  static constexpr Kernel kKernels[] = {
      {"aten.batch_norm", infer_batch_norm<Form::kPlain>, bind_batch_norm<Form::kPlain>},
      {"aten.instance_norm", infer_instance_norm, bind_instance_norm},
      {"aten.native_batch_norm", infer_batch_norm<Form::kNative>, bind_batch_norm<Form::kNative>},
      {"aten._native_batch_norm_legit", infer_batch_norm<Form::kNative>,
       bind_batch_norm<Form::kNative>},
      Kernel{"aten._native_batch_norm_legit_no_training", infer_batch_norm<Form::kNoTraining>,
             bind_batch_norm<Form::kNoTraining>}
          .rows(row_rules::per_image),
      {"aten._batch_norm_with_update", infer_batch_norm<Form::kWithUpdate>,
       bind_batch_norm<Form::kWithUpdate>},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
