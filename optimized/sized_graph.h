// A program at one binding of its symbols: what every stage after specialization works on.
//
// Every size is a number, every view is a geometry over a storage, and what has no work to do at
// run time (views, sizes, assertions that hold) is gone. What only a call can tell, the count of
// nonzero elements say, is *dynamic*: nodes that make or read it infer their results when they run.
//
//   storage  bytes that views share             kState | kInput | kIntermediate | kDynamic
//   value    a tensor over a storage, or a dynamic number
//   node     one launch
//   block    a straight run of nodes: 0 is the program, others are the arms of conditionals
//
// Everything refers to everything by index. Nodes of a block stand in program order, which is
// legal.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "optimized/kernel.h"
#include "spec/plan.h"

namespace graphgate::optimized {

enum class StorageKind : std::uint8_t {
  kState,         // of a parameter, buffer or constant
  kInput,         // of a user input
  kIntermediate,  // made by a node; `bytes` is known
  kDynamic,       // made by a node; known when it runs
  kInner,         // inside one fused node: only a tile of it ever exists, without a place
};

struct SizedStorage {
  std::string name;  // of the first value over it
  StorageKind kind = StorageKind::kIntermediate;
  std::int64_t bytes = 0;
  spec::Device device;
};

// A tensor or a dynamic number. `tensor` is its geometry, without bytes; of a dynamic tensor only
// dtype, device and storage mean something, and `declared` is what the program says of it, if it
// does. A dynamic view may lie in the storage of any tensor it was made from: `bases`.
struct SizedValue {
  std::string name = {};
  spec::ValueKind kind = spec::ValueKind::kTensor;
  bool is_dynamic = false;
  Tensor tensor = {};
  std::optional<spec::TensorType> declared = {};
  std::vector<StorageIndex> bases = {};
};

// `node`: arguments and results name values of the SizedGraph; a result that is an argument (in
// place) has that argument's id. `row` and `kernel` are null for a conditional, whose SubgraphIds
// are blocks. `symbols` are those that the program's types of its operands and results, and its
// number operands, depend on; sorted.
//
// `is_elementwise`: the results have the sizes that tensor operands broadcast to, and the launch
// takes no scratch bytes. False where that is not known.
//
// A fused node (kFusedOp; row and kernel null) runs the nodes of its `body` in one launch; its
// arguments and results are those of PlanStep. `stream`, `waits` and `records` are those of the
// step.
struct SizedNode {
  spec::Node node = {};
  const spec::OpRow* row = nullptr;
  const Kernel* kernel = nullptr;
  std::int64_t workspace_bytes = 0;
  bool is_dynamic = false;
  bool is_elementwise = false;
  std::vector<std::string> symbols = {};
  std::vector<SizedNode> body = {};
  std::uint32_t stream = 0;
  std::vector<spec::EventId> waits = {};
  std::vector<spec::EventId> records = {};

  [[nodiscard]] bool is_fused() const { return !body.empty(); }
};

inline constexpr std::string_view kFusedOp = "graphgate.fused";

// Visits what a node results in, in order, lists unpacked.
template <class Visit>
void for_each_made(const spec::Node& node, Visit&& visit) {
  for (const spec::NodeResult& result : node.results) {
    for (const spec::ValueId id : result.values) visit(id);
  }
}
// Visits operands and results of the node; a value may come more than once.
template <class Visit>
void for_each_mention(const SizedNode& node, Visit&& visit) {
  for_each_operand(node.node, visit);
  for_each_made(node.node, visit);
}

struct SizedBlock {
  std::string name;
  std::vector<SizedNode> nodes;
  std::vector<spec::Argument> outputs;
};

struct SizedGraph {
  std::vector<SizedStorage> storages;
  std::vector<SizedValue> values;
  std::vector<SizedBlock> blocks;
  std::vector<spec::PlanInput> inputs;  // as Program::inputs
  std::vector<spec::Argument> outputs;  // user outputs
  std::map<std::string, std::int64_t> symbols;
  std::uint32_t event_count = 0;

  [[nodiscard]] const SizedValue& value(spec::ValueId id) const { return values[id.index]; }
  // The storages that a value may lie in; empty for numbers.
  template <class Visit>
  void for_each_storage(spec::ValueId id, Visit&& visit) const {
    const SizedValue& v = values[id.index];
    if (v.kind != spec::ValueKind::kTensor) return;
    visit(v.tensor.storage);
    for (const StorageIndex base : v.bases) visit(base);
  }
};

}  // namespace graphgate::optimized
