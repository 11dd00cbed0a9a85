#include "reference/symbol_binding.h"

namespace graphgate::reference {
namespace {

using spec::HostTensor;
using spec::SymbolValues;

std::string describe(const spec::Program& program, const spec::ProgramInput& input) {
  return program.name + ": input '" + input.target + "'";
}

Error size_error(const spec::Program& program, const spec::ProgramInput& input, std::size_t dim,
                 std::int64_t found, const std::string& expected) {
  return bad_input(describe(program, input) + ": dimension " + std::to_string(dim) + " is " +
                   std::to_string(found) + ", expected " + expected);
}

Result<void> check_tensor(const spec::Program& program, const spec::ProgramInput& input,
                          const spec::TensorType& type, const HostTensor& tensor) {
  if (tensor.dtype != type.dtype) {
    return bad_input(describe(program, input) + ": dtype is " +
                     std::string(spec::torch_name(tensor.dtype)) + ", expected " +
                     std::string(spec::torch_name(type.dtype)));
  }
  if (tensor.sizes.size() != type.sizes.size()) {
    return bad_input(describe(program, input) + ": rank is " + std::to_string(tensor.sizes.size()) +
                     ", expected " + std::to_string(type.sizes.size()));
  }
  const auto bytes = static_cast<std::int64_t>(tensor.storage->bytes.size());
  if (!spec::geometry_fits(tensor, bytes)) {
    return bad_input(describe(program, input) + ": its geometry does not fit its storage");
  }
  return {};
}

// Binds sizes that are plain symbols; two inputs that name one symbol must agree.
Result<void> bind_symbols(const spec::Program& program, const spec::ProgramInput& input,
                          const spec::TensorType& type, const HostTensor& tensor,
                          SymbolValues& symbols) {
  for (std::size_t d = 0; d < type.sizes.size(); ++d) {
    if (type.sizes[d].op() != spec::SymOp::kSymbol) continue;
    const std::string& name = type.sizes[d].name();
    const auto [at, is_new] = symbols.emplace(name, tensor.sizes[d]);
    if (!is_new && at->second != tensor.sizes[d]) {
      return size_error(program, input, d, tensor.sizes[d],
                        std::to_string(at->second) + " (the value of " + name + " so far)");
    }
  }
  return {};
}

Result<void> check_sizes(const spec::Program& program, const spec::ProgramInput& input,
                         const spec::TensorType& type, const HostTensor& tensor,
                         const SymbolValues& symbols) {
  for (std::size_t d = 0; d < type.sizes.size(); ++d) {
    const auto expected = spec::evaluate(type.sizes[d], symbols);
    if (!expected.ok()) continue;  // a symbol that no input's size gives
    if (expected.value() != tensor.sizes[d]) {
      const std::string text =
          type.sizes[d].is_constant()
              ? std::to_string(expected.value())
              : spec::print_sym_expr(type.sizes[d]) + " = " + std::to_string(expected.value());
      return size_error(program, input, d, tensor.sizes[d], text);
    }
  }
  return {};
}

Result<void> check_ranges(const spec::Program& program, const SymbolValues& symbols,
                          bool allow_zero_and_one) {
  for (const auto& [name, value] : symbols) {
    const auto found = program.symbols.find(name);
    if (found == program.symbols.end()) continue;
    const spec::SymbolInfo& info = found->second;
    const std::int64_t least = allow_zero_and_one && info.min == 2 ? 0 : info.min;
    if (value >= least && (!info.max || value <= *info.max)) continue;
    const bool may_be_allowed = info.min == 2 && (value == 0 || value == 1);
    return bad_input(program.name + ": size " + name + " is " + std::to_string(value) +
                     ", outside its range [" + std::to_string(info.min) + ", " +
                     (info.max ? std::to_string(*info.max) : "unbounded") + "]" +
                     (may_be_allowed ? "; --allow-zero-and-one takes it" : ""));
  }
  return {};
}

bool kind_matches(const spec::Value& value, const spec::InputValue& input) {
  switch (value.kind) {
    case spec::ValueKind::kTensor:
      return std::holds_alternative<HostTensor>(input);
    case spec::ValueKind::kSymInt:
      return std::holds_alternative<std::int64_t>(input);
    case spec::ValueKind::kSymFloat:
      return std::holds_alternative<double>(input);
    case spec::ValueKind::kSymBool:
      return std::holds_alternative<bool>(input);
    default:
      return false;
  }
}

}  // namespace

Result<void> check_inputs(const spec::Program& program, std::span<const spec::InputValue> inputs,
                          bool allow_zero_and_one) {
  std::vector<const spec::ProgramInput*> expected;
  for (const spec::ProgramInput& input : program.inputs) {
    if (input.kind == spec::InputKind::kUserInput && !input.constant) expected.push_back(&input);
  }
  if (expected.size() != inputs.size()) {
    return bad_input(program.name + ": " + std::to_string(inputs.size()) +
                     " inputs given, expected " + std::to_string(expected.size()));
  }
  SymbolValues symbols;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const spec::Value& value = program.graph.value(expected[i]->value);
    if (!kind_matches(value, inputs[i])) {
      return bad_input(describe(program, *expected[i]) + ": a tensor where a number is expected, " +
                       "or the reverse");
    }
    const auto* tensor = std::get_if<HostTensor>(&inputs[i]);
    if (const auto* number = std::get_if<std::int64_t>(&inputs[i]);
        number && value.expr && value.expr->op() == spec::SymOp::kSymbol) {
      symbols.emplace(value.expr->name(), *number);
    }
    if (!tensor || !value.type) continue;
    GRAPHGATE_TRY_VOID(check_tensor(program, *expected[i], *value.type, *tensor));
    GRAPHGATE_TRY_VOID(bind_symbols(program, *expected[i], *value.type, *tensor, symbols));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto* tensor = std::get_if<HostTensor>(&inputs[i]);
    const spec::Value& value = program.graph.value(expected[i]->value);
    if (!tensor || !value.type) continue;
    GRAPHGATE_TRY_VOID(check_sizes(program, *expected[i], *value.type, *tensor, symbols));
  }
  return check_ranges(program, symbols, allow_zero_and_one);
}

}  // namespace graphgate::reference
