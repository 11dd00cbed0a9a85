#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <system_error>

#include "base/scratch_name.h"

namespace graphgate {
namespace {

Error failed(std::string_view what, const std::filesystem::path& path) {
  return infrastructure(path.string() + ": " + std::string(what) + ": " + std::strerror(errno));
}

// Whether the path is a link in /proc, to a file that a process has open.
bool is_open_file(const std::string& path) {
  constexpr long kProcesses = 0x9fa0;  // PROC_SUPER_MAGIC of <linux/magic.h>
  struct statfs system {};
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode) &&
         ::statfs(std::filesystem::path(path).parent_path().c_str(), &system) == 0 &&
         system.f_type == kProcesses;
}

// The number behind /proc/self/fd/; -1 for any other path.
int own_descriptor(const std::string& path) {
  std::error_code error;
  const auto folder = std::filesystem::canonical(std::filesystem::path(path).parent_path(), error);
  if (error || folder != "/proc/" + std::to_string(::getpid()) + "/fd") return -1;
  const std::string name = base_name(path);
  int number = -1;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
  return read.ec == std::errc() && read.ptr == name.data() + name.size() ? number : -1;
}

// The path without links in its last component, also where nothing is there yet. A link to an open
// file stays: what it names is no path.
std::string followed(std::string path) {
  constexpr int kMostLinks = 40;  // as the kernel follows
  for (int links = 0; links < kMostLinks; ++links) {
    std::error_code error;
    const auto target = std::filesystem::read_symlink(path, error);
    if (error || is_open_file(path)) return path;
    path = (std::filesystem::path(path).parent_path() / target).string();
  }
  return path;
}

// STDOUT_FILENO or STDERR_FILENO, where `info` is that stream; -1 for anything else.
int standard_stream(const struct stat& info) {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat other {};
    if (::fstat(stream, &other) != 0) continue;
    if (other.st_dev == info.st_dev && other.st_ino == info.st_ino) return stream;
  }
  return -1;
}

// A file that is open already, and what is no regular file.
bool is_written_in_place(const std::string& path, const struct stat& info) {
  return !S_ISREG(info.st_mode) || standard_stream(info) >= 0 || is_open_file(path);
}

// A descriptor of our own; -1 with errno. What is open here already shares its position, so that
// what it holds stays.
int open_in_place(const std::string& path, const struct stat& info) {
  int own = standard_stream(info);
  if (own >= 0) (void)std::fflush(own == STDOUT_FILENO ? stdout : stderr);
  if (own < 0 && is_open_file(path)) own = own_descriptor(path);
  return own >= 0 ? ::fcntl(own, F_DUPFD_CLOEXEC, 0) : open_to_write(path, 0);
}

// A private file in the machine's temporary folder.
int make_apart(std::string& temporary) {
  std::error_code error;
  const auto folder = std::filesystem::temp_directory_path(error);
  if (error) {
    errno = error.value();
    return -1;
  }
  temporary = (folder / scratch_name("file")).string();
  return ::mkostemp(temporary.data(), O_CLOEXEC);
}

std::filesystem::path aside_of(const std::filesystem::path& path) {
  static std::atomic<std::uint64_t> count{0};
  return path.string() + ".tmp." + owner_mark() + "-" + std::to_string(count++);
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
  file.path_ = followed(path);
  struct stat info {};
  const bool is_new = ::stat(path.c_str(), &info) != 0;
  if (is_new && (errno != ENOENT || path.empty())) return file.failed();
  if (!is_new && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return file.failed();
  }
  if (!is_new && is_written_in_place(file.path_, info)) {
    file.target_ = Descriptor(open_in_place(file.path_, info));
    if (file.target_.number() < 0) return file.failed();
    file.descriptor_ = Descriptor(make_apart(file.temporary_path_));
    if (file.descriptor_.number() < 0) return file.failed();
    file.owned_ = ScratchPath(file.temporary_path_);
    remove_leftovers_once(std::filesystem::path(file.temporary_path_).parent_path());
    return file;
  }
  if (!is_new && ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) return file.failed();
  file.temporary_path_ = scratch_beside(file.path_);
  file.descriptor_ = Descriptor(::mkostemp(file.temporary_path_.data(), O_CLOEXEC));
  if (file.descriptor_.number() < 0) return file.failed();
  file.owned_ = ScratchPath(file.temporary_path_);
  remove_leftovers_once(std::filesystem::path(file.path_).parent_path());
  const mode_t mask = ::umask(0);
  ::umask(mask);
  // mkostemp makes private files.
  ::fchmod(file.descriptor_.number(), is_new ? 0666 & ~mask : info.st_mode & 0777);
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
  struct stat now {};
  if (::lstat(path_.c_str(), &now) == 0 && !S_ISREG(now.st_mode)) {
    return infrastructure("is no regular file any more").at(name_);
  }
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
    if (!is_left_behind(entry->path().filename().string())) continue;
    struct stat info {};
    const bool is_ours = ::lstat(entry->path().c_str(), &info) == 0 && info.st_uid == ::geteuid();
    std::error_code kept;
    if (is_ours) std::filesystem::remove_all(entry->path(), kept);
  }
}

void remove_leftovers_once(const std::filesystem::path& folder) {
  static std::mutex mutex;
  static std::set<std::string> known;
  {
    const std::lock_guard lock(mutex);
    if (!known.insert(folder.string()).second) return;
  }
  remove_leftovers(folder.empty() ? "." : folder);
}

}  // namespace graphgate
