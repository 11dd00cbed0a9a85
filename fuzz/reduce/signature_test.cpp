#include "fuzz/reduce/signature.h"

#include "base/result_test.h"
#include "spec/case_file.h"
#include "spec/option.h"

namespace graphgate::fuzz {
namespace {

using conformance::CaseReport;
using conformance::Judge;
using conformance::JudgeReport;
using spec::CaseFile;
using spec::Finding;
using spec::Outcome;

CaseFile parsed_case(const std::string& text) { return must(spec::parse_case(text)); }

CaseFile chain(const std::string& a, const std::string& b, const std::string& size,
               const std::string& options = "") {
  return parsed_case("graphgate-case 1\nname \"" + a + "\"\nseed 1\n" + options +
                     "program \"p\" {\n  input %x : f32[" + size + ", " + size + "]\n  %" + a +
                     " = aten.mm.default(%x, %x)\n  %" + b + " = aten.add_.Tensor(%" + a +
                     ", 1.0)\n  output %" + b + "\n}\nscenario {\n  call p\n}\nexpect PASS\n");
}

Finding finding(std::string rule, std::vector<std::string> nodes,
                Outcome outcome = Outcome::kFail) {
  return Finding{.rule = std::move(rule), .outcome = outcome, .nodes = std::move(nodes)};
}

JudgeReport said(Judge judge, std::vector<Finding> findings) {
  return JudgeReport{.judge = judge,
                     .outcome = findings.empty() ? Outcome::kPass : findings.front().outcome,
                     .findings = std::move(findings)};
}

std::string text_of(const CaseReport& report, const CaseFile& the_case) {
  const auto made = signature_of(report, the_case);
  return made ? print_signature(*made) : "none";
}

TEST(Signature, NamesKindsOfOpsAndOptionsWithoutNumbers) {
  CaseReport report;
  report.judges = {said(Judge::kVerifier, {finding("V3.overlap", {"a", "b"})})};
  const CaseFile the_case = chain("a", "b", "8",
                                  "option \"cut-after\" \"b\"\noption \"memory\" \"lines\"\n"
                                  "option \"plan-mutation\" \"offset-over-live:7\"\n"
                                  "option \"poison\" \"0xFF\"\noption \"streams\" \"4\"\n");
  EXPECT_EQ(text_of(report, the_case),
            "verifier V3.overlap [mm, pointwise_] {cut-after, memory=lines, "
            "plan-mutation=offset-over-live, poison, streams}");
}

TEST(Signature, StaysWhereNodesAreRenamedAndSizesChange) {
  CaseReport one;
  one.judges = {said(Judge::kShadow, {finding("S2.stale-read", {"a", "b"})})};
  CaseReport other;
  other.judges = {said(Judge::kShadow, {finding("S2.stale-read", {"left", "right"})})};
  const auto a = signature_of(one, chain("a", "b", "8", "option \"streams\" \"2\"\n"));
  const auto b = signature_of(other, chain("left", "right", "3", "option \"streams\" \"4\"\n"));
  ASSERT_TRUE(a && b);
  EXPECT_EQ(*a, *b);
  const auto reversed = signature_of(other, chain("right", "left", "3"));
  ASSERT_TRUE(reversed);
  EXPECT_FALSE(a->same_fault(*reversed));
}

// Nodes of one name, in two programs of a case.
TEST(Signature, TakesNodesOfTheProgramThatAFindingIsAbout) {
  const CaseFile the_case = parsed_case(
      "graphgate-case 1\nname \"two\"\nseed 1\n"
      "program \"p\" {\n  input %x : f32[2, 2]\n  %y = aten.mm.default(%x, %x)\n  output %y\n}\n"
      "program \"q\" {\n  input %x : f32[2, 2]\n  %y = aten.cumsum.default(%x, 0)\n  output %y\n}\n"
      "scenario {\n  call p\n  call q\n}\nexpect PASS\n");
  const auto named = [&](const std::string& program, bool is_in_words) {
    Finding found = finding("B4.node-bound", {});
    found.program = program;
    (is_in_words ? found.message : found.nodes.emplace_back()) = is_in_words ? "node 'y'" : "y";
    CaseReport report;
    report.judges = {said(Judge::kBounds, {found})};
    return text_of(report, the_case);
  };
  for (const bool is_in_words : {false, true}) {
    EXPECT_EQ(named("p", is_in_words), "bounds B4.node-bound [mm] {}");
    EXPECT_EQ(named("q", is_in_words), "bounds B4.node-bound [cumsum] {}");
    EXPECT_EQ(named("", is_in_words), "bounds B4.node-bound [mm] {}");
  }
}

TEST(Signature, IgnoresOptionsWhereTheFaultIsTheSame) {
  const Signature a{"verifier", "V4.wrong-version", "mm", "memory=lines"};
  EXPECT_TRUE(a.same_fault({"verifier", "V4.wrong-version", "mm", ""}));
  EXPECT_FALSE(a.same_fault({"verifier", "V4.wrong-version", "mm_", "memory=lines"}));
  EXPECT_FALSE(a.same_fault({"verifier", "V4.wrong-operand", "mm", "memory=lines"}));
  const Signature b{"shadow", "S2.stale-read", "mm", ""};
  EXPECT_FALSE(b.same_fault({"exact", "S2.stale-read", "mm", ""}));
}

// Which bytes were free is chance, and so are the ops that use them, and what the rule is called.
TEST(Signature, TakesTwoValuesAtOnePlaceForOneFaultWhateverTheOps) {
  const Signature a{"verifier", "V3.overlap", "mm", "memory=lines"};
  for (const char* rule : {"V3.overlap", "V3.kept-bytes", "V3.in-place"}) {
    EXPECT_TRUE(a.same_fault({"verifier", rule, "softmax", ""})) << rule;
  }
  for (const char* rule : {"V3.alignment", "V3.capacity", "V4.wrong-version", "V6.workspace"}) {
    EXPECT_FALSE(a.same_fault({"verifier", rule, "mm", "memory=lines"})) << rule;
  }
  EXPECT_EQ(print_signature(fault_of(a)), "verifier V3.overlap [] {}");
  const Signature race{"happens-before", "HB.race", "pointwise, mm", ""};
  EXPECT_TRUE(race.same_fault({"bounds", "HB.race", "reduction", "streams"}));
  EXPECT_FALSE(race.same_fault({"happens-before", "HB.unknown-event", "pointwise, mm", ""}));
  // Those that were stored when each rule and each op was one of its own.
  const auto stored = must(parse_signature("verifier V3.kept-bytes [addmv_] {compiler=eager}"));
  EXPECT_TRUE(stored.same_fault(fault_of(a)));
}

TEST(Signature, OfAPlanWithTapsOrUnderOtherOptionsIsTheVerifiersFault) {
  CaseReport report;
  report.judges = {
      said(Judge::kBounds, {finding("B4.node-bound", {"b"}), finding("V3.in-place", {"b"}),
                            finding("V4.wrong-version", {"a"})}),
      said(Judge::kConfigurations,
           {finding("C1.configuration", {}), finding("V3.overlap", {"a"})})};
  const CaseFile the_case = chain("a", "b", "8");
  const auto texts = [&] {
    std::vector<std::string> out;
    for (const Signature& one : signatures_of(report, the_case)) {
      out.push_back(print_signature(one));
    }
    return out;
  };
  EXPECT_EQ(texts(),
            (std::vector<std::string>{
                "bounds V3.in-place [pointwise_] {}", "bounds V4.wrong-version [mm] {}",
                "bounds B4.node-bound [pointwise_] {}", "configurations C1.configuration [] {}"}));
  const Signature first = signatures_of(report, the_case).front();
  EXPECT_TRUE(first.same_fault({"verifier", "V3.overlap", "", ""}));
  EXPECT_EQ(judge_of(first), Judge::kBounds);  // who is asked again
  // What the verifier says of the plan itself goes before what others say of other plans.
  report.judges.push_back(said(Judge::kVerifier, {finding("V3.kept-bytes", {"a"})}));
  EXPECT_EQ(texts().front(), "verifier V3.kept-bytes [mm] {}");
  EXPECT_EQ(texts()[1], "bounds V4.wrong-version [mm] {}");
}

TEST(Signature, StandsForTheFindingNearestToTheCause) {
  CaseReport report;
  report.judges = {said(Judge::kExact, {finding("E1.exact", {})}),
                   said(Judge::kVerifier, {finding("V10.pad-mixes-rows", {"b"}, Outcome::kSuspect),
                                           finding("V3.overlap", {"a"})})};
  const CaseFile the_case = chain("a", "b", "8");
  EXPECT_EQ(text_of(report, the_case), "verifier V3.overlap [mm] {}");
  const auto all = signatures_of(report, the_case);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(print_signature(all[1]), "verifier V10.pad-mixes-rows [pointwise_] {}");
  EXPECT_EQ(print_signature(all[2]), "exact E1.exact [] {}");
}

TEST(Signature, TakesNodesFromQuotesAndBuffersWhereAFindingListsNone) {
  CaseReport run;
  run.findings = {finding("R2.broke-down", {}, Outcome::kCrash)};
  run.findings.front().message = "optimized: step 0: node 'a': no kernel";
  EXPECT_EQ(text_of(run, chain("a", "b", "8")), "run R2.broke-down [mm] {}");
  CaseReport plan;
  plan.judges = {said(Judge::kVerifier, {finding("V2.missing-output", {})})};
  plan.judges.front().findings.front().buffers = {"b"};
  EXPECT_EQ(text_of(plan, chain("a", "b", "8")), "verifier V2.missing-output [pointwise_] {}");
}

TEST(Signature, OfAnExecutorOfOthersHasTheClassOfItsInnermostError) {
  const auto of = [](const std::string& message) {
    CaseReport run;
    run.findings = {finding("R2.broke-down", {}, Outcome::kCrash)};
    run.findings[0].message = message;
    return text_of(run, chain("a", "b", "8"));
  };
  EXPECT_EQ(of("torch compile: step 0: InductorError: LoweringException: AssertionError: x: y"),
            "run R2.broke-down [AssertionError] {}");
  EXPECT_EQ(of("torch: step 3: torch._inductor.exc.InductorError: no: ValueError: inside"),
            "run R2.broke-down [torch._inductor.exc.InductorError] {}");
  EXPECT_EQ(of("torch: step 3: was killed by signal 11"), "run R2.broke-down [] {}");
  EXPECT_EQ(of("torch: an Error: of words"), "run R2.broke-down [] {}");
}

TEST(Signature, HasNothingToSayOfWhatIsNoFinding) {
  CaseReport report;
  report.outcome = Outcome::kMistrusted;
  report.judges = {said(Judge::kVacuity, {finding("Z1.input", {"a"}, Outcome::kMistrusted)}),
                   said(Judge::kBounds, {finding("B5.undecided", {}, Outcome::kUndecided)})};
  EXPECT_EQ(text_of(report, chain("a", "b", "8")), "none");
}

TEST(Signature, IsReadAsItIsPrinted) {
  for (const std::string text : {"verifier V3.overlap [mm, pointwise] {memory=lines, streams}",
                                 "crash SIGSEGV [] {}", "run R1.refused-wrongly [my.scale_] {}"}) {
    const auto parsed = must(parse_signature(text));
    EXPECT_EQ(print_signature(parsed), text);
  }
  // Options without a name would read back as others.
  for (const std::string text : {"a b [m] {, c}", "a b [m] {c, , d}", "a b [m] {=1}"}) {
    EXPECT_FALSE(parse_signature(text).ok()) << text;
  }
}

// What an option names in one program or on one machine stands in no signature. Those of before had
// it of the cache's environment.
TEST(Signature, TellsNoValueThatIsOfOneMachine) {
  CaseFile the_case;
  the_case.options = {{spec::option::kCacheEnv, "LAYERS=2,RANK=1"},
                      {spec::option::kCache, "temporary"},
                      {spec::option::kPad, "s0"},
                      {spec::option::kCompiler, "/home/somebody/mine.so"},
                      {spec::option::kPass, "build/x/rewrite.so,reinplace"},
                      {spec::option::kPlanMutation, "frees_twice:7"}};
  EXPECT_EQ(configuration_bits(the_case),
            "cache, cache-env, compiler=mine.so, pad, pass=rewrite.so,reinplace, "
            "plan-mutation=frees_twice");
  const auto before =
      must(parse_signature("exact E1.exact [mm] {cache, cache-env=LAYERS=2, memory=lines}"));
  EXPECT_EQ(before.configuration, "cache, cache-env, memory=lines");
}

TEST(Signature, RefusesTextThatIsNone) {
  for (const std::string text :
       {"", "verifier", "verifier V3.overlap", "verifier V3.overlap [mm]", "verifier [mm] {}",
        "verifier V3.overlap [mm] {} more", " V3.overlap [mm] {}", "verifier V3.overlap [mm {}"}) {
    EXPECT_EQ(failure_of(parse_signature(text), text).kind, ErrorKind::kBadInput);
  }
}

TEST(OpFamily, FollowsTheTableAndNoListOfNames) {
  const spec::OpTable& ops = spec::builtin_op_table();
  EXPECT_EQ(op_family("aten.add.Tensor", ops), "pointwise");
  EXPECT_EQ(op_family("aten.sigmoid_.default", ops), "pointwise_");
  EXPECT_EQ(op_family("aten.sum.dim_IntList", ops), "reduction");
  EXPECT_EQ(op_family("aten.transpose.int", ops), "view");
  EXPECT_EQ(op_family("aten.mm.default", ops), "mm");
  EXPECT_EQ(op_family("higher_order.cond", ops), "cond");
  EXPECT_EQ(op_family("my.scale.default", ops), "my.scale");
}

}  // namespace
}  // namespace graphgate::fuzz
