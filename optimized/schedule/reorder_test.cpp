#include "optimized/schedule/reorder.h"

#include "optimized/analysis/sized_test.h"

namespace graphgate::optimized {
namespace {

CompileOptions with(Reorder how, std::vector<std::string> split_ops = {"aten.exp", "aten.exp_"}) {
  CompileOptions options;
  options.reorder.reorder = how;
  options.partition.split_ops = std::move(split_ops);
  return options;
}

std::string order_of(const char* text, const CompileOptions& options,
                     const Inputs& inputs = {counting({4})}) {
  return partitions_of(good_plan_of(program_of(text), inputs, options));
}

constexpr const char* kIndependent = R"(program "p" {
  input %x : f32[4]
  %a = aten.relu.default(%x)
  %e1 = aten.exp.default(%x)
  %b = aten.neg.default(%a)
  %e2 = aten.exp.default(%b)
  %c = aten.relu.default(%b)
  %e3 = aten.exp.default(%e1)
  %d = aten.add.Tensor(%c, %e3)
  output %d
  output %e2
})";

TEST(Reorder, LeavesTheProgramsOrderUnlessAsked) {
  EXPECT_EQ(order_of(kIndependent, with(Reorder::kNone)), "a | (e1) | b | (e2) | c | (e3) | d");
}

TEST(Reorder, TakesCutOutNodesToTheFrontAndToTheBack) {
  EXPECT_EQ(order_of(kIndependent, with(Reorder::kSimple)), "(e1 e3) | a b c d | (e2)");
}

TEST(Reorder, DrainsWhatIsReadyInTurns) {
  EXPECT_EQ(order_of(kIndependent, with(Reorder::kMinimize)), "(e1 e3) | a b c d | (e2)");
  EXPECT_EQ(order_of(R"(program "p" {
  input %x : f32[4]
  %a = aten.relu.default(%x)
  %e1 = aten.exp.default(%a)
  %b = aten.neg.default(%x)
  %e2 = aten.exp.default(%b)
  %c = aten.relu.default(%e1)
  %d = aten.add.Tensor(%c, %e2)
  output %d
})",
                     with(Reorder::kMinimize)),
            "a b | (e1 e2) | c d");
}

// Readers of %b stand on either side of a cut-out node that writes it.
constexpr const char* kWritten = R"(program "p" {
  input %x : f32[4]
  %e1 = aten.exp.default(%x)
  %b = aten.neg.default(%x)
  %r = aten.mul.Tensor(%b, 3.0)
  %w = aten.exp_.default(%b)
  %s = aten.mul.Tensor(%r, 3.0)
  %e2 = aten.exp.default(%x)
  %t = aten.add.Tensor(%s, %e2)
  %u = aten.add.Tensor(%t, %w)
  output %u
  output %e1
})";

std::vector<float> first_result(const char* text, const CompileOptions& compile) {
  Options options;
  options.compile = compile;
  const auto results = run_calls(program_of(text), {{f32({4}, {1, 2, 3, 4})}}, options);
  return results.empty() ? std::vector<float>() : floats(results.front().outputs.front());
}

TEST(Reorder, NeverTakesAWriteOverAReadOfTheSameBytes) {
  for (const Reorder how : {Reorder::kSimple, Reorder::kMinimize}) {
    EXPECT_EQ(first_result(kWritten, with(how)), first_result(kWritten, with(Reorder::kNone)));
  }
  EXPECT_EQ(order_of(kWritten, with(Reorder::kMinimize)), "(e1 e2) | b r s t | (w) | u");
}

// vllm#27080: %w needs %b alone, and is taken before %r reads what %b was.
TEST(Reorder, TakesAWriteOverAReadWhereADeviationAsksForIt) {
  CompileOptions options = with(Reorder::kMinimize, {"aten.neg", "aten.exp", "aten.exp_"});
  options.deviations.add(spec::Deviation::kReordersByReadsOnly);
  EXPECT_EQ(order_of(kWritten, options), "(e1 b w e2) | r s t u");
  EXPECT_NE(first_result(kWritten, options), first_result(kWritten, with(Reorder::kNone)));
}

// Everything cut out first makes all of it live at once: 40 values instead of two.
std::string wide_program() {
  std::string text = "program \"p\" {\n  input %x : f32[64]\n";
  std::string last = "%x";
  for (int i = 0; i < 40; ++i) {
    const std::string at = std::to_string(i);
    text += "  %e" + at + " = aten.exp.default(%x)\n";
    text += "  %a" + at + " = aten.add.Tensor(" + last + ", %e" + at + ")\n";
    last = "%a" + at;
  }
  return text + "  output " + last + "\n}";
}

TEST(Reorder, KeepsTheOldOrderWhereTheNewOneTakesTooMuchMemory) {
  const spec::Program program = program_of(wide_program());
  const Inputs inputs = {zeros({64})};
  CompileOptions options = with(Reorder::kMinimize);
  EXPECT_EQ(good_plan_of(program, inputs, options).blocks[0].partitions.size(), 80U);
  options.reorder.memory_budget = 50;
  EXPECT_EQ(good_plan_of(program, inputs, options).blocks[0].partitions.size(), 2U);
}

TEST(Reorder, EstimatesThePeakFromTheFirstToTheLastUse) {
  const SizedGraph graph = sized_graph_of(program_of(R"(program "p" {
  input %x : f32[8]
  %a = aten.relu.default(%x)
  %b = aten.relu.default(%x)
  %c = aten.add.Tensor(%a, %b)
  %d = aten.neg.default(%c)
  output %d
})"),
                                          {zeros({8})});
  EXPECT_EQ(estimate_peak_bytes(graph, 0, {0, 1, 2, 3}), 3 * 32);
  EXPECT_EQ(estimate_peak_bytes(graph, 0, {0}), 32);
}

}  // namespace
}  // namespace graphgate::optimized
