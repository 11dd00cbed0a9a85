// Products by a group of four warps, whose terms stay in shared memory (wgmma, PTX ISA 9.0): for
// tiles of many rows. Only sm_90a has that instruction; elsewhere each warp of the group does its
// quarter by the instructions of ptx.cuh.
//
// runtime/emulated has a text of its own in its place, which says the same in C++.
#pragma once

#include "optimized/codegen/text/ptx.cuh"

namespace graphgate::optimized::device {

// A slice is rows of 64 16-bit terms, eight chunks of 16 bytes each, from a multiple of 1024 bytes
// on. Where chunk c of row r lies (the instruction's swizzle of 128 bytes): the same chunk of eight
// neighbouring rows meets no bank twice.
inline int group_place(int row, int chunk) { return row * 8 + (chunk ^ (row & 7)); }

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

// What this thread has brought to shared memory is there for multiply_groups behind a barrier.
inline void let_groups_read() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// Before the first product of a batch, and behind the last one.
inline void begin_groups() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
inline void end_groups() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Returns when all batches but the last `behind` ones are done: neither their sums nor what they
// read may be touched before.
template <int behind>
void wait_for_groups() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(behind) : "memory");
}

// A slice for the instruction: its address, 1024 bytes from eight rows to the next, the swizzle.
inline std::uint64_t described_slice(const uint4* slice) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(slice));
  return std::uint64_t{address >> 4 & 0x3fff} | std::uint64_t{1} << 16 |
         std::uint64_t{1024 >> 4} << 32 | std::uint64_t{1} << 62;
}

#define GRAPHGATE_4(i) "+f"(d[i][0]), "+f"(d[i][1]), "+f"(d[i][2]), "+f"(d[i][3])
#define GRAPHGATE_16(i) GRAPHGATE_4(i), GRAPHGATE_4(i + 1), GRAPHGATE_4(i + 2), GRAPHGATE_4(i + 3)
#define GRAPHGATE_NAMES_16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define GRAPHGATE_NAMES_32 \
  GRAPHGATE_NAMES_16       \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define GRAPHGATE_NAMES_64                                                             \
  GRAPHGATE_NAMES_32                                                                   \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define GRAPHGATE_MULTIPLY(shape, format, names, x, y, ...)                                \
  asm volatile("wgmma.mma_async.sync.aligned." shape "k16.f32." format "." format " {" names \
               "}, %" x ", %" y ", 1, 1, 1, 0, 0;"                                         \
               : __VA_ARGS__                                                               \
               : "l"(of_a), "l"(of_w))

// d += a w^T: 64 rows of `a` and `columns` rows of `w` (32, 64 or 128), 16 terms from `chunk` on,
// of slices whose first rows these are. In lane 4 g + q of the group's warp v, d[c] has columns
// 8 c + 2 q and the next of row 16 v + g, then of row 16 v + g + 8.
template <class Format, int columns>
void multiply_groups(float (*d)[4], const uint4* a, const uint4* w, int chunk) {
  static_assert(columns == 32 || columns == 64 || columns == 128);
  const std::uint64_t of_a = described_slice(a) + chunk;  // in units of 16 bytes
  const std::uint64_t of_w = described_slice(w) + chunk;
  if constexpr (std::is_same_v<Format, BF16>) {
    if constexpr (columns == 128) {
      GRAPHGATE_MULTIPLY("m64n128", "bf16", GRAPHGATE_NAMES_64, "64", "65", GRAPHGATE_16(0),
                         GRAPHGATE_16(4), GRAPHGATE_16(8), GRAPHGATE_16(12));
    } else if constexpr (columns == 64) {
      GRAPHGATE_MULTIPLY("m64n64", "bf16", GRAPHGATE_NAMES_32, "32", "33", GRAPHGATE_16(0),
                         GRAPHGATE_16(4));
    } else {
      GRAPHGATE_MULTIPLY("m64n32", "bf16", GRAPHGATE_NAMES_16, "16", "17", GRAPHGATE_16(0));
    }
  } else {
    if constexpr (columns == 128) {
      GRAPHGATE_MULTIPLY("m64n128", "f16", GRAPHGATE_NAMES_64, "64", "65", GRAPHGATE_16(0),
                         GRAPHGATE_16(4), GRAPHGATE_16(8), GRAPHGATE_16(12));
    } else if constexpr (columns == 64) {
      GRAPHGATE_MULTIPLY("m64n64", "f16", GRAPHGATE_NAMES_32, "32", "33", GRAPHGATE_16(0),
                         GRAPHGATE_16(4));
    } else {
      GRAPHGATE_MULTIPLY("m64n32", "f16", GRAPHGATE_NAMES_16, "16", "17", GRAPHGATE_16(0));
    }
  }
}

#undef GRAPHGATE_4
#undef GRAPHGATE_16
#undef GRAPHGATE_NAMES_16
#undef GRAPHGATE_NAMES_32
#undef GRAPHGATE_NAMES_64
#undef GRAPHGATE_MULTIPLY

#else

inline void let_groups_read() {}
inline void begin_groups() {}
inline void end_groups() {}
template <int behind>
void wait_for_groups() {}

template <class Format, int columns>
void multiply_groups(float (*d)[4], const uint4* a, const uint4* w, int chunk) {
  const int lane = threadIdx.x % 32;
  const int row = threadIdx.x / 32 % 4 * 16 + lane % 16;
  std::uint32_t x[4];
  load_tiles(x, a + group_place(row, chunk + lane / 16));
#pragma unroll
  for (int c = 0; c < columns / 8; c += 2) {
    std::uint32_t y[4];
    load_tiles(y, w + group_place(c * 8 + lane % 8 + lane / 16 * 8, chunk + lane / 8 % 2));
    multiply_tiles<Format>(d[c], x[0], x[1], x[2], x[3], y[0], y[1]);
    multiply_tiles<Format>(d[c + 1], x[0], x[1], x[2], x[3], y[2], y[3]);
  }
}

#endif

}  // namespace graphgate::optimized::device
