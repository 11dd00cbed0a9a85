// Array<N>: what op bodies compute on. Row-major, dense, owning: no strides, no storage, no dtype.
//
// load() makes one from a tensor of any geometry, store() writes one back; between the two a body
// is plain loops over N (double, Tracked or Whole).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/number/functions.h"
#include "reference/tensor.h"

namespace graphgate::reference {

using Sizes = std::vector<std::int64_t>;

// The number of elements, for containers of them. Throws OpError for a negative size and for more
// elements than a result may have (kMostElements).
[[nodiscard]] std::size_t container_size(const Sizes& sizes);

template <class N>
struct Array {
  Sizes sizes;
  std::vector<N> data;

  Array() = default;
  // Throws OpError for sizes that no tensor can have.
  explicit Array(Sizes s, N fill = N()) : sizes(std::move(s)), data(container_size(sizes), fill) {}

  [[nodiscard]] std::int64_t rank() const { return static_cast<std::int64_t>(sizes.size()); }
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(data.size()); }
  [[nodiscard]] std::int64_t size(std::int64_t dim) const {
    return sizes[static_cast<std::size_t>(dim)];
  }
  N& operator[](std::int64_t i) { return data[static_cast<std::size_t>(i)]; }
  const N& operator[](std::int64_t i) const { return data[static_cast<std::size_t>(i)]; }
  // The element at a full index.
  N& at(const Sizes& index) { return (*this)[position(index)]; }
  const N& at(const Sizes& index) const { return (*this)[position(index)]; }
  [[nodiscard]] std::int64_t position(const Sizes& index) const {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < sizes.size(); ++d) at = at * sizes[d] + index[d];
    return at;
  }
};

// Steps `index` to the next one in row-major order; false after the last (index is zero again).
inline bool next_index(Sizes& index, const Sizes& sizes) {
  for (std::size_t d = sizes.size(); d-- > 0;) {
    if (++index[d] < sizes[d]) return true;
    index[d] = 0;
  }
  return false;
}

// Calls visit(index) for every index of `sizes` in row-major order; none when a size is 0.
template <class Visit>
void for_each_index(const Sizes& sizes, Visit&& visit) {
  if (count_of(sizes) == 0) return;
  Sizes index(sizes.size(), 0);
  do {
    visit(static_cast<const Sizes&>(index));
  } while (next_index(index, sizes));
}

// `dim` counted from the front: -1 is the last of `rank` (rank 0 counts as 1). Throws OpError.
[[nodiscard]] std::int64_t wrap_dim(std::int64_t dim, std::int64_t rank);

// The sizes that all of `shapes` broadcast to (PyTorch's rule: aligned at the back, 1 stretches).
// Throws OpError.
[[nodiscard]] Sizes broadcast_sizes(const std::vector<Sizes>& shapes);
// The same, of `sizes` so far and one shape more.
void broadcast_with(Sizes& sizes, const Sizes& shape);

// `value` as an integer dtype holds it: the low bits, sign-extended; bool: whether it differs from
// 0.
[[nodiscard]] std::int64_t wrap_to(std::int64_t value, spec::DType dtype);

// Reading. N is a real number type when `as` is floating, Whole otherwise; an element is converted
// to `as` first, with that conversion's rounding. float32 is the arithmetic of every floating dtype
// but float64. Float to integer cuts toward zero; NaN and what is out of range go as on x86 (open,
// of CUDA's kernels). The way leads over int32 for int32 and narrower signed dtypes, over int64 for
// the others. Their least value stands for all that they cannot hold.
template <class N>
[[nodiscard]] Array<N> load(const Tensor& tensor, spec::DType as);

// Writing, element by element in row-major order; sizes must be equal. A real number is rounded to
// the tensor's dtype (an edge between nodes), and cut as load() cuts into an integer one. A Whole
// wraps into an integer dtype, and becomes "differs from zero" in bool.
template <class N>
void store(Tensor& tensor, const Array<N>& array);

// Elements that are held at a time, where a body goes by blocks.
inline constexpr std::int64_t kBlockElements = 4096;

// load() by blocks, in row-major order: what is not held need not be.
template <class N>
class Reader {
 public:
  // The storage, not its bytes, has to stay: writes in between show.
  Reader(const Tensor& tensor, spec::DType as) : tensor_(tensor), walk_(tensor), as_(as) {}

  // Begins again, at another offset.
  void restart(std::int64_t offset) { walk_.restart(offset); }
  // The next elements. So many must be left.
  void read(std::span<N> values);

 private:
  Tensor tensor_;
  ElementWalk walk_;
  spec::DType as_;
};

// Where real numbers are written: into the real part of a complex tensor, whose imaginary part
// becomes 0; else the tensor itself.
[[nodiscard]] Tensor real_target(const Tensor& tensor);

// store() by blocks, in row-major order.
template <class N>
class Writer {
 public:
  explicit Writer(const Tensor& tensor) : tensor_(real_target(tensor)), walk_(tensor_) {}

  // Begins again, at another offset.
  void restart(std::int64_t offset) { walk_.restart(offset); }
  // The next elements. So many must be left.
  void write(std::span<const N> values);

 private:
  Tensor tensor_;
  ElementWalk walk_;
};

// Calls make(block), which fills a std::span<N>, and then take(block), for `count` elements.
template <class N, class Make, class Take>
void for_each_block(std::int64_t count, Make&& make, Take&& take) {
  std::vector<N> held(static_cast<std::size_t>(std::min(count, kBlockElements)));
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t size = std::min(count - done, kBlockElements);
    const std::span<N> block = std::span(held).first(static_cast<std::size_t>(size));
    make(block);
    take(block);
    done += size;
  }
}

// What an oracle run knows of every element, in row-major order; of complex ones, of both parts in
// turn.
[[nodiscard]] std::vector<Mark> marks_of(const Tensor& tensor);
// The same of the next elements of a walk over the tensor.
void read_marks(const Tensor& tensor, ElementWalk& walk, std::span<Mark> marks);
// For code that moves elements as they are (movement.cpp). The mark of an element that is exactly
// its bytes; `position` counts elements of the storage. And marks for a storage that has none: one
// per element, each exact.
[[nodiscard]] Mark exact_mark(const Tensor& tensor, std::int64_t position);
void add_marks(Tensor& tensor);

// The array stretched to `sizes`. Throws OpError where it does not stretch to them.
template <class N>
[[nodiscard]] Array<N> broadcast_to(Array<N> array, const Sizes& sizes) {
  if (array.sizes == sizes) return array;
  if (broadcast_sizes({array.sizes, sizes}) != sizes) {
    throw OpError("a tensor does not stretch to the sizes of the result");
  }
  Array<N> out(sizes);
  Tensor stretched;  // geometry alone
  stretched.sizes = sizes;
  stretched.strides.assign(sizes.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t d = array.sizes.size(); d-- > 0; stride *= array.sizes[d]) {
    const std::size_t lead = sizes.size() - array.sizes.size();
    if (array.sizes[d] != 1) stretched.strides[d + lead] = stride;
  }
  std::int64_t i = 0;
  for_each_position(stretched, [&](std::int64_t from) { out[i++] = array[from]; });
  return out;
}

// An edge between the parts of a composite op: rounds every element as the executor does; the
// oracle keeps the wide value.
template <class N>
[[nodiscard]] Array<N> round_all(Array<N> array, spec::DType dtype) {
  for (N& x : array.data) x = round_edge(x, dtype);
  return array;
}

}  // namespace graphgate::reference
