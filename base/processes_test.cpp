#include "base/processes.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "base/folder_test.h"

namespace graphgate {
namespace {

// What a user's command says of a file.
int status_of(const std::string& command, const std::string& path, std::uint32_t seconds = 10) {
  return run_command(command + " \"$1\"", path, seconds).value();
}

TEST(RunCommand, TellsTheStatusOfTheCommand) {
  EXPECT_EQ(status_of("test -d", "/"), 0);
  EXPECT_EQ(status_of("test -f", "/"), 1);
  EXPECT_EQ(status_of("exit 7 #", "x"), 7);
  EXPECT_EQ(status_of("kill -9 $$ #", "x"), 128 + SIGKILL);
  EXPECT_EQ(status_of("sleep 60 | sleep 60 #", "x", 1), 124);
}

TEST(RunCommand, HandsOverPathsWithBlanksAndQuotes) {
  const TemporaryFolder folder = made_folder();
  const std::string inner = folder.path() + "/it's a \"path\" $HOME";
  std::filesystem::create_directories(inner);
  EXPECT_EQ(status_of("test -d", inner), 0);
  EXPECT_EQ(status_of("test -d", inner + "x"), 1);
}

TEST(SignalWords, NameTheSignal) {
  EXPECT_EQ(signal_words(SIGSEGV), "signal 11 (Segmentation fault)");
}

}  // namespace
}  // namespace graphgate
