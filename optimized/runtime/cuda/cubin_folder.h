// Cubins in a folder, shared by processes: FOLDER/KEY.cubin, where the key is a hash of all that
// the cubin comes from (cubins.h).
//
// A file is the SHA-256 of the cubin in hexadecimal digits, a newline, and the cubin. It is written
// aside and renamed (base/atomic_file.h); one that is damaged all the same is a miss, and is
// replaced.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"

namespace graphgate::optimized::cuda {

class CubinFolder {
 public:
  explicit CubinFolder(std::filesystem::path root) : root_(std::move(root)) {}
  // Nothing where there is none that is whole.
  [[nodiscard]] std::optional<std::string> find(const std::string& key) const;
  // kInfrastructure where the folder cannot be made or written.
  [[nodiscard]] Result<void> keep(const std::string& key, const std::string& cubin) const;

 private:
  [[nodiscard]] std::filesystem::path path_of(const std::string& key) const;

  std::filesystem::path root_;
};

}  // namespace graphgate::optimized::cuda
