// The plan: what an optimized executor decided, as plain data.
//
// A plan says which steps run, in which order, cut into which partitions, on which bytes. It is
// complete: a runtime receives the plan, kernels and memory, and nothing else. It holds decisions
// and claims only. Lifetimes and dependences are facts: whoever needs them derives them from the
// steps.
//
// A plan is for one binding of the program's symbols and one geometry of its inputs. What is not
// known before the call (the count of nonzero elements, say) stays symbolic, and lives in a heap.
//
//   pool  = an arena of one device      time ->   step 0    step 1    step 2
//   buffer = a placed storage            0x000    [ x     ] [ x     ]
//   value  = a tensor over a buffer      0x200              [ y     ] [ y   ]
//                                        0x400                        [ z   ]
//
// lower/ in optimized/ makes plans, its runtime follows them, plan_text.h prints and parses them,
// plan_diff.h compares them. check_plan() states what makes a plan well formed (ids in range,
// places inside their pools); whether it is *right* is for a verifier to say.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "spec/graph.h"
#include "spec/program.h"

namespace graphgate::spec {

using PoolId = Id<struct PoolTag>;      // into Plan::pools
using BufferId = Id<struct BufferTag>;  // into Plan::buffers
using EventId = Id<struct EventTag>;    // counted by Plan::event_count

enum class PoolKind : std::uint8_t {
  kState,   // parameters, buffers, constants: filled when the program is loaded, kept between calls
  kInput,   // static slots: filled with the caller's bytes before every call
  kArena,   // intermediates and outputs; bytes are used again within a call
  kHeap,    // storages whose size is known only during the call: each is allocated on its own
  kCaller,  // bytes that the caller owns; the plan claims that they stay where they are
};

// Buffers of a pool begin at multiples of `alignment_bytes` from its base, which has at least the
// same alignment. A heap has size 0.
struct PlanPool {
  std::string name;
  PoolKind kind = PoolKind::kArena;
  Device device;
  std::int64_t size_bytes = 0;
  std::int64_t alignment_bytes = 1;
  friend bool operator==(const PlanPool&, const PlanPool&) = default;
};

// A storage and its place: bytes [offset_bytes, offset_bytes + size_bytes) of the pool. In a heap
// both are 0.
struct PlanBuffer {
  std::string name;
  PoolId pool;
  std::int64_t offset_bytes = 0;
  std::int64_t size_bytes = 0;
  friend bool operator==(const PlanBuffer&, const PlanBuffer&) = default;
};

// What steps read and make. A tensor has a buffer, and a type whose sizes, strides and offset (in
// elements, from the start of the buffer) are constants. In a heap the type is what the program
// states of it, or absent. Numbers here are those that only a call can tell; all others stand as
// constants in the arguments.
//
// Views take no step: a tensor outside of a heap that no input and no step makes is a view of its
// buffer, there as soon as something is made in the buffer. An update in place makes nothing.
struct PlanValue {
  Value value;
  std::optional<BufferId> buffer;
  friend bool operator==(const PlanValue&, const PlanValue&) = default;
};

// One launch. In `node`, ValueIds index Plan::values and SubgraphIds index Plan::blocks; arguments
// that the op's defaults give may be left out. The node's name is that of the graph's node it comes
// from; several steps may share it. A result that is an operand too is updated in place.
//
// A fused step is "graphgate.fused": the nodes of `body`, in order, at one launch. Its own
// arguments are, without names, the values with buffers that the body reads; its results those that
// the body makes. Values without a buffer that body nodes make are inner ones: they exist only
// while the step runs, tile by tile, and stand in no other step. An update in place inside the body
// makes its operand, as elsewhere.
//
// A step with blocks is a conditional. Its results outside of a heap are there before its arms run,
// which write them in place; others are what the arm that ran results in.
struct PlanStep {
  Node node;
  std::vector<Node> body;  // of a fused step; empty in others
  std::uint32_t stream = 0;
  std::vector<EventId> waits;         // before the launch
  std::vector<EventId> records;       // after it
  std::optional<BufferId> workspace;  // scratch bytes of this step alone
  friend bool operator==(const PlanStep&, const PlanStep&) = default;
};

struct SignatureInput {
  BufferId buffer;
  bool deallocate = false;  // the partition holds the last use: the caller gives it up
  friend bool operator==(const SignatureInput&, const SignatureInput&) = default;
};

// What crosses a partition's edges. `inputs`: buffers made outside that it reads, writes or frees.
// `outputs`: buffers made inside that are used later, and inputs that are handed on. `constants`:
// state that no step of the program writes; passed by address, once. `symbols`: those that sizes,
// strides, offsets and arguments inside depend on.
struct PlanSignature {
  std::vector<SignatureInput> inputs;
  std::vector<BufferId> outputs;
  std::vector<BufferId> constants;
  std::vector<std::string> symbols;
  friend bool operator==(const PlanSignature&, const PlanSignature&) = default;
};

// Steps [begin_step, end_step) of Plan::steps. A captured partition is recorded once and replayed;
// an eager one launches step by step, on stream 0, and `reason` says which rule cut it out. A
// captured partition begins with all its streams behind what came before, and ends with stream 0
// behind all of them: no event crosses its edges.
struct PlanPartition {
  bool captured = true;
  std::string reason;  // empty when captured
  std::uint32_t begin_step = 0;
  std::uint32_t end_step = 0;
  PlanSignature signature;
  friend bool operator==(const PlanPartition&, const PlanPartition&) = default;
};

// A straight run of partitions. Block 0 is the program; others are the arms of conditionals, which
// read the values around them directly. `outputs` are what the block results in.
struct PlanBlock {
  std::string name;
  std::vector<PlanPartition> partitions;
  std::vector<Argument> outputs;
  friend bool operator==(const PlanBlock&, const PlanBlock&) = default;
};

// What the caller may expect of an output after the call. A weak one lies in the plan's memory, and
// its bytes are gone as soon as any plan that shares the pool runs; a strong one is the caller's.
enum class OutputLifetime : std::uint8_t { kStrong, kWeak };

// A plan that serves calls smaller than itself. Inputs are copied into the leading part of their
// slots, and outputs are cut to it, along the dimensions that are listed. Listed is, by input (as
// Plan::inputs) and by output (as Plan::outputs), the dimension whose size is `symbol`, if there is
// one. What lies behind the true size is garbage, in inputs and intermediates alike. The plan
// claims that no byte of the true part depends on it.
struct PlanPadding {
  std::string symbol;
  std::vector<std::optional<std::uint32_t>> input_dims;
  std::vector<std::optional<std::uint32_t>> output_dims;
  friend bool operator==(const PlanPadding&, const PlanPadding&) = default;
};

// Where an input of the program lies. `value` is meaningless for a number that the plan was
// specialized to, or a constant input: then `constant` is set. `final_value` is another view of the
// same buffer, where an in-place op (squeeze_) leaves the input with another geometry.
struct PlanInput {
  InputKind kind = InputKind::kUserInput;
  std::string target;
  ValueId value;
  std::optional<Argument> constant;
  std::optional<ValueId> final_value;
  friend bool operator==(const PlanInput&, const PlanInput&) = default;
};

struct Plan {
  std::string name;                             // of the program
  std::string arithmetic = "strict";            // "strict" or "fast"
  std::map<std::string, std::int64_t> symbols;  // what the plan was made for
  std::vector<PlanPool> pools;
  std::vector<PlanBuffer> buffers;
  std::vector<PlanValue> values;
  std::vector<PlanInput> inputs;  // as Program::inputs
  std::vector<PlanStep> steps;
  std::vector<PlanBlock> blocks;  // at least one
  std::uint32_t event_count = 0;
  // User outputs, in order. What a functionalized program returns as new contents of its inputs and
  // buffers is written by steps, and does not stand here.
  std::vector<Argument> outputs;
  std::vector<OutputLifetime> output_lifetimes;  // parallel to `outputs`, or empty: all strong
  std::optional<PlanPadding> padding;
  // What a call must agree with for this plan to serve it, beside its sizes: the claim that nothing
  // else alters the plan. Names and values as the dispatcher has them ("mode" -> "piecewise").
  std::map<std::string, std::string> key;
  friend bool operator==(const Plan&, const Plan&) = default;
};

// Checks that ids are in range, that partitions of a block are contiguous, and that every step is
// in exactly one partition. Places must lie inside their pools, aligned, without overflow, and
// tensors inside their buffers. Values must be defined before their use, once. Views must be
// mentioned where an input, or a result visible there, is over their buffer, if there is any.
// Errors name the step, buffer or value.
[[nodiscard]] Result<void> check_plan(const Plan& plan);

}  // namespace graphgate::spec
