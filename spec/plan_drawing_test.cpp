#include "spec/plan_drawing.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <sstream>

#include "spec/test_plans.h"

namespace graphgate::spec {
namespace {

constexpr std::string_view kPlan = R"(plan "p" strict {
  pool @s state on cuda 64 align 64
  pool @a arena on cuda 320 align 64
  pool @h heap on cuda 0 align 1
  buffer $w @s [0, 64)
  buffer $x @a [0, 64)
  buffer $y @a [64, 128)
  buffer $z @a [0, 64)
  buffer $work @a [192, 256)
  buffer $idle @a [256, 320)
  buffer $n @h
  buffer $m @h
  input parameter "w" %w : f32[4, 4] $w
  input user "x" %x : f32[4, 4] $x
  block @main {
    partition 0 captured {
      %y : f32[4, 4] $y = aten.add.Tensor(%w, 1.0)
      %v : f32[16] $y = aten.mm.default(%x, %y) as mm workspace $work
      %z : f32[4, 4] $z = aten.neg.default(%v)
      %n : i64[u0, 2] $n = aten.nonzero.default(%z)
      %m : i64[u0, 2] $m = aten.neg.default(%n)
    }
  }
  output %z
}
)";

using Uses = std::vector<BufferUse>;

TEST(BufferUses, RunFromTheFirstMentionToTheLast) {
  EXPECT_EQ(buffer_uses(parse_sample(kPlan)), (Uses{{BufferId{0}, 0, 4},  // state: always
                                                    {BufferId{1}, 0, 1},  // an input
                                                    {BufferId{2}, 0, 2},  // through its view
                                                    {BufferId{3}, 2, 4},  // an output
                                                    {BufferId{4}, 1, 1},  // a workspace
                                                    {BufferId{6}, 3, 4},
                                                    {BufferId{7}, 4, 4}}));
}

constexpr std::string_view kConditional = R"(plan "p" strict {
  pool @a arena on cuda 320 align 64
  buffer $x @a [0, 64)
  buffer $t @a [64, 128)
  buffer $f @a [64, 128)
  buffer $c @a [128, 192)
  buffer $d @a [0, 64)
  input user "x" %x : f32[4, 4] $x
  block @main {
    partition 0 eager "conditional" {
      %c : f32[4, 4] $c = higher_order.cond(%x, @yes, @no)
      %d : f32[4, 4] $d = aten.neg.default(%c)
    }
  }
  block @yes {
    partition 0 captured {
      %t : f32[4, 4] $t = aten.neg.default(%x)
    }
    output %t
  }
  block @no {
    partition 0 captured {
      %u : f32[4, 4] $f = aten.exp.default(%x)
      %f : f32[4, 4] $f = aten.exp.default(%u)
    }
    output %f
  }
  output %d
}
)";

TEST(BufferUses, CountTheMentionsOfViews) {
  EXPECT_EQ(buffer_uses(parse_sample(R"(plan "p" strict {
  pool @a arena on cuda 320 align 64
  buffer $x @a [0, 64)
  buffer $y @a [64, 128)
  buffer $z @a [128, 192)
  input user "x" %x : f32[4, 4] $x
  block @main {
    partition 0 captured {
      %y : f32[4, 4] $y = aten.neg.default(%x)
      %z : f32[4, 4] $z = aten.neg.default(%y)
      view %t : f32[4, 4]{1, 4} $x
      %w : f32[4, 4] $z = aten.neg.default(%t)
    }
  }
  view %u : f32[2] $y
  output %u
  view %unused : f32[2] $x
}
)")),
            (Uses{{BufferId{0}, 0, 2}, {BufferId{1}, 0, 2}, {BufferId{2}, 1, 2}}));
}

// cond at 0, @yes at 1, @no at 2 and 3, the negation at 4.
TEST(BufferUses, OfArmsStandAtTheStepsOfTheArm) {
  const Plan plan = parse_sample(kConditional);
  EXPECT_EQ(execution_order(plan), (std::vector<std::uint32_t>{0, 2, 3, 4, 1}));
  EXPECT_EQ(buffer_uses(plan), (Uses{{BufferId{0}, 0, 3},
                                     {BufferId{1}, 1, 3},
                                     {BufferId{2}, 2, 3},
                                     {BufferId{3}, 0, 4},
                                     {BufferId{4}, 4, 4}}));
}

TEST(DrawPool, ShowsWhoHasWhichBytesWhen) {
  const Plan plan = parse_sample(kPlan);
  EXPECT_EQ(draw_pool(plan, PoolId{1}),
            R"(pool @a: arena on cuda, 320 bytes, 4 buffers in use, steps 0 to 4
  0 |aaaaaaaabbbbbbbbbbbb
 64 |cccccccccccc........
128 |....................
192 |....dddd............
256 +--------------------
a $x [0, 64) steps 0 to 1
b $z [0, 64) steps 2 to 4
c $y [64, 128) steps 0 to 2
d $work [192, 256) steps 1 to 1
)");
  EXPECT_EQ(draw_pool(plan, PoolId{2}),
            R"(pool @h: heap on cuda, 2 buffers in use, steps 0 to 4
 |............aaaaaaaa
 |................bbbb
 +--------------------
a $n steps 3 to 4
b $m steps 4 to 4
)");
}

TEST(DrawPool, MarksTwoBuffersInTheSameBytes) {
  Plan plan = parse_sample(kPlan);
  plan.buffers[3].offset_bytes = 64;  // $z over $y, both at step 2
  const std::string text = draw_pool(plan, PoolId{1});
  EXPECT_TRUE(contains(text, " 64 |bbbbbbbb####cccccccc\n"));
}

TEST(DrawPool, ShowsSeveralStepsAndRangesInOneCell) {
  const Plan plan = parse_sample(kPlan);
  const std::string text = draw_pool(plan, PoolId{1}, DrawingOptions{40, 2, 1});
  EXPECT_EQ(text, R"(pool @a: arena on cuda, 320 bytes, 4 buffers in use, steps 0 to 4
  0 |++++++++++++bbbbbbbb
128 |....dddd............
256 +--------------------
a $x [0, 64) steps 0 to 1
and 3 more
)");
}

TEST(DrawPool, SaysThatNothingIsInUse) {
  const Plan plan = parse_sample(R"(plan "p" strict {
  pool @a arena on cpu 64 align 1
  block @main {
  }
}
)");
  EXPECT_EQ(draw_pool(plan, PoolId{0}),
            "pool @a: arena on cpu, 64 bytes, 0 buffers in use, steps 0 to 0\n");
}

RC_GTEST_PROP(DrawPool, StaysInItsBounds, (std::vector<std::uint16_t> genes)) {
  const Plan plan = draw_plan(genes);
  const DrawingOptions options{60, 5, 7};
  for (std::uint32_t pool = 0; pool < plan.pools.size(); ++pool) {
    std::istringstream lines(draw_pool(plan, PoolId{pool}, options));
    std::size_t count = 0;
    bool head = true;
    for (std::string line; std::getline(lines, line); ++count) {
      RC_ASSERT(head || line.size() <= options.width);
      head = false;
    }
    RC_ASSERT(count <= 1 + options.height + 1 + options.legend_rows + 1);
  }
}

// Where every step has a column and every range a row, a `#` says that two uses meet, and only
// that.
RC_GTEST_PROP(DrawPool, MarksExactlyTheConflicts, (std::vector<std::uint8_t> genes)) {
  const Plan plan = draw_plan({genes.begin(), genes.end()});
  const PoolId arena{1};
  const Uses uses = buffer_uses(plan);
  bool meet = false;
  for (const BufferUse& a : uses) {
    for (const BufferUse& b : uses) {
      const PlanBuffer& first = plan.buffers[a.buffer.index];
      const PlanBuffer& second = plan.buffers[b.buffer.index];
      if (!(a.buffer < b.buffer) || first.pool != arena || second.pool != arena) continue;
      meet = meet || (first.offset_bytes == second.offset_bytes && a.first_step <= b.last_step &&
                      b.first_step <= a.last_step);
    }
  }
  const std::string text = draw_pool(plan, arena, DrawingOptions{10000, 10000, 0});
  RC_ASSERT((text.find('#') != std::string::npos) == meet);
  RC_ASSERT(text.find("+.") == std::string::npos);
}

}  // namespace
}  // namespace graphgate::spec
