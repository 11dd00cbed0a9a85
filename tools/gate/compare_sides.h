// Two sides of a gate beside each other: what is worse on the candidate, by failure signature.
//
// A pure function of two results; nothing runs here. Names of cases decide nothing: a finding is
// its signature, wherever it shows.
#pragma once

#include <string>
#include <vector>

#include "spec/outcome.h"
#include "tools/gate/gate_results.h"
#include "tools/gate/kind.h"
#include "tools/gate/waivers.h"
#include "tools/report/missing_ops.h"

namespace graphgate::tools {

enum class GateBucket : std::uint8_t {
  kRegressed,       // the candidate shows it, the baseline does not
  kSpread,          // both do, the candidate also where nothing was found on the baseline
  kFixed,           // the baseline alone
  kBoth,            // both, in the same cases or fewer
  kFlaky,           // only in cases that show something else each time
  kNotCompared,     // a side could not run the case, was not done in time, or does not have it
  kUnsupported,     // one side says that it cannot run the case
  kUnexpectedPass,  // a waiver whose finding has gone
  kChanged,         // each side does what its release of PyTorch does, and the releases differ
};
inline constexpr int kGateBucketCount = 9;

// "regressed", "spread", "fixed", "fails on both", "flaky", "not compared", "unsupported",
// "unexpected pass", "changed".
[[nodiscard]] const char* bucket_name(GateBucket bucket);

struct GateRow {
  GateBucket bucket = GateBucket::kBoth;
  GateKind kind = GateKind::kNone;
  std::string name;       // of the finding, as waivers have it: fuzz::finding_name
  std::string signature;  // of plans that cost more: "plans peak [] {}"; of what a side cannot
                          // run: "candidate R4.unsupported [] {}"; of answers that take longer:
                          // "times answer [] {}"; of what releases do otherwise:
                          // "versions since-2.15 [clamp, hardtanh] {}"
  std::string message;    // the candidate's, where it shows it
  std::vector<std::string> baseline_cases;
  std::vector<std::string> candidate_cases;
  std::string waiver;         // the issue, where a waiver holds
  bool is_bad_input = false;  // of what was not compared: nobody can run the case

  // Whether it fails the gate.
  [[nodiscard]] bool counts() const;
  // Whether it leaves the gate's question open.
  [[nodiscard]] bool is_open() const;
  // XFAIL for what is waived or fails on both sides, XPASS for an unexpected pass. INFRA for what was
  // not compared, UNSUPPORTED for what one side cannot run. PASS for what is fixed or changed.
  [[nodiscard]] spec::Outcome outcome() const;
};

struct CompareOptions {
  // A case whose plans cost more by more than this share is worse (conformance::Quality: peak,
  // partitions, steps, copied-in, captured-steps), and better the other way. Cases that either side
  // gets wrong do not count: a wrong plan is no yardstick.
  double plan_threshold = 0.05;
  // A case whose answers take longer by more than this share, each look longer than all of the
  // baseline's, is slower (is_slower).
  double time_threshold = 1;
  Waivers waivers;
  std::string day = today();
  // Whether cases were left out: a finding that none of the others shows has not gone.
  bool is_partial = false;
};

// A case of which nothing was compared, and nothing found.
struct UncomparedCase {
  std::string name;
  std::string reason;
  // Neither side can run it, as they say; else they ran it, and the reference could not.
  bool is_unsupported = false;
};

// What one case came to, for forms that list cases.
struct CaseResult {
  std::string name;
  // PASS where the candidate shows nothing that counts; SUSPECT where it is flaky, UNSUPPORTED
  // where a side or the reference cannot run it, INFRA where it could not be compared.
  spec::Outcome outcome = spec::Outcome::kPass;
  std::string reason;
  bool is_clean = false;               // compared, nothing shown by a side, and nothing changed
  std::vector<std::size_t> rows = {};  // that the candidate shows it in, and that count
  double seconds = 0;                  // all looks on both sides
};

struct GateComparison {
  std::string baseline;  // GateSide::title
  std::string candidate;
  std::vector<GateRow> rows;    // by bucket, then by name
  std::size_t compared = 0;     // cases that both sides ran, and that something was compared of
  MissingOpCounts missing_ops;  // of the cases that a side could not run, or the reference
  std::size_t clean = 0;        // of them, those where neither shows anything, and nothing changed
  std::vector<UncomparedCase> uncompared;  // by name
  std::vector<CaseResult> cases;           // all, by name

  // How many of those neither side can run.
  [[nodiscard]] std::size_t unsupported() const;

  [[nodiscard]] std::size_t count(GateBucket bucket) const;
  // Rows of a kind that fail the gate.
  [[nodiscard]] std::size_t count_failing(GateKind kind) const;
  [[nodiscard]] bool has_failed() const;
  // Whether something was not told: nothing was compared, or a row is open.
  [[nodiscard]] bool is_open() const;
};

[[nodiscard]] GateComparison compare_sides(const GateSide& baseline, const GateSide& candidate,
                                           const CompareOptions& options);

}  // namespace graphgate::tools
