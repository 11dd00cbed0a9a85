#include "base/atomic_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <system_error>

namespace graphgate {
namespace {

constexpr std::string_view kAside = ".tmp.";

Error failed(std::string_view what, const std::filesystem::path& path) {
  return infrastructure(path.string() + ": " + std::string(what) + ": " + std::strerror(errno));
}

// The standard stream that `info` is, as a descriptor of our own; -1 for anything else. Its
// position is shared, so that what the stream holds already stays.
int standard_stream(const struct stat& info) {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat other {};
    if (::fstat(stream, &other) != 0) continue;
    if (other.st_dev != info.st_dev || other.st_ino != info.st_ino) continue;
    (void)std::fflush(stream == STDOUT_FILENO ? stdout : stderr);
    return ::fcntl(stream, F_DUPFD_CLOEXEC, 0);
  }
  return -1;
}

// A private file beside `path`; where the name has no room for more, its beginning is cut off.
int make_beside(const std::string& path, std::string& temporary) {
  constexpr std::size_t kLongestName = 255;
  constexpr std::string_view kEnding = ".partial-XXXXXX";
  const std::string name = base_name(path);
  temporary = path.substr(0, path.size() - name.size()) +
              name.substr(0, kLongestName - kEnding.size()) + std::string(kEnding);
  return ::mkostemp(temporary.data(), O_CLOEXEC);
}

// A private file in the machine's temporary folder.
int make_apart(std::string& temporary) {
  std::error_code error;
  const auto folder = std::filesystem::temp_directory_path(error);
  if (error) {
    errno = error.value();
    return -1;
  }
  temporary = (folder / "graphgate-XXXXXX").string();
  return ::mkostemp(temporary.data(), O_CLOEXEC);
}

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
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666));
  if (file.number() < 0) return failed("cannot be made", path);
  constexpr std::size_t kChunkBytes = 4096;
  for (std::size_t written = 0; written < bytes.size();) {
    const std::string_view chunk = bytes.substr(written, kChunkBytes);
    if (!write_all(file.number(), std::as_bytes(std::span(chunk)))) {
      return failed("cannot be written", path);
    }
    written += chunk.size();
    if (options.probe) options.probe(written);
  }
  const bool is_synced = !options.sync || ::fdatasync(file.number()) == 0;
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

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  AtomicFile file;
  file.name_ = path;
  file.path_ = path;
  struct stat info {};
  const bool is_new = ::stat(path.c_str(), &info) != 0;
  if (is_new && (errno != ENOENT || path.empty())) return file.failed();
  if (!is_new && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return file.failed();
  }
  if (!is_new) file.target_ = Descriptor(standard_stream(info));
  if (!is_new && !S_ISREG(info.st_mode) && file.target_.number() < 0) {
    file.target_ = Descriptor(open_to_write(path, 0));
    if (file.target_.number() < 0) return file.failed();
  }
  if (file.target_.number() >= 0) {
    file.descriptor_ = Descriptor(make_apart(file.temporary_path_));
    if (file.descriptor_.number() < 0) return file.failed();
    return file;
  }
  if (!is_new) {
    if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) return file.failed();
    std::error_code error;
    const auto followed = std::filesystem::canonical(path, error);
    if (!error) file.path_ = followed.string();
  }
  file.descriptor_ = Descriptor(make_beside(file.path_, file.temporary_path_));
  if (file.descriptor_.number() < 0) return file.failed();
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(file.descriptor_.number(), 0666 & ~mask);  // mkostemp makes private files
  return file;
}

AtomicFile::~AtomicFile() {
  if (descriptor_.number() >= 0) ::unlink(temporary_path_.c_str());
}

Error AtomicFile::failed() const { return graphgate::failed("cannot be written", name_); }

Result<void> AtomicFile::write(std::span<const std::byte> bytes) {
  if (!write_all(descriptor_.number(), bytes)) return failed();
  return {};
}

Result<void> AtomicFile::commit() {
  if (target_.number() >= 0) return copy_into_target();
  // Opened again: a library may have put another file under this name.
  const Descriptor written(::open(temporary_path_.c_str(), O_RDONLY | O_CLOEXEC));
  const bool durable = written.number() >= 0 && ::fsync(written.number()) == 0;
  if (!durable || ::rename(temporary_path_.c_str(), path_.c_str()) != 0) return failed();
  (void)descriptor_.close();
  return {};
}

Result<void> AtomicFile::copy_into_target() const {
  const Descriptor made(::open(temporary_path_.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<std::byte, std::size_t{1} << 16> chunk;
  while (true) {
    const ssize_t got = ::read(made.number(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) return {};
    if (got < 0) return failed();
    if (!write_all(target_.number(), std::span(chunk).first(static_cast<std::size_t>(got))))
      return failed();
  }
}

Result<void> write_text(const std::string& text, const std::string& path) {
  if (path == "-") {
    const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (!whole || std::fflush(stdout) != 0)
      return infrastructure("standard output cannot be written");
    return {};
  }
  GRAPHGATE_TRY(AtomicFile file, AtomicFile::create(path));
  GRAPHGATE_TRY_VOID(file.write(std::as_bytes(std::span(text))));
  return file.commit();
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
