#include "fuzz/campaign/named_lines.h"

#include <set>

namespace graphgate::fuzz {

Result<void> read_named_lines(std::string_view text, std::string_view source,
                              const TakeNamedLine& take) {
  std::istringstream lines{std::string(text)};
  std::set<std::string> seen;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line);
    std::string name;
    if (!(words >> name) || name.starts_with('#')) continue;
    auto taken = take(name, words);
    if (taken.ok() && !seen.insert(name).second) taken = bad_input("'" + name + "' comes twice");
    if (!taken.ok()) return taken.error().at(std::string(source) + ":" + std::to_string(number));
  }
  return {};
}

Result<void> expect_address(const std::string& issue, const std::string& before) {
  if (issue.find("://") != std::string::npos) return {};
  return bad_input("expected the address of an issue behind '" + before + "'");
}

}  // namespace graphgate::fuzz
