// Mutations of what a plan says of calls: inputs, outputs and their lifetimes, symbols, key,
// padding.
#include <algorithm>

#include "conformance/mutations/mutation_sites.h"

namespace graphgate::conformance {
namespace {

using spec::Argument;
using spec::OutputLifetime;
using spec::Plan;
using spec::PlanInput;
using spec::ValueId;

// --- Inputs -------------------------------------------------------------------------------------

Sites swapped_inputs(const Plan& plan) {
  Sites sites;
  for (std::size_t a = 0; a < plan.inputs.size(); ++a) {
    for (std::size_t b = a + 1; b < plan.inputs.size(); ++b) {
      const PlanInput& first = plan.inputs[a];
      const PlanInput& second = plan.inputs[b];
      if (first.constant || second.constant || first.kind != second.kind) continue;
      if (!same_type(plan.values[first.value.index], plan.values[second.value.index])) continue;
      sites.emplace_back([a, b](Plan& p) { std::swap(p.inputs[a].value, p.inputs[b].value); });
    }
  }
  return sites;
}

Sites dropped_final_values(const Plan& plan) {
  Sites sites;
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    sites.emplace_back([i](Plan& p) { p.inputs[i].final_value.reset(); });
  }
  return sites;
}

Sites changed_numbers(const Plan& plan) {
  Sites sites;
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    if (!plan.inputs[i].constant) continue;
    sites.emplace_back([i](Plan& p) {
      auto& value = p.inputs[i].constant->value;
      if (auto* integer = std::get_if<std::int64_t>(&value)) *integer += 1;
      if (auto* real = std::get_if<double>(&value)) *real = *real * 2 + 1;
      if (auto* flag = std::get_if<bool>(&value)) *flag = !*flag;
    });
  }
  return sites;
}

// --- Outputs ------------------------------------------------------------------------------------

Sites swapped_outputs(const Plan& plan) {
  Sites sites;
  for (std::size_t a = 0; a < plan.outputs.size(); ++a) {
    for (std::size_t b = a + 1; b < plan.outputs.size(); ++b) {
      if (plan.outputs[a] == plan.outputs[b]) continue;
      sites.emplace_back([a, b](Plan& p) { std::swap(p.outputs[a], p.outputs[b]); });
    }
  }
  return sites;
}

Sites retargeted_outputs(const Plan& plan) {
  Sites sites;
  for (std::size_t k = 0; k < plan.outputs.size(); ++k) {
    const auto* id = plan.outputs[k].as<ValueId>();
    for (std::uint32_t to = 0; id && to < plan.values.size(); ++to) {
      if (!same_type(plan.values[id->index], plan.values[to])) continue;
      if (plan.values[id->index].buffer == plan.values[to].buffer) continue;
      sites.emplace_back([k, to](Plan& p) { p.outputs[k] = Argument{ValueId{to}}; });
    }
  }
  return sites;
}

Sites dropped_outputs(const Plan& plan) {
  Sites sites;
  for (std::size_t k = 0; k < plan.outputs.size(); ++k) {
    sites.emplace_back([k](Plan& p) {
      erase_at(p.outputs, k);
      if (!p.output_lifetimes.empty()) erase_at(p.output_lifetimes, k);
      if (p.padding) erase_at(p.padding->output_dims, k);
    });
  }
  return sites;
}

// What lies outside of the arenas is called weak: state, an input, a result of the heap.
Sites weakened_outputs(const Plan& plan) {
  Sites sites;
  for (std::size_t k = 0; k < plan.outputs.size(); ++k) {
    const auto* id = plan.outputs[k].as<ValueId>();
    const auto buffer = id ? plan.values[id->index].buffer : std::nullopt;
    const bool is_in_arena =
        buffer && plan.pools[plan.buffers[buffer->index].pool.index].kind == spec::PoolKind::kArena;
    if (is_in_arena) continue;
    sites.emplace_back([k](Plan& p) {
      p.output_lifetimes.resize(p.outputs.size(), OutputLifetime::kStrong);
      p.output_lifetimes[k] = OutputLifetime::kWeak;
    });
  }
  return sites;
}

Sites missing_lifetimes(const Plan& plan) {
  Sites sites;
  if (plan.outputs.size() < 2) return sites;
  sites.emplace_back([](Plan& p) { p.output_lifetimes.assign(1, OutputLifetime::kWeak); });
  return sites;
}

// --- Sizes and keys -----------------------------------------------------------------------------

Sites changed_symbols(const Plan& plan) {
  Sites sites;
  for (const auto& [name, size] : plan.symbols) {
    sites.emplace_back([name = name](Plan& p) {
      p.symbols[name] += 1;
      p.padding.reset();
    });
  }
  return sites;
}

Sites dropped_key_entries(const Plan& plan) {
  // One that says nothing at all of sizes would leave them to the plan's symbols.
  const auto is_size = [](const auto& entry) {
    return entry.first.starts_with("symbol.") || entry.first.starts_with("input.") ||
           entry.first.starts_with("number.");
  };
  Sites sites;
  if (std::ranges::count_if(plan.key, is_size) < 2) return sites;
  for (const auto& entry : plan.key) {
    if (!is_size(entry)) continue;
    const std::string& name = entry.first;
    sites.emplace_back([name](Plan& p) { p.key.erase(name); });
  }
  return sites;
}

Sites changed_key_entries(const Plan& plan) {
  Sites sites;
  for (const auto& [name, value] : plan.key) {
    if (!name.starts_with("symbol.")) continue;
    sites.emplace_back([name = name](Plan& p) { p.key[name] += '0'; });
  }
  return sites;
}

Sites fewer_events(const Plan& plan) {
  Sites sites;
  if (plan.event_count == 0) return sites;
  sites.emplace_back([](Plan& p) { --p.event_count; });
  return sites;
}

// --- Padding ------------------------------------------------------------------------------------

// Of inputs or outputs.
template <auto Dims>
Sites dropped_dims(const Plan& plan) {
  Sites sites;
  for (std::size_t i = 0; plan.padding && i < ((*plan.padding).*Dims).size(); ++i) {
    sites.emplace_back([i](Plan& p) { ((*p.padding).*Dims)[i].reset(); });
  }
  return sites;
}

Sites other_padded_symbols(const Plan& plan) {
  Sites sites;
  if (!plan.padding) return sites;
  sites.emplace_back([](Plan& p) { p.padding->symbol = "s_none"; });
  return sites;
}

constexpr MutationRow kRows[] = {
    {{"inputs-swapped", "PlanInput::value", "two inputs of the same type lie in each other's slot",
      true, "verifier"},
     swapped_inputs},
    {{"final-value-dropped", "PlanInput::final_value",
      "an input whose geometry changes is left with the old one", true, "bounds"},
     dropped_final_values},
    {{"input-number-changed", "PlanInput::constant", "the plan is for another number", true,
      "verifier"},
     changed_numbers},
    {{"outputs-swapped", "Plan::outputs", "two outputs change places", true, "verifier"},
     swapped_outputs},
    {{"output-retargeted", "Plan::outputs", "another tensor of the same type is returned", true,
      "verifier"},
     retargeted_outputs},
    {{"output-dropped", "Plan::outputs", "an output is missing", true, "verifier"},
     dropped_outputs},
    {{"output-weakened", "Plan::output_lifetimes",
      "an output that lies in no arena is said to go with the next run", true, "verifier"},
     weakened_outputs},
    {{"lifetimes-too-few", "Plan::output_lifetimes", "not every output has a lifetime", false,
      "check_plan"},
     missing_lifetimes},
    {{"symbol-changed", "Plan::symbols", "the plan is said to be for another size", true,
      "verifier"},
     changed_symbols},
    {{"key-entry-dropped", "Plan::key", "the key lacks a symbol or an input", true, "verifier"},
     dropped_key_entries},
    {{"key-entry-changed", "Plan::key", "the key has another size than the plan", true, "verifier"},
     changed_key_entries},
    {{"event-count-cut", "Plan::event_count", "there are fewer events than steps use", false,
      "check_plan"},
     fewer_events},
    {{"padded-input-dim-dropped", "PlanPadding::input_dims",
      "an input that grows with the padded symbol is not padded", true, "verifier"},
     dropped_dims<&spec::PlanPadding::input_dims>},
    {{"padded-output-dim-dropped", "PlanPadding::output_dims",
      "an output that grows with the padded symbol is not cut", true, "verifier"},
     dropped_dims<&spec::PlanPadding::output_dims>},
    {{"padded-symbol-unknown", "PlanPadding::symbol", "the padded symbol is none of the plan's",
      false, "check_plan"},
     other_padded_symbols},
};

}  // namespace

std::span<const MutationRow> claim_mutations() { return kRows; }

}  // namespace graphgate::conformance
