// Distinct elements, or distinct slices along a dimension: of all, in order, or of neighbours
// alone. Beside them which of them each element is, and how often it occurs.
//
// NaN equals nothing, and sorts above every number.
#include <algorithm>
#include <array>
#include <numeric>

#include "reference/movement.h"
#include "reference/ops/index_access.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// Items (elements or slices) in groups of equal ones.
struct Groups {
  std::vector<std::int64_t> first;  // the first item of each group
  std::vector<Whole> of_item;       // the group of each item
  std::vector<Whole> counts;

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(first.size()); }
};

// Goes over the items in `order`; a new group begins where an item differs from the one before.
template <class Differ>
Groups grouped(const std::vector<std::int64_t>& order, Differ differ) {
  Groups out;
  out.of_item.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || differ(order[i - 1], order[i])) {
      out.first.push_back(order[i]);
      out.counts.emplace_back(0);
    }
    out.of_item[static_cast<std::size_t>(order[i])] = out.count() - 1;
    out.counts.back() = out.counts.back() + Whole(1);
  }
  return out;
}

std::vector<std::int64_t> items(std::int64_t count) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

bool decided(const Whole& truth) {
  if (truth.undecided) throw Undecidable("which elements are equal depends on rounding");
  return truth.value != 0;
}

// Whether a stands before b, NaN behind all numbers.
template <class N>
bool is_before(const N& a, const N& b) {
  const bool nan_a = decided(is_nan(a));
  const bool nan_b = decided(is_nan(b));
  if (nan_a || nan_b) return !nan_a && nan_b;
  return decided(less(a, b));
}

Array<Whole> array_of(const std::vector<Whole>& numbers, Sizes sizes) {
  Array<Whole> out(std::move(sizes));
  out.data = numbers;
  return out;
}

void emit_numbers(Call& call, const std::vector<Whole>& numbers, const Sizes& sizes, bool wanted) {
  call.emit(wanted ? array_of(numbers, sizes) : Array<Whole>({0}), DType::kInt64);
}

// ---- of elements

void emit_elements(Call& call, const Groups& groups, bool inverse, bool counts) {
  const Tensor& self = *call.tensor("self");
  std::vector<Picked> picked;
  picked.reserve(groups.first.size());
  for (const std::int64_t position : groups.first) picked.push_back({position, false});
  emit_made(call, pick(self, {groups.count()}, picked));
  emit_numbers(call, groups.of_item, self.sizes, inverse);
  emit_numbers(call, groups.counts, {groups.count()}, counts);
}

void distinct_elements(Call& call, bool sorts, bool inverse, bool counts) {
  const Tensor& self = *call.tensor("self");
  with_number(call.mode(), self.dtype, [&]<class N>() {
    const Array<N> elements = load<N>(self, self.dtype);
    std::vector<std::int64_t> order = items(elements.count());
    if (sorts) {
      std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return is_before(elements[a], elements[b]);
      });
    }
    Groups groups = grouped(order, [&](std::int64_t a, std::int64_t b) {
      return !decided(equal(elements[a], elements[b]));
    });
    // The order of NaNs is the sort's own affair.
    std::int64_t nans = 0;
    for (const N& x : elements.data) nans += is_nan(x).value;
    for (std::int64_t i = 0; sorts && nans > 1 && i < elements.count(); ++i) {
      if (is_nan(elements[i]).value != 0)
        groups.of_item[static_cast<std::size_t>(i)].undecided = true;
    }
    emit_elements(call, groups, inverse, counts);
  });
}

// ---- of slices

// Rows are the slices along a dimension, each in row-major order of the other dimensions.
template <class N>
struct SliceRows {
  std::vector<std::vector<N>> rows;
  std::vector<std::vector<std::int64_t>> positions;

  SliceRows(const Array<N>& elements, std::int64_t dim) {
    const auto d = static_cast<std::size_t>(dim);
    rows.resize(static_cast<std::size_t>(elements.sizes[d]));
    positions.resize(rows.size());
    std::int64_t position = 0;
    for_each_index(elements.sizes, [&](const Sizes& index) {
      const auto row = static_cast<std::size_t>(index[d]);
      rows[row].push_back(elements[position]);
      positions[row].push_back(position++);
    });
  }
  [[nodiscard]] bool precedes(std::int64_t a, std::int64_t b) const {
    const std::vector<N>& left = rows[static_cast<std::size_t>(a)];
    const std::vector<N>& right = rows[static_cast<std::size_t>(b)];
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (decided(less(left[i], right[i]))) return true;
      if (decided(less(right[i], left[i]))) return false;
    }
    return false;
  }
  [[nodiscard]] bool differ(std::int64_t a, std::int64_t b) const {
    const std::vector<N>& left = rows[static_cast<std::size_t>(a)];
    const std::vector<N>& right = rows[static_cast<std::size_t>(b)];
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (!decided(equal(left[i], right[i]))) return true;
    }
    return false;
  }
};

// The result is made row by row, then the dimension of the rows is moved to where it was. Inverse
// and counts are always given.
void distinct_slices(Call& call, std::int64_t given_dim, bool sorts) {
  const Tensor& self = *call.tensor("self");
  if (self.rank() == 0) throw OpError("unique along a dimension of a tensor that has none");
  const std::int64_t dim = wrap_dim(given_dim, self.rank());
  const auto d = static_cast<std::size_t>(dim);
  const auto empty = std::count(self.sizes.begin(), self.sizes.end(), 0);
  if (self.sizes[d] == 0 && empty == 1) {
    emit_made(call, new_tensor(self.dtype, self.sizes, self.device));
    emit_numbers(call, {}, {0}, true);
    return emit_numbers(call, {}, {0}, true);
  }
  if (empty != 0) {
    throw OpError(
        "there are 0 sized dimensions, and they aren't selected, so unique cannot be "
        "applied");
  }
  with_number(call.mode(), self.dtype, [&]<class N>() {
    const SliceRows<N> slices(load<N>(self, self.dtype), dim);
    std::vector<std::int64_t> order = items(self.sizes[d]);
    if (sorts) {
      std::stable_sort(order.begin(), order.end(),
                       [&](std::int64_t a, std::int64_t b) { return slices.precedes(a, b); });
    }
    const Groups groups =
        grouped(order, [&](std::int64_t a, std::int64_t b) { return slices.differ(a, b); });
    std::vector<Picked> picked;
    for (const std::int64_t row : groups.first) {
      for (const std::int64_t position : slices.positions[static_cast<std::size_t>(row)]) {
        picked.push_back({position, false});
      }
    }
    Sizes rows_first = self.sizes;
    rows_first.erase(rows_first.begin() + dim);
    rows_first.insert(rows_first.begin(), groups.count());
    const TensorRef rows = pick(self, rows_first, picked);
    Sizes sizes = rows->sizes;
    Sizes strides = rows->strides;
    std::rotate(sizes.begin(), sizes.begin() + 1, sizes.begin() + dim + 1);
    std::rotate(strides.begin(), strides.begin() + 1, strides.begin() + dim + 1);
    emit_made(call, view_of(*rows, sizes, strides, 0));
    emit_numbers(call, groups.of_item, {self.sizes[d]}, true);
    emit_numbers(call, groups.counts, {groups.count()}, true);
  });
}

void unique2(Call& call) {
  distinct_elements(call, true, call.boolean("return_inverse"), call.boolean("return_counts"));
}
// Slices of a tensor with one dimension are its elements, to PyTorch's kernel, too.
void unique_consecutive(Call& call) {
  const auto dim = call.optional_integer("dim");
  const bool is_row = call.tensor("self")->rank() == 1 && dim && *dim == 0;
  if (dim && !is_row) return distinct_slices(call, *dim, false);
  distinct_elements(call, false, call.boolean("return_inverse"), call.boolean("return_counts"));
}
void unique_dim(Call& call) { distinct_slices(call, call.integer("dim"), true); }
void unique_dim_consecutive(Call& call) { distinct_slices(call, call.integer("dim"), false); }

constexpr std::array kUniqueOps = {
    OpBody{"aten._unique2", unique2}.moves("self"),
    OpBody{"aten.unique_consecutive", unique_consecutive}.moves("self"),
    OpBody{"aten.unique_dim", unique_dim}.moves("self"),
    OpBody{"aten.unique_dim_consecutive", unique_dim_consecutive}.moves("self"),
};

}  // namespace

std::span<const OpBody> unique_ops() { return kUniqueOps; }

}  // namespace graphgate::reference
