#include "optimized/runtime/device/streams.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace graphgate::optimized {
namespace {

using Order = std::vector<std::uint32_t>;

spec::PlanStep step(std::uint32_t stream, std::vector<spec::EventId> waits = {},
                    std::vector<spec::EventId> records = {}) {
  spec::PlanStep out;
  out.stream = stream;
  out.waits = std::move(waits);
  out.records = std::move(records);
  return out;
}

// By pairs of steps: whether the first must come before the second. The transitive closure of
// neighbours on a stream and of events, which is all that the word means.
std::vector<std::vector<bool>> happens_before(const std::vector<spec::PlanStep>& steps) {
  std::vector<std::vector<bool>> before(steps.size(), std::vector<bool>(steps.size(), false));
  for (std::size_t b = 0; b < steps.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      bool ordered = steps[a].stream == steps[b].stream;
      for (const spec::EventId event : steps[b].waits) {
        const auto& records = steps[a].records;
        ordered |= std::find(records.begin(), records.end(), event) != records.end();
      }
      before[a][b] = ordered;
    }
  }
  for (std::size_t k = 0; k < steps.size(); ++k) {
    for (std::size_t a = 0; a < k; ++a) {
      for (std::size_t b = k + 1; b < steps.size(); ++b) {
        if (before[a][k] && before[k][b]) before[a][b] = true;
      }
    }
  }
  return before;
}

// Up to four streams; each step may record an event of its own, and wait for earlier ones.
std::vector<spec::PlanStep> any_steps() {
  std::vector<spec::PlanStep> steps;
  const auto count = *rc::gen::inRange<std::uint32_t>(1, 13);
  for (std::uint32_t s = 0; s < count; ++s) {
    steps.push_back(step(*rc::gen::inRange(0U, 4U), {}, {{s}}));
    for (std::uint32_t w = *rc::gen::inRange(0U, 3U); w > 0 && s > 0; --w) {
      steps.back().waits.push_back({*rc::gen::inRange(0U, s)});
    }
  }
  return steps;
}

std::vector<std::size_t> places_in(const Order& order) {
  std::vector<std::size_t> places(order.size(), order.size());
  for (std::size_t i = 0; i < order.size(); ++i) places[order[i]] = i;
  return places;
}

TEST(Interleave, KeepsProgramOrderForSeedZero) {
  const std::vector<spec::PlanStep> steps = {step(0), step(1), step(2), step(0)};
  EXPECT_EQ(interleave(steps, 0), (Order{0, 1, 2, 3}));
}

TEST(Interleave, KeepsProgramOrderOnOneStream) {
  const std::vector<spec::PlanStep> steps = {step(0), step(0), step(0)};
  for (std::uint64_t seed = 1; seed < 50; ++seed) {
    EXPECT_EQ(interleave(steps, seed), (Order{0, 1, 2}));
  }
}

TEST(Interleave, TakesNoSteps) { EXPECT_TRUE(interleave({}, 7).empty()); }

// The picture in the header: b is free to run anywhere, d stays behind c.
TEST(Interleave, FindsEveryOrderOfTwoStreamsWithAnEvent) {
  const std::vector<spec::PlanStep> steps = {step(0), step(1), step(0, {}, {{0}}), step(1, {{0}})};
  std::set<Order> orders;
  for (std::uint64_t seed = 1; seed < 200; ++seed) orders.insert(interleave(steps, seed));
  EXPECT_EQ(orders, (std::set<Order>{{0, 1, 2, 3}, {0, 2, 1, 3}, {1, 0, 2, 3}}));
}

// What records the event later has not recorded it when the wait is submitted, so nothing waits.
TEST(Interleave, WaitsForEarlierStepsOnly) {
  const std::vector<spec::PlanStep> steps = {step(0, {{0}, {7}}), step(1, {}, {{0}})};
  std::set<Order> orders;
  for (std::uint64_t seed = 1; seed < 50; ++seed) orders.insert(interleave(steps, seed));
  EXPECT_EQ(orders, (std::set<Order>{{0, 1}, {1, 0}}));
}

RC_GTEST_PROP(Interleave, IsAnOrderThatStreamsAndEventsAllow, ()) {
  const std::vector<spec::PlanStep> steps = any_steps();
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const Order order = interleave(steps, seed);
  RC_ASSERT(order == interleave(steps, seed));
  Order sorted = order;
  std::sort(sorted.begin(), sorted.end());
  Order all(steps.size());
  std::iota(all.begin(), all.end(), 0U);
  RC_ASSERT(sorted == all);
  const auto before = happens_before(steps);
  const auto place = places_in(order);
  for (std::size_t a = 0; a < steps.size(); ++a) {
    for (std::size_t b = 0; b < steps.size(); ++b) {
      if (before[a][b]) RC_ASSERT(place[a] < place[b]);
    }
  }
}

// A race between any two steps shows under some seed.
RC_GTEST_PROP(Interleave, RunsWhatNothingOrdersInBothOrders, ()) {
  const std::vector<spec::PlanStep> steps = any_steps();
  const std::size_t count = steps.size();
  std::vector<std::vector<bool>> seen(count, std::vector<bool>(count, false));
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const auto place = places_in(interleave(steps, seed));
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < count; ++b) {
        if (place[a] < place[b]) seen[a][b] = true;
      }
    }
  }
  const auto before = happens_before(steps);
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = a + 1; b < count; ++b) RC_ASSERT(before[a][b] != seen[b][a]);
  }
}

}  // namespace
}  // namespace graphgate::optimized
