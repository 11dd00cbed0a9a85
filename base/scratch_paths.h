// The files and folders that a process has made for a while, so that a signal that ends it can take
// them along. The code that makes one registers it: AtomicFile, TemporaryFolder.
#pragma once

#include <string>

namespace graphgate {

// A path that belongs to this process while this object lives. Where there are very many, the last
// ones are not known to remove_scratch(). Removes nothing itself.
class ScratchPath {
 public:
  ScratchPath() = default;
  explicit ScratchPath(const std::string& path);
  ScratchPath(ScratchPath&& other) noexcept;
  ScratchPath& operator=(ScratchPath&& other) noexcept;
  ~ScratchPath();

 private:
  int slot_ = -1;
};

// Removes what this process has registered, folders with all that is in them; nothing of its
// parent's. Links are removed, and not followed. May be called in a handler of signals: it
// allocates nothing and waits for nobody.
void remove_scratch();

}  // namespace graphgate
