// Plans of golden models, each changed in one place: check_plan or the verifier must say so.
#include "conformance/mutations/plan_mutations.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "conformance/verify/happens_before.h"
#include "conformance/verify/verify.h"
#include "spec/plan_diff.h"
#include "tools/tests/cross/plan_samples_test.h"

namespace graphgate {
namespace {

using conformance::PlanMutation;

TEST(PlanMutations, LeaveRightPlansWithoutAFinding) {
  for (const Sample& sample : samples()) {
    for (const auto& finding : findings_of_sample(sample, sample.plan)) {
      ADD_FAILURE() << sample.name << ": " << finding.rule << " " << finding.message;
    }
  }
}

// What a mutation is caught by: its judge, or another one that needs no run.
bool is_caught(const Sample& sample, const spec::Plan& changed) {
  return !findings_of_sample(sample, changed).empty();
}

class EveryMutation : public testing::TestWithParam<PlanMutation> {};

TEST_P(EveryMutation, AppliesAndIsCaught) {
  const PlanMutation& mutation = GetParam();
  constexpr std::uint64_t kSeeds[] = {0, 1, 7, 1'000'003};
  int applied = 0;
  for (const Sample& sample : samples()) {
    for (const std::uint64_t seed : kSeeds) {
      spec::Plan changed = sample.plan;
      if (!conformance::apply_mutation(mutation, changed, seed)) {
        EXPECT_EQ(changed, sample.plan);
        break;
      }
      ++applied;
      EXPECT_NE(changed, sample.plan);
      EXPECT_EQ(spec::check_plan(changed).ok(), mutation.well_formed);
      const bool is_static = mutation.judge == "verifier" || mutation.judge == "happens-before";
      if (!mutation.well_formed || !is_static) continue;
      if (is_caught(sample, changed)) continue;
      std::string changes;
      for (const auto& line : spec::diff_plans(sample.plan, changed)) changes += "\n  " + line;
      ADD_FAILURE() << sample.name << ", seed " << seed << ":" << changes;
    }
  }
  EXPECT_GT(applied, 0);
}

INSTANTIATE_TEST_SUITE_P(All, EveryMutation,
                         testing::ValuesIn(conformance::plan_mutations().begin(),
                                           conformance::plan_mutations().end()),
                         [](const auto& mutation) {
                           std::string name(mutation.param.name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// --- Events -------------------------------------------------------------------------------------

// A wait of a plan on several streams.
struct Wait {
  std::size_t sample = 0;
  std::size_t step = 0;
  std::size_t index = 0;
};

std::vector<Wait> waits() {
  std::vector<Wait> out;
  for (std::size_t s = 0; s < samples().size(); ++s) {
    const auto& steps = samples()[s].plan.steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (std::size_t w = 0; w < steps[i].waits.size(); ++w) out.push_back({s, i, w});
    }
  }
  return out;
}

// The steps that must be over before each step of its partition begins, edge by edge.
std::vector<std::set<std::size_t>> closure_of(const spec::Plan& plan,
                                              const spec::PlanPartition& partition) {
  std::vector<std::set<std::size_t>> before(plan.steps.size());
  const auto follow = [&](std::size_t step, std::size_t earlier) {
    before[step].insert(earlier);
    before[step].insert(before[earlier].begin(), before[earlier].end());
  };
  for (std::size_t i = partition.begin_step; i < partition.end_step; ++i) {
    std::map<std::uint32_t, std::size_t> recorder;  // of each event, as of step i
    for (std::size_t k = partition.begin_step; k < i; ++k) {
      if (plan.steps[k].stream == plan.steps[i].stream) follow(i, k);
      for (const spec::EventId event : plan.steps[k].records) recorder[event.index] = k;
    }
    for (const spec::EventId event : plan.steps[i].waits) {
      if (recorder.contains(event.index)) follow(i, recorder[event.index]);
    }
  }
  return before;
}

// Whether two steps of a captured partition that nothing orders touch one byte, one of them to
// write.
bool has_race(const spec::Plan& plan) {
  const verify::Accesses accesses = verify::accesses_of(plan, spec::builtin_op_table());
  std::map<std::uint32_t, std::vector<const verify::Access*>> by_step;
  for (const verify::Access& access : accesses.all) by_step[access.step].push_back(&access);
  for (const spec::PlanBlock& block : plan.blocks) {
    for (const spec::PlanPartition& partition : block.partitions) {
      if (!partition.captured) continue;
      const auto before = closure_of(plan, partition);
      for (std::uint32_t b = partition.begin_step; b < partition.end_step; ++b) {
        for (std::uint32_t a = partition.begin_step; a < b; ++a) {
          if (before[b].contains(a)) continue;
          for (const auto* x : by_step[a]) {
            for (const auto* y : by_step[b]) {
              if ((x->writes || y->writes) && accesses.shared_bytes(*x, *y)) return true;
            }
          }
        }
      }
    }
  }
  return false;
}

// Every plan without one of its waits is caught, exactly if the order does not follow from others.
RC_GTEST_PROP(EventWaits, AreMissedWhenTheyAreGone, ()) {
  static const std::vector<Wait> kWaits = waits();
  RC_ASSERT(kWaits.size() > 20U);
  const Wait wait = *rc::gen::elementOf(kWaits);
  const Sample& sample = samples()[wait.sample];
  spec::Plan plan = sample.plan;
  auto& list = plan.steps[wait.step].waits;
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(wait.index));
  const auto findings = findings_of_sample(sample, plan);
  const bool is_found = std::any_of(findings.begin(), findings.end(), [](const auto& finding) {
    return finding.rule.starts_with("HB.");
  });
  RC_ASSERT(is_found == has_race(plan));
  RC_TAG(is_found ? "race" : "implied by others");
}

}  // namespace
}  // namespace graphgate
