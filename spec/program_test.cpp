#include "spec/program.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace graphgate::spec
