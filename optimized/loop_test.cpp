// Loops in plans: places for what is carried, blocks that run again and again.
#include "optimized/program_test.h"

namespace graphgate::optimized {
namespace {

using spec::HostTensor;
using Floats = std::vector<float>;

TEST(Loops, RunUntilTheConditionSaysSo) {
  const spec::Program program = program_of(R"(program "while" {
  input %n : i64[]
  input %x : f32[2]
  input %w : f32[2]
  graph @go {
    input %i : i64[]
    input %a : f32[2]
    input %b : f32[2]
    input %m : i64[]
    %p = aten.lt.Tensor(%i, %m)
    output %p
  }
  graph @do {
    input %i : i64[]
    input %a : f32[2]
    input %b : f32[2]
    input %m : i64[]
    %j = aten.add.Tensor(%i, 1)
    %t = aten.mul.Tensor(%a, 2.0)
    %c = aten.add.Tensor(%t, %b)
    output %j
    output %c
  }
  %k = aten.neg.default(%w)
  %zero = aten.full.default([], 0, dtype=i64)
  %last, %y = higher_order.while_loop(@go, @do, [%zero, %x], [%k, %n])
  %z = aten.add.Tensor(%y, %last)
  output %z
  output %y
})");
  const HostTensor x = f32({2}, {1, 2});
  const HostTensor w = f32({2}, {-1, 0});
  const auto results = run_calls(program, {{i64({}, {0}), x, w}, {i64({}, {3}), x, w}});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(floats(results[0].outputs[0]), (Floats{1, 2}));
  EXPECT_EQ(floats(results[1].outputs[1]), (Floats{15, 16}));
  EXPECT_EQ(floats(results[1].outputs[0]), (Floats{18, 19}));
}

TEST(Loops, CarryNumbers) {
  const spec::Program program = program_of(R"(program "numbers" {
  input %x : f32[1]
  graph @go {
    input %i : symint
    input %a : f32[1]
    %p : symbool = _operator.lt(%i, 3)
    output %p
  }
  graph @do {
    input %i : symint
    input %a : f32[1]
    %j : symint = _operator.add(%i, 1)
    %b : f32[1] = aten.add.Tensor(%a, %i)
    output %j
    output %b
  }
  %n : symint, %y = higher_order.while_loop(@go, @do, [0, %x], [])
  %z = aten.mul.Tensor(%y, %n)
  output %z
})");
  const auto results = run_calls(program, {{f32({1}, {1})}});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(floats(results[0].outputs[0]), (Floats{12}));
}

TEST(Loops, LetWhatIsCarriedChangePlaces) {
  const spec::Program program = program_of(R"(program "swap" {
  input %n : i64[]
  input %x : f32[1]
  input %y : f32[1]
  graph @go {
    input %i : i64[]
    input %a : f32[1]
    input %b : f32[1]
    %p = aten.gt.Scalar(%i, 0)
    output %p
  }
  graph @do {
    input %i : i64[]
    input %a : f32[1]
    input %b : f32[1]
    %j = aten.sub.Tensor(%i, 1)
    %c = aten.clone.default(%b)
    %d = aten.clone.default(%a)
    output %j
    output %c
    output %d
  }
  %last, %u, %v = higher_order.while_loop(@go, @do, [%n, %x, %y], [])
  output %u
  output %v
})");
  const auto results = run_calls(program, {{i64({}, {3}), f32({1}, {1}), f32({1}, {2})}});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(floats(results[0].outputs[0]), (Floats{2}));
  EXPECT_EQ(floats(results[0].outputs[1]), (Floats{1}));
}

TEST(Loops, GoAlongADimension) {
  const spec::Program program = program_of(R"(program "scan" {
  symbol s0 in [0, 8]
  input %x : f32[s0, 2]
  input %c : f32[2]
  graph @do {
    input %a : f32[2]
    input %b : f32[2]
    %s = aten.add.Tensor(%a, %b)
    %t = aten.mul.Tensor(%s, 10.0)
    output %s
    output %t
  }
  %last : f32[2], %all : f32[s0, 2] = higher_order.scan(@do, [%c], [%x], [])
  output %last
  output %all
})");
  const HostTensor c = f32({2}, {0, 1});
  const auto results = run_calls(program, {{f32({2, 2}, {1, 2, 3, 4}), c}, {f32({0, 2}, {}), c}});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(floats(results[0].outputs[0]), (Floats{4, 7}));
  EXPECT_EQ(floats(results[0].outputs[1]), (Floats{10, 30, 40, 70}));
  EXPECT_EQ(floats(results[1].outputs[0]), (Floats{0, 1}));
  const auto& carried = std::get<HostTensor>(results[1].outputs[0]);
  EXPECT_EQ(carried.storage, std::get<HostTensor>(results[1].final_inputs[1]).storage);
}

}  // namespace
}  // namespace graphgate::optimized
