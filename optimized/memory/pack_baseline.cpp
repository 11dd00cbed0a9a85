#include <algorithm>
#include <limits>
#include <string>

#include "optimized/memory/pack.h"
#include "optimized/memory/pack_fit.h"
#include "optimized/memory/pack_parts.h"

namespace graphgate::optimized {

namespace {

std::optional<PartPacking> pack_part(const PackPart& part, BaselineMethod method) {
  if (method == BaselineMethod::kOnlineBestFit) return fit_online(part, TimeDirection::kForward);
  FitMethod fitting{FitMethod::Order::kSizeThenDuration, FitMethod::Hole::kLowest,
                    "first fit (size, duration)"};
  if (method == BaselineMethod::kBestFitBySize) {
    fitting.hole = FitMethod::Hole::kTightest;
    fitting.name = "best fit (size, duration)";
  }
  std::int64_t work = kPackMax;
  return fit(part, fitting, kPackMax, work);
}

}  // namespace

Result<Packing> pack_without_reuse(std::span<const PackItem> items, std::int64_t alignment_bytes) {
  GRAPHGATE_TRY(const PackParts parts, make_parts(items, alignment_bytes));
  Packing result;
  result.bound_bytes = parts.bound * parts.unit_bytes;
  result.method = "no reuse";
  result.unit_bytes = parts.unit_bytes;
  result.offsets_bytes.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    GRAPHGATE_TRY(const std::int64_t size, rounded_size_bytes(items[i], i, alignment_bytes));
    if (size > kPackMax - result.peak_bytes) {
      return bad_input("the sizes of the items add up to more than 63 bits");
    }
    result.offsets_bytes.push_back(size == 0 ? 0 : result.peak_bytes);
    result.peak_bytes += size;
  }
  return result;
}

Result<Packing> pack_baseline(std::span<const PackItem> items, std::int64_t alignment_bytes,
                              BaselineMethod method) {
  if (method == BaselineMethod::kNoReuse) return pack_without_reuse(items, alignment_bytes);
  GRAPHGATE_TRY(const PackParts parts, make_parts(items, alignment_bytes));
  Packing result;
  result.offsets_bytes.resize(items.size());
  result.bound_bytes = parts.bound * parts.unit_bytes;
  result.method = "nothing to pack";
  result.unit_bytes = parts.unit_bytes;
  for (const PackPart& part : parts.parts) {
    const auto packing = pack_part(part, method);
    if (!packing || packing->peak > kPackMax / parts.unit_bytes) {
      return bad_input("no packing of the items within 63 bits was found");
    }
    for (std::size_t k = 0; k < part.boxes.size(); ++k) {
      result.offsets_bytes[part.boxes[k].item] = packing->offsets[k] * parts.unit_bytes;
    }
    result.peak_bytes = std::max(result.peak_bytes, packing->peak * parts.unit_bytes);
    result.method = packing->method;
  }
  return result;
}

}  // namespace graphgate::optimized
