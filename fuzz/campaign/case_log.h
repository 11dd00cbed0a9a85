// The log of a campaign's cases: a line for each, in the order in which batches come back.
//
//   4711 FAIL 8317244170351 "verifier V3.overlap [mm] {}"
//   index, outcome, digest of the verdict, signature
//
// A case that is run again (a resumed campaign) has the same line twice: `sort -u` of the logs of
// all shards is that of the unsharded campaign.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "fuzz/campaign/tally.h"

namespace graphgate::fuzz {

[[nodiscard]] std::string print_case_line(const CaseVerdict& verdict);

class CaseLog {
 public:
  CaseLog() = default;
  CaseLog(const CaseLog&) = delete;
  CaseLog& operator=(const CaseLog&) = delete;
  ~CaseLog();

  // kInfrastructure where it cannot be written. Without open(), write() does nothing.
  [[nodiscard]] Result<void> open(const std::string& path, bool append);
  [[nodiscard]] Result<void> write(std::string_view lines) const;

 private:
  [[nodiscard]] Error failed() const;

  std::string path_;
  int file_ = -1;
};

}  // namespace graphgate::fuzz
