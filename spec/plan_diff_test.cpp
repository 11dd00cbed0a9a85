#include "spec/plan_diff.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>

#include "spec/test_plans.h"

namespace graphgate::spec {
namespace {

using Sentences = std::vector<std::string>;

constexpr std::string_view kBefore = R"(plan "p" strict {
  events 1
  symbol s0 = 4
  pool @a arena on cuda 256 align 64
  buffer $x @a [0, 64)
  buffer $y @a [64, 128)
  buffer $z @a [128, 192)
  input user "x" %x : f32[4, 4] $x
  input user "k" = 3
  block @main {
    partition 0 captured {
      in $x
      out $y
      %y : f32[4, 4] $y = aten.neg.default(%x)
      %a : f32[4, 4] $y = aten.alias.default(%y)
      %z : f32[4, 4] $z = aten.mul.Tensor(%a, 2.0)
    }
    partition 1 captured {
      in $y, free $z
      %b : f32[4, 4] $y = aten.add.Tensor(%z, %y) as add
      %c : f32[4, 4] $z = aten.sub.Tensor(%z, %b)
    }
  }
  output %c
}
)";

// The sentences for one text replaced by another, each standing once in the plan.
Sentences diff_after(const std::vector<std::pair<std::string_view, std::string_view>>& edits) {
  std::string text(kBefore);
  for (const auto& [from, to] : edits) {
    const auto place = text.find(from);
    if (place == std::string::npos || text.find(from, place + 1) != std::string::npos) {
      ADD_FAILURE() << "'" << from << "' does not stand once in the plan";
      return {};
    }
    text.replace(place, from.size(), to);
  }
  const Plan after = parse_sample(text);
  EXPECT_TRUE(check_plan(after).ok()) << check_plan(after).error().message;
  return diff_plans(parse_sample(kBefore), after);
}

TEST(DiffPlans, SaysNothingOfEqualPlans) {
  EXPECT_EQ(diff_after({}), Sentences());
  const Plan full = parse_sample(kFullPlan);
  EXPECT_EQ(diff_plans(full, full), Sentences());
}

TEST(DiffPlans, TakesANaNForItself) {
  Plan plan = parse_sample(kBefore);
  plan.outputs.push_back(Argument{std::numeric_limits<double>::quiet_NaN()});
  EXPECT_EQ(diff_plans(plan, plan), Sentences());
  EXPECT_EQ(diff_plans(parse_sample(kBefore), plan),
            Sentences{"the program: output 1 changed from nothing to nan"});
}

TEST(DiffPlans, DoesNotMindTheNumbering) {
  const Plan before = parse_sample(kBefore);
  Plan after = before;
  std::swap(after.values[0], after.values[1]);
  const auto swapped = [](ValueId id) { return ValueId{id.index < 2 ? 1 - id.index : id.index}; };
  after.inputs[0].value = swapped(after.inputs[0].value);
  for (PlanStep& step : after.steps) {
    for (NamedArgument& named : step.node.arguments) {
      if (const auto* id = named.argument.as<ValueId>()) named.argument = Argument{swapped(*id)};
    }
    for (NodeResult& result : step.node.results) result.values[0] = swapped(result.values[0]);
  }
  ASSERT_NE(before, after);
  EXPECT_EQ(diff_plans(before, after), Sentences());
}

TEST(DiffPlans, SaysWhatChangedInTables) {
  EXPECT_EQ(diff_after({{"strict", "fast"}, {"events 1", "events 3"}, {"s0 = 4", "s1 = 5"}}),
            (Sentences{"the plan: arithmetic changed from strict to fast",
                       "the plan: the number of events changed from 1 to 3", "symbol s0: is gone",
                       "symbol s1: is new, 5"}));
  EXPECT_EQ(diff_after({{"arena on cuda 256 align 64", "input on cuda:1 320 align 32"}}),
            (Sentences{"pool @a: 256 bytes became 320 bytes (+64)",
                       "pool @a: the kind changed from arena to input",
                       "pool @a: the device changed from cuda to cuda:1",
                       "pool @a: the alignment changed from 64 to 32"}));
  EXPECT_EQ(diff_after({{"\"k\" = 3", "\"k\" = 4"}}),
            Sentences{"input user \"k\": the value changed from 3 to 4"});
  EXPECT_EQ(diff_after({{"  output %c", "  view %t : f32[16] $x\n  final %x = %t\n  output %c"}}),
            (Sentences{"view %t: is new (f32[16] $x)",
                       "input user \"x\": the final value changed from none to %t"}));
  EXPECT_EQ(diff_after({{"\"k\"", "\"n\""}}),
            (Sentences{"input user \"k\": is gone", "input user \"n\": is new"}));
  EXPECT_EQ(diff_after({{"output %c", "output %b"}}),
            Sentences{"the program: output 0 changed from %c to %b"});
}

TEST(DiffPlans, SaysWhereABufferWentAndWhoseBytesItShares) {
  EXPECT_EQ(diff_after({{"$z @a [128, 192)", "$z @a [64, 128)"}}),
            (Sentences{"buffer $z: moved from @a [128, 192) to @a [64, 128)",
                       "buffer $z: now shares bytes with $y"}));
  EXPECT_EQ(
      diff_after({{"$x @a [0, 64)", "$x @a [64, 128)"}, {"$y @a [64, 128)", "$y @a [0, 128)"}}),
      (Sentences{"buffer $x: moved from @a [0, 64) to @a [64, 128)",
                 "buffer $x: now shares bytes with $y",
                 "buffer $y: moved from @a [64, 128) to @a [0, 128)"}));
  EXPECT_EQ(diff_after({{"%a : f32[4, 4] $y", "%a : f32[4, 4] $x"}}),
            Sentences{"value %a: the buffer changed from $y to $x"});
  EXPECT_EQ(diff_after({{"%a : f32[4, 4]", "%a : f16[4, 8]"}}),
            Sentences{"value %a: the type changed from f32[4, 4] to f16[4, 8]"});
}

TEST(DiffPlans, SaysWhatChangedInViews) {
  const std::string_view step = "      %z : f32[4, 4]";
  const auto with_view = [&](const std::string& view) {
    std::string text(kBefore);
    return parse_sample(text.insert(text.find(step), "      view %v : " + view + "\n"));
  };
  const Plan before = parse_sample(kBefore);
  const Plan after = with_view("f32[2, 4]{1, 4} $y");
  EXPECT_EQ(diff_plans(before, after), Sentences{"view %v: is new (f32[2, 4]{1, 4} $y)"});
  EXPECT_EQ(diff_plans(after, before), Sentences{"view %v: is gone (f32[2, 4]{1, 4} $y)"});
  EXPECT_EQ(diff_plans(after, with_view("f32[2, 4] $z")),
            (Sentences{"view %v: the type changed from f32[2, 4]{1, 4} to f32[2, 4]",
                       "view %v: the buffer changed from $y to $z"}));
  EXPECT_EQ(diff_plans(with_view("f32[4] $x"), with_view("f32[4] $x")), Sentences());
}

TEST(DiffPlans, SaysWhatChangedInSteps) {
  EXPECT_EQ(diff_after({{"aten.neg.default(%x)", "aten.exp.default(%x) stream 1 record 0"}}),
            (Sentences{"step 'y': the op changed from aten.neg.default to aten.exp.default",
                       "step 'y': the stream changed from 0 to 1",
                       "step 'y': the events recorded changed from none to 0"}));
  EXPECT_EQ(diff_after({{"aten.mul.Tensor(%a, 2.0)", "aten.mul.Tensor(%y, 3.0) workspace $x"}}),
            (Sentences{"step 'z': the arguments changed from self=%a, other=2.0 to self=%y, "
                       "other=3.0",
                       "step 'z': the workspace changed from none to $x"}));
  EXPECT_EQ(diff_after({{"as add", "as sum"}}),
            (Sentences{"step 'add': is gone", "step 'sum': is new"}));
  EXPECT_EQ(diff_after({{"%c : f32[4, 4] $z =", "%d : f32[4, 4] $z ="},
                        {"%z, %b)", "%z, %b) as c"},
                        {"output %c", "output %d"}}),
            (Sentences{"step 'c': the results changed from %c to %d",
                       "the program: output 0 changed from %c to %d"}));
}

TEST(DiffPlans, SaysWhichStepRunsInAnotherPlace) {
  EXPECT_EQ(diff_after({{"      %z : f32[4, 4] $z = aten.mul.Tensor(%a, 2.0)\n", ""},
                        {"      %y : f32[4, 4] $y = aten.neg.default(%x)\n",
                         "      %y : f32[4, 4] $y = aten.neg.default(%x)\n"
                         "      %z : f32[4, 4] $z = aten.mul.Tensor(%y, 2.0)\n"}}),
            (Sentences{"step 'a': runs after 'z' now, and ran after 'y' before",
                       "step 'z': the arguments changed from self=%a, other=2.0 to self=%y, "
                       "other=2.0"}));
}

constexpr std::string_view kCut = "    }\n    partition 1 captured {\n      in $y, free $z\n";

TEST(DiffPlans, TellsSplitsMergesAndMovesOfPartitionsApart) {
  EXPECT_EQ(diff_after({{kCut, ""}}),
            Sentences{"partition 0 of @main: merged from partition 0 of @main ('y', 'a', 'z'), "
                      "partition 1 of @main ('add', 'c')"});
  EXPECT_EQ(
      diff_after({{"partition 1", "partition 2"},
                  {"      %a :", "    }\n    partition 1 eager \"device copy\" {\n      %a :"}}),
      (Sentences{"partition 0 of @main: split into partition 0 of @main ('y'), partition 1 of "
                 "@main ('a', 'z')",
                 "partition 1 of @main (before: partition 0 of @main): was captured, is now eager "
                 "(\"device copy\")"}));
  const std::string mul = "      %z : f32[4, 4] $z = aten.mul.Tensor(%a, 2.0)\n";
  EXPECT_EQ(diff_after({{mul + std::string(kCut), std::string(kCut) + mul}}),
            Sentences{"step 'z': moved from partition 0 of @main to partition 1 of @main"});
  EXPECT_EQ(diff_after({{"    partition 1", "    partition 2"},
                        {"    partition 0 captured {",
                         "    partition 0 captured {\n    }\n    partition 1 captured {"}}),
            Sentences{"partition 0 of @main: is new (without steps)"});
}

TEST(DiffPlans, SaysWhatChangedInAPartition) {
  EXPECT_EQ(diff_after({{"partition 1 captured", "partition 1 eager \"a rule\""}}),
            Sentences{"partition 1 of @main: was captured, is now eager (\"a rule\")"});
  EXPECT_EQ(
      diff_after({{"in $y, free $z", "in free $z, free $y\n      constants $x\n      symbols s0"}}),
      (Sentences{"partition 1 of @main: the inputs stand in another order",
                 "partition 1 of @main: $x is a new constant",
                 "partition 1 of @main: s0 is a new symbol",
                 "partition 1 of @main: the input $y is freed in it now"}));
  EXPECT_EQ(diff_after({{"in $y, free $z", "in $z"}}),
            (Sentences{"partition 1 of @main: $y is no input any more",
                       "partition 1 of @main: the input $z is no longer freed in it"}));
  EXPECT_EQ(diff_after({{"out $y", "out $z"}}),
            (Sentences{"partition 0 of @main: $y is no output any more",
                       "partition 0 of @main: $z is a new output"}));
}

TEST(DiffPlans, SaysThatAReasonChanged) {
  Plan before = parse_sample(kBefore);
  before.blocks[0].partitions[0].captured = false;
  before.blocks[0].partitions[0].reason = "a";
  Plan after = before;
  after.blocks[0].partitions[0].reason = "b";
  EXPECT_EQ(diff_plans(before, after),
            Sentences{"partition 0 of @main: the reason changed from \"a\" to \"b\""});
}

TEST(DiffPlans, SaysWhatIsFusedWhereAndWhatChangedInside) {
  const std::pair<std::string_view, std::string_view> fuse = {
      "      %a : f32[4, 4] $y = aten.alias.default(%y)\n"
      "      %z : f32[4, 4] $z = aten.mul.Tensor(%a, 2.0)\n",
      "      %z : f32[4, 4] $z = graphgate.fused(%y) {\n"
      "        %a : f32[4, 4] = aten.alias.default(%y)\n"
      "        %z = aten.mul.Tensor(%a, 2.0)\n"
      "      }\n"};
  EXPECT_EQ(
      diff_after({fuse}),
      (Sentences{"value %a: the buffer changed from $y to none", "step 'a': is fused into 'z' now",
                 "step 'z': the op changed from aten.mul.Tensor to graphgate.fused",
                 "step 'z': the arguments changed from self=%a, other=2.0 to %y",
                 "step 'z': 'a', 'z' joined its body"}));
  const auto fused = [&](std::string_view from, std::string_view to) {
    std::string text(kBefore);
    text.replace(text.find(fuse.first), fuse.first.size(), fuse.second);
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    return parse_sample(text);
  };
  EXPECT_EQ(diff_plans(fused("", ""), fused("(%a, 2.0)", "(%a, 3.0)")),
            Sentences{"step 'z', node 'z': the arguments changed from self=%a, other=2.0 to "
                      "self=%a, other=3.0"});
  EXPECT_EQ(diff_plans(fused("", ""), parse_sample(kBefore))[1],
            "step 'a': stands alone now, and was fused into 'z' before");
}

TEST(DiffPlans, SaysWhatChangedInKeysLifetimesAndPaddings) {
  EXPECT_EQ(diff_after({{"  symbol s0 = 4\n", "  key \"mode\" = \"full\"\n  symbol s0 = 4\n"}}),
            Sentences{"key mode: is new, \"full\""});
  EXPECT_EQ(diff_after({{"output %c", "output weak %c"}}),
            Sentences{"the program: the lifetime of output 0 changed from strong to weak"});
  EXPECT_EQ(diff_after({{"symbol s0 = 4\n", "symbol s0 = 4\n  padding s0\n"},
                        {"%x : f32[4, 4] $x\n", "%x : f32[4, 4] $x pad 1\n"}}),
            (Sentences{"the plan: the padded symbol changed from none to s0",
                       "the program: the padded dimension of input 0 changed from none to 1"}));
}

// Any one change of a drawn plan has a sentence of its own, not the one for changes unforeseen.
RC_GTEST_PROP(DiffPlans, SaysSomethingOfEveryChange, (std::vector<std::uint16_t> genes)) {
  RC_PRE(!genes.empty());
  const Plan before = draw_plan(genes);
  RC_ASSERT(diff_plans(before, before).empty());
  Plan after = before;
  const std::size_t i = genes[0] % before.steps.size();
  Node& changed = after.steps[i].body.empty() ? after.steps[i].node : after.steps[i].body[0];
  switch (genes[0] % 8U) {
    case 0:
      after.steps[i].stream += 1;
      break;
    case 1:
      changed.op += "x";
      break;
    case 2:
      changed.arguments[0].name += "x";
      break;
    case 3:
      after.steps[i].records.push_back(EventId{1});
      break;
    case 4:
      after.blocks[0].partitions[0].signature.inputs[0].deallocate ^= true;
      break;
    case 5:
      after.buffers.push_back(PlanBuffer{"extra", PoolId{0}, 0, 1});
      break;
    case 6:
      after.key["mode"] += "x";
      after.output_lifetimes = {before.output_lifetimes.empty() ? OutputLifetime::kWeak
                                                                : OutputLifetime::kStrong};
      break;
    default:
      after.values.back().value.name += "x";
      break;
  }
  RC_ASSERT(check_plan(after).ok());
  const Sentences sentences = diff_plans(before, after);
  RC_ASSERT(!sentences.empty());
  RC_ASSERT(sentences.front() != "the plans differ in what no sentence covers");
}

RC_GTEST_PROP(DiffPlans, IsEmptyOnlyForEqualPlans,
              (std::vector<std::uint16_t> first, std::vector<std::uint16_t> second)) {
  const Plan a = draw_plan(first);
  const Plan b = draw_plan(second);
  const Sentences sentences = diff_plans(a, b);
  RC_ASSERT(sentences.empty() == (a == b));
  RC_ASSERT(std::count(sentences.begin(), sentences.end(),
                       "the plans differ in what no sentence covers") == 0);
}

TEST(DiffItems, MovesAsFewItemsAsItCan) {
  const ItemMatch match = match_items({"a", "b", "c", "d", "b"}, {"b", "d", "b", "c", "e"});
  EXPECT_EQ(match.to_after,
            (std::vector<std::optional<std::size_t>>{std::nullopt, 0U, 3U, 1U, 2U}));
  EXPECT_EQ(match.to_before,
            (std::vector<std::optional<std::size_t>>{1U, 3U, 4U, 2U, std::nullopt}));
  EXPECT_EQ(moved_items(match), std::vector<std::size_t>{2});
  EXPECT_EQ(print_some({"a", "b", "c", "d", "e", "f"}), "a, b, c, d and 2 more");
}

}  // namespace
}  // namespace graphgate::spec
