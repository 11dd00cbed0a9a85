#include "tools/report/report.h"

namespace graphgate::tools {

ExitCode ReportItem::exit_code() const {
  return error ? exit_code_of(error->kind) : exit_code_of(outcome);
}

std::vector<const ReportItem*> Report::items() const {
  std::vector<const ReportItem*> all;
  for (const ReportSection& section : sections) {
    for (const ReportItem& item : section.items) all.push_back(&item);
  }
  return all;
}

std::vector<const ReportItem*> Report::cases() const {
  std::vector<const ReportItem*> all;
  for (const ReportSection& section : sections) {
    const auto& own = section.cases.empty() ? section.items : section.cases;
    for (const ReportItem& item : own) all.push_back(&item);
  }
  return all;
}

Report one_section(const std::string& verb) {
  Report report;
  report.verb = verb;
  report.sections.emplace_back().subjects = {verb};
  return report;
}

Count count_of(ExitCode code) {
  switch (code) {
    case ExitCode::kGood:
      return Count::kPassed;
    case ExitCode::kInconclusive:
      return Count::kSkipped;
    default:
      return Count::kFailed;
  }
}

const char* verdict_word(ExitCode code) {
  switch (code) {
    case ExitCode::kGood:
      return "PASS";
    case ExitCode::kFindings:
      return "FAIL";
    case ExitCode::kInconclusive:
      return "INCONCLUSIVE";
    default:
      return "ERROR";
  }
}

std::string count_text(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

}  // namespace graphgate::tools
