#include "conformance/verify/content_map.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace graphgate::verify {

Writers united(const Writers& a, const Writers& b) {
  if (b.empty() || a == b) return a;
  if (a.empty()) return b;
  Writers out;
  out.reserve(a.size() + b.size());
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

void ContentMap::write(const Contents& contents) {
  Contents next;
  const Content* cell = cells_.begin();
  std::int64_t done = std::numeric_limits<std::int64_t>::min();  // where what is written ends
  // What there is of the cells between what is written and `border`.
  const auto keep_until = [&](std::int64_t border) {
    for (; cell != cells_.end() && cell->range.begin_bytes < border; ++cell) {
      const std::int64_t begin = std::max(cell->range.begin_bytes, done);
      const std::int64_t end = std::min(cell->range.end_bytes, border);
      if (begin < end) next.push_back({{begin, end}, cell->writers, cell->may});
      if (cell->range.end_bytes > border) return;  // goes on behind it
    }
  };
  for (const Content& content : contents) {
    if (content.range.begin_bytes >= content.range.end_bytes) continue;
    keep_until(content.range.begin_bytes);
    if (!content.writers.empty()) next.push_back(content);
    done = content.range.end_bytes;
    while (cell != cells_.end() && cell->range.end_bytes <= done) ++cell;
  }
  keep_until(kNoEnd);
  cells_ = std::move(next);
}

void ContentMap::write(const ByteSet& bytes, Writer writer) {
  Contents contents;
  contents.reserve(bytes.ranges.size());
  for (const ByteRange& range : bytes.ranges) contents.push_back({range, {writer}, false});
  write(contents);
}

void ContentMap::begin_with(const ByteSet& bytes, Writer writer) {
  Contents contents = read(bytes);
  for (Content& content : contents) {
    content.may = !content.writers.empty();
    content.writers = united(content.writers, {writer});
  }
  write(contents);
}

void ContentMap::may_write(const ByteSet& bytes, Writer writer) {
  Contents contents = read(bytes);
  for (Content& content : contents) {
    content.writers = united(content.writers, {writer});
    content.may = true;
  }
  write(contents);
}

Contents ContentMap::read(const ByteSet& bytes) const {
  Contents out;
  const auto add = [&](ByteRange range, const Writers& writers, bool may) {
    if (range.begin_bytes >= range.end_bytes) return;
    if (!out.empty() && out.back().range.end_bytes == range.begin_bytes &&
        out.back().writers == writers && out.back().may == may) {
      out.back().range.end_bytes = range.end_bytes;
    } else {
      out.push_back({range, writers, may});
    }
  };
  const auto ends_by = [](const Content& cell, std::int64_t at) {
    return cell.range.end_bytes <= at;
  };
  for (const ByteRange& range : bytes.ranges) {
    std::int64_t at = range.begin_bytes;
    const Content* cell = std::lower_bound(cells_.begin(), cells_.end(), at, ends_by);
    for (; cell != cells_.end() && cell->range.begin_bytes < range.end_bytes; ++cell) {
      const std::int64_t begin = std::max(at, cell->range.begin_bytes);
      const std::int64_t end = std::min(range.end_bytes, cell->range.end_bytes);
      add({at, begin}, {}, false);
      add({begin, end}, cell->writers, cell->may);
      at = end;
    }
    add({at, range.end_bytes}, {}, false);
  }
  return out;
}

void ContentMap::merge(const ContentMap& other) {
  if (cells_ == other.cells_) return;
  std::set<std::int64_t> borders;
  for (const ContentMap* map : {static_cast<const ContentMap*>(this), &other}) {
    for (const Content& cell : map->cells_) {
      borders.insert(cell.range.begin_bytes);
      borders.insert(cell.range.end_bytes);
    }
  }
  Contents merged;
  for (auto border = borders.begin(); border != borders.end(); ++border) {
    const auto next = std::next(border);
    if (next == borders.end()) break;
    const ByteSet bytes{{{*border, *next}}, true};
    const Content a = read(bytes).front();
    const Content b = other.read(bytes).front();
    // Bytes that only one path wrote are there as if both had: who reads them was told so.
    Content both{a.range, united(a.writers, b.writers), a.may || b.may};
    if (!both.writers.empty()) merged.push_back(std::move(both));
  }
  cells_ = std::move(merged);
}

}  // namespace graphgate::verify
