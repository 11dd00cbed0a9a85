#include "fuzz/campaign/corpus.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "base/atomic_file.h"
#include "base/file_io.h"
#include "base/formatted.h"
#include "base/path_error.h"
#include "fuzz/reduce/signature.h"

namespace graphgate::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStateEnding = ".campaign";
constexpr std::string_view kSignatureInFile = "# Signature: ";

std::string state_name(const Shard& shard) {
  return "shard-" + std::to_string(shard.index) + "-of-" + std::to_string(shard.count);
}

// Of a folder that is not there, none.
Result<std::vector<std::string>> names_in(const std::string& folder, std::string_view ending) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    if (name.ends_with(ending)) names.push_back(std::move(name));
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return failed_path("cannot be read as a folder", error.value()).at(folder);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Folders whose cases are called after findings.
constexpr CorpusFolder kFindingFolders[] = {CorpusFolder::kRegression, CorpusFolder::kCrashing,
                                            CorpusFolder::kQuarantine};

// The signature in the header of a stored case; "" where there is none.
std::string signature_in(const std::string& path) {
  const auto text = read_whole(path);  // of no pipe and no device
  std::string_view rest = text.ok() ? std::string_view(text.value()) : std::string_view();
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (line.starts_with(kSignatureInFile)) {
      return std::string(line.substr(kSignatureInFile.size()));
    }
    if (line.starts_with("name ")) return "";
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  return "";
}

}  // namespace

std::string_view folder_name(CorpusFolder folder) {
  constexpr std::string_view kNames[] = {"regression", "crashing", "quarantine", "coverage",
                                         "targets"};
  return kNames[static_cast<std::size_t>(folder)];
}

std::string finding_name(std::string_view signature) {
  constexpr std::size_t kLongest = 40;
  std::string name;
  for (const char c : signature) {
    if (name.size() >= kLongest) break;
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.';
    if (is_plain) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  if (!name.empty() && name.back() != '-') name += '-';
  return name + formatted("%012llx", static_cast<unsigned long long>(hash_of(signature) >> 16U));
}

Result<Corpus> Corpus::open(const std::string& root, Write write) {
  Corpus corpus(root, std::move(write));
  std::vector<std::string> folders = {root + "/campaigns"};
  for (const CorpusFolder folder : kCorpusFolders) {
    folders.push_back(root + "/" + std::string(folder_name(folder)));
  }
  for (const std::string& folder : folders) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return infrastructure(folder + ": cannot be made: " + error.message());
    remove_leftovers(folder);
  }
  // Said now, and not after hours of work.
  const std::string probe = root + "/campaigns/.writable";
  GRAPHGATE_TRY_VOID(corpus.write_("", probe));
  std::error_code ignored;
  fs::remove(probe, ignored);
  corpus.note_names_of_before();
  return corpus;
}

Result<Corpus> Corpus::open_for_reading(const std::string& root) {
  std::error_code error;
  if (!fs::is_directory(root, error)) return bad_input(root + ": no such folder");
  Corpus corpus(root, [](const std::string&, const std::string& path) {
    return Result<void>(Error{ErrorKind::kInternal, path + ": was to be read only"});
  });
  corpus.note_names_of_before();
  return corpus;
}

void Corpus::note_names_of_before() {
  for (const CorpusFolder folder : kFindingFolders) {
    const auto files = case_files(root_, folder);
    if (!files.ok()) continue;  // whoever reads the cases says so
    for (const std::string& file : files.value()) {
      const std::string signature = signature_in(root_ + "/" + file);
      const auto parsed = parse_signature(signature);
      if (!parsed.ok()) continue;
      std::string name = finding_name(print_signature(fault_of(parsed.value())));
      if (name != stored_name(file)) stored_before_.emplace(std::move(name), file);
    }
  }
}

Result<std::string> Corpus::keep(CorpusFolder folder, std::string_view name,
                                 const std::string& text) const {
  std::string below = std::string(folder_name(folder)) + "/" + std::string(name) + ".case";
  GRAPHGATE_TRY_VOID(write_(text, root_ + "/" + below));
  return below;
}

std::string Corpus::find(std::string_view finding) const {
  for (const CorpusFolder folder : kFindingFolders) {
    std::string below = std::string(folder_name(folder)) + "/" + std::string(finding) + ".case";
    std::error_code unknown;  // what cannot be looked up cannot be read
    if (fs::exists(root_ + "/" + below, unknown)) return below;
  }
  const auto before = stored_before_.find(finding);
  return before == stored_before_.end() ? "" : before->second;
}

std::string stored_name(const std::string& case_path) {
  return std::filesystem::path(case_path).stem().string();
}

std::string script_path(const std::string& case_path) {
  return std::filesystem::path(case_path).replace_extension(".repro.py").string();
}

Result<std::vector<std::string>> case_files(const std::string& root, CorpusFolder folder) {
  const std::string below = std::string(folder_name(folder)) + "/";
  std::string path = root;
  path.append("/").append(below);
  GRAPHGATE_TRY(auto names, names_in(path, ".case"));
  for (std::string& name : names) name.insert(0, below);
  return names;
}

std::string Corpus::state_path(const Shard& shard) const {
  return root_ + "/campaigns/" + state_name(shard) + std::string(kStateEnding);
}

std::string Corpus::journal_path(const Shard& shard) const {
  return root_ + "/campaigns/" + state_name(shard) + ".journal";
}

Result<std::vector<std::string>> find_states(const std::string& root) {
  const std::string folder = root + "/campaigns/";
  GRAPHGATE_TRY(auto paths, names_in(folder, kStateEnding));
  for (std::string& path : paths) path.insert(0, folder);
  if (paths.empty()) return bad_input(root + ": holds no campaign");
  return paths;
}

}  // namespace graphgate::fuzz
