#include "base/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <new>

#include "base/path_error.h"
#include "base/text_limit.h"

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
  FileSource(std::string path, Descriptor descriptor, std::int64_t size_bytes)
      : ByteSource(base_name(path)),
        path_(std::move(path)),
        descriptor_(std::move(descriptor)),
        size_bytes_(size_bytes) {}

  [[nodiscard]] std::int64_t size_bytes() const override { return size_bytes_; }

  Result<void> read_at(std::int64_t offset_bytes, std::span<std::byte> out) const override {
    if (!inside(*this, offset_bytes, out.size())) return outside(*this, offset_bytes, out.size());
    while (!out.empty()) {
      const ssize_t got = ::pread(descriptor_.number(), out.data(), out.size(), offset_bytes);
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
  Descriptor descriptor_;
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

// What a container may have of the machine's memory; the largest number without such a limit.
std::int64_t container_bytes() {
  const Descriptor file(::open("/sys/fs/cgroup/memory.max", O_RDONLY | O_CLOEXEC));
  std::array<char, 32> text{};
  const ssize_t got = ::read(file.number(), text.data(), text.size());
  std::int64_t bytes = 0;
  const bool is_number =
      got > 0 && std::from_chars(text.data(), text.data() + got, bytes).ec == std::errc();
  return is_number ? bytes : std::numeric_limits<std::int64_t>::max();
}

std::int64_t memory_bytes() {
  static const std::int64_t bytes = std::min(
      container_bytes(), std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGE_SIZE));
  return bytes;
}

std::atomic<std::int64_t> g_most_text_bytes = 0;  // 0: nobody has said

std::int64_t most_text_bytes() {
  const std::int64_t said = g_most_text_bytes;
  return said > 0 ? said : std::min(kMostTextBytes, memory_bytes() / 2);
}

Error too_large(std::int64_t bytes, std::int64_t most_bytes) {
  return infrastructure("has " + std::to_string(bytes) + " bytes, expected at most " +
                        std::to_string(most_bytes));
}

// What is there, opened without waiting: what nobody writes is refused by the caller.
struct Opened {
  Descriptor file;
  struct stat info {};
};

// Nothing, with errno, where that cannot be done.
std::optional<Opened> open_to_read(const std::string& path) {
  Opened opened;
  opened.file = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (opened.file.number() < 0 || ::fstat(opened.file.number(), &opened.info) != 0) {
    return std::nullopt;
  }
  return opened;
}

Result<Opened> open_input(const std::string& path) {
  auto opened = open_to_read(path);
  if (!opened) return failed_path("cannot be opened", errno).at(path);
  return std::move(*opened);
}

Result<void> check_regular(const Opened& opened, const std::string& path) {
  if (S_ISREG(opened.info.st_mode)) return {};
  return bad_input(kind_of(opened.info.st_mode) + ", expected a regular file").at(path);
}

Result<std::string> read_into_memory(const Opened& opened, std::int64_t most_bytes,
                                     const std::string& path) {
  const std::int64_t expected_bytes = opened.info.st_size;
  if (expected_bytes > most_bytes) return too_large(expected_bytes, most_bytes).at(path);
  std::string bytes(static_cast<std::size_t>(expected_bytes) + 1, '\0');
  std::size_t filled = 0;
  while (true) {
    if (filled == bytes.size()) {
      const std::size_t most = static_cast<std::size_t>(most_bytes) + 1;
      bytes.resize(std::min(2 * bytes.size(), most));
    }
    const ssize_t got = ::read(opened.file.number(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return infrastructure("cannot be read: " + system_message()).at(path);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
    const auto read_bytes = static_cast<std::int64_t>(filled);
    if (read_bytes > most_bytes) return too_large(read_bytes, most_bytes).at(path);
  }
  bytes.resize(filled);
  return bytes;
}

// kInfrastructure where there is more than `most_bytes`, or memory for less.
Result<std::string> read_to_end(const Opened& opened, std::int64_t most_bytes,
                                const std::string& path) {
  try {
    return read_into_memory(opened, most_bytes, path);
  } catch (const std::bad_alloc&) {
    return infrastructure("has more bytes than memory takes").at(path);
  }
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

}  // namespace

Error failed_path(const std::string& what, int code) {
  constexpr int kOfTheMachine[] = {EMFILE, ENFILE, ENOMEM, ENOBUFS, EIO, EAGAIN, ENOSPC, EDQUOT};
  const bool is_machines = std::find(std::begin(kOfTheMachine), std::end(kOfTheMachine), code) !=
                           std::end(kOfTheMachine);
  const std::string words = what + ": " + std::strerror(code);
  return is_machines ? infrastructure(words) : bad_input(words);
}

Result<OpenFile> open_regular(const std::string& path) {
  GRAPHGATE_TRY(Opened opened, open_input(path));
  GRAPHGATE_TRY_VOID(check_regular(opened, path));
  const std::int64_t size_bytes = opened.info.st_size;
  if (size_bytes > memory_bytes()) return too_large(size_bytes, memory_bytes()).at(path);
  return OpenFile{std::move(opened.file), size_bytes};
}

Result<std::unique_ptr<ByteSource>> open_file(const std::string& path) {
  GRAPHGATE_TRY(OpenFile opened, open_regular(path));
  return std::unique_ptr<ByteSource>(
      std::make_unique<FileSource>(path, std::move(opened.file), opened.size_bytes));
}

Result<std::string> read_whole(const std::string& path) {
  GRAPHGATE_TRY(const Opened opened, open_input(path));
  const int descriptor = opened.file.number();
  if (is_pipe_without_name(descriptor, opened.info.st_mode)) {
    (void)::fcntl(descriptor, F_SETFL, 0);  // waits for its writer
  } else {
    GRAPHGATE_TRY_VOID(check_regular(opened, path));
  }
  return read_to_end(opened, most_text_bytes(), path);
}

void limit_texts(std::int64_t most_bytes) { g_most_text_bytes = most_bytes; }

Result<std::optional<std::string>> read_file(const std::string& path, std::int64_t most_bytes) {
  const auto opened = open_to_read(path);
  if (!opened) {
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<std::string>();
    return infrastructure("cannot be opened: " + system_message()).at(path);
  }
  if (!S_ISREG(opened->info.st_mode)) return infrastructure("is no regular file").at(path);
  GRAPHGATE_TRY(std::string bytes, read_to_end(*opened, most_bytes, path));
  return std::optional<std::string>(std::move(bytes));
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
  return failed_path("cannot be looked up", errno).at(path);
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
    if (error) return failed_path("cannot be read as a folder", error.value()).at(at);
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

}  // namespace graphgate
