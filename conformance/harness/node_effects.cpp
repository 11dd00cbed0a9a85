#include "conformance/harness/node_effects.h"

namespace graphgate::conformance {

bool has_effect(const spec::OpRow* row) {
  return row == nullptr || row->effects.mutates() || !row->undeclared_writes.empty() ||
         !row->hidden_state_writes.empty() || !row->orders.empty();
}

}  // namespace graphgate::conformance
