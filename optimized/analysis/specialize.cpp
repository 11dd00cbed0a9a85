#include "optimized/analysis/specialize.h"

#include "optimized/analysis/node_symbols.h"
#include "optimized/analysis/specializer.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using spec::HostTensor;
using spec::InputKind;
using spec::OutputKind;
using spec::ValueId;

// Brings the inputs of a program in: tensors that share a HostStorage share a storage here.
class Inputs {
 public:
  Inputs(const spec::Program& program, Specializer& specializer)
      : program_(program), specializer_(specializer) {}

  Argument add(const spec::ProgramInput& input, const spec::InputValue& given) {
    if (const auto* tensor = std::get_if<HostTensor>(&given)) return add_tensor(input, *tensor);
    if (const auto* i = std::get_if<std::int64_t>(&given)) return {*i};
    if (const auto* x = std::get_if<double>(&given)) return {*x};
    return {std::get<bool>(given)};
  }

  Argument add_tensor(const spec::ProgramInput& input, const HostTensor& host) {
    const spec::Value& declared = program_.graph.value(input.value);
    const bool is_state = input.kind != InputKind::kUserInput;
    const spec::Device device = declared.type ? declared.type->device : host.device;
    const auto [at, is_new] = storages_.try_emplace({is_state, host.storage.get()}, kNoStorage);
    if (is_new) {
      at->second = specializer_.add_storage(
          {declared.name, is_state ? StorageKind::kState : StorageKind::kInput,
           static_cast<std::int64_t>(host.storage->bytes.size()), device});
    }
    SizedValue value{.name = declared.name,
                     .tensor = {host.dtype, host.sizes, host.strides, host.storage_offset, device,
                                at->second, nullptr}};
    return {specializer_.add_value(std::move(value))};
  }

 private:
  const spec::Program& program_;
  Specializer& specializer_;
  std::map<std::pair<bool, const spec::HostStorage*>, StorageIndex> storages_;
};

// New contents of inputs and buffers: copies, one after the other. A user output that is the same
// value of the graph is then the tensor that it was last written to, as torch.export's unlifting
// has it.
void write_back(const spec::Program& program, const spec::Graph& graph,
                const std::map<std::string, Argument>& states,
                const std::map<std::string, Argument>& user_inputs, std::vector<Argument>& outputs,
                const spec::DeviationSet& deviations, Specializer& specializer) {
  const std::vector<Argument> made = outputs;
  for (std::size_t i = 0; i < made.size(); ++i) {
    const spec::ProgramOutput& output = program.outputs[i];
    const auto* contents = made[i].as<ValueId>();
    if (output.kind == OutputKind::kUserOutput || !contents) continue;
    const bool is_input = output.kind == OutputKind::kUserInputMutation;
    const auto* target = (is_input ? user_inputs : states).at(output.target).as<ValueId>();
    if (!target) throw OpError("a number cannot be mutated");
    const ValueId written = specializer.at_the_end(*target);
    if (written != *contents) {
      const auto* declared = graph.outputs[i].as<ValueId>();
      specializer.emit_copy(
          written, *contents, output.target,
          declared ? symbols_of(graph, {*declared}, deviations) : std::vector<std::string>());
    }
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const bool is_user = program.outputs[o].kind == OutputKind::kUserOutput;
      if (is_user && graph.outputs[o] == graph.outputs[i]) outputs[o] = {written};
    }
  }
}

// In-place ops may have left inputs with another geometry than they came with.
void note_final_values(Specializer& specializer) {
  for (spec::PlanInput& input : specializer.out().inputs) {
    if (input.constant) continue;
    const ValueId last = specializer.at_the_end(input.value);
    if (last == input.value) continue;
    if (input.kind != InputKind::kUserInput) {
      throw Unsupported("changes the geometry of '" + input.target +
                        "', which the next call would find changed");
    }
    input.final_value = last;
  }
}

}  // namespace

SizedGraph specialize(const spec::Program& program, const spec::Graph& graph,
                      std::span<const spec::InputValue> inputs, const spec::SymbolValues& symbols,
                      const spec::OpTable& ops, const spec::DeviationSet& deviations) {
  Specializer specializer(symbols, ops, deviations);
  specializer.reserve(graph.values.size());
  Inputs importer(program, specializer);
  std::vector<Argument> arguments;
  std::map<std::string, Argument> states;
  std::map<std::string, Argument> user_inputs;
  std::size_t next = 0;
  for (const spec::ProgramInput& input : program.inputs) {
    spec::PlanInput planned{input.kind, input.target, {}, input.constant, {}};
    if (!input.constant) {
      const bool is_user = input.kind == InputKind::kUserInput;
      const Argument argument = is_user
                                    ? importer.add(input, inputs[next++])
                                    : importer.add_tensor(input, program.tensors.at(input.target));
      (is_user ? user_inputs : states).emplace(input.target, argument);
      arguments.push_back(argument);
      if (const auto* id = argument.as<ValueId>()) {
        planned.value = *id;
      } else {
        planned.constant = argument;
      }
    }
    specializer.out().inputs.push_back(std::move(planned));
  }
  const auto in_place = [&](const std::string& message) { return specializer.place() + message; };
  try {
    std::vector<Argument> outputs = specializer.run_graph(graph, arguments);
    note_final_values(specializer);
    write_back(program, graph, states, user_inputs, outputs, deviations, specializer);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (program.outputs[i].kind != OutputKind::kUserOutput) continue;
      specializer.out().outputs.push_back(std::move(outputs[i]));
    }
  } catch (const OpError& error) {
    throw OpError(in_place(error.what()));
  } catch (const Unsupported& error) {
    throw Unsupported(in_place(error.what()));
  }
  return std::move(specializer.out());
}

}  // namespace graphgate::optimized
