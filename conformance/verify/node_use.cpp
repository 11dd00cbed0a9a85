// What one node reads, writes and orders, by the row of its op; declared in accesses.h.
#include <algorithm>
#include <set>

#include "conformance/verify/accesses.h"

namespace graphgate::verify {
namespace {

using spec::Node;
using spec::OpRow;
using spec::ValueId;

const spec::NamedArgument* argument_called(const Node& node, std::string_view name) {
  for (const spec::NamedArgument& named : node.arguments) {
    if (named.name == name) return &named;
  }
  return nullptr;
}

// The state that `name` stands for in this call: the value of the argument so called, or itself.
std::string resolve_state(const OpRow& row, const Node& node, const std::string& name) {
  const auto argument = row.state_argument(name);
  if (!argument) return name;
  const auto* named = argument_called(node, row.schema.arguments[*argument].name);
  if (named != nullptr) {
    if (const auto* text = named->argument.as<std::string>()) return *text;
  }
  const auto& value = row.schema.arguments[*argument].default_value;
  if (value) {
    if (const auto* text = std::get_if<std::string>(&value->value.data)) return *text;
  }
  return name;
}

void add_hidden(const OpRow& row, const Node& node, std::vector<HiddenUse>& out) {
  if (row.hidden_state_reads.empty() && row.hidden_state_writes.empty() && row.orders.empty())
    return;
  std::set<std::string> reads;
  std::set<std::string> writes;
  for (const std::string& name : row.hidden_state_reads) {
    reads.insert(resolve_state(row, node, name));
  }
  for (const std::string& name : row.hidden_state_writes) {
    writes.insert(resolve_state(row, node, name));
  }
  std::set<std::string> names = reads;
  names.insert(writes.begin(), writes.end());
  for (const std::string& name : names) {
    out.push_back({name, reads.contains(name), writes.contains(name), false});
  }
  for (const std::string& token : row.orders) out.push_back({token, true, true, true});
}

// Which argument of the schema it is: mostly the one in its place.
std::optional<std::size_t> schema_argument(const OpRow& row, std::size_t place,
                                           const std::string& name) {
  const auto& arguments = row.schema.arguments;
  if (place < arguments.size() && arguments[place].name == name) return place;
  return row.schema.find_argument(name);
}

}  // namespace

NodeUse use_of(const Node& node, const spec::OpTable& ops) {
  NodeUse use;
  use.row = ops.find(node.op);
  use.operands.reserve(node.arguments.size());
  for (std::size_t a = 0; a < node.arguments.size(); ++a) {
    const spec::NamedArgument& named = node.arguments[a];
    const auto index = use.row != nullptr ? schema_argument(*use.row, a, named.name) : std::nullopt;
    OperandUse operand{a, {}, true, false};
    if (index) {
      operand.writes = use.row->writes(*index);
      // Hidden writes add to what is there.
      operand.reads = use.row->effects.arguments[*index].reads;
    }
    spec::for_each_value(named.argument, [&](ValueId id) {
      operand.value = id;
      use.operands.push_back(operand);
    });
  }
  if (use.row != nullptr) add_hidden(*use.row, node, use.hidden);
  if (use.row == nullptr && !node.arguments.empty()) {
    const auto* inner = node.arguments.front().argument.as<spec::OpName>();
    const OpRow* row = inner != nullptr ? ops.find(inner->name) : nullptr;
    if (row != nullptr) add_hidden(*row, node, use.hidden);
  }
  return use;
}

bool may_alias(const OpRow& row, std::size_t argument) {
  const auto& hidden = row.undeclared_aliases;
  const std::string& name = row.schema.arguments[argument].name;
  if (std::ranges::find(hidden, name) != hidden.end()) return true;
  const auto& returns = row.effects.returns;
  return std::ranges::any_of(returns, [&](const spec::ReturnEffect& one) {
    return std::ranges::find(one.aliases, argument) != one.aliases.end();
  });
}

bool takes_no_byte(const OpRow& row) {
  const std::string base = row.schema.base_name();
  return base.starts_with("new_") || (row.schema.ns == "aten" && base == "empty_like");
}

}  // namespace graphgate::verify
