// The built-in executors for judges: made by options, as often as a judge asks.
//
// Options are those of spec/option.h. The verbs check and mutants make these; tests of judges over
// real executors too.
#pragma once

#include <memory>
#include <string>

#include "reference/version_facts.h"
#include "tools/executors/subject.h"

namespace graphgate::tools {

// "optimized": takes every option but those of the reference. What is none is refused when an
// executor is made.
[[nodiscard]] std::unique_ptr<Subject> optimized_source();

// "reference": "mode" is eager, worst-case, sampled, provenance, or geometry: provenance rows
// without words. Other options are kUnsupported: it has no planner, and of a case
// it takes "semantics" alone.
// With `allow_zero_and_one` it accepts sizes 0 and 1 where a range starts at 2. The log, where
// there is one, takes what its runs meet that releases of PyTorch do otherwise, and outlives it.
[[nodiscard]] std::unique_ptr<Subject> reference_source(bool allow_zero_and_one,
                                                        reference::VersionLog* log = nullptr);

}  // namespace graphgate::tools
