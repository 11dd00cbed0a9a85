#include "optimized/runtime/cuda/cubin_folder.h"

#include "base/atomic_file.h"
#include "base/sha256.h"

namespace graphgate::optimized::cuda {
namespace {

namespace fs = std::filesystem;

}  // namespace

fs::path CubinFolder::path_of(const std::string& key) const { return root_ / (key + ".cubin"); }

std::optional<std::string> CubinFolder::find(const std::string& key) const {
  auto file = read_file(path_of(key));
  if (!file.ok() || !file.value()) return {};
  const std::string& bytes = *file.value();
  if (bytes.size() <= kSha256Digits || bytes[kSha256Digits] != '\n') return {};
  std::string cubin = bytes.substr(kSha256Digits + 1);
  if (sha256_hex(cubin) != bytes.substr(0, kSha256Digits)) return {};
  return cubin;
}

Result<void> CubinFolder::keep(const std::string& key, const std::string& cubin) const {
  std::error_code error;
  fs::create_directories(root_, error);
  if (error) return infrastructure(root_.string() + ": " + error.message());
  return write_file(path_of(key), sha256_hex(cubin) + "\n" + cubin);
}

}  // namespace graphgate::optimized::cuda
