// Program::inputs and outputs -> the signature of the schema, and pytree specs for it.
#include <algorithm>

#include "interop/pt2_arguments.h"
#include "interop/pt2_graph_writer.h"

namespace graphgate::interop {

using spec::InputKind;
using spec::OutputKind;
using spec::Program;
using spec::ProgramInput;
using spec::ProgramOutput;

namespace {

// A constant in the schema's ConstantValue: the same members as those of an Argument.
Result<std::string> argument_text(const WrittenNames& names, const spec::Argument& argument,
                                  WriteContext& context) {
  std::string out;
  GRAPHGATE_TRY_VOID(write_argument(context.program.graph, names, argument, "", 0, context, out));
  return out;
}

// Of one of these kinds: its value's name, its target, and what else there is.
template <class Kinds, class Kind>
std::string named_text(const Kinds& kinds, Kind kind, const std::string& name,
                       const std::string& target, const std::string& more) {
  const auto* const named = std::find_if(std::begin(kinds), std::end(kinds),
                                         [&](const auto& one) { return one.kind == kind; });
  GRAPHGATE_CHECK(named != std::end(kinds));
  return "{\"" + std::string(named->word) + "\": {\"arg\": {\"name\": " + json_text(name) +
         "}, \"" + std::string(named->target_key) + "\": " + json_text(target) + more + "}}";
}

Result<std::string> input_text(const WrittenNames& names, const ProgramInput& input,
                               WriteContext& context) {
  if (input.constant) {
    GRAPHGATE_TRY(const std::string value, argument_text(names, *input.constant, context));
    return "{\"constant_input\": {\"name\": " + json_text(input.target) + ", \"value\": " + value +
           "}}";
  }
  if (input.kind == InputKind::kUserInput) {
    GRAPHGATE_TRY(const std::string value,
                  argument_text(names, spec::Argument{input.value}, context));
    return "{\"user_input\": {\"arg\": " + value + "}}";
  }
  std::string more;
  if (input.kind == InputKind::kBuffer) {
    more = std::string(", \"persistent\": ") + (input.persistent ? "true" : "false");
  }
  return named_text(kNamedInputs, input.kind, names.of(input.value), input.target, more);
}

// The written name of the user input that `target` names.
std::string written_target(const WrittenNames& names, const Program& program,
                           const std::string& target) {
  const auto index = program.find_input(InputKind::kUserInput, target);
  return index ? names.of(program.inputs[*index].value) : target;
}

Result<std::string> output_text(const WrittenNames& names, const ProgramOutput& output,
                                const spec::Argument& argument, WriteContext& context) {
  if (output.kind == OutputKind::kUserOutput) {
    GRAPHGATE_TRY(const std::string value, argument_text(names, argument, context));
    return "{\"user_output\": {\"arg\": " + value + "}}";
  }
  const auto* id = argument.as<spec::ValueId>();
  if (id == nullptr) return unsupported("the new contents of '" + output.target + "' are no value");
  const bool is_input = output.kind == OutputKind::kUserInputMutation;
  return named_text(
      kNamedOutputs, output.kind, names.of(*id),
      is_input ? written_target(names, context.program, output.target) : output.target, "");
}

}  // namespace

Result<std::string> write_signature(const WrittenNames& names, WriteContext& context) {
  const Program& program = context.program;
  std::string out = "{\"input_specs\": [";
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    auto text = input_text(names, program.inputs[i], context);
    if (!text.ok()) return text.error().at("input " + std::to_string(i));
    out += (i == 0 ? "" : ", ") + text.value();
  }
  out += "], \"output_specs\": [";
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    auto text = output_text(names, program.outputs[i], program.graph.outputs.at(i), context);
    if (!text.ok()) return text.error().at("output " + std::to_string(i));
    out += (i == 0 ? "" : ", ") + text.value();
  }
  return out + "]}";
}

std::string default_call_graph(const WrittenNames& names, const Program& program) {
  const Json leaf = {{"type", nullptr}, {"context", nullptr}, {"children_spec", Json::array()}};
  const auto tuple_of = [](Json children) {
    return Json{{"type", "builtins.tuple"}, {"context", "null"}, {"children_spec", children}};
  };
  Json argument_names = Json::array();
  Json arguments = Json::array();
  for (const std::size_t i : program.inputs_of(InputKind::kUserInput)) {
    const ProgramInput& input = program.inputs[i];
    argument_names.push_back(input.constant ? input.target : names.of(input.value));
    arguments.push_back(leaf);
  }
  Json results = Json::array();
  for (const ProgramOutput& output : program.outputs) {
    if (output.kind == OutputKind::kUserOutput) results.push_back(leaf);
  }
  const Json no_keywords = {
      {"type", "builtins.dict"}, {"context", "[]"}, {"children_spec", Json::array()}};
  constexpr int kTreeSpecVersion = 1;
  const Json in_spec =
      Json::array({kTreeSpecVersion, tuple_of(Json::array({tuple_of(arguments), no_keywords}))});
  const Json out_spec = Json::array({kTreeSpecVersion, tuple_of(results)});
  const Json signature = {{"inputs", Json::array()},
                          {"outputs", Json::array()},
                          {"in_spec", in_spec.dump()},
                          {"out_spec", out_spec.dump()},
                          {"forward_arg_names", argument_names}};
  const Json entry = {{"fqn", ""}, {"signature", signature}};
  return Json::array({entry}).dump();
}

}  // namespace graphgate::interop
