#include "tools/store/bundle.h"

#include <cctype>
#include <filesystem>
#include <map>

#include "base/atomic_file.h"
#include "base/formatted.h"
#include "base/one_line.h"
#include "interop/zip_archive.h"
#include "tools/report/escape.h"
#include "tools/report/forms.h"
#include "tools/report/machine_facts.h"

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;

// By path inside the bundle.
using Entries = std::map<std::string, std::string>;

// For a shell: plain, in quotes, or with the bytes that steer terminals as bash writes them.
std::string printed_word(const std::string& word) {
  if (one_line(word) != word) {
    std::string quoted = "$'";
    for (const char c : word) {
      const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
      quoted += is_plain ? std::string(1, c) : formatted("\\x%02x", static_cast<unsigned char>(c));
    }
    return quoted + "'";
  }
  const bool is_plain =
      !word.empty() && word.find_first_of(" \"'\\$`*?[]{}()<>|&;#~!") == std::string::npos;
  if (is_plain) return word;
  std::string quoted = word;
  for (std::size_t at = quoted.find('\''); at != std::string::npos;
       at = quoted.find('\'', at + 4)) {
    quoted.replace(at, 1, "'\\''");
  }
  return "'" + quoted + "'";
}

std::string command_text(const BundleRequest& request) {
  std::string text;
  for (const std::string& word : request.command_line) {
    text += (text.empty() ? "" : " ") + printed_word(word);
  }
  return text + "\n";
}

const char* verdict_of(ExitCode code) {
  switch (code) {
    case ExitCode::kGood:
      return "All files passed. Every judge that had something to compare found nothing wrong.";
    case ExitCode::kFindings:
      return "There are findings: at least one file failed.";
    case ExitCode::kInconclusive:
      return "Nothing failed, but not everything could be judged.";
    case ExitCode::kInfrastructure:
      return "The machine failed; the results say nothing about the executors.";
    case ExitCode::kBadInput:
      return "At least one file could not be read or run as it is.";
    case ExitCode::kInternal:
      return "graphgate itself failed; the results are not to be trusted.";
  }
  return "";
}

std::string statement_of(const BundleRequest& request, const std::vector<FileReport>& reports,
                         ExitCode code) {
  std::string text = "graphgate " GRAPHGATE_VERSION " judged " + std::to_string(reports.size()) +
                     (reports.size() == 1 ? " file.\n\n" : " files.\n\n");
  text += std::string(verdict_of(code)) + "\n" + describe_totals(reports) + "Exit code " +
          std::to_string(static_cast<int>(code)) + ".\n\n";
  text += "Judges: " +
          (request.judges.empty() ? std::string("all for cases, bounds and state for programs")
                                  : request.judges) +
          ".\nA number outside of its estimate alone is SUSPECT; a right call is called so with a "
          "probability below " +
          formatted("%g", request.false_alarm_rate) +
          ".\n\ncommand.txt is the command line, versions.json this build and machine, report.json "
          "has every finding,\nlog.txt what was printed, plans/ what the executor followed. "
          "docs/judges.md says what each judge sees.\n";
  return text;
}

Entries entries_of(const BundleRequest& request, const std::vector<FileReport>& reports,
                   ExitCode code) {
  Entries entries;
  std::string log;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const FileReport& report = reports[i];
    log += report.error ? plain_text("graphgate: " + report.error->message) + "\n"
                        : describe(report, true);
    for (const ExecutorReport& executor : report.executors) {
      for (std::size_t p = 0; p < executor.plans.size(); ++p) {
        std::string name = "plans/" + std::to_string(i) + "_" + file_name_part(report.file, 100) +
                           "." + file_name_part(executor.executor, 60) + "." + std::to_string(p);
        while (entries.contains(name + ".plan")) name += "_";  // another executor, called the same
        entries[name + ".plan"] = executor.plans[p];
      }
    }
  }
  entries["log.txt"] = log + describe_totals(reports);
  entries["command.txt"] = command_text(request);
  entries["versions.json"] = print_json(machine_facts());
  entries["report.json"] = print_json(json_of(reports, /*seconds=*/false));
  entries["statement.txt"] = statement_of(request, reports, code);
  return entries;
}

Result<void> write_folder(const std::string& path, const Entries& entries) {
  std::error_code failed;
  const bool is_new = !fs::exists(path, failed) || fs::is_empty(path, failed);
  if (failed || !is_new) return infrastructure(path + ": is not a new or empty folder");
  for (const auto& [name, text] : entries) {
    const fs::path file = fs::path(path) / name;
    fs::create_directories(file.parent_path(), failed);
    if (failed) return infrastructure(path + ": cannot be made: " + failed.message());
    GRAPHGATE_TRY_VOID(write_text(text, file.string()));
  }
  return {};
}

}  // namespace

Result<void> write_bundle(const std::string& path, const BundleRequest& request,
                          const std::vector<FileReport>& reports, ExitCode code) {
  const Entries entries = entries_of(request, reports, code);
  if (!path.ends_with(".zip")) return write_folder(path, entries);
  std::vector<interop::ZipEntry> zipped;
  for (const auto& [name, text] : entries) zipped.push_back({name, std::as_bytes(std::span(text))});
  return interop::write_zip(path, zipped);
}

}  // namespace graphgate::tools
