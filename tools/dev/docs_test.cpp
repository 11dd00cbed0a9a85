#include <filesystem>
#include <regex>

#include "base/file_io.h"
#include "base/result_test.h"

namespace graphgate::dev {
namespace {

namespace fs = std::filesystem;

// Paths of the repository between backticks: `spec/op_table.h`, `conformance/run/`, not
// `optimized/kernels/FAMILY.cpp` or `golden/*.case`. docs/log/ tells what was, and is not read.
TEST(Docs, NameFilesAndFoldersThatExist) {
  const fs::path root = GRAPHGATE_SOURCE_DIR;
  const std::regex path(
      "`((?:base|cmake|conformance|docs|fuzz|golden|interop|optimized|reference|spec|tools)/"
      "[a-z0-9_./]*)`");
  std::vector<fs::path> pages = {root / "README.md"};
  for (const auto& entry : fs::directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  }
  std::size_t named = 0;
  for (const fs::path& page : pages) {
    const std::string text = must(read_whole(page));
    for (std::sregex_iterator i(text.begin(), text.end(), path), end; i != end; ++i, ++named) {
      const std::string name = root / (*i)[1].str();
      EXPECT_TRUE(fs::exists(name) || fs::exists(name + ".cpp"))  // a program, by its source
          << fs::relative(page, root).string() << " names " << (*i)[1];
    }
  }
  EXPECT_GT(named, 50U);
}

}  // namespace
}  // namespace graphgate::dev
