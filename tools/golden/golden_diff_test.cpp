#include "tools/golden/golden_diff.h"

#include <functional>

#include "base/result_test.h"
#include "tools/golden/golden_values.h"

namespace graphgate::tools {
namespace {

using Sentences = std::vector<std::string>;

const char* const kPlan = R"(plan "p" strict {
  pool @input input on cpu 256 align 64
  pool @arena arena on cpu 128 align 64
  buffer $x @input [0, 16)
  buffer $a @arena [0, 16)
  buffer $b @arena [64, 80)
  input user "x" %x : f32[4] $x
  block @main {
    partition 0 captured {
      in free $x
      out $b
      %a : f32[4] $a = aten.neg.default(%x)
      %b : f32[4] $b = aten.abs.default(%a)
    }
  }
  output %b
}
)";

GoldenPlan plan_of(const std::string& text) {
  return {digest_of(text), {{"peak", 128}, {"partitions", 1}}, text};
}

GoldenRecord record() {
  GoldenRecord out;
  out.provenance = {"cases/a.case", "strict", "sha256:0123456789abcdef", "graphgate 1", "c", "r"};
  GoldenCall& call = out.calls.emplace_back();
  call.program = "p";
  call.plan = 0;
  call.values.push_back({"input 0", "f32[1]", "sha256:1", "", 0, {"0x1p+0"}});
  call.values.push_back({"output 0", "f32[1]", "sha256:1", "", 0, {"0x1p+0"}});
  out.plans.push_back(plan_of(kPlan));
  out.kernels = {"k_1 1", "k_2 3"};
  out.effects = {"aten.add_.Tensor: in_place; reads self"};
  out.findings = {"V3.overlap FAIL one", "V3.overlap FAIL two"};
  return out;
}

Sentences diff_after(const std::function<void(GoldenRecord&)>& change) {
  GoldenRecord after = record();
  change(after);
  return must(diff_golden(record(), after, spec::builtin_op_table()));
}

TEST(DiffGolden, SaysNothingOfEqualRecordsAndOfWhoMadeThem) {
  EXPECT_EQ(diff_after([](GoldenRecord& after) {
              after.provenance.generator = "graphgate 2";
              after.provenance.command = "another";
              after.provenance.reason = "another";
            }),
            Sentences());
}

TEST(DiffGolden, SaysWhatTheRecordIsOf) {
  EXPECT_EQ(diff_after([](GoldenRecord& after) {
              after.provenance.program = "cases/b.case";
              after.provenance.arithmetic = "fast";
              after.provenance.sources = "sha256:f";
            }),
            (Sentences{"the program cases/a.case became cases/b.case",
                       "the arithmetic strict became fast",
                       "the program or its data changed (sha256:0123456789abcdef became "
                       "sha256:f)"}));
}

TEST(DiffGolden, SaysWhatValuesBecame) {
  EXPECT_EQ(diff_after(
                [](GoldenRecord& after) { after.calls[0].values[1].elements = {"0x1.000002p+0"}; }),
            Sentences{"call 0, output 0: the value changed, by 1 ulp (from 0x1p+0 to "
                      "0x1.000002p+0)"});
  EXPECT_EQ(diff_after([](GoldenRecord& after) { after.calls[0].values.clear(); }),
            (Sentences{"call 0, input 0: is as before now", "call 0, output 0: is gone"}));
  EXPECT_EQ(diff_after([](GoldenRecord& after) {
              after.calls[0].values.push_back({"state \"w\"", "f32[1]", "sha256:1", "", 0, {"1"}});
              after.calls[0].values.push_back({"output 1", "none", "", "", 0, {}});
            }),
            (Sentences{"call 0, state \"w\": is changed now", "call 0, output 1: is new"}));
  EXPECT_EQ(diff_after([](GoldenRecord& after) {
              std::swap(after.calls[0].values[0], after.calls[0].values[1]);
            }),
            Sentences{"call 0: values stand in another order"});
}

TEST(DiffGolden, SaysWhichCallsAndPlansCameAndWent) {
  EXPECT_EQ(diff_after([](GoldenRecord& after) {
              after.calls.push_back(after.calls[0]);
              after.plans.push_back(after.plans[0]);
              after.calls[0].plan = 1;
              after.calls[0].program = "q";
            }),
            (Sentences{"call 0: the program p became q",
                       "call 0: follows plan 1 now, and followed plan 0", "call 1: is new",
                       "plan 1: is new"}));
  EXPECT_EQ(diff_after([](GoldenRecord& after) {
              after.calls.clear();
              after.plans.clear();
              after.end = "step 1: refused";
            }),
            (Sentences{"call 0: is gone",
                       "the run: ends at step 1: refused now, and ended at its last step",
                       "plan 0: is gone"}));
}

TEST(DiffGolden, SaysWhatAPlanDecidedOtherwise) {
  const auto with_plan = [](const std::string& from, const std::string& to, std::int64_t peak) {
    return diff_after([&](GoldenRecord& after) {
      std::string text = kPlan;
      text.replace(text.find(from), from.size(), to);
      after.plans[0] = plan_of(text);
      after.plans[0].figures[0].second = peak;
    });
  };
  EXPECT_EQ(with_plan("@arena [64, 80)", "@arena [0, 16)", 64),
            (Sentences{"plan 0: peak 128 B became 64 B (-64, -50.0%)",
                       "plan 0: buffer $b: moved from @arena [64, 80) to @arena [0, 16)",
                       "plan 0: buffer $b: now shares bytes with $a"}));
  EXPECT_EQ(with_plan("captured {", "eager \"asked for\" {", 128),
            Sentences{"plan 0: partition 0 of @main: was captured, is now eager (\"asked for\")"});
  EXPECT_EQ(with_plan("    }\n  }", "    }\n\n  }", 128),
            Sentences{"plan 0: changed in its text alone"});
}

TEST(DiffGolden, GoesByFiguresWhereTextsAreNotKept) {
  GoldenRecord before = record();
  before.plans[0].text.clear();
  GoldenRecord after = before;
  after.plans[0].digest = "sha256:f";
  const auto diff = [&] { return diff_golden(before, after, spec::builtin_op_table()).value(); };
  EXPECT_EQ(diff(), Sentences{"plan 0: changed, and none of its figures"});
  after.plans[0].figures = {{"peak", 12800}, {"steps", 3}};
  EXPECT_EQ(diff(), (Sentences{"plan 0: peak 128 B became 12.5 KiB (+12672, +9900.0%)",
                               "plan 0: steps is new, 3", "plan 0: partitions is gone, was 1"}));
  after = record();
  EXPECT_EQ(diff(), Sentences{"plan 0: its text is kept from now on"});
}

TEST(DiffGolden, SaysWhereAStoredPlanCannotBeRead) {
  GoldenRecord before = record();
  before.plans[0] = plan_of("plan \"p\" strict {\n  nonsense\n}\n");
  const Error changes = failure_of(diff_golden(before, record(), spec::builtin_op_table()));
  EXPECT_EQ(changes.kind, ErrorKind::kBadInput);
  EXPECT_TRUE(changes.message.starts_with("the stored plan 0:2:3: expected ")) << changes.message;
}

TEST(DiffGolden, SaysWhichKernelsEffectsAndFindingsCameAndWent) {
  EXPECT_EQ(diff_after([](GoldenRecord& after) {
              after.kernels = {"k_2 4", "k_3 1", "k_4 1"};
            }),
            (Sentences{"kernels: k_2: '3' became '4'", "kernels: 2 are new (k_3, k_4)",
                       "kernels: 1 is gone (k_1)"}));
  EXPECT_EQ(diff_after([](GoldenRecord& after) { std::swap(after.kernels[0], after.kernels[1]); }),
            Sentences{"kernels: lines stand in another order"});
  EXPECT_EQ(diff_after([](GoldenRecord& after) { after.effects[0] += ", other"; }),
            Sentences{"effects: aten.add_.Tensor: 'in_place; reads self' became 'in_place; reads "
                      "self, other'"});
  EXPECT_EQ(
      diff_after([](GoldenRecord& after) { after.findings[1] = "HB.race FAIL three"; }),
      (Sentences{"a new finding: HB.race FAIL three", "no finding now: V3.overlap FAIL two"}));
}

TEST(DiffTexts, GoesByKeysAndElseByLines) {
  EXPECT_EQ(diff_texts("# a\nk: 1\nl: 2\n", "# a\nk: 1\nl: 2\n"), Sentences());
  EXPECT_EQ(diff_texts("# a\nk: 1\nl: 2\n", "# a\nk: 3\nm: 2\n"),
            (Sentences{"k: '1' became '3'", "1 is new (m)", "1 is gone (l)"}));
  EXPECT_EQ(diff_texts("# a\nk: 1\n", "# b\nk: 1\n"),
            Sentences{"1 lines are new, 1 are gone, from line 1 on"});
  EXPECT_EQ(diff_texts("x\ny\nz\n", "x\nw\n"),
            Sentences{"1 lines are new, 2 are gone, from line 2 on"});
  EXPECT_EQ(diff_texts("x\ny\n", "y\nx\n"), Sentences{"line ends or the order of lines changed"});
  EXPECT_EQ(diff_texts("x\n", "x"), Sentences{"line ends or the order of lines changed"});
}

}  // namespace
}  // namespace graphgate::tools
