// Strides: row-major ones, and those that pointwise results take from their operands.
#include <algorithm>
#include <functional>

#include "fuzz/generate/draft.h"

namespace graphgate::fuzz {

Shape Draft::row_major(const Shape& sizes) {
  Shape strides;
  strides.rank = sizes.rank;
  Size stride = 1;
  for (int d = sizes.rank; d-- > 0;) {
    strides[d] = stride;
    if (d > 0 && sizes[d] != 0) stride = table_.product(sizes[d], stride);
  }
  return strides;
}

bool Draft::is_row_major(const DrawnTensor& tensor) {
  if (!tensor.has_layout) return false;
  Size stride = 1;
  for (int d = tensor.sizes.rank; d-- > 0;) {
    if (tensor.sizes[d] == 1) continue;
    if (tensor.strides[d] != stride) return false;
    if (tensor.sizes[d] != 0) stride = table_.product(tensor.sizes[d], stride);
  }
  return true;
}

bool Draft::is_contiguous(const DrawnTensor& tensor) {
  return is_row_major(tensor) || (tensor.has_layout && tensor.sizes.has(0));
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  if (from.rank > to.rank) return false;
  for (int d = 0; d < from.rank; ++d) {
    const Size size = from[from.rank - 1 - d];
    if (size != 1 && size != to[to.rank - 1 - d]) return false;
  }
  return true;
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  Shape out = a.rank >= b.rank ? a : b;
  const Shape& less = a.rank >= b.rank ? b : a;
  for (int d = 0; d < less.rank; ++d) {
    Size& size = out[out.rank - 1 - d];
    const Size other = less[less.rank - 1 - d];
    if (size == other || other == 1) continue;
    if (size != 1) return std::nullopt;
    size = other;
  }
  return out;
}

namespace {

// Whether a tensor that has elements fills its bytes without gap or overlap, in whatever order of
// dimensions.
bool is_dense(Draft& draft, const DrawnTensor& tensor) {
  std::array<int, kMostRank> order{};
  int count = 0;
  for (int d = 0; d < tensor.sizes.rank; ++d) {
    if (tensor.sizes[d] != 1) order[static_cast<std::size_t>(count++)] = d;
  }
  const SizeTable& table = draft.table();
  std::stable_sort(order.begin(), order.begin() + count, [&](int a, int b) {
    return table.sample(tensor.strides[a]) < table.sample(tensor.strides[b]);
  });
  Size stride = 1;
  for (int i = 0; i < count; ++i) {
    const int d = order[static_cast<std::size_t>(i)];
    if (tensor.strides[d] != stride) return false;
    stride = draft.table().product(stride, tensor.sizes[d]);
  }
  return true;
}

// The strides of an operand over the dimensions of the result: 0 where it is broadcast.
struct Spread {
  std::array<std::int64_t, kMostRank> strides{};
};

Spread spread_over(const SizeTable& table, const DrawnTensor& tensor, const Shape& sizes) {
  Spread out;
  const int skipped = sizes.rank - tensor.sizes.rank;
  for (int d = 0; d < tensor.sizes.rank; ++d) {
    const bool is_broadcast = tensor.sizes[d] == 1 && sizes[d + skipped] != 1;
    const std::size_t at = static_cast<std::size_t>(d) + static_cast<std::size_t>(skipped);
    out.strides[at] = is_broadcast ? 0 : table.sample(tensor.strides[d]);
  }
  return out;
}

// TensorIterator's reorder_dimensions: 1 if a must come after b, -1 if before, 0 if nothing tells.
int compare(const std::vector<Spread>& operands, const std::array<std::int64_t, kMostRank>& sizes,
            std::size_t a, std::size_t b) {
  for (const Spread& operand : operands) {
    const std::int64_t x = operand.strides[a];
    const std::int64_t y = operand.strides[b];
    if (x == 0 || y == 0) continue;
    if (x != y) return x < y ? -1 : 1;
    if (sizes[a] > sizes[b]) return 1;
  }
  return 0;
}

}  // namespace

Layout pointwise_layout(Draft& draft, std::span<const TensorIndex> operands, const Shape& sizes,
                        int scalars) {
  bool same_shape = scalars == 0 || sizes.rank == 0;
  bool all_row_major = true;
  for (const TensorIndex index : operands) {
    const DrawnTensor tensor = draft.tensor(index);
    if (!tensor.has_layout) return {};
    same_shape = same_shape && tensor.sizes == sizes;
    all_row_major = all_row_major && draft.is_row_major(tensor);
  }
  const DrawnTensor first = draft.tensor(operands.front());
  const bool keeps_order = all_row_major && first.sizes == sizes && !sizes.has(1);
  const bool all_contiguous = same_shape && (all_row_major || sizes.has(0));
  if (keeps_order || all_contiguous) return {true, draft.row_major(sizes)};
  if (same_shape && is_dense(draft, first)) {
    bool same_strides = true;
    for (const TensorIndex index : operands) {
      same_strides = same_strides && draft.tensor(index).strides == first.strides;
    }
    if (same_strides) return {true, first.strides};
  }
  const auto rank = static_cast<std::size_t>(sizes.rank);
  std::vector<Spread> spreads;
  for (const TensorIndex index : operands) {
    spreads.push_back(spread_over(draft.table(), draft.tensor(index), sizes));
  }
  std::array<std::int64_t, kMostRank> extents{};
  std::array<std::size_t, kMostRank> order{};  // the fastest dimension first
  for (std::size_t d = 0; d < rank; ++d) {
    extents[d] = draft.table().sample(sizes[static_cast<int>(d)]);
    order[d] = rank - 1 - d;
  }
  for (std::size_t i = 1; i < rank; ++i) {
    std::size_t moving = i;
    for (std::size_t before = i; before-- > 0;) {
      const int comparison = compare(spreads, extents, order[before], order[moving]);
      if (comparison > 0) {
        std::swap(order[before], order[moving]);
        moving = before;
      } else if (comparison < 0) {
        break;
      }
    }
  }
  if (std::is_sorted(order.begin(), order.begin() + rank, std::greater<>())) {
    return {true, draft.row_major(sizes)};
  }
  Layout layout{true, sizes};
  Size stride = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    const int d = static_cast<int>(order[i]);
    layout.strides[d] = stride;
    stride = draft.table().product(sizes[d], stride);  // 0 behind a dimension of size 0
  }
  return layout;
}

Layout preserved_layout(Draft& draft, TensorIndex self) {
  const DrawnTensor from = draft.tensor(self);
  if (from.overlaps) return {};
  if (from.has_layout && from.sizes.has(0)) return {true, from.strides};
  const TensorIndex operands[] = {self};
  return pointwise_layout(draft, operands, from.sizes, 0);
}

}  // namespace graphgate::fuzz
