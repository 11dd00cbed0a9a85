#include <algorithm>
#include <array>
#include <cstdio>

#include "optimized/codegen/fast_text.h"
#include "optimized/codegen/large_gpu.h"
#include "optimized/codegen/spelling.h"
#include "optimized/codegen/touched.h"
#include "optimized/codegen/wide_rows.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

constexpr std::int64_t kMostHeads = 8;  // that share keys
constexpr std::int64_t kMostDepth = 256;
constexpr std::int64_t kAtOnce = 2;       // blocks of a multiprocessor
constexpr std::int64_t kLeastChunk = 64;  // keys of a block
constexpr std::int64_t kMostChunks = 32;
constexpr std::int64_t kMostOfCluster = 8;  // chunks, in shared memory of their own
constexpr std::int64_t kLongChunk = 1024;   // from here on more blocks are worth a second kernel
constexpr std::int64_t kMostWarps = 8;
constexpr std::int64_t kTileKeys = 16;

// One query row of [batch, heads, 1, depth] against [batch, groups, keys, depth].
struct OneRow {
  std::int64_t batch, groups, heads, keys, depth;  // heads: of a group
  std::int64_t chunk, chunks;
  // Whether the blocks of a row are a cluster, which joins what its chunks have found.
  [[nodiscard]] bool is_cluster() const { return chunks <= kMostOfCluster; }
};

// What chunks leave for the kernel that joins them.
std::int64_t scratch_bytes(const OneRow& s) {
  return s.batch * s.groups * s.heads * s.chunks * (s.depth + 2) *
         static_cast<std::int64_t>(sizeof(float));
}

std::optional<OneRow> one_row_of(const AttentionWork& work) {
  const DType dtype = work.query.dtype;
  if (work.is_causal || !is_half(dtype) || work.query.rank() != 4 || work.key.rank() != 4 ||
      work.value.rank() != 4 || work.query.size(2) != 1) {
    return {};
  }
  OneRow s{work.query.size(0), work.key.size(1), 0, work.key.size(2), work.query.size(3), 0, 0};
  if (s.groups == 0 || work.query.size(1) % s.groups != 0 || s.keys == 0) return {};
  s.heads = work.query.size(1) / s.groups;
  const bool fits = work.key.size(0) == s.batch && work.value.sizes == work.key.sizes &&
                    work.key.size(3) == s.depth && work.key.dtype == dtype &&
                    work.value.dtype == dtype && work.result.dtype == dtype;
  if (!fits || s.heads > kMostHeads || s.depth > kMostDepth || !has_wide_rows(work.query) ||
      !has_wide_rows(work.key) || !has_wide_rows(work.value)) {
    return {};
  }
  // Enough chunks to fill a large GPU, of whole tiles, in clusters that it runs all at once.
  const std::int64_t rows = s.batch * s.groups;
  std::int64_t wanted = std::clamp<std::int64_t>(
      (kAtOnce * kMultiprocessors + rows - 1) / rows, 1,
      s.keys <= kMostOfCluster * kLongChunk ? kMostOfCluster : kMostChunks);
  while (wanted > 1 && wanted <= kMostOfCluster && rows > kAtOnce * clusters_at_once(wanted)) {
    --wanted;
  }
  const std::int64_t least = std::max(kLeastChunk, (s.keys + wanted - 1) / wanted);
  s.chunk = (least + kTileKeys - 1) / kTileKeys * kTileKeys;
  s.chunks = (s.keys + s.chunk - 1) / s.chunk;
  return s;
}

// Tiles of 16 keys, or of their values, that a warp has in shared memory; what that takes of a
// block; and how many blocks a multiprocessor is to have registers for.
struct RowRing {
  std::int64_t tiles, bytes;
  int blocks_at_once;
};

RowRing one_row_ring(const AttentionWork& work, const OneRow& s) {
  const std::int64_t warps = std::min(kMostWarps, s.chunk / kTileKeys);
  const std::int64_t row = ((s.depth + 15) / 16 * 2 + 1) * 16;  // padded, in bytes
  const std::int64_t tile = kTileKeys * row * warps;
  // A mask of numbers waits in registers, too.
  const bool has_numbers = work.mask != nullptr && work.mask->dtype != DType::kBool;
  const int most = s.depth > 128 ? 1 : s.depth > 64 || has_numbers ? 2 : 3;
  const std::int64_t blocks = s.batch * s.groups * s.chunks;
  const std::int64_t at_once =
      std::clamp<std::int64_t>((blocks + kMultiprocessors - 1) / kMultiprocessors, 1, most);
  const std::int64_t all = (s.chunk / kTileKeys + warps - 1) / warps * 2;
  const std::int64_t tiles = std::clamp<std::int64_t>(kSharedBytes / at_once / tile, 1, all);
  const std::int64_t joined = s.is_cluster() && s.chunks > 1
                                  ? s.heads * ((s.depth + 15) / 16 * 16 + 4) * 4
                                  : 0;  // floats of the block
  return {tiles, tiles * tile + joined, most};
}

// What the mask has for a head and a key, and how it is put on a score: attend_chunk's `mask` and
// `masked`.
std::string mask_text(const AttentionWork& work, const OneRow& s, TextWork& out) {
  if (work.mask == nullptr) {
    return "[](int, int) { return 0.0f; },\n      [](float, float score) { return score; }";
  }
  const Tensor& mask = *work.mask;  // [batch, heads, 1, keys]
  out.pointers.push_back(mask.data());
  out.accesses.push_back({mask, false});
  const std::string at = "p" + std::to_string(out.pointers.size() - 1) + " + batch * " +
                         text_of(pitch_of(mask, 0)) + " + (group * " + text_of(s.heads) +
                         " + head) * " + text_of(pitch_of(mask, 1)) + " + (first + key) * " +
                         text_of(pitch_of(mask, 3));
  const bool is_bool = mask.dtype == DType::kBool;
  const std::string more =
      load_text(mask.dtype, mask.dtype, is_bool ? DType::kInt64 : DType::kFloat32, at);
  return "[&](int head, int key) -> float { return " + more + (is_bool ? " != 0" : "") +
         "; },\n      [](float term, float score) { return " +
         (is_bool ? "term == 0 ? -std::numeric_limits<float>::infinity() : score"
                  : "score + term") +
         "; }";
}

TextWork chunk_text(const AttentionWork& work, const OneRow& s, std::byte* scratch) {
  const std::string format = format_name(work.query.dtype);
  const std::string pitch = text_of(s.depth + 2);
  TextWork out{.threads = s.batch * s.groups * s.chunks * 256,
               .what = "attention, " + text_of(s.chunks) + " chunks of " + text_of(s.chunk)};
  const RowRing ring = one_row_ring(work, s);
  out.shared_bytes = ring.bytes;
  out.blocks_at_once = ring.blocks_at_once;
  out.cluster = s.is_cluster() ? s.chunks : 1;
  out.pointers = {scratch == nullptr ? work.result.data() : scratch, work.query.data(),
                  work.key.data(), work.value.data()};
  out.accesses = {
      {scratch == nullptr ? work.result : tensor_of_bytes(scratch, scratch_bytes(s)), true},
      {work.query, false},
      {work.key, false},
      {work.value, false}};
  std::array<char, 32> scale{};
  (void)std::snprintf(scale.data(), scale.size(), "%a", static_cast<float>(work.scale));
  std::string& text = out.statements;
  text = "  const long chunk = blockIdx.x % " + text_of(s.chunks) +
         ";\n  const long group = blockIdx.x / " + text_of(s.chunks) + " % " + text_of(s.groups) +
         ";\n  const long batch = blockIdx.x / " + text_of(s.chunks * s.groups) +
         ";\n  const long first = chunk * " + text_of(s.chunk) +
         ";\n  const int keys = " + text_of(s.keys) + " - first < " + text_of(s.chunk) +
         " ? static_cast<int>(" + text_of(s.keys) + " - first) : " + text_of(s.chunk) + ";\n";
  text += "  device::attend_chunk<" + format + ", " + text_of(s.heads) + ", " + text_of(s.depth) +
          ", " + text_of(s.chunk) + ", " + text_of(ring.tiles) + ", " + text_of(out.cluster) +
          ">(\n      p1 + batch * " + text_of(pitch_of(work.query, 0)) + " + group * " +
          text_of(s.heads * pitch_of(work.query, 1)) + ",\n";
  const auto rows = [&](const char* pointer, const Tensor& tensor) {
    text += "      " + std::string(pointer) + " + batch * " + text_of(pitch_of(tensor, 0)) +
            " + group * " + text_of(pitch_of(tensor, 1)) + " + first * " +
            text_of(pitch_of(tensor, 2)) + ",\n";
  };
  rows("p2", work.key);
  rows("p3", work.value);
  text += "      {" + text_of(pitch_of(work.query, 1)) + ", " + text_of(pitch_of(work.key, 2)) +
          ", " + text_of(pitch_of(work.value, 2)) + "}, keys, " + scale.data() + "f,\n      " +
          mask_text(work, s, out) +
          ",\n      [&](int head, int i, float value, float top, float sum) {\n";
  if (scratch == nullptr) {
    text += "    const bool is_empty = top == -std::numeric_limits<float>::infinity();\n";
    text += "    device::store<" + format + ">(p0 + batch * " + text_of(pitch_of(work.result, 0)) +
            " + (group * " + text_of(s.heads) + " + head) * " + text_of(pitch_of(work.result, 1)) +
            " + i * " + text_of(pitch_of(work.result, 3)) + ", is_empty ? value : value / sum);\n";
  } else {
    text += "    float* const part = reinterpret_cast<float*>(p0) + (((batch * " +
            text_of(s.groups) + " + group) * " + text_of(s.heads) + " + head) * " +
            text_of(s.chunks) + " + chunk) * " + pitch + ";\n    part[i] = value;\n" +
            "    if (i == 0) {\n      part[" + text_of(s.depth) + "] = top;\n      part[" +
            text_of(s.depth + 1) + "] = sum;\n    }\n";
  }
  text += "  });\n";
  return out;
}

TextWork joining_text(const AttentionWork& work, const OneRow& s, std::byte* scratch) {
  TextWork out;
  const std::int64_t count = s.batch * s.groups * s.heads * s.depth;
  out.what = "attention, chunks joined";
  out.threads = count;
  out.pointers = {work.result.data(), scratch};
  out.accesses = {{work.result, true}, {tensor_of_bytes(scratch, scratch_bytes(s)), false}};
  out.shares_launches = true;
  const std::int64_t pitch = s.depth + 2;
  const Sizes sizes = {s.batch, s.groups * s.heads, s.depth};
  const Sizes strides = {pitch_of(work.result, 0), pitch_of(work.result, 1),
                         pitch_of(work.result, 3)};
  out.statements =
      "  if (thread >= " + text_of(count) + ") return;\n" + coordinates_text(sizes, "thread", "o") +
      "  const float* const parts = reinterpret_cast<const float*>(p1) + thread / " +
      text_of(s.depth) + " * " + text_of(s.chunks * pitch) + ";\n  device::store<" +
      format_name(work.result.dtype) + ">(p0 + " + offset_text(strides, "o") +
      ", device::joined_chunks<" + text_of(s.chunks) + ">(parts, " + text_of(pitch) + ", " +
      text_of(s.depth) + ", static_cast<int>(thread % " + text_of(s.depth) + ")));\n";
  return out;
}

}  // namespace

std::optional<DeviceWorks> one_row_attention_works(const DeviceListener& listener,
                                                   const AttentionWork& work) {
  const auto shape = one_row_of(work);
  if (!shape) return {};
  const OneRow& s = *shape;
  if (s.is_cluster()) return DeviceWorks{chunk_text(work, s, nullptr)};
  std::byte* const scratch = listener.reserve(scratch_bytes(s));
  if (scratch == nullptr) return {};
  return DeviceWorks{chunk_text(work, s, scratch), joining_text(work, s, scratch)};
}

}  // namespace graphgate::optimized
