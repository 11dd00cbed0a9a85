// docs/gpu.md names the ops that have no GPU kernel: those, and no others, among all recorded op
// cases, golden models and drawn cases.
#include <map>
#include <set>

#include "base/result_test.h"
#include "conformance/judges/judge.h"
#include "conformance/run/runs.h"
#include "fuzz/generate/generator.h"
#include "fuzz/reduce/judge_case.h"
#include "optimized/optimized.h"
#include "spec/plan.h"
#include "tools/executors/executor_sources.h"
#include "tools/golden/kernel_collector.h"
#include "tools/store/programs.h"
#include "tools/tests/cross/golden_models_test.h"
#include "tools/tests/device/device_ops_test.h"

namespace graphgate {
namespace {

constexpr std::string_view kReason = "no GPU kernel for ";

// "aten.index_put" of "aten.index_put_.default".
std::string base_name(std::string_view op) {
  std::string name(op.substr(0, op.find('.', op.find('.') + 1)));
  if (name.ends_with('_')) name.pop_back();
  return name;
}

// How often captures are cut for the lack of a kernel, by op.
using Counts = std::map<std::string, int>;

void count_reasons(const spec::Plan* plan, Counts& counts) {
  if (plan == nullptr) return;
  for (const spec::PlanBlock& block : plan->blocks) {
    for (const spec::PlanPartition& partition : block.partitions) {
      const std::string& reason = partition.reason;
      for (std::size_t at = 0; (at = reason.find(kReason, at)) != std::string::npos;) {
        at += kReason.size();
        ++counts[base_name(reason.substr(at, reason.find(';', at) - at))];
      }
    }
  }
}

std::unique_ptr<spec::Executor> collecting_executor() {
  optimized::Options options;
  options.device = std::make_shared<tools::KernelCollector>();
  return optimized::make_executor(options);
}

void add_op_cases(Counts& counts) {
  const auto executor = collecting_executor();
  const auto visit = [&](const interop::OpCase& op_case) {
    auto loaded = executor->load(op_case.program);
    if (!loaded.ok()) return true;
    (void)loaded.value()->call(op_case.inputs);
    count_reasons(loaded.value()->plan().get(), counts);
    return true;
  };
  visit_golden_op_cases(visit);
  must(interop::read_op_cases(GRAPHGATE_GOLDEN_DIR "/ops/gradient_cases_2.15.jsonl",
                              spec::builtin_op_table(), visit));
}

void add_golden_models(Counts& counts) {
  for (const std::string& path : model_paths()) {
    const Model model = read_model(path);
    const auto executor = collecting_executor();
    auto loaded = executor->load(model.program);
    EXPECT_TRUE(loaded.ok()) << loaded.error().message;
    if (!loaded.ok()) continue;
    EXPECT_FALSE(run_calls(*loaded.value(), model).empty());
    count_reasons(loaded.value()->plan().get(), counts);
  }
}

// A thousand cases of any ops; what runs of them runs on the host.
void add_drawn_cases(Counts& counts) {
  constexpr std::uint64_t kCases = 1000;
  const auto oracle = tools::reference_source(false);
  const fuzz::Alphabet alphabet;
  for (std::uint64_t index = 0; index < kCases; ++index) {
    const spec::CaseFile drawn = fuzz::draw_case(fuzz::genes_of(13, index), alphabet);
    const auto script = must(conformance::script_of(drawn, fuzz::no_files()));
    const tools::CollectingSource subject(std::make_shared<tools::KernelCollector>());
    conformance::Runs runs(script, subject, *oracle);
    const auto trace = must(runs.subject());
    for (const conformance::CallRecord& call : trace->calls) {
      count_reasons(call.plan.get(), counts);
    }
  }
}

std::string in_words(const Counts& counts) {
  std::string words;
  for (const auto& [op, count] : counts) words += op + " (" + std::to_string(count) + ")\n";
  return words;
}

std::set<std::string> ops_of(const Counts& counts) {
  std::set<std::string> ops;
  for (const auto& [op, count] : counts) ops.insert(op);
  return ops;
}

// The names in backticks of the first column of the section's table.
std::set<std::string> ops_of_page() {
  std::set<std::string> ops;
  std::string text = tools::read_text(GRAPHGATE_SOURCE_DIR "/docs/gpu.md").value();
  text = text.substr(text.find("\n## What does not run there"));
  text = text.substr(0, text.find("\n## ", 4));
  for (std::size_t at = 0; (at = text.find("\n| `", at)) != std::string::npos; ++at) {
    const std::string column = text.substr(at + 3, text.find(" |", at + 3) - at - 3);
    for (std::size_t i = 0; (i = column.find('`', i)) != std::string::npos;) {
      const std::size_t end = column.find('`', i + 1);
      ops.insert(column.substr(i + 1, end - i - 1));
      i = end + 1;
    }
  }
  return ops;
}

TEST(OpsWithoutAGpuKernel, AreThoseOfTheDocs) {
  Counts counts;
  add_op_cases(counts);
  add_golden_models(counts);
  add_drawn_cases(counts);
  EXPECT_EQ(ops_of(counts), ops_of_page()) << in_words(counts);
}

}  // namespace
}  // namespace graphgate
