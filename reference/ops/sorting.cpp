// Sorted lines, and single order statistics (the mode among them). NaN sorts above every number.
//
// Equal elements: a stable sort and the median keep their order. An unstable sort and topk leave it
// open; here it is what PyTorch's CPU kernels give, the order of the standard library's algorithms
// over the same comparisons. kthvalue leaves it open, as does nanmedian of NaNs alone, and here
// their index is undecided then. Elements whose order their radii leave open are undecided
// everywhere, and with them equal ones where the order of those is only what an algorithm made of
// all comparisons. Of an executor with CUDA's kernels all that an algorithm leaves open is, and the
// index of the median, too.
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "reference/ops/open_order.h"
#include "reference/registry.h"
#include "reference/slices.h"

namespace graphgate::reference {
namespace {

using spec::DType;
using Order = std::vector<std::size_t>;  // positions in a line, from first to last

// Whether `a` must come before `b`.
template <class N>
bool precedes(const N& a, const N& b, bool descending) {
  const bool nan_a = is_nan(a).value != 0;
  const bool nan_b = is_nan(b).value != 0;
  if (descending) return (nan_a && !nan_b) || less(b, a).value != 0;
  return (!nan_a && nan_b) || less(a, b).value != 0;
}

template <class N>
auto by_value(std::span<const N> line, bool descending) {
  return [line, descending](std::size_t a, std::size_t b) {
    return precedes(line[a], line[b], descending);
  };
}

Order all_of_line(std::size_t length) {
  Order order(length);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

template <class N>
Order sorted_order(std::span<const N> line, bool descending, bool stable) {
  Order order = all_of_line(line.size());
  const auto before = by_value(line, descending);
  if (stable)
    std::stable_sort(order.begin(), order.end(), before);
  else
    std::sort(order.begin(), order.end(), before);
  return order;
}

// The first k, in order when `sorted`; then the others.
template <class N>
Order top_order(std::span<const N> line, std::size_t k, bool largest, bool sorted) {
  Order order = all_of_line(line.size());
  if (k == 0) return order;
  const auto before = by_value(line, largest);
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(k);
  if (k * 64 <= line.size()) {
    std::partial_sort(order.begin(), middle, order.end(), before);
    return order;
  }
  std::nth_element(order.begin(), middle - 1, order.end(), before);
  if (sorted) std::sort(order.begin(), middle - 1, before);
  return order;
}

// What a line of results holds.
template <class N>
struct Ranked {
  std::vector<N> values;
  std::vector<Whole> indices;
};

// The elements of `line` in `order`, which is that of their values, open where others may stand.
template <class N>
Ranked<N> ranked(std::span<const N> line, const Order& order, bool ties_open) {
  Ranked<N> out;
  out.values.reserve(order.size());
  out.indices.reserve(order.size());
  for (const std::size_t at : order) {
    out.values.push_back(line[at]);
    out.indices.emplace_back(static_cast<std::int64_t>(at));
  }
  const bool ties_count = ties_open && declared_arithmetic().opens_ties();
  if (!ties_count && !has_inexact(line)) return out;
  const std::vector<std::vector<std::size_t>> others = rivals(line, order, ties_open);
  for (std::size_t p = 0; p < order.size(); ++p) {
    for (const std::size_t q : others[p]) {
      out.values[p] = as_wide_as(out.values[p], line[order[q]]);
      out.indices[p].undecided = true;
    }
  }
  return out;
}

// The elements of `line` in `order`, in which a selection left them: where any comparison is open,
// so is everything.
template <class N>
Ranked<N> selected(std::span<const N> line, const Order& order) {
  bool open = declared_arithmetic().opens_ties() && line.size() > 1;
  for (std::size_t i = 0; has_inexact(line) && i < line.size() && !open; ++i) {
    for (std::size_t j = i + 1; j < line.size(); ++j) open = open || is_open(line[i], line[j]);
  }
  Ranked<N> out;
  for (const std::size_t at : order) {
    out.values.push_back(open ? left_open(line[at]) : line[at]);
    out.indices.emplace_back(static_cast<std::int64_t>(at), open);
  }
  return out;
}

// Emits values and indices: the first `count` of `rank(line)`.
template <class N, class F>
void emit_ranked(Call& call, std::int64_t count, const Sizes& strides, F rank) {
  const Tensor& self = *call.tensor("self");
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  const Sizes sizes = with_length(self.sizes, dim, count);
  // Two results go where the lines are read from, if they go anywhere near.
  const bool is_near = std::ranges::any_of(call.arguments(), [&](const Datum& argument) {
    const auto* tensor = argument.as<TensorRef>();
    return tensor && tensor->get() != &self && (*tensor)->storage == self.storage;
  });
  const TensorRef apart = is_near ? copy_of(self) : nullptr;
  const Tensor& source = apart ? *apart : self;
  const TensorRef values = call.place_result(sizes, self.dtype, strides);
  call.emit_datum({values});
  const TensorRef indices = call.place_result(sizes, DType::kInt64, strides);
  call.emit_datum({indices});
  LineReader<N> lines(source, dim, self.dtype);
  LineWriter<N> value_lines(*values, dim, self.dtype);
  LineWriter<Whole> index_lines(*indices, dim, DType::kInt64);
  for (std::int64_t i = 0; i < lines.count(); ++i) {
    Ranked<N> all = rank(lines.next());
    all.values.resize(static_cast<std::size_t>(count));
    all.indices.resize(static_cast<std::size_t>(count));
    value_lines.put_next(all.values);
    index_lines.put_next(all.indices);
  }
}

// Values and indices keep the strides of a dense input.
void sort(Call& call) {
  const Tensor& self = *call.tensor("self");
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  const bool descending = call.boolean("descending");
  const bool stable = call.has("stable") && call.boolean("stable");
  const Sizes strides = strides_like(self, spec::MemoryFormat::kPreserve);
  with_number(call.mode(), self.dtype, [&]<class N>() {
    emit_ranked<N>(call, line_length(self, dim), strides, [&](std::span<const N> line) {
      return ranked(line, sorted_order(line, descending, stable), !stable);
    });
  });
}

void topk(Call& call) {
  const Tensor& self = *call.tensor("self");
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  const std::int64_t k = call.integer("k");
  if (k < 0 || k > line_length(self, dim))
    throw OpError("topk: k is out of range for the dimension");
  if (self.dtype == DType::kBool) throw OpError("topk: bool is not supported");
  const bool largest = call.boolean("largest");
  const bool sorted = call.boolean("sorted");
  with_number(call.mode(), self.dtype, [&]<class N>() {
    emit_ranked<N>(call, k, {}, [&](std::span<const N> line) {
      Order order = top_order(line, static_cast<std::size_t>(k), largest, sorted);
      if (!sorted) return selected(line, order);
      std::stable_sort(order.begin() + k, order.end(), by_value(line, largest));
      return ranked(line, order, true);
    });
  });
}

// --- kthvalue, median, nanmedian ---

template <class N>
struct Chosen {
  N value;
  Whole index;
};

// The element at `rank` of the line in ascending order.
template <class N>
Chosen<N> order_statistic(std::span<const N> line, std::size_t rank) {
  const bool ties_open = declared_arithmetic().opens_ties();
  const Ranked<N> all = ranked(line, sorted_order(line, false, true), ties_open);
  return {all.values[rank], all.indices[rank]};
}

// Of NaNs alone: the one that the standard library's selection of the first element finds; nobody
// promises that.
template <class N>
Chosen<N> first_selected(std::span<const N> line) {
  Order order = all_of_line(line.size());
  std::nth_element(order.begin(), order.begin(), order.end(), by_value(line, false));
  return {line[order.front()], Whole{static_cast<std::int64_t>(order.front()), line.size() > 1}};
}

// The lower of the two middle elements; NaN (the first) if there is any, or of the others alone.
template <class N>
Chosen<N> middle(std::span<const N> line, bool skips_nan) {
  std::size_t numbers = 0;
  const N* nan = nullptr;
  bool hangs_on_nan = false;
  for (const N& x : line) {
    numbers += is_nan(x).value == 0 ? 1 : 0;
    if (is_certain_nan(x)) nan = &x;
    hangs_on_nan = hangs_on_nan || may_be_either(x);
  }
  if (hangs_on_nan) {
    return {nan && !skips_nan ? *nan : left_open(line.front()), Whole(0, true)};
  }
  if (numbers == 0 && skips_nan) return first_selected(line);
  const bool takes_nan = numbers == 0 || (numbers < line.size() && !skips_nan);
  const std::size_t rank = takes_nan ? numbers : (numbers - 1) / 2;
  return order_statistic(line, rank);
}

// Emits value and index of one element per slice; the value alone when the op takes no dimension.
template <class N, class F>
void emit_chosen(Call& call, F choose) {
  const Tensor& self = *call.tensor("self");
  const Reduction reduction(call, self);
  reduction.expect_elements(call.row().schema.base_name());
  const Array<N> input = load<N>(self, self.dtype);
  const Array<Chosen<N>> chosen = reduce(input, reduction, choose);
  Array<N> values(chosen.sizes);
  Array<Whole> indices(chosen.sizes);
  for (std::int64_t i = 0; i < chosen.count(); ++i) {
    values[i] = chosen[i].value;
    indices[i] = chosen[i].index;
  }
  call.emit(values, self.dtype);
  if (call.has("dim")) call.emit(indices, DType::kInt64);
}

void kthvalue(Call& call) {
  const Tensor& self = *call.tensor("self");
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  const std::int64_t k = call.integer("k");
  if (k < 1 || k > line_length(self, dim)) throw OpError("kthvalue: k is out of range");
  with_number(call.mode(), self.dtype, [&]<class N>() {
    emit_chosen<N>(call, [k](std::span<const N> line) {
      Chosen<N> chosen = order_statistic(line, static_cast<std::size_t>(k - 1));
      const bool is_last = is_nan(chosen.value).value != 0;
      const auto ties = [&](const N& x) {
        return is_last ? is_nan(x).value != 0 : equal(x, chosen.value).value != 0;
      };
      if (std::count_if(line.begin(), line.end(), ties) <= 1) return chosen;
      chosen.index.undecided = true;
      for (const N& x : line) {
        if (ties(x)) chosen.value = as_wide_as(chosen.value, x);
      }
      return chosen;
    });
  });
}

void emit_median(Call& call, bool skips_nan) {
  with_number(call.mode(), call.tensor("self")->dtype, [&]<class N>() {
    emit_chosen<N>(call, [=](std::span<const N> line) { return middle(line, skips_nan); });
  });
}
void median(Call& call) { emit_median(call, false); }
void nanmedian(Call& call) { emit_median(call, true); }

// --- mode ---

// The least of those that occur most often, and the last place of it in the order of an unstable
// sort. PyTorch's comparison does not know NaN: what it gives beside one depends on the algorithm.
template <class N>
Chosen<N> most_frequent(std::span<const N> line) {
  const Order order = sorted_order(line, false, false);
  bool is_open = std::any_of(line.begin(), line.end(),
                             [](const N& x) { return is_nan(x).value != 0 || may_be_either(x); });
  std::size_t best = 0;  // the last of the longest run so far
  std::size_t longest = 0;
  std::size_t run = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    ++run;
    const bool ends = i + 1 == order.size() || equal(line[order[i]], line[order[i + 1]]).value == 0;
    if (i + 1 < order.size()) {
      is_open = is_open || equal(line[order[i]], line[order[i + 1]]).undecided;
    }
    if (!ends) continue;
    if (run > longest) {
      longest = run;
      best = i;
    }
    run = 0;
  }
  const std::size_t place = order[best];
  const N& value = line[place];
  if (is_open && line.size() > 1) {
    return {left_open(value), Whole(static_cast<std::int64_t>(place), true)};
  }
  const bool is_tied = longest > 1 && declared_arithmetic().opens_ties();
  return {value, Whole(static_cast<std::int64_t>(place), is_tied)};
}

void mode(Call& call) {
  with_number(call.mode(), call.tensor("self")->dtype, [&]<class N>() {
    emit_chosen<N>(call, [](std::span<const N> line) { return most_frequent(line); });
  });
}

constexpr std::array kSortingOps = {
    OpBody{"aten.kthvalue", kthvalue},   OpBody{"aten.median", median}, OpBody{"aten.mode", mode},
    OpBody{"aten.nanmedian", nanmedian}, OpBody{"aten.sort", sort},     OpBody{"aten.topk", topk},
};

}  // namespace

std::span<const OpBody> sorting_ops() { return kSortingOps; }

}  // namespace graphgate::reference
