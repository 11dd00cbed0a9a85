#include "base/temporary_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/atomic_file.h"
#include "base/scratch_name.h"

namespace graphgate {
namespace {

namespace fs = std::filesystem;

Error cannot_make(const std::string& path, const std::string& why) {
  return infrastructure(path + ": no folder can be made: " + why);
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::made(std::string pattern) {
  if (::mkdtemp(pattern.data()) == nullptr) return cannot_make(pattern, std::strerror(errno));
  TemporaryFolder folder;
  folder.path_ = std::move(pattern);
  folder.process_ = ::getpid();
  folder.owned_ = ScratchPath(folder.path_);
  struct stat info {};
  if (::lstat(folder.path_.c_str(), &info) != 0) {
    return cannot_make(folder.path_, std::strerror(errno));
  }
  folder.device_ = info.st_dev;
  folder.number_ = info.st_ino;
  remove_leftovers_once(fs::path(folder.path_).parent_path());
  return folder;
}

Result<TemporaryFolder> TemporaryFolder::make(std::string_view kind,
                                              const std::vector<std::string>& roots) {
  if (roots.empty()) {
    std::error_code error;
    const fs::path root = fs::temp_directory_path(error);
    if (!error) return made((root / scratch_name(kind)).string());
    const char* const named = std::getenv("TMPDIR");
    return cannot_make(named != nullptr ? named : "/tmp", error.message());
  }
  for (const std::string& root : roots) {
    auto folder = made(root + "/" + scratch_name(kind));
    if (folder.ok() || &root == &roots.back()) return folder;
  }
  return Error{ErrorKind::kInternal, "no root"};
}

Result<TemporaryFolder> TemporaryFolder::inside(const std::string& folder, std::string_view kind) {
  return made(folder + "/" + std::string(kind) + "-XXXXXX");
}

Result<TemporaryFolder> TemporaryFolder::beside(const std::string& path) {
  return made(scratch_beside(path));
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      process_(other.process_),
      device_(other.device_),
      number_(other.number_),
      owned_(std::move(other.owned_)) {}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty() || process_ != ::getpid() || !is_there()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (ignored) fs::remove_all(path_, ignored);  // the machine may have had no room for a moment
}

bool TemporaryFolder::is_there() const {
  struct stat now {};
  return !path_.empty() && ::lstat(path_.c_str(), &now) == 0 && now.st_dev == device_ &&
         now.st_ino == number_;
}

void TemporaryFolder::clear() const {
  if (!is_there()) return;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(path_, failed)) {
    fs::remove_all(entry.path(), failed);
  }
}

void TemporaryFolder::keep_as(const std::string& path) {
  path_ = path;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (is_there()) (void)::chmod(path_.c_str(), 0777 & ~mask);
  path_.clear();
  owned_ = ScratchPath();
}

}  // namespace graphgate
