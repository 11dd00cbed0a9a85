#include "optimized/schedule/kernel_lifetimes.h"

#include <gtest/gtest.h>

#include "optimized/analysis/sized_test.h"

namespace graphgate::optimized {
namespace {

// By program order %x ends at %y, %s at %n, %y and %n at %z. What %y makes is read by %z, and what
// that makes by %m, which nobody reads.
constexpr const char* kProduct = R"(program "p" {
  input %a : f32[4, 4]
  %x = aten.neg.default(%a)
  %s = aten.abs.default(%a)
  %y = aten.mm.default(%x, %a)
  %n = aten.exp.default(%s)
  %z = aten.add.Tensor(%y, %n)
  %m = aten.mul.Tensor(%z, %z)
  output %m
})";

Partitions one_partition(const SizedGraph& graph, bool is_captured) {
  Partition partition;
  partition.begin_node = 0;
  partition.end_node = static_cast<std::uint32_t>(graph.blocks.front().nodes.size());
  partition.captured = is_captured;
  Partitions partitions;
  partitions.blocks = {{partition}};
  return partitions;
}

std::map<std::string, std::int64_t> ends_of(const SizedGraph& graph, const Liveness& liveness) {
  std::map<std::string, std::int64_t> ends;
  for (std::size_t s = 0; s < graph.storages.size(); ++s) {
    ends[graph.storages[s].name] = liveness.storages[s].end;
  }
  return ends;
}

TEST(KernelLifetimes, KeepWhatAStepTouchesForItsFirstReaderAndThatOnesFirstReader) {
  const SizedGraph graph = sized_graph_of(program_of(kProduct), {zeros({4, 4})});
  const Liveness plain = analyze_liveness(graph);
  const auto before = ends_of(graph, plain);
  const auto kept = ends_of(graph, keep_for_readers(graph, one_partition(graph, true), plain));
  EXPECT_EQ(before.at("x"), 3);
  EXPECT_EQ(kept.at("x"), 6);  // through %m: it reads %z, which reads %y
  EXPECT_EQ(before.at("s"), 4);
  EXPECT_EQ(kept.at("s"), 6);
  EXPECT_EQ(before.at("y"), 5);
  EXPECT_EQ(kept.at("y"), 6);
  EXPECT_EQ(kept.at("m"), before.at("m"));
}

TEST(KernelLifetimes, StayAsTheyAreOutsideOfCaptures) {
  const SizedGraph graph = sized_graph_of(program_of(kProduct), {zeros({4, 4})});
  const Liveness plain = analyze_liveness(graph);
  EXPECT_EQ(ends_of(graph, keep_for_readers(graph, one_partition(graph, false), plain)),
            ends_of(graph, plain));
}

}  // namespace
}  // namespace graphgate::optimized
