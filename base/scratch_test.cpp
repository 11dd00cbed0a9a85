#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/folder_test.h"
#include "base/processes.h"
#include "base/result_test.h"
#include "base/scratch_name.h"
#include "base/stop_signals.h"

namespace graphgate {
namespace {

namespace fs = std::filesystem;

// The mark of a process that has ended.
std::string mark_of_gone() {
  const TestFolder folder;
  const std::string file = folder.file("mark");
  const auto process = fork_worker({}, [&] { (void)write_text(owner_mark(), file); });
  EXPECT_TRUE(process.ok());
  (void)wait_for_process(process.value());
  return read_whole(file).value();
}

TEST(ScratchName, TellsWhoIsGone) {
  const std::string gone = mark_of_gone();
  for (const std::string& name :
       {"graphgate-exchange-" + gone + "-aBc123", "out.json.partial-" + gone + "-aBc123",
        "entry.tmp." + gone + "-7"}) {
    EXPECT_TRUE(is_left_behind(name)) << name;
  }
  for (const std::string& name :
       {scratch_name("exchange"), scratch_beside("out.json"), "entry.tmp." + owner_mark() + "-0"}) {
    EXPECT_FALSE(is_left_behind(name)) << name;
  }
}

// Its parent has not taken it in.
TEST(ScratchName, TellsOfAZombieThatItIsGone) {
  const TestFolder folder;
  const std::string file = folder.file("mark");
  const auto process = fork_worker({}, [&] { (void)write_text(owner_mark(), file); });
  ASSERT_TRUE(process.ok());
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(process.value()), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(is_left_behind("a.partial-" + read_whole(file).value() + "-aBc123"));
  (void)wait_for_process(process.value());
}

TEST(ScratchName, LeavesAloneWhatItCannotTell) {
  const std::string gone = mark_of_gone();
  const std::string numbers = gone.substr(gone.find('.'));
  for (const std::string& name : std::initializer_list<std::string>{
           "graphgate-exchange-00000000" + numbers + "-aBc123",  // of another machine
           "notes-" + gone + "-aBc123", gone + "-aBc123", "graphgate-exchange-aBc123",
           "graphgate-exchange-", "-", "1.2-3", ""}) {
    EXPECT_FALSE(is_left_behind(name)) << name;
  }
}

// The number of a process is given again.
TEST(ScratchName, KnowsAnotherProcessOfTheSameNumber) {
  const std::string own = owner_mark();
  const std::size_t start = own.rfind('.') + 1;
  EXPECT_TRUE(is_left_behind("a.partial-" + own.substr(0, start) + "17-aBc123"));
  EXPECT_FALSE(is_left_behind("a.partial-" + own.substr(0, start) + "0-aBc123")) << "nobody knows";
}

TEST(ScratchName, FitsBesideALongName) {
  const TestFolder folder;
  for (const std::size_t length : {1U, 200U, 255U}) {
    const std::string path = folder.file(std::string(length, 'n'));
    EXPECT_TRUE(TemporaryFolder::beside(path).ok()) << length;
    EXPECT_TRUE(write_text("text", path).ok()) << length;
  }
}

TEST(TemporaryFolder, IsPrivateAndGoes) {
  std::string path;
  {
    const TemporaryFolder folder = made_folder();
    path = folder.path();
    struct stat info {};
    ASSERT_EQ(::lstat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0700U);
    ASSERT_TRUE(write_text("text", path + "/file").ok());
  }
  EXPECT_FALSE(fs::exists(path));
}

// A link, or another folder, stands where it was.
TEST(TemporaryFolder, RemovesNoOther) {
  const TestFolder others;
  ASSERT_TRUE(write_text("kept", others.file("kept")).ok());
  for (const bool is_link : {true, false}) {
    const TestFolder root;
    {
      const auto folder = TemporaryFolder::make("test", {root.path().string()});
      ASSERT_TRUE(folder.ok());
      const std::string path = folder.value().path();
      fs::rename(path, root.file("moved"));
      if (is_link) fs::create_directory_symlink(others.path(), path);
      if (!is_link) {
        fs::create_directory(path);
        EXPECT_TRUE(write_text("kept", path + "/kept").ok());
      }
      EXPECT_FALSE(folder.value().is_there());
      folder.value().clear();
    }
    EXPECT_EQ(root.count(), 2U);
    const fs::recursive_directory_iterator all(root.path());
    const auto files = std::count_if(
        begin(all), end(all), [](const auto& entry) { return entry.path().filename() == "kept"; });
    EXPECT_EQ(files, is_link ? 0 : 1);
    EXPECT_TRUE(fs::exists(others.file("kept")));
  }
}

// A fork that unwinds leaves its parent's folder.
TEST(TemporaryFolder, IsItsMakers) {
  TemporaryFolder folder = made_folder();
  const auto process = fork_worker({}, [&] { const TemporaryFolder taken = std::move(folder); });
  ASSERT_TRUE(process.ok());
  (void)wait_for_process(process.value());
  EXPECT_TRUE(folder.is_there());
}

// Of a process that ended without a word: a file aside, a folder, and what they are not.
TEST(Leftovers, GoWhereTheNextOneIsMade) {
  const std::string gone = mark_of_gone();
  const TestFolder root;
  const TestFolder kept;
  must(write_text("kept", kept.file("kept")));
  const auto leave = [&] {
    fs::create_directories(root.file("graphgate-cache-" + gone + "-aBc123/within"));
    fs::create_directory_symlink(kept.path(),
                                 root.file("graphgate-cache-" + gone + "-aBc123/link"));
    must(write_file(root.file("out.json.partial-" + gone + "-aBc123"), "x"));
    must(write_file(root.file("out.json.partial-" + owner_mark() + "-aBc123"), "mine"));
    must(write_file(root.file("graphgate-notes"), "not ours"));
  };
  leave();
  { const auto folder = must(TemporaryFolder::make("test", {root.path().string()})); }
  EXPECT_EQ(root.count(), 2U);
  leave();
  remove_leftovers(root.path());
  EXPECT_EQ(root.count(), 2U);
  EXPECT_TRUE(fs::exists(kept.file("kept")));
  const TestFolder other;
  must(write_file(other.file("out.json.partial-" + gone + "-aBc123"), "x"));
  must(write_text("text", other.file("else.json")));
  EXPECT_EQ(other.count(), 1U);
}

// Another user's may be alive where we cannot see it, and is not ours to remove.
TEST(Leftovers, OfOthersStay) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const TestFolder root;
  const std::string theirs = root.file("out.json.partial-" + mark_of_gone() + "-aBc123");
  must(write_file(theirs, "x"));
  ASSERT_EQ(::chown(theirs.c_str(), 65534, 65534), 0);
  remove_leftovers(root.path());
  EXPECT_TRUE(fs::exists(theirs));
}

TEST(TemporaryFolder, GoesWithASignal) {
  const TestFolder root;
  EXPECT_EXIT(
      {
        end_cleanly_on_signals();
        const auto folder = must(TemporaryFolder::make("test", {root.path().string()}));
        auto file = must(AtomicFile::create(root.file("out.json")));
        (void)std::raise(SIGHUP);
      },
      testing::KilledBySignal(SIGHUP), "");
  EXPECT_EQ(root.count(), 0U);
}

TEST(TemporaryFolder, SaysWhereNoneCanBeMade) {
  const auto folder = TemporaryFolder::make("test", {"/proc/nowhere", "/dev/null"});
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().kind, ErrorKind::kInfrastructure);
  EXPECT_TRUE(folder.error().message.starts_with("/dev/null/graphgate-test-"));
}

}  // namespace
}  // namespace graphgate
