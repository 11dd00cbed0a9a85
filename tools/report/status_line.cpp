#include "tools/report/status_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "base/formatted.h"
#include "base/one_line.h"
#include "tools/report/escape.h"

namespace graphgate::tools {

std::optional<int> terminal_columns(std::FILE* file) {
  const int descriptor = ::fileno(file);
  if (::isatty(descriptor) == 0) return std::nullopt;
  winsize size{};
  const bool is_known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : 80;
}

std::string print_duration(double seconds) {
  const auto whole = static_cast<long long>(seconds);
  if (seconds < 60) return formatted(seconds < 10 ? "%.1fs" : "%.0fs", seconds);
  if (whole < 3600) return formatted("%lldm %02llds", whole / 60, whole % 60);
  return formatted("%lldh %02lldm", whole / 3600, whole / 60 % 60);
}

StatusLine::StatusLine(std::FILE* file, bool redraws, int columns)
    : file_(file), redraws_(redraws), columns_(static_cast<std::size_t>(std::max(columns, 20))) {}

void StatusLine::show(const std::string& status) {
  if (!redraws_) return;
  status_ = plain_text(status).substr(0, columns_ - 1);
  std::fprintf(file_, "\r\x1b[K%s", status_.c_str());
  std::fflush(file_);
}

void StatusLine::print(const std::string& line) {
  std::fprintf(file_, "%s%s\n", redraws_ ? "\r\x1b[K" : "", plain_text(line).c_str());
  if (redraws_ && !status_.empty()) std::fprintf(file_, "%s", status_.c_str());
  std::fflush(file_);
}

void StatusLine::end(const std::string& lines) {
  status_.clear();
  std::fprintf(file_, "%s%s", redraws_ ? "\r\x1b[K" : "", plain_lines(lines).c_str());
  std::fflush(file_);
}

}  // namespace graphgate::tools
