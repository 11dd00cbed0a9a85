// What changed in steps: their order, what they say of themselves, and which nodes are fused where.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "spec/plan_diff.h"
#include "spec/plan_names.h"
#include "spec/plan_text.h"

namespace graphgate::spec {
namespace {

std::string quoted(const std::string& name) { return "'" + name + "'"; }

std::string print_events(const std::vector<EventId>& ids) {
  std::string text;
  for (const EventId id : ids) text += (text.empty() ? "" : ", ") + std::to_string(id.index);
  return text;
}

std::string print_arguments(const Graph& names, const Node& node) {
  std::string text;
  for (const NamedArgument& named : node.arguments) {
    text += text.empty() ? "" : ", ";
    if (!named.name.empty()) text += print_name(named.name) + "=";
    print_argument(names, named.argument, text);
  }
  return text;
}

std::string print_results(const Graph& names, const Node& node) {
  std::string text;
  for (const NodeResult& result : node.results) {
    std::string list;
    for (const ValueId id : result.values) {
      list += (list.empty() ? "" : ", ") + print_sigil_name('%', names.value(id).name);
    }
    text += (text.empty() ? "" : ", ") + (result.is_list ? "(" + list + ")" : list);
  }
  return text;
}

std::vector<std::string> names_of(const std::vector<PlanStep>& steps) {
  std::vector<std::string> names;
  names.reserve(steps.size());
  for (const PlanStep& step : steps) names.push_back(step.node.name);
  return names;
}

std::vector<std::string> names_of(const std::vector<Node>& nodes) {
  std::vector<std::string> names;
  names.reserve(nodes.size());
  for (const Node& node : nodes) names.push_back(node.name);
  return names;
}

// The fused step that a node is in, by the node's name.
std::unordered_map<std::string_view, const PlanStep*> hosts_of(const Plan& plan) {
  std::unordered_map<std::string_view, const PlanStep*> hosts;
  for (const PlanStep& step : plan.steps) {
    for (const Node& node : step.body) hosts.emplace(node.name, &step);
  }
  return hosts;
}

class StepDiffer {
 public:
  StepDiffer(const Plan& before, const Plan& after, std::vector<std::string>& sentences)
      : before_(before),
        after_(after),
        names_before_(plan_names(before)),
        names_after_(plan_names(after)),
        hosts_before_(hosts_of(before)),
        hosts_after_(hosts_of(after)),
        sentences_(sentences) {}

  void diff() {
    const ItemMatch found = match_items(names_of(before_.steps), names_of(after_.steps));
    for (std::size_t i = 0; i < before_.steps.size(); ++i) {
      if (!found.to_after[i]) say_gone(before_.steps[i].node.name);
    }
    for (std::size_t i = 0; i < after_.steps.size(); ++i) {
      if (!found.to_before[i]) say_new(after_.steps[i].node.name);
    }
    for (const std::size_t i : moved_items(found)) {
      const std::size_t now = *found.to_after[i];
      say("step " + quoted(before_.steps[i].node.name) + ": runs " + position(after_, now) +
          " now, and ran " + position(before_, i) + " before");
    }
    for (std::size_t i = 0; i < before_.steps.size(); ++i) {
      if (found.to_after[i]) diff_step(before_.steps[i], after_.steps[*found.to_after[i]]);
    }
    diff_partitions(before_, after_, found, sentences_);
  }

 private:
  void say(std::string sentence) { sentences_.push_back(std::move(sentence)); }

  void say_change(const std::string& subject, const std::string& what, const std::string& before,
                  const std::string& after) {
    if (before == after) return;
    say(subject + ": " + what + " changed from " + (before.empty() ? "none" : before) + " to " +
        (after.empty() ? "none" : after));
  }

  void say_gone(const std::string& name) {
    const auto host = hosts_after_.find(name);
    say("step " + quoted(name) +
        (host == hosts_after_.end()
             ? ": is gone"
             : ": is fused into " + quoted(host->second->node.name) + " now"));
  }

  void say_new(const std::string& name) {
    const auto host = hosts_before_.find(name);
    say("step " + quoted(name) +
        (host == hosts_before_.end() ? ": is new"
                                     : ": stands alone now, and was fused into " +
                                           quoted(host->second->node.name) + " before"));
  }

  static std::string position(const Plan& plan, std::size_t step) {
    return step == 0 ? "first" : "after " + quoted(plan.steps[step - 1].node.name);
  }

  static std::string buffer_name(const Plan& plan, const std::optional<BufferId>& id) {
    return id ? name_of(plan.buffers[id->index]) : "";
  }

  void diff_step(const PlanStep& old, const PlanStep& now) {
    const std::string subject = "step " + quoted(old.node.name);
    diff_node(subject, old.node, now.node);
    diff_bodies(subject, old.body, now.body);
    say_change(subject, "the workspace", buffer_name(before_, old.workspace),
               buffer_name(after_, now.workspace));
    say_change(subject, "the stream", std::to_string(old.stream), std::to_string(now.stream));
    say_change(subject, "the events waited for", print_events(old.waits), print_events(now.waits));
    say_change(subject, "the events recorded", print_events(old.records),
               print_events(now.records));
  }

  void diff_node(const std::string& subject, const Node& old, const Node& now) {
    say_change(subject, "the op", old.op, now.op);
    say_change(subject, "the arguments", print_arguments(names_before_, old),
               print_arguments(names_after_, now));
    say_change(subject, "the results", print_results(names_before_, old),
               print_results(names_after_, now));
  }

  // Nodes that were steps of their own have their sentence; others come or go here.
  void diff_bodies(const std::string& subject, const std::vector<Node>& old,
                   const std::vector<Node>& now) {
    const ItemMatch found = match_items(names_of(old), names_of(now));
    std::vector<std::string> left;
    std::vector<std::string> joined;
    for (std::size_t i = 0; i < old.size(); ++i) {
      if (!found.to_after[i]) left.push_back(quoted(old[i].name));
    }
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (!found.to_before[i]) joined.push_back(quoted(now[i].name));
    }
    if (!left.empty()) say(subject + ": " + print_some(left) + " left its body");
    if (!joined.empty()) say(subject + ": " + print_some(joined) + " joined its body");
    for (const std::size_t i : moved_items(found)) {
      say(subject + ": " + quoted(old[i].name) + " stands at another place in its body");
    }
    for (std::size_t i = 0; i < old.size(); ++i) {
      if (!found.to_after[i]) continue;
      diff_node(subject + ", node " + quoted(old[i].name), old[i], now[*found.to_after[i]]);
    }
  }

  const Plan& before_;
  const Plan& after_;
  Graph names_before_;
  Graph names_after_;
  std::unordered_map<std::string_view, const PlanStep*> hosts_before_;
  std::unordered_map<std::string_view, const PlanStep*> hosts_after_;
  std::vector<std::string>& sentences_;
};

}  // namespace

void diff_steps(const Plan& before, const Plan& after, std::vector<std::string>& sentences) {
  StepDiffer(before, after, sentences).diff();
}

}  // namespace graphgate::spec
