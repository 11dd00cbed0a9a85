// Where a campaign keeps cases: five folders, and how a file in them is called.
//
//   regression/   the reduced case of each confirmed finding, named by the finding
//   crashing/     the same for what takes its process down; replayed in processes of their own
//   quarantine/   what does not come again: flaky, or only in its order
//   coverage/     the first case of each feature, as drawn, named by content
//   targets/      the cases of the highest scores, named by score, rank and shard
//   ledger.txt    what is known (ledger.h)
//   campaigns/    states and journals of the shards that work here
//
// Files appear whole or not at all, so several processes may share a corpus, and a reader never
// sees half a case.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/campaign/shard.h"
#include "fuzz/campaign/tally.h"

namespace graphgate::fuzz {

enum class CorpusFolder : std::uint8_t { kRegression, kCrashing, kQuarantine, kCoverage, kTargets };
inline constexpr CorpusFolder kCorpusFolders[] = {
    CorpusFolder::kRegression, CorpusFolder::kCrashing, CorpusFolder::kQuarantine,
    CorpusFolder::kCoverage, CorpusFolder::kTargets};
[[nodiscard]] std::string_view folder_name(CorpusFolder folder);

// A name for files, reports and the ledger: letters, digits, dots and dashes of the signature's
// beginning, and twelve digits of its hash: "provenance-V6.order-3f2a9c0d5e71".
[[nodiscard]] std::string finding_name(std::string_view signature);

class Corpus {
 public:
  // Writes a whole file, durably: under another name first, then renamed.
  using Write = std::function<Result<void>(const std::string& text, const std::string& path)>;

  // Makes the folders. kInfrastructure where that cannot be done, or where nothing can be written
  // into them.
  [[nodiscard]] static Result<Corpus> open(const std::string& root, Write write);

  // To be read only: nothing is made there. kBadInput where there is no such folder.
  [[nodiscard]] static Result<Corpus> open_for_reading(const std::string& root);

  // Returns the path below the root. A case of that name is replaced.
  [[nodiscard]] Result<std::string> keep(CorpusFolder folder, std::string_view name,
                                         const std::string& text) const;
  // Where a finding's case lies, below the root, or "". One that was stored when its finding had
  // another name (fault_of) is found by the signature in its header.
  [[nodiscard]] std::string find(std::string_view finding) const;

  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] std::string ledger_path() const { return root_ + "/ledger.txt"; }
  [[nodiscard]] std::string state_path(const Shard& shard) const;
  [[nodiscard]] std::string journal_path(const Shard& shard) const;
  [[nodiscard]] Result<void> write(const std::string& text, const std::string& path) const {
    return write_(text, path);
  }

 private:
  Corpus(std::string root, Write write) : root_(std::move(root)), write_(std::move(write)) {}

  void note_names_of_before();

  std::string root_;
  Write write_;
  std::map<std::string, std::string, std::less<>> stored_before_;  // paths, by names of today
};

// Returns the path of the script beside a case: "regression/NAME.case" -> ".../NAME.repro.py".
[[nodiscard]] std::string script_path(const std::string& case_path);

// Returns the name of the finding whose case it is: "regression/NAME.case" -> NAME.
[[nodiscard]] std::string stored_name(const std::string& case_path);

// The paths of a folder's cases below a corpus, relative to it, sorted; none where there is no such
// folder. kBadInput where it cannot be read.
[[nodiscard]] Result<std::vector<std::string>> case_files(const std::string& root,
                                                          CorpusFolder folder);

// The paths of the states below a corpus, sorted. kBadInput where there are none.
[[nodiscard]] Result<std::vector<std::string>> find_states(const std::string& root);

}  // namespace graphgate::fuzz
