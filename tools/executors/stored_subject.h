// A run that was stored, as who is under test: `graphgate check --judge-recorded`.
#pragma once

#include "tools/executors/subject.h"
#include "tools/store/trace_store.h"

namespace graphgate::tools {

// Has the name and the promises of who ran. It cannot run again: every configuration that the
// judges want, and that was not stored, is kUnsupported.
[[nodiscard]] std::unique_ptr<Subject> stored_subject(const RunHead& head);

}  // namespace graphgate::tools
