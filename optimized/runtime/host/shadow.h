// Shadow memory: every byte of a run knows who wrote it, and every read is checked.
//
// Two views are held against each other. What the plan says: the steps in its order, every storage
// with bytes of its own. What happens: launches in the order in which they run, at addresses that
// storages share. A reader must find the same write in both.
//
//   plan's order   mul -> $y       relu -> $z      add reads $y:  of 'mul'
//   addresses      [0, 64) $y      [0, 64) $z                     of 'relu'     S2.stale-read
//
//   S1.unwritten-read      bytes that nothing has written in this run
//   S2.stale-read          bytes that belong to another buffer by now
//   S3.old-version         the right buffer in another order of streams: too early or too late
//   S4.write-outside       a launch changed bytes that it was not given: guards around pools and
//                          heap allocations, gaps, other buffers
//   S5.pad-read            rows of the pad reach a real row of a result
//   S7.undeclared-write    a launch changed an operand that its schema says it reads
//   S8.read-only-written   a launch changed state that no step of the plan writes
//
// S6, outputs that callers hold, is the judge's, who sees them. Writes that nobody declares are
// found by a mirror of all memory. It is compared after launches as far as that costs little, and
// at the end of every run: then the finding names the launches in between.
//
// What a schema does not tell (does an op that writes an operand look at what was there?) is found
// out by running the launch on other bytes. So is the pad: launches that read it run a second time
// in a world where it holds other garbage. docs/shadow_memory.md says more.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "optimized/runtime/host/shadow_book.h"
#include "optimized/runtime/host/shadow_image.h"

namespace graphgate::optimized {

class ShadowInstrument final : public Instrument {
 public:
  void begin_run(const RunMemory& memory) override;
  void allocate(std::span<const std::byte> bytes) override;
  void before_launch(const BoundStep& /*step*/) override {}
  // All of the work: reads are checked, the launch runs, writes are noted.
  void launch(const BoundStep& step, const Launch& launch) override;
  void after_launch(const BoundStep& /*step*/) override {}
  void end_run() override;
  void undo_runs(std::uint32_t runs) override;
  void replace_state(std::span<const std::byte> before, std::span<const std::byte> now) override;
  void move_memory(std::span<const std::byte> before, std::span<const std::byte> now,
                   bool is_lost) override;
  void collect(std::string_view port, const Tensor& tensor) override;
  [[nodiscard]] std::vector<spec::Finding> drain_findings() override;

 private:
  // What a launch did, kept until it can be said in the plan's order.
  struct SeenRead {
    ShadowReader reader;
    StorageIndex storage = kNoStorage;
    std::vector<ShadowMismatch> found;  // `actual` of every range; `expected` is filled in later
  };
  struct SeenWrite {
    StorageIndex storage = kNoStorage;
    std::vector<ShadowRange> ranges;
    ShadowTag tag = kNoTag;
  };
  struct Seen {
    std::uint32_t step = 0;
    std::vector<SeenRead> reads;
    std::vector<SeenWrite> writes;
  };

  // shadow.cpp: runs, and the two views.
  void load_inputs();
  void find_stream_partitions();
  void note_writes(const BoundStep& step, const ShadowAccesses& accesses, bool is_open, Seen& seen);
  [[nodiscard]] bool is_fused(std::uint32_t step) const;
  void add(spec::Finding finding);

  // shadow_reads.cpp: who reads what.
  [[nodiscard]] std::vector<ShadowMismatch> actual_tags(const ShadowBytes& bytes) const;
  [[nodiscard]] std::vector<ShadowMismatch> mismatches(
      StorageIndex storage, const std::vector<ShadowMismatch>& found) const;
  void see_reads(const BoundStep& step, const ShadowAccesses& accesses, const Launch& launch,
                 Seen& seen);
  void settle(const Seen& seen);
  void flush();
  // Whether what the launch writes depends on these bytes, found out by changing them.
  [[nodiscard]] bool hangs_on(const BoundStep& step, const ShadowAccesses& accesses,
                              const Launch& launch, const std::vector<ShadowRange>& ranges);

  // shadow_writes.cpp: what nobody declared.
  void check_memory(const BoundStep& step, const ShadowAccesses& accesses);
  void check_scratch(const BoundStep& step);
  void report_writes(const std::vector<ShadowRange>& ranges, const BoundStep* step);
  [[nodiscard]] spec::Finding undeclared_write(ShadowRange range, const BoundStep* step) const;
  [[nodiscard]] std::optional<StorageIndex> buffer_at(std::int64_t address) const;

  // shadow_pads.cpp: the world with another pad.
  void begin_twin();
  void fill_twin(const InputPad& pad);
  void launch_twin(const BoundStep& step, const ShadowAccesses& accesses, const Launch& launch);
  void refused_for_pad(const BoundStep& step, const std::string& why);
  void after_twin(const BoundStep& step, const ShadowAccesses& accesses);
  void check_pads(std::string_view port, const Tensor& tensor);
  [[nodiscard]] std::optional<std::uint32_t> cut_dim(std::string_view port) const;

  RunMemory memory_;
  ShadowBook book_;
  ShadowTags actual_;                                      // by address
  std::unordered_map<StorageIndex, ShadowTags> expected_;  // of the run
  std::vector<std::uint32_t> group_;  // by step: 1 + the partition whose streams may interleave
  std::uint32_t open_group_ = 0;
  std::vector<Seen> waiting_;                                    // of the open group
  std::set<std::pair<std::uint32_t, std::size_t>> looks_back_;   // step and read: hangs_on
  std::set<std::pair<std::uint32_t, std::size_t>> looks_ahead_;  // and those that do not
  const spec::Plan* looked_at_ = nullptr;

  ShadowImage mirror_;
  std::int64_t credit_ = 0;             // bytes that may be compared for what was touched
  std::vector<std::string> unchecked_;  // launches since all memory was compared
  std::set<StorageIndex> written_;      // buffers that steps of the plan write
  std::unordered_map<std::int64_t, std::int64_t> allocated_;  // sizes by address
  bool is_running_ = false;

  ShadowImage twin_;
  std::vector<std::string> reached_;  // nodes that the pad has reached, in order
  bool twin_ran_ = false;             // the launch of this step
  bool pad_refused_ = false;

  std::vector<spec::Finding> findings_;
  std::set<std::string> told_;  // since the last drain
};

}  // namespace graphgate::optimized
