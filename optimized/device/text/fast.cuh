// Kernels of fast arithmetic: they keep to the bounds of tensor cores, and not to the host's bits.
//
// Launches overlap. A kernel lets the next one begin at once, and waits for those before it when it
// first touches what they make or read (griddepcontrol, PTX ISA 9.0); what it does before that is
// to read weights. Every thread waits, so that a kernel that has ended stands for all before it.
#pragma once

#include "optimized/device/text/ptx.cuh"

namespace graphgate::optimized::device {

inline void begin_in_turn() {
  let_next_launch_begin();
  wait_for_launches_before();
}

// 16 bytes from an address that is a multiple of 16.
inline uint4 load16(const char* at) { return *reinterpret_cast<const uint4*>(at); }
// The eight 16-bit numbers of 16 bytes, widened.
template <class Format>
void widen8(const uint4& v, float (&out)[8]) {
  const std::uint32_t words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    out[2 * i] = Format::decode(static_cast<typename Format::Bits>(words[i] & 0xffffu));
    out[2 * i + 1] = Format::decode(static_cast<typename Format::Bits>(words[i] >> 16));
  }
}

// Few rows times a weight: result[r][c] = sum over k of a[r][k] * w[c][k], rounded to Format.
//
// It reads each weight once, which is all that it takes: 16 of them (rows of w) belong to a block,
// whose eight warps share the depth, 32 k at a time. In such a slice lane 4 g + q holds eight
// neighbouring k of rows g and g + 8 of w, and of row g of a: which k stand for which of the unit's
// is the same on both sides, and a sum does not mind. So every load has 16 bytes.
//
//          k ->  warp 0   warp 1  ...  warp 7   warp 0 ...
//   w  16 rows [ 32 k  ][ 32 k  ]...[ 32 k  ][ 32 k  ]
//
// Pitches are in bytes. k is a multiple of 8.
template <class Format, int rows, long n, long k, long a_pitch, long w_pitch, long out_pitch,
          bool w_is_constant>
void multiply_few_rows(char* out, const char* a, const char* w) {
  constexpr int kWarps = 8;
  constexpr int kTiles = (rows + 7) / 8;
  constexpr int kSlices = static_cast<int>((k + 31) / 32);
  constexpr int kOwn = (kSlices + kWarps - 1) / kWarps;  // of a warp
  // Loaded before they are needed: as many as leave room for two blocks on a multiprocessor.
  constexpr int kAhead = kOwn <= 8 ? kOwn : 6;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int g = lane / 4;
  const int q = lane % 4;
  const long column0 = static_cast<long>(blockIdx.x) * 16;
  // Columns behind the last one repeat it, and are not stored: a load without a condition is one
  // that the compiler starts where it stands.
  const auto row_of = [&](long column) { return w + (column < n ? column : n - 1) * w_pitch; };
  const char* const w_low = row_of(column0 + g);
  const char* const w_high = row_of(column0 + g + 8);
  constexpr bool kIsWhole = k % (kWarps * 32) == 0;
  const uint4 zero = {0, 0, 0, 0};
  const auto k_of = [&](int own) { return (static_cast<long>(own) * kWarps + warp) * 32 + q * 8; };
  const auto load_w = [&](int own, uint4& low, uint4& high) {
    const long at = k_of(own);
    if (!kIsWhole && at >= k) {
      low = high = zero;
      return;
    }
    low = load16_once(w_low + at * 2);
    high = load16_once(w_high + at * 2);
  };

  let_next_launch_begin();
  if (!w_is_constant) wait_for_launches_before();
  uint4 low[kAhead];
  uint4 high[kAhead];
#pragma unroll
  for (int i = 0; i < kAhead; ++i) load_w(i, low[i], high[i]);
  if (w_is_constant) wait_for_launches_before();

  // Terms of `a` come from the second-level cache: those of some slices at once, so that their
  // latencies overlap, too.
  constexpr int kTogether = kTiles > 2 ? 2 : 4;
  float sum[kTiles][4] = {};
#pragma unroll 1
  for (int base = 0; base < kOwn; base += kAhead) {
#pragma unroll
    for (int first = 0; first < kAhead; first += kTogether) {
      uint4 x[kTogether][kTiles];
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        const long at = k_of(base + first + i);
#pragma unroll
        for (int tile = 0; tile < kTiles; ++tile) {
          const int row = tile * 8 + g;
          x[i][tile] = row < rows && at < k ? load16(a + row * a_pitch + at * 2) : zero;
        }
      }
#pragma unroll
      for (int i = 0; i < kTogether && first + i < kAhead; ++i) {
        const int own = base + first + i;
        if (kOwn % kAhead != 0 && own >= kOwn) break;
        const uint4 w0 = low[first + i];
        const uint4 w1 = high[first + i];
        if (own + kAhead < kOwn) load_w(own + kAhead, low[first + i], high[first + i]);
#pragma unroll
        for (int tile = 0; tile < kTiles; ++tile) {
          const uint4 v = x[i][tile];
          multiply_tiles<Format>(sum[tile], w0.x, w1.x, w0.y, w1.y, v.x, v.y);
          multiply_tiles<Format>(sum[tile], w0.z, w1.z, w0.w, w1.w, v.z, v.w);
        }
      }
    }
  }

  // What the warps have is added up in shared memory: [warp][row of a][column], padded.
  __shared__ float parts[kWarps][kTiles * 8][17];
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      parts[warp][tile * 8 + q * 2 + j % 2][g + j / 2 * 8] = sum[tile][j];
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < rows * 16; i += 256) {
    const int row = i / 16;
    const long column = column0 + i % 16;
    if (column >= n) continue;
    float total = 0;
#pragma unroll
    for (int p = 0; p < kWarps; ++p) total += parts[p][row][i % 16];
    store<Format>(out + row * out_pitch + column * 2, total);
  }
}

// Many rows times a weight: as above, for `tile_rows` rows (64 or 128) and 64 columns by a block,
// whose `depth` terms (a multiple of 64) come through shared memory, 64 at a time, while the next
// ones are on their way. put(row, column, part of k, sum).
//
// A row of shared memory is 64 terms, 8 chunks of 16 bytes; in odd rows their halves change places,
// so that the eight lanes that read two rows at once meet no bank twice.
template <class Format, int tile_rows, long rows, long n, long k, long depth, long a_pitch,
          long w_pitch, bool w_is_constant, class Put>
void multiply_tile(const char* a, const char* w, Put&& put) {
  constexpr int kColumns = 64;
  constexpr int kLoads = (kColumns + tile_rows) * 8 / 256;  // chunks of a thread
  constexpr int kWeightLoads = kColumns * 8 / 256;
  constexpr int kRowTiles = tile_rows / 4 / 8;  // of a warp: 32 columns, a quarter of the rows
  constexpr long kRowBlocks = (rows + tile_rows - 1) / tile_rows;
  constexpr long kColumnBlocks = (n + kColumns - 1) / kColumns;
  __shared__ uint4 staged[2][(kColumns + tile_rows) * 8];
  const long row0 = blockIdx.x % kRowBlocks * tile_rows;
  const long column0 = blockIdx.x / kRowBlocks % kColumnBlocks * kColumns;
  const long part = blockIdx.x / (kRowBlocks * kColumnBlocks);
  const long begin = part * depth;
  const long end = begin + depth < k ? begin + depth : k;
  const uint4 zero = {0, 0, 0, 0};
  uint4 loaded[kLoads];
  const auto load = [&](int j, long base) {
    const int row = static_cast<int>(threadIdx.x) / 8 + j * 32;
    const long at = base + threadIdx.x % 8 * 8;
    if (j < kWeightLoads) {
      const long column = column0 + row < n ? column0 + row : n - 1;
      const long there = k % 64 == 0 || at < k ? at : 0;
      loaded[j] = load16_once(w + column * w_pitch + there * 2);
      if (k % 64 != 0 && at >= end) loaded[j] = zero;
    } else {
      const long own = row0 + row - kColumns;
      loaded[j] = own < rows && at < end ? load16(a + own * a_pitch + at * 2) : zero;
    }
  };
  const auto chunk_of = [](int row, int chunk) { return row * 8 + (chunk ^ row % 2 * 4); };

  let_next_launch_begin();
  if (!w_is_constant) wait_for_launches_before();
#pragma unroll
  for (int j = 0; j < kWeightLoads; ++j) load(j, begin);
  if (w_is_constant) wait_for_launches_before();
#pragma unroll
  for (int j = kWeightLoads; j < kLoads; ++j) load(j, begin);

  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int g = lane / 4;
  const int q = lane % 4;
  const int first_column = warp % 2 * 32;
  const int first_row = warp / 2 * (tile_rows / 4);
  float sum[2][kRowTiles][4] = {};
  int stage = 0;
#pragma unroll 1
  for (long base = begin; base < end; base += 64) {
#pragma unroll
    for (int j = 0; j < kLoads; ++j) {
      const int row = static_cast<int>(threadIdx.x) / 8 + j * 32;
      staged[stage][chunk_of(row, static_cast<int>(threadIdx.x % 8))] = loaded[j];
    }
    __syncthreads();
    if (base + 64 < end) {
#pragma unroll
      for (int j = 0; j < kLoads; ++j) load(j, base + 64);
    }
    const uint4* const here = staged[stage];
#pragma unroll
    for (int slice = 0; slice < 2; ++slice) {
      uint4 low[2];
      uint4 high[2];
#pragma unroll
      for (int t = 0; t < 2; ++t) {
        low[t] = here[chunk_of(first_column + t * 16 + g, slice * 4 + q)];
        high[t] = here[chunk_of(first_column + t * 16 + g + 8, slice * 4 + q)];
      }
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r) {
        const uint4 x = here[chunk_of(kColumns + first_row + r * 8 + g, slice * 4 + q)];
#pragma unroll
        for (int t = 0; t < 2; ++t) {
          multiply_tiles<Format>(sum[t][r], low[t].x, high[t].x, low[t].y, high[t].y, x.x, x.y);
          multiply_tiles<Format>(sum[t][r], low[t].z, high[t].z, low[t].w, high[t].w, x.z, x.w);
        }
      }
    }
    stage = 1 - stage;
  }
#pragma unroll
  for (int t = 0; t < 2; ++t) {
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const long row = row0 + first_row + r * 8 + q * 2 + j % 2;
        const long column = column0 + first_column + t * 16 + g + j / 2 * 8;
        if (row < rows && column < n) put(row, column, part, sum[t][r][j]);
      }
    }
  }
}

// RMSNorm of a row by a block; otherwise as rms_norm of prelude.cuh.
template <class Own, class Compute, int length, bool by_power, class C, class Term, class Put>
void rms_norm_by_block(C epsilon, Term&& term, Put&& put) {
  constexpr int kEach = (length + 255) / 256;
  C x[kEach];
  C squares = 0;
#pragma unroll
  for (int j = 0; j < kEach; ++j) {
    const int i = threadIdx.x + j * 256;
    x[j] = i < length ? term(i) : C(0);
    squares += rounded_in<Compute>(by_power ? element::square_by_power(x[j]) : x[j] * x[j]);
  }
  for (int width = 16; width > 0; width /= 2) {
    squares += __shfl_xor_sync(internal::kWarp, squares, width);
  }
  __shared__ C parts[8];
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = squares;
  __syncthreads();
  squares = 0;
#pragma unroll
  for (int j = 0; j < 8; ++j) squares += parts[j];
  const C mean = rounded_in<Compute>(squares / static_cast<C>(length));
  const C factor = rounded_in<Compute>(rsqrt(rounded_in<Compute>(mean + epsilon)));
#pragma unroll
  for (int j = 0; j < kEach; ++j) {
    const int i = threadIdx.x + j * 256;
    if (i < length) put(i, x[j], rounded_in<Own>(rounded_in<Compute>(x[j] * factor)));
  }
}

// Attention of one query row for each of some heads that share keys and values: a block takes
// `chunk` keys. Shapes in bytes of pitch; `depth` numbers in a row of queries, keys and values.
struct AttentionPitches {
  long query_head, key_row, value_row;
};

// Rows of keys or values that this lane has a part of, 8 numbers from `part` * 16 bytes on: `visit`
// gets each row's index and those numbers, 0 behind the last key. Some rows are loaded ahead.
template <class Format, int chunk, int step, class Visit>
void for_each_own_row(const char* rows, long pitch, int keys, int own, int part, Visit&& visit) {
  constexpr int kAhead = chunk / step < 8 ? chunk / step : 8;
  const uint4 zero = {0, 0, 0, 0};
#pragma unroll 1
  for (int base = 0; base < chunk; base += step * kAhead) {
    uint4 loaded[kAhead];
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      const int at = base + j * step + own;  // behind the last key: the first one, for nothing
      loaded[j] = load16_once(rows + (at < keys ? at : 0) * pitch + part * 16);
    }
    __syncwarp();  // or the compiler starts each of them when it is needed
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      if (base + j * step + own >= keys) loaded[j] = zero;
    }
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      const int at = base + j * step + own;
      if (base + j * step >= chunk) break;  // all lanes: a chunk is whole steps
      float x[8];
      widen8<Format>(loaded[j], x);
      visit(at, x);
    }
  }
}

// Scores of the block's keys, then their exponentials against the greatest, then the sum of values
// that these weigh. put(head, i, value, top, sum): element i of a head's weighed sum, not yet
// divided by `sum`, the sum of exponentials against `top`.
//
// depth / 8 lanes share a key, each with eight neighbouring elements, so that every load has 16
// bytes; a warp takes 32 / (depth / 8) keys at a time.
template <class Format, int heads, int depth, int chunk, class Mask, class Put>
void attend_chunk(const char* query, const char* key, const char* value, AttentionPitches pitch,
                  int keys, float scale, Mask&& mask, Put&& put) {
  constexpr int kLanes = depth / 8;   // of a key
  constexpr int kKeys = 32 / kLanes;  // of a warp at a time
  constexpr int kStep = 8 * kKeys;    // of the block at a time
  __shared__ float scores[chunk][heads];
  __shared__ float tops[heads];
  __shared__ float sums[heads];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int part = lane % kLanes;
  const int own = warp * kKeys + lane / kLanes;

  {
    float q[heads][8];
#pragma unroll
    for (int h = 0; h < heads; ++h) {
      widen8<Format>(load16(query + h * pitch.query_head + part * 16), q[h]);
    }
    for_each_own_row<Format, chunk, kStep>(
        key, pitch.key_row, keys, own, part, [&](int at, const float(&x)[8]) {
#pragma unroll
          for (int h = 0; h < heads; ++h) {
            float dot = 0;
#pragma unroll
            for (int i = 0; i < 8; ++i) dot = fmaf(q[h][i], x[i], dot);
#pragma unroll
            for (int width = kLanes / 2; width > 0; width /= 2) {
              dot += __shfl_xor_sync(internal::kWarp, dot, width);
            }
            if (part == h % kLanes) {
              scores[at][h] = at < keys ? mask(h, at, dot * scale) : -__int_as_float(0x7f800000);
            }
          }
        });
  }
  __syncthreads();
  for (int h = warp; h < heads; h += 8) {
    float top = -__int_as_float(0x7f800000);
    bool is_nan = false;
    for (int i = lane; i < chunk; i += 32) {
      top = fmaxf(top, scores[i][h]);
      is_nan |= scores[i][h] != scores[i][h];
    }
    for (int width = 16; width > 0; width /= 2) {
      top = fmaxf(top, __shfl_xor_sync(internal::kWarp, top, width));
    }
    if (__any_sync(internal::kWarp, is_nan)) top = __int_as_float(0x7fffffff);
    float sum = 0;
    for (int i = lane; i < chunk; i += 32) {
      const float e = top == -__int_as_float(0x7f800000) ? 0.0f : exp(scores[i][h] - top);
      scores[i][h] = e;
      sum += e;
    }
    for (int width = 16; width > 0; width /= 2) {
      sum += __shfl_xor_sync(internal::kWarp, sum, width);
    }
    if (lane == 0) {
      tops[h] = top;
      sums[h] = sum;
    }
  }
  __syncthreads();

  float acc[heads][8] = {};
  for_each_own_row<Format, chunk, kStep>(value, pitch.value_row, keys, own, part,
                                         [&](int at, const float(&x)[8]) {
#pragma unroll
                                           for (int h = 0; h < heads; ++h) {
                                             const float e = scores[at][h];
#pragma unroll
                                             for (int i = 0; i < 8; ++i)
                                               acc[h][i] = fmaf(e, x[i], acc[h][i]);
                                           }
                                         });
  // The keys of a warp, then the warps.
  __shared__ float parts[8][heads][depth];
#pragma unroll
  for (int h = 0; h < heads; ++h) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
      for (int width = kLanes; width < 32; width *= 2) {
        acc[h][i] += __shfl_xor_sync(internal::kWarp, acc[h][i], width);
      }
      if (lane < kLanes) parts[warp][h][part * 8 + i] = acc[h][i];
    }
  }
  __syncthreads();
  for (int j = threadIdx.x; j < heads * depth; j += 256) {
    float total = 0;
#pragma unroll
    for (int p = 0; p < 8; ++p) total += parts[p][j / depth][j % depth];
    put(j / depth, j % depth, total, tops[j / depth], sums[j / depth]);
  }
}

// What several blocks have found of a row: [chunks][elements + 2], the weighed sums, then their
// greatest score and their sum of exponentials. In a row of nothing but -inf all weights are 0.
template <int chunks>
float joined_chunks(const float* parts, long pitch, int elements, int i) {
  float tops[chunks];
  float sums[chunks];
  float values[chunks];
#pragma unroll
  for (int c = 0; c < chunks; ++c) {  // all at once, so that their latencies overlap
    tops[c] = parts[c * pitch + elements];
    sums[c] = parts[c * pitch + elements + 1];
    values[c] = parts[c * pitch + i];
  }
  float top = -__int_as_float(0x7f800000);
  bool is_nan = false;
#pragma unroll
  for (int c = 0; c < chunks; ++c) {
    is_nan |= tops[c] != tops[c];
    top = fmaxf(top, tops[c]);
  }
  const bool is_empty = top == -__int_as_float(0x7f800000);
  float sum = 0;
  float value = 0;
#pragma unroll
  for (int c = 0; c < chunks; ++c) {
    const float factor = is_empty ? 1.0f : exp(tops[c] - top);
    sum += sums[c] * factor;
    value += values[c] * factor;
  }
  if (is_nan) return __int_as_float(0x7fffffff);
  return is_empty ? value : value / sum;
}

}  // namespace graphgate::optimized::device
