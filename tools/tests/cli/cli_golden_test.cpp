// graphgate golden as its users meet it.
#include "tools/tests/cli/cli_test.h"

#include "base/result_test.h"

namespace graphgate::tools {
namespace {

class CliGolden : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    fs::create_directories(folder_ / "g/recorded");
    fs::create_directories(folder_ / "g/cases");
    take("mutation/input-written");
    take("reuse/lines");
    write("recorded/list.txt", "program cases/*.case\n");
  }
  void take(const std::string& name) {
    const fs::path path = folder_ / "golden/cases" / (name + ".case");
    fs::copy_file(path, folder_ / "g/cases" / path.filename());
  }
  [[nodiscard]] fs::path path(const std::string& name) const { return folder_ / "g" / name; }
  [[nodiscard]] std::string read(const std::string& name) const { return read_file(path(name)); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  void edit(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = read(name);
    ASSERT_TRUE(contains(text, from)) << from;
    write(name, text.replace(text.find(from), from.size(), to));
  }
  CliRun golden(const std::string& verb, const std::string& arguments = "") {
    return run("golden " + verb + " " + (folder_ / "g").string() + " " + arguments);
  }
  void record() {
    const CliRun made = golden("update", "--reason first");
    ASSERT_EQ(made.code, 0) << made.out << made.err;
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  const std::string written_ = "recorded/strict/cases/input-written.case.golden";
  const std::string lines_ = "recorded/strict/cases/lines.case.golden";
};

TEST_F(CliGolden, ChecksWhatItRecorded) {
  const CliRun before = golden("check");
  EXPECT_EQ(before.code, 1);
  EXPECT_TRUE(has(before.out, "input-written.case.golden: new")) << before.out;
  EXPECT_EQ(last_line(before.out), "2 new");
  record();
  const CliRun after = golden("check");
  EXPECT_EQ(after.code, 0) << after.out << after.err;
  EXPECT_EQ(after.out, "2 same\n");
  const std::string text = read(written_);
  EXPECT_TRUE(text.starts_with("graphgate-golden 1\nprogram \"cases/input-written.case\"\n"));
  EXPECT_TRUE(has(text, "\nreason \"first\"\n"));
  EXPECT_TRUE(has(text, "\n  input 0: f32[4]; sha256:"));
  EXPECT_TRUE(has(text, "all: 0x1.8p+3 0x1.8p+4 0x1.2p+5 0x1.8p+5\n")) << text;  // 12 24 36 48
  EXPECT_TRUE(has(text, "\neffects\n  aten.add_.Tensor: in_place;")) << text;
}

TEST_F(CliGolden, MakesTheSameBytesEveryTime) {
  record();
  const std::string first = read(lines_);
  fs::remove_all(path("recorded/strict"));
  const CliRun again = golden("update", "--reason first -j 2");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(read(lines_), first);
}

TEST_F(CliGolden, LeavesAloneWhatDidNotChange) {
  record();
  const auto time = fs::last_write_time(path(lines_));
  edit("cases/input-written.case", "[1.0, 2.0, 3.0, 4.0]", "[1.0, 2.0, 3.0, 5.0]");
  edit("cases/input-written.case", "48.0]\n", "50.0]\n");
  const CliRun second = golden("update", "--reason 'another input'");
  EXPECT_EQ(second.code, 0) << second.out << second.err;
  EXPECT_EQ(last_line(second.out), "1 changed, 1 same");
  EXPECT_EQ(fs::last_write_time(path(lines_)), time);
  EXPECT_TRUE(has(read(lines_), "reason \"first\""));
  EXPECT_TRUE(has(read(written_), "reason \"another input\""));
  EXPECT_EQ(golden("check").code, 0);
}

TEST_F(CliGolden, LetsWordsAboutACaseChange) {
  record();
  edit("cases/input-written.case", "# Holds:", "# In other words:");
  EXPECT_EQ(golden("check").code, 0);
}

TEST_F(CliGolden, SaysWhatChangedInValues) {
  record();
  edit(written_, "0x1.8p+3 0x1.8p+4", "0x1.800002p+3 0x1.8p+4");
  const CliRun outcome = golden("check");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(has(outcome.out,
                  "1 of 4 values changed, by 1 ulp (from 0x1.800002p+3 to "
                  "0x1.8p+3)"))
      << outcome.out;
}

TEST_F(CliGolden, SaysWhatAFlagOfThePlannerChanges) {
  record();
  const CliRun apart = golden("check", "--only lines --no-reuse");
  EXPECT_EQ(apart.code, 1);
  EXPECT_TRUE(has(apart.out, "plan 0: peak ")) << apart.out;
  EXPECT_TRUE(has(apart.out, "no longer shares bytes with")) << apart.out;
  const CliRun cut = golden("check", "--only lines --max-partition 3");
  EXPECT_EQ(cut.code, 1);
  EXPECT_TRUE(has(cut.out, "plan 0: partitions 1 became ")) << cut.out;
  EXPECT_TRUE(has(cut.out, "split into partition 0 of @main (")) << cut.out;
  EXPECT_EQ(golden("check", "--profile nonsense").code, 4);
}

TEST_F(CliGolden, RefusesToRecordWhatAJudgeObjectsTo) {
  record();
  const std::string before = read(written_);
  edit("cases/input-written.case", "aten.sub", "aten.add");  // alone it would be recorded
  edit("cases/input-written.case", "expect call 0 out0 : f32[4] = [12.0, 24.0, 36.0, 48.0]\n", "");
  take("catalogue/p1-tail-allocation");
  edit("cases/p1-tail-allocation.case", "option \"memory\" \"lines\"\n",
       "option \"memory\" \"lines\"\noption \"profile\" \"torch-2.9.0\"\n");
  const CliRun outcome = golden("update", "--reason 'all is well'");
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_TRUE(has(outcome.out,
                  "p1-tail-allocation.case.golden: refused\n  "
                  "cases/p1-tail-allocation.case: judge provenance: FAIL: call 0"))
      << outcome.out;
  EXPECT_TRUE(has(last_line(outcome.out), "; nothing is written")) << outcome.out;
  EXPECT_FALSE(fs::exists(path("recorded/strict/cases/p1-tail-allocation.case.golden")));
  EXPECT_EQ(read(written_), before);
  // The others alone may be.
  EXPECT_EQ(golden("update", "--only input-written --reason more").code, 0);
  EXPECT_NE(read(written_), before);
}

TEST_F(CliGolden, RefusesToRecordWhatTheReferenceDoesNotCompute) {
  edit("cases/input-written.case", "[12.0, 24.0", "[12.0, 25.0");
  const CliRun outcome = golden("update", "--reason wrong");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(has(outcome.out, "input-written.case.golden: refused")) << outcome.out;
  EXPECT_FALSE(fs::exists(path("recorded/strict")));
}

TEST_F(CliGolden, WritesNothingInADryRun) {
  const CliRun outcome = golden("update", "--dry-run --reason first");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.substr(outcome.out.rfind("2 new")), "2 new; nothing is written\n");
  EXPECT_FALSE(fs::exists(path("recorded/strict")));
}

TEST_F(CliGolden, TakesOnlyWhatIsAskedFor) {
  EXPECT_EQ(golden("update", "--only 'cases/l*' --reason first").code, 0);
  EXPECT_TRUE(fs::exists(path(lines_)));
  EXPECT_FALSE(fs::exists(path(written_)));
  EXPECT_EQ(golden("check", "--only lines").code, 0);
  EXPECT_EQ(golden("check", "--only input").code, 1);
  const CliRun none = golden("check", "--only nobody");
  EXPECT_EQ(none.code, 4);
  EXPECT_EQ(line_count(none.err), 1U) << none.err;
}

TEST_F(CliGolden, TellsOfRecordsWithoutAProgramAndOtherArithmetic) {
  record();
  fs::create_directories(path("recorded/fast/cases"));
  fs::copy_file(path(lines_), path("recorded/fast/cases/lines.case.golden"));
  const CliRun skipped = golden("check");
  EXPECT_EQ(skipped.code, 2) << skipped.out;
  EXPECT_TRUE(has(skipped.out, "recorded in fast, which the executor does not compute in"));
  fs::remove(path("cases/lines.case"));
  const CliRun stale = golden("check");
  EXPECT_EQ(stale.code, 1);
  EXPECT_TRUE(has(stale.out, "strict/cases/lines.case.golden: stale")) << stale.out;
  EXPECT_EQ(golden("update", "--reason gone").code, 0);
  EXPECT_FALSE(fs::exists(path(lines_)));
  EXPECT_EQ(golden("check").out, "1 same\n");
}

TEST_F(CliGolden, SaysWhereAFileIsDamagedAndMakesItAnew) {
  record();
  const std::string good = read(lines_);
  write(lines_, good.substr(0, good.size() / 2));
  const CliRun outcome = golden("check");
  EXPECT_EQ(outcome.code, 4);
  EXPECT_EQ(line_count(outcome.err), 1U) << outcome.err;
  EXPECT_TRUE(has(outcome.err, lines_ + ":")) << outcome.err;
  EXPECT_EQ(golden("update", "--reason first").code, 0);
  EXPECT_EQ(read(lines_), good);
  write(lines_, good + "\n");
  EXPECT_EQ(golden("check").code, 4);
  write(lines_, good);
  edit(lines_, "some of 64: ", "some of 64:  ");
  EXPECT_EQ(golden("check").code, 4);
}

TEST_F(CliGolden, SaysWhatIsWrongWithItsArguments) {
  for (const char* arguments : {"", "--reason ''", "--reason ' '", "--reason"}) {
    const CliRun outcome = golden("update", arguments);
    EXPECT_EQ(outcome.code, 4) << arguments;
    EXPECT_FALSE(fs::exists(path("recorded/strict"))) << arguments;
  }
  EXPECT_EQ(run("golden").code, 4);
  EXPECT_EQ(run("golden check " + (folder_ / "nowhere").string()).code, 4);
  for (const char* list :
       {"", "programs cases/*.case\n", "program cases/none.case\n", "program\n",
        "program ../x.case\n", "program cases/*.case briefly\n", "program cases/*.case brief now\n",
        "text notes.txt\n", "text quality.txt brief\n"}) {
    write("recorded/list.txt", list);
    const CliRun outcome = golden("check");
    EXPECT_EQ(outcome.code, 4) << list;
    EXPECT_EQ(line_count(outcome.err), 1U) << outcome.err;
  }
}

TEST_F(CliGolden, SaysWhichProgramCannotBeRead) {
  record();
  write("cases/lines.case", "graphgate-case 1\nnonsense\n");
  const CliRun outcome = golden("check");
  EXPECT_EQ(outcome.code, 4);
  EXPECT_TRUE(has(outcome.err, "lines.case:2:1: expected ")) << outcome.err;
  EXPECT_EQ(golden("update", "--reason more").code, 4);
}

TEST_F(CliGolden, ReportsAsJson) {
  record();
  edit(written_, "0x1.8p+3", "0x1.8p+2");
  const CliRun outcome = golden("check", "--json -");
  EXPECT_EQ(outcome.code, 1);
  const auto json = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << outcome.out;
  EXPECT_EQ(json["counts"], nlohmann::json({{"changed", 1}, {"same", 1}}));
  EXPECT_EQ(json["exit_code"], 1);
  EXPECT_EQ(json["items"][0]["name"], "cases/input-written.case");
  EXPECT_EQ(json["items"][0]["state"], "changed");
  EXPECT_EQ(json["items"][0]["changes"].size(), 1U);
  const CliRun junit = golden("check", "--junit -");
  EXPECT_EQ(junit.code, 1);
  EXPECT_TRUE(contains(junit.out, "tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\""));
}

TEST_F(CliGolden, KeepsPlansOfBriefProgramsByTheirFigures) {
  write("recorded/list.txt", "program cases/*.case\nprogram cases/lines.case brief\n");
  record();
  EXPECT_TRUE(has(read(lines_), "\nplan 0: sha256:"));
  EXPECT_FALSE(has(read(lines_), "  plan \""));
  EXPECT_TRUE(has(read(written_), "  plan \"writes\" strict {"));
  EXPECT_EQ(golden("check").code, 0);
}

// No bit depends on what the processor has: neither in our own code, which asks for nothing beyond
// the architecture's base, nor in the standard library's, which does.
TEST_F(CliGolden, HoldsOnAProcessorWithoutVectorExtensions) {
  ASSERT_EQ(setenv("GLIBC_TUNABLES",  // NOLINT(concurrency-mt-unsafe): before any thread
                   "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX2,-AVX,-FMA,-FMA4,-SSE4_1,-SSE4_2", 1),
            0);
  const CliRun outcome = run("golden check " + (folder_ / "golden").string() + " --only cases/");
  unsetenv("GLIBC_TUNABLES");  // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
}

}  // namespace
}  // namespace graphgate::tools
