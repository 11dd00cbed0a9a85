#include "optimized/runtime/device/call_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "optimized/codegen/copy_work.h"
#include "optimized/codegen/join_works.h"
#include "optimized/codegen/touched.h"

namespace graphgate::optimized {
namespace {

using spec::EventId;

DeviceCall call(std::uint32_t stream, std::vector<EventId> waits = {},
                std::vector<EventId> records = {}) {
  DeviceCall out;
  out.name = "k";
  out.stream = stream;
  out.waits = std::move(waits);
  out.records = std::move(records);
  return out;
}

// "0: -; 1: 0; 2: 0 & 1": what each call is behind, the one ahead first.
std::string text_of(const std::vector<CallPlace>& places) {
  std::string text;
  for (std::size_t c = 0; c < places.size(); ++c) {
    text += (c == 0 ? "" : "; ") + std::to_string(c) + ": " +
            (places[c].ahead ? std::to_string(*places[c].ahead) : "-");
    for (const std::size_t other : places[c].awaited) text += " & " + std::to_string(other);
  }
  return text;
}

// The picture in the header.
TEST(CallOrder, IsWhatStreamsAndEventsSay) {
  const std::vector<DeviceCall> calls = {call(0), call(1, {}, {{0}}), call(1), call(0, {{0}})};
  const auto places = places_of(calls);
  EXPECT_EQ(text_of(places), "0: -; 1: -; 2: 1; 3: 0 & 1");
  EXPECT_TRUE(edges_of(places, false) ==
              (std::vector<CapturedEdge>{{0, 3, 0}, {1, 2, 0}, {1, 3, 0}}));
  // Only what is behind the one ahead alone may begin early.
  EXPECT_TRUE(edges_of(places, true) ==
              (std::vector<CapturedEdge>{{0, 3, 0}, {1, 2, 1}, {1, 3, 0}}));
}

TEST(CallOrder, TakesTheLastOfEachStreamAndNothingThatIsThereAnyway) {
  const std::vector<DeviceCall> calls = {call(1, {}, {{0}}),       call(1, {}, {{1}}),
                                         call(2, {}, {{2}}),       call(0, {}, {{3}}),
                                         call(0, {{2}, {1}, {0}}), call(0, {{3}, {9}})};
  EXPECT_EQ(text_of(places_of(calls)), "0: -; 1: 0; 2: -; 3: -; 4: 3 & 1 & 2; 5: 4");
}

TEST(CallOrder, HasALastCallBehindAllStreams) {
  std::vector<DeviceCall> calls = {call(1, {}, {{4}}), call(2), call(1, {{7}}), call(0)};
  add_behind_all(calls, call(3));
  ASSERT_EQ(calls.size(), 5U);
  EXPECT_EQ(calls.back().stream, 0U);
  EXPECT_EQ(text_of(places_of(calls)), "0: -; 1: -; 2: 0; 3: -; 4: 3 & 1 & 2");
  std::vector<DeviceCall> alone = {call(0)};
  add_behind_all(alone, call(0));
  EXPECT_TRUE(alone.back().waits.empty());
}

// Copies between floats of one memory, eight to a place.
class Copies {
 public:
  DeviceWorks copy(std::size_t to, std::size_t from) { return {copy_work(at(to), at(from))}; }
  Tensor at(std::size_t place) {
    return Tensor{.dtype = spec::DType::kFloat32,
                  .sizes = {8},
                  .strides = {1},
                  .bytes = memory_.data() + 32 * place};
  }

 private:
  std::vector<std::byte> memory_ = std::vector<std::byte>(std::size_t{32} * 64);
};

bool writes(const DeviceCall& call, const Tensor& tensor) {
  return std::any_of(call.accesses.begin(), call.accesses.end(), [&](const DeviceAccess& access) {
    return access.is_written && access.tensor.data() == tensor.data();
  });
}

struct Steps {
  std::vector<DeviceWorks> works;
  std::vector<spec::PlanStep> steps;
  void add(DeviceWorks of_step, std::uint32_t stream, std::vector<EventId> waits = {},
           std::vector<EventId> records = {}) {
    works.push_back(std::move(of_step));
    spec::PlanStep& step = steps.emplace_back();
    step.stream = stream;
    step.waits = std::move(waits);
    step.records = std::move(records);
  }
  [[nodiscard]] StepCalls calls() const {
    std::vector<DeviceStep> out;
    for (std::uint32_t s = 0; s < steps.size(); ++s) {
      out.push_back({s, &works[s], steps[s].stream, steps[s].waits, steps[s].records});
    }
    DeviceProgramText text;
    return calls_of_steps(text, out);
  }
};

TEST(StepCalls, AreAllJoinedOnOneStream) {
  Copies copies;
  Steps steps;
  DeviceWorks all;
  for (std::size_t s = 0; s < 6; ++s) {
    steps.add(copies.copy(s + 1, s % 2 == 0 ? s : 40 + s), 0);
    all.insert(all.end(), steps.works.back().begin(), steps.works.back().end());
  }
  DeviceProgramText text;
  const std::vector<DeviceCall> joined = text.add(join_works(all));
  const StepCalls made = steps.calls();
  ASSERT_EQ(made.calls.size(), joined.size());
  EXPECT_LT(joined.size(), 6U);
  for (std::size_t c = 0; c < joined.size(); ++c) {
    EXPECT_EQ(made.calls[c].name, joined[c].name);
    EXPECT_EQ(made.calls[c].pointers, joined[c].pointers);
    EXPECT_TRUE(made.calls[c].waits.empty() && made.calls[c].records.empty());
    EXPECT_EQ(made.steps[c].first, 0U);
    EXPECT_EQ(made.steps[c].last, 5U);
  }
}

// 0 and 1 could share a kernel with 3, were it not for the event between.
TEST(StepCalls, AreNotJoinedOverWhatOthersWaitFor) {
  Copies copies;
  Steps steps;
  steps.add(copies.copy(1, 0), 0);
  steps.add(copies.copy(3, 2), 0, {}, {{0}});
  steps.add(copies.copy(5, 3), 1, {{0}}, {{1}});
  steps.add(copies.copy(7, 6), 0);
  steps.add(copies.copy(8, 5), 0, {{1}});
  const StepCalls made = steps.calls();
  ASSERT_EQ(made.calls.size(), 4U);
  EXPECT_EQ(text_of(places_of(made.calls)), "0: -; 1: - & 0; 2: 0; 3: 2 & 1");
  EXPECT_TRUE(writes(made.calls[0], copies.at(1)) && writes(made.calls[0], copies.at(3)));
  EXPECT_TRUE(writes(made.calls[1], copies.at(5)));
  EXPECT_TRUE(writes(made.calls[2], copies.at(7)));
  EXPECT_EQ(made.steps[0].last, 1U);
  EXPECT_EQ(made.steps[3].first, 4U);
}

// By pairs of steps: whether the first comes before the second, as the plan says.
std::vector<std::vector<bool>> happens_before(const std::vector<spec::PlanStep>& steps) {
  std::vector<std::vector<bool>> before(steps.size(), std::vector<bool>(steps.size()));
  for (std::size_t b = 0; b < steps.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      bool is_next = steps[a].stream == steps[b].stream;
      for (const EventId event : steps[b].waits) {
        const auto& records = steps[a].records;
        is_next |= std::find(records.begin(), records.end(), event) != records.end();
      }
      if (!is_next) continue;
      before[a][b] = true;
      for (std::size_t c = 0; c < a; ++c) {
        if (before[c][a]) before[c][b] = true;
      }
    }
  }
  return before;
}

std::vector<std::vector<bool>> paths(const std::vector<CapturedEdge>& edges, std::size_t count) {
  std::vector<std::vector<bool>> out(count, std::vector<bool>(count));
  for (std::size_t to = 0; to < count; ++to) {
    for (const CapturedEdge& edge : edges) {
      if (edge.to != to) continue;
      out[edge.from][to] = true;
      for (std::size_t c = 0; c < edge.from; ++c) {
        if (out[c][edge.from]) out[c][to] = true;
      }
    }
  }
  return out;
}

// Every step but some writes a place of its own.
Steps drawn_steps(std::mt19937& random, Copies& copies) {
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  Steps steps;
  const std::uint32_t count = 2 + below(12);
  for (std::uint32_t s = 0; s < count; ++s) {
    std::vector<EventId> waits;
    for (std::uint32_t w = below(3); w > 0 && s > 0; --w) waits.push_back({below(s)});
    DeviceWorks works;
    if (below(4) != 0) works = copies.copy(s, 40 + below(20));
    std::vector<EventId> records;
    if (below(2) == 0) records = {{s}};
    steps.add(std::move(works), below(4), std::move(waits), std::move(records));
  }
  return steps;
}

TEST(StepCalls, AreInTheOrderOfThePlanAcrossStreamsAndInNoOther) {
  std::size_t ordered = 0;
  std::size_t free = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    Copies copies;
    const Steps steps = drawn_steps(random, copies);
    const auto before = happens_before(steps.steps);
    const std::vector<DeviceCall> calls = steps.calls().calls;
    const auto path = paths(edges_of(places_of(calls), false), calls.size());
    const auto call_of = [&](std::size_t step) {
      const auto found = std::find_if(calls.begin(), calls.end(), [&](const DeviceCall& one) {
        return writes(one, copies.at(step));
      });
      return static_cast<std::size_t>(found - calls.begin());
    };
    for (std::size_t b = 0; b < steps.steps.size(); ++b) {
      for (std::size_t a = 0; a < b; ++a) {
        if (steps.works[a].empty() || steps.works[b].empty()) continue;
        const std::size_t call_a = call_of(a);
        const std::size_t call_b = call_of(b);
        ASSERT_LT(std::max(call_a, call_b), calls.size());
        if (steps.steps[a].stream == steps.steps[b].stream) {
          ASSERT_FALSE(path[call_b][call_a] && !path[call_a][call_b] &&
                       may_share_bytes(copies.at(a), copies.at(b)));
          continue;
        }
        ASSERT_EQ(path[call_a][call_b], before[a][b]) << "seed " << seed << ": " << a << ", " << b;
        ASSERT_FALSE(path[call_b][call_a]) << "seed " << seed << ": " << a << ", " << b;
        ++(before[a][b] ? ordered : free);
      }
    }
  }
  EXPECT_GT(ordered, 500U);
  EXPECT_GT(free, 500U);
}

}  // namespace
}  // namespace graphgate::optimized
