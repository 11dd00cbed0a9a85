// Reports as lines for a person.
#include <cstdio>

#include "tools/report/forms.h"

namespace graphgate::tools {

void print_item(const ReportItem& item) {
  std::fputs(item.text.c_str(), stdout);
  std::fflush(stdout);
  std::fputs(item.trouble.c_str(), stderr);
}

void print_lines(const Report& report) {
  for (const ReportSection& section : report.sections) {
    std::fputs(section.head.c_str(), stdout);
    for (const ReportItem& item : section.items) print_item(item);
    std::fputs(section.tail.c_str(), stdout);
  }
  std::fputs(report.totals.c_str(), stdout);
}

}  // namespace graphgate::tools
