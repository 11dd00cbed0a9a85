// Orders along a dimension: sort, topk, kthvalue, median, nanmedian. NaN counts as greater than
// every number. Which of several equal elements sort (unless it is stable), topk and kthvalue name
// follows from their selection algorithms (elements/order.h); median names the one that a stable
// sort would put in the middle.
#include "optimized/analysis/row_rules.h"
#include "optimized/codegen/order_text.h"
#include "optimized/codegen/type_text.h"
#include "optimized/kernels/elements/stable_order.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/fill.h"
#include "optimized/loop.h"
#include "optimized/rows.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

using element::Entry;

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

// `select` (a callable of order.h) brings entries of each row to the front, and two results get
// them. Where `stable_by` is given, it does what a stable sort by that order does.
template <class Select>
Launch ordered(const Binding& call, const Select& select,
               const std::optional<std::string>& stable_by = {}) {
  const Tensor& self = call.tensor("self");
  const std::vector<std::int64_t> dims = {dim_of(call).dim};
  Launch launch = with_compute(self.dtype, [&]<class C>() {
    return each_row<C>(self, dims, call.workspace(),
                       [out = Pair(call.result(0), call.result(1), dims), select](
                           Entry<C>* entries, std::int64_t n, std::int64_t row) {
                         select(entries, n);
                         out.store(row, entries);
                       });
  });
  if (call.listener() == nullptr) return launch;
  const OrderWork work{self, dims, call.result(0), call.result(1), dims};
  return described_if(
      std::move(launch),
      stable_by ? stable_order_works(*call.listener(), work, *stable_by)
                : select_works(*call.listener(), work, callable_text<std::int64_t>(select)));
}

template <class Before>
Launch sort_launch(const Binding& call) {
  const std::string before = callable_text<std::int64_t>(Before());
  if (call.boolean_or("stable", false)) {
    return ordered(call, element::Sorted<element::Stable<Before>>(), before);
  }
  const bool is_short = dim_of(call).length <= element::kInsertion;
  return ordered(call, element::Sorted<Before>(), is_short ? std::optional(before) : std::nullopt);
}

Launch bind_sort(const Binding& call) {
  return call.boolean_or("descending", false) ? sort_launch<element::Descending>(call)
                                              : sort_launch<element::Ascending>(call);
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

template <class Before>
Launch top_launch(const Binding& call, std::int64_t k) {
  return call.boolean_or("sorted", true) ? ordered(call, element::FirstOnes<Before, true>{k})
                                         : ordered(call, element::FirstOnes<Before, false>{k});
}

Launch bind_topk(const Binding& call) {
  const std::int64_t k = call.integer("k");
  if (k == 0) return {};
  return call.boolean_or("largest", true) ? top_launch<element::Descending>(call, k)
                                          : top_launch<element::Ascending>(call, k);
}

// ---- kthvalue, median, nanmedian: one element of a row

struct Selection {
  std::vector<std::int64_t> dims;
  Sizes sizes;  // of the results
  std::int64_t length = 1;
};

// Along `dim`, or of all elements where there is no such argument.
Selection selection_of(const KernelCall& call, bool takes_bool = false) {
  const Tensor& self = call.tensor("self");
  Selection out;
  if (self.dtype == spec::DType::kBool && !takes_bool) {
    throw OpError("bool elements have no order here");
  }
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
  const std::vector<std::int64_t> dims = selection_of(call).dims;
  const element::Kth select{call.integer("k") - 1};
  Launch launch = with_compute(self.dtype, [&]<class C>() {
    return each_row<C>(self, dims, call.workspace(),
                       [values = Rows(call.result(0), {}), places = Rows(call.result(1), {}),
                        select](Entry<C>* entries, std::int64_t n, std::int64_t row) {
                         select(entries, n);
                         values.store_one<C>(row, entries[select.k].value);
                         places.store_one<std::int64_t>(row, entries[select.k].place);
                       });
  });
  if (call.listener() == nullptr) return launch;
  return described_if(
      std::move(launch),
      select_works(*call.listener(), {self, dims, call.result(0), call.result(1), {}},
                   callable_text<std::int64_t>(select), select.k));
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
  const std::int64_t middle = element::lower_middle(numbers);
  element::select_nth(entries, middle, n, element::Stable<element::Ascending>());
  return entries[middle];
}

// Of no elements: NaN; for integers, what NaN converts to.
Launch median_of_none(const DeviceListener* listener, const Tensor& result) {
  Element element{};
  store_element(result.dtype, std::numeric_limits<float>::quiet_NaN(), element.data());
  return fill_launch(listener, result, element);
}

template <bool ignores_nan>
Launch bind_median(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const Selection selection = selection_of(call);
  if (selection.length == 0 && !call.has("dim"))
    return median_of_none(call.listener(), call.result(0));
  std::optional<Tensor> where;
  if (call.has("dim")) where = call.result(1);
  Launch launch = with_compute(self.dtype, [&]<class C>() -> Launch {
    std::optional<Rows> places;
    if (where) places.emplace(*where, std::vector<std::int64_t>{});
    return each_row<C>(self, selection.dims, call.workspace(),
                       [values = Rows(call.result(0), {}), places](
                           Entry<C>* entries, std::int64_t n, std::int64_t row) {
                         const Entry<C> median = median_of(entries, n, ignores_nan);
                         values.store_one<C>(row, median.value);
                         if (places) places->store_one<std::int64_t>(row, median.place);
                       });
  });
  if (call.listener() == nullptr) return launch;
  return described_if(
      std::move(launch),
      median_works(*call.listener(), {self, selection.dims, call.result(0), where, {}},
                   callable_text<std::int64_t>(element::Median<ignores_nan>())));
}

// ---- mode: what occurs most often, the least of several

void infer_mode(Inference& call) {
  const Selection selection = selection_of(call, true);
  if (selection.length == 0 && checked_count(selection.sizes) != 0) {
    throw OpError("the mode of an empty dimension");
  }
  call.want_workspace(scratch_bytes(selection.length));
  call.make(call.tensor("self").dtype, selection.sizes);
  call.make(spec::DType::kInt64, selection.sizes);
}

// The last entry of the longest run of equal ones, of the first such run.
template <class C>
Entry<C> end_of_longest_run(const Entry<C>* entries, std::int64_t n) {
  std::int64_t begin = 0;
  std::int64_t length = 0;
  std::int64_t end = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    if (i > 0 && entries[i].value != entries[i - 1].value) begin = i;
    if (i + 1 - begin <= length) continue;
    length = i + 1 - begin;
    end = i;
  }
  return entries[end];
}

Launch bind_mode(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const std::vector<std::int64_t> dims = selection_of(call, true).dims;
  return with_compute(self.dtype, [&]<class C>() {
    return each_row<C>(self, dims, call.workspace(),
                       [values = Rows(call.result(0), {}), places = Rows(call.result(1), {})](
                           Entry<C>* entries, std::int64_t n, std::int64_t row) {
                         element::Sorted<element::Ascending>()(entries, n);
                         const Entry<C> mode = end_of_longest_run(entries, n);
                         values.store_one<C>(row, mode.value);
                         places.store_one<std::int64_t>(row, mode.place);
                       });
  });
}

}  // namespace

std::span<const Kernel> sorting_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten.kthvalue", infer_kth_value, bind_kth_value}.rows(row_rules::along_dim),
      Kernel{"aten.median", infer_median, bind_median<false>}.rows(row_rules::along_dim),
      Kernel{"aten.mode", infer_mode, bind_mode}.rows(row_rules::along_dim),
      Kernel{"aten.nanmedian", infer_median, bind_median<true>}.rows(row_rules::along_dim),
      Kernel{"aten.sort", infer_sort, bind_sort}.rows(row_rules::along_dim),
      Kernel{"aten.topk", infer_topk, bind_topk}.rows(row_rules::along_dim),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
