#include "optimized/schedule/fuse_groups.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>

#include "optimized/analysis/dependences.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;

// Nodes' accesses, found by byte range: for each storage a tree whose keys are length class and
// begin. All lengths of class `c` are below 2^c, so what meets a range begins less than 2^c before
// it.
class NotedAccesses {
 public:
  struct Entry {
    ByteRange bytes;
    const Tensor* tensor = nullptr;  // null where only the range is known
    std::uint32_t node = 0;
  };

  void add(const Access& access, std::uint32_t node) {
    OfStorage& noted = storages_[access.storage];
    const int length_class = static_cast<int>(
        std::bit_width(static_cast<std::uint64_t>(access.bytes.end - access.bytes.begin)));
    noted.classes |= std::uint64_t{1} << static_cast<unsigned>(length_class);
    noted.tree.emplace(std::pair{length_class, access.bytes.begin},
                       Entry{access.bytes, access.tensor, node});
  }

  // Visits what may share bytes with the access. `is_needed` tells entries that are kept: the
  // others are forgotten as they are met.
  template <class IsNeeded, class Visit>
  void for_each_meeting(const Access& access, IsNeeded&& is_needed, Visit&& visit) {
    const auto found = storages_.find(access.storage);
    if (found == storages_.end()) return;
    auto& tree = found->second.tree;
    for (std::uint64_t left = found->second.classes; left != 0; left &= left - 1) {
      const int length_class = std::countr_zero(left);
      const std::int64_t reach =
          length_class >= 63 ? access.bytes.begin : (std::int64_t{1} << length_class) - 1;
      const std::int64_t first = access.bytes.begin - std::min(access.bytes.begin, reach);
      auto at = tree.lower_bound({length_class, first});
      while (at != tree.end() && at->first < std::pair{length_class, access.bytes.end}) {
        if (!is_needed(at->second)) {
          at = tree.erase(at);
          continue;
        }
        if (may_share_bytes(access, at->second)) visit(at->second);
        ++at;
      }
    }
  }

 private:
  struct OfStorage {
    std::multimap<std::pair<int, std::int64_t>, Entry> tree;
    std::uint64_t classes = 0;
  };

  static bool may_share_bytes(const Access& a, const Entry& b) {
    if (!a.bytes.overlaps(b.bytes)) return false;
    return a.tensor == nullptr || b.tensor == nullptr || !provably_disjoint(*a.tensor, *b.tensor);
  }

  std::unordered_map<StorageIndex, OfStorage> storages_;
};

// Nodes are counted from the first of the partition. A group has the place of one of its nodes,
// its root; `parent_` leads to it.
class Scan {
 public:
  Scan(const SizedGraph& graph, std::span<const SizedNode> nodes,
       std::span<const Accesses> accesses, const FuseLimits& limits,
       const spec::DeviationSet& deviations)
      : nodes_(nodes),
        accesses_(accesses),
        limits_(limits),
        finder_(graph, deviations),
        ignores_readers_(deviations.has(Deviation::kWritesBeforePendingReaders)),
        by_name_(deviations.has(Deviation::kPendingReadersByName)),
        forgets_fused_(deviations.has(Deviation::kPrunesWeakDependences)),
        waiting_(nodes.size()),
        parent_(nodes.size()) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }

  std::vector<Launched> run() {
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) take(n);
    std::vector<std::uint32_t> left;
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      if (waiting_[n].group) left.push_back(n);
    }
    sort_by_age(left);
    for (const std::uint32_t root : left) finish(root);
    return std::move(out_);
  }

 private:
  // Null but for roots of groups that wait. `changed`: the node that joined it last.
  struct Waiting {
    std::unique_ptr<FuseGroup> group;
    std::uint32_t changed = 0;
  };

  void take(std::uint32_t n) {
    const Accesses& accesses = accesses_[n];
    std::vector<std::uint32_t> touched = touched_groups(accesses);
    auto candidate = finder_.find(nodes_[n]);
    std::unique_ptr<FuseGroup> joined;
    if (candidate) joined = FuseGroup::start(n, std::move(candidate), accesses);
    std::uint32_t root = n;
    if (joined) {
      for (auto g = touched.rbegin(); g != touched.rend(); ++g) {
        auto& group = waiting_[*g].group;
        if (!group->join(*joined, limits_)) continue;
        joined = std::move(group);
        parent_[root] = *g;
        root = *g;
      }
    }
    for (const std::uint32_t g : touched) finish(g);
    if (!joined) {
      out_.push_back({n});
      return;
    }
    waiting_[root] = {std::move(joined), n};
    for (const Access& read : accesses.reads) readers_.add(read, n);
    for (const Access& write : accesses.writes) writers_.add(write, n);
  }

  void finish(std::uint32_t root) {
    if (!waiting_[root].group) return;
    Launched nodes = waiting_[root].group->take_nodes();
    waiting_[root].group.reset();
    std::ranges::sort(nodes);
    out_.push_back(std::move(nodes));
  }

  // Groups that wait and must not come behind the node as it is, by age.
  std::vector<std::uint32_t> touched_groups(const Accesses& accesses) {
    std::vector<std::uint32_t> out;
    const auto is_needed = [this](const auto& entry) {
      return waiting_[root_of(entry.node)].group != nullptr;
    };
    const auto touch = [&](const auto& entry) { out.push_back(root_of(entry.node)); };
    for (const Access& read : accesses.reads) writers_.for_each_meeting(read, is_needed, touch);
    for (const Access& write : accesses.writes) {
      writers_.for_each_meeting(write, is_needed, touch);
      readers_.for_each_meeting(write, is_needed, [&](const auto& read) {
        if (holds_back(read, write)) touch(read);
      });
    }
    sort_by_age(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  void sort_by_age(std::vector<std::uint32_t>& roots) const {
    std::ranges::sort(roots, [this](std::uint32_t a, std::uint32_t b) {
      return waiting_[a].changed < waiting_[b].changed;
    });
  }

  // Whether a write must wait for the reader: always, but for what deviations forget.
  [[nodiscard]] bool holds_back(const NotedAccesses::Entry& read, const Access& write) {
    if (ignores_readers_) return false;
    if (forgets_fused_ && waiting_[root_of(read.node)].group->nodes().size() > 1) return false;
    return !by_name_ || read.tensor == write.tensor;
  }

  std::uint32_t root_of(std::uint32_t node) {
    while (parent_[node] != node) {
      parent_[node] = parent_[parent_[node]];
      node = parent_[node];
    }
    return node;
  }

  std::span<const SizedNode> nodes_;
  std::span<const Accesses> accesses_;
  FuseLimits limits_;
  CandidateFinder finder_;
  bool ignores_readers_;
  bool by_name_;
  bool forgets_fused_;
  std::vector<Waiting> waiting_;
  std::vector<std::uint32_t> parent_;
  NotedAccesses readers_;
  NotedAccesses writers_;
  std::vector<Launched> out_;
};

}  // namespace

std::vector<Launched> find_groups(const SizedGraph& graph, std::span<const SizedNode> nodes,
                                  std::span<const Accesses> accesses, const FuseLimits& limits,
                                  const spec::DeviationSet& deviations) {
  if (nodes.size() == 1) return {{0}};
  return Scan(graph, nodes, accesses, limits, deviations).run();
}

bool can_fuse(const SizedGraph& graph, const std::vector<const SizedNode*>& nodes,
              const spec::DeviationSet& deviations) {
  CandidateFinder finder(graph, deviations);
  const FuseLimits limits{nodes.size(), std::numeric_limits<std::int64_t>::max()};
  std::unique_ptr<FuseGroup> group;
  for (const SizedNode* node : nodes) {
    auto candidate = finder.find(*node);
    if (!candidate) return false;
    auto next = FuseGroup::start(0, std::move(candidate), accesses_of(graph, *node));
    if (!next) return false;
    if (!group) {
      group = std::move(next);
    } else if (!group->join(*next, limits)) {
      return false;
    }
  }
  return true;
}

}  // namespace graphgate::optimized
