// vLLM's custom ops. Every tensor operation of their definitions rounds to the tensors' own dtype.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "optimized/analysis/row_rules.h"
#include "optimized/arithmetic/format_dispatch.h"
#include "optimized/arithmetic/functions.h"
#include "optimized/arithmetic/sum.h"
#include "optimized/codegen/attention_work.h"
#include "optimized/codegen/product_text.h"
#include "optimized/codegen/row_text.h"
#include "optimized/codegen/type_text.h"
#include "optimized/converted_rows.h"
#include "optimized/gemm.h"
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/view_geometry.h"
#include "optimized/value_errors.h"

namespace graphgate::optimized {
namespace {

using Dims = std::vector<std::int64_t>;
using spec::DType;

Dims all_dims(const Tensor& t) { return wrap_dims({}, t.rank(), true); }
Dims last_dim(const Tensor& t) { return {t.rank() - 1}; }

void require(bool holds, const char* what) {
  if (!holds) throw OpError(what);
}

// A single value, rounded.
template <class C>
C rounded(DType dtype, C value) {
  round_values(dtype, &value, 1);
  return value;
}

void infer_add_rms_norm(Inference& call) {
  const Tensor& input = call.tensor("input");
  const Tensor& residual = call.tensor("residual");
  const Tensor& weight = call.tensor("weight");
  require(input.rank() > 0 && input.sizes == residual.sizes, "input and residual differ in sizes");
  require(weight.sizes == Sizes{input.sizes.back()}, "the weight has one element per column");
  require(input.dtype == residual.dtype && input.dtype == weight.dtype &&
              spec::is_floating_point(input.dtype),
          "input, residual and weight must have one floating-point dtype");
}

// residual += input; input = residual * rsqrt(mean(residual^2) + epsilon) * weight.
template <class C>
void add_rms_norm_row(DType dtype, std::vector<C>& x, std::vector<C>& residual,
                      const std::vector<C>& weight, C epsilon) {
  const auto n = static_cast<std::int64_t>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) residual[i] += x[i];
  round_values(dtype, residual.data(), n);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = residual[i] * residual[i];
  round_values(dtype, x.data(), n);
  const C mean = rounded(dtype, ordered_sum(x.data(), n) / static_cast<C>(n));
  const C factor = rounded(dtype, rsqrt(rounded(dtype, mean + epsilon)));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = residual[i] * factor;
  round_values(dtype, x.data(), n);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= weight[i];
}

Launch bind_add_rms_norm(const Binding& call) {
  const Tensor& input = call.tensor("input");
  Launch launch = with_real(input.dtype, [&]<class C>() -> Launch {
    return [inputs = Rows(input, last_dim(input)),
            residuals = Rows(call.tensor("residual"), last_dim(input)),
            weights = Rows(call.tensor("weight"), {0}), dtype = input.dtype,
            epsilon = static_cast<C>(call.real("epsilon"))] {
      std::vector<C> weight(at(weights.length()));
      std::vector<C> x(weight.size());
      std::vector<C> residual(weight.size());
      weights.template load<C>(0, weight.data());
      for (std::int64_t r = 0; r < inputs.count(); ++r) {
        inputs.template load<C>(r, x.data());
        residuals.template load<C>(r, residual.data());
        add_rms_norm_row<C>(dtype, x, residual, weight, epsilon);
        residuals.template store<C>(r, residual.data());
        inputs.template store<C>(r, x.data());
      }
    };
  });
  if (call.listener() == nullptr) return launch;
  const Tensor& residual = call.tensor("residual");
  auto work =
      rms_norm_text(*call.listener(), {input, input, &residual, &residual, call.tensor("weight"),
                                       input.dtype, false, call.real("epsilon")});
  if (!work) return launch;
  return described(std::move(launch), {std::move(*work)});
}

void infer_silu_and_mul(Inference& call) {
  const Tensor& out = call.tensor("out");
  const Tensor& input = call.tensor("input");
  Sizes twice = out.sizes;
  require(!twice.empty(), "out wants dimensions");
  twice.back() *= 2;
  require(input.sizes == twice, "the input is twice as wide as out");
  require(input.dtype == out.dtype && spec::is_floating_point(out.dtype),
          "out and input must have one floating-point dtype");
}

Launch bind_silu_and_mul(const Binding& call) {
  const Tensor& out = call.tensor("out");
  Launch launch = with_real(out.dtype, [&]<class C>() -> Launch {
    return [from = Rows(call.tensor("input"), last_dim(out)), to = Rows(out, last_dim(out)),
            dtype = out.dtype] {
      const auto n = at(to.length());
      std::vector<C> row(2 * n);
      for (std::int64_t r = 0; r < to.count(); ++r) {
        from.template load<C>(r, row.data());
        for (std::size_t i = 0; i < n; ++i) row[i] = row[i] / (C(1) + exp(-row[i]));
        round_values(dtype, row.data(), to.length());
        for (std::size_t i = 0; i < n; ++i) row[i] *= row[n + i];
        to.template store<C>(r, row.data());
      }
    };
  });
  if (call.listener() == nullptr) return launch;
  const Tensor& input = call.tensor("input");
  const std::int64_t width = out.size(-1);
  const Tensor gate = narrowed(input, input.rank() - 1, 0, width);
  const Tensor up = narrowed(input, input.rank() - 1, width, width);
  const std::string function = with_float_format(
      out.dtype, [&]<class Own>() { return callable_text<float>(element::SiluAndMul<Own>()); });
  const DType compute = out.dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  PointwiseWork work{
      out, out.dtype, compute, function, {{gate, out.dtype, false, 0}, {up, out.dtype, false, 0}}};
  return described(std::move(launch), {std::move(work)});
}

void infer_attention(Inference& call) {
  const Tensor& query = call.tensor("query");
  const Tensor& key = call.tensor("key");
  const Tensor& value = call.tensor("value");
  const Tensor& output = call.tensor("output");
  require(query.rank() == 3 && output.sizes == query.sizes, "query and output are [T, H, D]");
  require(key.rank() == 3 && key.sizes == value.sizes, "key and value are [T, Hkv, D]");
  require(key.sizes[0] == query.sizes[0] && key.sizes[2] == query.sizes[2],
          "query and key differ in tokens or head size");
  require(key.sizes[1] > 0 && query.sizes[1] % key.sizes[1] == 0,
          "query heads are no multiple of key heads");
  require(query.dtype == key.dtype && query.dtype == value.dtype && query.dtype == output.dtype &&
              spec::is_floating_point(query.dtype),
          "query, key, value and output must have one floating-point dtype");
}

// Matrix `head` of a [T, H, D] tensor.
Factor head_factor(const Tensor& t, std::int64_t head) {
  const std::int64_t item = t.item_bytes();
  return {t.dtype, t.data() + head * t.strides[1] * item, t.strides[0] * item, t.strides[2] * item};
}

template <class C>
struct CausalAttention {
  Tensor query, key, value, output;
  C divisor;

  void operator()() const {
    const std::int64_t tokens = query.sizes[0];
    std::vector<C> scores(at(tokens * tokens));
    std::vector<C> results(at(tokens * query.sizes[2] * query.sizes[1]));
    for (std::int64_t head = 0; head < query.sizes[1]; ++head) {
      attend(head, scores.data(), results.data() + head * tokens * query.sizes[2]);
    }
    for (std::int64_t head = 0; head < query.sizes[1]; ++head) {
      const Factor out = head_factor(output, head);
      for (std::int64_t t = 0; t < tokens; ++t) {
        const C* row = results.data() + (head * tokens + t) * query.sizes[2];
        store_tile<C>(output.dtype, row, static_cast<int>(query.sizes[2]),
                      output.data() + (out.first - output.data()) + t * out.row_stride,
                      out.column_stride);
      }
    }
  }

  // The output may share bytes with the inputs: nothing is stored before every head is done.
  void attend(std::int64_t head, C* scores, C* results) const {
    const std::int64_t tokens = query.sizes[0];
    const std::int64_t shared = head / (query.sizes[1] / key.sizes[1]);
    gemm<C>(tokens, tokens, query.sizes[2], head_factor(query, head),
            transposed(head_factor(key, shared)),
            [&](std::int64_t row, std::int64_t column, C* values, int n) {
              round_values(query.dtype, values, n);
              for (int i = 0; i < n; ++i) values[i] /= divisor;
              round_values(query.dtype, values, n);
              std::copy_n(values, n, scores + row * tokens + column);
            });
    for (std::int64_t row = 0; row < tokens; ++row) softmax(scores + row * tokens, row + 1, tokens);
    gemm<C>(tokens, query.sizes[2], tokens, dense_factor<C>(scores, tokens),
            head_factor(value, shared),
            [&](std::int64_t row, std::int64_t column, C* values, int n) {
              std::copy_n(values, n, results + row * query.sizes[2] + column);
            });
  }

  // The first `visible` of n scores; the others become 0.
  void softmax(C* scores, std::int64_t visible, std::int64_t n) const {
    C top = scores[0];
    for (std::int64_t i = 0; i < visible; ++i) {
      top = scores[i] > top || scores[i] != scores[i] ? scores[i] : top;
    }
    for (std::int64_t i = 0; i < visible; ++i) scores[i] = exp(scores[i] - top);
    std::fill(scores + visible, scores + n, C(0));
    const C sum = ordered_sum(scores, n);
    for (std::int64_t i = 0; i < visible; ++i) scores[i] /= sum;
    round_values(query.dtype, scores, visible);
  }
};

Launch bind_attention(const Binding& call) {
  const Tensor& query = call.tensor("query");
  std::uint64_t divisor_bits = 0;
  Launch launch = with_real(query.dtype, [&]<class C>() -> Launch {
    const auto divisor = static_cast<C>(std::sqrt(static_cast<double>(query.sizes[2])));
    std::memcpy(&divisor_bits, &divisor, sizeof divisor);
    return CausalAttention<C>{query, call.tensor("key"), call.tensor("value"),
                              call.tensor("output"), divisor};
  });
  if (call.listener() == nullptr) return launch;
  auto works = rounded_attention_works(*call.listener(), call.tensor("output"), query,
                                       call.tensor("key"), call.tensor("value"), divisor_bits);
  if (!works) return launch;
  return described(std::move(launch), std::move(*works));
}

void infer_grouped_mm(Inference& call) {
  const Tensor& input = call.tensor("input");
  const Tensor& weight = call.tensor("weight");
  const Tensor& ends = call.tensor("offs");
  require(input.rank() == 2 && weight.rank() == 3 && input.sizes[1] == weight.sizes[1],
          "input is [M, K], weight [G, K, N]");
  require(ends.sizes == Sizes{weight.sizes[0]}, "offs has one element per group");
  require(input.dtype == weight.dtype && input.dtype != DType::kBool,
          "input and weight must have one dtype");
  call.make(input.dtype, {input.sizes[0], weight.sizes[2]});
}

// Rows ends[g - 1] to ends[g] of the input times weight[g]. Rows beyond the last end are 0.
template <class C>
struct GroupedProduct {
  Tensor input, weight, result;
  Rows ends;

  void operator()() const {
    std::vector<std::int64_t> end(at(ends.length()));
    ends.load<std::int64_t>(0, end.data());
    std::int64_t begin = 0;
    for (std::int64_t group = 0; group < weight.sizes[0]; ++group) {
      const std::int64_t stop = end[at(group)];
      if (stop < begin || stop > input.sizes[0]) throw_groups_do_not_ascend();
      multiply(begin, stop, group, weight.sizes[1]);
      begin = stop;
    }
    multiply(begin, input.sizes[0], 0, 0);
  }

  void multiply(std::int64_t begin, std::int64_t end, std::int64_t group,
                std::int64_t depth) const {
    const std::int64_t item = input.item_bytes();
    const Factor a = {input.dtype, input.data() + begin * input.strides[0] * item,
                      input.strides[0] * item, input.strides[1] * item};
    const Factor b = {weight.dtype, weight.data() + group * weight.strides[0] * item,
                      weight.strides[1] * item, weight.strides[2] * item};
    gemm<C>(end - begin, weight.sizes[2], depth, a, b,
            [&](std::int64_t row, std::int64_t column, C* values, int n) {
              std::byte* out =
                  result.data() +
                  ((begin + row) * result.strides[0] + column * result.strides[1]) * item;
              store_tile<C>(result.dtype, values, n, out, result.strides[1] * item);
            });
  }
};

Launch bind_grouped_mm(const Binding& call) {
  const Tensor& input = call.tensor("input");
  const Tensor& ends = call.tensor("offs");
  Launch launch = with_compute(input.dtype, [&]<class C>() -> Launch {
    return GroupedProduct<C>{input, call.tensor("weight"), call.result(),
                             Rows(ends, all_dims(ends))};
  });
  if (call.listener() == nullptr) return launch;
  return described(std::move(launch),
                   {grouped_product_text(call.result(), input, call.tensor("weight"), ends)});
}

}  // namespace

std::span<const Kernel> vllm_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"vllm.fused_add_rms_norm", infer_add_rms_norm, bind_add_rms_norm}
          .fuses(Fusion::kLastDim)
          .rows(row_rules::within_rows),
      Kernel{"vllm.silu_and_mul", infer_silu_and_mul, bind_silu_and_mul}
          .fuses(Fusion::kLastDim)
          .rows(row_rules::within_rows),
      Kernel{"vllm.unified_attention_with_output", infer_attention, bind_attention}.rows(
          row_rules::attention_over_rows),
      {"transformers.grouped_mm_fallback", infer_grouped_mm, bind_grouped_mm},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
