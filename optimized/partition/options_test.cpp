#include "optimized/partition/options.h"

#include <gtest/gtest.h>

#include "optimized/program_test.h"

namespace graphgate::optimized {
namespace {

std::string error_of(const PartitionOptions& options) {
  return message_of(validate_options(options, spec::builtin_op_table()));
}

TEST(PartitionOptions, NameOpsWithAndWithoutOverload) {
  EXPECT_TRUE(names_op("aten.add", "aten.add.Tensor"));
  EXPECT_TRUE(names_op("aten::add", "aten.add.Tensor"));
  EXPECT_TRUE(names_op("aten::add.Tensor", "aten.add.Tensor"));
  EXPECT_FALSE(names_op("aten.add", "aten.add_.Tensor"));
  EXPECT_FALSE(names_op("aten.add.Scalar", "aten.add.Tensor"));
  EXPECT_FALSE(names_op("aten.ad", "aten.add.Tensor"));
  EXPECT_FALSE(names_op("aten", "aten.add.Tensor"));
}

TEST(PartitionOptions, AreRefusedWhereAnOpIsUnknown) {
  PartitionOptions options;
  EXPECT_EQ(error_of(options), "");
  options.split_ops = {"aten.mm", "vllm::unified_attention_with_output.default"};
  options.unsafe_unbacked_ops = {"aten.nonzero"};
  EXPECT_EQ(error_of(options), "");
  options.split_ops = {"aten.mm", "vllm.attend"};
  EXPECT_EQ(error_of(options),
            "split op 'vllm.attend': there is no such op; expected ns.name[.overload]");
  options.split_ops = {"aten.mm.flat"};
  EXPECT_EQ(error_of(options),
            "split op 'aten.mm.flat': there is no such op; expected ns.name[.overload]");
  options.split_ops = {"aten"};
  EXPECT_NE(error_of(options), "");
  options.split_ops = {};
  options.unsafe_unbacked_ops = {"aten.nonzeros"};
  EXPECT_EQ(error_of(options),
            "unsafe unbacked op 'aten.nonzeros': there is no such op; expected ns.name[.overload]");
}

// A compile that cannot be says so in one line, before anything is made.
TEST(PartitionOptions, AreCheckedByEveryCompile) {
  const spec::Program program = program_of(R"(program "p" {
  input %x : f32[1]
  %y = aten.relu.default(%x)
  output %y
})");
  CompileOptions options;
  options.partition.split_ops = {"aten.nothing"};
  EXPECT_EQ(failure_of(plan_of(program, {f32({1}, {1})}, options)).kind, ErrorKind::kBadInput);
  options.partition.split_ops = {};
  options.memory.unaligned_ops = {"aten.mm", "aten.nothing"};
  EXPECT_EQ(failure_of(plan_of(program, {f32({1}, {1})}, options)).message,
            "unaligned op 'aten.nothing': there is no such op; expected ns.name[.overload]");
  options.memory.unaligned_ops = {};
  options.partition.mode = PartitionMode::kSplitGraph;
  options.reorder.reorder = Reorder::kMinimize;
  EXPECT_EQ(failure_of(plan_of(program, {f32({1}, {1})}, options)).message,
            "reordering contradicts split_graph partitions, which keep the program's order");
  options.partition.mode = PartitionMode::kScheduler;
  options.reorder.memory_budget = 0.9;
  EXPECT_FALSE(plan_of(program, {f32({1}, {1})}, options).ok());
}

}  // namespace
}  // namespace graphgate::optimized
