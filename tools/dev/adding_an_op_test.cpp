// Holds docs/adding_an_op.md to the code: an op is named in the files of its table, and in no
// other.

#include <array>
#include <cctype>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_io.h"
#include "base/result_test.h"

namespace graphgate::dev {
namespace {

namespace fs = std::filesystem;

// Ops of several kinds: pointwise, moved elements, rows, planes, orders, scans, draws nothing from
// others. None that a pass matches, that upstream treats in a way of its own, that keeps rows
// apart, or whose choices an oracle follows.
constexpr std::array<std::string_view, 10> kOps = {
    "hardswish", "roll",   "tril",  "native_group_norm", "adaptive_avg_pool2d",
    "mode",      "renorm", "histc", "grid_sampler_2d",   "take"};

// The files of the page's table, as it writes them: "reference/ops/FAMILY.cpp".
std::set<std::string> files_of_the_page(const std::string& page) {
  std::set<std::string> out;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const std::string name = line.substr(3, line.find('`', 3) - 3);
    if (name.find('/') != std::string::npos) out.insert(name);
  }
  return out;
}

// Whether "aten.NAME" or "aten::NAME", or its in-place form, stands in the text.
bool names_op(std::string_view text, std::string_view op) {
  for (const std::string_view prefix : {"aten.", "aten::"}) {
    const std::string name = std::string(prefix) + std::string(op);
    for (std::size_t at = text.find(name); at != std::string_view::npos;
         at = text.find(name, at + 1)) {
      std::size_t end = at + name.size();
      if (end < text.size() && text[end] == '_') ++end;
      const bool goes_on =
          end < text.size() &&
          (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_');
      if (!goes_on) return true;
    }
  }
  return false;
}

// What is built or read of the project, but tests, benchmarks and PyTorch's side.
std::vector<fs::path> sources(const fs::path& root) {
  std::vector<fs::path> out;
  for (const char* folder : {"base", "conformance", "fuzz", "golden/effects", "interop",
                             "optimized", "reference", "spec", "tools"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string path = fs::relative(entry.path(), root).string();
      const fs::path kind = entry.path().extension();
      const bool is_text = kind == ".cpp" || kind == ".h" || kind == ".cuh" || kind == ".txt";
      // Composite ops name the ops that they are made of, as do ops on the parts of complex
      // numbers.
      const bool is_aside = path.find("test") != std::string::npos ||
                            path.find("/composite") != std::string::npos ||
                            path.find("/complex_") != std::string::npos ||
                            path.starts_with("tools/bench/") || path.starts_with("tools/adapters/");
      if (is_text && !is_aside) out.push_back(path);
    }
  }
  return out;
}

TEST(AddingAnOp, NamesItInTheFilesOfThePageAlone) {
  const fs::path root = GRAPHGATE_SOURCE_DIR;
  const std::set<std::string> told =
      files_of_the_page(must(read_whole(root / "docs/adding_an_op.md")));
  ASSERT_GE(told.size(), 4U);
  std::array<std::set<std::string>, kOps.size()> found;
  for (const fs::path& path : sources(root)) {
    const std::string text = must(read_whole(root / path));
    // One of a folder's families, where the page has any.
    const std::string family = (path.parent_path() / "FAMILY.cpp").string();
    for (std::size_t i = 0; i < kOps.size(); ++i) {
      if (!names_op(text, kOps.at(i))) continue;
      const bool is_new = found.at(i).insert(told.contains(family) ? family : path.string()).second;
      EXPECT_TRUE(is_new) << kOps.at(i) << " stands in a second file like " << path;
    }
  }
  for (std::size_t i = 0; i < kOps.size(); ++i) EXPECT_EQ(found.at(i), told) << kOps.at(i);
}

TEST(AddingAnOp, SeesAnOpThatStandsElsewhere) {
  EXPECT_TRUE(names_op(R"({"aten.roll", draw_roll})", "roll"));
  EXPECT_TRUE(names_op("aten::roll_(Tensor(a!) self)", "roll"));
  EXPECT_FALSE(names_op(R"("aten.rolling", "aten.roll_back")", "roll"));
}

}  // namespace
}  // namespace graphgate::dev
