#include "optimized/device/fast_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "optimized/device/spelling.h"
#include "optimized/loop.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

constexpr std::int64_t kMostRows = 32;                  // of a product without tiles
constexpr std::int64_t kMostHeads = 8;                  // that share keys
constexpr std::int64_t kSharedFloats = 12 * 1024 - 64;  // of a block, but for some
constexpr std::int64_t kFloatsOnTheirWay = 6 * 256 * 4;
constexpr std::int64_t kMultiprocessors = 132;     // of a large GPU
constexpr std::int64_t kSharedBytes = 216 * 1024;  // of one of them, for all its blocks
constexpr std::int64_t kWantedBlocks = 2 * kMultiprocessors;
constexpr std::int64_t kLeastChunk = 64;  // keys of a block
constexpr std::int64_t kMostChunks = 32;

std::string text_of(std::int64_t number) { return std::to_string(number); }

bool is_half(DType dtype) { return dtype == DType::kBFloat16 || dtype == DType::kFloat16; }

// Whether rows along the last dimension can be read 16 bytes at a time.
bool has_wide_rows(const Tensor& tensor) {
  constexpr std::int64_t kItems = 8;
  if (tensor.rank() == 0 || tensor.strides.back() != 1 || tensor.sizes.back() % kItems != 0) {
    return false;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.data());  // NOLINT: its alignment
  if (address % 16 != 0) return false;
  for (std::size_t d = 0; d + 1 < tensor.sizes.size(); ++d) {
    const std::int64_t stride = tensor.strides[d];
    if (tensor.sizes[d] != 1 && (stride <= 0 || stride % kItems != 0)) return false;
  }
  return true;
}

std::int64_t pitch_of(const Tensor& tensor, std::int64_t dim) {
  return tensor.strides[static_cast<std::size_t>(dim)] * tensor.item_bytes();
}

// The numbers of a product that the templates of fast.cuh take.
struct ProductShape {
  std::int64_t rows, columns, depth;
  std::string pitches;      // of a, of the weight
  std::string is_constant;  // the weight
};

std::string what_of(const ProductShape& s) {
  return "product " + text_of(s.rows) + " x " + text_of(s.depth) + " x " + text_of(s.columns);
}

// Slices of 64 terms that a warp of multiply_few_rows has in shared memory, and what that takes.
struct Ring {
  std::int64_t slices, bytes;
};

Ring ring_of(const ProductShape& s, std::int64_t blocks) {
  constexpr std::int64_t kWarps = 8;
  const std::int64_t slice = (16 + s.rows) * 128 * kWarps;
  const std::int64_t most = slice > kSharedBytes / 9 ? 2 : 3;  // blocks at a time
  const std::int64_t at_once =
      std::clamp<std::int64_t>((blocks + kMultiprocessors - 1) / kMultiprocessors, 1, most);
  const std::int64_t own = (s.depth + kWarps * 64 - 1) / (kWarps * 64);
  const std::int64_t slices = std::clamp<std::int64_t>(kSharedBytes / at_once / slice, 1, own);
  const std::int64_t sums = kWarps * ((s.rows + 7) / 8 * 8) * 17 * 4;
  return {slices, std::max(slices * slice, sums)};
}

TextWork few_rows_text(const Product& p, const ProductShape& s) {
  TextWork out;
  out.waits_itself = true;
  out.what = what_of(s);
  const std::int64_t blocks = (s.columns + 15) / 16;
  const Ring ring = ring_of(s, blocks);
  out.threads = blocks * 256;
  out.shared_bytes = ring.bytes;
  out.pointers = {p.result.data(), p.a.data(), p.b.data()};
  out.statements = "  device::multiply_few_rows<" + format_name(p.a.dtype) + ", " +
                   text_of(s.rows) + ", " + text_of(s.columns) + ", " + text_of(s.depth) + ", " +
                   text_of(ring.slices) + ", " + s.pitches + ", " + text_of(pitch_of(p.result, 0)) +
                   ", " + s.is_constant + ">(p0, p1, p2);\n";
  return out;
}

DeviceWorks many_rows_works(const Product& p, const ProductShape& s) {
  constexpr std::int64_t kTileColumns = 128;
  constexpr std::int64_t kStages = 3;
  constexpr std::int64_t kStep = 64;       // terms in shared memory at a time
  constexpr std::int64_t kLeastSteps = 4;  // of a block
  const std::int64_t tile_rows = s.rows <= 64 ? 64 : 128;
  const std::int64_t tiles =
      (s.rows + tile_rows - 1) / tile_rows * ((s.columns + kTileColumns - 1) / kTileColumns);
  const std::int64_t steps = (s.depth + kStep - 1) / kStep;
  std::int64_t parts = std::clamp<std::int64_t>(kMultiprocessors / tiles, 1,
                                                std::max(steps / kLeastSteps, std::int64_t{1}));
  const auto depth_of = [&] { return (steps + parts - 1) / parts * kStep; };
  parts = (s.depth + depth_of() - 1) / depth_of();
  std::byte* scratch = nullptr;
  if (parts > 1) {
    scratch = DeviceListener::reserve(parts * s.rows * s.columns *
                                      static_cast<std::int64_t>(sizeof(float)));
    if (scratch == nullptr) parts = 1;
  }
  const std::string store = "device::store<" + format_name(p.result.dtype) + ">(p0 + row * " +
                            text_of(pitch_of(p.result, 0)) + " + column * 2, ";
  const std::string all = text_of(s.rows * s.columns);
  TextWork product;
  product.waits_itself = true;
  product.what = what_of(s);
  if (parts > 1) product.what += " in " + text_of(parts);
  product.threads = tiles * parts * 256;
  product.shared_bytes = kStages * (kTileColumns + tile_rows) * 128;
  product.pointers = {parts > 1 ? scratch : p.result.data(), p.a.data(), p.b.data()};
  product.statements = "  device::multiply_tile<" + format_name(p.a.dtype) + ", " +
                       text_of(tile_rows) + ", " + text_of(s.rows) + ", " + text_of(s.columns) +
                       ", " + text_of(s.depth) + ", " + text_of(depth_of()) + ", " +
                       text_of(kStages) + ", " + s.pitches + ", " + s.is_constant +
                       ">(p1, p2, [&](long row, long column, long part, float sum) {\n    " +
                       (parts > 1 ? "reinterpret_cast<float*>(p0)[part * " + all + " + row * " +
                                        text_of(s.columns) + " + column] = sum;\n"
                                  : store + "sum);\n    (void)part;\n") +
                       "  });\n";
  if (parts == 1) return {product};
  TextWork sum;
  sum.what = "parts added up";
  sum.threads = s.rows * s.columns;
  sum.pointers = {p.result.data(), scratch};
  sum.statements =
      "  if (thread >= " + all + ") return;\n  const long row = thread / " + text_of(s.columns) +
      ";\n  const long column = thread % " + text_of(s.columns) +
      ";\n  const float* const parts = reinterpret_cast<const float*>(p1) + thread;\n" +
      "  float sum = 0;\n#pragma unroll\n  for (int part = 0; part < " + text_of(parts) +
      "; ++part) sum += parts[part * " + all + "];\n  " + store + "sum);\n";
  return {product, sum};
}

}  // namespace

std::optional<DeviceWorks> fast_product_works(const Product& p) {
  const DType dtype = p.a.dtype;
  const bool is_plain = p.result.rank() == 2 && !p.added && number_as<double>(p.alpha) == 1 &&
                        is_half(dtype) && p.b.dtype == dtype && p.result.dtype == dtype &&
                        p.rounds_to == dtype;
  if (!is_plain || p.result.strides.back() != 1) return {};
  const Tensor weight = swapped(p.b, 0, 1);
  if (!has_wide_rows(p.a) || !has_wide_rows(weight)) return {};
  const ProductShape shape = {p.result.size(0), p.result.size(1), p.a.size(1),
                              text_of(pitch_of(p.a, 0)) + ", " + text_of(pitch_of(weight, 0)),
                              DeviceListener::is_constant(p.b) ? "true" : "false"};
  if (shape.rows <= kMostRows) return DeviceWorks{few_rows_text(p, shape)};
  return many_rows_works(p, shape);
}

namespace {

// One query row of [batch, heads, 1, depth] against [batch, groups, keys, depth].
struct OneRow {
  std::int64_t batch, groups, heads, keys, depth;  // heads: of a group
  std::int64_t chunk, chunks;
};

std::optional<OneRow> one_row_of(const AttentionWork& work) {
  const DType dtype = work.query.dtype;
  if (work.is_causal || !is_half(dtype) || work.query.rank() != 4 || work.key.rank() != 4 ||
      work.value.rank() != 4 || work.query.size(2) != 1) {
    return {};
  }
  OneRow s{work.query.size(0), work.key.size(1), 0, work.key.size(2), work.query.size(3), 0, 0};
  if (s.groups == 0 || work.query.size(1) % s.groups != 0 || s.keys == 0) return {};
  s.heads = work.query.size(1) / s.groups;
  constexpr std::array<std::int64_t, 6> kDepths = {8, 16, 32, 64, 128, 256};
  const bool is_known = std::find(kDepths.begin(), kDepths.end(), s.depth) != kDepths.end();
  const bool fits = work.key.size(0) == s.batch && work.value.sizes == work.key.sizes &&
                    work.key.size(3) == s.depth && work.key.dtype == dtype &&
                    work.value.dtype == dtype && work.result.dtype == dtype;
  if (!is_known || !fits || s.heads > kMostHeads || s.heads * s.depth > 1024 ||
      !has_wide_rows(work.query) || !has_wide_rows(work.key) || !has_wide_rows(work.value)) {
    return {};
  }
  // Chunks are whole steps of a block (fast.cuh), enough of them to fill a large GPU.
  const std::int64_t step = std::int64_t{8} * 32 / (s.depth / 8);
  const std::int64_t wanted = std::clamp<std::int64_t>(
      (kWantedBlocks + s.batch * s.groups - 1) / (s.batch * s.groups), 1, kMostChunks);
  const auto in_steps = [step](std::int64_t keys) { return (keys + step - 1) / step * step; };
  s.chunk = in_steps(std::max(kLeastChunk, (s.keys + wanted - 1) / wanted));
  // Its scores share memory with keys that are on their way, then what the warps have found
  // (fast.cuh).
  const std::int64_t scores =
      kSharedFloats - std::max<std::int64_t>(kFloatsOnTheirWay, 8 * s.heads * s.depth);
  s.chunk = std::min(s.chunk, scores / s.heads / step * step);
  s.chunks = (s.keys + s.chunk - 1) / s.chunk;
  if (s.chunk == 0 || s.chunks > kMostChunks) return {};
  return s;
}

// "[&](int head, int key, float score) -> float {...}": a score with the mask on it.
std::string mask_text(const AttentionWork& work, const OneRow& s, TextWork& out) {
  std::string text = "[&](int head, int key, float score) -> float {\n";
  if (work.mask != nullptr) {
    const Tensor& mask = *work.mask;  // [batch, heads, 1, keys]
    out.pointers.push_back(mask.data());
    const std::string at = "p" + std::to_string(out.pointers.size() - 1) + " + batch * " +
                           text_of(pitch_of(mask, 0)) + " + (group * " + text_of(s.heads) +
                           " + head) * " + text_of(pitch_of(mask, 1)) + " + (first + key) * " +
                           text_of(pitch_of(mask, 3));
    const DType c = mask.dtype == DType::kBool ? DType::kInt64 : DType::kFloat32;
    const std::string more = load_text(mask.dtype, mask.dtype, c, at);
    text += mask.dtype == DType::kBool
                ? "    if (" + more + " == 0) return -std::numeric_limits<float>::infinity();\n"
                : "    score += " + more + ";\n";
  }
  return text + "    return score;\n  }";
}

TextWork chunk_text(const AttentionWork& work, const OneRow& s, std::byte* scratch) {
  const std::string format = format_name(work.query.dtype);
  const std::string pitch = text_of(s.depth + 2);
  TextWork out;
  out.what = "attention, " + text_of(s.chunks) + " chunks of " + text_of(s.chunk);
  out.threads = s.batch * s.groups * s.chunks * 256;
  out.pointers = {scratch == nullptr ? work.result.data() : scratch, work.query.data(),
                  work.key.data(), work.value.data()};
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
          ", " + text_of(s.chunk) + ">(\n      p1 + batch * " + text_of(pitch_of(work.query, 0)) +
          " + group * " + text_of(s.heads * pitch_of(work.query, 1)) + ",\n";
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

std::optional<DeviceWorks> one_row_attention_works(const AttentionWork& work) {
  const auto shape = one_row_of(work);
  if (!shape) return {};
  const OneRow& s = *shape;
  if (s.chunks == 1) return DeviceWorks{chunk_text(work, s, nullptr)};
  std::byte* const scratch =
      DeviceListener::reserve(s.batch * s.groups * s.heads * s.chunks * (s.depth + 2) *
                              static_cast<std::int64_t>(sizeof(float)));
  if (scratch == nullptr) return {};
  return DeviceWorks{chunk_text(work, s, scratch), joining_text(work, s, scratch)};
}

}  // namespace graphgate::optimized
