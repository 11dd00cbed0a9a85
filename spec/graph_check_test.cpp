#include "spec/graph_check.h"

#include <gtest/gtest.h>

#include "spec/program_test.h"

namespace graphgate::spec {
namespace {

// A valid program that the tests break.
Program valid() {
  return parse(R"(program "p" {
  symbol s0 in [1, 64] hint 8
  parameter %w "w" : f32[2] = [1.0, 2.0]
  buffer %b "b" : f32[2]
  input %x : f32[s0, 2]
  graph @g {
    input %a : f32[2]
    %r = aten.neg.default(%a)
    output %r
  }
  %y : f32[s0, 2] = aten.add.Tensor(%x, %w)
  %v, %i = aten.max.dim(%y, 0)
  %l : tensors = aten.split.Tensor(%y, 1)
  %n : symint(s0) = aten.sym_size.int(%y, 0)
  mutation buffer "b" %v
  output %i
})");
}

std::string error_of(const Program& program) {
  return message_of(check_program(program, builtin_op_table()), "valid");
}

template <class Break>
std::string error_after(Break&& change) {
  Program program = valid();
  change(program);
  return error_of(program);
}

std::string error_of_node(const std::string& line) {
  return error_of(
      parse("program \"p\" {\n  input %x : f32[4]\n  %n : symint = "
            "aten.sym_size.int(%x, 0)\n  " +
            line + "\n}"));
}

TEST(CheckProgram, AcceptsAValidOne) { EXPECT_EQ(error_of(valid()), "valid"); }

TEST(CheckGraph, RefusesIdsOutOfRange) {
  EXPECT_EQ(
      error_after([](Program& p) { p.graph.nodes[0].arguments[1].argument.value = ValueId{99}; }),
      "program 'p': node 'y' (aten.add.Tensor): argument 'other': value number 99 does not "
      "exist");
  EXPECT_EQ(error_after([](Program& p) { p.graph.outputs[1].value = SubgraphId{7}; }),
            "program 'p': output 1: subgraph number 7 does not exist");
  EXPECT_EQ(error_after([](Program& p) { p.graph.inputs[0] = ValueId{99}; }),
            "program 'p': value number 99 does not exist");
  EXPECT_EQ(error_after([](Program& p) { p.graph.nodes[0].results[0].values[0] = ValueId{99}; }),
            "program 'p': node 'y' (aten.add.Tensor): value number 99 does not exist");
}

TEST(CheckGraph, RefusesACycleAndNamesItsNodes) {
  EXPECT_EQ(error_after([](Program& p) {
              p.graph.nodes[0].arguments[1].argument.value = p.graph.nodes[1].results[0].values[0];
            }),
            "program 'p': node 'y' (aten.add.Tensor): argument 'other': it reads %v before its "
            "definition by node 'v' (aten.max.dim)");
}

TEST(CheckGraph, RefusesValuesDefinedTwiceOrNever) {
  EXPECT_EQ(
      error_after([](Program& p) { p.graph.nodes[1].results[0].values[0] = p.graph.inputs[0]; }),
      "program 'p': node 'v' (aten.max.dim): it defines %w, which is defined before");
  EXPECT_EQ(error_after([](Program& p) { p.graph.nodes.pop_back(); }),
            "program 'p': value %n: no input and no node defines it");
}

TEST(CheckGraph, RefusesEmptyAndRepeatedNames) {
  EXPECT_EQ(error_after([](Program& p) { p.graph.values[1].name = "w"; }),
            "program 'p': value %w: two values have this name");
  EXPECT_EQ(error_after([](Program& p) { p.graph.values[1].name = ""; }),
            "program 'p': value %\"\": the value has no name");
  EXPECT_EQ(error_after([](Program& p) { p.graph.nodes[1].name = "y"; }),
            "program 'p': node 'y' (aten.max.dim): two nodes have this name");
  EXPECT_EQ(error_after([](Program& p) { p.graph.nodes[0].name = ""; }),
            "program 'p': node '' (aten.add.Tensor): the node has no name");
  EXPECT_EQ(error_after([](Program& p) { p.graph.subgraphs.push_back(p.graph.subgraphs[0]); }),
            "program 'p': two subgraphs are named 'g'");
}

TEST(CheckGraph, LooksIntoSubgraphs) {
  EXPECT_EQ(error_after([](Program& p) { p.graph.subgraphs[0].values[1].name = "a"; }),
            "program 'p': graph 'g': value %a: two values have this name");
  EXPECT_EQ(
      error_after([](Program& p) { p.graph.subgraphs[0].nodes[0].op = "aten.x"; }),
      "program 'p': node 'r': the op table has no schema for aten.x (give one by --custom-ops, or "
      "export with --decompose, which makes core ops of most)");
}

TEST(CheckGraph, RefusesImpossibleTypes) {
  const auto with_type = [](auto&& change) {
    return error_after([&](Program& p) { change(p.graph.values[0]); });
  };
  const std::string value = "program 'p': value %w: ";
  EXPECT_EQ(with_type([](Value& v) { v.type->sizes[0] = SymExpr(std::int64_t{1} << 60); }),
            value + "more than 2^46 bytes");
  EXPECT_EQ(with_type([](Value& v) {
              v.type->sizes = {SymExpr(std::int64_t{1} << 40), SymExpr(std::int64_t{1} << 40)};
              v.type->strides = {SymExpr(0), SymExpr(0)};
            }),
            value + "more than 2^46 bytes");
  EXPECT_EQ(with_type([](Value& v) { v.type->storage_offset = SymExpr(INT64_MAX); }),
            value + "more than 2^46 bytes");
  EXPECT_EQ(with_type([](Value& v) { v.type->sizes[0] = SymExpr(-1); }), value + "a negative size");
  EXPECT_EQ(with_type([](Value& v) { v.type->strides[0] = SymExpr(-1); }),
            value + "a negative stride");
  EXPECT_EQ(with_type([](Value& v) { v.type->storage_offset = SymExpr(-1); }),
            value + "a negative storage offset");
  EXPECT_EQ(with_type([](Value& v) { v.type->strides.clear(); }), value + "1 sizes, but 0 strides");
  EXPECT_EQ(with_type([](Value& v) { v.hint = 3; }),
            value + "it is no symbolic number, but has an expression or a hint");
  EXPECT_EQ(with_type([](Value& v) { v.kind = ValueKind::kNone; }),
            value + "it is no tensor, but has a tensor type");
  EXPECT_EQ(with_type([](Value& v) { v.type.reset(); }), "program 'p': input %w: it has no type");
}

TEST(CheckProgram, RefusesArgumentsThatDoNotFitTheSchema) {
  EXPECT_EQ(error_of_node("%y = aten.neg.default()"),
            "program 'p': node 'y' (aten.neg.default): argument 'self' is missing");
  EXPECT_EQ(error_of_node("%y = aten.neg.default(None)"),
            "program 'p': node 'y' (aten.neg.default): argument 'self': expected Tensor, found "
            "None");
  EXPECT_EQ(error_of_node("%y = aten.cat.default([%x, \"a\"])"),
            "program 'p': node 'y' (aten.cat.default): argument 'tensors': expected Tensor[], "
            "found [%x, \"a\"]");
  EXPECT_EQ(error_of_node("%y = aten.cat.default([%x], 1.5)"),
            "program 'p': node 'y' (aten.cat.default): argument 'dim': expected int, found 1.5");
  EXPECT_EQ(error_of_node("%y = aten.cat.default([%x], complex(1.0, 0.0))"),
            "program 'p': node 'y' (aten.cat.default): argument 'dim': expected int, found "
            "complex(1.0, 0.0)");
  EXPECT_EQ(error_of_node("%y = aten.dropout.default(%x, complex(0.5, 0.0), True)"),
            "program 'p': node 'y' (aten.dropout.default): argument 'p': expected float, found "
            "complex(0.5, 0.0)");
  EXPECT_EQ(error_of_node("%y = aten.sum.default(%x, dtype=3)"),
            "program 'p': node 'y' (aten.sum.default): argument 'dtype': expected ScalarType?, "
            "found 3");
  EXPECT_EQ(error_of_node("%y = aten.view.default(%x, 2)"),
            "program 'p': node 'y' (aten.view.default): argument 'size': expected SymInt[], found "
            "2");
  EXPECT_EQ(error_after([](Program& p) { p.graph.nodes[0].arguments[1].name = "self"; }),
            "program 'p': node 'y' (aten.add.Tensor): argument 'self': it is given twice");
  EXPECT_EQ(error_after([](Program& p) { p.graph.nodes[0].arguments[1].name = "b"; }),
            "program 'p': node 'y' (aten.add.Tensor): argument 'b': the schema has no such "
            "argument");
}

// As PyTorch does, in eager mode and when it traces.
TEST(CheckProgram, RefusesTensorsOnTwoDevices) {
  const auto error_of_mixed = [](const std::string& line) {
    return error_of(parse(R"(program "p" {
  input %g : f32[4] on cuda
  input %c : f32[4]
  input %i : i64[2]
  input %one : f32[]
  )" + line + "\n}"));
  };
  EXPECT_EQ(error_of_mixed("%y = aten.add.Tensor(%g, %c)"),
            "program 'p': node 'y' (aten.add.Tensor): argument 'other': it is on cpu, and 'self' "
            "on cuda; only a CPU tensor without dimensions goes with another device");
  EXPECT_EQ(error_of_mixed("%y = aten.cat.default([%c, %c, %g])"),
            "program 'p': node 'y' (aten.cat.default): argument 'tensors': it is on cuda, and "
            "'tensors' on cpu; only a CPU tensor without dimensions goes with another device");
  EXPECT_EQ(error_of_mixed("%y = aten.index_select.default(%g, 0, %i)"),
            "program 'p': node 'y' (aten.index_select.default): argument 'index': it is on cpu, "
            "and 'self' on cuda; only a CPU tensor without dimensions goes with another device");
  for (const std::string line :
       {"%y = aten.add.Tensor(%g, %one)", "%y = aten.add.Tensor(%one, %g)",
        "%y = aten.index.Tensor(%g, [%i])", "%y = aten.copy_.default(%g, %c)",
        "%y = aten.expand_as.default(%c, %g)",
        "%m = aten.neg.default(%c)\n  %y = aten.mul.Tensor(%m, %g)"}) {
    EXPECT_EQ(error_of_mixed(line), "valid") << line;
  }
}

TEST(CheckProgram, AcceptsWhatTheExporterWrites) {
  for (const std::string line :
       {"%y = aten.add.Tensor(%x, 1.0)", "%y = aten.add.Tensor(%x, complex(0.0, 2.0))",
        "%y = aten.add.Tensor(%x, 1.0, alpha=complex(0.0, 2.0))", "%y = aten.mul.Tensor(%x, %n)",
        "%y = aten.view.default(%x, [%n, 1])", "%y = aten.sum.dim_IntList(%x, None)",
        "%y = aten.sum.dim_IntList(%x, 0)", "%y = aten.index.Tensor(%x, [None, %x])",
        "%y = aten.full.default([2], 1, dtype=f32, pin_memory=False)",
        "%y = aten.pow.Scalar(2, %x)", "(%a, %b) = aten.split.Tensor(%x, 2)",
        "%v, %i : none = aten.max.dim(%x, 0)", "aten._assert_scalar.default(True, \"text\")",
        "%z : none = aten._assert_scalar.default(True, \"text\")",
        "%c = higher_order.cond(anything=%x)"}) {
    EXPECT_EQ(error_of_node(line), "valid") << line;
  }
}

TEST(CheckProgram, RefusesResultsThatDoNotFitTheSchema) {
  EXPECT_EQ(error_of_node("%y, %z = aten.neg.default(%x)"),
            "program 'p': node 'y' (aten.neg.default): the schema has 1 results, the node 2");
  EXPECT_EQ(error_of_node("%y : symint = aten.neg.default(%x)"),
            "program 'p': node 'y' (aten.neg.default): result 0 is no Tensor");
  EXPECT_EQ(error_of_node("%y = aten.split.Tensor(%x, 2)"),
            "program 'p': node 'y' (aten.split.Tensor): result 0 is no Tensor(a)[]");
  EXPECT_EQ(error_of_node("(%y) = aten.neg.default(%x)"),
            "program 'p': node 'y' (aten.neg.default): result 0 is no Tensor");
}

TEST(CheckProgram, RefusesASignatureThatDoesNotDescribeTheGraph) {
  EXPECT_EQ(error_after([](Program& p) { p.inputs.pop_back(); }),
            "program 'p': the graph has 3 inputs, but 2 are described");
  EXPECT_EQ(error_after([](Program& p) { std::swap(p.inputs[0], p.inputs[1]); }),
            "program 'p': input 'b': it describes another value than input 0 of the graph");
  EXPECT_EQ(error_after([](Program& p) { p.inputs[1].target = "w"; }),
            "program 'p': input 'w': two inputs have this target");
  EXPECT_EQ(error_after([](Program& p) { p.inputs[0].constant = Argument{None{}}; }),
            "program 'p': input 'w': only a user input can be a constant");
  EXPECT_EQ(error_after([](Program& p) { p.outputs.pop_back(); }),
            "program 'p': the graph has 2 outputs, but 1 are described");
  EXPECT_EQ(error_after([](Program& p) { p.outputs[0].target = "w"; }),
            "program 'p': output 0: it mutates 'w', which is no input of that kind");
  EXPECT_EQ(error_after([](Program& p) { p.graph.outputs[0].value = None{}; }),
            "program 'p': output 0: the new contents of 'b' must be a tensor");
}

TEST(CheckProgram, RefusesBadSymbols) {
  EXPECT_EQ(error_after([](Program& p) { p.symbols.clear(); }),
            "program 'p': value %x: symbol 's0' is not declared");
  EXPECT_EQ(error_after([](Program& p) { p.symbols["s0"].max = 0; }),
            "program 'p': symbol 's0': its range is empty");
  EXPECT_EQ(error_after([](Program& p) { p.symbols["s0"].hint = 65; }),
            "program 'p': symbol 's0': its hint is outside its range");
  EXPECT_EQ(error_after([](Program& p) { p.symbols["not"] = {}; }),
            "program 'p': symbol 'not': not the name of a symbol");
}

TEST(CheckProgram, RefusesTensorsThatDoNotMatch) {
  const auto with_tensor = [](auto&& change) {
    return error_after([&](Program& p) { change(p.tensors.at("w")); });
  };
  const std::string place = "program 'p': tensor 'w': ";
  EXPECT_EQ(with_tensor([](HostTensor& t) { t.dtype = DType::kInt32; }),
            place + "its dtype is i32, but the graph says f32");
  EXPECT_EQ(with_tensor([](HostTensor& t) { t.sizes = {3}; }),
            place + "size 0 is 3, but the graph says 2");
  EXPECT_EQ(with_tensor([](HostTensor& t) {
              t.sizes = {2, 1};
            }),
            place + "it has 2 dimensions, but the graph says 1");
  EXPECT_EQ(with_tensor([](HostTensor& t) { t.storage->bytes.pop_back(); }),
            place + "its elements do not fit in its storage of 7 bytes");
  EXPECT_EQ(with_tensor([](HostTensor& t) { t.storage = nullptr; }), place + "it has no storage");
  EXPECT_EQ(error_after([](Program& p) { p.tensors["z"] = p.tensors.at("w"); }),
            "program 'p': tensor 'z': no parameter, buffer or constant has this name");
}

TEST(CheckTensorsPresent, NamesTheMissingOne) {
  EXPECT_EQ(check_tensors_present(valid()).error().message,
            "program 'p': the elements of 'b' are missing");
}

}  // namespace
}  // namespace graphgate::spec
