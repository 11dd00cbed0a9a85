// What running a node does beside making its results.
#pragma once

#include "spec/graph.h"
#include "spec/op_table.h"

namespace graphgate::conformance {

// Whether a node holds arms, of which it runs one.
[[nodiscard]] bool is_conditional(const spec::Node& node);

// Whether somebody who does not read its results can tell that the op ran: it writes, or waits for
// its turn; so may an op without a row.
[[nodiscard]] bool has_effect(const spec::OpRow* row);

// Calls visit(ValueId) for every operand that the node writes, as its op's schema and row say.
template <class Visit>
void for_each_written(const spec::Node& node, const spec::OpRow& row, Visit&& visit) {
  for (const spec::NamedArgument& named : node.arguments) {
    const auto index = row.schema.find_argument(named.name);
    if (index && row.writes(*index)) spec::for_each_value(named.argument, visit);
  }
}

}  // namespace graphgate::conformance
