#include "optimized/runtime/device/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <new>

#include "base/result.h"

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
  const std::uint64_t allocated = [&] {
    try {
      return raw_.allocate(static_cast<std::int64_t>(size));
    } catch (...) {
      munmap(pages, size);
      throw;
    }
  }();
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

std::optional<std::uint64_t> DeviceMemory::twin_of(std::span<const std::byte> host) const {
  const auto arena = arena_at(host.data());
  if (arena == arenas_.end()) return std::nullopt;
  const std::int64_t begin = host.data() - arena->first;
  if (begin + static_cast<std::int64_t>(host.size()) > arena->second.size_bytes) {
    return std::nullopt;
  }
  return arena->second.twin + static_cast<std::uint64_t>(begin);
}

std::uint64_t DeviceMemory::twin_of(const std::byte* host) const {
  if (host == nullptr) return 0;
  const auto arena = arena_at(host);
  GRAPHGATE_CHECK(arena != arenas_.end());
  return arena->second.twin + static_cast<std::uint64_t>(host - arena->first);
}

DeviceMemory::Ranges::Found DeviceMemory::find(std::span<std::byte> bytes) {
  const auto at = arena_at(bytes.data());
  GRAPHGATE_CHECK(at != arenas_.end());
  const auto arena = arenas_.find(at->first);
  const std::int64_t begin = bytes.data() - arena->first;
  const std::int64_t end = begin + static_cast<std::int64_t>(bytes.size());
  GRAPHGATE_CHECK(end <= arena->second.size_bytes);
  return {&arena->second, bytes.data() - begin, begin, end};
}

void DeviceMemory::find(Ranges& ranges) {
  if (ranges.generation_ == generation_) return;
  ranges.found_.clear();
  auto bytes = ranges.bytes_;
  std::ranges::sort(bytes, [](const auto& a, const auto& b) { return a.data() < b.data(); });
  for (const std::span<std::byte> one : bytes) {
    if (one.empty()) continue;
    const Ranges::Found found = find(one);
    if (!ranges.found_.empty()) {
      Ranges::Found& last = ranges.found_.back();
      if (last.arena == found.arena && found.begin <= last.end) {
        last.end = std::max(last.end, found.end);
        continue;
      }
    }
    ranges.found_.push_back(found);
  }
  ranges.generation_ = generation_;
}

// Which stretch has the byte.
std::size_t DeviceMemory::stretch_at(const Arena& arena, std::int64_t at) {
  const auto next =
      std::upper_bound(arena.stretches.begin(), arena.stretches.end(), at,
                       [](std::int64_t byte, const Stretch& one) { return byte < one.begin; });
  return static_cast<std::size_t>(next - arena.stretches.begin()) - 1;
}

void DeviceMemory::mark(const Ranges::Found& range, Newer newer) {
  std::vector<Stretch>& all = range.arena->stretches;
  const std::size_t first = stretch_at(*range.arena, range.begin);
  const bool ends_there = first + 1 == all.size() || all[first + 1].begin >= range.end;
  if (all[first].newer == newer && ends_there) return;
  // What stays of the first stretch, then the new one, then what stays of the last: neighbours
  // that say the same are one.
  std::array<Stretch, 3> parts;
  std::size_t count = 0;
  const auto add = [&](std::int64_t begin, Newer side) {
    if (count == 0 || parts.at(count - 1).newer != side) parts.at(count++) = {begin, side};
  };
  std::size_t behind = stretch_at(*range.arena, range.end - 1) + 1;
  std::size_t from = first;
  if (all[first].begin < range.begin) {
    add(all[first].begin, all[first].newer);
  } else if (first > 0) {
    --from;
    add(all[from].begin, all[from].newer);
  }
  add(range.begin, newer);
  const std::int64_t next = behind == all.size() ? range.arena->size_bytes : all[behind].begin;
  if (range.end < next) {
    add(range.end, all[behind - 1].newer);
  } else if (behind < all.size()) {
    add(range.end, all[behind].newer);
    ++behind;
  }
  const auto place = all.begin() + static_cast<std::ptrdiff_t>(from);
  const auto kept = std::min(count, behind - from);
  std::copy_n(parts.begin(), kept, place);
  if (kept < count) {
    all.insert(place + static_cast<std::ptrdiff_t>(kept), parts.begin() + kept,
               parts.begin() + count);
  } else {
    all.erase(place + static_cast<std::ptrdiff_t>(kept),
              all.begin() + static_cast<std::ptrdiff_t>(behind));
  }
}

// Calls copy(range) for each stretch of the range that is newer on `side`, and equals them out.
template <class Copy>
void DeviceMemory::copy_newer(const Ranges::Found& range, Newer side, Copy&& copy) {
  const std::vector<Stretch>& all = range.arena->stretches;
  for (std::int64_t at = range.begin; at < range.end;) {
    const std::size_t stretch = stretch_at(*range.arena, at);
    const std::int64_t end =
        stretch + 1 == all.size() ? range.end : std::min(all[stretch + 1].begin, range.end);
    if (all[stretch].newer == side) {
      const Ranges::Found part{range.arena, range.base, at, end};
      copy(part);
      mark(part, Newer::kNeither);
    }
    at = end;
  }
}

void DeviceMemory::to_device(const Ranges::Found& range) {
  copy_newer(range, Newer::kHost, [this](const Ranges::Found& part) {
    raw_.to_device(part.arena->twin + static_cast<std::uint64_t>(part.begin),
                   {part.base + part.begin, part.base + part.end});
    bytes_to_device_ += part.end - part.begin;
  });
}

void DeviceMemory::to_host(const Ranges::Found& range) {
  copy_newer(range, Newer::kDevice, [this](const Ranges::Found& part) {
    raw_.to_host({part.base + part.begin, part.base + part.end},
                 part.arena->twin + static_cast<std::uint64_t>(part.begin));
    bytes_to_host_ += part.end - part.begin;
  });
}

void DeviceMemory::host_wrote(std::span<std::byte> bytes) {
  if (!bytes.empty()) mark(find(bytes), Newer::kHost);
}
void DeviceMemory::device_wrote(std::span<std::byte> bytes) {
  if (!bytes.empty()) mark(find(bytes), Newer::kDevice);
}
void DeviceMemory::bring_to_device(std::span<std::byte> bytes) {
  if (!bytes.empty()) to_device(find(bytes));
}
void DeviceMemory::bring_to_host(std::span<std::byte> bytes) {
  start_to_host(bytes);
  arrive();
}
void DeviceMemory::start_to_host(std::span<std::byte> bytes) {
  if (!bytes.empty()) to_host(find(bytes));
}

void DeviceMemory::host_wrote(Ranges& ranges) {
  find(ranges);
  for (const Ranges::Found& range : ranges.found_) mark(range, Newer::kHost);
}
void DeviceMemory::device_wrote(Ranges& ranges) {
  find(ranges);
  for (const Ranges::Found& range : ranges.found_) mark(range, Newer::kDevice);
}
void DeviceMemory::bring_to_device(Ranges& ranges) {
  find(ranges);
  for (const Ranges::Found& range : ranges.found_) to_device(range);
}
void DeviceMemory::bring_to_host(Ranges& ranges) {
  start_to_host(ranges);
  arrive();
}
void DeviceMemory::start_to_host(Ranges& ranges) {
  find(ranges);
  for (const Ranges::Found& range : ranges.found_) to_host(range);
}

}  // namespace graphgate::optimized
