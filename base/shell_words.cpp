#include "base/shell_words.h"

#include <algorithm>
#include <cctype>

namespace graphgate {

std::string shell_word(std::string_view text) {
  const bool is_plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) ||
           std::string_view("/._-+,:@%=").find(static_cast<char>(c)) != std::string_view::npos;
  });
  // NAME=VALUE in front of a command is no word of it.
  if (is_plain && !text.empty()) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

Result<std::vector<std::string>> split_shell_line(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  const auto end_word = [&] {
    if (in_word) words.push_back(word);
    word.clear();
    in_word = false;
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      end_word();
      continue;
    }
    in_word = true;
    if (c == '\\') {
      if (++i == line.size()) return bad_input("a backslash ends the line");
      word += line[i];
      continue;
    }
    if (c != '\'' && c != '"') {
      word += c;
      continue;
    }
    for (++i; i < line.size() && line[i] != c; ++i) {
      const bool is_escape = c == '"' && line[i] == '\\' && i + 1 < line.size() &&
                             std::string_view("\"\\$`").find(line[i + 1]) != std::string_view::npos;
      if (is_escape) ++i;
      word += line[i];
    }
    if (i == line.size()) return bad_input("a quote has no end");
  }
  end_word();
  return words;
}

}  // namespace graphgate
