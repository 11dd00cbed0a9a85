// V5: a buffer that crosses partitions is given up exactly once, and nothing uses it afterwards.
#include <algorithm>

#include "conformance/verify/rule_families.h"
#include "spec/loops.h"

namespace graphgate::verify {
namespace {

class FreeCheck {
 public:
  FreeCheck(const RuleCase& rule_case, Findings& out)
      : plan_(rule_case.plan()), accesses_(rule_case.accesses), uses_(rule_case.uses), out_(out) {}

  void check() {
    for (std::size_t i = 0; i < uses_.all.size(); ++i) {
      for (const spec::SignatureInput& input : uses_.all[i].partition->signature.inputs) {
        if (input.deallocate) check_free(i, input.buffer.index);
      }
    }
    for (std::uint32_t id = 0; id < plan_.buffers.size(); ++id) check_never_freed(id);
  }

 private:
  void check_free(std::size_t place, std::uint32_t id) {
    const PartitionUse& use = uses_.all[place];
    const std::string where = PartitionUses::name_of(plan_, use);
    const std::string name = buffer_name(plan_, spec::BufferId{id});
    std::size_t times = 0;
    for (const spec::SignatureInput& input : use.partition->signature.inputs) {
      if (input.deallocate && input.buffer.index == id) ++times;
    }
    if (times > 1) report("V5.double-free", id, where + " gives up " + name + " twice");
    if (uses_.program_inputs.contains(id)) {
      report("V5.freed-output", id,
             where + " gives up " + name + ", which is an input or state, and read after the call");
    } else if (uses_.results[use.block].contains(id)) {
      report("V5.freed-output", id, where + " gives up " + name + ", which is returned");
    }
    for (std::size_t i = place + 1; i < uses_.all.size(); ++i) {
      const PartitionUse& later = uses_.all[i];
      if (later.block != use.block) continue;
      const auto& inputs = later.partition->signature.inputs;
      const bool again = std::ranges::any_of(
          inputs, [&](const auto& input) { return input.deallocate && input.buffer.index == id; });
      std::string words = name + ", which ";
      words.append(where).append(" has given up");
      if (again) {
        report("V5.double-free", id, PartitionUses::name_of(plan_, later) + " gives up " + words);
      } else if (later.touched.contains(id)) {
        report_use(later, id, words);
      }
    }
    check_around(use, id, where);
  }

  // Behind a conditional whose arm has given the buffer up.
  void check_around(const PartitionUse& use, std::uint32_t id, const std::string& where) {
    if (use.partition->begin_step == use.partition->end_step) return;
    const auto conditional = accesses_.places[use.partition->begin_step].conditional;
    if (!conditional) return;
    check_next_iteration(use, id, where);
    for (const Access& access : accesses_.all) {
      if (!access.buffer || access.buffer->index != id) continue;
      if (accesses_.position[access.step] <= accesses_.position[use.partition->end_step - 1]) {
        continue;
      }
      if (accesses_.places[access.step].block == use.block || is_inside(access.step, use)) continue;
      if (accesses_.are_exclusive(access.step, use.partition->begin_step)) continue;
      report("V5.use-after-free", id,
             accesses_.place_of(access) + " uses " + buffer_name(plan_, spec::BufferId{id}) +
                 ", which " + where + " has given up");
      out_.back().nodes.push_back(accesses_.node_of(access).name);
      return;
    }
  }

  // A loop that has given up what was there before it finds it gone in the next iteration.
  void check_next_iteration(const PartitionUse& use, std::uint32_t id, const std::string& where) {
    for (auto loop = accesses_.places[use.partition->begin_step].conditional; loop;
         loop = accesses_.places[*loop].conditional) {
      if (!spec::is_loop(plan_.steps[*loop].node.op)) continue;
      const auto is_before = [&](const Access& access) {
        return access.buffer && access.buffer->index == id &&
               accesses_.position[access.step] <= accesses_.position[*loop];
      };
      if (std::ranges::none_of(accesses_.all, is_before)) continue;
      report("V5.use-after-free", id,
             "the next iteration of " + step_name(plan_, *loop) + " uses " +
                 buffer_name(plan_, spec::BufferId{id}) + ", which " + where + " has given up");
      out_.back().nodes.push_back(plan_.steps[*loop].node.name);
      return;
    }
  }

  // In an arm of a conditional of the partition, at any depth.
  bool is_inside(std::uint32_t step, const PartitionUse& use) const {
    for (std::optional<std::uint32_t> at = step; at; at = accesses_.places[*at].conditional) {
      const StepPlace& place = accesses_.places[*at];
      if (place.block == use.block && place.partition == use.index) return true;
    }
    return false;
  }

  void report_use(const PartitionUse& later, std::uint32_t id, const std::string& words) {
    for (const Access& access : accesses_.all) {
      if (!access.buffer || access.buffer->index != id) continue;
      std::uint32_t step = access.step;
      while (accesses_.places[step].block != later.block && accesses_.places[step].conditional) {
        step = *accesses_.places[step].conditional;
      }
      const StepPlace& at = accesses_.places[step];
      if (at.block != later.block || at.partition != later.index) continue;
      report("V5.use-after-free", id, accesses_.place_of(access) + " uses " + words);
      out_.back().nodes.push_back(accesses_.node_of(access).name);
      return;
    }
  }

  // Only a buffer that more than one partition of its block touches has to be given up by name.
  void check_never_freed(std::uint32_t id) {
    const spec::PoolKind kind = plan_.pools[plan_.buffers[id].pool.index].kind;
    if (kind != spec::PoolKind::kArena && kind != spec::PoolKind::kHeap) return;
    if (uses_.program_inputs.contains(id)) return;
    std::optional<std::uint32_t> home;
    for (const PartitionUse& use : uses_.all) {
      if (use.made.contains(id) && !home) home = use.block;
      for (const spec::SignatureInput& input : use.partition->signature.inputs) {
        if (input.deallocate && input.buffer.index == id) return;
      }
    }
    if (!home || uses_.results[*home].contains(id)) return;
    for (const auto& bases : accesses_.may_lie_in) {
      if (bases.contains(id)) return;  // a view of it may live on
    }
    const PartitionUse* last = nullptr;
    std::size_t count = 0;
    for (const PartitionUse& use : uses_.all) {
      if (use.block != *home || !use.touched.contains(id)) continue;
      last = &use;
      ++count;
    }
    if (count < 2 || !is_input(*last, id)) return;
    report("V5.never-freed", id,
           PartitionUses::name_of(plan_, *last) + " is the last to use " +
               buffer_name(plan_, spec::BufferId{id}) + ", and does not give it up");
  }

  static bool is_input(const PartitionUse& use, std::uint32_t id) {
    const auto& inputs = use.partition->signature.inputs;
    return std::ranges::any_of(inputs, [&](const auto& input) { return input.buffer.index == id; });
  }

  void report(std::string rule, std::uint32_t id, std::string message) {
    out_.push_back(buffer_finding(plan_, id, std::move(rule), std::move(message)));
  }

  const spec::Plan& plan_;
  const Accesses& accesses_;
  const PartitionUses& uses_;
  Findings& out_;
};

}  // namespace

void check_frees(const RuleCase& rule_case, Findings& out) { FreeCheck(rule_case, out).check(); }

}  // namespace graphgate::verify
