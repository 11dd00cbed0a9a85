// The words that every provenance run starts from, and the names in them.
//
// docs/provenance.md states what each op makes of words. Here is only what both executors and the
// judge must spell alike: where a history begins, and how a name becomes a word's producer.
#pragma once

#include <string_view>

#include "spec/provenance.h"

namespace graphgate::spec {

// The producer bits for the name of a node, an input or a state: 1 to 0xffff. Names may share one.
[[nodiscard]] constexpr std::uint32_t provenance_tag(std::string_view name) {
  return 1 + static_cast<std::uint32_t>(mix_provenance(0, name) % 0xffff);
}

// What bytes hold that nothing has written: no producer, no version.
inline constexpr ProvenanceWord kUnwrittenWord =
    make_provenance(mix_provenance(0, std::string_view("unwritten")), 0, 0);

// The word of element `position`, counted from the start of the storage, of what a caller passes
// (`kind` "input", `times` the count of calls that the executor has finished) or of state ("state",
// `times` how often it has been replaced). `name` is that of the first input of the program that
// lies in the storage.
[[nodiscard]] constexpr ProvenanceWord initial_word(std::string_view kind, std::string_view name,
                                                    std::uint64_t times, std::int64_t position) {
  const std::uint64_t port = mix_provenance(mix_provenance(0, kind), name);
  const std::uint64_t place = static_cast<std::uint64_t>(position);
  return make_provenance(mix_provenance(mix_provenance(port, times), place), provenance_tag(name),
                         0);
}

}  // namespace graphgate::spec
