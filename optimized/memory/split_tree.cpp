#include "optimized/memory/split_tree.h"

#include <algorithm>
#include <limits>

namespace graphgate::optimized {

SplitTree::SplitTree(std::size_t block, std::int64_t hint_bytes, Lifetime lifetime) {
  root_ = add_temporal(add_block(block, hint_bytes));
  note_lifetime(nodes_[root_].children.front(), lifetime);
}

std::size_t SplitTree::add(Kind kind, std::int64_t hint_bytes) {
  Node node;
  node.kind = kind;
  node.hint_bytes = hint_bytes;
  nodes_.push_back(std::move(node));
  return nodes_.size() - 1;
}

std::size_t SplitTree::add_block(std::size_t block, std::int64_t hint_bytes) {
  const std::size_t index = add(Kind::kBlock, hint_bytes);
  nodes_[index].block = block;
  return index;
}

// Hints only guide: a sum beyond 64 bits is the largest number. True sizes are checked.
std::size_t SplitTree::add_spatial(std::size_t left, std::size_t right) {
  std::int64_t hint_bytes = 0;
  if (__builtin_add_overflow(nodes_[left].hint_bytes, nodes_[right].hint_bytes, &hint_bytes)) {
    hint_bytes = std::numeric_limits<std::int64_t>::max();
  }
  const std::size_t index = add(Kind::kSpatial, hint_bytes);
  nodes_[index].children = {left, right};
  nodes_[left].parent = index;
  nodes_[right].parent = index;
  return index;
}

std::size_t SplitTree::add_temporal(std::size_t child) {
  const std::size_t index = add(Kind::kTemporal, nodes_[child].hint_bytes);
  nodes_[index].children = {child};
  nodes_[child].parent = index;
  return index;
}

// Depth first, left before right. Only the rightmost path may grow.
bool SplitTree::insert(std::size_t block, std::int64_t hint_bytes, Lifetime lifetime,
                       bool may_grow) {
  struct Visit {
    std::size_t node;
    bool may_grow;
  };
  std::vector<Visit> to_see = {{root_, may_grow}};
  while (!to_see.empty()) {
    const Visit visit = to_see.back();
    to_see.pop_back();
    const Node& node = nodes_[visit.node];
    if (node.kind == Kind::kSpatial) {
      to_see.push_back({node.children[1], visit.may_grow});
      to_see.push_back({node.children[0], false});
    } else if (node.kind == Kind::kTemporal) {
      const Answer answer = ask(visit.node, hint_bytes, lifetime, visit.may_grow);
      if (answer.fits) {
        take(visit.node, block, hint_bytes, lifetime);
        return true;
      }
      if (answer.child != kNone) to_see.push_back({answer.child, visit.may_grow});
    }
  }
  return false;
}

SplitTree::Answer SplitTree::ask(std::size_t temporal, std::int64_t hint_bytes, Lifetime lifetime,
                                 bool may_grow) const {
  const Node& node = nodes_[temporal];
  if (hint_bytes > node.hint_bytes && !may_grow) return {};
  auto at = node.lifetimes.upper_bound(lifetime.begin);
  if (at != node.lifetimes.begin() && std::prev(at)->second.first > lifetime.begin) --at;
  Answer answer;
  for (; at != node.lifetimes.end() && at->first < lifetime.end; ++at) {
    const std::size_t child = at->second.second;
    if (answer.child != kNone && answer.child != child) return {};
    answer.child = child;
  }
  answer.fits = answer.child == kNone;
  return answer;
}

// Nothing in the split overlaps the block in time.
void SplitTree::take(std::size_t temporal, std::size_t block, std::int64_t hint_bytes,
                     Lifetime lifetime) {
  const std::int64_t room = nodes_[temporal].hint_bytes - hint_bytes;
  if (room < 0) widen(temporal, hint_bytes);
  const std::size_t leaf = add_block(block, hint_bytes);
  std::size_t child = leaf;
  if (room > 0) child = add_spatial(leaf, add_temporal(add(Kind::kGap, room)));
  nodes_[child].parent = temporal;
  nodes_[temporal].children.push_back(child);
  note_lifetime(leaf, lifetime);
  update_sizes(temporal);
}

// Every child gets a gap behind it, up to the new size: a spatial split takes its place, and all
// that is known of it.
void SplitTree::widen(std::size_t temporal, std::int64_t hint_bytes) {
  std::map<std::size_t, std::size_t> wrapped;
  for (std::size_t place = 0; place < nodes_[temporal].children.size(); ++place) {
    const std::size_t child = nodes_[temporal].children[place];
    const std::int64_t room = hint_bytes - nodes_[child].hint_bytes;
    const std::size_t spatial = add_spatial(child, add_temporal(add(Kind::kGap, room)));
    nodes_[temporal].children[place] = spatial;
    nodes_[spatial].parent = temporal;
    wrapped.emplace(child, spatial);
  }
  for (auto& [begin, end_and_child] : nodes_[temporal].lifetimes) {
    end_and_child.second = wrapped.at(end_and_child.second);
  }
}

void SplitTree::append(std::size_t block, std::int64_t hint_bytes, Lifetime lifetime) {
  const std::size_t leaf = add_block(block, hint_bytes);
  const std::size_t old_root = root_;
  // The new root knows the lifetimes below it, merged: they all belong to its one child.
  const auto below = nodes_[old_root].lifetimes;
  root_ = add_temporal(add_spatial(old_root, add_temporal(leaf)));
  const std::size_t spatial = nodes_[root_].children.front();
  for (const auto& [begin, end_and_child] : below) {
    nodes_[root_].lifetimes[begin] = {end_and_child.first, spatial};
  }
  note_lifetime(leaf, lifetime);
}

// Tells every temporal split above `child`, where the lifetime may overlap what the same child has.
void SplitTree::note_lifetime(std::size_t child, Lifetime lifetime) {
  for (std::size_t parent = nodes_[child].parent; parent != kNone;
       child = parent, parent = nodes_[child].parent) {
    if (nodes_[parent].kind != Kind::kTemporal) continue;
    auto& lifetimes = nodes_[parent].lifetimes;
    Lifetime merged = lifetime;
    auto at = lifetimes.upper_bound(merged.begin);
    if (at != lifetimes.begin() && std::prev(at)->second.first > merged.begin) --at;
    while (at != lifetimes.end() && at->first < merged.end) {
      merged.begin = std::min(merged.begin, at->first);
      merged.end = std::max(merged.end, at->second.first);
      at = lifetimes.erase(at);
    }
    lifetimes[merged.begin] = {merged.end, child};
  }
}

void SplitTree::update_sizes(std::size_t from) {
  for (std::size_t index = from; index != kNone; index = nodes_[index].parent) {
    Node& node = nodes_[index];
    std::int64_t size = 0;
    for (const std::size_t child : node.children) {
      const std::int64_t below = nodes_[child].hint_bytes;
      size = node.kind == Kind::kTemporal ? std::max(size, below) : size + below;
    }
    if (size == node.hint_bytes && index != from) return;
    node.hint_bytes = size;
  }
}

}  // namespace graphgate::optimized
