// Every deviation is consulted at exactly one place, and docs/deviations.md tells of each.

#include <filesystem>
#include <map>
#include <regex>

#include "base/file_io.h"
#include "base/result_test.h"
#include "spec/deviation.h"

namespace graphgate::dev {
namespace {

namespace fs = std::filesystem;

bool is_code(const fs::path& path) {
  const std::string name = path.filename().string();
  return (path.extension() == ".cpp" || path.extension() == ".h") &&
         name.find("_test.") == std::string::npos;
}

// signature_omits_frees -> kSignatureOmitsFrees
std::string enumerator_of(std::string_view name) {
  std::string out = "k";
  bool upper = true;
  for (const char c : name) {
    if (c == '_') {
      upper = true;
      continue;
    }
    out += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return out;
}

// Comments say in words which deviations a file has; only code counts.
std::string without_comments(const std::string& text) {
  static const std::regex kComment("//[^\n]*");
  return std::regex_replace(text, kComment, "");
}

TEST(Deviations, AreConsultedAtOnePlaceEach) {
  std::map<std::string, std::vector<std::string>> places;
  static const std::regex kUse("\\b(?:Deviation|D)::(k[A-Za-z0-9]+)");
  const fs::path root = fs::path(GRAPHGATE_SOURCE_DIR) / "optimized";
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file() || !is_code(entry.path())) continue;
    if (entry.path().string().find("/upstream/") != std::string::npos) continue;
    const std::string text = without_comments(must(read_whole(entry.path())));
    for (std::sregex_iterator use(text.begin(), text.end(), kUse), end; use != end; ++use) {
      places[(*use)[1].str()].push_back(fs::relative(entry.path(), root).string());
    }
  }
  for (const spec::DeviationRow& row : spec::deviations()) {
    const auto& found = places[enumerator_of(row.name)];
    EXPECT_EQ(found.size(), 1U) << row.name << (found.empty() ? "" : ": " + found.back());
  }
}

TEST(Deviations, StandInTheirDocument) {
  const std::string page = must(read_whole(fs::path(GRAPHGATE_SOURCE_DIR) / "docs/deviations.md"));
  for (const spec::DeviationRow& row : spec::deviations()) {
    const std::string line = "`" + std::string(row.name) + "` | " + std::string(row.catalogue) +
                             " | " + std::string(row.link) + " | " + std::string(row.what) + " |";
    EXPECT_TRUE(contains(page, line)) << row.name;
  }
}

}  // namespace
}  // namespace graphgate::dev
