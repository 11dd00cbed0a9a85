#include "base/atomic_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>
#include <utility>

namespace graphgate {
namespace {

constexpr std::string_view kAside = ".tmp.";

Error failed(std::string_view what, const std::filesystem::path& path) {
  return infrastructure(path.string() + ": " + std::string(what) + ": " + std::strerror(errno));
}

class FileDescriptor {
 public:
  FileDescriptor(const std::filesystem::path& path, int flags)
      : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~FileDescriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  [[nodiscard]] int get() const { return descriptor_; }
  // Errors of delayed writes show here.
  [[nodiscard]] bool close() { return ::close(std::exchange(descriptor_, -1)) == 0; }

 private:
  int descriptor_;
};

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  std::string host(name.data());
  for (char& c : host) c = c == '.' ? '_' : c;
  return host;
}

std::filesystem::path aside_of(const std::filesystem::path& path) {
  static std::atomic<std::uint64_t> count{0};
  return path.string() + std::string(kAside) + host_name() + "." + std::to_string(getpid()) + "." +
         std::to_string(count++);
}

Result<void> write_bytes(const std::filesystem::path& path, std::string_view bytes, int flags,
                         const WriteOptions& options) {
  FileDescriptor file(path, O_WRONLY | O_CREAT | flags);
  if (file.get() < 0) return failed("cannot be made", path);
  constexpr std::size_t kChunkBytes = 4096;
  for (std::size_t written = 0; written < bytes.size();) {
    const std::string_view chunk = bytes.substr(written, kChunkBytes);
    const ssize_t count = ::write(file.get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("cannot be written", path);
    written += static_cast<std::size_t>(count);
    if (options.probe) options.probe(written);
  }
  const bool is_synced = !options.sync || ::fdatasync(file.get()) == 0;
  if (!is_synced || !file.close()) return failed("cannot be written", path);
  return {};
}

// The process that wrote NAME.tmp.HOST.PID.N, if it was of this host.
std::optional<pid_t> writer_of(const std::string& name) {
  const std::size_t at = name.rfind(kAside);
  if (at == std::string::npos) return std::nullopt;
  const std::string rest = name.substr(at + kAside.size());
  const std::string host = host_name() + ".";
  if (rest.compare(0, host.size(), host) != 0) return std::nullopt;
  pid_t pid = 0;
  const char* begin = rest.data() + host.size();
  const auto parsed = std::from_chars(begin, rest.data() + rest.size(), pid);
  if (parsed.ec != std::errc() || parsed.ptr == begin || pid <= 0) return std::nullopt;
  return pid;
}

}  // namespace

Result<void> write_file(const std::filesystem::path& path, std::string_view bytes,
                        const WriteOptions& options) {
  if (options.in_place) return write_bytes(path, bytes, O_TRUNC, options);
  const std::filesystem::path aside = aside_of(path);
  auto written = write_bytes(aside, bytes, O_EXCL, options);
  if (written.ok() && ::rename(aside.c_str(), path.c_str()) != 0) {
    written = failed("cannot be renamed", aside);
  }
  if (!written.ok()) {
    ::unlink(aside.c_str());
    return written;
  }
  return {};
}

Result<std::optional<std::string>> read_file(const std::filesystem::path& path,
                                             std::int64_t most_bytes) {
  const FileDescriptor file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (file.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<std::string>();
    return failed("cannot be opened", path);
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return failed("cannot be read", path);
  if (!S_ISREG(status.st_mode)) return infrastructure(path.string() + ": is no regular file");
  if (status.st_size > most_bytes) {
    return infrastructure(path.string() + ": has " + std::to_string(status.st_size) +
                          " bytes, expected at most " + std::to_string(most_bytes));
  }
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t count = ::read(file.get(), bytes.data() + at, bytes.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("cannot be read", path);
    if (count == 0) break;
    at += static_cast<std::size_t>(count);
  }
  bytes.resize(at);
  return std::optional<std::string>(std::move(bytes));
}

void remove_leftovers(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (std::filesystem::directory_iterator entry(folder, ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    const auto writer = writer_of(entry->path().filename().string());
    if (!writer || ::kill(*writer, 0) == 0 || errno != ESRCH) continue;
    ::unlink(entry->path().c_str());
  }
}

}  // namespace graphgate
