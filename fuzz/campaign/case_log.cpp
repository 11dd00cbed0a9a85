#include "fuzz/campaign/case_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "base/file_io.h"

namespace graphgate::fuzz {

std::string print_case_line(const CaseVerdict& verdict) {
  return std::to_string(verdict.index) + " " + std::string(spec::outcome_name(verdict.outcome)) +
         " " + std::to_string(digest_of(verdict)) + " " + spec::quote_string(verdict.signature) +
         "\n";
}

CaseLog::~CaseLog() {
  if (file_ >= 0) ::close(file_);
}

Result<void> CaseLog::open(const std::string& path, bool append) {
  path_ = path;
  const int mode = append ? O_APPEND : O_TRUNC;
  file_ = open_to_write(path, O_CREAT | mode);
  return file_ >= 0 ? Result<void>() : failed();
}

Result<void> CaseLog::write(std::string_view lines) const {
  if (file_ >= 0 && !write_all(file_, std::as_bytes(std::span(lines)))) return failed();
  return {};
}

Error CaseLog::failed() const {
  return infrastructure(path_ + ": cannot be written: " + std::strerror(errno));
}

}  // namespace graphgate::fuzz
