#include "tools/store/bundle.h"

#include <cctype>
#include <filesystem>
#include <map>
#include <optional>

#include "base/atomic_file.h"
#include "base/file_io.h"
#include "base/formatted.h"
#include "base/one_line.h"
#include "interop/json_limits.h"
#include "interop/zip_archive.h"
#include "tools/report/escape.h"
#include "tools/report/forms.h"
#include "tools/report/json.h"
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
  if (request.without_data) {
    text += std::string("Left out: ") + kDataLeftOut +
            ". programs/ has graphs alone. Messages quote single elements where they are off.\n\n";
  }
  text +=
      "Judges: " +
      (request.judges.empty() ? std::string("all for cases, bounds and state for programs")
                              : request.judges) +
      ".\nA number outside of its estimate alone is SUSPECT; a right call is called so with a "
      "probability below " +
      formatted("%g", request.false_alarm_rate) +
      ".\n\ncommand.txt is the command line, versions.json this build and machine, report.json "
      "has every finding,\nlog.txt what was printed, plans/ what the executor followed, programs/ "
      "what was judged, manifest.json what of it is here. "
      "docs/judges.md says what each judge sees.\n";
  return text;
}

// A file is left out where it has more bytes, or all before it have.
constexpr std::uintmax_t kMostDataBytes = std::uintmax_t{64} << 20U;

// The files that judge a program or a case again: itself, and a recording or tensors beside it.
std::vector<fs::path> files_of_input(const FileReport& report, const std::string& data) {
  const fs::path path = report.file;
  std::vector<fs::path> files = {path};
  if (!data.empty()) {
    files.emplace_back(data);
  } else if (report.recorded) {
    fs::path recording = path;
    recording.replace_extension();
    if (recording.extension() == ".core") recording.replace_extension();
    recording += ".safetensors";
    files.push_back(recording);
  } else if (report.is_case) {
    for (const std::string& name : report.tensor_files) files.push_back(path.parent_path() / name);
  }
  if (files.size() == 2 && !report.is_case) {
    fs::path geometry = files.back();
    files.push_back(geometry.replace_extension(".geometry.json"));
  }
  return files;
}

// Adds what was judged below programs/N/, and tells what of it is there. What the machine does not
// let us read of a file that was judged is an error: a bundle must not come to less for it.
Result<Json> add_programs(const BundleRequest& request, const std::vector<FileReport>& reports,
                          Entries& entries) {
  Json list = Json::array();
  std::uintmax_t bytes = 0;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const FileReport& report = reports[i];
    Json told = {{"file", plain_text(report.file)}};
    const std::string folder = "programs/" + std::to_string(i) + "/";
    if (request.without_data) {
      for (std::size_t p = 0; p < report.graphs.size(); ++p) {
        const std::string name = folder + "graph" + std::to_string(p) + ".txt";
        entries[name] = report.graphs[p];
        told["graphs"].push_back(name);
      }
      told["left_out"] = kDataLeftOut;
      list.push_back(std::move(told));
      continue;
    }
    for (const fs::path& file : files_of_input(report, request.data)) {
      std::error_code failed;
      const bool is_file = fs::is_regular_file(file, failed);
      const std::uintmax_t size = is_file ? fs::file_size(file, failed) : 0;
      const std::string shown = file_name_part(file.filename().string(), 100);
      if (failed || !is_file) {
        told["left_out"] = shown + " is no file";
      } else if (size > kMostDataBytes - bytes) {
        told["left_out"] = shown + " has " + std::to_string(size) + " bytes, and a bundle takes " +
                           std::to_string(kMostDataBytes) + " of all files";
      } else {
        auto read = read_file(file.string(), static_cast<std::int64_t>(kMostDataBytes));
        if (!read.ok() && !report.error) return read.error();
        const std::optional<std::string> content =
            read.ok() ? std::move(read).value() : std::nullopt;
        if (!content) {
          told["left_out"] = shown + " cannot be read";
          continue;
        }
        bytes += size;
        entries[folder + shown] = *content;
        told["stored"].push_back(folder + shown);
      }
    }
    list.push_back(std::move(told));
  }
  return Json{{"graphgate_bundle", 1}, {"data", !request.without_data}, {"files", list}};
}

Result<Entries> entries_of(const BundleRequest& request, const std::vector<FileReport>& reports,
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
        while (entries.contains(name + ".plan")) name += '_';  // another executor, called the same
        entries[name + ".plan"] = executor.plans[p];
      }
    }
  }
  entries["log.txt"] = log + describe_totals(reports);
  entries["command.txt"] = command_text(request);
  entries["versions.json"] = print_json(machine_facts());
  Json report = json_of(reports, /*seconds=*/false);
  if (request.without_data) report["left_out"] = kDataLeftOut;
  entries["report.json"] = print_json(report);
  GRAPHGATE_TRY(const Json manifest, add_programs(request, reports, entries));
  entries["manifest.json"] = print_json(manifest);
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

// The text of a bundle's manifest; nothing where `path` is no bundle.
std::optional<std::string> manifest_of(const std::string& path) {
  std::error_code failed;
  if (fs::is_directory(path, failed)) {
    const auto text = read_file((fs::path(path) / "manifest.json").string());
    return text.ok() ? text.value() : std::nullopt;
  }
  if (!fs::is_regular_file(path, failed)) return std::nullopt;
  const auto zip = interop::ZipReader::open(path);
  if (!zip.ok() || !zip.value().contains("manifest.json")) return std::nullopt;
  auto text = zip.value().read_text("manifest.json");
  if (!text.ok()) return std::nullopt;
  return std::move(text).value();
}

}  // namespace

Result<void> refuse_bundle(const std::string& path) {
  const auto text = manifest_of(path);
  if (!text || !interop::check_json_limits(*text, {}).ok()) return {};
  const auto manifest = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!manifest.is_object() || !manifest.contains("graphgate_bundle")) return {};
  const auto data = manifest.find("data");
  if (data != manifest.end() && *data == false) {
    return bad_input(
        path +
        ": is a bundle whose weights and inputs are left out (--no-data): it cannot be "
        "run again. command.txt in it has the line, for where its programs are");
  }
  return bad_input(path +
                   ": is a bundle, and no case: unpack it, and give what is in programs/ to "
                   "'graphgate check' or 'graphgate replay'");
}

Result<void> write_bundle(const std::string& path, const BundleRequest& request,
                          const std::vector<FileReport>& reports, ExitCode code) {
  GRAPHGATE_TRY(const Entries entries, entries_of(request, reports, code));
  if (!path.ends_with(".zip")) return write_folder(path, entries);
  std::vector<interop::ZipEntry> zipped;
  for (const auto& [name, text] : entries) zipped.push_back({name, std::as_bytes(std::span(text))});
  return interop::write_zip(path, zipped);
}

}  // namespace graphgate::tools
