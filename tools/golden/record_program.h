// What a program, or a case, comes to: run, recorded, and asked about.
#pragma once

#include <memory>
#include <string>

#include "conformance/judges/judge.h"
#include "tools/golden/golden_list.h"
#include "tools/golden/golden_record.h"

namespace graphgate::tools {

struct RecordOptions {
  // Over the case's own options (options_under).
  conformance::Configuration flags;
  bool with_judges = false;
};

struct RecordedProgram {
  GoldenRecord record;  // `command` and `reason` are empty
  std::string name;     // of the script
  std::string kernels;  // the text of its kernels
  // The script's own ops: of the plan's text.
  std::shared_ptr<const spec::OpTable> ops;
  // Why no record may be kept: what the judges hold against the run, in their words. Empty where
  // they pass (or fail as the case expects), and without `with_judges`.
  std::string objection;
};

// Runs the optimized executor on the program's recorded calls, or the case's scenario; a second
// time before a collector of kernels. With judges: reference and optimized executor through all
// ten. kBadInput for a file that cannot be read.
[[nodiscard]] Result<RecordedProgram> record_program(const std::string& folder,
                                                     const GoldenProgram& program,
                                                     const RecordOptions& options);

}  // namespace graphgate::tools
