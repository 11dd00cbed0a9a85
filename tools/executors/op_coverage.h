// Which ops programs use, and which of them somebody lacks: `graphgate ops --coverage`.
//
// Programs are read without their ops being known, so that one look tells of all gaps of all
// programs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "spec/op_table.h"

namespace graphgate::tools {

struct OpUse {
  std::int64_t nodes = 0;
  std::vector<std::string> files;  // of programs and cases, in order
  // Of the reference's body; "higher order" for what has no schema; empty without a body.
  std::string family;
  std::vector<std::string> lacks;  // of "schema", "body" and "kernel"; "schema" stands alone
};

struct UnreadProgram {
  std::string file;
  Error error;
};

struct OpCoverage {
  std::map<std::string, OpUse> by_op;
  std::size_t programs = 0;  // files that were read
  std::vector<UnreadProgram> unread;

  // The ops that somebody lacks, those of the most programs first, then of the most nodes.
  [[nodiscard]] std::vector<std::pair<std::string, const OpUse*>> gaps() const;
};

// Looks at programs (.pt2, graph text) and cases, and in folders at all that lie below them: .pt2,
// .case, and .txt that begins as graph text does. A file that cannot be read is told of, and costs
// the others nothing. An Error is about a folder; one in which there is none of them is kBadInput.
[[nodiscard]] Result<OpCoverage> op_coverage(const std::vector<std::string>& paths,
                                             const spec::OpTable& ops);

}  // namespace graphgate::tools
