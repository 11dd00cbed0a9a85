#include "conformance/judges/node_effects.h"

#include <algorithm>

namespace graphgate::conformance {

bool is_conditional(const spec::Node& node) {
  return std::ranges::any_of(node.arguments, [](const auto& named) {
    return named.argument.template as<spec::SubgraphId>() != nullptr;
  });
}

bool has_effect(const spec::OpRow* row) {
  return row == nullptr || row->effects.mutates() || !row->undeclared_writes.empty() ||
         !row->hidden_state_writes.empty() || !row->orders.empty();
}

}  // namespace graphgate::conformance
