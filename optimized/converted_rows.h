// Rows of a tensor read as if it had been converted to another dtype first.
//
// Used by: reductions, scans and softmax, whose `dtype` argument converts the input before the
// op begins. Where that conversion rounds or wraps, so do the elements read here.
#pragma once

#include "optimized/loop.h"
#include "optimized/rows.h"

namespace graphgate::optimized {

class ConvertedRows {
 public:
  ConvertedRows(const Tensor& tensor, const std::vector<std::int64_t>& inner, spec::DType dtype)
      : rows_(tensor, inner), dtype_(dtype), is_same_(tensor.dtype == dtype) {}

  [[nodiscard]] std::int64_t count() const { return rows_.count(); }
  [[nodiscard]] std::int64_t length() const { return rows_.length(); }

  // Reads row `row` into out[0..length()).
  template <class C>
  void load(std::int64_t row, C* out) const {
    if (is_same_) return rows_.load<C>(row, out);
    with_compute(rows_.dtype(), [&]<class S>() {
      std::vector<S> wide(static_cast<std::size_t>(length()));
      rows_.load<S>(row, wide.data());
      std::array<std::byte, kTile * 8> tile;
      const std::int64_t item = spec::item_size_bytes(dtype_);
      for (std::int64_t begin = 0; begin < length(); begin += kTile) {
        const auto n = static_cast<int>(std::min<std::int64_t>(kTile, length() - begin));
        store_tile<S>(dtype_, wide.data() + begin, n, tile.data(), item);
        load_tile<C>(dtype_, tile.data(), item, n, out + begin);
      }
    });
  }

 private:
  Rows rows_;
  spec::DType dtype_;
  bool is_same_;
};

// Rounds n values to a dtype, in place.
template <class C>
void round_values(spec::DType dtype, C* values, std::int64_t n) {
  std::array<std::byte, kTile * 8> tile;
  const std::int64_t item = spec::item_size_bytes(dtype);
  for (std::int64_t begin = 0; begin < n; begin += kTile) {
    const auto length = static_cast<int>(std::min<std::int64_t>(kTile, n - begin));
    store_tile<C>(dtype, values + begin, length, tile.data(), item);
    load_tile<C>(dtype, tile.data(), item, length, values + begin);
  }
}

// Writes one value of a row's result: rounded to `rounds_to`, then into the tensor's own dtype.
template <class R>
void store_result(const Tensor& result, const Rows& rows, std::int64_t row, spec::DType rounds_to,
                  R value) {
  store_rounded<R>(rounds_to, &value, 1, result, rows.at(row), 0);
}

// Writes a row the same way; `values` may be changed.
template <class R>
void store_row(const Tensor& result, const Rows& rows, std::int64_t row, spec::DType rounds_to,
               R* values) {
  if (result.dtype != rounds_to) round_values<R>(rounds_to, values, rows.length());
  rows.store<R>(row, values);
}

}  // namespace graphgate::optimized
