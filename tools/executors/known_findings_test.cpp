#include "tools/executors/known_findings.h"

#include <fstream>

#include "base/folder_test.h"
#include "base/result_test.h"

namespace graphgate::tools {
namespace {

constexpr const char* kAdapter = GRAPHGATE_SOURCE_DIR "/tools/adapters/torch/findings/ledger.json";
constexpr const char* kFault = "bounds B1.outside-bound [pointwise] {}";

std::string case_text(const std::string& nodes) {
  return "graphgate-case 1\nprogram \"p\" {\n  input %x : f32[4]\n  input %y : f32[4]\n" + nodes +
         "  output %r\n}\nscenario {\n  call p\n}\nexpect PASS\n";
}

spec::CaseFile parsed(const std::string& nodes) {
  return must(spec::parse_case(case_text(nodes), "c"));
}

const std::string kAlpha = "  %r : f32[4] = aten.add.Tensor(%x, %y, alpha=2)\n";
const std::string kPlain = "  %r : f32[4] = aten.add.Tensor(%x, %y)\n";
const std::string kDoubled = "  %n : f32[4] = aten.neg.default(%x)\n" + kAlpha;

// A ledger of one finding, by its results.
class Ledgers : public testing::Test {
 protected:
  Ledgers() { std::ofstream(folder_.path() + "/a.case") << case_text(kAlpha); }

  Result<fuzz::KnownFindings> read(const std::string& results, const std::string& identity,
                                   const std::string& name = "a") {
    const std::string path = folder_.path() + "/ledger.json";
    std::ofstream(path)
        << R"({"format": "graphgate-known-findings", "version": 1, "subject": "torch",
      "findings": [{"name": ")" +
               name + R"(", "case": "a.case", "upstream":
      {"issues": ["https://example.org/1"]}, "results": [)" +
               results + "]}]}";
    return read_known_findings(path, known_subject(identity));
  }
  std::size_t count(const std::string& results, const std::string& identity) {
    return must(read(results, identity)).all().size();
  }

  TemporaryFolder folder_ = made_folder();
};

std::string row(const std::string& version, const std::string& outcome,
                const std::string& device = "cpu") {
  return R"({"version": ")" + version + R"(", "device": ")" + device +
         R"(", "backend": "compile", "case": ")" + outcome +
         R"(", "signatures": ["bounds B1.outside-bound [pointwise] {streams}"]})";
}

TEST(KnownSubject, IsReadOfAnIdentity) {
  const KnownSubject torch = known_subject("torch-2.15.0+cu132 compile cuda:0");
  EXPECT_EQ(torch.name, "torch");
  EXPECT_EQ(torch.version, "2.15.0");
  EXPECT_EQ(torch.backend, "compile");
  EXPECT_EQ(torch.device, "cuda");
  const KnownSubject vllm =
      known_subject("vllm-0.33.0 torch-2.14.0+cu130 vllm-compile fx eager cpu");
  EXPECT_EQ(vllm.name, "vllm");
  EXPECT_EQ(vllm.version, "0.33.0");
  EXPECT_EQ(vllm.backend, "eager");
  EXPECT_EQ(vllm.device, "cpu");
  const KnownSubject executorch =
      known_subject("executorch-1.5.0 torch-2.14.0+cu130 greedy-reinplace cpu");
  EXPECT_EQ(executorch.name, "executorch");
  EXPECT_EQ(executorch.version, "1.5.0");
  EXPECT_EQ(executorch.backend, "greedy-reinplace");
  const KnownSubject other = known_subject("optimized 0.1.0");
  EXPECT_EQ(other.name, "optimized");
  EXPECT_EQ(other.version, "0.1.0");
  EXPECT_EQ(other.device, "");
  EXPECT_EQ(shipped_ledger(other), "");
}

// On the version itself, else on the nearest older one that was run, else on the nearest newer.
TEST_F(Ledgers, TellWhatIsExpectedOfAVersion) {
  const std::string rows = row("2.9.0", "passes") + "," + row("2.11.0", "shows") + "," +
                           row("2.14.1", "passes") + "," + row("2.11.0", "shows", "cuda");
  EXPECT_EQ(count(rows, "torch-2.11.0+cpu compile cpu"), 1U);
  EXPECT_EQ(count(rows, "torch-2.12.0 compile cpu"), 1U);
  EXPECT_EQ(count(rows, "torch-2.14.1 compile cpu"), 0U);
  EXPECT_EQ(count(rows, "torch-2.15.0 compile cpu"), 0U);
  EXPECT_EQ(count(rows, "torch-2.10.0 compile cpu"), 0U);
  EXPECT_EQ(count(row("2.11.0", "shows"), "torch-2.9.0 compile cpu"), 1U);
  EXPECT_EQ(count(rows, "torch-2.15.0 compile cuda"), 1U);
  EXPECT_EQ(count(rows, "torch-2.11.0 eager cpu"), 0U);
  EXPECT_EQ(count(rows, "other-2.11.0 compile cpu"), 0U);
  EXPECT_EQ(count(row("2.11.0", "CRASH"), "torch-2.11.0 compile cpu"), 0U);
}

TEST_F(Ledgers, AreRefusedWithThePlace) {
  const auto error = [&](const std::string& results, const std::string& name = "a") {
    return read(results, "torch-2.11.0 compile cpu", name).error().message;
  };
  EXPECT_NE(error(R"({"version": "2.11.0"})").find("findings[0].results[0]"), std::string::npos);
  const std::string wrong = R"({"version": "1", "device": "cpu", "backend": "compile",
    "signatures": ["B1"]})";
  EXPECT_NE(error(wrong).find("signatures[0]: expected a signature"), std::string::npos);
  std::ofstream(folder_.path() + "/a.case") << "no case";
  EXPECT_NE(error(row("2.11.0", "shows")).find("a.case"), std::string::npos);
}

// By signature alone nothing is known: ops, arguments and dtypes have to be the same, and the known
// case has to show it on the subject.
TEST_F(Ledgers, MatchASignatureWithTheFeaturesOfItsCase) {
  const fuzz::KnownFindings known = must(read(row("2.11.0", "shows"), "torch-2.11.0 compile cpu"));
  bool shows = true;
  const auto match = [&](const std::string& nodes, const char* fault = kFault) {
    return known.match(fault, parsed(nodes), [&](const spec::CaseFile&) { return shows; });
  };
  ASSERT_NE(match(kAlpha).finding, nullptr);
  EXPECT_EQ(match(kAlpha).finding->name, "a");
  EXPECT_EQ(match(kAlpha).finding->issue, "https://example.org/1");
  EXPECT_EQ(match(kAlpha, "bounds B1.outside-bound [mm] {}").finding, nullptr);
  EXPECT_EQ(match(kPlain).finding, nullptr);
  EXPECT_EQ(match(kPlain).doubt,
            "has the signature of a, but has aten.add(other,self) in place of "
            "aten.add(alpha,other,self)");
  EXPECT_EQ(match(kDoubled).finding, nullptr);
  EXPECT_EQ(match(kDoubled).doubt, "has the signature of a, but has aten.neg(self) beside");
  EXPECT_EQ(match("  %z : f64[4] = aten._to_copy.default(%x, dtype=f64)\n" + kAlpha).finding,
            nullptr);
  shows = false;
  EXPECT_EQ(match(kAlpha).finding, nullptr);
  EXPECT_EQ(match(kAlpha).doubt, "has the signature of a, but that one does not show it here");
}

// A drawn case that lacks what the known one takes shows something else.
TEST_F(Ledgers, SayWhichDrawnCasesMayBeKnown) {
  const fuzz::KnownFindings known = must(read(row("2.11.0", "shows"), "torch-2.11.0 compile cpu"));
  EXPECT_TRUE(known.has_fault(kFault));
  EXPECT_FALSE(known.has_fault("bounds B1.outside-bound [mm] {}"));
  EXPECT_TRUE(known.may_be_known(kFault, parsed(kDoubled)));
  EXPECT_FALSE(known.may_be_known(kFault, parsed(kPlain)));
}

// What ships: all is read, and on each version that was run those are expected that show.
TEST(ShippedLedger, IsRead) {
  for (const char* version : {"2.11.0", "2.13.0", "2.14.1", "2.15.0"}) {
    const std::string identity = std::string("torch-") + version + " compile cpu";
    const auto known = must(read_known_findings(kAdapter, known_subject(identity)));
    EXPECT_FALSE(known.all().empty()) << version;
    for (const fuzz::KnownFinding& one : known.all()) {
      // What was stated of 2.11 has no signatures, and matches nothing there.
      EXPECT_TRUE(!one.faults.empty() || std::string(version) == "2.11.0") << one.name;
      EXPECT_FALSE(fuzz::identifying_features(one.cases.front().the_case).empty()) << one.name;
    }
  }
}

}  // namespace
}  // namespace graphgate::tools
