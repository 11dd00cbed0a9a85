// What the program says of itself: `help` beside --help, and --version beside doctor.
#include <sstream>

#include "base/result_test.h"
#include "tools/tests/cli/cli_test.h"

namespace graphgate::tools {
namespace {

class CliHelp : public Cli {};

TEST_F(CliHelp, OfAVerbIsWhatItsOwnFlagPrints) {
  for (const char* verb : {"check", "fuzz", "fuzz merge", "golden update", "help"}) {
    const CliRun flag = run(std::string(verb) + " --help");
    const CliRun help = run(std::string("help ") + verb);
    EXPECT_EQ(help.code, 0) << verb << help.err;
    EXPECT_EQ(help.out, flag.out) << verb;
  }
  EXPECT_EQ(run("help").out, run("--help").out);
}

TEST_F(CliHelp, SaysWhichVerbWasMeant) {
  const CliRun unknown = run("help chek");
  EXPECT_EQ(unknown.code, 4);
  EXPECT_EQ(unknown.out, "");
  EXPECT_EQ(line_count(unknown.err), 1U) << unknown.err;
  EXPECT_TRUE(contains(unknown.err, "unknown verb 'chek'; did you mean 'check'?"));
  EXPECT_TRUE(contains(run("help fuzz mrge").err, "did you mean 'merge'?"));
  EXPECT_EQ(run("help check check").code, 4);
}

TEST_F(CliHelp, WritesAPageForEveryVerb) {
  const fs::path pages = folder_ / "made/man1";
  const CliRun made = run("help --man-folder " + pages.string());
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.out, "");
  for (const char* page : {"graphgate.1", "graphgate-check.1", "graphgate-fuzz-merge.1"}) {
    EXPECT_TRUE(fs::exists(pages / page)) << page;
  }
  EXPECT_EQ(read_file(pages / "graphgate-check.1"), run("help --man check").out);
  EXPECT_EQ(read_file(pages / "graphgate.1"), run("help --man").out);
}

// A report of a bug begins with it.
TEST_F(CliHelp, TellsOfTheBuildAsDoctorDoes) {
  const CliRun version = run("--version");
  EXPECT_EQ(version.code, 0) << version.err;
  const auto facts = nlohmann::json::parse(run("doctor --json -").out);
  std::istringstream lines(version.out);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(line, "graphgate " + facts.at("version").get<std::string>());
  std::size_t told = 0;
  for (; std::getline(lines, line); ++told) {
    const std::string key = line.substr(0, line.find(' '));
    ASSERT_TRUE(facts.contains(key)) << line;
    const std::string value = facts.at(key).get<std::string>();
    EXPECT_TRUE(line.ends_with(" " + value)) << line << " of " << value;
  }
  EXPECT_GE(told, 7U);
  for (const char* key : {"commit", "compiler", "build_type", "allocator", "cuda_toolkit"}) {
    EXPECT_TRUE(contains(version.out, std::string("\n") + key + " ")) << key;
  }
}

TEST_F(CliHelp, WritesNoScriptForAnUnknownShell) {
  const CliRun refused = run("completion csh");
  EXPECT_EQ(refused.code, 4);
  EXPECT_EQ(line_count(refused.err), 1U) << refused.err;
  EXPECT_TRUE(contains(refused.err, "csh"));
  EXPECT_EQ(run("completion").code, 4);
}

}  // namespace
}  // namespace graphgate::tools
