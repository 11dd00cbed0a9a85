// Executors in processes of their own, for judges: `graphgate check --executor CMD`.
//
// The process speaks the protocol of docs/executors.md. What it breaks is its own failure: one that
// crashes, hangs or answers with garbage ends the run with kInternal, which judges report as
// R2.broke-down, and the next run starts it again.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "conformance/harness/executor_source.h"

namespace graphgate::tools {

class ExternalSource : public conformance::ExecutorSource {
 public:
  // Whether the process says that it takes an option of this name; the others of a case are for
  // executors that do.
  [[nodiscard]] virtual bool takes(std::string_view option) const = 0;
};

// Starts the command (`sh -c`) and asks who it is. kInfrastructure where it does not answer as the
// protocol wants. `time` is for each answer.
[[nodiscard]] Result<std::unique_ptr<ExternalSource>> external_source(
    const std::string& command, std::chrono::milliseconds time);

}  // namespace graphgate::tools
