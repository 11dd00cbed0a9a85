#include "spec/plan_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "spec/test_plans.h"

namespace graphgate::spec {
namespace {

std::string print(const Plan& plan) { return print_plan(plan, builtin_op_table()); }

TEST(PlanText, PrintsCanonicalTextAsItWas) { EXPECT_EQ(print(parse_sample(kFullPlan)), kFullPlan); }

TEST(PlanText, ReadsWhatAnExecutorMade) {
  const Plan plan = parse_sample(kFullPlan);
  must(check_plan(plan));
  EXPECT_EQ(plan.event_count, 2U);
  EXPECT_EQ(plan.symbols.at("s1"), -1);
  EXPECT_EQ(plan.pools[1], (PlanPool{"slots", PoolKind::kInput, {"cuda", 1}, 1024, 1}));
  EXPECT_EQ(plan.buffers[1], (PlanBuffer{"x", PoolId{1}, 3, 512}));
  EXPECT_EQ(plan.inputs[5].constant, Argument{true});
  ASSERT_EQ(plan.steps.size(), 15U);
  const PlanStep& mm = plan.steps[1];
  EXPECT_EQ(mm.node.name, "mm");
  EXPECT_EQ(mm.workspace, BufferId{4});
  EXPECT_EQ(mm.stream, 1U);
  EXPECT_EQ(mm.waits, (std::vector{EventId{0}, EventId{1}}));
  EXPECT_EQ(plan.steps[2].node.results[0].values[0], mm.node.results[0].values[0]);
  EXPECT_EQ(plan.steps[2].node.name, plan.steps[4].node.name);
  EXPECT_TRUE(plan.steps[3].node.results[0].is_list);
  EXPECT_EQ(*plan.steps[7].node.arguments[1].argument.as<SubgraphId>(), SubgraphId{1});
  const PlanBlock& main = plan.blocks[0];
  ASSERT_EQ(main.partitions.size(), 4U);
  EXPECT_EQ(main.partitions[1].reason, "conditional \"op\"");
  EXPECT_EQ(main.partitions[2].begin_step, main.partitions[2].end_step);
  EXPECT_EQ(main.partitions[3].end_step, 13U);
  EXPECT_TRUE(main.partitions[0].signature.inputs[1].deallocate);
  EXPECT_EQ(plan.blocks[1].partitions[0].begin_step, 13U);
  const PlanStep& update = plan.steps[5];
  const ValueId row = update.node.results[0].values[0];
  EXPECT_EQ(update.node.arguments[0].argument, Argument{row});
  EXPECT_EQ(plan.values[row.index].value.name, "the row");
  EXPECT_EQ(plan.values[row.index].buffer, BufferId{3});
}

TEST(PlanText, ReadsFusedStepsPaddingsLifetimesAndKeys) {
  const Plan plan = parse_sample(kFullPlan);
  EXPECT_EQ(plan.pools[4].kind, PoolKind::kCaller);
  EXPECT_EQ(plan.key.at("the \"second\""), "");
  using Dims = std::vector<std::optional<std::uint32_t>>;
  ASSERT_TRUE(plan.padding.has_value());
  EXPECT_EQ(plan.padding->symbol, "s0");
  EXPECT_EQ(plan.padding->input_dims, (Dims{{}, {}, {}, 0U, {}, {}, {}}));
  EXPECT_EQ(plan.padding->output_dims, (Dims{0U, {}, {}}));
  EXPECT_EQ(plan.output_lifetimes,
            (std::vector{OutputLifetime::kWeak, OutputLifetime::kStrong, OutputLifetime::kStrong}));
  const PlanStep& group = plan.steps[12];
  EXPECT_EQ(group.node.name, "group");
  EXPECT_EQ(group.node.arguments[0].name, "");
  EXPECT_EQ(group.stream, 1U);
  ASSERT_EQ(group.body.size(), 5U);
  const ValueId inner = group.body[0].results[0].values[0];
  EXPECT_FALSE(plan.values[inner.index].buffer.has_value());
  EXPECT_EQ(group.body[1].arguments[0].argument, Argument{inner});
  EXPECT_EQ(group.body[1].results, (std::vector{group.node.results[0]}));
  EXPECT_EQ(group.body[4].name, "node_4");
}

TEST(PlanText, NormalizesHandWrittenText) {
  EXPECT_EQ(print(parse_sample(R"(
# a comment
plan "p" fast {
  pool @a arena on cpu 64 align 1
  buffer $a @a [ 0, 64 )

  input user "x" %x : float32[4]{1} $a   # row-major
  block @main {
    partition 0 captured {
      %y : f32[4] $a = aten.add.Tensor(self=%x,
                                       other=%x) as y stream 0
    }
  }
  output %y
})")),
            R"(plan "p" fast {
  pool @a arena on cpu 64 align 1
  buffer $a @a [0, 64)
  input user "x" %x : f32[4] $a
  block @main {
    partition 0 captured {
      %y : f32[4] $a = aten.add.Tensor(%x, %x)
    }
  }
  output %y
}
)");
}

TEST(NumberPlan, MakesAnyNumberingTheOneOfTheText) {
  const Plan canonical = parse_sample(kFullPlan);
  Plan plan = canonical;
  plan.output_lifetimes.resize(plan.outputs.size());
  // The arm's steps go to the front, the first two values change places, and so do the last two,
  // views that nothing mentions.
  std::rotate(plan.steps.begin(), plan.steps.begin() + 13, plan.steps.end());
  for (PlanPartition& partition : plan.blocks[0].partitions) {
    partition.begin_step += 2;
    partition.end_step += 2;
  }
  plan.blocks[1].partitions[0].begin_step = 0;
  plan.blocks[1].partitions[0].end_step = 2;
  std::swap(plan.values[0], plan.values[1]);
  std::swap(plan.values[plan.values.size() - 2], plan.values.back());
  std::swap(plan.inputs[0].value, plan.inputs[1].value);
  plan.steps[3].node.arguments[1].argument = Argument{ValueId{1}};
  ASSERT_TRUE(check_plan(plan).ok()) << check_plan(plan).error().message;
  EXPECT_NE(plan, canonical);
  EXPECT_EQ(number_plan(plan), canonical);
  EXPECT_EQ(print(plan), print(canonical));
}

TEST(PlanText, GivesAViewItsLineWhereItIsMentionedFirst) {
  EXPECT_EQ(print(parse_sample(R"(plan "p" strict {
  pool @a arena on cpu 64 align 1
  buffer $a @a [0, 64)
  input user "x" %x : f32[4] $a
  block @main {
    partition 0 captured {
      view %unused : f32[] $a
      view %late : f32[1] $a
      view %early : f32[2] $a
      %y : f32[4] $a = aten.neg.default(%x)
      %z : f32[4] $a = aten.cat.default([%early, %early])
    }
    view %out : f32[3] $a
    output %late
  }
  output %out
})")),
            R"(plan "p" strict {
  pool @a arena on cpu 64 align 1
  buffer $a @a [0, 64)
  input user "x" %x : f32[4] $a
  block @main {
    partition 0 captured {
      %y : f32[4] $a = aten.neg.default(%x)
      view %early : f32[2] $a
      %z : f32[4] $a = aten.cat.default([%early, %early])
    }
    view %late : f32[1] $a
    output %late
  }
  view %out : f32[3] $a
  output %out
  view %unused : f32[] $a
}
)");
}

RC_GTEST_PROP(PlanText, RoundTripsDrawnPlans, (std::vector<std::uint16_t> genes)) {
  const Plan plan = draw_plan(genes);
  const auto checked = check_plan(plan);
  RC_ASSERT(checked.ok());
  const std::string text = print(plan);
  const auto again = parse_plan(text, builtin_op_table());
  RC_ASSERT(again.ok());
  RC_ASSERT(again.value() == plan);
  RC_ASSERT(print(again.value()) == text);
}

TEST(PlanText, RoundTripsThirtyThousandSteps) {
  std::vector<std::uint16_t> genes(30000);
  for (std::size_t i = 0; i < genes.size(); ++i) genes[i] = static_cast<std::uint16_t>(i * 31);
  const Plan plan = draw_plan(genes);
  ASSERT_TRUE(check_plan(plan).ok()) << check_plan(plan).error().message;
  EXPECT_TRUE(parse_sample(print(plan)) == plan);
}

}  // namespace
}  // namespace graphgate::spec
