// Provenance of the optimized executor against the reference's: every golden model has the same
// words under every strategy, and wrong decisions have others.
#include "base/result_test.h"
#include "conformance/judges/provenance_compare.h"
#include "optimized/optimized.h"
#include "reference/reference.h"
#include "spec/graph_text.h"
#include "tools/tests/cross/golden_models_test.h"

namespace graphgate {
namespace {

using conformance::CallRecord;
using spec::Deviation;

optimized::Options watched() {
  optimized::Options options;
  options.runtime.instrument = optimized::InstrumentKind::kProvenance;
  return options;
}

std::vector<CallRecord> records(spec::Executor& executor, const Model& model) {
  std::vector<CallRecord> out;
  auto loaded = must(executor.load(model.program));
  for (const conformance::ExpectedCall& call : model.calls) {
    auto result = must(loaded->call(call.inputs));
    CallRecord record;
    record.result = std::move(result);
    if (loaded->plan()) {
      record.plan = std::make_shared<spec::Plan>(*loaded->plan());
    }
    out.push_back(std::move(record));
  }
  return out;
}

std::vector<CallRecord> right_records(const Model& model) {
  reference::Options options;
  options.mode = reference::Mode::kProvenance;
  return records(*reference::make_executor(options), model);
}

// The findings of all calls, and how many elements were compared.
conformance::ProvenanceDifferences compared(const Model& model, const optimized::Options& options,
                                            const std::vector<CallRecord>& right) {
  conformance::ProvenanceDifferences all;
  const auto actual = records(*optimized::make_executor(options), model);
  for (std::size_t c = 0; c < right.size(); ++c) {
    auto differences = conformance::compare_provenance(actual[c], right[c], model.program,
                                                       spec::builtin_op_table());
    all.elements += differences.elements;
    for (auto& finding : differences.findings) all.findings.push_back(std::move(finding));
  }
  return all;
}

class ModelProvenance : public testing::TestWithParam<std::string> {};

TEST_P(ModelProvenance, IsTheReferencesUnderEveryStrategy) {
  const Model model = read_model(GetParam());
  const auto right = right_records(model);
  std::map<std::string, optimized::Options> configurations;
  configurations["default"] = watched();
  configurations["no reuse"] = watched();
  configurations["no reuse"].compile.memory.reuse = false;
  configurations["lines"] = watched();
  configurations["lines"].compile.memory.strategy = optimized::MemoryStrategy::kLines;
  configurations["pools, a launch per node"] = watched();
  configurations["pools, a launch per node"].compile.memory.strategy =
      optimized::MemoryStrategy::kPools;
  configurations["pools, a launch per node"].compile.compiler.name = "eager";
  configurations["split graph, streams"] = watched();
  configurations["split graph, streams"].compile.partition.mode =
      optimized::PartitionMode::kSplitGraph;
  configurations["split graph, streams"].compile.streams.count = 3;
  configurations["split graph, streams"].interleaving_seed = 7;
  for (const auto& [name, options] : configurations) {
    const auto differences = compared(model, options, right);
    EXPECT_GT(differences.elements, 0) << name;
    for (const spec::Finding& finding : differences.findings) {
      ADD_FAILURE() << name << ": " << finding.rule << " " << finding.message;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, ModelProvenance, testing::ValuesIn(model_paths()), model_name);

// A program, called three times with the same inputs: nothing but provenance could tell a buffer's
// old contents from its new ones.
Model scenario(const std::string& text, const std::vector<spec::InputValue>& inputs) {
  auto program = must(spec::parse_program(text, spec::builtin_op_table()));
  conformance::ExpectedCall call;
  call.inputs = inputs;
  return {"", std::move(program), {call, call, call}};
}

std::string rule_under(Deviation deviation, const std::string& text,
                       optimized::Options options = watched()) {
  const Model model =
      scenario(text, {spec::InputValue(spec::make_host_tensor(spec::DType::kFloat32, {8}))});
  const auto right = right_records(model);
  EXPECT_TRUE(compared(model, options, right).findings.empty());
  options.compile.deviations.add(deviation);
  const auto differences = compared(model, options, right);
  return differences.findings.empty() ? "" : differences.findings.front().rule;
}

TEST(ProvenanceJudge, SeesWritesOfAWarmUpThatStay) {
  EXPECT_EQ(rule_under(Deviation::kWarmUpMutates, R"(program "p" {
  buffer %s "s" : f32[8] = [0, 0, 0, 0, 0, 0, 0, 0]
  input %x : f32[8]
  %a = aten.add_.Tensor(%s, %x)
  %b = aten.mul.Tensor(%s, 0.0)
  output %b
})"),
            "P2.early-write");
}

TEST(ProvenanceJudge, SeesABufferThatIsUsedAgainTooEarly) {
  optimized::Options options = watched();
  options.compile.compiler.name = "eager";
  options.compile.memory.strategy = optimized::MemoryStrategy::kLines;
  const std::string rule = rule_under(Deviation::kFreesTwice, R"(program "p" {
  input %x : f32[8]
  %a = aten.relu.default(%x)
  %b = aten.relu.default(%a)
  %c = aten.relu.default(%x)
  %d = aten.relu.default(%x)
  %e = aten.add.Tensor(%b, %c)
  %f = aten.add.Tensor(%e, %d)
  output %f
})",
                                      options);
  EXPECT_EQ(rule, "P3.foreign-read");
}

TEST(ProvenanceJudge, SeesADroppedWriteThroughAView) {
  EXPECT_EQ(rule_under(Deviation::kDeadCodeDropsAliasWrites, R"(program "p" {
  input %x : f32[8]
  %a = aten.relu.default(%x)
  %v = aten.slice.Tensor(%a, 0, 4, 8)
  %w = aten.mul_.Tensor(%v, 2.0)
  %b = aten.relu.default(%a)
  output %b
})"),
            "P1.stale-read");
}

}  // namespace
}  // namespace graphgate
