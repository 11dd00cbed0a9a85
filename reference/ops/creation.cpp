// Ops that make tensors from sizes and numbers, and tril and triu, which put zeros into one.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "reference/movement.h"
#include "reference/ops/spaced_numbers.h"
#include "reference/ops/view.h"
#include "reference/registry.h"
#include "reference/version_facts.h"

namespace graphgate::reference {
namespace {

using spec::DType;
using spec::MemoryFormat;

// The dtype that a number has when it becomes a tensor: the default dtype for a float.
DType dtype_of_number(const Datum& number) { return result_type(std::array{number}); }

// The dtype of a new tensor: that of the out= tensor, the one asked for, or `otherwise`.
DType dtype_asked(const Call& call, DType otherwise) {
  if (const TensorRef out = call.next_target()) return out->dtype;
  return call.optional_dtype("dtype").value_or(otherwise);
}

TensorRef new_sized(const Call& call, const Sizes& sizes, DType otherwise) {
  const auto format = call.optional_format("memory_format").value_or(MemoryFormat::kContiguous);
  if (!spec::checked_element_count(sizes)) {
    throw OpError("sizes must not be negative, and multiply to less than 2^63");
  }
  return new_tensor(dtype_asked(call, otherwise), sizes, strides_in_format(sizes, format),
                    call.device_or({}));
}

TensorRef new_like(const Call& call) {
  const Tensor& self = *call.tensor("self");
  const auto format = call.optional_format("memory_format").value_or(MemoryFormat::kPreserve);
  return new_tensor(dtype_asked(call, self.dtype), self.sizes, strides_like(self, format),
                    call.device_or(self.device));
}

TensorRef new_from(const Call& call) {
  const Tensor& self = *call.tensor("self");
  const Sizes sizes = call.integers("size");
  if (!spec::checked_element_count(sizes)) {
    throw OpError("sizes must not be negative, and multiply to less than 2^63");
  }
  return new_tensor(dtype_asked(call, self.dtype), sizes, call.device_or(self.device));
}

void emit_filled(Call& call, const TensorRef& made, const Datum& value) {
  fill(call.mode(), *made, value);
  emit_made(call, made);
}

const Datum kZero{std::int64_t{0}};
const Datum kOne{std::int64_t{1}};

void emit_open(Call& call, const TensorRef& made) {
  leave_open(call.mode(), *made);
  emit_made(call, made);
}

void empty(Call& call) { emit_open(call, new_sized(call, call.integers("size"), DType::kFloat32)); }
void zeros(Call& call) { emit_made(call, new_sized(call, call.integers("size"), DType::kFloat32)); }
void ones(Call& call) {
  emit_filled(call, new_sized(call, call.integers("size"), DType::kFloat32), kOne);
}
void full(Call& call) {
  const Datum& value = call.datum("fill_value");
  emit_filled(call, new_sized(call, call.integers("size"), dtype_of_number(value)), value);
}
void scalar_tensor(Call& call) {
  emit_filled(call, new_sized(call, {}, DType::kFloat32), call.datum("s"));
}

void empty_like(Call& call) { emit_open(call, new_like(call)); }
void zeros_like(Call& call) { emit_filled(call, new_like(call), kZero); }
void ones_like(Call& call) { emit_filled(call, new_like(call), kOne); }
void full_like(Call& call) { emit_filled(call, new_like(call), call.datum("fill_value")); }

void new_empty(Call& call) { emit_open(call, new_from(call)); }
void new_zeros(Call& call) { emit_filled(call, new_from(call), kZero); }
void new_ones(Call& call) { emit_filled(call, new_from(call), kOne); }
void new_full(Call& call) { emit_filled(call, new_from(call), call.datum("fill_value")); }

// `physical_layout` lists the dimensions from the slowest to the fastest.
void empty_permuted(Call& call) {
  const Sizes layout = call.integers("physical_layout");
  const TensorRef made = new_sized(call, call.integers("size"), DType::kFloat32);
  if (layout.size() != made->sizes.size()) {
    throw OpError("empty_permuted: size and physical_layout have different lengths");
  }
  std::vector<std::size_t> order;
  for (const std::int64_t dim : layout) {
    const auto d = static_cast<std::size_t>(wrap_dim(dim, made->rank()));
    if (std::find(order.begin(), order.end(), d) != order.end()) {
      throw OpError("empty_permuted: a dimension is listed twice");
    }
    order.push_back(d);
  }
  made->strides = strides_in_order(made->sizes, order);
  emit_open(call, made);
}

// Any strides that are not negative; elements may share memory.
void emit_strided(Call& call, DType dtype, const spec::Device& device) {
  const Sizes sizes = call.integers("size");
  const Sizes strides = call.integers("stride");
  const spec::HostTensor asked{dtype, sizes, strides, 0, {}, {}};
  if (sizes.size() != strides.size() ||
      !spec::geometry_fits(asked, std::numeric_limits<std::int64_t>::max())) {
    throw OpError("empty_strided: sizes and strides are no geometry");
  }
  emit_open(call, new_tensor(dtype_asked(call, dtype), sizes, strides, device));
}
void empty_strided(Call& call) { emit_strided(call, DType::kFloat32, call.device_or({})); }
void new_empty_strided(Call& call) {
  const Tensor& self = *call.tensor("self");
  emit_strided(call, self.dtype, call.device_or(self.device));
}

// The numbers of a range in the arithmetic of PyTorch's kernels: integers for integer dtypes,
// float64 for float32 and float64, float32 for the 16-bit dtypes.
template <class N>
Array<N> range_numbers(const Datum& start, const Datum& step, std::int64_t count, DType dtype) {
  Array<N> out(Sizes{count});
  if constexpr (std::is_same_v<N, Whole>) {
    const Whole first = number<Whole>(start, dtype);
    const Whole by = number<Whole>(step, dtype);
    for (std::int64_t i = 0; i < count; ++i) out[i] = first + by * Whole(i);
  } else {
    const DType arithmetic = dtype == DType::kFloat32 ? DType::kFloat64 : compute_dtype(dtype);
    const N first = in_arithmetic<N>(number<double>(start, arithmetic), arithmetic);
    const N by = in_arithmetic<N>(number<double>(step, arithmetic), arithmetic);
    for (std::int64_t i = 0; i < count; ++i) out[i] = range_number(first, by, i, dtype);
  }
  return out;
}

double as_double(const Datum& datum) { return number<double>(datum, DType::kFloat64); }

constexpr VersionFact kCountsFloats{
    "arange: floats are counted as floats where int64 is asked for, and not cut off first",
    {2, 14}};

// The number of int64 elements of a range that is counted in integers.
double integer_count(const Datum& start, const Datum& end, const Datum& step) {
  const std::int64_t whole_step = number<Whole>(step, DType::kInt64).value;
  const __int128 span = static_cast<__int128>(number<Whole>(end, DType::kInt64).value) -
                        number<Whole>(start, DType::kInt64).value;
  const int sign = whole_step > 0 ? 1 : -1;
  return static_cast<double>((span + whole_step - sign) / whole_step);
}

// Whether releases that cut floats off count otherwise than as floats, or cannot count.
bool differs_cut_off(double count, const Datum& start, const Datum& end, const Datum& step) {
  const bool is_nothing = number<Whole>(step, DType::kInt64).value == 0;
  return is_nothing || integer_count(start, end, step) != count;
}

// The number of elements of a half-open range. Between integers it is counted in integers.
std::int64_t range_count(const Datum& start, const Datum& end, const Datum& step, DType dtype) {
  const double from = as_double(start);
  const double to = as_double(end);
  const double by = as_double(step);
  if (!(by > 0 || by < 0)) throw OpError("arange: step must be nonzero");
  if (!std::isfinite(from) || !std::isfinite(to)) throw OpError("arange: unsupported range");
  if ((by > 0 && to < from) || (by < 0 && to > from)) {
    throw OpError("arange: upper bound and lower bound inconsistent with step sign");
  }
  double count = std::ceil((to - from) / by);
  const bool is_real = is_float(start) || is_float(end) || is_float(step);
  if (dtype == DType::kInt64 && !is_real) count = integer_count(start, end, step);
  if (dtype == DType::kInt64 && is_real && differs_cut_off(count, start, end, step) &&
      !holds(kCountsFloats)) {
    if (number<Whole>(step, dtype).value == 0) {
      throw OpError("arange: step must be nonzero in the dtype");
    }
    count = integer_count(start, end, step);
  }
  if (!(count >= 0 && count < 0x1p40)) throw OpError("arange: the range is too long");
  return static_cast<std::int64_t>(count);
}

// The sizes of a sequence of `count` numbers: those of its out= tensor where that holds as many.
Sizes sequence_sizes(const Call& call, std::int64_t count) {
  const TensorRef target = call.next_target();
  return target && target->count() == count ? target->sizes : Sizes{count};
}

void arange(Call& call) {
  const Datum start = call.has("start") ? call.datum("start") : kZero;
  const Datum step = call.has("step") ? call.datum("step") : kOne;
  const Datum& end = call.datum("end");
  const bool real = is_float(start) || is_float(end) || is_float(step);
  const DType dtype = dtype_asked(call, real ? DType::kFloat32 : DType::kInt64);
  if (dtype == DType::kBool) throw OpError("arange is not implemented for bool");
  const std::int64_t count = range_count(start, end, step, dtype);
  const TensorRef made = new_tensor(dtype, sequence_sizes(call, count), call.device_or({}));
  with_number(call.mode(), dtype, [&]<class N>() {
    Array<N> numbers = range_numbers<N>(start, step, count, dtype);
    numbers.sizes = made->sizes;
    store(*made, numbers);
  });
  emit_made(call, made);
}

// A number argument, or the one element of a tensor in its place.
double number_or_element(const Call& call, std::string_view name) {
  const auto* tensor = call.datum(name).as<TensorRef>();
  if (!tensor) return as_double(call.datum(name));
  if ((*tensor)->rank() != 0) throw OpError("start and end of a sequence must be of rank 0");
  return load<double>(**tensor, DType::kFloat64)[0];
}

void linspace(Call& call) {
  const std::int64_t steps = call.integer("steps");
  if (steps < 0) throw OpError("linspace: number of steps must be non-negative");
  const DType dtype = dtype_asked(call, DType::kFloat32);
  const TensorRef made = new_tensor(dtype, sequence_sizes(call, steps), call.device_or({}));
  const double start = number_or_element(call, "start");
  const double end = number_or_element(call, "end");
  with_real(call.mode(), [&]<class N>() {
    Array<N> numbers = spaced_numbers<N>(start, end, steps, dtype);
    numbers.sizes = made->sizes;
    store(*made, numbers);
  });
  emit_made(call, made);
}

// The exponents of logspace: steps of one length from the start in the first half, from the end in
// the second. PyTorch holds each of them in the dtype itself (the counts of steps too), or in
// float64 for integers.
template <class N>
std::vector<N> spaced_exponents(double start, double end, std::int64_t steps, DType dtype) {
  const bool real = spec::is_floating_point(dtype);
  const DType arithmetic = real ? compute_dtype(dtype) : DType::kFloat64;
  const DType held = real ? dtype : DType::kFloat64;
  const auto bound = [&](double x) {
    return in_arithmetic<N>(real ? round_to_dtype(x, dtype) : std::trunc(x), arithmetic);
  };
  const auto count = [&](std::int64_t n) {
    return N(round_to_dtype(static_cast<double>(n), held));
  };
  const N first = bound(start);
  const N last = bound(end);
  const N step =
      held_in(held_in(last - first, held) / count(std::max<std::int64_t>(steps - 1, 1)), held);
  std::vector<N> out;
  for (std::int64_t i = 0; i < steps; ++i) {
    const bool from_start = i < steps / 2;
    const N away = held_in(step * count(from_start ? i : steps - 1 - i), held);
    out.push_back(held_in(from_start ? first + away : last - away, held));
  }
  return out;
}

// base ^ exponent in float64, rounded once. A lone number is base ^ start, the start as it is
// given.
void logspace(Call& call) {
  const std::int64_t steps = call.integer("steps");
  if (steps < 0) throw OpError("logspace: number of steps must be non-negative");
  const double base = call.real("base");
  const DType dtype = dtype_asked(call, DType::kFloat32);
  if (dtype == DType::kBool) throw OpError("logspace is not implemented for bool");
  const TensorRef made = new_tensor(dtype, sequence_sizes(call, steps), call.device_or({}));
  const double start = number_or_element(call, "start");
  const double end = number_or_element(call, "end");
  with_real(call.mode(), [&]<class N>() {
    const N foot = in_arithmetic<N>(base, DType::kFloat64);
    Array<N> numbers(made->sizes);
    std::vector<N> exponents = {in_arithmetic<N>(start, DType::kFloat64)};
    if (steps != 1) exponents = spaced_exponents<N>(start, end, steps, dtype);
    for (std::int64_t i = 0; i < steps; ++i) {
      numbers[i] = pow(foot, exponents[static_cast<std::size_t>(i)]);
    }
    store(*made, numbers);
  });
  emit_made(call, made);
}

// Keeps what lies on the kept side of a diagonal of the last two dimensions, zeros elsewhere.
template <bool kLower>
void triangle(Call& call) {
  const Tensor& self = *call.tensor("self");
  if (self.rank() < 2) throw OpError("tril and triu want a tensor with at least 2 dimensions");
  const std::int64_t diagonal = call.integer("diagonal");
  std::vector<std::int64_t> from = element_positions(self);
  const std::size_t last = self.sizes.size() - 1;
  std::size_t i = 0;
  for_each_index(self.sizes, [&](const Sizes& index) {
    const std::int64_t distance = index[last] - index[last - 1];  // to the right of the diagonal
    const bool kept = kLower ? distance <= diagonal : distance >= diagonal;
    if (!kept) from[i] = -1;
    ++i;
  });
  const TensorRef made = new_tensor(self.dtype, self.sizes, self.device);
  move_elements(*made, self, from);
  emit_made(call, made);
}

// The last dimension of the operand becomes a diagonal of two new ones.
void diag_embed(Call& call) {
  const Tensor& self = *call.tensor("self");
  if (self.rank() == 0) throw OpError("diag_embed wants at least one dimension");
  const std::int64_t offset = call.integer("offset");
  if (offset <= -kMostElements || offset >= kMostElements) {
    throw OpError("diag_embed: the offset is out of range");
  }
  const std::int64_t side = self.sizes.back() + std::abs(offset);
  const std::int64_t dim1 = wrap_dim(call.integer("dim1"), self.rank() + 1);
  const std::int64_t dim2 = wrap_dim(call.integer("dim2"), self.rank() + 1);
  if (dim1 == dim2) throw OpError("diagonal dimensions cannot be identical");
  Sizes sizes(self.sizes.begin(), self.sizes.end() - 1);
  sizes.insert(sizes.begin() + std::min(dim1, dim2), side);
  sizes.insert(sizes.begin() + std::max(dim1, dim2), side);
  const TensorRef made = new_tensor(self.dtype, sizes, self.device);
  assign(call.mode(), *view_of(*made, diagonal_of(*made, offset, dim1, dim2)), self);
  emit_made(call, made);
}

constexpr std::array kCreationOps = {
    OpBody{"aten.arange", arange},
    OpBody{"aten.diag_embed", diag_embed}.any_dtype().moves("self"),
    OpBody{"aten.empty", empty}.any_dtype().unwritten(),
    OpBody{"aten.empty_like", empty_like}.any_dtype().unwritten(),
    OpBody{"aten.empty_permuted", empty_permuted}.any_dtype().unwritten(),
    OpBody{"aten.empty_strided", empty_strided}.any_dtype().unwritten(),
    OpBody{"aten.full", full}.any_dtype(),
    OpBody{"aten.full_like", full_like}.any_dtype(),
    OpBody{"aten.linspace", linspace},
    OpBody{"aten.logspace", logspace},
    OpBody{"aten.new_empty", new_empty}.any_dtype().unwritten(),
    OpBody{"aten.new_empty_strided", new_empty_strided}.any_dtype().unwritten(),
    OpBody{"aten.new_full", new_full}.any_dtype(),
    OpBody{"aten.new_ones", new_ones}.any_dtype(),
    OpBody{"aten.new_zeros", new_zeros}.any_dtype(),
    OpBody{"aten.ones", ones}.any_dtype(),
    OpBody{"aten.ones_like", ones_like}.any_dtype(),
    OpBody{"aten.scalar_tensor", scalar_tensor}.any_dtype(),
    OpBody{"aten.tril", triangle<true>}.any_dtype().moves("self"),
    OpBody{"aten.triu", triangle<false>}.any_dtype().moves("self"),
    OpBody{"aten.zeros", zeros}.any_dtype(),
    OpBody{"aten.zeros_like", zeros_like}.any_dtype(),
};

}  // namespace

std::span<const OpBody> creation_ops() { return kCreationOps; }

}  // namespace graphgate::reference
