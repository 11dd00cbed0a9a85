// Attention of fast arithmetic, of one query row per head.
#pragma once

#include "optimized/codegen/text/ptx.cuh"

namespace graphgate::optimized::device {

// Pitches in bytes: of a query's head, of a row of keys, of a row of values.
struct AttentionPitches {
  long query_head, key_row, value_row;
};

// Attention of one query row for each of up to 8 heads that share keys and values: a block takes
// `chunk` keys, a multiple of 16, of which `keys` are there. `depth` numbers are in a row of
// queries, keys and values, a multiple of 8. put(head, i, value, top, sum): element i of a head's
// weighed sum, not yet divided by `sum`, the sum of exponentials against `top`, its greatest score.
// mask(head, key) is asked early, and masked(term, score) puts it on a score.
//
// Tensor cores take tiles of 16 keys, the rows of keys and of turned values, by 8 columns, one for
// each head; columns of no head are 0.
//
//   scores [16 keys, heads] = keys [16 keys, depth]  queries [depth, heads]
//   sums   [depth, heads]  += values [depth, 16 keys]  exponentials [16 keys, heads]
//
// Each warp takes every eighth 16 keys, brings them through a ring of `ahead` tiles of its own
// (one_row_ring of fast_attention_text.cpp), and waits for nobody. It goes in rounds of up to
// four such steps, so that the greatest score changes rarely: keys of a round, then its values.
// What the warps have found is joined at the end, and then what the `ranks` blocks of a cluster
// have. Each of these has a part of the keys and puts a part of the sums.
//
// In lane 4 g + q, scores and sums are of heads 2 q and 2 q + 1. An exponential is two 16-bit
// numbers, the first cut off and less than it, so that both are above 0 and an infinite value
// stays what it is.
template <class Format, int heads, int depth, int chunk, int ahead, int ranks, class Mask,
          class Masked, class Put>
void attend_chunk(const char* query, const char* key, const char* value, AttentionPitches pitch,
                  int keys, float scale, Mask&& mask, Masked&& masked, Put&& put) {
  constexpr bool kIsBF16 = std::is_same_v<Format, BF16>;
  constexpr std::uint32_t kFirstBits = kIsBF16 ? 0xffff0000u : 0xffffe000u;
  constexpr float kUnit = kIsBF16 ? 1.0f : 32768.0f;  // of exponentials: F16 has few exponents
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  constexpr int kWarps = chunk < 128 ? chunk / 16 : 8;  // that take keys
  constexpr int kSteps = (chunk + 127) / 128;           // of a warp
  constexpr int kRound = kSteps < 3 ? kSteps : 4;
  constexpr int kTiles = (depth + 15) / 16;
  // Rows of a tile in 16 bytes: an odd number, so that eight rows meet no bank twice.
  constexpr int kRow = kTiles * 2 + 1;
  constexpr int kTile = 16 * kRow;
  // What a warp has found of a head, in floats: sums, the greatest score, the sum of exponentials.
  // Eight heads of that fit into a tile, and no bank is met twice.
  constexpr int kPart = kTiles * 16 + 4;
  constexpr int kTop = kTiles * 16;
  constexpr int kSum = kTop + 1;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int g = lane / 4;
  const int q = lane % 4;
  uint4* const ring = dynamic_shared() + warp * (ahead * kTile);

  if (warp < kWarps) {
    const int own = keys > warp * 16 ? (keys - warp * 16 + 127) / 128 : 0;  // steps
    // Tile i of the warp: kRound of keys, then as many of values, and so on.
    const auto begin = [&](int i, int slot) {
      const int step = i / (2 * kRound) * kRound + i % kRound;
      const bool is_value = i % (2 * kRound) >= kRound;
      if (step < own) {
        const char* const rows = is_value ? value : key;
        const long row_pitch = is_value ? pitch.value_row : pitch.key_row;
#pragma unroll
        for (int j = 0; j < kTiles; ++j) {
          const int row = (j * 32 + lane) / (kTiles * 2);
          const int piece = (j * 32 + lane) % (kTiles * 2);
          const int at = step * 128 + warp * 16 + row;
          const bool is_there = at < keys && (depth % 16 == 0 || piece < depth / 8);
          begin_copy16(ring + slot * kTile + row * kRow + piece, rows + at * row_pitch + piece * 16,
                       is_there);
        }
      }
      end_copies();
    };
#pragma unroll
    for (int i = 0; i < ahead; ++i) begin(i, i);

    std::uint32_t x[kTiles][2];  // of the query of head g
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int first = t * 16 + half * 8;
        x[t][half] = 0;
        if (g < heads && first < depth) {
          x[t][half] = *reinterpret_cast<const std::uint32_t*>(query + g * pitch.query_head +
                                                               (first + q * 2) * 2);
        }
      }
    }
    // Where the lane finds its row of a tile (load_tiles): of keys, rows and then pieces; of
    // values, which are turned, pieces and then rows.
    const uint4* const key_row = ring + lane % 16 * kRow + lane / 16;
    const uint4* const value_row = ring + (lane % 8 + lane / 16 * 8) * kRow + lane / 8 % 2;
    float top[2] = {kNone, kNone};
    float sum[2] = {};
    float acc[kTiles][4] = {};
    int slot = 0;
    // Waits for tile i, gives it to `use`, and lets the one after next into its place.
    const auto take = [&](int i, bool is_there, auto&& use) {
      if (is_there) {
        wait_for_copies<ahead - 1>();
        __syncwarp();
        use(slot * kTile);
        __syncwarp();
      }
      begin(i + ahead, slot);
      slot = slot + 1 == ahead ? 0 : slot + 1;
    };

#pragma unroll 1
    for (int round = 0; round * kRound < own; ++round) {
      // Number e of a lane is of key g + e / 2 * 8 of its step, and head 2 q + e % 2.
      const auto key_of = [&](int j, int e) {
        return (round * kRound + j) * 128 + warp * 16 + g + e / 2 * 8;
      };
      float terms[kRound][4];
      float scores[kRound][4] = {};
#pragma unroll
      for (int j = 0; j < kRound; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          // Without a branch: what is not there has the term of one that is.
          const int head = q * 2 + e % 2;
          const int at = key_of(j, e);
          terms[j][e] = mask(head < heads ? head : heads - 1, at < keys ? at : keys - 1);
        }
      }
#pragma unroll
      for (int j = 0; j < kRound; ++j) {
        take(round * 2 * kRound + j, round * kRound + j < own, [&](int at) {
#pragma unroll
          for (int t = 0; t < kTiles; ++t) {
            std::uint32_t a[4];
            load_tiles(a, key_row + at + t * 2);
            multiply_tiles<Format>(scores[j], a[0], a[1], a[2], a[3], x[t][0], x[t][1]);
          }
        });
      }

      float base[2] = {top[0], top[1]};
#pragma unroll
      for (int j = 0; j < kRound; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const bool is_there = (heads == 8 || q * 2 + e % 2 < heads) && key_of(j, e) < keys;
          scores[j][e] = is_there ? masked(terms[j][e], scores[j][e] * scale) : kNone;
          base[e % 2] = fmaxf(base[e % 2], scores[j][e]);
        }
      }
      float factor[2];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
#pragma unroll
        for (int width = 4; width < 32; width *= 2) {
          base[h] = fmaxf(base[h], __shfl_xor_sync(internal::kWarp, base[h], width));
        }
        const float before = top[h];
        top[h] = base[h];
        if (base[h] == kNone) base[h] = 0;
        factor[h] = exp_nearly(before - base[h]);
        sum[h] *= factor[h];
      }
#pragma unroll
      for (int t = 0; t < kTiles; ++t) {
#pragma unroll
        for (int e = 0; e < 4; ++e) acc[t][e] *= factor[e % 2];
      }
      std::uint32_t weights[kRound][4];
#pragma unroll
      for (int j = 0; j < kRound; ++j) {
        float first[4];
        float rest[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const float weight = exp_nearly(scores[j][e] - base[e % 2]) * kUnit;
          sum[e % 2] += weight;
          first[e] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(weight * (1 - 0x1p-24f)) &
                                          kFirstBits);
          rest[e] = weight - first[e];
        }
        weights[j][0] = turned_tile(packed2<Format>(first[0], first[1]));
        weights[j][1] = turned_tile(packed2<Format>(first[2], first[3]));
        weights[j][2] = turned_tile(packed2<Format>(rest[0], rest[1]));
        weights[j][3] = turned_tile(packed2<Format>(rest[2], rest[3]));
      }
#pragma unroll
      for (int j = 0; j < kRound; ++j) {
        take((round * 2 + 1) * kRound + j, round * kRound + j < own, [&](int at) {
#pragma unroll
          for (int t = 0; t < kTiles; ++t) {
            std::uint32_t a[4];
            load_turned_tiles(a, value_row + at + t * 2);
            const auto& w = weights[j];
            multiply_tiles<Format>(acc[t], a[0], a[1], a[2], a[3], w[0], w[1]);
            multiply_tiles<Format>(acc[t], a[0], a[1], a[2], a[3], w[2], w[3]);
          }
        });
      }
    }

#pragma unroll
    for (int width = 4; width < 32; width *= 2) {
#pragma unroll
      for (float& each : sum) each += __shfl_xor_sync(internal::kWarp, each, width);
    }
    auto* const part = reinterpret_cast<float*>(ring);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int head = q * 2 + h;
      if (head >= heads) continue;
#pragma unroll
      for (int t = 0; t < kTiles; ++t) {
        part[head * kPart + t * 16 + g] = acc[t][h];
        part[head * kPart + t * 16 + g + 8] = acc[t][h + 2];
      }
      if (g == 0) {
        part[head * kPart + kTop] = top[h];
        part[head * kPart + kSum] = sum[h];
      }
    }
  }
  __syncthreads();
  const auto* const parts = reinterpret_cast<const float*>(dynamic_shared());
  auto* const block = reinterpret_cast<float*>(dynamic_shared() + kWarps * ahead * kTile);
  for (int j = threadIdx.x; j < heads * depth; j += 256) {
    const int i = j % depth;
    const float* const found = parts + j / depth * kPart;
    constexpr int kNext = ahead * kTile * 4;  // from warp to warp
    float top = kNone;
#pragma unroll
    for (int p = 0; p < kWarps; ++p) top = fmaxf(top, found[p * kNext + kTop]);
    const float base = top == kNone ? 0 : top;
    float sum = 0;
    float total = 0;
#pragma unroll
    for (int p = 0; p < kWarps; ++p) {
      const float factor = exp_nearly(found[p * kNext + kTop] - base);
      sum += found[p * kNext + kSum] * factor;
      total += found[p * kNext + i] * factor;
    }
    if constexpr (ranks == 1) {
      put(j / depth, i, total, top, sum);
    } else {
      float* const own = block + j / depth * kPart;
      own[i] = total;
      if (i == 0) {
        own[kTop] = top;
        own[kSum] = sum;
      }
    }
  }
  if constexpr (ranks > 1) {
    wait_for_cluster();
    const int rank = static_cast<int>(blockIdx.x % ranks);
    for (int j = rank * 256 + static_cast<int>(threadIdx.x); j < heads * depth / 4;
         j += ranks * 256) {
      const int head = j * 4 / depth;
      const int i = j * 4 % depth;
      float4 found[ranks];
      float4 ends[ranks];
      float top = kNone;
#pragma unroll
      for (int r = 0; r < ranks; ++r) {
        found[r] = load_of_block(block + head * kPart + i, r);
        ends[r] = load_of_block(block + head * kPart + kTop, r);
      }
#pragma unroll
      for (int r = 0; r < ranks; ++r) top = fmaxf(top, ends[r].x);
      const float base = top == kNone ? 0 : top;
      float sum = 0;
      float total[4] = {};
#pragma unroll
      for (int r = 0; r < ranks; ++r) {
        const float factor = exp_nearly(ends[r].x - base);
        sum += ends[r].y * factor;
        total[0] += found[r].x * factor;
        total[1] += found[r].y * factor;
        total[2] += found[r].z * factor;
        total[3] += found[r].w * factor;
      }
#pragma unroll
      for (int e = 0; e < 4; ++e) put(head, i + e, total[e], top, sum);
    }
    wait_for_cluster();  // nobody ends whose sums are read
  }
}

// What several blocks have found of a row: [chunks][elements + 2], the weighed sums, then their
// greatest score and their sum of exponentials. In a row of nothing but -inf all weights are 0. A
// score that is no number is in the sums alone.
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
  float top = -std::numeric_limits<float>::infinity();
#pragma unroll
  for (int c = 0; c < chunks; ++c) top = fmaxf(top, tops[c]);
  const bool is_empty = top == -std::numeric_limits<float>::infinity();
  float sum = 0;
  float value = 0;
#pragma unroll
  for (int c = 0; c < chunks; ++c) {
    const float factor = is_empty ? 1.0f : exp_nearly(tops[c] - top);
    sum += sums[c] * factor;
    value += values[c] * factor;
  }
  return is_empty ? value : value / sum;
}

}  // namespace graphgate::optimized::device
