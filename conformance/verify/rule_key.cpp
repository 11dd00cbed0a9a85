// V10: the key of a plan is a function of everything that alters the plan, and a plan serves only
// calls that it was made for.
#include <algorithm>
#include <map>

#include "conformance/verify/rule_families.h"
#include "spec/type_text.h"

namespace graphgate::verify {
namespace {

using spec::Finding;
using spec::HostTensor;
using spec::Plan;
using spec::PlanInput;

Finding finding_of(const char* rule, std::string message) {
  return Finding{.rule = rule, .message = std::move(message)};
}

// The entry for a symbol or an input: "s0", "symbol.s0", "input.x".
const std::pair<const std::string, std::string>* entry_of(const Plan& plan,
                                                          const std::string& name) {
  for (const auto& entry : plan.key) {
    if (entry.first == name || entry.first.ends_with("." + name)) return &entry;
  }
  return nullptr;
}

// --- One call against its plan ------------------------------------------------------------------

std::string print_geometry(const HostTensor& tensor) {
  return spec::print_tensor_type(spec::type_of(tensor));
}

// In a padded plan the listed dimension may be longer than the call's, and strides follow from it.
bool serves(const HostTensor& made_for, const HostTensor& given, std::optional<std::uint32_t> pad) {
  if (made_for.dtype != given.dtype || made_for.sizes.size() != given.sizes.size()) return false;
  for (std::size_t d = 0; d < given.sizes.size(); ++d) {
    const bool is_padded = pad && *pad == d;
    if (is_padded ? made_for.sizes[d] < given.sizes[d] : made_for.sizes[d] != given.sizes[d]) {
      return false;
    }
    if (!pad && given.sizes[d] > 1 && made_for.strides[d] != given.strides[d]) return false;
  }
  return made_for.storage_offset == given.storage_offset;
}

bool same_number(const spec::Argument& constant, const spec::InputValue& given) {
  if (const auto* integer = std::get_if<std::int64_t>(&given)) {
    if (const auto* stated = constant.as<std::int64_t>()) return *stated == *integer;
  }
  if (const auto* real = std::get_if<double>(&given)) {
    if (const auto* stated = constant.as<double>()) return *stated == *real || *real != *real;
  }
  if (const auto* flag = std::get_if<bool>(&given)) {
    if (const auto* stated = constant.as<bool>()) return *stated == *flag;
  }
  // A constant of the program, or a number of another kind: conversion is the executor's.
  return true;
}

class CallCheck {
 public:
  CallCheck(const PlanUse& use, Findings& out) : use_(use), plan_(*use.plan_case.plan), out_(out) {}

  void check() {
    std::size_t next = 0;
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
      if (!is_given(i)) continue;
      if (next == use_.inputs.size()) return;
      check_input(i, use_.inputs[next++]);
    }
    check_sharing();
    check_mode();
  }

 private:
  // Inputs that the program holds as constants are not passed. Without the program, the count of
  // what is passed tells whether constants of the plan are.
  [[nodiscard]] bool is_given(std::size_t i) const {
    if (plan_.inputs[i].kind != spec::InputKind::kUserInput) return false;
    const spec::Program* program = use_.plan_case.program;
    if (program != nullptr && i < program->inputs.size()) return !program->inputs[i].constant;
    const auto users = std::ranges::count_if(plan_.inputs, [](const PlanInput& input) {
      return input.kind == spec::InputKind::kUserInput;
    });
    return !plan_.inputs[i].constant || static_cast<std::size_t>(users) == use_.inputs.size();
  }

  void check_input(std::size_t i, const spec::InputValue& given) {
    const PlanInput& input = plan_.inputs[i];
    const auto* tensor = std::get_if<HostTensor>(&given);
    if (tensor == nullptr) {
      if (input.constant && !same_number(*input.constant, given)) {
        report("V10.other-number", "input '" + input.target +
                                       "' is another number than the one "
                                       "that the plan was made for");
      }
      return;
    }
    if (input.constant) return;
    const auto& type = plan_.values[input.value.index].value.type;
    const auto made_for = type ? spec::concrete_geometry(*type) : std::nullopt;
    if (!made_for) return;
    buffers_[tensor->storage.get()].emplace(
        plan_.values[input.value.index].buffer.value_or(spec::BufferId{}).index, input.target);
    const auto pad = plan_.padding && i < plan_.padding->input_dims.size()
                         ? plan_.padding->input_dims[i]
                         : std::nullopt;
    if (serves(*made_for, *tensor, pad)) return;
    report("V10.other-geometry", "input '" + input.target + "' is " + print_geometry(*tensor) +
                                     ", and the plan was made for " + print_geometry(*made_for));
  }

  // Inputs share a storage in the call exactly where they share a buffer in the plan.
  void check_sharing() {
    std::map<std::uint32_t, const void*> storage_of;
    for (const auto& [storage, buffers] : buffers_) {
      if (buffers.size() > 1) {
        report("V10.other-aliasing",
               "inputs '" + buffers.begin()->second + "' and '" + buffers.rbegin()->second +
                   "' share a storage, and the plan was made for separate ones");
      }
      for (const auto& [buffer, target] : buffers) {
        if (storage_of.try_emplace(buffer, storage).second) continue;
        report("V10.other-aliasing", "input '" + target +
                                         "' has a storage of its own, and the "
                                         "plan was made for one that it shares");
      }
    }
  }

  void check_mode() {
    if (use_.options.mode != spec::CallMode::kEager) return;
    for (const spec::PlanBlock& block : plan_.blocks) {
      const bool captures = std::ranges::any_of(block.partitions, [](const auto& partition) {
        return partition.captured && partition.begin_step < partition.end_step;
      });
      if (!captures) continue;
      report("V10.other-mode", "it asked to run eagerly, and the plan captures");
      return;
    }
  }

  void report(const char* rule, const std::string& what) {
    out_.push_back(finding_of(rule, "call " + std::to_string(use_.call) + " of '" + plan_.name +
                                        "': " + what + ": the key must tell the two apart"));
  }

  const PlanUse& use_;
  const Plan& plan_;
  Findings& out_;
  // By storage: the buffers of the inputs over it, with an input's name.
  std::map<const void*, std::map<std::uint32_t, std::string>> buffers_;
};

// --- Two calls ----------------------------------------------------------------------------------

// The first input that differs in what a plan is made for; empty where none does.
std::string first_difference(const PlanUse& a, const PlanUse& b) {
  for (std::size_t i = 0; i < std::min(a.inputs.size(), b.inputs.size()); ++i) {
    const auto* x = std::get_if<HostTensor>(&a.inputs[i]);
    const auto* y = std::get_if<HostTensor>(&b.inputs[i]);
    const bool same = x && y ? print_geometry(*x) == print_geometry(*y)
                             : !x && !y && a.inputs[i].index() == b.inputs[i].index();
    if (!same) return "user input " + std::to_string(i);
  }
  return "";
}

void check_pair(const PlanUse& a, const PlanUse& b, Findings& out) {
  const Plan& plan = *a.plan_case.plan;
  const Plan& other = *b.plan_case.plan;
  // A key need not tell what holds as long as a process: options and ops.
  if (a.session != b.session) return;
  if (a.program != b.program || &plan == &other) return;
  if (plan.key.empty() || plan.key != other.key || plan == other) return;
  const std::string difference = first_difference(a, b);
  out.push_back(finding_of("V10.key-too-weak",
                           "calls " + std::to_string(a.call) + " and " + std::to_string(b.call) +
                               " of '" + plan.name +
                               "' follow different plans, and the keys of both are equal" +
                               (difference.empty() ? "" : ", though " + difference + " differs") +
                               ": the key lacks what made the difference"));
}

// Whether an entry of the key says this number; other constants are not compared.
bool says(const std::string& text, const spec::Argument& constant) {
  if (const auto* integer = constant.as<std::int64_t>()) return text == std::to_string(*integer);
  if (const auto* flag = constant.as<bool>()) return text == (*flag ? "true" : "false");
  return true;
}

// Whether an input is a number that the program knows as a symbol, which is in the key as such.
bool is_keyed_symbol(const Plan& plan, const spec::Program* program, std::size_t input) {
  if (program == nullptr || input >= program->inputs.size()) return false;
  if (program->inputs[input].constant) return false;
  const spec::Value& value = program->graph.value(program->inputs[input].value);
  if (value.kind != spec::ValueKind::kSymInt || !value.expr) return false;
  return value.expr->op() == spec::SymOp::kSymbol && entry_of(plan, value.expr->name()) != nullptr;
}

}  // namespace

void check_key(const RuleCase& rule_case, Findings& out) {
  const Plan& plan = rule_case.plan();
  const auto names = [&](const auto& things, auto name_of) {
    return std::ranges::any_of(things,
                               [&](const auto& thing) { return entry_of(plan, name_of(thing)); });
  };
  const auto target_of = [](const PlanInput& input) { return input.target; };
  // A key that says nothing of sizes leaves them to Plan::symbols and to the types of inputs.
  const bool has_sizes = names(plan.symbols, [](const auto& symbol) { return symbol.first; }) ||
                         names(plan.inputs, target_of);
  if (!has_sizes) return;
  for (const auto& [symbol, size] : plan.symbols) {
    const auto* entry = entry_of(plan, symbol);
    if (entry != nullptr && entry->second == std::to_string(size)) continue;
    out.push_back(finding_of(
        "V10.key-lacks-symbol",
        "the plan is for " + symbol + " = " + std::to_string(size) +
            (entry ? ", and its key says " + entry->second : ", and its key does not say so") +
            ": a call of another size would find this plan"));
  }
  for (const PlanInput& input : plan.inputs) {
    if (input.kind != spec::InputKind::kUserInput) continue;
    if (const auto* entry = entry_of(plan, input.target)) {
      if (!input.constant || says(entry->second, *input.constant)) continue;
      out.push_back(
          finding_of("V10.key-lacks-input", "the plan is for another '" + input.target +
                                                "' than its key says (" + entry->second +
                                                "): a call with that number would find it"));
      continue;
    }
    if (input.constant && input.constant->as<spec::None>()) continue;
    if (input.constant && rule_case.plan_case.program == nullptr) continue;
    const auto place = static_cast<std::size_t>(&input - plan.inputs.data());
    const spec::Program* program = rule_case.plan_case.program;
    const bool is_own_constant = program != nullptr && place < program->inputs.size() &&
                                 program->inputs[place].constant.has_value();
    if (is_own_constant || is_keyed_symbol(plan, program, place)) continue;
    out.push_back(finding_of("V10.key-lacks-input",
                             "the key does not mention input '" + input.target +
                                 "': a call with another geometry or number would find this plan"));
  }
}

void check_keys(std::span<const PlanUse> uses, Findings& out) {
  for (const PlanUse& use : uses) CallCheck(use, out).check();
  for (std::size_t i = 0; i < uses.size(); ++i) {
    for (std::size_t k = i + 1; k < uses.size(); ++k) check_pair(uses[i], uses[k], out);
  }
}

}  // namespace graphgate::verify
