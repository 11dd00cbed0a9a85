// What check_plan says of plans that are no plans: one fault is put into a good one at a time.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "spec/test_plans.h"

namespace graphgate::spec {
namespace {

constexpr std::string_view kBase = R"(plan "p" strict {
  events 1
  symbol s0 = 4
  pool @a arena on cpu 1024 align 64
  pool @h heap on cpu 0 align 1
  buffer $x @a [0, 64)
  buffer $y @a [64, 128)
  buffer $h @h
  input user "x" %x : f32[4, 4] $x
  input user "k" = 3
  block @main {
    partition 0 captured {
      in $x
      out $y
      %y : f32[4, 4] $y = aten.neg.default(%x)
      %y = aten.add_.Tensor(%y, %x) as add workspace $x wait 0
    }
    partition 1 eager "conditional" {
      %c : f32[4, 4] $x = higher_order.cond(%x, @arm, @arm)
      %n : i64[u0, 2] $h = aten.nonzero.default(%c)
      %k : symint(u0) = aten.sym_size.int(%n, 0)
    }
  }
  block @arm {
    partition 0 eager "in an arm" {
      %z : f32[4, 4] $y = aten.neg.default(%y) as inner
    }
    output %z
  }
  output %c
}
)";

struct Fault {
  std::function<void(Plan&)> make;
  std::string_view message;
};

void expect_faults(const std::vector<Fault>& faults, std::string_view base = kBase) {
  const Plan good = parse_sample(base);
  ASSERT_TRUE(check_plan(good).ok()) << check_plan(good).error().message;
  for (const Fault& fault : faults) {
    Plan plan = good;
    fault.make(plan);
    const Error result = failure_of(check_plan(plan), fault.message);
    EXPECT_EQ(result.message, fault.message);
    EXPECT_EQ(result.kind, ErrorKind::kBadInput);
  }
}

TEST(CheckPlan, AcceptsThePlansOfOtherTests) {
  EXPECT_TRUE(check_plan(parse_sample(kBase)).ok());
  must(check_plan(parse_sample(kFullPlan)));
}

TEST(CheckPlan, FindsFaultsInNamesAndPlaces) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  expect_faults({
      {[](Plan& p) { p.arithmetic = "loose"; },
       "the arithmetic is 'strict' or 'fast', not 'loose'"},
      {[](Plan& p) { p.symbols["2x"] = 1; }, "'2x' is not the name of a symbol"},
      {[](Plan& p) { p.pools[1].name = "a"; }, "pool number 1: 'a' is another's name"},
      {[](Plan& p) { p.buffers[0].name = ""; }, "buffer number 0: it has no name"},
      {[](Plan& p) { p.values[1].value.name = "x"; }, "value number 1: 'x' is another's name"},
      {[](Plan& p) { p.blocks[1].name = "main"; }, "block number 1: 'main' is another's name"},
      {[](Plan& p) { p.pools[0].size_bytes = -1; }, "pool @a: a negative size"},
      {[](Plan& p) { p.pools[0].alignment_bytes = 0; }, "pool @a: an alignment below 1"},
      {[](Plan& p) { p.pools[1].size_bytes = 8; }, "pool @h: a heap has size 0, not 8"},
      {[](Plan& p) { p.buffers[0].pool.index = 2; }, "buffer $x: pool number 2 does not exist"},
      {[](Plan& p) { p.buffers[0].size_bytes = -1; }, "buffer $x: a negative offset or size"},
      {[](Plan& p) { p.buffers[0].offset_bytes = 1024; },
       "buffer $x: 64 bytes at offset 1024 leave the pool @a of 1024 bytes"},
      {[](Plan& p) { p.buffers[0].offset_bytes = kMax - 63; },
       "buffer $x: 64 bytes at offset 9223372036854775744 leave the pool @a of 1024 bytes"},
      {[](Plan& p) { p.buffers[1].offset_bytes = 96; },
       "buffer $y: offset 96 is no multiple of 64, the alignment of @a"},
      {[](Plan& p) { p.buffers[2].size_bytes = 8; }, "buffer $h: in the heap @h it has a place"},
  });
}

TEST(CheckPlan, FindsFaultsInValues) {
  const auto type = [](Plan& p) -> TensorType& { return *p.values[1].value.type; };
  expect_faults({
      {[](Plan& p) { p.values[1].buffer = BufferId{9}; },
       "value %y: buffer number 9 does not exist"},
      {[](Plan& p) { p.values[1].buffer.reset(); }, "value %y: a tensor without a buffer"},
      {[](Plan& p) { p.values[1].value.type.reset(); },
       "value %y: a tensor without a type, outside of a heap"},
      {[&](Plan& p) { type(p).sizes[0] = SymExpr::symbol("s0"); },
       "value %y: its type f32[s0, 4] has symbols, outside of a heap"},
      {[&](Plan& p) { type(p).storage_offset = SymExpr(1); },
       "value %y: f32[4, 4]@1 does not fit in $y [64, 128)"},
      {[&](Plan& p) { type(p).sizes[0] = SymExpr(std::int64_t{1} << 62); },
       "value %y: f32[4611686018427387904, 4] does not fit in $y [64, 128)"},
      {[&](Plan& p) { type(p).strides.pop_back(); }, "value %y: 2 sizes, but 1 strides"},
      {[](Plan& p) { p.values[1].value.hint = 3; },
       "value %y: only a number has an expression or a hint"},
      {[](Plan& p) { p.values[4].buffer = BufferId{0}; },
       "value %k: only a tensor has a type and a buffer"},
      {[](Plan& p) { p.values[4].value.kind = ValueKind::kNone; },
       "value %k: only a number has an expression or a hint"},
      {[](Plan& p) { p.values[4].value.kind = ValueKind::kTensorList; },
       "value %k: a list of tensors has no place: its elements are values of their own"},
      {[](Plan& p) {
         p.values.push_back(PlanValue{Value{"q", ValueKind::kSymInt, {}, {}, {}}, {}});
       },
       "value %q: no input and no step makes it"},
  });
}

TEST(CheckPlan, FindsFaultsInPartitions) {
  const auto partition = [](Plan& p, std::size_t i) -> PlanPartition& {
    return p.blocks[0].partitions[i];
  };
  expect_faults({
      {[](Plan& p) { p.blocks.clear(); }, "it has no block"},
      {[&](Plan& p) { partition(p, 0).reason = "why"; },
       "block @main: partition 0: captured, but with a reason not to be"},
      {[&](Plan& p) { partition(p, 0).begin_step = 3; },
       "block @main: partition 0: steps [3, 2) are no range of the 6 steps"},
      {[&](Plan& p) { partition(p, 1).end_step = 7; },
       "block @main: partition 1: steps [2, 7) are no range of the 6 steps"},
      {[&](Plan& p) { partition(p, 1).begin_step = 3; },
       "block @main: partition 1: steps [3, 5) do not follow the partition before, which ends at "
       "2"},
      {[&](Plan& p) { partition(p, 1).end_step = 6; },
       "block @arm: partition 0: step 5 'inner' (aten.neg.default) is in another partition too"},
      {[&](Plan& p) { partition(p, 1).end_step = 4; },
       "step 4 'k' (aten.sym_size.int): it is in no partition"},
      {[&](Plan& p) { partition(p, 0).signature.outputs[0].index = 3; },
       "block @main: partition 0: buffer number 3 does not exist"},
      {[&](Plan& p) { partition(p, 0).signature.symbols = {"not"}; },
       "block @main: partition 0: 'not' is not the name of a symbol"},
  });
}

TEST(CheckPlan, FindsFaultsInSteps) {
  const auto operand = [](Plan& p, std::size_t step, std::size_t i) -> Argument& {
    return p.steps[step].node.arguments[i].argument;
  };
  expect_faults({
      {[&](Plan& p) { operand(p, 0, 0) = Argument{ValueId{9}}; },
       "step 0 'y' (aten.neg.default): value number 9 does not exist"},
      {[&](Plan& p) { operand(p, 0, 0) = Argument{ValueId{2}}; },
       "step 0 'y' (aten.neg.default): it reads %c before its definition"},
      {[&](Plan& p) { operand(p, 0, 0) = Argument{ValueId{1}}; },
       "step 0 'y' (aten.neg.default): it reads the view %y before anything is made in $y"},
      {[&](Plan& p) { operand(p, 1, 0) = Argument{ValueId{0}}; },
       "step 1 'add' (aten.add_.Tensor): it makes %y, which is made before and no operand of it"},
      {[](Plan& p) { p.steps[0].node.results[0].values.clear(); },
       "step 0 'y' (aten.neg.default): a result that is no list has 0 values"},
      {[](Plan& p) { p.steps[1].workspace = BufferId{3}; },
       "step 1 'add' (aten.add_.Tensor): buffer number 3 does not exist"},
      {[](Plan& p) { p.steps[1].waits = {EventId{1}}; },
       "step 1 'add' (aten.add_.Tensor): event number 1 does not exist"},
      {[&](Plan& p) { operand(p, 2, 1) = Argument{SubgraphId{2}}; },
       "step 2 'c' (higher_order.cond): block number 2 does not exist"},
      {[&](Plan& p) { operand(p, 2, 1) = Argument{SubgraphId{0}}; },
       "step 2 'c' (higher_order.cond): block @main is the program itself"},
      {[&](Plan& p) { operand(p, 3, 0) = Argument{SubgraphId{1}}; },
       "step 3 'n' (aten.nonzero.default): block @arm is an arm of step 2 'c' (higher_order.cond) "
       "too"},
      {[&](Plan& p) { operand(p, 5, 0) = Argument{SubgraphId{1}}; },
       "step 2 'c' (higher_order.cond): step 5 'inner' (aten.neg.default): block @arm is an arm of "
       "step 2 'c' (higher_order.cond) too"},
      {[&](Plan& p) { operand(p, 2, 1) = operand(p, 2, 2) = Argument{None{}}; },
       "block @arm: no step runs it"},
      {[&](Plan& p) { operand(p, 3, 0) = Argument{ValueId{5}}; },
       "step 3 'n' (aten.nonzero.default): it reads %z, which is made inside an arm"},
      {[&](Plan& p) { operand(p, 5, 0) = Argument{ValueId{3}}; },
       "step 2 'c' (higher_order.cond): step 5 'inner' (aten.neg.default): it reads %n before its "
       "definition"},
  });
}

// A view %t of $t, which step 0 makes something in, and a view %a of $z, which only the arm does.
constexpr std::string_view kViews = R"(plan "p" strict {
  pool @a arena on cpu 1024 align 64
  pool @h heap on cpu 0 align 1
  buffer $x @a [0, 64)
  buffer $t @a [64, 128)
  buffer $c @a [128, 192)
  buffer $z @a [192, 256)
  buffer $h @h
  input user "x" %x : f32[4, 4] $x
  block @main {
    partition 0 captured {
      view %xt : f32[4, 4]{1, 4} $x
      %y : f32[4, 4] $t = aten.neg.default(%xt)
      %n : i64[u0, 2] $h = aten.nonzero.default(%y)
      view %t : f32[2, 2]{1, 4} $t
      %t = aten.add_.Tensor(%t, 1) as add_
      %c : f32[4, 4] $c, %d : i64[u0, 2] $h = higher_order.cond(%n, @arm, @arm)
    }
  }
  block @arm {
    partition 0 eager "in an arm" {
      %z : f32[4, 4] $z = aten.neg.default(%t) as inner
      view %a : f32[16] $z
      %c = aten.copy_.default(%c, %a) as copy
      view %cell : f32[] $c
      %cell = aten.neg_.default(%cell) as neg_
    }
    output %c
    output %n
  }
  output %t
  view %unused : f32[] $c
}
)";

Argument& operand_of(Plan& plan, std::size_t step) {
  return plan.steps[step].node.arguments[0].argument;
}

ValueId find_value(const Plan& plan, std::string_view name) {
  for (std::uint32_t i = 0; i < plan.values.size(); ++i) {
    if (plan.values[i].value.name == name) return ValueId{i};
  }
  ADD_FAILURE() << "no value " << name;
  return {};
}

TEST(CheckPlan, AcceptsViewsAndArmsThatWriteTheResultsOfTheirConditional) {
  must(check_plan(parse_sample(kViews)));
}

TEST(CheckPlan, FindsFaultsInFinalValues) {
  const auto leave_as = [](std::string_view name) {
    return [=](Plan& p) { p.inputs[0].final_value = find_value(p, name); };
  };
  Plan plan = parse_sample(kViews);
  leave_as("xt")(plan);
  EXPECT_TRUE(check_plan(plan).ok()) << check_plan(plan).error().message;
  expect_faults(
      {
          {leave_as("t"), "input 'x': its final value %t is not over its buffer"},
          {leave_as("z"), "input 'x': it reads %z, which is made inside an arm"},
          {[](Plan& p) { p.inputs[0].final_value = ValueId{99}; },
           "input 'x': value number 99 does not exist"},
          {[](Plan& p) {
             p.inputs.push_back({InputKind::kUserInput, "k", {}, Argument{true}, ValueId{0}});
           },
           "input 'k': a constant that has a final value"},
      },
      kViews);
}

TEST(CheckPlan, FindsFaultsInViews) {
  const auto read = [](std::size_t step, std::string_view name) {
    return [=](Plan& p) { operand_of(p, step) = Argument{find_value(p, name)}; };
  };
  expect_faults(
      {
          {read(0, "t"),
           "step 0 'y' (aten.neg.default): it reads the view %t before anything is made in $t"},
          {read(0, "unused"),
           "step 0 'y' (aten.neg.default): it reads the view %unused before anything is made in "
           "$c"},
          {read(3, "a"),
           "step 3 'c' (higher_order.cond): it reads the view %a before anything is made in $z"},
          {read(4, "a"),
           "step 3 'c' (higher_order.cond): step 4 'inner' (aten.neg.default): it reads the view "
           "%a before anything is made in $z"},
          {[](Plan& p) { p.outputs[0] = Argument{find_value(p, "a")}; },
           "output 0: it reads the view %a before anything is made in $z"},
      },
      kViews);
}

// Even aten.empty takes a step, which makes its bytes whatever they are.
TEST(CheckPlan, WantsAMakerForTheBufferBehindAView) {
  Plan plan = parse_sample(kViews);
  plan.buffers.push_back(PlanBuffer{"empty", PoolId{0}, 256, 64});
  plan.values[find_value(plan, "xt").index].buffer = BufferId{5};
  EXPECT_TRUE(contains(failure_of(check_plan(plan)).message, "before anything is made in $empty"));
}

// A number or a tensor in a heap has no place where the arms could write it.
TEST(CheckPlan, LetsArmsWriteOnlyPlacedResults) {
  Plan plan = parse_sample(kViews);
  operand_of(plan, 4) = Argument{find_value(plan, "d")};
  EXPECT_EQ(failure_of(check_plan(plan)).message,
            "step 3 'c' (higher_order.cond): step 4 'inner' (aten.neg.default): it reads %d before "
            "its definition");
}

TEST(CheckPlan, WantsAMakerForWhatIsInAHeap) {
  Plan plan = parse_sample(kViews);
  PlanValue value = plan.values[find_value(plan, "n").index];
  value.value.name = "m";
  plan.values.push_back(value);
  EXPECT_EQ(failure_of(check_plan(plan)).message, "value %m: no input and no step makes it");
}

TEST(CheckPlan, FindsFaultsInInputsAndOutputs) {
  expect_faults({
      {[](Plan& p) { p.inputs[0].value.index = 6; }, "input 'x': value number 6 does not exist"},
      {[](Plan& p) { p.inputs.push_back(p.inputs[0]); },
       "input 'x': it makes %x, which is made before and no operand of it"},
      {[](Plan& p) { p.inputs[1].constant = Argument{ValueId{0}}; },
       "input 'k': a constant that is a value"},
      {[](Plan& p) { p.inputs[1].constant = Argument{SubgraphId{1}}; },
       "input 'k': block @arm is no output"},
      {[](Plan& p) { p.outputs[0] = Argument{ValueId{5}}; },
       "output 0: it reads %z, which is made inside an arm"},
      {[](Plan& p) { p.blocks[1].outputs[0] = Argument{ValueId{3}}; },
       "step 2 'c' (higher_order.cond): block @arm: output 0: it reads %n before its definition"},
  });
}

// An arm that reads the operands of its conditional must not take the right to update them away.
TEST(CheckPlan, LetsAConditionalUpdateAnOperandInPlace) {
  Plan plan = parse_sample(kBase);
  plan.steps[2].node.arguments.push_back({"", Argument{ValueId{1}}});
  plan.steps[2].node.results.push_back(NodeResult{false, {ValueId{1}}});
  EXPECT_TRUE(check_plan(plan).ok()) << check_plan(plan).error().message;
}

// A group that reads %x, keeps %t inside, makes %y and updates a view of it.
constexpr std::string_view kFused = R"(plan "p" strict {
  symbol s0 = 4
  padding s0
  pool @a arena on cpu 1024 align 64
  buffer $x @a [0, 64)
  buffer $y @a [64, 128)
  input user "x" %x : f32[4, 4] $x pad 0
  input user "k" = 3
  block @main {
    partition 0 captured {
      %y : f32[4, 4] $y, %row : f32[4] $y = graphgate.fused(%x) as group {
        %t : f32[4, 4] = aten.neg.default(%x)
        %y = aten.mul.Tensor(%t, %x) as mul
        %row = aten.neg_.default(%row) as neg_
      }
      %x = aten.add_.Tensor(%x, %y) as add_
    }
  }
  output weak %y pad 1
}
)";

TEST(CheckPlan, FindsFaultsInBodies) {
  const auto body = [](Plan& p, std::size_t i) -> Node& { return p.steps[0].body[i]; };
  const std::string_view t_outside =
      "step 1 'add_' (aten.add_.Tensor): it reads %t, which exists only inside a fused step or an "
      "arm";
  expect_faults(
      {
          {[](Plan& p) { p.steps[0].body.clear(); }, "value %t: a tensor without a buffer"},
          {[](Plan& p) { p.steps[1].body = {p.steps[1].node}; },
           "step 1 'add_' (aten.add_.Tensor): a body, but it is not graphgate.fused"},
          {[](Plan& p) { p.steps[1].node.arguments[1].argument = Argument{find_value(p, "t")}; },
           t_outside},
          {[&](Plan& p) { body(p, 0).arguments[0].argument = Argument{find_value(p, "y")}; },
           "step 0 'group' (graphgate.fused): 't' (aten.neg.default): it reads %y before its "
           "definition"},
          {[](Plan& p) { p.steps[0].node.arguments.clear(); },
           "step 0 'group' (graphgate.fused): its body reads what is no argument, %x"},
          {[](Plan& p) { p.steps[0].node.arguments[0].name = "self"; },
           "step 0 'group' (graphgate.fused): an argument of it is no plain value"},
          {[&](Plan& p) {
             body(p, 1).arguments[1].argument = body(p, 1).arguments[0].argument;
             body(p, 0).arguments[0].argument = Argument{2.0};
           },
           "step 0 'group' (graphgate.fused): no node of its body reads %x"},
          {[](Plan& p) { p.steps[0].node.results.pop_back(); },
           "step 0 'group' (graphgate.fused): its body makes what is no result, %row"},
          {[](Plan& p) {
             p.steps[0].node.results.push_back({false, {find_value(p, "x")}});
           },
           "step 0 'group' (graphgate.fused): no node of its body makes %x"},
          {[](Plan& p) { p.steps[0].node.results[0].is_list = true; },
           "step 0 'group' (graphgate.fused): a result of it is a list"},
          {[&](Plan& p) { body(p, 0).arguments[0].argument = Argument{SubgraphId{0}}; },
           "step 0 'group' (graphgate.fused): 't' (aten.neg.default): block @main is the program "
           "itself"},
          {[](Plan& p) {
             p.values[find_value(p, "t").index].value.type->sizes[0] = SymExpr::symbol("s0");
           },
           "value %t: its type f32[s0, 4] is no known size, inside a body"},
      },
      kFused);
}

TEST(CheckPlan, FindsFaultsInLifetimesAndPaddings) {
  expect_faults(
      {
          {[](Plan& p) { p.output_lifetimes.push_back(OutputLifetime::kWeak); },
           "2 lifetimes for 1 outputs"},
          {[](Plan& p) { p.padding->symbol = "s1"; }, "padding: the plan has no symbol 's1'"},
          {[](Plan& p) { p.padding->input_dims.pop_back(); },
           "padding: it does not list every input and every output"},
          {[](Plan& p) { p.padding->input_dims[0] = 2; },
           "padding: dimension 2 of %x is not s0 long"},
          {[](Plan& p) { p.padding->input_dims[1] = 0; },
           "padding: dimension 0 of what is no tensor"},
          {[](Plan& p) { p.symbols["s0"] = 5; }, "padding: dimension 0 of %x is not s0 long"},
          {[](Plan& p) { p.outputs[0] = Argument{1.0}; },
           "padding: dimension 1 of what is no tensor"},
      },
      kFused);
}

TEST(CheckPlan, RefusesBlocksNestedTooDeep) {
  Plan plan;
  for (std::uint32_t i = 0; i < 60; ++i) {
    PlanStep step;
    step.node.op = "higher_order.cond";
    if (i < 59) step.node.arguments.push_back({"", Argument{SubgraphId{i + 1}}});
    plan.steps.push_back(step);
    plan.blocks.push_back(
        PlanBlock{"b" + std::to_string(i), {PlanPartition{true, "", i, i + 1, {}}}, {}});
  }
  EXPECT_TRUE(contains(failure_of(check_plan(plan)).message, "blocks nested more than 50 deep"));
}

}  // namespace
}  // namespace graphgate::spec
