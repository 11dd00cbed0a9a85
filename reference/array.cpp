#include "reference/array.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "reference/version_facts.h"

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

// Calls visit(Mark) for each of `count` elements of a floating dtype, visit(Whole) of another: all
// that a run knows of it, before conversion. They lie as for_each_row() says.
template <class Visit>
void visit_row(const Tensor& tensor, std::int64_t position, std::int64_t stride, std::int64_t count,
               Visit&& visit) {
  const std::vector<StoredMark>& marks = tensor.storage->marks;
  const std::byte* bytes = tensor.storage->bytes();
  const std::int64_t item = spec::item_size_bytes(tensor.dtype);
  if (!spec::is_floating_point(tensor.dtype)) {
    for (; count > 0; --count, position += stride) {
      const bool is_open =
          !marks.empty() && marks[static_cast<std::size_t>(position)].radius() != 0;
      visit(Whole(decode_integer(bytes + position * item, tensor.dtype), is_open));
    }
    return;
  }
  if (!marks.empty()) {
    for (; count > 0; --count, position += stride) {
      visit(Mark(marks[static_cast<std::size_t>(position)]));
    }
    return;
  }
  std::array<double, 32> decoded;
  for (std::int64_t done = 0; done < count;) {
    const auto part = std::min<std::int64_t>(count - done, std::ssize(decoded));
    const std::span<double> values(decoded.data(), static_cast<std::size_t>(part));
    decode_floats(bytes + (position + done * stride) * item, stride * item, tensor.dtype, values);
    for (const double value : values) visit(Mark{static_cast<long double>(value), 0});
    done += part;
  }
}

// A real number cut into an integer dtype, by way of the width that the hardware converts to. What
// the dtype cannot hold is another number on a GPU.
template <class N>
Whole cut_into(const N& x, DType dtype) {
  const Whole whole = to_whole(x);
  const bool by_32_bits = dtype == DType::kInt32 || dtype == DType::kInt16 || dtype == DType::kInt8;
  const bool is_held = whole.value >= INT32_MIN && whole.value <= INT32_MAX;
  const std::int64_t cut = by_32_bits && !is_held ? INT32_MIN : whole.value;
  const bool fits = wrap_to(whole.value, dtype) == whole.value && whole.value != INT64_MIN;
  const bool is_open = !fits && declared_arithmetic().has_cuda_kernels;
  return {wrap_to(cut, dtype), whole.undecided || is_open};
}

template <class N>
struct Convert;

template <>
struct Convert<Whole> {
  static Whole from(const Mark& mark, DType as) {
    const Sampled real(mark.value, mark.radius, {});
    return as == DType::kBool ? logical_not(is_zero(real)) : cut_into(real, as);
  }
  static Whole from(Whole whole, DType as) { return {wrap_to(whole.value, as), whole.undecided}; }
};

template <>
struct Convert<double> {
  static double from(const Mark& mark, DType as) { return round_to_dtype(mark.value, as); }
  static double from(Whole whole, DType as) {
    return round_to_dtype(static_cast<long double>(whole.value), as);
  }
};

template <class P>
struct Convert<Tracked<P>> {
  using Arithmetic = typename Tracked<P>::Arithmetic;
  static Arithmetic arithmetic_of(DType as) {
    return compute_dtype(as) == DType::kFloat64 ? Arithmetic::kFloat64 : Arithmetic::kFloat32;
  }
  static Tracked<P> from(const Mark& mark, DType as) {
    return detail::or_flushed<P>({mark.value, mark.radius, arithmetic_of(as)});
  }
  static Tracked<P> from(Whole whole, DType as) {
    const double value = round_to_dtype(static_cast<long double>(whole.value), as);
    const double radius = whole.undecided ? detail::kInfinity : 0;
    return {static_cast<long double>(value), radius, arithmetic_of(as)};
  }
};

// Whether elements of `from` are elements of `to` as they are.
bool widens(DType from, DType to) {
  if (from == to || to == DType::kFloat64) return true;
  return to == DType::kFloat32 && from != DType::kFloat64;
}

constexpr VersionFact kSaturates{
    "casts to float8_e4m3fn: what overflows is the greatest number, and not NaN", {2, 13}};

// Whether it is open what overflows: PyTorch's casts to float8_e4m3fn, which has no infinity
// (kSaturates). In no release is an executor held to either.
bool is_open_overflow(long double value, long double edge, DType dtype) {
  const bool is_open = dtype == DType::kFloat8E4M3FN && !std::isnan(value) && !std::isfinite(edge);
  if (is_open) meet(kSaturates);
  return is_open;
}
inline double as_cast(double x, DType as) { return cast(x, as); }
template <class P>
Tracked<P> as_cast(const Tracked<P>& x, DType as) {
  Tracked<P> out = cast(x, as);
  if (is_open_overflow(x.value, out.value, as)) out.radius = detail::kInfinity;
  return out;
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
  Tracked<P> edge = round_edge(x, dtype);
  if (is_open_overflow(x.value, edge.value, dtype)) edge.radius = detail::kInfinity;
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

void read_marks(const Tensor& tensor, ElementWalk& walk, std::span<Mark> marks) {
  Mark* next = marks.data();
  const bool is_marked = !tensor.storage->marks.empty();
  walk.next(std::ssize(marks), [&](std::int64_t position, std::int64_t stride, std::int64_t count) {
    if (is_marked) {
      for (; count > 0; --count, position += stride) {
        *next++ = tensor.storage->marks[static_cast<std::size_t>(position)];
      }
      return;
    }
    visit_row(tensor, position, stride, count, [&](const auto& element) {
      if constexpr (std::is_same_v<std::decay_t<decltype(element)>, Mark>) {
        *next++ = element;
      } else {
        *next++ = Mark{static_cast<long double>(element.value), 0};
      }
    });
  });
}

std::vector<Mark> marks_of(const Tensor& tensor) {
  if (spec::is_complex(tensor.dtype)) return marks_of(as_components(tensor));
  std::vector<Mark> out(static_cast<std::size_t>(tensor.count()));
  ElementWalk walk(tensor);
  read_marks(tensor, walk, out);
  return out;
}

void add_marks(Tensor& tensor) {
  Storage& storage = *tensor.storage;
  if (!storage.marks.empty()) return;
  if (storage.is_reinterpreted) {
    throw Undecidable("bytes that a view sees as another dtype hold numbers within a radius");
  }
  Tensor whole;
  whole.storage = tensor.storage;
  whole.dtype = spec::component_dtype(tensor.dtype);
  whole.sizes = {storage.size_bytes() / spec::item_size_bytes(whole.dtype)};
  whole.strides = {1};
  ElementWalk walk(whole);
  std::vector<StoredMark> marks;
  marks.reserve(static_cast<std::size_t>(whole.sizes[0]));
  for_each_block<Mark>(
      whole.sizes[0], [&](std::span<Mark> block) { read_marks(whole, walk, block); },
      [&](std::span<const Mark> block) { marks.insert(marks.end(), block.begin(), block.end()); });
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

// Reads the elements of a row, converted to `as`.
template <class N>
void read_row(const Tensor& tensor, DType as, std::int64_t position, std::int64_t stride,
              std::span<N> values) {
  if (stride == 0 && values.size() > 1) {  // all are one
    read_row(tensor, as, position, 1, values.first(1));
    std::fill(values.begin() + 1, values.end(), values.front());
    return;
  }
  const std::int64_t item = spec::item_size_bytes(tensor.dtype);
  const std::byte* bytes = tensor.storage->bytes() + position * item;
  if constexpr (std::is_same_v<N, double>) {
    if (is_plain(tensor, as)) return decode_floats(bytes, stride * item, tensor.dtype, values);
  }
  if constexpr (std::is_same_v<N, Whole>) {
    if (is_plain_integer(tensor)) {
      for (Whole& value : values) {
        value = Whole(wrap_to(decode_integer(bytes, tensor.dtype), as));
        bytes += stride * item;
      }
      return;
    }
  }
  const bool rounds = spec::is_floating_point(as) && spec::is_floating_point(tensor.dtype) &&
                      !widens(tensor.dtype, as);
  N* next = values.data();
  visit_row(tensor, position, stride, std::ssize(values), [&](const auto& element) {
    N& x = *next++;
    x = Convert<N>::from(element, as);
    if constexpr (!std::is_same_v<N, Whole>) {
      if (rounds) x = as_cast(x, as);
    }
  });
}

bool is_undecided(Whole x) { return x.undecided; }

// Writes elements of which some may not be exactly their bytes: then the storage gets marks.
template <class N>
void write_marked(Tensor& tensor, std::int64_t position, std::int64_t stride,
                  std::span<const N> values) {
  const bool is_real = spec::is_floating_point(tensor.dtype);
  const std::int64_t item = spec::item_size_bytes(tensor.dtype);
  std::byte* bytes = tensor.storage->writable_bytes();
  std::vector<StoredMark>& marks = tensor.storage->marks;
  std::array<Written, 32> written;
  std::array<double, written.size()> reals;
  while (!values.empty()) {
    const std::size_t count = std::min(values.size(), written.size());
    bool is_exact = true;
    for (std::size_t i = 0; i < count; ++i) {
      written[i] = convert_out(values[i], tensor.dtype);
      reals[i] = written[i].real;
      is_exact = is_exact && written[i].exact;
    }
    std::byte* const first = bytes + position * item;
    if (is_real) {
      encode_floats(std::span(reals).first(count), tensor.dtype, first, stride * item);
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        encode_integer(written[i].integer, tensor.dtype,
                       first + static_cast<std::int64_t>(i) * stride * item);
      }
    }
    if (marks.empty() && !is_exact) add_marks(tensor);
    for (std::size_t i = 0; i < count && !marks.empty(); ++i) {
      marks[static_cast<std::size_t>(position)] = written[i].mark;
      position += stride;
    }
    if (marks.empty()) position += static_cast<std::int64_t>(count) * stride;
    values = values.subspan(count);
  }
}

// Writes the elements of a row.
template <class N>
void write_row(Tensor& tensor, std::int64_t position, std::int64_t stride,
               std::span<const N> values) {
  const std::int64_t item = spec::item_size_bytes(tensor.dtype);
  if constexpr (std::is_same_v<N, double>) {
    if (spec::is_floating_point(tensor.dtype) && tensor.storage->marks.empty()) {
      return encode_floats(values, tensor.dtype, tensor.storage->writable_bytes() + position * item,
                           stride * item);
    }
  }
  if constexpr (std::is_same_v<N, Whole>) {
    if (is_plain_integer(tensor) && std::ranges::none_of(values, is_undecided)) {
      std::byte* bytes = tensor.storage->writable_bytes() + position * item;
      for (const Whole& value : values) {
        encode_integer(value.value, tensor.dtype, bytes);
        bytes += stride * item;
      }
      return;
    }
  }
  write_marked(tensor, position, stride, values);
}

}  // namespace

template <class N>
void Reader<N>::read(std::span<N> values) {
  walk_.next(
      std::ssize(values), [&](std::int64_t position, std::int64_t stride, std::int64_t count) {
        read_row(tensor_, as_, position, stride, values.first(static_cast<std::size_t>(count)));
        values = values.subspan(static_cast<std::size_t>(count));
      });
}

template <class N>
void Writer<N>::write(std::span<const N> values) {
  walk_.next(std::ssize(values),
             [&](std::int64_t position, std::int64_t stride, std::int64_t count) {
               write_row(tensor_, position, stride, values.first(static_cast<std::size_t>(count)));
               values = values.subspan(static_cast<std::size_t>(count));
             });
}

template <class N>
Array<N> load(const Tensor& tensor, DType as) {
  Array<N> out(tensor.sizes);
  Reader<N>(tensor, as).read(out.data);
  return out;
}

Tensor real_target(const Tensor& tensor) {
  if (!spec::is_complex(tensor.dtype)) return tensor;
  Tensor part = as_components(tensor);
  part.sizes.pop_back();
  part.strides.pop_back();
  Tensor imaginary = part;
  ++imaginary.offset;
  store(imaginary, Array<double>(imaginary.sizes));
  return part;
}

template <class N>
void store(Tensor& tensor, const Array<N>& array) {
  if (tensor.sizes != array.sizes) throw OpError("a result does not have the sizes of its target");
  Writer<N>(tensor).write(array.data);
}

template class Reader<double>;
template class Reader<Whole>;
template class Reader<Bounded>;
template class Reader<Sampled>;
template class Writer<double>;
template class Writer<Whole>;
template class Writer<Bounded>;
template class Writer<Sampled>;
template Array<double> load(const Tensor&, DType);
template Array<Whole> load(const Tensor&, DType);
template Array<Bounded> load(const Tensor&, DType);
template Array<Sampled> load(const Tensor&, DType);
template void store(Tensor&, const Array<double>&);
template void store(Tensor&, const Array<Whole>&);
template void store(Tensor&, const Array<Bounded>&);
template void store(Tensor&, const Array<Sampled>&);

}  // namespace graphgate::reference
