// Reading and printing one node line of graph text, and the graph being built. The graph parser
// calls this for every line that no keyword starts; plan text does for its steps, whose results say
// more.
//
//   %v : f32[8], (%p, %q) = aten.op.overload(%x, 1, alpha=2) as name
#pragma once

#include <functional>
#include <string>
#include <unordered_set>

#include "spec/argument_text.h"
#include "spec/op_table.h"

namespace graphgate::spec {

// A graph and the names in it that later lines may use. Values get ids in the order of definition.
struct GraphBuilder {
  Graph graph;
  NameScope names;
  std::unordered_set<std::string> node_names;
};

// `%name` and an optional `: TYPE`; adds the value to the graph. `needs_type` makes the type an
// obligation, as it is for inputs.
[[nodiscard]] Result<ValueId> read_value_definition(TextReader& reader, GraphBuilder& builder,
                                                    bool needs_type);
// The two halves of it, where something stands between them (an input's target). The value has its
// name, and no type yet.
[[nodiscard]] Result<Value> read_value_name(TextReader& reader, const GraphBuilder& builder);
[[nodiscard]] Result<void> read_value_type(TextReader& reader, Value& value);
ValueId add_value(GraphBuilder& builder, Value value);

// Reads a whole node, up to its line end, which stays, and adds it to the graph.
[[nodiscard]] Result<void> read_node(TextReader& reader, const OpTable& ops, GraphBuilder& builder);

// Reads one result in front of `=`. It adds a value to the graph, or names one that is there.
using ReadResult = std::function<Result<ValueId>(TextReader& reader, GraphBuilder& builder)>;
// A node, up to what stands behind its name. It is not added, and its name may be another's too.
// `index` counts the nodes before it, for the name of a node without results.
// `schemaless` is an op that needs no row: its arguments have no names.
[[nodiscard]] Result<Node> read_bare_node(TextReader& reader, const OpTable& ops,
                                          GraphBuilder& builder, const ReadResult& read_result,
                                          std::size_t index, std::string_view schemaless = {});

// "" or " : TYPE".
[[nodiscard]] std::string print_value_type(const Value& value);
// Prints one result in front of `=`.
using PrintResult = std::function<std::string(ValueId id)>;
// Appends a node without its name, whose ids belong to `graph`.
void print_bare_node(const Graph& graph, const Node& node, const OpTable& ops,
                     const PrintResult& print_result, std::string& out);
// The name that a node has when its line does not say `as NAME`; `index` as above.
[[nodiscard]] std::string default_node_name(const Graph& graph, const Node& node,
                                            std::size_t index);

}  // namespace graphgate::spec
