// Products of vectors, matrices and batches of matrices: mm, bmm, mv, dot and their adding forms.
//
// Each result is one sum (beta * self among its terms) in the compute dtype and one rounding; alpha
// and beta are held in the compute dtype. Exceptions: addr rounds every step, addbmm every batch,
// and addmv as roundings_of_gemv() has it.
#include <array>

#include "reference/movement.h"
#include "reference/ops/product.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

std::string sizes_text(const Sizes& sizes) {
  std::string out = "[";
  for (const std::int64_t size : sizes) out += (out.size() > 1 ? ", " : "") + std::to_string(size);
  return out + "]";
}

void require_rank(const Tensor& tensor, std::int64_t rank, std::string_view name) {
  if (tensor.rank() == rank) return;
  throw OpError(std::string(name) + ": expected " + std::to_string(rank) +
                " dimensions, but got sizes " + sizes_text(tensor.sizes));
}

void require_inner(const Tensor& a, const Tensor& b, bool fits) {
  if (fits) return;
  throw OpError("sizes " + sizes_text(a.sizes) + " and " + sizes_text(b.sizes) +
                " cannot be multiplied");
}

// No factor of what is known within a radius is left out, as one of 1 would be: a bound holds with
// it. But where 0 drops what it multiplies, NaNs depend on it.
bool is_number(const Datum& datum, double value) {
  if (datum.as<RoundedFloat>() && value == 0) {
    const NumberRange range = range_of(datum);
    if (range.least <= 0 && range.greatest >= 0) {
      throw Undecidable("whether a factor is 0 depends on rounding");
    }
  }
  if (const auto* x = datum.as<double>()) return *x == value;
  if (const auto* i = datum.as<std::int64_t>()) return static_cast<double>(*i) == value;
  if (const auto* b = datum.as<bool>()) return (*b ? 1.0 : 0.0) == value;
  return false;
}

// alpha; nothing when it is absent or 1.
template <class N>
std::optional<N> factor_of(const Call& call, spec::DType dtype) {
  if (!call.has("alpha") || is_number(call.datum("alpha"), 1)) return std::nullopt;
  return number<N>(call.datum("alpha"), dtype);
}

// alpha * a * b + addend.
template <class N>
Array<N> product_of(const Array<N>& a, const Array<N>& b_transposed, spec::DType parts,
                    const std::optional<Addend<N>>& addend, const std::optional<N>& alpha) {
  return alpha ? scaled_product(a, b_transposed, parts, addend, *alpha)
               : batched_product(a, b_transposed, parts, addend);
}

// beta, and self stretched to `sizes`; nothing for ops without beta, or when beta is 0: then NaNs
// in self do not count. Where no product is added to it (`is_alone`), beta is held in the dtype
// itself.
template <class N>
struct ScaledSelf {
  Tensor self;
  N beta;
  bool scales;  // beta is not 1
};
template <class N>
std::optional<ScaledSelf<N>> scaled_self(const Call& call, const Sizes& sizes, spec::DType dtype,
                                         bool is_alone) {
  if (!call.has("beta")) return std::nullopt;
  const Datum& scalar = call.datum("beta");
  Tensor self = *call.tensor("self");
  if (broadcast_sizes({self.sizes, sizes}) != sizes) {
    throw OpError("sizes " + sizes_text(self.sizes) + " do not stretch to " + sizes_text(sizes));
  }
  if (is_number(scalar, 0)) return std::nullopt;
  N beta = number<N>(scalar, dtype);
  if constexpr (!std::is_same_v<N, Whole>) {
    if (is_alone) beta = cast(beta, dtype);
  }
  self.strides = stretched_strides(self, sizes);
  self.sizes = sizes;
  return ScaledSelf<N>{std::move(self), beta, !is_number(scalar, 1)};
}

// The same, all of self.
template <class N>
std::optional<Addend<N>> load_addend(const Call& call, const Sizes& sizes, spec::DType dtype,
                                     bool is_alone) {
  auto scaled = scaled_self<N>(call, sizes, dtype, is_alone);
  if (!scaled) return std::nullopt;
  return Addend<N>{load<N>(scaled->self, dtype), scaled->beta, scaled->scales};
}

// `sizes` without the ones at `drop`: what a product of vectors or matrices has.
Sizes without(const Sizes& sizes, std::initializer_list<std::size_t> drop) {
  Sizes out;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (std::find(drop.begin(), drop.end(), d) == drop.end()) out.push_back(sizes[d]);
  }
  return out;
}

// What a kernel rounds beside its result.
struct InnerRoundings {
  bool factors = false;      // alpha and beta may be held in the dtype of the tensors
  bool scaled_self = false;  // beta * self, where beta is not 1
  bool product = false;      // before self is added to it
};

// alpha or beta, held in the compute dtype or in the dtype of the tensors.
template <class N>
N in_either_dtype(const N& factor, spec::DType dtype) {
  if constexpr (std::is_same_v<N, Whole>) {
    return factor;
  } else {
    return covering(factor, cast(factor, dtype));
  }
}

template <class N>
void round_addend(Addend<N>& addend, const InnerRoundings& rounds, spec::DType dtype) {
  if constexpr (requires(N x) { x.radius; }) {
    if (!addend.scales) return;
    if (rounds.factors) addend.beta = in_either_dtype(addend.beta, dtype);
    if (!rounds.scaled_self) return;
    for (N& x : addend.array.data) x = round_edge(addend.beta * x, dtype);
    addend.beta = N(1);
    addend.scales = false;
  }
}

// `tensor` with dimensions of size 1 inserted at the given places of the result.
TensorRef with_ones(const Tensor& tensor, std::initializer_list<std::ptrdiff_t> places) {
  Sizes sizes = tensor.sizes;
  Sizes strides = tensor.strides;
  for (const std::ptrdiff_t place : places) {
    sizes.insert(sizes.begin() + place, 1);
    strides.insert(strides.begin() + place, 0);
  }
  return view_of(tensor, std::move(sizes), std::move(strides), tensor.offset);
}

// The same at the places that without() has left out.
Tensor with_ones_at(const Tensor& tensor, std::initializer_list<std::size_t> places) {
  Tensor out = tensor;
  for (const std::size_t place : places) {
    out.sizes.insert(out.sizes.begin() + static_cast<std::ptrdiff_t>(place), 1);
    out.strides.insert(out.strides.begin() + static_cast<std::ptrdiff_t>(place), 0);
  }
  return out;
}

// An operand that is read while the result is written: a copy, where that lies over it.
Tensor read_while_writing(const Call& call, const Tensor& operand, const Sizes& sizes) {
  return call.reads_before_writing(operand, sizes) ? operand : *copy_of(operand);
}

// Every op of a = [batch, rows, inner] and b = [batch, inner, columns] with dimensions of size 1
// dropped from the result. The operands come as views of rank 3. Those of two vectors are no
// products of matrices to a BLAS, which sums them in its accumulator alone.
void emit_product(Call& call, const Tensor& a, const Tensor& b,
                  std::initializer_list<std::size_t> drop, const InnerRoundings& rounds = {}) {
  const spec::DType dtype = a.dtype;
  const Sizes full = {a.sizes[0], a.sizes[1], b.sizes[2]};
  const Sizes sizes = without(full, drop);
  const spec::DType result = call.optional_dtype("out_dtype").value_or(dtype);
  with_number(call.mode(), dtype, [&]<class N>() {
    auto self = scaled_self<N>(call, sizes, dtype, a.sizes[2] == 0);
    if (self) self->self = with_ones_at(read_while_writing(call, self->self, sizes), drop);
    std::optional<N> alpha = factor_of<N>(call, dtype);
    if (alpha && rounds.factors) alpha = in_either_dtype(*alpha, dtype);
    const spec::DType parts = sizes.empty() ? compute_dtype(dtype) : dtype;
    // Every row of the result depends on all of both.
    const TensorRef target_now = call.next_target();
    const auto apart = [&](const Tensor& operand) {
      const bool is_written = target_now && target_now->storage == operand.storage;
      return is_written ? *copy_of(operand) : operand;
    };
    const Tensor left_operand = apart(a);
    const Tensor right_operand = apart(*transposed(b));
    const auto product = [&](const PanelPlace& at, const Array<N>& left, const Array<N>& right) {
      std::optional<Addend<N>> addend;
      if (self) {
        const Tensor panel =
            panel_of(self->self, at.batch, at.row, left.size(1), at.column, right.size(1));
        addend = Addend<N>{load<N>(panel, dtype), self->beta, self->scales};
        round_addend(*addend, rounds, dtype);
      }
      Array<N> made = product_of(left, right, parts, addend, alpha);
      for (std::int64_t i = 0; addend && i < made.count(); ++i) {
        const N begin = addend->beta * addend->array[i];
        made[i] = rounds.product ? widen_by_rounded_product(made[i], begin, dtype)
                                 : allow_rounded_product(made[i], begin, dtype);
      }
      return made;
    };
    const TensorRef target = call.place_result(sizes, result);
    write_by_panels<N>(left_operand, right_operand, dtype, with_ones_at(*target, drop), result,
                       product);
    call.emit_datum({target});
  });
}

void check_self(const Call& call, const Tensor& operand) {
  if (call.has("beta")) require_one_dtype({call.tensor("self").get(), &operand});
}

void matrix_product(Call& call, const Tensor& a, const Tensor& b) {
  require_rank(a, 2, call.row().schema.name);
  require_rank(b, 2, call.row().schema.name);
  require_one_dtype({&a, &b});
  check_self(call, a);
  require_inner(a, b, a.sizes[1] == b.sizes[0]);
  emit_product(call, *with_ones(a, {0}), *with_ones(b, {0}), {0});
}

void mm(Call& call) { matrix_product(call, *call.tensor("self"), *call.tensor("mat2")); }
void addmm(Call& call) { matrix_product(call, *call.tensor("mat1"), *call.tensor("mat2")); }

void check_batches(const Call& call, const Tensor& a, const Tensor& b) {
  require_rank(a, 3, call.row().schema.name);
  require_rank(b, 3, call.row().schema.name);
  require_one_dtype({&a, &b});
  check_self(call, a);
  require_inner(a, b, a.sizes[0] == b.sizes[0] && a.sizes[2] == b.sizes[1]);
}

void bmm(Call& call) {
  const Tensor& a = *call.tensor("self");
  const Tensor& b = *call.tensor("mat2");
  check_batches(call, a, b);
  emit_product(call, a, b, {});
}

void baddbmm(Call& call) {
  const Tensor& a = *call.tensor("batch1");
  const Tensor& b = *call.tensor("batch2");
  check_batches(call, a, b);
  emit_product(call, a, b, {});
}

// gemv of PyTorch's CPU kernels on 16-bit numbers (aten/src/ATen/native/BlasKernel.cpp): alpha and
// beta are passed in the dtype, beta * self is rounded to it, and where the matrix is read column
// by column, so is the product before they are added. What is read by rows adds it to a float32
// sum.
InnerRoundings roundings_of_gemv(const Tensor& matrix) {
  const bool is_narrow = compute_dtype(matrix.dtype) != matrix.dtype;
  if (!is_narrow || declared_arithmetic().has_cuda_kernels) return {};
  const bool is_by_columns =
      matrix.strides[0] == 1 &&
      (matrix.sizes[1] == 1 || matrix.strides[1] >= std::max<std::int64_t>(1, matrix.sizes[0]));
  return {true, true, is_by_columns};
}

void matrix_vector(Call& call, const Tensor& matrix, const Tensor& vector) {
  require_rank(matrix, 2, call.row().schema.name);
  require_rank(vector, 1, call.row().schema.name);
  require_one_dtype({&matrix, &vector});
  check_self(call, matrix);
  require_inner(matrix, vector, matrix.sizes[1] == vector.sizes[0]);
  emit_product(call, *with_ones(matrix, {0}), *with_ones(vector, {0, 2}), {0, 2},
               roundings_of_gemv(matrix));
}

void mv(Call& call) { matrix_vector(call, *call.tensor("self"), *call.tensor("vec")); }
void addmv(Call& call) { matrix_vector(call, *call.tensor("mat"), *call.tensor("vec")); }

void dot_product(Call& call, const Tensor& a, const Tensor& b) {
  require_rank(a, 1, call.row().schema.name);
  require_rank(b, 1, call.row().schema.name);
  require_one_dtype({&a, &b});
  require_inner(a, b, a.sizes == b.sizes);
  emit_product(call, *with_ones(a, {0, 0}), *with_ones(b, {0, 2}), {0, 1, 2});
}

void dot(Call& call) { dot_product(call, *call.tensor("self"), *call.tensor("tensor")); }
void vdot(Call& call) { dot_product(call, *call.tensor("self"), *call.tensor("other")); }

// [batch, rows, inner] as [1, rows, batch * inner].
template <class N>
Array<N> side_by_side(const Array<N>& batches) {
  const std::int64_t rows = batches.size(1);
  const std::int64_t inner = batches.size(2);
  Array<N> out({1, rows, batches.size(0) * inner});
  for (std::int64_t i = 0; i < batches.count() / std::max<std::int64_t>(inner, 1); ++i) {
    const std::int64_t to = (i % rows * batches.size(0) + i / rows) * inner;
    std::copy_n(batches.data.begin() + i * inner, inner, out.data.begin() + to);
  }
  return out;
}

// One matrix product after the other into the same result: beta scales self before the first. An
// executor may sum over batches and depth at once.
void addbmm(Call& call) {
  const Tensor& a = *call.tensor("batch1");
  const Tensor& b = *call.tensor("batch2");
  check_batches(call, a, b);
  const spec::DType dtype = a.dtype;
  const Sizes sizes = {1, a.sizes[1], b.sizes[2]};
  with_number(call.mode(), dtype, [&]<class N>() {
    const Sizes out_sizes = {sizes[1], sizes[2]};
    const std::optional<N> alpha = factor_of<N>(call, dtype);
    const Array<N> left = perhaps_flushed(load<N>(a, dtype), dtype);
    const Array<N> right = perhaps_flushed(load<N>(*transposed(b), dtype), dtype);
    std::optional<Addend<N>> addend =
        load_addend<N>(call, out_sizes, dtype, a.sizes[0] * a.sizes[2] == 0);
    std::optional<Array<N>> at_once;
    if constexpr (requires(N x) { x.radius; }) {
      at_once = product_of(side_by_side(left), side_by_side(right), dtype, addend, alpha);
    }
    Array<N> out(sizes);
    if (a.sizes[0] == 0 && addend) {
      for (std::int64_t i = 0; i < out.count(); ++i) out[i] = addend->beta * addend->array[i];
    }
    for (std::int64_t batch = 0; batch < a.sizes[0]; ++batch) {
      const auto slice = [batch](const Array<N>& all) {
        const std::int64_t count = all.size(1) * all.size(2);
        Array<N> one({1, all.size(1), all.size(2)});
        std::copy_n(all.data.begin() + batch * count, count, one.data.begin());
        return one;
      };
      out = perhaps_flushed(product_of(slice(left), slice(right), dtype, addend, alpha), dtype,
                            std::max<std::int64_t>(a.sizes[2], 1));
      for (std::int64_t i = 0; addend && i < out.count(); ++i) {
        out[i] = allow_rounded_product(out[i], addend->beta * addend->array[i], dtype);
      }
      if constexpr (!std::is_same_v<N, Whole>) out = round_all(std::move(out), dtype);
      addend = Addend<N>{out, N(1), false};
    }
    for (std::int64_t i = 0; at_once && i < out.count(); ++i) {
      out[i] = covering(out[i], (*at_once)[i]);
    }
    call.emit(with_sizes(out, out_sizes), dtype);
  });
}

// beta * self + alpha * vec1 * vec2 as a pointwise op: every step rounds, as do alpha and beta. An
// executor may multiply vec1, vec2 or their product by alpha, or keep a step wide: then one that
// passes the dtype's numbers is none that overflows.
template <class N>
void emit_addr(Call& call, spec::DType dtype) {
  const auto rounded = [dtype](N x) {
    if constexpr (std::is_same_v<N, Whole>) {
      return dtype == spec::DType::kBool ? Whole(x.value != 0, x.undecided) : x;
    } else {
      const N edge = round_edge(x, dtype);
      return is_finite(x) && !is_finite(edge) ? left_open(edge) : edge;
    }
  };
  const Array<N> vec1 = load<N>(*call.tensor("vec1"), dtype);
  const Array<N> vec2 = load<N>(*call.tensor("vec2"), dtype);
  const Sizes sizes = {vec1.count(), vec2.count()};
  const N alpha = rounded(number<N>(call.datum("alpha"), dtype));
  const N beta = rounded(number<N>(call.datum("beta"), dtype));
  const Array<N> loaded = load<N>(*call.tensor("self"), dtype);
  if (broadcast_sizes({loaded.sizes, sizes}) != sizes) throw OpError("self does not stretch");
  const Array<N> self = broadcast_to(loaded, sizes);
  const bool reads_self = !is_number(call.datum("beta"), 0);
  Array<N> out(sizes);
  for (std::int64_t i = 0; i < out.count(); ++i) {
    const N& a = vec1[i / sizes[1]];
    const N& b = vec2[i % sizes[1]];
    const N of_first = rounded(rounded(alpha * a) * b);
    const N of_second = rounded(a * rounded(alpha * b));
    const N of_both = rounded(alpha * rounded(a * b));
    const N outer = covering(covering(of_first, of_second), of_both);
    out[i] = reads_self ? rounded(beta * self[i]) + outer : outer;
  }
  const Tensor& column = *call.tensor("vec1");
  const std::array inputs = {call.tensor("self"),
                             view_of(column, {sizes[0], 1}, {column.strides[0], 1}, column.offset),
                             call.tensor("vec2")};
  call.emit(out, dtype, pointwise_strides(inputs, sizes));
}

void addr(Call& call) {
  require_rank(*call.tensor("vec1"), 1, "vec1");
  require_rank(*call.tensor("vec2"), 1, "vec2");
  const std::array operands = {call.datum("self"), call.datum("vec1"), call.datum("vec2")};
  const spec::DType dtype = result_type(operands);
  with_number(call.mode(), dtype, [&]<class N>() { emit_addr<N>(call, dtype); });
}

// Throws OpError for sizes that are no multiples of `unit`, as cuBLAS wants them.
void require_multiples(std::initializer_list<std::int64_t> sizes, std::int64_t unit) {
  for (const std::int64_t size : sizes) {
    if (size % unit != 0) {
      throw OpError("expected a multiple of " + std::to_string(unit) + " but got " +
                    std::to_string(size));
    }
  }
}

// int8 (or uint8) times int8, summed in int32. On a GPU more than 16 rows, and other sizes that are
// multiples of 8.
void int_mm(Call& call) {
  const Tensor& a = *call.tensor("self");
  const Tensor& b = *call.tensor("mat2");
  require_rank(a, 2, "self");
  require_rank(b, 2, "mat2");
  require_inner(a, b, a.sizes[1] == b.sizes[0]);
  const bool takes_a = a.dtype == spec::DType::kInt8 || a.dtype == spec::DType::kUInt8;
  if (!takes_a || b.dtype != spec::DType::kInt8) {
    throw OpError("expected int8 or uint8 times int8");
  }
  if (declared_arithmetic().refuses_as_cuda) {
    if (a.sizes[0] <= 16) throw OpError("self.size(0) needs to be greater than 16");
    require_multiples({a.sizes[1], b.sizes[1]}, 8);
  }
  const spec::DType dtype = spec::DType::kInt32;
  const Array<Whole> product =
      batched_product(load<Whole>(*with_ones(a, {0}), dtype),
                      load<Whole>(*transposed(*with_ones(b, {0})), dtype), dtype);
  call.emit(with_sizes(product, {a.sizes[0], b.sizes[1]}), dtype);
}

// The scales of a product of 8-bit floats: one for the whole matrix, or one for each of its rows
// (columns, of the second factor).
struct FactorScales {
  TensorRef scales;
  std::int64_t step;  // 0 or 1
};
FactorScales scales_of(const Call& call, std::string_view name, const Sizes& by_row) {
  const TensorRef& scales = call.tensor(name);
  if (scales->dtype != spec::DType::kFloat32) throw OpError("scales are float32");
  if (scales->sizes == by_row) return {scales, by_row[0] * by_row[1] == 1 ? 0 : 1};
  if (scales->count() == 1) return {scales, 0};
  throw OpError(std::string(name) + ": scales of sizes " + sizes_text(scales->sizes) +
                " for a factor that has " + sizes_text(by_row));
}

// What is stored as an 8-bit float. oneDNN's kernels round it to float16 first. Beyond the greatest
// number some kernels saturate, others make it infinite or NaN.
double before_eight_bits(double x, spec::DType) { return x; }
template <class P>
Tracked<P> before_eight_bits(const Tracked<P>& x, spec::DType dtype) {
  const auto most = static_cast<long double>(max_finite(dtype));
  const auto reach = static_cast<long double>(P::kDecisionRadii * x.radius);
  if (!(std::fabs(x.value) + reach <= most)) return left_open(x);
  return round_edge(x, spec::DType::kFloat16);
}

// self @ mat2 of 8-bit floats, times both scales, plus bias. Factors may be scaled before they are
// multiplied or their sum behind it. A result that is asked for in 8 bits is divided by
// scale_result, or multiplied with its inverse; others are not. On a GPU inner sizes and columns
// are multiples of 16, and the factors lie by rows and by columns.
void scaled_mm(Call& call) {
  const Tensor& a = *call.tensor("self");
  const Tensor& b = *call.tensor("mat2");
  require_rank(a, 2, "self");
  require_rank(b, 2, "mat2");
  require_inner(a, b, a.sizes[1] == b.sizes[0]);
  if (!is_float8(a.dtype) || !is_float8(b.dtype)) throw OpError("expected factors of 8-bit floats");
  if (declared_arithmetic().refuses_as_cuda) {
    require_multiples({a.sizes[1], b.sizes[1]}, 16);
    if (a.strides[1] != 1 || b.strides[0] != 1) {
      throw OpError("only a matrix by rows times one by columns");
    }
  }
  const std::int64_t rows = a.sizes[0];
  const std::int64_t columns = b.sizes[1];
  const std::int64_t inner = a.sizes[1];
  const FactorScales by_row = scales_of(call, "scale_a", {rows, 1});
  const FactorScales by_column = scales_of(call, "scale_b", {1, columns});
  if ((by_row.scales->count() == 1) != (by_column.scales->count() == 1) && rows != 1 &&
      columns != 1) {
    throw OpError("one factor has one scale, the other one for each row");
  }
  const TensorRef bias = call.optional_tensor("bias");
  if (bias && bias->count() != columns) throw OpError("expected one bias for each column");
  const spec::DType dtype = call.optional_dtype("out_dtype").value_or(a.dtype);
  if (!spec::is_floating_point(dtype)) throw OpError("a scaled product is floating");
  const bool is_asked_for = call.has("out_dtype") && is_float8(dtype);
  const TensorRef divisor = is_asked_for ? call.optional_tensor("scale_result") : nullptr;
  const spec::DType single = spec::DType::kFloat32;
  with_real(call.mode(), [&]<class N>() {
    const Array<N> left = load<N>(a, single);
    const Array<N> right = load<N>(*transposed(b), single);
    const Array<N> row_scales = load<N>(*by_row.scales, single);
    const Array<N> column_scales = load<N>(*by_column.scales, single);
    std::optional<Array<N>> biases;
    if (bias) biases = load<N>(*bias, single);
    std::optional<N> divided_by;
    if (divisor) divided_by = load<N>(*divisor, single)[0];
    Array<N> out({rows, columns});
    for (std::int64_t i = 0; i < out.count(); ++i) {
      const N& row_scale = row_scales[i / columns * by_row.step];
      const N& column_scale = column_scales[i % columns * by_column.step];
      const N* row = left.data.data() + i / columns * inner;
      const N* column = right.data.data() + i % columns * inner;
      const N behind = dot_from(Sum<N>(), row, column, inner) * row_scale * column_scale;
      Sum<N> sum;
      for (std::int64_t k = 0; k < inner; ++k) {
        sum.add_product(row[k] * row_scale, column[k] * column_scale);
      }
      N element = covering(behind, sum.result());
      if (biases) element = element + (*biases)[i % columns];
      if (divided_by) {
        element = covering(element / *divided_by, element * (N(1.0) / *divided_by));
      }
      out[i] = is_float8(dtype) ? before_eight_bits(element, dtype) : element;
    }
    call.emit(out, dtype);
  });
}

// Rows of 16 bytes or a multiple of them: what a grouped product makes.
Sizes grouped_strides(const Sizes& sizes, spec::DType dtype) {
  const std::int64_t aligned = 16 / spec::item_size_bytes(dtype);
  const std::int64_t row = (sizes.back() + aligned - 1) / aligned * aligned;
  return sizes.size() == 2 ? Sizes{row, 1} : Sizes{sizes[1] * row, row, 1};
}

// Throws OpError where rows (columns, of a transposed matrix) do not begin at multiples of 16 bytes
// of their storage.
void require_aligned_rows(const Tensor& matrices) {
  if (matrices.offset * spec::item_size_bytes(matrices.dtype) % 16 != 0) {
    throw OpError("expected data to be aligned to 16 bytes");
  }
  const std::size_t last = matrices.sizes.size() - 1;
  const bool by_columns =
      matrices.strides[last - 1] == 1 &&
      matrices.strides[last] >= std::max<std::int64_t>(1, matrices.sizes[last - 1]);
  const std::int64_t apart = matrices.strides[by_columns ? last : last - 1];
  if (apart * spec::item_size_bytes(matrices.dtype) % 16 != 0) {
    throw OpError("strides should be multiple of 16 bytes");
  }
}

// The elements of a dimension in groups, by where each group ends.
std::vector<std::int64_t> group_ends(const Call& call, std::int64_t size) {
  const TensorRef offsets = call.optional_tensor("offs");
  if (!offsets || offsets->rank() != 1 || offsets->dtype != spec::DType::kInt32) {
    throw OpError("expected the groups' ends as int32 numbers");
  }
  require_decided(*offsets);
  const Array<Whole> ends = load<Whole>(*offsets, spec::DType::kInt32);
  std::vector<std::int64_t> out;
  std::int64_t last = 0;
  for (const Whole& end : ends.data) {
    if (end.value < last || end.value > size) throw OpError("groups must end in order, and inside");
    out.push_back(last = end.value);
  }
  return out;
}

// The part [begin, end) of dimension `dim`, as a batch of one.
template <class N>
Array<N> narrowed_batch(const Tensor& matrix, std::int64_t dim, std::int64_t begin,
                        std::int64_t end, spec::DType dtype) {
  Sizes sizes = matrix.sizes;
  sizes[static_cast<std::size_t>(dim)] = end - begin;
  const TensorRef part =
      view_of(matrix, sizes, matrix.strides,
              matrix.offset + begin * matrix.strides[static_cast<std::size_t>(dim)]);
  return perhaps_flushed(load<N>(*with_ones(*part, {0}), dtype), dtype);
}

// Product number `group` of a batch, or the whole matrix.
TensorRef matrix_at(const Tensor& tensor, std::int64_t group) {
  if (tensor.rank() == 2) return view_of(tensor, tensor.sizes, tensor.strides, tensor.offset);
  return view_of(tensor, {tensor.sizes[1], tensor.sizes[2]}, {tensor.strides[1], tensor.strides[2]},
                 tensor.offset + group * tensor.strides[0]);
}

// Products of matrices that lie behind each other: rows of self, columns of mat2, or the depth of
// both in groups. Elements that belong to no group are open.
void grouped_mm(Call& call) {
  const Tensor& a = *call.tensor("self");
  const Tensor& b = *call.tensor("mat2");
  const auto is_matrices = [](const Tensor& t) { return t.rank() == 2 || t.rank() == 3; };
  if (!is_matrices(a) || !is_matrices(b)) throw OpError("expected matrices or batches of them");
  require_one_dtype({&a, &b});
  const bool is_known = a.dtype == spec::DType::kFloat32 || a.dtype == spec::DType::kBFloat16 ||
                        a.dtype == spec::DType::kFloat16;
  if (!is_known) throw OpError("grouped products are of float32, bfloat16 or float16");
  if (call.optional_dtype("out_dtype").value_or(a.dtype) != a.dtype || call.has("bias")) {
    throw OpError("a grouped product has the factors' dtype, and no bias");
  }
  if (declared_arithmetic().refuses_as_cuda) {
    require_aligned_rows(a);
    require_aligned_rows(b);
  }
  const bool by_depth = a.rank() == 2 && b.rank() == 2;
  require_inner(a, b, a.sizes.back() == b.sizes[b.sizes.size() - 2]);
  if (a.rank() == 3 && b.rank() == 3) {
    if (call.has("offs")) throw OpError("batches have no groups");
    require_inner(a, b, a.sizes[0] == b.sizes[0]);
  }
  const std::int64_t rows = a.sizes[a.sizes.size() - 2];
  const std::int64_t columns = b.sizes.back();
  const std::int64_t inner = a.sizes.back();
  const bool by_rows = a.rank() == 2 && b.rank() == 3;
  const bool by_columns = a.rank() == 3 && b.rank() == 2;
  const bool is_plain = !by_depth && !by_rows && !by_columns;
  std::vector<std::int64_t> ends(is_plain ? static_cast<std::size_t>(a.sizes[0]) : 0);
  if (!is_plain) ends = group_ends(call, by_rows ? rows : by_columns ? columns : inner);
  const auto groups = static_cast<std::int64_t>(ends.size());
  if ((by_rows && b.sizes[0] != groups) || (by_columns && a.sizes[0] != groups)) {
    throw OpError("expected one group for each matrix of the batch");
  }
  Sizes sizes = {rows, columns};
  if (is_plain || by_depth) sizes.insert(sizes.begin(), groups);
  const spec::DType dtype = a.dtype;
  with_real(call.mode(), [&]<class N>() {
    Array<N> out(sizes, left_open(N(0.0)));
    std::int64_t begin = 0;
    for (std::int64_t group = 0; group < groups; ++group) {
      const std::int64_t end = is_plain ? 0 : ends[static_cast<std::size_t>(group)];
      const TensorRef left = matrix_at(a, group);
      const TensorRef right = transposed(*matrix_at(b, group));
      const bool cuts_left = by_rows || by_depth;
      const bool cuts_right = by_columns || by_depth;
      const Array<N> product =
          batched_product(narrowed_batch<N>(*left, by_depth ? 1 : 0, cuts_left ? begin : 0,
                                            cuts_left ? end : left->sizes[0], dtype),
                          narrowed_batch<N>(*right, by_depth ? 1 : 0, cuts_right ? begin : 0,
                                            cuts_right ? end : right->sizes[0], dtype),
                          dtype);
      for (std::int64_t i = 0; i < product.count(); ++i) {
        const std::int64_t row = i / product.size(2) + (by_rows ? begin : 0);
        const std::int64_t column = i % product.size(2) + (by_columns ? begin : 0);
        const std::int64_t matrix = sizes.size() == 3 ? group : 0;
        out[(matrix * rows + row) * columns + column] = product[i];
      }
      begin = end;
    }
    call.emit(out, dtype, grouped_strides(sizes, dtype));
  });
}

constexpr std::array kMatmulOps = {
    OpBody{"aten._grouped_mm", grouped_mm},
    OpBody{"aten._int_mm", int_mm},
    OpBody{"aten._scaled_mm", scaled_mm},
    OpBody{"aten.addbmm", addbmm},
    OpBody{"aten.addmm", addmm},
    OpBody{"aten.addmv", addmv},
    OpBody{"aten.addr", addr},
    OpBody{"aten.baddbmm", baddbmm},
    OpBody{"aten.bmm", bmm},
    OpBody{"aten.dot", dot},
    OpBody{"aten.mm", mm},
    OpBody{"aten.mv", mv},
    OpBody{"aten.vdot", vdot},
};

}  // namespace

std::span<const OpBody> matmul_ops() { return kMatmulOps; }

}  // namespace graphgate::reference
