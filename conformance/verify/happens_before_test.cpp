#include "conformance/verify/happens_before.h"

#include "base/result_test.h"
#include "spec/plan_text.h"

namespace graphgate::verify {
namespace {

// Steps 0 to 3 are captured on two streams; 4 and 5 are eager.
constexpr const char* kPlan = R"(plan "p" strict {
  events 1
  pool @in input on cpu 64 align 64
  pool @a arena on cpu 512 align 64
  buffer $x @in [0, 64)
  buffer $a @a [0, 64)
  buffer $b @a [64, 128)
  buffer $c @a [128, 192)
  buffer $d @a [192, 256)
  buffer $e @a [256, 320)
  buffer $f @a [320, 384)
  input user "x" %x : f32[4, 4] $x
  block @main {
    partition 0 captured {
      in $x
      out $c, $d
      %a : f32[4, 4] $a = aten.relu.default(%x) record 0
      %b : f32[4, 4] $b = aten.neg.default(%x) stream 1
      %c : f32[4, 4] $c = aten.exp.default(%a) stream 1 wait 0
      %d : f32[4, 4] $d = aten.sin.default(%x)
    }
    partition 1 eager "split op" {
      in free $c, free $d
      out $e, $f
      %e : f32[4, 4] $e = aten.neg.default(%c)
      %f : f32[4, 4] $f = aten.neg.default(%d)
    }
  }
  output %e
  output %f
}
)";

TEST(HappensBefore, CountsStreamsEventsAndJoinsOnly) {
  const auto plan = must(spec::parse_plan(kPlan, spec::builtin_op_table()));
  const Accesses accesses = accesses_of(plan, spec::builtin_op_table());
  const HappensBefore order(accesses);
  EXPECT_TRUE(order.before(0, 2)) << "by the event";
  EXPECT_TRUE(order.before(1, 2)) << "by the stream";
  EXPECT_TRUE(order.before(0, 3)) << "by the stream";
  EXPECT_FALSE(order.before(0, 1)) << "program order does not count";
  EXPECT_FALSE(order.before(2, 3));
  EXPECT_FALSE(order.ordered(1, 3));
  EXPECT_FALSE(order.before(2, 0)) << "not backwards";
  EXPECT_FALSE(order.before(2, 2));
  EXPECT_TRUE(order.before(2, 4)) << "partitions end with their streams joined";
  EXPECT_TRUE(order.before(4, 5)) << "eager steps run one by one";
  EXPECT_TRUE(order.idle_waits().empty());
}

TEST(HappensBefore, TakesStreamsOfAnyNumber) {
  auto plan = must(spec::parse_plan(kPlan, spec::builtin_op_table()));
  for (spec::PlanStep& step : plan.steps) {
    if (step.stream == 1) step.stream = 4'000'000'000U;
  }
  const Accesses accesses = accesses_of(plan, spec::builtin_op_table());
  const HappensBefore order(accesses);
  EXPECT_TRUE(order.before(0, 2));
  EXPECT_FALSE(order.ordered(1, 3));
}

TEST(HappensBefore, NamesWaitsThatOrderNothing) {
  auto plan = must(spec::parse_plan(kPlan, spec::builtin_op_table()));
  plan.steps[0].records.clear();
  const Accesses accesses = accesses_of(plan, spec::builtin_op_table());
  const HappensBefore order(accesses);
  ASSERT_EQ(order.idle_waits().size(), 1U);
  EXPECT_EQ(order.idle_waits()[0].step, 2U);
  EXPECT_FALSE(order.idle_waits()[0].recorder.has_value());
  EXPECT_FALSE(order.ordered(0, 2));
}

}  // namespace
}  // namespace graphgate::verify
