// V2: what a partition says that crosses its edges is what crosses them.
#include <algorithm>

#include "conformance/verify/rule_families.h"

namespace graphgate::verify {
namespace {

class SignatureCheck {
 public:
  SignatureCheck(const RuleCase& rule_case, Findings& out)
      : plan_(rule_case.plan()), accesses_(rule_case.accesses), uses_(rule_case.uses), out_(out) {}

  void check() {
    for (std::size_t i = 0; i < uses_.all.size(); ++i) {
      use_ = &uses_.all[i];
      inputs_.clear();
      freed_.clear();
      constants_.clear();
      for (const spec::SignatureInput& input : signature().inputs) check_input(input);
      for (const spec::BufferId id : signature().constants) check_constant(id.index);
      check_touched();
      check_outputs(i);
    }
  }

 private:
  const spec::PlanSignature& signature() const { return use_->partition->signature; }

  void check_input(const spec::SignatureInput& input) {
    const std::uint32_t id = input.buffer.index;
    if (input.deallocate) freed_.insert(id);
    const bool is_new = inputs_.insert(id);
    if (!is_new && input.deallocate) return;  // a double free, see there
    if (!is_new) {
      report("V2.superfluous-input", id, "is given " + name(id) + " twice");
    } else if (use_->made.contains(id)) {
      report("V2.superfluous-input", id, "is given " + name(id) + ", which it makes itself");
    } else if (!use_->reached.contains(id) && !input.deallocate) {
      report("V2.superfluous-input", id,
             "is given " + name(id) + ", and neither reads, writes nor frees it");
    } else if (uses_.states.contains(id) && !uses_.may_be_written.contains(id)) {
      report("V2.missing-constant", id,
             "is given " + name(id) + " as an input, though it is state that no step writes");
    }
  }

  void check_constant(std::uint32_t id) {
    constants_.insert(id);
    if (!uses_.states.contains(id)) {
      report("V2.false-constant", id,
             "takes " + name(id) + " for a constant, though it is no state of the program");
    } else if (uses_.written.contains(id)) {
      report("V2.false-constant", id,
             "takes " + name(id) + " for a constant, though a step writes it");
    } else if (!use_->touched.contains(id)) {
      report("V2.false-constant", id, "lists the constant " + name(id) + ", and does not read it");
    }
  }

  void check_touched() {
    for (const std::uint32_t id : use_->touched.ids()) {
      if (use_->made.contains(id) || inputs_.contains(id) || constants_.contains(id)) continue;
      if (uses_.states.contains(id) && !uses_.may_be_written.contains(id)) {
        report("V2.missing-constant", id, "reads " + name(id) + ", which its constants lack");
      } else {
        report("V2.missing-input", id,
               "reads or writes " + name(id) + ", which is made outside of it, and not given it");
      }
    }
  }

  // Used behind this partition, in the same block or by who asked for the block's results;
  // `surely`: by its own name, and not through what may be a view of it.
  bool is_used_later(std::size_t place, std::uint32_t id, bool surely) const {
    const BufferSet& results = uses_.results[use_->block];
    if (results.contains(id)) return true;
    if (!surely) {
      for (const std::uint32_t result : results.ids()) {
        if (accesses_.may_lie_in[result].contains(id)) return true;
      }
    }
    for (std::size_t i = place + 1; i < uses_.all.size(); ++i) {
      const PartitionUse& later = uses_.all[i];
      if (later.block != use_->block) continue;
      if ((surely ? later.touched : later.reached).contains(id)) return true;
    }
    return false;
  }

  void check_outputs(std::size_t place) {
    BufferSet outputs;
    for (const spec::BufferId id : signature().outputs) {
      const bool is_new = outputs.insert(id.index);
      const bool handed_on = inputs_.contains(id.index) && !freed_.contains(id.index);
      const bool made = use_->made.contains(id.index) && is_used_later(place, id.index, false);
      if (is_new && (handed_on || made)) continue;
      report("V2.superfluous-output", id.index,
             is_new ? "hands on " + name(id.index) + ", which nothing uses behind it"
                    : "hands on " + name(id.index) + " twice");
    }
    for (const std::uint32_t id : use_->made.ids()) {
      if (outputs.contains(id) || !is_used_later(place, id, true)) continue;
      report("V2.missing-output", id,
             "makes " + name(id) + ", which is used behind it, and does not hand it on");
    }
    for (const std::uint32_t id : inputs_.ids()) {
      if (outputs.contains(id) || freed_.contains(id)) continue;
      report("V2.missing-output", id,
             "is given " + name(id) + ", and neither frees it nor hands it on");
    }
  }

  std::string name(std::uint32_t id) const { return buffer_name(plan_, spec::BufferId{id}); }

  void report(std::string rule, std::uint32_t id, const std::string& words) {
    out_.push_back(buffer_finding(plan_, id, std::move(rule),
                                  PartitionUses::name_of(plan_, *use_) + " " + words));
  }

  const spec::Plan& plan_;
  const Accesses& accesses_;
  const PartitionUses& uses_;
  Findings& out_;
  const PartitionUse* use_ = nullptr;
  BufferSet inputs_;
  BufferSet freed_;
  BufferSet constants_;
};

}  // namespace

void check_signatures(const RuleCase& rule_case, Findings& out) {
  SignatureCheck(rule_case, out).check();
}

}  // namespace graphgate::verify
