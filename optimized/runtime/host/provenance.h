// The provenance instrument: what the host backend's launches make of words.
//
// Words lie beside memory by address (provenance_memory.h). Before a launch the words of its
// operands are taken from where they lie now, and the words of what it makes are put where that
// will lie. So a launch that reads a place too late, too early or not at all shows the words of
// whatever is there. The nodes of a fused step follow one after the other; what exists only inside
// it has words at addresses that no memory has.
//
// make_instrument makes it. State keeps its words from run to run, as it keeps its bytes.
#pragma once

#include <map>
#include <set>
#include <string>

#include "optimized/runtime/host/instrument.h"
#include "optimized/runtime/host/provenance_memory.h"
#include "optimized/runtime/host/provenance_ops.h"

namespace graphgate::optimized {

class ProvenanceInstrument final : public Instrument {
 public:
  void begin_run(const RunMemory& memory) override;
  void allocate(std::span<const std::byte> bytes) override;
  void before_launch(const BoundStep& step) override;
  void after_launch(const BoundStep& step) override;
  void end_run() override {}
  void undo_runs(std::uint32_t runs) override;
  void replace_state(std::span<const std::byte> before, std::span<const std::byte> now) override;
  void move_memory(std::span<const std::byte> before, std::span<const std::byte> now,
                   bool is_lost) override;
  void collect(std::string_view port, const Tensor& tensor) override;
  [[nodiscard]] std::vector<spec::ProvenanceRow> drain_provenance() override;

 private:
  // State whose words have begun, by address.
  struct StateWords {
    std::string plan;
    std::string name;
    std::uint32_t item_bytes = 1;
    std::size_t size_bytes = 0;
  };
  // What a call does to words, and its rows, without words.
  struct CallNotes {
    WordRule rule;
    // Of each input of the rule; of each output as a written operand, and as a result, if it is
    // one.
    std::vector<spec::ProvenanceRow> rows;
  };
  // `of` is the step that it points into, so that a copy of the step finds it out for itself.
  struct StepNotes {
    const BoundStep* of = nullptr;
    std::vector<CallNotes> calls;
  };
  void begin_input(const spec::PlanInput& input, std::span<std::byte> bytes);
  void begin_state(const spec::PlanInput& input, std::span<std::byte> bytes);
  void begin_words(std::string_view kind, std::string_view name, std::uint64_t times, Address first,
                   std::size_t size_bytes, std::uint32_t item_bytes);
  [[nodiscard]] CallNotes notes_of(const BoundCall& call, std::uint32_t step) const;
  // A row without words, at the end of `rows`.
  spec::ProvenanceRow& begin_row(const Tensor& tensor, std::string_view port,
                                 std::vector<spec::ProvenanceRow>& rows) const;
  void run_call(const CallNotes& notes);
  void add_row(const spec::ProvenanceRow& row, const Words& words);
  void keep_state(const Tensor& tensor);

  WordMemory memory_;
  const spec::Plan* plan_ = nullptr;  // of the run
  std::map<Address, StateWords> states_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> replaced_;  // how often
  std::set<Address> rebound_;  // new places of state that no run has seen
  // What runs of this call found in state before they wrote there, by run.
  std::vector<std::map<Address, WordMemory::Saved>> undo_;
  std::vector<spec::ProvenanceRow> rows_;  // of the last run
  std::size_t most_rows_ = 0;              // of a call so far
  std::uint64_t calls_ = 0;                // finished ones, of all programs
};

}  // namespace graphgate::optimized
