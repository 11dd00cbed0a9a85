#include "optimized/runtime/cuda/cubin_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/atomic_file.h"
#include "optimized/cache/cache_test_support.h"
#include "optimized/runtime/cuda/cubins.h"
#include "optimized/runtime/cuda/nvrtc.h"

namespace graphgate::optimized::cuda {
namespace {

// A program of one kernel.
DeviceProgramText program(const char* statements) {
  TextWork work{.statements = statements, .threads = 1};
  DeviceProgramText text;
  (void)text.add({work});
  return text;
}

TEST(CubinFolder, GivesBackWhatItKeepsToAnybody) {
  const TestFolder folder;
  const CubinFolder cubins(folder.path() / "cubins");
  EXPECT_EQ(cubins.find("a"), std::nullopt);
  const std::string bytes(
      "\x7f"
      "ELF\0\n",
      6);
  ASSERT_TRUE(cubins.keep("a", bytes).ok());
  ASSERT_TRUE(cubins.keep("b", "").ok());
  const CubinFolder others(folder.path() / "cubins");
  EXPECT_EQ(others.find("a"), bytes);
  EXPECT_EQ(others.find("b"), "");
  EXPECT_EQ(others.find("c"), std::nullopt);
}

TEST(CubinFolder, MissesWhatIsDamagedAndReplacesIt) {
  const TestFolder folder;
  const CubinFolder cubins(folder.path());
  ASSERT_TRUE(cubins.keep("a", "cubin").ok());
  const auto path = folder.path() / "a.cubin";
  const std::string whole = read_file(path).value().value();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    ASSERT_TRUE(write_file(path, whole.substr(0, i)).ok());
    EXPECT_EQ(cubins.find("a"), std::nullopt) << i;
    std::string altered = whole;
    altered[i] = altered[i] == 'x' ? 'y' : 'x';
    ASSERT_TRUE(write_file(path, altered).ok());
    EXPECT_EQ(cubins.find("a"), std::nullopt) << i;
  }
  ASSERT_TRUE(cubins.keep("a", "cubin").ok());
  EXPECT_EQ(cubins.find("a"), "cubin");
}

// A program of a GPU is compiled anew then: nobody waits for a writer.
TEST(CubinFolder, MissesWhatIsNoFile) {
  const TestFolder folder;
  const CubinFolder cubins(folder.path());
  const auto path = folder.path() / "a.cubin";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(cubins.find("a"), std::nullopt);
  ASSERT_TRUE(cubins.keep("a", "cubin").ok());
  EXPECT_EQ(cubins.find("a"), "cubin");
  std::filesystem::remove(path);
  std::filesystem::create_symlink(path.filename(), path);
  EXPECT_EQ(cubins.find("a"), std::nullopt);
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/dev/zero", path);
  EXPECT_EQ(cubins.find("a"), std::nullopt);
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_EQ(cubins.find("a"), std::nullopt);
  EXPECT_FALSE(cubins.keep("a", "cubin").ok());
}

TEST(CubinFolder, SaysWhatCannotBeWritten) {
  const TestFolder folder;
  ASSERT_TRUE(write_file(folder.path() / "file", "").ok());
  const Error kept = failure_of(CubinFolder(folder.path() / "file" / "cubins").keep("a", "cubin"));
  EXPECT_EQ(kept.kind, ErrorKind::kInfrastructure);
  EXPECT_TRUE(contains(kept.message, (folder.path() / "file").string()));
}

// What a folder has is not compiled: a program that no compiler takes comes from there.
TEST(Cubins, ComeFromAFolderInTheNextProcess) {
  if (const auto nvrtc = load_nvrtc(); !nvrtc.ok()) GTEST_SKIP() << nvrtc.error().message;
  const TestFolder folder;
  const auto kept = must(cubin_of(program("  (void)thread;\n"), "sm_90", folder.path()));
  const auto files = files_under(folder.path());
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(CubinFolder(folder.path()).find(files.front().stem().string()), *kept);
  const DeviceProgramText refused = program("  nobody_knows_this();\n");
  EXPECT_FALSE(cubin_of(refused, "sm_90", folder.path()).ok());
  ASSERT_TRUE(CubinFolder(folder.path()).keep(cubin_key(refused, "sm_90").value(), "theirs").ok());
  const auto found = must(cubin_of(refused, "sm_90", folder.path()));
  EXPECT_EQ(*found, "theirs");
}

TEST(Cubins, AreKeptInTheFolderOfTheProcessWhereNoneIsGiven) {
  if (const auto nvrtc = load_nvrtc(); !nvrtc.ok()) GTEST_SKIP() << nvrtc.error().message;
  const TestFolder of_process;
  const TestFolder given;
  keep_cubins_in(of_process.path());
  EXPECT_TRUE(cubin_of(program("  (void)(thread + 1);\n"), "sm_90").ok());
  EXPECT_TRUE(cubin_of(program("  (void)(thread + 2);\n"), "sm_90", given.path()).ok());
  keep_cubins_in({});
  EXPECT_TRUE(cubin_of(program("  (void)(thread + 3);\n"), "sm_90").ok());
  EXPECT_EQ(files_under(of_process.path()).size(), 1U);
  EXPECT_EQ(files_under(given.path()).size(), 1U);
}

}  // namespace
}  // namespace graphgate::optimized::cuda
