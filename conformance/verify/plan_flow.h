// A plan run in thought: for every operand, which steps wrote the bytes that it reads.
//
// The same walk as over the graph (facts.h), over the plan's steps and buffers instead. Each buffer
// has a map of its own: what another buffer over the same bytes does to it is for V3 to say.
// Writers here are Tokens, which remember what they were made from, so that lineage.h can follow a
// value through steps that the graph does not have.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "conformance/verify/accesses.h"
#include "conformance/verify/content_map.h"
#include "conformance/verify/facts.h"

namespace graphgate::verify {

// How a node of the plan goes with the graph's node of its name.
enum class NodeMatch : std::uint8_t {
  kSame,       // the same op, or its in-place or functional form
  kRewritten,  // another op: a fusion of several nodes, a scatter turned into a copy
  kExtra,      // the graph has no such node: a copy that the executor added
};

// A node of a step, at one place of the plan.
struct FlowNode {
  std::uint32_t step = 0;
  std::optional<std::uint32_t> body;
  const spec::Node* node = nullptr;
  const spec::OpRow* row = nullptr;  // null for ops that the table does not have
  NodeMatch match = NodeMatch::kExtra;
  std::optional<std::uint32_t> graph_node;  // into GraphFacts::nodes
  Writer token = 0;
  bool may_alias = false;  // by its schema, a result may be a view of an operand
};

enum class TokenKind : std::uint8_t {
  kInput,  // what the plan's input `index` held before the first step
  kNode,   // what FlowNode `index` made or wrote
  // What `under` wrote, in bytes that FlowNode `index` left alone when it updated others of the
  // same buffer in place: there, its result is made of both.
  kPassed,
};

struct Token {
  TokenKind kind = TokenKind::kInput;
  std::uint32_t index = 0;
  Writer under = 0;  // of kPassed
  Writers reads;     // of kNode: tokens of all that it read, ascending
};

// What one access (into Accesses::all) finds in its bytes; writers are tokens. Not `exact`: the
// bytes are some of those that `contents` tell of (in heaps, and inner values).
struct FlowRead {
  std::uint32_t node = 0;  // into PlanFlow::nodes
  std::uint32_t access = 0;
  Contents contents;
  bool exact = true;
};

// An output of the plan or of a block, or the final value of an input; tensors alone.
struct FlowEnd {
  enum class What : std::uint8_t { kOutput, kFinal, kBlockOutput };
  What what = What::kOutput;
  std::uint32_t block = 0;  // of a block's output
  std::uint32_t index = 0;
  spec::ValueId value;
  Contents contents;
  bool exact = true;
};

struct PlanFlow {
  std::vector<FlowNode> nodes;
  std::vector<Token> tokens;
  std::vector<FlowRead> reads;
  std::vector<FlowEnd> ends;
  std::vector<std::optional<Writer>> numbers;  // by value: the token of a number
  // By buffer: tokens that wrote into it, in order.
  std::vector<Writers> writers_of_buffer;
};

// `facts` may be null: then no node has a match.
[[nodiscard]] PlanFlow flow_of(const Accesses& accesses, const spec::OpTable& ops,
                               const GraphFacts* facts);

}  // namespace graphgate::verify
