#include "optimized/passes/graph_index.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

namespace graphgate::optimized {
namespace {

using spec::Argument;
using spec::Node;
using spec::ValueId;

// Calls visit(value, node) for every operand, a value once per node.
template <class Visit>
void for_each_use(const spec::Graph& graph, Visit&& visit) {
  std::vector<std::uint32_t> last(graph.values.size(), static_cast<std::uint32_t>(-1));
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    for_each_operand(graph.nodes[n], [&](ValueId id) {
      if (last[id.index] != n) visit(id, n);
      last[id.index] = n;
    });
  }
}

}  // namespace

GraphIndex::GraphIndex(const spec::Graph& graph)
    : producers_(graph.values.size(), kNone),
      begins_(graph.values.size() + 1, 0),
      is_output_(graph.values.size(), false) {
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    for (const spec::NodeResult& result : graph.nodes[n].results) {
      for (const ValueId id : result.values) producers_[id.index] = n;
    }
  }
  for_each_use(graph, [&](ValueId id, std::uint32_t /*node*/) { ++begins_[id.index + 1]; });
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  users_.resize(begins_.back());
  std::vector<std::uint32_t> next(begins_.begin(), begins_.end() - 1);
  for_each_use(graph, [&](ValueId id, std::uint32_t node) { users_[next[id.index]++] = node; });
  for (const Argument& output : graph.outputs) {
    for_each_value(output, [&](ValueId id) { is_output_[id.index] = true; });
  }
}

std::optional<std::uint32_t> GraphIndex::producer(ValueId id) const {
  const std::uint32_t node = producers_[id.index];
  return node == kNone ? std::nullopt : std::optional(node);
}

std::span<const std::uint32_t> GraphIndex::users(ValueId id) const {
  return std::span(users_).subspan(begins_[id.index], begins_[id.index + 1] - begins_[id.index]);
}

const Argument* argument_of(const Node& node, std::string_view name) {
  const auto found =
      std::ranges::find_if(node.arguments, [&](const auto& named) { return named.name == name; });
  return found == node.arguments.end() ? nullptr : &found->argument;
}

std::optional<ValueId> value_of(const Node& node, std::string_view name) {
  const Argument* argument = argument_of(node, name);
  const auto* id = argument ? argument->as<ValueId>() : nullptr;
  return id ? std::optional(*id) : std::nullopt;
}

std::optional<double> number_of(const Argument* argument) {
  if (!argument) return std::nullopt;
  if (const auto* real = argument->as<double>()) return *real;
  if (const auto* integer = argument->as<std::int64_t>()) return static_cast<double>(*integer);
  return std::nullopt;
}

std::optional<std::int64_t> integer_of(const Argument* argument) {
  const auto* integer = argument ? argument->as<std::int64_t>() : nullptr;
  return integer ? std::optional(*integer) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> integers_of(const Argument* argument) {
  if (const auto one = integer_of(argument)) return std::vector{*one};
  const auto* list = argument ? argument->as<Argument::List>() : nullptr;
  if (!list) return std::nullopt;
  std::vector<std::int64_t> out;
  for (const Argument& element : *list) {
    const auto integer = integer_of(&element);
    if (!integer) return std::nullopt;
    out.push_back(*integer);
  }
  return out;
}

bool is_default(const Argument* argument, const Argument& otherwise) {
  return !argument || argument->as<spec::None>() || *argument == otherwise;
}

ValueId result_of(const Node& node) { return node.results.front().values.front(); }

ValueId add_value(spec::Graph& graph, spec::Value value) {
  const ValueId id{static_cast<std::uint32_t>(graph.values.size())};
  value.name += "_p" + std::to_string(id.index);  // ids are new, so names are too
  graph.values.push_back(std::move(value));
  return id;
}

Edit::Edit(const spec::Graph& graph)
    : is_removed_(graph.nodes.size(), false), replacements_(graph.values.size()) {
  std::iota(replacements_.begin(), replacements_.end(), 0U);
}

void Edit::insert(std::uint32_t before, Node node) {
  inserted_.emplace_back(before, std::move(node));
  is_empty_ = false;
}

void Edit::replace(ValueId old, ValueId replacement) {
  while (replacements_.size() <= std::max(old.index, replacement.index)) {
    replacements_.push_back(static_cast<std::uint32_t>(replacements_.size()));
  }
  replacements_[old.index] = current(replacement).index;
  is_empty_ = false;
}

ValueId Edit::current(ValueId id) const {
  std::uint32_t at = id.index;
  while (at < replacements_.size() && replacements_[at] != at) at = replacements_[at];
  return {at};
}

void Edit::rename(Argument& argument) const {
  if (auto* id = std::get_if<ValueId>(&argument.value)) *id = current(*id);
  if (auto* list = std::get_if<Argument::List>(&argument.value)) {
    for (Argument& element : *list) rename(element);
  }
}

void Edit::apply(spec::Graph& graph) {
  if (is_empty_) return;
  for (std::uint32_t& to : replacements_) to = current({to}).index;
  std::ranges::stable_sort(inserted_,
                           [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Node> nodes;
  nodes.reserve(graph.nodes.size() + inserted_.size());
  auto next = inserted_.begin();
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    for (; next != inserted_.end() && next->first == n; ++next) {
      nodes.push_back(std::move(next->second));
    }
    if (!is_removed_[n]) nodes.push_back(std::move(graph.nodes[n]));
  }
  for (Node& node : nodes) {
    for (spec::NamedArgument& named : node.arguments) rename(named.argument);
  }
  for (Argument& output : graph.outputs) rename(output);
  graph.nodes = std::move(nodes);
}

}  // namespace graphgate::optimized
