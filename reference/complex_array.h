// Array<Complex<N>>: what bodies of complex ops compute on, and the two parts of complex tensors as
// tensors of real numbers.
#pragma once

#include "reference/array.h"
#include "reference/number/complex.h"

namespace graphgate::reference {

// The real (0) or the imaginary (1) part of a complex tensor's elements, as a view: same sizes.
// Signs that the tensor's bits turn are not turned.
[[nodiscard]] Tensor part_of(const Tensor& tensor, int part);

// Reading. `as` is a complex dtype; the tensor may have any. Real numbers get an imaginary part of
// 0.
template <class N>
[[nodiscard]] Array<Complex<N>> load_complex(const Tensor& tensor, spec::DType as);

// Writing; sizes must be equal. Each part rounds to the component's dtype. Throws OpError for a
// tensor of real numbers.
template <class N>
void store(Tensor& tensor, const Array<Complex<N>>& array);

// A number argument (bool, int, float or complex) in the arithmetic of a complex dtype.
template <class N>
[[nodiscard]] Complex<N> complex_number(const Datum& datum, spec::DType dtype);

// Whether elements are read with other signs than their bytes have.
[[nodiscard]] inline bool has_bits(const Tensor& tensor) { return tensor.is_conj || tensor.is_neg; }

// Returns the tensor with the sign of each element's part as its bits turn it. This is a new tensor
// without bits, dense as the tensor is (what resolve_conj and resolve_neg give). It is the tensor
// itself where it has no bits.
[[nodiscard]] TensorRef resolved(const TensorRef& tensor);
// Turns signs of what stands in the tensor, as the bits say, in place.
void turn_signs(Tensor& tensor, bool is_conj, bool is_neg);

// The complex dtype whose parts are of this real one: complex128 for float64, else complex64.
[[nodiscard]] spec::DType complex_dtype(spec::DType real);

}  // namespace graphgate::reference
