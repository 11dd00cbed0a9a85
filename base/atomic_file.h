// Files that are there whole or not at all, whatever kills the writer, and however many write.
//
//   write_file:  NAME.tmp.HOST.PID.N   write, sync   ─rename─>  NAME
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
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace graphgate {

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

// No plan and no program of a GPU comes near it. What is larger was not written here.
inline constexpr std::int64_t kMostFileBytes = std::int64_t{1} << 28;

// The bytes; nothing when there is no such file; kInfrastructure when it cannot be read, is no
// regular file, or has more than so many bytes. Waits for nobody, and takes no memory for a size
// that is only claimed.
[[nodiscard]] Result<std::optional<std::string>> read_file(
    const std::filesystem::path& path, std::int64_t most_bytes = kMostFileBytes);

// Removes from a folder what writers of this host that no longer run have left aside.
void remove_leftovers(const std::filesystem::path& folder);

}  // namespace graphgate
