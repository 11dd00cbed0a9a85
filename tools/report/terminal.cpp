// Reports as lines for a person.
#include <cstdio>

#include "base/one_line.h"
#include "tools/report/escape.h"
#include "tools/report/forms.h"

namespace graphgate::tools {

void print_plain(std::FILE* file, const std::string& text) {
  std::fputs(plain_lines(text).c_str(), file);
}

void print_line(std::FILE* file, const std::string& line) {
  std::fputs((plain_text(line) + "\n").c_str(), file);
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
