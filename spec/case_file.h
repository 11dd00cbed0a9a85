// A case: programs, a scenario, inputs and what is expected, in one text file that can be replayed
// anywhere. Golden cases and the reducer's findings are in this form.
//
//   graphgate-case 1
//   # Why this case is here, in as many lines as it takes.
//   name "two sizes share a pool"
//   seed 42
//   option "profile" "torch-2.11"
//   op my::scale_(Tensor(a!) x, float by) -> () ; tags=pointwise
//   program "g1" {
//     ...
//   }
//   weights "g1" seed 7
//   inputs "first" of "g1" {
//     x : f32[2] = [1.0, -0.5]
//     mask from "masks.safetensors" key "m0"
//     y seed 5
//     z : f32[2] = alias "x"
//     n = 3
//   }
//   scenario {
//     call g1 s0=8 mode=captured inputs=first
//     check held
//   }
//   expect FAIL "step 7 read a stale value"
//   expect call 0 out1 : f32[1] = [2.0]
//   expect call 1 refused "input 'x' has dtype int32"
//
// Blocks stand in this order; all but the version and one program may be missing. Comments right
// behind the version belong to the case; others are lost when it is printed. Inputs that no set
// gives are drawn from the case's seed, at the sizes that the call names. File names are
// relative to the case file; whoever runs the case reads them, spec does not.
//
// Tensors of a program with a `weights` line come from there; those of other programs are in the
// program's text (graph_text.h).
//
// Invariant: same_case(parse_case(print_case(c)), c) for a case that check_case accepts, whose
// programs number their values by definition and hold tensors exactly if they have no `weights`
// line; print(parse(text)) == text for printed text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "spec/configuration.h"
#include "spec/missing_op.h"
#include "spec/op_table.h"
#include "spec/outcome.h"
#include "spec/program.h"
#include "spec/scenario.h"

namespace graphgate::spec {

inline constexpr int kCaseVersion = 1;

// Values that the harness draws from this seed.
struct SeededData {
  std::uint64_t seed = 0;
  friend bool operator==(const SeededData&, const SeededData&) = default;
};

// A tensor of a safetensors file. For weights `key` is empty: each tensor's key is its target.
struct FileData {
  std::string file;
  std::string key;
  friend bool operator==(const FileData&, const FileData&) = default;
};

using CaseData = std::variant<SeededData, FileData, HostTensor, std::int64_t, double, bool>;

// The tensors of one program: SeededData or FileData.
struct CaseWeights {
  std::string program;
  std::variant<SeededData, FileData> source;
  friend bool operator==(const CaseWeights&, const CaseWeights&) = default;
};

// One user input, by its target. Tensors of one set may share a storage (`alias`).
struct CaseInput {
  std::string name;
  CaseData data;
};

// What a call with `inputs=NAME` passes.
struct InputSet {
  std::string name;
  std::string program;
  std::vector<CaseInput> inputs;
};

// What the n-th call step of the scenario (from 0) must return as user output `output`.
struct ExpectedOutput {
  std::uint32_t call = 0;
  std::uint32_t output = 0;
  CaseData data;  // never SeededData
};

// The n-th call step must be refused, in words that hold `text`; it is the last step.
struct ExpectedRefusal {
  std::uint32_t call = 0;
  std::string text;  // may be empty
  friend bool operator==(const ExpectedRefusal&, const ExpectedRefusal&) = default;
};

struct Expectation {
  Outcome outcome = Outcome::kPass;
  std::string detail;  // a finding's signature, or why it is expected; may be empty
  std::vector<ExpectedOutput> outputs;
  std::optional<ExpectedRefusal> refusal = {};
};

struct CaseFile {
  std::vector<std::string> header;  // comment lines behind the version, without "# "
  std::string name;
  std::uint64_t seed = 0;
  Configuration options;         // of the executor under test
  std::vector<std::string> ops;  // rows of custom ops, as in op_table.h
  std::vector<Program> programs;
  std::vector<CaseWeights> weights;
  std::vector<InputSet> inputs;
  Scenario scenario;
  Expectation expectation;

  [[nodiscard]] const Program* find_program(std::string_view program_name) const;
};

// The builtin ops and the case's own; `replacements` (RestartStep::ops) stand for the case's rows
// of the same op.
[[nodiscard]] Result<OpTable> case_ops(const CaseFile& the_case,
                                       const std::vector<std::string>& replacements = {});

[[nodiscard]] Result<std::string> print_case(const CaseFile& the_case);

// Errors: "SOURCE:LINE:COLUMN: expected ..., found ...". An unknown version is named.
[[nodiscard]] Result<CaseFile> parse_case(std::string_view text,
                                          std::string_view source_name = "case",
                                          UnknownOps unknown = UnknownOps::kRefuse);

// Whether the case makes sense: programs are valid (check_program) and named differently; steps,
// weights, input sets and expectations refer to what exists. One line, with the place.
[[nodiscard]] Result<void> check_case(const CaseFile& the_case);

// Equality with tensors by their geometry, elements and sharing.
[[nodiscard]] bool same_case(const CaseFile& a, const CaseFile& b);

}  // namespace graphgate::spec
