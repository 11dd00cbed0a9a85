#include "optimized/device/attention_work.h"

#include <cstring>
#include <limits>

#include "optimized/device/fast_text.h"
#include "optimized/device/pointwise_text.h"
#include "optimized/device/product_text.h"
#include "optimized/device/row_text.h"
#include "optimized/device/spelling.h"

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
  return unsqueezed(std::move(tensor), before_rows);
}

// With leading dimensions of size 1 up to a rank.
Tensor with_rank(Tensor tensor, std::int64_t rank) {
  while (tensor.rank() < rank) tensor = unsqueezed(std::move(tensor), 0);
  return tensor;
}

}  // namespace

std::optional<DeviceWorks> attention_works(const AttentionWork& given) {
  if (DeviceListener::is_fast()) {
    if (auto fast = one_row_attention_works(given)) return fast;
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
  const std::int64_t rows = work.query.size(-2);
  const std::int64_t keys = work.key.size(-2);
  Tensor scores;
  scores.dtype = work.query.dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  scores.sizes = work.result.sizes;
  scores.sizes.back() = keys;
  scores.strides = row_major_strides(scores.sizes);
  const std::int64_t count = scores.count();
  if (count == 0) return {};
  scores.bytes = DeviceListener::reserve(count * scores.item_bytes());
  if (scores.bytes == nullptr) return {};

  DeviceWorks out;
  Product product;
  product.result = scores;
  product.a = work.query;
  product.b = swapped(work.key, -2, -1);
  product.rounds_to = scores.dtype;
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
    TextWork causal;
    causal.threads = count;
    causal.pointers = {scores.bytes};
    causal.accesses = {{scores, true}};
    causal.shares_launches = true;
    causal.statements =
        "  if (thread >= " + std::to_string(count) +
        ") return;\n  const std::int64_t column = thread % " + std::to_string(keys) +
        ";\n  const std::int64_t row = thread / " + std::to_string(keys) + " % " +
        std::to_string(rows) + ";\n  if (column > row) device::store<" + format_name(c) +
        ">(p0 + thread * " + std::to_string(scores.item_bytes()) + ", " +
        number_text(c, bits_of(-std::numeric_limits<double>::infinity(), c)) + ");\n";
    out.emplace_back(std::move(causal));
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

}  // namespace graphgate::optimized
