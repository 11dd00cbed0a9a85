#include "optimized/partition/split_graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "optimized/binding.h"

namespace graphgate::optimized {
namespace {

using OriginNodes = std::vector<const spec::Node*>;

constexpr std::string_view kGetItem = "_operator.getitem";

// Whether nodes stand behind it that take its results apart.
bool is_taken_apart(const spec::Node& node) {
  return node.results.size() > 1 || (node.results.size() == 1 && node.results.front().is_list);
}

bool is_allocation(const spec::Node& node) {
  return node.op.starts_with("aten.empty") || node.op.starts_with("aten.new_empty");
}

// The pieces of one graph, by node.
class Pieces {
 public:
  Pieces(const CutContext& context, OriginNodes nodes)
      : context_(context), nodes_(std::move(nodes)) {
    number();
    if (context.options().split_generation == SplitGeneration::kNewer) join_allocations();
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      by_name_.emplace(nodes_[n]->name, pieces_[n]);
      used_.insert(pieces_[n]);
    }
  }

  [[nodiscard]] std::optional<std::size_t> find(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? std::nullopt : std::optional(found->second);
  }
  // Of the node that it is a part of, as specialization names parts, too.
  [[nodiscard]] std::optional<std::size_t> find_whole(std::string name) const {
    for (auto found = find(name);; found = find(name)) {
      const std::size_t part = name.rfind("_part");
      if (found || part == std::string::npos) return found;
      name.resize(part);
    }
  }
  // The piece that an allocation had before it joined another.
  [[nodiscard]] std::optional<std::size_t> left_by(const std::string& name) const {
    const auto found = left_.find(name);
    return found == left_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] const std::string* split_op(std::size_t piece) const {
    const auto found = split_ops_.find(piece);
    return found == split_ops_.end() ? nullptr : found->second;
  }
  [[nodiscard]] const std::set<std::size_t>& used() const { return used_; }

 private:
  void number() {
    const bool shares = context_.options().split_generation != SplitGeneration::kOlder;
    std::size_t piece = 0;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const spec::Node& node = *nodes_[n];
      for_each_made(node, [&](spec::ValueId id) { makers_.try_emplace(id.index, n); });
      const auto taken = node.op == kGetItem ? maker_of_first(node) : std::nullopt;
      if (taken) {
        pieces_.push_back(pieces_[*taken]);
        continue;
      }
      const std::string* const split = split_op_of(context_, node);
      if (!split) {
        pieces_.push_back(piece);
        continue;
      }
      pieces_.push_back(++piece);
      split_ops_.emplace(piece, split);
      const bool is_followed = n + 1 < nodes_.size() && !is_taken_apart(node) &&
                               split_op_of(context_, *nodes_[n + 1]) != nullptr;
      if (shares && is_followed) {
        --piece;  // the next one counts up to this number again
      } else {
        ++piece;
      }
    }
  }

  // The node that made the first operand; nothing for an input.
  [[nodiscard]] std::optional<std::size_t> maker_of_first(const spec::Node& node) const {
    if (node.arguments.empty()) return {};
    const auto* id = node.arguments.front().argument.as<spec::ValueId>();
    const auto maker = id ? makers_.find(id->index) : makers_.end();
    return maker == makers_.end() ? std::nullopt : std::optional(maker->second);
  }

  void join_allocations() {
    std::map<std::size_t, std::vector<std::size_t>> members;
    for (std::size_t n = 0; n < nodes_.size(); ++n) members[pieces_[n]].push_back(n);
    std::optional<std::size_t> last;  // the last piece that holds no split op
    for (const auto& [piece, nodes] : members) {
      const bool is_lone = nodes.size() == 1 && is_allocation(*nodes_[nodes.front()]);
      if (is_lone && last && is_there(*nodes_[nodes.front()], *last)) {
        pieces_[nodes.front()] = *last;
        left_.emplace(nodes_[nodes.front()]->name, piece);
      } else if (split_op(piece) == nullptr) {
        last = piece;
      }
    }
  }

  // Whether all that it reads is made no later than in that piece.
  [[nodiscard]] bool is_there(const spec::Node& node, std::size_t piece) const {
    bool is = true;
    for_each_operand(node, [&](spec::ValueId id) {
      const auto maker = makers_.find(id.index);
      is &= maker == makers_.end() || pieces_[maker->second] <= piece;
    });
    return is;
  }

  const CutContext& context_;
  OriginNodes nodes_;
  std::vector<std::size_t> pieces_;  // by node
  std::unordered_map<std::uint32_t, std::size_t> makers_;
  std::map<std::size_t, const std::string*> split_ops_;  // by piece
  std::unordered_map<std::string_view, std::size_t> by_name_;
  std::unordered_map<std::string_view, std::size_t> left_;
  std::set<std::size_t> used_;
};

OriginNodes origin_nodes(const spec::Graph& graph) {
  OriginNodes out;
  for (const spec::Node& node : graph.nodes) out.push_back(&node);
  return out;
}

// The graph among `graph` and those in it that the block's nodes come from: the first that holds
// one of them by name, or null.
const spec::Graph* origin_graph(const spec::Graph& graph, const std::set<std::string_view>& names) {
  const bool holds = std::ranges::any_of(
      graph.nodes, [&](const spec::Node& node) { return names.contains(node.name); });
  if (holds) return &graph;
  for (const spec::Graph& inner : graph.subgraphs) {
    if (const spec::Graph* const found = origin_graph(inner, names)) return found;
  }
  return nullptr;
}

// Where a node goes: a piece, and the run within it, since what has no node in the program may cut
// a piece in two.
using RunPlace = std::pair<std::size_t, std::size_t>;

// Sends the nodes of a block to the places of their origins.
class Sorter {
 public:
  Sorter(const CutContext& context, const Pieces& pieces, const SizedBlock& block)
      : context_(context), pieces_(pieces), block_(block), targets_(block.nodes.size()) {
    std::optional<std::size_t> next;
    next_.resize(block.nodes.size());
    for (std::size_t n = block.nodes.size(); n-- > 0;) {
      targets_[n] = pieces.find_whole(block.nodes[n].node.name);
      next_[n] = next;
      if (targets_[n]) next = targets_[n];
    }
  }

  // By place, in order. What launches nothing has a place, too.
  std::map<RunPlace, std::vector<std::uint32_t>> run() {
    for (const std::size_t piece : pieces_.used()) places_[{piece, 0}];
    for (std::uint32_t n = 0; n < block_.nodes.size(); ++n) {
      const RunPlace place = place_of(n);
      places_[place].push_back(n);
      note_makers(block_.nodes[n], place);
    }
    return std::move(places_);
  }

  [[nodiscard]] const std::string* split_op(RunPlace place) const {
    if (place.second == 0) return pieces_.split_op(place.first);
    const auto found = split_ops_.find(place);
    return found == split_ops_.end() ? nullptr : found->second;
  }

 private:
  RunPlace place_of(std::uint32_t n) {
    const SizedNode& node = block_.nodes[n];
    if (targets_[n]) {
      const RunPlace wished = {*targets_[n], 0};
      const std::optional<std::size_t> own = pieces_.left_by(node.node.name);
      const bool is_earlier = last_ && *targets_[n] < last_->first;
      if (own && (!has_room(wished) || (is_earlier && !may_move(node, wished)))) {
        return advance(*own);
      }
      if (is_earlier && may_move(node, wished)) return wished;
      return advance(*targets_[n]);
    }
    const std::string* const split = split_op_of(context_, node);
    if (split) return add_split(n, split);
    return stay(n);
  }

  // Whether the options let another node follow what stands there.
  [[nodiscard]] bool has_room(RunPlace place) const {
    const auto found = places_.find(place);
    if (found == places_.end() || found->second.empty()) return true;
    const std::vector<std::uint32_t>& members = found->second;
    return !must_end(context_, block_.nodes[members.back()], members.size());
  }

  // The piece, or the last place where that comes later; behind a split op that cut it in two, what
  // is left of it.
  RunPlace advance(std::size_t piece) {
    if (!last_ || piece > last_->first) {
      last_ = RunPlace{piece, 0};
    } else if (last_->second != 0 && split_op(*last_) != nullptr) {
      ++last_->second;
    }
    return *last_;
  }

  // A split op of no node of the program: the piece ends here, and goes on behind it.
  RunPlace add_split(std::uint32_t n, const std::string* split) {
    const bool shares = context_.options().split_generation != SplitGeneration::kOlder;
    if (!last_) last_ = RunPlace{next_[n].value_or(0), 0};
    const bool is_beside = n > 0 && split_op(*last_) != nullptr && shares;
    if (!is_beside) {
      ++last_->second;
      split_ops_[*last_] = split;
    }
    return *last_;
  }

  // Returns the run of what stands before the node. Behind a split op that is the run of what comes
  // next, or one between the two.
  RunPlace stay(std::uint32_t n) {
    const std::optional<std::size_t> next = next_[n];
    if (last_ && split_op(*last_) == nullptr) return *last_;
    if (!last_) {
      const bool is_plain = next && pieces_.split_op(*next) == nullptr;
      return advance(is_plain ? *next : 0);
    }
    if (last_->second != 0) return advance(last_->first);
    if (!next) return advance(last_->first + 1);
    if (*next <= last_->first) return *last_;
    return advance(pieces_.split_op(*next) == nullptr ? *next : last_->first + 1);
  }

  // Whether a node may stand that early: it launches nothing, can be captured, and what it reads is
  // there.
  [[nodiscard]] bool may_move(const SizedNode& node, RunPlace place) const {
    if (launches(node) || cut_reason(context_, node)) return false;
    bool is_there = true;
    for_each_operand(node.node, [&](spec::ValueId id) {
      is_there &= is_made_by(value_makers_, id.index, place);
      context_.graph().for_each_storage(id, [&](StorageIndex storage) {
        is_there &= is_made_by(storage_makers_, storage, place);
      });
    });
    return is_there;
  }

  using Makers = std::unordered_map<std::uint32_t, RunPlace>;

  // What no node of this block makes is there from the start.
  static bool is_made_by(const Makers& makers, std::uint32_t index, RunPlace place) {
    const auto maker = makers.find(index);
    return maker == makers.end() || maker->second <= place;
  }

  void note_makers(const SizedNode& node, RunPlace place) {
    for (const spec::ValueId id : flat_results(node.node)) {
      value_makers_.try_emplace(id.index, place);
      context_.graph().for_each_storage(
          id, [&](StorageIndex storage) { storage_makers_.try_emplace(storage, place); });
    }
  }

  const CutContext& context_;
  const Pieces& pieces_;
  const SizedBlock& block_;
  std::vector<std::optional<std::size_t>> targets_;  // by node: the piece of its origin
  std::vector<std::optional<std::size_t>> next_;     // by node: that of the next that has one
  std::optional<RunPlace> last_;                     // of what did not move
  std::map<RunPlace, std::vector<std::uint32_t>> places_;
  std::map<RunPlace, const std::string*> split_ops_;  // of places that no piece has
  Makers value_makers_;
  Makers storage_makers_;
};

}  // namespace

std::vector<SplitRun> split_block(const CutContext& context, const spec::Graph* origin,
                                  SizedBlock& block, bool is_program) {
  OriginNodes nodes;
  std::set<std::string_view> names;
  for (const SizedNode& node : block.nodes) {
    nodes.push_back(&node.node);
    names.insert(node.node.name);
  }
  const spec::Graph* const source =
      origin == nullptr || is_program ? origin : origin_graph(*origin, names);
  const Pieces pieces(context, source == nullptr ? std::move(nodes) : origin_nodes(*source));
  Sorter sorter(context, pieces, block);
  std::vector<SizedNode> sorted;
  sorted.reserve(block.nodes.size());
  std::vector<SplitRun> runs;
  for (const auto& [place, members] : sorter.run()) {
    SplitRun run{0, sorter.split_op(place)};
    for (const std::uint32_t n : members) {
      if (run.size > 0 && must_end(context, sorted.back(), run.size)) {
        runs.push_back(std::exchange(run, {0, run.split_op}));
      }
      sorted.push_back(std::move(block.nodes[n]));
      ++run.size;
    }
    runs.push_back(run);
  }
  block.nodes = std::move(sorted);
  return runs;
}

}  // namespace graphgate::optimized
