// The reference's tensors: strided views of storages, and the run-time values that ops take.
//
// A TensorRef is PyTorch's tensor object: an op that returns its argument returns the same
// TensorRef, and an op that changes its argument's geometry (t_, squeeze_) changes it for every
// holder. Views are other TensorRefs of the same Storage. Nothing here knows any op.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "spec/dtype.h"
#include "spec/graph.h"
#include "spec/tensor.h"

namespace graphgate::reference {

// What a run computes (docs/architecture.md, "Numbers").
enum class Mode : std::uint8_t {
  kEager,      // every result rounds to its declared dtype, as PyTorch's does
  kWorstCase,  // oracle, radii are worst-case bounds: for single nodes
  kSampled,    // oracle, radii are standard deviations: from end to end
  // As kEager; beside every element stands a word that says where it comes from (provenance.h).
  kProvenance,
};

// An op was given what it cannot take. Thrown inside reference/, caught where a run starts.
class OpError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// An oracle run would have to know a number that it cannot tell: a size, a branch or a Python
// number depends on a tie or on rounding, or the call draws random numbers. What follows has no
// oracle.
class Undecidable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What an oracle run knows of one element beside its bytes.
struct Mark {
  long double value = 0;
  double radius = 0;
};

// A mark as storages hold it, in 16 bytes where a long double has 64 significant bits. The value is
// whole. The radius is rounded up to 37 significant bits, so that it grows by a factor of at most 1
// + 2^-36. The radius of a zero with an open sign, the least number above 0, stays what it is.
class StoredMark {
 public:
  StoredMark() = default;
  StoredMark(long double value, double radius) {
    std::memcpy(value_.data(), &value, value_.size());
    if (radius != 0) set_radius(radius);
  }
  StoredMark(const Mark& mark)  // NOLINT: implicit, so that lists of marks take marks
      : StoredMark(mark.value, mark.radius) {}
  operator Mark() const { return {value(), radius()}; }  // NOLINT: implicit

  [[nodiscard]] long double value() const {
    long double value = 0;
    std::memcpy(&value, value_.data(), value_.size());
    return value;
  }
  [[nodiscard]] double radius() const {
    std::uint64_t upper = 0;
    std::memcpy(&upper, radius_.data(), radius_.size());
    if constexpr (std::endian::native == std::endian::big) upper >>= kDroppedBits;
    if (upper == 1) return std::numeric_limits<double>::denorm_min();
    return std::bit_cast<double>(upper << kDroppedBits);
  }
  void set_radius(double radius) {
    std::uint64_t upper = upper_bits(radius);
    if constexpr (std::endian::native == std::endian::big) upper <<= kDroppedBits;
    std::memcpy(radius_.data(), &upper, radius_.size());
  }

 private:
  static constexpr int kDroppedBits = 16;

  // The upper 48 bits of a radius, rounded up; 1 stands for the least number above 0.
  static std::uint64_t upper_bits(double radius) {
    constexpr std::uint64_t kDropped = (std::uint64_t{1} << kDroppedBits) - 1;
    if (std::isnan(radius)) radius = std::numeric_limits<double>::quiet_NaN();
    const auto bits = std::bit_cast<std::uint64_t>(radius);
    if (bits == 1) return 1;
    const std::uint64_t upper = (bits >> kDroppedBits) + ((bits & kDropped) != 0 ? 1 : 0);
    return upper == 1 ? 2 : upper;
  }

  static constexpr std::size_t kValueBytes =
      std::numeric_limits<long double>::digits == 64 ? 10 : sizeof(long double);
  std::array<std::byte, kValueBytes> value_{};
  std::array<std::byte, 6> radius_{};  // the upper bytes of a double
};

// Bytes that views share. While `borrowed`, the bytes belong to somebody else as well (the program,
// a caller, an earlier result): the first write copies them.
struct Storage {
  std::shared_ptr<spec::HostStorage> host;
  bool borrowed = false;
  // Oracle runs: one mark per element of the dtype that wrote them. A complex element has one per
  // part, as its views of real numbers have them. Empty when every element is exactly its bytes.
  std::vector<StoredMark> marks;
  // Some view sees the bytes as another dtype: there can be no marks then.
  bool is_reinterpreted = false;

  [[nodiscard]] const std::byte* bytes() const { return host->bytes.data(); }
  [[nodiscard]] std::byte* writable_bytes();
  [[nodiscard]] std::int64_t size_bytes() const {
    return static_cast<std::int64_t>(host->bytes.size());
  }
};

// The product of sizes, which may come from a program or a caller: throws OpError for a negative
// size and for 2^63 elements or more.
[[nodiscard]] std::int64_t count_of(const std::vector<std::int64_t>& sizes);

struct Tensor {
  std::shared_ptr<Storage> storage;
  spec::DType dtype = spec::DType::kFloat32;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;  // in elements
  std::int64_t offset = 0;            // in elements
  spec::Device device;
  // A conjugate view of a complex tensor, and one whose elements are read with the other sign
  // (complex_calls.h).
  bool is_conj = false;
  bool is_neg = false;

  [[nodiscard]] std::int64_t rank() const { return static_cast<std::int64_t>(sizes.size()); }
  [[nodiscard]] std::int64_t count() const { return count_of(sizes); }
};
using TensorRef = std::shared_ptr<Tensor>;

// A Python float that an oracle run knows within a radius: the one element of a tensor that nobody
// writes.
struct RoundedFloat {
  TensorRef element;
};

// A run-time value: whatever an argument or a result of an op can be.
struct Datum {
  using List = std::vector<Datum>;
  std::variant<spec::None, bool, std::int64_t, double, RoundedFloat, std::string, spec::DType,
               spec::Device, spec::Layout, spec::MemoryFormat, TensorRef, List, spec::ComplexNumber>
      value;

  template <class T>
  [[nodiscard]] const T* as() const {
    return std::get_if<T>(&value);
  }
  [[nodiscard]] bool is_none() const { return as<spec::None>() != nullptr; }
};

[[nodiscard]] inline bool is_float(const Datum& datum) {
  return datum.as<double>() != nullptr || datum.as<RoundedFloat>() != nullptr;
}
// The value of a Python float; null for what is none. Throws Undecidable where the oracle knows it
// within a radius only.
[[nodiscard]] const double* decided_float(const Datum& datum);

// Calls visit(tensor) for a tensor, and for those of a list.
template <class Visit>
void for_each_tensor(const Datum& datum, Visit&& visit) {
  if (const auto* tensor = datum.as<TensorRef>()) visit(*tensor);
  if (const auto* list = datum.as<Datum::List>()) {
    for (const Datum& element : *list) for_each_tensor(element, visit);
  }
}

// More elements than this are refused with an OpError before any memory is asked for.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

// A new tensor with a zero-filled storage just large enough for the geometry. Throws OpError for
// negative sizes, and for more than kMostElements bytes.
[[nodiscard]] TensorRef new_tensor(spec::DType dtype, std::vector<std::int64_t> sizes,
                                   std::vector<std::int64_t> strides, spec::Device device);
// The same, contiguous.
[[nodiscard]] TensorRef new_tensor(spec::DType dtype, std::vector<std::int64_t> sizes,
                                   spec::Device device);
// Another view of base's storage. Throws OpError for sizes that are negative or multiply to 2^63 or
// more (an expanded view may have more elements than memory has bytes).
[[nodiscard]] TensorRef view_of(const Tensor& base, std::vector<std::int64_t> sizes,
                                std::vector<std::int64_t> strides, std::int64_t offset);

// A complex tensor as a view of its parts: real numbers, with a last dimension of size 2. Other
// tensors as they are. Without the bits of conjugates.
[[nodiscard]] Tensor as_components(const Tensor& tensor);

[[nodiscard]] bool is_contiguous(const Tensor& tensor);
// Every byte of the spanned range belongs to exactly one element: some permutation is contiguous.
[[nodiscard]] bool is_non_overlapping_and_dense(const Tensor& tensor);

// Calls visit(position, stride, count) for the rows of a tensor, in row-major order. A row is
// `count` elements. The first lies at `position`, in elements from the start of the storage, and
// each other `stride` behind the one before. A contiguous tensor is one row.
template <class Visit>
void for_each_row(const Tensor& tensor, Visit&& visit) {
  const std::int64_t count = tensor.count();
  if (count == 0) return;
  if (is_contiguous(tensor)) return visit(tensor.offset, std::int64_t{1}, count);
  const std::size_t last = tensor.sizes.size() - 1;  // of rank 0 all are contiguous
  std::vector<std::int64_t> index(last, 0);
  std::int64_t row = tensor.offset;
  for (std::int64_t done = 0; done < count; done += tensor.sizes[last]) {
    visit(row, tensor.strides[last], tensor.sizes[last]);
    for (std::size_t d = last; d-- > 0;) {
      row += tensor.strides[d];
      if (++index[d] < tensor.sizes[d]) break;
      row -= tensor.strides[d] * tensor.sizes[d];
      index[d] = 0;
    }
  }
}

// Calls visit(position) for all elements in row-major order.
template <class Visit>
void for_each_position(const Tensor& tensor, Visit&& visit) {
  for_each_row(tensor, [&](std::int64_t position, std::int64_t stride, std::int64_t count) {
    for (; count > 0; --count, position += stride) visit(position);
  });
}

// A walk over the elements of a tensor in row-major order, some at a time.
class ElementWalk {
 public:
  explicit ElementWalk(const Tensor& tensor);

  // Begins again, for a tensor of the same sizes and strides at another offset.
  void restart(std::int64_t offset);
  // Calls visit(position, stride, count) for the parts of rows that hold the next `count` elements,
  // as for_each_row() does. So many must be left.
  template <class Visit>
  void next(std::int64_t count, Visit&& visit) {
    while (count > 0) {
      const std::int64_t part = std::min(count, length_ - done_);
      visit(row_ + done_ * stride_, stride_, part);
      count -= part;
      done_ += part;
      if (done_ == length_) next_row();
    }
  }

 private:
  void next_row();

  // Dimensions whose elements lie at one distance are one.
  std::vector<std::int64_t> sizes_;  // but for the last one: rows
  std::vector<std::int64_t> strides_;
  std::vector<std::int64_t> index_;
  std::int64_t length_ = 1;  // of a row
  std::int64_t stride_ = 1;
  std::int64_t row_ = 0;   // where the row begins
  std::int64_t done_ = 0;  // elements of the row
};

// The positions of for_each_position() as a list.
[[nodiscard]] std::vector<std::int64_t> element_positions(const Tensor& tensor);

// Whether every element is exactly its bytes. The second throws Undecidable unless.
[[nodiscard]] bool is_decided(const Tensor& tensor);
void require_decided(const Tensor& tensor);

// Returns sizes or strides as a message names them: "[2, 3]".
[[nodiscard]] std::string print_sizes(std::span<const std::int64_t> sizes);

}  // namespace graphgate::reference
