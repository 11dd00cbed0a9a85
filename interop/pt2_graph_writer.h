// spec::Graph -> the JSON text of the schema's Graph.
//
// Used by pt2_writer.cpp. The text is appended piece by piece: no JSON tree is made.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "interop/json_cursor.h"
#include "spec/op_table.h"
#include "spec/program.h"

namespace graphgate::interop {

// JSON texts of single values.
[[nodiscard]] std::string json_text(std::string_view text);
[[nodiscard]] std::string json_text(double number);  // "Infinity", "NaN" as the schema has them

// What the writers of one program share.
struct WriteContext {
  const spec::Program& program;
  const spec::OpTable& ops;
  spec::SymbolValues hints;                        // of the symbols that have one
  Json opaque_values = Json::object();             // kOpaqueValuesKey
  std::set<std::string, std::less<>> bare_nodes;   // kBareNodesKey
  std::set<std::string, std::less<>> bare_graphs;  // kSingleReturnsKey
  std::set<std::string, std::less<>> grad_values;  // names of parameters that want a gradient
  std::set<std::string, std::less<>> shown_hints;  // symbols whose hint some size shows
  Json renamed_values = Json::object();            // "GRAPH/WRITTEN" -> name
};

// The names under which the values of one graph are written: Python identifiers, since PyTorch
// makes source code of them. Values keep their names where they can.
class WrittenNames {
 public:
  WrittenNames(const spec::Graph& graph, const std::string& path, WriteContext& context);
  [[nodiscard]] const std::string& of(spec::ValueId id) const { return names_[id.index]; }
  // A name for a node: its own, or that of its only result, or a new one.
  [[nodiscard]] std::string for_node(const spec::Node& node, bool is_bare);

 private:
  std::string unique(std::string name);
  std::vector<std::string> names_;
  std::set<std::string, std::less<>> taken_;
};

// {"as_tensor": {"name": "x"}}, {"as_int": 3}, ... `place` stands in errors.
[[nodiscard]] Result<void> write_argument(const spec::Graph& graph, const WrittenNames& names,
                                          const spec::Argument& argument, const std::string& path,
                                          int depth, WriteContext& context, std::string& out);

// TensorMeta: dtype, sizes, strides, offset, device, layout.
[[nodiscard]] Result<std::string> tensor_meta(const spec::TensorType& type, bool requires_grad,
                                              WriteContext& context);

// The graph as an object. The program's own graph (depth 0) also lists its constant inputs.
[[nodiscard]] Result<void> write_graph(const spec::Graph& graph, const WrittenNames& names,
                                       const std::string& path, int depth, WriteContext& context,
                                       std::string& out);

// {"input_specs": [..], "output_specs": [..]}.
[[nodiscard]] Result<std::string> write_signature(const WrittenNames& names, WriteContext& context);

// The pytree specs of a module that takes the user inputs as positional arguments and returns the
// user outputs as a tuple: [{"fqn": "", "signature": {..}}].
[[nodiscard]] std::string default_call_graph(const WrittenNames& names,
                                             const spec::Program& program);

}  // namespace graphgate::interop
