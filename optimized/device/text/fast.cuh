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
// is the same on both sides, and a sum does not mind. So every copy has 16 bytes. A thread's slices
// come through slots of its own in shared memory, so that many are on their way at any time.
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
  constexpr bool kIsWhole = k % (kWarps * 32) == 0;
  constexpr int kSlots = 2 + kTiles;                      // of a slice: rows g and g + 8 of w, of a
  constexpr int kMost = 48 * 1024 / (256 * 16 * kSlots);  // slices in shared memory
  constexpr int kAhead = kOwn < kMost ? kOwn : kMost;
  constexpr int kParts = kWarps * kTiles * 8 * 17 * 4 / 16;
  constexpr int kRing = kAhead * kSlots * 256;
  __shared__ uint4 ring[kRing < kParts ? kParts : kRing];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int g = lane / 4;
  const int q = lane % 4;
  const long column0 = static_cast<long>(blockIdx.x) * 16;
  // Columns behind the last one repeat it, and are not stored.
  const auto row_of = [&](long column) { return w + (column < n ? column : n - 1) * w_pitch; };
  const char* const w_low = row_of(column0 + g);
  const char* const w_high = row_of(column0 + g + 8);
  const auto k_of = [&](int own) { return (static_cast<long>(own) * kWarps + warp) * 32 + q * 8; };
  const auto is_there = [&](int own) { return kIsWhole || k_of(own) < k; };
  const auto slot = [&](int own, int i) -> uint4& {
    return ring[(own % kAhead * kSlots + i) * 256 + threadIdx.x];
  };
  const auto begin_w = [&](int own) {
    if (!is_there(own)) return;
    begin_copy16(&slot(own, 0), w_low + k_of(own) * 2);
    begin_copy16(&slot(own, 1), w_high + k_of(own) * 2);
  };
  const auto begin_a = [&](int own) {
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      const int row = tile * 8 + g;
      if (row < rows && is_there(own)) {
        begin_copy16(&slot(own, 2 + tile), a + row * a_pitch + k_of(own) * 2);
      }
    }
  };

  let_next_launch_begin();
  if (!w_is_constant) wait_for_launches_before();
#pragma unroll
  for (int i = 0; i < kAhead; ++i) begin_w(i);
  end_copies();
  if (w_is_constant) wait_for_launches_before();
#pragma unroll
  for (int i = 0; i < kAhead; ++i) {
    begin_a(i);
    end_copies();
  }

  const uint4 zero = {0, 0, 0, 0};
  float sum[kTiles][4] = {};
#pragma unroll 4
  for (int own = 0; own < kOwn; ++own) {
    wait_for_copies<kAhead - 1>();  // all but those of the slices behind this one
    const uint4 low = is_there(own) ? slot(own, 0) : zero;
    const uint4 high = is_there(own) ? slot(own, 1) : zero;
    uint4 x[kTiles];
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      x[tile] = tile * 8 + g < rows && is_there(own) ? slot(own, 2 + tile) : zero;
    }
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      const uint4 v = x[tile];
      multiply_tiles<Format>(sum[tile], low.x, high.x, low.y, high.y, v.x, v.y);
      multiply_tiles<Format>(sum[tile], low.z, high.z, low.w, high.w, v.z, v.w);
    }
    if (own + kAhead < kOwn) {
      begin_w(own + kAhead);
      begin_a(own + kAhead);
    }
    end_copies();
  }

  // What the warps have is added up in shared memory: [warp][row of a][column], padded.
  auto* const parts = reinterpret_cast<float(*)[kTiles * 8][17]>(ring);
  __syncthreads();
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
// whose `depth` terms (a multiple of 64) come through shared memory, 32 at a time, while the next
// ones are on their way. put(row, column, part of k, sum).
//
// A row of shared memory is 32 terms, 4 chunks of 16 bytes: the eight lanes that read at once read
// two neighbouring rows, and meet no bank twice.
template <class Format, int tile_rows, long rows, long n, long k, long depth, long a_pitch,
          long w_pitch, bool w_is_constant, class Put>
void multiply_tile(const char* a, const char* w, Put&& put) {
  constexpr int kColumns = 64;
  constexpr int kStages = 4;
  constexpr int kLoads = (kColumns + tile_rows) * 4 / 256;  // chunks of a thread
  constexpr int kRowTiles = tile_rows / 4 / 8;  // of a warp: 32 columns, a quarter of the rows
  constexpr long kRowBlocks = (rows + tile_rows - 1) / tile_rows;
  constexpr long kColumnBlocks = (n + kColumns - 1) / kColumns;
  __shared__ uint4 staged[kStages][(kColumns + tile_rows) * 4];
  const long row0 = blockIdx.x % kRowBlocks * tile_rows;
  const long column0 = blockIdx.x / kRowBlocks % kColumnBlocks * kColumns;
  const long part = blockIdx.x / (kRowBlocks * kColumnBlocks);
  const long begin = part * depth;
  const long end = begin + depth < k ? begin + depth : k;
  // A thread's first chunk is one of the weight, the others are of `a`. What is not there is 0.
  const auto begin_load = [&](int stage, int j, long base) {
    const int row = static_cast<int>(threadIdx.x) / 4 + j * 64;
    const long at = base + threadIdx.x % 4 * 8;
    const long own = j == 0 ? column0 + row : row0 + row - kColumns;
    const bool is_there = at < end && own < (j == 0 ? n : rows);
    const char* const first = j == 0 ? w + own * w_pitch : a + own * a_pitch;
    begin_copy16(&staged[stage][row * 4 + threadIdx.x % 4], is_there ? first + at * 2 : w,
                 is_there);
  };

  let_next_launch_begin();
  if (!w_is_constant) wait_for_launches_before();
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) begin_load(s, 0, begin + s * 32);
  end_copies();
  if (w_is_constant) wait_for_launches_before();
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) {
#pragma unroll
    for (int j = 1; j < kLoads; ++j) begin_load(s, j, begin + s * 32);
    end_copies();
  }

  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int g = lane / 4;
  const int q = lane % 4;
  const int first_column = warp % 2 * 32;
  const int first_row = warp / 2 * (tile_rows / 4);
  float sum[2][kRowTiles][4] = {};
  int stage = 0;
#pragma unroll 1
  for (long base = begin; base < end; base += 32) {
    wait_for_copies<kStages - 2>();
    __syncthreads();  // they are there for all, and all are done with the stage before this one
    const int free = (stage + kStages - 1) % kStages;
    if (base + (kStages - 1) * 32 < end) {
#pragma unroll
      for (int j = 0; j < kLoads; ++j) begin_load(free, j, base + (kStages - 1) * 32);
    }
    end_copies();
    const uint4* const here = staged[stage];
    uint4 low[2];
    uint4 high[2];
#pragma unroll
    for (int t = 0; t < 2; ++t) {
      low[t] = here[(first_column + t * 16 + g) * 4 + q];
      high[t] = here[(first_column + t * 16 + g + 8) * 4 + q];
    }
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
      const uint4 x = here[(kColumns + first_row + r * 8 + g) * 4 + q];
#pragma unroll
      for (int t = 0; t < 2; ++t) {
        multiply_tiles<Format>(sum[t][r], low[t].x, high[t].x, low[t].y, high[t].y, x.x, x.y);
        multiply_tiles<Format>(sum[t][r], low[t].z, high[t].z, low[t].w, high[t].w, x.z, x.w);
      }
    }
    stage = (stage + 1) % kStages;
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
  constexpr int kSteps = chunk / kStep;
  // A thread's keys, then its values, come through slots of its own in shared memory.
  constexpr int kAhead = 2 * kSteps < 6 ? 2 * kSteps : 6;
  constexpr int kParts = 8 * heads * depth * 4 / 16;
  __shared__ uint4 ring[kAhead * 256 < kParts ? kParts : kAhead * 256];
  __shared__ float scores[chunk][heads];
  __shared__ float tops[heads];
  __shared__ float sums[heads];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int part = lane % kLanes;
  const int own = warp * kKeys + lane / kLanes;
  const auto slot = [&](int step) -> uint4& { return ring[step % kAhead * 256 + threadIdx.x]; };
  const auto key_of = [&](int step) { return step % kSteps * kStep + own; };
  const auto begin = [&](int step) {
    const long at = key_of(step);
    if (step < 2 * kSteps && at < keys) {
      begin_copy16(
          &slot(step),
          (step < kSteps ? key + at * pitch.key_row : value + at * pitch.value_row) + part * 16);
    }
    end_copies();
  };
  const auto take = [&](int step, float(&x)[8]) {
    const uint4 zero = {0, 0, 0, 0};
    wait_for_copies<kAhead - 1>();
    widen8<Format>(key_of(step) < keys ? slot(step) : zero, x);
    begin(step + kAhead);
  };

#pragma unroll
  for (int step = 0; step < kAhead; ++step) begin(step);
  {
    float q[heads][8];
#pragma unroll
    for (int h = 0; h < heads; ++h) {
      widen8<Format>(load16(query + h * pitch.query_head + part * 16), q[h]);
    }
#pragma unroll 2
    for (int step = 0; step < kSteps; ++step) {
      const int at = key_of(step);
      float x[8];
      take(step, x);
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
    }
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
#pragma unroll 2
  for (int step = kSteps; step < 2 * kSteps; ++step) {
    float x[8];
    take(step, x);
#pragma unroll
    for (int h = 0; h < heads; ++h) {
      const float e = scores[key_of(step)][h];
#pragma unroll
      for (int i = 0; i < 8; ++i) acc[h][i] = fmaf(e, x[i], acc[h][i]);
    }
  }
  // The keys of a warp, then the warps.
  __syncthreads();
  auto* const parts = reinterpret_cast<float(*)[heads][depth]>(ring);
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
