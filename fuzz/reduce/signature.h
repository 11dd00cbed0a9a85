// What a finding is, whatever the case that shows it is called and however large it is.
//
// Two cases with one signature are one finding: campaigns count them once, the reducer never leaves
// the signature that it began with, and `graphgate replay` says whether it still shows.
//
//   verifier V3.overlap [mm, pointwise] {memory=lines, streams}
//   |        |          |         the options of the case, minimal once it is reduced
//   |        |          op families at the place, those at fault first; where a run of an
//   |        |          executor of others ended and no node is named, the error's class
//   |        rule (docs/rules.md); of a run that ended its process: the signal
//   detector: a judge, "run" for how the run itself ended, "crash", "timeout", "memory"
//
// Names of nodes, values and programs, sizes, seeds and numbers stand in no signature.
//
// One fault shows in many ways. What is the same for all of them is the *fault* of a signature
// (fault_of): what campaigns count by, and what reduction keeps.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/judges/judge.h"
#include "spec/case_file.h"

namespace graphgate::fuzz {

struct Signature {
  std::string detector;
  std::string rule;
  std::string pattern;        // "mm, pointwise"; empty where a finding names no node
  std::string configuration;  // "memory=lines, streams"; empty: the default one
  friend bool operator==(const Signature&, const Signature&) = default;
  friend auto operator<=>(const Signature&, const Signature&) = default;

  // The same fault_of: what reduction keeps while options go.
  [[nodiscard]] bool same_fault(const Signature& other) const;
};

// Returns the signature that stands for all that one fault shows as: without options, and
//
// - of a rule about plans, with the judge of such rules for its detector: others say them of plans
//   with taps, or under other options;
// - of two values at one place (V3.overlap, V3.kept-bytes, V3.in-place), V3.overlap of no ops.
//   Which bytes were free, whose they were before, and so which of the three it is, is chance; no
//   plan says whether a result was put over its operand on purpose;
// - of two steps that nothing orders (HB.race), of no ops: which of them meet is chance, too.
[[nodiscard]] Signature fault_of(Signature signature);

// "verifier V3.overlap [mm, pointwise] {memory=lines, streams}", on one line.
[[nodiscard]] std::string print_signature(const Signature& signature);
// The inverse. kBadInput says what was expected.
[[nodiscard]] Result<Signature> parse_signature(std::string_view text);

// The signature that stands for a report: of what judges found, from the one nearest to the cause
// (what a plan claims, then what a run did, then which bits came out). Nothing where no judge holds
// anything against the executor: UNDECIDED, MISTRUSTED and UNSUPPORTED are no findings.
[[nodiscard]] std::optional<Signature> signature_of(const conformance::CaseReport& report,
                                                    const spec::CaseFile& the_case);

// Those of all findings, each once, the one of signature_of first.
[[nodiscard]] std::vector<Signature> signatures_of(const conformance::CaseReport& report,
                                                   const spec::CaseFile& the_case);

// What no report tells: the process that ran the case was ended ("crash", "signal 11"), took too
// long ("timeout") or too much memory ("memory").
[[nodiscard]] Signature signature_of_ending(std::string detector, std::string rule,
                                            const spec::CaseFile& the_case);

// The options of a case as signatures have them: without numbers, and without the names of nodes,
// inputs and files.
[[nodiscard]] std::string configuration_bits(const spec::CaseFile& the_case);

// The judge whose finding it is; nothing for "run", "crash", "timeout" and "memory".
[[nodiscard]] std::optional<conformance::Judge> judge_of(const Signature& signature);

// Returns what kind of op it is, as far as its row tells. That is "pointwise", "reduction" or
// "view", else its own name without overload ("mm", "my.scale"). A `_` stands behind it if it
// writes an operand ("pointwise_", "copy_").
[[nodiscard]] std::string op_family(std::string_view op, const spec::OpTable& ops);

}  // namespace graphgate::fuzz
