#include "optimized/kernels/normalization_layer.h"

#include <array>
#include <limits>

#include "optimized/arithmetic/functions.h"
#include "optimized/arithmetic/sum.h"
#include "optimized/codegen/row_text.h"
#include "optimized/converted_rows.h"
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/elements/rows.h"
#include "optimized/kernels/pointwise.h"
#include "optimized/kernels/reduction_frame.h"
#include "optimized/scratch.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

using Dims = std::vector<std::int64_t>;
using spec::DType;

// The dtype of the statistics.
DType statistics_dtype(const KernelCall& call) {
  const DType dtype = call.tensor("input").dtype;
  if (!spec::is_floating_point(dtype)) throw OpError("a norm wants a floating-point input");
  for (const std::string_view name : {"weight", "bias"}) {
    const Tensor* parameter = call.optional_tensor(name);
    if (parameter && parameter->dtype != dtype) return parameter->dtype;
  }
  return dtype;
}

// A flat tensor of parameters, as the compute type; empty for None.
template <class C>
std::vector<C> load_all(const std::optional<Rows>& rows) {
  std::vector<C> out;
  if (!rows) return out;
  out.resize(at(rows->length()));
  rows->template load<C>(0, out.data());
  return out;
}

std::optional<Rows> all_of(const Tensor* tensor) {
  if (!tensor) return {};
  Dims dims(at(tensor->rank()));
  for (std::int64_t d = 0; d < tensor->rank(); ++d) dims[at(d)] = d;
  return Rows(*tensor, dims);
}

// One result per row: the statistics, where the op returns them.
struct Statistic {
  Tensor tensor;
  Rows rows;
  explicit Statistic(const Tensor& result) : tensor(result), rows(result, {}) {}
};

// Normalizes rows; element i of row r takes the parameters at parameter(r, i).
template <class C>
struct Normalizer {
  Tensor result;
  DType dtype;  // that the op rounds to
  DType statistics;
  Rows from, to;
  std::optional<Rows> weight, bias;
  std::optional<Statistic> mean, deviation;
  C epsilon;
  std::int64_t groups = 1;         // rows that share no parameters: row r uses group r % groups
  std::int64_t elements_each = 1;  // neighbours in a row that share one parameter

  void operator()() const {
    const std::vector<C> weights = load_all<C>(weight);
    const std::vector<C> biases = load_all<C>(bias);
    const std::int64_t n = from.length();
    std::vector<C> row(at(n));
    for (std::int64_t r = 0; r < from.count(); ++r) {
      from.template load<C>(r, row.data());
      const C center = ordered_sum(row.data(), n) / static_cast<C>(n);
      for (C& x : row) x -= center;
      const C variance = ordered_dot(row.data(), row.data(), n) / static_cast<C>(n);
      const C factor = rsqrt(variance + epsilon);
      for (C& x : row) x *= factor;
      const std::int64_t first = r % groups * (n / elements_each);
      scale(row, weights, biases, first);
      store_row<C>(result, to, r, dtype, row.data());
      if (mean) store_result<C>(mean->tensor, mean->rows, r, statistics, center);
      if (deviation) store_result<C>(deviation->tensor, deviation->rows, r, statistics, factor);
    }
  }

  void scale(std::vector<C>& row, const std::vector<C>& weights, const std::vector<C>& biases,
             std::int64_t first) const {
    C* x = row.data();
    for (std::int64_t p = first; x != row.data() + row.size(); ++p, x += elements_each) {
      const C w = weights.empty() ? C(1) : weights[at(p)];
      const C b = biases.empty() ? C(0) : biases[at(p)];
      for (std::int64_t i = 0; i < elements_each; ++i) {
        if (!weights.empty()) x[i] *= w;
        if (!biases.empty()) x[i] += b;
      }
    }
  }
};

template <class C>
Normalizer<C> make_normalizer(const Binding& call, const Tensor& input, const Tensor& result,
                              const Dims& dims) {
  Normalizer<C> out{.result = call.result(),
                    .dtype = input.dtype,
                    .statistics = statistics_dtype(call),
                    .from = Rows(input, dims),
                    .to = Rows(result, dims),
                    .weight = all_of(call.optional_tensor("weight")),
                    .bias = all_of(call.optional_tensor("bias")),
                    .mean = {},
                    .deviation = {},
                    .epsilon = static_cast<C>(call.real("eps"))};
  if (call.result_count() == 3) {
    out.mean.emplace(call.result(1));
    out.deviation.emplace(call.result(2));
  }
  return out;
}

// The dimensions that normalized_shape names: the last ones.
Dims layer_dims(const KernelCall& call) {
  const Tensor& input = call.tensor("input");
  const Sizes shape = call.integers("normalized_shape");
  const std::int64_t first = input.rank() - static_cast<std::int64_t>(shape.size());
  if (shape.empty() || first < 0 ||
      !std::equal(shape.begin(), shape.end(), input.sizes.begin() + first)) {
    throw OpError("normalized_shape " + print_sizes(shape) + " is not the end of " +
                  print_sizes(input.sizes));
  }
  for (const std::string_view name : {"weight", "bias"}) {
    const Tensor* parameter = call.optional_tensor(name);
    if (parameter && parameter->sizes != shape) {
      throw OpError("'" + std::string(name) + "' must have sizes " + print_sizes(shape));
    }
  }
  Dims dims;
  for (std::int64_t d = first; d < input.rank(); ++d) dims.push_back(d);
  return dims;
}

// [N, C, ...] as [N, groups, C / groups, ...].
Tensor split_channels(const Tensor& tensor, std::int64_t groups) {
  Tensor out = tensor;
  const std::int64_t each = tensor.sizes[1] / groups;
  out.sizes[1] = groups;
  out.strides[1] = tensor.strides[1] * each;
  out.sizes.insert(out.sizes.begin() + 2, each);
  out.strides.insert(out.strides.begin() + 2, tensor.strides[1]);
  return out;
}

// One number per channel, at the sizes of split channels.
std::optional<Tensor> per_channel(const Tensor* parameter, const Tensor& grouped) {
  if (!parameter) return {};
  Tensor out = *parameter;
  out.sizes = grouped.sizes;
  out.strides.assign(grouped.sizes.size(), 0);
  out.strides[1] = parameter->strides[0] * grouped.sizes[2];
  out.strides[2] = parameter->strides[0];
  return out;
}

}  // namespace

void infer_layer_norm(Inference& call) {
  (void)layer_dims(call);
  (void)statistics_dtype(call);
  call.make(call.tensor("input").dtype, call.tensor("input").sizes);
}

void infer_native_layer_norm(Inference& call) {
  const Tensor& input = call.tensor("input");
  const DType statistics = statistics_dtype(call);
  Sizes sizes = input.sizes;
  for (const std::int64_t d : layer_dims(call)) sizes[at(d)] = 1;
  call.make(input.dtype, input.sizes);
  call.make(statistics, sizes);
  call.make(statistics, sizes);
}

Launch bind_layer_norm(const Binding& call) {
  const Tensor& input = call.tensor("input");
  const Dims dims = layer_dims(call);
  Launch launch = with_real(input.dtype, [&]<class C>() -> Launch {
    return make_normalizer<C>(call, input, call.result(), dims);
  });
  if (call.listener() == nullptr) return launch;
  const bool gives_statistics = call.result_count() == 3;
  auto work = norm_text({call.result(), input, dims, call.optional_tensor("weight"),
                         call.optional_tensor("bias"), gives_statistics ? &call.result(1) : nullptr,
                         gives_statistics ? &call.result(2) : nullptr, statistics_dtype(call),
                         call.real("eps")});
  if (!work) return launch;
  return described(std::move(launch), {std::move(*work)});
}

namespace {

// How many groups of channels a call makes, of an input that has them.
std::int64_t group_count(const KernelCall& call) {
  const Tensor& input = call.tensor("input");
  const std::int64_t groups = call.integer(call.has("group") ? "group" : "num_groups");
  if (input.rank() < 2 || groups <= 0 || input.sizes[1] % groups != 0) {
    throw OpError("sizes " + print_sizes(input.sizes) + " do not have channels for " +
                  std::to_string(groups) + " groups");
  }
  return groups;
}

}  // namespace

void infer_group_norm(Inference& call) {
  const Tensor& input = call.tensor("input");
  (void)group_count(call);
  (void)statistics_dtype(call);
  for (std::int64_t d = 2; d < input.rank(); ++d) {
    if (input.size(d) == 0) throw OpError("group_norm wants elements in each channel");
  }
  call.make(input.dtype, input.sizes, strides_in_format(input.sizes, suggested_format(input)));
}

void infer_native_group_norm(Inference& call) {
  const Tensor& input = call.tensor("input");
  const std::int64_t groups = group_count(call);
  const DType statistics = statistics_dtype(call);
  call.make(input.dtype, input.sizes, strides_in_format(input.sizes, suggested_format(input)));
  call.make(statistics, {input.sizes[0], groups});
  call.make(statistics, {input.sizes[0], groups});
}

Launch bind_group_norm(const Binding& call) {
  const Tensor& input = call.tensor("input");
  const std::int64_t groups = group_count(call);
  const Tensor grouped = split_channels(input, groups);
  Dims dims;
  for (std::int64_t d = 2; d < grouped.rank(); ++d) dims.push_back(d);
  const Tensor result = split_channels(call.result(), groups);
  Launch launch = with_real(input.dtype, [&]<class C>() -> Launch {
    Normalizer<C> out = make_normalizer<C>(call, grouped, result, dims);
    out.groups = groups;
    for (std::int64_t d = 3; d < grouped.rank(); ++d) {
      out.elements_each *= std::max<std::int64_t>(grouped.sizes[at(d)], 1);
    }
    return out;
  });
  if (call.listener() == nullptr) return launch;
  const auto weight = per_channel(call.optional_tensor("weight"), grouped);
  const auto bias = per_channel(call.optional_tensor("bias"), grouped);
  const bool gives_statistics = call.result_count() == 3;
  auto work = norm_text({result, grouped, dims, weight ? &*weight : nullptr,
                         bias ? &*bias : nullptr, gives_statistics ? &call.result(1) : nullptr,
                         gives_statistics ? &call.result(2) : nullptr, statistics_dtype(call),
                         call.real("eps")});
  if (!work) return launch;
  return described(std::move(launch), {std::move(*work)});
}

// ---- RMS norm: mean squares and factors of the rows in the workspace, then products

namespace {

struct RmsParts {
  Dims dims;
  Sizes sizes;  // of the factors
  DType wide;
};
RmsParts rms_parts(const KernelCall& call) {
  const Tensor& input = call.tensor("input");
  if (!spec::is_floating_point(input.dtype) || spec::item_size_bytes(input.dtype) == 1) {
    throw OpError("a norm wants a floating-point input");
  }
  RmsParts out{layer_dims(call), input.sizes, DType::kFloat32};
  for (const std::int64_t d : out.dims) out.sizes[at(d)] = 1;
  if (input.dtype == DType::kFloat64) out.wide = input.dtype;
  return out;
}

template <class C>
Source<C> rms_weight(const KernelCall& call) {
  if (const Tensor* weight = call.optional_tensor("weight")) return {*weight, weight->dtype};
  return {Item{1.0}, native_dtype<C>()};
}

}  // namespace

void infer_rms_norm(Inference& call) {
  const Tensor& input = call.tensor("input");
  const RmsParts parts = rms_parts(call);
  call.want_workspace(2 * scratch_bytes(parts.wide, parts.sizes));
  call.make(input.dtype, input.sizes, strides_in_format(input.sizes, suggested_format(input)));
}

void infer_fused_rms_norm(Inference& call) {
  infer_rms_norm(call);
  const RmsParts parts = rms_parts(call);
  call.make(parts.wide, parts.sizes);
}

Launch bind_rms_norm(const Binding& call) {
  const Tensor& input = call.tensor("input");
  const RmsParts parts = rms_parts(call);
  if (input.count() == 0 && call.result_count() == 1) return {};
  std::byte* workspace = call.workspace();
  const Tensor squares = scratch_tensor(parts.wide, parts.sizes, workspace);
  const Tensor scratch = scratch_tensor(parts.wide, parts.sizes, workspace);
  const Tensor& factors = call.result_count() == 2 ? call.result(1) : scratch;
  return with_real(parts.wide, [&]<class C>() {
    const auto* listener = call.listener();
    const C epsilon = static_cast<C>(
        call.optional_real("eps").value_or(static_cast<double>(std::numeric_limits<C>::epsilon())));
    return in_turn(
        {reduce_launch<C, C>(listener, squares, input, parts.dims, input.dtype, parts.wide,
                             element::RowMeanSquare<C>()),
         launch_tensors<C>(listener, factors, parts.wide, element::RsqrtOfSum<C>{epsilon}, squares),
         launch_sources<C>(
             listener, call.result(), input.dtype,
             std::array<Source<C>, 3>{Source<C>(input, input.dtype), Source<C>(factors, parts.wide),
                                      rms_weight<C>(call)},
             element::MultiplyThree())});
  });
}

}  // namespace graphgate::optimized
