// What a partition does to the buffers of a plan, for the rules about its signature.
//
// A conditional does what its arms do: a partition that holds one counts their touches as its own.
// Scratch bytes of steps are not counted; they never leave their step.
#pragma once

#include <absl/container/inlined_vector.h>

#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "conformance/verify/accesses.h"
#include "spec/finding.h"

namespace graphgate::verify {

// Ids of buffers, a bit for each.
class BufferSet {
 public:
  // Whether it is new.
  bool insert(std::uint32_t id) {
    while (words_.size() <= id / 64) words_.push_back(0);
    std::uint64_t& word = words_[id / 64];
    const std::uint64_t before = std::exchange(word, word | bit(id));
    return before != word;
  }
  template <class Others>
  void insert_all(const Others& others) {
    for (const std::uint32_t id : others) insert(id);
  }
  [[nodiscard]] bool contains(std::uint32_t id) const {
    return id / 64 < words_.size() && (words_[id / 64] & bit(id)) != 0;
  }
  void clear() { words_.clear(); }
  // Ascending.
  [[nodiscard]] std::vector<std::uint32_t> ids() const {
    std::vector<std::uint32_t> out;
    for (std::uint32_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t left = words_[w]; left != 0; left &= left - 1) {
        out.push_back(64 * w + static_cast<std::uint32_t>(std::countr_zero(left)));
      }
    }
    return out;
  }

 private:
  static std::uint64_t bit(std::uint32_t id) { return std::uint64_t{1} << (id % 64); }
  absl::InlinedVector<std::uint64_t, 1> words_;
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

// A finding about the whole of a buffer, `id` in its plan.
[[nodiscard]] spec::Finding buffer_finding(const spec::Plan& plan, std::uint32_t id,
                                           std::string rule, std::string message);

}  // namespace graphgate::verify
