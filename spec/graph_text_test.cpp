#include "spec/graph_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "spec/graph_check.h"
#include "spec/program_test.h"

namespace graphgate::spec {
namespace {

constexpr PrintOptions kInline{1 << 20};

std::string reprint(std::string_view text) {
  return print_program(parse(text), builtin_op_table(), kInline);
}

// Everything the language has, in canonical form.
constexpr std::string_view kFull = R"(program "tiny" graph "main" {
  annotation "torch.in_spec" "[1, {\"a\": null}]"
  symbol s0 in [1, 64] hint 8
  symbol u0 in [0, inf]
  parameter %w "layer.weight" : f32[2, 2] = [1.0, 2.0, 3.0, 4.0]
  parameter %wt "head.weight" : f32[2, 2]{1, 2} = alias "layer.weight"
  buffer %state "state" : i64[] = [3]
  buffer %scratch "scratch" nonpersistent : f32[8, 16]
  constant %c "c" : bool[2] = [True, False]
  constant %z "z" : c64[2] = [complex(1.0, -0.0), complex(nan, inf)]
  input %x : f32[s0, 16]
  input %y "args_1" : f16[2*s0, s0]{1, 2*s0}@3 on cuda:1
  input %n : symint(s0) hint 8
  input "flag" = True
  input "nothing" = None
  graph @true_graph {
    input %a : f32[s0, 16]
    graph @inner {
      input %a : f32[]
      output %a
    }
    %b = aten.mul.Tensor(%a, 2.0)
    output %b
  }
  graph @"false graph" {
    input %a : f32[s0, 16]
    output %a
  }
  %a = aten.add_.Tensor(%x, 1.0, alpha=2)
  %v : f32[s0], %g = aten.max.dim(%a, 1) as max_1
  (%p : f32[8, 16], %q) = aten.split.Tensor(%a, 8, 1)
  %l : tensors = aten.split.Tensor(%a, 8)
  %size : symint(s0) = aten.sym_size.int(%x, 0)
  %ge : symbool(u0 >= 0) = _operator.ge(%size, 0)
  aten._assert_scalar.default(%ge, "size\n\"quoted\"")
  aten._assert_scalar.default(%ge, "") as check
  %t = aten.to.dtype_layout(%a, dtype=bf16, layout=layout(strided), device=device("cuda:0"))
  %e = aten.empty.memory_format([%size, 2], dtype=f32, memory_format=channels_last)
  %i = aten.index.Tensor(%a, [None, %g])
  %s = aten.clamp.default(%a, -inf, nan)
  %m = aten.mul.Scalar(%s, 1e-05)
  %c_1, %d : none = higher_order.cond(%ge, @true_graph, @"false graph", [%x])
  %0 = higher_order.auto_functionalized_v2(aten.add_.Tensor, self=%m, _all_bases=[%x, []])
  %"odd name" = aten.neg.default(%0)
  %r = aten.mul.Scalar(%z, complex(-0.0, 2.0))
  %j = aten.mul.Scalar(%r, complex(-inf, nan))
  mutation buffer "state" %state
  mutation input "x" %a
  mutation parameter "layer.weight" %w
  output %"odd name"
  output None
  output [%a, 3, -0.5]
}
)";

TEST(GraphText, PrintsCanonicalTextAsItWas) { EXPECT_EQ(reprint(kFull), kFull); }

TEST(GraphText, ReadsTheProgramThatItPrinted) {
  const Program program = parse(kFull);
  EXPECT_TRUE(std::isnan(*program.graph.nodes[11].arguments[2].argument.as<double>()));
  // NaN differs from itself, so that the comparison needs it out of the way.
  Program plain = program;
  plain.graph.nodes[11].arguments.pop_back();
  EXPECT_TRUE(same_program(parse(print_program(plain, builtin_op_table(), kInline)), plain));
  EXPECT_EQ(plain.tensors.at("head.weight").storage, plain.tensors.at("layer.weight").storage);
}

TEST(GraphText, StoresArgumentsUnderTheirSchemaNames) {
  const Program program = parse(kFull);
  const Node& add = program.graph.nodes[0];
  ASSERT_EQ(add.arguments.size(), 3U);
  EXPECT_EQ(add.arguments[0].name, "self");
  EXPECT_EQ(add.arguments[1].name, "other");
  EXPECT_EQ(*add.arguments[1].argument.as<double>(), 1.0);
  EXPECT_EQ(add.arguments[2].name, "alpha");
  EXPECT_EQ(*add.arguments[2].argument.as<std::int64_t>(), 2);
  EXPECT_EQ(program.graph.nodes[13].arguments[0].name, "");
  EXPECT_EQ(program.graph.nodes[14].arguments[1].name, "self");
}

TEST(GraphText, NamesNodesAfterTheirFirstResult) {
  const Program program = parse(kFull);
  EXPECT_EQ(program.graph.nodes[0].name, "a");
  EXPECT_EQ(program.graph.nodes[1].name, "max_1");
  EXPECT_EQ(program.graph.nodes[6].name, "node_6");
  EXPECT_EQ(program.graph.nodes[7].name, "check");
}

TEST(GraphText, KeepsAnUnstatedTypeUnstated) {
  const Program program = parse(kFull);
  const Node& max = program.graph.nodes[1];
  EXPECT_TRUE(program.graph.value(max.results[0].values[0]).type.has_value());
  EXPECT_FALSE(program.graph.value(max.results[1].values[0]).type.has_value());
}

TEST(GraphText, NormalizesHandWrittenText) {
  EXPECT_EQ(reprint(R"(
# a comment
program "p" {

  input %x : float32[2]{1}   # strides that need not be said
  %y = aten.add.Tensor(self=%x, other=%x)
  %z = aten.sum.dim_IntList(%y,
                            [0],
                            keepdim=True)
  output %z
})"),
            R"(program "p" {
  input %x : f32[2]
  %y = aten.add.Tensor(%x, %x)
  %z = aten.sum.dim_IntList(%y, [0], True)
  output %z
}
)");
}

TEST(GraphText, LeavesLargeTensorsOut) {
  const Program program = parse(kFull);
  const std::string text = print_program(program, builtin_op_table(), PrintOptions{8});
  EXPECT_FALSE(contains(text, "layer.weight\" : f32[2, 2] ="));
  EXPECT_TRUE(contains(text, "buffer %state \"state\" : i64[] = [3]"));
  EXPECT_FALSE(contains(print_program(program, builtin_op_table()), "= [3]"));
}

TEST(GraphText, PrintsOneNodeForMessages) {
  const Program program = parse(kFull);
  EXPECT_EQ(print_node(program.graph, program.graph.nodes[1], builtin_op_table()),
            "%v : f32[s0], %g = aten.max.dim(%a, 1)");
}

TEST(NumberValuesByDefinition, MakesAnyNumberingCanonical) {
  Program program = parse(R"(program "p" {
  input %x : f32[2]
  %y = aten.neg.default(%x)
  %z = aten.add.Tensor(%y, %x)
  output [%z, %y]
})");
  const Program canonical = program;
  std::swap(program.graph.values[0], program.graph.values[2]);
  const auto swapped = [](ValueId id) { return ValueId{2 - id.index}; };
  program.graph.inputs[0] = program.inputs[0].value = swapped(ValueId{0});
  program.graph.nodes[0].arguments[0].argument.value = swapped(ValueId{0});
  program.graph.nodes[1].arguments[1].argument.value = swapped(ValueId{0});
  program.graph.nodes[1].results[0].values[0] = swapped(ValueId{2});
  std::get<Argument::List>(program.graph.outputs[0].value)[0].value = swapped(ValueId{2});
  ASSERT_TRUE(check_graph(program.graph).ok());
  EXPECT_FALSE(same_program(program, canonical));
  EXPECT_TRUE(same_program(number_values_by_definition(program), canonical));
}

// A program of pointwise nodes from genes: each gene picks an op, operands and a type or none.
Program program_from(const std::vector<std::uint16_t>& genes) {
  std::string text = "program \"p\" {\n  input %x0 : f32[4, 4]\n";
  std::size_t count = 1;
  for (const std::uint16_t gene : genes) {
    const std::string a = "%x" + std::to_string(gene % count);
    const std::string b = "%x" + std::to_string((gene / 7U) % count);
    const std::string type = gene % 2U == 0 ? " : f32[4, 4]" : "";
    const std::string calls[] = {"aten.add.Tensor(" + a + ", " + b + ", alpha=3)",
                                 "aten.mul_.Tensor(" + a + ", 0.5)",
                                 "aten.cat.default([" + a + ", " + b + "], dim=-1)",
                                 "aten.clamp.default(" + a + ", max=1e30)"};
    text += "  %x" + std::to_string(count++) + type + " = " + calls[gene % 4U] + "\n";
  }
  return parse(text + "  output %x" + std::to_string(count - 1) + "\n}");
}

RC_GTEST_PROP(GraphText, RoundTripsDrawnPrograms, (std::vector<std::uint16_t> genes)) {
  const Program program = program_from(genes);
  const std::string text = print_program(program, builtin_op_table());
  const Program again = parse(text);
  RC_ASSERT(same_program(again, program));
  RC_ASSERT(print_program(again, builtin_op_table()) == text);
  RC_ASSERT(check_program(again, builtin_op_table()).ok());
}

TEST(GraphText, RoundTripsAHundredThousandNodes) {
  constexpr std::size_t kNodes = 100000;
  std::string text = "program \"p\" {\n  input %x0 : f32[64, 64]\n";
  for (std::size_t i = 1; i <= kNodes; ++i) {
    const std::string previous = "%x" + std::to_string(i - 1);
    text += "  %x" + std::to_string(i) + " : f32[64, 64] = aten.add.Tensor(" + previous + ", " +
            previous + ")\n";
  }
  text += "  output %x" + std::to_string(kNodes) + "\n}\n";
  const Program program = parse(text);
  EXPECT_EQ(program.graph.nodes.size(), kNodes);
  EXPECT_TRUE(print_program(program, builtin_op_table()) == text);
  EXPECT_TRUE(check_program(program, builtin_op_table()).ok());
}

// A program with a NaN in it is the same program as itself, and 0.0 is not -0.0.
TEST(Argument, ComparesFloatsAsConstants) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Argument{nan}, Argument{-nan});
  EXPECT_NE(Argument{nan}, Argument{1.0});
  EXPECT_NE(Argument{0.0}, Argument{-0.0});
  const Argument list{Argument::List{{1.5}, {nan}}};
  EXPECT_EQ(list, (Argument{Argument::List{{1.5}, {nan}}}));
  EXPECT_NE(Argument{1.0}, Argument{std::int64_t{1}});
  EXPECT_EQ((Argument{ComplexNumber{1, nan}}), (Argument{ComplexNumber{1, -nan}}));
  EXPECT_NE((Argument{ComplexNumber{1, 0.0}}), (Argument{ComplexNumber{1, -0.0}}));
  EXPECT_NE((Argument{ComplexNumber{1, 0}}), Argument{1.0});
}

}  // namespace
}  // namespace graphgate::spec
