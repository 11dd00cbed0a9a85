#include "optimized/codegen/attention_work.h"

#include <cstring>
#include <limits>

#include "optimized/codegen/copy_work.h"
#include "optimized/codegen/fast_text.h"
#include "optimized/codegen/pointwise_text.h"
#include "optimized/codegen/product_text.h"
#include "optimized/codegen/row_text.h"
#include "optimized/codegen/spelling.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

std::uint64_t bits_of(double number, DType compute) {
  std::uint64_t bits = 0;
  if (compute == DType::kFloat64) {
    std::memcpy(&bits, &number, sizeof number);
  } else {
    const auto narrow = static_cast<float>(number);
    std::memcpy(&bits, &narrow, sizeof narrow);
  }
  return bits;
}

// Dimension -3 as [groups, heads of a group]; a tensor whose heads are the groups has one head in
// each.
Tensor grouped(Tensor tensor, std::int64_t groups, std::int64_t each) {
  const auto d = static_cast<std::size_t>(tensor.rank() - 3);
  if (tensor.sizes[d] == groups * each && each != 1) {
    tensor.sizes[d] = each;
    tensor.sizes.insert(tensor.sizes.begin() + static_cast<std::ptrdiff_t>(d), groups);
    tensor.strides.insert(tensor.strides.begin() + static_cast<std::ptrdiff_t>(d),
                          tensor.strides[d] * each);
    return tensor;
  }
  const std::int64_t before_rows = tensor.rank() - 2;
  return with_unit_dim(std::move(tensor), before_rows);
}

// With leading dimensions of size 1 up to a rank.
Tensor with_rank(Tensor tensor, std::int64_t rank) {
  while (tensor.rank() < rank) tensor = with_unit_dim(std::move(tensor), 0);
  return tensor;
}

// Scores of keys behind their query become -infinity. They are dense.
TextWork causal_text(const Tensor& scores) {
  const std::string count = std::to_string(scores.count());
  const std::string keys = std::to_string(scores.size(-1));
  TextWork causal{.pointers = {scores.bytes},
                  .threads = scores.count(),
                  .accesses = {{scores, true}},
                  .shares_launches = true};
  causal.statements =
      "  if (thread >= " + count + ") return;\n  const std::int64_t column = thread % " + keys +
      ";\n  const std::int64_t row = thread / " + keys + " % " + std::to_string(scores.size(-2)) +
      ";\n  if (column > row) device::store<" + format_name(scores.dtype) + ">(p0 + thread * " +
      std::to_string(scores.item_bytes()) + ", " +
      number_text(scores.dtype, bits_of(-std::numeric_limits<double>::infinity(), scores.dtype)) +
      ");\n";
  return causal;
}

// A dense tensor in bytes of the device alone; without bytes where nobody reserves.
Tensor reserved(const DeviceListener& listener, DType dtype, Sizes sizes) {
  Tensor out{.dtype = dtype, .sizes = std::move(sizes)};
  out.strides = row_major_strides(out.sizes);
  out.bytes = listener.reserve(out.count() * out.item_bytes());
  return out;
}

}  // namespace

std::optional<DeviceWorks> attention_works(const DeviceListener& listener,
                                           const AttentionWork& given) {
  if (listener.is_fast() && given.sums == nullptr) {
    if (auto fast = one_row_attention_works(listener, given)) return fast;
  }
  AttentionWork work = given;
  std::optional<Tensor> mask;
  if (work.mask != nullptr) mask = *work.mask;
  const std::int64_t rank = work.result.rank();
  work.query = with_rank(work.query, rank);
  work.key = with_rank(work.key, rank);
  work.value = with_rank(work.value, rank);
  if (rank >= 3) {
    const std::int64_t heads = work.result.size(-3);
    const std::int64_t groups = work.key.size(-3);
    if (groups != heads && groups != 1) {
      if (work.value.size(-3) != groups || work.query.size(-3) != heads) return {};
      const std::int64_t each = heads / groups;
      for (Tensor* tensor : {&work.result, &work.query, &work.key, &work.value}) {
        *tensor = grouped(std::move(*tensor), groups, each);
      }
      if (mask) mask = grouped(std::move(*mask), groups, each);
    }
  }
  const std::int64_t keys = work.key.size(-2);
  Sizes score_sizes = work.result.sizes;
  score_sizes.back() = keys;
  if (checked_count(score_sizes) == 0) return {};
  const DType wide = work.query.dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  Tensor scores = reserved(listener, wide, std::move(score_sizes));
  if (scores.bytes == nullptr) return {};

  DeviceWorks out;
  Product product{
      .result = scores, .a = work.query, .b = swapped(work.key, -2, -1), .rounds_to = scores.dtype};
  out.emplace_back(product_text(product));

  const DType c = scores.dtype;
  const DeviceOperand score{scores, c, false, 0};
  PointwiseGroup masked(
      {scores, c, c, "element::Multiply{}", {score, {{}, c, true, bits_of(work.scale, c)}}});
  if (mask) {
    const DeviceOperand m{*mask, mask->dtype, false, 0};
    if (mask->dtype == DType::kBool) {
      const DeviceOperand none{{}, c, true, bits_of(-std::numeric_limits<double>::infinity(), c)};
      masked.add({scores, c, c, "element::Select{}", {m, score, none}});
    } else {
      masked.add({scores, c, c, "element::Add{}", {score, m}});
    }
  }
  const std::size_t last = masked.size() - 1;
  out.emplace_back(masked.text([last](std::size_t i) { return i == last; }));
  if (work.is_causal) {
    out.emplace_back(causal_text(scores));
  }
  if (work.sums != nullptr) {
    auto sums = reduce_text({*work.sums,
                             scores,
                             {scores.rank() - 1},
                             c,
                             work.sums->dtype,
                             c,
                             "device::LogOfScores<" + compute_name(c) + ">{}"});
    if (!sums) return {};
    out.emplace_back(std::move(*sums));
  }
  auto softmax = softmax_text(scores, scores, scores.rank() - 1, c, "safe_softmax");
  if (!softmax) return {};
  out.emplace_back(std::move(*softmax));

  product.result = work.result;
  product.a = std::move(scores);
  product.b = work.value;
  out.emplace_back(product_text(product));
  return out;
}

std::optional<DeviceWorks> rounded_attention_works(const DeviceListener& listener,
                                                   const Tensor& output, const Tensor& query,
                                                   const Tensor& key, const Tensor& value,
                                                   std::uint64_t divisor) {
  const DType dtype = query.dtype;
  if (spec::item_size_bytes(dtype) == 1) return {};
  const std::int64_t groups = key.size(1);
  const std::int64_t each = query.size(1) / groups;
  // [tokens, heads, depth] as [groups, heads of a group, tokens, depth].
  const auto by_head = [&](const Tensor& tensor) {
    return grouped(swapped(tensor, 0, 1), groups, each);
  };
  const std::int64_t tokens = query.size(0);
  if (query.count() == 0) return DeviceWorks{};
  const Tensor scores = reserved(listener, dtype, {groups, each, tokens, tokens});
  const Tensor attended = reserved(listener, output.dtype, output.sizes);
  if (scores.bytes == nullptr || attended.bytes == nullptr) return {};
  DeviceWorks out;
  Product product{.result = scores,
                  .a = by_head(query),
                  .b = swapped(by_head(key), -2, -1),
                  .rounds_to = dtype};
  out.emplace_back(product_text(product));
  out.emplace_back(PointwiseWork{scores,
                                 dtype,
                                 dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32,
                                 "element::Divide{}",
                                 {{scores, dtype, false, 0}, {{}, dtype, true, divisor}}});
  out.emplace_back(causal_text(scores));
  auto softmax = softmax_text(scores, scores, scores.rank() - 1, dtype, "softmax");
  if (!softmax) return {};
  out.emplace_back(std::move(*softmax));
  product.result = by_head(attended);
  product.a = scores;
  product.b = by_head(value);
  product.rounds_to = output.dtype;
  out.emplace_back(product_text(product));
  out.emplace_back(copy_work(output, attended));
  return out;
}

}  // namespace graphgate::optimized
