#include "optimized/runtime/host/shadow_image.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace graphgate::optimized {
namespace {

constexpr std::int64_t kBlockBytes = 4096;
constexpr std::int64_t kJoinedBytes = 16;

bool equal(std::int64_t address, const std::byte* bytes, std::int64_t size) {
  return std::memcmp(bytes_at(address), bytes, static_cast<std::size_t>(size)) == 0;
}

// Differing bytes of one block, joined with the last range where they are near.
void add_differences(std::int64_t address, const std::byte* bytes, std::int64_t size,
                     std::vector<ShadowRange>& out) {
  for (std::int64_t i = 0; i < size; ++i) {
    if (*bytes_at(address + i) == bytes[i]) continue;
    if (out.empty() || out.back().end + kJoinedBytes < address + i) {
      out.push_back({address + i, address + i});
    }
    out.back().end = address + i + 1;
  }
}

}  // namespace

template <class Regions, class Visit>
void ShadowImage::for_each_part(Regions& regions, ShadowRange range, Visit&& visit) {
  auto at = std::upper_bound(regions.begin(), regions.end(), range.begin,
                             [](std::int64_t a, const Region& r) { return a < r.end(); });
  for (; at != regions.end() && at->begin < range.end; ++at) {
    visit(*at, ShadowRange{std::max(range.begin, at->begin), std::min(range.end, at->end())});
  }
}

void ShadowImage::build(std::vector<std::span<const std::byte>> spans) {
  regions_.clear();
  std::erase_if(spans, [](const auto& span) { return span.empty(); });
  std::ranges::sort(spans, [](const auto& a, const auto& b) {
    return address_of(a.data()) < address_of(b.data());
  });
  std::vector<ShadowRange> joined;
  for (const auto& span : spans) {
    const std::int64_t begin = address_of(span.data());
    const std::int64_t end = begin + std::ssize(span);
    if (!joined.empty() && begin < joined.back().end) {
      joined.back().end = std::max(joined.back().end, end);
    } else {
      joined.push_back({begin, end});
    }
  }
  for (const ShadowRange& range : joined) {
    regions_.push_back({range.begin, {bytes_at(range.begin), bytes_at(range.end)}});
  }
}

void ShadowImage::add(std::span<const std::byte> span) {
  if (span.empty()) return;
  const std::int64_t begin = address_of(span.data());
  const auto at = std::lower_bound(regions_.begin(), regions_.end(), begin,
                                   [](const Region& r, std::int64_t a) { return r.begin < a; });
  regions_.insert(at, Region{begin, {span.begin(), span.end()}});
}

std::int64_t ShadowImage::size_bytes() const {
  std::int64_t size = 0;
  for (const Region& region : regions_) size += std::ssize(region.bytes);
  return size;
}

void ShadowImage::take(ShadowRange range) {
  for_each_part(regions_, range, [](Region& region, ShadowRange part) {
    std::memcpy(region.bytes.data() + (part.begin - region.begin), bytes_at(part.begin),
                static_cast<std::size_t>(part.end - part.begin));
  });
}

void ShadowImage::put(ShadowRange range) const {
  for_each_part(regions_, range, [&](const Region& region, ShadowRange part) {
    std::memcpy(bytes_at(part.begin), region.bytes.data() + (part.begin - region.begin),
                static_cast<std::size_t>(part.end - part.begin));
  });
}

std::byte* ShadowImage::at(std::int64_t address) {
  std::byte* found = nullptr;
  for_each_part(regions_, {address, address + 1}, [&](Region& region, ShadowRange) {
    found = region.bytes.data() + (address - region.begin);
  });
  return found;
}

bool ShadowImage::differs(ShadowRange range) const {
  bool differs = false;
  for_each_part(regions_, range, [&](const Region& region, ShadowRange part) {
    differs = differs || !equal(part.begin, region.bytes.data() + (part.begin - region.begin),
                                part.end - part.begin);
  });
  return differs;
}

std::vector<ShadowRange> ShadowImage::differences(ShadowRange range) const {
  std::vector<ShadowRange> out;
  for_each_part(regions_, range, [&](const Region& region, ShadowRange part) {
    for (std::int64_t at = part.begin; at < part.end; at += kBlockBytes) {
      const std::int64_t size = std::min(kBlockBytes, part.end - at);
      const std::byte* const bytes = region.bytes.data() + (at - region.begin);
      if (!equal(at, bytes, size)) add_differences(at, bytes, size, out);
    }
  });
  return out;
}

std::vector<ShadowRange> ShadowImage::differences() const {
  using Limits = std::numeric_limits<std::int64_t>;
  return differences({Limits::min(), Limits::max()});
}

}  // namespace graphgate::optimized
