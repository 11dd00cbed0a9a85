#include <map>

#include "spec/argument_text.h"
#include "spec/graph_text.h"
#include "spec/node_text.h"
#include "spec/sym_expr_text.h"
#include "spec/type_text.h"

namespace graphgate::spec {
namespace {

constexpr std::string_view kIndent = "  ";

std::string print_definition(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  return print_sigil_name('%', value.name) + print_value_type(value);
}

std::string print_results(const NodeResult& result, const PrintResult& print_result) {
  std::string text;
  for (const ValueId id : result.values) {
    if (!text.empty()) text += ", ";
    text += print_result(id);
  }
  return result.is_list ? "(" + text + ")" : text;
}

void print_call(const Graph& graph, const Node& node, const OpTable& ops, std::string& out) {
  const OpRow* row = ops.find(node.op);
  out += print_name(node.op) + "(";
  bool leading = row != nullptr;
  for (std::size_t i = 0; i < node.arguments.size(); ++i) {
    const NamedArgument& named = node.arguments[i];
    if (i > 0) out += ", ";
    leading = leading && i < row->schema.arguments.size() && !row->schema.arguments[i].kwarg_only &&
              row->schema.arguments[i].name == named.name;
    if (!leading && !named.name.empty()) out += print_name(named.name) + "=";
    print_argument(graph, named.argument, out);
  }
  out += ')';
}

void print_node_to(const Graph& graph, const Node& node, const OpTable& ops, std::string& out) {
  print_bare_node(
      graph, node, ops, [&](ValueId id) { return print_definition(graph, id); }, out);
}

std::string_view input_keyword(InputKind kind) {
  switch (kind) {
    case InputKind::kParameter:
      return "parameter";
    case InputKind::kBuffer:
      return "buffer";
    case InputKind::kTensorConstant:
      return "constant";
    case InputKind::kUserInput:
      return "input";
  }
  return {};
}

std::string print_output_keyword(const ProgramOutput& output) {
  switch (output.kind) {
    case OutputKind::kUserOutput:
      return "output ";
    case OutputKind::kBufferMutation:
      return "mutation buffer " + quote_string(output.target) + " ";
    case OutputKind::kUserInputMutation:
      return "mutation input " + quote_string(output.target) + " ";
    case OutputKind::kParameterMutation:
      return "mutation parameter " + quote_string(output.target) + " ";
  }
  return {};
}

class GraphPrinter {
 public:
  GraphPrinter(const OpTable& ops, const PrintOptions& options) : ops_(ops), options_(options) {}

  std::string print(const Program& program) {
    out_ = "program " + quote_string(program.name);
    if (!program.graph.name.empty()) out_ += " graph " + quote_string(program.graph.name);
    out_ += " {\n";
    for (const auto& [key, text] : program.annotations) {
      line("annotation " + quote_string(key) + " " + quote_string(text));
    }
    for (const auto& [name, info] : program.symbols) print_symbol(name, info);
    for (const ProgramInput& input : program.inputs) print_input(program, input);
    print_body(program.graph);
    for (std::size_t i = 0; i < program.graph.outputs.size(); ++i) {
      const ProgramOutput output =
          i < program.outputs.size() ? program.outputs[i] : ProgramOutput{};
      print_output(program.graph, print_output_keyword(output), program.graph.outputs[i]);
    }
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  void indent() {
    for (int i = 0; i < depth_; ++i) out_ += kIndent;
  }

  void line(std::string_view text) {
    indent();
    out_ += text;
    out_ += '\n';
  }

  void print_symbol(const std::string& name, const SymbolInfo& info) {
    std::string text = "symbol " + name + " in [" + std::to_string(info.min) + ", ";
    text += (info.max ? std::to_string(*info.max) : "inf") + "]";
    if (info.hint) text += " hint " + std::to_string(*info.hint);
    line(text);
  }

  void print_input(const Program& program, const ProgramInput& input) {
    std::string text(input_keyword(input.kind));
    const std::string target = " " + quote_string(input.target);
    if (input.constant) {
      text += target + " = ";
      print_argument(program.graph, *input.constant, text);
      return line(text);
    }
    const Value& value = program.graph.value(input.value);
    text += " " + print_sigil_name('%', value.name);
    if (input.kind != InputKind::kUserInput || input.target != value.name) text += target;
    if (!input.persistent) text += " nonpersistent";
    text += print_value_type(value);
    if (input.kind != InputKind::kUserInput) text += print_data(program, input.target);
    line(text);
  }

  // "" or " = DATA". A storage that an earlier line showed is referred to by that line's target.
  std::string print_data(const Program& program, const std::string& target) {
    const auto found = program.tensors.find(target);
    if (found == program.tensors.end() || !found->second.storage) return "";
    const HostStorage* storage = found->second.storage.get();
    if (static_cast<std::int64_t>(storage->bytes.size()) > options_.max_inline_bytes) return "";
    const auto [first, is_new] = shown_.try_emplace(storage, target);
    if (!is_new) return " = alias " + quote_string(first->second);
    return " = " + print_tensor_data(found->second);
  }

  void print_body(const Graph& graph) {
    for (const Graph& subgraph : graph.subgraphs) print_subgraph(subgraph);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node& node = graph.nodes[i];
      indent();
      print_node_to(graph, node, ops_, out_);
      if (node.name != default_node_name(graph, node, i)) out_ += " as " + print_name(node.name);
      out_ += '\n';
    }
  }

  void print_subgraph(const Graph& graph) {
    line("graph " + print_sigil_name('@', graph.name) + " {");
    ++depth_;
    for (const ValueId id : graph.inputs) line("input " + print_definition(graph, id));
    print_body(graph);
    for (const Argument& output : graph.outputs) print_output(graph, "output ", output);
    --depth_;
    line("}");
  }

  void print_output(const Graph& graph, std::string_view keyword, const Argument& output) {
    std::string text(keyword);
    print_argument(graph, output, text);
    line(text);
  }

  const OpTable& ops_;
  const PrintOptions& options_;
  std::map<const HostStorage*, std::string> shown_;  // and the target that showed it
  std::string out_;
  int depth_ = 1;
};

}  // namespace

std::string print_program(const Program& program, const OpTable& ops, const PrintOptions& options) {
  return GraphPrinter(ops, options).print(program);
}

std::string print_node(const Graph& graph, const Node& node, const OpTable& ops) {
  std::string text;
  print_node_to(graph, node, ops, text);
  return text;
}

std::string print_value_type(const Value& value) {
  std::string text;
  switch (value.kind) {
    case ValueKind::kTensor:
      return value.type ? " : " + print_tensor_type(*value.type) : "";
    case ValueKind::kTensorList:
      return " : tensors";
    case ValueKind::kNone:
      return " : none";
    case ValueKind::kSymInt:
      text = " : symint";
      break;
    case ValueKind::kSymFloat:
      text = " : symfloat";
      break;
    case ValueKind::kSymBool:
      text = " : symbool";
      break;
  }
  if (value.expr) text += "(" + print_sym_expr(*value.expr) + ")";
  if (value.hint) text += " hint " + std::to_string(*value.hint);
  return text;
}

std::string default_node_name(const Graph& graph, const Node& node, std::size_t index) {
  for (const NodeResult& result : node.results) {
    if (!result.values.empty()) return graph.value(result.values.front()).name;
  }
  return "node_" + std::to_string(index);
}

void print_bare_node(const Graph& graph, const Node& node, const OpTable& ops,
                     const PrintResult& print_result, std::string& out) {
  for (std::size_t i = 0; i < node.results.size(); ++i) {
    if (i > 0) out += ", ";
    out += print_results(node.results[i], print_result);
  }
  if (!node.results.empty()) out += " = ";
  print_call(graph, node, ops, out);
}

bool is_higher_order(std::string_view op) { return op.starts_with("higher_order."); }

}  // namespace graphgate::spec
