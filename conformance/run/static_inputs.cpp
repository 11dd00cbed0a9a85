#include "conformance/run/static_inputs.h"

#include <algorithm>

#include "conformance/run/input_layout.h"
#include "spec/option.h"

namespace graphgate::conformance {
namespace {

namespace option = spec::option;
using spec::HostStorage;
using spec::HostTensor;

}  // namespace

Result<std::vector<std::size_t>> inputs_promised_static(const spec::Program& program,
                                                        const Configuration& options) {
  std::vector<std::size_t> out;
  const auto asked = options.find(option::kStaticInput);
  if (asked == options.end()) return out;
  const auto passed = passed_inputs(program);
  for (const std::string& wanted : split_list(asked->second)) {
    std::size_t i = 0;
    const auto is_it = [&] {
      const bool is_tensor = program.graph.value(passed[i]->value).kind == spec::ValueKind::kTensor;
      return is_tensor && (passed[i]->target == wanted || std::to_string(i) == wanted);
    };
    while (i < passed.size() && !is_it()) ++i;
    if (i == passed.size()) {
      return bad_input("static-input: '" + program.name + "' has no tensor '" + wanted +
                       "' among its inputs");
    }
    out.push_back(i);
  }
  return out;
}

Result<void> keep_promised_static(Script& script, const Configuration& options) {
  GRAPHGATE_TRY(const auto inputs, inputs_promised_static(*script.programs.front(), options));
  for (const std::size_t i : inputs) {
    script.steps.insert(script.steps.begin(), ScriptStatic{{0, i}});
  }
  return {};
}

void StaticInputs::add(const ScriptPort& input, const Script& script) {
  Memory& memory = memories_[{input.program, input.index}];
  for (const ScriptStep& step : script.steps) {
    const auto* call = std::get_if<ScriptCall>(&step);
    if (!call || call->program != input.program || input.index >= call->inputs.size()) continue;
    const auto* tensor = std::get_if<HostTensor>(&call->inputs[input.index]);
    if (tensor) memory.most_bytes = std::max(memory.most_bytes, tensor->storage->bytes.size());
  }
}

void StaticInputs::move() {
  for (auto& [port, memory] : memories_) memory.storage.reset();
}

Result<std::vector<spec::InputValue>> StaticInputs::placed(
    std::size_t program, const std::vector<spec::InputValue>& inputs) {
  std::vector<spec::InputValue> out = inputs;
  std::map<const HostStorage*, std::shared_ptr<HostStorage>> moved;
  for (auto& [port, memory] : memories_) {
    const auto* given = port.first == program && port.second < inputs.size()
                            ? std::get_if<HostTensor>(&inputs[port.second])
                            : nullptr;
    if (!given) continue;
    const std::string name = "static input " + std::to_string(port.second);
    const std::vector<std::byte>& bytes = given->storage->bytes;
    // Of an output that is fed back, what lies behind it is no part of the input.
    const std::size_t count =
        shares_storage(inputs, port.second) ? bytes.size() : reach_bytes(*given);
    if (count > memory.most_bytes) return bad_input(name + " does not fit where it was");
    if (!memory.storage) {
      memory.storage = std::make_shared<HostStorage>();
      memory.storage->bytes.reserve(std::max<std::size_t>(memory.most_bytes, 1));
    }
    // Within what is reserved, so the bytes stay where they are.
    memory.storage->bytes.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
    if (moved.emplace(given->storage.get(), memory.storage).second) continue;
    return bad_input(name + " shares a storage with another");
  }
  for (spec::InputValue& input : out) {
    auto* tensor = std::get_if<HostTensor>(&input);
    const auto found = tensor ? moved.find(tensor->storage.get()) : moved.end();
    if (found != moved.end()) tensor->storage = found->second;
  }
  return out;
}

void StaticInputs::part(spec::CallResult& result) const {
  std::map<const HostStorage*, std::shared_ptr<HostStorage>> parted;
  for (const auto& [port, memory] : memories_) {
    if (memory.storage) parted.emplace(memory.storage.get(), nullptr);
  }
  if (parted.empty()) return;
  const auto part_one = [&](HostTensor* tensor) {
    const auto found = tensor ? parted.find(tensor->storage.get()) : parted.end();
    if (found == parted.end()) return;
    if (!found->second) found->second = std::make_shared<HostStorage>(*tensor->storage);
    tensor->storage = found->second;
  };
  for (spec::OutputValue& output : result.outputs) part_one(std::get_if<HostTensor>(&output));
  for (spec::InputValue& input : result.final_inputs) part_one(std::get_if<HostTensor>(&input));
  for (HostTensor& state : result.final_states) part_one(&state);
}

}  // namespace graphgate::conformance
