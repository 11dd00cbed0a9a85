// What the plan parser says of bad text: the place, what was expected, what was found.
#include <gtest/gtest.h>

#include "spec/test_plans.h"

namespace graphgate::spec {
namespace {

struct BadPlan {
  std::string_view line;
  std::string_view message;  // without "t:LINE:"
};

std::string plan_error_of(std::string_view text) {
  return message_of(parse_plan(text, builtin_op_table(), "t"), "no error");
}

TEST(PlanTextErrors, NameThePlaceInTables) {
  const BadPlan cases[] = {
      {"events -1", "8: expected a number of events in [0, 2^32), found -1"},
      {"symbol and = 1", "8: expected the name of a symbol, found 'and'"},
      {"symbol s0 8", "11: expected '=', found '8'"},
      {"symbol s0 = 8\nsymbol s0 = 9", "-8: expected each symbol once, found 's0' again"},
      {"pool a arena", "6: expected a pool (@name), found 'a'"},
      {"pool @a stack on cpu 0 align 1",
       "9: expected state, input, arena, heap or caller, found 'stack'"},
      {"pool @a arena cpu", "15: expected 'on', found 'cpu'"},
      {"pool @a arena on cpu", "21: expected a size in bytes, found the end of the line"},
      {"pool @a arena on cpu 64", "24: expected 'align', found the end of the line"},
      {"pool @p arena on cpu 64 align 1", "6: expected a new name, found @p again"},
      {"buffer x @p [0, 4)", "8: expected a buffer ($name), found 'x'"},
      {"buffer $ x @p [0, 4)", "10: expected a name behind '$', found 'x'"},
      {"buffer $x @q [0, 4)", "11: expected a pool that is defined above, found @q"},
      {"buffer $x @p", "13: expected '[', found the end of the line"},
      {"buffer $x @p [0, 4]", "19: expected ')', found ']'"},
      {"buffer $x @p [8, 4)", "18: expected offsets 0 <= BEGIN <= END, found 8 and 4"},
      {"input state \"s\" %s", "7: expected parameter, buffer, constant or user, found 'state'"},
      {"input user x", "12: expected a target in quotes, found 'x'"},
      {"input user \"x\"", "15: expected a value (%name) or '=', found the end of the line"},
      {"input user \"x\" %x : f32[4] $x", "28: expected a buffer that is defined above, found $x"},
      {"input user \"x\" = %x", "18: expected a value that is defined above, found %x"},
      {"input user \"x\" = 1\npool @b arena on cpu 0 align 1",
       "-1: expected no more pools after the inputs, found 'pool'"},
      {"output %x", "8: expected a value that is defined above, found %x"},
      {"final %x = %x", "7: expected a value that is defined above, found %x"},
      {"view %v\nfinal %v = %v", "-7: expected an input without a final value, found %v"},
      {"input user \"x\" %x\nfinal %x = 1", "-12: expected a value (%name), found '1'"},
      {"view %v\nblock @b {", "-1: expected no more blocks after the outputs, found 'block'"},
      {"nonsense",
       "1: expected events, key, symbol, padding, pool, buffer, input, block, view, final, output "
       "or '}', found 'nonsense'"},
      {"key mode = \"full\"", "5: expected a name in quotes, found 'mode'"},
      {"key \"mode\" = full", "14: expected a value in quotes, found 'full'"},
      {"key \"m\" = \"a\"\nkey \"m\" = \"b\"", "-5: expected each key once, found \"m\" again"},
      {"padding 8", "9: expected the name of a symbol, found '8'"},
      {"padding s0\npadding s1", "-9: expected one padding, found 's1'"},
      {"input user \"x\" = 1 pad 0", "20: expected a padding above, found none"},
      {"output 1 pad 0", "10: expected a padding above, found none"},
      {"output weak", "12: expected an argument, found the end of the line"},
  };
  for (const BadPlan& bad : cases) {
    const bool second = bad.message.front() == '-';
    const bool early = bad.line.starts_with("events") || bad.line.starts_with("symbol") ||
                       bad.line.starts_with("key") || bad.line.starts_with("padding");
    const std::string_view pool = early ? "" : "pool @p arena on cpu 64 align 1\n";
    const std::size_t line = (early ? 2U : 3U) + (second ? 1U : 0U);
    EXPECT_EQ(plan_error_of("plan \"p\" strict {\n" + std::string(pool) + std::string(bad.line) +
                            "\n}\n"),
              "t:" + std::to_string(line) + ":" + std::string(bad.message.substr(second ? 1 : 0)));
  }
}

// The line stands on line 9, in a partition behind %x over $x and %y over $y.
std::string error_in_partition(std::string_view line) {
  return plan_error_of(R"(plan "p" strict {
  pool @p arena on cpu 64 align 1
  buffer $x @p [0, 16)
  buffer $y @p [16, 32)
  input user "x" %x : f32[4] $x
  block @main {
    partition 0 captured {
      %y : f32[4] $y = aten.neg.default(%x)
)" + std::string(line) +
                       R"(
    }
  }
  block @arm {
  }
}
)");
}

TEST(PlanTextErrors, NameThePlaceInSteps) {
  const BadPlan cases[] = {
      {"%z = aten.nope.default(%x)",
       "6: the op table has no schema for aten.nope.default (give one by --custom-ops, or "
       "export with --decompose, which makes core ops of most)"},
      {"%z $z = aten.neg.default(%x)", "4: expected a buffer that is defined above, found $z"},
      {"%z $x = aten.neg.default(%z)",
       "26: expected a value that is defined above, found %z, a result of this node"},
      {"%y : f32[4] = aten.neg.default(%y)",
       "1: expected a new value name before a type or a buffer, found %y again"},
      {"%y $y = aten.neg.default(%y)",
       "1: expected a new value name before a type or a buffer, found %y again"},
      {"%y = aten.neg.default(%y) workspace %y", "37: expected a buffer ($name), found '%'"},
      {"%y = aten.neg.default(%y) stream x", "34: expected the index of a stream, found 'x'"},
      {"%y = aten.neg.default(%y) stream 4294967296",
       "34: expected the index of a stream in [0, 2^32), found 4294967296"},
      {"%y = aten.neg.default(%y) wait",
       "31: expected the index of an event, found the end of the "
       "line"},
      {"%y = aten.neg.default(%y) record 0,",
       "36: expected the index of an event, found the end of the line"},
      {"%y = aten.neg.default(%y) record 0 wait 0",
       "36: expected the end of the line, found 'wait'"},
      {"%c = higher_order.cond(%x, @arms)",
       "28: expected a subgraph that is defined above, found @arms"},
      {"in $x", "1: expected a step, view or '}', found 'in'"},
      {"output %y", "1: expected a step, view or '}', found 'output'"},
      {"view y : f32[2] $y", "6: expected a value (%name), found 'y'"},
      {"view %y : f32[2] $y", "6: expected a new value name, found %y again"},
      {"view %x", "6: expected a new value name, found %x again"},
      {"view %t : f32[2] $t", "18: expected a buffer that is defined above, found $t"},
      {"view %t : f32[2] $y = aten.neg.default(%x)", "21: expected the end of the line, found '='"},
  };
  for (const BadPlan& bad : cases) {
    EXPECT_EQ(error_in_partition(bad.line), "t:9:" + std::string(bad.message));
  }
  EXPECT_EQ(error_in_partition("%y = aten.neg.default(%y)"), "no error");
  EXPECT_EQ(error_in_partition("%c = higher_order.cond(%x, @arm)"), "no error");
}

TEST(PlanTextErrors, NameThePlaceInBodies) {
  const BadPlan cases[] = {
      {"%y = graphgate.fused(%y)", "9:25: expected '{', found the end of the line"},
      {"%y = graphgate.fused(self=%y) {\n}", "11:1: no error"},
      {"%y = graphgate.fused(%y) stream 1 {\n%y = aten.neg_.default(%y) stream 1\n}",
       "10:28: expected the end of the line, found 'stream'"},
      {"%y = graphgate.fused(%y) {\n%y = graphgate.fused(%y) {\n}\n}",
       "10:1: expected a node without a body of its own, found 'graphgate.fused'"},
      {"%y = graphgate.fused(%y) {\noutput %y\n}",
       "10:1: expected a node, view or '}', found 'output'"},
      {"%y = aten.neg_.default(%y) {\n}", "9:28: expected the end of the line, found '{'"},
  };
  for (const BadPlan& bad : cases) {
    const std::string found = error_in_partition(bad.line);
    if (bad.message.ends_with("no error")) {
      EXPECT_EQ(found, "no error");
    } else {
      EXPECT_EQ(found, "t:" + std::string(bad.message));
    }
  }
}

TEST(PlanTextErrors, NameAStepThatMakesAView) {
  const std::string view = "view %t : f32[2] $y\n";
  EXPECT_EQ(error_in_partition(view + "%t = aten.neg_.default(%t)"), "no error");
  EXPECT_EQ(error_in_partition(view + "%t = aten.neg.default(%y)"),
            "t:10:1: expected the view %t among the operands of the step that updates it");
  EXPECT_EQ(error_in_partition(view + "%t : f32[2] $y = aten.neg.default(%y)"),
            "t:10:1: expected a new value name before a type or a buffer, found %t again");
  EXPECT_EQ(error_in_partition("%z = aten.neg.default(%t)\n" + view),
            "t:9:23: expected a value that is defined above, found %t");
}

// The line stands on line 5, in a block.
TEST(PlanTextErrors, NameThePlaceInBlocks) {
  const BadPlan cases[] = {
      {"partition 1 captured {", "5:11: expected partition 0, found 1"},
      {"partition 0 lazy {", "5:13: expected captured or eager, found 'lazy'"},
      {"partition 0 eager {", "5:19: expected a reason in quotes, found '{'"},
      {"partition 0 captured {\nin %x\n}", "6:4: expected a buffer ($name), found '%'"},
      {"partition 0 captured {\nsymbols 3\n}", "6:9: expected the name of a symbol, found '3'"},
      {"partition 0 captured {\nout $b\nin $b\n}", "7:1: expected a step, view or '}', found 'in'"},
      {"partition 0 captured", "5:21: expected '{', found the end of the line"},
      {"output 1\npartition 0 captured {", "6:1: expected view, output or '}', found 'partition'"},
      {"view %v : f32[2] $b\npartition 0 captured {",
       "6:1: expected view, output or '}', found 'partition'"},
      {"step", "5:1: expected partition, view, output or '}', found 'step'"},
      {"}\nblock @main {", "6:7: expected a new name, found @main again"},
  };
  for (const BadPlan& bad : cases) {
    const std::string text =
        "plan \"p\" strict {\npool @p arena on cpu 9 align 1\nbuffer $b @p [0, 9)\n"
        "block @main {\n" +
        std::string(bad.line) + "\n}\n}\n";
    EXPECT_EQ(plan_error_of(text), "t:" + std::string(bad.message));
  }
}

TEST(PlanTextErrors, NameThePlaceAroundTheBody) {
  EXPECT_EQ(plan_error_of(""), "t:1:1: expected 'plan', found the end of the text");
  EXPECT_EQ(plan_error_of("plan p"), "t:1:6: expected a name in quotes, found 'p'");
  EXPECT_EQ(plan_error_of("plan \"p\" {"), "t:1:10: expected strict or fast, found '{'");
  EXPECT_EQ(plan_error_of("plan \"p\" fast {\n} x"),
            "t:2:3: expected the end of the text, found 'x'");
  EXPECT_EQ(
      plan_error_of("plan \"p\" fast {\n"),
      "t:2:1: expected events, key, symbol, padding, pool, buffer, input, block, view, final, "
      "output or '}', found the end of the text");
}

}  // namespace
}  // namespace graphgate::spec
