// Executors in processes of their own, for judges: `graphgate check --executor CMD`.
//
// The process speaks the protocol of docs/executors.md. What it breaks is its own failure. One that
// crashes, hangs or answers with garbage ends the run with kInternal, which judges report as
// R2.broke-down (R2.no-answer where it is late). The next run starts it again. Options that it
// takes by name and refuses by value are kUnsupported: no reference can say whose fault that is.
#pragma once

#include "tools/executors/subject.h"

namespace graphgate::tools {

// Of a command for `sh -c`. Until it is started for the first time it takes no option, and has the
// command for a name.
[[nodiscard]] MadeSubject process_subject(const std::string& command,
                                          const SubjectSettings& settings);

}  // namespace graphgate::tools
