// The built-in executors for judges: made by options, as often as a judge asks.
//
// Options are those of spec/option.h. The verbs check and mutants make these; tests of judges over
// real executors too.
#pragma once

#include <memory>
#include <string>

#include "tools/executors/subject.h"

namespace graphgate::tools {

// "optimized": takes every option but those of the reference. What is none is refused when an
// executor is made.
[[nodiscard]] std::unique_ptr<Subject> optimized_source();

// "reference": "mode" is eager, worst-case, sampled, provenance, or geometry: provenance rows
// without words. Other options are kUnsupported: it has no planner, and takes none of a case.
// With `allow_zero_and_one` it accepts sizes 0 and 1 where a range starts at 2.
[[nodiscard]] std::unique_ptr<Subject> reference_source(bool allow_zero_and_one);

}  // namespace graphgate::tools
