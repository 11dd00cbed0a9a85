#include "optimized/analysis/symbols.h"

namespace graphgate::optimized {
namespace {

using spec::HostTensor;
using spec::ValueKind;

// The value kind that an input value fits, by the order of InputValue's alternatives.
ValueKind kind_of(const spec::InputValue& input) {
  constexpr ValueKind kKinds[] = {ValueKind::kTensor, ValueKind::kSymInt, ValueKind::kSymFloat,
                                  ValueKind::kSymBool};
  return kKinds[input.index()];
}

class Binder {
 public:
  Binder(const spec::Program& program, bool allow_zero_and_one)
      : program_(program), allow_zero_and_one_(allow_zero_and_one) {}

  // Symbols that stand alone as a size, or as an integer input.
  Result<void> collect(const spec::ProgramInput& input, const spec::InputValue& given) {
    const spec::Value& value = program_.graph.value(input.value);
    if (value.kind != kind_of(given)) {
      return fail(input,
                  "is given a number for a tensor, a tensor for a number, or another kind "
                  "of number");
    }
    if (const auto* number = std::get_if<std::int64_t>(&given)) {
      if (value.expr && value.expr->op() == spec::SymOp::kSymbol) {
        return bind(input, "its value", value.expr->name(), *number);
      }
      return {};
    }
    const auto* tensor = std::get_if<HostTensor>(&given);
    if (!tensor || !value.type) return {};
    GRAPHGATE_TRY_VOID(check_tensor(input, *value.type, *tensor));
    for (std::size_t d = 0; d < value.type->sizes.size(); ++d) {
      if (value.type->sizes[d].op() != spec::SymOp::kSymbol) continue;
      GRAPHGATE_TRY_VOID(bind(input, "dimension " + std::to_string(d), value.type->sizes[d].name(),
                              tensor->sizes[d]));
    }
    return {};
  }

  // Sizes that are constants, or expressions over bound symbols.
  Result<void> check_sizes(const spec::ProgramInput& input, const spec::InputValue& given) const {
    const spec::Value& value = program_.graph.value(input.value);
    const auto* tensor = std::get_if<HostTensor>(&given);
    if (!tensor || !value.type) return {};
    for (std::size_t d = 0; d < value.type->sizes.size(); ++d) {
      const auto expected = spec::evaluate(value.type->sizes[d], symbols_);
      if (!expected.ok() || expected.value() == tensor->sizes[d]) continue;
      return fail(input, "dimension " + std::to_string(d) + " is " +
                             std::to_string(tensor->sizes[d]) + ", expected " +
                             std::to_string(expected.value()) + " (" +
                             spec::print_sym_expr(value.type->sizes[d]) + ")");
    }
    return {};
  }

  Result<void> check_ranges() const {
    for (const auto& [name, value] : symbols_) {
      const auto known = program_.symbols.find(name);
      if (known == program_.symbols.end()) continue;
      const bool is_specialized = allow_zero_and_one_ && known->second.min == 2;
      const std::int64_t min = is_specialized ? 0 : known->second.min;
      if (value >= min && (!known->second.max || value <= *known->second.max)) continue;
      std::string message = program_.name;
      message.append(": symbol ").append(name).append(" is ").append(std::to_string(value));
      message.append(", expected a value in [").append(std::to_string(min)).append(", ");
      message.append(known->second.max ? std::to_string(*known->second.max) : "unbounded");
      message.append("]");
      const bool may_be_allowed = min == 2 && (value == 0 || value == 1);
      if (may_be_allowed) message.append("; --allow-zero-and-one takes it");
      return bad_input(std::move(message));
    }
    return {};
  }

  spec::SymbolValues take() { return std::move(symbols_); }

 private:
  [[nodiscard]] Error fail(const spec::ProgramInput& input, const std::string& what) const {
    return bad_input(program_.name + ": input '" + input.target + "' " + what);
  }

  [[nodiscard]] Result<void> check_tensor(const spec::ProgramInput& input,
                                          const spec::TensorType& type,
                                          const HostTensor& tensor) const {
    if (tensor.dtype != type.dtype) {
      return fail(input, "has dtype " + std::string(spec::torch_name(tensor.dtype)) +
                             ", expected " + std::string(spec::torch_name(type.dtype)));
    }
    if (tensor.sizes.size() != type.sizes.size()) {
      return fail(input, "has rank " + std::to_string(tensor.sizes.size()) + ", expected " +
                             std::to_string(type.sizes.size()));
    }
    const auto bytes = static_cast<std::int64_t>(tensor.storage->bytes.size());
    if (!spec::geometry_fits(tensor, bytes)) return fail(input, "reaches outside its storage");
    return {};
  }

  Result<void> bind(const spec::ProgramInput& input, const std::string& where,
                    const std::string& symbol, std::int64_t value) {
    const auto [at, is_new] = symbols_.emplace(symbol, value);
    if (is_new || at->second == value) return {};
    return fail(input, where + " is " + std::to_string(value) + ", expected " +
                           std::to_string(at->second) + " (" + symbol + ")");
  }

  const spec::Program& program_;
  bool allow_zero_and_one_;
  spec::SymbolValues symbols_;
};

}  // namespace

Result<spec::SymbolValues> bind_symbols(const spec::Program& program,
                                        std::span<const spec::InputValue> inputs,
                                        bool allow_zero_and_one) {
  std::vector<const spec::ProgramInput*> wanted;
  for (const spec::ProgramInput& input : program.inputs) {
    if (input.kind == spec::InputKind::kUserInput && !input.constant) wanted.push_back(&input);
  }
  if (wanted.size() != inputs.size()) {
    return bad_input(program.name + ": got " + std::to_string(inputs.size()) +
                     " inputs, expected " + std::to_string(wanted.size()));
  }
  Binder binder(program, allow_zero_and_one);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    GRAPHGATE_TRY_VOID(binder.collect(*wanted[i], inputs[i]));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    GRAPHGATE_TRY_VOID(binder.check_sizes(*wanted[i], inputs[i]));
  }
  GRAPHGATE_TRY_VOID(binder.check_ranges());
  return binder.take();
}

}  // namespace graphgate::optimized
