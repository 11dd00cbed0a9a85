#include "tools/case_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace graphgate::tools {

std::string print_case_line(const fuzz::CaseVerdict& verdict) {
  return std::to_string(verdict.index) + " " + std::string(spec::outcome_name(verdict.outcome)) +
         " " + std::to_string(fuzz::digest_of(verdict)) + " " +
         spec::quote_string(verdict.signature) + "\n";
}

CaseLog::~CaseLog() {
  if (file_ >= 0) ::close(file_);
}

Result<void> CaseLog::open(const std::string& path, bool append) {
  path_ = path;
  const int mode = append ? O_APPEND : O_TRUNC;
  file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | mode, 0666);
  return file_ >= 0 ? Result<void>() : failed();
}

Result<void> CaseLog::write(std::string_view lines) const {
  while (file_ >= 0 && !lines.empty()) {
    const ssize_t count = ::write(file_, lines.data(), lines.size());
    if (count < 0 && errno != EINTR) return failed();
    if (count > 0) lines.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Error CaseLog::failed() const {
  return infrastructure(path_ + ": cannot be written: " + std::strerror(errno));
}

}  // namespace graphgate::tools
