#include "tools/report.h"

#include <cmath>
#include <cstdio>

#include "interop/file_io.h"

namespace graphgate::tools {
namespace {

using conformance::ProgramReport;
using Json = nlohmann::ordered_json;

enum class Count { kPassed, kFailed, kSkipped };

Count count_of(const FileReport& file) {
  if (!file.report) {
    return file.error->kind == ErrorKind::kUnsupported ? Count::kSkipped : Count::kFailed;
  }
  switch (exit_code_of(file.report->outcome)) {
    case ExitCode::kGood:
      return Count::kPassed;
    case ExitCode::kInconclusive:
      return Count::kSkipped;
    default:
      return Count::kFailed;
  }
}

std::size_t count(const std::vector<FileReport>& reports, Count wanted) {
  std::size_t n = 0;
  for (const FileReport& report : reports) n += count_of(report) == wanted ? 1 : 0;
  return n;
}

// JSON has no infinity; an absent number says that there is none.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json to_json(const FileReport& file) {
  Json json;
  json["file"] = file.file;
  if (!file.report) {
    json["outcome"] = file.error->kind == ErrorKind::kUnsupported ? "UNSUPPORTED" : "ERROR";
    json["reason"] = file.error->message;
    return json;
  }
  const ProgramReport& report = *file.report;
  json["program"] = report.program;
  json["outcome"] = spec::outcome_name(report.outcome);
  if (!report.reason.empty()) json["reason"] = report.reason;
  if (!report.node.empty()) json["node"] = report.node;
  json["nodes"] = report.nodes;
  json["calls"] = report.calls;
  json["recorded"] = report.recorded;
  json["elements"] = report.elements;
  json["undecided"] = report.undecided;
  json["worst_error"] = number(report.worst_error);
  json["worst_allowed"] = number(report.worst_allowed);
  json["worst_ratio"] = number(report.worst_ratio);
  if (report.nodes_judged > 0) {
    json["nodes_judged"] = report.nodes_judged;
    json["worst_node_ratio"] = number(report.worst_node_ratio);
  }
  if (report.plan) {
    json["plan"] = {{"steps", report.plan->steps},
                    {"captured_steps", report.plan->captured_steps},
                    {"partitions", report.plan->partitions},
                    {"captured_partitions", report.plan->captured_partitions},
                    {"peak_bytes", report.plan->peak_bytes},
                    {"no_reuse_bytes", report.plan->no_reuse_bytes},
                    {"lower_bound_bytes", report.plan->lower_bound_bytes}};
  }
  json["differences"] = Json::array();
  for (const conformance::Difference& difference : report.differences) {
    json["differences"].push_back({{"subject", difference.subject},
                                   {"where", difference.where},
                                   {"message", difference.message}});
  }
  return json;
}

}  // namespace

std::string print_bytes(std::int64_t bytes) {
  char text[32];
  if (bytes < 10'000) {
    std::snprintf(text, sizeof(text), "%lld B", static_cast<long long>(bytes));
  } else if (bytes < 10'000'000) {
    std::snprintf(text, sizeof(text), "%.1f KiB", static_cast<double>(bytes) / 1024);
  } else {
    std::snprintf(text, sizeof(text), "%.1f MiB", static_cast<double>(bytes) / (1024 * 1024));
  }
  return text;
}

std::string describe_plan(const conformance::PlanStats& plan) {
  char share[32];
  const double captured = plan.steps == 0 ? 0
                                          : 100 * static_cast<double>(plan.captured_steps) /
                                                static_cast<double>(plan.steps);
  std::snprintf(share, sizeof(share), "%.1f%%", captured);
  return std::string(share) + " of " + std::to_string(plan.steps) + " steps captured in " +
         std::to_string(plan.captured_partitions) + " of " + std::to_string(plan.partitions) +
         (plan.partitions == 1 ? " partition" : " partitions") + ", peak " +
         print_bytes(plan.peak_bytes) + " (no reuse " + print_bytes(plan.no_reuse_bytes) +
         ", bound " + print_bytes(plan.lower_bound_bytes) + ")";
}

ExitCode FileReport::exit_code() const {
  return report ? exit_code_of(report->outcome) : exit_code_of(error->kind);
}

void print_report(const FileReport& file) {
  if (!file.report) {
    std::fflush(stdout);
    std::fprintf(stderr, "graphgate: %s\n", file.error->message.c_str());
    return;
  }
  const ProgramReport& report = *file.report;
  std::string line = std::string(spec::outcome_name(report.outcome)) + " " + file.file + ": " +
                     std::to_string(report.nodes) + " nodes, " + std::to_string(report.calls) +
                     (report.recorded ? " recorded calls" : " seeded calls") + ", " +
                     std::to_string(report.elements) + " elements";
  char text[96];
  if (report.worst_ratio > 0 && std::isfinite(report.worst_ratio)) {
    std::snprintf(text, sizeof(text), ", worst error %.2g of %.2g allowed", report.worst_error,
                  report.worst_allowed);
    line += text;
  }
  if (report.nodes_judged > 0) {
    std::snprintf(text, sizeof(text), ", %zu node runs judged, worst %.2g of its bound",
                  report.nodes_judged, report.worst_node_ratio);
    line += text;
  }
  if (report.undecided > 0) line += ", " + std::to_string(report.undecided) + " undecided";
  if (report.plan) line += "; " + describe_plan(*report.plan);
  if (!report.reason.empty()) line += "; " + report.reason;
  if (!report.node.empty()) line += "; from node '" + report.node + "'";
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void print_totals(const std::vector<FileReport>& reports) {
  const std::size_t skipped = count(reports, Count::kSkipped);
  if (skipped > 0) {
    std::printf(
        "%zu without a verdict (SUSPECT, UNDECIDED, MISTRUSTED or UNSUPPORTED) count as "
        "skipped\n",
        skipped);
  }
  std::printf("%zu passed, %zu failed, %zu skipped\n", count(reports, Count::kPassed),
              count(reports, Count::kFailed), skipped);
}

std::string print_json(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<void> write_json(const std::vector<FileReport>& reports, const std::string& path) {
  Json json;
  json["programs"] = Json::array();
  for (const FileReport& report : reports) json["programs"].push_back(to_json(report));
  json["passed"] = count(reports, Count::kPassed);
  json["failed"] = count(reports, Count::kFailed);
  json["skipped"] = count(reports, Count::kSkipped);
  return write_text(print_json(json), path);
}

Result<void> write_text(const std::string& text, const std::string& path) {
  if (path == "-") {
    const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (!whole || std::fflush(stdout) != 0)
      return infrastructure("standard output cannot be written");
    return {};
  }
  GRAPHGATE_TRY(interop::AtomicFile file, interop::AtomicFile::create(path));
  GRAPHGATE_TRY_VOID(file.write(std::as_bytes(std::span(text))));
  return file.commit();
}

}  // namespace graphgate::tools
