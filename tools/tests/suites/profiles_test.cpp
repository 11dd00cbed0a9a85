// Profiles invent nothing: under every profile, plain programs are as right as they are without
// one. A case that shows a deviation names it in its head; a model that a release really got wrong
// stands in known(), with the deviations that it goes wrong by and with no other.

#include <map>

#include "base/result_test.h"
#include "conformance/verify/verify.h"
#include "optimized/optimized.h"
#include "optimized/upstream/overrides.h"
#include "optimized/upstream/profile_options.h"
#include "tools/tests/cross/golden_models_test.h"
#include "tools/tests/suites/judged_case.h"

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;

using conformance::Configuration;
using spec::Deviation;

struct Version {
  std::string profile;
  bool overridden = false;  // by what vLLM patches
};

void PrintTo(const Version& version, std::ostream* out) { *out << version.profile; }

// Every release in which a row of upstream_data.json begins or ends.
std::vector<Version> versions() {
  return {{"torch-2.8.0"},  {"torch-2.9.0"},  {"torch-2.9.0", true}, {"torch-2.9.1"},
          {"torch-2.10.0"}, {"torch-2.11.0"}, {"torch-2.12.0"},      {"torch-2.13.0"},
          {"vllm-0.10.2"},  {"vllm-0.11.0"},  {"vllm-0.16.0"},       {"vllm-0.18.0"}};
}

std::string name_of(const testing::TestParamInfo<Version>& tested) {
  std::string name = tested.param.profile + (tested.param.overridden ? "_overridden" : "");
  for (char& c : name) c = c == '.' || c == '-' ? '_' : c;
  return name;
}

optimized::Profile profile_of(const Version& version) {
  optimized::Profile profile = optimized::resolve_profile(version.profile).value();
  if (version.overridden) (void)optimized::apply_overrides(optimized::vllm_overrides(), profile);
  return profile;
}

class PlainCases : public testing::TestWithParam<Version> {};

// Those of the profile that the case names, with commas.
std::string named_by(const GoldenCase& golden, const optimized::Profile& profile) {
  std::string names;
  for (const std::string& name : golden.header.deviations) {
    const auto deviation = spec::find_deviation(name);
    if (!deviation || !profile.deviations.has(*deviation)) continue;
    names += (names.empty() ? "" : ",") + name;
  }
  return names;
}

TEST_P(PlainCases, HaveNoFindingUnderAProfile) {
  const optimized::Profile profile = profile_of(GetParam());
  for (const char* suite : {"op", "mutation", "partition", "aliasing"}) {
    const auto cases = must(golden_cases(fs::path(GRAPHGATE_GOLDEN_DIR) / "cases", suite));
    for (const GoldenCase& golden : cases) {
      Configuration changes = {{"profile", GetParam().profile}};
      if (GetParam().overridden) changes["overrides"] = "vllm";
      const std::string named = named_by(golden, profile);
      if (!named.empty()) changes["no-deviation"] = named;
      const auto report = judge_golden(golden, changes, conformance::JudgeSet::all());
      ASSERT_TRUE(report.ok()) << golden.name() << ": " << report.error().message;
      EXPECT_FALSE(run_failed(report.value()) || !judges_that_object(report.value()).empty())
          << golden.name() << "\n"
          << print_outcomes(report.value());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Profiles, PlainCases, testing::ValuesIn(versions()), name_of);

// PyTorch 165514: attention fills a buffer that a partition allocates behind its last kernel.
// vllm#26735: attention that a pass put into the graph is no split op. vLLM patches both in 2.9.0,
// for programs like these. vllm#24880: a slice that ends at -1 is taken for one to the end.
const std::map<std::string, std::vector<Deviation>>& known() {
  static const std::map<std::string, std::vector<Deviation>> kKnown = {
      {"quant_mixed", {Deviation::kSliceEndMinusOneIsFull}},
      {"vllm_like", {Deviation::kTailAllocationsByGraphOutputs}},
      {"vllm_like_bf16", {Deviation::kTailAllocationsByGraphOutputs}},
      {"vllm_like.core",
       {Deviation::kTailAllocationsByGraphOutputs, Deviation::kCapturesNodesWithoutOrigin}},
      {"vllm_like_bf16.core",
       {Deviation::kTailAllocationsByGraphOutputs, Deviation::kCapturesNodesWithoutOrigin}},
  };
  return kKnown;
}

// Takes out of the profile what the model is known to go wrong by. False if there is nothing.
bool remove_known(const std::string& path, optimized::Profile& profile) {
  const auto found = known().find(fs::path(path).stem().string());
  bool removed = false;
  if (found == known().end()) return removed;
  for (const Deviation deviation : found->second) {
    removed |= profile.deviations.has(deviation);
    profile.deviations.remove(deviation);
  }
  return removed;
}

// Split ops in captured partitions, a line each.
std::string captured_split_ops(const spec::Plan& plan) {
  std::string text;
  for (const spec::PlanBlock& block : plan.blocks) {
    for (const spec::PlanPartition& partition : block.partitions) {
      for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) {
        const spec::Node& node = plan.steps[s].node;
        if (!partition.captured || !node.op.starts_with("vllm.unified_attention")) continue;
        text += "captures '" + node.name + "', a split op\n";
      }
    }
  }
  return text;
}

// What is wrong with a model's recorded calls under the profile, a line each: a call that fails, a
// plan that breaks a rule, another bit than without a profile.
std::string faults_of(const Model& model, const optimized::Profile& profile) {
  optimized::Options options;
  if (const auto applied = optimized::apply_profile(profile, options); !applied.ok()) {
    return applied.error().message + "\n";
  }
  const auto subject = optimized::make_executor(options)->load(model.program);
  const auto right = optimized::make_executor()->load(model.program);
  if (!subject.ok()) return subject.error().message + "\n";
  if (!right.ok()) return right.error().message + "\n";
  std::string text;
  const spec::Plan* last = nullptr;
  for (const conformance::ExpectedCall& call : model.calls) {
    const auto expected = right.value()->call(call.inputs);
    const auto actual = subject.value()->call(call.inputs);
    if (!expected.ok()) return text + expected.error().message + "\n";
    if (!actual.ok()) return text + actual.error().message + "\n";
    const std::string difference = first_difference(actual.value(), expected.value());
    if (!difference.empty()) text += difference + " has other bits\n";
    verify::PlanCase plan_case{.plan = subject.value()->plan().get(),
                               .program = &model.program,
                               .ops = &spec::builtin_op_table()};
    if (plan_case.plan == nullptr || plan_case.plan == last) continue;
    last = plan_case.plan;
    text += captured_split_ops(*last);
    for (const spec::Finding& finding : verify::verify_plan(plan_case)) {
      text += "[" + finding.rule + "] " + finding.message + "\n";
    }
  }
  return text;
}

class PlainModels : public testing::TestWithParam<Version> {};

TEST_P(PlainModels, HaveNoFindingUnderAProfile) {
  for (const std::string& path : model_paths()) {
    const Model model = read_model(path);
    optimized::Profile profile = profile_of(GetParam());
    const std::string found = faults_of(model, profile);
    if (!remove_known(path, profile)) {
      EXPECT_EQ(found, "") << path;
      continue;
    }
    EXPECT_NE(found, "") << path << ": known() has no need of it";
    EXPECT_EQ(faults_of(model, profile), "") << path;
  }
}

INSTANTIATE_TEST_SUITE_P(Profiles, PlainModels, testing::ValuesIn(versions()), name_of);

}  // namespace
}  // namespace graphgate::tools
