// What changed between two plans, in sentences for a person.
//
// A line diff of plan text says that lines changed; this says what that means: which partition was
// split, which buffer moved and whose bytes it shares now, which step runs in another place. Pull
// requests that change plans show it, and so does a gate that compares a plan with a stored one.
//
//   pool @arena: 1536 bytes became 2048 bytes (+512)
//   buffer $b7: moved from @arena [0, 512) to @arena [1024, 1536)
//   buffer $b7: now shares bytes with $b3
//   partition 0 of @main: split into partition 0 ('mul') and partition 1 ('mm', 'add')
//   partition 1 of @main: was captured, is now eager ("device copy")
//   step 'mm': runs after 'add' now, and ran first before
//   step 'mul': is fused into 'add' now
//
// Things are matched by their names: pools, buffers, values and blocks by theirs, steps by the name
// of the node they come from, inputs by kind and target. Partitions have no names: they are matched
// by the steps in them. Ids do not matter.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "spec/plan.h"

namespace graphgate::spec {

// Empty iff the plans are equal up to numbering (number_plan in plan_text.h), a NaN being equal to
// itself. Both plans must pass check_plan. Near-linear, but for the pairs of buffers that share
// bytes with one that moved.
[[nodiscard]] std::vector<std::string> diff_plans(const Plan& before, const Plan& after);

// The rest is for the parts of the diff.

// Which item of one list is which of the other; nullopt for items that only one list has.
struct ItemMatch {
  std::vector<std::optional<std::size_t>> to_after;
  std::vector<std::optional<std::size_t>> to_before;
};
// Matches the n-th of several equal keys with the n-th.
[[nodiscard]] ItemMatch match_items(const std::vector<std::string>& before,
                                    const std::vector<std::string>& after);
// The fewest items of `before` that have to move for the matched ones to stand in the same order.
[[nodiscard]] std::vector<std::size_t> moved_items(const ItemMatch& match);

// "%a, %b, %c and 4 more".
[[nodiscard]] std::string print_some(const std::vector<std::string>& items);

// Appends what changed in steps, their bodies and their partitions. number_plan has numbered both.
void diff_steps(const Plan& before, const Plan& after, std::vector<std::string>& sentences);

// Appends what changed in partitions and their signatures. `steps` matches the steps of the plans,
// which number_plan has numbered.
void diff_partitions(const Plan& before, const Plan& after, const ItemMatch& steps,
                     std::vector<std::string>& sentences);

}  // namespace graphgate::spec
