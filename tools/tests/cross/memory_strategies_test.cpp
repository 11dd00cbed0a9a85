// Every golden model with every way of planning memory: right plans, and the same bits.
#include "base/result_test.h"
#include "conformance/run/runs.h"
#include "optimized/memory/placement_stats.h"
#include "optimized/optimized.h"
#include "spec/plan.h"
#include "tools/tests/cross/golden_models_test.h"

namespace graphgate {
namespace {

using optimized::MemoryOptions;
using optimized::MemoryStrategy;
using optimized::PoolRule;

struct ModelRuns {
  std::vector<spec::CallResult> calls;
  std::vector<spec::Plan> plans;
};

// Every recorded call twice over, on one loaded program.
ModelRuns run_model(const std::string& path, const MemoryOptions& memory) {
  const Model model = read_model(path);
  optimized::Options options;
  options.compile.memory = memory;
  const auto executor = optimized::make_executor(options);
  auto loaded = executor->load(model.program);
  EXPECT_TRUE(loaded.ok()) << loaded.error().message;
  ModelRuns run;
  for (int round = 0; loaded.ok() && round < 2; ++round) {
    for (const auto& call : model.calls) {
      auto result = must(loaded.value()->call(call.inputs));
      run.calls.push_back(std::move(result));
      run.plans.push_back(*loaded.value()->plan());
    }
  }
  return run;
}

std::int64_t arena_bytes(const spec::Plan& plan) {
  std::int64_t bytes = 0;
  for (const auto& stats : optimized::placement_stats(plan)) bytes += stats.peak_bytes;
  return bytes;
}

std::vector<std::pair<std::string, MemoryOptions>> strategies() {
  std::vector<std::pair<std::string, MemoryOptions>> out;
  const auto add = [&](const std::string& name, MemoryStrategy strategy, PoolRule rule) {
    for (const bool in_place : {true, false}) {
      MemoryOptions options;
      options.strategy = strategy;
      options.pool_rule = rule;
      options.in_place = in_place;
      out.emplace_back(name + (in_place ? ", in place" : ""), options);
    }
  };
  add("pack", MemoryStrategy::kPack, PoolRule::kIntermediates);
  add("lines", MemoryStrategy::kLines, PoolRule::kIntermediates);
  add("pools", MemoryStrategy::kPools, PoolRule::kIntermediates);
  add("pools, none", MemoryStrategy::kPools, PoolRule::kNone);
  add("pools, outputs", MemoryStrategy::kPools, PoolRule::kOutputs);
  add("pools, combined", MemoryStrategy::kPools, PoolRule::kCombined);
  MemoryOptions apart;
  apart.outputs_apart = true;
  out.emplace_back("pack, outputs apart", apart);
  apart.strategy = MemoryStrategy::kLines;
  out.emplace_back("lines, outputs apart", apart);
  return out;
}

class EveryStrategy : public testing::TestWithParam<std::string> {};

TEST_P(EveryStrategy, HasRightPlansAndTheSameBitsInEveryWay) {
  MemoryOptions plain;
  plain.reuse = false;
  const ModelRuns expected = run_model(GetParam(), plain);
  for (const auto& [name, memory] : strategies()) {
    const ModelRuns run = run_model(GetParam(), memory);
    ASSERT_EQ(run.calls.size(), expected.calls.size()) << name;
    for (std::size_t i = 0; i < run.calls.size(); ++i) {
      EXPECT_EQ(first_difference(run.calls[i], expected.calls[i]), "") << name << ", call " << i;
      must(spec::check_plan(run.plans[i]), name);
      const auto shared = optimized::find_shared_bytes(run.plans[i]);
      EXPECT_FALSE(shared.has_value())
          << name << ": " << run.plans[i].buffers[shared->first.index].name << " and "
          << run.plans[i].buffers[shared->second.index].name;
      EXPECT_LE(arena_bytes(run.plans[i]), arena_bytes(expected.plans[i])) << name;
    }
  }
}

TEST_P(EveryStrategy, PacksWithinFivePercentOfWhatLivesAtOneTime) {
  const ModelRuns in_place = run_model(GetParam(), {});
  MemoryOptions options;
  options.in_place = false;
  const ModelRuns apart = run_model(GetParam(), options);
  ASSERT_EQ(in_place.plans.size(), apart.plans.size());
  for (std::size_t i = 0; i < in_place.plans.size(); ++i) {
    for (const auto& stats : optimized::placement_stats(in_place.plans[i])) {
      EXPECT_LE(stats.bound_bytes, stats.peak_bytes);
      EXPECT_LE(stats.peak_bytes * 20, stats.bound_bytes * 21);
    }
    EXPECT_LE(arena_bytes(in_place.plans[i]), arena_bytes(apart.plans[i]));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EveryStrategy, testing::ValuesIn(model_paths()), model_name);

}  // namespace
}  // namespace graphgate
