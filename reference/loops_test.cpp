// Loops, as PyTorch's eager mode runs them.
#include "reference/loops.h"

#include "reference/program_test.h"

namespace graphgate::reference {
namespace {

using test::elements;
using test::floats;
using test::Loaded;
using test::output;
using Floats = std::vector<float>;

constexpr const char* kDoubles = R"(program "p" {
  input %x : f32[2]
  graph @go {
    input %a : f32[2]
    %s = aten.sum.default(%a)
    %p = aten.lt.Scalar(%s, 10)
    output %p
  }
  graph @do {
    input %a : f32[2]
    %b = aten.mul.Tensor(%a, 2)
    output %b
  }
  %y = higher_order.while_loop(@go, @do, [%x], [])
  output %y
}
)";

TEST(Loops, WhileCarriesWhatTheBodyResultsIn) {
  const spec::Program program = test::program(kDoubles);
  Loaded loaded(program);
  EXPECT_EQ(elements(output(loaded.call({floats({2}, {1, 2})}), 0)), (Floats{4, 8}));
}

TEST(Loops, WhileThatNeverRunsResultsInCopies) {
  const spec::Program program = test::program(kDoubles);
  Loaded loaded(program);
  const auto result = loaded.call({floats({2}, {8, 9})});
  EXPECT_EQ(elements(output(result, 0)), (Floats{8, 9}));
  const auto& input = std::get<spec::HostTensor>(result.final_inputs[0]);
  EXPECT_NE(output(result, 0).storage, input.storage);
}

TEST(Loops, WhileCarriesNumbers) {
  const spec::Program program = test::program(R"(program "p" {
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
    %b = aten.add.Tensor(%a, %i)
    output %j
    output %b
  }
  %n : symint, %y = higher_order.while_loop(@go, @do, [0, %x], [])
  %z = aten.mul.Tensor(%y, %n)
  output %z
}
)");
  Loaded loaded(program);
  EXPECT_EQ(elements(output(loaded.call({floats({1}, {1})}), 0)), (Floats{12}));
}

constexpr const char* kSums = R"(program "p" {
  symbol s0 in [0, 8]
  input %x : f32[s0, 2]
  input %c : f32[2]
  graph @do {
    input %a : f32[2]
    input %b : f32[2]
    %s = aten.add.Tensor(%a, %b)
    %t = aten.mul.Tensor(%s, 10)
    output %s
    output %t
  }
  %last : f32[2], %all : f32[s0, 2] = higher_order.scan(@do, [%c], [%x], [])
  output %last
  output %all
}
)";

TEST(Loops, ScanStacksWhatTheBodyResultsInBehindTheCarried) {
  const spec::Program program = test::program(kSums);
  Loaded loaded(program);
  const auto result = loaded.call({floats({2, 2}, {1, 2, 3, 4}), floats({2}, {0, 1})});
  EXPECT_EQ(elements(output(result, 0)), (Floats{4, 7}));
  EXPECT_EQ(elements(output(result, 1)), (Floats{10, 30, 40, 70}));
}

TEST(Loops, ScanOfNoSliceHandsOnWhatIsCarried) {
  const spec::Program program = test::program(kSums);
  Loaded loaded(program);
  const auto result = loaded.call({floats({0, 2}, {}), floats({2}, {5, 6})});
  EXPECT_EQ(elements(output(result, 0)), (Floats{5, 6}));
  const auto& carried = std::get<spec::HostTensor>(result.final_inputs[1]);
  EXPECT_EQ(output(result, 0).storage, carried.storage);
  EXPECT_EQ(output(result, 1).sizes, (std::vector<std::int64_t>{0, 2}));
}

TEST(Loops, MapStacksTheResultsOfEverySlice) {
  const spec::Program program = test::program(R"(program "p" {
  input %x : f32[2, 2]
  input %y : f32[2]
  graph @do {
    input %a : f32[2]
    input %b : f32[2]
    %c = aten.add.Tensor(%a, %b)
    output %c
  }
  %all : f32[2, 2] = higher_order.map_impl(@do, [%x], [%y])
  output %all
}
)");
  Loaded loaded(program);
  const auto result = loaded.call({floats({2, 2}, {1, 2, 3, 4}), floats({2}, {10, 20})});
  EXPECT_EQ(elements(output(result, 0)), (Floats{11, 22, 13, 24}));
}

}  // namespace
}  // namespace graphgate::reference
