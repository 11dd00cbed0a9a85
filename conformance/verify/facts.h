// Facts of a program: which node's write every operand of every node must see.
//
// The graph is walked in its own order, storages in hand. Views, updates in place and returned
// aliases lead to the root storage, and a map of each storage says who wrote which byte last. So an
// operand's facts are the reaching definitions of its bytes. Geometry comes from an instrumented
// run of the reference where there is one (rows with storages, sizes, strides), else from the types
// that the program states, at the sizes of the plan. Nothing comes from a planner.
//
//   %m = aten.mul_.Tensor(%x, 2.0)          writes x [0, 512)
//   %s = aten.slice.Tensor(%m, 1, 2, 10)    a view: writes nothing
//   %t = aten.sum.dim_IntList(%s, [1])      operand self: every byte by 'mul_'
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/verify/accesses.h"
#include "conformance/verify/content_map.h"
#include "conformance/verify/run_rows.h"
#include "spec/executor.h"
#include "spec/program.h"

namespace graphgate::verify {

// A node in one place of the run. The root graph is frame 0. Each arm of a conditional that the
// program can take is a frame of its own, as are the condition and the body of a loop.
struct Frame {
  const spec::Graph* graph = nullptr;
  std::optional<std::uint32_t> conditional;  // the node (into GraphFacts::nodes) it is an arm of
  std::uint32_t arm = 0;                     // among the subgraphs that the conditional is given
};

// Where a tensor lies in its storage, without bytes; what is known of it shares one. Null where
// that is unknown.
struct PlacedTensor : spec::HostTensor {
  explicit PlacedTensor(spec::HostTensor tensor)
      : spec::HostTensor(std::move(tensor)), bytes(bytes_of(*this)) {}
  // Where a run saw it.
  explicit PlacedTensor(const spec::ProvenanceRow& row);
  ByteSet bytes;  // of the storage
};
using Geometry = std::shared_ptr<const PlacedTensor>;

// A tensor as the graph has it at one moment. Writers are those of GraphFacts: inputs first, then
// nodes. `contents` are ranges of its storage; one range to kNoEnd where the geometry is unknown.
struct TensorFact {
  std::uint32_t storage = 0;
  Geometry geometry;
  Contents contents;

  // Every writer that may be seen in it, ascending.
  [[nodiscard]] Writers writers() const;
  // Whether each of the writers must be seen in it.
  [[nodiscard]] bool is_certain() const;
};

// What one operand of a node must see. Numbers have no tensor, but the node that makes them. The
// condition of a loop is one of these too, behind the operands of its node.
struct OperandFact {
  OperandUse use;  // values are those of the node's graph
  std::optional<TensorFact> tensor;
  Writers number;
};

// A tensor that a node is done with.
struct ResultFact {
  std::uint32_t storage = 0;
  Geometry geometry;
};

struct NodeFact {
  std::uint32_t frame = 0;
  spec::NodeId node;
  NodeUse use;  // operands in the order of `operands`
  std::vector<OperandFact> operands;
  std::vector<ResultFact> results;  // tensors, lists unpacked
  bool may_alias = false;           // some result may share storage with an operand
};

struct GraphFacts {
  const spec::Program* program = nullptr;
  std::vector<Frame> frames;
  std::vector<NodeFact> nodes;  // in the order of running; arms one after the other
  // By frame: names, ascending, with an index into `nodes`. The graphs own the names.
  std::vector<std::vector<std::pair<std::string_view, std::uint32_t>>> by_name;

  // As Program::outputs; absent for what is no tensor.
  std::vector<std::optional<TensorFact>> outputs;
  // As Program::inputs: what each holds when the run is done. Absent for what is no tensor.
  std::vector<std::optional<TensorFact>> finals;
  // As Program::inputs: the root storage.
  std::vector<std::optional<std::uint32_t>> input_storages;

  // Writers below `first_node` are inputs, by their place in Program::inputs.
  [[nodiscard]] Writer first_node() const;
  [[nodiscard]] bool is_input(Writer writer) const { return writer < first_node(); }
  [[nodiscard]] std::uint32_t node_of(Writer writer) const { return writer - first_node(); }
  [[nodiscard]] Writer writer_of(std::uint32_t node) const { return first_node() + node; }
  [[nodiscard]] const spec::Node& node(std::uint32_t index) const;
  // The node of that name, into `nodes`.
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint32_t frame, std::string_view name) const;
  // "input 'x'" or "'mul_' (aten.mul_.Tensor)".
  [[nodiscard]] std::string name_of(Writer writer) const;
};

// `symbols` bind the program's sizes. `input_groups`: by input, equal numbers for inputs that share
// a storage; used where `rows` do not say.
[[nodiscard]] GraphFacts facts_of(const spec::Program& program, const spec::OpTable& ops,
                                  const std::map<std::string, std::int64_t>& symbols,
                                  const std::vector<std::uint32_t>& input_groups,
                                  const RunRows& rows);

}  // namespace graphgate::verify
