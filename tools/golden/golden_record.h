// What graphgate golden keeps of one program: a record of what it came to, as plain data.
//
// record_program.h makes one, golden_text.h has its text form, golden_diff.h says what changed
// between two. Nothing in it depends on the machine, the compiler or the time: values come from the
// optimized executor, whose arithmetic is its own, and never from the oracle.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "conformance/judges/plan_quality.h"

namespace graphgate::tools {

// Where a record comes from. Two records are compared without `generator`, `command` and `reason`.
struct GoldenProvenance {
  std::string program;     // a path below the golden folder: "models/mutations.pt2"
  std::string arithmetic;  // the profile: "strict" (spec::Plan::arithmetic)
  std::string sources;     // a digest of the program and its recorded calls
  std::string generator;   // "graphgate 1.2.3"
  std::string command;     // that makes this record anew
  std::string reason;      // why it was made, in the words of who did
};

// One output, or one input or state that a call changed.
struct GoldenValue {
  std::string place;   // `output 0`, `input 1`, `state "w"`
  std::string type;    // `f32[8, 16]`, `int`, `float`, `bool`, `none`
  std::string digest;  // of the elements in row-major order; empty for what is no tensor
  std::string shares;  // the place, named before, whose storage it is; empty: its own
  // Of how many `elements` are some, evenly spread from the first on; 0: they are all.
  std::size_t some_of = 0;
  std::vector<std::string> elements;  // exact: hexadecimal floats, decimal integers, True, False,
                                      // complex(0x1p+0,-0x1p+1)
  friend bool operator==(const GoldenValue&, const GoldenValue&) = default;
};

struct GoldenCall {
  std::string program;              // which of the script's
  std::optional<std::size_t> plan;  // the one that it followed, into GoldenRecord::plans
  std::vector<GoldenValue> values;
  friend bool operator==(const GoldenCall&, const GoldenCall&) = default;
};

// A plan, in the order of first use. Where `text` is empty, digest and figures stand for it.
struct GoldenPlan {
  std::string digest;  // of the canonical text
  conformance::Quality figures;
  std::string text;  // spec::print_plan
  friend bool operator==(const GoldenPlan&, const GoldenPlan&) = default;
};

struct GoldenRecord {
  GoldenProvenance provenance;
  std::vector<GoldenCall> calls;
  std::string end;  // where and why the executor ended the run early; empty: it did not
  std::vector<GoldenPlan> plans;
  // Lines. Kernels: "NAME COUNT", COUNT being how often it stands in what is launched. Effects, of
  // ops that write or alias: as spec::print_effects. Findings of rules: "RULE OUTCOME MESSAGE".
  std::vector<std::string> kernels;
  std::vector<std::string> effects;
  std::vector<std::string> findings;
};

}  // namespace graphgate::tools
