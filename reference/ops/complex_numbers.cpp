// Ops that make complex numbers of real ones, and the other way: views of the parts, conjugates.
//
// A conjugate is a view whose elements are read with the other sign (complex_calls.h).
#include <array>

#include "reference/complex_array.h"
#include "reference/movement.h"
#include "reference/pointwise.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace of_complex {
namespace {

using spec::DType;

void require_complex(const Call& call, const Tensor& self) {
  if (spec::is_complex(self.dtype)) return;
  throw OpError(call.row().schema.qualified_name() + " takes complex tensors alone");
}

// The complex dtype of two parts. float16 would make complex32, which nothing here computes in.
DType dtype_of_parts(const Call& call, const Tensor& first, const Tensor& second) {
  if (first.dtype != second.dtype) throw OpError("expected both parts to be of one dtype");
  if (first.dtype == DType::kFloat16) throw Undecidable("complex32 is not supported");
  if (first.dtype != DType::kFloat32 && first.dtype != DType::kFloat64) {
    throw OpError(call.row().schema.qualified_name() + " expects float32 or float64");
  }
  return complex_dtype(first.dtype);
}

template <class F>
void of_two_parts(Call& call, std::string_view first, std::string_view second, F f) {
  const Operands operands = gather_operands(call, {first, second});
  const DType dtype = dtype_of_parts(call, *call.tensor(first), *call.tensor(second));
  const TensorRef target = call.next_target();
  if (target && target->dtype != dtype)
    throw OpError("expected an out= tensor of that complex dtype");
  with_real(call.mode(), [&]<class N>() {
    const auto out =
        detail::apply_formula<N>(operands, operands.common, f, std::make_index_sequence<2>());
    call.emit(out, dtype, operand_strides(operands));
  });
}

void complex_of(Call& call) {
  of_two_parts(call, "real", "imag", []<class N>(const N& re, const N& im) {
    return Complex<N>{re, im};
  });
}
void polar(Call& call) {
  of_two_parts(call, "abs", "angle", []<class N>(const N& size, const N& turn) {
    return Complex<N>{size * cos(turn), size * sin(turn)};
  });
}

// ---- views

TensorRef as_real(const Tensor& self) {
  if (self.is_conj) {
    throw OpError("view_as_real does not work on unresolved conjugated tensors");
  }
  auto parts = std::make_shared<Tensor>(as_components(self));
  parts->is_neg = self.is_neg;
  return parts;
}

void view_as_real(Call& call) {
  const Tensor& self = *call.tensor("self");
  require_complex(call, self);
  call.emit_datum({as_real(self)});
}
void view_as_real_copy(Call& call) {
  const Tensor& self = *call.tensor("self");
  require_complex(call, self);
  emit_made(call, copy_of(*as_real(self)));
}

TensorRef as_complex(const Call& call, const Tensor& self) {
  if (self.rank() == 0 || self.sizes.back() != 2) {
    throw OpError("view_as_complex: the tensor must have a last dimension of size 2");
  }
  bool is_even = self.strides.back() == 1 && self.offset % 2 == 0;
  auto out = std::make_shared<Tensor>(self);
  out->dtype = dtype_of_parts(call, self, self);
  out->sizes.pop_back();
  out->strides.pop_back();
  for (std::int64_t& stride : out->strides) {
    is_even = is_even && stride % 2 == 0;
    stride /= 2;
  }
  out->offset /= 2;
  if (!is_even) {
    throw OpError("view_as_complex: the last dimension must have stride 1, others even ones");
  }
  return out;
}
void view_as_complex(Call& call) { call.emit_datum({as_complex(call, *call.tensor("self"))}); }
void view_as_complex_copy(Call& call) {
  emit_made(call, copy_of(*as_complex(call, *call.tensor("self"))));
}

TensorRef view_of_part(const Tensor& self, int part) {
  auto out = std::make_shared<Tensor>(part_of(self, part));
  out->is_neg = self.is_neg != (part == 1 && self.is_conj);
  return out;
}

void imag(Call& call) {
  const Tensor& self = *call.tensor("self");
  require_complex(call, self);
  call.emit_datum({view_of_part(self, 1)});
}
void real_of_complex(Call& call) {
  const TensorRef& self = call.tensor("self");
  call.emit_datum({spec::is_complex(self->dtype) ? view_of_part(*self, 0) : self});
}

TensorRef conjugated(const TensorRef& self) {
  if (!spec::is_complex(self->dtype)) return self;
  auto out = std::make_shared<Tensor>(*self);
  out->is_conj = !self->is_conj;
  return out;
}
void conj_view(Call& call) { call.emit_datum({conjugated(call.tensor("self"))}); }
void conj_copy(Call& call) {
  // The operand comes without bits, so that those of this one are all that it has to turn.
  emit_made(call, copy_of(*resolved(conjugated(call.tensor("self")))));
}

TensorRef negated_view(const Tensor& self) {
  auto out = std::make_shared<Tensor>(self);
  out->is_neg = !self.is_neg;
  return out;
}
void neg_view(Call& call) { call.emit_datum({negated_view(*call.tensor("self"))}); }
void neg_view_copy(Call& call) {
  emit_made(call, copy_of(*resolved(negated_view(*call.tensor("self")))));
}

void resolve_conj(Call& call) {
  const TensorRef& self = call.tensor("self");
  call.emit_datum({self->is_conj ? resolved(self) : self});
}
void resolve_neg(Call& call) {
  const TensorRef& self = call.tensor("self");
  call.emit_datum({self->is_neg ? resolved(self) : self});
}

// Of complex numbers; a new tensor.
void conj_physical(Call& call) {
  const TensorRef& self = call.tensor("self");
  const Operands operands = gather_operands(call, {"self"});
  const TensorRef made = copy_of(*self, operand_strides(operands));
  turn_signs(*made, spec::is_complex(self->dtype), false);
  emit_made(call, made);
}

// The last two dimensions swapped (the only two, of matrix_H), conjugated.
void adjoint(Call& call) {
  const TensorRef& self = call.tensor("self");
  const std::size_t rank = self->sizes.size();
  const bool is_matrix = call.row().schema.name == "matrix_H";
  if (is_matrix ? rank != 0 && rank != 2 : rank < 2) {
    throw OpError("expected a matrix, or a batch of them");
  }
  auto out = std::make_shared<Tensor>(*self);
  if (rank >= 2) {
    std::swap(out->sizes[rank - 1], out->sizes[rank - 2]);
    std::swap(out->strides[rank - 1], out->strides[rank - 2]);
  }
  call.emit_datum({conjugated(out)});
}

constexpr std::array kComplexNumberOps = {
    OpBody{"aten._conj", conj_view}.any_dtype(),
    OpBody{"aten._conj_copy", conj_copy}.any_dtype(),
    OpBody{"aten._conj_physical", conj_physical}.any_dtype(),
    OpBody{"aten._neg_view", neg_view}.any_dtype(),
    OpBody{"aten._neg_view_copy", neg_view_copy}.any_dtype(),
    OpBody{"aten.complex", complex_of}.any_dtype(),
    OpBody{"aten.imag", imag}.any_dtype(),
    OpBody{"aten.polar", polar}.any_dtype(),
    OpBody{"aten.view_as_complex", view_as_complex}.any_dtype(),
    OpBody{"aten.view_as_complex_copy", view_as_complex_copy}.any_dtype(),
    OpBody{"aten.view_as_real", view_as_real}.any_dtype(),
    OpBody{"aten.view_as_real_copy", view_as_real_copy}.any_dtype(),
};

// Of ops that leave real tensors as they are.
constexpr std::array kOfComplex = {
    ComplexBody{"aten.conj", conj_view},
    ComplexBody{"aten.conj_physical", conj_physical},
    ComplexBody{"aten.mH", adjoint},
    ComplexBody{"aten.matrix_H", adjoint},
    ComplexBody{"aten.real", real_of_complex},
    ComplexBody{"aten.resolve_conj", resolve_conj},
    ComplexBody{"aten.resolve_neg", resolve_neg},
};

}  // namespace
}  // namespace of_complex

std::span<const OpBody> complex_number_ops() { return of_complex::kComplexNumberOps; }
std::span<const ComplexBody> complex_number_bodies() { return of_complex::kOfComplex; }

}  // namespace graphgate::reference
