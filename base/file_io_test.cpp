#include "base/file_io.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <thread>

#include "base/atomic_file.h"
#include "base/folder_test.h"
#include "base/result_test.h"

namespace graphgate {
namespace {

namespace fs = std::filesystem;

class Folder : public TestFolder {
 public:
  void write(const std::string& name, std::string_view text) const {
    must(write_file(file(name), text));
  }
};

Result<void> write_whole(const std::string& path, std::string_view text) {
  GRAPHGATE_TRY(AtomicFile file, AtomicFile::create(path));
  GRAPHGATE_TRY_VOID(file.write(std::as_bytes(std::span(text))));
  return file.commit();
}

std::string link_to_descriptor(int descriptor) { return "/dev/fd/" + std::to_string(descriptor); }

TEST(ReadWhole, ReadsRegularFilesAndPipesWithoutAName) {
  const Folder folder;
  folder.write("a", "text");
  EXPECT_EQ(read_whole(folder.file("a")).value(), "text");
  EXPECT_FALSE(read_whole("/proc/self/status").value().empty());  // says that it has no bytes
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  std::thread writer([&] {
    const std::string text(200'000, 'x');  // more than a pipe holds
    EXPECT_TRUE(write_all(ends[1], std::as_bytes(std::span(text))));
    ::close(ends[1]);
  });
  // What a shell makes of <(...).
  EXPECT_EQ(read_whole(link_to_descriptor(ends[0])).value().size(), 200'000U);
  writer.join();
  ::close(ends[0]);
}

TEST(ReadWhole, RefusesWhatHasNoEndOrNoWriter) {
  const Folder folder;
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  for (const auto& [path, what] : {std::pair(folder.file("pipe"), "is a named pipe"),
                                   {folder.file(""), "is a folder"},
                                   {std::string("/dev/zero"), "is a device"},
                                   {std::string("/dev/null"), "is a device"},
                                   {folder.file("none"), "No such file"},
                                   {folder.file(std::string(300, 'n')), "too long"}}) {
    const Error read = failure_of(read_whole(path), path);
    EXPECT_EQ(read.kind, ErrorKind::kBadInput);
    EXPECT_EQ(read.message.rfind(path, 0), 0U) << read.message;
    EXPECT_TRUE(contains(read.message, what));
    EXPECT_FALSE(open_file(path).ok());
  }
  EXPECT_EQ(failure_of(read_whole("/proc/self/mem")).kind, ErrorKind::kInfrastructure);
}

TEST(ReadWhole, TakesNoMemoryForASizeThatIsOnlyClaimed) {
  const Folder folder;
  folder.write("a", "text");
  std::error_code error;
  fs::resize_file(folder.file("a"), std::uintmax_t{1} << 42U, error);
  if (error) GTEST_SKIP() << "no files so large here: " << error.message();
  EXPECT_EQ(failure_of(read_whole(folder.file("a"))).kind, ErrorKind::kInfrastructure);
}

TEST(OpenFile, RefusesMoreThanMemory) {
  const Folder folder;
  folder.write("a", "text");
  std::error_code error;
  fs::resize_file(folder.file("a"), std::uintmax_t{1} << 42U, error);
  if (error) GTEST_SKIP() << "no files so large here: " << error.message();
  EXPECT_EQ(failure_of(open_file(folder.file("a")), folder.file("a")).kind,
            ErrorKind::kInfrastructure);
}

TEST(IsThere, TellsWhatIsMissingFromWhatCannotBeTold) {
  const Folder folder;
  folder.write("a", "");
  EXPECT_TRUE(is_there(folder.file("a")).value());
  EXPECT_FALSE(is_there(folder.file("b")).value());
  EXPECT_FALSE(is_there(folder.file("a/b")).value());
  fs::create_symlink("loop", folder.file("loop"));
  for (const std::string& name : {std::string("loop"), std::string(300, 'n')}) {
    EXPECT_EQ(failure_of(is_there(folder.file(name))).kind, ErrorKind::kBadInput);
  }
}

TEST(ListFiles, GoesIntoFoldersAndStaysOutOfLinks) {
  const Folder folder;
  fs::create_directories(folder.file("b/c"));
  for (const char* name : {"x.case", "b/y.case", "b/c/z.case", "b/other"}) {
    folder.write(name, "");
  }
  fs::create_directory_symlink("..", folder.file("b/up"));
  fs::create_symlink("loop", folder.file("loop"));
  const auto below = list_files(folder.file("."), ".case", Depth::kBelow).value();
  EXPECT_EQ(below, (std::vector<std::string>{folder.file("./b/c/z.case"), folder.file("./b/y.case"),
                                             folder.file("./x.case")}));
  EXPECT_EQ(list_files(folder.file("."), ".case", Depth::kFolder).value().size(), 1U);
  for (const char* name : {"none", "x.case", "loop"}) {
    EXPECT_EQ(failure_of(list_files(folder.file(name), "", Depth::kBelow), name).kind,
              ErrorKind::kBadInput);
  }
}

TEST(AtomicFile, FollowsALinkAndKeepsIt) {
  const Folder folder;
  fs::create_directory(folder.file("below"));
  folder.write("below/file", "old");
  fs::create_symlink("below/file", folder.file("link"));
  ASSERT_TRUE(write_whole(folder.file("link"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(folder.file("link")));
  EXPECT_EQ(read_whole(folder.file("below/file")).value(), "new");
}

TEST(AtomicFile, FollowsALinkToWhereNothingIsYet) {
  const Folder folder;
  fs::create_directory(folder.file("below"));
  fs::create_symlink("below/next", folder.file("link"));
  fs::create_symlink("file", folder.file("below/next"));
  ASSERT_TRUE(write_whole(folder.file("link"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(folder.file("link")));
  EXPECT_TRUE(fs::is_symlink(folder.file("below/next")));
  EXPECT_EQ(read_whole(folder.file("below/file")).value(), "new");
}

TEST(AtomicFile, WritesIntoAnOpenFileBehindWhatItHolds) {
  const Folder folder;
  const std::string path = folder.file("file");
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(write_all(file.number(), std::as_bytes(std::span("old", 3))));
  ASSERT_TRUE(write_whole(link_to_descriptor(file.number()), "new").ok());
  EXPECT_EQ(read_whole(path).value(), "oldnew");
  ASSERT_TRUE(fs::remove(path));  // has no name any more
  EXPECT_TRUE(write_whole(link_to_descriptor(file.number()), "more").ok());
  EXPECT_EQ(folder.count(), 0U);
}

TEST(AtomicFile, KeepsTheRightsOfWhatItReplaces) {
  const Folder folder;
  folder.write("file", "old");
  fs::permissions(folder.file("file"), fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_TRUE(write_whole(folder.file("file"), "new").ok());
  EXPECT_EQ(fs::status(folder.file("file")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST(AtomicFile, ReplacesNothingThatCameMeanwhile) {
  const Folder folder;
  const std::string path = folder.file("file");
  auto file = must(AtomicFile::create(path));
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(failure_of(file.commit(), path).kind, ErrorKind::kInfrastructure);
  EXPECT_TRUE(fs::is_fifo(path));
}

TEST(AtomicFile, TakesTheLongestNames) {
  const Folder folder;
  const std::string path = folder.file(std::string(255, 'n'));
  ASSERT_TRUE(write_whole(path, "text").ok());
  EXPECT_EQ(read_whole(path).value(), "text");
  EXPECT_EQ(folder.count(), 1U);
}

TEST(AtomicFile, WritesIntoAPipeAndAStreamAndLeavesThemThere) {
  const Folder folder;
  const std::string path = folder.file("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(AtomicFile::create(path).ok());  // nobody reads
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  ASSERT_TRUE(write_whole(path, "text").ok());
  std::array<char, 8> bytes{};
  EXPECT_EQ(::read(reader, bytes.data(), bytes.size()), 4);
  EXPECT_TRUE(fs::is_fifo(path));
  // A reader that goes is an error, not the end of the process.
  auto file = must(AtomicFile::create(path));
  ::close(reader);
  ASSERT_TRUE(file.write(std::as_bytes(std::span("text"))).ok());
  EXPECT_FALSE(file.commit().ok());
  EXPECT_EQ(folder.count(), 1U);
}

// A device of our own: a fault would cost the machine nothing.
TEST(AtomicFile, WritesIntoADeviceAndLeavesItThere) {
  const Folder folder;
  const std::string null = folder.file("null");
  const std::string full = folder.file("full");
  if (::mknod(null.c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0 ||
      ::mknod(full.c_str(), S_IFCHR | 0600, makedev(1, 7)) != 0 ||
      ::access(null.c_str(), W_OK) != 0) {
    GTEST_SKIP() << "only root makes devices, and not everywhere";
  }
  const auto written = write_whole(null, "text");
  if (!written.ok() && written.error().message.find("Permission") != std::string::npos) {
    GTEST_SKIP() << "a file system without devices";
  }
  EXPECT_TRUE(written.ok());
  EXPECT_TRUE(fs::is_character_file(null));
  EXPECT_EQ(failure_of(write_whole(full, "text")).kind, ErrorKind::kInfrastructure);
  EXPECT_TRUE(fs::is_character_file(full));
}

TEST(AtomicFile, RefusesWhatCannotBeWrittenAndLeavesNothing) {
  const Folder folder;
  fs::create_symlink("loop", folder.file("loop"));
  fs::create_directory(folder.file("below"));
  folder.write("file", "kept");
  for (const std::string& path :
       {folder.file("loop"), folder.file("below"), folder.file("file/below"),
        folder.file("none/below"), folder.file(std::string(300, 'n')), std::string()}) {
    const Error written = failure_of(write_whole(path, "text"), path);
    EXPECT_EQ(written.kind, ErrorKind::kInfrastructure);
    EXPECT_EQ(written.message.rfind(path, 0), 0U) << written.message;
  }
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{3, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto too_large = write_whole(folder.file("file"), "text");  // and no SIGXFSZ
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(too_large.ok());
  EXPECT_EQ(read_whole(folder.file("file")).value(), "kept");
  EXPECT_EQ(folder.count(), 3U);
}

TEST(Paths, ThatTheMachineCannotOpenAreNoBadInput) {
  const TestFolder folder;
  const std::string path = folder.file("file");
  must(write_file(path, "x"));
  EXPECT_EXIT(
      {
        rlimit none;
        none.rlim_cur = none.rlim_max = 0;
        (void)::setrlimit(RLIMIT_NOFILE, &none);
        const bool is_right = open_file(path).error().kind == ErrorKind::kInfrastructure &&
                              read_whole(path).error().kind == ErrorKind::kInfrastructure &&
                              list_files(folder.path().string(), "", Depth::kFolder).error().kind ==
                                  ErrorKind::kInfrastructure;
        ::_exit(is_right ? 7 : 1);
      },
      testing::ExitedWithCode(7), "");
  EXPECT_EQ(open_file(path + ".not").error().kind, ErrorKind::kBadInput);
}

}  // namespace
}  // namespace graphgate
