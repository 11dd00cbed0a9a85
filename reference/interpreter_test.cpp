// Subgraphs, lists and the lives of values.
#include "reference/interpreter.h"

#include "reference/program_test.h"

namespace graphgate::reference {
namespace {

using test::elements;
using test::floats;
using test::Loaded;
using test::output;
using Floats = std::vector<float>;

TEST(Interpreter, CondRunsOneBranchOnTheCallersTensors) {
  const spec::Program program = test::program(R"(program "p" {
  input %x : f32[2]
  graph @up {
    input %a : f32[2]
    %b = aten.add.Tensor(%a, 10)
    output %b
  }
  graph @same {
    input %a : f32[2]
    output %a
  }
  %s = aten.sum.default(%x)
  %p = aten.gt.Scalar(%s, 0)
  %c = higher_order.cond(%p, @up, @same, [%x])
  output %c
}
)");
  Loaded loaded(program);
  EXPECT_EQ(elements(output(loaded.call({floats({2}, {1, 2})}), 0)), (Floats{11, 12}));
  EXPECT_EQ(elements(output(loaded.call({floats({2}, {-1, -2})}), 0)), (Floats{-1, -2}));
}

TEST(Interpreter, AutoFunctionalizedWritesCopiesOfItsBases) {
  const spec::Program program = test::program(R"(program "p" {
  input %x : f32[2, 4]
  %base = aten.zeros.default([2, 4])
  %none : none, %new = higher_order.auto_functionalized_v2(vllm.silu_and_mul.default, input=%x, _out_base_index=0, _out_size=[2, 2], _out_stride=[4, 1], _out_storage_offset=1, _all_bases=[%base])
  output %new
  output %base
}
)");
  Loaded loaded(program);
  const auto result = loaded.call({floats({2, 4}, {0, 0, 1, 1, 0, 0, 1, 1})});
  EXPECT_EQ(elements(output(result, 1)), Floats(8, 0));
  EXPECT_NE(output(result, 0).storage, output(result, 1).storage);
  EXPECT_EQ(elements(output(result, 0)), Floats(8, 0));
}

TEST(Interpreter, AutoFunctionalizedWritesOnlyTheDescribedViewOfABase) {
  const spec::Program program = test::program(R"(program "p" {
  input %x : f32[2, 2]
  %base = aten.full.default([4], 7.0)
  %none : none, %new = higher_order.auto_functionalized_v2(vllm.silu_and_mul.default, input=%x, _out_base_index=0, _out_size=[2, 1], _out_stride=[2, 1], _out_storage_offset=1, _all_bases=[%base])
  output %new
}
)");
  Loaded loaded(program);
  const auto result = loaded.call({floats({2, 2}, {0, 1, 0, 1})});
  EXPECT_EQ(elements(output(result, 0)), (Floats{7, 0, 7, 0}));
}

TEST(Interpreter, ListsAreUnpackedAndIndexed) {
  const spec::Program program = test::program(R"(program "p" {
  input %x : f32[4]
  (%a, %b) = aten.split.Tensor(%x, 2)
  %y = aten.add_.Tensor(%b, 1)
  output %a
  output %x
}
)");
  Loaded loaded(program);
  const auto result = loaded.call({floats({4}, {1, 2, 3, 4})});
  EXPECT_EQ(elements(output(result, 0)), (Floats{1, 2}));
  EXPECT_EQ(elements(output(result, 1)), (Floats{1, 2, 4, 5}));
}

TEST(Interpreter, AListOfAnotherLengthThanTheProgramSaysIsAnError) {
  const spec::Program program = test::program(R"(program "p" {
  symbol s0 in [0, 8]
  input %x : f32[s0]
  (%a, %b) = aten.split.Tensor(%x, 2)
  output %a
}
)");
  Loaded loaded(program);
  EXPECT_EQ(loaded.failure({floats({6}, Floats(6, 1))}).kind, ErrorKind::kBadInput);
  EXPECT_EQ(elements(output(loaded.call({floats({3}, {1, 2, 3})}), 0)), (Floats{1, 2}));
}

TEST(Interpreter, AValueDiesAfterItsLastUseAndOutputsNever) {
  const spec::Program program = test::program(R"(program "p" {
  input %x : f32[2]
  %a = aten.add.Tensor(%x, 1)
  %b = aten.add.Tensor(%a, %a)
  %c = aten.add.Tensor(%b, %x)
  output %b
  output %c
}
)");
  const auto prepared = must(prepare(program.graph, spec::builtin_op_table()));
  const auto dying = [&](std::size_t step) {
    std::vector<std::string> names;
    for (const spec::ValueId id : prepared.steps[step].dying) {
      names.push_back(program.graph.value(id).name);
    }
    return names;
  };
  EXPECT_EQ(dying(0), std::vector<std::string>{});
  EXPECT_EQ(dying(1), std::vector<std::string>{"a"});
  EXPECT_EQ(dying(2), std::vector<std::string>{"x"});
}

TEST(Interpreter, SaysWhichOpItHasNoBodyForBeforeAnythingRuns) {
  spec::OpTable ops = spec::builtin_op_table();
  must(ops.add_text("my::own(Tensor self) -> Tensor\nmy::own_(Tensor(a!) self) -> Tensor(a!)\n",
                    "t"));
  const auto error = [&](const std::string& node) {
    const spec::Program program = must(spec::parse_program(
        "program \"p\" {\n  input %x : f32[2]\n  " + node + "\n  output %x\n}\n", ops));
    const auto prepared = prepare(program.graph, ops);
    EXPECT_FALSE(prepared.ok()) << node;
    return prepared.ok() ? Error{} : prepared.error();
  };
  for (const auto& [node, op] : {
           std::pair("%y = my.own.default(%x)", "my.own.default"),
           std::pair("%z = my.own.default(%x)\n  %y = higher_order.associative_scan(%z)",
                     "my.own.default, nor for higher_order.associative_scan"),
           std::pair("%y = higher_order.associative_scan(%x)", "higher_order.associative_scan"),
           std::pair("%n : none, %y = higher_order.auto_functionalized_v2(my.own_.default, "
                     "_self_base_index=0, _all_bases=[%x])",
                     "my.own_.default"),
       }) {
    EXPECT_EQ(error(node).kind, ErrorKind::kUnsupported) << node;
    EXPECT_TRUE(contains(error(node).message, "no body for " + std::string(op)));
  }
}

TEST(Interpreter, ConditionsAreNumbersOrTensorsOfOneElement) {
  EXPECT_TRUE(truth({true}));
  EXPECT_FALSE(truth({0.0}));
  EXPECT_THROW((void)truth({new_tensor(spec::DType::kBool, Sizes{2}, spec::Device{})}), OpError);
  EXPECT_THROW((void)truth({std::string("yes")}), OpError);
}

// As a decomposition of PyTorch writes it whose parts give other strides than the op that was
// traced.
TEST(Interpreter, AViewOfStridesThatNoOpGivesIsNoBadInput) {
  const auto text = [](const char* strides) {
    return std::string(R"(program "p" {
  input %x : f32[2, 3, 4]
  %t : f32[2, 4, 3]{12, 1, 4} = aten.transpose.int(%x, 1, 2)
  %b : f32[2, 4, 3])") +
           strides + R"( = aten.relu.default(%t)
  %v : f32[2, 12] = aten.view.default(%b, [2, 12])
  output %v
}
)";
  };
  const spec::HostTensor x = floats({2, 3, 4}, Floats(24, 1));
  const spec::Program traced = test::program(text("{12, 3, 1}"));
  const Error error = Loaded(traced).failure({x});
  EXPECT_EQ(error.kind, ErrorKind::kUnsupported);
  EXPECT_NE(error.message.find("'b' has strides [12, 1, 4], and others in the program"),
            std::string::npos)
      << error.message;
  const spec::Program wrong = test::program(text("{12, 1, 4}"));
  EXPECT_EQ(Loaded(wrong).failure({x}).kind, ErrorKind::kBadInput);
}

}  // namespace
}  // namespace graphgate::reference
