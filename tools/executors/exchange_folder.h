// A folder through which tensors go to an executor in a process of its own, and back.
#pragma once

#include <optional>
#include <string>

#include "base/temporary_folder.h"

namespace graphgate::tools {

// Made below `root`, a folder of ours. Where that is empty, it is made in memory where the machine
// has such a place. Files are made durable before they are named, which takes longer elsewhere than
// most calls. Gone with its owner.
class ExchangeFolder {
 public:
  explicit ExchangeFolder(const std::string& root = {});
  // Empty where none can be made.
  [[nodiscard]] std::string path() const;
  // Whether the folder that was made is still there, and nothing else in its place.
  [[nodiscard]] bool is_there() const;
  // Removes what is in it.
  void clear() const;

 private:
  std::optional<TemporaryFolder> folder_;
};

}  // namespace graphgate::tools
