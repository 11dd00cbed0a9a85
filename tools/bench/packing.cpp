// How well and how fast memory is packed.
//
//   build/release/tools/bench/packing FILE.csv...     (default: golden/memplan and made instances)
//
// One line per instance: items, lower bound, peak, their ratio, the proven bound if it is above the
// lower one, what found the packing, and seconds of processor time. Every packing is swept for
// overlaps. Made instances are chains of 100,000 items of which 3 to 2,600 are alive at a time.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "interop/file_io.h"
#include "interop/minimalloc.h"
#include "optimized/memory/pack.h"

namespace {

using namespace graphgate;

constexpr std::int64_t kAlignmentBytes = 1;  // sizes of the instances are what they mean

// Births one step apart; most sizes are powers of two, one in four is arbitrary; one item in eight
// lives three times as long.
std::vector<optimized::PackItem> chain(std::int64_t lifetime) {
  std::uint64_t state = 1;
  const auto draw = [&](std::int64_t end) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(end));
  };
  std::vector<optimized::PackItem> items;
  for (std::int64_t i = 0; i < 100'000; ++i) {
    std::int64_t duration = 1 + draw(2 * lifetime);
    if (draw(8) == 0) duration *= 3;
    const std::int64_t size = draw(4) == 0 ? draw(4096) : std::int64_t{1} << draw(12);
    items.push_back({i, i + duration, 256 * (1 + size)});
  }
  return items;
}

// Whether the packing is right.
bool measure(const std::string& name, const std::vector<optimized::PackItem>& items) {
  const std::clock_t begin = std::clock();
  const auto packing = optimized::pack(items, kAlignmentBytes);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  const auto bound = optimized::lower_bound_bytes(items, kAlignmentBytes);
  if (!packing.ok() || !bound.ok()) {
    std::printf("%-22s %s\n", name.c_str(), packing.error().message.c_str());
    return false;
  }
  const auto& [offsets_bytes, peak_bytes, bound_bytes, method] = packing.value();
  std::printf("%-22s %7zu %14lld %14lld %8.5f %8.3f s  %s", name.c_str(), items.size(),
              static_cast<long long>(bound.value()), static_cast<long long>(peak_bytes),
              static_cast<double>(peak_bytes) /
                  static_cast<double>(std::max<std::int64_t>(bound.value(), 1)),
              seconds, std::string(method).c_str());
  if (bound_bytes > bound.value()) {
    std::printf(", proven bound %lld", static_cast<long long>(bound_bytes));
  }
  const auto conflict = optimized::find_overlap(items, offsets_bytes);
  if (conflict)
    std::printf("  WRONG: items %zu and %zu overlap", conflict->first, conflict->second);
  std::printf("\n");
  return !conflict;
}

bool measure_file(const std::string& path) {
  const auto buffers = interop::read_minimalloc(path);
  if (!buffers.ok()) {
    std::fprintf(stderr, "%s\n", buffers.error().message.c_str());
    return false;
  }
  std::vector<optimized::PackItem> items;
  for (const auto& buffer : buffers.value()) {
    items.push_back({buffer.lower, buffer.upper, buffer.size_bytes});
  }
  return measure(interop::base_name(path), items);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> paths(argv + 1, argv + argc);
  const bool all = paths.empty();
  if (all) {
    for (const auto& entry : std::filesystem::directory_iterator(GRAPHGATE_GOLDEN_DIR "/memplan")) {
      if (entry.path().extension() == ".csv") paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
  }
  std::printf("%-22s %7s %14s %14s %8s %10s  %s\n", "instance", "items", "lower bound", "peak",
              "ratio", "time", "method");
  bool right = true;
  for (const std::string& path : paths) right = measure_file(path) && right;
  for (const std::int64_t lifetime : {3, 30, 330, 2000}) {
    if (all)
      right = measure("chain, lifetime " + std::to_string(lifetime), chain(lifetime)) && right;
  }
  return right ? 0 : 1;
}
