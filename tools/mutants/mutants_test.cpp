#include "tools/mutants/mutants.h"

#include <algorithm>
#include <set>

#include "base/result_test.h"
#include "tools/store/check_input.h"

namespace graphgate::tools {
namespace {

// Both products live at once; nothing here is freed, cut or padded.
constexpr const char* kCase = R"(graphgate-case 1
name "two products"
option "compiler" "eager"
program "p" {
  input %x : f32[64]
  %a : f32[64] = aten.exp.default(%x)
  %b : f32[64] = aten.sin.default(%a)
  %c : f32[64] = aten.mul.Tensor(%a, %b)
  output %c
}
scenario {
  call p
  call p
}
)";

Mutant mutant(const std::string& name) {
  const auto all = all_mutants();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Mutant& one) { return one.name == name; });
  EXPECT_NE(found, all.end()) << name;
  return *found;
}

std::vector<MutantVerdict> verdicts_of(const std::vector<Mutant>& mutants,
                                       const std::vector<MutantCase>& cases) {
  return must(run_mutants(mutants, cases, {2, 60}));
}

MutantCase one_case(const std::string& text = kCase) {
  auto script = read_case(text, "two_products.case");
  EXPECT_TRUE(script.ok()) << message_of(script);
  MutantCase out;
  out.path = "two_products.case";
  if (script.ok()) out.script = std::move(script).value();
  return out;
}

TEST(Mutants, AreAtLeast120OfDifferentNames) {
  std::set<std::string> names;
  for (const Mutant& one : all_mutants()) names.insert(one.name);
  EXPECT_EQ(names.size(), all_mutants().size());
  EXPECT_GE(names.size(), 120U);
}

TEST(Mutants, AreKilledByACaseThatShowsThem) {
  const auto verdicts =
      verdicts_of({mutant("outputs_off_by_mutations"), mutant("operand-retargeted")}, {one_case()});
  ASSERT_EQ(verdicts.size(), 2U);
  // Nothing is mutated, so that no output is cut off.
  EXPECT_FALSE(verdicts[0].killed);
  EXPECT_EQ(verdicts[0].cases, 1U);
  EXPECT_TRUE(verdicts[1].killed);
  EXPECT_EQ(verdicts[1].path, "two_products.case");
  EXPECT_FALSE(verdicts[1].judges.empty());
  EXPECT_FALSE(verdicts[1].message.empty());
}

// What a judge fails is killed; what judges call SUSPECT alone is said to be so.
TEST(Mutants, AreSaidToBeSuspectWhereNothingIsProved) {
  const auto verdicts = verdicts_of({mutant("operand-retargeted")}, {one_case()});
  ASSERT_EQ(verdicts.size(), 1U);
  EXPECT_FALSE(verdicts[0].is_suspect);
  EXPECT_STREQ(verdict_word(verdicts[0]), "KILLED");
  MutantVerdict suspect = verdicts[0];
  suspect.is_suspect = true;
  EXPECT_STREQ(verdict_word(suspect), "KILLED (suspect)");
}

TEST(Mutants, AreTriedOnTheCasesThatNameThemFirst) {
  std::vector<MutantCase> cases = {one_case(), one_case()};
  cases[0].path = "a.case";
  cases[1].path = "b.case";
  cases[1].deviations = {"operand-retargeted"};
  const auto verdicts = verdicts_of({mutant("operand-retargeted")}, cases);
  ASSERT_EQ(verdicts.size(), 1U);
  EXPECT_EQ(verdicts[0].path, "b.case");
  EXPECT_EQ(verdicts[0].cases, 1U);
}

TEST(Mutants, SayWhatTheOutputsOfOneCallShow) {
  const auto verdicts =
      verdicts_of({mutant("output-weakened"), mutant("operand-retargeted")}, {one_case()});
  ASSERT_EQ(verdicts.size(), 2U);
  EXPECT_FALSE(verdicts[0].by_outputs);
  EXPECT_TRUE(verdicts[1].by_outputs);
}

// A case that fails on the right executor would kill everything.
TEST(Mutants, HaveNoVerdictWhenTheirTimeIsUp) {
  const std::vector<MutantCase> many(5000, one_case());
  const Error run = failure_of(run_mutants({mutant("skips_validation_on_hit")}, many, {1, 1}));
  EXPECT_EQ(run.kind, ErrorKind::kInfrastructure);
  EXPECT_EQ(run.message,
            "skips_validation_on_hit: no verdict yet when its time was up; give it more with "
            "--timeout");
}

TEST(Mutants, RefuseACaseThatFailsWithoutThem) {
  MutantCase broken = one_case();
  std::get<conformance::ScriptCall>(broken.script.steps[0]).expected = conformance::ExpectedCall{};
  auto& expected = *std::get<conformance::ScriptCall>(broken.script.steps[0]).expected;
  expected.outputs = {spec::make_host_tensor(spec::DType::kFloat32, {64})};
  expected.geometries = {std::nullopt};
  expected.shared_with = {""};
  EXPECT_TRUE(
      contains(failure_of(run_mutants({mutant("operand-retargeted")}, {broken}, {1, 60})).message,
               "fails without a mutant"));
}

}  // namespace
}  // namespace graphgate::tools
