#include "tools/external/exchange_folder.h"

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
    return;
  }
}

ExchangeFolder::~ExchangeFolder() {
  std::error_code failed;
  if (!path_.empty()) std::filesystem::remove_all(path_, failed);
}

}  // namespace graphgate::tools
