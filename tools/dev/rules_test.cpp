// Rules are in the code, in docs/rules.md, in golden/plans/bad, and something breaks each of them.

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "base/file_io.h"
#include "base/result_test.h"
#include "conformance/mutations/plan_mutations.h"
#include "conformance/verify/verify.h"
#include "spec/deviation.h"

namespace graphgate {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = fs::path(GRAPHGATE_GOLDEN_DIR).parent_path();

std::string rule_of(const fs::path& file) {
  const std::string stem = file.stem().string();
  return stem.substr(0, stem.rfind('-'));
}

// By rule: the last column of its row.
std::map<std::string, std::string> documented() {
  std::map<std::string, std::string> out;
  std::istringstream page(must(read_whole(kRoot / "docs/rules.md")));
  const std::regex row(R"(^\| `([A-Z0-9]+\.[a-z-]+)` \|.*\| `([a-z0-9_-]+)` \|$)");
  std::smatch match;
  for (std::string line; std::getline(page, line);) {
    if (std::regex_match(line, match, row)) out[match[1]] = match[2];
  }
  return out;
}

TEST(Rules, HaveNamesOfTheirOwn) {
  std::set<std::string_view> seen;
  for (const verify::Rule& rule : verify::rules()) {
    EXPECT_TRUE(seen.insert(rule.id).second) << rule.id;
    EXPECT_FALSE(rule.invariant.empty());
    EXPECT_FALSE(rule.consequence.empty());
  }
}

TEST(Rules, AreDocumentedAndBrokenBySomething) {
  std::set<std::string> breakers;
  for (const auto& mutation : conformance::plan_mutations()) breakers.emplace(mutation.name);
  for (const auto& deviation : spec::deviations()) breakers.emplace(deviation.name);
  const auto rows = documented();
  EXPECT_EQ(rows.size(), verify::rules().size());
  const std::string page = must(read_whole(kRoot / "docs/rules.md"));
  for (const verify::Rule& rule : verify::rules()) {
    const auto row = rows.find(std::string(rule.id));
    ASSERT_NE(row, rows.end()) << rule.id << " has no row in docs/rules.md";
    EXPECT_TRUE(breakers.contains(row->second)) << rule.id << ": " << row->second;
    EXPECT_TRUE(contains(page, "    " + std::string(rule.id) + " "))
        << rule.id << " has no example";
  }
}

TEST(Rules, HaveTwoBadPlansEach) {
  std::map<std::string, int> files;
  for (const auto& entry : fs::directory_iterator(kRoot / "golden/plans/bad")) {
    const fs::path extension = entry.path().extension();
    if (extension == ".plan" || extension == ".uses" || extension == ".csv") {
      ++files[rule_of(entry.path())];
    }
  }
  std::set<std::string> ids;
  for (const verify::Rule& rule : verify::rules()) {
    ids.emplace(rule.id);
    EXPECT_GE(files[std::string(rule.id)], 2) << rule.id;
  }
  for (const auto& [rule, count] : files) EXPECT_TRUE(ids.contains(rule)) << rule;
}

// What rule files report is in the table, and what is in the table somebody reports.
TEST(Rules, AreThoseOfTheCode) {
  std::set<std::string> reported;
  const std::regex id("\"((V[0-9]+|HB)\\.[a-z-]+)\"");
  for (const auto& entry : fs::directory_iterator(kRoot / "conformance/verify")) {
    const std::string name = entry.path().filename().string();
    const bool is_rule_file =
        name.ends_with(".cpp") && name != "rules.cpp" && name.find("_test") == std::string::npos;
    if (!is_rule_file) continue;
    const std::string text = must(read_whole(entry.path()));
    for (std::sregex_iterator at(text.begin(), text.end(), id), end; at != end; ++at) {
      reported.insert((*at)[1]);
    }
  }
  std::set<std::string> listed;
  for (const verify::Rule& rule : verify::rules()) listed.emplace(rule.id);
  EXPECT_EQ(reported, listed);
}

TEST(PlanMutations, HaveNamesOfTheirOwnAndAreManyEnough) {
  std::set<std::string_view> names;
  for (const auto& mutation : conformance::plan_mutations()) {
    EXPECT_TRUE(names.insert(mutation.name).second) << mutation.name;
    EXPECT_EQ(mutation.well_formed, mutation.judge != "check_plan") << mutation.name;
  }
  EXPECT_GE(names.size(), 33U);
}

}  // namespace
}  // namespace graphgate
