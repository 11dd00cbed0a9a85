#include "optimized/kernels/creation_sequences.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "optimized/codegen/copy_work.h"
#include "optimized/codegen/type_text.h"
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/indexed_loop.h"
#include "optimized/loop.h"
#include "optimized/torch_release.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

Item argument_or(const KernelCall& call, const char* name, const Item& otherwise) {
  return call.has(name) ? call.item(name) : otherwise;
}

const Item kZero{std::int64_t{0}};
const Item kOne{std::int64_t{1}};

struct Range {
  Item start, end, step;
};

Range range_of(const KernelCall& call) {
  return {argument_or(call, "start", kZero), call.item("end"), argument_or(call, "step", kOne)};
}

// The dtype of the result: that of `out`, else the given one, else float32 if a number is a float.
DType arange_dtype(const KernelCall& call, const Range& range) {
  if (const Tensor* out = call.written_result(0)) return out->dtype;
  const bool is_real =
      range.start.as<double>() || range.end.as<double>() || range.step.as<double>();
  return call.optional_dtype("dtype").value_or(is_real ? DType::kFloat32 : DType::kInt64);
}

void check_range(double start, double end, double step) {
  if (step == 0) throw OpError("arange: the step is 0");
  if (!std::isfinite(start) || !std::isfinite(end)) throw OpError("arange: a bound is not finite");
  if (step > 0 ? end < start : end > start) {
    throw OpError("arange: the bounds contradict the sign of the step");
  }
}

// Before PyTorch 2.14 floats were cut off first where int64 was asked for.
bool cuts_floats_off(DType dtype) {
  constexpr spec::TorchRelease kLast{2, 13};
  return dtype == DType::kInt64 && torch_release() <= kLast;
}

std::int64_t integer_count(std::int64_t start, std::int64_t end, std::int64_t step) {
  std::int64_t distance = 0;
  if (__builtin_sub_overflow(end, start, &distance)) throw OpError("arange: too many elements");
  return distance / step + (distance % step != 0 ? 1 : 0);
}

// The sizes of a sequence of `count` numbers: those of its out= tensor where that holds as many.
Sizes sequence_sizes(const KernelCall& call, std::int64_t count) {
  const Tensor* out = call.written_result(0);
  if (!out || out->count() != count || out->rank() == 1) return {count};
  if (out->strides != row_major_strides(out->sizes)) {
    throw Unsupported("the numbers of a sequence go to a tensor of " + print_sizes(out->sizes) +
                      ", which is not row-major");
  }
  return out->sizes;
}

// A row-major tensor of any sizes as one dimension.
Tensor as_one_row(Tensor result) {
  if (result.rank() == 1) return result;
  result.sizes = {result.count()};
  result.strides = {1};
  return result;
}

// Writes element(i) for i in [0, count) of a result with one dimension, in the compute type C.
template <class C, class F>
void write_sequence(const Tensor& result, const F& element) {
  std::array<C, kTile> tile;
  const std::int64_t stride = result.strides.front() * result.item_bytes();
  const std::int64_t count = result.sizes.front();
  for (std::int64_t begin = 0; begin < count; begin += kTile) {
    const std::int64_t n = std::min<std::int64_t>(kTile, count - begin);
    for (std::int64_t i = 0; i < n; ++i) tile[static_cast<std::size_t>(i)] = element(begin + i);
    store_tile<C>(result.dtype, tile.data(), static_cast<int>(n), result.data() + begin * stride,
                  stride);
  }
}

// The arithmetic of arange: double also for float32.
bool counts_in_float(DType dtype) {
  return spec::is_floating_point(dtype) && spec::item_size_bytes(dtype) < 4;
}

template <class C>
Launch launch_arange(const DeviceListener* listener, const Tensor& result, const Range& range) {
  const C start = number_as<C>(range.start);
  const C step = number_as<C>(range.step);
  const element::Sequence<C> element{start, step};
  Launch launch = [result, element] { write_sequence<C>(result, element); };
  if (listener == nullptr) return launch;
  return described(std::move(launch), {sequence_text(result, callable_text<C>(element))});
}

// A number, or a tensor whose one element is read when it is asked for.
template <class C>
class Bound {
 public:
  explicit Bound(const Item& item) {
    if (const auto* tensor = item.as<Tensor>()) {
      at_ = tensor->data();
      dtype_ = tensor->dtype;
    } else {
      value_ = number_as<C>(item);
    }
  }
  [[nodiscard]] C read() const { return at_ ? load_element<C>(dtype_, at_) : value_; }
  // For a device.
  [[nodiscard]] DeviceOperand operand() const {
    DeviceOperand out{{}, dtype_, at_ == nullptr, 0};
    out.tensor.dtype = dtype_;
    out.tensor.bytes = at_;
    std::memcpy(&out.number, &value_, sizeof value_);
    return out;
  }

 private:
  std::byte* at_ = nullptr;
  DType dtype_ = DType::kFloat64;
  C value_{};
};

template <class C>
Launch launch_linspace(const DeviceListener* listener, const Tensor& result, const Bound<C>& first,
                       const Bound<C>& last) {
  const bool is_whole = !spec::is_floating_point(result.dtype);
  Launch launch = [result, is_whole, first, last] {
    const C start = is_whole ? std::trunc(first.read()) : first.read();
    const C end = is_whole ? std::trunc(last.read()) : last.read();
    const std::int64_t steps = result.sizes.front();
    write_sequence<C>(result,
                      [=](std::int64_t i) { return element::linear_step(start, end, steps, i); });
  };
  if (listener == nullptr) return launch;
  return described(std::move(launch),
                   {linear_steps_text(result, std::is_same_v<C, double>, is_whole, first.operand(),
                                      last.operand())});
}

// Element i of logspace. `round` holds an intermediate in the result's dtype.
template <class C, class Round>
double log_step(double base, C first, C last, std::int64_t steps, std::int64_t i, Round round) {
  const C step = round(round(last - first) / round(static_cast<C>(steps - 1)));
  const bool from_start = i < steps / 2;
  const C away = round(step * round(static_cast<C>(from_start ? i : steps - 1 - i)));
  const C exponent = round(from_start ? first + away : last - away);
  return pow(base, static_cast<double>(exponent));
}

template <class C>
Launch launch_logspace(const Tensor& result, double base, const Item& start, const Item& end) {
  const bool is_whole = !spec::is_floating_point(result.dtype);
  return [result, base, is_whole, first = Bound<double>(start), last = Bound<double>(end)] {
    const std::int64_t steps = result.sizes.front();
    const auto round = [dtype = result.dtype, is_whole](C x) {
      if (is_whole) return x;
      std::array<std::byte, 8> held{};
      store_element(dtype, x, held.data());
      return load_element<C>(dtype, held.data());
    };
    const auto bound = [&](double x) {
      return is_whole ? static_cast<C>(std::trunc(x)) : round(static_cast<C>(x));
    };
    const double lone = first.read();
    write_sequence<double>(result, [&](std::int64_t i) {
      if (steps == 1) return pow(base, lone);
      return log_step<C>(base, bound(lone), bound(last.read()), steps, i, round);
    });
  };
}

// Row i of a matrix keeps [0, i + diagonal] (lower), or [i + diagonal, columns) (upper).
template <class Word>
void keep_row(std::byte* to, std::int64_t to_stride, const std::byte* from,
              std::int64_t from_stride, std::int64_t columns, std::int64_t begin,
              std::int64_t end) {
  const Word zero{};
  for (std::int64_t j = 0; j < begin; ++j) std::memcpy(to + j * to_stride, &zero, sizeof(Word));
  for (std::int64_t j = begin; to != from && j < end; ++j) {
    std::memcpy(to + j * to_stride, from + j * from_stride, sizeof(Word));
  }
  for (std::int64_t j = end; j < columns; ++j) std::memcpy(to + j * to_stride, &zero, sizeof(Word));
}

// The matrices without their columns: one element for every row.
Tensor rows_of(const Tensor& tensor) {
  Tensor out = tensor;
  out.sizes.pop_back();
  out.strides.pop_back();
  return out;
}

template <class Word>
Launch launch_triangle(const Tensor& result, const Tensor& self, std::int64_t diagonal,
                       bool is_lower) {
  const std::array<std::int64_t, 2> strides = {result.strides.back() * result.item_bytes(),
                                               self.strides.back() * self.item_bytes()};
  const std::int64_t columns = result.sizes.back();
  const std::int64_t rows = result.sizes[result.sizes.size() - 2];
  // One matrix row at a time, in row-major order: where dimensions merge does not matter.
  const Sizes outer = rows_of(result).sizes;
  const std::int64_t count = columns == 0 ? 0 : checked_count(outer);
  const auto at = [outer](const Tensor& tensor, std::int64_t row) {
    std::int64_t offset = 0;
    for (std::size_t d = outer.size(); d-- > 0; row /= outer[d]) {
      offset += row % outer[d] * tensor.strides[d];
    }
    return tensor.data() + offset * tensor.item_bytes();
  };
  return [=] {
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int64_t i = r % rows;
      const std::int64_t edge =
          std::clamp<std::int64_t>(i + diagonal + (is_lower ? 1 : 0), 0, columns);
      keep_row<Word>(at(result, r), strides[0], at(self, r), strides[1], columns,
                     is_lower ? 0 : edge, is_lower ? edge : columns);
    }
  };
}

Launch bind_triangle(const Binding& call, bool is_lower) {
  const Tensor& result = call.result();
  const Tensor& self = call.tensor("self");
  // Far diagonals keep all or nothing; the sum with a row must not overflow.
  const std::int64_t limit = result.sizes.back() + result.sizes[result.sizes.size() - 2];
  const std::int64_t diagonal = std::clamp(call.integer("diagonal"), -limit, limit);
  if (result.dtype != self.dtype) throw OpError("tril, triu: out has another dtype");
  Launch launch;
  with_word(self.item_bytes(), [&]<class Word>() {
    launch = launch_triangle<Word>(result, self, diagonal, is_lower);
  });
  if (call.listener() == nullptr) return launch;
  return described(std::move(launch), {triangle_text(result, self, diagonal, is_lower)});
}

}  // namespace

void infer_arange(Inference& call) {
  const Range range = range_of(call);
  const DType dtype = arange_dtype(call, range);
  if (dtype == DType::kBool) throw OpError("arange of bools");
  const auto real = [](const Item& item) { return number_as<double>(item); };
  check_range(real(range.start), real(range.end), real(range.step));
  const auto whole = [](const Item& item) { return number_as<std::int64_t>(item); };
  const bool is_cut = cuts_floats_off(dtype);
  const bool has_integers =
      is_cut || (!range.start.as<double>() && !range.end.as<double>() && !range.step.as<double>());
  if (is_cut && whole(range.step) == 0) throw OpError("arange: the step is 0 as an integer");
  const double quotient = std::ceil((real(range.end) - real(range.start)) / real(range.step));
  if (!(quotient < 0x1p63)) throw OpError("arange: too many elements");
  const std::int64_t count =
      dtype == DType::kInt64 && has_integers
          ? integer_count(whole(range.start), whole(range.end), whole(range.step))
          : static_cast<std::int64_t>(quotient);
  call.make(dtype, sequence_sizes(call, count), {}, call.device_or({}));
}

Launch bind_arange(const Binding& call) {
  const Range range = range_of(call);
  const Tensor result = as_one_row(call.result());
  if (!spec::is_floating_point(result.dtype))
    return launch_arange<std::int64_t>(call.listener(), result, range);
  if (counts_in_float(result.dtype)) return launch_arange<float>(call.listener(), result, range);
  return launch_arange<double>(call.listener(), result, range);
}

void infer_linspace(Inference& call) {
  for (const char* name : {"start", "end"}) {
    if (call.is_tensor(name) && call.tensor(name).rank() > 0) {
      throw OpError("linspace: a bound has dimensions: " + print_sizes(call.tensor(name).sizes));
    }
  }
  const std::int64_t steps = call.integer("steps");
  if (steps < 0) throw OpError("linspace: the number of steps is negative");
  call.make(call.optional_dtype("dtype").value_or(DType::kFloat32), sequence_sizes(call, steps), {},
            call.device_or({}));
}

Launch bind_linspace(const Binding& call) {
  const Tensor result = as_one_row(call.result());
  const bool counts_in_double =
      result.dtype == DType::kFloat64 || !spec::is_floating_point(result.dtype);
  if (counts_in_double) {
    return launch_linspace(call.listener(), result, Bound<double>(call.item("start")),
                           Bound<double>(call.item("end")));
  }
  return launch_linspace(call.listener(), result, Bound<float>(call.item("start")),
                         Bound<float>(call.item("end")));
}

Launch bind_logspace(const Binding& call) {
  const Tensor result = as_one_row(call.result());
  const bool is_narrow = spec::is_floating_point(result.dtype) && result.dtype != DType::kFloat64;
  const auto launch = is_narrow ? launch_logspace<float> : launch_logspace<double>;
  return launch(result, call.real("base"), call.item("start"), call.item("end"));
}

void infer_triangle(Inference& call) {
  const Tensor& self = call.tensor("self");
  if (self.rank() < 2) {
    throw OpError("tril, triu: fewer than 2 dimensions: " + print_sizes(self.sizes));
  }
  call.make(self.dtype, self.sizes);
}

Launch bind_tril(const Binding& call) { return bind_triangle(call, true); }
Launch bind_triu(const Binding& call) { return bind_triangle(call, false); }

}  // namespace graphgate::optimized
