#include "base/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <utility>

namespace graphgate {

namespace {

std::string system_message() { return std::strerror(errno); }

Error outside(const ByteSource& source, std::int64_t offset_bytes, std::size_t count_bytes) {
  return bad_input("is truncated: needs " + std::to_string(count_bytes) + " bytes at byte " +
                   std::to_string(offset_bytes) + ", has " + std::to_string(source.size_bytes()) +
                   " in all")
      .at(source.name());
}

bool inside(const ByteSource& source, std::int64_t offset_bytes, std::size_t count_bytes) {
  return offset_bytes >= 0 && offset_bytes <= source.size_bytes() &&
         count_bytes <= static_cast<std::size_t>(source.size_bytes() - offset_bytes);
}

class FileSource : public ByteSource {
 public:
  FileSource(std::string path, int descriptor, std::int64_t size_bytes)
      : ByteSource(base_name(path)),
        path_(std::move(path)),
        descriptor_(descriptor),
        size_bytes_(size_bytes) {}
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override { ::close(descriptor_); }

  [[nodiscard]] std::int64_t size_bytes() const override { return size_bytes_; }

  Result<void> read_at(std::int64_t offset_bytes, std::span<std::byte> out) const override {
    if (!inside(*this, offset_bytes, out.size())) return outside(*this, offset_bytes, out.size());
    while (!out.empty()) {
      const ssize_t got = ::pread(descriptor_, out.data(), out.size(), offset_bytes);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return infrastructure("cannot be read: " + system_message()).at(path_);
      if (got == 0) return outside(*this, offset_bytes, out.size());
      out = out.subspan(static_cast<std::size_t>(got));
      offset_bytes += got;
    }
    return {};
  }

 private:
  std::string path_;
  int descriptor_;
  std::int64_t size_bytes_;
};

class MemorySource : public ByteSource {
 public:
  MemorySource(std::span<const std::byte> bytes, std::string name)
      : ByteSource(std::move(name)), bytes_(bytes) {}

  [[nodiscard]] std::int64_t size_bytes() const override {
    return static_cast<std::int64_t>(bytes_.size());
  }

  Result<void> read_at(std::int64_t offset_bytes, std::span<std::byte> out) const override {
    if (!inside(*this, offset_bytes, out.size())) return outside(*this, offset_bytes, out.size());
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset_bytes, out.size());
    return {};
  }

 private:
  std::span<const std::byte> bytes_;
};

// A descriptor that is closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

std::string kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "is a folder";
  if (S_ISFIFO(mode)) return "is a named pipe";
  if (S_ISSOCK(mode)) return "is a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "is a device";
  return "is of an unknown kind";
}

// A pipe of a shell or of a parent: it has a writer, or had one. A named pipe may never have any.
bool is_pipe_without_name(int descriptor, mode_t mode) {
  constexpr long kPipes = 0x50495045;  // PIPEFS_MAGIC of <linux/magic.h>
  struct statfs system {};
  return S_ISFIFO(mode) && ::fstatfs(descriptor, &system) == 0 && system.f_type == kPipes;
}

// Without waiting: what nobody writes is refused by the caller.
int open_to_read(const std::string& path) {
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

// Of the machine, all of it.
std::int64_t memory_bytes() {
  return std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGE_SIZE);
}

Result<std::string> read_to_end(int descriptor, std::int64_t expected_bytes,
                                const std::string& path) {
  std::string bytes(static_cast<std::size_t>(expected_bytes) + 1, '\0');
  std::size_t filled = 0;
  while (true) {
    if (filled == bytes.size()) bytes.resize(2 * bytes.size());
    const ssize_t got = ::read(descriptor, bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return infrastructure("cannot be read: " + system_message()).at(path);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

// Holds back the signals that a failed write sends besides its errno: a reader that has gone, a
// limit on the size of files.
class NoWriteSignals {
 public:
  NoWriteSignals() {
    (void)::sigemptyset(&signals_);
    (void)::sigaddset(&signals_, SIGPIPE);
    (void)::sigaddset(&signals_, SIGXFSZ);
    (void)::pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  NoWriteSignals(const NoWriteSignals&) = delete;
  NoWriteSignals& operator=(const NoWriteSignals&) = delete;
  ~NoWriteSignals() {
    const int code = errno;
    const timespec at_once{};
    while (::sigtimedwait(&signals_, nullptr, &at_once) > 0) {
    }
    (void)::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = code;
  }

 private:
  sigset_t signals_{};
  sigset_t before_{};
};

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

}  // namespace

Result<std::unique_ptr<ByteSource>> open_file(const std::string& path) {
  Descriptor file(open_to_read(path));
  if (file.number() < 0) return bad_input("cannot be opened: " + system_message()).at(path);
  struct stat info {};
  if (::fstat(file.number(), &info) != 0) {
    return bad_input("cannot be opened: " + system_message()).at(path);
  }
  if (!S_ISREG(info.st_mode)) {
    return bad_input(kind_of(info.st_mode) + ", expected a regular file").at(path);
  }
  return std::unique_ptr<ByteSource>(
      std::make_unique<FileSource>(path, file.release(), info.st_size));
}

Result<std::string> read_whole(const std::string& path) {
  const Descriptor file(open_to_read(path));
  if (file.number() < 0) return bad_input("cannot be opened: " + system_message()).at(path);
  struct stat info {};
  if (::fstat(file.number(), &info) != 0) {
    return bad_input("cannot be opened: " + system_message()).at(path);
  }
  if (is_pipe_without_name(file.number(), info.st_mode)) {
    (void)::fcntl(file.number(), F_SETFL, 0);  // waits for its writer
  } else if (!S_ISREG(info.st_mode)) {
    return bad_input(kind_of(info.st_mode) + ", expected a regular file").at(path);
  }
  const Error too_large = infrastructure("has more bytes than memory takes").at(path);
  if (info.st_size > memory_bytes() / 2) return too_large;
  try {
    return read_to_end(file.number(), info.st_size, path);
  } catch (const std::bad_alloc&) {
    return too_large;
  }
}

int open_to_write(const std::string& path, int flags) {
  const int descriptor =
      ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags, 0666);
  if (descriptor < 0) return -1;
  const int mode = ::fcntl(descriptor, F_GETFL);
  (void)::fcntl(descriptor, F_SETFL, mode & ~O_NONBLOCK);
  return descriptor;
}

bool write_all(int descriptor, std::span<const std::byte> bytes) {
  const NoWriteSignals held_back;
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return true;
}

Result<bool> is_there(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return bad_input("cannot be looked up: " + system_message()).at(path);
}

Result<std::vector<std::string>> list_files(const std::string& folder, std::string_view ending,
                                            Depth depth) {
  namespace fs = std::filesystem;
  std::vector<std::string> found;
  std::vector<std::string> folders = {folder};
  while (!folders.empty()) {
    const std::string at = std::move(folders.back());
    folders.pop_back();
    std::error_code error;
    for (fs::directory_iterator entry(at, error), end; !error && entry != end;
         entry.increment(error)) {
      std::error_code unknown;  // what has no kind is no folder
      const bool is_folder = entry->is_directory(unknown) && !entry->is_symlink(unknown);
      if (is_folder && depth == Depth::kBelow) folders.push_back(entry->path().string());
      if (entry->path().string().ends_with(ending)) found.push_back(entry->path().string());
    }
    if (error) return bad_input("cannot be read as a folder: " + error.message()).at(at);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::unique_ptr<ByteSource> memory_source(std::span<const std::byte> bytes, std::string name) {
  return std::make_unique<MemorySource>(bytes, std::move(name));
}

std::string base_name(const std::string& path) {
  const auto slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
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
  if (!is_new) file.target_ = standard_stream(info);
  if (!is_new && !S_ISREG(info.st_mode) && file.target_ < 0) {
    file.target_ = open_to_write(path, 0);
    if (file.target_ < 0) return file.failed();
  }
  if (file.target_ >= 0) {
    file.descriptor_ = make_apart(file.temporary_path_);
    if (file.descriptor_ < 0) return file.failed();
    return file;
  }
  if (!is_new) {
    if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) return file.failed();
    std::error_code error;
    const auto followed = std::filesystem::canonical(path, error);
    if (!error) file.path_ = followed.string();
  }
  file.descriptor_ = make_beside(file.path_, file.temporary_path_);
  if (file.descriptor_ < 0) return file.failed();
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(file.descriptor_, 0666 & ~mask);  // mkostemp makes private files
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : name_(std::move(other.name_)),
      path_(std::move(other.path_)),
      temporary_path_(std::move(other.temporary_path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      target_(std::exchange(other.target_, -1)) {}

AtomicFile::~AtomicFile() {
  if (target_ >= 0) ::close(target_);
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_path_.c_str());
}

Error AtomicFile::failed() const {
  return infrastructure("cannot be written: " + system_message()).at(name_);
}

Result<void> AtomicFile::write(std::span<const std::byte> bytes) {
  if (!write_all(descriptor_, bytes)) return failed();
  return {};
}

Result<void> AtomicFile::commit() {
  if (target_ >= 0) return copy_into_target();
  // Opened again: a library may have put another file under this name.
  const Descriptor written(::open(temporary_path_.c_str(), O_RDONLY | O_CLOEXEC));
  const bool durable = written.number() >= 0 && ::fsync(written.number()) == 0;
  if (!durable || ::rename(temporary_path_.c_str(), path_.c_str()) != 0) return failed();
  ::close(std::exchange(descriptor_, -1));
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
    if (!write_all(target_, std::span(chunk).first(static_cast<std::size_t>(got)))) return failed();
  }
}

}  // namespace graphgate
