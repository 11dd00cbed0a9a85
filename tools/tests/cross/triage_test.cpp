// Findings that come again, that come in their order, and that do not.
#include <unistd.h>

#include "base/folder_test.h"
#include "base/result_test.h"
#include "fuzz/campaign/campaign_cases.h"
#include "tools/executors/case_sources.h"

namespace graphgate::fuzz {
namespace {

// A result that a deviation puts over what is read for it, and a write that nobody needs.
spec::CaseFile small_case(bool is_wrong) {
  std::string text = "graphgate-case 1\nname \"small\"\nseed 1\n";
  if (is_wrong) text += "option \"deviation\" \"lifetimes_touch_wrongly\"\n";
  text +=
      "program \"p\" {\n  input %x : f32[2]\n  %n = aten.neg.default(%x)\n"
      "  %y = aten.flip.default(%n, [0])\n  %u = aten.add_.Tensor(%x, %x)\n  output "
      "%y\n}\nscenario {\n  call p\n  call p\n}\n"
      "expect PASS\n";
  auto parsed = spec::parse_case(text, "small");
  GRAPHGATE_CHECK(parsed.ok());
  return std::move(parsed).value();
}

class LookingAgain : public testing::Test {
 protected:
  static constexpr const char* kSignature = "verifier V3.overlap [] {}";

  static TriageResult look(std::function<spec::CaseFile(const Descent&)> draw, const Batch& batch,
                           const std::string& signature = kSignature) {
    CaseSetting setting;
    setting.generator = 1;
    setting.seed = 42;
    setting.judges.add(conformance::Judge::kVerifier);
    setting.settings.localize = false;
    setting.pool.timeout_seconds = 20;
    const tools::CaseSources sources(no_files());
    const CampaignCases cases(
        {std::move(draw), [](const Descent& descent) { return descent.index; }, std::identity()},
        setting, sources.get());
    return cases.look_again({signature, batch.end - 1, batch});
  }
};

TEST_F(LookingAgain, ReducesWhatComesAgain) {
  const TriageResult result = look([](const Descent&) { return small_case(true); }, {3, 8, {}});
  EXPECT_EQ(result.triage.status, TriageStatus::kConfirmed) << result.triage.remark;
  EXPECT_EQ(result.triage.nodes, 2U);
  EXPECT_EQ(result.triage.calls, 1U);
  EXPECT_EQ(result.folder, CorpusFolder::kRegression);
  const auto kept = must(spec::parse_case(result.case_text, "kept"));
  ASSERT_GE(kept.header.size(), 3U);
  EXPECT_EQ(kept.header[0], "Found by graphgate fuzz in case g1:42:7.");
  EXPECT_EQ(kept.header[1],
            "Signature: verifier V3.overlap [] {deviation=lifetimes_touch_wrongly}");
  EXPECT_EQ(kept.header[2], "The nearest case that passes:");
}

TEST_F(LookingAgain, NamesWhatACaseDescendsFrom) {
  const auto draw = [](const Descent& descent) {
    return small_case(descent.ancestors == std::vector<std::uint64_t>{2, 5});
  };
  const TriageResult result = look(draw, {6, 8, {{}, {2, 5}}});
  EXPECT_EQ(result.triage.status, TriageStatus::kConfirmed) << result.triage.remark;
  const auto kept = must(spec::parse_case(result.case_text, "kept"));
  EXPECT_EQ(kept.header[0], "Found by graphgate fuzz in case f1:42:2-5-7.");
}

TEST_F(LookingAgain, TellsWhatHangsOnTheOrder) {
  static int drawn = 0;  // in each worker from the beginning
  const TriageResult result =
      look([](const Descent&) { return small_case(++drawn > 3); }, {3, 8, {}});
  EXPECT_EQ(result.triage.status, TriageStatus::kOrderDependent);
  EXPECT_EQ(result.triage.remark, "comes only behind cases before it, at most 4");
  EXPECT_EQ(result.folder, CorpusFolder::kQuarantine);
}

TEST_F(LookingAgain, TellsWhatDoesNotComeAgain) {
  const TriageResult never = look([](const Descent&) { return small_case(false); }, {3, 8, {}});
  EXPECT_EQ(never.triage.status, TriageStatus::kFlaky);
  EXPECT_EQ(never.triage.remark, "did not come again, alone or behind the cases before it");
  // Every other worker sees it: a file is what they share.
  const TemporaryFolder folder = made_folder();
  const std::string path = folder.path() + "x";
  const TriageResult sometimes = look(
      [path](const Descent&) {
        const bool is_there = ::unlink(path.c_str()) == 0;
        if (!is_there) std::fclose(std::fopen(path.c_str(), "w"));
        return small_case(!is_there);
      },
      {7, 8, {}});
  (void)::unlink(path.c_str());
  EXPECT_EQ(sometimes.triage.status, TriageStatus::kFlaky);
  EXPECT_EQ(sometimes.triage.remark, "comes in 2 of 3 runs alone");
}

TEST_F(LookingAgain, KeepsNoCaseThatCannotBeDrawn) {
  const TriageResult result = look([](const Descent&) -> spec::CaseFile { std::abort(); },
                                   {7, 8, {}}, "crash SIGABRT [] {}");
  EXPECT_EQ(result.triage.status, TriageStatus::kConfirmed);
  EXPECT_EQ(result.triage.remark, "the case cannot be drawn");
  EXPECT_EQ(result.case_text, "");
}

}  // namespace
}  // namespace graphgate::fuzz
