#include "tools/dev/callers.h"

#include <regex>
#include <sstream>

namespace graphgate::dev {
namespace {

// The line without comments and without what stands in quotes.
std::string code_of(const std::string& line) {
  static const std::regex kQuoted(R"re("(\\.|[^"\\])*"|'(\\.|[^'\\])*')re");
  static const std::regex kComment(R"(//.*)");
  return std::regex_replace(std::regex_replace(line, kQuoted, "\"\""), kComment, "");
}

std::string stem_of(std::string_view path) { return std::string(path.substr(0, path.rfind('.'))); }

}  // namespace

void Callers::add(std::string_view path, std::string_view text) {
  // Bodies are indented further than what a header declares, and in a .cpp file than definitions.
  static const std::regex kDeclared(
      R"(^(  )?(?:[A-Za-z\[~][\w:<>,&*\[\]() ]*[ &*])?(?:\w+::)*(\w+)\(.*$)");
  const bool is_header = path.ends_with(".h");
  static const std::regex kWord(R"([A-Za-z_]\w*)");
  File& file = files_[std::string(path)];
  std::istringstream lines{std::string(text)};
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    const std::string code = code_of(line);
    if (code.starts_with("#include")) continue;
    if (std::regex_match(code, match, kDeclared) && (is_header || !match[1].matched) &&
        !code.starts_with("  return ") && code.find(" override") == std::string::npos) {
      ++file.declared[match[2]];
    }
    for (std::sregex_iterator word(code.begin(), code.end(), kWord), end; word != end; ++word) {
      if (file.named[word->str()]++ == 0) ++files_with_[word->str()];
    }
  }
}

std::vector<std::string> Callers::findings() const {
  std::vector<std::string> out;
  for (const auto& [path, file] : files_) {
    if (!path.ends_with(".h") || path.ends_with("_test.h")) continue;
    const std::string stem = stem_of(path);
    for (const auto& [name, declared] : file.declared) {
      int own_files = 0;
      int calls = 0;
      for (const std::string& own : {path, stem + ".cpp", stem + "_test.cpp"}) {
        const auto found = files_.find(own);
        if (found == files_.end() || !found->second.named.contains(name)) continue;
        ++own_files;
        if (own.ends_with("_test.cpp")) continue;
        const auto defined = found->second.declared.find(name);
        calls += found->second.named.at(name);
        if (defined != found->second.declared.end()) calls -= defined->second;
      }
      if (calls <= 0 && files_with_.at(name) == own_files) {
        out.push_back(path + ": nobody calls " + name);
      }
    }
  }
  return out;
}

}  // namespace graphgate::dev
