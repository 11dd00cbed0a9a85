#include "interop/pt2_signature_reader.h"

#include <optional>
#include <set>

#include "interop/json_fields.h"
#include "interop/pt2_arguments.h"

namespace graphgate::interop {

using spec::InputKind;
using spec::OutputKind;
using spec::Program;
using spec::ProgramInput;
using spec::ProgramOutput;

namespace {

// The name in a signature's argument: {"name": ..}, or an Argument {"as_tensor": {"name": ..}}.
// nullopt for a constant.
Result<std::optional<std::string>> argument_name(const JsonCursor& argument) {
  std::optional<std::string> name;
  if (argument.json().contains("name")) {
    GRAPHGATE_TRY(name, read_string(argument, "name"));
    return name;
  }
  GRAPHGATE_TRY(const auto only, argument.only_member());
  const auto& [kind, content] = only;
  for (const char* key : {"name", "as_name"}) {
    if (name || !content.json().is_object() || !content.json().contains(key)) continue;
    GRAPHGATE_TRY(name, read_string(content, key));
  }
  return name;
}

Result<void> expect_name(const JsonCursor& argument, const std::optional<std::string>& actual) {
  GRAPHGATE_TRY(const auto name, argument_name(argument));
  if (name == actual) return {};
  return argument.error("the signature says " + (name ? "'" + *name + "'" : "a constant") +
                        ", the graph has " + (actual ? "'" + *actual + "'" : "a constant"));
}

// The member "arg" of a signature's entry says the name that the graph has.
Result<void> expect_argument(const JsonCursor& entry, const std::optional<std::string>& actual) {
  return read_member(entry, "arg",
                     [&](const JsonCursor& argument) { return expect_name(argument, actual); });
}

std::optional<std::string> value_name(const Program& program, const InputSlot& slot) {
  if (!slot.value) return std::nullopt;
  return program.graph.value(*slot.value).name;
}

Result<ProgramInput> read_input(const JsonCursor& spec_cursor, const InputSlot& slot,
                                const Program& program) {
  ProgramInput input;
  if (slot.value) input.value = *slot.value;
  GRAPHGATE_TRY(const auto only, spec_cursor.only_member());
  const auto& [kind, content] = only;
  if (kind == "constant_input") {
    if (slot.value)
      return content.error("the graph has a value where the signature has a constant");
    GRAPHGATE_TRY(input.target, read_string(content, "name"));
    input.constant = slot.constant;
    return input;
  }
  if (kind == "user_input") {
    GRAPHGATE_TRY_VOID(expect_argument(content, value_name(program, slot)));
    input.constant = slot.constant;
    input.target = value_name(program, slot).value_or("");
    return input;
  }
  for (const auto& named : kNamedInputs) {
    if (kind != named.word) continue;
    if (!slot.value) return content.error("the graph has a constant here");
    GRAPHGATE_TRY_VOID(expect_argument(content, value_name(program, slot)));
    GRAPHGATE_TRY(input.target, read_string(content, named.target_key));
    input.kind = named.kind;
    if (named.kind != InputKind::kBuffer) return input;
    GRAPHGATE_TRY(input.persistent, read_bool(content, "persistent"));
    return input;
  }
  const bool is_known = kind == "token" || kind == "custom_obj";
  const std::string what = "an input of the kind '" + std::string(kind) + "'";
  return is_known ? content.unsupported_here(what) : content.error("unknown: " + what);
}

Result<ProgramOutput> read_output(const JsonCursor& spec_cursor, const spec::Argument& output,
                                  const Program& program) {
  ProgramOutput out;
  std::optional<std::string> name;
  if (const auto* id = output.as<spec::ValueId>()) name = program.graph.value(*id).name;
  GRAPHGATE_TRY(const auto only, spec_cursor.only_member());
  const auto& [kind, content] = only;
  if (kind == "user_output") {
    GRAPHGATE_TRY_VOID(expect_argument(content, name));
    return out;
  }
  for (const auto& named : kNamedOutputs) {
    if (kind != named.word) continue;
    GRAPHGATE_TRY_VOID(expect_argument(content, name));
    GRAPHGATE_TRY(out.target, read_string(content, named.target_key));
    out.kind = named.kind;
    return out;
  }
  for (const std::string_view foreign :
       {"loss_output", "gradient_to_parameter", "gradient_to_user_input", "token"}) {
    if (kind == foreign) {
      return content.unsupported_here("an output of the kind '" + std::string(kind) + "'");
    }
  }
  return content.error("unknown kind of output '" + std::string(kind) + "'");
}

// Each mutation must name something that is there to be mutated, and each target be there once.
Result<void> check_targets(const JsonCursor& inputs, const JsonCursor& outputs,
                           const Program& program) {
  std::set<std::pair<bool, std::string>> targets;  // user inputs apart
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const ProgramInput& input = program.inputs[i];
    const bool is_user = input.kind == InputKind::kUserInput;
    if (is_user && input.constant) continue;
    if (!targets.emplace(is_user, input.target).second) {
      return inputs.error("the target '" + input.target + "' is there twice");
    }
  }
  for (const ProgramOutput& output : program.outputs) {
    if (output.kind == OutputKind::kUserOutput) continue;
    const InputKind kind = output.kind == OutputKind::kUserInputMutation ? InputKind::kUserInput
                           : output.kind == OutputKind::kBufferMutation  ? InputKind::kBuffer
                                                                         : InputKind::kParameter;
    if (!program.find_input(kind, output.target)) {
      return outputs.error("mutates '" + output.target + "', which is no such input");
    }
  }
  return {};
}

Result<void> expect_count(const JsonCursor& specs, std::size_t found, std::size_t expected,
                          const std::string& what) {
  if (found == expected) return {};
  return specs.error("has " + std::to_string(found) + " entries, the graph has " +
                     std::to_string(expected) + " " + what);
}

bool is_token(const JsonCursor& spec_cursor) { return spec_cursor.json().contains("token"); }

Result<void> expect_token(const JsonCursor& spec_cursor) {
  if (is_token(spec_cursor)) return {};
  return spec_cursor.error("the graph has a token here");
}

}  // namespace

Result<void> read_signature(const JsonCursor& signature, const std::vector<InputSlot>& slots,
                            std::size_t token_outputs, Program& program) {
  GRAPHGATE_TRY(const JsonCursor inputs, signature.member("input_specs"));
  GRAPHGATE_TRY(const auto input_specs, inputs.elements());
  GRAPHGATE_TRY_VOID(expect_count(inputs, input_specs.size(), slots.size(), "inputs"));
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].is_token) {
      GRAPHGATE_TRY_VOID(expect_token(input_specs[i]));
      continue;
    }
    GRAPHGATE_TRY(program.inputs.emplace_back(), read_input(input_specs[i], slots[i], program));
  }
  const auto& graph_outputs = program.graph.outputs;
  GRAPHGATE_TRY(const JsonCursor outputs, signature.member("output_specs"));
  GRAPHGATE_TRY(auto output_specs, outputs.elements());
  GRAPHGATE_TRY_VOID(
      expect_count(outputs, output_specs.size(), graph_outputs.size() + token_outputs, "outputs"));
  if (token_outputs > 0) std::erase_if(output_specs, is_token);
  GRAPHGATE_TRY_VOID(
      expect_count(outputs, output_specs.size(), graph_outputs.size(), "outputs beside tokens"));
  for (std::size_t i = 0; i < graph_outputs.size(); ++i) {
    GRAPHGATE_TRY(program.outputs.emplace_back(),
                  read_output(output_specs[i], graph_outputs[i], program));
  }
  return check_targets(inputs, outputs, program);
}

}  // namespace graphgate::interop
