// The Argument union of the schema -> spec::Argument, and graphs that are arguments.
#include "interop/json_fields.h"
#include "interop/pt2_arguments.h"
#include "interop/pt2_graph_reader.h"
#include "interop/torch_enums.h"

namespace graphgate::interop {

using spec::Argument;
using spec::Graph;
using spec::ValueKind;

namespace {

template <class T>
Result<Argument> wrap(Result<T> value) {
  if (!value.ok()) return value.error();
  return Argument{std::move(value).value()};
}

// ComplexValue.
Result<Argument> read_complex_argument(const JsonCursor& argument) {
  spec::ComplexNumber number;
  GRAPHGATE_TRY(number.real, read_member(argument, "real", &JsonCursor::as_double));
  GRAPHGATE_TRY(number.imag, read_member(argument, "imag", &JsonCursor::as_double));
  return Argument{number};
}

}  // namespace

Result<Argument> GraphReader::read_tensor_argument(const JsonCursor& argument) {
  GRAPHGATE_TRY(const JsonCursor name, argument.member("name"));
  return wrap(use(name));
}

// SymIntArgument, SymBoolArgument, SymFloatArgument: a name or a constant.
Result<Argument> GraphReader::read_symbolic_argument(const JsonCursor& argument) {
  GRAPHGATE_TRY(const auto only, argument.only_member());
  const auto& [kind, content] = only;
  if (kind == "as_name") return wrap(use(content));
  if (kind == "as_int") return wrap(content.as_int());
  if (kind == "as_bool") return wrap(content.as_bool());
  if (kind == "as_float") return wrap(content.as_double());
  return content.error("unknown kind of symbolic argument");
}

Result<Argument> GraphReader::read_optional_tensor(const JsonCursor& argument) {
  GRAPHGATE_TRY(const auto only, argument.only_member());
  const auto& [kind, content] = only;
  if (kind == "as_none") return Argument{spec::None{}};
  if (kind == "as_tensor") return read_tensor_argument(content);
  return content.error("unknown kind of optional tensor");
}

Result<Argument> GraphReader::read_list(std::string_view kind, const JsonCursor& list) {
  return wrap(read_elements(list, [&](const JsonCursor& cursor) -> Result<Argument> {
    if (kind == "as_tensors") return read_tensor_argument(cursor);
    if (kind == "as_ints") return wrap(cursor.as_int());
    if (kind == "as_floats") return wrap(cursor.as_double());
    if (kind == "as_bools") return wrap(cursor.as_bool());
    if (kind == "as_strings") return wrap(cursor.as_string());
    if (kind == "as_optional_tensors") return read_optional_tensor(cursor);
    if (kind == "as_nested_tensors") return read_list("as_tensors", cursor);
    if (kind == "as_int_lists") return read_list("as_ints", cursor);
    return read_symbolic_argument(cursor);
  }));
}

Result<Argument> GraphReader::read_subgraph(const JsonCursor& argument) {
  GRAPHGATE_TRY(const JsonCursor name_cursor, argument.member("name"));
  GRAPHGATE_TRY(const std::string name, name_cursor.as_string());
  GRAPHGATE_TRY(const JsonCursor graph_cursor, argument.member("graph"));
  GRAPHGATE_TRY(Graph graph,
                read_graph(graph_cursor, context_, subgraph_path(path_, name), depth_ + 1));
  graph.name = name;
  const spec::SubgraphId next{static_cast<std::uint32_t>(graph_.subgraphs.size())};
  const auto [known, is_new] = subgraph_ids_.try_emplace(name, next);
  if (is_new) {
    graph_.subgraphs.push_back(std::move(graph));
  } else if (!(graph_.subgraphs[known->second.index] == graph)) {
    return name_cursor.error("another subgraph has the name '" + name + "'");
  }
  return Argument{known->second};
}

Result<Argument> GraphReader::read_argument(const JsonCursor& argument) {
  GRAPHGATE_TRY(const auto only, argument.only_member());
  const auto& [kind, content] = only;
  if (kind == "as_tensor") return read_tensor_argument(content);
  if (kind == "as_int") return wrap(content.as_int());
  if (kind == "as_float") return wrap(content.as_double());
  if (kind == "as_complex") return read_complex_argument(content);
  if (kind == "as_bool") return wrap(content.as_bool());
  if (kind == "as_string") return wrap(content.as_string());
  if (kind == "as_none") return Argument{spec::None{}};
  if (kind == "as_sym_int" || kind == "as_sym_bool" || kind == "as_sym_float") {
    return read_symbolic_argument(content);
  }
  if (kind == "as_optional_tensor") return read_optional_tensor(content);
  if (kind == "as_scalar_type") return wrap(read_number_of(content, dtype_of_number));
  if (kind == "as_layout") return wrap(read_number_of(content, layout_of_number));
  if (kind == "as_memory_format") return wrap(read_number_of(content, memory_format_of_number));
  if (kind == "as_device") return wrap(read_device(content));
  if (kind == "as_graph") return read_subgraph(content);
  if (kind == "as_operator") {
    GRAPHGATE_TRY(const std::string target, content.as_string());
    return Argument{spec::OpName{op_of_target(target)}};
  }
  for (const std::string_view list : {"as_tensors", "as_ints", "as_floats", "as_bools",
                                      "as_strings", "as_sym_ints", "as_sym_bools", "as_sym_floats",
                                      "as_optional_tensors", "as_nested_tensors", "as_int_lists"}) {
    if (kind == list) return read_list(kind, content);
  }
  for (const std::string_view foreign : {"as_custom_obj", "as_string_to_argument"}) {
    if (kind == foreign) {
      return content.unsupported_here("an argument of the kind '" + std::string(kind) + "'");
    }
  }
  return argument.error("unknown kind of argument '" + std::string(kind) + "'");
}

Result<Graph> read_graph(const JsonCursor& graph, ReadContext& context, const std::string& path,
                         int depth) {
  if (depth > kMaxGraphDepth) {
    return graph.error("graphs nested deeper than " + std::to_string(kMaxGraphDepth) + " levels");
  }
  GraphReader reader(context, path, depth);
  GRAPHGATE_TRY(const JsonCursor inputs, graph.member("inputs"));
  GRAPHGATE_TRY_VOID(reader.add_inputs(inputs));
  GRAPHGATE_TRY(const JsonCursor nodes, graph.member("nodes"));
  GRAPHGATE_TRY(const auto node_cursors, nodes.elements());
  for (const JsonCursor& node : node_cursors) GRAPHGATE_TRY_VOID(reader.add_node(node));
  GRAPHGATE_TRY(const JsonCursor outputs, graph.member("outputs"));
  GRAPHGATE_TRY_VOID(reader.add_outputs(outputs));
  GRAPHGATE_TRY(const JsonCursor tensors, graph.member("tensor_values"));
  GRAPHGATE_TRY(const auto metas, tensors.members());
  for (const auto& [name, meta] : metas) {
    GRAPHGATE_TRY_VOID(reader.add_tensor_value(std::string(name), meta));
  }
  for (const auto& [key, kind] : {std::pair("sym_int_values", ValueKind::kSymInt),
                                  std::pair("sym_bool_values", ValueKind::kSymBool),
                                  std::pair("sym_float_values", ValueKind::kSymFloat)}) {
    GRAPHGATE_TRY(const auto numbers, graph.find_member(key));
    if (!numbers) continue;
    GRAPHGATE_TRY(const auto entries, numbers->members());
    for (const auto& [name, number] : entries) {
      GRAPHGATE_TRY_VOID(reader.add_symbolic_value(std::string(name), kind, number));
    }
  }
  GRAPHGATE_TRY(const auto single, graph.find_member("is_single_tensor_return"));
  if (single) GRAPHGATE_TRY_VOID(reader.set_single_return(*single));
  for (const InputSlot& slot : reader.slots()) {
    if (slot.constant) return inputs.unsupported_here("a constant as input of a subgraph");
  }
  return reader.finish(graph.place());
}

}  // namespace graphgate::interop
