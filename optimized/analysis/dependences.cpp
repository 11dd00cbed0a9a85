#include "optimized/analysis/dependences.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <unordered_map>

#include "optimized/binding.h"

namespace graphgate::optimized {
namespace {

constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

// Where one access has to be compared with more others than this, it counts as meeting them all,
// and stands for them from then on: it follows them, and whoever meets their bytes follows it.
constexpr std::size_t kMostCompared = 64;

// One node's access. `tensor` is null where only the range is known.
struct Entry {
  std::uint32_t node = 0;
  ByteRange bytes;
  const Tensor* tensor = nullptr;
};

bool may_meet(const Entry& a, const Entry& b) {
  if (!a.bytes.overlaps(b.bytes)) return false;
  return !a.tensor || !b.tensor || !provably_disjoint(*a.tensor, *b.tensor);
}

// Whether every byte of `inner` is one of `outer`: whoever meets `inner` then meets `outer`.
bool covers(const Entry& outer, const Entry& inner) {
  if (!outer.tensor) return false;
  if (inner.bytes.begin >= outer.bytes.begin && inner.bytes.end <= outer.bytes.end &&
      is_dense(*outer.tensor)) {
    return true;
  }
  return inner.tensor && same_geometry(*outer.tensor, *inner.tensor);
}

// Accesses to one storage, found by byte range: a tree whose keys are length class and begin. All
// lengths of class `c` are below 2^c, so what meets a range begins less than 2^c before it.
class Accessed {
 public:
  using Tree = std::multimap<std::pair<int, std::int64_t>, Entry>;

  void add(const Entry& entry) {
    const int length_class = static_cast<int>(std::bit_width(length_of(entry)));
    classes_ |= std::uint64_t{1} << static_cast<unsigned>(length_class);
    tree_.emplace(std::pair{length_class, entry.bytes.begin}, entry);
  }

  [[nodiscard]] std::vector<Tree::iterator> that_meet(const Entry& entry) {
    std::vector<Tree::iterator> near;
    for (std::uint64_t left = tree_.empty() ? 0 : classes_; left != 0; left &= left - 1) {
      const int length_class = std::countr_zero(left);
      const std::int64_t reach =
          length_class >= 63 ? entry.bytes.begin : (std::int64_t{1} << length_class) - 1;
      const std::int64_t first = entry.bytes.begin - std::min(entry.bytes.begin, reach);
      for (auto at = tree_.lower_bound({length_class, first});
           at != tree_.end() && at->first < std::pair{length_class, entry.bytes.end}; ++at) {
        near.push_back(at);
      }
    }
    if (near.size() > kMostCompared) return near;
    std::erase_if(near, [&](const auto& at) { return !may_meet(at->second, entry); });
    return near;
  }

  void erase(Tree::iterator at) { tree_.erase(at); }

 private:
  static std::uint64_t length_of(const Entry& entry) {
    return static_cast<std::uint64_t>(entry.bytes.end - entry.bytes.begin);
  }

  Tree tree_;
  std::uint64_t classes_ = 0;
};

class Analysis {
 public:
  Analysis(const SizedGraph& graph, std::size_t block, const spec::DeviationSet& deviations)
      : graph_(graph),
        nodes_(graph.blocks[block].nodes),
        deviations_(deviations),
        history_(graph.storages.size()),
        maker_of_value_(graph.values.size(), kNobody),
        maker_of_storage_(graph.storages.size(), kNobody) {}

  Dependences run() {
    Dependences out(nodes_.size());
    for (now_ = 0; now_ < nodes_.size(); ++now_) {
      found_.clear();
      visit(nodes_[now_]);
      out[now_] = merged();
    }
    return out;
  }

 private:
  struct History {
    Accessed writes;
    Accessed reads;
  };

  void visit(const SizedNode& node) {
    const Accesses accesses = accesses_of(graph_, node);
    follow_makers(node);
    for (const Access& access : accesses.reads) read(access);
    for (const Access& access : accesses.writes) write(access);
    for (const std::string& token : accesses.ordered_by) {
      const auto [last, is_first] = last_of_token_.try_emplace(token, now_);
      if (!is_first) add(std::exchange(last->second, now_), DependenceKind::kOrder);
    }
    note_made(node);
  }

  void add(std::uint32_t node, DependenceKind kind) {
    if (node != now_) found_.push_back({node, static_cast<std::uint8_t>(kind)});
  }

  void read(const Access& access) {
    const Entry entry{now_, access.bytes, access.tensor};
    History& history = history_[access.storage];
    const auto met = history.writes.that_meet(entry);
    for (const auto at : met) add(at->second.node, DependenceKind::kReadAfterWrite);
    if (met.size() > kMostCompared) stand_for(history.writes, met, history.writes);
    history.reads.add(entry);
  }

  void write(const Access& access) {
    const Entry entry{now_, access.bytes, access.tensor};
    History& history = history_[access.storage];
    // A fused node's dependences are its body's, and nobody's name for a read that comes before.
    const bool forgets_reads =
        nodes_[now_].is_fused() && deviations_.has(spec::Deviation::kRecomputesDependencesFromBody);
    auto met = history.reads.that_meet(entry);
    for (const auto at : met) {
      if (!forgets_reads) add(at->second.node, DependenceKind::kWriteAfterRead);
    }
    supersede(history.reads, std::move(met), entry, history);
    met = history.writes.that_meet(entry);
    for (const auto at : met) add(at->second.node, DependenceKind::kWriteAfterWrite);
    supersede(history.writes, std::move(met), entry, history);
    history.writes.add(entry);
  }

  // Forgets what `entry` covers, and what is too much to remember.
  void supersede(Accessed& from, std::vector<Accessed::Tree::iterator> met, const Entry& entry,
                 History& history) {
    const auto rest = std::partition(met.begin(), met.end(),
                                     [&](const auto& at) { return !covers(entry, at->second); });
    std::for_each(rest, met.end(), [&](const auto& at) { from.erase(at); });
    met.erase(rest, met.end());
    if (met.size() > kMostCompared) stand_for(from, met, history.writes);
  }

  // From now on the present node stands for these: as a writer of all their bytes.
  void stand_for(Accessed& from, const std::vector<Accessed::Tree::iterator>& met,
                 Accessed& writes) {
    ByteRange all = met.front()->second.bytes;
    for (const auto at : met) {
      all.begin = std::min(all.begin, at->second.bytes.begin);
      all.end = std::max(all.end, at->second.bytes.end);
      from.erase(at);
    }
    writes.add({now_, all, nullptr});
  }

  // Numbers, and tensors whose geometry only the call knows or that have no bytes, are there once
  // their maker has run, whatever it wrote.
  void follow_makers(const SizedNode& node) {
    for_each_operand(node.node, [&](spec::ValueId id) { follow_maker(id); });
    for (const spec::NamedArgument& named : node.node.arguments) {
      const auto* arm = named.argument.as<spec::SubgraphId>();
      if (!arm) continue;
      const SizedBlock& block = graph_.blocks[arm->index];
      for (const SizedNode& inner : block.nodes) follow_makers(inner);
      for (const spec::Argument& output : block.outputs) {
        for_each_value(output, [&](spec::ValueId id) { follow_maker(id); });
      }
    }
  }

  void follow_maker(spec::ValueId id) {
    const SizedValue& value = graph_.value(id);
    std::uint32_t maker = maker_of_value_[id.index];
    if (value.kind == spec::ValueKind::kTensor && !value.is_dynamic) {
      const ByteRange bytes = byte_range(value.tensor);
      if (bytes.begin < bytes.end) return;
      maker = maker_of_storage_[value.tensor.storage];
    }
    if (maker != kNobody) add(maker, DependenceKind::kReadAfterWrite);
  }

  // Results that are operands were there before.
  void note_made(const SizedNode& node) {
    std::vector<spec::ValueId> operands;
    for_each_operand(node.node, [&](spec::ValueId id) { operands.push_back(id); });
    for (const spec::ValueId id : flat_results(node.node)) {
      if (std::ranges::find(operands, id) != operands.end()) continue;
      maker_of_value_[id.index] = now_;
      if (graph_.value(id).kind != spec::ValueKind::kTensor) continue;
      std::uint32_t& maker = maker_of_storage_[graph_.value(id).tensor.storage];
      if (maker == kNobody) maker = now_;
    }
  }

  std::vector<Dependence> merged() {
    std::ranges::sort(found_,
                      [](const Dependence& a, const Dependence& b) { return a.node < b.node; });
    std::vector<Dependence> out;
    for (const Dependence& one : found_) {
      if (out.empty() || out.back().node != one.node) {
        out.push_back(one);
      } else {
        out.back().kinds |= one.kinds;
      }
    }
    return out;
  }

  const SizedGraph& graph_;
  const std::vector<SizedNode>& nodes_;
  const spec::DeviationSet& deviations_;
  std::vector<History> history_;
  std::vector<std::uint32_t> maker_of_value_;
  std::vector<std::uint32_t> maker_of_storage_;
  std::unordered_map<std::string, std::uint32_t> last_of_token_;
  std::uint32_t now_ = 0;
  std::vector<Dependence> found_;
};

}  // namespace

Dependences analyze_dependences(const SizedGraph& graph, std::size_t block,
                                const spec::DeviationSet& deviations) {
  return Analysis(graph, block, deviations).run();
}

}  // namespace graphgate::optimized
