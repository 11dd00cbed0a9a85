// One entry of the index: which artifact serves a key.
//
//   graphgate plan entry 1
//   folder <hash of the folder's factors>
//   artifact <hash of the artifact's bytes>
//   [inputs]
//   ... the entry's factors, as KeyFactors::text() has them
//   checksum <hash of all lines above>
//
// The factors stand in full, so that a hit is compared factor by factor, and people can read why
// two entries differ.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace graphgate::optimized {

struct EntryFile {
  std::string folder;
  std::string artifact;
  std::string factors;
  friend bool operator==(const EntryFile&, const EntryFile&) = default;
};

[[nodiscard]] std::string print_entry(const EntryFile& entry);

// kBadInput for what print_entry did not make, or what was cut or altered since.
[[nodiscard]] Result<EntryFile> parse_entry(std::string_view text);

}  // namespace graphgate::optimized
