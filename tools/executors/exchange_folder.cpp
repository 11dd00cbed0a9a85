#include "tools/executors/exchange_folder.h"

#include <cstdio>
#include <utility>

namespace graphgate::tools {
namespace {

std::optional<TemporaryFolder> made_below(const std::string& root) {
  auto made = root.empty() ? TemporaryFolder::make("exchange", {"/dev/shm", P_tmpdir})
                           : TemporaryFolder::inside(root, "exchange");
  if (!made.ok()) return std::nullopt;
  return std::optional<TemporaryFolder>(std::move(made).value());
}

}  // namespace

ExchangeFolder::ExchangeFolder(const std::string& root) : folder_(made_below(root)) {}

std::string ExchangeFolder::path() const { return folder_ ? folder_->path() : ""; }

bool ExchangeFolder::is_there() const { return folder_ && folder_->is_there(); }

void ExchangeFolder::clear() const {
  if (folder_) folder_->clear();
}

}  // namespace graphgate::tools
