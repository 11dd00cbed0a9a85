#include <algorithm>
#include <array>

#include "optimized/device/fast_text.h"
#include "optimized/device/kernels.h"
#include "optimized/device/large_gpu.h"
#include "optimized/device/pointwise_text.h"
#include "optimized/device/spelling.h"
#include "optimized/device/touched.h"
#include "optimized/device/wide_rows.h"
#include "optimized/loop.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

constexpr std::int64_t kBlockColumns = 16;  // of a block of multiply_few_rows
constexpr std::int64_t kMostRows = 32;      // of a product without tiles

// The numbers of a product that the templates of fast_product.cuh take.
struct ProductShape {
  std::int64_t rows, columns, depth;
  std::string pitches;  // of a, of the weight
  bool is_constant;     // the weight
  std::int64_t bands;   // of columns, whose sums come together
  [[nodiscard]] std::int64_t band() const { return columns / bands; }
};

std::string what_of(const ProductShape& s) {
  return "product " + text_of(s.rows) + " x " + text_of(s.depth) + " x " + text_of(s.columns);
}

// Slices of 64 terms that a warp of multiply_few_rows has in shared memory, and what that takes.
struct Ring {
  std::int64_t slices, bytes;
};

// Where all blocks run at once, all slices are on their way from the beginning, if they fit. Else
// there are few, so that more blocks do: of this launch, and of the next one, whose weights come
// while this one ends.
Ring ring_of(const ProductShape& s, std::int64_t blocks) {
  constexpr std::int64_t kWarps = 8;
  constexpr std::int64_t kFewBytes = std::int64_t{136} * 1024;  // of a multiprocessor
  const std::int64_t slice = (kBlockColumns + s.rows) * 128 * kWarps;
  const std::int64_t most = slice > kSharedBytes / 9 ? 2 : 3;  // blocks at a time
  const std::int64_t waves = (blocks + kMultiprocessors - 1) / kMultiprocessors;
  const std::int64_t at_once = std::clamp<std::int64_t>(waves, 1, most);
  const std::int64_t own = (s.depth + kWarps * 64 - 1) / (kWarps * 64);
  const bool all_fit = waves <= most && own * slice * at_once <= kSharedBytes;
  const std::int64_t slices =
      all_fit ? own : std::clamp<std::int64_t>(kFewBytes / at_once / slice, 1, own);
  const std::int64_t sums = kWarps * ((s.rows + 7) / 8 * 8) * 17 * 4;
  return {slices, std::max(slices * slice, sums)};
}

// device::KERNEL<...>(a, w, put), with the numbers that are its own.
TextWork product_text(const char* kernel, const Product& p, const ProductShape& s,
                      std::initializer_list<std::int64_t> numbers, const PointwiseEpilogue& end) {
  TextWork out;
  out.waits_itself = true;
  out.what = what_of(s) + (end.what.empty() ? "" : ", " + end.what);
  out.accesses = end.accesses;
  out.accesses.push_back({p.a, false});
  out.accesses.push_back({p.b, false, s.is_constant});
  const std::string a = "p" + std::to_string(end.pointers.size());
  const std::string w = "p" + std::to_string(end.pointers.size() + 1);
  out.pointers = end.pointers;
  out.pointers.push_back(p.a.data());
  out.pointers.push_back(p.b.data());
  out.statements =
      joined({"  device::", kernel, "<", format_name(p.a.dtype), ", ", text_of(s.bands)});
  for (const std::int64_t number : numbers) out.statements += ", " + text_of(number);
  out.statements += joined({", ", s.pitches, s.is_constant ? ", true" : ", false", ">(", a, ", ", w,
                            ",\n      ", end.function, ");\n"});
  return out;
}

TextWork few_rows_text(const Product& p, const ProductShape& s, const PointwiseEpilogue& end) {
  const std::int64_t of_band = kBlockColumns / s.bands;
  const std::int64_t blocks = (s.band() + of_band - 1) / of_band;
  const Ring ring = ring_of(s, blocks);
  TextWork out =
      product_text("multiply_few_rows", p, s, {s.rows, s.band(), s.depth, ring.slices}, end);
  out.threads = blocks * kDeviceBlock;
  out.shared_bytes = ring.bytes;
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
  constexpr std::int64_t kLeastSteps = 8;                         // of a block
  constexpr std::int64_t kMostShared = std::int64_t{224} * 1024;  // of a block
  constexpr std::int64_t kStages = 8;
  Tiles out{s.rows <= 64 ? 64 : 128, columns, 0, 1, 0, 0, 0};
  const std::int64_t of_band = columns / s.bands;
  out.count = (s.rows + out.rows - 1) / out.rows * ((s.band() + of_band - 1) / of_band);
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

TextWork many_rows_text(const Product& p, const ProductShape& s, const PointwiseEpilogue& end) {
  const Tiles tiles = tiles_of(s);
  TextWork out = product_text("multiply_tile", p, s,
                              {tiles.rows, tiles.columns, s.rows, s.band(), s.depth, tiles.depth,
                               tiles.parts, tiles.stages, end.width},
                              end);
  if (tiles.parts > 1) out.what += " in " + text_of(tiles.parts);
  out.threads = tiles.count * tiles.parts * kDeviceBlock;
  out.shared_bytes = tiles.shared_bytes;
  out.cluster = tiles.parts;
  return out;
}

using IsStored = std::function<bool(std::size_t)>;

// The product, with works behind it if they go together with it in so many bands.
std::optional<TextWork> text_in_bands(const Product& p, ProductShape s, std::int64_t bands,
                                      const PointwiseGroup* behind, const IsStored& is_stored) {
  s.bands = bands;
  std::vector<Tensor> given;
  for (std::int64_t band = 0; band < bands; ++band) {
    given.push_back(p.result);
    given.back().sizes[1] = s.band();
    given.back().offset += band * s.band();
  }
  auto end = epilogue_of(given, behind, is_stored);
  if (!end) return {};
  // Other blocks may still read what they multiply.
  for (const DeviceAccess& access : end->accesses) {
    if (!access.is_written) continue;
    if (may_share_bytes(access.tensor, p.a) || may_share_bytes(access.tensor, p.b)) return {};
  }
  return s.rows <= kMostRows ? few_rows_text(p, s, *end) : many_rows_text(p, s, *end);
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
  const ProductShape shape = {p.result.size(0),
                              p.result.size(1),
                              p.a.size(1),
                              text_of(pitch_of(p.a, 0)) + ", " + text_of(pitch_of(weight, 0)),
                              DeviceListener::is_constant(p.b),
                              1};
  auto text = text_in_bands(p, shape, 1, nullptr, nullptr);
  if (!text) return {};
  text->with_epilogue = [p, shape](const PointwiseGroup& behind,
                                   const IsStored& is_stored) -> std::optional<TextWork> {
    auto whole = text_in_bands(p, shape, 1, &behind, is_stored);
    if (whole || shape.columns % 2 != 0) return whole;
    return text_in_bands(p, shape, 2, &behind, is_stored);
  };
  return DeviceWorks{*std::move(text)};
}

}  // namespace graphgate::optimized
