// docs/coverage.md is what the cases say, and every row of the catalogue is accounted for.
//
// GRAPHGATE_WRITE_COVERAGE=1 writes the table of the page anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "spec/deviation.h"
#include "tools/store/programs.h"
#include "tools/tests/suites/judged_case.h"

namespace graphgate::tools {
namespace {

const std::string kBegin = "<!-- from the cases -->\n";
const std::string kEnd = "<!-- until here -->\n";

// Rows of the catalogue of upstream bugs, by their letter; those that are to be planted first.
const std::vector<std::pair<std::string, int>>& counts() {
  static const std::vector<std::pair<std::string, int>> kCounts = {{"P", 25}, {"M", 20}, {"B", 13},
                                                                   {"C", 19}, {"D", 10}, {"K", 12},
                                                                   {"F", 12}, {"W", 6},  {"S", 6}};
  return kCounts;
}
const std::set<std::string>& starred() {
  static const std::set<std::string> kStarred = {
      "P1", "P2", "P5", "P9",  "P10", "P13", "P15", "P20", "P21", "P24", "M1",  "M2",  "M4",
      "M5", "M8", "M9", "M11", "M15", "M18", "B1",  "B3",  "B5",  "B6",  "B9",  "B10", "B11",
      "C1", "C2", "C3", "C5",  "C6",  "C7",  "C8",  "C9",  "C10", "C11", "C12", "C14", "C17",
      "D1", "D3", "D4", "K2",  "K3",  "K4",  "K6",  "F1",  "F2",  "F6"};
  return kStarred;
}

std::string page() { return read_text(GRAPHGATE_SOURCE_DIR "/docs/coverage.md").value(); }

std::vector<std::string> all_rows() {
  std::vector<std::string> rows;
  for (const auto& [letter, count] : counts()) {
    for (int i = 1; i <= count; ++i) rows.push_back(letter + std::to_string(i));
  }
  return rows;
}

std::string list_of(const std::vector<std::string>& words, const std::string& quote) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + quote + word + quote;
  }
  return text;
}

std::string table() {
  std::string text = "| row | what holds | case | judges | deviation | upstream |\n";
  text += "|---|---|---|---|---|---|\n";
  for (const std::string& row : all_rows()) {
    for (const GoldenCase& golden : catalogue()) {
      const CaseHeader& header = golden.header;
      if (header.row != row) continue;
      text += "| " + row + (header.is_starred ? "\\*" : "") + " | " + header.holds + " | `" +
              golden.path.stem().string() + "` | " + list_of(header.judges, "") + " | " +
              list_of(header.deviations, "`") + " | " + header.links + " |\n";
    }
  }
  return text;
}

// "- WHAT: why" lines below a heading, by WHAT without its marks.
std::map<std::string, std::string> explained_below(const std::string& heading) {
  std::map<std::string, std::string> lines;
  const std::string text = page();
  const std::size_t begin = text.find("\n## " + heading + "\n");
  EXPECT_NE(begin, std::string::npos) << heading;
  if (begin == std::string::npos) return lines;
  const std::string section = text.substr(begin + 1, text.find("\n## ", begin + 1) - begin);
  static const std::regex kLine("- `?([A-Za-z_0-9]+)`?(?: \\(([^)]*)\\))?: (.+)");
  for (std::sregex_iterator line(section.begin(), section.end(), kLine), end; line != end; ++line) {
    EXPECT_TRUE(lines.emplace((*line)[1], (*line)[3]).second) << (*line)[1];
  }
  return lines;
}

TEST(Coverage, AccountsForEveryRowOfTheCatalogue) {
  std::set<std::string> with_case;
  for (const GoldenCase& golden : catalogue()) {
    with_case.insert(golden.header.row);
    EXPECT_EQ(golden.header.is_starred, starred().contains(golden.header.row)) << golden.name();
  }
  const auto without = explained_below("Rows without a case");
  EXPECT_LE(without.size(), 15U);
  const auto rows = all_rows();
  EXPECT_EQ(rows.size(), 123U);
  for (const std::string& row : rows) {
    EXPECT_NE(with_case.contains(row), without.contains(row)) << row;
    if (starred().contains(row)) {
      EXPECT_TRUE(with_case.contains(row)) << row;
    }
  }
  EXPECT_EQ(with_case.size() + without.size(), rows.size()) << "a row that there is not";
}

TEST(Coverage, HasACaseForEveryDeviationThatIsNotExplained) {
  std::set<std::string> planted;
  for (const GoldenCase& golden : catalogue()) {
    if (golden.header.deviations.size() == 1) planted.insert(golden.header.deviations.front());
  }
  const auto without = explained_below("Deviations without a case");
  for (const spec::DeviationRow& row : spec::deviations()) {
    const std::string name(row.name);
    EXPECT_NE(planted.contains(name), without.contains(name)) << name;
  }
  for (const auto& [name, why] : without) EXPECT_TRUE(spec::find_deviation(name)) << name;
}

TEST(Coverage, PageIsCurrent) {
  std::string text = page();
  const std::size_t begin = text.find(kBegin);
  const std::size_t end = text.find(kEnd);
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos && begin < end);
  const std::size_t from = begin + kBegin.size();
  if (std::getenv("GRAPHGATE_WRITE_COVERAGE") != nullptr) {
    text.replace(from, end - from, table());
    std::ofstream(GRAPHGATE_SOURCE_DIR "/docs/coverage.md", std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(text.substr(from, end - from), table())
      << "run this test with GRAPHGATE_WRITE_COVERAGE=1";
}

}  // namespace
}  // namespace graphgate::tools
