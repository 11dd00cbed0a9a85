#include "base/scratch_name.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/file_io.h"
#include "base/processes.h"
#include "base/sha256.h"

namespace graphgate {
namespace {

constexpr std::size_t kMachineDigits = 8;
constexpr std::string_view kPlaceholder = "-XXXXXX";

std::string machine_words() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  std::error_code unknown;
  const auto processes = std::filesystem::read_symlink("/proc/self/ns/pid", unknown);
  const auto id = read_file("/etc/machine-id", 4096);
  return std::string(host.data()) + "\n" + processes.string() + "\n" +
         (id.ok() ? id.value().value_or("") : "");
}

// The machine, and its namespace of processes.
const std::string& machine_mark() {
  static const std::string mark = sha256_hex(machine_words()).substr(0, kMachineDigits);
  return mark;
}

// Of this process, which may be a fork of one that has asked before.
std::uint64_t own_start() {
  static std::atomic<std::uint64_t> start{0};
  static std::atomic<pid_t> known_of{0};
  const pid_t process = ::getpid();
  if (known_of.load(std::memory_order_acquire) != process) {
    start.store(start_ticks(process), std::memory_order_relaxed);
    known_of.store(process, std::memory_order_release);
  }
  return start.load(std::memory_order_relaxed);
}

struct Mark {
  std::string_view machine;
  pid_t process = 0;
  std::uint64_t start = 0;
};

template <class Number>
bool read_number(std::string_view text, Number& out) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

// Whether it waits to be taken in by its parent, which may never do so.
bool has_ended(pid_t process) {
  const std::string fields = stat_fields("/proc/" + std::to_string(process) + "/stat");
  const std::size_t state = fields.find_first_not_of(' ');
  return state != std::string::npos && (fields[state] == 'Z' || fields[state] == 'X');
}

// The mark that stands before the last '-'.
std::optional<Mark> mark_in(std::string_view name) {
  const std::size_t end = name.rfind('-');
  if (end == std::string_view::npos) return std::nullopt;
  name = name.substr(0, end);
  const std::size_t start_dot = name.rfind('.');
  if (start_dot == std::string_view::npos || start_dot == 0) return std::nullopt;
  const std::size_t process_dot = name.rfind('.', start_dot - 1);
  if (process_dot == std::string_view::npos || process_dot < kMachineDigits) return std::nullopt;
  const std::size_t begin = process_dot - kMachineDigits;
  const std::string_view head = name.substr(0, begin);
  if (!head.starts_with("graphgate-") && !head.ends_with(".partial-") && !head.ends_with(".tmp.")) {
    return std::nullopt;
  }
  Mark mark{name.substr(begin, kMachineDigits)};
  const bool is_read =
      read_number(name.substr(process_dot + 1, start_dot - process_dot - 1), mark.process) &&
      read_number(name.substr(start_dot + 1), mark.start);
  return is_read && mark.process > 0 ? std::optional(mark) : std::nullopt;
}

}  // namespace

std::string owner_mark() {
  return machine_mark() + "." + std::to_string(::getpid()) + "." + std::to_string(own_start());
}

bool is_left_behind(std::string_view name) {
  const auto mark = mark_in(name);
  if (!mark || mark->machine != machine_mark()) return false;
  if (::kill(mark->process, 0) != 0 && errno == ESRCH) return true;
  if (has_ended(mark->process)) return true;
  const std::uint64_t start = start_ticks(mark->process);
  return start != 0 && mark->start != 0 && start != mark->start;
}

std::string scratch_name(std::string_view kind) {
  return "graphgate-" + std::string(kind) + "-" + owner_mark() + std::string(kPlaceholder);
}

std::string scratch_beside(const std::string& path) {
  constexpr std::size_t kLongestName = 255;
  const std::string ending = ".partial-" + owner_mark() + std::string(kPlaceholder);
  const std::string name = base_name(path);
  return path.substr(0, path.size() - name.size()) + name.substr(0, kLongestName - ending.size()) +
         ending;
}

}  // namespace graphgate
