#include "optimized/wrapper/contract.h"

#include <algorithm>

namespace graphgate::optimized {
namespace {

using spec::HostTensor;
using spec::InputValue;

std::string number_text(const InputValue& input) {
  if (const auto* integer = std::get_if<std::int64_t>(&input)) return std::to_string(*integer);
  if (const auto* flag = std::get_if<bool>(&input)) return *flag ? "true" : "false";
  char text[64];
  std::snprintf(text, sizeof text, "%.17g", std::get<double>(input));
  return text;
}

// From the storage's start to the end of the last element.
std::int64_t span_bytes(const HostTensor& tensor) {
  std::int64_t last = tensor.storage_offset;
  for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
    if (tensor.sizes[d] == 0) return 0;
    last += (tensor.sizes[d] - 1) * tensor.strides[d];
  }
  return (last + 1) * spec::item_size_bytes(tensor.dtype);
}

}  // namespace

Contract::Layout Contract::layout_of(const HostTensor& tensor) {
  return {tensor.sizes, tensor.strides, tensor.storage_offset,
          static_cast<std::int64_t>(tensor.storage->bytes.size())};
}

Contract::Layout Contract::declared_layout(const Fact& fact, const HostTensor& tensor,
                                           const spec::SymbolValues& symbols) {
  HostTensor declared = tensor;
  declared.strides = spec::contiguous_strides(tensor.sizes);
  declared.storage_offset = 0;
  if (fact.type != nullptr) {
    std::vector<std::int64_t> strides;
    for (const spec::SymExpr& stride : fact.type->strides) {
      const auto value = spec::evaluate(stride, symbols);
      if (value.ok()) strides.push_back(value.value());
    }
    if (strides.size() == tensor.sizes.size()) declared.strides = std::move(strides);
    const auto offset = spec::evaluate(fact.type->storage_offset, symbols);
    if (offset.ok()) declared.storage_offset = offset.value();
  }
  return {declared.sizes, declared.strides, declared.storage_offset, span_bytes(declared)};
}

std::size_t Contract::sharer(std::span<const InputValue> inputs, std::size_t index) {
  const auto* tensor = std::get_if<HostTensor>(&inputs[index]);
  for (std::size_t i = 0; tensor != nullptr && i < index; ++i) {
    const auto* other = std::get_if<HostTensor>(&inputs[i]);
    if (other != nullptr && other->storage == tensor->storage) return i;
  }
  return index;
}

Contract::Contract(const spec::Program& program, std::span<const InputValue> inputs,
                   const spec::SymbolValues& symbols) {
  for (const spec::ProgramInput& input : program.inputs) {
    if (input.kind != spec::InputKind::kUserInput || input.constant) continue;
    const std::size_t index = facts_.size();
    const spec::Value& value = program.graph.value(input.value);
    Fact fact;
    fact.name = "input " + std::to_string(index) + " ('" + input.target + "')";
    fact.shares_with = sharer(inputs, index);
    if (const auto* tensor = std::get_if<HostTensor>(&inputs[index])) {
      fact.device = tensor->device;
      if (value.type) fact.type = &*value.type;
      const Layout layout = layout_of(*tensor);
      if (layout != declared_layout(fact, *tensor, symbols)) fact.of_its_own = layout;
    } else if (!value.expr || value.expr->op() != spec::SymOp::kSymbol) {
      fact.value = number_text(inputs[index]);
    }
    facts_.push_back(std::move(fact));
  }
}

std::vector<std::string> Contract::broken_facts(std::span<const InputValue> inputs) const {
  std::vector<std::string> clauses;
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    const Fact& fact = facts_[i];
    const auto* tensor = std::get_if<HostTensor>(&inputs[i]);
    if (tensor != nullptr && tensor->device != fact.device) {
      clauses.push_back(fact.name + " was on " + spec::print_device(fact.device) + " and is on " +
                        spec::print_device(tensor->device));
    }
    if (tensor == nullptr && !fact.value.empty() && number_text(inputs[i]) != fact.value) {
      clauses.push_back(fact.name + " was " + fact.value + " and is " + number_text(inputs[i]));
    }
    const std::size_t shares_with = sharer(inputs, i);
    if (shares_with == fact.shares_with) continue;
    const auto sharing = [i](std::size_t with) {
      return with == i ? "had storage of its own" : "shared that of input " + std::to_string(with);
    };
    clauses.push_back(fact.name + " " + sharing(fact.shares_with) + " and now " +
                      (shares_with == i ? "has storage of its own"
                                        : "shares that of input " + std::to_string(shares_with)));
  }
  return clauses;
}

std::string Contract::broken_layout(std::size_t index, const InputValue& input,
                                    const spec::SymbolValues& symbols) const {
  const Fact& fact = facts_[index];
  const auto* tensor = std::get_if<HostTensor>(&input);
  if (tensor == nullptr) return "";
  const Layout expected =
      fact.of_its_own ? *fact.of_its_own : declared_layout(fact, *tensor, symbols);
  const Layout actual = layout_of(*tensor);
  if (actual == expected) return "";
  if (actual.sizes != expected.sizes) return fact.name + " has other sizes than its strides allow";
  if (actual.strides != expected.strides) return fact.name + " has other strides";
  if (actual.offset != expected.offset) return fact.name + " begins elsewhere in its storage";
  return fact.name + " lies in a storage of " + std::to_string(actual.storage_bytes) +
         " bytes, expected " + std::to_string(expected.storage_bytes);
}

void Contract::note_result(const spec::CallResult& result) {
  for (std::size_t i = 0; i < facts_.size() && i < result.final_inputs.size(); ++i) {
    const auto* input = std::get_if<HostTensor>(&result.final_inputs[i]);
    if (input == nullptr) continue;
    facts_[i].is_returned |= std::ranges::any_of(result.outputs, [&](const auto& output) {
      const auto* tensor = std::get_if<HostTensor>(&output);
      return tensor != nullptr && tensor->storage == input->storage;
    });
  }
}

bool Contract::shares_storage(std::size_t index) const {
  if (facts_[index].is_returned || facts_[index].shares_with != index) return true;
  for (std::size_t i = index + 1; i < facts_.size(); ++i) {
    if (facts_[i].shares_with == index) return true;
  }
  return false;
}

Result<HostTensor> Contract::expected_layout(std::size_t index, const HostTensor& input,
                                             const spec::SymbolValues& symbols) const {
  const Fact& fact = facts_[index];
  const Layout layout = fact.of_its_own ? *fact.of_its_own : declared_layout(fact, input, symbols);
  if (layout.sizes != input.sizes) {
    return bad_input(fact.name +
                     " was no row-major tensor at the first call, and has other sizes now");
  }
  HostTensor expected{input.dtype,   layout.sizes, layout.strides,
                      layout.offset, input.device, std::make_shared<spec::HostStorage>()};
  expected.storage->bytes.resize(static_cast<std::size_t>(layout.storage_bytes));
  return expected;
}

}  // namespace graphgate::optimized
