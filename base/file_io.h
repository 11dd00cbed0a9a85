// Bytes in and out: sources that can be read at any position, whole files, folders. Files that
// appear whole or not at all are written by atomic_file.h.
//
// Readers take a ByteSource, so the same code reads a file and a buffer in memory (fuzzers).
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace graphgate {

// A file's descriptor, closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  // Negative where there is none.
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] int release() { return std::exchange(number_, -1); }
  // False, with errno, where a delayed write failed.
  [[nodiscard]] bool close() { return ::close(release()) == 0; }

 private:
  int number_;
};

// Read-only bytes with a name for messages.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  [[nodiscard]] virtual std::int64_t size_bytes() const = 0;
  // Fills `out` from `offset_bytes`. The range must lie inside the source: kBadInput otherwise.
  [[nodiscard]] virtual Result<void> read_at(std::int64_t offset_bytes,
                                             std::span<std::byte> out) const = 0;
  [[nodiscard]] const std::string& name() const { return name_; }

 protected:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}

 private:
  std::string name_;
};

// A file that was opened to be read, and how many bytes it says it has.
struct OpenFile {
  Descriptor file;
  std::int64_t size_bytes = 0;
};

// Opens a regular file, without waiting for anybody: the one place where that is decided.
// kBadInput where nothing can be opened, and for all else: a folder, a device or a named pipe may
// have no end, or no writer. kInfrastructure where it has more bytes than this machine (or this
// container) has memory: all of it is read in the end.
[[nodiscard]] Result<OpenFile> open_regular(const std::string& path);

// The same as a source, open until it dies.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> open_file(const std::string& path);

// No text that a person or a tool writes comes near it.
inline constexpr std::int64_t kMostTextBytes = std::int64_t{1} << 30;

// The bytes of a text: of a regular file, or of a pipe without a name (standard input, `<(...)` of
// a shell), which is read until its end. kBadInput as above. kInfrastructure when reading fails,
// and for more than kMostTextBytes or half of the memory, before any is taken.
[[nodiscard]] Result<std::string> read_whole(const std::string& path);

// No plan and no program of a GPU comes near it. What is larger was not written here.
inline constexpr std::int64_t kMostFileBytes = std::int64_t{1} << 28;

// The bytes of a file of our own; nothing when there is no such file; kInfrastructure when it
// cannot be read, is no regular file, or has more than so many bytes. Waits for nobody, and takes
// no memory for a size that is only claimed.
[[nodiscard]] Result<std::optional<std::string>> read_file(
    const std::string& path, std::int64_t most_bytes = kMostFileBytes);

// Opens what is there, or makes a regular file. Does not wait: a named pipe that nobody reads is an
// error (ENXIO). -1 with errno.
[[nodiscard]] int open_to_write(const std::string& path, int flags);

// Writes to the end. False, with errno, where that cannot be done; no signal ends the process.
[[nodiscard]] bool write_all(int descriptor, std::span<const std::byte> bytes);

// Whether something is there, links followed. kBadInput where that cannot be told (no permission,
// a loop of links, a name that is too long).
[[nodiscard]] Result<bool> is_there(const std::string& path);

// The paths of what is called NAME`ending` in a folder, sorted; with kBelow, in all folders below
// it, too. kBadInput where a folder cannot be read.
enum class Depth { kFolder, kBelow };
[[nodiscard]] Result<std::vector<std::string>> list_files(const std::string& folder,
                                                          std::string_view ending, Depth depth);

// Bytes owned by the caller, who keeps them alive.
[[nodiscard]] std::unique_ptr<ByteSource> memory_source(std::span<const std::byte> bytes,
                                                        std::string name);

// The last component of a path, for messages and names: "a/b.pt2" -> "b.pt2".
[[nodiscard]] std::string base_name(const std::string& path);

}  // namespace graphgate
