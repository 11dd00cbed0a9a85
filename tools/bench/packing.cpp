// How well and how fast memory is packed.
//
//   build/release/tools/bench/packing [--effort N] FILE.csv...
//                                        (default: golden/memplan and made instances)
//
// One line per instance: items, lower bound, the packer's peak as a ratio to the bound, its
// processor time in seconds, what found the packing, and whether it is optimal ("=" proven). After
// these the baseline planners: their peaks as ratios to the same bound, and their times as ratios
// to the packer's. Every packing is swept for overlaps. Ratios of one run compare; seconds of two
// machines do not.
//
// Made instances are chains of 100,000 items of which 3 to 2,600 are alive at a time, and a chain
// of 1,000,000 of which 12,700 are.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file_io.h"
#include "interop/minimalloc.h"
#include "optimized/memory/pack.h"

namespace {

using namespace graphgate;
using optimized::BaselineMethod;
using Items = std::vector<optimized::PackItem>;

constexpr std::int64_t kAlignmentBytes = 1;  // sizes of the instances are what they mean
constexpr std::array<BaselineMethod, 4> kBaselines = {
    BaselineMethod::kNoReuse, BaselineMethod::kOnlineBestFit, BaselineMethod::kFirstFitBySize,
    BaselineMethod::kBestFitBySize};
constexpr double kBaselineItemsMax = 200'000;  // fits by size are quadratic

// Births one step apart; most sizes are powers of two, one in four is arbitrary; one item in eight
// lives three times as long.
Items chain(std::int64_t count, std::int64_t lifetime) {
  std::uint64_t state = 1;
  const auto draw = [&](std::int64_t end) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(end));
  };
  Items items;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t duration = 1 + draw(2 * lifetime);
    if (draw(8) == 0) duration *= 3;
    const std::int64_t size = draw(4) == 0 ? draw(4096) : std::int64_t{1} << draw(12);
    items.push_back({i, i + duration, 256 * (1 + size)});
  }
  return items;
}

struct Measured {
  Result<optimized::Packing> packing;
  double seconds = 0;
};

template <class Method>
Measured measured(Method&& method) {
  const std::clock_t begin = std::clock();
  auto packing = method();
  return {std::move(packing), static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC};
}

bool is_right(const Items& items, const Measured& measured) {
  return measured.packing.ok() &&
         !optimized::find_overlap(items, measured.packing.value().offsets_bytes);
}

// Whether all packings are right.
bool measure(const std::string& name, const Items& items, const optimized::PackOptions& options) {
  const Measured own = measured([&] { return optimized::pack(items, kAlignmentBytes, options); });
  const auto bound = optimized::lower_bound_bytes(items, kAlignmentBytes);
  if (!is_right(items, own) || !bound.ok()) {
    std::printf("%-20s WRONG\n", name.c_str());
    return false;
  }
  const auto to_bound = [&](const optimized::Packing& packing) {
    return static_cast<double>(packing.peak_bytes) /
           static_cast<double>(std::max<std::int64_t>(bound.value(), 1));
  };
  const optimized::Packing& packing = own.packing.value();
  std::printf("%-20s %8zu %13lld %8.5f%c %7.3f  %-30s", name.c_str(), items.size(),
              static_cast<long long>(bound.value()), to_bound(packing),
              packing.peak_bytes == packing.bound_bytes ? '=' : ' ', own.seconds,
              std::string(packing.method).c_str());
  bool right = true;
  for (const BaselineMethod method : kBaselines) {
    const bool is_quadratic =
        method == BaselineMethod::kFirstFitBySize || method == BaselineMethod::kBestFitBySize;
    if (is_quadratic && static_cast<double>(items.size()) > kBaselineItemsMax) continue;
    const Measured other =
        measured([&] { return optimized::pack_baseline(items, kAlignmentBytes, method); });
    right = right && is_right(items, other);
    if (!other.packing.ok()) continue;
    std::printf("  %7.4f (%.2g)", to_bound(other.packing.value()),
                other.seconds / std::max(own.seconds, 1e-6));
  }
  std::printf("%s\n", right ? "" : "  WRONG");
  return right;
}

bool measure_file(const std::string& path, const optimized::PackOptions& options) {
  const auto buffers = interop::read_minimalloc(path);
  if (!buffers.ok()) {
    std::fprintf(stderr, "%s\n", buffers.error().message.c_str());
    return false;
  }
  Items items;
  for (const auto& buffer : buffers.value()) {
    items.push_back({buffer.lower, buffer.upper, buffer.size_bytes});
  }
  return measure(base_name(path), items, options);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> paths(argv + 1, argv + argc);
  optimized::PackOptions options;
  if (paths.size() >= 2 && paths[0] == "--effort") {
    const int effort = std::max(0, static_cast<int>(std::strtol(paths[1].c_str(), nullptr, 10)));
    options.fit_work *= effort;
    options.search_work *= effort;
    paths.erase(paths.begin(), paths.begin() + 2);
  }
  const bool all = paths.empty();
  if (all) {
    for (const auto& entry : std::filesystem::directory_iterator(GRAPHGATE_GOLDEN_DIR "/memplan")) {
      if (entry.path().extension() == ".csv") paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
  }
  std::printf("%-20s %8s %13s %8s  %7s  %-30s  %s\n", "instance", "items", "lower bound", "ratio",
              "seconds", "method",
              "ratio (time / packer's): no reuse, online best fit, first fit, best fit by size");
  bool right = true;
  for (const std::string& path : paths) right = measure_file(path, options) && right;
  if (!all) return right ? 0 : 1;
  for (const std::int64_t lifetime : {3, 30, 330, 2000}) {
    const std::string name = "100k, lifetime " + std::to_string(lifetime);
    right = measure(name, chain(100'000, lifetime), options) && right;
  }
  right = measure("1M, lifetime 10000", chain(1'000'000, 10'000), options) && right;
  return right ? 0 : 1;
}
