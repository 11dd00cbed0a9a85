// Any bytes as a stored run: run.json up to a byte 0, the text of its first program up to the next,
// and its tensors behind that.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "base/temporary_folder.h"
#include "tools/store/trace_store.h"

namespace {

using namespace graphgate;

const std::string& folder() {
  static const TemporaryFolder kFolder =
      TemporaryFolder::make("file", {"/dev/shm", "/tmp"}).value();
  static const std::string kPath = kFolder.path();
  return kPath;
}

// Takes what stands before the next byte 0.
std::string_view take(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\0'), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::ofstream(folder() + "/run.json", std::ios::binary) << take(rest);
  std::ofstream(folder() + "/program0.txt", std::ios::binary) << take(rest);
  std::ofstream(folder() + "/tensors.safetensors", std::ios::binary) << rest;
  (void)tools::read_run(folder());
  return 0;
}
