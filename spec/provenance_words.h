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

// The words of what a caller passes (`kind` "input", `times` the count of calls that the executor
// has finished) or of state ("state", `times` how often it has been replaced). `name` is that of
// the first input of the program that lies in the storage.
class InitialWords {
 public:
  constexpr InitialWords(std::string_view kind, std::string_view name, std::uint64_t times)
      : history_(mix_provenance(mix_provenance(mix_provenance(0, kind), name), times)),
        producer_(provenance_tag(name)) {}
  // Of element `position`, counted from the start of the storage.
  [[nodiscard]] constexpr ProvenanceWord at(std::int64_t position) const {
    return make_provenance(mix_provenance(history_, static_cast<std::uint64_t>(position)),
                           producer_, 0);
  }

 private:
  std::uint64_t history_;
  std::uint32_t producer_;
};

}  // namespace graphgate::spec
