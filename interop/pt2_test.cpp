#include <filesystem>

#include "base/file_io.h"
#include "base/folder_test.h"
#include "base/result_test.h"
#include "interop/pt2_reader.h"
#include "interop/pt2_writer.h"
#include "spec/graph_text.h"
#include "spec/op_table.h"

namespace graphgate::interop {
namespace {

using spec::Program;
using spec::ValueKind;

const std::string kModels = std::string(GRAPHGATE_GOLDEN_DIR) + "/models/";

Program read_model(const std::string& name) {
  Pt2Options options;
  options.ops = &spec::builtin_op_table();
  return must(read_pt2(kModels + name, options));
}

Program parse(std::string_view text) {
  return must(spec::parse_program(text, spec::builtin_op_table()));
}

// Writes and reads back.
Result<Program> round_trip(const Program& program) {
  const TestFolder folder;
  GRAPHGATE_TRY_VOID(write_pt2(program, folder.file("p.pt2")));
  return read_pt2(folder.file("p.pt2"));
}

std::vector<std::string> archives() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(kModels)) {
    if (file.path().extension() == ".pt2") names.push_back(file.path().filename().string());
  }
  return names;
}

TEST(Pt2, EveryModelComesBackAsItWasRead) {
  const auto names = archives();
  EXPECT_GE(names.size(), 10U);
  for (const std::string& name : names) {
    const Program program = read_model(name);
    const auto again = must(round_trip(program), name);
    EXPECT_TRUE(spec::same_program(program, again)) << name;
  }
}

TEST(Pt2, IsWrittenTheSameWayEachTime) {
  const TestFolder folder;
  const Program program = read_model("mutations.core.pt2");
  ASSERT_TRUE(write_pt2(program, folder.file("a.pt2")).ok());
  ASSERT_TRUE(write_pt2(program, folder.file("b.pt2")).ok());
  EXPECT_EQ(must(read_whole(folder.file("a.pt2"))), must(read_whole(folder.file("b.pt2"))));
}

TEST(Pt2Reader, ReadsConditionalsAndUnbackedSymbols) {
  const Program program = read_model("cond_nonzero.pt2");
  ASSERT_EQ(program.graph.subgraphs.size(), 2U);
  EXPECT_EQ(program.graph.subgraphs[0].name, "true_graph_0");
  EXPECT_EQ(program.symbols.at("u0").min, 0);
  EXPECT_EQ(program.symbols.at("u0").max, 6);
  const auto& node = program.graph.nodes[2];
  EXPECT_EQ(node.op, "higher_order.cond");
  ASSERT_EQ(node.results.size(), 1U);
  EXPECT_EQ(program.graph.value(node.results[0].values[0]).name, "getitem");
}

TEST(Pt2Reader, ReadsTheSignatureWithMutations) {
  const Program program = read_model("mutations.core.pt2");
  std::size_t mutations = 0;
  for (const auto& output : program.outputs) {
    mutations += output.kind != spec::OutputKind::kUserOutput;
    EXPECT_EQ(output.target.empty(), output.kind == spec::OutputKind::kUserOutput);
  }
  EXPECT_GE(mutations, 3U);
}

TEST(Pt2Reader, ReadsFunctionalizedCustomOps) {
  const Program program = read_model("vllm_like_bf16.core.pt2");
  std::size_t seen = 0;
  for (const auto& node : program.graph.nodes) {
    if (node.op != "higher_order.auto_functionalized_v2") continue;
    ++seen;
    EXPECT_NE(node.arguments.at(0).argument.as<spec::OpName>(), nullptr);
    EXPECT_EQ(program.graph.value(node.results.at(0).values.at(0)).kind, ValueKind::kNone);
  }
  EXPECT_GT(seen, 0U);
  EXPECT_EQ(program.symbols.at("s26").hint.has_value(), true);
}

TEST(Pt2Reader, KeepsSharedStoragesShared) {
  Program program = parse(R"(program "tied" {
  buffer %a "a" : f32[2] = [1.0, 2.0]
  buffer %b "b" : f32[2] = [1.0, 2.0]
  %c : f32[2] = aten.add.Tensor(%a, %b)
  output %c
})");
  program.tensors.at("b").storage = program.tensors.at("a").storage;
  const auto again = must(round_trip(program));
  const auto& tensors = again.tensors;
  EXPECT_EQ(tensors.at("a").storage, tensors.at("b").storage);
  EXPECT_TRUE(spec::same_program(program, again));
}

TEST(Pt2Writer, CarriesNamesThatPythonWouldRefuse) {
  const Program program = parse(R"(program "odd name" {
  symbol s0 in [1, 64] hint 8
  input %0 : f32[s0, 4]
  input %lambda : f32[s0, 4]
  %1 : f32[s0, 4] = aten.add.Tensor(%0, %lambda)
  %v : f32[s0], %i : i64[s0] = aten.max.dim(%1, 1)
  output %v
  output %i
})");
  const auto again = must(round_trip(program));
  EXPECT_TRUE(spec::same_program(program, again))
      << spec::print_program(again, spec::builtin_op_table());
}

TEST(Pt2Writer, SaysWhatPyTorchCannotExpress) {
  const Program untyped = parse(R"(program "p" {
  input %x : f32[4]
  %y = aten.relu.default(%x)
  output %y
})");
  const Error refused = failure_of(round_trip(untyped));
  EXPECT_EQ(refused.kind, ErrorKind::kUnsupported);
  EXPECT_EQ(refused.message, "value 'y': has no type, and PyTorch's schema needs one");
}

TEST(Pt2Writer, WritesPyTorchsOwnOpsWhateverTheirSchemasLeaveOut) {
  const spec::OpTable& ops = spec::builtin_op_table();
  const auto program = must(
      read_pt2(std::string(GRAPHGATE_GOLDEN_DIR) + "/models/resnet_slim.pt2", Pt2Options{&ops}));
  ASSERT_FALSE(ops.find("aten.batch_norm.default")->undeclared_writes.empty());
  const TestFolder folder;
  must(write_pt2(program, folder.file("p.pt2"), Pt2Options{&ops}));
}

TEST(Pt2Writer, RefusesHiddenStateWithItsReason) {
  spec::OpTable ops;
  ASSERT_TRUE(ops.add_text("my::step(Tensor x) -> Tensor ; hidden_writes=cache", "t").ok());
  Program program;
  program.graph.values.push_back({"x", ValueKind::kTensor, spec::TensorType{}, {}, {}});
  program.graph.inputs.push_back(spec::ValueId{0});
  program.inputs.push_back({spec::InputKind::kUserInput, spec::ValueId{0}, "x", true, {}});
  program.graph.nodes.push_back({"s", "my.step.default", {}, {}});
  const TestFolder folder;
  EXPECT_EQ(failure_of(write_pt2(program, folder.file("p.pt2"), Pt2Options{&ops})).message,
            "node 's': PyTorch's schema cannot say that my.step.default has hidden state");
  EXPECT_EQ(folder.count(), 0U);
}

TEST(Pt2, ReadsALongProgram) {
  Program program = parse(R"(program "long" {
  input %x : f32[4]
  %y : f32[4] = aten.relu.default(%x)
  output %y
})");
  spec::Graph& graph = program.graph;
  const spec::Node first = graph.nodes[0];
  const spec::Value value = graph.values[1];
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    spec::Node node = first;
    node.name = "n" + std::to_string(i);
    node.arguments[0].argument = spec::Argument{spec::ValueId{i + 1}};
    node.results[0].values[0] = spec::ValueId{i + 2};
    graph.nodes.push_back(node);
    graph.values.push_back(value);
    graph.values.back().name = node.name;
  }
  const auto again = must(round_trip(program));
  EXPECT_TRUE(spec::same_program(program, again));
}

// The sizes that an interpolation by 3.66 gives, and 1 / n**0.5 (golden/exports).
TEST(Pt2, KeepsSizesWithFloatsInThem) {
  const spec::OpTable& ops = spec::builtin_op_table();
  const std::string folder = std::string(GRAPHGATE_GOLDEN_DIR) + "/exports/";
  const auto scaled = must(read_pt2(folder + "scaled_size.pt2", Pt2Options{&ops}));
  const std::string text = spec::print_program(scaled, ops);
  EXPECT_TRUE(contains(text, "[1, 1, trunc_to_int(3.66*to_float(s53)), 21]"));
  EXPECT_EQ(spec::print_program(parse(text), ops), text);
  const auto again = must(round_trip(scaled));
  EXPECT_EQ(spec::print_program(again, ops), text);
  EXPECT_TRUE(read_pt2(folder + "float_of_size.pt2", Pt2Options{&ops}).ok());
}
TEST(Pt2, KeepsComplexNumbersAndTensors) {
  const Program program = parse(R"(program "p" {
  parameter %w "w" : c128[1] = [complex(0.5, -0.0)]
  constant %c "c" : c64[2] = [complex(1.0, -2.0), complex(inf, 0.25)]
  input %x : c64[2]
  %y : c64[2] = aten.mul.Tensor(%x, complex(-0.0, 2.0))
  %z : c64[2] = aten.mul.Tensor(%y, complex(inf, nan))
  %v : c64[2] = aten.mul.Tensor(%z, %c)
  %u : c128[2] = aten.mul.Tensor(%v, %w)
  output %u
})");
  const auto again = must(round_trip(program));
  EXPECT_TRUE(spec::same_program(program, again))
      << spec::print_program(again, spec::builtin_op_table());
}

}  // namespace
}  // namespace graphgate::interop
