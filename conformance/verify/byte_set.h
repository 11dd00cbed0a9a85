// Which bytes a strided tensor touches, as ranges.
//
// Everything in this folder that asks "do these two meet" asks it of byte sets, so that columns of
// one matrix are apart and a row meets a column in one element.
//
//   f32[2, 2]{4, 1}@1  ->  [4, 12) [20, 28)
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "spec/tensor.h"

namespace graphgate::verify {

// Half-open: bytes [begin_bytes, end_bytes).
struct ByteRange {
  std::int64_t begin_bytes = 0;
  std::int64_t end_bytes = 0;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

// Ranges are ascending, not empty, and neither touch nor meet. A tensor with more than kMaxRanges
// ranges is given as the one range that spans it, and `exact` is false: then some of the bytes may
// be in no element. Rules must not blame anybody for bytes of an inexact set alone.
struct ByteSet {
  absl::InlinedVector<ByteRange, 1> ranges;
  bool exact = true;

  [[nodiscard]] bool empty() const { return ranges.empty(); }
  // The smallest range around all of it; [0, 0) when it is empty.
  [[nodiscard]] ByteRange hull() const;
  [[nodiscard]] std::int64_t size_bytes() const;
  friend bool operator==(const ByteSet&, const ByteSet&) = default;
};

inline constexpr std::size_t kMaxRanges = std::size_t{1} << 18;

// The bytes of the elements, from the start of the storage. Sizes, strides and offset are those of
// a tensor that fits its storage (geometry_fits).
[[nodiscard]] ByteSet bytes_of(const spec::HostTensor& geometry);
// Of a type; nothing where it has symbols.
[[nodiscard]] std::optional<ByteSet> bytes_of(const spec::TensorType& type);
// Bytes [begin_bytes, end_bytes).
[[nodiscard]] ByteSet bytes_of(std::int64_t begin_bytes, std::int64_t end_bytes);

// `bytes`, each moved by `by_bytes`.
[[nodiscard]] ByteSet shifted(ByteSet bytes, std::int64_t by_bytes);

// The first range that both have, where `a` is moved by `shift_a_bytes` and `b` by `shift_b_bytes`.
[[nodiscard]] std::optional<ByteRange> first_common(const ByteSet& a, std::int64_t shift_a_bytes,
                                                    const ByteSet& b, std::int64_t shift_b_bytes);

// The byte where each element begins, in row-major order: what tells two index maps apart.
[[nodiscard]] std::vector<std::int64_t> element_offsets_bytes(const spec::HostTensor& geometry);

// Whether the k-th element, in row-major order, begins at the same byte in both, for all k, and is
// as long. Tensors without elements agree with each other.
[[nodiscard]] bool same_index_map(const spec::HostTensor& a, const spec::HostTensor& b);

}  // namespace graphgate::verify
