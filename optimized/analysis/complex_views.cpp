// Complex numbers and their components: views of one as the other, conjugates, complex() and
// polar().
//
// A conjugate is a view that is read with the other sign (Turn): whoever computes with it is given
// numbers of its own.
#include "optimized/analysis/complex.h"
#include "optimized/complex_numbers.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using spec::DType;
using Values = std::vector<Argument>;

bool is_complex(const Parts& parts) { return spec::is_complex(parts.tensor("self").dtype); }

Tensor as_components(const Tensor& self) {
  if (!spec::is_complex(self.dtype)) throw OpError("view_as_real takes complex tensors alone");
  return components_of(self);
}

Tensor as_complex(const Tensor& self) {
  if (self.dtype == DType::kFloat16) throw Unsupported("complex32 is not supported");
  if (self.dtype != DType::kFloat32 && self.dtype != DType::kFloat64) {
    throw OpError("view_as_complex takes floating point alone");
  }
  if (self.rank() == 0 || self.sizes.back() != 2) {
    throw OpError("view_as_complex needs a last dimension of size 2");
  }
  if (self.strides.back() != 1) throw OpError("view_as_complex needs a last dimension of stride 1");
  Tensor out = self;
  out.dtype = complex_with(self.dtype);
  out.sizes.pop_back();
  out.strides.pop_back();
  bool is_even = self.offset % 2 == 0;
  for (const std::int64_t stride : out.strides) is_even &= stride % 2 == 0;
  if (!is_even) throw OpError("view_as_complex needs even strides and an even offset");
  out.offset /= 2;
  for (std::int64_t& stride : out.strides) stride /= 2;
  return out;
}

Values view_as_real(Parts& parts) { return {parts.view(as_components(parts.tensor("self")))}; }
Values view_as_complex(Parts& parts) { return {parts.view(as_complex(parts.tensor("self")))}; }

// The copy of a view: a row-major tensor, or what the copy is written into.
Values copied(Parts& parts, const Argument& view) {
  if (const auto written = parts.written()) {
    if (parts.of(*written).sizes != parts.of(view).sizes) {
      throw Unsupported("the written tensor has other sizes: it is not resized");
    }
    return {parts.run("aten.copy_.default", {*written, view})};
  }
  return {parts.run("aten.clone.default", {view, {spec::MemoryFormat::kContiguous}})};
}
Values copy_as_real(Parts& parts) { return copied(parts, view_as_real(parts).front()); }
Values copy_as_complex(Parts& parts) { return copied(parts, view_as_complex(parts).front()); }

Values real_part(Parts& parts) {
  if (!is_complex(parts)) return {parts["self"]};
  return {component_view(parts, parts["self"], 0)};
}

Values imaginary_part(Parts& parts) {
  if (!is_complex(parts)) throw OpError("a real tensor has no imaginary part");
  return {component_view(parts, parts["self"], 1)};
}

// --- Conjugates

// A real tensor is its own conjugate.
Values conjugate_view(Parts& parts) {
  if (!is_complex(parts)) return {parts["self"]};
  return {parts.view(parts.tensor("self"), Turn::kConjugate)};
}

Values copied_conjugate(Parts& parts) {
  if (!is_complex(parts)) return copied(parts, parts["self"]);
  const DType dtype = parts.tensor("self").dtype;
  ComplexParts c(parts, spec::component_dtype(dtype));
  const Components z = c.pair("self");
  return {make_pointwise_complex(parts, c.conjugate(z), dtype, {"self"})};
}

Values same_numbers(Parts& parts) { return {parts["self"]}; }

Values negative_view(Parts& parts) { return {parts.view(parts.tensor("self"), Turn::kNegative)}; }
Values copied_negative(Parts& parts) {
  return copied(parts, parts.run("aten.neg.default", {parts["self"]}));
}

// The transpose of matrices, conjugated where they are complex.
Values conjugate_transpose(Parts& parts) {
  const Tensor self = parts.tensor("self");
  if (self.rank() < 2) throw OpError("tensor.mH needs at least 2 dimensions");
  const Argument transposed =
      parts.run("aten.transpose.int", {parts["self"], {std::int64_t{-2}}, {std::int64_t{-1}}});
  if (!spec::is_complex(self.dtype)) return {transposed};
  return {parts.run("aten._conj.default", {transposed})};
}

Values conjugate_matrix(Parts& parts) {
  const Tensor self = parts.tensor("self");
  if (self.rank() != 0 && self.rank() != 2) throw OpError("tensor.H needs a matrix");
  if (self.rank() == 0) return conjugate_view(parts);
  return conjugate_transpose(parts);
}

// --- From two real tensors

// The dtype of both.
DType component_of_both(const Parts& parts, std::string_view a, std::string_view b) {
  const DType dtype = parts.tensor(a).dtype;
  if (dtype == DType::kFloat16) throw Unsupported("complex32 is not supported");
  if (dtype != parts.tensor(b).dtype) throw OpError("expected two tensors of one dtype");
  if (dtype != DType::kFloat32 && dtype != DType::kFloat64) {
    throw OpError("expected float32 or float64, not " + std::string(spec::torch_name(dtype)));
  }
  return dtype;
}

// An out= tensor is of the very dtype.
void check_out(const Parts& parts, DType dtype) {
  const Tensor* const out = parts.written_result(0);
  if (out != nullptr && out->dtype != dtype) {
    throw OpError("out has dtype " + std::string(spec::torch_name(out->dtype)) + ", the result " +
                  std::string(spec::torch_name(dtype)));
  }
}

Values from_polar(Parts& parts) {
  const DType component = component_of_both(parts, "abs", "angle");
  check_out(parts, complex_with(component));
  ComplexParts c(parts, component);
  const Argument re = c.mul(parts["abs"], c.call("aten.cos.default", parts["angle"]));
  const Argument im = c.mul(parts["abs"], c.call("aten.sin.default", parts["angle"]));
  return {make_pointwise_complex(parts, {re, im}, complex_with(component), {"abs", "angle"})};
}

constexpr CompositeOp kCompositeComplex[] = {
    {"aten._conj", conjugate_view},
    {"aten._conj_copy", copied_conjugate},
    {"aten._conj_physical", copied_conjugate},
    {"aten._neg_view", negative_view},
    {"aten._neg_view_copy", copied_negative},
    {"aten.conj", conjugate_view},
    {"aten.imag", imaginary_part},
    {"aten.mH", conjugate_transpose},
    {"aten.matrix_H", conjugate_matrix},
    {"aten.polar", from_polar},
    {"aten.real", real_part},
    {"aten.resolve_conj", same_numbers},
    {"aten.resolve_neg", same_numbers},
    {"aten.view_as_complex", view_as_complex},
    {"aten.view_as_complex_copy", copy_as_complex},
    {"aten.view_as_real", view_as_real},
    {"aten.view_as_real_copy", copy_as_real},
};

}  // namespace

std::span<const CompositeOp> composite_complex() { return kCompositeComplex; }

}  // namespace graphgate::optimized
