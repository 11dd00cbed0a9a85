// Tables of packers, as `graphgate plan --verify` judges them.
#include "tools/cli/plan_verify.h"

#include <filesystem>

#include "base/file_io.h"
#include "base/result_test.h"
#include "conformance/verify/packing.h"
#include "interop/minimalloc.h"

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;

std::vector<spec::Finding> findings_of(const std::string& table) {
  const auto buffers = must(interop::parse_placed_minimalloc(table, "t.csv"));
  std::vector<verify::PackedBuffer> packed;
  for (const auto& [buffer, offset] : buffers) {
    packed.push_back({buffer.id, buffer.lower, buffer.upper, buffer.size_bytes, offset});
  }
  return verify::verify_packing(packed, 16);
}

TEST(PackedTables, MayUseBytesAgainBehindTheirLastTime) {
  EXPECT_TRUE(findings_of("id,lower,upper,size,offset\na,0,2,8,0\nb,2,3,8,0\nc,0,3,8,8\n").empty());
}

TEST(PackedTables, BreakTheRuleThatTheyAreNamedAfter) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(GRAPHGATE_GOLDEN_DIR "/plans/bad")) {
    if (entry.path().extension() != ".csv") continue;
    ++files;
    const std::string table = must(read_whole(entry.path()));
    const std::string stem = entry.path().stem().string();
    const auto findings = findings_of(table);
    EXPECT_FALSE(findings.empty()) << stem;
    for (const auto& finding : findings) {
      EXPECT_EQ(finding.rule, stem.substr(0, stem.rfind('-'))) << finding.message;
    }
    PlanVerifyOptions options;
    options.file = entry.path().string();
    options.capacity_bytes = 16;
    const auto code = must(run_plan_verify(options, spec::builtin_op_table()));
    EXPECT_EQ(code, ExitCode::kFindings);
  }
  EXPECT_GE(files, 4);
}

TEST(PackedTables, NameTheLineThatIsNoTable) {
  EXPECT_EQ(
      failure_of(interop::parse_placed_minimalloc("id,lower,upper,size\na,0,1,1\n", "t")).message,
      "t:1: expected a column 'offset'");
  EXPECT_EQ(
      failure_of(interop::parse_placed_minimalloc("id,lower,upper,size,offset\na,0,1,1,x\n", "t"))
          .message,
      "t:2: expected a 64-bit integer as offset, found 'x'");
}

TEST(PlanVerify, RefusesWhatIsNoPlanAndFindsNothingInARightOne) {
  const std::string bad = std::string(GRAPHGATE_GOLDEN_DIR) + "/plans/bad/HB.race-1.plan";
  const auto& ops = spec::builtin_op_table();
  const auto found = must(run_plan_verify({bad, "", {}}, ops));
  EXPECT_EQ(found, ExitCode::kFindings);
  EXPECT_EQ(
      failure_of(run_plan_verify({GRAPHGATE_GOLDEN_DIR "/models/PROVENANCE.md", "", {}}, ops)).kind,
      ErrorKind::kBadInput);
  EXPECT_FALSE(run_plan_verify({bad, "", 16}, ops).ok()) << "a capacity goes with a table";
}

TEST(PlanVerify, TakesWhatXlaDumpedByItsContentOrByName) {
  const std::string dump =
      std::string(GRAPHGATE_GOLDEN_DIR) + "/xla/scan_rnn-buffer-assignment.txt";
  const auto& ops = spec::builtin_op_table();
  EXPECT_EQ(must(run_plan_verify({dump, "", {}}, ops)), ExitCode::kGood);
  EXPECT_EQ(must(run_plan_verify({dump, "", {}, PlanForm::kXla}, ops)), ExitCode::kGood);
  EXPECT_FALSE(run_plan_verify({dump, "", 16}, ops).ok()) << "a capacity goes with a table";
  const std::string module = std::string(GRAPHGATE_GOLDEN_DIR) + "/xla/scan_rnn.txt";
  EXPECT_EQ(failure_of(run_plan_verify({module, "", {}, PlanForm::kXla}, ops)).message,
            module + ": expected a path that ends in -buffer-assignment.txt");
}

}  // namespace
}  // namespace graphgate::tools
