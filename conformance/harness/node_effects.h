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

}  // namespace graphgate::conformance
