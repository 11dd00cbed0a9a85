#include "interop/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace graphgate::interop {

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
  FileSource(std::string name, int descriptor, std::int64_t size_bytes)
      : ByteSource(std::move(name)), descriptor_(descriptor), size_bytes_(size_bytes) {}
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override { ::close(descriptor_); }

  [[nodiscard]] std::int64_t size_bytes() const override { return size_bytes_; }

  Result<void> read_at(std::int64_t offset_bytes, std::span<std::byte> out) const override {
    if (!inside(*this, offset_bytes, out.size())) return outside(*this, offset_bytes, out.size());
    while (!out.empty()) {
      const ssize_t got = ::pread(descriptor_, out.data(), out.size(), offset_bytes);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return infrastructure(system_message()).at(name());
      if (got == 0) return outside(*this, offset_bytes, out.size());
      out = out.subspan(static_cast<std::size_t>(got));
      offset_bytes += got;
    }
    return {};
  }

 private:
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

}  // namespace

Result<std::unique_ptr<ByteSource>> open_file(const std::string& path) {
  // Without waiting: a pipe that nobody writes is refused below.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return bad_input("cannot be opened: " + system_message()).at(path);
  struct stat info {};
  if (::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(descriptor);
    return bad_input("is not a regular file").at(path);
  }
  return std::unique_ptr<ByteSource>(
      std::make_unique<FileSource>(base_name(path), descriptor, info.st_size));
}

std::unique_ptr<ByteSource> memory_source(std::span<const std::byte> bytes, std::string name) {
  return std::make_unique<MemorySource>(bytes, std::move(name));
}

std::string base_name(const std::string& path) {
  const auto slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  std::string temporary = path + ".partial-XXXXXX";
  const int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) return infrastructure("cannot be written: " + system_message()).at(path);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor, 0666 & ~mask);  // mkostemp makes private files
  return AtomicFile(path, std::move(temporary), descriptor);
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_path_(std::move(other.temporary_path_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_path_.c_str());
}

Result<void> AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return infrastructure("cannot be written: " + system_message()).at(path_);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return {};
}

Result<void> AtomicFile::commit() {
  // Opened again: a library may have put another file under this name.
  const int written = ::open(temporary_path_.c_str(), O_RDONLY | O_CLOEXEC);
  const bool durable = written >= 0 && ::fsync(written) == 0;
  if (!durable || ::rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    const std::string message = system_message();
    if (written >= 0) ::close(written);
    return infrastructure("cannot be written: " + message).at(path_);
  }
  ::close(written);
  ::close(std::exchange(descriptor_, -1));
  return {};
}

}  // namespace graphgate::interop
