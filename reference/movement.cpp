#include "reference/movement.h"

#include <cmath>
#include <cstring>

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
  const auto* real = value.as<double>();
  const auto* integer = value.as<std::int64_t>();
  const bool fits = real ? takes_real(*real, dtype) : !integer || takes_integer(*integer, dtype);
  if (fits) return;
  throw OpError("the value cannot be converted to " + std::string(spec::torch_name(dtype)) +
                " without overflow");
}

}  // namespace

void move_elements(Tensor& target, const Tensor& source, std::span<const std::int64_t> from) {
  GRAPHGATE_CHECK(target.dtype == source.dtype && target.storage != source.storage);
  if (!source.storage->marks.empty()) add_marks(target);
  const auto item = static_cast<std::size_t>(spec::item_size_bytes(target.dtype));
  const std::byte* read = source.storage->bytes();
  std::byte* write = target.storage->writable_bytes();
  const std::vector<Mark>& marks = source.storage->marks;
  std::size_t i = 0;
  for_each_position(target, [&](std::int64_t to) {
    const std::int64_t position = from[i++];
    if (position < 0) return;
    const auto at = static_cast<std::size_t>(to);
    const auto source_at = static_cast<std::size_t>(position);
    std::memcpy(write + at * item, read + source_at * item, item);
    if (target.storage->marks.empty()) return;
    target.storage->marks[at] = marks.empty() ? exact_mark(source, position) : marks[source_at];
  });
}

void assign(Mode mode, Tensor& target, const Tensor& source) {
  if (target.sizes != source.sizes) throw OpError("a result does not have the sizes of its target");
  if (target.dtype == source.dtype) {
    move_elements(target, source, element_positions(source));
    return;
  }
  with_number(mode, target.dtype, [&]<class N>() { store(target, load<N>(source, target.dtype)); });
}

TensorRef copy_of(const Tensor& source) {
  return copy_of(source, spec::contiguous_strides(source.sizes));
}

TensorRef copy_of(const Tensor& source, Sizes strides) {
  TensorRef copy = new_tensor(source.dtype, source.sizes, std::move(strides), source.device);
  move_elements(*copy, source, element_positions(source));
  return copy;
}

void fill(Mode mode, Tensor& target, const Datum& value) {
  // A single element is converted by way of the dtype that kernels compute in: 70000 becomes an
  // infinite float16 there, and is refused for more elements than one.
  const bool single = target.count() == 1 && spec::is_floating_point(target.dtype);
  check_fits(value, single ? compute_dtype(target.dtype) : target.dtype);
  const auto* real = value.as<double>();
  const bool to_bool = real && target.dtype == DType::kBool;
  const Datum held = to_bool ? Datum{*real != 0} : value;
  with_number(mode, target.dtype, [&]<class N>() {
    store(target, Array<N>(target.sizes, number<N>(held, target.dtype)));
  });
}

void leave_open(Mode mode, Tensor& target) {
  if (mode == Mode::kEager || target.count() == 0) return;
  add_marks(target);
  for (Mark& mark : target.storage->marks) mark.radius = detail::kInfinity;
}

void emit_made(Call& call, const TensorRef& made) {
  if (!call.next_is_written()) {
    call.emit_datum({made});
    return;
  }
  with_number(call.mode(), made->dtype,
              [&]<class N>() { call.emit(load<N>(*made, made->dtype), made->dtype); });
}

TensorRef narrowed(const Tensor& base, std::int64_t dim, std::int64_t start, std::int64_t length) {
  const auto d = static_cast<std::size_t>(dim);
  Sizes sizes = base.sizes;
  sizes[d] = length;
  return view_of(base, std::move(sizes), base.strides, base.offset + start * base.strides[d]);
}

}  // namespace graphgate::reference
