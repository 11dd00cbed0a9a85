// Small tools that all judges share: how bad an outcome is, how a report ends, how long it took.
#pragma once

#include <ctime>
#include <string>
#include <vector>

#include "conformance/judges/judge.h"

namespace graphgate::conformance {

// Larger is worse: PASS, UNSUPPORTED, MISTRUSTED, UNDECIDED, SUSPECT, then what is proved to be
// wrong. Findings of a judge are compared by it.
[[nodiscard]] int severity(spec::Outcome outcome);

// An executor that says no, as opposed to one that breaks down.
[[nodiscard]] bool is_refusal(const Error& error);

// Processor time of the calling thread since the watch was made.
class StopWatch {
 public:
  StopWatch() : begin_(now()) {}
  [[nodiscard]] double seconds() const { return now() - begin_; }

 private:
  [[nodiscard]] static double now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }
  double begin_;
};

// Sets the outcome to the worst of the findings. Without findings: PASS if anything was checked,
// else `unchecked`, with `remark` saying why unless the report has one.
void conclude(JudgeReport& report, const StopWatch& watch, spec::Outcome unchecked,
              const std::string& remark);

// Ends a report of a judge whose first run did not come about: UNSUPPORTED, with the message of a
// refusal as its remark. Other errors are returned.
[[nodiscard]] Result<JudgeReport> not_run(JudgeReport report, const StopWatch& watch,
                                          const Error& error);

// "a, b, c and 3 more".
[[nodiscard]] std::string join_names(const std::vector<std::string>& names, std::size_t shown = 4);

}  // namespace graphgate::conformance
