// Rows: a tensor seen as many short sequences, for kernels that work along dimensions (reductions,
// softmax, scans, sorting, normalization).
//
//   Rows rows(self, {1, 2});            // self [A, B, C, D] -> A*D rows of B*C elements
//   std::vector<float> row(rows.length());
//   for (r < rows.count()) { rows.load(r, row.data()); ... out.store(r, ...); }
//
// Rows are counted in row-major order of the outer dimensions, elements in row-major order of the
// inner ones, whatever the strides. A tensor of the outer sizes alone (a reduction's result, with
// or without kept dimensions) is Rows(result, {}) with rows of one element each, counted the same
// way.
#pragma once

#include "optimized/arithmetic/tile.h"
#include "optimized/tensor.h"

namespace graphgate::optimized {

class Rows {
 public:
  // `inner` dims are in [0, rank), each once; rows keep their order as given.
  Rows(const Tensor& tensor, const std::vector<std::int64_t>& inner);

  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t length() const { return length_; }
  [[nodiscard]] spec::DType dtype() const { return dtype_; }

  // Reads row `row` as `length()` elements of a compute type.
  template <class C>
  void load(std::int64_t row, C* out) const {
    for_each_run(row, [&](std::byte* first, std::int64_t stride_bytes, std::int64_t n) {
      load_tile<C>(dtype_, first, stride_bytes, static_cast<int>(n), out);
      out += n;
    });
  }
  // Writes it, rounded into the tensor's dtype.
  template <class C>
  void store(std::int64_t row, const C* in) const {
    for_each_run(row, [&](std::byte* first, std::int64_t stride_bytes, std::int64_t n) {
      store_tile<C>(dtype_, in, static_cast<int>(n), first, stride_bytes);
      in += n;
    });
  }
  // One element alone, for rows of length 1.
  template <class C>
  void store_one(std::int64_t row, C value) const {
    store<C>(row, &value);
  }
  // The first byte of the row's first element.
  [[nodiscard]] std::byte* at(std::int64_t row) const;

 private:
  template <class Visit>
  void for_each_run(std::int64_t row, Visit&& visit) const;

  std::byte* base_;
  spec::DType dtype_;
  std::int64_t count_ = 1;
  std::int64_t length_ = 1;
  Sizes outer_sizes_, outer_strides_;  // strides in bytes
  Sizes inner_sizes_, inner_strides_;  // at least one; merged where strides allow
};

template <class Visit>
void Rows::for_each_run(std::int64_t row, Visit&& visit) const {
  if (length_ == 0) return;
  std::byte* first = at(row);
  const std::size_t last = inner_sizes_.size() - 1;
  Sizes index(inner_sizes_.size(), 0);
  while (true) {
    visit(first, inner_strides_[last], inner_sizes_[last]);
    std::size_t d = last;
    while (d-- > 0) {
      first += inner_strides_[d];
      if (++index[d] < inner_sizes_[d]) break;
      first -= inner_strides_[d] * inner_sizes_[d];
      index[d] = 0;
    }
    if (d == static_cast<std::size_t>(-1)) return;
  }
}

}  // namespace graphgate::optimized
