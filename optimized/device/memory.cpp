#include "optimized/device/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "spec/result.h"

namespace graphgate::optimized {
namespace {

constexpr std::uintptr_t kSameAlignment = 16;

}  // namespace

DeviceMemory::~DeviceMemory() {
  for (const auto& [host, arena] : arenas_) raw_.free(arena.allocated);
}

DeviceMemory::Arenas::const_iterator DeviceMemory::arena_at(const std::byte* host) const {
  auto arena = arenas_.upper_bound(host);
  if (arena == arenas_.begin()) return arenas_.end();
  --arena;
  return host <= arena->first + arena->second.size_bytes ? arena : arenas_.end();
}

void DeviceMemory::know(std::span<std::byte> host, std::shared_ptr<const void> owner) {
  const auto size = static_cast<std::int64_t>(host.size());
  if (size == 0) return;
  const auto found = arena_at(host.data());
  if (found != arenas_.end() && host.data() + size <= found->first + found->second.size_bytes) {
    return;
  }
  if (found != arenas_.end() && found->first == host.data()) {  // the same place, and larger now
    raw_.free(found->second.allocated);
    arenas_.erase(found);
  }
  // At the host's place within 16 bytes: what is aligned on one side is on the other.
  const auto shift = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(host.data()) %
                                               kSameAlignment);  // NOLINT: its alignment
  const std::uint64_t allocated = raw_.allocate(size + shift);
  Arena arena{size,
              allocated + static_cast<std::uint64_t>(shift),
              std::move(owner),
              {{0, Newer::kHost}},
              allocated};
  arena.came = ++arenas_so_far_;
  arenas_.emplace(host.data(), std::move(arena));
  ++generation_;
}

void DeviceMemory::forget(const std::byte* host) {
  const auto arena = arenas_.find(host);
  if (arena == arenas_.end()) return;
  raw_.free(arena->second.allocated);
  arenas_.erase(arena);
  ++generation_;
}

void DeviceMemory::set_read_only(const std::byte* host, bool is_read_only) {
  const auto arena = arenas_.find(host);
  GRAPHGATE_CHECK(arena != arenas_.end());
  if (arena->second.is_read_only == is_read_only) return;
  raw_.set_read_only(arena->second.allocated, is_read_only);
  arena->second.is_read_only = is_read_only;
}

std::shared_ptr<const std::span<std::byte>> DeviceMemory::reserve(std::int64_t size_bytes) {
  // Pages that nobody may touch: their addresses are taken, and nothing else.
  const auto size = static_cast<std::size_t>(size_bytes > 0 ? size_bytes : 1);
  void* pages = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  auto* const first = static_cast<std::byte*>(pages);
  const std::uint64_t allocated = raw_.allocate(static_cast<std::int64_t>(size));
  Arena arena{
      static_cast<std::int64_t>(size), allocated, nullptr, {{0, Newer::kDevice}}, allocated};
  arena.came = ++arenas_so_far_;
  arenas_.emplace(first, std::move(arena));
  ++generation_;
  return {new std::span<std::byte>(first, size), [this](const std::span<std::byte>* span) {
            forget(span->data());
            munmap(span->data(), span->size());
            delete span;
          }};
}

bool DeviceMemory::is_read_only(const std::byte* host) const {
  return arenas_.at(host).is_read_only;
}

DeviceSurroundings DeviceMemory::surroundings(const std::byte* host) const {
  const Arena& arena = arenas_.at(host);
  DeviceSurroundings around = raw_.surroundings(arena.allocated);
  if (raw_.is_guarded()) around.before += static_cast<std::int64_t>(arena.twin - arena.allocated);
  return around;
}

void DeviceMemory::fill(const std::byte* host, std::int64_t begin, std::int64_t end,
                        std::byte value) {
  const std::vector<std::byte> bytes(static_cast<std::size_t>(end - begin), value);
  raw_.to_device(arenas_.at(host).twin + static_cast<std::uint64_t>(begin), bytes);
}

std::vector<DeviceArena> DeviceMemory::arenas() const {
  std::map<std::uint64_t, DeviceArena> by_coming;
  for (const auto& [host, arena] : arenas_) {
    by_coming[arena.came] = {arena.twin, arena.size_bytes, arena.is_read_only};
  }
  std::vector<DeviceArena> out;
  out.reserve(by_coming.size());
  for (const auto& [came, arena] : by_coming) out.push_back(arena);
  return out;
}

std::uint64_t DeviceMemory::twin_of(const std::byte* host) const {
  const auto arena = arena_at(host);
  GRAPHGATE_CHECK(arena != arenas_.end());
  return arena->second.twin + static_cast<std::uint64_t>(host - arena->first);
}

DeviceMemory::Arena& DeviceMemory::arena_of(std::span<const std::byte> bytes, std::int64_t& begin) {
  const auto arena = arena_at(bytes.data());
  GRAPHGATE_CHECK(arena != arenas_.end());
  begin = bytes.data() - arena->first;
  GRAPHGATE_CHECK(begin + static_cast<std::int64_t>(bytes.size()) <= arena->second.size_bytes);
  return arenas_.find(arena->first)->second;
}

// An entry begins at `at`.
void DeviceMemory::split(Arena& arena, std::int64_t at) {
  if (at >= arena.size_bytes) return;
  const auto next = arena.newer.upper_bound(at);
  arena.newer.emplace(at, std::prev(next)->second);
}

void DeviceMemory::mark(Arena& arena, std::int64_t begin, std::int64_t end, Newer newer) {
  split(arena, begin);
  split(arena, end);
  arena.newer.erase(arena.newer.upper_bound(begin), arena.newer.lower_bound(end));
  arena.newer[begin] = newer;
  // Neighbours that say the same are one.
  const auto self = arena.newer.find(begin);
  const auto next = std::next(self);
  if (next != arena.newer.end() && next->second == newer) arena.newer.erase(next);
  if (self != arena.newer.begin() && std::prev(self)->second == newer) arena.newer.erase(self);
}

void DeviceMemory::host_wrote(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  std::int64_t begin = 0;
  Arena& arena = arena_of(bytes, begin);
  mark(arena, begin, begin + static_cast<std::int64_t>(bytes.size()), Newer::kHost);
}

void DeviceMemory::device_wrote(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  std::int64_t begin = 0;
  Arena& arena = arena_of(bytes, begin);
  mark(arena, begin, begin + static_cast<std::int64_t>(bytes.size()), Newer::kDevice);
}

// Calls copy(first offset, one behind, arena) for all that is newer on `side`, and equals them out.
template <class Copy>
void DeviceMemory::copy_newer(std::span<const std::byte> bytes, Newer side, Copy&& copy) {
  if (bytes.empty()) return;
  std::int64_t begin = 0;
  Arena& arena = arena_of(bytes, begin);
  const std::int64_t end = begin + static_cast<std::int64_t>(bytes.size());
  for (std::int64_t at = begin; at < end;) {
    const auto next = arena.newer.upper_bound(at);
    const std::int64_t run_end = next == arena.newer.end() ? end : std::min(next->first, end);
    if (std::prev(next)->second == side) {
      copy(at, run_end, arena);
      mark(arena, at, run_end, Newer::kNeither);
    }
    at = run_end;
  }
}

void DeviceMemory::bring_to_device(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  std::int64_t offset = 0;
  (void)arena_of(bytes, offset);
  const std::byte* const base = bytes.data() - offset;
  copy_newer(bytes, Newer::kHost, [&](std::int64_t begin, std::int64_t end, const Arena& arena) {
    raw_.to_device(arena.twin + static_cast<std::uint64_t>(begin),
                   {base + begin, static_cast<std::size_t>(end - begin)});
    bytes_to_device_ += end - begin;
  });
}

void DeviceMemory::bring_to_host(std::span<std::byte> bytes) {
  if (bytes.empty()) return;
  std::int64_t offset = 0;
  (void)arena_of(bytes, offset);
  std::byte* const base = bytes.data() - offset;
  copy_newer(bytes, Newer::kDevice, [&](std::int64_t begin, std::int64_t end, const Arena& arena) {
    raw_.to_host({base + begin, static_cast<std::size_t>(end - begin)},
                 arena.twin + static_cast<std::uint64_t>(begin));
    bytes_to_host_ += end - begin;
  });
}

}  // namespace graphgate::optimized
