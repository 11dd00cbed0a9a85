// The emulator's text in the place of codegen/text/ptx_group.cuh: the same in C++. Products happen at
// once.
#pragma once

#include "optimized/codegen/text/ptx.cuh"

namespace graphgate::optimized::device {

inline int group_place(int row, int chunk) { return row * 8 + (chunk ^ (row & 7)); }
inline void let_groups_read() {}
inline void begin_groups() {}
inline void end_groups() {}
template <int behind>
void wait_for_groups() {}

template <class Format, int columns>
void multiply_groups(float (*d)[4], const uint4* a, const uint4* w, int chunk) {
  graphgate_current->wait_for_warp();
  const auto terms = [chunk](const uint4* slice, int row, double(&out)[16]) {
    for (int k = 0; k < 16; ++k) {
      typename Format::Bits bits;
      __builtin_memcpy(&bits,
                       reinterpret_cast<const char*>(slice + group_place(row, chunk + k / 8)) +
                           k % 8 * 2,
                       2);
      out[k] = Format::decode(bits);
    }
  };
  const int lane = threadIdx.x % 32;
  for (int half = 0; half < 2; ++half) {
    double x[16];
    terms(a, static_cast<int>(threadIdx.x) / 32 % 4 * 16 + lane / 4 + half * 8, x);
    for (int column = 0; column < columns / 4; ++column) {
      double y[16];
      terms(w, column / 2 * 8 + lane % 4 * 2 + column % 2, y);
      float& sum = d[column / 2][half * 2 + column % 2];
      double exact = sum;
      for (int k = 0; k < 16; ++k) exact += x[k] * y[k];
      sum = cut_off(exact);
    }
  }
}

}  // namespace graphgate::optimized::device
