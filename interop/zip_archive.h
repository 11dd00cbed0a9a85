// Zip archives, as far as .pt2 needs them: find entries, read them, write stored ones.
//
// A thin owner around libzip. Reading checks an entry's declared size against the archive before
// anything is allocated, and its CRC when the end is reached. Writing makes a deterministic archive
// (fixed times, entries in the order given) that appears whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct zip;
struct zip_file;

namespace graphgate::interop {

// Reads one entry front to back without holding it. Errors set `failed` and end the stream.
class ZipEntryStream : public std::streambuf {
 public:
  explicit ZipEntryStream(zip_file* file);
  ~ZipEntryStream() override;
  ZipEntryStream(const ZipEntryStream&) = delete;
  ZipEntryStream& operator=(const ZipEntryStream&) = delete;
  [[nodiscard]] bool failed() const { return failed_; }
  // libzip's words for the failure.
  // Returns what failed, behind `place`: kBadInput for what the archive is, kInfrastructure for
  // what the machine did not give.
  [[nodiscard]] Error failure(const std::string& place = {}) const;

 protected:
  int_type underflow() override;

 private:
  zip_file* file_;
  std::vector<char> buffer_;
  bool failed_ = false;
};

// An archive open for reading. Errors are one line that starts with the archive's name.
class ZipReader {
 public:
  [[nodiscard]] static Result<ZipReader> open(const std::string& path);
  // The bytes must outlive the reader.
  [[nodiscard]] static Result<ZipReader> from_bytes(std::span<const std::byte> bytes,
                                                    std::string name);

  [[nodiscard]] const std::string& name() const { return name_; }
  // In the archive's order.
  [[nodiscard]] const std::vector<std::string>& entries() const { return entries_; }
  [[nodiscard]] bool contains(std::string_view entry) const;

  // Size when unpacked. Fails for an entry that is absent, encrypted, or that claims more bytes
  // than an archive of this size can hold.
  [[nodiscard]] Result<std::int64_t> size_bytes(std::string_view entry) const;
  [[nodiscard]] Result<std::vector<std::byte>> read(std::string_view entry) const;
  [[nodiscard]] Result<std::string> read_text(std::string_view entry) const;
  [[nodiscard]] Result<std::unique_ptr<ZipEntryStream>> stream(std::string_view entry) const;

 private:
  struct Close {
    void operator()(zip* archive) const;
  };
  ZipReader() = default;
  Result<void> list();
  [[nodiscard]] Result<void> read_into(std::string_view entry, std::span<std::byte> out) const;

  std::unique_ptr<zip, Close> archive_;
  std::string name_;
  std::int64_t archive_bytes_ = 0;
  std::vector<std::string> entries_;
};

// One entry to write. The bytes are read when the archive is written, not before.
struct ZipEntry {
  std::string name;
  std::span<const std::byte> bytes;
};

// Writes the entries uncompressed, in order, and replaces `path` only when all is written.
[[nodiscard]] Result<void> write_zip(const std::string& path, std::span<const ZipEntry> entries);

}  // namespace graphgate::interop
