#include "tools/executors/known_findings.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>

#include "base/file_io.h"
#include "fuzz/reduce/signature.h"
#include "interop/json_cursor.h"
#include "interop/json_fields.h"
#include "interop/json_limits.h"
#include "spec/option.h"
#include "tools/store/bundled_data.h"

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;
using interop::JsonCursor;

constexpr const char* kKnownFormat = "graphgate-known-findings";
constexpr std::int64_t kKnownVersion = 1;
constexpr const char* kKnownShows = "shows";
constexpr const char* kKnownPasses = "passes";

// What a finding came to on one version.
struct KnownResult {
  std::string version;
  std::string device;
  std::string backend;
  std::string outcome;  // of its case: shows, passes, or how else it ended; empty: it has none
  std::set<std::string> faults;
};

// "2.15.0" -> 2, 15, 0. Versions are compared so.
std::vector<std::uint64_t> version_numbers(const std::string& version) {
  std::vector<std::uint64_t> numbers;
  bool is_inside = false;
  for (const char c : version) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (is_digit && !is_inside) numbers.push_back(0);
    if (is_digit) numbers.back() = numbers.back() * 10 + static_cast<std::uint64_t>(c - '0');
    is_inside = is_digit;
  }
  return numbers;
}

Result<std::vector<std::string>> read_known_texts(const JsonCursor& object, const char* name) {
  std::vector<std::string> texts;
  GRAPHGATE_TRY_VOID(interop::read_list(object, name, texts, &JsonCursor::as_string));
  return texts;
}

// As signatures of a campaign are: without options.
Result<std::string> read_known_fault(const JsonCursor& cursor) {
  GRAPHGATE_TRY(const std::string text, cursor.as_string());
  auto signature = fuzz::parse_signature(text);
  if (!signature.ok()) return cursor.error(signature.error().message);
  return fuzz::print_signature(fuzz::fault_of(std::move(signature).value()));
}

Result<KnownResult> read_known_result(const JsonCursor& row) {
  KnownResult result;
  GRAPHGATE_TRY(result.version, interop::read_string(row, "version"));
  GRAPHGATE_TRY(result.device, interop::read_string(row, spec::option::kDevice));
  GRAPHGATE_TRY(result.backend, interop::read_string(row, "backend"));
  GRAPHGATE_TRY_VOID(interop::read_optional(row, "case", result.outcome));
  GRAPHGATE_TRY_VOID(
      interop::read_list(row, "signatures", [&](const JsonCursor& one) -> Result<void> {
        GRAPHGATE_TRY(std::string fault, read_known_fault(one));
        result.faults.insert(std::move(fault));
        return {};
      }));
  return result;
}

// Whether the finding is expected of the subject, by what its case came to.
bool is_expected_of(const std::vector<KnownResult>& results, const KnownSubject& subject) {
  const auto version = version_numbers(subject.version);
  const KnownResult* nearest = nullptr;
  for (const KnownResult& one : results) {
    if (one.device != subject.device || one.backend != subject.backend) continue;
    if (one.outcome != kKnownShows && one.outcome != kKnownPasses) continue;
    const auto at = version_numbers(one.version);
    const auto before = nearest ? version_numbers(nearest->version) : at;
    const bool is_older = at <= version;
    const bool is_nearer =
        !nearest || (is_older ? before > version || at > before : before > version && at < before);
    if (is_nearer) nearest = &one;
  }
  return nearest && nearest->outcome == kKnownShows;
}

Result<fuzz::KnownCase> read_known_case(const fs::path& folder, const std::string& file,
                                        const JsonCursor& place) {
  const std::string path = (folder / file).string();
  const auto text = read_whole(path);
  if (!text.ok()) return place.error(text.error().message);
  GRAPHGATE_TRY(spec::CaseFile the_case, spec::parse_case(text.value(), path));
  return fuzz::KnownCase{path, std::move(the_case)};
}

// Nothing for one that is not expected of the subject, or that no case shows.
Result<std::optional<fuzz::KnownFinding>> read_known(const JsonCursor& row, const fs::path& folder,
                                                     const KnownSubject& subject) {
  fuzz::KnownFinding finding;
  GRAPHGATE_TRY(finding.name, interop::read_string(row, "name"));
  GRAPHGATE_TRY(const std::string file, interop::read_string(row, "case"));
  GRAPHGATE_TRY(const std::vector<std::string> alike, read_known_texts(row, "alike"));
  GRAPHGATE_TRY(const JsonCursor upstream, row.member("upstream"));
  for (const char* kind : {"issues", "akin"}) {
    GRAPHGATE_TRY(const std::vector<std::string> issues, read_known_texts(upstream, kind));
    if (finding.issue.empty() && !issues.empty()) finding.issue = issues.front();
  }
  std::vector<KnownResult> results;
  GRAPHGATE_TRY_VOID(interop::read_list(row, "results", [&](const JsonCursor& one) -> Result<void> {
    GRAPHGATE_TRY(results.emplace_back(), read_known_result(one));
    return {};
  }));
  if (file.empty() || !is_expected_of(results, subject)) return std::optional<fuzz::KnownFinding>();
  for (const KnownResult& one : results)
    finding.faults.insert(one.faults.begin(), one.faults.end());
  GRAPHGATE_TRY(finding.cases.emplace_back(), read_known_case(folder, file, row));
  for (const std::string& more : alike) {
    GRAPHGATE_TRY(finding.cases.emplace_back(), read_known_case(folder, more, row));
  }
  return std::optional(std::move(finding));
}

}  // namespace

KnownSubject known_subject(const std::string& identity) {
  KnownSubject subject;
  std::istringstream words(identity);
  words >> subject.name;
  const std::size_t dash = subject.name.find('-');
  if (dash != std::string::npos) {
    subject.version = subject.name.substr(dash + 1);
    subject.name.resize(dash);
  } else {
    words >> subject.version;
  }
  // Backend and device stand last; what an adapter tells of its settings, before them.
  std::vector<std::string> last;
  for (std::string word; words >> word;) last.push_back(std::move(word));
  if (last.size() == 1) subject.backend = last.front();
  if (last.size() >= 2) {
    subject.backend = last[last.size() - 2];
    subject.device = last.back();
  }
  subject.version = subject.version.substr(0, subject.version.find('+'));
  subject.device = subject.device.substr(0, subject.device.find(':'));
  return subject;
}

Result<fuzz::KnownFindings> read_known_findings(const std::string& path,
                                                const KnownSubject& subject) {
  GRAPHGATE_TRY(const std::string text, read_whole(path));
  GRAPHGATE_TRY_VOID(interop::check_json_limits(text, {}));
  const interop::Json json = interop::Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return bad_input(path + ": not JSON");
  const JsonCursor cursor(json, path);
  GRAPHGATE_TRY(const std::string format, interop::read_string(cursor, "format"));
  if (format != kKnownFormat) return cursor.error("format: expected " + std::string(kKnownFormat));
  GRAPHGATE_TRY(const std::int64_t number, interop::read_int(cursor, "version"));
  if (number != kKnownVersion) {
    return cursor.error("unknown version " + std::to_string(number) + ", this build reads " +
                        std::to_string(kKnownVersion));
  }
  GRAPHGATE_TRY(const std::string name, interop::read_string(cursor, "subject"));
  fuzz::KnownFindings known;
  std::set<std::string> names;
  GRAPHGATE_TRY_VOID(
      interop::read_list(cursor, "findings", [&](const JsonCursor& row) -> Result<void> {
        GRAPHGATE_TRY(auto finding, read_known(row, fs::path(path).parent_path(), subject));
        GRAPHGATE_TRY(const std::string own, interop::read_string(row, "name"));
        if (!names.insert(own).second) return row.error("'" + own + "' comes twice");
        if (finding && name == subject.name) known.add(*std::move(finding));
        return {};
      }));
  return known;
}

std::string shipped_ledger(const KnownSubject& subject) {
  constexpr std::array<std::string_view, 4> kWithLedger = {"torch", "vllm", "executorch",
                                                           "onnxruntime"};
  if (std::find(kWithLedger.begin(), kWithLedger.end(), subject.name) == kWithLedger.end()) {
    return "";
  }
  const std::string adapters = bundled_adapters();
  if (adapters.empty()) return "";
  std::string path = (fs::path(adapters) / subject.name / "findings" / "ledger.json").string();
  std::error_code unknown;  // what cannot be looked up is not there
  return fs::exists(path, unknown) ? path : "";
}

}  // namespace graphgate::tools
