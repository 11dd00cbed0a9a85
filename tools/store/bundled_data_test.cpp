#include "tools/store/bundled_data.h"

#include <gtest/gtest.h>

#include "base/folder_test.h"

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;

// The current folder is the process's own: it is put back.
class CurrentFolder {
 public:
  explicit CurrentFolder(const fs::path& folder) : before_(fs::current_path()) {
    fs::current_path(folder);
  }
  CurrentFolder(const CurrentFolder&) = delete;
  CurrentFolder& operator=(const CurrentFolder&) = delete;
  ~CurrentFolder() { fs::current_path(before_); }

 private:
  fs::path before_;
};

class BundledData : public testing::Test {
 protected:
  std::string made(const char* name) const {
    fs::create_directories(folder_ / name);
    return (folder_ / name).string();
  }
  const TestFolder test_folder_;
  const fs::path folder_ = test_folder_.path();
};

TEST_F(BundledData, LiesBelowThePrefixOfAnInstallation) {
  made("usr/bin");
  const std::string corpus = made("usr/share/graphgate/golden");
  const std::string adapters = made("usr/share/graphgate/adapters");
  EXPECT_EQ(bundled_corpus_of(folder_ / "usr/bin/graphgate"), corpus);
  EXPECT_EQ(bundled_adapters_of(folder_ / "usr/bin/graphgate"), adapters);
}

TEST_F(BundledData, LiesInTheSourcesOfABuildBelowThem) {
  const std::string corpus = made("clone/golden");
  const std::string adapters = made("clone/tools/adapters");
  made("clone/build/check");
  EXPECT_EQ(bundled_corpus_of(folder_ / "clone/build/check/graphgate"), corpus);
  EXPECT_EQ(bundled_adapters_of(folder_ / "clone/build/check/graphgate"), adapters);
}

TEST_F(BundledData, IsNowhereForAProgramThatLiesAlone) {
  made("opt/bin");
  EXPECT_EQ(bundled_corpus_of(folder_ / "opt/bin/graphgate"), "");
  EXPECT_EQ(bundled_adapters_of(folder_ / "opt/bin/graphgate"), "");
  EXPECT_EQ(bundled_corpus_of(""), "");
}

TEST_F(BundledData, OfTheCurrentFolderComesFirst) {
  made("work/golden/cases");
  const CurrentFolder work(folder_ / "work");
  EXPECT_EQ(usual_corpus("golden/cases", "").value(), "golden/cases");
}

// No corpus has such a folder.
TEST_F(BundledData, ThatIsMissingIsOneLineThatSaysWhatToName) {
  const CurrentFolder here(folder_);
  const auto found = usual_corpus("golden/no-such-suite", "name folders with --corpus");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().kind, ErrorKind::kBadInput);
  EXPECT_EQ(found.error().message,
            "golden/no-such-suite: neither the current folder has it nor the corpus that comes "
            "with the program; name folders with --corpus");
}

}  // namespace
}  // namespace graphgate::tools
