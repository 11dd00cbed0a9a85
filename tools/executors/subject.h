// The executor under test, made from one text:
//
//   reference, optimized      a built-in executor (executor_sources.h)
//   python:/opt/venv          a virtual environment, or an interpreter, with PyTorch: the adapter
//   python:/opt/venv:compile  tools/adapters/torch, and a backend of it (python_subject.h)
//   vllm:/opt/venv[:eager]    the same with vLLM, tools/adapters/vllm, and a compiler of its pieces
//   cmd:COMMAND, COMMAND      a process that speaks the protocol of docs/executors.md
//                             (process_subject.h)
//
// A run that is stored is a subject, too (stored_subject.h); a folder names it. A new kind of
// subject is a file, and a line of the table in subject.cpp.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/run/executor_source.h"
#include "fuzz/generate/alphabet.h"
#include "spec/configuration.h"
#include "spec/option.h"
#include "spec/torch_release.h"
#include "tools/executors/limits.h"
#include "tools/executors/protocol_log.h"

namespace graphgate::tools {

// Where the time of a process went, in seconds by the clock, since it was first asked.
struct SubjectTimes {
  double asked = 0;    // from a request to its answer, starts included
  double compile = 0;  // of that, what it says that it compiled for
};

// Makes executors for judges, and says what it takes. Belongs to one thread. A process that is
// forked may use it as well: two cannot speak with one process, so a process is started anew there.
class Subject : public conformance::ExecutorSource {
 public:
  // Begins to start its process, unless that runs, and does not wait until it can answer: start()
  // does. So several start side by side. What goes wrong start() says.
  virtual void launch() const {}
  // Has it say who it is: starts its process, unless that runs. kInfrastructure where it does not
  // answer as the protocol wants.
  [[nodiscard]] virtual Result<void> start() const { return {}; }
  // Ends its process. What it said of itself stays known, and the next executor starts it again.
  virtual void rest() const {}
  // Whether it is a process of its own.
  [[nodiscard]] virtual bool is_process() const { return false; }
  // Whether it takes an option of this name. A process says so once it has been started.
  [[nodiscard]] virtual bool takes(std::string_view option) const = 0;
  // What it says that it does not take, for generators of cases.
  [[nodiscard]] virtual fuzz::SubjectLimits limits() const { return {}; }
  // Of all its processes so far; 0 of one that is none.
  [[nodiscard]] virtual SubjectTimes times() const { return {}; }
  // Its name and version, where it tells one: "optimized 0.1.0".
  [[nodiscard]] virtual std::string identity() const { return std::string(name()); }
};

// Returns the release of PyTorch that the option "semantics" asks for; nothing where it does not.
// Here, since the reference alone links it, too.
[[nodiscard]] inline std::optional<spec::TorchRelease> semantics_asked(
    const conformance::Configuration& options) {
  return spec::parse_torch_release(spec::value_of(options, spec::option::kSemantics));
}

// Keeps those options that it takes: the others of a case are for executors that do. A process
// keeps "semantics", which tells whether the case is one for its release.
[[nodiscard]] conformance::Configuration taken_of(const Subject& subject,
                                                  conformance::Configuration options);

struct SubjectSettings {
  std::chrono::milliseconds answer_time{60'000};  // for each answer of a process
  // The folder below which tensors are exchanged with a process; empty: where the machine has room
  // (ExchangeFolder). For who may be killed before what is there is removed.
  std::string exchange = {};
  // Sizes 0 and 1 where a range starts at 2, of an executor that has no such option.
  bool allow_zero_and_one = false;
  // What the tensors of an answer of a process may have together, besides what limits.h allows for
  // what it was sent.
  std::int64_t answer_bytes = kFreeAnswerBytes;
  // Takes what is said to processes and by them; null: nobody does.
  ProtocolLog* log = nullptr;
};

using MadeSubject = Result<std::unique_ptr<Subject>>;

// Reads the text, and starts nothing that stays. kBadInput for a form without a command or path.
[[nodiscard]] MadeSubject make_subject(const std::string& text,
                                       const SubjectSettings& settings = {});

// "reference", "optimized".
[[nodiscard]] const std::vector<std::string>& built_in_names();

// Converts seconds of the command line.
[[nodiscard]] std::chrono::milliseconds answer_time(double seconds);

}  // namespace graphgate::tools
