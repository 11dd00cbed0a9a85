// What the graph parser says of bad text: the place, what was expected, what was found.

#include "base/result_test.h"
#include "spec/graph_text.h"

namespace graphgate::spec {
namespace {

struct Bad {
  std::string_view line;     // stands on line 3, behind an input %x and a symbol s0
  std::string_view message;  // without "t:3:"
};

std::string text_error_of(std::string_view text) {
  return message_of(parse_program(text, builtin_op_table(), "t"), "no error");
}

std::string error_of_line(std::string_view line) {
  return text_error_of("program \"p\" {\n  input %x : f32[4]\n" + std::string(line) + "\n}\n");
}

TEST(GraphTextErrors, NameThePlaceInANodeLine) {
  const Bad cases[] = {
      {"%y = aten.nope.default(%x)",
       "6: the op table has no schema for aten.nope.default (give one by --custom-ops, or "
       "export with --decompose, which makes core ops of most)"},
      {"%y = aten.nope.default(%x)\n  %z = my.own.default(%y, alpha=2)\n"
       "  (%p, %q), %r = aten.nope.default(%z)",
       "6: the op table has no schema for aten.nope.default, nor for my.own.default (give one by "
       "--custom-ops, or export with --decompose, which makes core ops of most)"},
      // What is no text comes first.
      {"%y = aten.nope.default(%x, %w)", "28: expected a value that is defined above, found %w"},
      {"%y = aten.neg.default(%z)", "23: expected a value that is defined above, found %z"},
      {"%y = aten.neg.default(%y)",
       "23: expected a value that is defined above, found %y, a result of this node"},
      {"%y = aten.neg.default(%x", "25: expected ',' or ')', found '}'"},
      {"%y = aten.neg.default %x", "23: expected '(', found '%'"},
      {"%y = aten.neg.default(%x, %x)",
       "27: expected at most 1 positional arguments of aten.neg.default, found more"},
      {"%y = aten.add.Tensor(%x, %x, 2)",
       "30: expected at most 2 positional arguments of aten.add.Tensor, found more"},
      {"%y = aten.neg.default(self=%x, self=%x)",
       "32: expected each argument once, found 'self' again"},
      {"%y = aten.add.Tensor(other=%x, %x)",
       "32: expected NAME= before an argument that follows a named one"},
      {"%y = aten.neg.default(wrong=%x)",
       "23: expected an argument of aten::neg(Tensor self) -> Tensor, found 'wrong'"},
      {"%x = aten.neg.default(%x)", "1: expected a new value name, found %x again"},
      {"%y aten.neg.default(%x)", "4: expected ':', ',' or '=', found 'aten.neg.default'"},
      {"%y : = aten.neg.default(%x)",
       "6: expected a dtype (f64 f32 f16 bf16 f8e4m3 f8e5m2 i64 i32 i16 i8 u8 bool), found '='"},
      {"(%y, %z = aten.split.Tensor(%x, 2)", "9: expected ':', ',' or ')', found '='"},
      {"%y = aten.neg.default(%x) as", "29: expected a node name, found the end of the line"},
      {"%y = aten.neg.default(%x) %x", "27: expected the end of the line, found '%'"},
      {"%y = aten.neg.default(%x) as a\n%z = aten.neg.default(%x) as a", ""},
      {"% y = aten.neg.default(%x)", "3: expected a name behind '%', found 'y'"},
      {"%y = aten.mul.Scalar(%x, -)", "27: expected a number, found ')'"},
      {"%y = aten.mul.Scalar(%x, 9223372036854775808)",
       "26: the number 9223372036854775808 does not fit in 64 bits"},
      {"%y = aten.mul.Scalar(%x, 1e999)", "26: the number 1e999 does not fit in 64 bits"},
      {"%y = aten.mul.Scalar(%x, word)", "26: expected an argument, found 'word'"},
      {"%y = aten.mul.Scalar(%x, \"a\\q\")",
       "26: expected an escape \\\" \\\\ \\n \\t \\r or \\xNN in a string"},
      {"%y = aten.to.device(%x, device(\"cuda:\"), f32)", "32: expected a device, found 'cuda:'"},
      {"%y = aten.cat.default([%x, %x}, 1)", "30: expected ',' or ']', found '}'"},
      {"%c = higher_order.cond(%x, @t, @t, [])",
       "28: expected a subgraph that is defined above, found @t"},
      {"%y = (%x)", "6: expected an op, found '('"},
  };
  for (const Bad& bad : cases) {
    const std::string found = error_of_line(bad.line);
    if (bad.message.empty()) {
      EXPECT_EQ(found, "t:4:30: expected a new node name, found 'a' again");
      continue;
    }
    // A line that leaves a bracket open fails at the next token, on the next line.
    const bool next_line = bad.line == "%y = aten.neg.default(%x";
    EXPECT_EQ(found, next_line ? "t:4:1: expected ',' or ')', found '}'"
                               : "t:3:" + std::string(bad.message));
  }
}

TEST(GraphTextErrors, NameThePlaceInOtherLines) {
  const Bad cases[] = {
      {"symbol s0 in [1, 2]", "1: expected no more symbols after the inputs, found 'symbol'"},
      {"input %y", "9: expected ':' and a type, found the end of the line"},
      {"input %y : f32[2, ]", "19: expected an integer, a symbol, '-', 'not' or '(', found ']'"},
      {"parameter %w : f32[2]", "14: expected a target in quotes, found ':'"},
      {"parameter %w \"w\" : f32[2] = [1.0]", "29: expected 2 elements, found 1"},
      {"parameter %w \"w\" : f32[2] = alias \"v\"",
       "35: expected a target with elements above, and a type without symbols, found 'v'"},
      {"mutation state \"s\" %x", "10: expected buffer, input or parameter, found 'state'"},
      {"output", "7: expected an argument, found the end of the line"},
      {"output %x\n%y = aten.neg.default(%x)", ""},
      {"graph t {", "7: expected a subgraph (@name), found 't'"},
      {"nonsense",
       "1: expected a node, a line that starts with a keyword, or '}', found "
       "'nonsense'"},
      {"graph @t {\nsymbol s in [0, 1]\n}", "-"},
      {"graph @t {\n}\ngraph @t {\n}", "--"},
  };
  for (const Bad& bad : cases) {
    const std::string found = error_of_line(bad.line);
    std::string wanted = "t:3:" + std::string(bad.message);
    if (bad.message.empty()) {
      wanted = "t:4:1: expected no more nodes after the outputs, found '%'";
    } else if (bad.message == "-") {
      wanted =
          "t:4:1: expected a line of a subgraph (input, graph, a node, output), found "
          "'symbol'";
    } else if (bad.message == "--") {
      wanted = "t:5:7: expected a new subgraph name, found 't' again";
    }
    EXPECT_EQ(found, wanted);
  }
}

TEST(GraphTextErrors, NameThePlaceAroundTheBody) {
  EXPECT_EQ(text_error_of(""), "t:1:1: expected 'program', found the end of the text");
  EXPECT_EQ(text_error_of("program p {"), "t:1:9: expected a name in quotes, found 'p'");
  EXPECT_EQ(text_error_of("program \"p\" {\n"),
            "t:2:1: expected a node, a line that starts with a keyword, or '}', found the end of "
            "the text");
  EXPECT_EQ(text_error_of("program \"p\" {\n} x"),
            "t:2:3: expected the end of the text, found 'x'");
  EXPECT_EQ(text_error_of("program \"p\" {\nsymbol and in [0, 1]\n}"),
            "t:2:8: expected the name of a symbol, found 'and'");
  EXPECT_EQ(text_error_of("program \"p\" {\nsymbol s in [0, 1]\nsymbol s in [0, 1]\n}"),
            "t:3:8: expected each symbol once, found 's' again");
  EXPECT_EQ(text_error_of("program \"p\" {\nannotation \"a\" \"\"\nannotation \"a\" \"\"\n}"),
            "t:3:12: expected each annotation once, found 'a' again");
}

TEST(GraphTextErrors, RefuseDeepNesting) {
  std::string graphs = "program \"p\" {\n";
  for (int i = 0; i < 100000; ++i) graphs += "graph @g {\n";
  EXPECT_TRUE(contains(text_error_of(graphs), "expected graphs nested at most 50 deep"));
  const std::string lists = "output " + std::string(100000, '[');
  EXPECT_TRUE(contains(error_of_line(lists), "expected lists nested at most 100 deep"));
}

}  // namespace
}  // namespace graphgate::spec
