#include "tools/tests/suites/case_header.h"

#include <algorithm>
#include <set>

#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  std::size_t begin = 0;
  while (begin < list.size()) {
    const std::size_t comma = std::min(list.find(", ", begin), list.size());
    words.push_back(list.substr(begin, comma - begin));
    begin = comma + 2;
  }
  return words;
}

Result<GoldenCase> read_golden(const fs::path& path) {
  GoldenCase golden;
  golden.path = path;
  GRAPHGATE_TRY(golden.text, read_text(path.string()));
  GRAPHGATE_TRY(golden.the_case, spec::parse_case(golden.text, path.string()));
  const auto checked = spec::check_case(golden.the_case);
  if (!checked.ok()) return checked.error().at(path.string());
  GRAPHGATE_TRY(const std::string canonical, spec::print_case(golden.the_case));
  if (canonical != golden.text) {
    const auto differ =
        std::mismatch(canonical.begin(), canonical.end(), golden.text.begin(), golden.text.end());
    const auto line = std::count(canonical.begin(), differ.first, '\n') + 1;
    return bad_input(path.string() + ": is not written as it is printed, from line " +
                     std::to_string(line));
  }
  auto header = case_header(golden.the_case);
  if (!header.ok()) return header.error().at(path.string());
  golden.header = std::move(header).value();
  return golden;
}

}  // namespace

Result<CaseHeader> case_header(const spec::CaseFile& the_case) {
  CaseHeader header;
  std::set<std::string> seen;
  for (const std::string& line : the_case.header) {
    const std::size_t colon = line.find(": ");
    const std::string key = line.substr(0, colon);
    const std::string value = colon == std::string::npos ? "" : line.substr(colon + 2);
    if (!seen.insert(key).second) return bad_input("'" + key + "' stands there twice");
    if (key == "Row") {
      header.is_starred = value.ends_with('*');
      header.row = value.substr(0, value.size() - (header.is_starred ? 1 : 0));
    } else if (key == "Links") {
      header.links = value;
    } else if (key == "Holds") {
      header.holds = value;
    } else if (key == "Judges") {
      header.judges = words_of(value);
    } else if (key == "Deviation") {
      header.deviations = words_of(value);
    } else {
      return bad_input("expected Row, Links, Holds, Judges or Deviation, found '" + line + "'");
    }
  }
  return header;
}

std::string GoldenCase::name() const {
  return path.parent_path().filename().string() + "/" + path.stem().string();
}

Result<std::vector<GoldenCase>> golden_cases(const fs::path& root, const std::string& suite) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root / suite, error)) {
    if (entry.path().extension() == ".case") paths.push_back(entry.path());
  }
  if (paths.empty()) return bad_input("suite '" + suite + "' has no cases");
  std::sort(paths.begin(), paths.end());
  std::vector<GoldenCase> cases;
  for (const fs::path& path : paths) {
    GRAPHGATE_TRY(GoldenCase golden, read_golden(path));
    cases.push_back(std::move(golden));
  }
  return cases;
}

std::vector<std::string> golden_suites(const fs::path& root) {
  std::vector<std::string> suites;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root, error)) {
    if (entry.is_directory()) suites.push_back(entry.path().filename().string());
  }
  std::sort(suites.begin(), suites.end());
  return suites;
}

}  // namespace graphgate::tools
