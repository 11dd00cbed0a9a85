// Which bytes a launch reads and writes, by what the schemas say.
//
// An `out` argument is written and not read. Of a fused step's body only what crosses memory
// counts: what an earlier node of the body has made is read from a tile. shadow.h asks before every
// launch.
#pragma once

#include <string>
#include <vector>

#include "optimized/runtime/host/instrument.h"
#include "optimized/runtime/host/shadow_tags.h"

namespace graphgate::optimized {

// Bytes of one tensor, as ranges of its storage, which begins at the address `base`.
struct ShadowBytes {
  StorageIndex storage = kNoStorage;
  std::int64_t base = 0;
  std::vector<ShadowRange> ranges;

  [[nodiscard]] ShadowRange absolute(const ShadowRange& range) const {
    return {base + range.begin, base + range.end};
  }
};

// `call` is the place in BoundStep::calls.
struct ShadowRead {
  ShadowBytes bytes;
  std::size_t call = 0;
  std::size_t argument = 0;
  const Tensor* tensor = nullptr;  // in the BoundStep
  // The op writes the argument, too. Schemas do not tell whether it looks at what was there (add_
  // does, copy_ does not).
  bool is_written = false;
};
struct ShadowWritten {
  ShadowBytes bytes;
  std::size_t call = 0;
  const Tensor* tensor = nullptr;
};
struct ShadowAccesses {
  std::vector<ShadowRead> reads;
  std::vector<ShadowWritten> writes;
};
// Tensors without an address or without elements are left out, and so are results that are views.
[[nodiscard]] ShadowAccesses shadow_accesses(const BoundStep& step);

// What a launch must not do, though each of its tensors has bytes that are its own. It must write
// neither a result over an operand of another storage that it still has to read, nor scratch bytes
// over either.
struct ShadowClash {
  const ShadowRead* read = nullptr;        // may be null: then a result is hit
  const ShadowWritten* written = nullptr;  // may be null: then it is the scratch bytes
  ShadowRange range;                       // absolute
};
// Returns the clashes of a launch; pointers are into `accesses`. `is_fused`: it goes tile by tile.
[[nodiscard]] std::vector<ShadowClash> shadow_clashes(const BoundStep& step,
                                                      const ShadowAccesses& accesses,
                                                      bool is_fused);

}  // namespace graphgate::optimized
