// A folder for a test: gone with its owner, with all that is in it.
#pragma once

#include <filesystem>
#include <iterator>
#include <string>

#include "base/temporary_folder.h"

namespace graphgate {

[[nodiscard]] inline TemporaryFolder made_folder() { return TemporaryFolder::make("test").value(); }

class TestFolder {
 public:
  TestFolder() : path_(folder_.path()) {}
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  // How many files are in it.
  [[nodiscard]] std::size_t count() const {
    const std::filesystem::directory_iterator files(path_);
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
  }

 private:
  TemporaryFolder folder_ = made_folder();
  std::filesystem::path path_;
};

}  // namespace graphgate
