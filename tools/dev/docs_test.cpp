#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

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

// Names by the file of fuzz/motifs/ that has them, in order. `name` finds one in a line; `file` a
// path, behind which the names of that file stand.
using Motifs = std::map<std::string, std::set<std::string>>;

void note_names(const std::string& text, const std::regex& name, std::set<std::string>& names) {
  for (std::sregex_iterator i(text.begin(), text.end(), name), end; i != end; ++i) {
    const std::string found = (*i)[1].str();
    EXPECT_TRUE(names.insert(found).second) << found << " is there twice";
  }
}

Motifs motifs_of_generator(const fs::path& root) {
  Motifs motifs;
  for (const auto& entry : fs::directory_iterator(root / "fuzz/motifs")) {
    note_names(must(read_whole(entry.path())), std::regex("(?:^|\n)program \"([^\"]+)\""),
               motifs[entry.path().filename().string()]);
  }
  return motifs;
}

// The first columns of the tables, each `name` or several with commas.
Motifs motifs_of_page(const fs::path& root) {
  Motifs motifs;
  std::istringstream page(must(read_whole(root / "docs/motifs.md")));
  std::string file;
  for (std::string line; std::getline(page, line);) {
    std::smatch found;
    static const std::regex kFile("^`fuzz/motifs/([a-z_]+\\.txt)`");
    if (std::regex_search(line, found, kFile)) file = found[1];
    if (!line.starts_with("| `") || file.empty()) continue;
    note_names(line.substr(0, line.find('|', 1)), std::regex("`([a-z-]+)`"), motifs[file]);
  }
  return motifs;
}

TEST(Docs, ListTheMotifsThatAreDrawn) {
  const fs::path root = GRAPHGATE_SOURCE_DIR;
  const Motifs drawn = motifs_of_generator(root);
  EXPECT_EQ(motifs_of_page(root), drawn);
  EXPECT_GE(drawn.size(), 3U);
}

}  // namespace
}  // namespace graphgate::dev
