// Memory that is given back between calls while graphs stay, and what each wrong decision does.
#include <gtest/gtest.h>

#include "optimized/runtime/session_test.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;
using spec::SleepPart;
using Values = std::vector<float>;

// y = w * x + k, and k counts calls; f is read, and never written.
constexpr const char* kModel = R"(program "model" {
  parameter %w "w" : f32[2] = [2.0, 3.0]
  buffer %k "k" : f32[2] = [0.0, 0.0]
  buffer %f "f" : f32[2] = [10.0, 20.0]
  input %x : f32[2]
  %n = aten.add_.Tensor(%k, 1.0)
  %p = aten.mul.Tensor(%w, %x)
  %q = aten.add.Tensor(%p, %f)
  %y = aten.add.Tensor(%q, %k)
  output %y
})";

Inputs ones() { return {f32({2}, {1, 1})}; }

void sleep(const Loaded& loaded, int level, std::vector<std::string> caches = {}) {
  EXPECT_TRUE(must(loaded.executor->sleep({level, std::move(caches)})));
}
void wake(const Loaded& loaded, std::optional<SleepPart> part = {}) {
  must(loaded.executor->wake(part));
}
void set(const Loaded& loaded, const char* target, const Values& values) {
  must(loaded.session->set_state(target, f32({2}, values), false));
}

std::vector<Options> all_ways() {
  std::vector<Options> ways(4);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    ways[i].runtime.wakes_elsewhere = i % 2 == 1;
    ways[i].runtime.sleep_drops_graphs = i / 2 == 1;
  }
  return ways;
}

TEST(Sleep, OfLevelOneKeepsAllContents) {
  for (const Options& options : all_ways()) {
    const Loaded loaded(kModel, options);
    EXPECT_EQ(loaded.run(ones()), (Values{13, 24}));
    for (float calls = 2; calls < 5; ++calls) {
      sleep(loaded, 1);
      wake(loaded);
      EXPECT_EQ(loaded.run(ones()), (Values{12 + calls, 23 + calls}));
    }
  }
}

TEST(Sleep, OfLevelTwoLosesParametersAndKeepsBuffers) {
  for (const Options& options : all_ways()) {
    const Loaded loaded(kModel, options);
    (void)loaded.run(ones());
    sleep(loaded, 2);
    wake(loaded);
    EXPECT_NE(loaded.run(ones()), (Values{14, 25})) << "nobody has loaded the parameter";
    set(loaded, "w", {5, 5});
    EXPECT_EQ(loaded.run(ones()), (Values{18, 28}));
  }
}

TEST(Sleep, LosesCachesAtBothLevels) {
  for (const int level : {1, 2}) {
    const Loaded loaded(kModel);
    (void)loaded.run(ones());
    sleep(loaded, level, {"k"});
    wake(loaded);
    set(loaded, "w", {2, 3});
    set(loaded, "k", {100, 100});
    EXPECT_EQ(loaded.run(ones()), (Values{113, 124}));
  }
}

TEST(Sleep, RefusesCallsAndNewContentsUntilAllIsAwake) {
  const auto first_error = [](const Options& options) {
    const Loaded loaded(kModel, options);
    (void)loaded.run(ones());
    sleep(loaded, 1, {"k"});
    return loaded.error(ones());
  };
  EXPECT_EQ(first_error({}), "model: its weights are asleep: wake the executor first");
  EXPECT_EQ(first_error(with_deviation(Deviation::kRunsWhileAsleep)), "");

  const Loaded loaded(kModel);
  (void)loaded.run(ones());
  sleep(loaded, 1, {"k"});
  EXPECT_EQ(message_of(loaded.session->set_state("w", f32({2}, {1, 1}), false)),
            "model: state 'w' is asleep");
  wake(loaded, SleepPart::kWeights);
  EXPECT_EQ(loaded.error(ones()), "model: its cache is asleep: wake the executor first");
  set(loaded, "w", {4, 4});
  EXPECT_EQ(message_of(loaded.session->set_state("k", f32({2}, {1, 1}), false)),
            "model: state 'k' is asleep");
  wake(loaded, SleepPart::kCaches);
  set(loaded, "k", {0, 0});
  EXPECT_EQ(loaded.run(ones()), (Values{15, 25}));
}

TEST(Sleep, LoadsNoProgramMeanwhile) {
  const Loaded loaded(kModel);
  sleep(loaded, 1);
  sleep(loaded, 2);
  EXPECT_EQ(message_of(loaded.executor->load(*loaded.program)), "model: the executor is asleep");
  wake(loaded);
  EXPECT_TRUE(loaded.executor->load(*loaded.program).ok());
  EXPECT_EQ(loaded.run(ones()), (Values{13, 24})) << "asleep before its first call";
}

// What the second call returns behind a sleep of level 1.
Values behind_a_sleep(const Options& options, int level = 1) {
  const Loaded loaded(kModel, options);
  (void)loaded.run(ones());
  sleep(loaded, level);
  wake(loaded);
  if (level == 2) set(loaded, "w", {2, 3});
  return loaded.run(ones());
}

TEST(Sleep, BringsContentsBackUnlessAsked) {
  EXPECT_NE(behind_a_sleep(with_deviation(Deviation::kWakesWithoutContents)), (Values{14, 25}));
}

TEST(Sleep, OfLevelTwoLosesBuffersWhenAsked) {
  EXPECT_EQ(behind_a_sleep({}, 2), (Values{14, 25}));
  const Options loses = with_deviation(Deviation::kSleepLosesBuffers);
  EXPECT_NE(behind_a_sleep(loses, 2), (Values{14, 25}));
  EXPECT_EQ(behind_a_sleep(loses, 1), (Values{14, 25}));
}

TEST(Sleep, RecordsGraphsAnewWhereMemoryWokeElsewhereUnlessAsked) {
  Options options = with_deviation(Deviation::kReplaysWhereItSlept);
  EXPECT_EQ(behind_a_sleep(options), (Values{14, 25})) << "all lies where it lay";
  options.runtime.wakes_elsewhere = true;
  EXPECT_NE(behind_a_sleep(options), (Values{14, 25}));
}

TEST(Sleep, RecordsDroppedGraphsAnewUnlessAsked) {
  Options options = with_deviation(Deviation::kReplaysDroppedGraphs);
  EXPECT_EQ(behind_a_sleep(options), (Values{14, 25})) << "no graph is dropped";
  options.runtime.sleep_drops_graphs = true;
  EXPECT_NE(behind_a_sleep(options), (Values{14, 25}));
}

TEST(Sleep, LeavesRecordingsAloneWhereNothingMoves) {
  CompileCounters counters;
  Options options;
  options.compile.counters = &counters;
  const Loaded loaded(kModel, options);
  (void)loaded.run(ones());
  const std::int64_t before = counters.captures;
  sleep(loaded, 1);
  wake(loaded);
  (void)loaded.run(ones());
  EXPECT_EQ(counters.captures, before);
}

TEST(Sleep, LeavesHeldOutputsToTheirCallersUnlessAsked) {
  const auto held_over = [](const Options& options) {
    const Loaded loaded(kModel, options);
    (void)loaded.run(ones());
    const auto held = must(loaded.session->hold(0));
    sleep(loaded, 1);
    return floats(must(held->read()));
  };
  EXPECT_EQ(held_over({}), (Values{13, 24}));
  EXPECT_NE(held_over(with_deviation(Deviation::kSleepsOverHeldOutputs)), (Values{13, 24}));
}

TEST(Sleep, EndsWeakOutputs) {
  Options options;
  options.runtime.weak_outputs = true;
  const Loaded loaded(kModel, options);
  (void)loaded.run(ones());
  const auto held = must(loaded.session->hold(0));
  sleep(loaded, 1);
  EXPECT_EQ(message_of(held->read()),
            "output 0 of 'model' is weak: run 1 of its pool made it, and run 2, a sleep, "
            "took its place");
}

// Programs of one executor sleep together, over one pool.
TEST(Sleep, TakesAllProgramsOfAnExecutor) {
  for (Options options : all_ways()) {
    options.runtime.share_pools = true;
    const Loaded loaded(kModel, options);
    const auto other = must(loaded.executor->load(*loaded.program));
    (void)loaded.run(ones());
    must(other->call(ones()));
    sleep(loaded, 1);
    EXPECT_EQ(message_of(other->call(ones())),
              "model: its weights are asleep: wake the executor first");
    wake(loaded);
    EXPECT_EQ(floats(must(other->call(ones())).outputs[0]), (Values{14, 25}));
    EXPECT_EQ(loaded.run(ones()), (Values{14, 25}));
  }
}

// What was bound to new memory sleeps there, and so does what shares a storage.
TEST(Sleep, TakesStateThatWasBoundAnew) {
  for (const Options& options : all_ways()) {
    const Loaded loaded(kModel, options);
    (void)loaded.run(ones());
    must(loaded.session->set_state("f", f32({2}, {7, 7}), true));
    sleep(loaded, 1);
    wake(loaded);
    EXPECT_EQ(loaded.run(ones()), (Values{11, 12}));
  }
}

}  // namespace
}  // namespace graphgate::optimized
