// Plans of golden models, each changed in one place: check_plan or the verifier must say so.
#include "conformance/harness/plan_mutations.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "conformance/harness/verified_plans.h"
#include "conformance/verify/happens_before.h"
#include "conformance/verify/packing.h"
#include "conformance/verify/verify.h"
#include "optimized/optimized.h"
#include "reference/reference.h"
#include "spec/deviation.h"
#include "spec/graph_text.h"
#include "spec/plan_diff.h"
#include "tools/check_input.h"
#include "tools/executor_sources.h"
#include "tools/golden_models_test.h"

namespace graphgate {
namespace {

using conformance::PlanMutation;

// A plan with the program that it is for.
struct Sample {
  std::string name;
  std::shared_ptr<const spec::Program> program;
  spec::Plan plan;
  std::vector<spec::ProvenanceRow> facts;  // of a run of the reference; empty for padded plans
};

std::vector<spec::Finding> findings_of(const Sample& sample, const spec::Plan& plan) {
  return verify::verify_plan({&plan, sample.program.get(), &spec::builtin_op_table(),
                              sample.facts.empty() ? nullptr : &sample.facts});
}

reference::Options options_of_oracle() {
  reference::Options options;
  options.mode = reference::Mode::kProvenance;
  return options;
}

void add_sample(const std::string& name, const std::shared_ptr<const spec::Program>& program,
                const std::vector<spec::InputValue>& inputs, const optimized::Options& options,
                std::vector<Sample>& out) {
  const auto executor = optimized::make_executor(options);
  const auto loaded = executor->load(*program);
  ASSERT_TRUE(loaded.ok()) << name << ": " << loaded.error().message;
  const auto called = loaded.value()->call(inputs);
  ASSERT_TRUE(called.ok()) << name << ": " << called.error().message;
  const auto oracle = reference::make_executor(options_of_oracle());
  const auto reference = oracle->load(*program);
  ASSERT_TRUE(reference.ok()) << name << ": " << reference.error().message;
  auto run = reference.value()->call(inputs);
  ASSERT_TRUE(run.ok()) << name << ": " << run.error().message;
  Sample sample{name, program, *loaded.value()->plan(), std::move(run.value().provenance)};
  if (sample.plan.padding) sample.facts.clear();
  out.push_back(std::move(sample));
}

optimized::Options on_streams(std::uint32_t count) {
  optimized::Options options;
  options.compile.streams.count = count;
  options.compile.compiler.name = "eager";
  return options;
}

optimized::Options weak_and_padded() {
  optimized::Options options;
  options.runtime.weak_outputs = true;
  options.runtime.capture_sizes = {8, 64};
  return options;
}

// What no model has: an input that changes its geometry, a number to specialize to, two inputs and
// outputs of one type.
constexpr const char* kExtra = R"(program "extra" {
  input %x : f32[1, 8, 8]
  input %y : f32[8, 8]
  input %z : f32[8, 8]
  input %n : symint
  %s = aten.squeeze_.dim(%x, 0)
  %a : f32[8, 8] = aten.mul.Tensor(%y, %n)
  %b : f32[8, 8] = aten.sub.Tensor(%a, %z)
  %c : f32[8, 8] = aten.mm.default(%b, %y)
  output %a
  output %c
  output %s
})";

// Rows that lie apart: a view that moves by an element meets bytes that nothing writes. The
// reference has no such op: there are no facts of a run.
constexpr const char* kGaps = R"(program "gaps" {
  input %x : f32[4, 4]
  %e : f32[4, 4]{5, 1} = aten.new_empty_strided.default(%x, [4, 4], [5, 1])
  %c : f32[4, 4]{5, 1} = aten.copy_.default(%e, %x)
  %s : f32[3, 4]{5, 1} = aten.slice.Tensor(%c, 0, 0, 3)
  %v : f32[3, 1]{5, 1} = aten.slice.Tensor(%s, 1, 3, 4)
  %y : f32[3, 1] = aten.cumsum.default(%v, 0)
  output %y
})";

void add_gaps(std::vector<Sample>& out) {
  auto program = spec::parse_program(kGaps, spec::builtin_op_table());
  ASSERT_TRUE(program.ok()) << program.error().message;
  const auto loaded = optimized::make_executor({})->load(program.value());
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const std::vector<spec::InputValue> inputs = {
      spec::make_host_tensor(spec::DType::kFloat32, {4, 4})};
  ASSERT_TRUE(loaded.value()->call(inputs).ok());
  out.push_back({"gaps",
                 std::make_shared<const spec::Program>(std::move(program).value()),
                 *loaded.value()->plan(),
                 {}});
}

const std::vector<Sample>& samples() {
  static const std::vector<Sample> kSamples = [] {
    std::vector<Sample> out;
    for (const char* model : {"mutations", "cond_nonzero", "mixed_device", "vllm_like",
                              "decode_static_cache", "llama_sdpa"}) {
      const Model read = read_model(std::string(GRAPHGATE_GOLDEN_DIR "/models/") + model + ".pt2");
      const auto program = std::make_shared<const spec::Program>(read.program);
      const auto& inputs = read.calls.at(0).inputs;
      add_sample(model, program, inputs, {}, out);
      add_sample(std::string(model) + ", streams", program, inputs, on_streams(4), out);
      add_sample(std::string(model) + ", padded", program, inputs, weak_and_padded(), out);
    }
    auto extra = spec::parse_program(kExtra, spec::builtin_op_table());
    EXPECT_TRUE(extra.ok()) << extra.error().message;
    if (!extra.ok()) return out;
    const std::vector<spec::InputValue> inputs = {
        spec::make_host_tensor(spec::DType::kFloat32, {1, 8, 8}),
        spec::make_host_tensor(spec::DType::kFloat32, {8, 8}),
        spec::make_host_tensor(spec::DType::kFloat32, {8, 8}), std::int64_t{3}};
    add_gaps(out);
    add_sample("extra", std::make_shared<const spec::Program>(std::move(extra).value()), inputs, {},
               out);
    return out;
  }();
  return kSamples;
}

TEST(PlanMutations, LeaveRightPlansWithoutAFinding) {
  for (const Sample& sample : samples()) {
    for (const auto& finding : findings_of(sample, sample.plan)) {
      ADD_FAILURE() << sample.name << ": " << finding.rule << " " << finding.message;
    }
  }
}

// What a mutation is caught by: its judge, or another one that needs no run.
bool is_caught(const Sample& sample, const spec::Plan& changed) {
  return !findings_of(sample, changed).empty();
}

class EveryMutation : public testing::TestWithParam<PlanMutation> {};

TEST_P(EveryMutation, AppliesAndIsCaught) {
  const PlanMutation& mutation = GetParam();
  constexpr std::uint64_t kSeeds[] = {0, 1, 7, 1'000'003};
  int applied = 0;
  for (const Sample& sample : samples()) {
    for (const std::uint64_t seed : kSeeds) {
      spec::Plan changed = sample.plan;
      if (!conformance::apply_mutation(mutation, changed, seed)) {
        EXPECT_EQ(changed, sample.plan);
        break;
      }
      ++applied;
      EXPECT_NE(changed, sample.plan);
      EXPECT_EQ(spec::check_plan(changed).ok(), mutation.well_formed);
      const bool is_static = mutation.judge == "verifier" || mutation.judge == "happens-before";
      if (!mutation.well_formed || !is_static) continue;
      if (is_caught(sample, changed)) continue;
      std::string changes;
      for (const auto& line : spec::diff_plans(sample.plan, changed)) changes += "\n  " + line;
      ADD_FAILURE() << sample.name << ", seed " << seed << ":" << changes;
    }
  }
  EXPECT_GT(applied, 0);
}

INSTANTIATE_TEST_SUITE_P(All, EveryMutation,
                         testing::ValuesIn(conformance::plan_mutations().begin(),
                                           conformance::plan_mutations().end()),
                         [](const auto& mutation) {
                           std::string name(mutation.param.name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// --- docs/rules.md ------------------------------------------------------------------------------

// A rule, and what its row says that breaks it.
struct Broken {
  std::string rule;
  std::string by;
};
void PrintTo(const Broken& row, std::ostream* out) { *out << row.rule << " by " << row.by; }

std::vector<Broken> rows_of_page() {
  const std::string path = GRAPHGATE_GOLDEN_DIR "/../docs/rules.md";
  std::istringstream page(tools::read_text(path).value());
  const std::regex row(R"(^\| `([A-Z0-9]+\.[a-z-]+)` \|.*\| `([a-z0-9_-]+)` \|$)");
  std::vector<Broken> out;
  std::smatch match;
  for (std::string line; std::getline(page, line);) {
    if (std::regex_match(line, match, row)) out.push_back({match[1], match[2]});
  }
  return out;
}

struct GoldenScript {
  std::string name;
  conformance::Script script;
};

// Cases that a right executor passes.
const std::vector<GoldenScript>& golden_scripts() {
  static const std::vector<GoldenScript> kScripts = [] {
    std::vector<GoldenScript> out;
    const std::filesystem::path root = GRAPHGATE_GOLDEN_DIR "/cases";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.path().extension() != ".case") continue;
      const std::string path = entry.path().string();
      auto script = tools::read_case(tools::read_text(path).value(), path);
      EXPECT_TRUE(script.ok()) << script.error().message;
      if (!script.ok() || script.value().expectation.outcome != spec::Outcome::kPass) continue;
      out.push_back({entry.path().stem().string(), std::move(script).value()});
    }
    std::sort(out.begin(), out.end(),
              [](const GoldenScript& a, const GoldenScript& b) { return a.name < b.name; });
    return out;
  }();
  return kScripts;
}

bool has_rule(const std::vector<spec::Finding>& findings, const std::string& rule) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const spec::Finding& finding) { return finding.rule == rule; });
}

// The rules of plans alone, in a run with one option more.
bool breaks_in_a_run(const GoldenScript& golden, const conformance::Configuration& changes,
                     const std::string& rule) {
  const auto subject = tools::optimized_source();
  const auto oracle = tools::reference_source(golden.script.options.contains("allow-zero-and-one"));
  conformance::Script script = golden.script;
  script.options = conformance::merged(script.options, changes);
  conformance::Runs runs(script, *subject, *oracle);
  const auto verified = conformance::verify_plans(runs);
  return verified.ok() && has_rule(verified.value().findings, rule);
}

// A pool's buffers as a table, and where the pool ends.
bool breaks_as_a_table(const spec::Plan& plan, const std::string& rule) {
  for (std::size_t p = 0; p < plan.pools.size(); ++p) {
    std::vector<verify::PackedBuffer> table;
    for (const spec::PlanBuffer& buffer : plan.buffers) {
      if (buffer.pool.index != p) continue;
      table.push_back({buffer.name, 0, 1, buffer.size_bytes, buffer.offset_bytes});
    }
    if (has_rule(verify::verify_packing(table, plan.pools[p].size_bytes), rule)) return true;
  }
  return false;
}

bool breaks_in_a_sample(const PlanMutation& mutation, const std::string& rule) {
  for (const Sample& sample : samples()) {
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
      spec::Plan changed = sample.plan;
      if (!conformance::apply_mutation(mutation, changed, seed)) break;
      const bool is_broken = mutation.well_formed ? has_rule(findings_of(sample, changed), rule)
                                                  : breaks_as_a_table(changed, rule);
      if (is_broken) return true;
    }
  }
  return false;
}

// The options that plant it, a mutation at its first few places.
std::vector<conformance::Configuration> planted(const std::string& by) {
  if (spec::find_deviation(by)) return {{{"deviation", by}}};
  std::vector<conformance::Configuration> out;
  for (int seed = 0; seed < 4; ++seed) {
    out.push_back({{"plan-mutation", by + ":" + std::to_string(seed)}});
  }
  return out;
}

class RulesPage : public testing::TestWithParam<Broken> {};

TEST_P(RulesPage, NamesWhatBreaksTheRule) {
  const auto& [rule, by] = GetParam();
  for (const PlanMutation& mutation : conformance::plan_mutations()) {
    if (mutation.name == by && breaks_in_a_sample(mutation, rule)) return;
  }
  for (const conformance::Configuration& changes : planted(by)) {
    for (const GoldenScript& golden : golden_scripts()) {
      if (breaks_in_a_run(golden, changes, rule)) return;
    }
  }
  ADD_FAILURE() << by << " gives no finding " << rule;
}

INSTANTIATE_TEST_SUITE_P(All, RulesPage, testing::ValuesIn(rows_of_page()), [](const auto& row) {
  std::string name = row.param.rule;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '.' || c == '-'; }, '_');
  return name;
});

// --- Events -------------------------------------------------------------------------------------

// A wait of a plan on several streams.
struct Wait {
  std::size_t sample = 0;
  std::size_t step = 0;
  std::size_t index = 0;
};

std::vector<Wait> waits() {
  std::vector<Wait> out;
  for (std::size_t s = 0; s < samples().size(); ++s) {
    const auto& steps = samples()[s].plan.steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (std::size_t w = 0; w < steps[i].waits.size(); ++w) out.push_back({s, i, w});
    }
  }
  return out;
}

// The steps that must be over before each step of its partition begins, edge by edge.
std::vector<std::set<std::size_t>> closure_of(const spec::Plan& plan,
                                              const spec::PlanPartition& partition) {
  std::vector<std::set<std::size_t>> before(plan.steps.size());
  const auto follow = [&](std::size_t step, std::size_t earlier) {
    before[step].insert(earlier);
    before[step].insert(before[earlier].begin(), before[earlier].end());
  };
  for (std::size_t i = partition.begin_step; i < partition.end_step; ++i) {
    std::map<std::uint32_t, std::size_t> recorder;  // of each event, as of step i
    for (std::size_t k = partition.begin_step; k < i; ++k) {
      if (plan.steps[k].stream == plan.steps[i].stream) follow(i, k);
      for (const spec::EventId event : plan.steps[k].records) recorder[event.index] = k;
    }
    for (const spec::EventId event : plan.steps[i].waits) {
      if (recorder.contains(event.index)) follow(i, recorder[event.index]);
    }
  }
  return before;
}

// Whether two steps of a captured partition that nothing orders touch one byte, one of them to
// write.
bool has_race(const spec::Plan& plan) {
  const verify::Accesses accesses = verify::accesses_of(plan, spec::builtin_op_table());
  std::map<std::uint32_t, std::vector<const verify::Access*>> by_step;
  for (const verify::Access& access : accesses.all) by_step[access.step].push_back(&access);
  for (const spec::PlanBlock& block : plan.blocks) {
    for (const spec::PlanPartition& partition : block.partitions) {
      if (!partition.captured) continue;
      const auto before = closure_of(plan, partition);
      for (std::uint32_t b = partition.begin_step; b < partition.end_step; ++b) {
        for (std::uint32_t a = partition.begin_step; a < b; ++a) {
          if (before[b].contains(a)) continue;
          for (const auto* x : by_step[a]) {
            for (const auto* y : by_step[b]) {
              if ((x->writes || y->writes) && accesses.shared_bytes(*x, *y)) return true;
            }
          }
        }
      }
    }
  }
  return false;
}

// Every plan without one of its waits is caught, exactly if the order does not follow from others.
RC_GTEST_PROP(EventWaits, AreMissedWhenTheyAreGone, ()) {
  static const std::vector<Wait> kWaits = waits();
  RC_ASSERT(kWaits.size() > 20U);
  const Wait wait = *rc::gen::elementOf(kWaits);
  const Sample& sample = samples()[wait.sample];
  spec::Plan plan = sample.plan;
  auto& list = plan.steps[wait.step].waits;
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(wait.index));
  const auto findings = findings_of(sample, plan);
  const bool is_found = std::any_of(findings.begin(), findings.end(), [](const auto& finding) {
    return finding.rule.starts_with("HB.");
  });
  RC_ASSERT(is_found == has_race(plan));
  RC_TAG(is_found ? "race" : "implied by others");
}

}  // namespace
}  // namespace graphgate
