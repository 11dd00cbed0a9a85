// Any bytes as a file that may be a bundle: as an archive, and as the manifest of a whole one. What
// is refused is refused in one line.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/memory_file_test.h"
#include "base/temporary_folder.h"
#include "interop/zip_archive.h"
#include "tools/store/bundle.h"

namespace {

using namespace graphgate;

void refuse(const std::string& path) {
  const auto refused = tools::refuse_bundle(path);
  if (refused.ok()) return;
  GRAPHGATE_CHECK(refused.error().kind == ErrorKind::kBadInput);
  GRAPHGATE_CHECK(refused.error().message.find('\n') == std::string::npos);
}

const std::string& folder() {
  static const TemporaryFolder kFolder =
      TemporaryFolder::make("file", {"/dev/shm", "/tmp"}).value();
  static const std::string kPath = kFolder.path();
  return kPath;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const MemoryFile archive(bytes);
  refuse(archive.path());
  const std::string whole = folder() + "/whole.zip";
  const interop::ZipEntry manifest{"manifest.json", bytes};
  GRAPHGATE_CHECK(interop::write_zip(whole, {&manifest, 1}).ok());
  refuse(whole);
  return 0;
}
