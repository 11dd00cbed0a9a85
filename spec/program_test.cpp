#include "spec/program.h"

#include "base/result_test.h"
#include "spec/graph_check.h"
#include "spec/graph_text.h"

namespace graphgate::spec {
namespace {

Program with_tensors() {
  Program program;
  program.inputs = {{InputKind::kParameter, {}, "w", true, {}},
                    {InputKind::kUserInput, {}, "x", true, {}},
                    {InputKind::kParameter, {}, "v", true, {}}};
  program.tensors["w"] = make_host_tensor(DType::kFloat32, {2});
  program.tensors["v"] = program.tensors["w"];
  return program;
}

TEST(Program, FindsInputsByKindAndTarget) {
  const Program program = with_tensors();
  EXPECT_EQ(program.inputs_of(InputKind::kParameter), (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(program.find_input(InputKind::kParameter, "v"), std::optional<std::size_t>(2));
  EXPECT_EQ(program.find_input(InputKind::kBuffer, "v"), std::nullopt);
}

TEST(SameProgram, ComparesElementsAndSharingButNotPointers) {
  const Program a = with_tensors();
  const Program b = with_tensors();
  EXPECT_TRUE(same_program(a, b));

  Program other = with_tensors();
  other.tensors["v"] = make_host_tensor(DType::kFloat32, {2});
  EXPECT_FALSE(same_program(a, other)) << "the storages are not shared any more";

  other = with_tensors();
  other.tensors["w"].storage->bytes[0] = std::byte{1};
  EXPECT_FALSE(same_program(a, other));

  other = with_tensors();
  other.annotations["k"] = "v";
  EXPECT_FALSE(same_program(a, other));
}

TEST(CheckProgram, RefusesNewContentsThatDoNotBroadcastToTheirTarget) {
  const auto error_of = [](const std::string& contents) {
    const auto program =
        must(parse_program("program \"p\" {\n  symbol s0 in [1, 8]\n"
                           "  input %x : i64[3, 4]\n  input %s : i64[s0]\n"
                           "  %y : " +
                               contents + "\n  mutation input \"x\" %y\n}\n",
                           builtin_op_table(), "t"));
    return message_of(check_program(program, builtin_op_table()));
  };
  EXPECT_EQ(
      error_of("i64[12] = aten.arange.start_step(1, 13)"),
      "program 'p': output 0: the new contents of 'x' have sizes [12], which do not broadcast "
      "to its sizes [3, 4]: PyTorch copies them, and resizes nothing here");
  EXPECT_NE(error_of("i64[0] = aten.arange.start_step(0, 0)"), "");
  EXPECT_NE(error_of("i64[1, 3, 4] = aten.full.default([1, 3, 4], 1)"), "");
  EXPECT_EQ(error_of("i64[4] = aten.arange.start_step(0, 4)"), "");
  EXPECT_EQ(error_of("i64[3, 1] = aten.full.default([3, 1], 1)"), "");
  EXPECT_EQ(error_of("i64[s0] = aten.neg.default(%s)"), "");  // known in the call
}

}  // namespace
}  // namespace graphgate::spec
