// Counting into bins and finding places in sorted boundaries: histc, bincount, bucketize,
// searchsorted.
#include "optimized/codegen/bins_text.h"
#include "optimized/codegen/spelling.h"
#include "optimized/kernels/elements/bins.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/indexed_loop.h"
#include "optimized/promotion.h"
#include "optimized/rows.h"
#include "optimized/value_errors.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

// Calls visit(values, n) for tiles of a tensor's elements in row-major order.
template <class C, class Visit>
void for_each_tile(const Tensor& tensor, const Loop& loop, Visit&& visit) {
  loop.for_each_run([&](std::byte* const* at, const std::int64_t* strides, std::int64_t n) {
    std::array<C, kTile> tile;
    for (std::int64_t begin = 0; begin < n; begin += kTile) {
      const int length = static_cast<int>(std::min<std::int64_t>(kTile, n - begin));
      load_tile<C>(tensor.dtype, at[1] + begin * strides[1], strides[1], length, tile.data());
      visit(tile.data(), length);
    }
  });
}

Loop loop_of(const Tensor& tensor) {
  const std::array<const Tensor*, 1> tensors = {&tensor};
  return row_major_loop(tensor.sizes, tensors);
}

// ---- histc

void infer_histc(Inference& call) {
  const Tensor& self = call.tensor("self");
  const std::int64_t bins = call.integer("bins");
  if (!spec::is_floating_point(self.dtype)) throw OpError("histc wants floats");
  if (bins <= 0) throw OpError("bins are " + std::to_string(bins) + ", not positive");
  if (call.real("min") > call.real("max")) throw OpError("max is less than min");
  call.want_workspace(bins * 8);
  call.make(self.dtype, {bins});
}

// As given, or that of the elements when it is empty; widened when all are equal.
template <class C>
element::Bins<C> bins_of(element::Bins<C> bins, const Tensor& self, const Loop& loop) {
  if (bins.low == bins.high && loop.count() > 0) {
    constexpr C kInfinity = std::numeric_limits<C>::infinity();
    bins.low = kInfinity;
    bins.high = -kInfinity;
    bool has_nan = false;
    for_each_tile<C>(self, loop, [&](const C* x, int n) {
      for (int i = 0; i < n; ++i) {
        has_nan |= x[i] != x[i];
        bins.low = std::min(bins.low, x[i]);
        bins.high = std::max(bins.high, x[i]);
      }
    });
    if (has_nan) throw_elements_not_finite();
  }
  bins.widen();
  if (!bins.are_finite()) throw_bins_not_finite();
  return bins;
}

// What a device does; nothing for bins that are refused.
template <class C>
std::optional<DeviceWorks> histc_works(const Binding& call, element::Bins<C> bins) {
  const Tensor& self = call.tensor("self");
  BinsWork work{call.result(), self, bins.count, {}};
  if (bins.low != bins.high || self.count() == 0) {
    bins.widen();
    if (!bins.are_finite()) return {};
    work.range = {number_bits(bins.low), number_bits(bins.high)};
  }
  return bins_works(*call.listener(), work);
}

Launch bind_histc(const Binding& call) {
  const Tensor& self = call.tensor("self");
  auto* counts = reinterpret_cast<std::int64_t*>(call.workspace());
  return with_real(self.dtype, [&]<class C>() -> Launch {
    const element::Bins<C> given = {static_cast<C>(call.real("min")),
                                    static_cast<C>(call.real("max")), call.integer("bins")};
    Launch launch = [self, counts, given, loop = loop_of(self), out = Rows(call.result(), {0})] {
      const element::Bins<C> bins = bins_of(given, self, loop);
      std::fill(counts, counts + bins.count, std::int64_t{0});
      for_each_tile<C>(self, loop, [&](const C* x, int n) {
        for (int i = 0; i < n; ++i) {
          const std::int64_t bin = bins(x[i]);
          if (bin >= 0) ++counts[bin];
        }
      });
      out.store<std::int64_t>(0, counts);
    };
    if (call.listener() == nullptr) return launch;
    return described_if(std::move(launch), histc_works<C>(call, given));
  });
}

// ---- bincount

// One more than the greatest element, at least `minlength`. Elements must not be negative.
std::int64_t bin_count(const Tensor& self, std::int64_t minlength) {
  std::int64_t bins = minlength;
  for_each_tile<std::int64_t>(self, loop_of(self), [&](const std::int64_t* x, int n) {
    for (int i = 0; i < n; ++i) {
      if (x[i] < 0) throw OpError("bincount of a negative number: " + std::to_string(x[i]));
      bins = std::max(bins, x[i] + 1);
    }
  });
  return bins;
}

void infer_bincount(Inference& call) {
  const Tensor& self = call.tensor("self");
  const std::int64_t minlength = call.integer("minlength");
  if (self.rank() != 1 || !spec::is_integral(self.dtype)) {
    throw OpError("bincount wants integers in one dimension");
  }
  if (minlength < 0) throw OpError("minlength is negative");
  const Tensor* weights = call.optional_tensor("weights");
  if (weights && weights->sizes != self.sizes) throw OpError("self and weights differ in size");
  if (!call.has_data()) Inference::needs_data();
  DType dtype = DType::kInt64;
  if (weights) dtype = weights->dtype == DType::kFloat32 ? DType::kFloat32 : DType::kFloat64;
  const std::int64_t bins = bin_count(self, minlength);
  call.want_workspace(bins * 8);
  call.make(dtype, {bins});
}

// Adds weights in the order of the elements, in the result's dtype.
template <class C>
Launch bincount_launch(const Binding& call) {
  const Tensor* weights = call.optional_tensor("weights");
  return [self = Rows(call.tensor("self"), {0}), out = Rows(call.result(), {0}),
          weights = weights ? std::optional<Rows>(Rows(*weights, {0})) : std::nullopt,
          sums = reinterpret_cast<C*>(call.workspace())] {
    const std::int64_t bins = out.length();
    std::vector<std::int64_t> x(static_cast<std::size_t>(self.length()));
    std::vector<C> w(x.size(), C{1});
    self.load(0, x.data());
    if (weights) weights->load(0, w.data());
    std::fill(sums, sums + bins, C{});
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] < 0 || x[i] >= bins) {
        throw OpError("bin " + std::to_string(x[i]) + " is outside [0, " + std::to_string(bins) +
                      ")");
      }
      sums[x[i]] += w[i];
    }
    out.store(0, sums);
  };
}

Launch bind_bincount(const Binding& call) {
  if (!call.has("weights")) return bincount_launch<std::int64_t>(call);
  if (call.tensor("weights").dtype == DType::kFloat32) return bincount_launch<float>(call);
  return bincount_launch<double>(call);
}

// ---- searchsorted and bucketize

// Whether a place behind equal boundaries is wanted.
bool wants_right(const KernelCall& call) {
  const bool right = call.boolean_or("right", false);
  if (!call.has("side")) return right;
  const std::string_view side = call.text("side");
  if (side != "left" && side != "right") throw OpError("side is '" + std::string(side) + "'");
  if (side == "left" && right) throw OpError("side is 'left' and right is set");
  return side == "right";
}

struct Search {
  Tensor boundaries;
  std::optional<Tensor> values;  // else `number`
  Item number;
  DType dtype = DType::kInt64;  // in which elements are compared
};

Search search_of(const KernelCall& call) {
  const bool is_bucketize = call.row().schema.base_name() == "bucketize";
  const char* name = is_bucketize ? "boundaries" : "sorted_sequence";
  Search out;
  out.boundaries = call.tensor(name);
  if (call.is_tensor("self")) {
    out.values = call.tensor("self");
  } else {
    out.number = call.item("self");
  }
  out.dtype = result_type({&call.item(name), &call.item("self")});
  return out;
}

void check_search(const KernelCall& call, const Search& search) {
  const Sizes& of = search.boundaries.sizes;
  if (of.empty() || (of.size() != 1 && call.row().schema.base_name() == "bucketize")) {
    throw OpError("the boundaries have rank " + std::to_string(of.size()));
  }
  if (of.size() > 1) {
    const Sizes sizes = search.values ? search.values->sizes : Sizes{};
    if (sizes.size() != of.size() || !std::equal(of.begin(), of.end() - 1, sizes.begin())) {
      throw OpError("boundaries of sizes " + print_sizes(of) + " do not fit values of sizes " +
                    print_sizes(sizes));
    }
  }
  const Tensor* sorter = call.has("sorter") ? call.optional_tensor("sorter") : nullptr;
  if (sorter && (sorter->sizes != of || sorter->dtype != DType::kInt64)) {
    throw OpError("the sorter is not int64 of the boundaries' sizes");
  }
}

std::int64_t search_row_bytes(const Search& search) { return search.boundaries.sizes.back() * 8; }

void infer_search(Inference& call) {
  const Search search = search_of(call);
  check_search(call, search);
  (void)wants_right(call);
  const std::int64_t values = search.values ? search.values->count() : 1;
  call.want_workspace(search_row_bytes(search) + 2 * values * 8);  // boundaries, values, places
  call.make(call.boolean("out_int32") ? DType::kInt32 : DType::kInt64,
            search.values ? search.values->sizes : Sizes{});
}

// Rows of boundaries, read in the sorter's order.
template <class C>
struct SortedRows {
  Rows rows;
  std::optional<Rows> sorter;
  C* sorted;
  C* raw;
  std::int64_t* places;  // a row of the sorter

  void load(std::int64_t row) const {
    if (!sorter) return rows.load(row, sorted);
    rows.load(row, raw);
    sorter->load(row, places);
    for (std::int64_t i = 0; i < rows.length(); ++i) {
      if (places[i] < 0 || places[i] >= rows.length()) {
        throw_sorter_out_of_range(places[i], rows.length());
      }
      sorted[i] = raw[places[i]];
    }
  }
};

// A row of values meets the row of boundaries of the same number, or the only one.
template <class C>
Launch search_launch(const Binding& call, const Search& search) {
  const std::vector<std::int64_t> last = {search.boundaries.rank() - 1};
  const Tensor result = at_least_1d(call.result());
  const auto inner = search.boundaries.rank() == 1 ? wrap_dims({}, result.rank(), true) : last;
  auto* sorted = reinterpret_cast<C*>(call.workspace());
  auto* values = reinterpret_cast<C*>(call.workspace() + search_row_bytes(search));
  auto* found = reinterpret_cast<std::int64_t*>(call.workspace() + search_row_bytes(search) +
                                                result.count() * 8);
  const Tensor* given = call.has("sorter") ? call.optional_tensor("sorter") : nullptr;
  std::optional<Rows> sorter;
  if (given) sorter.emplace(*given, last);
  std::optional<Rows> in;
  if (search.values) in.emplace(at_least_1d(*search.values), inner);
  const C number = search.values ? C{} : number_as<C>(search.number);
  Launch launch = [boundaries = Rows(search.boundaries, last), sorter, in, number, sorted, values,
                   found, out = Rows(result, inner), right = wants_right(call)] {
    std::vector<C> raw(sorter ? static_cast<std::size_t>(boundaries.length()) : 0);
    std::vector<std::int64_t> places(raw.size());
    const SortedRows<C> rows{boundaries, sorter, sorted, raw.data(), places.data()};
    for (std::int64_t row = 0; row < out.count(); ++row) {
      rows.load(row);
      if (in) in->load(row, values);
      for (std::int64_t i = 0; i < out.length(); ++i) {
        const C x = in ? values[i] : number;
        found[i] = element::place_among(sorted, boundaries.length(), x, right);
      }
      out.store(row, found);
    }
  };
  if (call.listener() == nullptr) return launch;
  SearchWork work{
      result,           inner, search.boundaries, {}, {}, number_bits(number), search.dtype,
      wants_right(call)};
  if (given) work.sorter = *given;
  if (search.values) work.values = at_least_1d(*search.values);
  return described(std::move(launch), search_works(work));
}

Launch bind_search(const Binding& call) {
  const Search search = search_of(call);
  return with_compute(search.dtype, [&]<class C>() { return search_launch<C>(call, search); });
}

}  // namespace

std::span<const Kernel> histogram_kernels() {
  static constexpr Kernel kKernels[] = {
      {"aten.bincount", infer_bincount, bind_bincount},
      {"aten.bucketize", infer_search, bind_search},
      {"aten.histc", infer_histc, bind_histc},
      {"aten.searchsorted", infer_search, bind_search},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
