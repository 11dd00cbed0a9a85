// XLA's places against their allocations, and its live ranges against what reads them.
#include <algorithm>
#include <map>

#include "conformance/verify/hlo_parts.h"

namespace graphgate::verify {
namespace {

using spec::Finding;
using spec::HloAllocation;
using spec::HloCallRole;
using spec::HloComputation;
using spec::HloInstruction;
using spec::HloPart;
using spec::HloPosition;
using spec::HloValue;

Finding finding_of(const HloIndex& index, std::size_t value, const char* rule,
                   const std::string& message) {
  const HloValue& placed = index.plan().values[value];
  return {.rule = rule,
          .message = message,
          .nodes = {index.at(placed.position).name},
          .buffers = {index.name(placed.position)}};
}

bool lies_inside(const HloValue& value, const HloAllocation& allocation) {
  return value.size_bytes <= allocation.size_bytes &&
         value.offset_bytes <= allocation.size_bytes - value.size_bytes;
}

// "f32[8,8]{1,0}" without what stands in braces, and without blanks.
std::string plain_shape(const std::string& text) {
  std::string out;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "/*") == 0) {
      const std::size_t end = text.find("*/", i);
      if (end == std::string::npos) break;
      i = end + 1;
      continue;
    }
    if (text[i] == '{') ++depth;
    if (depth == 0 && text[i] != ' ') out += text[i];
    if (text[i] == '}') --depth;
  }
  return out;
}

std::string plain_shape(const HloInstruction& one, std::size_t part) {
  const HloPart& whole = one.shape.parts[part];
  if (!whole.is_tuple) {
    std::string out = whole.dtype + "[";
    for (std::size_t i = 0; i < whole.dims.size(); ++i) {
      out += (i == 0 ? "" : ",") + std::to_string(whole.dims[i]);
    }
    return out + "]";
  }
  std::string out = "(";
  for (std::size_t at = part + 1; at < part + whole.subtree_parts;
       at += one.shape.parts[at].subtree_parts) {
    out += (at == part + 1 ? "" : ",") + plain_shape(one, at);
  }
  return out + ")";
}

void check_place(const HloIndex& index, std::size_t number, std::vector<Finding>& out) {
  const HloValue& value = index.plan().values[number];
  const HloAllocation& allocation = index.plan().allocations[value.allocation];
  const HloInstruction& made_by = index.at(value.position);
  const HloPart& part = made_by.shape.parts[value.position.part];
  if (value.size_bytes != part.size_bytes ||
      plain_shape(value.shape) != plain_shape(made_by, value.position.part)) {
    out.push_back(finding_of(index, number, "V3.geometry",
                             index.placed(number) + " is placed as " + value.shape + ", and is " +
                                 plain_shape(made_by, value.position.part) + " of " +
                                 std::to_string(part.size_bytes) + " bytes in the module"));
  }
  if (!lies_inside(value, allocation)) {
    out.push_back(finding_of(index, number, "V3.capacity",
                             index.placed(number) + " does not lie in its allocation of " +
                                 std::to_string(allocation.size_bytes) + " bytes"));
  }
  if (value.offset_bytes % kHloAlignmentBytes != 0) {
    out.push_back(finding_of(index, number, "V3.alignment",
                             index.placed(number) + " does not begin at a multiple of " +
                                 std::to_string(kHloAlignmentBytes) +
                                 " bytes, which kernels rely on"));
  }
  const bool is_constant = made_by.opcode == "constant";
  if (allocation.is_constant != is_constant) {
    out.push_back(finding_of(
        index, number, "V3.kept-bytes",
        index.placed(number) +
            (is_constant ? " is a constant, and its allocation is none: what it holds is never "
                           "put there"
                         : " is made in memory of constants, which nothing may write")));
  }
}

// What the caller hands in lies where the caller put it.
void check_parameter(const HloIndex& index, std::size_t number, std::vector<Finding>& out) {
  const HloValue& value = index.plan().values[number];
  const HloInstruction& made_by = index.at(value.position);
  if (value.position.computation != index.plan().module.entry || made_by.opcode != "parameter") {
    return;
  }
  const HloAllocation& allocation = index.plan().allocations[value.allocation];
  const bool is_there =
      allocation.parameter == made_by.number && value.offset_bytes == 0 &&
      allocation.parameter_index == made_by.shape.parts[value.position.part].index;
  if (is_there) return;
  out.push_back(finding_of(index, number, "V4.wrong-operand",
                           index.placed(number) + " is parameter " +
                               std::to_string(made_by.number) +
                               ", and does not lie in the memory that the caller fills"));
}

// The sequence, where it is another than that of the module: what is first.
bool check_sequence(const HloIndex& index, std::vector<Finding>& out) {
  const auto& said = index.plan().live_ranges->sequence;
  const auto& right = index.schedule();
  for (std::size_t i = 0; i < std::max(said.size(), right.size()); ++i) {
    if (i < said.size() && i < right.size() && said[i] == right[i]) continue;
    const auto name = [&](const auto& sequence) {
      return i < sequence.size() ? index.name({sequence[i].computation, sequence[i].instruction, 0})
                                 : std::string("nothing");
    };
    out.push_back({.rule = "V4.wrong-version",
                   .message = "live ranges are those of another schedule: at time " +
                              std::to_string(i) + " they have " + name(said) +
                              ", and the module runs " + name(right)});
    return false;
  }
  return true;
}

bool is_donated(const spec::HloModule& module, std::int64_t parameter) {
  return std::any_of(module.donations.begin(), module.donations.end(), [&](const auto& donation) {
    return static_cast<std::int64_t>(donation.parameter) == parameter;
  });
}

}  // namespace

void check_hlo_places(const HloIndex& index, std::vector<Finding>& out) {
  for (std::size_t value = 0; value < index.plan().values.size(); ++value) {
    check_place(index, value, out);
    check_parameter(index, value, out);
  }
}

void check_hlo_ranges(const HloIndex& index, const std::vector<HloUse>& uses,
                      std::vector<Finding>& out) {
  const auto& live = index.plan().live_ranges;
  if (!live || !check_sequence(index, out)) return;
  std::map<HloPosition, const spec::HloLiveRange*> ranges;
  for (const auto& range : live->ranges) ranges[range.position] = &range;
  for (std::size_t number = 0; number < index.plan().values.size(); ++number) {
    const HloPosition& position = index.plan().values[number].position;
    std::int64_t made = index.time(position.computation, position.instruction);
    if (made < 0) continue;
    // The caller's memory is the caller's from the start, and to the end where it is not given up.
    const bool is_callers = position.computation == index.plan().module.entry &&
                            index.at(position).opcode == "parameter";
    if (is_callers) made = 0;
    const auto found = ranges.find(position);
    if (found == ranges.end()) {
      out.push_back(finding_of(index, number, "V5.use-after-free",
                               index.placed(number) + " has no live range"));
      continue;
    }
    const auto& [_, begin, end, line] = *found->second;
    const std::string held = index.placed(number) + " is held from time " + std::to_string(begin) +
                             " to " + std::to_string(end);
    if (begin > made) {
      out.push_back(finding_of(index, number, "V5.use-after-free",
                               held + ", but is made at time " + std::to_string(made)));
    }
    if (is_callers && !is_donated(index.plan().module, index.at(position).number) &&
        end < static_cast<std::int64_t>(index.schedule().size())) {
      out.push_back(finding_of(index, number, "V5.use-after-free",
                               held + ", but is a parameter that the caller keeps"));
      continue;
    }
    const HloUse& use = uses[number];
    if (use.time <= end) continue;
    const std::string who = index.name(use.user);
    const std::string when = " at time " + std::to_string(use.time);
    out.push_back(finding_of(
        index, number, "V5.use-after-free",
        held + ", but " +
            (use.is_handed_on ? who + " hands it on" + when : who + " reads it" + when)));
  }
}

Result<std::vector<Finding>> verify_hlo(const spec::HloPlan& plan) {
  std::vector<Finding> out;
  const HloIndex index(plan);
  check_hlo_places(index, out);
  GRAPHGATE_TRY(const auto uses, walk_hlo(index, out));
  check_hlo_ranges(index, uses, out);
  return out;
}

HloIndex::HloIndex(const spec::HloPlan& plan) : plan_(&plan) {
  std::size_t instructions = 0;
  for (const HloComputation& one : plan.module.computations) {
    first_.push_back(instructions);
    instructions += one.instructions.size();
  }
  values_.resize(instructions);
  time_.resize(instructions, -1);
  end_.resize(plan.module.computations.size(), -1);
  for (std::size_t c = 0; c < plan.module.computations.size(); ++c) {
    const auto& all = computation(c).instructions;
    for (std::size_t i = 0; i < all.size(); ++i) {
      values_[number(c, i)].resize(all[i].shape.parts.size(), kNoHloValue);
    }
  }
  for (std::size_t v = 0; v < plan.values.size(); ++v) {
    const HloPosition& at = plan.values[v].position;
    values_[number(at.computation, at.instruction)][at.part] = v;
  }
  lay_out(plan.module.entry);
}

// Callees stand before callers, and have one: each computation comes once.
void HloIndex::lay_out(std::size_t c) {
  const auto& all = computation(c).instructions;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const HloCallRole role : {HloCallRole::kInline, HloCallRole::kCondition,
                                   HloCallRole::kBody, HloCallRole::kBranch}) {
      for (const spec::HloCall& call : all[i].calls) {
        if (call.role == role) lay_out(call.computation);
      }
    }
    time_[number(c, i)] = static_cast<std::int64_t>(schedule_.size());
    schedule_.push_back({c, i, 0});
  }
  end_[c] = static_cast<std::int64_t>(schedule_.size());
}

std::size_t HloIndex::value_at(const HloPosition& position) const {
  return values_[number(position.computation, position.instruction)][position.part];
}

std::string HloIndex::name(const HloPosition& position) const {
  const HloInstruction& one = at(position);
  const std::string& index = one.shape.parts[position.part].index;
  return "'" + one.name + "'" + (index == "{}" ? "" : index);
}

std::string HloIndex::placed(std::size_t value) const {
  const HloValue& one = plan_->values[value];
  return name(one.position) + " (" + std::to_string(one.size_bytes) + " bytes at " +
         std::to_string(one.offset_bytes) + " of allocation " + std::to_string(one.allocation) +
         ")";
}

}  // namespace graphgate::verify
