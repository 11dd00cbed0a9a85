#include "fuzz/generate/functionalized_forms.h"

#include <algorithm>

namespace graphgate::fuzz {
namespace {

using spec::Argument;
using spec::Node;
using Form = FunctionalizedForm;

constexpr std::string_view kAutoFunctionalized = "higher_order.auto_functionalized_v2";
constexpr std::string_view kIndex = "_base_index";

const Argument* find(const Node& node, const std::string& name) {
  for (const spec::NamedArgument& named : node.arguments) {
    if (named.name == name) return &named.argument;
  }
  return nullptr;
}

// The written arguments that have a base: "out" of `_out_base_index=0`.
struct Written {
  std::string prefix;
  std::size_t base = 0;
};
std::vector<Written> written_by(const Node& node) {
  std::vector<Written> out;
  for (const spec::NamedArgument& named : node.arguments) {
    const auto* index = named.argument.as<std::int64_t>();
    if (!index || *index < 0 || !named.name.ends_with(kIndex)) continue;
    out.push_back({named.name.substr(0, named.name.size() - kIndex.size()),
                   static_cast<std::size_t>(*index)});
  }
  return out;
}

Form::Place place_of(const Node& node, const std::string& prefix) {
  if (find(node, prefix + "_size")) return Form::Place::kStrided;
  if (find(node, prefix + "_slice_dim")) return Form::Place::kSlice;
  return find(node, prefix + "_alias") ? Form::Place::kAlias : Form::Place::kWhole;
}

Form::Base base_of(const Argument::List& bases, const std::vector<Written>& all,
                   const Written& one) {
  const auto shares = [&](const Written& other) {
    return other.prefix != one.prefix && other.base == one.base;
  };
  if (std::any_of(all.begin(), all.end(), shares)) return Form::Base::kShared;
  const bool is_twice = std::count(bases.begin(), bases.end(), bases[one.base]) > 1;
  return is_twice ? Form::Base::kTwice : Form::Base::kAlone;
}

}  // namespace

void add_node_names(const spec::Plan& plan, std::set<std::string, std::less<>>& names) {
  for (const spec::PlanStep& step : plan.steps) {
    names.insert(step.node.name);
    for (const Node& node : step.body) names.insert(node.name);
  }
}

std::vector<Form> functionalized_forms(const spec::Graph& graph,
                                       const std::set<std::string, std::less<>>& names) {
  std::vector<Form> out;
  for (const Node& node : graph.nodes) {
    if (node.op != kAutoFunctionalized || node.arguments.empty()) continue;
    const auto* op = node.arguments.front().argument.as<spec::OpName>();
    const Argument* const all = find(node, "_all_bases");
    const auto* bases = all ? all->as<Argument::List>() : nullptr;
    if (!op || !bases) continue;
    const std::vector<Written> written = written_by(node);
    for (const Written& one : written) {
      if (one.base >= bases->size()) continue;
      Form form{op->name, place_of(node, one.prefix), base_of(*bases, written, one), {}};
      // passes/undo_functionalization.cpp names copies so.
      const std::string copy = node.name + "_base" + std::to_string(one.base);
      if (!names.contains(node.name)) {
        form.fate = Form::Fate::kNotRun;
      } else if (names.contains(copy)) {
        form.fate = Form::Fate::kCopied;
      }
      out.push_back(form);
    }
  }
  return out;
}

}  // namespace graphgate::fuzz
