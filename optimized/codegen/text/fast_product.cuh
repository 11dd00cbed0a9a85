// Products of fast arithmetic, on tensor cores.
#pragma once

#include "optimized/codegen/text/fast_rows.cuh"
#include "optimized/codegen/text/ptx_group.cuh"

namespace graphgate::optimized::device {

// Rounds sums into a word.
template <class Format, int count>
void pack(Word<2, count>& word, const float (&sums)[count]) {
  if constexpr (count == 1) {
    store<Format>(word.at(0), sums[0]);
  } else {
#pragma unroll
    for (int i = 0; i < count; i += 2) {
      *reinterpret_cast<std::uint32_t*>(word.at(i)) = packed2<Format>(sums[i], sums[i + 1]);
    }
  }
}

// Products: result[r][c] = sum over k of a[r][k] * w[c][k].
//
// The columns are `bands` of n, and a thread that has the sum of column c of one has that of column
// c of the others too. put.operator()<count>(row, column, sums) takes float sums[bands][count], of
// `count` columns. The bands take turns, `run` columns at a time. Pitches are in bytes. k is a
// multiple of 8.
template <int bands, long n, long run>
long column_of(int band, long column) {
  if constexpr (run == n) return band * n + column;
  return column / run * (run * bands) + band * run + column % run;
}

// Few rows. It reads each weight once, which is all that it takes. 16 of them (rows of w) at a time
// belong to a block, whose eight warps share the depth, 64 k at a time. Each warp brings `ahead`
// such slices of its own, and of `a`, through shared memory (ring_of in fast_product_text.cpp), and
// waits for nobody. A row that is made (fast_rows.cuh) stands behind the rings, whole.
//
//          k ->  warp 0   warp 1  ...  warp 7   warp 0 ...
//   w  16 rows [ 64 k  ][ 64 k  ]...[ 64 k  ][ 64 k  ]
//
// Where there are fewer `blocks` than sixteens, each goes on with the sixteen `blocks` further: its
// slices are on their way while it adds up what it has.
//
// Of half a slice lane 4 g + q takes eight neighbouring k of rows g and g + 8 of w, and of row g of
// a. Which k stand for which of the unit's is the same on both sides, and a sum does not mind.
template <class Format, int bands, long run, int rows, long n, long k, int ahead, long blocks,
          long w_pitch, bool w_is_constant, class Rows, class Put>
void multiply_few_rows(const Rows& a, const char* w, Put&& put) {
  constexpr int kWarps = 8;
  constexpr int kColumns = 16;
  constexpr int kOfBand = kColumns / bands;
  constexpr bool kGoesOn = blocks * kOfBand < n;
  constexpr int kTiles = (rows + 7) / 8;
  constexpr int kOwn = static_cast<int>((k + kWarps * 64 - 1) / (kWarps * 64));  // of a warp
  constexpr int kSlice = (kColumns + (Rows::kAreMade ? 0 : rows)) * 8;           // chunks
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int g = lane / 4;
  const int q = lane % 4;
  uint4* const ring = dynamic_shared() + warp * (ahead * kSlice);
  uint4* const made = dynamic_shared() + kWarps * (ahead * kSlice);
  // Rows of a slice are those of w, then those of a. What is behind k is 0; columns behind the last
  // one repeat it, and are not stored.
  const auto begin_rows = [&](int stage, long column0, int own, int first, int count) {
    if (kGoesOn && column0 >= n) return;
    const long at = (static_cast<long>(own) * kWarps + warp) * 64 + lane % 8 * 8;
    const bool is_there = k % (kWarps * 64) == 0 || at < k;
#pragma unroll
    for (int i = 0; i < count; i += 4) {
      const int row = first + i + lane / 8;
      if (i + 4 > count && row >= first + count) break;
      const long column = column0 + row % kOfBand;
      const long weight =
          column_of<bands, n, run>(row / kOfBand, column < n ? column : n - 1);
      const char* from = w + weight * w_pitch;
      if constexpr (!Rows::kAreMade) {
        if (first != 0) from = a.row(row - kColumns);
      }
      begin_copy16(ring + stage * kSlice + place_of(row, lane % 8),
                   is_there ? from + at * 2 : from, is_there);
    }
  };
  long column0 = static_cast<long>(blockIdx.x) * kOfBand;
  constexpr long kFurther = blocks * kOfBand;

  let_next_launch_begin();
  if (!w_is_constant) wait_for_launches_before();
#pragma unroll
  for (int i = 0; i < ahead; ++i) {
    begin_rows(i, column0 + i / kOwn * kFurther, i % kOwn, 0, kColumns);
    if constexpr (Rows::kAreMade) end_copies();
  }
  if constexpr (Rows::kAreMade) {
    a.make(made);  // waits for the launches before
  } else {
    end_copies();
    if (w_is_constant) wait_for_launches_before();
#pragma unroll
    for (int i = 0; i < ahead; ++i) {
      begin_rows(i, column0 + i / kOwn * kFurther, i % kOwn, kColumns, rows);
      end_copies();
    }
  }

  long next_column0 = column0 + ahead / kOwn * kFurther;  // of the slice `ahead` of the one at hand
  int next_own = ahead % kOwn;
  int stage = 0;
  // What the warps have is added up in shared memory: [warp][row of a][column], padded. Blocks that
  // go on have two of these, in turns, behind all else.
  using Parts = float[kWarps][rows][17];
  auto* parts = reinterpret_cast<Parts*>(kGoesOn ? made + (Rows::kAreMade ? k / 8 : 0)
                                                 : dynamic_shared());
  auto* other_parts = parts + 1;
#pragma unroll 1
  do {
    float sum[kTiles][4] = {};
#pragma unroll 1
    for (int own = 0; own < kOwn; ++own) {
      wait_for_copies<ahead - 1>();  // all but those of the slices behind this one
      __syncwarp();
      const uint4* const here = ring + stage * kSlice;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const uint4 low = here[place_of(g, half * 4 + q)];
        const uint4 high = here[place_of(g + 8, half * 4 + q)];
#pragma unroll
        for (int tile = 0; tile < kTiles; ++tile) {
          uint4 x = {0, 0, 0, 0};
          const int row = tile * 8 + g;
          if constexpr (Rows::kAreMade) {
            const int chunk = (own * kWarps + warp) * 8 + half * 4 + q;
            if (row < rows && (k % (kWarps * 64) == 0 || chunk < k / 8)) x = made[chunk];
          } else {
            if (row < rows) x = here[place_of(kColumns + row, half * 4 + q)];
          }
          multiply_tiles<Format>(sum[tile], low.x, high.x, low.y, high.y, x.x, x.y);
          multiply_tiles<Format>(sum[tile], low.z, high.z, low.w, high.w, x.z, x.w);
        }
      }
      __syncwarp();
      if (kGoesOn || own + ahead < kOwn) {
        begin_rows(stage, next_column0, next_own, 0, kColumns);
        if constexpr (!Rows::kAreMade) begin_rows(stage, next_column0, next_own, kColumns, rows);
      }
      end_copies();
      stage = stage + 1 == ahead ? 0 : stage + 1;
      if (++next_own == kOwn) {
        next_own = 0;
        next_column0 += kFurther;
      }
    }

    if constexpr (!kGoesOn) __syncthreads();
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int row = tile * 8 + q * 2 + j % 2;
        if (row < rows) (*parts)[warp][row][g + j / 2 * 8] = sum[tile][j];
      }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < rows * kOfBand; i += 256) {
      const int row = i / kOfBand;
      const long column = column0 + i % kOfBand;
      if (column >= n) continue;
      float total[bands][1] = {};
#pragma unroll
      for (int s = 0; s < bands; ++s) {
#pragma unroll
        for (int p = 0; p < kWarps; ++p) {
          total[s][0] += (*parts)[p][row][s * kOfBand + i % kOfBand];
        }
      }
      put.template operator()<1>(row, column, total);
    }
    column0 += kFurther;
    auto* const these = parts;
    parts = other_parts;
    other_parts = these;
  } while (kGoesOn && column0 < n);
}

// Many rows: a block has a tile of the result, whose `depth` terms (a multiple of 64) come through
// shared memory, `stages` stages of 64 at a time. Of its two groups of four warps each has half of
// the tile's rows where there are 128, else half of its columns. The columns of a group are as many
// of each band.
//
// What such a product takes is mostly the way from the L2 cache to the multiprocessors. A tile of
// tile_rows x tile_columns reads (tile_rows + tile_columns) x depth terms, so tiles are as large as
// registers allow. Where they are few, the depth is split among the `parts` blocks of a cluster,
// which add up what they have through each other's shared memory.
//
// `width`: columns that `put` takes at once.
template <class Format, int bands, long run, int tile_rows, int tile_columns, long rows, long n,
          long k, long depth, int parts, int stages, int width, long a_pitch, long w_pitch,
          bool w_is_constant, class Put>
void multiply_tile(const char* a, const char* w, Put&& put) {
  constexpr bool kSplitsRows = tile_rows == 128;
  constexpr int kGroupColumns = kSplitsRows ? tile_columns : tile_columns / 2;
  constexpr int kOfBand = tile_columns / bands;        // of a tile
  constexpr int kGroupOfBand = kGroupColumns / bands;  // of a group
  constexpr int kAtOnce = kGroupColumns < 128 ? kGroupColumns : 128;  // columns of an instruction
  constexpr int kStage = (tile_columns + tile_rows) * 8;              // chunks
  constexpr int kLoads = kStage / 256;                                // of a thread
  constexpr int kWeightLoads = tile_columns * 8 / 256;
  constexpr int kAhead = stages - 2;  // stages on their way: two are being multiplied
  constexpr long kRowBlocks = (rows + tile_rows - 1) / tile_rows;
  const long part = blockIdx.x % parts;
  const long row0 = blockIdx.x / parts % kRowBlocks * tile_rows;
  const long column0 = blockIdx.x / (parts * kRowBlocks) * kOfBand;
  const long begin = part * depth;
  const long end = begin + depth < k ? begin + depth : k;
  uint4* const staged = dynamic_shared();
  const int own_row = static_cast<int>(threadIdx.x) / 8;
  const int own_chunk = threadIdx.x % 8;
  // A thread's first chunks are of the weight, the others of `a`. What is not there is 0.
  const auto begin_load = [&](int stage, int j, long base) {
    const long at = base + own_chunk * 8;
    const bool is_weight = j < kWeightLoads;
    const int in_tile = own_row + j * 32;
    const long column = column0 + in_tile / kGroupColumns * kGroupOfBand + in_tile % kGroupOfBand;
    const long row = row0 + own_row + (j - kWeightLoads) * 32;
    bool is_there = is_weight ? n % kOfBand == 0 || column < n
                              : rows % tile_rows == 0 || row < rows;
    if (k % 64 != 0) is_there &= at < end;
    const long weight =
        column_of<bands, n, run>(in_tile % kGroupColumns / kGroupOfBand, column);
    const char* const from = is_weight ? w + weight * w_pitch : a + row * a_pitch;
    begin_copy16(staged + stage * kStage + group_place(own_row + j * 32, own_chunk),
                 is_there ? from + at * 2 : w, is_there);
  };

  let_next_launch_begin();
  if (!w_is_constant) wait_for_launches_before();
#pragma unroll
  for (int s = 0; s < kAhead; ++s) {
    if (begin + s * 64 >= end) break;
#pragma unroll
    for (int j = 0; j < kWeightLoads; ++j) begin_load(s, j, begin + s * 64);
  }
  end_copies();
  if (w_is_constant) wait_for_launches_before();
#pragma unroll
  for (int s = 0; s < kAhead; ++s) {
    if (begin + s * 64 < end) {
#pragma unroll
      for (int j = kWeightLoads; j < kLoads; ++j) begin_load(s, j, begin + s * 64);
    }
    end_copies();
  }

  const int group = threadIdx.x / 128;
  const int first_row = kSplitsRows ? group * 64 : 0;
  const int first_column = kSplitsRows ? 0 : group * kGroupColumns;
  float sum[kGroupColumns / 8][4] = {};
  int stage = 0;
#pragma unroll 1
  for (long base = begin; base < end; base += 64) {
    wait_for_copies<kAhead - 1>();
    let_groups_read();
    __syncthreads();  // the stage is there for all, and all are done with the one before the last
    const uint4* const here = staged + stage * kStage;
    begin_groups();
#pragma unroll
    for (int step = 0; step < 4; ++step) {
#pragma unroll
      for (int column = 0; column < kGroupColumns; column += kAtOnce) {
        multiply_groups<Format, kAtOnce>(sum + column / 8,
                                         here + (tile_columns + first_row) * 8,
                                         here + (first_column + column) * 8, step * 2);
      }
    }
    end_groups();
    if (base + kAhead * 64 < end) {
      const int free = stage + kAhead < stages ? stage + kAhead : stage + kAhead - stages;
#pragma unroll
      for (int j = 0; j < kLoads; ++j) begin_load(free, j, base + kAhead * 64);
    }
    end_copies();
    wait_for_groups<1>();
    stage = stage + 1 == stages ? 0 : stage + 1;
  }
  wait_for_groups<0>();

  const int lane = threadIdx.x % 32;
  const int own_first = first_row + static_cast<int>(threadIdx.x) / 32 % 4 * 16 + lane / 4;
  const int own_column = lane % 4 * 2;
  if constexpr (parts == 1) {
    constexpr int kWidth = width < 2 ? width : 2;
    const long group_column = column0 + (kSplitsRows ? 0 : group * kGroupOfBand) + own_column;
#pragma unroll
    for (int c = 0; c < kGroupOfBand / 8; ++c) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const long row = row0 + own_first + half * 8;
        const long column = group_column + c * 8;
        if (row >= rows || column >= n) continue;
#pragma unroll
        for (int first = 0; first < 2; first += kWidth) {
          if (column + first >= n) continue;
          float some[bands][kWidth];
#pragma unroll
          for (int s = 0; s < bands; ++s) {
#pragma unroll
            for (int e = 0; e < kWidth; ++e) {
              some[s][e] = sum[s * (kGroupOfBand / 8) + c][half * 2 + first + e];
            }
          }
          put.template operator()<kWidth>(row, column + first, some);
        }
      }
    }
  } else {
    constexpr int kPitch = tile_columns + 8;
    auto* const own = reinterpret_cast<float*>(staged);
    __syncthreads();
#pragma unroll
    for (int c = 0; c < kGroupColumns / 8; ++c) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        *reinterpret_cast<float2*>(own + (own_first + half * 8) * kPitch + first_column +
                                   own_column + c * 8) = {sum[c][half * 2],
                                                          sum[c][half * 2 + 1]};
      }
    }
    wait_for_cluster();
    constexpr int kFours = kOfBand / 4;
    for (int i = static_cast<int>(part) * 256 + static_cast<int>(threadIdx.x);
         i < tile_rows * kFours; i += parts * 256) {
      const int row = i / kFours;
      const int column = i % kFours * 4;
      const int in_tile = column / kGroupOfBand * kGroupColumns + column % kGroupOfBand;
      float total[bands][4] = {};
#pragma unroll
      for (int s = 0; s < bands; ++s) {
#pragma unroll
        for (int p = 0; p < parts; ++p) {
          const float4 more =
              load_of_block(own + row * kPitch + s * kGroupOfBand + in_tile, p);
          total[s][0] += more.x;
          total[s][1] += more.y;
          total[s][2] += more.z;
          total[s][3] += more.w;
        }
      }
      if (row0 + row >= rows || column0 + column >= n) continue;
#pragma unroll
      for (int first = 0; first < 4; first += width) {
        if (column0 + column + first >= n) continue;
        float some[bands][width];
#pragma unroll
        for (int s = 0; s < bands; ++s) {
#pragma unroll
          for (int e = 0; e < width; ++e) some[s][e] = total[s][first + e];
        }
        put.template operator()<width>(row0 + row, column0 + column + first, some);
      }
    }
    wait_for_cluster();  // nobody ends whose sums are read
  }
}

}  // namespace graphgate::optimized::device
