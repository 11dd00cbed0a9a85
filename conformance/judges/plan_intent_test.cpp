#include "conformance/judges/plan_intent.h"

#include <algorithm>

#include "base/result_test.h"
#include "spec/plan_text.h"

namespace graphgate::conformance {
namespace {

// A plan with this block, over inputs %x and %c (a scalar on the CPU) and buffers $a, $b, $c0.
spec::Plan plan_with(const std::string& block) {
  const std::string text = R"(plan "p" strict {
  pool @in input on cuda 256 align 256
  pool @host input on cpu 256 align 256
  pool @heap heap on cuda 0 align 64
  pool @arena arena on cuda 768 align 256
  buffer $x @in [0, 64)
  buffer $c @host [0, 4)
  buffer $a @arena [0, 64)
  buffer $b @arena [256, 320)
  buffer $d @arena [512, 576)
  buffer $n @heap
  input user "x" %x : f32[16] on cuda $x
  input user "c" %c : f32[] $c
)" + block + "  output %x\n}\n";
  return must(spec::parse_plan(text, spec::builtin_op_table()));
}

// One partition with two steps that could run side by side.
std::string one_partition(const std::string& head) {
  return "  block @main {\n    partition 0 " + head + R"( {
      in $x
      %a : f32[16] on cuda $a = aten.relu.default(%x)
      %b : f32[16] on cuda $b = aten.neg.default(%x)
    }
  }
)";
}

// The rules found, in order.
std::vector<std::string> rules_of(const spec::Plan& plan, const Configuration& configuration,
                                  bool allocates = false,
                                  const spec::OpTable& ops = spec::builtin_op_table()) {
  IntentCase intent{.plan = &plan,
                    .ops = &ops,
                    .configuration = configuration,
                    .is_allocation = [&](const spec::PlanStep&) { return allocates; }};
  std::vector<std::string> rules;
  for (const spec::Finding& finding : judge_intent(intent)) rules.push_back(finding.rule);
  return rules;
}
using Rules = std::vector<std::string>;

TEST(Intent, FindsNothingInAPlainPlan) {
  EXPECT_EQ(rules_of(plan_with(one_partition("captured")), {}), Rules{});
  EXPECT_EQ(rules_of(plan_with(one_partition("captured")), {{"memory", "lines"}}), Rules{});
}

TEST(Intent, FindsACaptureThatLaunchesNothing) {
  EXPECT_EQ(rules_of(plan_with(one_partition("captured")), {}, true), Rules{"Q2.empty-capture"});
  EXPECT_EQ(rules_of(plan_with(one_partition("eager \"nothing to launch\"")), {}, true), Rules{});
}

// The rules found in a plan with this key, for a call with these flags.
Rules dispatched(const Configuration& configuration, std::map<std::string, std::string> key,
                 std::map<std::string, std::string> flags = {}) {
  spec::Plan plan = plan_with(one_partition("captured"));
  plan.key = std::move(key);
  IntentCase intent{.plan = &plan,
                    .ops = &spec::builtin_op_table(),
                    .configuration = configuration,
                    .call = {.mode = {}, .flags = std::move(flags)},
                    .is_allocation = [](const spec::PlanStep&) { return false; }};
  Rules rules;
  for (const spec::Finding& finding : judge_dispatch_intent(intent)) rules.push_back(finding.rule);
  return rules;
}

TEST(DispatchIntent, HoldsTheModeToWhatAttentionSupports) {
  const Rules wrong = {"Q7.dispatch"};
  const Configuration full = {
      {"mode", "full"}, {"attention-support", "uniform_batch"}, {"split-op", "aten.neg"}};
  EXPECT_EQ(dispatched(full, {{"mode", "full"}}), wrong);
  EXPECT_EQ(dispatched(full, {{"mode", "piecewise"}}), Rules{});
  EXPECT_EQ(dispatched(full, {{"mode", "full"}}, {{"uniform_decode", "true"}}), Rules{});
  EXPECT_EQ(dispatched(full, {{"mode", "none"}}), wrong) << "less than could be";
  EXPECT_EQ(dispatched({{"mode", "full"}}, {{"mode", "full"}}), Rules{});
  EXPECT_EQ(dispatched({{"mode", "full"}}, {{"mode", "full"}}, {{"cascade_attention", "true"}}),
            wrong);
  EXPECT_EQ(dispatched(full, {}), Rules{}) << "a key without a mode is another executor's";
}

TEST(DispatchIntent, ExpectsAModeOfEachKindOfBatch) {
  const Configuration asked = {{"attention-support", "never"}, {"mode", "full_and_piecewise"}};
  EXPECT_EQ(expected_mode(asked, {.mode = {}, .flags = {{"uniform_decode", "true"}}}), "piecewise");
  EXPECT_EQ(expected_mode({{"attention-support", "single_token_decode"},
                           {"mode", "full_decode_only"},
                           {"query-length", "2"}},
                          {}),
            "piecewise")
      << "mixed batches, too";
  EXPECT_EQ(expected_mode({}, {}), "piecewise");
  EXPECT_EQ(expected_mode({{"wrapper", "none"}}, {}), "none");
  EXPECT_EQ(expected_mode({{"no-capture", ""}}, {}), "piecewise")
      << "cut as ever, and nothing of it is captured";
  EXPECT_EQ(expected_mode({}, {.mode = spec::CallMode::kEager, .flags = {}}), "none");
}

TEST(DispatchIntent, HoldsAdaptersRequestsAndRanges) {
  const Rules wrong = {"Q7.dispatch"};
  const auto adapters = [](const char* claimed) {
    return dispatched({{"max-loras", "4"}}, {{"mode", "piecewise"}, {"lora", claimed}},
                      {{"lora", "3"}});
  };
  EXPECT_EQ(adapters("4"), Rules{});
  EXPECT_EQ(adapters("3"), wrong);
  EXPECT_EQ(
      dispatched({{"mode", "full"}, {"max-requests", "3"}}, {{"mode", "full"}, {"num_reqs", "4"}}),
      wrong);
  EXPECT_EQ(
      dispatched({{"mode", "full"}, {"max-requests", "4"}}, {{"mode", "full"}, {"num_reqs", "4"}}),
      Rules{});
}

// The cut that was asked for by name lies between two captures.
TEST(Intent, KnowsThatCutsWereAskedFor) {
  std::string text = one_partition("captured");
  text.insert(text.rfind("  }"), R"(    partition 1 captured {
      in $a
      %d : f32[16] on cuda $d = aten.abs.default(%a)
    }
)");
  const spec::Plan plan = plan_with(text);
  EXPECT_EQ(rules_of(plan, {}), Rules{"Q3.over-partitioned"});
  EXPECT_EQ(rules_of(plan, {{"cut-after", "b"}}), Rules{});
}

TEST(Intent, FindsResultsAtALesserAlignmentThanPromised) {
  spec::Plan plan = plan_with(one_partition("captured"));
  plan.pools.push_back({"loose", spec::PoolKind::kArena, {"cuda", -1}, 256, 16});
  plan.buffers.push_back({"u", spec::PoolId{4}, 16, 64});
  const auto lies_there = [&](std::uint32_t value) {
    plan.values[value].buffer = spec::BufferId{static_cast<std::uint32_t>(plan.buffers.size() - 1)};
  };
  const Configuration options = {{"unaligned-op", "aten.relu.default"}};
  EXPECT_EQ(rules_of(plan, options), Rules{});
  lies_there(plan.steps[0].node.results[0].values[0].index);
  EXPECT_EQ(rules_of(plan, options), Rules{}) << "the op that may";
  lies_there(plan.steps[1].node.results[0].values[0].index);
  EXPECT_EQ(rules_of(plan, options), Rules{"Q4.not-in-effect"}) << "another op";
  plan.buffers.back().size_bytes = 0;
  EXPECT_EQ(rules_of(plan, options), Rules{}) << "nothing lies there";
  plan.buffers.back().size_bytes = 64;
  plan.steps[1].node.arguments = plan.steps[0].node.arguments;
  plan.steps[1].node.arguments[0].argument = {plan.steps[0].node.results[0].values[0]};
  EXPECT_EQ(rules_of(plan, options), Rules{}) << "over an operand of its own";
}

TEST(Intent, FindsStepsCutOutForNoReasonOfTheirs) {
  std::string text = one_partition("eager \"uses symbol s0\"");
  text.insert(text.rfind("  }"), R"(    partition 1 captured {
      in $a
      %d : f32[16] on cuda $d = aten.abs.default(%a)
    }
)");
  const spec::Plan plan = plan_with(text);
  EXPECT_EQ(rules_of(plan, {}), Rules{"Q3.over-partitioned"});
  EXPECT_EQ(rules_of(plan, {{"min-partition", "4"}}), Rules{});
  EXPECT_EQ(rules_of(plan, {{"skip-dynamic-graphs", ""}}), Rules{"Q3.over-partitioned"});
  spec::Plan sized = plan;
  sized.symbols.emplace("s0", 16);
  EXPECT_EQ(rules_of(sized, {}), Rules{"Q3.over-partitioned"});
  EXPECT_EQ(rules_of(sized, {{"skip-dynamic-graphs", ""}}), Rules{});
  EXPECT_EQ(rules_of(plan, {{"split-op", "aten.relu,aten::neg"}}), Rules{});
  EXPECT_EQ(rules_of(plan, {{"split-op", "aten.re"}}), Rules{"Q3.over-partitioned"});
}

// Cascade attention is never in a full graph, and where the mode is full there is no other.
TEST(Intent, AsksForNoCaptureOfACallThatIsToHaveNone) {
  std::string text = one_partition("eager \"capture is off\"");
  text.insert(text.rfind("  }"), R"(    partition 1 captured {
      in $a
      %d : f32[16] on cuda $d = aten.abs.default(%a)
    }
)");
  const spec::Plan plan = plan_with(text);
  const auto found = [&](const char* mode, std::map<std::string, std::string> flags) {
    IntentCase intent{.plan = &plan,
                      .ops = &spec::builtin_op_table(),
                      .configuration = {{"mode", mode}},
                      .call = {.mode = {}, .flags = std::move(flags)},
                      .is_allocation = [](const spec::PlanStep&) { return false; }};
    Rules rules;
    for (const spec::Finding& finding : judge_intent(intent)) rules.push_back(finding.rule);
    return rules;
  };
  EXPECT_EQ(found("full", {{"cascade_attention", "true"}}), Rules{});
  EXPECT_EQ(found("full", {{"cascade_attention", "false"}}), Rules{"Q3.over-partitioned"});
  EXPECT_EQ(found("piecewise", {{"cascade_attention", "true"}}), Rules{"Q3.over-partitioned"});
}

// Without a capture, and on two devices, nothing tells which of them is captured on.
TEST(Intent, LeavesPlansWithoutCapturesOnTwoDevicesAlone) {
  EXPECT_EQ(rules_of(plan_with(one_partition("eager \"runs on cuda, not on cpu\"")), {}), Rules{});
}

TEST(Intent, SeesWhyAStepIsCutOut) {
  const char* kHeap = R"(  block @main {
    partition 0 eager "unbacked symbol" {
      in $x
      %n $n = aten.nonzero.default(%x)
    }
  }
)";
  EXPECT_EQ(rules_of(plan_with(kHeap), {}), Rules{});
  const char* kScalar = R"(  block @main {
    partition 0 eager "reads a scalar on cpu" {
      in $x, $c
      %a : f32[16] on cuda $a = aten.mul.Tensor(%x, %c)
    }
  }
)";
  EXPECT_EQ(rules_of(plan_with(kScalar), {}), Rules{});
}

TEST(Intent, FindsTwoCapturesSideBySide) {
  const char* kTwo = R"(  block @main {
    partition 0 captured {
      in $x
      %a : f32[16] on cuda $a = aten.relu.default(%x)
    }
    partition 1 captured {
      in $x
      %b : f32[16] on cuda $b = aten.neg.default(%x)
    }
  }
)";
  EXPECT_EQ(rules_of(plan_with(kTwo), {}), Rules{"Q3.over-partitioned"});
  EXPECT_EQ(rules_of(plan_with(kTwo), {{"max-partition", "1"}}), Rules{});
}

TEST(Intent, FindsOptionsThatAreNotInEffect) {
  const spec::Plan plan = plan_with(one_partition("captured"));
  EXPECT_EQ(rules_of(plan, {{"split-op", "aten.neg"}}), Rules{"Q4.not-in-effect"});
  EXPECT_EQ(rules_of(plan, {{"split-op", "aten.neg"}, {"mode", "full"}}), Rules{});
  EXPECT_EQ(rules_of(plan, {{"no-capture", ""}}), Rules{"Q4.not-in-effect"});
  EXPECT_EQ(rules_of(plan, {{"mode", "none"}}), Rules{"Q4.not-in-effect"});
  EXPECT_EQ(rules_of(plan, {{"max-partition", "1"}}), Rules{"Q4.not-in-effect"});
  EXPECT_EQ(rules_of(plan, {{"max-partition", "2"}}), Rules{});
  EXPECT_EQ(rules_of(plan, {{"static-input", "x"}}), Rules{"Q4.not-in-effect"});
}

TEST(Intent, FindsFusedStepsWhereNoneWereAskedFor) {
  const spec::Plan plan = plan_with(R"(  block @main {
    partition 0 captured {
      in $x
      %b : f32[16] on cuda $b = graphgate.fused(%x) {
        %i : f32[16] on cuda = aten.relu.default(%x)
        %b = aten.neg.default(%i)
      }
    }
  }
)");
  EXPECT_EQ(rules_of(plan, {}), Rules{});
  EXPECT_EQ(rules_of(plan, {{"compiler", "eager"}}), Rules{"Q4.not-in-effect"});
}

// A view launches nothing, in a fused body or out of one.
TEST(Intent, AsksNoCutForAViewInAFusedBody) {
  const spec::Plan plan = plan_with(R"(  block @main {
    partition 0 captured {
      in $x
      %b : f32[16] on cuda $b = graphgate.fused(%x) {
        %i : f32[16] on cuda = aten.as_strided.default(%x, [16], [1], 0)
        %b = aten.neg.default(%i)
      }
    }
  }
)");
  EXPECT_EQ(rules_of(plan, {{"split-op", "aten.as_strided"}}), Rules{});
  EXPECT_EQ(rules_of(plan, {{"split-op", "aten.as_strided,aten.neg"}}), Rules{"Q4.not-in-effect"});
}

// What no argument shows keeps steps apart, too.
TEST(Intent, WantsNoStreamsForStepsThatHiddenStateOrders) {
  const spec::Plan plan = plan_with(one_partition("captured"));
  const auto found = [&](const std::string& relu, const std::string& neg) {
    spec::OpTable ops;
    must(ops.add_text("aten::relu(Tensor self) -> Tensor ; " + relu +
                          "\naten::neg(Tensor self) -> Tensor ; " + neg + "\n",
                      "ops"));
    return rules_of(plan, {{"streams", "2"}}, false, ops);
  };
  const Rules idle = {"Q5.idle-streams"};
  EXPECT_EQ(found("hidden_writes=notes", "hidden_writes=notes"), Rules{});
  EXPECT_EQ(found("hidden_writes=notes", "hidden_reads=notes"), Rules{});
  EXPECT_EQ(found("hidden_reads=notes", "hidden_writes=notes"), Rules{});
  EXPECT_EQ(found("orders=kv", "orders=kv"), Rules{});
  EXPECT_EQ(found("hidden_reads=notes", "hidden_reads=notes"), idle);
  EXPECT_EQ(found("hidden_writes=notes", "hidden_writes=others"), idle);
  EXPECT_EQ(found("orders=kv", "hidden_writes=notes"), idle);
}

TEST(Intent, FindsStreamsThatStayIdle) {
  const spec::Plan plan = plan_with(one_partition("captured"));
  EXPECT_EQ(rules_of(plan, {{"streams", "2"}}), Rules{"Q5.idle-streams"});
  const spec::Plan chain = plan_with(R"(  block @main {
    partition 0 captured {
      in $x
      %a : f32[16] on cuda $a = aten.relu.default(%x)
      %b : f32[16] on cuda $b = aten.neg.default(%a)
    }
  }
)");
  EXPECT_EQ(rules_of(chain, {{"streams", "2"}}), Rules{});
}

TEST(Intent, FindsMoreStreamsThanAskedFor) {
  const spec::Plan plan = plan_with(R"(  block @main {
    partition 0 captured {
      in $x
      %a : f32[16] on cuda $a = aten.relu.default(%x)
      %b : f32[16] on cuda $b = aten.neg.default(%x) stream 1
    }
  }
)");
  EXPECT_EQ(rules_of(plan, {{"streams", "2"}}), Rules{});
  EXPECT_EQ(rules_of(plan, {}), Rules{"Q4.not-in-effect"});
}

TEST(Intent, FindsSharedBytesWhereNoneWereAskedFor) {
  spec::Plan plan = plan_with(one_partition("captured"));
  EXPECT_EQ(rules_of(plan, {{"no-reuse", ""}}), Rules{});
  for (spec::PlanBuffer& buffer : plan.buffers) {
    if (buffer.name == "d") buffer.offset_bytes = 0;
  }
  EXPECT_EQ(rules_of(plan, {{"no-reuse", ""}}), Rules{"Q4.not-in-effect"});
  EXPECT_EQ(rules_of(plan, {}), Rules{});
}

}  // namespace
}  // namespace graphgate::conformance
