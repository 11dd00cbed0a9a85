// What a gate has run so far, on the disk as it comes, so that a run that was killed goes on.
//
//   {"graphgate_gate_journal":1,"of":{"baseline":"torch-2.9.0","judges":"all",...}}
//   {"case":"op/conversion","sides":[{"outcome":"PASS",...},{"outcome":"FAIL",...}]}
//
// A line is written once all looks at its case have ended. What a killed run leaves of a line is no
// line: the case runs again. One process writes a journal at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/file_io.h"
#include "tools/gate/gate_results.h"

namespace graphgate::tools {

// What a run depends on, in words, by what it is: "candidate 1" -> "new=cmd:...".
using GateKey = std::map<std::string, std::string>;

class GateJournal {
 public:
  // Opens the journal, or makes it where there is none. kBadInput with the first difference where
  // it is of another run, and for what is no journal; kInfrastructure where another process writes
  // it, and where it cannot be written.
  [[nodiscard]] static Result<GateJournal> open(const std::string& path, const GateKey& key,
                                                std::size_t sides);

  // Returns what is there, by the names of cases: what each came to on all sides, in their order.
  [[nodiscard]] const std::map<std::string, std::vector<GateCase>>& cases() const { return cases_; }
  // Appends a case. What the machine could not do, or was not done in time, is left out: a run that
  // goes on tries it again.
  [[nodiscard]] Result<void> add(const std::string& name, const std::vector<GateCase>& sides);

 private:
  GateJournal(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}
  [[nodiscard]] Result<void> read(const std::string& text, const GateKey& key, std::size_t sides);
  [[nodiscard]] Result<void> write_line(const std::string& line) const;

  std::string path_;
  Descriptor file_;
  std::map<std::string, std::vector<GateCase>> cases_;
};

}  // namespace graphgate::tools
