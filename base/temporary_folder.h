// A folder below the machine's temporary one, made for a run and gone with its owner.
//
// runs.cpp makes one where a case asks for a cache ("cache" -> "temporary"), judges do for caches
// of their own.
#pragma once

#include <string>
#include <string_view>

namespace graphgate {

// The value of the option "cache" that stands for a folder made for one run of a script.
inline constexpr std::string_view kTemporaryCache = "temporary";

class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  // Of its own for each object and process. Whoever writes there meets the machine's errors.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace graphgate
