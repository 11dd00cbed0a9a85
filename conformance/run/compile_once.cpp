#include "conformance/run/compile_once.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "conformance/run/input_layout.h"
#include "spec/option.h"
#include "spec/type_text.h"

namespace graphgate::conformance {
namespace {

namespace option = spec::option;
using spec::HostTensor;

std::string bits_of(const spec::InputValue& number) {
  if (const auto* integer = std::get_if<std::int64_t>(&number)) return std::to_string(*integer);
  if (const auto* flag = std::get_if<bool>(&number)) return *flag ? "True" : "False";
  return "0x" + std::to_string(std::bit_cast<std::uint64_t>(std::get<double>(number)));
}

// Whether the tensor lies as its declared type says, alone in a storage that ends with it.
bool lies_as_declared(const HostTensor& tensor, const spec::Value& value,
                      const spec::SymbolValues& symbols) {
  std::vector<std::int64_t> strides = spec::contiguous_strides(tensor.sizes);
  std::int64_t offset = 0;
  if (value.type) {
    std::vector<std::int64_t> stated;
    for (const spec::SymExpr& stride : value.type->strides) {
      const auto number = spec::evaluate(stride, symbols);
      if (number.ok()) stated.push_back(number.value());
    }
    if (stated.size() == tensor.sizes.size()) strides = std::move(stated);
    const auto number = spec::evaluate(value.type->storage_offset, symbols);
    if (number.ok()) offset = number.value();
  }
  return tensor.strides == strides && tensor.storage_offset == offset &&
         tensor.storage->bytes.size() == reach_bytes(tensor);
}

// Places of the inputs over whose storage an output of the call lies.
std::set<std::size_t> returned_inputs(const spec::CallResult& result) {
  std::set<const spec::HostStorage*> returned;
  for (const spec::OutputValue& output : result.outputs) {
    if (const auto* tensor = std::get_if<HostTensor>(&output)) {
      returned.insert(tensor->storage.get());
    }
  }
  std::set<std::size_t> places;
  for (std::size_t i = 0; i < result.final_inputs.size(); ++i) {
    const auto* tensor = std::get_if<HostTensor>(&result.final_inputs[i]);
    if (tensor && returned.contains(tensor->storage.get())) places.insert(i);
  }
  return places;
}

bool is_free_number(const spec::Value& value) {
  return value.expr && value.expr->op() == spec::SymOp::kSymbol;
}

}  // namespace

CompileOnce::CompileOnce(const Configuration& options) {
  const std::string_view wrapper = spec::value_of(options, option::kWrapper);
  if (wrapper == "stock") mode_ = Mode::kStock;
  if (wrapper == "split" || wrapper == "partition") mode_ = Mode::kRefusing;
  guards_layouts_ = spec::value_of(options, option::kGuards, "all") == "all";
}

CompileOnce::Facts CompileOnce::facts_of(const spec::Program& program,
                                         const std::vector<spec::InputValue>& inputs) {
  const auto passed = passed_inputs(program);
  const spec::SymbolValues symbols = symbols_of(program, inputs);
  Facts facts;
  for (std::size_t i = 0; i < inputs.size() && i < passed.size(); ++i) {
    const spec::Value& value = program.graph.value(passed[i]->value);
    Fact fact;
    fact.shares_with = i;
    if (const auto* tensor = std::get_if<HostTensor>(&inputs[i])) {
      fact.is_tensor = true;
      fact.device = spec::print_device(tensor->device);
      for (std::size_t j = i; j-- > 0;) {
        const auto* other = std::get_if<HostTensor>(&inputs[j]);
        if (other && other->storage == tensor->storage) fact.shares_with = j;
      }
      fact.is_as_declared = lies_as_declared(*tensor, value, symbols);
      fact.has_elements = spec::element_count(tensor->sizes) > 0;
      fact.sizes = tensor->sizes;
      fact.strides = tensor->strides;
      fact.offset = tensor->storage_offset;
      fact.storage_bytes = tensor->storage->bytes.size();
    } else if (!is_free_number(value)) {
      fact.number = bits_of(inputs[i]);
    }
    facts.push_back(std::move(fact));
  }
  return facts;
}

CompileOnce::Claim CompileOnce::difference(const Facts& fixed, const Facts& call,
                                           const std::set<std::size_t>& returned) const {
  const std::size_t count = std::min(fixed.size(), call.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = "input " + std::to_string(i);
    if (fixed[i].device != call[i].device) return {Due::kRefusal, name + " is on another device"};
    if (fixed[i].number != call[i].number) return {Due::kRefusal, name + " is another number"};
    if (fixed[i].shares_with != call[i].shares_with) {
      return {Due::kRefusal, name + " shares its storage with another input than before"};
    }
  }
  Claim claim;
  for (std::size_t i = 0; i < count; ++i) {
    const Fact& a = fixed[i];
    const Fact& b = call[i];
    if (!b.is_tensor || (a.is_as_declared && b.is_as_declared)) continue;
    const bool is_same = a.sizes == b.sizes && a.strides == b.strides && a.offset == b.offset &&
                         a.storage_bytes == b.storage_bytes;
    if (is_same) continue;
    const std::string why = "input " + std::to_string(i) + " lies in another layout";
    // Where the first one lay as nobody declared, and where there is nothing to lie anyhow, both
    // can be defended.
    const bool is_clear = a.is_as_declared && a.has_elements && b.has_elements;
    if (is_clear && guards_layouts_) return {Due::kRefusal, why};
    if (!is_clear || !guards_layouts_) {
      const bool is_apart = std::ranges::none_of(
          call, [&](const Fact& other) { return &other != &b && other.shares_with == i; });
      const bool can_move = is_clear && is_apart && b.shares_with == i && !returned.contains(i);
      if (!can_move) claim = {Due::kEither, why};
    }
  }
  return claim;
}

CompileOnce::Claim CompileOnce::claim_on(const spec::Program& program,
                                         const std::vector<spec::InputValue>& inputs) const {
  const auto found = compiled_.find(&program);
  if (mode_ != Mode::kRefusing || found == compiled_.end()) return {};
  const auto returned = returned_.find(&program);
  return difference(found->second.front(), facts_of(program, inputs),
                    returned == returned_.end() ? std::set<std::size_t>() : returned->second);
}

std::string CompileOnce::served(const spec::Program& program,
                                const std::vector<spec::InputValue>& inputs,
                                const std::map<std::string, std::int64_t>& counts,
                                const spec::CallResult& result) {
  if (mode_ == Mode::kOff) return "";
  for (const std::size_t place : returned_inputs(result)) returned_[&program].insert(place);
  std::vector<Facts>& compiled = compiled_[&program];
  Facts facts = facts_of(program, inputs);
  if (compiled.empty()) {
    compiled.push_back(std::move(facts));
    completions_[&program] = 1;
  } else if (mode_ == Mode::kStock) {
    bool is_known = false;
    bool is_open = false;
    for (const Facts& fixed : compiled) {
      const Due due = difference(fixed, facts, {}).due;
      is_known |= due == Due::kService;
      is_open |= due == Due::kEither;
    }
    can_count_ &= is_known || !is_open;
    if (!is_known) {
      compiled.push_back(std::move(facts));
      ++recompiles_;
      ++completions_[&program];
    }
  }
  const auto differs = [&](const char* name, std::int64_t expected) -> std::string {
    const auto found = counts.find(name);
    if (!can_count_ || found == counts.end() || found->second == expected) return "";
    return "counts " + std::to_string(found->second) + " " + name + ", expected " +
           std::to_string(expected);
  };
  const std::string recompiles = differs("recompiles", recompiles_);
  return recompiles.empty() ? differs("completions", completions_[&program]) : recompiles;
}

bool is_relaid(const Configuration& options, const spec::Program& program, const spec::Plan& plan,
               const std::vector<spec::InputValue>& inputs) {
  if (spec::value_of(options, option::kGuards, "all") == "all") return false;
  std::size_t passed = 0;
  for (std::size_t i = 0; i < program.inputs.size() && i < plan.inputs.size(); ++i) {
    const spec::ProgramInput& input = program.inputs[i];
    if (input.kind != spec::InputKind::kUserInput || input.constant) continue;
    if (passed == inputs.size()) return false;
    const auto* tensor = std::get_if<HostTensor>(&inputs[passed++]);
    if (!tensor || plan.inputs[i].constant) continue;
    const auto& type = plan.values[plan.inputs[i].value.index].value.type;
    const auto made_for = type ? spec::concrete_geometry(*type) : std::nullopt;
    // Sizes may have been rounded up.
    const bool fits = made_for && made_for->sizes.size() == tensor->sizes.size() &&
                      std::equal(tensor->sizes.begin(), tensor->sizes.end(),
                                 made_for->sizes.begin(), std::less_equal<>());
    if (!fits) continue;
    if (made_for->storage_offset != tensor->storage_offset) return true;
    if (made_for->sizes != tensor->sizes) continue;
    for (std::size_t d = 0; d < tensor->sizes.size(); ++d) {
      if (tensor->sizes[d] > 1 && made_for->strides[d] != tensor->strides[d]) return true;
    }
  }
  return false;
}

}  // namespace graphgate::conformance
