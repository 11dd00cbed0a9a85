// Ops that hold ops: conditionals, loops and the functionalized form of mutating custom ops.
#pragma once

#include <string_view>
#include <vector>

#include "reference/interpreter.h"

namespace graphgate::reference {

// "higher_order.cond", loops (spec/loops.h), "higher_order.auto_functionalized" and its second
// version, "..._v2", and what stands in programs for oracles alone (spec/follow.h).
[[nodiscard]] bool is_higher_order(std::string_view op);

// kUnsupported where the reference has no body for the op that an auto_functionalized_v2 node runs,
// kBadInput where the node names none.
[[nodiscard]] Result<void> check_higher_order(const spec::Node& node, const spec::OpTable& ops);

// Runs one such node, which check_higher_order has passed. cond(predicate, true graph, false graph,
// operands) returns what the chosen graph returns; loops.h tells of loops.
// auto_functionalized_v2(op, ...) runs `op` on copies of the tensors it writes, and returns the
// op's results followed by the copies. The argument `_all_bases` lists the tensors, and
// `_NAME_base_index` (with _size, _stride, _storage_offset or slice entries for a view) says which
// of them argument NAME is. auto_functionalized(op, ...) names each written tensor by its
// parameter, and copies it on its own. Source: torch/_higher_order_ops/auto_functionalize.py.
[[nodiscard]] std::vector<Datum> run_higher_order(const Prepared& prepared, const spec::Node& node,
                                                  const Environment& environment, Run& run);

}  // namespace graphgate::reference
