// Any text as a ledger of a campaign: what is accepted has an outcome and an address for each name.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/campaign/ledger.h"
#include "fuzz/campaign/shard.h"
#include "fuzz/reduce/signature.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphgate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto ledger = fuzz::Ledger::parse(text, "ledger.txt");
  if (ledger.ok()) {
    for (const auto& [name, entry] : ledger.value().entries()) {
      GRAPHGATE_CHECK(!name.empty() && !entry.issue.empty());
      (void)ledger.value().judge(name, spec::Outcome::kPass);
    }
  }
  // What stands for a finding, and for a case, in ledgers and on the command line.
  const auto signature = fuzz::parse_signature(text);
  if (signature.ok()) {
    const std::string printed = fuzz::print_signature(signature.value());
    const auto again = fuzz::parse_signature(printed);
    GRAPHGATE_CHECK(again.ok() && fuzz::print_signature(again.value()) == printed);
  }
  (void)fuzz::parse_shard(text);
  return 0;
}
