// Any bytes as what a cache holds: an entry, a plan, the text of a compiled partition, a file made
// ahead of time. Checksums are made right too, so that what is behind them is seen.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/memory_file_test.h"
#include "base/sha256.h"
#include "optimized/cache/bundle.h"
#include "optimized/cache/entry_file.h"
#include "optimized/cache/plan_codec.h"
#include "optimized/compilers/compiler.h"
#include "spec/plan.h"

namespace {

using namespace graphgate;

void read_entry(std::string_view text) {
  const auto entry = optimized::parse_entry(text);
  if (entry.ok()) GRAPHGATE_CHECK(optimized::print_entry(entry.value()) == text);
}

void read_bundle(std::string_view bytes) {
  const MemoryFile file(std::as_bytes(std::span(bytes)));
  (void)optimized::BundleStore::load(file.path(), {});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read_entry(text);
  read_entry(text + "checksum " + sha256_hex(text) + "\n");
  read_bundle(text + sha256_hex(text));
  (void)optimized::parse_compiled(text);
  const auto plan = optimized::decode_plan(text);
  if (!plan.ok()) return 0;
  (void)spec::check_plan(plan.value());
  const std::string encoded = optimized::encode_plan(plan.value());
  const auto again = optimized::decode_plan(encoded);
  GRAPHGATE_CHECK(again.ok() && optimized::encode_plan(again.value()) == encoded);
  return 0;
}
