// Quantiles, gradients, covariances and histograms that PyTorch defines by others (ATen's
// Sorting.cpp, ReduceOps.cpp, Correlation.cpp and Histogram.cpp).
#include <algorithm>
#include <cmath>
#include <set>

#include "reference/ops/composition.h"

namespace graphgate::reference {
namespace composite {
namespace {

using spec::DType;

// --- quantiles ---

void check_quantile(const TensorRef& self, const TensorRef& q, std::string_view interpolation) {
  if (self->dtype != DType::kFloat32 && self->dtype != DType::kFloat64) {
    throw OpError("quantile() input tensor must be either float or double dtype");
  }
  if (self->count() == 0) throw OpError("quantile() input tensor must be non-empty");
  if (q->rank() > 1) throw OpError("quantile() q must be a scalar or 1D tensor");
  if (q->dtype != self->dtype) throw OpError("quantile() q must have the input's dtype");
  for (const std::string_view known : {"linear", "lower", "higher", "midpoint", "nearest"}) {
    if (interpolation == known) return;
  }
  throw OpError(
      "quantile() interpolation must be one of linear, lower, higher, midpoint or "
      "nearest");
}

// PyTorch asks it of tensors of shares on a CPU alone. A share that may lie on either side for
// rounding is taken.
void check_shares(const Call& call, const Tensor& q) {
  if (declared_arithmetic().has_cuda_kernels) return;
  with_real(call.mode(), [&]<class N>() {
    for (const N& share : load<N>(q, q.dtype).data) {
      const Whole is_outside = less(share, N(0.0)) | less(N(1.0), share) | is_nan(share);
      if (is_outside.value != 0 && !is_outside.undecided) {
        throw OpError("quantile() q values must be in the range [0, 1]");
      }
    }
  });
}

// Places among sorted elements, as float64: q times the last one's, which of a row with a NaN is
// the last itself. With `ignores_nan` the last number's.
TensorRef quantile_places(const Composition& run, const TensorRef& rows, const TensorRef& q,
                          bool ignores_nan) {
  const TensorRef wide = to_dtype(run, q, DType::kFloat64);
  const TensorRef nans = run("aten.isnan.default", {{rows}});
  if (ignores_nan) {
    const TensorRef numbers = sum_of(run, run("aten.logical_not.default", {{nans}}), {-1}, true);
    const TensorRef last = run("aten.sub.Scalar", {{numbers}, {std::int64_t{1}}});
    const TensorRef places = run("aten.mul.Tensor", {{wide}, {last}});
    const TensorRef none = run("aten.lt.Scalar", {{places}, {std::int64_t{0}}});
    return run("aten.masked_fill.Scalar", {{places}, {none}, {std::int64_t{0}}});
  }
  const std::int64_t last = rows->sizes.back() - 1;
  const TensorRef has_nan = run("aten.any.dim", {{nans}, {std::int64_t{-1}}, {true}});
  const TensorRef places = run("aten.mul.Scalar", {{wide}, {last}});
  const Sizes sizes = broadcast_sizes({places->sizes, has_nan->sizes});
  return run("aten.masked_fill.Scalar", {{run("aten.expand.default", {{places}, list_of(sizes)})},
                                         {run("aten.expand.default", {{has_nan}, list_of(sizes)})},
                                         {last}});
}

void quantile_of(Call& call, bool ignores_nan) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  const std::string_view interpolation = call.text("interpolation");
  const bool is_number = call.row().schema.overload == "scalar";
  if (is_number && !(call.real("q") >= 0 && call.real("q") <= 1)) {
    throw OpError("quantile() q must be in the range [0, 1]");
  }
  const TensorRef q = is_number ? run("aten.scalar_tensor.default",
                                      {call.datum("q"), {self->dtype}, {}, {self->device}})
                                : call.tensor("q");
  check_quantile(self, q, interpolation);
  if (!is_number) check_shares(call, *q);
  const std::optional<std::int64_t> given = call.optional_integer("dim");
  const std::int64_t dim = given ? wrap_dim(*given, self->rank()) : 0;
  const bool keeps = call.boolean("keepdim");
  // The sizes of the result but for q's.
  Sizes sizes;
  if (given && self->rank() > 0) {
    sizes = self->sizes;
    sizes[static_cast<std::size_t>(dim)] = 1;
    if (!keeps) sizes.erase(sizes.begin() + dim);
  } else if (keeps) {
    sizes.assign(static_cast<std::size_t>(self->rank()), 1);
  }
  TensorRef rows = self;
  if (!given) {
    rows = run("aten.flatten.using_ints", {{self}});
  } else if (dim != self->rank() - 1) {
    rows = transposed(run, unsqueezed(run, self, -1), dim, -1);
  }
  rows = run("aten.sort.default", {{rows}});
  sizes.push_back(rows->rank() == 0 ? 1 : rows->sizes.back());
  rows = reshaped(run, rows, sizes);

  TensorRef places = quantile_places(run, rows, q, ignores_nan);
  if (interpolation == "lower") places = run("aten.floor.default", {{places}});
  if (interpolation == "higher") places = run("aten.ceil.default", {{places}});
  if (interpolation == "nearest") places = run("aten.round.default", {{places}});
  const auto at_places = [&](const TensorRef& index) {
    return run("aten.gather.default", {{rows}, {std::int64_t{-1}}, {index}});
  };
  const TensorRef below = to_dtype(run, places, DType::kInt64);
  TensorRef out = at_places(below);
  if (interpolation == "linear" || interpolation == "midpoint") {
    const TensorRef weights =
        interpolation == "midpoint"
            ? run("aten.full_like.default", {{places}, {0.5}, {self->dtype}})
            : to_dtype(run, run("aten.sub.Tensor", {{places}, {below}}), self->dtype);
    const TensorRef above = to_dtype(run, run("aten.ceil.default", {{places}}), DType::kInt64);
    out = run("aten.lerp.Tensor", {{out}, {at_places(above)}, {weights}});
  }
  if (q->rank() == 0) {
    return call.emit_datum({run("aten.squeeze.dim", {{out}, {std::int64_t{-1}}})});
  }
  // q's dimension comes first.
  out = transposed(run, unsqueezed(run, out, 0), 0, -1);
  call.emit_datum({run("aten.squeeze.dim", {{out}, {std::int64_t{-1}}})});
}

void quantile(Call& call) { quantile_of(call, false); }
void nanquantile(Call& call) { quantile_of(call, true); }

// --- gradients ---

// One dimension of a tensor whose gradient is taken.
class Slope {
 public:
  Slope(const Composition& run, const TensorRef& self, std::int64_t dim)
      : run_(run), self_(self), dim_(dim), size_(self->sizes[static_cast<std::size_t>(dim)]) {}

  // By steps of one size.
  [[nodiscard]] TensorRef by_step(const Datum& step, std::int64_t edge_order) const {
    const auto per_step = [&](const TensorRef& change) {
      return run_("aten.div.Scalar", {{change}, step});
    };
    const TensorRef inside = per_step(sub(from(2, size_), from(0, -2)));
    TensorRef first;
    TensorRef last;
    if (edge_order == 1) {
      first = per_step(sub(from(1, 2), from(0, 1)));
      last = per_step(sub(from(-1, size_), from(-2, -1)));
    } else {
      const auto scaled = [&](std::int64_t start, std::int64_t end, const Datum& factor) {
        return run_("aten.mul.Scalar", {{from(start, end)}, factor});
      };
      const Datum two = {std::int64_t{2}};
      first = per_step(sub(add(scaled(0, 1, {-1.5}), scaled(1, 2, two)), scaled(2, 3, {0.5})));
      last =
          per_step(add(sub(scaled(-3, -2, {0.5}), scaled(-2, -1, two)), scaled(-1, size_, {1.5})));
    }
    return joined(first, run_("aten.div.Scalar", {{inside}, {std::int64_t{2}}}), last);
  }

  // By where the elements lie.
  [[nodiscard]] TensorRef by_places(const TensorRef& places, std::int64_t edge_order) const {
    if (places->rank() != 1 || places->count() != size_) {
      throw OpError(
          "torch.gradient expected each element of 'spacing' to have as many elements "
          "as the dimension");
    }
    const TensorRef steps = run_("aten.diff.default", {{places}});
    const std::int64_t count = size_ - 1;
    const TensorRef before = part(run_, steps, 0, 0, -1);
    const TensorRef behind = part(run_, steps, 0, 1, count);
    Sizes view(static_cast<std::size_t>(self_->rank()), 1);
    view[static_cast<std::size_t>(dim_)] = -1;
    const auto stretched = [&](const TensorRef& vector) { return reshaped(run_, vector, view); };
    const TensorRef both = add(before, behind);
    const TensorRef a = stretched(div(neg(behind), mul(before, both)));
    const TensorRef b = stretched(div(sub(behind, before), mul(before, behind)));
    const TensorRef c = stretched(div(before, mul(behind, both)));
    const TensorRef inside =
        add(add(mul(a, from(0, -2)), mul(b, from(1, -1))), mul(c, from(2, size_)));
    const auto step = [&](std::int64_t i) {
      return run_("aten.select.int", {{steps}, {std::int64_t{0}}, {i}});
    };
    TensorRef first;
    TensorRef last;
    if (edge_order == 1) {
      first = div(sub(from(1, 2), from(0, 1)), step(0));
      last = div(sub(from(-1, size_), from(-2, -1)), step(-1));
    } else {
      const std::vector<TensorRef> starts = one_sided(step(0), step(1));
      first = add(add(mul(neg(starts[0]), from(0, 1)), mul(starts[1], from(1, 2))),
                  mul(neg(starts[2]), from(2, 3)));
      const std::vector<TensorRef> ends = one_sided(step(-1), step(-2));
      last = add(add(mul(ends[2], from(-3, -2)), mul(neg(ends[1]), from(-2, -1))),
                 mul(ends[0], from(-1, size_)));
    }
    return joined(first, inside, last);
  }

 private:
  // Of the outermost step and the next, the magnitudes of the weights of three elements, from the
  // outermost one on.
  [[nodiscard]] std::vector<TensorRef> one_sided(const TensorRef& outer,
                                                 const TensorRef& next) const {
    const TensorRef both = add(outer, next);
    const TensorRef twice = add(run_("aten.mul.Scalar", {{outer}, {2.0}}), next);
    return {div(twice, mul(outer, both)), div(both, mul(outer, next)), div(outer, mul(next, both))};
  }

  [[nodiscard]] TensorRef from(std::int64_t start, std::int64_t end) const {
    return part(run_, self_, dim_, start, end);
  }
  [[nodiscard]] TensorRef add(const TensorRef& a, const TensorRef& b) const {
    return run_("aten.add.Tensor", {{a}, {b}});
  }
  [[nodiscard]] TensorRef sub(const TensorRef& a, const TensorRef& b) const {
    return run_("aten.sub.Tensor", {{a}, {b}});
  }
  [[nodiscard]] TensorRef mul(const TensorRef& a, const TensorRef& b) const {
    return run_("aten.mul.Tensor", {{a}, {b}});
  }
  [[nodiscard]] TensorRef div(const TensorRef& a, const TensorRef& b) const {
    return run_("aten.div.Tensor", {{a}, {b}});
  }
  [[nodiscard]] TensorRef neg(const TensorRef& a) const { return run_("aten.neg.default", {{a}}); }
  [[nodiscard]] TensorRef joined(const TensorRef& first, const TensorRef& inside,
                                 const TensorRef& last) const {
    return run_("aten.cat.default", {list_of(std::vector{first, inside, last}), {dim_}});
  }

  const Composition& run_;
  TensorRef self_;
  std::int64_t dim_;
  std::int64_t size_;
};

// Dimensions by the argument `dim`: an integer, a list, or all.
Sizes gradient_dims(const Call& call, std::int64_t rank) {
  Sizes dims;
  if (call.has("dim")) {
    dims = call.integers("dim");
  } else {
    for (std::int64_t d = 0; d < rank; ++d) dims.push_back(d);
  }
  for (std::int64_t& dim : dims) dim = wrap_dim(dim, rank);
  if (std::set<std::int64_t>(dims.begin(), dims.end()).size() != dims.size()) {
    throw OpError("torch.gradient: a dimension is repeated");
  }
  return dims;
}

void gradient(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  if (self->dtype == DType::kUInt8) throw OpError("torch.gradient does not support uint8 input.");
  const Sizes dims = gradient_dims(call, self->rank());
  const std::int64_t edge_order = call.integer("edge_order");
  if (edge_order != 1 && edge_order != 2) {
    throw OpError("torch.gradient only supports edge_order=1 and edge_order=2.");
  }
  for (const std::int64_t dim : dims) {
    if (self->sizes[static_cast<std::size_t>(dim)] <= edge_order) {
      throw OpError("torch.gradient expected each dimension size to be at least edge_order+1");
    }
  }
  // One for each dimension; one alone is that of all.
  Datum::List spacings(dims.size(), Datum{1.0});
  if (call.has("spacing")) {
    const Datum& spacing = call.datum("spacing");
    const auto* list = spacing.as<Datum::List>();
    spacings = list != nullptr ? *list : Datum::List(dims.size(), spacing);
    if (spacings.size() != dims.size()) {
      throw OpError("torch.gradient expected as many elements of 'spacing' as dimensions");
    }
  }
  std::vector<TensorRef> out;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const Slope slope(run, self, dims[i]);
    const auto* places = spacings[i].as<TensorRef>();
    out.push_back(places != nullptr ? slope.by_places(*places, edge_order)
                                    : slope.by_step(spacings[i], edge_order));
  }
  call.emit_datum(list_of(out));
}

// --- covariances ---

TensorRef as_variables(const Composition& run, const TensorRef& self) {
  if (self->rank() > 2) throw OpError("cov(): expected input to have two or fewer dimensions");
  if (self->dtype == DType::kBool) throw OpError("cov(): bool dtype is not supported for input");
  return self->rank() < 2 ? run("aten.view.default", {{self}, list_of(Sizes{1, -1})}) : self;
}

// Each variable is a row. Without weights each observation counts once.
TensorRef covariance(const Composition& run, const TensorRef& self, std::int64_t correction,
                     const TensorRef& frequencies, const TensorRef& weights) {
  const TensorRef in = as_variables(run, self);
  const std::int64_t count = in->sizes[1];
  for (const TensorRef& given : {frequencies, weights}) {
    if (given && (given->rank() > 1 || given->count() != count)) {
      throw OpError("cov(): expected a weight for each observation");
    }
  }
  if (frequencies && spec::is_floating_point(frequencies->dtype)) {
    throw OpError("cov(): expected fweights to have integral dtype");
  }
  if (weights && !spec::is_floating_point(weights->dtype)) {
    throw OpError("cov(): expected aweights to have floating point dtype");
  }
  const auto mul = [&](const TensorRef& a, const TensorRef& b) {
    return run("aten.mul.Tensor", {{a}, {b}});
  };
  const auto sub = [&](const TensorRef& a, const TensorRef& b) {
    return run("aten.sub.Tensor", {{a}, {b}});
  };
  const auto div = [&](const TensorRef& a, const TensorRef& b) {
    return run("aten.div.Tensor", {{a}, {b}});
  };
  const auto as_count = [&](std::int64_t number) {
    return run("aten.scalar_tensor.default", {{number}, {DType::kInt64}, {}, {self->device}});
  };
  const TensorRef each =
      frequencies && weights ? mul(frequencies, weights) : (frequencies ? frequencies : weights);
  const auto weighted = [&](const TensorRef& tensor) { return each ? mul(tensor, each) : tensor; };
  const TensorRef total = each ? run("aten.sum.default", {{each}}) : as_count(count);
  const TensorRef mean = div(sum_of(run, weighted(in), {1}, false), total);
  TensorRef divisor;
  if (!each) {
    divisor = as_count(std::max<std::int64_t>(count - correction, 0));
  } else {
    TensorRef lost;
    if (weights && correction != 0) {
      const TensorRef squares = run("aten.sum.default", {{mul(each, weights)}});
      lost = div(run("aten.mul.Scalar", {{squares}, {correction}}), total);
    }
    const TensorRef rest =
        lost ? sub(total, lost) : run("aten.sub.Scalar", {{total}, {correction}});
    divisor = run("aten.clamp_min.default", {{rest}, {std::int64_t{0}}});
  }
  const TensorRef centered = sub(in, unsqueezed(run, mean, 1));
  const TensorRef product =
      run("aten.mm.default", {{centered}, {run("aten.t.default", {{weighted(centered)}})}});
  return run("aten.squeeze.default", {{div(product, divisor)}});
}

void cov(Call& call) {
  const Composition run(call);
  call.emit_datum({covariance(run, call.tensor("self"), call.integer("correction"),
                              call.optional_tensor("fweights"), call.optional_tensor("aweights"))});
}

void corrcoef(Call& call) {
  const Composition run(call);
  TensorRef out = covariance(run, call.tensor("self"), 1, {}, {});
  const auto divide_by = [&](const TensorRef& divisor) {
    out = run("aten.div.Tensor", {{out}, {divisor}});
  };
  if (out->rank() == 0) {
    divide_by(out);
    return call.emit_datum({out});
  }
  const TensorRef deviations = run("aten.sqrt.default", {{run("aten.diagonal.default", {{out}})}});
  divide_by(run("aten.view.default", {{deviations}, list_of(Sizes{-1, 1})}));
  divide_by(run("aten.view.default", {{deviations}, list_of(Sizes{1, -1})}));
  call.emit_datum({run("aten.clamp.default", {{out}, {std::int64_t{-1}}, {std::int64_t{1}}})});
}

// --- histograms ---

void histogramdd(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  const std::string_view overload = call.row().schema.overload;
  if (overload == "TensorList_bins") {
    call.emit_datum(
        {run("aten._histogramdd_from_bin_tensors.default",
             {{self}, call.datum("bins"), call.datum("weight"), call.datum("density")})});
    return call.emit_datum(call.datum("bins"));
  }
  Datum bins = call.datum("bins");
  if (overload == "int_bins") {
    if (self->rank() < 1) throw OpError("histogramdd: expected at least one dimension");
    bins = list_of(Sizes(static_cast<std::size_t>(self->sizes.back()), call.integer("bins")));
  }
  const std::vector<Datum> arguments = {
      {self}, bins, call.datum("range"), call.datum("weight"), call.datum("density")};
  const Datum edges = run.datum("aten._histogramdd_bin_edges.default", arguments);
  call.emit_datum({run("aten._histogramdd_from_bin_cts.default", arguments)});
  call.emit_datum(edges);
}

constexpr OpBody kCompositeStatisticsOps[] = {
    OpBody{"aten.corrcoef", corrcoef},       OpBody{"aten.cov", cov},
    OpBody{"aten.gradient", gradient},       OpBody{"aten.histogramdd", histogramdd},
    OpBody{"aten.nanquantile", nanquantile}, OpBody{"aten.quantile", quantile},
};

}  // namespace
}  // namespace composite

std::span<const OpBody> composite_statistics_ops() { return composite::kCompositeStatisticsOps; }

}  // namespace graphgate::reference
