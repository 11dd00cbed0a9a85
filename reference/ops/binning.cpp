// Histograms over one or several dimensions, with edges that are given or evenly spaced, with or
// without weights: histogram and _histogramdd_*.
//
// Edges decide: bin i has what lies in [edge i, edge i + 1), the last one its upper edge too. What
// lies outside, and NaN, do not count. In an oracle run a number too near to an edge counts in its
// bin within a radius, and within the same radius in the bins it might belong to.
#include <algorithm>
#include <array>
#include <cmath>

#include "reference/number/left_open.h"
#include "reference/ops/contributions.h"
#include "reference/ops/spaced_numbers.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// A weight that counts, or does not: nobody can tell.
double perhaps(double weight, bool is_likely) { return is_likely ? weight : 0; }
template <class P>
Tracked<P> perhaps(const Tracked<P>& weight, bool is_likely) {
  const double reach = static_cast<double>(std::fabs(weight.value)) + weight.radius;
  const bool has_none = weight.arithmetic == Tracked<P>::Arithmetic::kNone;
  const auto arithmetic = has_none ? Tracked<P>::Arithmetic::kFloat32 : weight.arithmetic;
  return {is_likely ? weight.value : 0, reach, arithmetic};
}

// The bins along one dimension.
template <class N>
using Edges = std::vector<N>;

// A bin that a number falls into, or may fall into.
struct BinOf {
  std::int64_t bin = 0;
  bool is_likely = true;
  bool is_sure = true;
};

// The last edge that is not above x, by bisection: edges that do not ascend are not refused.
template <class N>
std::int64_t edge_below(const N& x, const Edges<N>& edges) {
  std::size_t low = 0;
  std::size_t high = edges.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (less(x, edges[middle]).value != 0) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return static_cast<std::int64_t>(low) - 1;
}

template <class N>
std::vector<BinOf> bins_of(const N& x, const Edges<N>& edges) {
  const Whole below = less(x, edges.front());
  const Whole above = less(edges.back(), x);
  const Whole nan = is_nan(x);
  const bool is_inside = below.value == 0 && above.value == 0 && nan.value == 0;
  const bool is_sure = !below.undecided && !above.undecided && !nan.undecided;
  if (!is_inside && is_sure) return {};
  const auto count = static_cast<std::int64_t>(edges.size()) - 1;
  const std::int64_t bin = std::clamp<std::int64_t>(edge_below(x, edges), 0, count - 1);
  const auto is_open = [&](std::int64_t edge) {
    return edge > 0 && edge < count && less(x, edges[static_cast<std::size_t>(edge)]).undecided;
  };
  std::int64_t lowest = bin;
  while (is_open(lowest)) --lowest;
  std::int64_t highest = bin;
  while (is_open(highest + 1)) ++highest;
  std::vector<BinOf> out;
  for (std::int64_t b = lowest; b <= highest; ++b) {
    out.push_back({b, is_inside && b == bin, is_sure && lowest == highest});
  }
  return out;
}

// The bins of several dimensions that one point may fall into.
template <class N>
std::vector<BinOf> bins_of_point(const N* point, const std::vector<Edges<N>>& edges) {
  std::vector<BinOf> all = {{}};
  for (std::size_t d = 0; d < edges.size() && !all.empty(); ++d) {
    const auto count = static_cast<std::int64_t>(edges[d].size()) - 1;
    std::vector<BinOf> next;
    for (const BinOf& outer : all) {
      for (const BinOf& inner : bins_of(point[d], edges[d])) {
        next.push_back({outer.bin * count + inner.bin, outer.is_likely && inner.is_likely,
                        outer.is_sure && inner.is_sure});
      }
    }
    all = std::move(next);
  }
  return all;
}

// Points of so many dimensions each, one after the other.
struct Points {
  const Tensor& tensor;
  std::int64_t count = 0;
  std::int64_t dims = 1;
};

Points points_of_rows(const Tensor& self) {
  if (self.rank() < 2) throw OpError("histogramdd: input tensor should have at least 2 dimensions");
  const std::int64_t dims = self.sizes.back();
  return {self, count_of(Sizes(self.sizes.begin(), self.sizes.end() - 1)), dims};
}

void check_weights(const Call& call, const Sizes& sizes) {
  const TensorRef weight = call.optional_tensor("weight");
  const Tensor& self = *call.tensor("self");
  if (!spec::is_floating_point(self.dtype)) throw OpError("histograms want a floating dtype");
  if (!weight) return;
  if (weight->dtype != self.dtype) throw OpError("weight and input should have the same dtype");
  if (weight->sizes != sizes) throw OpError("weight must have one number for each point");
}

// Counts, then, for a density, their quotients by the sum and by the widths of bins. PyTorch adds
// in the dtype, and rounds each quotient.
template <class N>
void emit_histogram(Call& call, const Points& points, const std::vector<Edges<N>>& edges) {
  const DType dtype = points.tensor.dtype;
  const Array<N> data = load<N>(points.tensor, dtype);
  const TensorRef weight = call.optional_tensor("weight");
  const Array<N> weights = weight ? load<N>(*weight, dtype) : Array<N>({points.count}, N(1.0));
  Sizes sizes;
  for (const Edges<N>& of_dim : edges) {
    sizes.push_back(static_cast<std::int64_t>(of_dim.size()) - 1);
  }
  std::vector<Picked> picked;
  std::vector<N> terms;
  for (std::int64_t i = 0; i < points.count; ++i) {
    for (const BinOf& bin : bins_of_point(data.data.data() + i * points.dims, edges)) {
      picked.push_back({bin.bin, false});
      terms.push_back(bin.is_sure ? weights[i] : perhaps(weights[i], bin.is_likely));
    }
  }
  const TensorRef counts = new_tensor(dtype, sizes, points.tensor.device);
  accumulate(*counts, picked, terms, {Combining::kSum, Partials::kOwnDtype});
  Array<N> out = load<N>(*counts, dtype);
  if (!call.boolean("density")) return emit_made(call, counts);
  Sum<N> total;
  for (const N& x : out.data) total.add(x);
  const N sum = held_in(total.result(), dtype);
  std::int64_t position = 0;
  for_each_index(sizes, [&](const Sizes& index) {
    N& x = out[position++];
    x = held_in(x / sum, dtype);
    for (std::size_t d = 0; d < edges.size(); ++d) {
      const auto bin = static_cast<std::size_t>(index[d]);
      x = held_in(x / held_in(edges[d][bin + 1] - edges[d][bin], dtype), dtype);
    }
  });
  call.emit(out, dtype);
}

// ---- edges

// The least and the greatest number along dimension d, as float64: 0 and 1 where there is none.
std::pair<double, double> range_of_data(const Points& points, std::int64_t d) {
  if (points.count == 0) return {0, 1};
  require_decided(points.tensor);
  const Array<double> data = load<double>(points.tensor, points.tensor.dtype);
  double low = data[d];
  double high = data[d];
  for (std::int64_t i = 0; i < points.count; ++i) {
    low = minimum(low, data[i * points.dims + d]);
    high = maximum(high, data[i * points.dims + d]);
  }
  return {low, high};
}

std::pair<double, double> outer_edges(const Call& call, const Points& points, std::int64_t d) {
  std::pair<double, double> outer;
  if (!call.has("range")) {
    outer = range_of_data(points, d);
  } else {
    const auto* given = call.datum("range").as<Datum::List>();
    if (!given || static_cast<std::int64_t>(given->size()) != 2 * points.dims) {
      throw OpError("histogram: range should have two numbers for each dimension");
    }
    const auto bound = [&](std::int64_t i) {
      return number<double>((*given)[static_cast<std::size_t>(i)], DType::kFloat64);
    };
    outer = {bound(2 * d), bound(2 * d + 1)};
  }
  if (!std::isfinite(outer.first) || !std::isfinite(outer.second)) {
    throw OpError("histogram: the range is not finite");
  }
  if (outer.first > outer.second) throw OpError("histogram: min should not exceed max");
  if (outer.first == outer.second) return {outer.first - 0.5, outer.second + 0.5};
  return outer;
}

template <class N>
Edges<N> spaced_edges(const Call& call, const Points& points, std::int64_t d, std::int64_t bins) {
  if (bins <= 0 || bins >= kMostElements) throw OpError("histogram: bins must be > 0");
  const auto [low, high] = outer_edges(call, points, d);
  return spaced_numbers<N>(low, high, bins + 1, points.tensor.dtype).data;
}

template <class N>
std::vector<Edges<N>> all_spaced_edges(const Call& call, const Points& points) {
  const Sizes bins = call.integers("bins");
  if (static_cast<std::int64_t>(bins.size()) != points.dims) {
    throw OpError("histogramdd: the size of bins must be equal to the innermost dimension");
  }
  std::vector<Edges<N>> edges;
  for (std::int64_t d = 0; d < points.dims; ++d) {
    edges.push_back(spaced_edges<N>(call, points, d, bins[static_cast<std::size_t>(d)]));
  }
  return edges;
}

template <class N>
Edges<N> given_edges(const Tensor& bins, DType dtype) {
  if (bins.dtype != dtype) throw OpError("input and bins should have the same dtype");
  if (bins.rank() != 1) throw OpError("bins must have one dimension");
  if (bins.sizes[0] < 2) throw OpError("histogram: bins must be > 0");
  return load<N>(bins, dtype).data;
}

// Edges as an executor has them beside a histogram: rounded to the dtype in an eager run.
template <class N>
Edges<N> as_stored(Edges<N> edges, DType dtype) {
  for (N& edge : edges) edge = held_in(edge, dtype);
  return edges;
}

template <class N>
Array<N> edge_array(const Edges<N>& edges) {
  Array<N> out({static_cast<std::int64_t>(edges.size())});
  out.data = edges;
  return out;
}

// ---- the ops

// With a number of bins, or with a tensor of edges, of which the second result is a copy.
void histogram(Call& call) {
  const Tensor& self = *call.tensor("self");
  check_weights(call, self.sizes);
  const Points points{self, self.count(), 1};
  with_real(call.mode(), [&]<class N>() {
    if (const auto* bins = call.datum("bins").as<TensorRef>()) {
      emit_histogram<N>(call, points, {given_edges<N>(**bins, self.dtype)});
      return emit_made(call, copy_of(**bins));
    }
    const Edges<N> edges = spaced_edges<N>(call, points, 0, call.integer("bins"));
    emit_histogram<N>(call, points, {as_stored(edges, self.dtype)});
    call.emit(edge_array(edges), self.dtype);
  });
}

void histogramdd_from_bin_counts(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Points points = points_of_rows(self);
  check_weights(call, Sizes(self.sizes.begin(), self.sizes.end() - 1));
  with_real(call.mode(), [&]<class N>() {
    std::vector<Edges<N>> edges = all_spaced_edges<N>(call, points);
    for (Edges<N>& of_dim : edges) of_dim = as_stored(of_dim, self.dtype);
    emit_histogram<N>(call, points, edges);
  });
}

void histogramdd_from_bin_tensors(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Points points = points_of_rows(self);
  check_weights(call, Sizes(self.sizes.begin(), self.sizes.end() - 1));
  const std::vector<TensorRef> bins = call.tensors("bins");
  if (static_cast<std::int64_t>(bins.size()) != points.dims) {
    throw OpError("histogramdd: one tensor of bins for each dimension");
  }
  with_real(call.mode(), [&]<class N>() {
    std::vector<Edges<N>> edges;
    for (const TensorRef& of_dim : bins) edges.push_back(given_edges<N>(*of_dim, self.dtype));
    emit_histogram<N>(call, points, edges);
  });
}

// The edges alone, one tensor for each dimension. The out= form returns nothing.
void histogramdd_bin_edges(Call& call) {
  const Tensor& self = *call.tensor("self");
  const Points points = points_of_rows(self);
  check_weights(call, Sizes(self.sizes.begin(), self.sizes.end() - 1));
  Datum::List made;
  with_real(call.mode(), [&]<class N>() {
    for (const Edges<N>& edges : all_spaced_edges<N>(call, points)) {
      const Array<N> array = edge_array(edges);
      const TensorRef tensor = new_tensor(self.dtype, array.sizes, self.device);
      store(*tensor, array);
      made.push_back({tensor});
    }
  });
  if (!call.has("out")) return call.emit_datum({std::move(made)});
  const std::vector<TensorRef> out = call.tensors("out");
  if (out.size() != made.size()) throw OpError("the list 'out' has another length");
  for (std::size_t d = 0; d < out.size(); ++d) {
    const Tensor& edges = **made[d].as<TensorRef>();
    if (out[d]->sizes != edges.sizes) call.resize_out(out[d], edges.sizes);
    assign(call.mode(), *out[d], edges);
  }
}

constexpr std::array kBinningOps = {
    OpBody{"aten._histogramdd_bin_edges", histogramdd_bin_edges},
    OpBody{"aten._histogramdd_from_bin_cts", histogramdd_from_bin_counts},
    OpBody{"aten._histogramdd_from_bin_tensors", histogramdd_from_bin_tensors},
    OpBody{"aten.histogram", histogram},
};

}  // namespace

std::span<const OpBody> binning_ops() { return kBinningOps; }

}  // namespace graphgate::reference
