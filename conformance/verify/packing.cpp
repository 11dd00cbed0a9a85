#include "conformance/verify/packing.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

namespace graphgate::verify {
namespace {

using spec::Finding;

std::string place_of(const PackedBuffer& buffer) {
  return "'" + buffer.name + "' (times [" + std::to_string(buffer.lower) + ", " +
         std::to_string(buffer.upper) + "), " + std::to_string(buffer.size_bytes) +
         " bytes at offset " + std::to_string(buffer.offset_bytes) + ")";
}

// Without a sum that could leave 64 bits.
bool fits(const PackedBuffer& buffer, std::int64_t capacity_bytes) {
  return buffer.offset_bytes >= 0 && buffer.size_bytes <= capacity_bytes &&
         buffer.offset_bytes <= capacity_bytes - buffer.size_bytes;
}

bool meet(const PackedBuffer& a, const PackedBuffer& b) {
  return a.lower < b.upper && b.lower < a.upper && a.offset_bytes < b.offset_bytes + b.size_bytes &&
         b.offset_bytes < a.offset_bytes + a.size_bytes;
}

Finding overlap(const PackedBuffer& a, const PackedBuffer& b) {
  const std::int64_t begin = std::max(a.offset_bytes, b.offset_bytes);
  const std::int64_t end = std::min(a.offset_bytes + a.size_bytes, b.offset_bytes + b.size_bytes);
  return Finding{.rule = "V3.overlap",
                 .message = place_of(a) + " and " + place_of(b) + " share bytes [" +
                            std::to_string(begin) + ", " + std::to_string(end) + ") at times [" +
                            std::to_string(std::max(a.lower, b.lower)) + ", " +
                            std::to_string(std::min(a.upper, b.upper)) + "): move one of them",
                 .buffers = {a.name, b.name},
                 .ranges = {{"arena", begin, end}}};
}

// Whether two may meet: buffers that are in use lie beside each other, so one that comes and meets
// any of them meets a neighbour. O(n log n), where pairs would be O(n^2). Where a buffer has no
// bytes or no time, pairs have to be looked at. All fit into 64 bits.
bool two_may_meet(const std::vector<const PackedBuffer*>& buffers) {
  struct Change {
    std::int64_t time = 0;
    bool comes = false;  // at one time those that go are first
    const PackedBuffer* buffer = nullptr;
  };
  std::vector<Change> changes;
  for (const PackedBuffer* buffer : buffers) {
    if (buffer->lower >= buffer->upper || buffer->size_bytes <= 0) return true;
    changes.push_back({buffer->lower, true, buffer});
    changes.push_back({buffer->upper, false, buffer});
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return a.time != b.time ? a.time < b.time : a.comes < b.comes;
  });
  std::map<std::int64_t, const PackedBuffer*> in_use;  // by offset
  for (const auto& [time, comes, buffer] : changes) {
    if (!comes) {
      in_use.erase(buffer->offset_bytes);
      continue;
    }
    const auto above = in_use.lower_bound(buffer->offset_bytes);
    if (above != in_use.end() && meet(*above->second, *buffer)) return true;
    if (above != in_use.begin() && meet(*std::prev(above)->second, *buffer)) return true;
    in_use.emplace(buffer->offset_bytes, buffer);
  }
  return false;
}

}  // namespace

std::vector<Finding> verify_packing(std::span<const PackedBuffer> buffers,
                                    std::optional<std::int64_t> capacity_bytes) {
  const std::int64_t capacity = capacity_bytes.value_or(std::numeric_limits<std::int64_t>::max());
  std::vector<Finding> out;
  std::vector<const PackedBuffer*> placed;
  for (const PackedBuffer& buffer : buffers) {
    if (fits(buffer, capacity)) placed.push_back(&buffer);
    // What begins below 0 or ends beyond 64 bits meets nobody in a sum that can be made.
    if (fits(buffer, capacity)) continue;
    out.push_back({.rule = "V3.capacity",
                   .message = place_of(buffer) + " does not lie in an arena of " +
                              std::to_string(capacity) + " bytes: place it lower, or ask for more",
                   .buffers = {buffer.name}});
  }
  if (!two_may_meet(placed)) return out;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    for (std::size_t k = i + 1; k < placed.size(); ++k) {
      if (meet(*placed[i], *placed[k])) out.push_back(overlap(*placed[i], *placed[k]));
    }
  }
  return out;
}

}  // namespace graphgate::verify
