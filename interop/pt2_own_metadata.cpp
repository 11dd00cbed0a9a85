#include "interop/pt2_own_metadata.h"

#include <map>

#include "interop/json_fields.h"
#include "interop/json_stream.h"
#include "interop/pt2_arguments.h"
#include "interop/pt2_reader.h"

namespace graphgate::interop {

using spec::Graph;
using spec::Program;

namespace {

// "GRAPH/WRITTEN" -> the value's name.
using Names = std::map<std::string, std::string, std::less<>>;

Result<Names> read_names(const JsonCursor& object) {
  Names names;
  GRAPHGATE_TRY_VOID(read_members(object, names, &JsonCursor::as_string));
  return names;
}

void rename_values(Graph& graph, const std::string& path, const Names& names) {
  for (spec::Value& value : graph.values) {
    const auto found = names.find(subgraph_path(path, value.name));
    if (found != names.end()) value.name = found->second;
  }
  for (Graph& subgraph : graph.subgraphs) {
    rename_values(subgraph, subgraph_path(path, subgraph.name), names);
  }
}

// Values of the program's own graph name user inputs, and what mutates them.
void rename_user_inputs(Program& program, const Names& names) {
  const auto rename = [&](std::string& target) {
    const auto found = names.find(target);
    if (found != names.end()) target = found->second;
  };
  for (auto& input : program.inputs) {
    if (input.kind == spec::InputKind::kUserInput) rename(input.target);
  }
  for (auto& output : program.outputs) {
    if (output.kind == spec::OutputKind::kUserInputMutation) rename(output.target);
  }
}

Result<void> apply(const JsonCursor& root, OwnMetadata& own, Program& program) {
  GRAPHGATE_TRY_VOID(read_optional(root, "name", program.name));
  GRAPHGATE_TRY_VOID(read_optional(root, "graph_name", program.graph.name));
  GRAPHGATE_TRY_VOID(read_list(root, "made_up", [&](const JsonCursor& key) -> Result<void> {
    GRAPHGATE_TRY(std::string text, key.as_string());
    own.made_up.insert(std::move(text));
    return {};
  }));
  GRAPHGATE_TRY(const auto annotations, root.find_member("annotations"));
  if (annotations) {
    GRAPHGATE_TRY_VOID(read_members(*annotations, program.annotations, &JsonCursor::as_string));
  }
  GRAPHGATE_TRY(const auto values, root.find_member("values"));
  if (values) {
    GRAPHGATE_TRY(const Names names, read_names(*values));
    rename_values(program.graph, "", names);
    rename_user_inputs(program, names);
  }
  GRAPHGATE_TRY(const auto hints, root.find_member("hints"));
  if (!hints) return {};
  GRAPHGATE_TRY(const auto entries, hints->members());
  for (const auto& [symbol, hint] : entries) {
    const auto found = program.symbols.find(symbol);
    if (found == program.symbols.end()) return hint.error("there is no such symbol");
    GRAPHGATE_TRY(found->second.hint, hint.as_int());
  }
  return {};
}

}  // namespace

Result<OwnMetadata> read_own_metadata(const JsonCursor& metadata, Program& program) {
  OwnMetadata own;
  GRAPHGATE_TRY(const auto text_cursor, metadata.find_member(kOwnMetadataKey));
  if (!text_cursor) return own;
  GRAPHGATE_TRY(const std::string text, text_cursor->as_string());
  GRAPHGATE_TRY(const Json parsed, parse_json(text, text_cursor->place()));
  const JsonCursor root(parsed, text_cursor->place());
  GRAPHGATE_TRY_VOID(apply(root, own, program));
  return own;
}

}  // namespace graphgate::interop
