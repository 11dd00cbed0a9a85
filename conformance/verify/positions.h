// Where the nodes of a launch touch memory, iteration by iteration of its loops: what a node says
// in its argument `positions`, a list of texts that its schema declares (str[]).
//
//   ["nest 0 phase 0 over [6, 5] shared 30", "m0 reads 25 + d1 - 5*d0", "m0 writes d1 + 5*d0"]
//
// Nodes of one `nest` run in the same loops, those of several one behind the other. The first
// `shared` parts of the loops, in row-major order, run apart from each other, in any order; what
// is inside a part runs `phase` by phase. docs/executors.md has the words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "spec/op_table.h"
#include "spec/plan.h"
#include "spec/sym_expr.h"

namespace graphgate::verify {

enum class TouchKind : std::uint8_t {
  kReads,
  kWrites,
  kAdds,     // atomically, to what is there
  kResults,  // writes once the loops inside of a part are over
};

// One touch in each iteration for which `condition` is not 0. `index`, in elements from the first
// element of the tensor, and `condition` are expressions of the loops' variables d0, d1, ...
struct Touch {
  std::string operand;  // the name of an argument, or the number of a result: "m0", "0"
  TouchKind kind = TouchKind::kReads;
  spec::SymExpr index;
  std::optional<spec::SymExpr> condition;
  friend bool operator==(const Touch&, const Touch&) = default;
};

struct Positions {
  std::int64_t nest = 0;
  std::int64_t phase = 0;
  std::vector<std::int64_t> sizes;  // of the loops, the outermost first
  std::int64_t shared = 1;          // divides the number of iterations
  std::vector<Touch> touches;

  // Of all loops together.
  [[nodiscard]] std::int64_t iterations() const;
};

// Nothing where the node says nothing. Errors tell which text, and what was expected.
[[nodiscard]] Result<std::optional<Positions>> positions_of(const spec::Node& node,
                                                            const spec::OpTable& ops);

// The value that a touch of the node is about; nothing where the node has no such one.
[[nodiscard]] std::optional<spec::ValueId> touched_value(const spec::Node& node,
                                                         const Touch& touch);

}  // namespace graphgate::verify
