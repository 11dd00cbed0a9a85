#include "reference/movement.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "reference/complex_array.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// Whether an integer dtype takes this integer: its own range, and for uint8 also what wraps from
// the negative side (c10::overflows allows -255 and up).
bool takes_integer(std::int64_t value, DType dtype) {
  switch (dtype) {
    case DType::kInt32:
      return value >= INT32_MIN && value <= INT32_MAX;
    case DType::kInt16:
      return value >= INT16_MIN && value <= INT16_MAX;
    case DType::kInt8:
      return value >= INT8_MIN && value <= INT8_MAX;
    case DType::kUInt8:
      return value >= -UINT8_MAX && value <= UINT8_MAX;
    default:
      return true;
  }
}

// The same for a float: what is left of it after cutting toward zero must be in range.
bool takes_real(double value, DType dtype) {
  if (dtype == DType::kBool) return true;
  if (spec::is_floating_point(dtype)) {
    return !std::isfinite(value) || std::fabs(value) <= max_finite(dtype);
  }
  if (!(std::fabs(value) < 9223372036854775808.0)) return false;
  const auto whole = static_cast<std::int64_t>(value);
  return takes_integer(whole, dtype) && !(dtype == DType::kUInt8 && whole < 0);
}

void check_fits(const Datum& value, DType dtype) {
  const auto takes = [&](long double x) { return takes_real(static_cast<double>(x), dtype); };
  const auto* integer = value.as<std::int64_t>();
  const bool fits =
      is_float(value) ? is_fitting(value, takes) : !integer || takes_integer(*integer, dtype);
  if (fits) return;
  throw OpError("the value cannot be converted to " + std::string(spec::torch_name(dtype)) +
                " without overflow");
}

// A row of elements of kItem bytes.
template <std::size_t kItem>
void move_row_of(std::byte* write, std::int64_t write_step, const std::byte* read,
                 std::int64_t read_step, std::int64_t count) {
  constexpr auto kStep = static_cast<std::int64_t>(kItem);
  if (write_step == kStep && read_step == kStep) {
    std::memcpy(write, read, static_cast<std::size_t>(count) * kItem);
    return;
  }
  for (; count > 0; --count, write += write_step, read += read_step) {
    std::memcpy(write, read, kItem);
  }
}

// Moves `count` elements, with their marks where the target has some. Positions count elements of
// the storages, `stride` is from one element to the next.
class RowMove {
 public:
  RowMove(Tensor& target, const Tensor& source) : target_(target), source_(source) {
    GRAPHGATE_CHECK(target.dtype == source.dtype && target.storage != source.storage);
    if (!source.storage->marks.empty()) add_marks(target);
    write_ = target.storage->writable_bytes();
  }

  void operator()(std::int64_t to, std::int64_t to_stride, std::int64_t from,
                  std::int64_t from_stride, std::int64_t count) const {
    move_bytes(to, to_stride, from, from_stride, count);
    std::vector<StoredMark>& marks = target_.storage->marks;
    if (marks.empty()) return;
    const std::vector<StoredMark>& given = source_.storage->marks;
    for (; count > 0; --count, to += to_stride, from += from_stride) {
      marks[static_cast<std::size_t>(to)] = given.empty() ? StoredMark(exact_mark(source_, from))
                                                          : given[static_cast<std::size_t>(from)];
    }
  }

 private:
  void move_bytes(std::int64_t to, std::int64_t to_stride, std::int64_t from,
                  std::int64_t from_stride, std::int64_t count) const {
    const std::int64_t item = spec::item_size_bytes(target_.dtype);
    std::byte* write = write_ + to * item;
    const std::byte* read = source_.storage->bytes() + from * item;
    switch (item) {
      case 1:
        return move_row_of<1>(write, to_stride, read, from_stride, count);
      case 2:
        return move_row_of<2>(write, to_stride * item, read, from_stride * item, count);
      case 4:
        return move_row_of<4>(write, to_stride * item, read, from_stride * item, count);
      default:
        return move_row_of<8>(write, to_stride * item, read, from_stride * item, count);
    }
  }

  Tensor& target_;
  const Tensor& source_;
  std::byte* write_ = nullptr;
};

}  // namespace

namespace {

// A tensor, or what its bits make of it.
TensorRef without_bits(const Tensor& tensor) { return resolved(std::make_shared<Tensor>(tensor)); }

// Positions of elements as those of both parts of each.
std::vector<std::int64_t> of_parts(std::span<const std::int64_t> positions) {
  std::vector<std::int64_t> out;
  out.reserve(2 * positions.size());
  for (const std::int64_t position : positions) {
    out.push_back(position < 0 ? position : 2 * position);
    out.push_back(position < 0 ? position : 2 * position + 1);
  }
  return out;
}

}  // namespace

void move_all(Tensor& target, const Tensor& source) {
  if (has_bits(source)) return move_all(target, *without_bits(source));
  if (spec::is_complex(target.dtype)) {
    GRAPHGATE_CHECK(target.dtype == source.dtype);
    Tensor parts = as_components(target);
    return move_all(parts, as_components(source));
  }
  const RowMove move(target, source);
  ElementWalk read(source);
  for_each_row(target, [&](std::int64_t to, std::int64_t to_stride, std::int64_t row) {
    read.next(row, [&](std::int64_t from, std::int64_t from_stride, std::int64_t count) {
      move(to, to_stride, from, from_stride, count);
      to += count * to_stride;
    });
  });
}

void move_elements(Tensor& target, const Tensor& source, std::span<const std::int64_t> from) {
  GRAPHGATE_CHECK(!has_bits(source));
  if (spec::is_complex(target.dtype)) {
    GRAPHGATE_CHECK(target.dtype == source.dtype);
    Tensor parts = as_components(target);
    return move_elements(parts, as_components(source), of_parts(from));
  }
  const RowMove move(target, source);
  std::size_t done = 0;
  for_each_row(target, [&](std::int64_t to, std::int64_t stride, std::int64_t count) {
    for (const std::size_t end = done + static_cast<std::size_t>(count); done < end;) {
      const std::int64_t first = from[done];
      std::int64_t length = 1;  // of what lies behind each other
      while (first >= 0 && done + static_cast<std::size_t>(length) < end &&
             from[done + static_cast<std::size_t>(length)] == first + length) {
        ++length;
      }
      if (first >= 0) move(to, stride, first, 1, length);
      to += length * stride;
      done += static_cast<std::size_t>(length);
    }
  });
}

namespace {

// Where one of both dtypes is complex, and they differ.
void assign_complex(Mode mode, Tensor& target, const Tensor& source) {
  if (spec::is_complex(target.dtype) && spec::is_complex(source.dtype)) {
    Tensor parts = as_components(target);
    return assign(mode, parts, as_components(source));
  }
  if (spec::is_complex(target.dtype)) {
    Tensor real = part_of(target, 0);
    Tensor imaginary = part_of(target, 1);
    assign(mode, real, source);
    return fill(mode, imaginary, Datum{0.0});
  }
  if (target.dtype != DType::kBool) return assign(mode, target, part_of(source, 0));
  with_real(mode, [&]<class N>() {
    const auto numbers = load_complex<N>(source, source.dtype);
    Array<Whole> truths(source.sizes);
    for (std::int64_t i = 0; i < truths.count(); ++i) truths[i] = logical_not(is_zero(numbers[i]));
    store(target, truths);
  });
}

}  // namespace

void assign(Mode mode, Tensor& target, const Tensor& source) {
  if (target.sizes != source.sizes) throw OpError("a result does not have the sizes of its target");
  if (target.dtype == source.dtype) {
    move_all(target, source);
    return;
  }
  if (has_bits(source)) return assign(mode, target, *without_bits(source));
  if (spec::is_complex(target.dtype) || spec::is_complex(source.dtype)) {
    return assign_complex(mode, target, source);
  }
  with_number(mode, target.dtype, [&]<class N>() {
    Reader<N> reader(source, target.dtype);
    Writer<N> writer(target);
    for_each_block<N>(
        source.count(), [&](std::span<N> block) { reader.read(block); },
        [&](std::span<const N> block) { writer.write(block); });
  });
}

TensorRef copy_of(const Tensor& source) {
  return copy_of(source, spec::contiguous_strides(source.sizes));
}

TensorRef copy_of(const Tensor& source, Sizes strides) {
  TensorRef copy = new_tensor(source.dtype, source.sizes, std::move(strides), source.device);
  move_all(*copy, source);
  return copy;
}

void fill(Mode mode, Tensor& target, const Datum& value) {
  const auto* complex = value.as<spec::ComplexNumber>();
  if (spec::is_complex(target.dtype)) {
    Tensor real = part_of(target, 0);
    Tensor imaginary = part_of(target, 1);
    fill(mode, real, complex != nullptr ? Datum{complex->real} : value);
    return fill(mode, imaginary, Datum{complex != nullptr ? complex->imag : 0.0});
  }
  if (complex != nullptr) {
    throw OpError("a complex number cannot be converted to " +
                  std::string(spec::torch_name(target.dtype)) + " without overflow");
  }
  // A single element is converted by way of the dtype that kernels compute in: 70000 becomes an
  // infinite float16 there, and is refused for more elements than one.
  const bool single = target.count() == 1 && spec::is_floating_point(target.dtype);
  check_fits(value, single ? compute_dtype(target.dtype) : target.dtype);
  const auto* real = value.as<double>();
  const bool to_bool = real && target.dtype == DType::kBool;
  const Datum held = to_bool ? Datum{*real != 0} : value;
  with_number(mode, target.dtype, [&]<class N>() {
    const N x = number<N>(held, target.dtype);
    Writer<N> writer(target);
    for_each_block<N>(
        target.count(), [&](std::span<N> block) { std::ranges::fill(block, x); },
        [&](std::span<const N> block) { writer.write(block); });
  });
}

void leave_open(Mode mode, Tensor& target) {
  if (mode == Mode::kEager || target.count() == 0) return;
  add_marks(target);
  for (StoredMark& mark : target.storage->marks) mark.set_radius(detail::kInfinity);
}

void emit_made(Call& call, const TensorRef& made) {
  if (!call.next_is_written()) {
    call.emit_datum({made});
    return;
  }
  const TensorRef target = call.next_target();
  if (spec::is_complex(made->dtype) || spec::is_complex(target->dtype)) {
    const spec::DType dtype = complex_dtype(spec::component_dtype(made->dtype));
    return with_real(call.mode(),
                     [&]<class N>() { call.emit(load_complex<N>(*made, dtype), dtype); });
  }
  with_number(call.mode(), made->dtype,
              [&]<class N>() { call.emit_tensor<N>(*made, made->dtype, made->dtype); });
}

TensorRef narrowed(const Tensor& base, std::int64_t dim, std::int64_t start, std::int64_t length) {
  const auto d = static_cast<std::size_t>(dim);
  Sizes sizes = base.sizes;
  sizes[d] = length;
  return view_of(base, std::move(sizes), base.strides, base.offset + start * base.strides[d]);
}

}  // namespace graphgate::reference
