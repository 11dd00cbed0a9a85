// Executors in processes of their own, for judges: `graphgate check --executor CMD`.
//
// The process speaks the protocol of docs/executors.md. What it breaks is its own failure: one that
// crashes, hangs or answers with garbage ends the run with kInternal, which judges report as
// R2.broke-down (R2.no-answer where it is late), and the next run starts it again. Options that it
// takes by name and refuses by value are kUnsupported: no reference can say whose fault that is.
#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <string>

#include "conformance/run/executor_source.h"
#include "fuzz/generate/alphabet.h"

namespace graphgate::tools {

class ExternalSource : public conformance::ExecutorSource {
 public:
  // Whether the process says that it takes an option of this name; the others of a case are for
  // executors that do.
  [[nodiscard]] virtual bool takes(std::string_view option) const = 0;
  // All of those.
  [[nodiscard]] virtual std::set<std::string, std::less<>> options() const = 0;
  // What it says that it does not take.
  [[nodiscard]] virtual fuzz::SubjectLimits limits() const = 0;
  // Its name and version, as it greets: "optimized 0.1.0".
  [[nodiscard]] virtual std::string identity() const = 0;
};

struct ExternalCommand {
  std::string text;                               // for `sh -c`
  std::chrono::milliseconds answer_time{60'000};  // for each answer
  // The folder below which tensors are exchanged; empty: where the machine has room
  // (ExchangeFolder). For who may be killed before what is there is removed.
  std::string exchange = {};
};

// Starts the command and asks who it is. kInfrastructure where it does not answer as the protocol
// wants.
[[nodiscard]] Result<std::unique_ptr<ExternalSource>> external_source(
    const ExternalCommand& command);

// One whose command is started when an executor is first asked for, and again in each process that
// is forked from there: two cannot speak with one. Until then it takes no option, and has the
// command for a name.
[[nodiscard]] std::unique_ptr<ExternalSource> late_external_source(const ExternalCommand& command);

}  // namespace graphgate::tools
