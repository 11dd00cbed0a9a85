// Every golden model, planned in every way that the options offer: the verifier finds nothing.
#include <functional>

#include "base/result_test.h"
#include "conformance/verify/verify.h"
#include "optimized/optimized.h"
#include "reference/reference.h"
#include "spec/plan.h"
#include "tools/tests/cross/golden_models_test.h"

namespace graphgate {
namespace {

using optimized::MemoryStrategy;
using optimized::Options;
using optimized::PoolRule;

struct Way {
  std::string name;
  std::function<void(Options&)> set;
};

std::vector<Way> ways() {
  return {
      {"defaults", [](Options&) {}},
      {"no reuse", [](Options& o) { o.compile.memory.reuse = false; }},
      {"not in place", [](Options& o) { o.compile.memory.in_place = false; }},
      {"lines", [](Options& o) { o.compile.memory.strategy = MemoryStrategy::kLines; }},
      {"pools",
       [](Options& o) {
         o.compile.memory.strategy = MemoryStrategy::kPools;
         o.compile.memory.pool_rule = PoolRule::kCombined;
       }},
      {"outputs apart, weak",
       [](Options& o) {
         o.compile.memory.outputs_apart = true;
         o.runtime.weak_outputs = true;
         o.runtime.share_pools = true;
       }},
      {"an op a partition", [](Options& o) { o.compile.partition.max_nodes = 1; }},
      {"three streams",
       [](Options& o) {
         o.compile.streams.count = 3;
         o.compile.memory.strategy = MemoryStrategy::kLines;
         o.compile.partition.max_nodes = 7;
       }},
      {"reordered", [](Options& o) { o.compile.reorder.reorder = optimized::Reorder::kMinimize; }},
      {"split graph",
       [](Options& o) { o.compile.partition.mode = optimized::PartitionMode::kSplitGraph; }},
      {"nothing captured", [](Options& o) { o.compile.partition.capture = false; }},
      {"no passes",
       [](Options& o) {
         o.compile.passes.disabled = {"noop_elimination", "reinplace", "fuse_rms_norm",
                                      "fuse_silu_mul"};
       }},
      {"padded", [](Options& o) { o.runtime.capture_sizes = {1, 2, 4, 8, 16, 32, 64}; }},
  };
}

void expect_no_finding(const verify::PlanCase& plan_case, const std::string& name) {
  for (const spec::Finding& finding : verify::verify_plan(plan_case)) {
    ADD_FAILURE() << name << ": [" << finding.rule << "] " << finding.message << "\n"
                  << finding.drawing;
  }
}

class VerifiedModel : public testing::TestWithParam<std::string> {};

TEST_P(VerifiedModel, HasNoFindingInAnyPlan) {
  const Model model = read_model(GetParam());
  for (const Way& way : ways()) {
    Options options;
    way.set(options);
    const auto loaded = optimized::make_executor(options)->load(model.program);
    ASSERT_TRUE(loaded.ok()) << way.name << ": " << loaded.error().message;
    const spec::Plan* last = nullptr;
    for (const auto& call : model.calls) {
      ASSERT_TRUE(loaded.value()->call(call.inputs).ok()) << way.name;
      const spec::Plan* plan = loaded.value()->plan().get();
      ASSERT_NE(plan, nullptr);
      if (plan == last) continue;
      last = plan;
      verify::PlanCase plan_case{
          .plan = plan, .program = &model.program, .ops = &spec::builtin_op_table()};
      expect_no_finding(plan_case, way.name);
    }
  }
}

TEST_P(VerifiedModel, HasNoFindingAgainstWhatTheReferenceDid) {
  const Model model = read_model(GetParam());
  reference::Options provenance;
  provenance.mode = reference::Mode::kProvenance;
  const auto oracle = reference::make_executor(provenance)->load(model.program);
  const auto subject = optimized::make_executor()->load(model.program);
  ASSERT_TRUE(oracle.ok() && subject.ok());
  const auto& inputs = model.calls.front().inputs;
  const auto run = must(oracle.value()->call(inputs));
  ASSERT_FALSE(run.provenance.empty());
  ASSERT_TRUE(subject.value()->call(inputs).ok());
  verify::PlanCase plan_case{.plan = subject.value()->plan().get(),
                             .program = &model.program,
                             .ops = &spec::builtin_op_table(),
                             .facts_of_run = &run.provenance};
  expect_no_finding(plan_case, "against the run");
}

INSTANTIATE_TEST_SUITE_P(Models, VerifiedModel, testing::ValuesIn(model_paths()), model_name);

}  // namespace
}  // namespace graphgate
