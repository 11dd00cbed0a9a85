// The graph: values, nodes and subgraphs as plain data.
//
// Nodes stand in an order that is a legal execution order (the original program order, which
// mutation makes meaningful). Everything refers to everything by index, so a graph can be copied,
// compared with == and printed (graph_text.h). check_graph() in graph_check.h states the
// invariants; readers call it on everything that comes from outside.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "spec/dtype.h"
#include "spec/ids.h"
#include "spec/sym_expr.h"
#include "spec/tensor.h"

namespace graphgate::spec {

enum class ValueKind : std::uint8_t {
  kTensor,
  kTensorList,  // read by _operator.getitem
  kSymInt,
  kSymFloat,
  kSymBool,
  kNone,  // the result of an op that returns nothing, or an unused place in a tuple
};
[[nodiscard]] constexpr bool is_symbolic(ValueKind kind) {
  return kind == ValueKind::kSymInt || kind == ValueKind::kSymFloat || kind == ValueKind::kSymBool;
}

// One value. `type` is meaningful for kTensor; it is absent where nobody stated it: hand-written
// text may leave out the types of node results (graph inputs always have one). `expr` and `hint`
// are meaningful for the kSym kinds: the value as an expression over the program's symbols, where
// the exporter knew one.
struct Value {
  std::string name;
  ValueKind kind = ValueKind::kTensor;
  std::optional<TensorType> type;
  std::optional<SymExpr> expr;
  std::optional<std::int64_t> hint;
  friend bool operator==(const Value&, const Value&) = default;
};

struct None {
  friend bool operator==(None, None) = default;
};

// The qualified name of an op that is itself an argument: auto_functionalized_v2's first one.
struct OpName {
  std::string name;
  friend bool operator==(const OpName&, const OpName&) = default;
};

// A complex number that stands in a program: 2 + 3j. Tensors hold pairs of numbers of their own
// dtype.
struct ComplexNumber {
  double real = 0;
  double imag = 0;
  friend bool operator==(const ComplexNumber&, const ComplexNumber&) = default;
};

// What a node is given for one parameter. A list holds arguments (None among them for
// `Tensor?[]`); a ValueId stands for a tensor or a symbolic scalar alike.
struct Argument {
  using List = std::vector<Argument>;
  std::variant<None, bool, std::int64_t, double, std::string, DType, Device, Layout, MemoryFormat,
               ValueId, OpName, SubgraphId, List, ComplexNumber>
      value;

  template <class T>
  [[nodiscard]] const T* as() const {
    return std::get_if<T>(&value);
  }
  // Floats are the same constant where they are the same number with the same sign, or both NaN.
  friend bool operator==(const Argument& a, const Argument& b) {
    const auto is_same = [](double x, double y) {
      if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
      return x == y && std::signbit(x) == std::signbit(y);
    };
    const auto* x = a.as<double>();
    const auto* y = b.as<double>();
    if (x && y) return is_same(*x, *y);
    const auto* z = a.as<ComplexNumber>();
    const auto* w = b.as<ComplexNumber>();
    if (z && w) return is_same(z->real, w->real) && is_same(z->imag, w->imag);
    return a.value == b.value;
  }
};

// `name` is the schema's parameter name; empty for the positional operands of higher-order ops.
struct NamedArgument {
  std::string name;
  Argument argument;
  friend bool operator==(const NamedArgument&, const NamedArgument&) = default;
};

// One return of an op: a single value, or the elements of a returned `Tensor[]`, unpacked.
struct NodeResult {
  bool is_list = false;
  std::vector<ValueId> values;  // exactly one unless is_list
  friend bool operator==(const NodeResult&, const NodeResult&) = default;
};

// One operation. `op` is the qualified name: "aten.add_.Tensor", "vllm.silu_and_mul.default",
// "_operator.mul", "higher_order.cond", "higher_order.auto_functionalized_v2". Arguments left out
// have the schema's default. `name` is unique among the nodes of its graph.
struct Node {
  std::string name;
  std::string op;
  std::vector<NamedArgument> arguments;
  std::vector<NodeResult> results;
  friend bool operator==(const Node&, const Node&) = default;
};

// Inputs are values without a producer. Outputs may be constants (None, numbers) or values.
struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;
  std::vector<Argument> outputs;
  std::vector<Graph> subgraphs;

  [[nodiscard]] const Value& value(ValueId id) const { return values.at(id.index); }
  [[nodiscard]] const Node& node(NodeId id) const { return nodes.at(id.index); }
  friend bool operator==(const Graph&, const Graph&) = default;
};

// Calls `visit(ValueId)` for every value that an argument mentions, nested lists included.
template <class Visit>
void for_each_value(const Argument& argument, Visit&& visit) {
  if (const auto* id = argument.as<ValueId>()) visit(*id);
  if (const auto* list = argument.as<Argument::List>()) {
    for (const Argument& element : *list) for_each_value(element, visit);
  }
}

// The same for every argument of a node, in order.
template <class Visit>
void for_each_operand(const Node& node, Visit&& visit) {
  for (const NamedArgument& named : node.arguments) for_each_value(named.argument, visit);
}

}  // namespace graphgate::spec
