// What a golden folder records: FOLDER/recorded/list.txt, and where the records are.
//
//   # Programs, by paths below the folder; `*` stands for any letters of a file's name. Of several
//   # lines with the same program the last counts. `brief`: plans by their figures alone.
//   program models/*.pt2
//   program models/*.core.pt2 brief
//   program cases/mutation/input-written.case
//   # Texts of their own (whole_texts.h).
//   text effects/aten.txt
//
// The record of PROGRAM is FOLDER/recorded/ARITHMETIC/PROGRAM.golden: each profile of arithmetic
// has records of its own, beside the others.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace graphgate::tools {

struct GoldenProgram {
  std::string path;  // below the folder
  bool is_brief = false;
};

struct GoldenList {
  std::string folder;
  std::vector<GoldenProgram> programs;  // by path
  std::vector<std::string> texts;       // by path

  [[nodiscard]] std::string record_path(const std::string& arithmetic,
                                        const std::string& program) const;
};

// kBadInput with the line: a word that is no row, a pattern that no file has, a text that there is
// not.
[[nodiscard]] Result<GoldenList> read_golden_list(const std::string& folder);

// The records that are there, by path below FOLDER/recorded ("strict/models/mutations.pt2.golden").
[[nodiscard]] Result<std::vector<std::string>> find_records(const std::string& folder);

// Whether a pattern means this path: a part of it, or, with `*` or `?`, the whole of it.
[[nodiscard]] bool is_meant(const std::string& path, const std::string& pattern);

}  // namespace graphgate::tools
