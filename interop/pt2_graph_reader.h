// One graph of a .pt2: fed piece by piece, in any order, and finished into a spec::Graph.
//
// The pieces of the schema's Graph (inputs, outputs, nodes, *_values) may come in any order, so
// names become values when first met. finish() checks that each is defined once, before its uses,
// and has a type. Values are numbered in order of definition: inputs, then the results of the
// nodes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "interop/json_cursor.h"
#include "interop/pt2_types.h"
#include "spec/graph.h"

namespace graphgate::interop {

// What one entry of the schema's graph inputs is: a value, a constant that has none, or a token
// that was dropped (pt2_effect_tokens.h), which has neither.
struct InputSlot {
  std::optional<spec::ValueId> value;
  std::optional<spec::Argument> constant;
  bool is_token = false;
};

class GraphReader {
 public:
  // `path` names the graph among those of the program: "" for the program's own, then
  // "true_graph_0", "true_graph_0/false_graph_1"...
  GraphReader(ReadContext& context, std::string path, int depth)
      : context_(context), path_(std::move(path)), depth_(depth) {}

  [[nodiscard]] Result<void> add_inputs(const JsonCursor& inputs);
  [[nodiscard]] Result<void> add_outputs(const JsonCursor& outputs);
  [[nodiscard]] Result<void> add_node(const JsonCursor& node);
  // One entry of tensor_values.
  [[nodiscard]] Result<void> add_tensor_value(const std::string& name, const JsonCursor& meta);
  // One entry of sym_int_values, sym_bool_values or sym_float_values.
  [[nodiscard]] Result<void> add_symbolic_value(const std::string& name, spec::ValueKind kind,
                                                const JsonCursor& number);
  [[nodiscard]] Result<void> set_single_return(const JsonCursor& flag);

  // Once, at the end. `place` is the graph's own, for errors. slots() are ready after it.
  [[nodiscard]] Result<spec::Graph> finish(std::string_view place);
  [[nodiscard]] const std::vector<InputSlot>& slots() const { return slots_; }
  // How many outputs of the schema's graph were tokens that were dropped.
  [[nodiscard]] std::size_t token_outputs() const { return token_outputs_; }

 private:
  struct Known {
    bool is_defined = false;
    bool has_type = false;
    std::string first_use;  // its place; empty: never used
  };

  spec::ValueId intern(const std::string& name);
  Result<spec::ValueId> use(const JsonCursor& name);
  Result<spec::ValueId> define(const JsonCursor& name, spec::ValueKind kind);
  Result<spec::ValueId> define_name(const std::string& name, spec::ValueKind kind,
                                    const JsonCursor& place);
  Result<spec::Argument> read_argument(const JsonCursor& argument);
  Result<spec::Argument> read_tensor_argument(const JsonCursor& argument);
  Result<spec::Argument> read_symbolic_argument(const JsonCursor& argument);
  Result<spec::Argument> read_optional_tensor(const JsonCursor& argument);
  Result<spec::Argument> read_list(std::string_view kind, const JsonCursor& list);
  Result<spec::Argument> read_subgraph(const JsonCursor& argument);
  Result<spec::NodeResult> read_result(const JsonCursor& result, const std::string& none_name);
  Result<void> read_results(const JsonCursor& node, const std::vector<std::string>& none_names,
                            spec::Node& out);
  Result<void> check_values(std::string_view place) const;
  Result<void> check_order(std::string_view place) const;
  void drop_tokens();
  void renumber();

  ReadContext& context_;
  std::string path_;
  int depth_;
  spec::Graph graph_;
  std::vector<InputSlot> slots_;
  std::size_t token_outputs_ = 0;
  std::vector<Known> known_;  // by value
  std::unordered_map<std::string, spec::ValueId> ids_;
  std::unordered_set<std::string> node_names_;
  std::unordered_map<std::string, spec::SubgraphId> subgraph_ids_;
};

// A whole graph that is already parsed: the argument of a higher-order op.
[[nodiscard]] Result<spec::Graph> read_graph(const JsonCursor& graph, ReadContext& context,
                                             const std::string& path, int depth);

}  // namespace graphgate::interop
