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

bool is_row_dtype(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

// What the norms of vLLM's IR and of its compiled ops want of a tensor of rows.
void require_norm(const Inference& call, const Tensor& x) {
  require(is_row_dtype(x.dtype) && x.rank() > 0, "rows of float32, float16 or bfloat16 are wanted");
  const Tensor* const weight = call.optional_tensor("weight");
  require(
      !weight || (spec::is_floating_point(weight->dtype) && weight->sizes == Sizes{x.sizes.back()}),
      "the weight has one number for each column");
  if (!call.has("variance_size")) return;
  const std::int64_t spread = call.integer("variance_size");
  require(spread >= 1 && spread <= x.sizes.back(), "variance_size is part of a row");
}

void infer_ir_rms_norm(Inference& call) {
  const Tensor& x = call.tensor("x");
  require_norm(call, x);
  call.make(x.dtype, x.sizes);
}

void infer_ir_add_rms_norm(Inference& call) {
  const Tensor& x = call.tensor("x");
  const Tensor& residual = call.tensor("x_residual");
  require_norm(call, x);
  require(x.dtype == residual.dtype && x.sizes == residual.sizes,
          "x and x_residual have one dtype and the same sizes");
  call.make(x.dtype, x.sizes);
  call.make(x.dtype, x.sizes);
}

void infer_rms_norm_into(Inference& call) {
  const Tensor& input = call.tensor("input");
  require_norm(call, input);
  require(call.tensor("result").sizes == input.sizes, "result and input have the same sizes");
}

// x * rsqrt(mean(x^2) + epsilon) in float32, then rounded to the weight's dtype and multiplied.
// With an addend, x is the sum, of which a rounded copy is stored.
struct RowsNormalized {
  Rows from, to;
  std::optional<Rows> addend, sum, weights;
  DType weight_dtype = DType::kFloat32;
  float epsilon = 0;
  std::int64_t spread = 0;

  void operator()() const {
    const auto n = at(from.length());
    std::vector<float> weight(weights ? n : 0);
    if (weights) weights->load<float>(0, weight.data());
    std::vector<float> x(n);
    std::vector<float> squares(at(spread));
    std::vector<float> other(addend ? n : 0);
    for (std::int64_t r = 0; r < from.count(); ++r) {
      from.load<float>(r, x.data());
      if (addend) {
        addend->load<float>(r, other.data());
        for (std::size_t i = 0; i < n; ++i) x[i] += other[i];
        sum->store<float>(r, x.data());
      }
      for (std::size_t i = 0; i < squares.size(); ++i) squares[i] = x[i] * x[i];
      const float mean = ordered_sum(squares.data(), spread) / static_cast<float>(spread);
      const float factor = rsqrt(mean + epsilon);
      for (std::size_t i = 0; i < n; ++i) x[i] *= factor;
      if (weights) {
        round_values(weight_dtype, x.data(), from.length());
        for (std::size_t i = 0; i < n; ++i) x[i] *= weight[i];
        round_values(weight_dtype, x.data(), from.length());
      }
      to.store<float>(r, x.data());
    }
  }
};

RowsNormalized rows_normalized(const Binding& call, const Tensor& x, const Tensor& to) {
  RowsNormalized out{Rows(x, last_dim(x)), Rows(to, last_dim(to)), {}, {}, {}};
  if (const Tensor* const weight = call.optional_tensor("weight")) {
    out.weights.emplace(*weight, Dims{0});
    out.weight_dtype = weight->dtype;
  }
  out.epsilon = static_cast<float>(call.real("epsilon"));
  out.spread = call.has("variance_size") ? call.integer("variance_size") : x.sizes.back();
  return out;
}

Launch bind_ir_rms_norm(const Binding& call) {
  return rows_normalized(call, call.tensor("x"), call.result());
}

Launch bind_ir_add_rms_norm(const Binding& call) {
  const Tensor& x = call.tensor("x");
  RowsNormalized out = rows_normalized(call, x, call.result(0));
  out.addend.emplace(call.tensor("x_residual"), last_dim(x));
  out.sum.emplace(call.result(1), last_dim(x));
  return out;
}

Launch bind_rms_norm_into(const Binding& call) {
  return rows_normalized(call, call.tensor("input"), call.tensor("result"));
}

void infer_rotary_embedding(Inference& call) {
  const Tensor& cache = call.tensor("cos_sin_cache");
  const std::int64_t head_size = call.integer("head_size");
  const std::int64_t tokens = call.tensor("positions").count();
  require(
      cache.rank() == 2 && cache.sizes[1] % 2 == 0 && cache.sizes[1] <= head_size && head_size > 0,
      "the cache has rows of cosines and sines, no wider than a head");
  for (const char* name : {"query", "key"}) {
    if (!call.has(name)) continue;
    const Tensor& heads = call.tensor(name);
    require(heads.dtype == cache.dtype && spec::is_floating_point(cache.dtype),
            "heads and cache have one floating-point dtype");
    require(heads.count() == 0 || (tokens > 0 && heads.count() % (tokens * head_size) == 0),
            "every position has as many whole heads");
  }
}

// Turns the first columns of every head, pair by pair: (a, b) -> (a cos - b sin, b cos + a sin).
template <class C>
struct HeadsTurned {
  Rows positions, heads, cache;
  std::int64_t head_size;
  bool is_neox;

  void operator()() const {
    std::vector<std::int64_t> places(at(positions.length()));
    positions.load<std::int64_t>(0, places.data());
    std::vector<C> angles(at(cache.length()));
    std::vector<C> all(at(heads.length()));
    heads.load<C>(0, all.data());
    if (places.empty()) return;
    const std::size_t per_token = all.size() / places.size();
    for (std::size_t t = 0; t < places.size(); ++t) {
      if (places[t] < 0 || places[t] >= cache.count()) {
        throw_index_out_of_range(places[t], 0, cache.count());
      }
      cache.load<C>(places[t], angles.data());
      for (std::size_t h = 0; h < per_token; h += at(head_size)) {
        turn(all.data() + t * per_token + h, angles);
      }
    }
    heads.store<C>(0, all.data());
  }

  void turn(C* head, const std::vector<C>& angles) const {
    const std::size_t half = angles.size() / 2;
    const DType dtype = heads.dtype();
    for (std::size_t i = 0; i < half; ++i) {
      C& a = head[is_neox ? i : 2 * i];
      C& b = head[is_neox ? half + i : 2 * i + 1];
      const C turned = rounded<C>(
          dtype, rounded<C>(dtype, a * angles[i]) - rounded<C>(dtype, b * angles[half + i]));
      b = rounded<C>(dtype,
                     rounded<C>(dtype, b * angles[i]) + rounded<C>(dtype, a * angles[half + i]));
      a = turned;
    }
  }
};

Launch bind_rotary_embedding(const Binding& call) {
  const Tensor& positions = call.tensor("positions");
  const Tensor& cache = call.tensor("cos_sin_cache");
  std::vector<Launch> launches;
  for (const char* name : {"query", "key"}) {
    if (!call.has(name)) continue;
    const Tensor& heads = call.tensor(name);
    launches.push_back(with_real(cache.dtype, [&]<class C>() -> Launch {
      return HeadsTurned<C>{Rows(positions, all_dims(positions)), Rows(heads, all_dims(heads)),
                            Rows(cache, {1}), call.integer("head_size"), call.boolean("is_neox")};
    }));
  }
  return [launches = std::move(launches)] {
    for (const Launch& launch : launches) launch.run();
  };
}

// vLLM's own op names the written argument "result".
const char* written_name(const KernelCall& call) { return call.has("out") ? "out" : "result"; }

void infer_silu_and_mul(Inference& call) {
  const Tensor& out = call.tensor(written_name(call));
  const Tensor& input = call.tensor("input");
  Sizes twice = out.sizes;
  require(!twice.empty(), "out wants dimensions");
  twice.back() *= 2;
  require(input.sizes == twice, "the input is twice as wide as out");
  require(input.dtype == out.dtype && spec::is_floating_point(out.dtype),
          "out and input must have one floating-point dtype");
}

Launch bind_silu_and_mul(const Binding& call) {
  const Tensor& out = call.tensor(written_name(call));
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
  // vLLM's own row has them: they ask for a quantized output.
  require(!call.has("output_scale") && !call.has("output_block_scale"),
          "an output that is quantized as it is made has no kernel");
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

// Keys and values go where the layer's name leads, which no plan sees. What is returned has no
// elements: others take it to come behind.
void infer_kv_cache_update(Inference& call) {
  const Tensor& key = call.tensor("key");
  require(key.dtype == call.tensor("value").dtype, "key and value differ in dtype");
  call.make(key.dtype, {0});
}

void infer_mla_kv_cache_update(Inference& call) {
  call.make(call.tensor("kv_c_normed").dtype, {0});
}

Launch bind_cache_update(const Binding& /*call*/) {
  return [] {};
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
      Kernel{"_C.rms_norm", infer_rms_norm_into, bind_rms_norm_into}.rows(row_rules::within_rows),
      {"_C.rotary_embedding", infer_rotary_embedding, bind_rotary_embedding},
      Kernel{"_C.silu_and_mul", infer_silu_and_mul, bind_silu_and_mul}.rows(row_rules::within_rows),
      Kernel{"vllm.fused_add_rms_norm", infer_add_rms_norm, bind_add_rms_norm}
          .fuses(Fusion::kLastDim)
          .rows(row_rules::within_rows),
      Kernel{"vllm.silu_and_mul", infer_silu_and_mul, bind_silu_and_mul}
          .fuses(Fusion::kLastDim)
          .rows(row_rules::within_rows),
      Kernel{"vllm.unified_attention_with_output", infer_attention, bind_attention}.rows(
          row_rules::attention_over_rows),
      {"vllm.unified_kv_cache_update", infer_kv_cache_update, bind_cache_update},
      {"vllm.unified_mla_kv_cache_update", infer_mla_kv_cache_update, bind_cache_update},
      Kernel{"vllm_ir.fused_add_rms_norm", infer_ir_add_rms_norm, bind_ir_add_rms_norm}.rows(
          row_rules::within_rows),
      Kernel{"vllm_ir.rms_norm", infer_ir_rms_norm, bind_ir_rms_norm}.rows(row_rules::within_rows),
      {"transformers.grouped_mm_fallback", infer_grouped_mm, bind_grouped_mm},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
