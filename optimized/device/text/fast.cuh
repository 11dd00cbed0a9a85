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

// Rows of 64 16-bit terms in shared memory, 8 chunks of 16 bytes each. In odd rows the halves
// change places, so that eight lanes that read four chunks of two neighbouring rows meet no bank
// twice.
inline int place_of(int row, int chunk) { return row * 8 + (chunk ^ row % 2 * 4); }

// Few rows times a weight: result[r][c] = sum over k of a[r][k] * w[c][k], rounded to Format.
//
// It reads each weight once, which is all that it takes: 16 of them (rows of w) belong to a block,
// whose eight warps share the depth, 64 k at a time. Each warp brings `ahead` such slices of its
// own, and of `a`, through shared memory (few_rows_bytes of fast_text.cpp), and waits for nobody.
//
//          k ->  warp 0   warp 1  ...  warp 7   warp 0 ...
//   w  16 rows [ 64 k  ][ 64 k  ]...[ 64 k  ][ 64 k  ]
//
// Of half a slice lane 4 g + q takes eight neighbouring k of rows g and g + 8 of w, and of row g of
// a: which k stand for which of the unit's is the same on both sides, and a sum does not mind.
//
// Pitches are in bytes. k is a multiple of 8.
template <class Format, int rows, long n, long k, int ahead, long a_pitch, long w_pitch,
          long out_pitch, bool w_is_constant>
void multiply_few_rows(char* out, const char* a, const char* w) {
  constexpr int kWarps = 8;
  constexpr int kColumns = 16;
  constexpr int kTiles = (rows + 7) / 8;
  constexpr int kOwn = static_cast<int>((k + kWarps * 64 - 1) / (kWarps * 64));  // of a warp
  constexpr int kSlice = (kColumns + rows) * 8;                                  // chunks
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int g = lane / 4;
  const int q = lane % 4;
  const long column0 = static_cast<long>(blockIdx.x) * kColumns;
  uint4* const ring = dynamic_shared() + warp * (ahead * kSlice);
  // Rows of a slice are those of w, then those of a. What is behind k is 0; columns behind the last
  // one repeat it, and are not stored.
  const auto begin_rows = [&](int own, int first, int count) {
    const long at = (static_cast<long>(own) * kWarps + warp) * 64 + lane % 8 * 8;
    const bool is_there = k % (kWarps * 64) == 0 || at < k;
#pragma unroll
    for (int i = 0; i < count; i += 4) {
      const int row = first + i + lane / 8;
      if (i + 4 > count && row >= first + count) break;
      const long column = column0 + row < n ? column0 + row : n - 1;
      const char* const from = first == 0 ? w + column * w_pitch : a + (row - kColumns) * a_pitch;
      begin_copy16(ring + own % ahead * kSlice + place_of(row, lane % 8),
                   is_there ? from + at * 2 : from, is_there);
    }
  };

  let_next_launch_begin();
  if (!w_is_constant) wait_for_launches_before();
#pragma unroll
  for (int i = 0; i < ahead; ++i) begin_rows(i, 0, kColumns);
  end_copies();
  if (w_is_constant) wait_for_launches_before();
#pragma unroll
  for (int i = 0; i < ahead; ++i) {
    begin_rows(i, kColumns, rows);
    end_copies();
  }

  float sum[kTiles][4] = {};
#pragma unroll 1
  for (int own = 0; own < kOwn; ++own) {
    wait_for_copies<ahead - 1>();  // all but those of the slices behind this one
    __syncwarp();
    const uint4* const here = ring + own % ahead * kSlice;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const uint4 low = here[place_of(g, half * 4 + q)];
      const uint4 high = here[place_of(g + 8, half * 4 + q)];
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        uint4 x = {0, 0, 0, 0};
        const int row = tile * 8 + g;
        if (row < rows) x = here[place_of(kColumns + row, half * 4 + q)];
        multiply_tiles<Format>(sum[tile], low.x, high.x, low.y, high.y, x.x, x.y);
        multiply_tiles<Format>(sum[tile], low.z, high.z, low.w, high.w, x.z, x.w);
      }
    }
    __syncwarp();
    if (own + ahead < kOwn) {
      begin_rows(own + ahead, 0, kColumns);
      begin_rows(own + ahead, kColumns, rows);
    }
    end_copies();
  }

  // What the warps have is added up in shared memory: [warp][row of a][column], padded.
  auto* const parts = reinterpret_cast<float(*)[kTiles * 8][17]>(dynamic_shared());
  __syncthreads();
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      parts[warp][tile * 8 + q * 2 + j % 2][g + j / 2 * 8] = sum[tile][j];
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < rows * kColumns; i += 256) {
    const int row = i / kColumns;
    const long column = column0 + i % kColumns;
    if (column >= n) continue;
    float total = 0;
#pragma unroll
    for (int p = 0; p < kWarps; ++p) total += parts[p][row][i % kColumns];
    store<Format>(out + row * out_pitch + column * 2, total);
  }
}

// Many rows times a weight: as above, for `tile_rows` rows (64 or 128) and 128 columns by a block,
// whose `depth` terms (a multiple of 64) come through shared memory (`stages` slices of 64 terms)
// for all its warps: of each, half the columns and a quarter of the rows.
// put(row, column, part of k, sum).
template <class Format, int tile_rows, long rows, long n, long k, long depth, int stages,
          long a_pitch, long w_pitch, bool w_is_constant, class Put>
void multiply_tile(const char* a, const char* w, Put&& put) {
  constexpr int kColumns = 128;
  constexpr int kStage = (kColumns + tile_rows) * 8;  // chunks
  constexpr int kLoads = kStage / 256;                // of a thread
  constexpr int kWeightLoads = kColumns * 8 / 256;
  constexpr int kColumnTiles = kColumns / 2 / 16;  // of a warp
  constexpr int kRowTiles = tile_rows / 4 / 8;
  constexpr long kRowBlocks = (rows + tile_rows - 1) / tile_rows;
  constexpr long kColumnBlocks = (n + kColumns - 1) / kColumns;
  const long row0 = blockIdx.x % kRowBlocks * tile_rows;
  const long column0 = blockIdx.x / kRowBlocks % kColumnBlocks * kColumns;
  const long part = blockIdx.x / (kRowBlocks * kColumnBlocks);
  const long begin = part * depth;
  const long end = begin + depth < k ? begin + depth : k;
  uint4* const staged = dynamic_shared();
  // A thread's first chunks are of the weight, the others of `a`. What is not there is 0.
  const auto begin_load = [&](int stage, int j, long base) {
    const int row = static_cast<int>(threadIdx.x) / 8 + j * 32;
    const int chunk = threadIdx.x % 8;
    const long at = base + chunk * 8;
    const bool is_weight = j < kWeightLoads;
    const long own = is_weight ? column0 + row : row0 + row - kColumns;
    const bool is_there = at < end && own < (is_weight ? n : rows);
    const char* const from = is_weight ? w + own * w_pitch : a + own * a_pitch;
    begin_copy16(staged + stage * kStage + place_of(row, chunk), is_there ? from + at * 2 : w,
                 is_there);
  };

  let_next_launch_begin();
  if (!w_is_constant) wait_for_launches_before();
#pragma unroll
  for (int s = 0; s < stages - 1; ++s) {
#pragma unroll
    for (int j = 0; j < kWeightLoads; ++j) begin_load(s, j, begin + s * 64);
  }
  end_copies();
  if (w_is_constant) wait_for_launches_before();
#pragma unroll
  for (int s = 0; s < stages - 1; ++s) {
#pragma unroll
    for (int j = kWeightLoads; j < kLoads; ++j) begin_load(s, j, begin + s * 64);
    end_copies();
  }

  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int g = lane / 4;
  const int q = lane % 4;
  const int first_column = warp % 2 * (kColumns / 2);
  const int first_row = warp / 2 * (tile_rows / 4);
  float sum[kColumnTiles][kRowTiles][4] = {};
  int stage = 0;
#pragma unroll 1
  for (long base = begin; base < end; base += 64) {
    wait_for_copies<stages - 2>();
    __syncthreads();  // they are there for all, and all are done with the stage before this one
    if (base + (stages - 1) * 64 < end) {
      const int free = stage == 0 ? stages - 1 : stage - 1;
#pragma unroll
      for (int j = 0; j < kLoads; ++j) begin_load(free, j, base + (stages - 1) * 64);
    }
    end_copies();
    const uint4* const here = staged + stage * kStage;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int chunk = half * 4 + q;
      uint4 x[kRowTiles];
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r) {
        x[r] = here[place_of(kColumns + first_row + r * 8 + g, chunk)];
      }
#pragma unroll
      for (int t = 0; t < kColumnTiles; ++t) {
        const uint4 low = here[place_of(first_column + t * 16 + g, chunk)];
        const uint4 high = here[place_of(first_column + t * 16 + g + 8, chunk)];
#pragma unroll
        for (int r = 0; r < kRowTiles; ++r) {
          multiply_tiles<Format>(sum[t][r], low.x, high.x, low.y, high.y, x[r].x, x[r].y);
          multiply_tiles<Format>(sum[t][r], low.z, high.z, low.w, high.w, x[r].z, x[r].w);
        }
      }
    }
    stage = stage + 1 == stages ? 0 : stage + 1;
  }
#pragma unroll
  for (int t = 0; t < kColumnTiles; ++t) {
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

// RMSNorm of a row by a block; otherwise as rms_norm of prelude.cuh. put(i, x, normal, weight).
template <class Own, class Compute, int length, bool by_power, bool weight_is_constant, class C,
          class Weight, class Term, class Put>
void rms_norm_by_block(C epsilon, Weight&& weight, Term&& term, Put&& put) {
  constexpr int kEach = (length + 255) / 256;
  C x[kEach];
  C weights[kEach];
  let_next_launch_begin();
  if (!weight_is_constant) wait_for_launches_before();
#pragma unroll
  for (int j = 0; j < kEach; ++j) {
    const int i = threadIdx.x + j * 256;
    weights[j] = i < length ? weight(i) : C(0);
  }
  if (weight_is_constant) wait_for_launches_before();
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
    if (i < length) {
      put(i, x[j], rounded_in<Own>(rounded_in<Compute>(x[j] * factor)), weights[j]);
    }
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
      const float e = top == -__int_as_float(0x7f800000) ? 0.0f : exp_nearly(scores[i][h] - top);
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
    const float factor = is_empty ? 1.0f : exp_nearly(tops[c] - top);
    sum += sums[c] * factor;
    value += values[c] * factor;
  }
  if (is_nan) return __int_as_float(0x7fffffff);
  return is_empty ? value : value / sum;
}

}  // namespace graphgate::optimized::device
