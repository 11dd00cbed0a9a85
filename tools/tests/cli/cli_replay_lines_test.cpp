// Lines that verbs print to show a finding again: pasted into a shell as they stand, they show it.
#include <sstream>

#include "base/result_test.h"
#include "base/shell_words.h"
#include "tools/report/replay_line.h"
#include "tools/tests/cli/cli_test.h"

namespace graphgate::tools {
namespace {

class CliReplayLines : public Cli {
 protected:
  // Nothing is set that lines would tell of, whatever machine runs this.
  void SetUp() override {
    Cli::SetUp();
    for (const std::string& told : split_shell_line(replay_environment()).value()) {
      ::unsetenv(told.substr(0, told.find('=')).c_str());
    }
  }

  // Runs a line as somebody pastes it who stands where the campaign ran.
  CliRun paste(const std::string& line) {
    const fs::path out = folder_ / "pasted.out";
    const fs::path err = folder_ / "pasted.err";
    std::ofstream(folder_ / "pasted.sh") << "PATH=" << shell_word(folder_.string()) << ":$PATH\ncd "
                                         << shell_word(folder_.string()) << "\n"
                                         << line << "\n";
    const std::string command = "sh " + (folder_ / "pasted.sh").string() + " >" + out.string() +
                                " 2>" + err.string() + " </dev/null";
    const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): our own words
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out), read_file(err)};
  }
  CliRun here(const std::string& arguments) { return paste("graphgate " + arguments); }
  [[nodiscard]] nlohmann::json json(const char* name) const {
    return nlohmann::json::parse(read_file(folder_ / name), nullptr, false);
  }
  // What stands behind "replay: " in a text, line by line.
  static std::vector<std::string> replay_lines(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream all(text);
    for (std::string line; std::getline(all, line);) {
      const std::size_t at = line.find("replay: ");
      if (at != std::string::npos) lines.push_back(line.substr(at + 8));
    }
    return lines;
  }
  // Pastes the line, and expects the rule of the finding to show in what comes out.
  void expect_shown(const std::string& line, const std::string& rule) {
    const CliRun pasted = paste(line);
    EXPECT_EQ(pasted.code, 1) << line << "\n" << pasted.out << pasted.err;
    EXPECT_TRUE(contains(pasted.out, rule)) << line << "\n" << pasted.out << pasted.err;
  }
  // The rule of "verifier V3.in-place [mm] {}".
  static std::string rule_of(const std::string& signature) {
    const std::size_t begin = signature.find(' ') + 1;
    return signature.substr(begin, signature.find(' ', begin) - begin);
  }
};

// The executor is a command with words of its own in quotes, and needs a variable; the corpus has a
// blank in its name.
TEST_F(CliReplayLines, OfACampaignAgainstACommandAskThatCommand) {
  const std::string executor =
      "test \"$PYTHONPATH\" = 'a b' && ./graphgate serve optimized --deviation "
      "lifetimes_touch_wrongly";
  ::setenv("PYTHONPATH", "a b", 1);
  const CliRun campaign = here(
      "fuzz --cases 3 -j 2 --seed 3 --judges verifier --timeout 100 --reduce-time 1 --executor " +
      shell_word(executor) +
      " --executor-timeout 50 --corpus 'my corpus' --json r.json --markdown r.md --junit "
      "r.xml --sarif r.sarif");
  ::unsetenv("PYTHONPATH");
  ASSERT_EQ(campaign.code, 1) << campaign.out << campaign.err;
  std::string file_line;
  std::string signature;
  const nlohmann::json report = json("r.json");
  for (const auto& finding : report["findings"]) {
    file_line = finding["replay"];
    signature = finding["signature"];
    expect_shown(file_line, "shows '" + signature.substr(0, signature.find(" [")));
  }
  ASSERT_FALSE(file_line.empty()) << campaign.out;
  // As it came, by its number alone.
  std::istringstream events(campaign.out);
  std::size_t found = 0;
  for (std::string line; std::getline(events, line);) {
    const auto event = nlohmann::json::parse(line, nullptr, false);
    if (event.is_discarded() || event["event"] != "finding") continue;
    ++found;
    expect_shown(event["replay"], rule_of(event["signature"]));
  }
  EXPECT_GT(found, 0U);
  // The other forms have the same line.
  EXPECT_TRUE(contains(read_file(folder_ / "r.md"), file_line));
  EXPECT_TRUE(contains(json("r.sarif").dump(), nlohmann::json(file_line).dump()));
  EXPECT_TRUE(contains(read_file(folder_ / "r.xml"), "replay: PYTHONPATH="));
  // The sum of one shard tells the same.
  EXPECT_EQ(here("fuzz merge 'my corpus' --json m.json").code, 1);
  EXPECT_EQ(json("m.json")["findings"].back()["replay"], file_line);
  // As one word.
  const CliRun as_word = paste("graphgate replay " + shell_word(file_line));
  EXPECT_EQ(as_word.code, 1) << as_word.out << as_word.err;

  // Without the command nobody is judged in its place.
  const std::string file = split_shell_line(file_line).value()[3];
  const std::string id = json("r.json")["findings"].back()["first"];
  for (const std::string& verb : {std::string("replay "), std::string("check "),
                                  std::string("reduce "), "replay --corpus 'my corpus' " + id}) {
    const bool is_id = verb.find(id) != std::string::npos;
    const CliRun refused = here(verb + (is_id ? "" : shell_word(file)));
    EXPECT_EQ(refused.code, 4) << verb << refused.out << refused.err;
    EXPECT_EQ(line_count(refused.err), 1U) << refused.err;
    const std::size_t begin = refused.err.find("PYTHONPATH=");
    const std::size_t end = refused.err.find(" (or --executor optimized");
    ASSERT_NE(begin, std::string::npos) << refused.err;
    ASSERT_NE(end, std::string::npos) << refused.err;
    const CliRun asked = paste(refused.err.substr(begin, end - begin));
    EXPECT_EQ(asked.code, verb == "reduce " ? 0 : 1) << refused.err << asked.out << asked.err;
  }
  const CliRun built_in = here("replay --judges verifier --executor optimized " + shell_word(file));
  EXPECT_EQ(built_in.code, 0) << built_in.out << built_in.err;
  EXPECT_TRUE(contains(built_in.out, "judged: optimized"));
}

TEST_F(CliReplayLines, OfACampaignSayWhatItWasGiven) {
  const CliRun campaign = here(
      "fuzz --cases 16 -j 2 --judges verifier --deviation lifetimes_touch_wrongly --deviation "
      "key_without_dtype --exclude scatter --reduce-time 0 --data-sets 2 --corpus c --json r.json");
  ASSERT_EQ(campaign.code, 1) << campaign.out << campaign.err;
  std::istringstream events(campaign.out);
  std::size_t found = 0;
  for (std::string line; std::getline(events, line);) {
    const auto event = nlohmann::json::parse(line, nullptr, false);
    if (event.is_discarded() || event["event"] != "finding") continue;
    ++found;
    const std::string replay = event["replay"];
    EXPECT_TRUE(contains(replay, " --exclude scatter --data-sets 2 ")) << replay;
    EXPECT_TRUE(contains(replay,
                         "--deviation lifetimes_touch_wrongly --deviation "
                         "key_without_dtype"))
        << replay;
    expect_shown(replay, rule_of(event["signature"]));
  }
  EXPECT_GT(found, 0U);
}

TEST_F(CliReplayLines, OfACheckNameDataOptionsAndJudges) {
  const std::string data = edited_recording("mutations", [](auto& tensors) {
    for (auto& [name, tensor] : tensors) {
      if (tensor.dtype == spec::DType::kFloat32) tensor.storage->bytes[2] ^= std::byte{0x40};
    }
  });
  fs::create_directory(folder_ / "a folder");
  const CliRun recorded =
      here("check golden/models/mutations.pt2 --data " + data +
           " --executor reference --executor './graphgate serve optimized' --no-reuse --judges "
           "bounds,state --json - --junit r.xml --markdown r.md --sarif r.sarif -j 2");
  ASSERT_EQ(recorded.code, 1) << recorded.out << recorded.err;
  const auto report = nlohmann::json::parse(recorded.out, nullptr, false);
  const std::string line = report["programs"][0]["replay"];
  expect_shown(line, report["programs"][0]["reason"]);
  EXPECT_TRUE(contains(read_file(folder_ / "r.xml"), "replay: "));
  EXPECT_TRUE(contains(read_file(folder_ / "r.md"), line));
  EXPECT_TRUE(contains(json("r.sarif").dump(), nlohmann::json(line).dump()));

  // The second of two files, with a fault and a name that needs quotes; the run is kept as well.
  fs::copy_file(folder_ / "golden/cases/catalogue/b4-freed-twice.case",
                folder_ / "a folder/it's.case");
  const CliRun drawn = here(
      "check golden/cases/op/conversion.case \"a folder/it's.case\" --deviation frees_twice "
      "--judges verifier,exact --record kept");
  ASSERT_EQ(drawn.code, 1) << drawn.out << drawn.err;
  ASSERT_EQ(replay_lines(drawn.out).size(), 1U) << drawn.out;
  expect_shown(replay_lines(drawn.out).front(), "V3.overlap");
  const CliRun judged = here("check --judge-recorded kept --judges verifier");
  ASSERT_EQ(replay_lines(judged.out).size(), 1U) << judged.out << judged.err;
  expect_shown(replay_lines(judged.out).front(), "V3.overlap");
}

TEST_F(CliReplayLines, OfReduceGoldenAndMutantsShowTheSame) {
  const CliRun made = here(
      "reduce golden/cases/catalogue/b4-freed-twice.case --deviation frees_twice --judges "
      "verifier -o 'small one.case' --executor './graphgate serve optimized'");
  ASSERT_EQ(made.code, 0) << made.out << made.err;
  ASSERT_EQ(replay_lines(made.out).size(), 1U) << made.out;
  expect_shown(replay_lines(made.out).front(), "shows 'verifier V3.overlap");

  const CliRun differs = here("golden check golden --only models/mutations --no-reuse");
  ASSERT_EQ(differs.code, 1) << differs.out << differs.err;
  ASSERT_FALSE(replay_lines(differs.out).empty()) << differs.out;
  for (const std::string& line : replay_lines(differs.out)) {
    const CliRun again = paste(line);
    EXPECT_EQ(again.code, 1) << line << "\n" << again.out << again.err;
    EXPECT_TRUE(contains(differs.out, again.out.substr(0, again.out.find('\n'))));
  }

  const CliRun killed = here("mutants --filter frees_twice golden/cases/catalogue");
  ASSERT_EQ(killed.code, 0) << killed.out << killed.err;
  ASSERT_FALSE(replay_lines(killed.out).empty()) << killed.out;
  for (const std::string& line : replay_lines(killed.out)) {
    const CliRun again = paste(line);
    EXPECT_EQ(again.code, 1) << line << "\n" << again.out << again.err;
  }
}

}  // namespace
}  // namespace graphgate::tools
