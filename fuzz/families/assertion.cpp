// Assertions that hold: nodes without a result.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

bool draw_metadata(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes);
  NodeBuilder node(draft, "aten._assert_tensor_metadata.default");
  node.tensor("a", self).none("size").none("stride").dtype("dtype", draft.tensor(self).dtype);
  return true;
}

// A size is not negative.
bool draw_scalar_assertion(Draft& draft, GeneReader& genes, std::size_t) {
  const auto number = draft.pick_number(genes);
  if (!number) return false;
  spec::ValueId holds;
  {
    NodeBuilder node(draft, "_operator.ge");
    node.value("a", *number).integer("b", 0);
    holds = node.number(spec::ValueKind::kSymBool, std::nullopt);
  }
  NodeBuilder node(draft, "aten._assert_scalar.default");
  node.value("self", holds).text("assert_msg", "size is not negative");
  return true;
}

constexpr DrawnOp kAssertionRows[] = {{"aten._assert_tensor_metadata", 1, draw_metadata, 0},
                                      {"aten._assert_scalar", 1, draw_scalar_assertion, 0}};

}  // namespace

std::span<const DrawnOp> assertion_rows() { return kAssertionRows; }

}  // namespace graphgate::fuzz
