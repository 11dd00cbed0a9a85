// A folder below the machine's temporary one, made for a run and gone with its owner.
#pragma once

#include <string>

namespace graphgate {

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
