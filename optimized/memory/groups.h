// Groups: storages that have one place, one after the other.
//
//   a = relu(x)   b = neg(a)   c = mm(b, b)   d = add(c, y)
//   group {a, b}: b took over a's bytes in place      group {c, d}
//
// in_place.h and lines.h say who takes over from whom; placement.h and pools.h find a place for
// each group. A group lasts from its first member's first step to its last member's last.
#pragma once

#include "optimized/memory/storage_use.h"

namespace graphgate::optimized {

inline constexpr std::size_t kNoGroup = static_cast<std::size_t>(-1);

struct MemoryGroup {
  std::vector<StorageIndex> members;  // in the order in which they take over; at least one
  std::int64_t bytes = 0;             // of the first member: the others fit into it
  std::int64_t hint_bytes = 0;        // the same at the hints of the symbols
  Lifetime lifetime;
  bool is_output = false;  // a member is
  // False: nothing was allocated for it, as the deviations tail_allocations_by_graph_outputs and
  // in_place_over_removed have it. It lies at offset 0, over whatever lies there.
  bool has_place = true;
};

struct MemoryGroups {
  std::vector<MemoryGroup> groups;
  std::vector<std::size_t> of_storage;  // by StorageIndex; kNoGroup for what is no intermediate
};

// Builds groups, a storage at a time, in the order in which they are made.
class GroupBuilder {
 public:
  GroupBuilder(const MemoryInput& input, const std::vector<StorageUse>& uses);

  void open(StorageIndex storage);                // a place of its own
  void open_without_place(StorageIndex storage);  // see MemoryGroup::has_place
  // `storage` takes over the place of `old`. Where fusion has removed `old` there is none; state
  // has the place that it has; an intermediate without a group gets one.
  void join(StorageIndex old, StorageIndex storage);
  [[nodiscard]] bool has_group(StorageIndex storage) const;

  // Every intermediate that is in no group yet gets one.
  [[nodiscard]] MemoryGroups finish() &&;

 private:
  void add_member(std::size_t group, StorageIndex storage);

  const MemoryInput& input_;
  const std::vector<StorageUse>& uses_;
  MemoryGroups out_;
};

// The groups that in-place decisions alone give: `takes_over` by StorageIndex, as in in_place.h.
[[nodiscard]] MemoryGroups groups_in_place(const MemoryInput& input,
                                           const std::vector<StorageUse>& uses,
                                           const std::vector<StorageIndex>& takes_over);

}  // namespace graphgate::optimized
