#include "optimized/schedule/fuse_arrange.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "optimized/binding.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using spec::ValueId;

// Replaces values in the arguments and results of a node.
void rename(Argument& argument, const std::map<ValueId, ValueId>& names) {
  if (auto* id = std::get_if<ValueId>(&argument.value)) {
    if (const auto found = names.find(*id); found != names.end()) *id = found->second;
  }
  if (auto* list = std::get_if<Argument::List>(&argument.value)) {
    for (Argument& element : *list) rename(element, names);
  }
}

}  // namespace

// Gives a node that is made again values and storages of its own, and those behind it in the launch
// the new names.
class LaunchArranger::Copier {
 public:
  explicit Copier(SizedGraph& graph) : graph_(graph) {
    for (const SizedValue& value : graph.values) names_.insert(value.name);
  }

  // `again` tells the nodes that another launch makes too.
  void copy(std::span<SizedNode> nodes, const std::vector<bool>& again) {
    std::map<StorageIndex, StorageIndex> storages;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      if (!again[n]) continue;
      for (const ValueId id : flat_results(nodes[n].node)) {
        const StorageIndex old = graph_.value(id).tensor.storage;
        storages.try_emplace(old, static_cast<StorageIndex>(graph_.storages.size()));
        graph_.storages.push_back(graph_.storages[old]);
      }
    }
    std::map<ValueId, ValueId> renamed;
    for (SizedNode& node : nodes) {
      for_each_mention(node, [&](ValueId id) {
        const auto storage = storages.find(graph_.value(id).tensor.storage);
        if (graph_.value(id).kind != spec::ValueKind::kTensor || storage == storages.end()) return;
        if (!renamed.contains(id)) renamed[id] = add_copy(id, storage->second);
      });
      for (spec::NamedArgument& named : node.node.arguments) rename(named.argument, renamed);
      for (spec::NodeResult& result : node.node.results) {
        for (ValueId& id : result.values) {
          if (const auto found = renamed.find(id); found != renamed.end()) id = found->second;
        }
      }
    }
  }

 private:
  ValueId add_copy(ValueId id, StorageIndex storage) {
    SizedValue value = graph_.value(id);
    const std::string name = value.name;
    int& copies = copies_[name];
    do {
      value.name = name + "_again" + std::to_string(++copies);
    } while (!names_.insert(value.name).second);
    value.tensor.storage = storage;
    graph_.values.push_back(std::move(value));
    return {static_cast<std::uint32_t>(graph_.values.size() - 1)};
  }

  SizedGraph& graph_;
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, int> copies_;  // by name: the last number it was tried with
};

LaunchArranger::LaunchArranger(SizedGraph& graph) : graph_(graph) {}
LaunchArranger::~LaunchArranger() = default;

Arranged LaunchArranger::arrange(std::span<SizedNode> nodes,
                                 const std::vector<Launched>& launches) {
  std::vector<std::uint32_t> left(nodes.size(), 0);  // launches to come with the node
  for (const Launched& launch : launches) {
    for (const std::uint32_t place : launch) ++left[place];
  }
  std::vector<bool> made(nodes.size(), false);
  std::vector<bool> again;  // nodes of the launch at hand
  Arranged out;
  out.ends.reserve(launches.size());
  out.nodes.reserve(nodes.size());
  for (std::size_t l = 0; l < launches.size(); ++l) {
    again.clear();
    for (const std::uint32_t place : launches[l]) {
      if (--left[place] == 0) {
        out.nodes.push_back(std::move(nodes[place]));
      } else {
        out.nodes.push_back(nodes[place]);
      }
      again.push_back(made[place]);
      made[place] = true;
    }
    out.ends.push_back(out.nodes.size());
    if (std::ranges::find(again, true) != again.end()) {
      if (!copier_) copier_ = std::make_unique<Copier>(graph_);
      copier_->copy(out.launch(l), again);
    }
  }
  return out;
}

}  // namespace graphgate::optimized
