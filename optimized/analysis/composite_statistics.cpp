// Composite ops of statistics: quantiles, slopes, covariances, histograms.
#include <algorithm>
#include <set>

#include "optimized/analysis/composite.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using spec::DType;
using Values = std::vector<Argument>;

Argument cast_to(Parts& parts, const Argument& value, DType dtype) {
  return parts.run("aten.to.dtype", {value, {dtype}});
}

// ---- quantiles

// The elements of which quantiles are taken, sorted along a last dimension; the others as they are
// in the result.
Argument sorted_samples(Parts& parts) {
  const Tensor self = parts.tensor("self");
  const bool keeps = parts.boolean("keepdim");
  std::vector<std::int64_t> sizes;
  Argument samples = parts["self"];
  std::int64_t count = self.count();
  if (parts.has("dim") && self.rank() > 0) {
    const std::int64_t dim = wrap_dim(parts.integer("dim"), self.rank());
    count = self.size(dim);
    for (std::int64_t d = 0; d < self.rank(); ++d) {
      if (d != dim) sizes.push_back(self.size(d));
      if (d == dim && keeps) sizes.push_back(1);
    }
    if (dim != self.rank() - 1) {
      samples = parts.run("aten.unsqueeze.default", {samples, {std::int64_t{-1}}});
      samples = parts.run("aten.transpose.int", {samples, {dim}, {std::int64_t{-1}}});
    }
  } else {
    samples = parts.run("aten.reshape.default", {samples, integers_argument({-1})});
    if (keeps) sizes.assign(at(self.rank()), 1);
  }
  samples = parts.all("aten.sort.default", {samples})[0];
  sizes.push_back(count);
  return parts.run("aten.reshape.default", {samples, integers_argument(sizes)});
}

// Where the quantiles lie among the samples, in float64. A NaN among them is last, and is taken.
Argument places_of(Parts& parts, const Argument& samples, const Argument& q, bool skips_nan) {
  const Argument wide = cast_to(parts, q, DType::kFloat64);
  const Argument is_nan = parts.run("aten.isnan.default", {samples});
  const std::int64_t last = parts.of(samples).size(-1) - 1;
  if (skips_nan) {
    const Argument is_number = parts.run("aten.logical_not.default", {is_nan});
    const Argument count =
        parts.run("aten.sum.dim_IntList", {is_number, integers_argument({-1}), {true}});
    const Argument least = parts.run("aten.clamp_min.default", {count, {std::int64_t{1}}});
    const Argument of_numbers = parts.run("aten.sub.Scalar", {least, {std::int64_t{1}}});
    return parts.run("aten.mul.Tensor", {wide, of_numbers});
  }
  const Argument has_nan = parts.run("aten.any.dim", {is_nan, {std::int64_t{-1}}, {true}});
  const Argument places = parts.run("aten.mul.Scalar", {wide, {last}});
  const Argument at_end = parts.run("aten.full.default", {integers_argument({}),
                                                          {static_cast<double>(last)},
                                                          {DType::kFloat64},
                                                          {spec::None{}},
                                                          {parts.of(samples).device}});
  return parts.run("aten.where.self", {has_nan, at_end, places});
}

Values quantiles_of(Parts& parts, bool skips_nan) {
  const DType dtype = parts.tensor("self").dtype;
  if (dtype != DType::kFloat32 && dtype != DType::kFloat64) {
    throw OpError("quantile takes float32 and float64");
  }
  if (parts.tensor("self").count() == 0) throw OpError("quantile takes no empty tensor");
  const std::string_view rule = parts.text("interpolation");
  const bool is_between = rule == "linear" || rule == "midpoint";
  Argument q = parts["q"];
  if (!parts.is_tensor("q")) {
    const double share = parts.real("q");
    if (!(share >= 0 && share <= 1)) throw OpError("the q of a quantile is from 0 to 1");
    q = parts.run("aten.scalar_tensor.default",
                  {q, {dtype}, {spec::None{}}, {parts.tensor("self").device}});
  }
  const std::int64_t rank_of_q = parts.of(q).rank();
  if (rank_of_q > 1) throw OpError("q must be a scalar or a vector");
  const Argument samples = sorted_samples(parts);
  Argument places = places_of(parts, samples, q, skips_nan);
  const Argument lower = parts.run("aten.floor.default", {places});
  const Argument upper = parts.run("aten.ceil.default", {places});
  const auto sample_at = [&](const Argument& place) {
    return parts.run("aten.gather.default",
                     {samples, {std::int64_t{-1}}, cast_to(parts, place, DType::kInt64)});
  };
  Argument out;
  if (is_between) {
    const Argument share = parts.run("aten.sub.Tensor", {places, lower});
    const Argument low = sample_at(lower);
    const Argument high = sample_at(upper);
    out = rule == "midpoint"
              ? parts.run("aten.lerp.Scalar", {low, high, {0.5}})
              : parts.run("aten.lerp.Tensor", {low, high, cast_to(parts, share, dtype)});
  } else if (rule == "nearest") {
    out = sample_at(parts.run("aten.round.default", {places}));
  } else if (rule == "lower" || rule == "higher") {
    out = sample_at(rule == "lower" ? lower : upper);
  } else {
    throw OpError("quantile knows no such interpolation");
  }
  if (rank_of_q == 1) {
    out = parts.run("aten.unsqueeze.default", {out, {std::int64_t{0}}});
    out = parts.run("aten.transpose.int", {out, {std::int64_t{0}}, {std::int64_t{-1}}});
  }
  return {parts.run("aten.squeeze.dim", {out, {std::int64_t{-1}}})};
}

Values quantiles(Parts& parts) { return quantiles_of(parts, false); }
Values quantiles_of_numbers(Parts& parts) { return quantiles_of(parts, true); }

// ---- slopes

// Elements [start, end) of `self` along one dimension, and sums of multiples of them.
class SlopeLine {
 public:
  SlopeLine(Parts& parts, std::int64_t dim)
      : parts_(parts), dim_(dim), size_(parts.tensor("self").size(dim)) {}

  [[nodiscard]] std::int64_t size() const { return size_; }

  Argument range(std::int64_t start, std::int64_t end) {
    return parts_.run("aten.slice.Tensor", {parts_["self"], {dim_}, {start}, {end}});
  }
  // One element, counted from the other end with `from_end`.
  Argument one(std::int64_t i, bool from_end) {
    const std::int64_t place = from_end ? size_ - 1 - i : i;
    return range(place, place + 1);
  }
  Argument operator()(std::string_view op, const Argument& a, const Argument& b) {
    return parts_.run(op, {a, b});
  }
  Argument join(const Argument& first, const Argument& inside, const Argument& last) {
    return parts_.run("aten.cat.default", {{Argument::List{first, inside, last}}, {dim_}});
  }

 private:
  Parts& parts_;
  std::int64_t dim_;
  std::int64_t size_;
};

// Differences over a step; at the ends one-sided ones of two or three elements.
Argument slope_by_step(SlopeLine& line, const Argument& step, std::int64_t order) {
  const std::int64_t n = line.size();
  const auto change = [&](const Argument& to, const Argument& from) {
    return line("aten.div.Scalar", line("aten.sub.Tensor", to, from), step);
  };
  const Argument ahead = line.range(2, n);
  const Argument twice = change(ahead, line.range(0, n - 2));
  const Argument inside = line("aten.div.Scalar", twice, {std::int64_t{2}});
  const auto end = [&](bool is_last) -> Argument {
    const Argument outer = line.one(0, is_last);
    const Argument next = line.one(1, is_last);
    if (order == 1) return is_last ? change(outer, next) : change(next, outer);
    // -3/2, 2 and -1/2 from the first on, with the other sign from the last.
    const double sign = is_last ? -1 : 1;
    const Argument far = line("aten.mul.Scalar", line.one(2, is_last), {0.5});
    const Argument middle = line("aten.mul.Scalar", next, {std::int64_t{2}});
    const Argument near = line("aten.mul.Scalar", outer, {-1.5 * sign});
    if (!is_last) return change(line("aten.add.Tensor", near, middle), far);
    const Argument rest = line("aten.sub.Tensor", far, middle);
    return line("aten.div.Scalar", line("aten.add.Tensor", rest, near), step);
  };
  const Argument first = end(false);
  return line.join(first, inside, end(true));
}

// Weights of three elements whose steps are h and k: of the first, the middle and the last.
struct ThreeWeights {
  Argument first;
  Argument middle;
  Argument last;
};

// Of the slope in the middle, as Lagrange's polynomial has it.
ThreeWeights weights_inside(Parts& parts, const Argument& h, const Argument& k) {
  const auto op = [&](std::string_view name, const Argument& a, const Argument& b) {
    return parts.run(name, {a, b});
  };
  const Argument sum = op("aten.add.Tensor", h, k);
  const Argument under_first = op("aten.mul.Tensor", h, sum);
  const Argument under_middle = op("aten.mul.Tensor", h, k);
  const Argument under_last = op("aten.mul.Tensor", k, sum);
  const Argument minus = parts.run("aten.neg.default", {k});
  const Argument first = op("aten.div.Tensor", minus, under_first);
  const Argument middle = op("aten.div.Tensor", op("aten.sub.Tensor", k, h), under_middle);
  return {first, middle, op("aten.div.Tensor", h, under_last)};
}

// Of the slope at an end, of which h is the step next to it: from the end on, for a slope that
// rises towards the inside.
ThreeWeights weights_at_end(Parts& parts, const Argument& h, const Argument& k) {
  const auto op = [&](std::string_view name, const Argument& a, const Argument& b) {
    return parts.run(name, {a, b});
  };
  const Argument sum = op("aten.add.Tensor", h, k);
  const Argument long_step =
      op("aten.add.Tensor", parts.run("aten.mul.Scalar", {h, {std::int64_t{2}}}), k);
  const Argument outer = op("aten.div.Tensor", long_step, op("aten.mul.Tensor", h, sum));
  const Argument next = op("aten.div.Tensor", sum, op("aten.mul.Tensor", h, k));
  const Argument far = op("aten.div.Tensor", h, op("aten.mul.Tensor", k, sum));
  return {parts.run("aten.neg.default", {outer}), next, parts.run("aten.neg.default", {far})};
}

Argument slope_by_places(Parts& parts, SlopeLine& line, std::int64_t dim, const Argument& places,
                         std::int64_t order) {
  const std::int64_t n = line.size();
  const Tensor& given = parts.of(places);
  if (given.rank() != 1 || given.count() != n) throw OpError("a place is given for each element");
  const auto part_of = [&](const Argument& vector, std::int64_t start, std::int64_t end) {
    return parts.run("aten.slice.Tensor", {vector, {std::int64_t{0}}, {start}, {end}});
  };
  const Argument behind = part_of(places, 1, n);
  const Argument steps = line("aten.sub.Tensor", behind, part_of(places, 0, n - 1));
  std::vector<std::int64_t> sizes(at(parts.tensor("self").rank()), 1);
  sizes[at(dim)] = n - 2;
  const auto stretched = [&](const Argument& vector) {
    return parts.run("aten.view.default", {vector, integers_argument(sizes)});
  };
  const auto weighted = [&](const ThreeWeights& by, const Argument& a, const Argument& b,
                            const Argument& c) {
    const Argument left = line("aten.mul.Tensor", by.first, a);
    const Argument both = line("aten.add.Tensor", left, line("aten.mul.Tensor", by.middle, b));
    return line("aten.add.Tensor", both, line("aten.mul.Tensor", by.last, c));
  };
  const Argument h = part_of(steps, 0, n - 2);
  ThreeWeights by = weights_inside(parts, h, part_of(steps, 1, n - 1));
  by = {stretched(by.first), stretched(by.middle), stretched(by.last)};
  const Argument before = line.range(0, n - 2);
  const Argument own = line.range(1, n - 1);
  const Argument inside = weighted(by, before, own, line.range(2, n));
  const auto step = [&](std::int64_t i) {
    return parts.run("aten.select.int", {steps, {std::int64_t{0}}, {i}});
  };
  const auto end = [&](bool is_last) -> Argument {
    const Argument near = step(is_last ? -1 : 0);
    const Argument outer = line.one(0, is_last);
    const Argument next = line.one(1, is_last);
    if (order == 1) {
      const Argument change =
          is_last ? line("aten.sub.Tensor", outer, next) : line("aten.sub.Tensor", next, outer);
      return line("aten.div.Tensor", change, near);
    }
    const ThreeWeights weights = weights_at_end(parts, near, step(is_last ? -2 : 1));
    const Argument sum = weighted(weights, outer, next, line.one(2, is_last));
    return is_last ? parts.run("aten.neg.default", {sum}) : sum;
  };
  const Argument first = end(false);
  return line.join(first, inside, end(true));
}

Values slopes(Parts& parts) {
  const std::int64_t rank = parts.tensor("self").rank();
  if (parts.tensor("self").dtype == DType::kUInt8) throw OpError("gradient takes no uint8");
  const std::int64_t order = parts.integer("edge_order");
  if (order < 1 || order > 2) throw OpError("gradient knows the edge orders 1 and 2");
  std::vector<std::int64_t> dims;
  if (parts.has("dim")) {
    for (const std::int64_t dim : parts.integers("dim")) dims.push_back(wrap_dim(dim, rank));
  } else {
    while (std::ssize(dims) < rank) dims.push_back(std::ssize(dims));
  }
  if (std::set<std::int64_t>(dims.begin(), dims.end()).size() != dims.size()) {
    throw OpError("gradient takes each dimension once");
  }
  const Argument spacing = parts.has("spacing") ? parts["spacing"] : Argument{1.0};
  const auto* list = spacing.as<Argument::List>();
  if (list != nullptr && list->size() != dims.size()) throw OpError("a spacing for each dimension");
  Argument::List out;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    SlopeLine line(parts, dims[i]);
    if (line.size() <= order) throw OpError("gradient takes more elements than its edge order");
    const Argument& step = list != nullptr ? (*list)[i] : spacing;
    out.push_back(step.as<spec::ValueId>() != nullptr
                      ? slope_by_places(parts, line, dims[i], step, order)
                      : slope_by_step(line, step, order));
  }
  return {{std::move(out)}};
}

// ---- covariances

Argument covariances_of(Parts& parts) {
  const Tensor self = parts.tensor("self");
  if (self.rank() > 2 || self.dtype == DType::kBool) throw OpError("cov takes matrices of numbers");
  Argument rows = parts["self"];
  if (self.rank() < 2) rows = parts.run("aten.view.default", {rows, integers_argument({1, -1})});
  const std::int64_t count = parts.of(rows).size(1);
  const std::int64_t lost = parts.has("correction") ? parts.integer("correction") : 1;
  const bool has_frequencies = parts.has("fweights");
  const bool has_weights = parts.has("aweights");
  const auto product = [&](const Argument& a, const Argument& b) {
    return parts.run("aten.mul.Tensor", {a, b});
  };
  const auto sum_of_rows = [&](const Argument& value) {
    return parts.run("aten.sum.dim_IntList", {value, integers_argument({1}), {true}});
  };
  const auto difference = [&](const Argument& a, const Argument& b) {
    return parts.run("aten.sub.Tensor", {a, b});
  };
  const auto quotient = [&](const Argument& a, const Argument& b) {
    return parts.run("aten.div.Tensor", {a, b});
  };
  if (!has_frequencies && !has_weights) {
    const Argument mean = parts.run("aten.div.Scalar", {sum_of_rows(rows), {count}});
    const Argument centered = difference(rows, mean);
    const Argument columns = parts.run("aten.t.default", {centered});
    const Argument squares = parts.run("aten.mm.default", {centered, columns});
    return parts.run("aten.div.Scalar", {squares, {std::max<std::int64_t>(count - lost, 0)}});
  }
  for (const std::string_view name : {"fweights", "aweights"}) {
    const Tensor* given = parts.optional_tensor(name);
    if (given == nullptr) continue;
    if (given->count() != count || given->rank() > 1) {
      throw OpError("cov takes a weight for each observation");
    }
    if (spec::is_floating_point(given->dtype) != (name == "aweights")) {
      throw OpError("cov counts by integers and weighs by floating point numbers");
    }
  }
  Argument each = parts[has_frequencies ? "fweights" : "aweights"];
  if (has_frequencies && has_weights) each = product(each, parts["aweights"]);
  const Argument total = parts.run("aten.sum.default", {each});
  const Argument mean = quotient(sum_of_rows(product(rows, each)), total);
  Argument freedom;
  if (has_weights && lost != 0) {
    const Argument squares = parts.run("aten.sum.default", {product(each, parts["aweights"])});
    const Argument scaled = parts.run("aten.mul.Scalar", {squares, {lost}});
    freedom = difference(total, quotient(scaled, total));
  } else {
    freedom = parts.run("aten.sub.Scalar", {total, {lost}});
  }
  freedom = parts.run("aten.relu.default", {freedom});
  const Argument centered = difference(rows, mean);
  const Argument weighed = product(centered, each);
  const Argument squares =
      parts.run("aten.mm.default", {centered, parts.run("aten.t.default", {weighed})});
  return quotient(squares, freedom);
}

Values covariances(Parts& parts) {
  return {parts.run("aten.squeeze.default", {covariances_of(parts)})};
}

Values correlations(Parts& parts) {
  Argument out = covariances_of(parts);
  const bool is_one = parts.of(out).count() == 1;
  out = parts.run("aten.squeeze.default", {out});
  if (is_one) return {parts.run("aten.div.Tensor", {out, out})};
  const std::int64_t n = parts.of(out).size(0);
  const Argument variances = parts.run("aten.diagonal.default", {out});
  const Argument deviations = parts.run("aten.sqrt.default", {variances});
  for (const auto& sizes : {std::array{n, std::int64_t{1}}, std::array{std::int64_t{1}, n}}) {
    const Argument along = parts.run("aten.view.default", {deviations, integers_argument(sizes)});
    out = parts.run("aten.div.Tensor", {out, along});
  }
  return {parts.run("aten.clamp.default", {out, {-1.0}, {1.0}})};
}

// ---- histograms

Values histogram_and_edges(Parts& parts) {
  if (parts.row().schema.overload == "TensorList_bins") {
    return {parts.run("aten._histogramdd_from_bin_tensors.default",
                      {parts["self"], parts["bins"], parts["weight"], parts["density"]}),
            parts["bins"]};
  }
  const Tensor& self = parts.tensor("self");
  Argument bins = parts["bins"];
  if (const auto* each = bins.as<std::int64_t>()) {
    if (self.rank() == 0) throw OpError("histogramdd takes rows of coordinates");
    bins = integers_argument(std::vector<std::int64_t>(at(self.size(-1)), *each));
  }
  const Values arguments = {parts["self"], bins, parts["range"], parts["weight"], parts["density"]};
  const Argument histogram = parts.run("aten._histogramdd_from_bin_cts.default", arguments);
  return {histogram, parts.run("aten._histogramdd_bin_edges.default", arguments)};
}

constexpr CompositeOp kCompositeStatistics[] = {
    {"aten.corrcoef", correlations},
    {"aten.cov", covariances},
    {"aten.gradient", slopes},
    {"aten.histogramdd", histogram_and_edges},
    {"aten.nanquantile", quantiles_of_numbers},
    {"aten.quantile", quantiles},
};

}  // namespace

std::span<const CompositeOp> composite_statistics() { return kCompositeStatistics; }

}  // namespace graphgate::optimized
