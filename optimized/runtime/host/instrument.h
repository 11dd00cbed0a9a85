// An instrument watches what a run does to memory, step by step: shadow memory, provenance.
//
// HostProgram tells it of every launch, with the tensors that the launch was bound to, before and
// after. An instrument changes no byte that a step reads. It knows bytes by address: pools, state,
// the caller's inputs and heaps alike.
//
// One instrument serves an executor: all its programs and plans, since they may share memory. The
// session drains it after every call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "optimized/kernel.h"
#include "spec/finding.h"
#include "spec/plan.h"
#include "spec/provenance.h"

namespace graphgate::optimized {

enum class InstrumentKind : std::uint8_t { kNone, kShadow, kProvenance };

// One op of a launch. `results` has a place for every result, lists unpacked, as Binding has.
// Tensors that exist only inside a fused step have no address; those of them that share a storage
// number are views of each other.
struct BoundCall {
  const spec::Node* node = nullptr;
  const spec::OpRow* row = nullptr;
  std::vector<Item> arguments;
  std::vector<Tensor> results;
  friend bool operator==(const BoundCall&, const BoundCall&) = default;
};

// A launch: one call, or those of a fused step's body in order, without views. `workspace` is the
// scratch of the launch, in the plan or out of it; empty where there is none.
struct BoundStep {
  std::uint32_t step = 0;  // of the plan
  std::vector<BoundCall> calls;
  std::span<const std::byte> workspace;
  // The instrument's own: what it found out at the first launch.
  mutable std::shared_ptr<const void> notes;

  [[nodiscard]] bool does_the_same(const BoundStep& other) const {
    return step == other.step && calls == other.calls &&
           workspace.data() == other.workspace.data() && workspace.size() == other.workspace.size();
  }
};

// Rows of an input slot along `dim`, behind the rows of the call.
struct InputPad {
  Tensor rows;
  std::uint32_t dim = 0;
};

// Where things lie during one run: parallel to Plan::pools and Plan::buffers; empty for heaps, and
// for pools that the caller owns (their buffers have places).
struct RunMemory {
  const spec::Plan* plan = nullptr;
  std::vector<std::span<std::byte>> pools;
  std::vector<std::span<std::byte>> buffers;
  // Bytes beside the pools that nobody is given: guards, and what is left of a shared pool.
  std::vector<std::span<std::byte>> guards;
  // Of a padded plan: rows of input slots behind the true size, and that size.
  std::vector<InputPad> pads;
  std::int64_t true_size = 0;
};

class Instrument {
 public:
  virtual ~Instrument() = default;
  // Before the first step; inputs are in their slots, arenas hold what they held.
  virtual void begin_run(const RunMemory& memory) = 0;
  // New bytes of a heap, which nothing has written. They may lie where an earlier call's lay.
  virtual void allocate(std::span<const std::byte> bytes) = 0;
  virtual void before_launch(const BoundStep& step) = 0;
  // Between the two. `launch` is null where an op only allocates; it may be run several times, if
  // memory is put back in between.
  virtual void launch(const BoundStep& /*step*/, const Launch& launch) {
    if (launch.run) launch.run();
  }
  virtual void after_launch(const BoundStep& step) = 0;
  virtual void end_run() = 0;
  // State has been put back to what it was before the last runs (a warm-up).
  virtual void undo_runs(std::uint32_t runs) = 0;
  // A caller replaced state, which lay in the bytes `before` and lies in `now`, others or the same.
  // Empty where no run has read any.
  virtual void replace_state(std::span<const std::byte> before, std::span<const std::byte> now) = 0;
  // Memory has slept, and lies in `now` with the contents of `before`, in which nothing is left;
  // or, where both are one and `is_lost`, holds anything.
  virtual void move_memory(std::span<const std::byte> before, std::span<const std::byte> now,
                           bool is_lost) = 0;
  // What a call hands out, before drain(): `port` is "output 0", "input NAME" or "state NAME".
  virtual void collect(std::string_view port, const Tensor& tensor) = 0;
  // What was seen since the last drain.
  [[nodiscard]] virtual std::vector<spec::Finding> drain_findings() { return {}; }
  [[nodiscard]] virtual std::vector<spec::ProvenanceRow> drain_provenance() { return {}; }
};

// Null for kNone.
[[nodiscard]] std::shared_ptr<Instrument> make_instrument(InstrumentKind kind);

}  // namespace graphgate::optimized
