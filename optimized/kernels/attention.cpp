// Scaled dot-product attention as one op: scores, mask, softmax and weighted sum in the compute
// type, rounded once at the end. A row whose keys are all masked gives zeros.
#include <algorithm>
#include <array>

#include "optimized/analysis/row_rules.h"
#include "optimized/arithmetic/functions.h"
#include "optimized/arithmetic/sum.h"
#include "optimized/codegen/attention_work.h"
#include "optimized/draws.h"
#include "optimized/gemm.h"
#include "optimized/kernels/families.h"
#include "optimized/loop.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

constexpr std::int64_t kQueryRows = 128;  // rows of scores held at a time

struct Inputs {
  const Tensor& query;
  const Tensor& key;
  const Tensor& value;
  const Tensor* mask;
  bool shares_heads;  // key and value may have fewer heads
};

Inputs inputs_of(const KernelCall& call, bool shares_heads) {
  return {call.tensor("query"), call.tensor("key"), call.tensor("value"),
          call.optional_tensor("attn_mask"), shares_heads};
}

[[noreturn]] void wrong_sizes(const Inputs& in) {
  throw OpError("attention does not fit query " + print_sizes(in.query.sizes) + ", key " +
                print_sizes(in.key.sizes) + ", value " + print_sizes(in.value.sizes));
}

// A tensor's sizes before the last two; the heads of key or value spread to those of the query.
Sizes leading_sizes(const Inputs& in, const Tensor& tensor) {
  Sizes out(tensor.sizes.begin(), tensor.sizes.end() - 2);
  if (!in.shares_heads || in.query.rank() < 3 || out.empty()) return out;
  const std::int64_t heads = in.query.size(-3);
  if (out.back() == 0 || heads % out.back() != 0) wrong_sizes(in);
  out.back() = heads;
  return out;
}

Sizes result_sizes(const Inputs& in) {
  if (in.query.rank() < 2 || in.key.rank() < 2 || in.value.rank() < 2) wrong_sizes(in);
  if (in.query.size(-1) != in.key.size(-1) || in.key.size(-2) != in.value.size(-2)) wrong_sizes(in);
  Sizes sizes(in.query.sizes.begin(), in.query.sizes.end() - 2);
  sizes = broadcast_sizes(sizes, leading_sizes(in, in.key));
  sizes = broadcast_sizes(sizes, leading_sizes(in, in.value));
  sizes.insert(sizes.end(), {in.query.size(-2), in.value.size(-1)});
  return sizes;
}

Sizes score_sizes(const Inputs& in, const Sizes& result) {
  Sizes sizes = result;
  sizes.back() = in.key.size(-2);
  return sizes;
}

void check_inputs(const KernelCall& call, const Inputs& in, const Sizes& result) {
  const DType dtype = in.query.dtype;
  if (!spec::is_floating_point(dtype) || in.key.dtype != dtype || in.value.dtype != dtype) {
    throw OpError("query, key and value must have one floating-point dtype");
  }
  if (call.real("dropout_p") > 1) throw OpError("dropout_p must not be above 1");
  if (!in.mask) return;
  const DType mask = in.mask->dtype;
  if (mask != DType::kBool && mask != DType::kFloat32 && mask != dtype) {
    throw OpError("the mask must be bool, float32 or of the query's dtype");
  }
  (void)broadcast_strides(*in.mask, score_sizes(in, result));
}

// Whether ATen takes its fused CPU kernel, whose result has the query's layout.
bool is_fused(const Inputs& in) {
  const auto fits = [&](const Tensor& t) {
    return t.rank() == 4 && t.strides[3] == 1 && t.sizes[3] == in.query.size(-1) &&
           t.sizes[0] == in.query.sizes[0] && t.sizes[2] != 0;
  };
  if (!fits(in.query) || !fits(in.key) || !fits(in.value)) return false;
  if (in.key.sizes[1] != in.value.sizes[1]) return false;
  if (!in.shares_heads && in.key.sizes[1] != in.query.sizes[1]) return false;
  return !in.mask || in.mask->rank() == 2 || in.mask->rank() == 4;
}

void infer_attention(Inference& call) {
  const Inputs in = inputs_of(call, call.boolean("enable_gqa"));
  Sizes sizes = result_sizes(in);
  check_inputs(call, in, sizes);
  const bool drops = call.real("dropout_p") > 0;  // the fused kernel drops nothing
  Sizes strides = !drops && is_fused(in) ? strides_like(in.query, spec::MemoryFormat::kPreserve)
                                         : row_major_strides(sizes);
  call.make(in.query.dtype, std::move(sizes), std::move(strides));
}

// The fused kernel also gives log(sum(exp(scores))), laid out as [batch, rows, heads].
void infer_fused_attention(Inference& call) {
  const Inputs in = inputs_of(call, true);
  Sizes sizes = result_sizes(in);
  check_inputs(call, in, sizes);
  if (call.real("dropout_p") > 0) throw OpError("the fused attention drops nothing");
  if (sizes.size() != 4) wrong_sizes(in);
  const Sizes sums = {sizes[0], sizes[1], sizes[2]};
  Sizes strides = strides_like(in.query, spec::MemoryFormat::kPreserve);
  call.make(in.query.dtype, std::move(sizes), std::move(strides));
  const std::int64_t row = std::max<std::int64_t>(sums[1], 1);
  const DType dtype = in.query.dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  call.make(dtype, sums, {std::max<std::int64_t>(sums[2], 1) * row, 1, row});
}

// A tensor whose last two dimensions are rows and columns.
struct Side {
  Factor factor;  // at the first matrix
  explicit Side(const Tensor& t)
      : factor{t.dtype, t.data(), t.strides[at(t.rank() - 2)] * t.item_bytes(),
               t.strides[at(t.rank() - 1)] * t.item_bytes()} {}
  [[nodiscard]] Factor moved(std::int64_t bytes) const {
    Factor out = factor;
    out.first += bytes;
    return out;
  }
};

// Where the matrices of one head begin, in bytes from the tensors' first elements.
struct Head {
  std::int64_t query = 0, key = 0, value = 0, mask = 0, result = 0, sum = 0;
};

std::vector<Head> heads_of(const Inputs& in, const Tensor& result, const Tensor* mask,
                           const Tensor* sums) {
  const Sizes leading(result.sizes.begin(), result.sizes.end() - 2);
  std::vector<Head> out(at(checked_count(leading)));
  Sizes index(leading.size(), 0);
  const auto offset = [&](const Tensor& t, std::size_t inner) {
    const std::size_t rank = t.sizes.size() - inner;
    std::int64_t elements = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::size_t there = leading.size() - rank + d;
      if (t.sizes[d] == 1) continue;
      const std::int64_t shared = leading[there] / t.sizes[d];  // query heads per head
      elements += index[there] / shared * t.strides[d];
    }
    return elements * t.item_bytes();
  };
  for (Head& head : out) {
    head = {offset(in.query, 2),         offset(in.key, 2), offset(in.value, 2),
            mask ? offset(*mask, 2) : 0, offset(result, 2), sums ? offset(*sums, 1) : 0};
    for (std::size_t d = leading.size(); d-- > 0;) {
      if (++index[d] < leading[d]) break;
      index[d] = 0;
    }
  }
  return out;
}

template <class C>
struct Attention {
  std::vector<Head> heads;
  Side query, key, value, to;
  Tensor result;
  std::optional<Side> mask;
  std::optional<Tensor> sums;
  std::int64_t rows, keys, depth, columns;  // of queries, of keys, per head, of values
  bool is_causal;
  C scale;
  double keeps = 1;  // the chance of a weight to be kept
  DrawSource source = {};

  void operator()() const {
    std::vector<C> scores(at(std::min(rows, kQueryRows) * keys));
    std::optional<Draws> draws;
    if (keeps < 1) draws.emplace(source);
    for (const Head& head : heads) {
      for (std::int64_t first = 0; first < rows; first += kQueryRows) {
        attend(head, first, std::min(kQueryRows, rows - first), scores.data(), draws);
      }
    }
  }

  // Zeros for dropped weights of a row, and what makes up for them.
  void drop(std::int64_t weight, C* weights, const Draws& draws) const {
    const C factor = keeps > 0 ? C(1) / static_cast<C>(keeps) : C(0);
    for (std::int64_t i = 0; i < keys; ++i) {
      weights[i] *= draws.uniform(weight + i) < keeps ? factor : C(0);
    }
  }

  void attend(const Head& head, std::int64_t first, std::int64_t count, C* scores,
              const std::optional<Draws>& draws) const {
    gemm<C>(count, keys, depth, query.moved(head.query + first * query.factor.row_stride),
            transposed(key.moved(head.key)),
            [&](std::int64_t row, std::int64_t column, C* values, int n) {
              finish_scores(head, first + row, column, values, n);
              std::copy_n(values, n, scores + row * keys + column);
            });
    for (std::int64_t row = 0; row < count; ++row) {
      const C sum = softmax(scores + row * keys);
      if (sums) store_sum(head, first + row, sum);
      if (!draws) continue;
      const std::int64_t query_row = (&head - heads.data()) * rows + first + row;
      drop(query_row * keys, scores + row * keys, *draws);
    }
    gemm<C>(count, columns, keys, dense_factor<C>(scores, keys), value.moved(head.value),
            [&](std::int64_t row, std::int64_t column, C* values, int n) {
              std::byte* out = result.data() + head.result + (first + row) * to.factor.row_stride +
                               column * to.factor.column_stride;
              store_tile<C>(result.dtype, values, n, out, to.factor.column_stride);
            });
  }

  // Scales and masks n scores of query `row`, from key `column` on.
  void finish_scores(const Head& head, std::int64_t row, std::int64_t column, C* values,
                     int n) const {
    for (int i = 0; i < n; ++i) values[i] *= scale;
    constexpr C kMasked = -static_cast<C>(kInfinity);
    if (mask) {
      const Factor f = mask->moved(head.mask + row * mask->factor.row_stride +
                                   column * mask->factor.column_stride);
      std::array<C, kTile> more;
      for (int begin = 0; begin < n; begin += kTile) {
        const int length = std::min(kTile, n - begin);
        load_tile<C>(f.dtype, f.first + begin * f.column_stride, f.column_stride, length,
                     more.data());
        for (int i = 0; i < length; ++i) {
          const C m = more[static_cast<std::size_t>(i)];
          C& score = values[begin + i];
          score = f.dtype != DType::kBool ? score + m : m != C(0) ? score : kMasked;
        }
      }
    }
    if (!is_causal) return;
    for (int i = 0; i < n; ++i) values[i] = column + i <= row ? values[i] : kMasked;
  }

  // In place; returns log(sum(exp(scores))), 0 where all are masked.
  C softmax(C* scores) const {
    C top = -static_cast<C>(kInfinity);
    for (std::int64_t i = 0; i < keys; ++i) {
      top = scores[i] > top || scores[i] != scores[i] ? scores[i] : top;
    }
    if (top == -static_cast<C>(kInfinity)) {
      std::fill_n(scores, keys, C(0));
      return 0;
    }
    for (std::int64_t i = 0; i < keys; ++i) scores[i] = exp(scores[i] - top);
    const C sum = ordered_sum(scores, keys);
    for (std::int64_t i = 0; i < keys; ++i) scores[i] /= sum;
    return log(sum) + top;
  }

  void store_sum(const Head& head, std::int64_t row, C sum) const {
    std::byte* out = sums->data() + head.sum + row * sums->strides.back() * sums->item_bytes();
    store_element<C>(sums->dtype, sum, out);
  }
};

Launch bind_inputs(const Binding& call, const Inputs& in, bool gives_sums) {
  const Tensor& result = call.result();
  std::optional<Tensor> mask;
  if (in.mask) mask = broadcast_to(*in.mask, score_sizes(in, result.sizes));
  const double depth = static_cast<double>(in.query.size(-1));
  const double scale = call.optional_real("scale").value_or(1 / std::sqrt(depth));
  const double keeps = 1 - std::max(call.real("dropout_p"), 0.0);
  Launch launch = with_real(in.query.dtype, [&]<class C>() -> Launch {
    Attention<C> out{.heads = heads_of(in, result, mask ? &*mask : nullptr,
                                       gives_sums ? &call.result(1) : nullptr),
                     .query = Side(in.query),
                     .key = Side(in.key),
                     .value = Side(in.value),
                     .to = Side(result),
                     .result = result,
                     .mask = {},
                     .sums = {},
                     .rows = in.query.size(-2),
                     .keys = in.key.size(-2),
                     .depth = in.query.size(-1),
                     .columns = in.value.size(-1),
                     .is_causal = call.boolean("is_causal"),
                     .scale = static_cast<C>(scale),
                     .keeps = keeps,
                     .source = draw_source()};
    if (mask) out.mask.emplace(*mask);
    if (gives_sums) out.sums = call.result(1);
    return out;
  });
  if (call.listener() == nullptr || keeps < 1) return launch;
  auto works = attention_works(
      *call.listener(), {result, in.query, in.key, in.value, mask ? &*mask : nullptr,
                         gives_sums ? &call.result(1) : nullptr, call.boolean("is_causal"), scale});
  if (!works) return launch;
  return described(std::move(launch), std::move(*works));
}

Launch bind_attention(const Binding& call) {
  return bind_inputs(call, inputs_of(call, call.boolean("enable_gqa")), false);
}

Launch bind_fused_attention(const Binding& call) {
  return bind_inputs(call, inputs_of(call, true), true);
}

}  // namespace

std::span<const Kernel> attention_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten.scaled_dot_product_attention", infer_attention, bind_attention}.rows(
          row_rules::attention),
      {"aten._scaled_dot_product_flash_attention_for_cpu", infer_fused_attention,
       bind_fused_attention},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
