// The memory plan: a pool and an offset for every storage and every step's scratch bytes.
//
//   state   one after the other, in the order of the program's inputs: the same at every size
//   input   static slots for what the caller gives
//   arena   what nodes make: in_place.h and lines.h say who takes over whose bytes, arena.h where
//           what is left lies
//   heap    what only a call can size; no places
//
// There is a pool of each kind for each device. A storage that the program returns lives to the
// end, and nothing lies over it then. A plan's memory is right when no two storages that are needed
// at the same step share a byte, but for a result that takes over a dying operand's place.
//
// compile.cpp calls it with what the stages before have found; options.h has the choices.
#pragma once

#include "optimized/memory/options.h"
#include "spec/plan.h"

namespace graphgate::optimized {

// How an intermediate came to its bytes.
enum class Origin : std::uint8_t {
  kAllocated,  // they are its own
  kInPlace,    // it took over a dying operand's
  kReused,     // it took those of a buffer that was freed before
  kNone,       // nobody allocated them: see MemoryGroup::has_place
};

struct PlaceOrigin {
  spec::BufferId buffer;
  Origin origin = Origin::kAllocated;
  spec::BufferId old;  // whose bytes they were, of kInPlace and kReused
};

struct Placement {
  std::vector<spec::PlanPool> pools;
  std::vector<spec::PlanBuffer> buffers;
  std::vector<spec::BufferId> of_storage;  // by StorageIndex; meaningless for StorageKind::kInner
  std::vector<PlaceOrigin> origins;        // of intermediates, in the order in which groups form
  // By block and node: the buffer of its workspace, where it has one.
  std::vector<std::vector<std::optional<spec::BufferId>>> workspaces;
};

// kBadInput when sizes add up to more than 64 bits hold. With MemoryStrategy::kPack, a plan with
// results in place is never larger than one without.
[[nodiscard]] Result<Placement> plan_memory(const MemoryInput& input, const MemoryOptions& options,
                                            const spec::DeviationSet& deviations = {});

}  // namespace graphgate::optimized
