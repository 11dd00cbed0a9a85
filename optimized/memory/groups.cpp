#include "optimized/memory/groups.h"

#include <algorithm>

namespace graphgate::optimized {

GroupBuilder::GroupBuilder(const MemoryInput& input, const std::vector<StorageUse>& uses)
    : input_(input), uses_(uses) {
  out_.of_storage.resize(input.graph.storages.size(), kNoGroup);
}

bool GroupBuilder::has_group(StorageIndex storage) const {
  return out_.of_storage[storage] != kNoGroup;
}

void GroupBuilder::open(StorageIndex storage) {
  MemoryGroup group;
  group.bytes = input_.graph.storages[storage].bytes;
  group.hint_bytes = input_.hint_of(storage);
  group.lifetime = uses_[storage].lifetime;
  out_.groups.push_back(std::move(group));
  add_member(out_.groups.size() - 1, storage);
}

void GroupBuilder::open_without_place(StorageIndex storage) {
  open(storage);
  out_.groups.back().has_place = false;
}

void GroupBuilder::join(StorageIndex old, StorageIndex storage) {
  if (!has_group(old)) {
    open(old);
    out_.groups.back().has_place = input_.graph.storages[old].kind != StorageKind::kInner;
  }
  add_member(out_.of_storage[old], storage);
}

void GroupBuilder::add_member(std::size_t index, StorageIndex storage) {
  MemoryGroup& group = out_.groups[index];
  group.members.push_back(storage);
  group.lifetime.begin = std::min(group.lifetime.begin, uses_[storage].lifetime.begin);
  group.lifetime.end = std::max(group.lifetime.end, uses_[storage].lifetime.end);
  group.is_output |= uses_[storage].is_output;
  out_.of_storage[storage] = index;
}

MemoryGroups GroupBuilder::finish() && {
  for (StorageIndex s = 0; s < input_.graph.storages.size(); ++s) {
    const bool is_intermediate = input_.graph.storages[s].kind == StorageKind::kIntermediate;
    if (is_intermediate && !has_group(s)) open(s);
  }
  return std::move(out_);
}

MemoryGroups groups_in_place(const MemoryInput& input, const std::vector<StorageUse>& uses,
                             const std::vector<StorageIndex>& takes_over) {
  GroupBuilder builder(input, uses);
  // Storages are numbered in the order in which they are made, but for the results of conditionals,
  // which take over nothing. So what is taken over has its group already.
  for (StorageIndex s = 0; s < takes_over.size(); ++s) {
    if (input.graph.storages[s].kind != StorageKind::kIntermediate) continue;
    if (takes_over[s] == kNoStorage) {
      builder.open(s);
    } else {
      builder.join(takes_over[s], s);
    }
  }
  return std::move(builder).finish();
}

}  // namespace graphgate::optimized
