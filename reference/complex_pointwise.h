// Pointwise ops of complex numbers from a formula, as pointwise.h is of real ones.
//
// Each operand reaches the formula as a Complex<N>; what is a real number besides is_real tells, so
// that nobody adds 0 times its imaginary part.
#pragma once

#include <tuple>

#include "reference/complex_array.h"
#include "reference/pointwise.h"

namespace graphgate::reference {

namespace detail {

// Whether an operand is a tensor of real numbers, or a real number.
[[nodiscard]] inline bool is_real_operand(const Datum& datum) {
  const auto* tensor = datum.as<TensorRef>();
  if (tensor != nullptr) return !spec::is_complex((*tensor)->dtype);
  return datum.as<spec::ComplexNumber>() == nullptr;
}

template <class N>
Array<Complex<N>> complex_operand(const Datum& datum, spec::DType dtype, const Sizes& sizes) {
  const auto* tensor = datum.as<TensorRef>();
  if (tensor != nullptr) return broadcast_to(load_complex<N>(**tensor, dtype), sizes);
  return Array<Complex<N>>(sizes, complex_number<N>(datum, dtype));
}

template <class N, class F, std::size_t... I>
auto apply_complex(const Operands& operands, spec::DType dtype, const F& f,
                   std::index_sequence<I...>) {
  const std::array<Array<Complex<N>>, sizeof...(I)> in = {
      complex_operand<N>(operands.data[I], dtype, operands.sizes)...};
  using Out = decltype(f(in[I].data[0]...));
  Array<Out> out(operands.sizes);
  for (std::int64_t i = 0; i < out.count(); ++i) out[i] = f(in[I][i]...);
  return out;
}

}  // namespace detail

// The common dtype of operands of which one is complex, or an out= tensor is.
[[nodiscard]] spec::DType common_complex(const Operands& operands);

// One formula over kArity operands, computed in the complex dtype `compute` and emitted as
// `result`.
template <class N, std::size_t kArity, class F>
void emit_complex(Call& call, const Operands& operands, spec::DType compute, spec::DType result,
                  F f) {
  GRAPHGATE_CHECK(operands.data.size() == kArity);
  check_result_fits(call, result);
  const auto out =
      detail::apply_complex<N>(operands, compute, f, std::make_index_sequence<kArity>());
  call.emit(out, result, operand_strides(operands));
}

// f of one Complex<N> gives a Complex<N>.
template <class F>
void pointwise_complex(Call& call, std::string_view name, F f) {
  const Operands operands = gather_operands(call, {name});
  const spec::DType dtype = common_complex(operands);
  with_real(call.mode(), [&]<class N>() { emit_complex<N, 1>(call, operands, dtype, dtype, f); });
}

}  // namespace graphgate::reference
