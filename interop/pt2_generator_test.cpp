#include "interop/pt2_generator.h"

#include <gtest/gtest.h>

#include "base/result_test.h"
#include "spec/graph_text.h"

namespace graphgate::interop {
namespace {

constexpr const char* kInputs = "  input %s : u8[5056]\n  input %x : f32[2, 3]\n";

spec::Program random_program(const std::string& body) {
  return must(spec::parse_program("program \"p\" {\n" + std::string(kInputs) + body + "}\n",
                                  spec::builtin_op_table(), "test"));
}
std::string text_of_random(const std::string& body) {
  return spec::print_program(random_program(body), spec::builtin_op_table());
}
std::string placed(const std::string& body) {
  spec::Program program = random_program(body);
  place_generator_states(program.graph);
  return spec::print_program(spec::number_values_by_definition(std::move(program)),
                             spec::builtin_op_table());
}

TEST(Pt2Generator, TakesTheStateForTheGenerator) {
  EXPECT_EQ(
      placed(
          "  %y : f32[2, 3] = higher_order.run_with_rng_state(%s, aten.rand_like.default, %x)\n"
          "  %z : f32[4] = higher_order.run_with_rng_state(%s, aten.rand.default, [4], dtype=f32)\n"
          "  %u : f32[2, 3] = higher_order.run_with_rng_state(%s, aten.uniform.default, %x, -1.0)\n"
          "  output %y\n  output %z\n  output %u\n"),
      text_of_random("  %y : f32[2, 3] = aten.rand_like.generator(%x, generator=%s)\n"
                     "  %z : f32[4] = aten.rand.generator([4], dtype=f32, generator=%s)\n"
                     "  %u : f32[2, 3] = aten.uniform.default(%x, -1.0, generator=%s)\n"
                     "  output %y\n  output %z\n  output %u\n"));
}

TEST(Pt2Generator, TakesDropoutsApart) {
  EXPECT_EQ(
      placed("  %y : f32[2, 3], %m : bool[2, 3] = higher_order.run_with_rng_state(%s, "
             "aten.native_dropout.default, %x, 0.75, True)\n"
             "  %z : f32[2, 3] = higher_order.run_with_rng_state(%s, aten.dropout.default, %x, "
             "0.75, True)\n"
             "  output %y\n  output %m\n  output %z\n"),
      text_of_random(
          "  %y_empty : bool[2, 3] = aten.empty_like.default(%x, dtype=bool)\n"
          "  %m : bool[2, 3] = aten.bernoulli_.float(%y_empty, 0.25, generator=%s) as y_mask\n"
          "  %y_kept : f32[2, 3] = aten.mul.Tensor(%x, %m)\n"
          "  %y : f32[2, 3] = aten.mul.Scalar(%y_kept, 4.0)\n"
          "  %z_empty : f32[2, 3] = aten.empty_like.default(%x)\n"
          "  %z_noise : f32[2, 3] = aten.bernoulli_.float(%z_empty, 0.25, generator=%s)\n"
          "  %z_scaled : f32[2, 3] = aten.div.Scalar(%z_noise, 0.25)\n"
          "  %z : f32[2, 3] = aten.mul.Tensor(%x, %z_scaled)\n"
          "  output %y\n  output %m\n  output %z\n"));
}

// An op without a generator, an op of no table, and a state that is no value.
TEST(Pt2Generator, LeavesOthersAlone) {
  for (const char* body :
       {"  %y : f32[2, 3] = higher_order.run_with_rng_state(%s, aten.alpha_dropout.default, %x, "
        "0.5, "
        "True)\n  output %y\n",
        "  %y : f32[2, 3] = higher_order.run_with_rng_state(%s, my.own.default, %x)\n  output %y\n",
        "  %y : f32[2, 3] = higher_order.run_with_rng_state(None, aten.rand_like.default, %x)\n"
        "  output %y\n"}) {
    EXPECT_EQ(placed(body), text_of_random(body));
  }
}

TEST(Pt2Generator, WritesWhatItRead) {
  const spec::Program program = random_program(
      "  %y : f32[2, 3] = aten.rand_like.generator(%x, generator=%s, dtype=f64)\n  output %y\n");
  const auto written = run_with_rng_state(program.graph.nodes.at(0), spec::builtin_op_table());
  ASSERT_TRUE(written);
  EXPECT_EQ(written->op, "higher_order.run_with_rng_state");
  ASSERT_EQ(written->arguments.size(), 4U);
  EXPECT_EQ(written->arguments[1].argument, spec::Argument{spec::OpName{"aten.rand_like.default"}});
  EXPECT_EQ(written->arguments[2].name, "");
  EXPECT_EQ(written->arguments[3].name, "dtype");
  const spec::Program open = random_program("  %y = aten.rand_like.default(%x)\n  output %y\n");
  EXPECT_FALSE(run_with_rng_state(open.graph.nodes.at(0), spec::builtin_op_table()));
}

}  // namespace
}  // namespace graphgate::interop
