// What check_program adds to check_graph: signature, symbols and tensors. Op schemas are checked in
// node_check.cpp.
#include <algorithm>
#include <set>

#include "spec/argument_text.h"
#include "spec/graph_check.h"
#include "spec/missing_op.h"
#include "spec/node_check.h"
#include "spec/sym_expr_text.h"

namespace graphgate::spec {
namespace {

Result<void> check_symbols(const Program& program) {
  for (const auto& [name, info] : program.symbols) {
    const std::string place = "symbol '" + name + "'";
    if (!is_symbol_name(name)) return bad_input("not the name of a symbol").at(place);
    if (info.max && *info.max < info.min) return bad_input("its range is empty").at(place);
    if (info.hint && (*info.hint < info.min || (info.max && *info.hint > *info.max))) {
      return bad_input("its hint is outside its range").at(place);
    }
  }
  return {};
}

// The first symbol in `expr` that the program does not declare.
std::optional<std::string> undeclared(const Program& program, const SymExpr& expr) {
  if (expr.is_constant()) return std::nullopt;
  if (expr.op() == SymOp::kSymbol) {
    return program.symbols.contains(expr.name()) ? std::nullopt : std::optional(expr.name());
  }
  for (const SymExpr& operand : expr.operands()) {
    if (auto name = undeclared(program, operand)) return name;
  }
  return std::nullopt;
}

std::optional<std::string> undeclared(const Program& program, const Value& value) {
  if (value.expr) return undeclared(program, *value.expr);
  if (!value.type) return std::nullopt;
  for (const SymExpr& size : value.type->sizes) {
    if (auto name = undeclared(program, size)) return name;
  }
  for (const SymExpr& stride : value.type->strides) {
    if (auto name = undeclared(program, stride)) return name;
  }
  return undeclared(program, value.type->storage_offset);
}

Result<void> check_symbol_uses(const Program& program, const Graph& graph) {
  for (const Value& value : graph.values) {
    const auto name = undeclared(program, value);
    if (!name) continue;
    return bad_input("symbol '" + *name + "' is not declared")
        .at("value " + print_sigil_name('%', value.name));
  }
  for (const Graph& subgraph : graph.subgraphs) {
    const auto result = check_symbol_uses(program, subgraph);
    if (!result.ok()) return result.error().at("graph '" + subgraph.name + "'");
  }
  return {};
}

Result<void> check_input(const Program& program, const ProgramInput& input,
                         std::size_t graph_input) {
  const std::vector<ValueId>& inputs = program.graph.inputs;
  if (graph_input >= inputs.size() || input.value != inputs[graph_input]) {
    return bad_input("it describes another value than input " + std::to_string(graph_input) +
                     " of the graph");
  }
  if (input.kind == InputKind::kUserInput) return {};
  if (program.graph.value(input.value).kind != ValueKind::kTensor) {
    return bad_input("a parameter, buffer or constant must be a tensor");
  }
  return {};
}

Result<void> check_inputs(const Program& program) {
  std::size_t graph_input = 0;
  std::set<std::string_view> states;
  std::set<std::string_view> users;
  for (const ProgramInput& input : program.inputs) {
    const bool user = input.kind == InputKind::kUserInput;
    const auto place = [&] { return "input '" + input.target + "'"; };
    if (!(user ? users : states).insert(input.target).second) {
      return bad_input("two inputs have this target").at(place());
    }
    if (input.constant) {
      if (!user) return bad_input("only a user input can be a constant").at(place());
      continue;
    }
    const auto result = check_input(program, input, graph_input++);
    if (!result.ok()) return result.error().at(place());
  }
  if (graph_input == program.graph.inputs.size()) return {};
  return bad_input("the graph has " + std::to_string(program.graph.inputs.size()) +
                   " inputs, but " + std::to_string(graph_input) + " are described");
}

std::optional<InputKind> mutated_kind(OutputKind kind) {
  switch (kind) {
    case OutputKind::kUserOutput:
      return std::nullopt;
    case OutputKind::kBufferMutation:
      return InputKind::kBuffer;
    case OutputKind::kUserInputMutation:
      return InputKind::kUserInput;
    case OutputKind::kParameterMutation:
      return InputKind::kParameter;
  }
  return std::nullopt;
}

std::string print_sizes(const std::vector<SymExpr>& sizes) {
  std::string text;
  for (const SymExpr& size : sizes) text += (text.empty() ? "" : ", ") + print_sym_expr(size);
  return "[" + text + "]";
}

// New contents are copied: they must broadcast to what they are copied into. Sizes that are not
// constants are the executors' to check.
Result<void> check_copied(const TensorType& target, const std::optional<TensorType>& contents,
                          const std::string& name) {
  if (!contents) return {};
  const std::vector<SymExpr>& from = contents->sizes;
  const std::vector<SymExpr>& to = target.sizes;
  bool fits = from.size() <= to.size();
  for (std::size_t d = 0; fits && d < from.size(); ++d) {
    const SymExpr& size = from[d];
    const SymExpr& wanted = to[to.size() - from.size() + d];
    if (!size.is_constant() || !wanted.is_constant() || size.constant() == 1) continue;
    fits = size.constant() == wanted.constant();
  }
  if (fits) return {};
  return bad_input("the new contents of '" + name + "' have sizes " + print_sizes(from) +
                   ", which do not broadcast to its sizes " + print_sizes(to) +
                   ": PyTorch copies them, and resizes nothing here");
}

Result<void> check_output(const Program& program, const ProgramOutput& output,
                          const Argument& argument) {
  const auto kind = mutated_kind(output.kind);
  if (!kind) return {};
  const auto input = program.find_input(*kind, output.target);
  if (!input) {
    return bad_input("it mutates '" + output.target + "', which is no input of that kind");
  }
  if (program.inputs[*input].constant) {
    return bad_input("it mutates '" + output.target + "', which is a constant");
  }
  const auto* id = argument.as<ValueId>();
  if (id == nullptr || program.graph.value(*id).kind != ValueKind::kTensor) {
    return bad_input("the new contents of '" + output.target + "' must be a tensor");
  }
  return check_copied(*program.graph.value(program.inputs[*input].value).type,
                      program.graph.value(*id).type, output.target);
}

Result<void> check_outputs(const Program& program) {
  if (program.outputs.size() != program.graph.outputs.size()) {
    return bad_input("the graph has " + std::to_string(program.graph.outputs.size()) +
                     " outputs, but " + std::to_string(program.outputs.size()) + " are described");
  }
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    const auto result = check_output(program, program.outputs[i], program.graph.outputs[i]);
    if (!result.ok()) return result.error().at("output " + std::to_string(i));
  }
  return {};
}

Result<void> check_tensor(const HostTensor& tensor, const TensorType& type) {
  if (tensor.storage == nullptr) return bad_input("it has no storage");
  if (tensor.dtype != type.dtype) {
    return bad_input("its dtype is " + std::string(short_name(tensor.dtype)) +
                     ", but the graph says " + std::string(short_name(type.dtype)));
  }
  if (tensor.sizes.size() != type.sizes.size()) {
    return bad_input("it has " + std::to_string(tensor.sizes.size()) +
                     " dimensions, but the graph says " + std::to_string(type.sizes.size()));
  }
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
    if (!type.sizes[i].is_constant() || type.sizes[i].constant() == tensor.sizes[i]) continue;
    return bad_input("size " + std::to_string(i) + " is " + std::to_string(tensor.sizes[i]) +
                     ", but the graph says " + std::to_string(type.sizes[i].constant()));
  }
  const auto size_bytes = static_cast<std::int64_t>(tensor.storage->bytes.size());
  if (geometry_fits(tensor, size_bytes)) return {};
  return bad_input("its elements do not fit in its storage of " + std::to_string(size_bytes) +
                   " bytes");
}

Result<void> check_all_tensors(const Program& program) {
  if (program.tensors.empty()) return {};
  std::set<std::string_view> left;
  for (const auto& [target, tensor] : program.tensors) left.insert(target);
  for (const ProgramInput& input : program.inputs) {
    if (input.kind == InputKind::kUserInput) continue;
    const auto found = program.tensors.find(input.target);
    if (found == program.tensors.end()) continue;
    left.erase(input.target);
    const auto result = check_tensor(found->second, *program.graph.value(input.value).type);
    if (!result.ok()) return result.error().at("tensor '" + input.target + "'");
  }
  if (left.empty()) return {};
  return bad_input("no parameter, buffer or constant has this name")
      .at("tensor '" + std::string(*left.begin()) + "'");
}

Result<void> check_all(const Program& program, const OpTable& ops) {
  GRAPHGATE_TRY_VOID(check_graph(program.graph));
  GRAPHGATE_TRY_VOID(check_nodes(program.graph, ops));
  GRAPHGATE_TRY_VOID(check_inputs(program));
  GRAPHGATE_TRY_VOID(check_outputs(program));
  GRAPHGATE_TRY_VOID(check_symbols(program));
  GRAPHGATE_TRY_VOID(check_symbol_uses(program, program.graph));
  GRAPHGATE_TRY_VOID(check_all_tensors(program));
  return check_schemas_known(program.graph, ops);
}

Result<void> placed(const Program& program, Result<void> result) {
  if (result.ok() || program.name.empty()) return result;
  return result.error().at("program '" + program.name + "'");
}

}  // namespace

Result<void> check_program(const Program& program, const OpTable& ops) {
  return placed(program, check_all(program, ops));
}

Result<void> check_tensors(const Program& program) {
  return placed(program, check_all_tensors(program));
}

Result<void> check_tensors_present(const Program& program) {
  for (const ProgramInput& input : program.inputs) {
    if (input.kind == InputKind::kUserInput || program.tensors.contains(input.target)) continue;
    return bad_input("program '" + program.name + "': the elements of '" + input.target +
                     "' are missing");
  }
  return {};
}

}  // namespace graphgate::spec
