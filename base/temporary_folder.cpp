#include "base/temporary_folder.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>

namespace graphgate {

TemporaryFolder::TemporaryFolder() {
  static std::atomic<unsigned> count = 0;
  std::error_code error;
  auto base = std::filesystem::temp_directory_path(error);
  // Never the working folder: what is not there is told by whoever writes.
  if (error) base = std::getenv("TMPDIR") != nullptr ? std::getenv("TMPDIR") : "/tmp";
  const std::string name = "graphgate-cache-" + std::to_string(::getpid()) + "-";
  path_ = (base / (name + std::to_string(count++))).string();
  std::filesystem::create_directories(path_, error);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace graphgate
