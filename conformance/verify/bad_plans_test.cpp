// Every plan of golden/plans/bad breaks exactly the rule that its name begins with.
//
// Beside NAME.plan there may be NAME.txt, the program that it is for, and NAME.ops, rows of custom
// ops. NAME.plan without a program is judged alone.

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/file_io.h"
#include "base/result_test.h"
#include "conformance/verify/verify.h"
#include "spec/graph_text.h"
#include "spec/plan_text.h"

namespace graphgate::verify {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> bad_plans() {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(GRAPHGATE_GOLDEN_DIR "/plans/bad")) {
    if (entry.path().extension() == ".plan") out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

// "V3.overlap-2.plan" -> "V3.overlap".
std::string rule_of(const fs::path& path) {
  const std::string stem = path.stem().string();
  return stem.substr(0, stem.rfind('-'));
}

class BadPlan : public testing::TestWithParam<fs::path> {};

TEST_P(BadPlan, BreaksTheRuleThatItsNameSaysAndNoOther) {
  spec::OpTable ops = spec::builtin_op_table();
  fs::path beside = GetParam();
  if (fs::exists(beside.replace_extension(".ops"))) {
    ASSERT_TRUE(ops.add_text(must(read_whole(beside)), beside.string()).ok());
  }
  const auto plan = must(spec::parse_plan(must(read_whole(GetParam())), ops, GetParam().string()));
  must(spec::check_plan(plan));
  std::optional<spec::Program> program;
  if (fs::exists(beside.replace_extension(".txt"))) {
    program = must(spec::parse_program(must(read_whole(beside)), ops, beside.string()));
  }
  PlanCase plan_case{.plan = &plan, .program = program ? &*program : nullptr, .ops = &ops};
  const std::vector<spec::Finding> findings = verify_plan(plan_case);
  EXPECT_FALSE(findings.empty());
  for (const spec::Finding& finding : findings) {
    EXPECT_EQ(finding.rule, rule_of(GetParam())) << finding.message;
    EXPECT_FALSE(finding.message.empty());
    EXPECT_EQ(finding.message.find('\n'), std::string::npos);
    // V6 and on may be about the plan as a whole.
    if (finding.rule < "V6" && finding.rule[0] == 'V' && finding.rule[1] != '1') {
      EXPECT_FALSE(finding.buffers.empty() && finding.nodes.empty()) << finding.message;
    }
    if (finding.rule == "V3.overlap" || finding.rule == "V3.in-place") {
      EXPECT_NE(finding.drawing.find('X'), std::string::npos) << finding.drawing;
    }
  }
}

// A lesser alignment is suspect, unless the plan gives the same op a better one elsewhere.
TEST(BadPlans, AreSuspectWhereThePlanDoesNotSayWhatIsRight) {
  for (const int number : {1, 2, 3}) {
    const std::string path =
        GRAPHGATE_GOLDEN_DIR "/plans/bad/V6.alignment-" + std::to_string(number) + ".plan";
    const auto plan =
        must(spec::parse_plan(must(read_whole(path)), spec::builtin_op_table(), path));
    PlanCase plan_case{.plan = &plan, .ops = &spec::builtin_op_table()};
    const std::vector<spec::Finding> findings = verify_plan(plan_case);
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].outcome, number == 3 ? spec::Outcome::kFail : spec::Outcome::kSuspect);
  }
}

std::string name_of(const testing::TestParamInfo<fs::path>& tested) {
  std::string name = tested.param.stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '.' || c == '-'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Golden, BadPlan, testing::ValuesIn(bad_plans()), name_of);

// Three numbers on the host, and a part on the GPU that is captured: it touches none of them, or
// one.
std::vector<spec::Finding> findings_of_part(const std::string& node) {
  const std::string text = R"(plan "mostly_host" strict {
  pool @input input on cuda 64 align 64
  pool @host input on cpu 192 align 64
  pool @arena arena on cuda 64 align 64
  buffer $x @input [0, 64)
  buffer $a @host [0, 4)
  buffer $b @host [64, 68)
  buffer $c @host [128, 132)
  buffer $y @arena [0, 64)
  input user "x" %x : f32[4, 4] on cuda $x
  input user "a" %a : f32[] $a
  input user "b" %b : f32[] $b
  input user "c" %c : f32[] $c
  block @main {
    partition 0 captured {
      in )" + std::string(node.find("%a") == std::string::npos ? "$x" : "$x, $a") +
                           R"(
      out )" + std::string(node.find("%a") == std::string::npos ? "$x, $y" : "$x, $a, $y") +
                           "\n      %y : f32[4, 4] on cuda $y = " + node +
                           "\n    }\n  }\n  output %y\n}\n";
  const auto plan = must(spec::parse_plan(text, spec::builtin_op_table(), "p"));
  PlanCase plan_case{.plan = &plan, .ops = &spec::builtin_op_table()};
  return verify_plan(plan_case);
}

// Captures are of the GPU, however many tensors lie elsewhere.
TEST(HostReads, AreOnesOfTheHostWhereMostTensorsLieThere) {
  for (const spec::Finding& finding : findings_of_part("aten.relu.default(%x)")) {
    ADD_FAILURE() << finding.rule << " " << finding.message;
  }
  const auto findings = findings_of_part("aten.mul.Tensor(%x, %a)");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].rule, "V7.host-read");
  EXPECT_NE(findings[0].message.find("uses %a on cpu, and not on cuda"), std::string::npos)
      << findings[0].message;
}

TEST(BadPlans, SayInTheirFirstLineWhichRuleTheyBreak) {
  for (const fs::path& path : bad_plans()) {
    EXPECT_EQ(must(read_whole(path)).rfind("# " + rule_of(path) + ":", 0), 0U) << path;
  }
}

// Of one plan alone; the others are about several calls, and are tested with scenarios.
TEST(BadPlans, AreTwoForEveryRuleOfAPlan) {
  std::map<std::string, int> counts;
  for (const fs::path& path : bad_plans()) ++counts[rule_of(path)];
  for (const Rule& rule : rules()) {
    if (rule.id.substr(0, 2) > "V5" || rule.id.substr(0, 1) != "V") continue;
    if (rule.id.substr(0, 3) == "V10" || rule.id == "V3.capacity") continue;  // packings alone
    EXPECT_GE(counts[std::string(rule.id)], 2) << rule.id;
  }
  for (const auto& [id, count] : counts) {
    EXPECT_TRUE(std::any_of(rules().begin(), rules().end(), [&, name = id](const Rule& rule) {
      return rule.id == name;
    })) << id;
  }
}

}  // namespace
}  // namespace graphgate::verify
