// Reports as lines for a person.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "base/one_line.h"
#include "tools/report/escape.h"
#include "tools/report/forms.h"

namespace graphgate::tools {
namespace {

// Words that a line may begin with, and the colour of a terminal that they have (SGR).
struct ColouredWord {
  std::string_view word;
  const char* colour;
};
constexpr const char* kGreen = "\x1b[32m";
constexpr const char* kRed = "\x1b[31m";
constexpr const char* kYellow = "\x1b[33m";
constexpr ColouredWord kColouredWords[] = {
    {"PASS", kGreen},        {"KILLED", kGreen},       {"FIXED", kGreen},    {"FAIL", kRed},
    {"CRASH", kRed},         {"TIMEOUT", kRed},        {"REGRESSED", kRed},  {"SURVIVED", kRed},
    {"XPASS", kRed},         {"graphgate:", kRed},     {"SUSPECT", kYellow}, {"UNDECIDED", kYellow},
    {"MISTRUSTED", kYellow}, {"UNSUPPORTED", kYellow}, {"FLAKY", kYellow},   {"XFAIL", kYellow},
    {"INFRA", kYellow}};

// Where a person looks, and has not asked for none (https://no-color.org).
bool has_colours(std::FILE* file) {
  const char* refused = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool is_dumb = !terminal || std::string_view(terminal) == "dumb";
  return !(refused && *refused) && !is_dumb && ::isatty(::fileno(file)) != 0;
}

// The first word of each line in its colour.
std::string coloured(const std::string& text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view word = line.substr(first, line.find_first_of(" \n", first) - first);
    const auto* const row = std::find_if(std::begin(kColouredWords), std::end(kColouredWords),
                                         [&](const ColouredWord& one) { return one.word == word; });
    if (row == std::end(kColouredWords)) {
      out += line;
    } else {
      out.append(line.substr(0, first)).append(row->colour).append(word).append("\x1b[0m");
      out += line.substr(first + word.size());
    }
    begin = end;
  }
  return out;
}

void print_coloured(std::FILE* file, const std::string& plain) {
  std::fputs((has_colours(file) ? coloured(plain) : plain).c_str(), file);
}

}  // namespace

void print_plain(std::FILE* file, const std::string& text) {
  print_coloured(file, plain_lines(text));
}

void print_line(std::FILE* file, const std::string& line) {
  print_coloured(file, plain_text(line) + "\n");
}

void print_item(const ReportItem& item) {
  print_plain(stdout, item.text);
  std::fflush(stdout);
  print_plain(stderr, item.trouble);
}

void print_lines(const Report& report) {
  for (const ReportSection& section : report.sections) {
    print_plain(stdout, section.head);
    for (const ReportItem& item : section.items) print_item(item);
    print_plain(stdout, section.tail);
  }
  print_plain(stdout, report.totals);
}

}  // namespace graphgate::tools
