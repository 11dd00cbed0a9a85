#include "tools/executors/exchange_folder.h"

#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

namespace graphgate::tools {

ExchangeFolder::ExchangeFolder(const std::string& root) {
  std::vector<std::string> roots = {root};
  if (root.empty()) roots = {"/dev/shm", P_tmpdir};
  for (const std::string& each : roots) {
    std::string path = each + "/graphgate-exchange-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) continue;
    path_ = path;
    struct stat made {};
    if (::lstat(path.c_str(), &made) != 0) return;
    device_ = made.st_dev;
    number_ = made.st_ino;
    return;
  }
}

bool ExchangeFolder::is_there() const {
  struct stat now {};
  return ::lstat(path_.c_str(), &now) == 0 && now.st_dev == device_ && now.st_ino == number_;
}

void ExchangeFolder::clear() const {
  if (path_.empty()) return;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(path_, failed)) {
    std::filesystem::remove_all(entry.path(), failed);
  }
}

ExchangeFolder::~ExchangeFolder() {
  std::error_code failed;
  if (!path_.empty()) std::filesystem::remove_all(path_, failed);
}

}  // namespace graphgate::tools
