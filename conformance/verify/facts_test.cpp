#include "conformance/verify/facts.h"

#include "base/result_test.h"
#include "spec/graph_text.h"

namespace graphgate::verify {
namespace {

struct Known {
  spec::Program program;
  GraphFacts facts;

  // The writers that the node's operand must see, by name, range by range.
  [[nodiscard]] std::vector<std::pair<ByteRange, std::string>> operand(const std::string& node,
                                                                       std::size_t index) const {
    std::vector<std::pair<ByteRange, std::string>> out;
    const NodeFact& fact = facts.nodes[facts.find(0, node).value()];
    for (const Content& content : fact.operands[index].tensor->contents) {
      std::string names;
      for (const Writer writer : content.writers) {
        if (!names.empty()) names += "|";
        names += facts.is_input(writer) ? program.inputs[writer].target
                                        : facts.node(facts.node_of(writer)).name;
      }
      out.emplace_back(content.range, names);
    }
    return out;
  }
};

using Ranges = std::vector<std::pair<ByteRange, std::string>>;

// The facts point into the program, which must not move.
std::unique_ptr<Known> facts_of_text(const std::string& text,
                                     const std::vector<spec::ProvenanceRow>* run = nullptr,
                                     const std::map<std::string, std::int64_t>& symbols = {}) {
  auto known = std::make_unique<Known>();
  known->program = spec::parse_program(text, spec::builtin_op_table()).value();
  std::vector<std::uint32_t> groups;
  for (std::uint32_t i = 0; i < known->program.inputs.size(); ++i) groups.push_back(i);
  known->facts = facts_of(known->program, spec::builtin_op_table(), symbols, groups,
                          RunRows(known->program, run));
  return known;
}

TEST(Facts, FollowAWriteThroughAViewToTheBytesThatItReaches) {
  const auto known = facts_of_text(R"(program "p" {
    input %x : f32[4, 2]
    %c : f32[2, 2]@4 = aten.slice.Tensor(%x, 0, 2, 4)
    %m : f32[2, 2]@4 = aten.mul_.Tensor(%c, 2.0) as mul_
    %y : f32[4, 2] = aten.sin.default(%x)
    output %y
  })");
  EXPECT_EQ(known->operand("y", 0), (Ranges{{{0, 16}, "x"}, {{16, 32}, "mul_"}}));
}

TEST(Facts, EvaluateSymbolicSizesAtThePlansSymbols) {
  const auto known = facts_of_text(R"(program "p" {
    symbol s0 in [1, 8] hint 2
    input %x : f32[s0]
    %y : f32[s0] = aten.sin.default(%x)
    output %y
  })",
                                   nullptr, {{"s0", 3}});
  EXPECT_EQ(known->operand("y", 0), (Ranges{{{0, 12}, "x"}}));
}

TEST(Facts, HaveTheWritersOfBothArmsBehindAConditional) {
  const auto known = facts_of_text(R"(program "p" {
    input %p : bool[]
    input %x : f32[4]
    graph @yes {
      input %a : f32[4]
      %m : f32[4] = aten.mul_.Tensor(%a, 2.0) as double
      %r : f32[4] = aten.sin.default(%a)
      output %r
    }
    graph @no {
      input %a : f32[4]
      %r : f32[4] = aten.cos.default(%a) as r2
      output %r
    }
    %c : f32[4] = higher_order.cond(%p, @yes, @no, [%x]) as cond
    %y : f32[4] = aten.add.Tensor(%c, %x)
    output %y
  })");
  EXPECT_EQ(known->operand("y", 0), (Ranges{{{0, 16}, "r|r2"}}));
  EXPECT_EQ(known->operand("y", 1), (Ranges{{{0, 16}, "x|double"}}));
}

TEST(Facts, TakeWhatARunTellsOfStoragesOverWhatASchemaAllows) {
  const std::string text = R"(program "p" {
    input %x : f32[2, 3]
    %t : f32[3, 2]{1, 3} = aten.t.default(%x)
    %r = aten.reshape.default(%t, [6])
    %m = aten.mul_.Tensor(%x, 2.0) as mul_
    %y = aten.sin.default(%r)
    output %y
  })";
  // Without a run it is not known whether the reshape copied.
  EXPECT_EQ(facts_of_text(text)->operand("y", 0), (Ranges{{{0, kNoEnd}, "x|r|mul_"}}));
  std::vector<spec::ProvenanceRow> run(3);
  run[0].node = "t";
  run[0].port = "result 0";
  run[0].storage = 7;
  run[0].sizes = {3, 2};
  run[0].strides = {1, 3};
  run[1].node = "r";
  run[1].port = "result 0";
  run[1].storage = 8;
  run[1].sizes = {6};
  run[1].strides = {1};
  run[2].node = "t";
  run[2].port = "operand 0";
  run[2].value = "x";
  run[2].storage = 7;
  run[2].sizes = {2, 3};
  run[2].strides = {3, 1};
  EXPECT_EQ(facts_of_text(text, &run)->operand("y", 0), (Ranges{{{0, 24}, "r"}}));
}

// to may return what it is given, but not as another dtype; view.dtype may.
TEST(Facts, HaveACopyWhereAConversionHasAnotherDtype) {
  const auto known = facts_of_text(R"(program "p" {
    input %x : f32[4]
    input %o : f16[2]
    %h : f16[4] = aten.to.dtype(%x, f16)
    %s : f32[4] = aten.to.dtype(%x, f32)
    %t : f16[4] = aten.type_as.default(%x, %o)
    %u : f32[4] = aten.type_as.default(%x, %x)
    %m : f32[4] = aten.mul_.Tensor(%x, 2.0) as mul_
    %y1 : f16[4] = aten.sin.default(%h)
    %y2 : f32[4] = aten.sin.default(%s)
    %y3 : f16[4] = aten.sin.default(%t)
    %y4 : f32[4] = aten.sin.default(%u)
    output %y1
  })");
  EXPECT_EQ(known->operand("y1", 0), (Ranges{{{0, 8}, "h"}}));
  EXPECT_EQ(known->operand("y2", 0), (Ranges{{{0, 16}, "mul_"}}));
  EXPECT_EQ(known->operand("y3", 0), (Ranges{{{0, 8}, "t"}}));
  EXPECT_EQ(known->operand("y4", 0), (Ranges{{{0, 16}, "mul_"}}));
  const auto bits = facts_of_text(R"(program "p" {
    input %x : f32[4]
    %b : i32[4] = aten.view.dtype(%x, i32)
    %m : f32[4] = aten.mul_.Tensor(%x, 2.0) as mul_
    %y : i32[4] = aten.neg.default(%b)
    output %y
  })");
  ASSERT_EQ(bits->operand("y", 0).size(), 1U);
  EXPECT_TRUE(contains(bits->operand("y", 0).front().second, "mul_"));
}

}  // namespace
}  // namespace graphgate::verify
