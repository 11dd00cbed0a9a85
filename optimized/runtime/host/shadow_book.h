// The book of writes: what a shadow tag stands for, and how findings say it.
//
// Names are kept as text, so that a tag can be explained after its plan is gone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "optimized/runtime/host/shadow_access.h"
#include "spec/finding.h"

namespace graphgate::optimized {

enum class ShadowKind : std::uint8_t {
  kLoaded,   // there when the run began: inputs, state
  kMade,     // by a launch
  kOpen,     // by an op that leaves its result as it is (empty)
  kScratch,  // by a launch, for itself
};

// `version` counts the writes of a storage in one run, in the plan's order. Names are indices into
// the book's.
struct ShadowEntry {
  ShadowKind kind = ShadowKind::kMade;
  std::uint32_t run = 0;
  std::uint32_t step = 0;
  StorageIndex storage = kNoStorage;
  std::uint32_t version = 0;
  std::uint32_t node = 0;
  std::uint32_t buffer = 0;
};

// A part of what somebody reads, whose bytes are not those that the plan's order gives it.
struct ShadowMismatch {
  ShadowRange range;  // of the storage
  ShadowTag expected = kNoTag;
  ShadowTag actual = kNoTag;
};

// The reader: "step 3 'mul' (operand self)", or "output 0".
struct ShadowReader {
  std::string node;  // empty at the end of a call
  std::string words;
  std::uint32_t step = 0;
};

class ShadowBook {
 public:
  // The run of this plan begins; `plan` lives until the next one does.
  void begin_run(const spec::Plan& plan);
  [[nodiscard]] std::uint32_t run() const { return run_; }

  [[nodiscard]] ShadowTag write(ShadowKind kind, std::uint32_t step, StorageIndex storage,
                                std::string_view node);
  // Counts the write in the plan's order.
  void settle(ShadowTag tag);
  [[nodiscard]] const ShadowEntry& entry(ShadowTag tag) const { return entries_[tag]; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  // Forgets everything: no tag is known any more.
  void clear();

  // "y", or "heap2" for what has no place in the plan; as sentences have it: "$y".
  [[nodiscard]] std::string plain_name(StorageIndex storage) const;
  [[nodiscard]] std::string buffer_name(StorageIndex storage) const;
  // "step 3 'mul'", "what the run began with", "'mul' of run 2".
  [[nodiscard]] std::string maker(ShadowTag tag) const;

  // S1, S2 or S3, by what most of the mismatches are; they are of one storage and not empty.
  [[nodiscard]] spec::Finding wrong_read(const ShadowReader& reader, StorageIndex storage,
                                         const std::vector<ShadowMismatch>& mismatches) const;
  // S2 within one launch.
  [[nodiscard]] spec::Finding clash(const BoundStep& step, const ShadowClash& clash) const;
  // [begin, end) of the storage, and of the pool that it lies in.
  void add_ranges(StorageIndex storage, ShadowRange range,
                  std::vector<spec::FindingRange>& out) const;

 private:
  [[nodiscard]] std::uint32_t intern(std::string_view name);
  [[nodiscard]] std::string buffer_of(ShadowTag tag) const;
  [[nodiscard]] std::string drawing(const ShadowReader& reader, StorageIndex storage,
                                    const ShadowMismatch& mismatch) const;

  const spec::Plan* plan_ = nullptr;
  std::uint32_t run_ = 0;
  std::vector<ShadowEntry> entries_{1};
  std::map<StorageIndex, std::uint32_t> versions_;  // of the run
  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t, std::less<>> name_index_;
};

// "[0, 64)".
[[nodiscard]] std::string print_range(ShadowRange range);
// A node's name, in quotes.
[[nodiscard]] std::string quoted(const std::string& name);

}  // namespace graphgate::optimized
