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
#include <vector>

#include "spec/result.h"

namespace graphgate::interop {

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

// Bytes owned by the caller, who keeps them alive.
[[nodiscard]] std::unique_ptr<ByteSource> memory_source(std::span<const std::byte> bytes,
                                                        std::string name);

// The last component of a path, for messages and names: "a/b.pt2" -> "b.pt2".
[[nodiscard]] std::string base_name(const std::string& path);

// A file being written beside its final place. commit() makes it durable and renames it; without
// commit() nothing of it remains and what stood at `path` is untouched.
class AtomicFile {
 public:
  // kInfrastructure when no file can be made there.
  [[nodiscard]] static Result<AtomicFile> create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  [[nodiscard]] Result<void> write(std::span<const std::byte> bytes);
  [[nodiscard]] Result<void> commit();
  // Where the bytes are until commit().
  [[nodiscard]] const std::string& temporary_path() const { return temporary_path_; }

 private:
  AtomicFile(std::string path, std::string temporary_path, int descriptor)
      : path_(std::move(path)),
        temporary_path_(std::move(temporary_path)),
        descriptor_(descriptor) {}

  std::string path_;
  std::string temporary_path_;
  int descriptor_ = -1;
};

}  // namespace graphgate::interop
