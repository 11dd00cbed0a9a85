// The manners of the command line: words that were meant, flags without effect, folders, quiet and
// verbose, and examples of --help that are what they say.
#include <set>
#include <sstream>

#include "base/result_test.h"
#include "tools/tests/cli/cli_test.h"

namespace graphgate::tools {
namespace {

class CliManners : public Cli {
 protected:
  // Stands where the golden folder is, as the examples of --help do.
  CliRun here(const std::string& arguments) {
    const fs::path out = folder_ / "here.out";
    const fs::path err = folder_ / "here.err";
    const std::string command = "cd " + folder_.string() + " && ./graphgate " + arguments + " >" +
                                out.string() + " 2>" + err.string() + " </dev/null";
    const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): our own words
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out), read_file(err)};
  }
  void expect_refused(const std::string& arguments, const std::string& words) {
    const CliRun refused = here(arguments);
    EXPECT_EQ(refused.code, 4) << arguments << "\n" << refused.out << refused.err;
    EXPECT_EQ(refused.out, "") << arguments;
    EXPECT_EQ(line_count(refused.err), 1U) << refused.err;
    EXPECT_TRUE(contains(refused.err, words)) << arguments;
  }
};

TEST_F(CliManners, SayWhatWasProbablyMeant) {
  expect_refused("chek golden/models/mutations.pt2", "unknown verb 'chek'; did you mean 'check'?");
  expect_refused("check --jugdes all golden/models/mutations.pt2", "did you mean '--judges'?");
  expect_refused("plan --quallity golden/models/mutations.pt2", "did you mean '--quality'?");
  expect_refused("check --judges bonds golden/models/mutations.pt2", "did you mean 'bounds'?");
  expect_refused("mutants --filter frees_twise", "did you mean 'frees_twice'?");
  expect_refused("check --deviation frees_twise golden/models/mutations.pt2",
                 "did you mean 'frees_twice'?");
  expect_refused("check --pass fuse_rms_nrm golden/models/mutations.pt2",
                 "did you mean 'fuse_rms_norm'?");
  expect_refused("check --plan-mutation ofset:3 golden/models/mutations.pt2",
                 "--plan-mutation: none is called 'ofset'");
  // One of a list, and a verb or a flag in the place of a verb.
  expect_refused("check --device cudaa golden/models/mutations.pt2", "did you mean 'cuda'?");
  expect_refused("check --memory pakc golden/models/mutations.pt2", "did you mean 'pack'?");
  expect_refused("bench plann", "did you mean 'plan'?");
  expect_refused("golden chek", "unknown verb 'chek'; did you mean 'check'?");
  expect_refused("--verson", "unknown flag '--verson'; did you mean '--version'?");
  const CliRun ops = here("ops aten.mm.defalt");
  EXPECT_EQ(ops.code, 4) << ops.err;
  EXPECT_TRUE(contains(ops.err, "did you mean 'aten.mm.default'?"));
  const CliRun far = here("xyzzy");
  EXPECT_EQ(far.err.find("did you mean"), std::string::npos) << far.err;
}

// A comparison is made, and its code is told, wherever standard output goes.
TEST_F(CliManners, CompareWithAStoredPlanBesideAReport) {
  const std::string model = "golden/models/mutations.pt2";
  ASSERT_EQ(here("plan --text --no-reuse " + model).code, 0);
  fs::copy_file(folder_ / "here.out", folder_ / "before.plan");
  for (const std::string form : {"--json", "--html"}) {
    const CliRun other = here("plan " + model + " --diff before.plan " + form + " -");
    EXPECT_EQ(other.code, 1) << other.err;
    const CliRun same = here("plan --no-reuse " + model + " --diff before.plan " + form + " -");
    EXPECT_EQ(same.code, 0) << same.err;
    EXPECT_TRUE(same.out.starts_with(form == "--json" ? "{" : "<!doctype html>"));
  }
  const CliRun refused = here("plan " + model + " --json - --html -");
  EXPECT_EQ(refused.code, 4);
  EXPECT_TRUE(contains(refused.err, "only one report can go to standard output"));
}

// A flag that means nothing in a combination is told of, whatever the verb.
TEST_F(CliManners, RefuseFlagsWithoutEffect) {
  std::ofstream(folder_ / "a.case") << "graphgate-case 1\nname \"a\"\nseed 1\nprogram \"p\" {\n"
                                       "  input %x : f32[4]\n"
                                       "  %y : f32[4] = aten.relu.default(%x)\n  output %y\n}\n"
                                       "scenario {\n  call p\n}\n";
  const std::string model = "golden/models/mutations.pt2";
  ASSERT_EQ(here("plan --text " + model).code, 0);
  fs::copy_file(folder_ / "here.out", folder_ / "a.plan");
  struct Row {
    std::string arguments;
    const char* flag;
  };
  const Row rows[] = {
      {"plan --verify a.plan --quality", "--quality"},
      {"plan --verify a.plan --no-reuse", "--no-reuse"},
      {"plan --csv golden/memplan/A.1048576.csv --json a.json", "--json"},
      {"plan --csv golden/memplan/A.1048576.csv --call 1", "--call"},
      {"plan --quality --json a.json " + model, "--json"},
      {"plan --quality --diff a.plan " + model, "--diff"},
      {"plan --json - --text " + model, "--text"},
      {"ops --failures 3", "--failures"},
      {"ops --coverage golden/cases/op --only add", "--only"},
      {"ops --bounds-report --cases golden/ops/op_cases.jsonl --json a.json", "--json"},
      {"check --judge-recorded kept --calls 3", "--calls"},
      {"check --judge-recorded kept --no-reuse", "--no-reuse"},
      {"check --executor-timeout 3 " + model, "--executor-timeout"},
      {"check --answer-limit 1K " + model, "--answer-limit"},
      {"replay --executor-timeout 3 a.case", "--executor-timeout"},
      {"gate --baseline fixed --candidate fixed --executor-timeout 3", "--executor-timeout"},
      {"check --judges bounds --every-configuration " + model, "--every-configuration"},
      {"replay --ops add a.case", "--ops"},
      {"replay --write b.case --judges bounds a.case", "--judges"},
      {"reduce --calls 3 a.case", "--calls"},
      {"reduce --check true --judges bounds a.case", "--judges"},
      {"convert --inline a.case a.pt2", "--inline"},
      {"mutants --list -j 2", "--jobs"},
      {"help --man --man-folder pages", "--man"},
      {"help check --man-folder pages", "--man-folder"},
      {"fuzz --replay-only --cases 3", "--cases"},
      {"run --seed 3 " + model, "--seed"},
      {"run --calls 3 " + model, "--calls"},
      {"plan --seed 3 " + model, "--seed"},
      {"check --against reference --judges all " + model, "--judges"},
      {"check --against reference -x " + model, "--exitfirst"},
      {"check --against reference --junit a.json " + model, "--junit"},
      {"bench plan --batch 3", "--batch"},
      {"bench fuzz --nodes 1000", "--nodes"},
      {"bench decode --models golden/models", "--models"},
  };
  for (const Row& row : rows) expect_refused(row.arguments, std::string(row.flag));
  EXPECT_FALSE(fs::exists(folder_ / "a.json"));
  // Of one file among others: it alone is refused.
  for (const std::string& file : {model, std::string("a.case")}) {
    const CliRun refused = here("check --calls 3 " + file);
    EXPECT_EQ(refused.code, 4) << refused.out;
    EXPECT_EQ(line_count(refused.err), 1U) << refused.err;
    EXPECT_TRUE(contains(refused.err, "--calls has no effect on a "));
  }
  for (const std::string flag : {"--every-configuration", "--quality-baseline a.plan"}) {
    const CliRun refused = here("check " + flag + " " + model);
    EXPECT_EQ(refused.code, 4) << refused.out;
    EXPECT_TRUE(contains(refused.err, "has no effect on a program without --judges"));
  }
}

TEST_F(CliManners, KeepACampaignWhereTheNextOneHasAnOpThatIsNotDrawn) {
  ASSERT_LE(here("fuzz --cases 1 --judges bounds --reduce-time 0 --corpus kept").code, 2);
  const auto files = [&] {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "kept")) {
      names.insert(entry.path().string());
    }
    return names;
  };
  const std::set<std::string> before = files();
  expect_refused("fuzz --cases 1 --corpus kept --overwrite --ops aten.ad",
                 "'aten.ad' (graphgate fuzz --list-ops lists them); did you mean 'aten.add'?");
  EXPECT_EQ(files(), before);
}

// As where a shell's variable is not set: it is not the executor that is built in.
TEST_F(CliManners, RefuseAnEmptyCommandAndASign) {
  const std::string model = "golden/models/mutations.pt2";
  for (const std::string verb : {"check", "reduce", "replay"}) {
    expect_refused(verb + " --executor '' " + model,
                   "--executor: expected a command, found an empty one");
  }
  expect_refused("fuzz --cases 1 --executor ' '", "--executor: expected a command, found an empty");
  expect_refused("reduce --check '' " + model, "--check: expected a command, found an empty one");
  expect_refused("check --seed -1 " + model, "--seed: expected a number from 0 on, found -1");
  expect_refused("fuzz --cases 1 --seed -1", "--seed: expected a number from 0 on, found -1");
  expect_refused("check --capture-sizes few " + model, "--capture-sizes: does not take 'few'");
}

TEST_F(CliManners, SayWhatAFileOfAnotherKindIsFor) {
  const std::string model = "golden/models/mutations.pt2";
  fs::copy_file(folder_ / "golden/cases/op/conversion.case", folder_ / "a.case");
  const std::string a_case = "a.case: is a case, expected a program";
  expect_refused("plan a.case", a_case);
  expect_refused("run a.case", a_case);
  expect_refused("bench plan --model a.case", a_case);
  expect_refused("bench plan --model missing.pt2", "missing.pt2: cannot be opened");
  ASSERT_EQ(here("check -q --bundle b.zip " + model).code, 0);
  expect_refused("plan b.zip", "b.zip: is a bundle, and no case: unpack it");
  fs::copy_file(folder_ / model, folder_ / "model.zip");
  expect_refused("plan model.zip", "model.zip: is a zip archive, and the name of a program in one");
  expect_refused("plan --verify " + model, "is an archive, expected a plan; --program takes");
  expect_refused("replay " + model, "is no case; 'graphgate check' judges programs");
}

TEST_F(CliManners, WriteWhatPlanVerifyFindsAsJson) {
  ASSERT_EQ(here("plan --text golden/models/mutations.pt2").code, 0);
  fs::copy_file(folder_ / "here.out", folder_ / "a.plan");
  const CliRun right = here("plan --verify a.plan --json right.json");
  EXPECT_EQ(right.code, 0) << right.err;
  const auto json = nlohmann::json::parse(read_file(folder_ / "right.json"), nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["findings"].size(), 0U);
}

// Every verb, by the names of its outputs in --help: each of these runs would print something, or
// take minutes.
TEST_F(CliManners, SayBeforeARunThatAReportCannotBeWritten) {
  const std::string model = "golden/models/mutations.pt2";
  std::ofstream(folder_ / "file") << "no folder\n";
  struct Row {
    std::string words;  // of a run that goes well
    std::vector<std::string> outputs;
  };
  const Row rows[] = {
      {"check " + model,
       {"json", "markdown", "junit", "sarif", "html", "trace", "log-protocol", "bundle", "record",
        "cache"}},
      {"plan " + model, {"json", "html", "trace", "places", "cache"}},
      {"run " + model, {"save", "trace"}},
      {"ops", {"json"}},
      {"convert " + model, {"output"}},
      {"bench plan", {"json"}},
      {"mutants", {"json"}},
      {"fuzz --cases 100000 --jobs 1",
       {"json", "markdown", "junit", "sarif", "html", "case-log", "corpus"}},
      {"fuzz merge golden/fuzz", {"json"}},
      {"reduce golden/cases/feed_back.case", {"output"}},
      {"replay g9:1:0", {"json", "write"}},
      {"gate --baseline fixed --candidate fixed",
       {"json", "markdown", "junit", "sarif", "html", "save", "resume"}},
      {"golden check golden", {"json", "markdown"}},
      {"doctor", {"json"}},
      {"help", {"man-folder"}},
      {"completion bash", {"output"}},
  };
  for (const Row& row : rows) {
    for (const std::string& output : row.outputs) {
      const CliRun refused = here(row.words + " --" + output + " file/r.json");
      EXPECT_EQ(refused.code, 3) << row.words << " --" << output << refused.out << refused.err;
      EXPECT_EQ(line_count(refused.err), 1U) << row.words << " --" << output << refused.err;
      EXPECT_TRUE(contains(refused.err, "file/r.json: cannot be ")) << row.words;
      EXPECT_EQ(refused.out, "") << row.words << " --" << output;
    }
  }
}

TEST_F(CliManners, KeepOutputsApartFromEachOtherAndFromWhatIsRead) {
  const fs::path the_case = folder_ / "own.case";
  fs::copy_file(folder_ / "golden/cases/feed_back.case", the_case);
  const std::string before = read_file(the_case);
  std::ofstream(folder_ / "old.json") << "old\n";
  fs::create_symlink("old.json", folder_ / "link.json");
  fs::create_hard_link(the_case, folder_ / "hard.json");
  const std::string same = " would write the same file; name another for one of them";
  const std::string is_read = " would replace a file that is read; name another";
  expect_refused("check own.case --json new --html ./new", "./new: --json and --html" + same);
  expect_refused("check own.case --trace old.json --markdown link.json",
                 "old.json: --markdown and --trace" + same);
  expect_refused("check own.case --json own.case", "own.case: --json" + is_read);
  expect_refused("check own.case --html hard.json", "hard.json: --html" + is_read);
  expect_refused("reduce own.case --output own.case", "own.case: --output" + is_read);
  expect_refused("check own.case --json - --trace -", "only one report can go to standard output");
  EXPECT_EQ(read_file(the_case), before);
  EXPECT_EQ(read_file(folder_ / "old.json"), "old\n");
  EXPECT_FALSE(fs::exists(folder_ / "new"));
  EXPECT_EQ(here("check own.case --json /dev/null --html /dev/null").code, 0);
}

TEST_F(CliManners, TakeAFileOfOpsAndNothingBehindIt) {
  std::ofstream(folder_ / "ops.txt") << "my::own(Tensor self) -> Tensor\n";
  const CliRun run = here("check --custom-ops ops.txt golden/models/mutations.pt2");
  EXPECT_EQ(run.code, 0) << run.out << run.err;
}

// As --csv says them of what it packs; and a buffer that lies on ten others is one line.
TEST_F(CliManners, TellOfAPackedTableHowGoodItIsAndEachCauseOnce) {
  const CliRun packed = here("plan --csv golden/memplan/A.1048576.csv --out packed.csv");
  ASSERT_EQ(packed.code, 0) << packed.err;
  const CliRun right = here("plan --verify packed.csv --json right.json");
  EXPECT_EQ(right.code, 0) << right.err;
  EXPECT_TRUE(contains(right.out, "packed.csv: no findings in 154 buffers\n"));
  std::istringstream lines(packed.out);
  std::size_t said = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  peak ") && !line.starts_with("  lower bound ")) continue;
    ++said;
    EXPECT_TRUE(contains(right.out, line + "\n")) << line;
  }
  EXPECT_EQ(said, 2U) << packed.out;
  const auto json = nlohmann::json::parse(read_file(folder_ / "right.json"));
  EXPECT_EQ(json["peak_bytes"], 1048576);
  EXPECT_EQ(json["bound_bytes"], 1048576);
  // The first buffer onto the bytes of others.
  std::istringstream table(read_file(folder_ / "packed.csv"));
  std::ofstream moved(folder_ / "moved.csv");
  std::size_t number = 0;
  for (std::string line; std::getline(table, line); ++number) {
    moved << (number == 1 ? line.substr(0, line.rfind(',')) + ",0" : line) << "\n";
  }
  moved.close();
  const CliRun wrong = here("plan --verify moved.csv");
  EXPECT_EQ(wrong.code, 1) << wrong.err;
  EXPECT_EQ(line_count(wrong.out), 4U) << wrong.out;
  EXPECT_TRUE(contains(wrong.out, "; '0' meets "));
  EXPECT_TRUE(contains(wrong.out, " findings of 1 cause in 154 buffers\n"));
}

TEST_F(CliManners, ChooseAmongTheFilesOfAFolder) {
  fs::create_directories(folder_ / "in/below");
  fs::copy_file(folder_ / "golden/cases/op/conversion.case", folder_ / "in/below/good.case");
  fs::copy_file(folder_ / "golden/cases/catalogue/b4-freed-twice.case", folder_ / "in/bad.case");
  fs::copy_file(folder_ / "golden/cases/catalogue/b4-freed-twice.case", folder_ / "in/worse.case");
  const std::string flags = " --judges verifier --deviation frees_twice ";
  const CliRun all = here("check in" + flags);
  EXPECT_EQ(all.code, 1) << all.err;
  EXPECT_EQ(last_line(all.out), "1 passed, 2 failed, 0 skipped");
  EXPECT_EQ(last_line(here("check in -k good" + flags).out), "1 passed, 0 failed, 0 skipped");
  EXPECT_EQ(last_line(here("check in -k '*/b*.case'" + flags).out),
            "1 passed, 1 failed, 0 skipped");
  expect_refused("check in -k nothing", "none of 3 files");
  const CliRun first = here("check in -x" + flags);
  EXPECT_EQ(first.code, 1) << first.err;
  EXPECT_TRUE(contains(first.out, "0 passed, 1 failed, 2 skipped"));
  const CliRun quiet = here("check -q in" + flags);
  EXPECT_EQ(quiet.out.find("PASS"), std::string::npos) << quiet.out;
  EXPECT_TRUE(contains(quiet.out, "FAIL in/bad.case"));
  fs::create_directory(folder_ / "empty");
  expect_refused("check empty", "empty: holds no program");
}

TEST_F(CliManners, KeepALineThatPassesWithin100Columns) {
  const CliRun brief = here("check golden/models/mutations.pt2");
  EXPECT_EQ(brief.code, 0) << brief.err;
  const std::string line = brief.out.substr(0, brief.out.find('\n'));
  EXPECT_LE(line.size(), 100U) << line;
  EXPECT_TRUE(contains(line, "PASS golden/models/mutations.pt2: 25 nodes"));
  const CliRun whole = here("check -v golden/models/mutations.pt2");
  EXPECT_TRUE(contains(whole.out, " steps captured in "));
}

// Neither a pipe nor NO_COLOR gets colours.
TEST_F(CliManners, KeepColoursToTerminals) {
  EXPECT_EQ(here("check golden/models/mutations.pt2").out.find('\x1b'), std::string::npos);
  if (std::system("command -v script >/dev/null 2>&1") != 0) {  // NOLINT(cert-env33-c)
    GTEST_SKIP() << "script(1), which makes a terminal, is not here";
  }
  const auto in_terminal = [&](const std::string& environment) {
    const std::string command = "cd " + folder_.string() + " && TERM=xterm " + environment +
                                " script -qec './graphgate check golden/models/mutations.pt2' "
                                "seen.txt >/dev/null </dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0);  // NOLINT(cert-env33-c): our own words
    return read_file(folder_ / "seen.txt");
  };
  EXPECT_TRUE(contains(in_terminal(""), "\x1b[32mPASS\x1b[0m golden"));
  EXPECT_EQ(in_terminal("NO_COLOR=1").find("\x1b[32m"), std::string::npos);
}

// Each example has flags that there are, with values that they take: with one more word, that word
// is all that is wrong.
TEST_F(CliManners, GiveExamplesThatAreUnderstood) {
  const std::string usage = here("--help").out;
  std::size_t examples = 0;
  for (const char* verb : {"check", "plan", "run", "ops", "convert", "bench", "mutants", "fuzz",
                           "fuzz merge", "reduce", "replay", "gate", "golden", "golden check",
                           "golden update", "serve", "doctor", "help", "completion"}) {
    std::istringstream help(here(std::string(verb) + " --help").out);
    for (std::string line; std::getline(help, line);) {
      if (!line.starts_with("  graphgate ")) continue;
      ++examples;
      std::string words = line.substr(sizeof("  graphgate"));
      if (const auto pipe = words.find(" > "); pipe != std::string::npos) words.resize(pipe);
      const CliRun run = here(words + " --no-such-flag");
      EXPECT_EQ(run.code, 4) << line << run.out << run.err;
      EXPECT_TRUE(contains(run.err, "not expected: --no-such-flag")) << line;
    }
  }
  EXPECT_GE(examples, 30U) << usage;
  const CliRun drawn = here(
      "fuzz --cases 3 --deviation frees_twice --ops aten.add,aten.mul,view=5 --no-replay --corpus "
      "c");
  EXPECT_LE(drawn.code, 2) << drawn.out << drawn.err;
  const CliRun names = here("fuzz --list-ops");
  EXPECT_EQ(names.code, 0) << names.err;
  EXPECT_TRUE(contains(names.out, "pointwise_binary\n"));
  EXPECT_TRUE(contains(names.out, "\naten.mm\n"));
}

}  // namespace
}  // namespace graphgate::tools
