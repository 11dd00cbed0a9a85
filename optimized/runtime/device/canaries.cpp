#include "optimized/runtime/device/canaries.h"

#include <algorithm>

#include "optimized/codegen/kernels.h"

namespace graphgate::optimized {
namespace {

constexpr std::int64_t kRangeBytes = 256;  // that a thread looks at in one go
constexpr std::int64_t kRangeWords = 3;

// One block: each thread takes ranges in turn, up to its first broken byte, and of all threads' the
// one that stands first is reported.
std::string statements(std::size_t arenas) {
  std::string list;
  for (std::size_t i = 0; i < arenas; ++i) {
    list += (i == 0 ? "p" : ", p") + std::to_string(i + 2);
  }
  return "  const auto* const words = reinterpret_cast<const std::int64_t*>(p0);\n"
         "  const std::int64_t ranges = words[0];\n"
         "  const char* const arenas[] = {" +
         list +
         "};\n"
         "  __shared__ std::int64_t range[256];\n"
         "  __shared__ std::int64_t byte[256];\n"
         "  range[threadIdx.x] = ranges;\n"
         "  for (std::int64_t r = threadIdx.x; r < ranges && range[threadIdx.x] == ranges;\n"
         "       r += 256) {\n"
         "    const std::int64_t* const own = words + 1 + 3 * r;\n"
         "    for (std::int64_t i = own[1]; i < own[2]; ++i) {\n"
         "      if (static_cast<unsigned char>(arenas[own[0]][i]) == " +
         std::to_string(std::to_integer<int>(kCanary)) +
         ") continue;\n"
         "      range[threadIdx.x] = r;\n"
         "      byte[threadIdx.x] = i;\n"
         "      break;\n"
         "    }\n"
         "  }\n"
         "  __syncthreads();\n"
         "  if (threadIdx.x != 0) return;\n"
         "  int first = 0;\n"
         "  for (int t = 1; t < 256; ++t) first = range[t] < range[first] ? t : first;\n"
         "  if (range[first] == ranges) return;\n"
         "  device::report(fault, byte[first], words[1 + 3 * range[first]],\n"
         "                 *reinterpret_cast<const std::int64_t*>(p1), device::kBrokenCanary);\n";
}

}  // namespace

std::vector<CanaryRange> gaps_between(std::vector<CanaryRange> buffers, std::int64_t size_bytes) {
  std::erase_if(buffers, [](const CanaryRange& buffer) { return buffer.begin == buffer.end; });
  std::ranges::sort(buffers,
                    [](const CanaryRange& a, const CanaryRange& b) { return a.begin < b.begin; });
  std::vector<CanaryRange> gaps;
  std::int64_t covered = 0;
  for (const CanaryRange& buffer : buffers) {
    if (buffer.begin > covered) gaps.push_back({covered, buffer.begin});
    covered = std::max(covered, buffer.end);
  }
  if (covered < size_bytes) gaps.push_back({covered, size_bytes});
  return gaps;
}

Canaries::Canaries(DeviceMemory& memory, std::vector<CanaryArena> arenas, std::size_t jobs)
    : memory_(memory), arenas_(std::move(arenas)), is_filled_(arenas_.size()) {
  table_ = {0};
  for (std::size_t a = 0; a < arenas_.size(); ++a) {
    CanaryArena& arena = arenas_[a];
    const auto size = static_cast<std::int64_t>(arena.host.size());
    const DeviceSurroundings around = memory_.surroundings(arena.host.data());
    if (around.before > 0) arena.gaps.insert(arena.gaps.begin(), {-around.before, 0});
    if (around.behind > 0) arena.gaps.push_back({size, size + around.behind});
    for (const CanaryRange& gap : arena.gaps) {
      for (std::int64_t begin = gap.begin; begin < gap.end; begin += kRangeBytes) {
        const std::int64_t end = std::min(begin + kRangeBytes, gap.end);
        table_.insert(table_.end(), {static_cast<std::int64_t>(a), begin, end});
        ++ranges_;
      }
    }
  }
  table_.front() = ranges_;
  for (std::size_t job = 0; job < jobs; ++job) table_.push_back(static_cast<std::int64_t>(job));
  memory_.know(table_bytes(), nullptr);
  memory_.bring_to_device(table_bytes());
}

Canaries::~Canaries() { memory_.forget(table_bytes().data()); }

std::span<std::byte> Canaries::table_bytes() { return std::as_writable_bytes(std::span(table_)); }

void Canaries::fill() {
  for (std::size_t a = 0; a < arenas_.size(); ++a) {
    const std::byte* const host = arenas_[a].host.data();
    if (is_filled_[a] && memory_.is_read_only(host)) continue;
    for (const CanaryRange& gap : arenas_[a].gaps) {
      memory_.fill(host, gap.begin, gap.end, kCanary);
    }
    is_filled_[a] = true;
  }
}

TextWork Canaries::check(std::size_t job) {
  TextWork work;
  if (ranges_ == 0) return work;
  std::byte* const table = table_bytes().data();
  const auto word = 1 + kRangeWords * ranges_ + static_cast<std::int64_t>(job);
  work.statements = statements(arenas_.size());
  work.pointers = {table, table + word * static_cast<std::int64_t>(sizeof(std::int64_t))};
  for (const CanaryArena& arena : arenas_) work.pointers.push_back(arena.host.data());
  work.threads = kDeviceBlock;
  work.reports_faults = true;
  work.what = "canaries";
  return work;
}

}  // namespace graphgate::optimized
