#include "interop/pt2_inlining.h"

#include <gtest/gtest.h>

#include "base/result_test.h"
#include "interop/pt2_arguments.h"
#include "spec/graph_text.h"

namespace graphgate::interop {
namespace {

spec::Program program_of(const std::string& body) {
  return must(
      spec::parse_program("program \"p\" {\n" + body + "}\n", spec::builtin_op_table(), "test"));
}

// The program's text after its wrapped subgraphs were taken into it.
std::string inlined(const std::string& body) {
  spec::Program program = program_of(body);
  ReadContext context;
  // As archives are read: what a part holds is inlined before the part.
  for (spec::Graph& part : program.graph.subgraphs) {
    inline_wrapped_subgraphs(part, subgraph_path("", part.name), context);
  }
  inline_wrapped_subgraphs(program.graph, "", context);
  return spec::print_program(spec::number_values_by_definition(std::move(program)),
                             spec::builtin_op_table());
}

std::string text_of(const std::string& body) {
  return spec::print_program(program_of(body), spec::builtin_op_table());
}

constexpr const char* kDoubled = R"(  input %x : f32[2]
  graph @part {
    input %a : f32[2]
    %b = aten.mul.Tensor(%a, 2)
    %c = aten.add.Tensor(%b, 1)
    output %c
    output %b
  }
)";

TEST(Pt2Inlining, PutsTheNodesOfThePartInThePlaceOfTheNode) {
  EXPECT_EQ(inlined(std::string(kDoubled) +
                    "  %y, %z = higher_order.wrap_with_set_grad_enabled(False, @part, %x)\n"
                    "  %w = aten.add.Tensor(%y, %z)\n"
                    "  output %w\n"),
            text_of("  input %x : f32[2]\n"
                    "  %z = aten.mul.Tensor(%x, 2) as b\n"
                    "  %y = aten.add.Tensor(%z, 1) as c\n"
                    "  %w = aten.add.Tensor(%y, %z)\n"
                    "  output %w\n"));
}

TEST(Pt2Inlining, GivesWhatRunsTwiceNamesOfItsOwn) {
  const std::string text = inlined(R"(  input %x : f32[2]
  graph @part {
    input %a : f32[2]
    %b = aten.mul.Tensor(%a, 2)
    %c = aten.add.Tensor(%b, 1)
    output %c
  }
  %y = higher_order.invoke_subgraph(@part, "part", %x)
  %z = higher_order.invoke_subgraph(@part, "part", %y)
  output %z
)");
  EXPECT_EQ(text, text_of("  input %x : f32[2]\n"
                          "  %b = aten.mul.Tensor(%x, 2)\n"
                          "  %y = aten.add.Tensor(%b, 1) as c\n"
                          "  %b_1 = aten.mul.Tensor(%y, 2)\n"
                          "  %z = aten.add.Tensor(%b_1, 1) as c_1\n"
                          "  output %z\n"));
}

TEST(Pt2Inlining, TakesSubgraphsOfThePartAlong) {
  const std::string text = inlined(R"(  input %x : f32[2]
  input %p : bool[]
  graph @part {
    input %a : f32[2]
    input %q : bool[]
    graph @arm {
      input %b : f32[2]
      %d = aten.neg.default(%b)
      output %d
    }
    %c = higher_order.cond(%q, @arm, @arm, [%a])
    output %c
  }
  %y = higher_order.tag_activation_checkpoint(@part, %x, %p, use_reentrant=False)
  output %y
)");
  EXPECT_NE(text.find("graph @arm"), std::string::npos) << text;
  EXPECT_EQ(text.find("@part"), std::string::npos) << text;
  EXPECT_NE(text.find("higher_order.cond(%p, @arm, @arm, [%x])"), std::string::npos) << text;
}

TEST(Pt2Inlining, TakesOperandsOutOfAList) {
  EXPECT_EQ(inlined(std::string(kDoubled) + "  %y, %z = higher_order.strict_mode(@part, [%x])\n"
                                            "  %w = aten.add.Tensor(%y, %z)\n"
                                            "  output %w\n"),
            text_of("  input %x : f32[2]\n"
                    "  %z = aten.mul.Tensor(%x, 2) as b\n"
                    "  %y = aten.add.Tensor(%z, 1) as c\n"
                    "  %w = aten.add.Tensor(%y, %z)\n"
                    "  output %w\n"));
}

TEST(Pt2Inlining, PutsTheCastsOfAutocastIntoThePart) {
  EXPECT_EQ(inlined(R"(  input %x : f32[2, 2]
  input %w : bf16[2, 2]
  graph @part {
    input %a : f32[2, 2]
    input %b : bf16[2, 2]
    %c : bf16[2, 2] = aten.mm.default(%a, %b)
    %d : f32[2, 2] = aten.add.Tensor(%c, %a)
    %e : f32[4, 2] = aten.cat.default([%c, %d])
    %f : f32[] = aten.mse_loss.default(%c, %a)
    output %e
    output %f
  }
  %y, %z = higher_order.wrap_with_autocast("cpu", bf16, True, False, @part, %x, %w)
  output %y
  output %z
)"),
            text_of(R"(  input %x : f32[2, 2]
  input %w : bf16[2, 2]
  %a_cast = aten.to.dtype(%x, bf16)
  %c : bf16[2, 2] = aten.mm.default(%a_cast, %w)
  %d : f32[2, 2] = aten.add.Tensor(%c, %x)
  %c_cast = aten.to.dtype(%c, f32)
  %y = aten.cat.default([%c_cast, %d]) as e
  %c_cast_1 = aten.to.dtype(%c, f32)
  %z = aten.mse_loss.default(%c_cast_1, %x) as f
  output %y
  output %z
)"));
}

// A region with autocast off within one with it on casts nothing, and one for another dtype to
// that; one for another device leaves the casts of the outer one.
TEST(Pt2Inlining, LeavesCastsOfARegionWithinARegionToTheInnerOne) {
  const auto nested = [](const std::string& inner) {
    return R"(  input %x : f32[2, 2]
  graph @part {
    input %a : f32[2, 2]
    graph @inner {
      input %p : f32[2, 2]
      %q : f32[2, 2] = aten.mm.default(%p, %p)
      output %q
    }
    %b : f32[2, 2] = higher_order.wrap_with_autocast()" +
           inner + R"(, @inner, %a)
    %c : bf16[2, 2] = aten.mm.default(%a, %b)
    output %c
  }
  %y = higher_order.wrap_with_autocast("cpu", bf16, True, False, @part, %x)
  output %y
)";
  };
  const std::string outer = R"(  %a_cast = aten.to.dtype(%x, bf16)
  %b_cast = aten.to.dtype(%b, bf16)
  %y = aten.mm.default(%a_cast, %b_cast) as c
  output %y
)";
  const std::string begin = "  input %x : f32[2, 2]\n";
  EXPECT_EQ(inlined(nested(R"("cpu", bf16, False, False)")),
            text_of(begin + "  %b : f32[2, 2] = aten.mm.default(%x, %x) as q\n" + outer));
  const std::string of_half = inlined(nested(R"("cpu", f16, True, False)"));
  EXPECT_NE(of_half.find("%b : f32[2, 2] = aten.mm.default(%p_cast, %p_cast_1)"), std::string::npos)
      << of_half;
  EXPECT_NE(of_half.find("%p_cast = aten.to.dtype(%x, f16)"), std::string::npos) << of_half;
  const std::string of_another = inlined(nested(R"("cuda", bf16, False, False)"));
  EXPECT_NE(of_another.find("aten.mm.default(%a_cast, %a_cast_1) as q"), std::string::npos)
      << of_another;
}

// einsum calls bmm, which casts; on other devices other ops cast.
TEST(Pt2Inlining, LeavesAutocastOfWhichNotAllCastsAreKnown) {
  for (const std::string part :
       {"\"cpu\", None, True, None, @part, %x", "\"cuda\", f16, True, None, @other, %x"}) {
    const std::string wrapped = R"(  input %x : f32[2, 2]
  graph @part {
    input %a : f32[2, 2]
    %b : f32[2, 2] = aten.einsum.default("ij,jk->ik", [%a, %a])
    output %b
  }
  graph @other {
    input %a : f32[2, 2]
    %b : f32[2, 2] = aten.mm.default(%a, %a)
    output %b
  }
  %y = higher_order.wrap_with_autocast()" +
                                part + ")\n  output %y\n";
    EXPECT_EQ(inlined(wrapped), text_of(wrapped));
  }
}

TEST(Pt2Inlining, LeavesANodeThatReturnsItsOperand) {
  const std::string wrapped = R"(  input %x : f32[2]
  graph @part {
    input %a : f32[2]
    output %a
  }
  %y = higher_order.wrap(@part, %x)
  output %y
)";
  EXPECT_EQ(inlined(wrapped), text_of(wrapped));
}

}  // namespace
}  // namespace graphgate::interop
