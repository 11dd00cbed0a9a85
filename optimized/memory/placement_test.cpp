// Whole memory plans: every strategy is right, they agree in every bit, and the choices that hold
// for all of them do what they say.
#include "optimized/memory/placement.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "optimized/memory/memory_test.h"

namespace graphgate::optimized {
namespace {

using D = spec::Deviation;

struct Choice {
  MemoryStrategy strategy = MemoryStrategy::kPack;
  bool in_place = true;
  PoolRule rule = PoolRule::kIntermediates;
  bool outputs_apart = false;
};

std::vector<Choice> all_choices() {
  std::vector<Choice> out;
  for (const bool in_place : {true, false}) {
    for (const bool apart : {true, false}) {
      out.push_back({MemoryStrategy::kPack, in_place, {}, apart});
      out.push_back({MemoryStrategy::kLines, in_place, {}, apart});
    }
    for (const auto rule :
         {PoolRule::kNone, PoolRule::kIntermediates, PoolRule::kOutputs, PoolRule::kCombined}) {
      out.push_back({MemoryStrategy::kPools, in_place, rule, false});
    }
  }
  return out;
}

CompileOptions options_of(const Choice& choice) {
  CompileOptions options = with_strategy(choice.strategy);
  options.memory.in_place = choice.in_place;
  options.memory.pool_rule = choice.rule;
  options.memory.outputs_apart = choice.outputs_apart;
  return options;
}

// Nodes that make, view, write in place, split and join, over f32[6, 6].
std::string random_program(std::size_t count) {
  std::string text = "program \"random\" {\n  input %v0 : f32[6, 6]\n  input %v1 : f32[6, 6]\n";
  std::vector<std::string> values = {"%v0", "%v1"};
  const auto any = [&] { return values[*rc::gen::inRange<std::size_t>(0, values.size())]; };
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = "%v" + std::to_string(i + 2);
    const std::string forms[] = {
        name + " = aten.neg.default(" + any() + ")",
        name + " = aten.maximum.default(" + any() + ", " + any() + ")",
        name + " = aten.cumsum.default(" + any() + ", 0)",
        name + " = aten.t.default(" + any() + ")",
        name + " = aten.relu_.default(" + any() + ")",
        name + " = aten.sub.Tensor(" + any() + ", " + any() + ")",
        name + " = aten.empty_like.default(" + any() + ")\n  %w" + std::to_string(i) +
            " = aten.copy_.default(" + name + ", " + any() + ")",
    };
    text += "  " + forms[*rc::gen::inRange<std::size_t>(0, std::size(forms))] + "\n";
    values.push_back(name);
  }
  text += "  output " + values.back() + "\n  output " + any() + "\n}";
  return text;
}

RC_GTEST_PROP(Memory, IsRightAndGivesTheSameBitsInEveryWay, ()) {
  const std::string text = random_program(*rc::gen::inRange<std::size_t>(1, 14));
  const auto max_nodes = *rc::gen::inRange<std::uint32_t>(0, 4);
  const Inputs inputs = {counting({6, 6}), counting({6, 6})};
  CompileOptions plain = options_of({});
  plain.memory.reuse = false;
  const auto results = [&](const CompileOptions& compile) {
    Options options;
    options.compile = compile;
    const auto calls = run_calls(program_of(text), {inputs, inputs}, options);
    std::vector<std::vector<float>> out;
    for (const spec::CallResult& call : calls) {
      for (const spec::OutputValue& output : call.outputs) out.push_back(floats(output));
    }
    return out;
  };
  const auto expected = results(plain);
  for (const Choice& choice : all_choices()) {
    CompileOptions options = options_of(choice);
    options.partition.max_nodes = max_nodes;
    RC_ASSERT(shared_in(good_plan_of(program_of(text), inputs, options)) == "");
    RC_ASSERT(results(options) == expected);
  }
}

constexpr const char* kTwoOutputs = R"(program "two" {
  input %x : f32[8, 8]
  %a = aten.mm.default(%x, %x)
  %b = aten.mm.default(%a, %x)
  %c = aten.mm.default(%b, %x)
  %d = aten.mm.default(%c, %x)
  output %b
  output %d
})";

TEST(Memory, KeepsOutputsApartOnRequest) {
  for (const auto strategy : {MemoryStrategy::kPack, MemoryStrategy::kLines}) {
    CompileOptions options = with_strategy(strategy);
    options.memory.outputs_apart = true;
    const spec::Plan plan = good_plan_of(program_of(kTwoOutputs), {counting({8, 8})}, options);
    const auto pool_of = [&](const char* name) {
      return plan.pools[buffer(plan, name).pool.index].name;
    };
    EXPECT_EQ(pool_of("a"), "arena");
    EXPECT_EQ(pool_of("c"), "arena");
    EXPECT_EQ(pool_of("b"), "output");
    EXPECT_EQ(pool_of("d"), "output");
  }
}

TEST(Memory, HonoursTheAlignment) {
  for (const Choice& choice : all_choices()) {
    CompileOptions options = options_of(choice);
    options.memory.alignment_bytes = 1024;
    const spec::Plan plan = good_plan_of(program_of(kTwoOutputs), {counting({8, 8})}, options);
    for (const spec::PlanBuffer& one : plan.buffers) EXPECT_EQ(one.offset_bytes % 1024, 0);
  }
}

TEST(Memory, TakesTensorsWithoutElements) {
  const std::string text = R"(program "empty" {
  input %x : f32[0, 8]
  input %y : f32[8, 8]
  %a = aten.neg.default(%x)
  %b = aten.neg.default(%a)
  %c = aten.cat.default([%b, %y], 0)
  output %c
  output %b
})";
  for (const Choice& choice : all_choices()) {
    const Inputs inputs = {f32({0, 8}, {}), counting({8, 8})};
    const spec::Plan plan = good_plan_of(program_of(text), inputs, options_of(choice));
    EXPECT_EQ(shared_in(plan), "");
    EXPECT_EQ(last_output(text, {inputs}, options_of(choice)),
              floats(spec::OutputValue(std::get<spec::HostTensor>(counting({8, 8})))));
  }
}

// PyTorch 187678: the planner of pools gives up what is returned under another name alone.
TEST(OutputByExactName, GivesUpWhatIsReturnedAsAnotherDtypeFromAPool) {
  const Inputs inputs = {counting({8, 8})};
  const CompileOptions right = with_strategy(MemoryStrategy::kPools);
  const CompileOptions wrong = with_strategy(MemoryStrategy::kPools, {D::kOutputByExactName});
  EXPECT_EQ(shared_in(good_plan_of(program_of(programs::kViewedOutput), inputs, right)), "");
  EXPECT_NE(shared_in(good_plan_of(program_of(programs::kViewedOutput), inputs, wrong)), "");
}

// config.memory_planning is off by default, and a view of the same dtype has the buffer's name.
TEST(OutputByExactName, KeepsWhatIsReturnedWithoutPoolsOrThroughOtherViews) {
  const Inputs inputs = {counting({8, 8})};
  for (const auto strategy : {MemoryStrategy::kPack, MemoryStrategy::kLines}) {
    const CompileOptions options = with_strategy(strategy, {D::kOutputByExactName});
    EXPECT_EQ(shared_in(good_plan_of(program_of(programs::kViewedOutput), inputs, options)), "");
  }
  const CompileOptions pools = with_strategy(MemoryStrategy::kPools, {D::kOutputByExactName});
  const std::string text = programs::kViewedOutput;
  const std::string wanted = "aten.view.dtype(%a, i16)";
  for (const char* view : {"aten.t.default(%a)", "aten.view.default(%a, [64])",
                           "aten.slice.Tensor(%a, 0, 1, 3)", "aten.view.dtype(%a, i32)"}) {
    const std::string program = std::string(text).replace(text.find(wanted), wanted.size(), view);
    EXPECT_EQ(shared_in(good_plan_of(program_of(program), inputs, pools)), "") << view;
  }
  const std::string both =
      std::string(text).replace(text.find("output %v"), 9, "output %a\n  output %v");
  EXPECT_EQ(shared_in(good_plan_of(program_of(both), inputs, pools)), "");
}

TEST(LifetimesTouchWrongly, PutsAResultOverWhatIsRead) {
  for (const auto strategy :
       {MemoryStrategy::kPack, MemoryStrategy::kLines, MemoryStrategy::kPools}) {
    const CompileOptions right = with_strategy(strategy);
    const CompileOptions wrong = with_strategy(strategy, {D::kLifetimesTouchWrongly});
    const spec::Program program = program_of(kTwoOutputs);
    EXPECT_EQ(shared_in(good_plan_of(program, {counting({8, 8})}, right)), "");
    EXPECT_NE(shared_in(good_plan_of(program, {counting({8, 8})}, wrong)), "");
  }
}

TEST(PlacementStats, CountPeakBoundAndHowBytesAreUsedAgain) {
  const std::string text = R"(program "stats" {
  input %x : f32[64, 64]
  %a = aten.mm.default(%x, %x)
  %b = aten.neg.default(%a)
  %c = aten.mm.default(%b, %x)
  %d = aten.mm.default(%c, %x)
  output %d
})";
  constexpr std::int64_t kOne = 64 * 64 * 4;
  const auto stats_of = [&](const CompileOptions& options) {
    return placement_stats(good_plan_of(program_of(text), {counting({64, 64})}, options)).at(0);
  };
  const PlacementStats stats = stats_of({});
  EXPECT_EQ(stats.peak_bytes, 2 * kOne);
  EXPECT_EQ(stats.bound_bytes, 2 * kOne);
  EXPECT_EQ(stats.without_reuse_bytes, 4 * kOne);
  EXPECT_EQ(stats.buffers, 4U);
  EXPECT_EQ(stats.in_place, 1U);
  EXPECT_EQ(stats.reused, 1U);
  CompileOptions apart;
  apart.memory.reuse = false;
  EXPECT_EQ(stats_of(apart).peak_bytes, 4 * kOne);
  EXPECT_EQ(stats_of(apart).in_place, 0U);
  EXPECT_EQ(stats_of(apart).reused, 0U);
}

}  // namespace
}  // namespace graphgate::optimized
