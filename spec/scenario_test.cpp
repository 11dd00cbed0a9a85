#include "spec/scenario.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/result_test.h"
#include "spec/outcome.h"

namespace graphgate::spec {
namespace {

// Steps of a text, each on a line of its own, as case files have them between braces.
Result<Scenario> read_lines(std::string_view text) {
  TextReader reader(text, "s");
  Scenario scenario;
  for (reader.skip_line_ends(); !reader.at(TokenKind::kEnd); reader.skip_line_ends()) {
    GRAPHGATE_TRY(Step step, read_step(reader));
    scenario.steps.push_back(std::move(step));
    GRAPHGATE_TRY_VOID(reader.expect_line_end());
  }
  return scenario;
}

constexpr std::string_view kAll = R"(call g1 s0=8 u0=-1 mode=captured inputs=first
call g2 size=3 mode=eager
call "a program"
hold g1.out0
hold out12
release "a program".out1
swap-weights g1
swap-weights g1 seed=18446744073709551615
swap-weights g1 seed=3 target=layer.w rebind=true
swap-weights g1 target="a b"
call g1 flag.lora="2" flag.uniform_decode=true
restart
restart cache-env="LAYERS=2" no-pass="dead_code" op="my::f(Tensor x) -> Tensor"
static g1.in0
static in2
sleep level=1
sleep level=2 cache=k cache="a b"
wake
wake weights
wake caches
feed-back g1.out0 -> model.v2.in1
feed-back out0 -> in1
check held
check state
)";

TEST(ScenarioText, PrintsCanonicalTextAsItWas) {
  const auto scenario = must(read_lines(kAll));
  EXPECT_EQ(scenario.steps.size(), 24U);
  EXPECT_EQ(print_scenario(scenario), kAll);
}

TEST(ScenarioText, SaysWhatAStepIs) {
  const auto scenario =
      must(read_lines("call g1 size=8 mode=captured\ncall g2 size=3\nhold g1.out0\n"
                      "swap-weights g1\nfeed-back out0->in1\ncheck held"));
  const auto& steps = scenario.steps;
  ASSERT_EQ(steps.size(), 6U);
  EXPECT_EQ(steps[0], Step(CallStep{"g1", {{"size", 8}}, CallMode::kCaptured, {}}));
  EXPECT_EQ(steps[2], Step(HoldStep{{"g1", 0}}));
  EXPECT_EQ(steps[4], Step(FeedBackStep{{"", 0}, {"", 1}}));
}

TEST(ScenarioText, NamesThePlaceOfAnError) {
  const auto error = [](std::string_view text) { return message_of(read_lines(text), "no error"); };
  const std::string step =
      "a step (call, hold, release, swap-weights, feed-back, check, restart, static, sleep or "
      "wake)";
  EXPECT_EQ(error("\n  jump g1"), "s:2:3: expected " + step + ", found 'jump'");
  EXPECT_EQ(error("swap-"), "s:1:6: expected " + step + ", found the end of the text");
  EXPECT_EQ(error("call"), "s:1:5: expected the name of a program, found the end of the text");
  EXPECT_EQ(error("call g s0"), "s:1:10: expected '=', found the end of the text");
  EXPECT_EQ(error("call g s0=x"), "s:1:11: expected a size, found 'x'");
  EXPECT_EQ(error("call g s0=1 s0=2"), "s:1:13: expected each setting once, found 's0' again");
  EXPECT_EQ(error("call g mode=fast"), "s:1:13: expected eager or captured, found 'fast'");
  EXPECT_EQ(error("call g a.b=3"),
            "s:1:8: expected a symbol, mode, inputs or flag.NAME, found 'a.b'");
  EXPECT_EQ(error("hold g1.in0"), "s:1:6: expected [PROGRAM.]outN, found 'in0'");
  EXPECT_EQ(error("hold g1.out"), "s:1:6: expected [PROGRAM.]outN, found 'out'");
  EXPECT_EQ(error("hold out99999999999"),
            "s:1:6: expected [PROGRAM.]outN, found "
            "'out99999999999'");
  EXPECT_EQ(error("feed-back out0 in1"), "s:1:16: expected '->', found 'in1'");
  EXPECT_EQ(error("static g1.out0"), "s:1:8: expected [PROGRAM.]inN, found 'out0'");
  EXPECT_EQ(error("check all"), "s:1:7: expected held or state, found 'all'");
  EXPECT_EQ(error("check held hold out0"), "s:1:12: expected the end of the line, found 'hold'");
  EXPECT_EQ(error("call g flag.a=1"), "s:1:15: expected the value of a flag, found '1'");
  EXPECT_EQ(error("call g flag.a=b flag.a=b"),
            "s:1:17: expected each setting once, found 'flag.a' again");
  EXPECT_EQ(error("swap-weights g size=3"),
            "s:1:16: expected seed, target or rebind, found 'size'");
  EXPECT_EQ(error("swap-weights g rebind=false"), "s:1:23: expected 'true', found 'false'");
  EXPECT_EQ(error("restart cache=x"), "s:1:15: expected a value in quotes, found 'x'");
  EXPECT_EQ(error("restart a=\"x\" a=\"y\""),
            "s:1:15: expected each setting once, found 'a' again");
  EXPECT_EQ(error("sleep level=3"), "s:1:13: expected 1 or 2, found '3'");
  EXPECT_EQ(error("sleep level=1 level=2"),
            "s:1:15: expected each setting once, found 'level' again");
  EXPECT_EQ(error("sleep deep=1"), "s:1:7: expected level or cache, found 'deep'");
  EXPECT_EQ(error("wake graphs"), "s:1:6: expected the end of the line, found 'graphs'");
  EXPECT_EQ(error("swap-weights g seed=-1"), "s:1:21: expected a seed, found '-'");
}

// A step from one gene and any names.
Step step_from(std::uint32_t gene, const std::string& name) {
  const PortRef port{gene % 3 == 0 ? "" : name, gene % 7};
  switch (gene % 10) {
    case 0: {
      CallStep call{name, {}, {}, {}};
      if (gene % 5 > 1) call.sizes = {{"s0", gene % 100}, {"size", 3}};
      if (gene % 4 > 1) call.mode = gene % 4 == 2 ? CallMode::kEager : CallMode::kCaptured;
      if (gene % 11 > 5) call.inputs = name;
      if (gene % 13 > 5) call.flags = {{"lora", name}, {"uniform_decode", "true"}};
      return call;
    }
    case 1:
      return HoldStep{port};
    case 2:
      return ReleaseStep{port};
    case 3: {
      SwapWeightsStep swap{name, {}};
      if (gene % 4 > 1) swap.seed = gene;
      if (gene % 5 > 1) swap.target = name;
      swap.rebind = gene % 3 == 1;
      return swap;
    }
    case 4:
      return FeedBackStep{port, {name, gene % 5}};
    case 5:
      return RestartStep{
          {{"no-pass", name}},
          gene % 2 == 0 ? std::vector<std::string>{name} : std::vector<std::string>{}};
    case 6:
      return StaticStep{port};
    case 7: {
      SleepStep sleep;
      sleep.asked.level = gene % 3 == 0 ? 2 : 1;
      if (gene % 4 > 1) sleep.asked.caches = {name, "k"};
      return sleep;
    }
    case 8: {
      WakeStep wake;
      if (gene % 3 > 0) wake.part = gene % 3 == 1 ? SleepPart::kWeights : SleepPart::kCaches;
      return wake;
    }
    default:
      return CheckStep{gene % 4 < 2 ? CheckStep::What::kHeld : CheckStep::What::kState};
  }
}

RC_GTEST_PROP(ScenarioText, ReadsTheScenarioThatItPrinted,
              (std::vector<std::pair<std::uint32_t, std::string>> genes)) {
  Scenario scenario;
  for (const auto& [gene, name] : genes) {
    scenario.steps.push_back(step_from(gene / 2U, name.empty() ? "g.1" : name));
  }
  const auto again = read_lines(print_scenario(scenario));
  if (!again.ok()) RC_FAIL(again.error().message);
  RC_ASSERT(again.value() == scenario);
}

TEST(Outcome, IsFoundByItsName) {
  for (int i = 0; i < kOutcomeCount; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    EXPECT_EQ(parse_outcome(outcome_name(outcome)), outcome);
  }
  EXPECT_EQ(parse_outcome("pass"), std::nullopt);
}

}  // namespace
}  // namespace graphgate::spec
