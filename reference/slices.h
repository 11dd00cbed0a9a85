// Walking along dimensions: what reductions, scans, sorts and normalizations share.
//
// A *slice* is the elements that a reduction folds into one result, in row-major order of the
// reduced dimensions; a *line* is a slice along one dimension. Used by op bodies only.
#pragma once

#include <iterator>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "reference/call.h"
#include "reference/movement.h"

namespace graphgate::reference {

// The elements that a reduction folds into one result, in row-major order. They are read by blocks,
// again each time that somebody walks through them; a short slice is held whole.
template <class N>
class Slice {
 public:
  // `elements` has the sizes and strides of a slice.
  Slice(const Tensor& elements, spec::DType as)
      : size_(static_cast<std::size_t>(elements.count())), reader_(elements, as) {}

  // Becomes the slice whose first element lies at this position of the storage.
  void restart(std::int64_t offset) {
    offset_ = offset;
    held_.clear();
    first_ = 0;
    reader_.restart(offset);
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  // Is good until another element is asked for. Going back is slow.
  const N& operator[](std::size_t i) const {
    if (i < first_) {
      held_.clear();
      first_ = 0;
      reader_.restart(offset_);
    }
    while (i - first_ >= held_.size()) read_on();
    return held_[i - first_];
  }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = N;
    using difference_type = std::ptrdiff_t;
    using pointer = const N*;
    using reference = const N&;

    Iterator(const Slice& slice, std::size_t index) : slice_(&slice), index_(index) {}
    const N& operator*() const { return (*slice_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++index_;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.index_ == b.index_; }

   private:
    const Slice* slice_;
    std::size_t index_;
  };
  [[nodiscard]] Iterator begin() const { return {*this, 0}; }
  [[nodiscard]] Iterator end() const { return {*this, size_}; }

 private:
  void read_on() const {
    first_ += held_.size();
    held_.resize(std::min(size_ - first_, static_cast<std::size_t>(kBlockElements)));
    reader_.read(held_);
  }

  std::size_t size_;
  std::int64_t offset_ = 0;
  mutable Reader<N> reader_;
  mutable std::vector<N> held_;
  mutable std::size_t first_ = 0;  // of what is held
};

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
  // The removed dimensions of the input, or those that stay, as a view: a slice, and where slices
  // begin.
  [[nodiscard]] Tensor folded(const Tensor& input) const { return with_dims(input, true); }
  [[nodiscard]] Tensor kept(const Tensor& input) const { return with_dims(input, false); }
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
  [[nodiscard]] Tensor with_dims(const Tensor& input, bool reduced) const;

  Sizes input_;
  std::vector<bool> is_reduced_;  // by dimension
  Sizes steps_;                   // per input dimension, in results: 0 where reduced
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

// Emits f(slice), rounded into `dtype`, for every slice of a tensor converted to `as`.
template <class N, class F>
void emit_slices(Call& call, const Tensor& self, spec::DType as, const Reduction& reduction,
                 spec::DType dtype, F f) {
  using Out = std::decay_t<decltype(f(std::declval<const Slice<N>&>()))>;
  const TensorRef target = call.next_target();
  const TensorRef apart = target && target->storage == self.storage ? copy_of(self) : nullptr;
  const Tensor& source = apart ? *apart : self;
  Slice<N> slice(reduction.folded(source), as);
  ElementWalk first(reduction.kept(source));
  const auto make = [&](std::span<Out> block) {
    auto next = block.begin();
    const auto fold = [&](std::int64_t position, std::int64_t stride, std::int64_t count) {
      for (; count > 0; --count, position += stride) {
        slice.restart(position);
        *next++ = f(static_cast<const Slice<N>&>(slice));
      }
    };
    first.next(std::ssize(block), fold);
  };
  call.emit_blocks<Out>(reduction.sizes(), dtype, {}, make);
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

// How many elements a line along `dim` (already wrapped) of a tensor has; a line, and where lines
// begin, as views of it.
[[nodiscard]] std::int64_t line_length(const Tensor& tensor, std::int64_t dim);
[[nodiscard]] Tensor line_along(const Tensor& tensor, std::int64_t dim);
[[nodiscard]] Tensor beside_line(const Tensor& tensor, std::int64_t dim);

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

// The lines along `dim` (already wrapped) of a tensor, converted to `as`, one after the other.
template <class N>
class LineReader {
 public:
  LineReader(const Tensor& tensor, std::int64_t dim, spec::DType as)
      : reader_(line_along(tensor, dim), as),
        starts_(beside_line(tensor, dim)),
        count_(beside_line(tensor, dim).count()),
        line_(static_cast<std::size_t>(line_length(tensor, dim))) {}

  [[nodiscard]] std::int64_t count() const { return count_; }
  // One must be left. Good until the next.
  std::span<const N> next() {
    starts_.next(
        1, [&](std::int64_t position, std::int64_t, std::int64_t) { reader_.restart(position); });
    reader_.read(line_);
    return line_;
  }

 private:
  Reader<N> reader_;
  ElementWalk starts_;
  std::int64_t count_;
  std::vector<N> line_;
};

// Writes lines along `dim` of a result whose common dtype is `dtype`, one after the other.
template <class N>
class LineWriter {
 public:
  LineWriter(const Tensor& target, std::int64_t dim, spec::DType dtype)
      : target_(target),
        writer_(line_along(target, dim)),
        starts_(beside_line(target, dim)),
        length_(line_length(target, dim)),
        dtype_(dtype) {}

  void put_next(std::vector<N>& line) {
    GRAPHGATE_CHECK(std::ssize(line) == length_);
    round_to_common(std::span(line), dtype_, target_);
    starts_.next(
        1, [&](std::int64_t position, std::int64_t, std::int64_t) { writer_.restart(position); });
    writer_.write(line);
  }

 private:
  const Tensor& target_;
  Writer<N> writer_;
  ElementWalk starts_;
  std::int64_t length_;
  spec::DType dtype_;
};

// Emits f(line), `length` numbers rounded into `dtype`, for every line of a tensor along `dim` (may
// be negative), converted to `as`.
template <class N, class F>
void emit_lines(Call& call, const Tensor& self, spec::DType as, std::int64_t dim,
                std::int64_t length, spec::DType dtype, F f) {
  using Out = typename decltype(f(std::span<const N>()))::value_type;
  const std::int64_t at = wrap_dim(dim, self.rank());
  const Sizes sizes = with_length(self.sizes, at, length);
  const TensorRef apart = call.reads_before_writing(self, sizes) ? nullptr : copy_of(self);
  const TensorRef target = call.place_result(sizes, dtype);
  LineReader<N> from(apart ? *apart : self, at, as);
  LineWriter<Out> to(*target, at, dtype);
  for (std::int64_t i = 0; i < from.count(); ++i) {
    std::vector<Out> made = f(from.next());
    to.put_next(made);
  }
  call.emit_datum({target});
}

// Emits f(group, out), which fills in as many numbers rounded into `dtype`, for every `length`
// elements of a tensor that follow each other in row-major order, converted to `as`.
template <class N, class F>
void emit_groups(Call& call, const Tensor& self, spec::DType as, std::int64_t length,
                 spec::DType dtype, const Sizes& strides, F f) {
  const TensorRef apart = call.reads_before_writing(self, self.sizes) ? nullptr : copy_of(self);
  Reader<N> reader(apart ? *apart : self, as);
  const TensorRef target = call.place_result(self.sizes, dtype, strides);
  Writer<N> writer(*target);
  std::vector<N> group(static_cast<std::size_t>(length));
  std::vector<N> out(group.size());
  const std::int64_t count = length == 0 ? 0 : self.count() / length;
  for (std::int64_t i = 0; i < count; ++i) {
    reader.read(group);
    f(std::span<const N>(group), std::span<N>(out));
    round_to_common(std::span<N>(out), dtype, *target);
    writer.write(out);
  }
  call.emit_datum({target});
}

}  // namespace graphgate::reference
