#include "reference/array.h"

#include <algorithm>
#include <cstring>

namespace graphgate::reference {

std::size_t container_size(const Sizes& sizes) {
  const auto count = spec::checked_element_count(sizes);
  if (!count || *count > kMostElements) {
    throw OpError("sizes must not be negative, and multiply to at most 2^40");
  }
  return static_cast<std::size_t>(*count);
}

std::int64_t wrap_dim(std::int64_t dim, std::int64_t rank) {
  const std::int64_t n = rank == 0 ? 1 : rank;
  if (dim < -n || dim >= n) {
    throw OpError("dimension " + std::to_string(dim) + " is outside [" + std::to_string(-n) + ", " +
                  std::to_string(n - 1) + "]");
  }
  return dim < 0 ? dim + n : dim;
}

void broadcast_with(Sizes& sizes, const Sizes& shape) {
  if (sizes.size() < shape.size()) sizes.insert(sizes.begin(), shape.size() - sizes.size(), 1);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    std::int64_t& size = sizes[sizes.size() - shape.size() + d];
    if (shape[d] != 1 && size != 1 && shape[d] != size) {
      throw OpError("sizes " + std::to_string(shape[d]) + " and " + std::to_string(size) +
                    " do not broadcast");
    }
    if (shape[d] != 1) size = shape[d];
  }
}

Sizes broadcast_sizes(const std::vector<Sizes>& shapes) {
  Sizes out;
  for (const Sizes& shape : shapes) broadcast_with(out, shape);
  return out;
}

std::int64_t wrap_to(std::int64_t value, spec::DType dtype) {
  switch (dtype) {
    case spec::DType::kInt64:
      return value;
    case spec::DType::kInt32:
      return static_cast<std::int32_t>(value);
    case spec::DType::kInt16:
      return static_cast<std::int16_t>(value);
    case spec::DType::kInt8:
      return static_cast<std::int8_t>(value);
    case spec::DType::kUInt8:
      return static_cast<std::uint8_t>(value);
    default:
      return value != 0 ? 1 : 0;
  }
}

namespace {

using spec::DType;

template <class T>
std::int64_t read_integer(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return static_cast<std::int64_t>(value);
}

std::int64_t decode_integer(const std::byte* bytes, DType dtype) {
  switch (dtype) {
    case DType::kInt64:
      return read_integer<std::int64_t>(bytes);
    case DType::kInt32:
      return read_integer<std::int32_t>(bytes);
    case DType::kInt16:
      return read_integer<std::int16_t>(bytes);
    case DType::kInt8:
      return read_integer<std::int8_t>(bytes);
    case DType::kUInt8:
      return read_integer<std::uint8_t>(bytes);
    default:
      return read_integer<std::uint8_t>(bytes) != 0 ? 1 : 0;
  }
}

void encode_integer(std::int64_t value, DType dtype, std::byte* bytes) {
  const std::int64_t wrapped = wrap_to(value, dtype);
  std::memcpy(bytes, &wrapped, static_cast<std::size_t>(spec::item_size_bytes(dtype)));
}

// One element of a tensor, before conversion.
struct Element {
  bool is_real;
  Whole whole;  // for integers and bool
  Mark mark;    // for floating dtypes
};

Element read_element(const Tensor& tensor, std::int64_t position) {
  const Storage& storage = *tensor.storage;
  const std::byte* bytes = storage.bytes() + position * spec::item_size_bytes(tensor.dtype);
  const Mark* mark =
      storage.marks.empty() ? nullptr : &storage.marks[static_cast<std::size_t>(position)];
  if (!spec::is_floating_point(tensor.dtype)) {
    return {false, Whole(decode_integer(bytes, tensor.dtype), mark && mark->radius != 0), {}};
  }
  if (mark) return {true, {}, *mark};
  return {true, {}, {static_cast<long double>(decode_float(bytes, tensor.dtype)), 0}};
}

// A real number cut into an integer dtype, by way of the width that the hardware converts to.
template <class N>
Whole cut_into(const N& x, DType dtype) {
  const Whole whole = to_whole(x);
  const bool by_32_bits = dtype == DType::kInt32 || dtype == DType::kInt16 || dtype == DType::kInt8;
  const bool is_held = whole.value >= INT32_MIN && whole.value <= INT32_MAX;
  const std::int64_t cut = by_32_bits && !is_held ? INT32_MIN : whole.value;
  return {wrap_to(cut, dtype), whole.undecided};
}

template <class N>
struct Convert;

template <>
struct Convert<Whole> {
  static Whole from(const Element& element, DType as) {
    if (as == DType::kBool && element.is_real) {
      return logical_not(is_zero(Sampled(element.mark.value, element.mark.radius, {})));
    }
    if (element.is_real) return cut_into(Sampled(element.mark.value, element.mark.radius, {}), as);
    return {wrap_to(element.whole.value, as), element.whole.undecided};
  }
};

template <>
struct Convert<double> {
  static double from(const Element& element, DType as) {
    if (element.is_real) return round_to_dtype(element.mark.value, as);
    return round_to_dtype(static_cast<long double>(element.whole.value), as);
  }
};

template <class P>
struct Convert<Tracked<P>> {
  static Tracked<P> from(const Element& element, DType as) {
    using Arithmetic = typename Tracked<P>::Arithmetic;
    const auto arithmetic =
        compute_dtype(as) == DType::kFloat64 ? Arithmetic::kFloat64 : Arithmetic::kFloat32;
    if (element.is_real) {
      return detail::or_flushed<P>({element.mark.value, element.mark.radius, arithmetic});
    }
    const auto value = static_cast<long double>(element.whole.value);
    const double radius = element.whole.undecided ? detail::kInfinity : 0;
    return {static_cast<long double>(round_to_dtype(value, as)), radius, arithmetic};
  }
};

// Whether elements of `from` are elements of `to` as they are.
bool widens(DType from, DType to) {
  if (from == to || to == DType::kFloat64) return true;
  return to == DType::kFloat32 && from != DType::kFloat64;
}

void write_mark(Storage& storage, std::int64_t position, const Mark& mark) {
  if (!storage.marks.empty()) storage.marks[static_cast<std::size_t>(position)] = mark;
}

// What store() writes for one element: bytes, and a mark for oracle runs.
struct Written {
  std::int64_t integer = 0;
  double real = 0;
  Mark mark;
  bool exact = true;  // the mark says no more than the bytes
};

Written convert_out(Whole x, DType dtype) {
  Written out;
  out.exact = !x.undecided;
  out.integer = wrap_to(x.value, dtype);
  out.mark.value = static_cast<long double>(out.integer);
  out.mark.radius = x.undecided ? detail::kInfinity : 0;
  if (spec::is_floating_point(dtype)) {
    out.real = round_to_dtype(static_cast<long double>(x.value), dtype);
    out.mark.value = static_cast<long double>(out.real);
  }
  return out;
}

Written convert_out(double x, DType dtype) {
  if (dtype == DType::kBool) return convert_out(Whole(x != 0), dtype);
  if (!spec::is_floating_point(dtype)) return convert_out(cut_into(x, dtype), dtype);
  Written out;
  out.real = round_to_dtype(x, dtype);
  out.mark.value = static_cast<long double>(out.real);
  return out;
}

template <class P>
Written convert_out(const Tracked<P>& x, DType dtype) {
  if (dtype == DType::kBool) return convert_out(logical_not(is_zero(x)), dtype);
  if (!spec::is_floating_point(dtype)) return convert_out(cut_into(x, dtype), dtype);
  const Tracked<P> edge = round_edge(x, dtype);
  Written out;
  out.real = round_to_dtype(edge.value, dtype);
  out.mark = {edge.value, edge.radius};
  out.exact = edge.radius == 0 &&
              (static_cast<long double>(out.real) == edge.value || std::isnan(edge.value));
  return out;
}

}  // namespace

Mark exact_mark(const Tensor& tensor, std::int64_t position) {
  const std::byte* bytes = tensor.storage->bytes() + position * spec::item_size_bytes(tensor.dtype);
  if (spec::is_floating_point(tensor.dtype)) {
    return {static_cast<long double>(decode_float(bytes, tensor.dtype)), 0};
  }
  return {static_cast<long double>(decode_integer(bytes, tensor.dtype)), 0};
}

void add_marks(Tensor& tensor) {
  Storage& storage = *tensor.storage;
  if (!storage.marks.empty()) return;
  if (storage.is_reinterpreted) {
    throw Undecidable("bytes that a view sees as another dtype hold numbers within a radius");
  }
  const std::int64_t count = storage.size_bytes() / spec::item_size_bytes(tensor.dtype);
  std::vector<Mark> marks;
  marks.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) marks.push_back(exact_mark(tensor, i));
  storage.marks = std::move(marks);
}

namespace {

// Whether load<double> need only decode: the elements are numbers of `as`, and rounding leaves what
// float32 holds as it is.
bool is_plain(const Tensor& tensor, DType as) {
  return tensor.storage->marks.empty() && spec::is_floating_point(tensor.dtype) &&
         tensor.dtype != DType::kFloat64 && widens(tensor.dtype, as);
}

// Whether load<Whole> need only decode and wrap.
bool is_plain_integer(const Tensor& tensor) {
  return tensor.storage->marks.empty() && !spec::is_floating_point(tensor.dtype);
}

void load_plain(const Tensor& tensor, std::span<double> values) {
  const std::int64_t item = spec::item_size_bytes(tensor.dtype);
  const std::byte* bytes = tensor.storage->bytes();
  std::size_t done = 0;
  for_each_row(tensor, [&](std::int64_t position, std::int64_t stride, std::int64_t count) {
    decode_floats(bytes + position * item, stride * item, tensor.dtype,
                  values.subspan(done, static_cast<std::size_t>(count)));
    done += static_cast<std::size_t>(count);
  });
}

void load_plain(const Tensor& tensor, DType as, std::span<Whole> values) {
  const std::int64_t item = spec::item_size_bytes(tensor.dtype);
  const std::byte* bytes = tensor.storage->bytes();
  auto next = values.begin();
  for_each_position(tensor, [&](std::int64_t position) {
    *next++ = Whole(wrap_to(decode_integer(bytes + position * item, tensor.dtype), as));
  });
}

void store_plain(Tensor& tensor, std::span<const double> values) {
  const std::int64_t item = spec::item_size_bytes(tensor.dtype);
  std::byte* bytes = tensor.storage->writable_bytes();
  std::size_t done = 0;
  for_each_row(tensor, [&](std::int64_t position, std::int64_t stride, std::int64_t count) {
    encode_floats(values.subspan(done, static_cast<std::size_t>(count)), tensor.dtype,
                  bytes + position * item, stride * item);
    done += static_cast<std::size_t>(count);
  });
}

void store_plain(Tensor& tensor, std::span<const Whole> values) {
  const std::int64_t item = spec::item_size_bytes(tensor.dtype);
  std::byte* bytes = tensor.storage->writable_bytes();
  auto next = values.begin();
  for_each_position(tensor, [&](std::int64_t position) {
    encode_integer((next++)->value, tensor.dtype, bytes + position * item);
  });
}

bool is_undecided(Whole x) { return x.undecided; }

}  // namespace

template <class N>
Array<N> load(const Tensor& tensor, DType as) {
  Array<N> out(tensor.sizes);
  if constexpr (std::is_same_v<N, double>) {
    if (is_plain(tensor, as)) {
      load_plain(tensor, out.data);
      return out;
    }
  }
  if constexpr (std::is_same_v<N, Whole>) {
    if (is_plain_integer(tensor)) {
      load_plain(tensor, as, out.data);
      return out;
    }
  }
  const bool rounds = spec::is_floating_point(as) && spec::is_floating_point(tensor.dtype) &&
                      !widens(tensor.dtype, as);
  std::size_t i = 0;
  for_each_position(tensor, [&](std::int64_t position) {
    N x = Convert<N>::from(read_element(tensor, position), as);
    if constexpr (!std::is_same_v<N, Whole>) {
      if (rounds) x = cast(x, as);
    }
    out.data[i++] = x;
  });
  return out;
}

template <class N>
void store(Tensor& tensor, const Array<N>& array) {
  if (tensor.sizes != array.sizes) throw OpError("a result does not have the sizes of its target");
  const bool is_real = spec::is_floating_point(tensor.dtype);
  if constexpr (std::is_same_v<N, double>) {
    if (is_real && tensor.storage->marks.empty()) return store_plain(tensor, array.data);
  }
  if constexpr (std::is_same_v<N, Whole>) {
    const bool is_decided = std::none_of(array.data.begin(), array.data.end(), is_undecided);
    if (is_plain_integer(tensor) && is_decided) return store_plain(tensor, array.data);
  }
  std::byte* bytes = tensor.storage->writable_bytes();
  const std::int64_t item = spec::item_size_bytes(tensor.dtype);
  std::size_t i = 0;
  for_each_position(tensor, [&](std::int64_t position) {
    const Written out = convert_out(array.data[i++], tensor.dtype);
    if (!out.exact) add_marks(tensor);
    if (is_real) {
      encode_float(out.real, tensor.dtype, bytes + position * item);
    } else {
      encode_integer(out.integer, tensor.dtype, bytes + position * item);
    }
    write_mark(*tensor.storage, position, out.mark);
  });
}

template Array<double> load(const Tensor&, DType);
template Array<Whole> load(const Tensor&, DType);
template Array<Bounded> load(const Tensor&, DType);
template Array<Sampled> load(const Tensor&, DType);
template void store(Tensor&, const Array<double>&);
template void store(Tensor&, const Array<Whole>&);
template void store(Tensor&, const Array<Bounded>&);
template void store(Tensor&, const Array<Sampled>&);

}  // namespace graphgate::reference
