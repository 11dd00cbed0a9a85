#include "tools/executors/command.h"

#include <csignal>
#include <filesystem>

#include "base/file_io.h"
#include "base/folder_test.h"
#include "base/processes.h"
#include "base/result_test.h"

namespace graphgate::tools {
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

// Also what has left the session, after an end and when the time is up.
TEST(RunCommand, LeavesNoProcess) {
  const TestFolder folder;
  for (const char* ending : {"exit 3", "sleep 1000"}) {
    const std::string command =
        "rm -f \"$1\"; setsid sh -c 'echo $$ >\"$1\"; exec sleep 1000' sh \"$1\" "
        "& while ! [ -s \"$1\" ]; do sleep 0.02; done; " +
        std::string(ending);
    const std::string file = folder.file("number");
    const int status = run_command(command, file, 5).value();
    EXPECT_TRUE(status == 3 || status == 124) << status;
    const std::string number = must(read_whole(file));
    ASSERT_FALSE(number.empty()) << ending;
    EXPECT_EQ(start_ticks(std::stoi(number)), 0U) << ending;
  }
}

}  // namespace
}  // namespace graphgate::tools
