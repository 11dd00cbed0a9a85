#include "reference/complex_array.h"

#include "reference/call.h"
#include "reference/movement.h"

namespace graphgate::reference {

using spec::DType;

Tensor part_of(const Tensor& tensor, int part) {
  Tensor out = as_components(tensor);
  out.sizes.pop_back();
  out.strides.pop_back();
  out.offset += part;
  return out;
}

template <class N>
Array<Complex<N>> load_complex(const Tensor& tensor, DType as) {
  const DType component = spec::component_dtype(as);
  Array<Complex<N>> out(tensor.sizes);
  if (!spec::is_complex(tensor.dtype)) {
    const Array<N> reals = load<N>(tensor, component);
    for (std::int64_t i = 0; i < out.count(); ++i) out[i] = {reals[i], N(0)};
    return out;
  }
  const Array<N> parts = load<N>(as_components(tensor), component);
  for (std::int64_t i = 0; i < out.count(); ++i) out[i] = {parts[2 * i], parts[2 * i + 1]};
  return out;
}

template <class N>
void store(Tensor& tensor, const Array<Complex<N>>& array) {
  if (!spec::is_complex(tensor.dtype)) {
    throw OpError("result type " + std::string(spec::torch_name(DType::kComplex64)) +
                  " can't be cast to the desired output type " +
                  std::string(spec::torch_name(tensor.dtype)));
  }
  Tensor parts = as_components(tensor);
  if (tensor.sizes != array.sizes) throw OpError("a result does not have the sizes of its target");
  Array<N> reals(parts.sizes);
  for (std::int64_t i = 0; i < array.count(); ++i) {
    reals[2 * i] = array[i].re;
    reals[2 * i + 1] = array[i].im;
  }
  store(parts, reals);
}

template <class N>
Complex<N> complex_number(const Datum& datum, DType dtype) {
  const DType component = spec::component_dtype(dtype);
  const auto* complex = datum.as<spec::ComplexNumber>();
  if (complex == nullptr) return {number<N>(datum, component), N(0)};
  return {number<N>(Datum{complex->real}, component), number<N>(Datum{complex->imag}, component)};
}

template Array<Complex<double>> load_complex(const Tensor&, DType);
template Array<Complex<Bounded>> load_complex(const Tensor&, DType);
template Array<Complex<Sampled>> load_complex(const Tensor&, DType);
template void store(Tensor&, const Array<Complex<double>>&);
template void store(Tensor&, const Array<Complex<Bounded>>&);
template void store(Tensor&, const Array<Complex<Sampled>>&);
template Complex<double> complex_number(const Datum&, DType);
template Complex<Bounded> complex_number(const Datum&, DType);
template Complex<Sampled> complex_number(const Datum&, DType);

namespace {

// Of floating numbers, one after the other.
void turn_all(Tensor& reals) {
  const std::int64_t item = spec::item_size_bytes(reals.dtype);
  std::byte* bytes = reals.storage->writable_bytes();
  std::vector<StoredMark>& marks = reals.storage->marks;
  for_each_position(reals, [&](std::int64_t position) {
    bytes[(position + 1) * item - 1] ^= std::byte{0x80};  // the sign, the highest bit
    if (marks.empty()) return;
    StoredMark& mark = marks[static_cast<std::size_t>(position)];
    mark = Mark{-mark.value(), mark.radius()};
  });
}

}  // namespace

void turn_signs(Tensor& tensor, bool is_conj, bool is_neg) {
  if (!spec::is_complex(tensor.dtype)) {
    if (is_neg) turn_all(tensor);
    return;
  }
  Tensor real = part_of(tensor, 0);
  Tensor imaginary = part_of(tensor, 1);
  if (is_neg) turn_all(real);
  if (is_neg != is_conj) turn_all(imaginary);
}

TensorRef resolved(const TensorRef& tensor) {
  if (!has_bits(*tensor)) return tensor;
  Tensor plain = *tensor;
  plain.is_conj = plain.is_neg = false;
  TensorRef copy = copy_of(plain, strides_like(plain, spec::MemoryFormat::kPreserve));
  turn_signs(*copy, tensor->is_conj, tensor->is_neg);
  return copy;
}

DType complex_dtype(DType real) {
  return real == DType::kFloat64 || real == DType::kComplex128 ? DType::kComplex128
                                                               : DType::kComplex64;
}

}  // namespace graphgate::reference
