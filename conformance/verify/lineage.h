// Whether what a plan's step reads can be what the graph's node must see.
//
// A plan need not have the nodes of the graph: no-ops and views are gone, several nodes are one, an
// update in place stands for a copy, and copies were added. So a writer of the graph and a token of
// the plan are compared along these, and along nothing else:
//   - a node that the plan lacks hands on what it was given: who may see it may see its operands
//     (but not one that writes them: its write is lost);
//   - a fused op of another name computes what it replaces: nodes that the plan lacks, and that
//   lead
//     to it through nothing but such nodes;
//   - a step that the graph lacks, and one that makes a view, hands on what it reads;
//   - where a scatter became an update in place, bytes that it leaves alone belong to its result.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "conformance/verify/plan_flow.h"

namespace graphgate::verify {

class Lineage {
 public:
  Lineage(const GraphFacts& facts, const PlanFlow& flow);

  // Whether `writer` is who wrote bytes with this token, by its name.
  [[nodiscard]] bool is_of(Writer writer, Writer token) const;
  // Whether bytes with this token may be what `writer` wrote.
  [[nodiscard]] bool accepts(Writer writer, Writer token);
  // Whether one of them is.
  [[nodiscard]] bool any_accepts(const Writers& writers, Writer token);
  // No step of the plan has the name of this node.
  [[nodiscard]] bool is_absent(std::uint32_t graph_node) const { return absent_[graph_node]; }
  // The absent nodes that lead to this one through nothing but absent ones.
  [[nodiscard]] const std::set<std::uint32_t>& absorbed_by(std::uint32_t graph_node);
  // All writers that the node's operands, and those of the nodes absorbed by it, must see.
  [[nodiscard]] Writers writers_read_by(std::uint32_t graph_node);

 private:
  bool decide(Writer writer, Writer token);
  bool decide_token(Writer writer, Writer token);
  // Whether an absent node hands on what it was given. One that writes its operand does not, unless
  // a fused op stands for it.
  bool hands_on(std::uint32_t graph_node);
  [[nodiscard]] static Writers operand_writers(const NodeFact& node);

  const GraphFacts& facts_;
  const PlanFlow& flow_;
  std::vector<bool> absent_;
  bool lacks_nodes_ = false;                                      // some is absent
  std::vector<std::optional<std::set<std::uint32_t>>> absorbed_;  // by node, once asked
  std::map<std::pair<Writer, Writer>, bool> decided_;
  std::optional<std::set<std::uint32_t>> fused_;  // absent nodes that some step stands for
};

}  // namespace graphgate::verify
