#include "tools/gate/kind.h"

#include <iterator>

#include "fuzz/reduce/signature.h"

namespace graphgate::tools {
namespace {

struct KindRow {
  std::string_view detector;
  std::string_view rule;  // that it begins with; empty: any
  GateKind kind;
};

// The first that fits.
constexpr KindRow kKindRows[] = {
    {"", "R4.unsupported", GateKind::kRefused},
    {"run", "R1.", GateKind::kStricter},
    {"run", "R2.", GateKind::kCrash},
    {"crash", "", GateKind::kCrash},
    {"memory", "", GateKind::kMemory},
    {kTimesDetector, "", GateKind::kSlower},
    {kVersionsDetector, "", GateKind::kSemantics},
    {kPlansDetector, "peak", GateKind::kMemory},
    {kPlansDetector, "", GateKind::kPlan},
    {"configurations", "C3.", GateKind::kCache},
    {"configurations", "C2.", GateKind::kStricter},
    {"quality", "Q1.", GateKind::kMemory},
    {"quality", "", GateKind::kPlan},
    {"verifier", "", GateKind::kUnsafePlan},
    {"shadow", "", GateKind::kUnsafePlan},
    {"happens-before", "", GateKind::kUnsafePlan},
    {"", "", GateKind::kWrongValues},
};

}  // namespace

const char* kind_name(GateKind kind) {
  static constexpr const char* kNames[] = {"",
                                           "wrong values",
                                           "unsafe plan",
                                           "refused",
                                           "stricter",
                                           "crash",
                                           "plan or fusion no longer applied",
                                           "cache",
                                           "slower",
                                           "more memory",
                                           "semantics"};
  static_assert(std::size(kNames) == kGateKindCount);
  return kNames[static_cast<std::size_t>(kind)];
}

GateKind kind_of(const std::string& text) {
  const auto signature = fuzz::parse_signature(text);
  if (!signature.ok()) return GateKind::kNone;
  for (const KindRow& row : kKindRows) {
    const bool fits = row.detector.empty() || row.detector == signature.value().detector;
    if (fits && std::string_view(signature.value().rule).starts_with(row.rule)) return row.kind;
  }
  return GateKind::kNone;
}

}  // namespace graphgate::tools
