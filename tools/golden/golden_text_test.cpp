#include "tools/golden/golden_text.h"

#include "base/result_test.h"
#include "tools/golden/golden_values.h"

namespace graphgate::tools {
namespace {

// Everything that the text can say.
GoldenRecord full_record() {
  GoldenRecord record;
  record.provenance = {"cases/a b.case", "strict",       "sha256:0123456789abcdef",
                       "graphgate 1.0",  "graphgate ..", "because of \"this\"\nand that"};
  GoldenCall& call = record.calls.emplace_back();
  call.program = "main";
  call.plan = 0;
  call.values.push_back(
      {"input 1", "f32[2]{2}@1 on cuda:0", "sha256:0123456789abcdef", "", 0, {"0x1p+0", "-inf"}});
  call.values.push_back({"state \"a; b: \\\"c\"",
                         "i64[100]",
                         "sha256:0123456789abcdef",
                         "input 1",
                         100,
                         {"1", "-2"}});
  call.values.push_back({"output 0", "int", "", "", 0, {"7"}});
  call.values.push_back({"output 1", "none", "", "", 0, {}});
  call.values.push_back({"output 2", "f32[0]", "sha256:e3b0c44298fc1c14", "", 0, {}});
  record.calls.push_back({"other", std::nullopt, {}});
  record.end = "step 3: it is over";
  const std::string text = "plan \"main\" strict {\n  block @main {\n  }\n}\n";
  record.plans.push_back({digest_of(text), {{"peak", 512}, {"steps", 2}}, text});
  record.plans.push_back({"sha256:ffffffffffffffff", {{"peak", 0}}, ""});
  record.kernels = {"k_1 2", "k_2 1"};
  record.effects = {"aten.add_.Tensor: in_place; reads self; writes self; 0=self"};
  record.findings = {"V3.overlap FAIL $a and $b share bytes"};
  return record;
}

TEST(GoldenText, ReadsBackAndPrintsTheSame) {
  const std::string text = print_golden(full_record());
  const auto parsed = parse_golden(text, "a.golden");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message << "\n" << text;
  EXPECT_EQ(print_golden(parsed.value()), text);
  EXPECT_EQ(parsed.value().calls, full_record().calls);
  EXPECT_EQ(parsed.value().plans, full_record().plans);
  EXPECT_EQ(parsed.value().provenance.reason, full_record().provenance.reason);
  EXPECT_EQ(parsed.value().findings, full_record().findings);
}

// The error for the full text with `from` replaced by `to`.
std::string error_after(const std::string& from, const std::string& to) {
  std::string text = print_golden(full_record());
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  return message_of(parse_golden(text, "a.golden"));
}

TEST(GoldenText, RefusesWhatIsNoRecordInOneLine) {
  const std::pair<const char*, const char*> edits[] = {
      {"graphgate-golden 1", "graphgate-golden 2"},
      {"graphgate-golden 1", "<<<<<<< HEAD"},
      {"program \"", "program "},
      {"arithmetic strict", "arithmetic strict fast"},
      {"sources sha256", "source sha256"},
      {"reason", "why"},
      {"call 1 of", "call 2 of"},
      {"follows plan 0", "follows plan x"},
      {"follows plan 0", "follows plan 0 and 1"},
      {"  output 0: int", "  outptu 0: int"},
      {"output 0: int; all: 7", "output 0: int; all 7"},
      {"some of 100", "some of 0"},
      {"f32[0]; sha256:e3b0c44298fc1c14", "f32[0]; sha256:e3b0"},
      {"shares input 1", "shares input"},
      {"end \"", "end "},
      {"plan 0: sha256", "plan 1: sha256"},
      {"peak 512", "peak many"},
      {"  }\n", "  } \n"},  // inside the plan: no longer what the digest says
      {"kernels", "kernel"},
      {"effects", "\neffects"},
      {"findings\n", "findings\nmore\n"}};
  for (const auto& [from, to] : edits) {
    const std::string error = error_after(from, to);
    EXPECT_TRUE(error.starts_with("a.golden:")) << from << " -> " << to << ": " << error;
    EXPECT_TRUE(contains(error, ": expected "));
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
  EXPECT_EQ(error_after("follows plan 0", "follows plan 9").find("a.golden:"), 0U);
  EXPECT_EQ(error_after("graphgate-golden 1", "graphgate-golden 2"),
            "a.golden:1: expected 'graphgate-golden 1', found 'graphgate-golden 2'");
}

TEST(GoldenText, RefusesEveryTextThatEndsEarlyInALine) {
  const std::string text = print_golden(full_record());
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    const auto parsed = parse_golden(text.substr(0, size), "a.golden");
    EXPECT_TRUE(!parsed.ok() || print_golden(parsed.value()) != text) << size;
  }
  EXPECT_EQ(parse_golden("", "a.golden").error().message,
            "a.golden:1: expected 'graphgate-golden 1', found the end");
}

}  // namespace
}  // namespace graphgate::tools
