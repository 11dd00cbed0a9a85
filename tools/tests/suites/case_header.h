// What the comments at the head of a case of golden/cases/ say, and where those cases lie.
//
//   # Row: P1*                     of the catalogue of upstream bugs; a star: plant first
//   # Links: pytorch#165514
//   # Holds: an allocation at the end of a partition stays where ...
//   # Judges: verifier, shadow     meant to see it when it does not hold
//   # Deviation: tail_allocations_by_graph_outputs[, ...]     that break it, all at once
//
// Cases of the catalogue have all of these but Deviation; others have Holds, Links where somebody
// reported the program, and Deviation where they show one of a profile (profiles_test.cpp). The
// tests of the suites and of docs/coverage.md read them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "spec/case_file.h"

namespace graphgate::tools {

struct CaseHeader {
  std::string row;  // "P1", without the star
  bool is_starred = false;
  std::string links;
  std::string holds;
  std::vector<std::string> judges;
  std::vector<std::string> deviations;
};

// kBadInput, naming the line, for a key that there is not or that comes twice.
[[nodiscard]] Result<CaseHeader> case_header(const spec::CaseFile& the_case);

struct GoldenCase {
  std::filesystem::path path;
  std::string text;
  spec::CaseFile the_case;
  CaseHeader header;

  // "catalogue/p1-tail-allocation"
  [[nodiscard]] std::string name() const;
};

// Every case of a suite (a folder below `root`), by name. kBadInput, with the file's path, for one
// that does not parse, does not make sense, or is not written canonically; and for an empty suite.
[[nodiscard]] Result<std::vector<GoldenCase>> golden_cases(const std::filesystem::path& root,
                                                           const std::string& suite);
// All folders below `root`, in byte order.
[[nodiscard]] std::vector<std::string> golden_suites(const std::filesystem::path& root);

}  // namespace graphgate::tools
