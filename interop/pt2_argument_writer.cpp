// spec::Argument -> the Argument union of the schema.
#include <algorithm>
#include <cmath>
#include <limits>

#include "interop/pt2_arguments.h"
#include "interop/pt2_graph_writer.h"
#include "interop/pt2_types.h"
#include "interop/sympy_expr.h"
#include "interop/torch_enums.h"

namespace graphgate::interop {

using spec::Argument;
using spec::Graph;
using spec::ValueId;
using spec::ValueKind;

std::string json_text(std::string_view text) { return Json(std::string(text)).dump(); }

std::string json_text(double number) {
  if (std::isnan(number)) return "\"NaN\"";
  if (std::isinf(number)) return number > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  return Json(number).dump();
}

namespace {

std::string device_text(const spec::Device& device) {
  return "{\"type\": " + json_text(device.type) +
         ", \"index\": " + (device.index < 0 ? "null" : std::to_string(device.index)) + "}";
}

// A named value where any kind may stand: "as_tensor": {"name": "x"}.
Result<std::string> value_member(const Graph& graph, const WrittenNames& names, ValueId id) {
  const std::string name = json_text(names.of(id));
  switch (graph.value(id).kind) {
    case ValueKind::kTensor:
      return "\"as_tensor\": {\"name\": " + name + "}";
    case ValueKind::kSymInt:
      return "\"as_sym_int\": {\"as_name\": " + name + "}";
    case ValueKind::kSymFloat:
      return "\"as_sym_float\": {\"as_name\": " + name + "}";
    case ValueKind::kSymBool:
      return "\"as_sym_bool\": {\"as_name\": " + name + "}";
    case ValueKind::kNone:
      return std::string("\"as_none\": true");
    case ValueKind::kTensorList:
      break;
  }
  return unsupported("PyTorch's schema cannot pass the tensor list '" + graph.value(id).name +
                     "' as a whole");
}

// What the elements of a list are, taken together. The schema has a member for each of these, and
// none for other mixtures.
struct ListKinds {
  bool bools = true;
  bool ints = true;
  bool floats = true;
  bool strings = true;
  bool tensors = true;
  bool optional_tensors = true;
  bool sym_ints = true;
  bool sym_bools = true;
  bool sym_floats = true;
  bool lists = true;
};

ListKinds kinds_of(const Graph& graph, const Argument::List& list) {
  ListKinds kinds;
  for (const Argument& element : list) {
    const auto* id = element.as<ValueId>();
    const auto is_value = [&](ValueKind kind) { return id && graph.value(*id).kind == kind; };
    const bool is_int = element.as<std::int64_t>() != nullptr;
    const bool is_bool = element.as<bool>() != nullptr;
    const bool is_float = element.as<double>() != nullptr;
    const bool is_tensor = is_value(ValueKind::kTensor);
    kinds.bools &= is_bool;
    kinds.ints &= is_int;
    kinds.floats &= is_float;
    kinds.strings &= element.as<std::string>() != nullptr;
    kinds.tensors &= is_tensor;
    kinds.optional_tensors &= is_tensor || element.as<spec::None>() != nullptr;
    kinds.sym_ints &= is_int || is_value(ValueKind::kSymInt);
    kinds.sym_bools &= is_bool || is_value(ValueKind::kSymBool);
    kinds.sym_floats &= is_float || is_value(ValueKind::kSymFloat);
    kinds.lists &= element.as<Argument::List>() != nullptr;
  }
  return kinds;
}

std::string_view list_member(const ListKinds& kinds) {
  if (kinds.tensors) return "as_tensors";  // the empty list too, as PyTorch writes it
  if (kinds.bools) return "as_bools";
  if (kinds.ints) return "as_ints";
  if (kinds.floats) return "as_floats";
  if (kinds.strings) return "as_strings";
  if (kinds.sym_ints) return "as_sym_ints";
  if (kinds.sym_floats) return "as_sym_floats";
  if (kinds.sym_bools) return "as_sym_bools";
  if (kinds.optional_tensors) return "as_optional_tensors";
  return "";
}

std::string scalar_text(const Argument& argument) {
  if (const auto* flag = argument.as<bool>()) return *flag ? "true" : "false";
  if (const auto* number = argument.as<std::int64_t>()) return std::to_string(*number);
  if (const auto* number = argument.as<double>()) return json_text(*number);
  if (const auto* text = argument.as<std::string>()) return json_text(*text);
  return "null";
}

std::string element_text(const WrittenNames& names, std::string_view member,
                         const Argument& element) {
  const auto* id = element.as<ValueId>();
  const std::string name = id ? json_text(names.of(*id)) : "";
  if (member == "as_tensors") return "{\"name\": " + name + "}";
  if (member == "as_optional_tensors") {
    return id ? "{\"as_tensor\": {\"name\": " + name + "}}" : "{\"as_none\": true}";
  }
  if (!member.starts_with("as_sym_")) return scalar_text(element);
  if (id) return "{\"as_name\": " + name + "}";
  const std::string_view kind = element.as<bool>()     ? "as_bool"
                                : element.as<double>() ? "as_float"
                                                       : "as_int";
  return "{\"" + std::string(kind) + "\": " + scalar_text(element) + "}";
}

std::string list_text(const WrittenNames& names, std::string_view member,
                      const Argument::List& list) {
  std::string out = "[";
  for (const Argument& element : list) {
    if (out.size() > 1) out += ", ";
    out += element_text(names, member, element);
  }
  return out + "]";
}

// A list of lists: of ints, or of tensors.
Result<std::string> nested_member(const Graph& graph, const WrittenNames& names,
                                  const Argument::List& list) {
  bool all_ints = true;
  bool all_tensors = true;
  for (const Argument& element : list) {
    const ListKinds kinds = kinds_of(graph, *element.as<Argument::List>());
    all_ints &= kinds.ints;
    all_tensors &= kinds.tensors;
  }
  if (!all_ints && !all_tensors) return unsupported("PyTorch's schema has no such list of lists");
  std::string out = all_tensors ? "\"as_nested_tensors\": [" : "\"as_int_lists\": [";
  for (std::size_t i = 0; i < list.size(); ++i) {
    out += i == 0 ? "" : ", ";
    out += list_text(names, all_tensors ? "as_tensors" : "as_ints", *list[i].as<Argument::List>());
  }
  return out + "]";
}

Result<std::string> list_argument(const Graph& graph, const WrittenNames& names,
                                  const Argument::List& list) {
  const ListKinds kinds = kinds_of(graph, list);
  if (kinds.lists && !list.empty()) return nested_member(graph, names, list);
  const std::string_view member = list_member(kinds);
  if (member.empty()) return unsupported("PyTorch's schema has no list that mixes such elements");
  return "\"" + std::string(member) + "\": " + list_text(names, member, list);
}

// Everything but subgraphs.
Result<std::string> plain_member(const Graph& graph, const WrittenNames& names,
                                 const Argument& argument) {
  if (argument.as<spec::None>()) return std::string("\"as_none\": true");
  if (argument.as<bool>()) return "\"as_bool\": " + scalar_text(argument);
  if (argument.as<std::int64_t>()) return "\"as_int\": " + scalar_text(argument);
  if (argument.as<double>()) return "\"as_float\": " + scalar_text(argument);
  if (const auto* number = argument.as<spec::ComplexNumber>()) {
    return "\"as_complex\": {\"real\": " + json_text(number->real) +
           ", \"imag\": " + json_text(number->imag) + "}";
  }
  if (argument.as<std::string>()) return "\"as_string\": " + scalar_text(argument);
  if (const auto* dtype = argument.as<spec::DType>()) {
    return "\"as_scalar_type\": " + std::to_string(number_of(*dtype));
  }
  if (const auto* device = argument.as<spec::Device>()) {
    return "\"as_device\": " + device_text(*device);
  }
  if (const auto* layout = argument.as<spec::Layout>()) {
    if (*layout != spec::Layout::kStrided) return unsupported("PyTorch has no layout 'none'");
    return "\"as_layout\": " + std::to_string(number_of(*layout));
  }
  if (const auto* format = argument.as<spec::MemoryFormat>()) {
    return "\"as_memory_format\": " + std::to_string(number_of(*format));
  }
  if (const auto* op = argument.as<spec::OpName>()) {
    return "\"as_operator\": " + json_text(target_of_op(op->name));
  }
  if (const auto* id = argument.as<ValueId>()) return value_member(graph, names, *id);
  return list_argument(graph, names, *argument.as<Argument::List>());
}

}  // namespace

Result<void> write_argument(const Graph& graph, const WrittenNames& names, const Argument& argument,
                            const std::string& path, int depth, WriteContext& context,
                            std::string& out) {
  const auto* subgraph_id = argument.as<spec::SubgraphId>();
  if (subgraph_id == nullptr) {
    GRAPHGATE_TRY(const std::string member, plain_member(graph, names, argument));
    out += "{" + member + "}";
    return {};
  }
  const Graph& subgraph = graph.subgraphs.at(subgraph_id->index);
  const std::string inner_path = subgraph_path(path, subgraph.name);
  const WrittenNames inner_names(subgraph, inner_path, context);
  out += "{\"as_graph\": {\"name\": " + json_text(subgraph.name) + ", \"graph\": ";
  GRAPHGATE_TRY_VOID(write_graph(subgraph, inner_names, inner_path, depth + 1, context, out));
  out += "}}";
  return {};
}

namespace {

// {"as_int": 4}, or an expression with the hint that follows from the symbols' own.
std::string symbolic_text(const spec::SymExpr& expr, WriteContext& context) {
  if (expr.is_constant()) return "{\"as_int\": " + std::to_string(expr.constant()) + "}";
  const auto hint = spec::evaluate(expr, context.hints);
  if (hint.ok() && expr.op() == spec::SymOp::kSymbol) context.shown_hints.insert(expr.name());
  return "{\"as_expr\": {\"expr_str\": " + json_text(print_sympy(expr, context.program.symbols)) +
         ", \"hint\": " +
         (hint.ok() ? "{\"as_int\": " + std::to_string(hint.value()) + "}" : "null") + "}}";
}

std::string symbolic_list(const std::vector<spec::SymExpr>& list, WriteContext& context) {
  std::string out = "[";
  for (const spec::SymExpr& expr : list) {
    if (out.size() > 1) out += ", ";
    out += symbolic_text(expr, context);
  }
  return out + "]";
}

}  // namespace

Result<std::string> tensor_meta(const spec::TensorType& type, bool requires_grad,
                                WriteContext& context) {
  if (type.layout != spec::Layout::kStrided) {
    return unsupported("PyTorch has no layout '" + std::string(spec::layout_name(type.layout)) +
                       "'");
  }
  return "{\"dtype\": " + std::to_string(number_of(type.dtype)) +
         ", \"sizes\": " + symbolic_list(type.sizes, context) +
         ", \"requires_grad\": " + (requires_grad ? "true" : "false") +
         ", \"device\": " + device_text(type.device) +
         ", \"strides\": " + symbolic_list(type.strides, context) +
         ", \"storage_offset\": " + symbolic_text(type.storage_offset, context) +
         ", \"layout\": " + std::to_string(number_of(type.layout)) + "}";
}

}  // namespace graphgate::interop
