// Bytes in and out: sources that can be read at any position, and files that appear whole or not
// at all.
//
// Readers take a ByteSource, so the same code reads a file and a buffer in memory (fuzzers).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace graphgate {

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

// A regular file, open until the source dies. kBadInput when it cannot be opened.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> open_file(const std::string& path);

// The bytes of a file: a regular one, or a pipe without a name (standard input, `<(...)` of a
// shell), which is read until its end. kBadInput for all else: a folder, a device or a named pipe
// may have no end, or no writer. kInfrastructure when reading fails.
[[nodiscard]] Result<std::string> read_whole(const std::string& path);

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

// A file being written beside its final place. commit() makes it durable and renames it; without
// commit() nothing of it remains and what stood at `path` is untouched.
//
// A link is followed. What is there and no regular file (a device, a pipe, standard output by the
// name /dev/stdout) is never replaced: commit() writes the bytes into it.
class AtomicFile {
 public:
  // kInfrastructure when no file can be made there, or what is there cannot be written.
  [[nodiscard]] static Result<AtomicFile> create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  [[nodiscard]] Result<void> write(std::span<const std::byte> bytes);
  [[nodiscard]] Result<void> commit();
  // Where the bytes are until commit().
  [[nodiscard]] const std::string& temporary_path() const { return temporary_path_; }

 private:
  AtomicFile() = default;
  // kInfrastructure, of the file as it was named, with errno's reason.
  [[nodiscard]] Error failed() const;
  [[nodiscard]] Result<void> copy_into_target() const;

  std::string name_;  // as it was given
  std::string path_;  // links followed
  std::string temporary_path_;
  int descriptor_ = -1;
  int target_ = -1;  // of what is written in place
};

}  // namespace graphgate
