// The custom ops of vLLM and transformers that exported programs hold, as these programs define
// them: each tensor operation inside rounds once, in the dtype of the tensors.
#include <array>

#include "reference/number/left_open.h"
#include "reference/ops/product.h"
#include "reference/ops/softmax_row.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

void require_real(const Tensor& tensor) {
  if (!spec::is_floating_point(tensor.dtype)) throw OpError("expected tensors of floating dtype");
}

// The result without elements.
void emit_empty(Call& call, spec::DType dtype) {
  with_number(call.mode(), dtype, [&]<class N>() { call.emit(Array<N>(Sizes{0}), dtype); });
}

struct Heads {
  std::int64_t tokens;
  std::int64_t count;
  std::int64_t key_count;
  std::int64_t width;
};

Heads heads_of(const Tensor& query, const Tensor& key, const Tensor& value) {
  require_one_dtype({&query, &key, &value});
  require_real(query);
  if (query.rank() != 3 || key.rank() != 3 || key.sizes != value.sizes) {
    throw OpError("attention: expected query, key and value as [tokens, heads, width]");
  }
  const Heads heads{query.sizes[0], query.sizes[1], key.sizes[1], query.sizes[2]};
  if (key.sizes[0] != heads.tokens || key.sizes[2] != heads.width || heads.key_count == 0 ||
      heads.count % heads.key_count != 0) {
    throw OpError("attention: the sizes of query and key do not fit");
  }
  return heads;
}

// What one query head at one token attends to, over the tokens up to it. Later ones are masked: who
// multiplies them by zero makes NaN of what is not finite there, who passes over them does not.
template <class N>
void attend(N* out, const N* query, const N* key, const N* value, std::int64_t token,
            const Heads& heads, spec::DType dtype) {
  const N root = number<N>(Datum{std::sqrt(static_cast<double>(heads.width))}, dtype);
  const std::int64_t step = heads.key_count * heads.width;  // from token to token
  std::vector<N> scores;
  for (std::int64_t j = 0; j <= token; ++j) {
    const N* other = key + j * step;
    const N sum = dot_from(Sum<N>(), query, other, heads.width);
    const N product = allow_split(sum, N(0), query, other, heads.width, dtype);
    scores.push_back(round_edge(round_edge(product, dtype) / root, dtype));
  }
  bool has_wild_score = false;
  for (std::int64_t j = token + 1; j < heads.tokens; ++j) {
    const N product = dot_from(Sum<N>(), query, key + j * step, heads.width);
    has_wild_score = has_wild_score || !is_finite(product) || is_nan(product).undecided;
  }
  SoftmaxRow<N> row = softmax_row(std::move(scores));
  // A token sees itself at least: no mask has made these scores.
  if (row.is_masked)
    row.weights.assign(row.weights.size(), N(std::numeric_limits<double>::quiet_NaN()));
  std::vector<N> weights = normalized(std::move(row));
  for (N& weight : weights) weight = round_edge(weight, dtype);
  for (std::int64_t d = 0; d < heads.width; ++d) {
    Sum<N> sum;
    for (std::int64_t j = 0; j <= token; ++j) {
      sum.add_product(weights[static_cast<std::size_t>(j)], value[j * step + d]);
    }
    bool hides = has_wild_score;
    for (std::int64_t j = 0; j < heads.tokens; ++j) {
      const N& weight = j > token ? N(0.0) : weights[static_cast<std::size_t>(j)];
      hides = hides || is_hidden(value[j * step + d], weight);
    }
    const N product =
        allow_split(sum.result(), N(0), weights.data(), value + d, token + 1, dtype, step);
    out[d] = hides ? left_open(product) : product;
  }
}

void unified_attention_with_output(Call& call) {
  // vLLM's own row has them: they ask for a quantized output.
  if (call.has("output_scale") || call.has("output_block_scale")) {
    throw OpError("attention: outputs that are quantized as they are made have no body");
  }
  const Tensor& query = *call.tensor("query");
  const Heads heads = heads_of(query, *call.tensor("key"), *call.tensor("value"));
  const spec::DType dtype = query.dtype;
  with_real(call.mode(), [&]<class N>() {
    const Array<N> q = load<N>(query, dtype);
    const Array<N> k = load<N>(*call.tensor("key"), dtype);
    const Array<N> v = load<N>(*call.tensor("value"), dtype);
    Array<N> out(query.sizes);
    const std::int64_t group = heads.count / heads.key_count;
    for (std::int64_t i = 0; i < heads.tokens * heads.count; ++i) {
      const std::int64_t key_head = i % heads.count / group * heads.width;
      attend(out.data.data() + i * heads.width, q.data.data() + i * heads.width,
             k.data.data() + key_head, v.data.data() + key_head, i / heads.count, heads, dtype);
    }
    call.write("output", out);
  });
}

// Writes keys and values where the layer's name leads, which no program sees, and returns an empty
// tensor that others take to come behind it.
void unified_kv_cache_update(Call& call) {
  const spec::DType dtype = (*call.tensor("key")).dtype;
  require_one_dtype({&*call.tensor("key"), &*call.tensor("value")});
  emit_empty(call, dtype);
}

void unified_mla_kv_cache_update(Call& call) {
  emit_empty(call, (*call.tensor("kv_c_normed")).dtype);
}

// One row of fused_add_rms_norm: (row * rsqrt(mean(row^2) + epsilon)) * weight.
template <class N>
void normalize_row(N* out, const N* row, const Array<N>& weight, N epsilon, spec::DType dtype) {
  const std::int64_t width = weight.count();
  Sum<N> sum;
  for (std::int64_t i = 0; i < width; ++i) sum.add(round_edge(row[i] * row[i], dtype));
  const N mean = round_edge(sum.result() / N(static_cast<double>(width)), dtype);
  const N root = round_edge(rsqrt(round_edge(mean + epsilon, dtype)), dtype);
  for (std::int64_t i = 0; i < width; ++i) {
    out[i] = round_edge(row[i] * root, dtype) * weight[i];
  }
}

void fused_add_rms_norm(Call& call) {
  const Tensor& input = *call.tensor("input");
  const Tensor& weights = *call.tensor("weight");
  const Tensor& addend = *call.tensor("residual");
  require_one_dtype({&input, &weights, &addend});
  require_real(input);
  if (input.sizes != addend.sizes || input.rank() == 0 || weights.rank() != 1 ||
      weights.sizes[0] != input.sizes.back()) {
    throw OpError("fused_add_rms_norm: the sizes of input, residual and weight do not fit");
  }
  const spec::DType dtype = input.dtype;
  with_real(call.mode(), [&]<class N>() {
    Array<N> residual = load<N>(addend, dtype);
    Array<N> out = load<N>(input, dtype);
    for (std::int64_t i = 0; i < out.count(); ++i) residual[i] = residual[i] + out[i];
    residual = round_all(std::move(residual), dtype);
    const Array<N> weight = load<N>(weights, dtype);
    const N epsilon = number<N>(call.datum("epsilon"), dtype);
    const std::int64_t width = weight.count();
    for (std::int64_t i = 0; i < out.count(); i += width) {
      normalize_row(out.data.data() + i, residual.data.data() + i, weight, epsilon, dtype);
    }
    call.write("residual", residual);
    call.write("input", out);
  });
}

void require_rows(const Tensor& tensor) {
  const bool is_known = tensor.dtype == spec::DType::kFloat32 ||
                        tensor.dtype == spec::DType::kFloat16 ||
                        tensor.dtype == spec::DType::kBFloat16;
  if (!is_known || tensor.rank() == 0) {
    throw OpError("expected rows of float32, float16 or bfloat16");
  }
}

// How vLLM normalizes rows (vllm/ir/ops/layernorm.py): in float32, until the product with the
// weight, which is one of the weight's dtype. `spread`: leading columns that the variance is of.
struct RowNorm {
  std::int64_t width = 0;
  std::int64_t spread = 0;
  double epsilon = 0;
  TensorRef weight;
};

RowNorm row_norm_of(const Call& call, const Tensor& x) {
  RowNorm out{x.sizes.back(), x.sizes.back(), call.real("epsilon"), call.optional_tensor("weight")};
  const auto spread = call.optional_integer("variance_size");
  if (spread) out.spread = *spread;
  if (out.spread < 1 || out.spread > out.width) throw OpError("variance_size is no part of a row");
  if (!out.weight) return out;
  if (!spec::is_floating_point(out.weight->dtype) || out.weight->sizes != Sizes{out.width}) {
    throw OpError("the weight should have one number for each column");
  }
  return out;
}

// Rows of float32 numbers become normalized ones, before they are rounded to a result's dtype.
template <class N>
void normalize_rows(Array<N>& rows, const RowNorm& norm) {
  constexpr spec::DType kInner = spec::DType::kFloat32;
  const N epsilon = number<N>(Datum{norm.epsilon}, kInner);
  Array<N> weight;
  if (norm.weight) weight = load<N>(*norm.weight, norm.weight->dtype);
  for (std::int64_t begin = 0; begin < rows.count(); begin += norm.width) {
    N* const row = rows.data.data() + begin;
    Sum<N> sum;
    for (std::int64_t i = 0; i < norm.spread; ++i) sum.add(round_edge(row[i] * row[i], kInner));
    const N mean = round_edge(sum.result() / N(static_cast<double>(norm.spread)), kInner);
    const N root = round_edge(rsqrt(round_edge(mean + epsilon, kInner)), kInner);
    for (std::int64_t i = 0; i < norm.width; ++i) {
      row[i] = round_edge(row[i] * root, kInner);
      if (!norm.weight) continue;
      const spec::DType dtype = norm.weight->dtype;
      row[i] = round_edge(round_edge(row[i], dtype) * weight[i], dtype);
    }
  }
}

void ir_rms_norm(Call& call) {
  const Tensor& x = *call.tensor("x");
  require_rows(x);
  const RowNorm norm = row_norm_of(call, x);
  with_real(call.mode(), [&]<class N>() {
    Array<N> rows = load<N>(x, x.dtype);
    normalize_rows(rows, norm);
    call.emit(rows, x.dtype);
  });
}

void ir_fused_add_rms_norm(Call& call) {
  const Tensor& x = *call.tensor("x");
  const Tensor& addend = *call.tensor("x_residual");
  require_rows(x);
  require_one_dtype({&x, &addend});
  if (x.sizes != addend.sizes) throw OpError("x and x_residual should have the same sizes");
  const RowNorm norm = row_norm_of(call, x);
  with_real(call.mode(), [&]<class N>() {
    Array<N> rows = load<N>(x, x.dtype);
    const Array<N> other = load<N>(addend, x.dtype);
    for (std::int64_t i = 0; i < rows.count(); ++i) {
      rows[i] = round_edge(rows[i] + other[i], spec::DType::kFloat32);
    }
    const Array<N> residual = rows;
    normalize_rows(rows, norm);
    call.emit(rows, x.dtype);
    call.emit(residual, x.dtype);
  });
}

// Of vLLM's compiled ops, which write what they are given.
void rms_norm_into(Call& call) {
  const Tensor& input = *call.tensor("input");
  require_rows(input);
  if (call.tensor("result")->sizes != input.sizes) {
    throw OpError("rms_norm: result and input should have the same sizes");
  }
  const RowNorm norm = row_norm_of(call, input);
  with_real(call.mode(), [&]<class N>() {
    Array<N> rows = load<N>(input, input.dtype);
    normalize_rows(rows, norm);
    call.write("result", rows);
  });
}

// Pairs of numbers of a head, turned by the angle that stands for the token's position.
template <class N>
void rotate_heads(Array<N>& heads, const Array<N>& cache, const Array<Whole>& positions,
                  std::int64_t head_size, bool is_neox, spec::DType dtype) {
  const std::int64_t half = cache.sizes[1] / 2;
  const std::int64_t per_token = heads.count() / std::max<std::int64_t>(positions.count(), 1);
  for (std::int64_t begin = 0; begin < heads.count(); begin += head_size) {
    const Whole& position = positions[begin / per_token];
    if (position.value < 0 || position.value >= cache.sizes[0]) {
      throw OpError("rotary_embedding: a position is outside of the cache");
    }
    N* const head = heads.data.data() + begin;
    const N* const cosines = cache.data.data() + position.value * cache.sizes[1];
    for (std::int64_t i = 0; i < half; ++i) {
      N& first = head[is_neox ? i : 2 * i];
      N& second = head[is_neox ? half + i : 2 * i + 1];
      const N cosine = cosines[i];
      const N sine = cosines[half + i];
      const N turned =
          round_edge(round_edge(first * cosine, dtype) - round_edge(second * sine, dtype), dtype);
      second =
          round_edge(round_edge(second * cosine, dtype) + round_edge(first * sine, dtype), dtype);
      first = turned;
      if (position.undecided) {
        first = left_open(first);
        second = left_open(second);
      }
    }
  }
}

// vllm.model_executor.layers.rotary_embedding, forward_static.
void rotary_embedding(Call& call) {
  const Tensor& cached = *call.tensor("cos_sin_cache");
  const std::int64_t head_size = call.integer("head_size");
  const bool is_neox = call.boolean("is_neox");
  const Array<Whole> positions = load<Whole>(*call.tensor("positions"), spec::DType::kInt64);
  for (const char* name : {"query", "key"}) {
    if (!call.has(name)) continue;
    const Tensor& tensor = *call.tensor(name);
    require_real(tensor);
    require_one_dtype({&tensor, &cached});
    std::int64_t count = 1;
    for (const std::int64_t size : tensor.sizes) count *= size;
    const bool fits =
        cached.rank() == 2 && cached.sizes[1] % 2 == 0 && head_size > 0 &&
        cached.sizes[1] <= head_size &&
        (count == 0 || (positions.count() > 0 && count % (positions.count() * head_size) == 0));
    if (!fits) throw OpError("rotary_embedding: the sizes do not fit");
    with_real(call.mode(), [&]<class N>() {
      Array<N> heads = load<N>(tensor, tensor.dtype);
      rotate_heads(heads, load<N>(cached, cached.dtype), positions, head_size, is_neox,
                   tensor.dtype);
      call.write(name, heads);
    });
  }
}

// `out` names the argument that is written.
void silu_and_mul_into(Call& call, std::string_view out_name) {
  const Tensor& input = *call.tensor("input");
  require_real(input);
  if (input.rank() == 0 || input.sizes.back() % 2 != 0) {
    throw OpError("silu_and_mul: the last dimension should be even");
  }
  const spec::DType dtype = input.dtype;
  with_real(call.mode(), [&]<class N>() {
    const Array<N> in = load<N>(input, dtype);
    const std::int64_t half = input.sizes.back() / 2;
    Sizes sizes = input.sizes;
    sizes.back() = half;
    Array<N> out(sizes);
    for (std::int64_t i = 0; i < out.count(); ++i) {
      const std::int64_t at = i / half * 2 * half + i % half;
      const N gate = divide_by_logistic(in[at], in[at], compute_dtype(dtype));
      out[i] = round_edge(gate, dtype) * in[at + half];
    }
    call.write(out_name, out);
  });
}
void silu_and_mul(Call& call) { silu_and_mul_into(call, "out"); }
void silu_and_mul_of_c(Call& call) { silu_and_mul_into(call, "result"); }

// Rows offs[g-1] to offs[g] (half-open) times weight[g]; rows after the last offset are zero.
void grouped_mm_fallback(Call& call) {
  const Tensor& input = *call.tensor("input");
  const Tensor& weight = *call.tensor("weight");
  require_one_dtype({&input, &weight});
  if (input.rank() != 2 || weight.rank() != 3 || input.sizes[1] != weight.sizes[1]) {
    throw OpError("grouped_mm: expected an input [M, K] and a weight [G, K, N]");
  }
  const Array<Whole> ends = load<Whole>(*call.tensor("offs"), spec::DType::kInt64);
  if (ends.rank() != 1 || ends.count() != weight.sizes[0]) {
    throw OpError("grouped_mm: expected one offset per group");
  }
  with_number(call.mode(), input.dtype, [&]<class N>() {
    const Array<N> rows = load<N>(input, input.dtype);
    const Array<N> columns = load<N>(*transposed(weight), input.dtype);
    const std::int64_t inner = input.sizes[1];
    const std::int64_t width = weight.sizes[2];
    Array<N> out({input.sizes[0], width});
    std::int64_t group = 0;
    for (std::int64_t i = 0; i < out.count(); ++i) {
      while (group < ends.count() && i / width >= ends[group].value) ++group;
      if (group == ends.count()) break;
      const N* row = rows.data.data() + i / width * inner;
      const N* column = columns.data.data() + (group * width + i % width) * inner;
      const N sum = dot_from(Sum<N>(), row, column, inner);
      out[i] = allow_split(sum, N(0), row, column, inner, input.dtype);
    }
    bool undecided = false;
    for (const Whole& end : ends.data) undecided = undecided || end.undecided;
    if (undecided) {  // any row may belong to another group
      for (N& x : out.data) x = left_open(x);
    }
    call.emit(out, input.dtype);
  });
}

constexpr std::array kVllmOps = {
    OpBody{"_C.rms_norm", rms_norm_into},
    OpBody{"_C.rotary_embedding", rotary_embedding},
    OpBody{"_C.silu_and_mul", silu_and_mul_of_c},
    OpBody{"transformers.grouped_mm_fallback", grouped_mm_fallback},
    OpBody{"vllm.fused_add_rms_norm", fused_add_rms_norm},
    OpBody{"vllm.silu_and_mul", silu_and_mul},
    OpBody{"vllm.unified_attention_with_output", unified_attention_with_output},
    OpBody{"vllm.unified_kv_cache_update", unified_kv_cache_update},
    OpBody{"vllm.unified_mla_kv_cache_update", unified_mla_kv_cache_update},
    OpBody{"vllm_ir.fused_add_rms_norm", ir_fused_add_rms_norm},
    OpBody{"vllm_ir.rms_norm", ir_rms_norm},
};

}  // namespace

std::span<const OpBody> vllm_ops() { return kVllmOps; }

}  // namespace graphgate::reference
