// What forks do to a log of the protocol.
#include "tools/executors/protocol_log.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <fstream>
#include <sstream>

#include "base/folder_test.h"

namespace graphgate::tools {
namespace {

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Writes a line in a fork, whose files may have so many bytes.
void note_in_fork(ProtocolLog& log, rlim_t most_bytes) {
  const pid_t fork = ::fork();
  if (fork == 0) {
    const rlimit limit{most_bytes, most_bytes};
    (void)::setrlimit(RLIMIT_FSIZE, &limit);
    log.note("1-1", "sent", R"({"hello":{"protocol":1}})", "/dev/shm");
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(fork, &status, 0), fork);
  ASSERT_EQ(status, 0);
}

TEST(ProtocolLog, HoldsWhatForksWrite) {
  const TestFolder folder;
  const std::string path = folder.file("log.jsonl");
  auto log = ProtocolLog::open(path);
  ASSERT_TRUE(log.ok());
  note_in_fork(*log.value(), RLIM_INFINITY);
  log.value()->note_end("1-1", "hangs");
  ASSERT_TRUE(ProtocolLog::close_all().ok());
  const std::string text = text_of(path);
  EXPECT_NE(text.find(R"("direction": "sent")"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("direction": "ended")"), std::string::npos) << text;
}

TEST(ProtocolLog, SaysSoWhereNothingWasSaid) {
  const TestFolder folder;
  const std::string path = folder.file("log.jsonl");
  ASSERT_TRUE(ProtocolLog::open(path).ok());
  ASSERT_TRUE(ProtocolLog::close_all().ok());
  EXPECT_NE(text_of(path).find(R"("text": "nothing was said"})"), std::string::npos);
}

TEST(ProtocolLog, IsNotThereWhereAForkCouldNotWriteAll) {
  const TestFolder folder;
  const std::string path = folder.file("log.jsonl");
  std::ofstream(path) << "old\n";
  auto log = ProtocolLog::open(path);
  ASSERT_TRUE(log.ok());
  note_in_fork(*log.value(), 20);
  log.value()->note_end("1-1", "hangs");
  const auto closed = ProtocolLog::close_all();
  ASSERT_FALSE(closed.ok());
  EXPECT_EQ(closed.error().kind, ErrorKind::kInfrastructure);
  EXPECT_NE(closed.error().message.find("log.jsonl: cannot be written: "), std::string::npos)
      << closed.error().message;
  EXPECT_EQ(text_of(path), "old\n");
}

}  // namespace
}  // namespace graphgate::tools
