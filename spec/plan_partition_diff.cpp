// What changed in partitions. They have no names, so the matched steps say which partition became
// which: partitions that have steps in common form groups, and the shape of a group tells a split
// from a merge from steps that moved.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "spec/plan_diff.h"
#include "spec/plan_names.h"

namespace graphgate::spec {
namespace {

struct PlacedPartition {
  const PlanBlock* block;
  std::size_t index;  // in the block
  const PlanPartition* partition;
};

std::vector<PlacedPartition> partitions_of(const Plan& plan) {
  std::vector<PlacedPartition> all;
  for (const PlanBlock& block : plan.blocks) {
    for (std::size_t i = 0; i < block.partitions.size(); ++i) {
      all.push_back(PlacedPartition{&block, i, &block.partitions[i]});
    }
  }
  return all;
}

std::string name_of(const PlacedPartition& placed) {
  return "partition " + std::to_string(placed.index) + " of " + name_of(*placed.block);
}

std::string name_of(const Plan& plan, BufferId id) { return name_of(plan.buffers[id.index]); }

class PartitionDiffer {
 public:
  PartitionDiffer(const Plan& before, const Plan& after, const ItemMatch& steps,
                  std::vector<std::string>& sentences)
      : before_(before),
        after_(after),
        steps_(steps),
        sentences_(sentences),
        old_(partitions_of(before)),
        now_(partitions_of(after)) {}

  void diff() {
    find_common_steps();
    for (const Group& group : find_groups()) {
      if (group.old.size() == 1 && group.now.size() == 1) {
        compare(group.old.front(), group.now.front());
      } else if (group.old.size() == 1) {
        say_split(group);
      } else if (group.now.size() == 1) {
        say_merge(group);
      } else {
        say_moves(group);
      }
    }
    pair_the_rest();
  }

 private:
  // Partitions, by their place in old_ and now_, that are connected by common steps.
  struct Group {
    std::vector<std::size_t> old;
    std::vector<std::size_t> now;
  };
  using Pair = std::pair<std::size_t, std::size_t>;  // of old_ and now_

  void say(std::string sentence) { sentences_.push_back(std::move(sentence)); }

  void find_common_steps() {
    std::vector<std::size_t> now_of(after_.steps.size());
    for (std::size_t i = 0; i < now_.size(); ++i) {
      for (auto s = now_[i].partition->begin_step; s < now_[i].partition->end_step; ++s) {
        now_of[s] = i;
      }
    }
    for (std::size_t i = 0; i < old_.size(); ++i) {
      for (auto s = old_[i].partition->begin_step; s < old_[i].partition->end_step; ++s) {
        if (steps_.to_after[s]) common_[Pair(i, now_of[*steps_.to_after[s]])].push_back(s);
      }
    }
  }

  std::vector<Group> find_groups() const {
    std::vector<std::size_t> parents(old_.size() + now_.size());
    std::iota(parents.begin(), parents.end(), std::size_t{0});
    const auto root = [&](std::size_t i) {
      while (parents[i] != i) i = parents[i] = parents[parents[i]];
      return i;
    };
    for (const auto& [pair, steps] : common_) {
      parents[root(old_.size() + pair.second)] = root(pair.first);
    }
    std::set<std::size_t> seen_old;
    std::set<std::size_t> seen_now;
    std::map<std::size_t, Group> groups;
    for (const auto& [pair, steps] : common_) {
      Group& group = groups[root(pair.first)];
      if (seen_old.insert(pair.first).second) group.old.push_back(pair.first);
      if (seen_now.insert(pair.second).second) group.now.push_back(pair.second);
    }
    std::vector<Group> list;
    for (auto& [first, group] : groups) {
      std::sort(group.now.begin(), group.now.end());
      list.push_back(std::move(group));
    }
    std::sort(list.begin(), list.end(),
              [](const Group& a, const Group& b) { return a.old < b.old; });
    return list;
  }

  static std::string steps_in(const Plan& plan, const PlacedPartition& placed) {
    std::vector<std::string> names;
    for (auto s = placed.partition->begin_step; s < placed.partition->end_step; ++s) {
      names.push_back("'" + plan.steps[s].node.name + "'");
    }
    return names.empty() ? "without steps" : print_some(names);
  }

  void say_split(const Group& group) {
    std::vector<std::string> parts;
    parts.reserve(group.now.size());
    for (const std::size_t i : group.now) {
      parts.push_back(name_of(now_[i]) + " (" + steps_in(after_, now_[i]) + ")");
    }
    say(name_of(old_[group.old.front()]) + ": split into " + print_some(parts));
    for (const std::size_t i : group.now) compare_mode(group.old.front(), i);
  }

  void say_merge(const Group& group) {
    std::vector<std::string> parts;
    parts.reserve(group.old.size());
    for (const std::size_t i : group.old) {
      parts.push_back(name_of(old_[i]) + " (" + steps_in(before_, old_[i]) + ")");
    }
    say(name_of(now_[group.now.front()]) + ": merged from " + print_some(parts));
    for (const std::size_t i : group.old) compare_mode(i, group.now.front());
  }

  // Partitions with the most steps in common are the same one; other steps moved.
  void say_moves(const Group& group) {
    std::vector<std::tuple<std::size_t, Pair>> by_size;
    for (const std::size_t i : group.old) {
      for (auto it = common_.lower_bound(Pair(i, 0)); it != common_.end() && it->first.first == i;
           ++it) {
        by_size.emplace_back(it->second.size(), it->first);
      }
    }
    std::stable_sort(by_size.begin(), by_size.end(),
                     [](const auto& a, const auto& b) { return std::get<0>(a) > std::get<0>(b); });
    std::set<std::size_t> used_old;
    std::set<std::size_t> used_now;
    for (const auto& [count, pair] : by_size) {
      if (used_old.contains(pair.first) || used_now.contains(pair.second)) {
        say_moved_steps(pair);
        continue;
      }
      used_old.insert(pair.first);
      used_now.insert(pair.second);
      compare(pair.first, pair.second);
    }
    for (const std::size_t i : group.old) {
      if (!used_old.contains(i)) say(name_of(old_[i]) + ": is gone");
    }
    for (const std::size_t i : group.now) {
      if (!used_now.contains(i)) say(name_of(now_[i]) + ": is new");
    }
  }

  void say_moved_steps(const Pair& pair) {
    for (const std::size_t s : common_.at(pair)) {
      say("step '" + before_.steps[s].node.name + "': moved from " + name_of(old_[pair.first]) +
          " to " + name_of(now_[pair.second]));
    }
  }

  // Partitions without a matched step: the same place makes the same partition.
  void pair_the_rest() {
    std::vector<bool> old_left(old_.size(), true);
    std::vector<bool> now_left(now_.size(), true);
    for (const auto& [pair, steps] : common_) {
      old_left[pair.first] = now_left[pair.second] = false;
    }
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < now_.size(); ++i) {
      if (now_left[i]) places.emplace(name_of(now_[i]), i);
    }
    for (std::size_t i = 0; i < old_.size(); ++i) {
      if (!old_left[i]) continue;
      const auto found = places.find(name_of(old_[i]));
      if (found == places.end()) {
        say(name_of(old_[i]) + ": is gone (" + steps_in(before_, old_[i]) + ")");
        continue;
      }
      compare(i, found->second);
      now_left[found->second] = false;
    }
    for (std::size_t i = 0; i < now_.size(); ++i) {
      if (now_left[i]) say(name_of(now_[i]) + ": is new (" + steps_in(after_, now_[i]) + ")");
    }
  }

  // The name now, and the one before where it was another.
  std::string subject(std::size_t old, std::size_t now) const {
    const std::string before = name_of(old_[old]);
    const std::string after = name_of(now_[now]);
    return before == after ? after : after + " (before: " + before + ")";
  }

  void compare_mode(std::size_t old, std::size_t now) {
    const PlanPartition& before = *old_[old].partition;
    const PlanPartition& after = *now_[now].partition;
    const std::string reason = "\"" + after.reason + "\"";
    if (before.captured && !after.captured) {
      say(subject(old, now) + ": was captured, is now eager (" + reason + ")");
    } else if (!before.captured && after.captured) {
      say(subject(old, now) + ": was eager (\"" + before.reason + "\"), is now captured");
    } else if (before.reason != after.reason) {
      say(subject(old, now) + ": the reason changed from \"" + before.reason + "\" to " + reason);
    }
  }

  void compare(std::size_t old, std::size_t now) {
    compare_mode(old, now);
    const PlanSignature& before = old_[old].partition->signature;
    const PlanSignature& after = now_[now].partition->signature;
    const std::string place = subject(old, now);
    compare_items(place, "input", input_names(before_, before), input_names(after_, after));
    compare_items(place, "output", buffer_names(before_, before.outputs),
                  buffer_names(after_, after.outputs));
    compare_items(place, "constant", buffer_names(before_, before.constants),
                  buffer_names(after_, after.constants));
    compare_items(place, "symbol", before.symbols, after.symbols);
    compare_frees(place, before, after);
  }

  void compare_items(const std::string& place, const std::string& kind,
                     const std::vector<std::string>& before,
                     const std::vector<std::string>& after) {
    const ItemMatch match = match_items(before, after);
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (match.to_after[i]) continue;
      say((place + ": ").append(before[i]).append(" is no ").append(kind) + " any more");
    }
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (!match.to_before[i])
        say((place + ": ").append(after[i]).append(" is a new ").append(kind));
    }
    if (!moved_items(match).empty()) say(place + ": the " + kind + "s stand in another order");
  }

  void compare_frees(const std::string& place, const PlanSignature& before,
                     const PlanSignature& after) {
    const auto names_before = input_names(before_, before);
    const ItemMatch match = match_items(names_before, input_names(after_, after));
    for (std::size_t i = 0; i < names_before.size(); ++i) {
      if (!match.to_after[i]) continue;
      const bool freed = after.inputs[*match.to_after[i]].deallocate;
      if (freed == before.inputs[i].deallocate) continue;
      say(place + ": the input " + names_before[i] +
          (freed ? " is freed in it now" : " is no longer freed in it"));
    }
  }

  static std::vector<std::string> buffer_names(const Plan& plan, const std::vector<BufferId>& ids) {
    std::vector<std::string> names;
    names.reserve(ids.size());
    for (const BufferId id : ids) names.push_back(name_of(plan, id));
    return names;
  }

  static std::vector<std::string> input_names(const Plan& plan, const PlanSignature& signature) {
    std::vector<std::string> names;
    names.reserve(signature.inputs.size());
    for (const SignatureInput& input : signature.inputs)
      names.push_back(name_of(plan, input.buffer));
    return names;
  }

  const Plan& before_;
  const Plan& after_;
  const ItemMatch& steps_;
  std::vector<std::string>& sentences_;
  std::vector<PlacedPartition> old_;
  std::vector<PlacedPartition> now_;
  std::map<Pair, std::vector<std::size_t>> common_;  // steps of the plan before
};

}  // namespace

void diff_partitions(const Plan& before, const Plan& after, const ItemMatch& steps,
                     std::vector<std::string>& sentences) {
  PartitionDiffer(before, after, steps, sentences).diff();
}

}  // namespace graphgate::spec
