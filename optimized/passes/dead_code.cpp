// Dead-code elimination that knows of storages.
//
// Backward, a storage is *live* when an input or an output of the graph lies in it, or a node that
// stays accesses it later. A node stays when one of its results is read, when it writes a live
// storage, and always when it does what no value shows: hidden state, orders, assertions, scratch
// of an op that declares none.
#include <algorithm>

#include "optimized/passes/alias_sets.h"
#include "optimized/passes/graph_index.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;
using spec::Node;
using spec::ValueId;

class DeadCode {
 public:
  DeadCode(const spec::Graph& graph, PassContext& context)
      : graph_(graph), context_(context), is_read_(graph.values.size(), false) {
    for (const spec::Argument& output : graph.outputs) {
      for_each_value(output, [&](ValueId id) { read(id); });
    }
  }

  // Call for every node, the last first.
  bool stays(const Node& node) {
    const spec::OpRow* row = context_.row(node.op);
    const bool needed =
        has_readers(node) || does_what_nobody_reads(row) || writes_what_is_seen(node, *row);
    if (needed) for_each_operand(node, [&](ValueId id) { read(id); });
    return needed;
  }

 private:
  void read(ValueId id) {
    is_read_[id.index] = true;
    if (aliases_) is_live_[aliases_->set_of(id)] = true;
  }

  // Whether an input lies in the value's storage, or a value that was read so far. Most graphs
  // never ask: then nobody has to know which values share a storage.
  [[nodiscard]] bool is_live(ValueId id) {
    if (!aliases_) find_live_storages();
    return is_live_[aliases_->set_of(id)];
  }
  void find_live_storages() {
    aliases_.emplace(graph_, context_);
    is_live_.assign(graph_.values.size(), false);
    for (const ValueId id : graph_.inputs) is_live_[aliases_->set_of(id)] = true;
    for (std::uint32_t v = 0; v < is_read_.size(); ++v) {
      if (is_read_[v]) is_live_[aliases_->set_of({v})] = true;
    }
  }

  [[nodiscard]] bool has_readers(const Node& node) const {
    return std::ranges::any_of(node.results, [&](const auto& result) {
      return std::ranges::any_of(result.values, [&](ValueId id) { return is_read_[id.index]; });
    });
  }

  // Effects that no value of the graph stands for; those of unknown ops included.
  [[nodiscard]] bool does_what_nobody_reads(const spec::OpRow* row) const {
    if (!row) return true;
    const bool has_token = !row->hidden_state_writes.empty() || !row->orders.empty();
    if (has_token && !context_.has(Deviation::kDeadCodeDropsTokens)) return true;
    const bool asserts = row->schema.returns.empty() && !row->effects.mutates();
    return !row->undeclared_writes.empty() || (asserts && !has_token);
  }

  [[nodiscard]] bool writes_what_is_seen(const Node& node, const spec::OpRow& row) {
    if (!row.effects.mutates()) return false;
    bool seen = false;
    for (const spec::NamedArgument& named : node.arguments) {
      const auto argument = schema_index(row, named);
      if (!argument || !row.writes(*argument)) continue;
      for_each_value(named.argument, [&](ValueId id) { seen = seen || is_seen(id); });
    }
    return seen;
  }

  // Whether somebody can see what is written through this value.
  [[nodiscard]] bool is_seen(ValueId id) {
    if (!context_.has(Deviation::kDeadCodeDropsAliasWrites)) return is_live(id);
    const auto& inputs = graph_.inputs;
    return is_read_[id.index] || std::ranges::find(inputs, id) != inputs.end();
  }

  const spec::Graph& graph_;
  PassContext& context_;
  std::vector<bool> is_read_;
  std::optional<StorageSets> aliases_;  // made when they are first asked for
  std::vector<bool> is_live_;           // by alias set
};

}  // namespace

void eliminate_dead_code(spec::Graph& graph, PassContext& context) {
  DeadCode dead_code(graph, context);
  std::vector<bool> stays(graph.nodes.size(), true);
  bool all_stay = true;
  for (std::size_t n = graph.nodes.size(); n-- > 0;) {
    stays[n] = dead_code.stays(graph.nodes[n]);
    all_stay = all_stay && stays[n];
    if (!stays[n]) context.count_match();
  }
  if (all_stay) return;
  std::vector<Node> kept;
  kept.reserve(graph.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (stays[n]) kept.push_back(std::move(graph.nodes[n]));
  }
  graph.nodes = std::move(kept);
}

}  // namespace graphgate::optimized
