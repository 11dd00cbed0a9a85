// Where a product of few rows has its rows from.
#pragma once

#include "optimized/codegen/text/fast_norm.cuh"

namespace graphgate::optimized::device {

// Rows of 64 16-bit terms in shared memory, 8 chunks of 16 bytes each. In odd rows the halves
// change places, so that eight lanes that read four chunks of two neighbouring rows meet no bank
// twice.
inline int place_of(int row, int chunk) { return row * 8 + (chunk ^ row % 2 * 4); }

// From memory, a slice at a time with the weights'.
template <long pitch>
struct RowsOfMemory {
  static constexpr bool kAreMade = false;
  const char* first;
  [[nodiscard]] const char* row(int r) const { return first + r * pitch; }
};

// RMSNorm of one row of k terms: every block makes it for itself, while its weights are on their
// way, and the first one puts it into memory, too. Nothing that the launch writes is `x` or
// `weight`, and nothing else is `result`.
template <class Own, class Compute, int k, bool by_power, bool weight_is_constant>
struct NormalizedRow {
  static constexpr bool kAreMade = true;
  const char* x;
  const char* weight;
  char* result;
  float epsilon;

  // `made`: k / 8 chunks of shared memory. They are there for all threads afterwards.
  void make(uint4* made) const {
    rms_norm_by_block<Own, Compute, k, 8, by_power, weight_is_constant>(
        epsilon,
        [&](int i, float (&out)[8]) { load_row<Own>(weight + i * 2, out); },
        [&](int i, float (&out)[8]) { load_row<Own>(x + i * 2, out); },
        [&](int i, const float (&)[8], float (&normal)[8], const float (&scale)[8]) {
#pragma unroll
          for (int e = 0; e < 8; ++e) normal[e] *= scale[e];
          store_row<Own>(reinterpret_cast<char*>(made + i / 8), normal);
          if (blockIdx.x == 0) store_row<Own>(result + i * 2, normal);
        });
    __syncthreads();
  }
};

}  // namespace graphgate::optimized::device
