// What a partition does to the buffers of a plan, for the rules about its signature.
//
// A conditional does what its arms do: a partition that holds one counts their touches as its own.
// Scratch bytes of steps are not counted; they never leave their step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "conformance/verify/accesses.h"

namespace graphgate::verify {

// Ids of buffers, ascending.
class BufferSet {
 public:
  using Ids = std::vector<std::uint32_t>;
  // Whether it is new.
  bool insert(std::uint32_t id) {
    const auto place = std::lower_bound(ids_.begin(), ids_.end(), id);
    if (place != ids_.end() && *place == id) return false;
    ids_.insert(place, id);
    return true;
  }
  template <class Others>
  void insert_all(const Others& others) {
    for (const std::uint32_t id : others) insert(id);
  }
  [[nodiscard]] bool contains(std::uint32_t id) const {
    return std::binary_search(ids_.begin(), ids_.end(), id);
  }
  void clear() { ids_.clear(); }
  [[nodiscard]] Ids::const_iterator begin() const { return ids_.begin(); }
  [[nodiscard]] Ids::const_iterator end() const { return ids_.end(); }

 private:
  Ids ids_;
};

struct PartitionUse {
  std::uint32_t block = 0;
  std::uint32_t index = 0;  // in the block
  const spec::PlanPartition* partition = nullptr;
  BufferSet touched;  // read or written
  BufferSet reached;  // these, and what heap buffers among them may be views of
  BufferSet made;     // of these, the ones that are first made in it
};

struct PartitionUses {
  std::vector<PartitionUse> all;   // block by block, in order
  BufferSet program_inputs;        // state and user inputs
  BufferSet states;                // parameters, buffers and constants
  BufferSet written;               // by any step
  BufferSet may_be_written;        // these, and what heap buffers that are written may be views of
  BufferSet outputs;               // of the plan: results[0]
  std::vector<BufferSet> results;  // by block: what it results in

  // "partition 2" or "partition 0 of block 'then'".
  [[nodiscard]] static std::string name_of(const spec::Plan& plan, const PartitionUse& use);
};

[[nodiscard]] PartitionUses partition_uses(const Accesses& accesses);

}  // namespace graphgate::verify
