#include "interop/pt2_operator_node.h"

#include <utility>

#include "spec/op_table.h"

namespace graphgate::interop {

std::optional<OperatorCall> operator_call(const spec::Node& node, std::size_t place) {
  if (node.arguments.size() <= place) return std::nullopt;
  const auto* op = node.arguments[place].argument.as<spec::OpName>();
  const spec::OpRow* row = op ? spec::builtin_op_table().find(op->name) : nullptr;
  if (!row) return std::nullopt;
  OperatorCall call{op->name, {}};
  const auto& parameters = row->schema.arguments;
  for (std::size_t i = place + 1; i < node.arguments.size(); ++i) {
    spec::NamedArgument given = node.arguments[i];
    if (given.name.empty()) {
      if (i - place - 1 >= parameters.size()) return std::nullopt;
      given.name = parameters[i - place - 1].name;
    }
    call.arguments.push_back(std::move(given));
  }
  return call;
}

}  // namespace graphgate::interop
