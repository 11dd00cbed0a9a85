#include "optimized/runtime/options.h"

#include <algorithm>

namespace graphgate::optimized {
namespace {

constexpr std::string_view kModes[] = {"none", "piecewise", "full", "full_decode_only",
                                       "full_and_piecewise"};

std::int64_t round_up(std::int64_t size, std::int64_t multiple) {
  return (size + multiple - 1) / multiple * multiple;
}

std::string name_of(const SizeRange& range) {
  return "[" + std::to_string(range.begin) + ", " + std::to_string(range.end) + ")";
}

Result<void> validate_capture_sizes(const RuntimeOptions& options) {
  std::int64_t before = 0;
  for (const std::int64_t size : options.capture_sizes) {
    const std::string name = "capture size " + std::to_string(size);
    if (size <= 0) return bad_input(name + " is not positive");
    if (size <= before) {
      return bad_input(name + " stands behind " + std::to_string(before) +
                       "; capture sizes must ascend");
    }
    if (options.max_capture_size > 0 && size > options.max_capture_size) {
      return bad_input(name + " is above the maximum of " +
                       std::to_string(options.max_capture_size));
    }
    before = size;
  }
  const std::int64_t largest = round_up(before, options.size_multiple);
  if (options.max_capture_size > 0 && largest > options.max_capture_size) {
    return bad_input("capture size " + std::to_string(before) + " is rounded up to " +
                     std::to_string(largest) + ", above the maximum of " +
                     std::to_string(options.max_capture_size));
  }
  return {};
}

}  // namespace

std::string_view graph_mode_name(GraphMode mode) { return kModes[static_cast<std::size_t>(mode)]; }

std::optional<GraphMode> parse_graph_mode(std::string_view name) {
  const auto* found = std::find(std::begin(kModes), std::end(kModes), name);
  if (found == std::end(kModes)) return {};
  return static_cast<GraphMode>(found - std::begin(kModes));
}

std::vector<std::int64_t> default_capture_sizes(std::int64_t max) {
  std::vector<std::int64_t> sizes;
  for (const std::int64_t size : {1, 2, 4}) {
    if (size <= max) sizes.push_back(size);
  }
  for (std::int64_t size = 8; size <= max; size += size < 256 ? 8 : 16) sizes.push_back(size);
  return sizes;
}

std::optional<std::int64_t> padded_size(const RuntimeOptions& options, std::int64_t size) {
  const std::int64_t wanted = round_up(size, options.size_multiple);
  const auto found =
      std::lower_bound(options.capture_sizes.begin(), options.capture_sizes.end(), wanted);
  if (found == options.capture_sizes.end()) return {};
  return round_up(*found, options.size_multiple);
}

std::vector<std::int64_t> capture_order(const RuntimeOptions& options) {
  std::vector<std::int64_t> sizes;
  sizes.reserve(options.capture_sizes.size());
  for (const std::int64_t size : options.capture_sizes) {
    sizes.push_back(round_up(size, options.size_multiple));
  }
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::ranges::reverse(sizes);
  return sizes;
}

Result<void> validate(const RuntimeOptions& options) {
  if (options.size_multiple <= 0) {
    return bad_input("size multiple " + std::to_string(options.size_multiple) + " is not positive");
  }
  GRAPHGATE_TRY_VOID(validate_capture_sizes(options));
  for (const std::int64_t size : options.compile_sizes) {
    const std::string name = "compile size " + std::to_string(size);
    if (size <= 0) return bad_input(name + " is not positive");
    const auto padded = padded_size(options, size);
    if (padded && *padded != size) {
      return bad_input(name + " would be padded to " + std::to_string(*padded) +
                       "; a compile size must be a capture size");
    }
  }
  std::optional<SizeRange> before;
  for (const SizeRange& range : options.compile_ranges) {
    if (range.begin >= range.end) return bad_input("compile range " + name_of(range) + " is empty");
    if (before && range.begin < before->end) {
      return bad_input("compile range " + name_of(range) + " overlaps " + name_of(*before) +
                       ", or stands behind it out of order");
    }
    before = range;
  }
  return {};
}

}  // namespace graphgate::optimized
