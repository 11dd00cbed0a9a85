// One pool of pools.h: a tree of splits.
//
// Nodes refer to each other by index, and every walk keeps its own stack: a pool in which thousands
// of blocks live at once is thousands of splits deep.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "optimized/analysis/liveness.h"

namespace graphgate::optimized {

class SplitTree {
 public:
  // The pool begins with one block, by its id, size at the hints and lifetime.
  SplitTree(std::size_t block, std::int64_t hint_bytes, Lifetime lifetime);

  // Places the block where a split takes it. `may_grow`: the last split may become larger.
  [[nodiscard]] bool insert(std::size_t block, std::int64_t hint_bytes, Lifetime lifetime,
                            bool may_grow);
  // Places the block behind everything.
  void append(std::size_t block, std::int64_t hint_bytes, Lifetime lifetime);

  // Calls visit(block, offset_bytes) for every block; returns the pool's size. `bytes_of` gives the
  // true size of a block. kBadInput when sums leave 64 bits.
  template <class BytesOf, class Visit>
  [[nodiscard]] Result<std::int64_t> place(BytesOf&& bytes_of, Visit&& visit) const;

 private:
  enum class Kind : std::uint8_t { kBlock, kGap, kTemporal, kSpatial };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  struct Node {
    Kind kind = Kind::kBlock;
    std::size_t parent = kNone;
    std::size_t block = kNone;          // of kBlock
    std::int64_t hint_bytes = 0;        // of everything below
    std::vector<std::size_t> children;  // of kSpatial: left, right
    // Of kTemporal: by begin, the end of a lifetime below and the child it belongs to. Disjoint.
    std::map<std::int64_t, std::pair<std::int64_t, std::size_t>> lifetimes;
  };
  // How a temporal split answers to a block.
  struct Answer {
    bool fits = false;          // into the split itself
    std::size_t child = kNone;  // else: where to look further
  };

  std::size_t add(Kind kind, std::int64_t hint_bytes);
  std::size_t add_block(std::size_t block, std::int64_t hint_bytes);
  std::size_t add_spatial(std::size_t left, std::size_t right);
  std::size_t add_temporal(std::size_t child);
  [[nodiscard]] Answer ask(std::size_t temporal, std::int64_t hint_bytes, Lifetime lifetime,
                           bool may_grow) const;
  void take(std::size_t temporal, std::size_t block, std::int64_t hint_bytes, Lifetime lifetime);
  void widen(std::size_t temporal, std::int64_t hint_bytes);
  void note_lifetime(std::size_t child, Lifetime lifetime);
  void update_sizes(std::size_t from);

  std::vector<Node> nodes_;
  std::size_t root_ = kNone;
};

template <class BytesOf, class Visit>
Result<std::int64_t> SplitTree::place(BytesOf&& bytes_of, Visit&& visit) const {
  // Children have higher or lower numbers than their parents: sizes are found in an order in which
  // children come first.
  std::vector<std::size_t> order = {root_};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::vector<std::size_t>& children = nodes_[order[i]].children;
    order.insert(order.end(), children.begin(), children.end());
  }
  std::vector<std::int64_t> sizes(nodes_.size(), 0);
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const Node& node = nodes_[*at];
    std::int64_t& size = sizes[*at];
    if (node.kind == Kind::kBlock) size = bytes_of(node.block);
    for (const std::size_t child : node.children) {
      if (node.kind == Kind::kTemporal) {
        size = size < sizes[child] ? sizes[child] : size;
      } else if (__builtin_add_overflow(size, sizes[child], &size)) {
        return bad_input("a pool of memory leaves 64 bits");
      }
    }
  }
  std::vector<std::int64_t> offsets(nodes_.size(), 0);
  for (const std::size_t index : order) {
    const Node& node = nodes_[index];
    if (node.kind == Kind::kBlock) visit(node.block, offsets[index]);
    for (const std::size_t child : node.children) offsets[child] = offsets[index];
    if (node.kind == Kind::kSpatial) offsets[node.children[1]] += sizes[node.children[0]];
  }
  return sizes[root_];
}

}  // namespace graphgate::optimized
