#include <algorithm>
#include <array>

#include "optimized/device/fast_text.h"
#include "optimized/device/large_gpu.h"
#include "optimized/device/spelling.h"
#include "optimized/device/touched.h"
#include "optimized/device/wide_rows.h"
#include "optimized/loop.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

constexpr std::int64_t kMostRows = 32;  // of a product without tiles

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
  out.accesses = {{p.result, true}, {p.a, false}, {p.b, false}};
  out.statements = "  device::multiply_few_rows<" + format_name(p.a.dtype) + ", " +
                   text_of(s.rows) + ", " + text_of(s.columns) + ", " + text_of(s.depth) + ", " +
                   text_of(ring.slices) + ", " + s.pitches + ", " + text_of(pitch_of(p.result, 0)) +
                   ", " + s.is_constant + ">(p0, p1, p2);\n";
  return out;
}

// How a product is parted into tiles, a block for each, or a cluster of `parts` blocks.
struct Tiles {
  std::int64_t rows, columns;  // of a tile
  std::int64_t count, parts;
  std::int64_t depth;  // of a part
  std::int64_t stages, shared_bytes;
};

constexpr std::int64_t kStep = 64;  // terms of a slice
constexpr std::int64_t kMostParts = 6;

Tiles tiles_of(const ProductShape& s, std::int64_t columns) {
  constexpr std::int64_t kLeastSteps = 8;           // of a block
  constexpr std::int64_t kMostShared = 224 * 1024;  // of a block
  constexpr std::int64_t kStages = 8;
  Tiles out{s.rows <= 64 ? 64 : 128, columns, 0, 1, 0, 0, 0};
  out.count = (s.rows + out.rows - 1) / out.rows * ((s.columns + out.columns - 1) / out.columns);
  const std::int64_t steps = (s.depth + kStep - 1) / kStep;
  const auto in_parts = [steps](std::int64_t parts) { return (steps + parts - 1) / parts; };
  for (std::int64_t parts = 2; parts <= kMostParts; ++parts) {
    const bool fits = out.count <= clusters_at_once(parts);
    const bool is_even = (steps + in_parts(parts) - 1) / in_parts(parts) == parts;
    if (fits && is_even && in_parts(parts) >= kLeastSteps) out.parts = parts;
  }
  out.depth = in_parts(out.parts) * kStep;
  const std::int64_t stage = (out.rows + out.columns) * kStep * 2;
  out.stages = std::min(kMostShared / stage, kStages);
  const std::int64_t sums = out.parts == 1 ? 0 : out.rows * (out.columns + 8) * 4;
  out.shared_bytes = std::max(out.stages * stage, sums);
  return out;
}

// The tiles that keep most multiprocessors busy at once; wide ones read less.
Tiles tiles_of(const ProductShape& s) {
  const Tiles wide = tiles_of(s, 128);
  const Tiles narrow = tiles_of(s, 64);
  const auto busy = [](const Tiles& tiles) {
    return std::min(tiles.count * tiles.parts, kMultiprocessors * 3 / 4);
  };
  return busy(narrow) > busy(wide) ? narrow : wide;
}

// Numbers of 16 bits that can be stored at once, at most 4.
std::int64_t width_of(const Tensor& result) {
  const auto address = reinterpret_cast<std::uintptr_t>(result.data());  // NOLINT: its alignment
  const auto divides = [&](std::int64_t width) {
    return address % static_cast<std::uintptr_t>(width * 2) == 0 && result.size(1) % width == 0 &&
           pitch_of(result, 0) % (width * 2) == 0;
  };
  return divides(4) ? 4 : divides(2) ? 2 : 1;
}

TextWork many_rows_text(const Product& p, const ProductShape& s) {
  const Tiles tiles = tiles_of(s);
  TextWork out;
  out.waits_itself = true;
  out.what = what_of(s);
  if (tiles.parts > 1) out.what += " in " + text_of(tiles.parts);
  out.threads = tiles.count * tiles.parts * 256;
  out.shared_bytes = tiles.shared_bytes;
  out.cluster = tiles.parts;
  out.pointers = {p.result.data(), p.a.data(), p.b.data()};
  out.accesses = {{p.result, true}, {p.a, false}, {p.b, false}};
  out.statements = "  device::multiply_tile<" + format_name(p.a.dtype);
  for (const std::int64_t number : {tiles.rows, tiles.columns, s.rows, s.columns, s.depth,
                                    tiles.depth, tiles.parts, tiles.stages, width_of(p.result)}) {
    out.statements += ", " + text_of(number);
  }
  out.statements += ", " + s.pitches + ", " + text_of(pitch_of(p.result, 0)) + ", " +
                    s.is_constant + ">(p0, p1, p2);\n";
  return out;
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
  return DeviceWorks{many_rows_text(p, shape)};
}

}  // namespace graphgate::optimized
