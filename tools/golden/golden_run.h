// golden check and golden update: what a golden folder holds against what programs come to now.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/run/executor_source.h"
#include "tools/golden/golden_list.h"
#include "tools/report/report.h"

namespace graphgate::tools {

enum class GoldenState {
  kSame,
  kChanged,  // `sentences` say what
  kNew,      // listed, and not recorded
  kStale,    // recorded, and not listed
  kSkipped,  // recorded in an arithmetic that the executor does not have
  kDamaged,  // `error` says where
  kRefused,  // `sentences` say who objects
  kFailed,   // `error` says why there is nothing to compare
  kNotRun,   // a signal came before
};
// "same", "changed", ...
[[nodiscard]] std::string_view golden_state_name(GoldenState state);

// A record, or a whole text.
struct GoldenItem {
  std::string name;  // the program, or the text, below the folder
  std::string file;
  GoldenState state = GoldenState::kSame;
  std::vector<std::string> sentences;
  std::optional<Error> error;
  std::string replay;  // a line of sh that compares it again; may be empty
  std::string text;    // what the file is to hold; empty: not to be there
};

struct GoldenOptions {
  std::string folder;
  std::string only;                  // a pattern (is_meant); empty: all
  conformance::Configuration flags;  // over every program's own options
  int jobs = 1;
  bool is_update = false;                  // asks all judges, too: kRefused where one objects
  std::string reason;                      // of an update
  std::function<bool()> should_stop = {};  // asked before each program; then the others are not run
};

// Everything that the pattern means: programs and texts by path, then records that no program has.
// Writes nothing. kBadInput for a folder without a list, and a pattern that means nothing.
[[nodiscard]] Result<std::vector<GoldenItem>> compare_golden(const GoldenOptions& options);

// Brings the files of all items to their texts, each whole or not at all. kInfrastructure where one
// cannot be written.
[[nodiscard]] Result<void> write_golden(const std::vector<GoldenItem>& items);

// An item for each record and whole text. Of a check, one that is changed, new, stale or refused
// has failed. Of an update, it is one that a judge objects to, or that could not be run.
[[nodiscard]] Report report_of(const std::vector<GoldenItem>& items, bool is_update);

}  // namespace graphgate::tools
