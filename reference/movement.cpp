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
  const auto takes = [&](long double x) { return takes_real(static_cast<double>(x), dtype); };
  const auto* integer = value.as<std::int64_t>();
  const bool fits =
      is_float(value) ? is_fitting(value, takes) : !integer || takes_integer(*integer, dtype);
  if (fits) return;
  throw OpError("the value cannot be converted to " + std::string(spec::torch_name(dtype)) +
                " without overflow");
}

// Elements of kItem bytes.
template <std::size_t kItem>
void move_bytes(const Tensor& target, std::byte* write, const std::byte* read,
                std::span<const std::int64_t> from) {
  auto next = from.begin();
  for_each_position(target, [&](std::int64_t to) {
    const std::int64_t position = *next++;
    if (position < 0) return;
    std::memcpy(write + static_cast<std::size_t>(to) * kItem,
                read + static_cast<std::size_t>(position) * kItem, kItem);
  });
}

void move_marks(Tensor& target, const Tensor& source, std::span<const std::int64_t> from) {
  const std::vector<Mark>& marks = source.storage->marks;
  auto next = from.begin();
  for_each_position(target, [&](std::int64_t to) {
    const std::int64_t position = *next++;
    if (position < 0) return;
    target.storage->marks[static_cast<std::size_t>(to)] =
        marks.empty() ? exact_mark(source, position) : marks[static_cast<std::size_t>(position)];
  });
}

}  // namespace

namespace {

// move_elements() of all elements of a tensor, in order.
void move_all(Tensor& target, const Tensor& source) {
  const bool is_one_block = is_contiguous(target) && is_contiguous(source) &&
                            target.storage->marks.empty() && source.storage->marks.empty();
  if (!is_one_block) return move_elements(target, source, element_positions(source));
  GRAPHGATE_CHECK(target.dtype == source.dtype && target.storage != source.storage);
  const std::int64_t count = source.count();
  if (count == 0) return;
  const std::int64_t item = spec::item_size_bytes(source.dtype);
  std::memcpy(target.storage->writable_bytes() + target.offset * item,
              source.storage->bytes() + source.offset * item,
              static_cast<std::size_t>(count * item));
}

}  // namespace

void move_elements(Tensor& target, const Tensor& source, std::span<const std::int64_t> from) {
  GRAPHGATE_CHECK(target.dtype == source.dtype && target.storage != source.storage);
  if (!source.storage->marks.empty()) add_marks(target);
  const std::byte* read = source.storage->bytes();
  std::byte* write = target.storage->writable_bytes();
  switch (spec::item_size_bytes(target.dtype)) {
    case 1:
      move_bytes<1>(target, write, read, from);
      break;
    case 2:
      move_bytes<2>(target, write, read, from);
      break;
    case 4:
      move_bytes<4>(target, write, read, from);
      break;
    default:
      move_bytes<8>(target, write, read, from);
      break;
  }
  if (!target.storage->marks.empty()) move_marks(target, source, from);
}

void assign(Mode mode, Tensor& target, const Tensor& source) {
  if (target.sizes != source.sizes) throw OpError("a result does not have the sizes of its target");
  if (target.dtype == source.dtype) {
    move_all(target, source);
    return;
  }
  with_number(mode, target.dtype, [&]<class N>() { store(target, load<N>(source, target.dtype)); });
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
