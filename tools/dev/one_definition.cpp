#include "tools/dev/one_definition.h"

#include <regex>
#include <sstream>
#include <vector>

namespace graphgate::dev {
namespace {

std::string join(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += name + "::";
  return out;
}

}  // namespace

void add_type_definitions(std::string_view path, std::string_view text, TypeDefinitions& into) {
  static const std::regex kOpens(R"(^(?:inline )?namespace ?([A-Za-z0-9_:]*) ?\{$)");
  static const std::regex kCloses(R"(^\}  // namespace.*$)");
  static const std::regex kDefines(
      R"(^(?:struct|class|enum|enum class) (?:\[\[nodiscard\]\] )?(\w+)(?: final)?(?: : .*)?(?: \{.*)?$)");
  static const std::regex kInline(R"(^(?:\[\[nodiscard\]\] )?inline [^=;(]*?(\w+)\(.*$)");
  std::vector<std::string> namespaces;
  std::size_t unnamed = 0;
  std::istringstream lines{std::string(text)};
  std::smatch match;
  bool is_template = false;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, match, kOpens)) {
      namespaces.push_back(match[1]);
      unnamed += match[1].length() == 0 ? 1 : 0;
    } else if (std::regex_match(line, kCloses) && !namespaces.empty()) {
      unnamed -= namespaces.back().empty() ? 1 : 0;
      namespaces.pop_back();
    } else if (unnamed == 0 && std::regex_match(line, match, kDefines)) {
      into[join(namespaces) + match[1].str()].insert(std::string(path));
    } else if (unnamed == 0 && !is_template && std::regex_match(line, match, kInline)) {
      std::string head = line.substr(static_cast<std::size_t>(match.position(1)));
      for (std::string more; head.find(") ") == std::string::npos && std::getline(lines, more);) {
        head += more.substr(std::min(more.find_first_not_of(' '), more.size()));
      }
      into[join(namespaces) + head.substr(0, head.find(") ") + 1)].insert(std::string(path));
    }
    is_template = line.starts_with("template ");
  }
}

}  // namespace graphgate::dev
