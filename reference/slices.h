// Walking along dimensions: what reductions, scans, sorts and normalizations share.
//
// A *slice* is the elements that a reduction folds into one result, in row-major order of the
// reduced dimensions; a *line* is a slice along one dimension. Used by op bodies only.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "reference/call.h"

namespace graphgate::reference {

// Which dimensions a reduction removes.
class Reduction {
 public:
  // No dims, or an empty list: all of them. Throws OpError on a dimension out of range or named
  // twice. A removed dimension stays as size 1 when keepdim.
  Reduction(const Sizes& input, const std::optional<Sizes>& dims, bool keepdim);
  // From the arguments `dim` and `keepdim`, where the schema has them.
  Reduction(const Call& call, const Tensor& input);

  [[nodiscard]] const Sizes& sizes() const { return sizes_; }  // of the result
  [[nodiscard]] std::int64_t slice_length() const { return slice_length_; }
  // Throws OpError when slices are empty though there are results (a maximum has no identity).
  void expect_elements(std::string_view op) const;

  // The slices of an array of the input's sizes, in row-major order of the result.
  template <class N>
  [[nodiscard]] std::vector<std::vector<N>> slices(const Array<N>& array) const {
    std::vector<std::vector<N>> out(static_cast<std::size_t>(count_of(sizes_)));
    for (auto& slice : out) slice.reserve(static_cast<std::size_t>(slice_length_));
    Tensor results;  // geometry alone: the result that each element of the input belongs to
    results.sizes = input_;
    results.strides = steps_;
    std::int64_t i = 0;
    for_each_position(results, [&](std::int64_t position) {
      out[static_cast<std::size_t>(position)].push_back(array[i++]);
    });
    return out;
  }

 private:
  Sizes input_;
  Sizes steps_;  // per input dimension, in results: 0 where reduced
  Sizes sizes_;
  std::int64_t slice_length_ = 1;
};

// f(slice) for every slice.
template <class N, class F>
auto reduce(const Array<N>& array, const Reduction& reduction, F f) {
  using Out = decltype(f(std::span<const N>()));
  Array<Out> out(reduction.sizes());
  std::int64_t i = 0;
  for (const std::vector<N>& slice : reduction.slices(array)) out[i++] = f(std::span(slice));
  return out;
}

// Where the lines along `dim` (already wrapped) lie in a row-major array.
struct Lines {
  Lines(const Sizes& sizes, std::int64_t dim);
  std::int64_t length = 1;  // elements of a line; 1 for rank 0
  std::int64_t step = 1;    // from one to the next
  std::int64_t outer = 1;   // there are outer * step lines

  [[nodiscard]] std::int64_t count() const { return outer * step; }
  // The position of the first element of a line, lines counted in row-major order.
  [[nodiscard]] std::int64_t first(std::int64_t line) const {
    return line / step * step * length + line % step;
  }
  template <class N>
  [[nodiscard]] std::vector<N> gather(const Array<N>& array, std::int64_t first) const {
    std::vector<N> line;
    line.reserve(static_cast<std::size_t>(length));
    for (std::int64_t i = 0; i < length; ++i) line.push_back(array[first + i * step]);
    return line;
  }
  template <class N>
  void put(Array<N>& array, std::int64_t first, const std::vector<N>& line) const {
    GRAPHGATE_CHECK(static_cast<std::int64_t>(line.size()) == length);
    for (std::int64_t i = 0; i < length; ++i) {
      array[first + i * step] = line[static_cast<std::size_t>(i)];
    }
  }
};

// `dim` of the sizes replaced by `length`; rank 0 stays.
[[nodiscard]] Sizes with_length(Sizes sizes, std::int64_t dim, std::int64_t length);

// f(line) -> vector of `length` numbers, for every line along `dim` (may be negative).
template <class N, class F>
auto map_lines(const Array<N>& array, std::int64_t dim, std::int64_t length, F f) {
  using Out = typename decltype(f(std::span<const N>()))::value_type;
  const std::int64_t at = wrap_dim(dim, array.rank());
  const Lines from(array.sizes, at);
  Array<Out> out(with_length(array.sizes, at, length));
  const Lines to(out.sizes, at);
  for (std::int64_t i = 0; i < from.count(); ++i) {
    const std::vector<N> line = from.gather(array, from.first(i));
    to.put(out, to.first(i), f(std::span<const N>(line)));
  }
  return out;
}

}  // namespace graphgate::reference
