// The built-in executors for judges: made by options, as often as a judge asks.
//
// Options are the planner's flags (planner_options.h) by their names without dashes. The verbs
// check and mutants make these; tests of judges over real executors too.
#pragma once

#include <memory>
#include <string>

#include "tools/cli/planner_options.h"
#include "tools/executors/subject.h"

namespace graphgate::tools {

// Flags as a configuration has them: "" sets a switch, values of repeatable flags are lists with
// commas. kBadInput, with the option's name, for what there is not.
[[nodiscard]] Result<PlannerFlags> planner_flags(const conformance::Configuration& configuration);

// The inverse, for the planner's flags that were given on a command line.
[[nodiscard]] conformance::Configuration planner_configuration(const CLI::App& app);

// "optimized": takes every planner flag. What is none is refused when an executor is made.
[[nodiscard]] std::unique_ptr<Subject> optimized_source();

// "reference": "mode" is eager, worst-case, sampled, provenance, or geometry: provenance rows
// without words. Other options are kUnsupported: it has no planner, and takes none of a case.
// With `allow_zero_and_one` it accepts sizes 0 and 1 where a range starts at 2.
[[nodiscard]] std::unique_ptr<Subject> reference_source(bool allow_zero_and_one);

}  // namespace graphgate::tools
