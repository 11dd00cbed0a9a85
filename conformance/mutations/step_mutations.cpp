// Mutations of steps: which there are, in which order, what they read, and their scratch bytes.
#include <algorithm>

#include "conformance/mutations/mutation_sites.h"
#include "spec/op_table.h"

namespace graphgate::conformance {
namespace {

using spec::Argument;
using spec::BufferId;
using spec::Node;
using spec::Plan;
using spec::PlanPartition;
using spec::PlanStep;
using spec::PoolKind;
using spec::ValueId;

// --- Which steps there are, and in which order --------------------------------------------------

// Step `at` goes (-1), or another comes in there (+1): the ranges of partitions follow.
void shift_partitions(Plan& plan, std::uint32_t at, int by) {
  for (spec::PlanBlock& block : plan.blocks) {
    for (PlanPartition& partition : block.partitions) {
      if (partition.begin_step > at) {
        partition.begin_step =
            static_cast<std::uint32_t>(static_cast<std::int64_t>(partition.begin_step) + by);
      }
      if (partition.end_step > at) {
        partition.end_step =
            static_cast<std::uint32_t>(static_cast<std::int64_t>(partition.end_step) + by);
      }
    }
  }
}

Sites dropped_steps(const Plan& plan) {
  Sites sites;
  for (std::uint32_t i = 0; i < plan.steps.size(); ++i) {
    if (runs_blocks(plan.steps[i]) || written_buffers(plan, plan.steps[i]).empty()) continue;
    sites.emplace_back([i](Plan& p) {
      p.steps.erase(p.steps.begin() + i);
      shift_partitions(p, i, -1);
    });
  }
  return sites;
}

// A result that is an operand too.
bool updates_in_place(const Node& node) {
  bool found = false;
  spec::for_each_operand(node, [&](ValueId operand) {
    for (const spec::NodeResult& result : node.results) {
      found = found || std::ranges::count(result.values, operand) > 0;
    }
  });
  return found;
}

Sites repeated_steps(const Plan& plan) {
  Sites sites;
  for (std::uint32_t i = 0; i < plan.steps.size(); ++i) {
    if (!updates_in_place(plan.steps[i].node) || !plan.steps[i].body.empty()) continue;
    sites.emplace_back([i](Plan& p) {
      PlanStep copy = p.steps[i];
      copy.waits.clear();
      copy.records.clear();
      p.steps.insert(p.steps.begin() + i, std::move(copy));
      shift_partitions(p, i, 1);
    });
  }
  return sites;
}

// A step goes before an earlier one of its partition that writes what it touches, or touches what
// it writes.
Sites exchanged_steps(const Plan& plan) {
  constexpr std::uint32_t kFarthest = 6;
  Sites sites;
  for (const spec::PlanBlock& block : plan.blocks) {
    for (const PlanPartition& partition : block.partitions) {
      for (std::uint32_t late = partition.begin_step; late < partition.end_step; ++late) {
        const std::uint32_t room = std::min(late - partition.begin_step, kFarthest);
        for (std::uint32_t early = late - room; early < late; ++early) {
          if (runs_blocks(plan.steps[early]) || runs_blocks(plan.steps[late])) continue;
          if (!may_conflict(plan, plan.steps[early], plan.steps[late])) continue;
          sites.emplace_back([early, late](Plan& p) {
            std::rotate(p.steps.begin() + early, p.steps.begin() + late,
                        p.steps.begin() + late + 1);
          });
        }
      }
    }
  }
  return sites;
}

// --- What they run ------------------------------------------------------------------------------

void retarget(Argument& argument, ValueId from, ValueId to) {
  if (const auto* id = argument.as<ValueId>(); id && *id == from) argument = Argument{to};
  if (auto* list = std::get_if<Argument::List>(&argument.value)) {
    for (Argument& element : *list) retarget(element, from, to);
  }
}

Sites retargeted_operands(const Plan& plan) {
  Sites sites;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    if (!step.body.empty() || updates_in_place(step.node)) continue;
    spec::for_each_operand(step.node, [&](ValueId from) {
      for (std::uint32_t to = 0; to < plan.values.size(); ++to) {
        if (!same_type(plan.values[from.index], plan.values[to])) continue;
        if (plan.values[from.index].buffer == plan.values[to].buffer) continue;
        sites.emplace_back([i, from, to](Plan& p) {
          for (auto& named : p.steps[i].node.arguments) {
            retarget(named.argument, from, ValueId{to});
          }
        });
      }
    });
  }
  return sites;
}

Node& node_at(Plan& plan, std::size_t step, std::size_t index) {
  PlanStep& found = plan.steps[step];
  return found.body.empty() ? found.node : found.body[index];
}

// Numbers among the arguments: a scale, a dimension, an epsilon.
Sites changed_attributes(const Plan& plan) {
  Sites sites;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const auto nodes = nodes_of(plan.steps[s]);
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      for (std::size_t a = 0; a < nodes[n].arguments.size(); ++a) {
        const Argument& argument = nodes[n].arguments[a].argument;
        if (!argument.as<double>() && !argument.as<std::int64_t>()) continue;
        sites.emplace_back([s, n, a](Plan& p) {
          auto& value = node_at(p, s, n).arguments[a].argument.value;
          if (auto* real = std::get_if<double>(&value)) *real = *real * 2 + 1;
          if (auto* integer = std::get_if<std::int64_t>(&value)) *integer += 1;
        });
      }
    }
  }
  return sites;
}

// Another op that takes and gives the same, by its schema.
std::string twin_of(const std::string& op) {
  const spec::OpTable& ops = spec::builtin_op_table();
  const spec::OpRow* row = ops.find(op);
  if (!row) return op;
  for (const auto& [name, other] : ops.rows()) {
    const bool is_same = other->schema.ns == row->schema.ns && other->tags == row->tags &&
                         other->schema.arguments == row->schema.arguments &&
                         other->schema.returns == row->schema.returns;
    if (is_same && name != op) return name;
  }
  return op;
}

Sites replaced_ops(const Plan& plan) {
  Sites sites;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    for (std::size_t n = 0; n < nodes_of(plan.steps[s]).size(); ++n) {
      sites.emplace_back([s, n](Plan& p) {
        Node& node = node_at(p, s, n);
        node.op = twin_of(node.op);
      });
    }
  }
  return sites;
}

bool mentions(const std::vector<Node>& body, ValueId id, bool as_result) {
  bool found = false;
  for (const Node& node : body) {
    spec::for_each_operand(node,
                           [&](ValueId read) { found = found || (!as_result && read == id); });
    for (const spec::NodeResult& result : node.results) {
      found = found || (as_result && std::ranges::count(result.values, id) > 0);
    }
  }
  return found;
}

// Whether it stands for what the program calls so: nodes that others were taken apart into make
// parts, and fused ones with several results make what other nodes do.
bool is_known_operand(const Plan& plan, ValueId id) {
  if (plan.values[id.index].value.name.find("_part") != std::string::npos) return false;
  return std::ranges::all_of(plan.steps, [&](const PlanStep& step) {
    return std::ranges::all_of(nodes_of(step), [&](const Node& node) {
      return node.results.size() < 2 || !mentions({node}, id, true);
    });
  });
}

// A function of as many floats, in place where the op is; none where the node is given anything
// else.
std::optional<std::string> other_function(const Plan& plan, const Node& node) {
  const spec::OpRow* row = spec::builtin_op_table().find(node.op);
  if (row == nullptr || row->schema.ns != "aten" || !row->has_tag("pointwise")) return std::nullopt;
  if (row->effects.mutates() && !row->effects.is_in_place) return std::nullopt;
  constexpr std::string_view kNames[] = {"self", "other"};
  if (node.arguments.empty() || node.arguments.size() > 2) return std::nullopt;
  for (std::size_t a = 0; a < node.arguments.size(); ++a) {
    const auto* id = node.arguments[a].argument.as<ValueId>();
    if (id == nullptr || node.arguments[a].name != kNames[a]) return std::nullopt;
    const auto& type = plan.values[id->index].value.type;
    if (!type || !spec::is_floating_point(type->dtype) || !is_known_operand(plan, *id)) {
      return std::nullopt;
    }
  }
  const std::string family = row->schema.base_name();
  const std::string end = row->effects.is_in_place ? "_.default" : ".default";
  if (node.arguments.size() == 1) return (family == "sin" ? "aten.exp" : "aten.sin") + end;
  return (family == "hypot" ? "aten.atan2" : "aten.hypot") + end;
}

Sites exchanged_functions(const Plan& plan) {
  Sites sites;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const auto nodes = nodes_of(plan.steps[s]);
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      const auto other = other_function(plan, nodes[n]);
      if (!other || nodes[n].name.find("_part") != std::string::npos) continue;
      sites.emplace_back([s, n, other](Plan& p) { node_at(p, s, n).op = *other; });
    }
  }
  return sites;
}

// Each arm of a conditional runs where the other should.
Sites exchanged_arms(const Plan& plan) {
  Sites sites;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (!runs_blocks(plan.steps[i])) continue;
    sites.emplace_back([i](Plan& p) {
      std::vector<Argument*> arms;
      for (auto& named : p.steps[i].node.arguments) {
        if (named.argument.as<spec::SubgraphId>()) arms.push_back(&named.argument);
      }
      if (arms.size() == 2) std::swap(arms[0]->value, arms[1]->value);
    });
  }
  return sites;
}

// Updates in a body, which other nodes of it do not need to be there. What the step says of its
// body follows.
Sites dropped_body_nodes(const Plan& plan) {
  Sites sites;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    for (std::size_t n = 0; n < plan.steps[s].body.size(); ++n) {
      sites.emplace_back([s, n](Plan& p) {
        PlanStep& step = p.steps[s];
        erase_at(step.body, n);
        std::erase_if(step.node.arguments, [&](const spec::NamedArgument& named) {
          return !mentions(step.body, *named.argument.as<ValueId>(), false);
        });
        std::erase_if(step.node.results, [&](const spec::NodeResult& result) {
          return !mentions(step.body, result.values.front(), true);
        });
      });
    }
  }
  return sites;
}

Sites exchanged_body_nodes(const Plan& plan) {
  Sites sites;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    for (std::size_t n = 1; n < plan.steps[s].body.size(); ++n) {
      PlanStep first;
      PlanStep second;
      first.body = {plan.steps[s].body[n - 1]};
      second.body = {plan.steps[s].body[n]};
      if (!may_conflict(plan, first, second)) continue;
      sites.emplace_back(
          [s, n](Plan& p) { std::swap(p.steps[s].body[n - 1], p.steps[s].body[n]); });
    }
  }
  return sites;
}

// --- Where they touch memory --------------------------------------------------------------------

// What is read where it is written, as a node says in its positions, is read one element further.
Sites moved_positions(const Plan& plan) {
  constexpr std::string_view kReads = " reads ";
  Sites sites;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const auto nodes = nodes_of(plan.steps[s]);
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      for (std::size_t a = 0; a < nodes[n].arguments.size(); ++a) {
        const spec::NamedArgument& named = nodes[n].arguments[a];
        const auto* list = named.argument.as<Argument::List>();
        if (named.name != "positions" || list == nullptr) continue;
        for (std::size_t i = 0; i < list->size(); ++i) {
          const auto* text = (*list)[i].as<std::string>();
          const std::size_t at = text != nullptr ? text->find(kReads) : std::string::npos;
          if (at == std::string::npos) continue;
          const std::string index = text->substr(at + kReads.size());
          const std::string write = text->substr(0, at) + " writes " + index;
          if (std::ranges::find(*list, Argument{write}) == list->end()) continue;
          const std::string moved = text->substr(0, at) + " reads 1 + (" + index + ")";
          sites.emplace_back([s, n, a, i, moved](Plan& p) {
            PlanStep& step = p.steps[s];
            Node& node = step.body.empty() ? step.node : step.body[n];
            std::get<Argument::List>(node.arguments[a].argument.value)[i] = Argument{moved};
          });
        }
      }
    }
  }
  return sites;
}

// --- Scratch bytes ------------------------------------------------------------------------------

template <bool over_operands>
Sites workspaces(const Plan& plan) {
  const PlanTimes times(plan);
  Sites sites;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const auto touched = touched_buffers(plan, plan.steps[s]);
    const std::uint32_t at = times.position(s);
    for (const auto b : used_buffers(plan, times, PoolKind::kArena)) {
      const bool is_own = std::ranges::count(touched, b) > 0;
      if (is_own != over_operands || touched.empty()) continue;
      if (!is_own && (times.use(b)->first_step >= at || times.use(b)->last_step <= at)) continue;
      if (runs_blocks(plan.steps[s])) continue;
      sites.emplace_back(
          [s, b](Plan& p) { p.steps[s].workspace = BufferId{static_cast<std::uint32_t>(b)}; });
    }
  }
  return sites;
}

constexpr MutationRow kRows[] = {
    {{"step-dropped", "Plan::steps", "a step that writes something is missing", true, "verifier"},
     dropped_steps},
    {{"step-repeated", "Plan::steps", "an update in place happens twice", true, "provenance"},
     repeated_steps},
    {{"steps-exchanged", "Plan::steps", "a step goes before one that it must follow", true,
      "verifier"},
     exchanged_steps},
    {{"operand-retargeted", "PlanStep::node", "a step reads another tensor of the same type", true,
      "verifier"},
     retargeted_operands},
    {{"attribute-changed", "PlanStep::node", "a number among a node's arguments is another", true,
      "provenance"},
     changed_attributes},
    {{"op-replaced", "PlanStep::node", "a node is another op of the same schema", true,
      "provenance"},
     replaced_ops},
    {{"function-exchanged", "PlanStep::node", "a node computes another function of its operands",
      true, "verifier"},
     exchanged_functions},
    {{"arms-exchanged", "PlanStep::node", "the arms of a conditional change places", true,
      "provenance"},
     exchanged_arms},
    {{"body-node-dropped", "PlanStep::body", "an update inside a fused step is missing", true,
      "verifier"},
     dropped_body_nodes},
    {{"body-nodes-exchanged", "PlanStep::body",
      "a node of a fused step goes before one that it must follow", true, "verifier"},
     exchanged_body_nodes},
    {{"position-moved", "PlanStep::node",
      "an element that is updated in place is read one element further", true, "verifier"},
     moved_positions},
    {{"workspace-over-live", "PlanStep::workspace",
      "scratch bytes of a step lie over a tensor that a later step reads", true, "verifier"},
     workspaces<false>},
    {{"workspace-over-operand", "PlanStep::workspace",
      "scratch bytes of a step lie over what it reads or makes", true, "verifier"},
     workspaces<true>},
};

}  // namespace

std::span<const MutationRow> step_mutations() { return kRows; }

}  // namespace graphgate::conformance
