#include <algorithm>
#include <array>

#include "optimized/codegen/epilogue_text.h"
#include "optimized/codegen/fast_text.h"
#include "optimized/codegen/kernels.h"
#include "optimized/codegen/large_gpu.h"
#include "optimized/codegen/row_text.h"
#include "optimized/codegen/spelling.h"
#include "optimized/codegen/touched.h"
#include "optimized/codegen/wide_rows.h"
#include "optimized/loop.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

constexpr std::int64_t kFewRowsColumns = 16;  // of a block of multiply_few_rows
constexpr std::int64_t kMostRows = 32;        // of a product without tiles

// The numbers of a product that the templates of fast_product.cuh take.
struct ProductShape {
  std::int64_t rows, columns, depth;
  std::int64_t a_pitch, weight_pitch;                 // bytes
  bool is_constant;                                   // the weight
  Bands bands;                                        // of columns, whose sums come together
  std::shared_ptr<const RmsNormWork> norm = nullptr;  // that makes the one row
  [[nodiscard]] std::int64_t band() const { return columns / bands.count; }
  [[nodiscard]] std::int64_t made_bytes() const { return norm ? depth * 2 : 0; }
};

std::string what_of(const ProductShape& s) {
  return "product " + text_of(s.rows) + " x " + text_of(s.depth) + " x " + text_of(s.columns);
}

// How multiply_few_rows goes about a product: its blocks, the slices of 64 terms that a warp has in
// shared memory, and all that a block has there.
struct SliceRing {
  std::int64_t blocks, slices, bytes;
};

// Where all blocks run at once, all slices are on their way from the beginning, if they fit. Else
// there are fewer, so that blocks of the next launch find room, whose weights come while this one
// ends. Where blocks cannot run at once, as many as can go on with other columns, if enough slices
// are on their way. (Bytes and slices are those that were fastest on an H200.)
SliceRing ring_of(const ProductShape& s) {
  constexpr std::int64_t kWarps = 8;
  constexpr std::int64_t kFewBytes = std::int64_t{156} * 1024;  // of a multiprocessor
  constexpr std::int64_t kBytes = std::int64_t{208} * 1024;     // where blocks go on
  constexpr std::int64_t kGoOn = 2;                             // such blocks, of a multiprocessor
  constexpr std::int64_t kLeastSlices = 4;                      // of one
  const std::int64_t of_band = kFewRowsColumns / s.bands.count;
  const std::int64_t sixteens = (s.band() + of_band - 1) / of_band;
  const std::int64_t slice = (kFewRowsColumns + (s.norm ? 0 : s.rows)) * 128 * kWarps;
  const std::int64_t sums = kWarps * s.rows * 17 * 4;
  const std::int64_t made = s.made_bytes();
  const std::int64_t most = slice > kSharedBytes / 9 ? 2 : 3;  // blocks at a time
  const std::int64_t waves = (sixteens + kMultiprocessors - 1) / kMultiprocessors;
  const std::int64_t own = (s.depth + kWarps * 64 - 1) / (kWarps * 64);
  const std::int64_t turns = (waves + kGoOn - 1) / kGoOn;
  const std::int64_t many = std::min((kBytes / kGoOn - made - 2 * sums) / slice, own * turns);
  if (waves > most && many >= std::min(kLeastSlices, own * turns)) {
    return {(sixteens + turns - 1) / turns, many, many * slice + made + 2 * sums};
  }
  const std::int64_t at_once = std::clamp<std::int64_t>(waves, 1, most);
  const bool all_fit = waves <= most && (own * slice + made) * at_once <= kSharedBytes;
  const std::int64_t slices =
      all_fit ? own : std::clamp<std::int64_t>((kFewBytes / at_once - made) / slice, 1, own);
  return {sixteens, slices, std::max(slices * slice + made, sums)};
}

// A call of device::KERNEL: KERNEL<format, bands, run, numbers...>(rows, w, put).
class ProductCall {
 public:
  ProductCall(const Product& p, const ProductShape& s, const PointwiseEpilogue& end)
      : shape_(s), end_(end), format_(format_name(p.a.dtype)) {
    out_.waits_itself = true;
    out_.what = what_of(s) + (end.what.empty() ? "" : ", " + end.what);
    out_.accesses = end.accesses;
    out_.pointers = end.pointers;
    out_.reports_faults = end.reports_faults;
    if (!s.norm) rows_ = pointer(p.a, false);
    weight_ = pointer(p.b, false, s.is_constant);
  }

  // The name under which the text has a tensor's first byte.
  std::string pointer(const Tensor& tensor, bool is_written, bool is_constant = false) {
    out_.accesses.push_back({tensor, is_written, is_constant});
    out_.pointers.push_back(tensor.data());
    return "p" + std::to_string(out_.pointers.size() - 1);
  }
  [[nodiscard]] const std::string& format() const { return format_; }
  [[nodiscard]] const std::string& rows() const { return rows_; }

  TextWork text(const char* kernel, std::initializer_list<std::int64_t> numbers,
                const std::string& rows) && {
    out_.statements = joined({"  device::", kernel, "<", format_, ", ", text_of(shape_.bands.count),
                              ", ", text_of(shape_.bands.run)});
    for (const std::int64_t number : numbers) out_.statements += ", " + text_of(number);
    out_.statements += joined({shape_.is_constant ? ", true>(" : ", false>(", rows, ", ", weight_,
                               ",\n      ", end_.function, ");\n"});
    return std::move(out_);
  }

 private:
  const ProductShape& shape_;
  const PointwiseEpilogue& end_;
  std::string format_;
  TextWork out_;
  std::string rows_;
  std::string weight_;
};

// "device::RowsOfMemory<...>{...}", or who makes the row.
std::string rows_text(const ProductShape& s, ProductCall& call) {
  if (!s.norm) {
    return joined({"device::RowsOfMemory<", text_of(s.a_pitch), ">{", call.rows(), "}"});
  }
  const RmsNormWork& norm = *s.norm;
  std::string text =
      joined({"device::NormalizedRow<", call.format(), ", ", format_name(norm.compute), ", ",
              text_of(s.depth), norm.by_power ? ", true" : ", false",
              norm.weight_is_constant ? ", true>{" : ", false>{"});
  text += call.pointer(norm.input, false) + ", " +
          call.pointer(norm.weight, false, norm.weight_is_constant) + ", " +
          call.pointer(norm.result, true) + ", " + epsilon_text(norm) + "}";
  return text;
}

TextWork few_rows_text(const Product& p, const ProductShape& s, const PointwiseEpilogue& end) {
  const SliceRing ring = ring_of(s);
  ProductCall call(p, s, end);
  const std::string rows = rows_text(s, call);
  TextWork out = std::move(call).text(
      "multiply_few_rows", {s.rows, s.band(), s.depth, ring.slices, ring.blocks, s.weight_pitch},
      rows);
  if (s.norm) out.what = "rms_norm, " + out.what;
  out.threads = ring.blocks * kDeviceBlock;
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
  const std::int64_t of_band = columns / s.bands.count;
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
  ProductCall call(p, s, end);
  const std::string rows = call.rows();
  TextWork out =
      std::move(call).text("multiply_tile",
                           {tiles.rows, tiles.columns, s.rows, s.band(), s.depth, tiles.depth,
                            tiles.parts, tiles.stages, end.width, s.a_pitch, s.weight_pitch},
                           rows);
  if (tiles.parts > 1) out.what += " in " + text_of(tiles.parts);
  out.threads = tiles.count * tiles.parts * kDeviceBlock;
  out.shared_bytes = tiles.shared_bytes;
  out.cluster = tiles.parts;
  return out;
}

// The product, with works behind it if they go together with it in those bands.
std::optional<TextWork> text_in_bands(const Product& p, ProductShape s, const Bands& bands,
                                      std::span<const WorkBehind> behind) {
  s.bands = bands;
  auto end = epilogue_of(p.result, bands, behind);
  if (!end) return {};
  // Other blocks may still read what they multiply, and one block alone puts a made row into
  // memory.
  for (const DeviceAccess& access : end->accesses) {
    const auto shares = [&](const Tensor& tensor) {
      return may_share_bytes(access.tensor, tensor);
    };
    if (s.norm && shares(s.norm->result)) return {};
    if (!access.is_written) continue;
    if (shares(p.a) || shares(p.b)) return {};
    if (s.norm && (shares(s.norm->input) || shares(s.norm->weight))) return {};
  }
  return s.rows <= kMostRows ? few_rows_text(p, s, *end) : many_rows_text(p, s, *end);
}

// Whether the product multiplies the one row that the norm makes, and each block can make it: for
// more of them that would take longer than a launch.
bool can_make_row(const Product& p, const ProductShape& s, const RmsNormWork& norm) {
  const auto fits = [&](const Tensor& tensor) {
    return tensor.dtype == p.a.dtype && has_wide_rows(tensor) && tensor.count() == s.depth;
  };
  return s.rows == 1 && norm.result.data() == p.a.data() && fits(norm.result) && fits(norm.input) &&
         fits(norm.weight) && !may_share_bytes(norm.result, norm.input) &&
         !may_share_bytes(norm.result, norm.weight);
}

std::optional<TextWork> product_text(const Product& p, const ProductShape& shape,
                                     const std::vector<WorkBehind>& behind) {
  std::optional<TextWork> text;
  for (const Bands& bands : bands_for(p.result, behind)) {
    text = text_in_bands(p, shape, bands, behind);
    if (text) break;
  }
  if (!text) return {};
  text->with_epilogue = [p, shape, behind](const WorkBehind& next) {
    std::vector<WorkBehind> all = behind;
    all.push_back(next);
    return product_text(p, shape, all);
  };
  if (shape.norm) return text;
  text->with_norm = [p, shape, behind](const RmsNormWork& norm) -> std::optional<TextWork> {
    if (!can_make_row(p, shape, norm)) return {};
    ProductShape making = shape;
    making.norm = std::make_shared<const RmsNormWork>(norm);
    return product_text(p, making, behind);
  };
  return text;
}

}  // namespace

std::optional<DeviceWorks> fast_product_works(const DeviceListener& listener, const Product& p) {
  const DType dtype = p.a.dtype;
  const bool is_plain = p.result.rank() == 2 && !p.added && number_as<double>(p.alpha) == 1 &&
                        is_half(dtype) && p.b.dtype == dtype && p.result.dtype == dtype &&
                        p.rounds_to == dtype;
  if (!is_plain || p.result.strides.back() != 1) return {};
  const Tensor weight = swapped(p.b, 0, 1);
  if (!has_wide_rows(p.a) || !has_wide_rows(weight)) return {};
  const ProductShape shape = {
      p.result.size(0),    p.result.size(1),          p.a.size(1), pitch_of(p.a, 0),
      pitch_of(weight, 0), listener.is_constant(p.b), {}};
  auto text = product_text(p, shape, {});
  if (!text) return {};
  return DeviceWorks{*std::move(text)};
}

}  // namespace graphgate::optimized
