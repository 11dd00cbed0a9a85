// What kind of regression a finding is, in the words of those who have to act on it.
#pragma once

#include <cstdint>
#include <string>

namespace graphgate::tools {

enum class GateKind : std::uint8_t {
  kNone,         // no finding of a side: a waiver, a case that could not be compared
  kWrongValues,  // a call gives what it should not, or does not refuse what it should
  kUnsafePlan,   // memory is shared, freed or ordered wrongly, whatever came out this time
  kRefused,      // the side says that it cannot run the case
  kStricter,     // an error where the reference takes the call
  kCrash,        // the side broke down
  kPlan,         // a plan or a fusion is no longer applied as asked for, or costs more steps
  kCache,        // what was cached is not what would be made now
  kSlower,
  kMemory,     // more memory
  kSemantics,  // the releases of PyTorch that the sides go by do it otherwise
};
inline constexpr int kGateKindCount = 11;

// "wrong values", "unsafe plan", "refused", "stricter", "crash", "plan or fusion no longer
// applied", "cache", "slower", "more memory", "semantics"; "" for none.
[[nodiscard]] const char* kind_name(GateKind kind);

// Returns the kind that a signature tells (fuzz/reduce/signature.h, and those that a gate makes of
// plans, times and what a side does not support).
[[nodiscard]] GateKind kind_of(const std::string& signature);

// What a gate makes of the numbers of plans, of times, and of what releases do otherwise.
inline constexpr const char* kPlansDetector = "plans";
inline constexpr const char* kTimesDetector = "times";
inline constexpr const char* kVersionsDetector = "versions";

}  // namespace graphgate::tools
