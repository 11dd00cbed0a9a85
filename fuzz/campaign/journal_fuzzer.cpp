// Any bytes as a journal, also behind the header of one that is whole: what is told of it is a
// word.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "base/memory_file_test.h"
#include "fuzz/campaign/journal.h"

namespace {

using namespace graphgate;

void tell(std::span<const std::byte> bytes) {
  const MemoryFile file(bytes);
  const auto journal = fuzz::Journal::open(file.path());
  if (!journal.ok()) return;
  for (std::size_t worker = 0; worker < journal.value().workers(); ++worker) {
    const auto entry = journal.value().in_flight(worker);
    if (entry) GRAPHGATE_CHECK(!std::string_view(fuzz::phase_name(entry->phase)).empty());
    for (const auto& one : journal.value().latest(worker, fuzz::Journal::kRingEntries)) {
      GRAPHGATE_CHECK(!std::string_view(fuzz::phase_name(one.phase)).empty());
    }
  }
}

// The bytes of a journal of one worker.
std::vector<std::byte> whole_journal() {
  const MemoryFile nothing({});
  std::vector<std::byte> bytes;
  constexpr std::size_t kHeader = 64;
  constexpr std::size_t kEntry = 32;
  bytes.resize(kHeader + kHeader + kEntry * fuzz::Journal::kRingEntries);
  const std::uint64_t head[] = {0, 1, fuzz::Journal::kRingEntries};
  std::memcpy(bytes.data(), head, sizeof(head));
  std::memcpy(bytes.data(), "ggjourn1", 8);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  tell(bytes);
  static const std::vector<std::byte> kWhole = whole_journal();
  std::vector<std::byte> journal = kWhole;
  constexpr std::size_t kHeader = 64;
  std::memcpy(journal.data() + kHeader, data, std::min(size, journal.size() - kHeader));
  tell(journal);
  return 0;
}
