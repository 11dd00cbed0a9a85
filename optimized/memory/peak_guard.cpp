#include "optimized/memory/peak_guard.h"

#include <algorithm>
#include <limits>

namespace graphgate::optimized {

constexpr std::int64_t kNothing = std::numeric_limits<std::int64_t>::min() / 2;

PeakGuard::PeakGuard(const std::vector<std::int64_t>& live_bytes)
    : steps_(static_cast<std::int64_t>(live_bytes.size())),
      most_(4 * live_bytes.size() + 4, 0),
      added_(4 * live_bytes.size() + 4, 0) {
  if (steps_ == 0) return;
  build(1, {0, steps_}, live_bytes);
  peak_ = most_[1];
}

void PeakGuard::build(std::size_t node, Span span, const std::vector<std::int64_t>& live_bytes) {
  if (span.end - span.begin == 1) {
    most_[node] = live_bytes[static_cast<std::size_t>(span.begin)];
    return;
  }
  const std::int64_t middle = (span.begin + span.end) / 2;
  build(2 * node, {span.begin, middle}, live_bytes);
  build(2 * node + 1, {middle, span.end}, live_bytes);
  most_[node] = std::max(most_[2 * node], most_[2 * node + 1]);
}

void PeakGuard::add(std::size_t node, Span span, Span where, std::int64_t bytes) {
  if (where.end <= span.begin || span.end <= where.begin) return;
  if (where.begin <= span.begin && span.end <= where.end) {
    most_[node] += bytes;
    added_[node] += bytes;
    return;
  }
  const std::int64_t middle = (span.begin + span.end) / 2;
  add(2 * node, {span.begin, middle}, where, bytes);
  add(2 * node + 1, {middle, span.end}, where, bytes);
  most_[node] = std::max(most_[2 * node], most_[2 * node + 1]) + added_[node];
}

std::int64_t PeakGuard::most(std::size_t node, Span span, Span where) const {
  if (where.end <= span.begin || span.end <= where.begin) return kNothing;
  if (where.begin <= span.begin && span.end <= where.end) return most_[node];
  const std::int64_t middle = (span.begin + span.end) / 2;
  const std::int64_t below = std::max(most(2 * node, {span.begin, middle}, where),
                                      most(2 * node + 1, {middle, span.end}, where));
  return below + added_[node];
}

std::int64_t PeakGuard::most(std::int64_t begin, std::int64_t end) const {
  return begin < end ? most(1, {0, steps_}, {begin, end}) : 0;
}

bool PeakGuard::hold(std::int64_t begin, std::int64_t end, std::int64_t bytes) {
  if (begin >= end) return true;
  if (most(begin, end) + bytes > peak_) return false;
  add(1, {0, steps_}, {begin, end}, bytes);
  return true;
}

}  // namespace graphgate::optimized
