// Histograms of points of one or several dimensions: histogram and _histogramdd_*.
//
// Edges are rows of numbers in the dtype of the points; they are given, or spaced evenly over a
// range as linspace spaces them. A point counts in the bin whose edges it lies between.
#include <algorithm>
#include <cmath>

#include "optimized/arithmetic/sum.h"
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/families.h"
#include "optimized/loop.h"
#include "optimized/rows.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

template <class C>
C rounded_to(DType dtype, C x) {
  std::array<std::byte, 8> element{};
  store_element(dtype, x, element.data());
  return load_element<C>(dtype, element.data());
}

bool is_one_dimension(const KernelCall& call) {
  return call.row().schema.base_name() == "histogram";
}

struct PointSet {
  std::int64_t count = 0;
  std::int64_t dims = 1;
};
PointSet point_set(const KernelCall& call) {
  const Tensor& self = call.tensor("self");
  if (is_one_dimension(call)) return {self.count(), 1};
  if (self.rank() < 2) throw OpError("points of sizes " + print_sizes(self.sizes));
  std::int64_t count = 1;
  for (std::int64_t d = 0; d + 1 < self.rank(); ++d) count *= self.sizes[at(d)];
  return {count, self.sizes.back()};
}

void check_points(const KernelCall& call) {
  const Tensor& self = call.tensor("self");
  if (!spec::is_floating_point(self.dtype)) throw OpError("histograms want floats");
  const Tensor* weight = call.has("weight") ? call.optional_tensor("weight") : nullptr;
  if (!weight) return;
  Sizes sizes = self.sizes;
  if (!is_one_dimension(call)) sizes.pop_back();
  if (weight->dtype != self.dtype || weight->sizes != sizes) {
    throw OpError("weights of sizes " + print_sizes(weight->sizes) + " for points of sizes " +
                  print_sizes(self.sizes));
  }
}

// The tensors of edges; none where they are spaced evenly.
std::vector<const Tensor*> edge_tensors(const KernelCall& call) {
  if (call.is_tensor("bins")) return {&call.tensor("bins")};
  const auto* list = call.item("bins").as<Item::List>();
  if (!list || list->empty() || !list->front().as<Tensor>()) return {};
  return call.tensors("bins");
}

Sizes bin_counts(const KernelCall& call) {
  const PointSet points = point_set(call);
  Sizes out;
  for (const Tensor* edges : edge_tensors(call)) {
    if (edges->rank() != 1 || edges->dtype != call.tensor("self").dtype) {
      throw OpError("edges are not one row of the points' dtype");
    }
    out.push_back(edges->sizes[0] - 1);
  }
  if (out.empty()) out = call.integers("bins");
  if (static_cast<std::int64_t>(out.size()) != points.dims) {
    throw OpError("bins for " + std::to_string(out.size()) + " of " + std::to_string(points.dims) +
                  " dimensions");
  }
  for (const std::int64_t bins : out) {
    if (bins < 1) throw OpError("there is no bin");
  }
  return out;
}

void check_range(const KernelCall& call) {
  if (!call.has("range")) return;
  const auto* range = call.item("range").as<Item::List>();
  if (!range || static_cast<std::int64_t>(range->size()) != 2 * point_set(call).dims) {
    throw OpError("a range has two numbers for each dimension");
  }
}

template <class C>
struct Points {
  std::vector<C> values;  // of one point after the other
  PointSet set;
};
template <class C>
Points<C> load_points(const Tensor& self, const PointSet& set) {
  Points<C> out{std::vector<C>(static_cast<std::size_t>(self.count())), set};
  Rows(self, wrap_dims({}, self.rank(), true)).load(0, out.values.data());
  return out;
}

struct Span {
  double low, high;
};
// From the argument `range`, or from the points; an empty one grows by a half to each side.
template <class C>
Span span_of(const KernelCall& call, const Points<C>& points, std::int64_t d) {
  Span span{0, 1};
  if (call.has("range")) {
    const auto& range = *call.item("range").as<Item::List>();
    span = {number_as<double>(range[at(2 * d)]), number_as<double>(range[at(2 * d + 1)])};
  } else if (points.set.count > 0) {
    span = {static_cast<double>(points.values[at(d)]), static_cast<double>(points.values[at(d)])};
    for (std::int64_t i = 1; i < points.set.count; ++i) {
      const auto x = static_cast<double>(points.values[at(i * points.set.dims + d)]);
      if (x < span.low) span.low = x;
      if (x > span.high) span.high = x;
      if (x != x) span.low = x;
    }
  }
  if (!std::isfinite(span.low) || !std::isfinite(span.high)) {
    throw OpError("the range of a histogram is not finite");
  }
  if (span.low > span.high) throw OpError("a histogram's range ends before it begins");
  if (span.low == span.high) return {span.low - 0.5, span.high + 0.5};
  return span;
}

// All dimensions' edges.
template <class C>
std::vector<std::vector<C>> edges_of(const KernelCall& call, const Points<C>& points) {
  const DType dtype = call.tensor("self").dtype;
  std::vector<std::vector<C>> out;
  for (const Tensor* given : edge_tensors(call)) {
    out.emplace_back(static_cast<std::size_t>(given->sizes[0]));
    Rows(*given, {0}).load(0, out.back().data());
  }
  if (!out.empty()) return out;
  const Sizes counts = bin_counts(call);
  for (std::int64_t d = 0; d < points.set.dims; ++d) {
    const Span span = span_of(call, points, d);
    const C low = rounded_to(dtype, static_cast<C>(span.low));
    const C high = rounded_to(dtype, static_cast<C>(span.high));
    const std::int64_t steps = counts[at(d)] + 1;
    out.emplace_back();
    for (std::int64_t i = 0; i < steps; ++i) {
      out.back().push_back(rounded_to(dtype, element::linear_step(low, high, steps, i)));
    }
  }
  return out;
}

// The number of the bin that a point falls into, or -1.
template <class C>
std::int64_t bin_of(const C* point, const std::vector<std::vector<C>>& edges) {
  std::int64_t bin = 0;
  for (std::size_t d = 0; d < edges.size(); ++d) {
    const std::vector<C>& row = edges[d];
    if (!(point[d] >= row.front() && point[d] <= row.back())) return -1;
    const auto above = std::upper_bound(row.begin(), row.end(), point[d]) - row.begin();
    const auto bins = static_cast<std::int64_t>(row.size()) - 1;
    bin = bin * bins + std::clamp<std::int64_t>(above - 1, 0, bins - 1);
  }
  return bin;
}

// Divides counts by their sum, then by the widths of their bins along each dimension.
template <class C>
void make_density(DType dtype, std::vector<C>& counts, const std::vector<std::vector<C>>& edges) {
  std::vector<C> terms = counts;
  const C sum =
      rounded_to(dtype, ordered_sum(terms.data(), static_cast<std::int64_t>(terms.size())));
  for (C& count : counts) count = rounded_to(dtype, count / sum);
  std::size_t behind = counts.size();
  for (const std::vector<C>& row : edges) {
    const std::size_t bins = row.size() - 1;
    behind /= bins;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::size_t bin = i / behind % bins;
      counts[i] = rounded_to(dtype, counts[i] / rounded_to(dtype, row[bin + 1] - row[bin]));
    }
  }
}

template <class C>
void write_row(const Tensor& result, const std::vector<C>& numbers) {
  if (numbers.empty()) return;
  Rows(result, wrap_dims({}, result.rank(), true)).store(0, numbers.data());
}

template <class C>
void write_histogram(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const PointSet set = point_set(call);
  const Points<C> points = load_points<C>(self, set);
  const auto edges = edges_of<C>(call, points);
  std::vector<C> weights(static_cast<std::size_t>(set.count), C{1});
  if (call.has("weight")) {
    const Tensor& weight = call.tensor("weight");
    Rows(weight, wrap_dims({}, weight.rank(), true)).load(0, weights.data());
  }
  std::vector<C> counts(static_cast<std::size_t>(call.result(0).count()), C{0});
  for (std::int64_t i = 0; i < set.count; ++i) {
    const std::int64_t bin = bin_of(points.values.data() + i * set.dims, edges);
    if (bin >= 0) counts[at(bin)] += weights[at(i)];
  }
  for (C& count : counts) count = rounded_to(self.dtype, count);
  if (call.boolean("density")) make_density(self.dtype, counts, edges);
  write_row(call.result(0), counts);
  if (is_one_dimension(call)) write_row(call.result(1), edges[0]);
}

void infer_histogram(Inference& call) {
  check_points(call);
  check_range(call);
  const Tensor& self = call.tensor("self");
  const Sizes counts = bin_counts(call);
  call.make(self.dtype, counts);
  if (is_one_dimension(call)) call.make(self.dtype, {counts[0] + 1});
}
Launch bind_histogram(const Binding& call) {
  return with_real(call.tensor("self").dtype,
                   [&]<class C>() -> Launch { return [call] { write_histogram<C>(call); }; });
}

void infer_bin_edges(Inference& call) {
  if (call.has("out")) throw Unsupported("a list of tensors to write edges into");
  check_points(call);
  check_range(call);
  const DType dtype = call.tensor("self").dtype;
  call.begin_list();
  for (const std::int64_t bins : bin_counts(call)) call.make(dtype, {bins + 1});
  call.end_list();
}
Launch bind_bin_edges(const Binding& call) {
  return with_real(call.tensor("self").dtype, [&]<class C>() -> Launch {
    return [call] {
      const auto edges = edges_of<C>(call, load_points<C>(call.tensor("self"), point_set(call)));
      for (std::size_t d = 0; d < edges.size(); ++d) write_row(call.result(d), edges[d]);
    };
  });
}

}  // namespace

std::span<const Kernel> binning_kernels() {
  static constexpr Kernel kKernels[] = {
      {"aten._histogramdd_bin_edges", infer_bin_edges, bind_bin_edges},
      {"aten._histogramdd_from_bin_cts", infer_histogram, bind_histogram},
      {"aten._histogramdd_from_bin_tensors", infer_histogram, bind_histogram},
      {"aten.histogram", infer_histogram, bind_histogram},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
