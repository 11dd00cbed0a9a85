#include "interop/plan_json.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "spec/test_plans.h"

namespace graphgate::interop {
namespace {

using spec::Argument;
using spec::Plan;

std::string print(const Plan& plan) { return must(print_plan_json(plan)); }

Plan read(std::string_view text) { return must(read_plan_json(text, "p.json")); }

TEST(PlanJson, GivesThePlanBackThatHasEverything) {
  const Plan plan = spec::parse_sample(spec::kFullPlan);
  const std::string text = print(plan);
  EXPECT_EQ(read(text), plan);
  EXPECT_EQ(print(read(text)), text);
}

RC_GTEST_PROP(PlanJson, RoundTripsDrawnPlans, (std::vector<std::uint16_t> genes)) {
  const Plan plan = spec::draw_plan(genes);
  const auto text = print_plan_json(plan);
  RC_ASSERT(text.ok());
  const auto again = read_plan_json(text.value(), "p.json");
  RC_ASSERT(again.ok());
  RC_ASSERT(again.value() == plan);
}

TEST(PlanJson, KeepsEveryKindOfArgument) {
  Plan plan = spec::parse_sample(spec::kFullPlan);
  const spec::ValueId x = plan.inputs[3].value;
  plan.output_lifetimes.clear();
  plan.padding.reset();
  plan.outputs = {Argument{spec::None{}},
                  Argument{true},
                  Argument{std::int64_t{9007199254740993}},
                  Argument{2.0},
                  Argument{-0.0},
                  Argument{5e-324},
                  Argument{-std::numeric_limits<double>::infinity()},
                  Argument{std::string("inf")},
                  Argument{spec::DType::kFloat8E4M3FN},
                  Argument{spec::Device{"cuda", 3}},
                  Argument{spec::Layout::kNone},
                  Argument{spec::MemoryFormat::kChannelsLast3d},
                  Argument{spec::OpName{"aten.add_.Tensor"}},
                  Argument{spec::ComplexNumber{-0.0, 2.0}},
                  Argument{spec::ComplexNumber{std::numeric_limits<double>::quiet_NaN(),
                                               std::numeric_limits<double>::infinity()}},
                  Argument{Argument::List{Argument{x}, Argument{Argument::List{}}}}};
  EXPECT_EQ(read(print(plan)).outputs, plan.outputs);
  EXPECT_TRUE(std::signbit(*read(print(plan)).outputs[4].as<double>()));
}

// What another program would write by hand: all that has a default is left out.
constexpr std::string_view kSmall = R"({"graphgate_plan": 1, "name": "p",
  "pools": [{"name": "a", "kind": "arena", "device": "cuda:0", "size_bytes": 32}],
  "buffers": [{"name": "b", "pool": "a", "size_bytes": 32}],
  "values": [{"name": "x", "type": {"dtype": "f32", "sizes": [2, 4]}, "buffer": "b"}],
  "inputs": [{"kind": "user", "target": "x", "value": "x"},
             {"kind": "user", "target": "k", "constant": null}],
  "steps": [{"name": "s", "op": "my.op",
             "arguments": [{"argument": {"value": "x"}}, {"argument": {"float": 2}}]}],
  "blocks": [{"name": "main", "partitions": [{"captured": true, "begin_step": 0, "end_step": 1}]}],
  "outputs": [{"value": "x"}]})";

TEST(PlanJson, FillsDefaultsIn) {
  const Plan plan = read(kSmall);
  EXPECT_EQ(plan.arithmetic, "strict");
  EXPECT_EQ(plan.pools[0].alignment_bytes, 1);
  EXPECT_EQ(plan.values[0].value.type->strides, (std::vector<spec::SymExpr>{4, 1}));
  EXPECT_EQ(plan.inputs[1].constant, Argument{spec::None{}});
  EXPECT_EQ(*plan.steps[0].node.arguments[1].argument.as<double>(), 2.0);
}

TEST(PlanJson, TakesATensorThatNothingMakesForAView) {
  const std::string_view value = "\"buffer\": \"b\"}";
  std::string text(kSmall);
  text.insert(text.find(value) + value.size(),
              ", {\"name\": \"t\", \"type\": {\"dtype\": \"f32\", \"sizes\": [4, 2], "
              "\"strides\": [1, 4]}, \"buffer\": \"b\"}");
  const std::string_view used = "\"outputs\": [{\"value\": \"x\"}]";
  text.replace(text.find(used), used.size(), "\"outputs\": [{\"value\": \"t\"}]");
  const Plan plan = read(text);
  ASSERT_EQ(plan.values.size(), 2U);
  EXPECT_EQ(plan.outputs, std::vector{Argument{spec::ValueId{1}}});
  EXPECT_EQ(read(print(plan)), plan);
}

TEST(PlanJsonErrors, NameThePlaceAndWhatWasExpected) {
  struct Bad {
    std::string_view from;
    std::string_view to;
    std::string_view message;
  };
  const Bad cases[] = {
      {"\"graphgate_plan\": 1", "\"plan\": 1", "p.json: has no \"graphgate_plan\""},
      {"\"graphgate_plan\": 1", "\"graphgate_plan\": 2",
       "p.json: graphgate_plan: version 2 of the plan form is not supported"},
      {"\"kind\": \"arena\"", "\"kind\": \"arenas\"",
       "p.json: pools[0].kind: expected state, input, arena, heap or caller, found \"arenas\""},
      {"\"device\": \"cuda:0\"", "\"device\": \"cuda:\"",
       "p.json: pools[0].device: expected a device, found \"cuda:\""},
      {"\"pool\": \"a\"", "\"pool\": \"b\"",
       "p.json: buffers[0].pool: expected the name of a pool, found \"b\""},
      {"\"size_bytes\": 32}],\n  \"values", "\"size\": 32}],\n  \"values",
       "p.json: buffers[0].size: expected one of the members name, pool, offset_bytes, "
       "size_bytes"},
      {"[2, 4]", "[2, \"4*\"]", "p.json: values[0].type.sizes[1]: "},
      {", \"sizes\": [2, 4]", "", "p.json: values[0].type: has no \"sizes\""},
      {"[2, 4]", "[2, 4.0]",
       "p.json: values[0].type.sizes[1]: expected an integer, found a number"},
      {"\"f32\"", "\"f33\"", "p.json: values[0].type.dtype: expected a dtype, found \"f33\""},
      {"\"target\": \"x\", \"value\": \"x\"", "\"target\": \"x\"",
       "p.json: inputs[0]: has no \"value\""},
      {"\"constant\": null", "\"constant\": null, \"value\": \"x\"",
       "p.json: inputs[1]: has a value and a constant"},
      {"{\"float\": 2}", "{\"float\": \"Infinity\"}",
       "p.json: steps[0].arguments[1].argument.float: expected a number, inf, -inf or nan, found "
       "\"Infinity\""},
      {"{\"float\": 2}", "{\"tensor\": 2}",
       "p.json: steps[0].arguments[1].argument: expected value, block, float, complex, dtype, device, "
       "layout, memory_format or op, found \"tensor\""},
      {"\"op\": \"my.op\"",
       "\"op\": \"my.op\", \"body\": [{\"name\": \"a\", \"op\": \"b\", \"waits\": []}]",
       "p.json: steps[0].body[0].waits: expected one of the members name, op, arguments, results"},
      {"\"name\": \"p\"", "\"name\": \"p\", \"key\": {\"mode\": 3}",
       "p.json: key.mode: expected a string, found a number"},
      {"\"name\": \"p\"", "\"name\": \"p\", \"output_lifetimes\": [\"long\"]",
       "p.json: output_lifetimes[0]: expected strong or weak, found \"long\""},
      {"\"name\": \"p\"",
       "\"name\": \"p\", \"padding\": {\"symbol\": \"s0\", \"input_dims\": [-1]}",
       "p.json: padding.input_dims[0]: expected an integer in [0, 2^32), found -1"},
      {"\"name\": \"p\"", "\"name\": \"p\", \"padding\": {\"symbol\": \"s0\"}",
       "p.json: padding: the plan has no symbol 's0'"},
      {"\"begin_step\": 0", "\"begin_step\": -1",
       "p.json: blocks[0].partitions[0].begin_step: expected an integer in [0, 2^32), found -1"},
      {"\"outputs\": [{\"value\": \"x\"}]", "\"outputs\": [{\"value\": \"y\"}]",
       "p.json: outputs[0].value: expected the name of a value, found \"y\""},
      {"\"name\": \"b\", \"pool\"", "\"name\": 7, \"pool\"",
       "p.json: buffers[0].name: expected a string, found a number"},
      {"[2, 4]", "[2, 5]", "p.json: value %x: f32[2, 5] does not fit in $b [0, 32)"},
      {"\"end_step\": 1", "\"end_step\": 0", "p.json: step 0 's' (my.op): it is in no partition"},
  };
  for (const Bad& bad : cases) {
    std::string text(kSmall);
    const auto place = text.find(bad.from);
    ASSERT_NE(place, std::string::npos) << bad.from;
    text.replace(place, bad.from.size(), bad.to);
    const Error plan = failure_of(read_plan_json(text, "p.json"), bad.message);
    EXPECT_EQ(plan.message.substr(0, bad.message.size()), bad.message) << plan.message;
  }
}

TEST(PlanJsonErrors, RefuseATextThatIsNoUtf8) {
  Plan plan = read(kSmall);
  plan.inputs[1].constant = Argument{std::string("\xff")};
  EXPECT_EQ(failure_of(print_plan_json(plan)).kind, ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace graphgate::interop
