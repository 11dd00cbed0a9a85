#include "spec/plan_diff.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "spec/node_text.h"
#include "spec/plan_names.h"
#include "spec/plan_text.h"

namespace graphgate::spec {
namespace {

// NaN differs from itself: for the comparison of plans a text takes its place.
void replace_nan(Argument& argument) {
  const auto* number = argument.as<double>();
  if (number != nullptr && std::isnan(*number)) argument.value = OpName{"nan"};
  if (auto* list = std::get_if<Argument::List>(&argument.value)) {
    for (Argument& element : *list) replace_nan(element);
  }
}

Plan comparable(const Plan& plan) {
  Plan copy = number_plan(plan);
  for (PlanStep& step : copy.steps) {
    for (NamedArgument& named : step.node.arguments) replace_nan(named.argument);
    for (Node& node : step.body) {
      for (NamedArgument& named : node.arguments) replace_nan(named.argument);
    }
  }
  for (PlanInput& input : copy.inputs) {
    if (input.constant) replace_nan(*input.constant);
  }
  for (PlanBlock& block : copy.blocks) {
    for (Argument& output : block.outputs) replace_nan(output);
  }
  for (Argument& output : copy.outputs) replace_nan(output);
  return copy;
}

std::string place_of(const Plan& plan, const PlanBuffer& buffer) {
  const PlanPool& pool = plan.pools[buffer.pool.index];
  if (pool.kind == PoolKind::kHeap) return name_of(pool);
  return name_of(pool) + " [" + std::to_string(buffer.offset_bytes) + ", " +
         std::to_string(buffer.offset_bytes + buffer.size_bytes) + ")";
}

// Finds the buffers that share bytes with one.
class ByteIndex {
 public:
  explicit ByteIndex(const Plan& plan) : plan_(plan), pools_(plan.pools.size()) {
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
      const PlanBuffer& buffer = plan.buffers[i];
      if (buffer.size_bytes > 0) pools_[buffer.pool.index].push_back(Entry{i, 0});
    }
    for (auto& entries : pools_) {
      std::sort(entries.begin(), entries.end(),
                [&](const Entry& a, const Entry& b) { return begin_of(a) < begin_of(b); });
      std::int64_t reach = 0;
      for (Entry& entry : entries) entry.reach = reach = std::max(reach, end_of(entry));
    }
  }

  // Their names, sorted.
  [[nodiscard]] std::set<std::string> partners(std::size_t index) const {
    const PlanBuffer& buffer = plan_.buffers[index];
    std::set<std::string> names;
    const auto& entries = pools_[buffer.pool.index];
    const std::int64_t end = buffer.offset_bytes + buffer.size_bytes;
    auto entry = std::partition_point(entries.begin(), entries.end(),
                                      [&](const Entry& other) { return begin_of(other) < end; });
    while (entry != entries.begin() && std::prev(entry)->reach > buffer.offset_bytes) {
      --entry;
      const bool shares = buffer.size_bytes > 0 && end_of(*entry) > buffer.offset_bytes;
      if (shares && entry->index != index) names.insert(plan_.buffers[entry->index].name);
    }
    return names;
  }

 private:
  struct Entry {
    std::size_t index;   // of the buffer
    std::int64_t reach;  // the largest end of it and all entries before
  };
  std::int64_t begin_of(const Entry& entry) const {
    return plan_.buffers[entry.index].offset_bytes;
  }
  std::int64_t end_of(const Entry& entry) const {
    return begin_of(entry) + plan_.buffers[entry.index].size_bytes;
  }

  const Plan& plan_;
  std::vector<std::vector<Entry>> pools_;  // by begin
};

class Differ {
 public:
  Differ(Plan before, Plan after)
      : before_(std::move(before)),
        after_(std::move(after)),
        names_before_(plan_names(before_)),
        names_after_(plan_names(after_)) {}

  std::vector<std::string> diff() {
    diff_head();
    diff_pools();
    diff_buffers();
    diff_values();
    diff_inputs();
    diff_blocks();
    spec::diff_steps(before_, after_, sentences_);
    diff_padding();
    diff_arguments("the program", before_.outputs, after_.outputs);
    return std::move(sentences_);
  }

 private:
  void say(std::string sentence) { sentences_.push_back(std::move(sentence)); }

  // "SUBJECT: WHAT changed from A to B" if they differ.
  void say_change(const std::string& subject, const std::string& what, const std::string& before,
                  const std::string& after) {
    if (before == after) return;
    say(subject + ": " + what + " changed from " + (before.empty() ? "none" : before) + " to " +
        (after.empty() ? "none" : after));
  }

  // Says what only one plan has; returns the match of the rest.
  template <class Things, class KeyOf>
  ItemMatch match(const std::string& kind, const Things& before, const Things& after,
                  KeyOf key_of) {
    std::vector<std::string> keys_before;
    std::vector<std::string> keys_after;
    keys_before.reserve(before.size());
    keys_after.reserve(after.size());
    for (const auto& thing : before) keys_before.push_back(key_of(thing));
    for (const auto& thing : after) keys_after.push_back(key_of(thing));
    ItemMatch found = match_items(keys_before, keys_after);
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (!found.to_after[i]) say(kind + " " + keys_before[i] + ": is gone");
    }
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (!found.to_before[i]) say(kind + " " + keys_after[i] + ": is new");
    }
    return found;
  }

  void say_order(const std::string& kind, const ItemMatch& found) {
    if (!moved_items(found).empty()) say("the " + kind + "s stand in another order");
  }

  void diff_head() {
    say_change("the plan", "the program's name", "'" + before_.name + "'", "'" + after_.name + "'");
    say_change("the plan", "arithmetic", before_.arithmetic, after_.arithmetic);
    say_change("the plan", "the number of events", std::to_string(before_.event_count),
               std::to_string(after_.event_count));
    const auto number = [](std::int64_t size) { return std::to_string(size); };
    diff_table("key ", "the value", before_.key, after_.key, quote_string);
    diff_table("symbol ", "the size", before_.symbols, after_.symbols, number);
  }

  // Entries of a map, each by its name.
  template <class Map, class Print>
  void diff_table(const std::string& kind, const std::string& what, const Map& before,
                  const Map& after, Print print_value) {
    for (const auto& [name, value] : before) {
      const auto found = after.find(name);
      if (found == after.end()) {
        say(kind + print_name(name) + ": is gone");
      } else {
        say_change(kind + print_name(name), what, print_value(value), print_value(found->second));
      }
    }
    for (const auto& [name, value] : after) {
      if (!before.contains(name)) say(kind + print_name(name) + ": is new, " + print_value(value));
    }
  }

  void diff_pools() {
    const auto key = [](const PlanPool& pool) { return name_of(pool); };
    const ItemMatch found = match("pool", before_.pools, after_.pools, key);
    say_order("pool", found);
    for (std::size_t i = 0; i < before_.pools.size(); ++i) {
      if (!found.to_after[i]) continue;
      const PlanPool& old = before_.pools[i];
      const PlanPool& now = after_.pools[*found.to_after[i]];
      const std::string subject = "pool " + name_of(old);
      if (old.size_bytes != now.size_bytes) {
        const std::int64_t change = now.size_bytes - old.size_bytes;
        say(subject + ": " + std::to_string(old.size_bytes) + " bytes became " +
            std::to_string(now.size_bytes) + " bytes (" + (change > 0 ? "+" : "") +
            std::to_string(change) + ")");
      }
      say_change(subject, "the kind", std::string(pool_kind_name(old.kind)),
                 std::string(pool_kind_name(now.kind)));
      say_change(subject, "the device", print_device(old.device), print_device(now.device));
      say_change(subject, "the alignment", std::to_string(old.alignment_bytes),
                 std::to_string(now.alignment_bytes));
    }
  }

  void diff_buffers() {
    const auto key = [](const PlanBuffer& buffer) { return name_of(buffer); };
    const ItemMatch found = match("buffer", before_.buffers, after_.buffers, key);
    say_order("buffer", found);
    const ByteIndex bytes_before(before_);
    const ByteIndex bytes_after(after_);
    std::set<std::pair<std::string, std::string>> said;
    for (std::size_t i = 0; i < after_.buffers.size(); ++i) {
      const auto old = found.to_before[i];
      const std::string place = place_of(after_, after_.buffers[i]);
      const std::string old_place = old ? place_of(before_, before_.buffers[*old]) : "";
      if (old && old_place == place) continue;
      const std::string& name = after_.buffers[i].name;
      const std::string subject = "buffer " + name_of(after_.buffers[i]) + ": ";
      if (old)
        say(std::string(subject).append("moved from ").append(old_place).append(" to ") + place);
      const auto now_shares = bytes_after.partners(i);
      const auto shared = old ? bytes_before.partners(*old) : std::set<std::string>();
      say_partners(subject + "now shares bytes with ", name, now_shares, shared, said);
      say_partners(subject + "no longer shares bytes with ", name, shared, now_shares, said);
    }
  }

  // Partners in `in` that are not in `out`, each pair of buffers once.
  void say_partners(const std::string& start, const std::string& name,
                    const std::set<std::string>& in, const std::set<std::string>& out,
                    std::set<std::pair<std::string, std::string>>& said) {
    std::vector<std::string> partners;
    for (const std::string& partner : in) {
      const auto pair = std::minmax(name, partner);
      if (!out.contains(partner) && said.emplace(pair.first, pair.second).second) {
        partners.push_back(print_sigil_name('$', partner));
      }
    }
    if (!partners.empty()) say(start + print_some(partners));
  }

  static std::string buffer_name(const Plan& plan, const std::optional<BufferId>& id) {
    return id ? name_of(plan.buffers[id->index]) : "";
  }

  // Views that only one plan has. Other values that only one has come with an input or a step,
  // which says so.
  void say_views(const Plan& plan, const Plan& other, const std::string& what) {
    std::unordered_set<std::string_view> names;
    for (const PlanValue& value : other.values) names.insert(value.value.name);
    const std::vector<bool> has_maker = made_values(plan);
    for (std::size_t i = 0; i < has_maker.size(); ++i) {
      const PlanValue& value = plan.values[i];
      if (has_maker[i] || names.contains(value.value.name)) continue;
      say("view " + name_of(value) + ": " + what + " (" + print_value_type(value.value).substr(3) +
          " " + buffer_name(plan, value.buffer) + ")");
    }
  }

  void diff_values() {
    say_views(before_, after_, "is gone");
    say_views(after_, before_, "is new");
    std::unordered_map<std::string_view, const PlanValue*> by_name;
    for (const PlanValue& value : after_.values) by_name.emplace(value.value.name, &value);
    const std::vector<bool> has_maker = made_values(before_);
    for (std::size_t i = 0; i < before_.values.size(); ++i) {
      const PlanValue& old = before_.values[i];
      const auto found = by_name.find(old.value.name);
      if (found == by_name.end()) continue;
      const PlanValue& now = *found->second;
      const std::string subject = (has_maker[i] ? "value " : "view ") + name_of(old);
      const auto type = [](const PlanValue& value) {
        const std::string text = print_value_type(value.value);
        return text.empty() ? text : text.substr(3);
      };
      say_change(subject, "the type", type(old), type(now));
      say_change(subject, "the buffer", buffer_name(before_, old.buffer),
                 buffer_name(after_, now.buffer));
    }
  }

  void diff_inputs() {
    const auto key = [](const PlanInput& input) {
      return std::string(input_kind_name(input.kind)) + " " + quote_string(input.target);
    };
    const ItemMatch found = match("input", before_.inputs, after_.inputs, key);
    say_order("input", found);
    const auto text = [](const Graph& names, const PlanInput& input) {
      return print(names, input.constant.value_or(Argument{input.value}));
    };
    for (std::size_t i = 0; i < before_.inputs.size(); ++i) {
      if (!found.to_after[i]) continue;
      const PlanInput& old = before_.inputs[i];
      const PlanInput& now = after_.inputs[*found.to_after[i]];
      const std::string subject = "input " + key(old);
      say_change(subject, "the value", text(names_before_, old), text(names_after_, now));
      say_change(subject, "the final value", final_value(before_, old), final_value(after_, now));
    }
  }

  static std::string final_value(const Plan& plan, const PlanInput& input) {
    return input.final_value ? name_of(plan.values[input.final_value->index]) : "";
  }

  static std::string print(const Graph& names, const Argument& argument) {
    std::string text;
    print_argument(names, argument, text);
    return text;
  }

  void diff_arguments(const std::string& subject, const std::vector<Argument>& before,
                      const std::vector<Argument>& after) {
    for (std::size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
      say_change(subject, "output " + std::to_string(i),
                 i < before.size() ? print(names_before_, before[i]) : "nothing",
                 i < after.size() ? print(names_after_, after[i]) : "nothing");
    }
  }

  // Lifetimes, and the dimensions that a call may fill in part.
  void diff_padding() {
    for (std::size_t i = 0; i < std::min(before_.outputs.size(), after_.outputs.size()); ++i) {
      say_change("the program", "the lifetime of output " + std::to_string(i), lifetime(before_, i),
                 lifetime(after_, i));
    }
    say_change("the plan", "the padded symbol", before_.padding ? before_.padding->symbol : "",
               after_.padding ? after_.padding->symbol : "");
    const PlanPadding old = before_.padding.value_or(PlanPadding());
    const PlanPadding now = after_.padding.value_or(PlanPadding());
    diff_dims("input", old.input_dims, now.input_dims);
    diff_dims("output", old.output_dims, now.output_dims);
  }

  void diff_dims(const std::string& kind, const std::vector<std::optional<std::uint32_t>>& before,
                 const std::vector<std::optional<std::uint32_t>>& after) {
    const auto dim = [](const auto& dims, std::size_t i) {
      return i < dims.size() && dims[i] ? std::to_string(*dims[i]) : "";
    };
    for (std::size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
      say_change("the program", "the padded dimension of " + kind + " " + std::to_string(i),
                 dim(before, i), dim(after, i));
    }
  }

  static std::string lifetime(const Plan& plan, std::size_t output) {
    const bool weak = output < plan.output_lifetimes.size() &&
                      plan.output_lifetimes[output] == OutputLifetime::kWeak;
    return weak ? "weak" : "strong";
  }

  void diff_blocks() {
    const auto key = [](const PlanBlock& block) { return name_of(block); };
    const ItemMatch found = match("block", before_.blocks, after_.blocks, key);
    say_order("block", found);
    for (std::size_t i = 0; i < before_.blocks.size(); ++i) {
      if (!found.to_after[i]) continue;
      diff_arguments("block " + name_of(before_.blocks[i]), before_.blocks[i].outputs,
                     after_.blocks[*found.to_after[i]].outputs);
    }
  }

  Plan before_;
  Plan after_;
  Graph names_before_;
  Graph names_after_;
  std::vector<std::string> sentences_;
};

}  // namespace

std::vector<std::string> diff_plans(const Plan& before, const Plan& after) {
  if (comparable(before) == comparable(after)) return {};
  auto sentences = Differ(number_plan(before), number_plan(after)).diff();
  // Everything has its sentence; this one keeps the promise should something be added to Plan.
  if (sentences.empty()) sentences.emplace_back("the plans differ in what no sentence covers");
  return sentences;
}

}  // namespace graphgate::spec
