// What a partition does to the buffers of a plan, for the rules about its signature.
//
// A conditional does what its arms do: a partition that holds one counts their touches as its own.
// Scratch bytes of steps are not counted; they never leave their step.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "conformance/verify/accesses.h"

namespace graphgate::verify {

using BufferSet = std::set<std::uint32_t>;

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
