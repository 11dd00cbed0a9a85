#include "conformance/harness/temporary_folder.h"

#include <unistd.h>

#include <atomic>
#include <filesystem>

namespace graphgate::conformance {

TemporaryFolder::TemporaryFolder() {
  static std::atomic<unsigned> count = 0;
  std::error_code error;
  const auto base = std::filesystem::temp_directory_path(error);
  const std::string name = "graphgate-cache-" + std::to_string(::getpid()) + "-";
  path_ = (base / (name + std::to_string(count++))).string();
  std::filesystem::create_directories(path_, error);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace graphgate::conformance
