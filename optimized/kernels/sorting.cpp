// Orders along a dimension: sort, topk, kthvalue, median, nanmedian. NaN counts as greater than
// every number. Which of several equal elements sort (unless it is stable), topk and kthvalue name
// follows from their selection algorithms, which take elements by comparisons alone; median names
// the one that a stable sort would put in the middle.
#include "optimized/kernels/families.h"
#include "optimized/loop.h"
#include "optimized/rows.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

template <class C>
struct Entry {
  C value;
  std::int64_t place;
};

// a < b with NaN last.
template <class C>
bool precedes(C a, C b) {
  return a < b || (a == a && b != b);
}
template <class C>
bool is_less(const Entry<C>& a, const Entry<C>& b) {
  return precedes(a.value, b.value);
}
template <class C>
bool is_greater(const Entry<C>& a, const Entry<C>& b) {
  return precedes(b.value, a.value);
}

struct Dim {
  std::int64_t dim = 0;
  std::int64_t length = 1;
};

Dim dim_of(const KernelCall& call) {
  const Tensor& self = call.tensor("self");
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  return {dim, self.size(dim)};
}

// The scratch of one row: its values, and its entries.
std::int64_t scratch_bytes(std::int64_t length) { return length * 24; }

// Calls f(entries, n, row) for every row of self along its dimensions `dims`.
template <class C, class F>
Launch each_row(const Tensor& self, const std::vector<std::int64_t>& dims, std::byte* workspace,
                const F& f) {
  const Rows rows(self, dims);
  auto* entries = reinterpret_cast<Entry<C>*>(workspace);
  auto* values = reinterpret_cast<C*>(workspace + rows.length() * 16);
  return [rows, entries, values, f] {
    for (std::int64_t row = 0; row < rows.count(); ++row) {
      rows.load(row, values);
      for (std::int64_t i = 0; i < rows.length(); ++i) entries[i] = {values[i], i};
      f(entries, rows.length(), row);
    }
  };
}

// Two results along a dimension, which get the first entries of a row.
class Pair {
 public:
  Pair(const Tensor& values, const Tensor& places, const std::vector<std::int64_t>& dims)
      : values_(values, dims), places_(places, dims) {}

  template <class C>
  void store(std::int64_t row, const Entry<C>* entries) const {
    std::array<C, kTile> value;
    std::array<std::int64_t, kTile> place;
    for (std::int64_t begin = 0; begin < values_.length(); begin += kTile) {
      const std::int64_t n = std::min<std::int64_t>(kTile, values_.length() - begin);
      for (std::int64_t i = 0; i < n; ++i) {
        value[static_cast<std::size_t>(i)] = entries[begin + i].value;
        place[static_cast<std::size_t>(i)] = entries[begin + i].place;
      }
      values_.store_part(row, begin, n, value.data());
      places_.store_part(row, begin, n, place.data());
    }
  }

 private:
  // Rows along one dimension, written in parts.
  struct Part {
    Part(const Tensor& tensor, const std::vector<std::int64_t>& dims)
        : rows(tensor, dims), dtype(tensor.dtype) {
      if (dims.empty() || tensor.rank() == 0) return;
      const auto d = static_cast<std::size_t>(dims[0]);
      size = tensor.sizes[d];
      stride_bytes = tensor.strides[d] * tensor.item_bytes();
    }
    [[nodiscard]] std::int64_t length() const { return size; }
    template <class T>
    void store_part(std::int64_t row, std::int64_t begin, std::int64_t n, const T* in) const {
      store_tile<T>(dtype, in, static_cast<int>(n), rows.at(row) + begin * stride_bytes,
                    stride_bytes);
    }
    Rows rows;
    spec::DType dtype;
    std::int64_t size = 1;
    std::int64_t stride_bytes = 0;
  };
  Part values_, places_;
};

// ---- sort

void infer_sort(Inference& call) {
  const Tensor& self = call.tensor("self");
  call.want_workspace(scratch_bytes(dim_of(call).length));
  const Sizes strides = strides_like(self, spec::MemoryFormat::kPreserve);
  call.make(self.dtype, self.sizes, strides);
  call.make(spec::DType::kInt64, self.sizes, strides);
}

Launch bind_sort(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const std::int64_t dim = dim_of(call).dim;
  const bool descending = call.boolean_or("descending", false);
  const bool stable = call.boolean_or("stable", false);
  return with_compute(self.dtype, [&]<class C>() {
    return each_row<C>(self, {dim}, call.workspace(),
                       [out = Pair(call.result(0), call.result(1), {dim}), descending, stable](
                           Entry<C>* entries, std::int64_t n, std::int64_t row) {
                         const auto before = descending ? is_greater<C> : is_less<C>;
                         if (!stable) {
                           std::sort(entries, entries + n, before);
                         } else {
                           // Places break ties: the stable order without its buffer.
                           std::sort(entries, entries + n,
                                     [before](const Entry<C>& a, const Entry<C>& b) {
                                       return before(a, b) || (!before(b, a) && a.place < b.place);
                                     });
                         }
                         out.store(row, entries);
                       });
  });
}

// ---- topk

void infer_topk(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Dim dim = dim_of(call);
  const std::int64_t k = call.integer("k");
  if (self.dtype == spec::DType::kBool) throw OpError("topk takes no bool");
  if (k < 0 || k > dim.length) {
    throw OpError("k = " + std::to_string(k) + " is outside [0, " + std::to_string(dim.length) +
                  "]");
  }
  Sizes sizes = self.sizes;
  if (!sizes.empty()) sizes[static_cast<std::size_t>(dim.dim)] = k;
  call.want_workspace(scratch_bytes(dim.length));
  call.make(self.dtype, sizes);
  call.make(spec::DType::kInt64, std::move(sizes));
}

// Brings the first k in the order `before` to the front. Few of many are picked by a heap; else a
// partition finds the k-th, and those in front of it are sorted.
template <class C, class Before>
void select_first(Entry<C>* entries, std::int64_t n, std::int64_t k, bool sorts, Before before) {
  if (k * 64 <= n) return std::partial_sort(entries, entries + k, entries + n, before);
  std::nth_element(entries, entries + k - 1, entries + n, before);
  if (sorts) std::sort(entries, entries + k - 1, before);
}

Launch bind_topk(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const std::int64_t dim = dim_of(call).dim;
  const std::int64_t k = call.integer("k");
  if (k == 0) return {};
  const bool largest = call.boolean_or("largest", true);
  const bool sorts = call.boolean_or("sorted", true);
  return with_compute(self.dtype, [&]<class C>() {
    return each_row<C>(self, {dim}, call.workspace(),
                       [out = Pair(call.result(0), call.result(1), {dim}), k, largest, sorts](
                           Entry<C>* entries, std::int64_t n, std::int64_t row) {
                         select_first(entries, n, k, sorts, largest ? is_greater<C> : is_less<C>);
                         out.store(row, entries);
                       });
  });
}

// ---- kthvalue, median, nanmedian: one element of a row

// Partitions around the median of three until entry k stands where sorting would put it.
template <class C>
void quick_select(Entry<C>* x, std::int64_t n, std::int64_t k) {
  const auto order = [x](std::int64_t low, std::int64_t high) {
    if (is_greater(x[low], x[high])) std::swap(x[low], x[high]);
  };
  std::int64_t first = 0;
  std::int64_t last = n - 1;
  while (last > first + 1) {
    std::swap(x[first + (last - first) / 2], x[first + 1]);
    order(first + 1, last);
    order(first, last);
    order(first + 1, first);
    const Entry<C> pivot = x[first];
    std::int64_t up = first + 1;
    std::int64_t down = last;
    while (true) {
      while (is_less(x[++up], pivot)) {
      }
      while (is_greater(x[--down], pivot)) {
      }
      if (down < up) break;
      std::swap(x[up], x[down]);
    }
    std::swap(x[first], x[down]);
    if (down >= k) last = down - 1;
    if (down <= k) first = up;
  }
  if (last == first + 1) order(first, last);
}

struct Selection {
  std::vector<std::int64_t> dims;
  Sizes sizes;  // of the results
  std::int64_t length = 1;
};

// Along `dim`, or of all elements where there is no such argument.
Selection selection_of(const KernelCall& call) {
  const Tensor& self = call.tensor("self");
  Selection out;
  if (self.dtype == spec::DType::kBool) throw OpError("bool elements have no order here");
  if (!call.has("dim")) {
    out.dims = wrap_dims({}, self.rank(), true);
    out.length = self.count();
    return out;
  }
  const Dim dim = dim_of(call);
  out.dims = {dim.dim};
  out.sizes = self.sizes;
  out.length = dim.length;
  if (self.rank() == 0) return out;
  if (call.boolean_or("keepdim", false)) {
    out.sizes[static_cast<std::size_t>(dim.dim)] = 1;
  } else {
    out.sizes.erase(out.sizes.begin() + dim.dim);
  }
  return out;
}

void infer_kth_value(Inference& call) {
  const Selection selection = selection_of(call);
  const std::int64_t k = call.integer("k");
  if (k < 1 || k > selection.length) {
    throw OpError("k = " + std::to_string(k) + " is outside [1, " +
                  std::to_string(selection.length) + "]");
  }
  call.want_workspace(scratch_bytes(selection.length));
  call.make(call.tensor("self").dtype, selection.sizes);
  call.make(spec::DType::kInt64, selection.sizes);
}

Launch bind_kth_value(const Binding& call) {
  const Tensor& self = call.tensor("self");
  return with_compute(self.dtype, [&]<class C>() {
    return each_row<C>(
        self, selection_of(call).dims, call.workspace(),
        [values = Rows(call.result(0), {}), places = Rows(call.result(1), {}),
         k = call.integer("k") - 1](Entry<C>* entries, std::int64_t n, std::int64_t row) {
          quick_select(entries, n, k);
          values.store_one<C>(row, entries[k].value);
          places.store_one<std::int64_t>(row, entries[k].place);
        });
  });
}

void infer_median(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Selection selection = selection_of(call);
  if (call.has("dim") && selection.length == 0) throw OpError("the median of an empty dimension");
  call.want_workspace(scratch_bytes(selection.length));
  call.make(self.dtype, selection.sizes);
  if (call.has("dim")) call.make(spec::DType::kInt64, selection.sizes);
}

// The lower median of a row: of its numbers alone, or NaN where there is one.
template <class C>
Entry<C> median_of(Entry<C>* entries, std::int64_t n, bool ignores_nan) {
  std::int64_t numbers = n;
  for (std::int64_t i = 0; i < n; ++i) {
    if (entries[i].value == entries[i].value) continue;
    if (!ignores_nan) return entries[i];
    --numbers;
  }
  const std::int64_t middle = std::max<std::int64_t>(numbers - 1, 0) / 2;
  std::nth_element(entries, entries + middle, entries + n,
                   [](const Entry<C>& a, const Entry<C>& b) {
                     return is_less(a, b) || (!is_less(b, a) && a.place < b.place);
                   });
  return entries[middle];
}

template <bool ignores_nan>
Launch bind_median(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const Selection selection = selection_of(call);
  return with_compute(self.dtype, [&]<class C>() -> Launch {
    const Rows values(call.result(0), {});
    if (selection.length == 0 && !call.has("dim")) {
      // NaN; for integers, what NaN converts to.
      return [values] { values.store_one<float>(0, std::numeric_limits<float>::quiet_NaN()); };
    }
    std::optional<Rows> places;
    if (call.has("dim")) places.emplace(call.result(1), std::vector<std::int64_t>{});
    return each_row<C>(self, selection.dims, call.workspace(),
                       [values, places](Entry<C>* entries, std::int64_t n, std::int64_t row) {
                         const Entry<C> median = median_of(entries, n, ignores_nan);
                         values.store_one<C>(row, median.value);
                         if (places) places->store_one<std::int64_t>(row, median.place);
                       });
  });
}

constexpr Kernel kKernels[] = {
    {"aten.kthvalue", infer_kth_value, bind_kth_value},
    {"aten.median", infer_median, bind_median<false>},
    {"aten.nanmedian", infer_median, bind_median<true>},
    {"aten.sort", infer_sort, bind_sort},
    {"aten.topk", infer_topk, bind_topk},
};

}  // namespace

std::span<const Kernel> sorting_kernels() { return kKernels; }

}  // namespace graphgate::optimized
