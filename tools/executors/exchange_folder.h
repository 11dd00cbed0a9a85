// A folder through which tensors go to an executor in a process of its own, and back.
#pragma once

#include <sys/types.h>

#include <string>

namespace graphgate::tools {

// Made below `root`; where that is empty, in memory where the machine has such a place, since files
// are made durable before they are named, which takes longer than most calls. Gone with its owner.
class ExchangeFolder {
 public:
  explicit ExchangeFolder(const std::string& root = {});
  ExchangeFolder(const ExchangeFolder&) = delete;
  ExchangeFolder& operator=(const ExchangeFolder&) = delete;
  ~ExchangeFolder();
  // Empty where none can be made.
  [[nodiscard]] const std::string& path() const { return path_; }
  // Whether the folder that was made is still there, and nothing else in its place.
  [[nodiscard]] bool is_there() const;
  // Removes what is in it.
  void clear() const;

 private:
  std::string path_;
  dev_t device_ = 0;
  ino_t number_ = 0;
};

}  // namespace graphgate::tools
