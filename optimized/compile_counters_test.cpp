#include "optimized/compile_counters.h"

#include <gtest/gtest.h>

namespace graphgate::optimized {
namespace {

TEST(CompileCounters, TellIntentFromWhatHappened) {
  CompileCounters before;
  before.plans_compiled = 5;
  CompileCounters after = before;
  after.plans_compiled += 2;
  after.cache_misses += 1;
  EXPECT_EQ(unmet(before, after, {.plans_compiled = 2}), "");
  EXPECT_EQ(unmet(before, after, {.plans_compiled = 1, .cache_hits = 1}),
            "plans_compiled grew by 2, expected 1; cache_hits grew by 0, expected 1");
}

TEST(CompileCounters, ArePrintedByName) {
  EXPECT_EQ(print_counters({}), "nothing");
  CompileCounters counters;
  counters.graphs_seen = 1;
  counters.artifacts_loaded = 3;
  EXPECT_EQ(print_counters(counters), "graphs_seen 1, artifacts_loaded 3");
}

}  // namespace
}  // namespace graphgate::optimized
