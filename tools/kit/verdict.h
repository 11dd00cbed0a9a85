// What the judges say of an engine on a case.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fuzz/reduce/signature.h"
#include "spec/case_file.h"
#include "tools/kit/engine.h"

namespace graphgate::kit {

struct Verdict {
  enum class Kind : std::uint8_t {
    kConforms,
    kFails,      // a finding
    kUndecided,  // nothing is known: the engine does not take the case, or nobody can judge it
    kNotJudged,  // the case is no good, or the machine: no verdict, and no pass
  };
  Kind kind = Kind::kConforms;
  std::string words;  // for people, in lines; no line end behind the last
  std::optional<fuzz::Signature> signature = {};  // of a finding
};

// Judges the engine on a case, under those of its options that the engine takes.
[[nodiscard]] Verdict judge(const Engine& engine, const spec::CaseFile& the_case);

// Judges it on a case that another one was reduced to: whether it shows that failure, and not
// another that reducing brought in. One that does not conforms.
[[nodiscard]] Verdict judge_reduced(const Engine& engine, const spec::CaseFile& the_case,
                                    const fuzz::Signature& sought);

// Returns the program as a case: so many calls, at its traced sizes and at others, of data drawn
// from the seed, as are its parameters where it has no tensors of its own.
[[nodiscard]] Result<spec::CaseFile> case_of(const spec::Program& program, int calls = 2,
                                             std::uint64_t seed = 1);

// Reads a case from a file; kBadInput with the place where it is none.
[[nodiscard]] Result<spec::CaseFile> read_case(const std::string& path);

}  // namespace graphgate::kit
