// Sums, products and norms of complex numbers. Sums are those of the parts; norms those of the
// magnitudes, which are real.
#include <array>

#include "reference/complex_array.h"
#include "reference/movement.h"
#include "reference/ops/composition.h"
#include "reference/pointwise.h"
#include "reference/slices.h"

namespace graphgate::reference {
namespace of_complex {
namespace {

using spec::DType;

// The parts of a tensor as one of real numbers, with a last dimension of size 2.
TensorRef parts_of(const Tensor& tensor) { return std::make_shared<Tensor>(as_components(tensor)); }
// The other way, of a new tensor of parts.
TensorRef joined_parts(const TensorRef& parts) {
  const TensorRef dense = is_contiguous(*parts) ? parts : copy_of(*parts);
  auto out = std::make_shared<Tensor>(*dense);
  out->dtype = complex_dtype(dense->dtype);
  out->sizes.pop_back();
  out->strides = spec::contiguous_strides(out->sizes);
  out->offset /= 2;
  return out;
}

// self in the dtype that a reduction computes in.
TensorRef in_dtype(const Composition& run, const TensorRef& self, DType dtype) {
  return self->dtype == dtype ? self : run("aten._to_copy.default", {{self}, {dtype}});
}
DType reduced_dtype(const Call& call) {
  if (const auto asked = call.optional_dtype("dtype")) return *asked;
  if (const TensorRef target = call.next_target()) return target->dtype;
  return call.tensor("self")->dtype;
}

// The dimensions that a reduction removes, counted from the front: all where none is named.
Sizes reduced_dims(const Call& call, const Tensor& self) {
  Sizes dims;
  if (call.has("dim")) dims = call.integers("dim");
  if (dims.empty()) {
    for (std::int64_t d = 0; d < self.rank(); ++d) dims.push_back(d);
    return dims;
  }
  for (std::int64_t& dim : dims) dim = wrap_dim(dim, self.rank());
  return self.rank() == 0 ? Sizes{} : dims;
}

// The sum of the parts, as a complex tensor or (where a real dtype is asked for) a real one.
TensorRef summed(const Call& call, const Composition& run, const TensorRef& self) {
  const bool keeps = call.has("keepdim") && call.boolean("keepdim");
  const Sizes dims = reduced_dims(call, *self);
  if (!spec::is_complex(self->dtype)) {
    return run("aten.sum.dim_IntList", {{self}, list_of(dims), {keeps}});
  }
  if (dims.empty()) return copy_of(*self);
  return joined_parts(run("aten.sum.dim_IntList", {{parts_of(*self)}, list_of(dims), {keeps}}));
}

void sum(Call& call) {
  const Composition run(call);
  emit_made(call, summed(call, run, in_dtype(run, call.tensor("self"), reduced_dtype(call))));
}

// The quotient is one of complex numbers.
void mean(Call& call) {
  const Composition run(call);
  const DType dtype = reduced_dtype(call);
  if (!spec::is_floating_point(dtype) && !spec::is_complex(dtype)) {
    throw OpError("mean(): the dtype must be floating point or complex");
  }
  const TensorRef self = in_dtype(run, call.tensor("self"), dtype);
  std::int64_t count = 1;
  for (const std::int64_t dim : reduced_dims(call, *self)) {
    count *= self->sizes[static_cast<std::size_t>(dim)];
  }
  emit_made(call, run("aten.div.Scalar", {{summed(call, run, self)}, {count}}));
}

void trace(Call& call) {
  const Composition run(call);
  const TensorRef diagonal = run("aten.diagonal.default", {{call.tensor("self")}});
  emit_made(call, run("aten.sum.default", {{diagonal}}));
}

void cumsum(Call& call) {
  const Composition run(call);
  const TensorRef self = in_dtype(run, call.tensor("self"), reduced_dtype(call));
  const std::int64_t dim = wrap_dim(call.integer("dim"), self->rank());
  if (self->rank() == 0) return emit_made(call, copy_of(*self));
  emit_made(call, joined_parts(run("aten.cumsum.default", {{parts_of(*self)}, {dim}})));
}

// ---- products

// Products of complex numbers in any order. A product of two is off by sqrt(5) u of its magnitude
// (Brent, Percival, Zimmermann, "Error bounds on complex floating-point multiplication", Math.
// Comp. 76, 2007), so that k factors are off by (1 + sqrt(5) u)^(k - 1) - 1 of theirs.
template <class N>
class ComplexProduct;

template <>
class ComplexProduct<double> {
 public:
  explicit ComplexProduct(DType) {}
  void include(const Complex<double>& z) { total_ *= detail::Wide(z.re, z.im); }
  [[nodiscard]] Complex<double> result() const {
    return {static_cast<double>(total_.real()), static_cast<double>(total_.imag())};
  }

 private:
  detail::Wide total_ = 1;
};

template <class P>
class ComplexProduct<Tracked<P>> {
 public:
  using Number = Complex<Tracked<P>>;
  explicit ComplexProduct(DType component) : component_(component) {}

  void include(const Number& z) {
    if (count_ == 0) first_ = z;
    ++count_;
    is_wild_ = is_wild_ || is_wild(z);
    has_all_nan_ = has_all_nan_ || is_all_nan(z);
    const detail::Wide factor(z.re.value, z.im.value);
    const long double size = std::abs(factor);
    const double off = P::combine(detail::error_of(z.re), detail::error_of(z.im));
    // |total| and the deviation of a product: each factor's deviation times the others.
    deviation_ =
        P::combine(detail::scaled(size, deviation_), detail::scaled(std::abs(total_), off)) +
        P::kAllowedRadii * deviation_ * off;
    total_ *= factor;
    (size > 1 ? above_one_ : below_one_) *= size == 0 ? 1 : size;
  }

  [[nodiscard]] Number result() const {
    if (count_ == 1) return first_;
    constexpr auto kArithmetic = [](DType dtype) {
      using A = typename Tracked<P>::Arithmetic;
      return dtype == DType::kFloat64 ? A::kFloat64 : A::kFloat32;
    };
    const auto arithmetic = kArithmetic(component_);
    const Number value{{total_.real(), 0, arithmetic}, {total_.imag(), 0, arithmetic}};
    if (count_ == 0) return {{1, 0, arithmetic}, {0, 0, arithmetic}};
    if (is_wild_) return tamed(value, true, has_all_nan_);
    if (!(above_one_ <= static_cast<long double>(max_finite(component_)) / 4)) {
      return left_open(value);
    }
    constexpr double kRootOfFive = 2.2360679775;
    const double unit = kRootOfFive * unit_roundoff(component_) * (1 + 0x1p-8);
    const auto steps = static_cast<double>(count_ - 1);
    const auto size = static_cast<double>(std::abs(total_));
    const double rounds =
        P::kDecisionRadii == 1 ? std::expm1(steps * std::log1p(unit)) : std::sqrt(steps) * unit;
    // What underflows is lost, and may be multiplied by large factors afterwards.
    const double lost = 4 * steps * half_ulp(0, component_) * static_cast<double>(above_one_);
    const double radius = P::combine(deviation_, P::of_rounding(rounds * size + lost));
    return {{value.re.value, radius, arithmetic}, {value.im.value, radius, arithmetic}};
  }

 private:
  DType component_;
  Number first_;
  detail::Wide total_ = 1;
  double deviation_ = 0;
  long double above_one_ = 1;
  long double below_one_ = 1;
  std::int64_t count_ = 0;
  bool is_wild_ = false;
  bool has_all_nan_ = false;
};

void prod(Call& call) {
  const Composition run(call);
  const DType dtype = reduced_dtype(call);
  const TensorRef self = in_dtype(run, call.tensor("self"), dtype);
  if (!spec::is_complex(dtype)) throw Undecidable("prod of complex numbers in a real dtype");
  const bool keeps = call.has("keepdim") && call.boolean("keepdim");
  const Reduction reduction(
      self->sizes, call.has("dim") ? std::optional(reduced_dims(call, *self)) : std::nullopt,
      keeps);
  with_real(call.mode(), [&]<class N>() {
    const auto of = [dtype](std::span<const Complex<N>> slice) {
      ComplexProduct<N> total(spec::component_dtype(dtype));
      for (const Complex<N>& z : slice) total.include(z);
      return total.result();
    };
    call.emit(reduce(load_complex<N>(*self, dtype), reduction, of), dtype);
  });
}

void cumprod(Call& call) {
  const Composition run(call);
  const DType dtype = reduced_dtype(call);
  const TensorRef self = in_dtype(run, call.tensor("self"), dtype);
  if (!spec::is_complex(dtype)) throw Undecidable("cumprod of complex numbers in a real dtype");
  with_real(call.mode(), [&]<class N>() {
    const auto of = [dtype](std::span<const Complex<N>> line) {
      ComplexProduct<N> total(spec::component_dtype(dtype));
      std::vector<Complex<N>> out;
      for (const Complex<N>& z : line) {
        total.include(z);
        out.push_back(total.result());
      }
      return out;
    };
    const auto length =
        self->rank() == 0
            ? 1
            : self->sizes[static_cast<std::size_t>(wrap_dim(call.integer("dim"), self->rank()))];
    call.emit(map_lines(load_complex<N>(*self, dtype), call.integer("dim"), length, of), dtype);
  });
}

// ---- what is asked of magnitudes, or of truths

// Runs the op's body for real numbers on `stand_in` in the place of self; complex dtypes among the
// arguments become those of their parts.
void run_on(Call& call, const TensorRef& stand_in) {
  std::vector<Datum> arguments = call.arguments();
  const spec::OpSchema& schema = call.row().schema;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (schema.arguments[i].name == "self") arguments[i] = {stand_in};
    if (const auto* dtype = arguments[i].as<DType>()) {
      arguments[i] = {spec::component_dtype(*dtype)};
    }
  }
  Call inner(call.mode(), call.row(), arguments);
  find_body(call.row())(inner);
  for (Datum& result : inner.results()) call.emit_datum(std::move(result));
}

void norm_of_magnitudes(Call& call) {
  const Composition run(call);
  const TensorRef& given = call.tensor("self");
  const auto asked = call.optional_dtype("dtype");
  const TensorRef self = asked && spec::is_complex(*asked) ? in_dtype(run, given, *asked) : given;
  run_on(call, spec::is_complex(self->dtype) ? run("aten.abs.default", {{self}}) : self);
}

void of_truths(Call& call) {
  const Composition run(call);
  run_on(call, run("aten.ne.Scalar", {{call.tensor("self")}, {std::int64_t{0}}}));
}

// The variance is that of both parts together, and real; with it the mean, of var_mean and
// std_mean.
void variance(Call& call) {
  const Composition run(call);
  const TensorRef& self = call.tensor("self");
  const std::string name = call.row().schema.base_name();
  if (call.next_target()) throw Undecidable("a variance of complex numbers into a tensor given");
  const auto part_variance = [&](int part) {
    std::vector<Datum> arguments = call.arguments();
    arguments[0] = {std::make_shared<Tensor>(part_of(*self, part))};
    const std::string overload = call.row().schema.overload;
    return run("aten.var." + (overload.empty() ? std::string("default") : overload),
               std::move(arguments));
  };
  const TensorRef sum = run("aten.add.Tensor", {{part_variance(0)}, {part_variance(1)}});
  call.emit_datum({name.starts_with("std") ? run("aten.sqrt.default", {{sum}}) : sum});
  if (!name.ends_with("_mean")) return;
  const Sizes dims = reduced_dims(call, *self);
  const bool keeps = call.has("keepdim") && call.boolean("keepdim");
  call.emit_datum({self->rank() == 0 ? copy_of(*self)
                                     : run("aten.mean.dim", {{self}, list_of(dims), {keeps}})});
}

constexpr std::array kComplexReductions = {
    ComplexBody{"aten.all", of_truths},
    ComplexBody{"aten.any", of_truths},
    ComplexBody{"aten.count_nonzero", of_truths},
    ComplexBody{"aten.cumprod", cumprod},
    ComplexBody{"aten.cumsum", cumsum},
    ComplexBody{"aten.linalg_vector_norm", norm_of_magnitudes},
    ComplexBody{"aten.mean", mean},
    ComplexBody{"aten.nonzero", of_truths},
    ComplexBody{"aten.nonzero_static", of_truths},
    ComplexBody{"aten.norm", norm_of_magnitudes},
    ComplexBody{"aten.prod", prod},
    ComplexBody{"aten.std", variance},
    ComplexBody{"aten.std_mean", variance},
    ComplexBody{"aten.sum", sum},
    ComplexBody{"aten.trace", trace},
    ComplexBody{"aten.var", variance},
    ComplexBody{"aten.var_mean", variance},
};

}  // namespace
}  // namespace of_complex

std::span<const ComplexBody> complex_reduction_bodies() { return of_complex::kComplexReductions; }

}  // namespace graphgate::reference
