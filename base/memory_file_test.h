// A file without a place on a disk, for tests and fuzzers of readers that take a path.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <span>
#include <string>

#include "base/file_io.h"
#include "base/result.h"

namespace graphgate {

// Holds the bytes while it lives.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::byte> bytes)
      : file_(::memfd_create("graphgate-test", MFD_CLOEXEC)) {
    GRAPHGATE_CHECK(file_.number() >= 0 && write_all(file_.number(), bytes));
  }
  // A regular file, for whoever opens it in this process.
  [[nodiscard]] std::string path() const {
    return "/proc/self/fd/" + std::to_string(file_.number());
  }

 private:
  Descriptor file_;
};

}  // namespace graphgate
