// Files that are there whole or not at all, whatever kills the writer, and however many write:
// AtomicFile for those that a user names, write_file for those of our own folders.
//
//   write_file:  NAME.tmp.MARK-N   write, sync   ─rename─>  NAME
//
// The bytes are on the disk before they have the name. The folder is not synced: where a power
// failure takes a name back, there is no file, which is a miss.
//
// A reader of NAME sees the old bytes or the new ones. What a killed writer leaves aside is swept
// away by remove_leftovers() when a cache is opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/file_io.h"
#include "base/scratch_paths.h"

namespace graphgate {

// A file being written beside its final place. commit() makes it durable and renames it; without
// commit() nothing of it remains and what stood at `path` is untouched.
//
// A link is followed, also one to where nothing is yet. What is there and no regular file (a
// device, a pipe), or open already (/dev/stdout, /dev/fd/3), is never replaced: commit() writes the
// bytes into it. A regular file that is replaced keeps its rights.
class AtomicFile {
 public:
  // kInfrastructure when no file can be made there, or what is there cannot be written.
  [[nodiscard]] static Result<AtomicFile> create(const std::string& path);
  AtomicFile(AtomicFile&&) = default;
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
  ScratchPath owned_;  // a signal that ends the process takes the temporary file along
  Descriptor descriptor_;
  Descriptor target_;  // of what is written in place
};

// Writes text to a file, as AtomicFile does, or to standard output for "-".
[[nodiscard]] Result<void> write_text(const std::string& text, const std::string& path);

struct WriteOptions {
  // Write under the final name, without a file aside (kWritesInPlace).
  bool in_place = false;
  // Wait until the bytes are on the disk. Without it, a power failure may leave the name with
  // other bytes: for files that nobody relies on.
  bool sync = true;
  // Told the count of bytes written so far, after each chunk of at most 4096 bytes and before the
  // file gets its name. Tests stop the process here.
  std::function<void(std::size_t)> probe = {};
};

// kInfrastructure, with the path and the system's reason. On an error NAME is as it was, and
// nothing is left aside.
[[nodiscard]] Result<void> write_file(const std::filesystem::path& path, std::string_view bytes,
                                      const WriteOptions& options = {});

// Removes from a folder what processes of this machine and user that no longer run have left aside
// (is_left_behind): files, and folders with all that is in them. Links are not followed.
void remove_leftovers(const std::filesystem::path& folder);
// The same, the first time that this process asks for the folder. Code that makes a file aside, or
// a temporary folder, asks.
void remove_leftovers_once(const std::filesystem::path& folder);

}  // namespace graphgate
