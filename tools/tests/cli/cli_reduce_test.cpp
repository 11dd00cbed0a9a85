// graphgate reduce and graphgate replay as their users meet them.
#include "tools/tests/cli/cli_test.h"

#include "base/result_test.h"

namespace graphgate::tools {
namespace {

class CliReduce : public Cli {
 protected:
  [[nodiscard]] std::string at(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string golden_case(const std::string& name) const {
    return (folder_ / "golden/cases/catalogue" / (name + ".case")).string();
  }
  // A reduced case in the scratch folder.
  std::string reduced() {
    const CliRun made = run("reduce --deviation frees_twice -o " + at("small.case") + " " +
                            golden_case("b4-freed-twice"));
    EXPECT_EQ(made.code, 0) << made.err;
    return at("small.case");
  }
};

TEST_F(CliReduce, ShrinksACaseAndSaysHowToReplayIt) {
  const CliRun made =
      run("reduce --deviation frees_twice -o " + at("small.case") + " --neighbour " +
          at("passes.case") + " " + golden_case("b4-freed-twice"));
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_TRUE(contains(made.out, "3 of 4 nodes, 1 of 2 calls"));
  EXPECT_TRUE(contains(made.out, "shows: verifier V3.overlap [] {"));
  EXPECT_TRUE(contains(made.out, "the nearest case that passes:\n  - "));
  EXPECT_EQ(last_line(made.out), "replay: graphgate replay " + at("small.case"));
  EXPECT_EQ(run("check " + at("small.case")).code, 1);
  EXPECT_EQ(run("check --judges verifier " + at("passes.case")).code, 0);
}

TEST_F(CliReduce, ReplaysWhatItWrote) {
  const std::string file = reduced();
  const CliRun same = run("replay " + file);
  EXPECT_EQ(same.code, 1) << same.err;
  EXPECT_TRUE(contains(same.out, "shows 'verifier V3.overlap [] {"));
  // The same line as it was printed, in one word and in several.
  EXPECT_EQ(run("replay graphgate replay " + file).out, same.out);
  EXPECT_EQ(run("replay 'graphgate replay " + file + "'").out, same.out);
  // Without the fault the case passes.
  std::string text = read_file(file);
  const std::string option = "option \"deviation\" \"frees_twice\"\n";
  text.erase(text.find(option), option.size());
  std::ofstream(at("right.case")) << text;
  const CliRun gone = run("replay --json - " + at("right.case"));
  EXPECT_EQ(gone.code, 0) << gone.out << gone.err;
  EXPECT_EQ(nlohmann::json::parse(gone.out)["replayed"], "GONE");
}

// A case from the program that drew it, for one that will draw others.
TEST_F(CliReduce, WritesADrawnCaseInsteadOfRunningIt) {
  const std::string file = (folder_ / "drawn.case").string();
  const CliRun written = run("replay g3:1:3 --poison 0x7f --write " + file);
  EXPECT_EQ(written.code, 0) << written.err;
  EXPECT_EQ(written.out, "");
  const std::string text = read_file(file);
  EXPECT_TRUE(text.starts_with("graphgate-case 1\n")) << text;
  EXPECT_TRUE(contains(text, "option \"poison\" \"0x7f\""));
  EXPECT_EQ(run("replay g3:1:3 --poison 0x7f --write -").out, text);
  EXPECT_EQ(run("replay --judges verifier " + file).code,
            run("replay --judges verifier --poison 0x7f g3:1:3").code);
  EXPECT_EQ(run("replay g3:1:3 --write no_such_folder/a.case").code, 3);
}

TEST_F(CliReduce, ReplaysDrawnCasesByTheirIds) {
  // Whatever the case comes to, it is judged, and the same each time.
  const CliRun drawn = run("replay --judges verifier g3:1:3");
  EXPECT_TRUE(contains(drawn.out, " g3:1:3: ")) << drawn.out << drawn.err;
  EXPECT_EQ(run("replay --judges verifier 'graphgate replay g3:1:3'").out, drawn.out);
  const CliRun other = run("replay g99:1:0");
  EXPECT_EQ(other.code, 4);
  EXPECT_TRUE(contains(other.err, "generator 99 drew it"));
}

TEST_F(CliReduce, FindsCasesOfACorpusByName) {
  fs::create_directories(folder_ / "corpus/regression");
  fs::copy_file(reduced(), folder_ / "corpus/regression/verifier-V3.case");
  EXPECT_EQ(run("replay --corpus " + at("corpus") + " verifier-V3").code, 1);
  const CliRun none = run("replay --corpus " + at("corpus") + " verifier-V4");
  EXPECT_EQ(none.code, 4);
  EXPECT_TRUE(contains(none.err, "no case of"));
}

TEST_F(CliReduce, RefusesCasesOfAnotherVersion) {
  std::string text = read_file(reduced());
  text.replace(text.find("graphgate-case 1"), 16, "graphgate-case 9");
  std::ofstream(at("later.case")) << text;
  for (const char* verb : {"replay ", "reduce "}) {
    const CliRun refused = run(verb + at("later.case"));
    EXPECT_EQ(refused.code, 4) << verb;
    EXPECT_TRUE(contains(refused.err, "version 9"));
  }
}

// A check that takes its time, and tells when it has been asked often.
TEST_F(CliReduce, WritesTheLeastSoFarWhereItIsInterrupted) {
  const fs::path check = folder_ / "check.sh";
  const fs::path asked = folder_ / "asked";
  const fs::path sign = folder_ / "sign";
  std::ofstream(check) << "echo >> " << asked.string() << "\n[ $(wc -l < " << asked.string()
                       << ") -lt 10 ] || { touch " << sign.string()
                       << "; sleep 100; }\ngrep -q aten.add \"$1\"\n";
  const CliRun outcome = run_until(sign, "reduce --timeout 300 --check 'sh " + check.string() +
                                             "' -o " + (folder_ / "least.case").string() +
                                             " --json " + (folder_ / "r.json").string() + " " +
                                             (folder_ / "golden/models/mutations.pt2").string());
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "interrupted, the least so far")) << outcome.out;
  const auto json = nlohmann::json::parse(read_file(folder_ / "r.json"));
  EXPECT_EQ(json["interrupted"], true);
  EXPECT_EQ(json["finished"], false);
  EXPECT_LT(json["after"]["calls"], json["before"]["calls"]);
  EXPECT_TRUE(contains(read_file(folder_ / "least.case"), "aten.add"));
}

TEST_F(CliReduce, SaysBeforeItBeginsThatItsResultHasNoPlace) {
  const std::string long_name = at(std::string(245, 'n') + ".case");  // no room for ".reduced"
  fs::copy_file(golden_case("b4-freed-twice"), long_name);
  const CliRun made = run("reduce --check 'touch " + at("asked") + "; true' " + long_name);
  EXPECT_EQ(made.code, 3);
  EXPECT_EQ(line_count(made.err), 1U) << made.err;
  EXPECT_TRUE(contains(made.err, "cannot be written: File name too long"));
  EXPECT_FALSE(fs::exists(at("asked")));
}

TEST_F(CliReduce, RefusesWhatShowsNothing) {
  const CliRun refused = run("reduce -o " + at("x.case") + " " + golden_case("b4-freed-twice"));
  EXPECT_EQ(refused.code, 4);
  EXPECT_TRUE(contains(refused.err, "nothing to reduce: the case comes to PASS"));
  EXPECT_FALSE(fs::exists(at("x.case")));
}

TEST_F(CliReduce, AsksAnExternalCommandAboutArchives) {
  std::ofstream(at("check.sh")) << "#!/bin/sh\nexec \"" << at("graphgate") << "\" convert \"$1\" -"
                                << " | grep -q aten.flip\n";
  fs::permissions(at("check.sh"), fs::perms::owner_all);
  const CliRun made = run("reduce --time 120 --check " + at("check.sh") + " -o " + at("small.pt2") +
                          " " + model("mutations.pt2"));
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_TRUE(contains(made.out, ": 1 of "));
  const CliRun text = run("convert " + at("small.pt2") + " -");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "aten.flip"));
  EXPECT_TRUE(fs::exists(at("small.case")));
}

}  // namespace
}  // namespace graphgate::tools
