// Makes a case smaller as long as a check says that it still shows what it should.
//
//   case ── passes propose ──> candidate ── check_case ──> check ──┬─ same: go on from here
//                                                                  ├─ passes: a neighbour
//                                                                  └─ other: forget it
//
// Works on any case: golden, generated, imported. Changes are tried as ddmin does: half of them,
// quarters, ... one by one; calls, then nodes, then configuration bits, then sizes, then data, and
// again until nothing helps. Every accepted candidate is smaller (case_weight), so it ends. The
// same case, check and limits give the same result, but for a limit of time.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/reduce/judge_case.h"
#include "fuzz/reduce/reduction_pass.h"

namespace graphgate::fuzz {

// "Still the same failure": must be pure. It is only called for cases that pass check_case.
using CheckCase = std::function<bool(const spec::CaseFile&)>;
// The same, telling what passes from what fails in another way.
using ClassifyCase = std::function<CheckResult(const spec::CaseFile&)>;

struct Reduced;

struct ReduceLimits {
  double seconds = 60;           // wall-clock time, looked at between checks
  std::size_t checks = 100'000;  // calls of the check
  KeptOptions kept_options;      // options that stay, whatever they are
  // States the types of results that a pass has left open (stated_types.h); may be absent. Cutting
  // a value out of a program needs its type.
  std::function<spec::CaseFile(const spec::CaseFile&)> state_types = {};
  // Asked between checks: true ends it as a limit does. May be absent.
  std::function<bool()> should_stop = {};
  // Told of each step, of which the last is `the_case`. May be absent.
  std::function<void(const Reduced& so_far)> on_step = {};
};

struct CaseSize {
  std::size_t nodes = 0;  // of all programs, arms included
  std::size_t calls = 0;
  std::size_t options = 0;
  std::size_t programs = 0;
  friend bool operator==(const CaseSize&, const CaseSize&) = default;
};
[[nodiscard]] CaseSize size_of(const spec::CaseFile& the_case);

// What must fall with every step of a reduction, the first figure first: calls, nodes, ...
[[nodiscard]] std::vector<std::size_t> case_weight(const spec::CaseFile& the_case);

struct Reduced {
  spec::CaseFile the_case;
  // The valid case nearest to it that passes, of those that were tried: it lacks one thing.
  std::optional<spec::CaseFile> passing;
  CaseSize before;
  CaseSize after;
  bool shows = false;        // the case that was given does show it; else it is returned as it was
  bool is_finished = false;  // nothing helps any more; false where a limit ended it
  std::size_t checks = 0;
  double seconds = 0;
};

[[nodiscard]] Reduced reduce(const spec::CaseFile& the_case, const ClassifyCase& classify,
                             const ReduceLimits& limits);
[[nodiscard]] Reduced reduce(const spec::CaseFile& the_case, const CheckCase& check,
                             const ReduceLimits& limits);

// Lines of the two texts that differ, each with "- " or "+ " in front: what the neighbour lacks,
// and has instead.
[[nodiscard]] std::vector<std::string> differing_lines(const spec::CaseFile& the_case,
                                                       const spec::CaseFile& neighbour);

}  // namespace graphgate::fuzz
