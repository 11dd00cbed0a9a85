#include "conformance/verify/content_map.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace graphgate::verify {

std::vector<Writer> united(const std::vector<Writer>& a, const std::vector<Writer>& b) {
  std::vector<Writer> out;
  out.reserve(a.size() + b.size());
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

void ContentMap::split(std::int64_t at) {
  auto cell = cells_.upper_bound(at);
  if (cell == cells_.begin()) return;
  --cell;
  if (cell->first == at || cell->second.end_bytes <= at) return;
  Cell right = cell->second;
  cell->second.end_bytes = at;
  cells_.emplace_hint(std::next(cell), at, std::move(right));
}

void ContentMap::write(ByteRange range, const std::vector<Writer>& writers, bool may) {
  if (range.begin_bytes >= range.end_bytes) return;
  split(range.begin_bytes);
  split(range.end_bytes);
  cells_.erase(cells_.lower_bound(range.begin_bytes), cells_.lower_bound(range.end_bytes));
  if (!writers.empty()) cells_[range.begin_bytes] = {range.end_bytes, writers, may};
}

void ContentMap::write(const ByteSet& bytes, Writer writer) {
  for (const ByteRange& range : bytes.ranges) write(range, {writer}, false);
}

void ContentMap::may_write(const ByteSet& bytes, Writer writer) {
  for (const Content& content : read(bytes)) {
    write(content.range, united(content.writers, {writer}), true);
  }
}

std::vector<Content> ContentMap::read(const ByteSet& bytes) const {
  std::vector<Content> out;
  const auto add = [&](ByteRange range, const std::vector<Writer>& writers, bool may) {
    if (range.begin_bytes >= range.end_bytes) return;
    if (!out.empty() && out.back().range.end_bytes == range.begin_bytes &&
        out.back().writers == writers && out.back().may == may) {
      out.back().range.end_bytes = range.end_bytes;
    } else {
      out.push_back({range, writers, may});
    }
  };
  for (const ByteRange& range : bytes.ranges) {
    std::int64_t at = range.begin_bytes;
    auto cell = cells_.upper_bound(at);
    if (cell != cells_.begin() && std::prev(cell)->second.end_bytes > at) --cell;
    for (; cell != cells_.end() && cell->first < range.end_bytes; ++cell) {
      add({at, std::max(at, cell->first)}, {}, false);
      const std::int64_t begin = std::max(at, cell->first);
      const std::int64_t end = std::min(range.end_bytes, cell->second.end_bytes);
      add({begin, end}, cell->second.writers, cell->second.may);
      at = std::max(at, end);
    }
    add({at, range.end_bytes}, {}, false);
  }
  return out;
}

std::vector<Content> ContentMap::read_all() const {
  std::vector<Content> out;
  out.reserve(cells_.size());
  for (const auto& [begin, cell] : cells_) {
    out.push_back({{begin, cell.end_bytes}, cell.writers, cell.may});
  }
  return out;
}

void ContentMap::merge(const ContentMap& other) {
  std::set<std::int64_t> borders;
  for (const ContentMap* map : {static_cast<const ContentMap*>(this), &other}) {
    for (const auto& [begin, cell] : map->cells_) {
      borders.insert(begin);
      borders.insert(cell.end_bytes);
    }
  }
  ContentMap merged;
  for (auto border = borders.begin(); border != borders.end(); ++border) {
    const auto next = std::next(border);
    if (next == borders.end()) break;
    const ByteSet bytes{{{*border, *next}}, true};
    const Content a = read(bytes).front();
    const Content b = other.read(bytes).front();
    // Bytes that only one path wrote are there as if both had: who reads them was told so.
    merged.write(a.range, united(a.writers, b.writers), a.may || b.may);
  }
  cells_ = std::move(merged.cells_);
}

}  // namespace graphgate::verify
