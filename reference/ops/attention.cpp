// Scaled dot-product attention.
//
// Everything is float32 (float64 for float64) inside, and rounds once at the end. Two of PyTorch's
// paths are declared at once: the fused kernel, which casts the weights to a 16-bit dtype before
// their product with the values, and the composite, which multiplies query and key by the rounded
// square root of the scale. The radius covers both.
#include <array>

#include "reference/number/left_open.h"
#include "reference/ops/product.h"
#include "reference/ops/random_draws.h"
#include "reference/ops/softmax_row.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

struct Shape {
  Sizes batches;  // leading dimensions of the result
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t width;          // of a query and a key
  std::int64_t value_width;    // of a value and the result
  std::int64_t key_group = 1;  // heads that share one key head (grouped-query attention)
  std::int64_t value_group = 1;

  [[nodiscard]] Sizes result() const { return with({queries, value_width}); }
  [[nodiscard]] Sizes scores() const { return with({queries, keys}); }
  [[nodiscard]] Sizes with(std::initializer_list<std::int64_t> last) const {
    Sizes sizes = batches;
    sizes.insert(sizes.end(), last);
    return sizes;
  }
};

Sizes leading(const Tensor& tensor) { return {tensor.sizes.begin(), tensor.sizes.end() - 2}; }
std::int64_t rows_of(const Tensor& tensor) { return tensor.sizes[tensor.sizes.size() - 2]; }

// How many query heads read one head of `other`; its leading sizes are changed to match.
std::int64_t group_heads(const Tensor& query, Sizes& other) {
  if (query.rank() < 3 || other.empty()) throw OpError("grouped-query attention wants heads");
  const std::int64_t heads = query.sizes[query.sizes.size() - 3];
  if (other.back() == 0 || heads % other.back() != 0) {
    throw OpError("attention: " + std::to_string(heads) + " query heads do not divide into " +
                  std::to_string(other.back()));
  }
  const std::int64_t group = heads / other.back();
  other.back() = heads;
  return group;
}

Shape shape_of(const Tensor& query, const Tensor& key, const Tensor& value, bool is_grouped) {
  if (query.rank() < 2 || key.rank() < 2 || value.rank() < 2) {
    throw OpError("attention: query, key and value need two dimensions or more");
  }
  require_one_dtype({&query, &key, &value});
  if (!spec::is_floating_point(query.dtype)) throw OpError("attention wants a floating dtype");
  Shape shape{{}, rows_of(query), rows_of(key), query.sizes.back(), value.sizes.back()};
  if (key.sizes.back() != shape.width || rows_of(value) != shape.keys) {
    throw OpError("attention: the sizes of query, key and value do not fit");
  }
  Sizes key_batches = leading(key);
  Sizes value_batches = leading(value);
  if (is_grouped) {
    shape.key_group = group_heads(query, key_batches);
    shape.value_group = group_heads(query, value_batches);
  }
  shape.batches = broadcast_sizes({leading(query), key_batches, value_batches});
  return shape;
}

struct Options {
  double scale = 1;
  bool is_causal = false;
  TensorRef mask;
  double drops = 0;  // the chance of a weight to be dropped; kept ones grow by 1 / (1 - drops)
};

// At 0 and below PyTorch drops nothing.
bool drops_weights(const Call& call) { return call.real("dropout_p") > 0; }

Options options_of(const Call& call, const Shape& shape) {
  Options options;
  if (drops_weights(call)) options.drops = call.real("dropout_p");
  if (options.drops > 1) throw OpError("dropout probability has to be between 0 and 1");
  const double width = static_cast<double>(shape.width);
  options.scale = call.optional_real("scale").value_or(1 / std::sqrt(width));
  options.is_causal = call.boolean("is_causal");
  options.mask = call.optional_tensor("attn_mask");
  return options;
}

// What is added to the scores, stretched to them: 0 or -infinity for a mask of bool.
template <class N>
Array<N> load_mask(const Tensor& mask, const Sizes& sizes) {
  const bool is_bool = mask.dtype == spec::DType::kBool;
  if (!is_bool && !spec::is_floating_point(mask.dtype)) {
    throw OpError("attention: the mask should be bool or floating");
  }
  Array<N> loaded = load<N>(mask, is_bool ? spec::DType::kFloat32 : mask.dtype);
  if (is_bool) {
    const N hidden(-std::numeric_limits<double>::infinity());
    for (N& x : loaded.data) x = select(is_zero(x), hidden, N(0.0));
  }
  if (broadcast_sizes({loaded.sizes, sizes}) != sizes) {
    throw OpError("attention: the mask does not stretch to the scores");
  }
  return broadcast_to(loaded, sizes);
}

// x * root, where the root is rounded as well as the product.
template <class N>
Array<N> scaled_operand(Array<N> array, double root, spec::DType compute) {
  for (N& x : array.data) x = round_edge(x * N(root), compute);
  return array;
}

// One operand as a batch of matrices.
template <class N>
struct Matrices {
  Array<N> array;
  Sizes steps;             // per batch dimension of the result
  std::int64_t group = 1;  // result heads per head

  // The matrix for one index of the batch dimensions.
  [[nodiscard]] const N* at(Sizes batch) const {
    if (group > 1) batch.back() /= group;
    return array.data.data() + offset_at(batch, steps);
  }
};

template <class N>
Matrices<N> matrices(Array<N> array, const Shape& shape, std::int64_t group) {
  const std::int64_t count = array.size(array.rank() - 1) * array.size(array.rank() - 2);
  const Sizes own = {array.sizes.begin(), array.sizes.end() - 2};
  return {std::move(array), batch_steps(own, shape.batches.size(), count), group};
}

// Whether products of that many elements sum to more than `most` in magnitude.
inline bool sum_may_pass(const double*, const double*, std::int64_t /*count*/, double /*most*/) {
  return false;
}
template <class P>
bool sum_may_pass(const Tracked<P>* a, const Tracked<P>* b, std::int64_t count, double most) {
  const auto reach = [](const Tracked<P>& x) {
    return std::fabs(x.value) + static_cast<long double>(x.radius);
  };
  long double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += reach(a[i]) * reach(b[i]);
  return sum > most;
}

// The operands of one call, ready for plain loops.
template <class N>
struct Attention {
  Shape shape;
  Options options;
  spec::DType dtype;
  Matrices<N> query;   // [queries, width], scaled
  Matrices<N> key;     // [keys, width], scaled
  Matrices<N> values;  // [value_width, keys]
  std::optional<Array<N>> mask;
  // Where the sum of products of this size or more may pass what the arithmetic holds before it is
  // scaled, and nothing does that is scaled first. Executors do either.
  double most_unscaled = 0;

  // The scores of query `position` with all keys. A kernel that masks a score that is not finite
  // may have added -infinity to it, or never have computed it: `hides_some` says that there is such
  // a one.
  [[nodiscard]] std::vector<N> scores(const N* row, const N* keys, const N* added,
                                      std::int64_t position, bool& hides_some) const {
    std::vector<N> out;
    hides_some = false;
    for (std::int64_t j = 0; j < shape.keys; ++j) {
      const N hidden(-std::numeric_limits<double>::infinity());
      N score = dot_from(Sum<N>(), row, keys + j * shape.width, shape.width);
      if (sum_may_pass(row, keys + j * shape.width, shape.width, most_unscaled)) {
        score = left_open(score);
      }
      const bool is_wild = !is_finite(score) || is_nan(score).undecided;
      const bool is_late = options.is_causal && j > position;
      const bool is_masked = added && equal(added[j], hidden).value != 0;
      if (added) score = score + added[j];
      hides_some = hides_some || (is_wild && (is_late || is_masked));
      out.push_back(is_late ? hidden : score);
    }
    return out;
  }
};

template <class N>
Attention<N> load_attention(const Call& call) {
  const Tensor& query = *call.tensor("query");
  const Tensor& key = *call.tensor("key");
  const Tensor& value = *call.tensor("value");
  const bool is_grouped = call.has("enable_gqa") && call.boolean("enable_gqa");
  const Shape shape = shape_of(query, key, value, is_grouped);
  const Options options = options_of(call, shape);
  const spec::DType dtype = query.dtype;
  const spec::DType compute = compute_dtype(dtype);
  const double root = std::sqrt(std::fabs(options.scale));
  const double query_root = options.scale < 0 ? -root : root;
  std::optional<Array<N>> mask;
  if (options.mask) mask = load_mask<N>(*options.mask, shape.scores());
  return {shape,
          options,
          dtype,
          matrices(scaled_operand(load<N>(query, dtype), query_root, compute), shape, 1),
          matrices(scaled_operand(load<N>(key, dtype), root, compute), shape, shape.key_group),
          matrices(load<N>(*transposed(value), dtype), shape, shape.value_group),
          std::move(mask),
          max_finite(compute) * std::min(1.0, std::fabs(options.scale))};
}

template <class N>
struct Attended {
  Array<N> output;
  Array<N> log_sums;  // log(sum(exp(scores))) per query; 0 where every key is masked
};

// Weights with some of them dropped, as an oracle knows them.
template <class N>
void drop_weights(std::vector<N>& weights, const Attention<N>& of, Draws& draws, bool is_known) {
  const double keeps = 1 - of.options.drops;
  if (keeps == 0) {
    for (N& weight : weights) weight = weight * N(0.0);
    return;
  }
  const N scale = scale_of<N>(keeps, of.dtype, false);
  for (N& weight : weights) {
    weight = tossed(weight * scale, N(0.0), draws.uniform() < keeps, is_known);
  }
}

template <class N>
Attended<N> attend(const Call& call, const Attention<N>& of) {
  const Shape& shape = of.shape;
  const bool casts_weights = compute_dtype(of.dtype) != of.dtype;
  Attended<N> out{Array<N>(shape.result()), Array<N>(shape.with({shape.queries}))};
  Draws draws(call);
  std::int64_t at = 0;  // counts queries over all batches
  const auto attend_query = [&](const Sizes& batch, std::int64_t i) {
    const N* added = of.mask ? of.mask->data.data() + at * shape.keys : nullptr;
    const N* row = of.query.at(batch) + i * shape.width;
    bool hides_score = false;
    const SoftmaxRow<N> softmax =
        softmax_row(of.scores(row, of.key.at(batch), added, i, hides_score));
    std::vector<N> weights = normalized(softmax);
    for (N& weight : weights) {
      if (casts_weights) weight = round_scaled_edge(weight, of.dtype);
    }
    if (of.options.drops > 0) drop_weights(weights, of, draws, call.knows_draws());
    const N* values = of.values.at(batch);
    for (std::int64_t d = 0; d < shape.value_width; ++d) {
      const N* column = values + d * shape.keys;
      const N sum = dot_from(Sum<N>(), weights.data(), column, shape.keys);
      bool hides = hides_score;
      for (std::int64_t j = 0; j < shape.keys; ++j) {
        hides = hides || is_hidden(column[j], weights[static_cast<std::size_t>(j)]);
      }
      out.output[at * shape.value_width + d] = hides ? left_open(sum) : sum;
    }
    if (!softmax.is_masked) {
      const N log_sum = log(softmax.sum) + softmax.shift;
      out.log_sums[at] = hides_score ? left_open(log_sum) : log_sum;
    }
    ++at;
  };
  for_each_index(shape.batches, [&](const Sizes& batch) {
    for (std::int64_t i = 0; i < shape.queries; ++i) attend_query(batch, i);
  });
  return out;
}

bool fits_fused_mask(const Tensor& mask, const Sizes& scores) {
  if (mask.rank() != 2 && mask.rank() != 4) return false;
  return broadcast_sizes({mask.sizes, scores}) == scores;
}

// Whether PyTorch takes its fused kernel, whose result has the strides of the query.
bool is_fused(const Tensor& query, const Tensor& key, const Tensor& value, const TensorRef& mask) {
  for (const Tensor* tensor : {&query, &key, &value}) {
    const bool fits = tensor->rank() == 4 && tensor->sizes[0] == query.sizes[0] &&
                      tensor->sizes[2] != 0 && tensor->sizes[3] == query.sizes[3] &&
                      (tensor->strides[3] == 1 || tensor->sizes[3] == 1);
    if (!fits) return false;
  }
  const Sizes scores = {query.sizes[0], query.sizes[1], query.sizes[2], key.sizes[2]};
  return !mask || fits_fused_mask(*mask, scores);
}

// What PyTorch 2.11's kernels on an H200 return for fitting operands (eager mode, asked of head
// sizes 3 to 64, with and without a mask or causality): the one for float32 has the heads of a
// place side by side where their size is a multiple of 4, those for 16 bits pad a head to a
// multiple of 8 where no mask and no causality between unlike lengths keeps them out; all else is
// contiguous.
Sizes strides_by_cuda(const Call& call, const Sizes& sizes) {
  const Tensor& query = *call.tensor("query");
  const std::int64_t head = sizes[3];
  const TensorRef mask = call.optional_tensor("attn_mask");
  const bool is_gathered = mask && mask->sizes.back() != 1 && mask->strides.back() != 1;
  if (query.dtype == spec::DType::kFloat32 && head % 4 == 0 && !is_gathered) {
    return strides_in_order(sizes, {0, 2, 1, 3});
  }
  const bool unlike = query.sizes[2] != call.tensor("key")->sizes[2];
  const bool is_kept_out = mask || (call.boolean("is_causal") && unlike);
  const bool is_narrow = compute_dtype(query.dtype) != query.dtype;
  if (!is_narrow || is_kept_out) return spec::contiguous_strides(sizes);
  return spec::contiguous_strides({sizes[0], sizes[1], sizes[2], (head + 7) / 8 * 8});
}

Sizes result_strides(const Call& call, const Sizes& sizes) {
  const Tensor& query = *call.tensor("query");
  const bool fused =
      !drops_weights(call) && is_fused(query, *call.tensor("key"), *call.tensor("value"),
                                       call.optional_tensor("attn_mask"));
  if (fused && declared_arithmetic().has_cuda_kernels) return strides_by_cuda(call, sizes);
  return fused ? strides_like(query, spec::MemoryFormat::kPreserve)
               : spec::contiguous_strides(sizes);
}

void scaled_dot_product_attention(Call& call) {
  const spec::DType dtype = call.tensor("query")->dtype;
  with_real(call.mode(), [&]<class N>() {
    const Array<N> out = attend(call, load_attention<N>(call)).output;
    call.emit(out, dtype, result_strides(call, out.sizes));
  });
}

// The fused kernel by its own name: also gives the logarithms of the sums, which it stores with
// heads fastest.
void flash_attention_for_cpu(Call& call) {
  const spec::DType dtype = call.tensor("query")->dtype;
  if (call.tensor("query")->rank() != 4) throw OpError("the fused attention wants rank 4");
  if (drops_weights(call)) throw OpError("the fused attention drops nothing");
  with_real(call.mode(), [&]<class N>() {
    const Attended<N> out = attend(call, load_attention<N>(call));
    call.emit(out.output, dtype, result_strides(call, out.output.sizes));
    call.emit(out.log_sums, compute_dtype(dtype), strides_in_order(out.log_sums.sizes, {0, 2, 1}));
  });
}

constexpr std::array kAttentionOps = {
    OpBody{"aten._scaled_dot_product_flash_attention_for_cpu", flash_attention_for_cpu},
    OpBody{"aten.scaled_dot_product_attention", scaled_dot_product_attention},
};

}  // namespace

std::span<const OpBody> attention_ops() { return kAttentionOps; }

}  // namespace graphgate::reference
