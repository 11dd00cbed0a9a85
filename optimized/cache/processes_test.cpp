// The cache among real processes: killed in the middle of a write, several at once, one after
// another, and from an ahead-of-time file. Whatever happens, the bits are those of a cold start.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "optimized/cache/cache_test_support.h"

namespace graphgate::optimized {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  int status = 0;                    // as waitpid gives it
  std::vector<std::string> results;  // a line for each size
  std::string counters;
  std::string warnings;

  [[nodiscard]] bool was_killed() const {
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }
  [[nodiscard]] bool ended_well() const { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }
};

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class CacheProcesses : public testing::Test {
 protected:
  struct Running {
    pid_t pid = 0;
    fs::path out;
    fs::path err;
  };

  Running start(const std::vector<std::string>& arguments, std::size_t dies_at = 0) {
    const std::string stem = std::to_string(started_++);
    Running running{0, output_.path() / (stem + ".out"), output_.path() / (stem + ".err")};
    running.pid = fork();
    GRAPHGATE_CHECK(running.pid >= 0);
    if (running.pid == 0) {
      GRAPHGATE_CHECK(std::freopen(running.out.c_str(), "w", stdout) != nullptr);
      GRAPHGATE_CHECK(std::freopen(running.err.c_str(), "w", stderr) != nullptr);
      if (dies_at > 0) ::setenv("CACHE_WRITER_DIES_AT", std::to_string(dies_at).c_str(), 1);
      std::vector<const char*> argv = {CACHE_WRITER};
      for (const std::string& argument : arguments) argv.push_back(argument.c_str());
      argv.push_back(nullptr);
      ::execv(CACHE_WRITER, const_cast<char* const*>(argv.data()));
      ::_exit(127);
    }
    return running;
  }

  static Outcome finish(const Running& running) {
    Outcome outcome;
    GRAPHGATE_CHECK(::waitpid(running.pid, &outcome.status, 0) == running.pid);
    std::ifstream out(running.out);
    for (std::string line; std::getline(out, line);) outcome.results.push_back(line);
    if (!outcome.results.empty() && outcome.ended_well()) {
      outcome.counters = outcome.results.back();
      outcome.results.pop_back();
    }
    outcome.warnings = text_of(running.err);
    return outcome;
  }

  Outcome run(const std::vector<std::string>& arguments, std::size_t dies_at = 0) {
    return finish(start(arguments, dies_at));
  }

  std::string root() const { return folder_.path().string(); }

  TestFolder folder_;
  TestFolder output_;
  int started_ = 0;
};

TEST_F(CacheProcesses, GetTheSameBitsColdWarmAndAheadOfTime) {
  const Outcome cold = run({"folder", root(), "3", "40", "5"});
  ASSERT_TRUE(cold.ended_well()) << cold.warnings;
  ASSERT_EQ(cold.results.size(), 3U);
  EXPECT_TRUE(contains(cold.counters, "plans_compiled 3"));
  const Outcome warm = run({"folder", root(), "3", "40", "5"});
  EXPECT_EQ(warm.results, cold.results);
  EXPECT_EQ(warm.counters, "graphs_seen 1, cache_hits 3, artifacts_loaded 3");
  const std::string file = root() + "/all.plans";
  EXPECT_EQ(run({"save", file, "5", "3", "40"}).results.size(), 3U);
  const Outcome ahead = run({"load", file, "3", "40", "5"});
  EXPECT_EQ(ahead.results, cold.results);
  EXPECT_EQ(ahead.counters, "graphs_seen 1, cache_hits 3, artifacts_loaded 3");
}

TEST_F(CacheProcesses, SurviveAKillAtAnyPointOfAWrite) {
  const Outcome cold = run({"folder", root() + "/whole", "7"});
  ASSERT_TRUE(cold.ended_well()) << cold.warnings;
  std::size_t kills = 0;
  for (std::size_t dies_at = 1;; dies_at += 4096) {
    const std::string killed_root = root() + "/killed" + std::to_string(dies_at);
    const Outcome killed = run({"folder", killed_root, "7"}, dies_at);
    if (killed.ended_well()) break;
    ASSERT_TRUE(killed.was_killed()) << killed.warnings;
    ++kills;
    // The file aside is there, and nothing under a final name is cut.
    for (const fs::path& entry : files_in(killed_root, "entries")) {
      EXPECT_TRUE(contains(entry.filename().string(), ".tmp."));
    }
    const Outcome again = run({"folder", killed_root, "7"});
    EXPECT_EQ(again.results, cold.results);
    EXPECT_EQ(again.warnings, "");
    // What the killed one left aside is gone, and the plan is there.
    EXPECT_EQ(files_in(killed_root, "entries").size(), 1U);
    EXPECT_EQ(files_in(killed_root, "artifacts").size(), 1U);
    const Outcome warm = run({"folder", killed_root, "7"});
    EXPECT_EQ(warm.results, cold.results);
    EXPECT_EQ(warm.counters, "graphs_seen 1, cache_hits 1, artifacts_loaded 1");
  }
  EXPECT_GE(kills, 3U);  // in the artifact's chunks and in the entry
}

TEST_F(CacheProcesses, WriteTheSameEntriesAtOnce) {
  const Outcome alone = run({"folder", root() + "/alone", "2", "3", "4", "5", "6"});
  const std::vector<std::vector<std::string>> orders = {
      {"folder", root() + "/shared", "2", "3", "4", "5", "6"},
      {"folder", root() + "/shared", "6", "5", "4", "3", "2"},
      {"folder", root() + "/shared", "4", "2", "6", "3", "5"}};
  std::vector<Running> running;
  running.reserve(orders.size());
  for (const auto& order : orders) running.push_back(start(order));
  for (const Running& process : running) {
    Outcome outcome = finish(process);
    ASSERT_TRUE(outcome.ended_well()) << outcome.warnings;
    EXPECT_EQ(outcome.warnings, "");
    std::sort(outcome.results.begin(), outcome.results.end());
    std::vector<std::string> expected = alone.results;
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(outcome.results, expected);
  }
  EXPECT_EQ(files_in(root() + "/shared", "entries").size(), 5U);
  EXPECT_EQ(files_in(root() + "/shared", "artifacts").size(), 5U);
  const Outcome warm = run({"folder", root() + "/shared", "2", "3", "4", "5", "6"});
  EXPECT_EQ(warm.results, alone.results);
  EXPECT_EQ(warm.counters, "graphs_seen 1, cache_hits 5, artifacts_loaded 5");
}

// The deviation: a kill leaves a cut file under its final name, which a reader meets.
TEST_F(CacheProcesses, MeetCutFilesWhenWritesAreInPlace) {
  const std::string cut_root = root() + "/cut";
  EXPECT_TRUE(run({"in-place", cut_root, "7"}, 4096).was_killed());
  const std::vector<fs::path> artifacts = files_in(cut_root, "artifacts");
  ASSERT_EQ(artifacts.size(), 1U);
  EXPECT_EQ(artifacts[0].extension(), ".plan");
  EXPECT_EQ(fs::file_size(artifacts[0]), 4096U);
  const std::string aside_root = root() + "/aside";
  EXPECT_TRUE(run({"folder", aside_root, "7"}, 4096).was_killed());
  ASSERT_EQ(files_in(aside_root, "artifacts").size(), 1U);
  EXPECT_NE(files_in(aside_root, "artifacts")[0].extension(), ".plan");
}

TEST_F(CacheProcesses, RefuseAnAheadOfTimeFileThatIsCut) {
  const std::string file = root() + "/all.plans";
  ASSERT_TRUE(run({"save", file, "3"}).ended_well());
  fs::resize_file(file, fs::file_size(file) - 1);
  const Outcome outcome = run({"load", file, "3"});
  EXPECT_FALSE(outcome.ended_well());
  EXPECT_TRUE(contains(outcome.warnings, "the file is damaged or cut"));
}

}  // namespace
}  // namespace graphgate::optimized
