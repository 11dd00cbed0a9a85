// A scheduled module of XLA, and where XLA's buffer assignment puts its values. Plain data: what
// XLA's dumps say, with names resolved.
//
//   ENTRY %main (x: f32[8]) -> f32[8] {            allocation 0: size 32, parameter 0
//     %x = f32[8]{0} parameter(0)                    value: <0 x> (size=32,offset=0)
//     ROOT %y = f32[8]{0} negate(%x)               allocation 1: size 32, maybe-live-out
//   }                                                value: <1 y> (size=32,offset=0)
//
// interop/ reads it, conformance/verify/ judges it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace graphgate::spec {

// One array or tuple inside of a shape. `index` is XLA's ShapeIndex: "{}" is the whole, "{0,1}"
// element 1 of element 0.
struct HloPart {
  std::string index;
  bool is_tuple = false;
  std::string dtype;               // of an array: "f32"; empty for a tuple
  std::vector<std::int64_t> dims;  // of an array
  std::string layout;              // of an array, as it is written: "{1,0}"; may be empty
  std::int64_t element_bits = 0;   // of an array
  std::int64_t size_bytes = 0;     // an array's elements, a tuple's pointers; 0 for tokens
  std::size_t subtree_parts = 1;   // this part, and all inside of it
  friend bool operator==(const HloPart&, const HloPart&) = default;
};

// Holds the parts in preorder; the first is the whole, so there is always one.
struct HloShape {
  std::vector<HloPart> parts;
  // The part of element `element` of the tuple that the whole is.
  [[nodiscard]] std::size_t element_part(std::size_t element) const {
    std::size_t part = 1;
    for (std::size_t i = 0; i < element; ++i) part += parts[part].subtree_parts;
    return part;
  }
};

enum class HloCallRole : std::uint8_t {
  kInline,     // of a call: runs in the caller's memory
  kCondition,  // of a while
  kBody,       // of a while
  kBranch,     // of a conditional; the k-th takes operand k + 1
  kInside,     // of a fusion, a sort, a reduction, ...: has memory of its own
};

struct HloCall {
  HloCallRole role = HloCallRole::kInside;
  std::size_t computation = 0;
};

// The instruction writes its result over an operand, by contract.
struct HloOperandAlias {
  std::size_t result_part = 0;
  std::size_t operand = 0;
  std::size_t operand_part = 0;
};

struct HloInstruction {
  std::string name;  // the only one of the module
  std::string opcode;
  HloShape shape;
  std::vector<std::size_t> operands;  // instructions before it in its computation
  std::vector<HloCall> calls;         // computations before its own
  std::int64_t number = 0;            // of a parameter; of the element that is taken from a tuple
  std::string literal;                // of a constant, where it is short
  std::vector<HloOperandAlias> aliases;
  std::size_t line = 0;  // in the module's text, from 1
};

struct HloComputation {
  std::string name;
  std::vector<HloInstruction> instructions;  // in the order in which they run
  std::vector<std::size_t> parameters;       // instructions, by number
  std::size_t root = 0;
};

// An output of the module lies in the memory of a parameter, which the caller gives up.
struct HloDonation {
  std::size_t output_part = 0;
  std::size_t parameter = 0;
  std::size_t parameter_part = 0;
  bool must = false;  // otherwise it may
};

struct HloModule {
  std::string name;
  std::vector<HloComputation> computations;  // callees before callers
  std::size_t entry = 0;
  std::vector<HloDonation> donations;
};

// Part `part` of the result of instruction `instruction` of computation `computation`.
struct HloPosition {
  std::size_t computation = 0;
  std::size_t instruction = 0;
  std::size_t part = 0;
  friend auto operator<=>(const HloPosition&, const HloPosition&) = default;
};

// A value in its place: what is made at a position.
struct HloValue {
  HloPosition position;
  std::string shape;  // as it is written
  std::size_t allocation = 0;
  std::int64_t offset_bytes = 0;
  std::int64_t size_bytes = 0;  // not negative
  std::size_t line = 0;         // in the assignment's text, from 1
};

// The base of an allocation has every alignment that XLA asks for.
struct HloAllocation {
  std::int64_t size_bytes = 0;
  std::optional<std::int64_t> parameter;  // the entry's, whose memory it is
  std::string parameter_index;            // "{}"
  bool is_constant = false;
  bool is_thread_local = false;
  bool maybe_live_out = false;  // the caller may see it afterwards
};

// XLA holds the value's memory from time `begin` to time `end`, both included.
struct HloLiveRange {
  HloPosition position;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::size_t line = 0;
};

// What XLA's heap simulator worked with.
struct HloLiveRanges {
  std::vector<HloPosition> sequence;  // what runs at time 0, 1, ...; parts are 0
  std::vector<HloLiveRange> ranges;
};

struct HloPlan {
  HloModule module;
  std::vector<HloAllocation> allocations;
  std::vector<HloValue> values;
  std::optional<HloLiveRanges> live_ranges;  // where there is such a file
};

}  // namespace graphgate::spec
