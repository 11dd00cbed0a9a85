// The last column of docs/rules.md: what stands there breaks the rule of its row, in a plan of a
// golden model or in a golden case.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>

#include "conformance/judges/verified_plans.h"
#include "conformance/mutations/plan_mutations.h"
#include "conformance/run/runs.h"
#include "conformance/verify/packing.h"
#include "spec/deviation.h"
#include "tools/executors/executor_sources.h"
#include "tools/store/check_input.h"
#include "tools/tests/cross/plan_samples_test.h"

namespace graphgate {
namespace {

using conformance::PlanMutation;

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

bool has_own_ops(const GoldenScript& golden) {
  return golden.script.ops->rows().size() > spec::builtin_op_table().rows().size();
}

// Cases that a right executor passes, those with ops of their own first: no sample has such.
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
    std::sort(out.begin(), out.end(), [](const GoldenScript& a, const GoldenScript& b) {
      return std::pair(!has_own_ops(a), a.name) < std::pair(!has_own_ops(b), b.name);
    });
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
      const bool is_broken = mutation.well_formed
                                 ? has_rule(findings_of_sample(sample, changed), rule)
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

}  // namespace
}  // namespace graphgate
