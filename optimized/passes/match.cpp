#include "optimized/passes/match.h"

#include <algorithm>

#include "optimized/passes/size_facts.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using spec::Node;
using spec::ValueId;

// "aten.add.Tensor" and "aten.add_.Tensor" are of "aten.add".
bool is_of_family(std::string_view op, std::string_view family) {
  if (!op.starts_with(family)) return false;
  op.remove_prefix(family.size());
  if (op.starts_with('_')) op.remove_prefix(1);
  return op.empty() || op.front() == '.';
}

}  // namespace

bool contains(const std::vector<std::uint32_t>& nodes, std::uint32_t n) {
  return std::ranges::find(nodes, n) != nodes.end();
}

Matcher::Matcher(spec::Graph& graph, PassContext& context)
    : graph_(graph), context_(context), edit_(graph) {}

const AliasSets& Matcher::aliases() const {
  if (!aliases_) aliases_.emplace(graph_, context_);
  return *aliases_;
}

const GraphIndex& Matcher::index() const {
  if (!index_) index_.emplace(graph_);
  return *index_;
}

const RowMajor& Matcher::row_major() const {
  if (!row_major_) row_major_.emplace(graph_, context_);
  return *row_major_;
}

bool Matcher::is(std::uint32_t n, std::string_view family) const {
  const Node& node = graph_.nodes[n];
  if (!is_of_family(node.op, family) || edit_.is_removed(n)) return false;
  const spec::OpRow* row = context_.row(node.op);
  return row && !row->effects.is_out && node.results.size() == 1 && !node.results.front().is_list;
}

bool Matcher::is_in_place(std::uint32_t n) const {
  const spec::OpRow* row = context_.row(graph_.nodes[n].op);
  return row && row->effects.mutates();
}

std::optional<std::uint32_t> Matcher::maker(std::optional<ValueId> id,
                                            std::string_view family) const {
  const auto node = id ? index().producer(*id) : std::nullopt;
  return node && is(*node, family) ? node : std::nullopt;
}

std::optional<std::uint32_t> Matcher::cast(std::optional<ValueId> id) const {
  auto found = maker(id, "aten._to_copy");
  if (!found) found = maker(id, "aten.to");
  if (!found) return std::nullopt;
  const Node& node = graph_.nodes[*found];
  const auto source = value_of(node, "self");
  if (!source || value_of(node, "other") || !dtype(*source) || !dtype(*id)) return std::nullopt;
  const auto& from = *graph_.value(*source).type;
  const auto& to = *graph_.value(*id).type;
  const bool keeps =
      from.device == to.device &&
      is_default(argument_of(node, "memory_format"), Argument{spec::MemoryFormat::kPreserve});
  return keeps ? found : std::nullopt;
}

bool Matcher::is_only_read_by(ValueId id, std::initializer_list<std::uint32_t> nodes) const {
  if (index().is_output(id)) return false;
  const auto users = index().users(id);
  return std::ranges::all_of(
      users, [&](std::uint32_t user) { return std::ranges::find(nodes, user) != nodes.end(); });
}

std::optional<std::uint32_t> Matcher::only_reader(ValueId id) const {
  const auto users = index().users(id);
  if (users.size() != 1 || index().is_output(id) || edit_.is_removed(users.front())) {
    return std::nullopt;
  }
  return users.front();
}

std::optional<spec::DType> Matcher::dtype(ValueId id) const {
  const auto& type = graph_.value(id).type;
  return type ? std::optional(type->dtype) : std::nullopt;
}

bool Matcher::has_sizes_of(ValueId a, ValueId b) const {
  const auto& first = graph_.value(a).type;
  const auto& second = graph_.value(b).type;
  return first && second && provably_equal(first->sizes, second->sizes);
}

bool Matcher::is_made_before(ValueId id, std::uint32_t node) const {
  const auto producer = index().producer(id);
  return !producer || *producer < node;
}

std::optional<std::pair<ValueId, ValueId>> Matcher::operands(std::uint32_t n) const {
  const auto self = value_of(graph_.nodes[n], "self");
  const auto other = value_of(graph_.nodes[n], "other");
  if (!self || !other) return std::nullopt;
  const auto is_tensor = [&](ValueId id) {
    return graph_.value(id).kind == spec::ValueKind::kTensor;
  };
  return is_tensor(*self) && is_tensor(*other) ? std::optional(std::pair(*self, *other))
                                               : std::nullopt;
}

bool Matcher::may_read_at(ValueId id, std::uint32_t from, std::uint32_t to,
                          const std::vector<std::uint32_t>& matched) const {
  if (context_.has(spec::Deviation::kMatchesAcrossMutations)) return true;
  const auto [first, last] = std::minmax(from, to);
  return !aliases().is_accessed_between(
      id, first, last, true, [&](std::uint32_t node) { return contains(matched, node); });
}

bool Matcher::writes_stay_inside(const std::vector<std::uint32_t>& matched) const {
  const std::uint32_t first = *std::ranges::min_element(matched);
  const std::uint32_t last = *std::ranges::max_element(matched);
  return std::ranges::all_of(matched, [&](std::uint32_t n) {
    if (!is_in_place(n)) return true;
    const ValueId written = result_of(graph_.nodes[n]);
    return !aliases().holds_input(written) && !aliases().is_reshaped(written) &&
           !aliases().is_accessed_between(
               written, first, last + 1, false,
               [&](std::uint32_t node) { return contains(matched, node); }) &&
           contains(matched, aliases().accesses(written).front().node);
  });
}

void Matcher::take(const std::vector<std::uint32_t>& matched, std::uint32_t at, Node replacement) {
  for (const std::uint32_t n : matched) edit_.remove(n);
  edit_.insert(at, std::move(replacement));
  context_.count_match();
}

void Matcher::remove(std::uint32_t n) { edit_.remove(n); }

Node fused_node(std::string name, std::string op, std::vector<spec::NamedArgument> arguments,
                const std::vector<ValueId>& results) {
  Node node{std::move(name), "graphgate." + std::move(op) + ".default", std::move(arguments), {}};
  for (const ValueId id : results) node.results.push_back({false, {id}});
  return node;
}

}  // namespace graphgate::optimized
