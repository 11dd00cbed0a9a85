#include "optimized/cache/plan_codec.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstring>

#include "spec/test_plans.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using spec::Plan;
using spec::SymExpr;
using spec::SymOp;

Plan decoded(const std::string& bytes) { return must(decode_plan(bytes)); }

// Everything that plan text's sample lacks.
Plan plan_with_everything() {
  Plan plan = spec::parse_sample(spec::kFullPlan);
  spec::PlanStep& step = plan.steps[0];
  step.body = {plan.steps[1].node, plan.steps[2].node};
  step.node.arguments.push_back(
      {"all", Argument{Argument::List{
                  Argument{spec::None{}}, Argument{true}, Argument{std::int64_t{-7}},
                  Argument{-0.0}, Argument{std::string("text \n\0 end", 10)},
                  Argument{spec::DType::kBool}, Argument{spec::Device{"cuda", 3}},
                  Argument{spec::Layout::kNone}, Argument{spec::MemoryFormat::kChannelsLast3d},
                  Argument{spec::ValueId{2}}, Argument{spec::OpName{"aten.add.Tensor"}},
                  Argument{spec::SubgraphId{1}}, Argument{Argument::List{}}}}});
  const SymExpr s0 = SymExpr::symbol("s0");
  plan.values[0].value.expr = SymExpr::apply(
      SymOp::kMax, {s0, SymExpr(INT64_MIN),
                    SymExpr::apply(SymOp::kFloorDiv, {SymExpr::apply(SymOp::kNeg, {s0}), 3})});
  plan.values[0].value.hint = INT64_MAX;
  plan.output_lifetimes.assign(plan.outputs.size(), spec::OutputLifetime::kWeak);
  plan.padding = spec::PlanPadding{"s0", {0, std::nullopt}, {std::nullopt, 1}};
  plan.key = {{"mode", "full"}, {"lora", ""}};
  return plan;
}

TEST(PlanCodec, GivesBackEveryField) {
  const Plan plan = plan_with_everything();
  EXPECT_EQ(decoded(encode_plan(plan)), plan);
}

TEST(PlanCodec, KeepsTheBitsOfNaN) {
  Plan plan = spec::parse_sample(spec::kFullPlan);
  plan.outputs = {Argument{-std::nan("3")}};
  const Plan read = decoded(encode_plan(plan));
  const double expected = *plan.outputs[0].as<double>();
  ASSERT_NE(read.outputs[0].as<double>(), nullptr);
  EXPECT_EQ(std::memcmp(read.outputs[0].as<double>(), &expected, sizeof expected), 0);
}

RC_GTEST_PROP(PlanCodec, GivesBackDrawnPlans, (const std::vector<std::uint16_t>& genes)) {
  spec::PlanDrawer drawer;
  for (const std::uint16_t gene : genes) drawer.add_step(gene);
  const Plan plan = drawer.finish();
  RC_ASSERT(decoded(encode_plan(plan)) == plan);
}

TEST(PlanCodec, RefusesEveryCut) {
  const std::string bytes = encode_plan(plan_with_everything());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto plan = decode_plan(std::string_view(bytes).substr(0, size));
    ASSERT_FALSE(plan.ok()) << size;
    EXPECT_EQ(plan.error().kind, ErrorKind::kBadInput);
  }
  EXPECT_FALSE(decode_plan(bytes + '\0').ok());
}

// A flipped bit may well make another plan; it must not make a crash, or memory without bound.
TEST(PlanCodec, SurvivesEveryFlippedBit) {
  const std::string bytes = encode_plan(plan_with_everything());
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    if (!decode_plan(flipped).ok()) ++refused;
  }
  EXPECT_GT(refused, bytes.size());
}

TEST(PlanCodec, RefusesAnotherVersion) {
  std::string bytes = encode_plan(spec::parse_sample(spec::kFullPlan));
  ASSERT_EQ(bytes[7], kPlanCodecVersion);
  bytes[7] = kPlanCodecVersion + 1;
  EXPECT_EQ(failure_of(decode_plan(bytes)).message, "the plan is encoded by another version");
}

TEST(PlanCodec, RefusesListsNestedWithoutEnd) {
  Argument nested{std::int64_t{1}};
  for (int depth = 0; depth < 1000; ++depth) {
    Argument outer{Argument::List{}};
    std::get<Argument::List>(outer.value).push_back(std::move(nested));
    nested = std::move(outer);
  }
  Plan plan = spec::parse_sample(spec::kFullPlan);
  plan.outputs.clear();
  plan.outputs.push_back(std::move(nested));
  EXPECT_FALSE(decode_plan(encode_plan(plan)).ok());
}

}  // namespace
}  // namespace graphgate::optimized
