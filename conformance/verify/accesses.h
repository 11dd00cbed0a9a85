// What the steps of a plan read and write, byte by byte, and in which order they run.
//
// Everything follows from the steps, the schemas and the rows of the op table (writes that a schema
// hides, hidden state, tokens); a plan's own claims about lifetimes are not looked at. All rules of
// this folder start here. The plan must have passed check_plan, and its ops be in the table.
//
//   step 3 graphgate.fused     body 0  reads  %x [0, 512) of $x     writes %t (inner, no bytes)
//                              body 1  reads  %t                    writes %y [0, 512) of $y
//                              workspace $y_work
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "conformance/verify/byte_set.h"
#include "spec/op_table.h"
#include "spec/plan.h"

namespace graphgate::verify {

// ---- one node ---------------------------------------------------------------------------------

// An operand of a node: the `argument`-th of Node::arguments mentions the value. By the row of its
// op; of an op without one (conditionals) all operands are read, none is written.
struct OperandUse {
  std::size_t argument = 0;
  spec::ValueId value;
  bool reads = false;
  bool writes = false;  // declared by the schema or hidden by it
};

// State that a node reaches by name, or a token that it holds.
struct HiddenUse {
  std::string name;  // resolved: layer_name="model.layers.0" gives "model.layers.0"
  bool reads = false;
  bool writes = false;
  bool is_token = false;
  friend bool operator==(const HiddenUse&, const HiddenUse&) = default;
};

struct NodeUse {
  const spec::OpRow* row = nullptr;  // null for ops that the table does not have
  std::vector<OperandUse> operands;  // in the order of the arguments, lists unpacked
  std::vector<HiddenUse> hidden;
};

// Ids are those of the graph or plan that the node is of. The row of an op that is itself the first
// argument (auto_functionalized_v2) tells its hidden state; its writes go to copies, and are none.
[[nodiscard]] NodeUse use_of(const spec::Node& node, const spec::OpTable& ops);

// Whether some result of the op may share storage with that argument, as its schema declares or
// hides. `argument` < schema.arguments.size().
[[nodiscard]] bool may_alias(const spec::OpRow& row, std::size_t argument);

// new_empty, empty_like and their kin: of tensors they take dtype, sizes and device, and no byte.
[[nodiscard]] bool takes_no_byte(const spec::OpRow& row);

// ---- a plan -----------------------------------------------------------------------------------

// Where a step stands. Arms of a conditional stand behind it in Accesses::order, one after the
// other, though only one of them runs. Blocks of a loop stand there likewise; they run in turn,
// again and again.
struct StepPlace {
  std::uint32_t block = 0;
  std::uint32_t partition = 0;               // of the block
  std::optional<std::uint32_t> conditional;  // the step that this block is an arm of, or a loop
};

enum class AccessKind : std::uint8_t {
  kOperand,    // a value that the node is given
  kResult,     // a value that the node makes; always a write
  kWorkspace,  // scratch bytes of the step; read and written
};

// One touch. Numbers have no accesses.
struct Access {
  std::uint32_t step = 0;
  // The node of the step's body; absent: the step's own node.
  std::optional<std::uint32_t> body = {};
  AccessKind kind = AccessKind::kOperand;
  std::uint32_t argument = 0;                 // of the node; of results: which return
  std::optional<spec::ValueId> value = {};    // absent for workspaces
  std::optional<spec::BufferId> buffer = {};  // absent for inner values of a fused step
  bool reads = false;
  bool writes = false;
  // A result that is no operand: the node makes the value, it does not update it.
  bool makes = false;

  friend bool operator==(const Access&, const Access&) = default;
};

// A touch of hidden state or a token, in program order.
struct HiddenAccess {
  std::uint32_t step = 0;
  std::optional<std::uint32_t> body;
  HiddenUse use;
};

struct Accesses {
  const spec::Plan* plan = nullptr;
  // All steps as they run: a conditional, then the steps of its arms, then what follows.
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> position;  // by step: its place in `order`
  std::vector<std::uint32_t> first;  // by position: the step's first in `all`; one more at the end
  std::vector<StepPlace> places;     // by step
  // In the order of running. Within a node operands come first, then results; the workspace of a
  // step comes before all others of the step. Of a fused step there are those of its body only; the
  // results of a conditional are made at the conditional, and written by the arms.
  std::vector<Access> all;
  std::vector<HiddenAccess> hidden;
  std::vector<NodeUse> uses;              // node by node, those of a body in its order
  std::vector<std::uint32_t> first_uses;  // by step: into `uses`
  // By value: its bytes from the start of its buffer. Empty for heap values and numbers (see
  // `is_known`); inner values have a buffer of their own in thought.
  std::vector<ByteSet> value_bytes;
  std::vector<bool> is_known;  // by value: a tensor whose bytes are constants
  // By buffer of a heap: the buffers that it may be a view of, or one of which it is (results of
  // conditionals), and those that these may be views of. Only the call can tell.
  std::vector<std::set<std::uint32_t>> may_lie_in;

  [[nodiscard]] const spec::Node& node_of(const Access& access) const;
  // Of the step's node, or of one of its body.
  [[nodiscard]] const NodeUse& use_at(std::uint32_t step, std::optional<std::uint32_t> body) const {
    return uses[first_uses[step] + body.value_or(0)];
  }
  // All that a step touches.
  [[nodiscard]] std::span<const Access> of_step(std::uint32_t step) const;
  // The pool of an access with a buffer; heaps too.
  [[nodiscard]] const spec::PlanPool& pool_of(const Access& access) const;
  // Bytes of its pool. Without a known place (heaps, inner values): empty, and inexact.
  [[nodiscard]] ByteSet bytes_in_pool(const Access& access) const;
  // The bytes that two accesses share, of the pool; in a heap, where both are of one buffer, the
  // empty range [0, 0). Nothing where they are apart.
  [[nodiscard]] std::optional<ByteRange> shared_bytes(const Access& a, const Access& b) const;
  // Whether the two stand in different arms of one conditional, so that never both run.
  [[nodiscard]] bool are_exclusive(std::uint32_t step_a, std::uint32_t step_b) const;
  // "step 3 'mm' (aten.mm.default)", or "'relu' (aten.relu.default) in step 3 'mm'".
  [[nodiscard]] std::string place_of(const Access& access) const;
};

[[nodiscard]] Accesses accesses_of(const spec::Plan& plan, const spec::OpTable& ops);

// Names as in plan text.
[[nodiscard]] std::string step_name(const spec::Plan& plan, std::uint32_t step);  // step 3 'mm'
[[nodiscard]] std::string buffer_name(const spec::Plan& plan, spec::BufferId buffer);  // $x
[[nodiscard]] std::string value_name(const spec::Plan& plan, spec::ValueId value);     // %x
[[nodiscard]] std::string pool_name(const spec::Plan& plan, spec::PoolId pool);        // @arena
[[nodiscard]] std::string range_text(ByteRange range);                                 // [0, 512)

}  // namespace graphgate::verify
