// Any text as the ledger that ships with an adapter: it is refused in one line, or its findings
// have cases.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/memory_file_test.h"
#include "tools/executors/known_findings.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphgate;
  const MemoryFile file(std::as_bytes(std::span(data, size)));
  const auto known =
      tools::read_known_findings(file.path(), tools::known_subject("torch-2.15.0 compile cpu"));
  if (!known.ok()) {
    GRAPHGATE_CHECK(known.error().message.find('\n') == std::string::npos);
    return 0;
  }
  for (const auto& finding : known.value().all()) GRAPHGATE_CHECK(!finding.cases.empty());
  const std::string identity(reinterpret_cast<const char*>(data), size);
  (void)tools::known_subject(identity);
  return 0;
}
