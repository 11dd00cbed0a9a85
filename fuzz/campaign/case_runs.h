// Single cases under an executor and the reference, in this process or in one of their own.
//
// Campaigns, reduce, replay and the bench of the reducer look at cases through these.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/child_processes.h"
#include "fuzz/reduce/judge_case.h"

namespace graphgate::fuzz {

// In a process of its own or not.
struct Isolation {
  bool is_on = false;
  std::uint32_t timeout_seconds = 10;      // for each look
  std::uint64_t memory_bytes = 0;          // address space; 0: as this process's
  std::function<bool()> should_stop = {};  // asked while a process looks: then it is not awaited
};

// What a look at a case showed. Without signatures `outcome` says why there is none.
struct CaseLook {
  spec::Outcome outcome = spec::Outcome::kPass;
  std::string reason;
  std::vector<Signature> signatures;  // the first stands for the case
  std::string not_compared = {};      // CaseReport::not_compared
};

// Judges it. Isolated: what ends the process, or does not end, is a signature "crash SIGSEGV",
// "timeout ..." or "memory ...". An Error is about the case, or the machine.
[[nodiscard]] Result<CaseLook> look_at_case(const spec::CaseFile& the_case,
                                            const CaseExecutors& executors,
                                            const JudgeChoice& choice, const Isolation& isolation);

// check_signature, in a process of its own where isolated. What ends the process is compared
// with the signature's detector and rule.
[[nodiscard]] CheckResult check_case_for(const spec::CaseFile& the_case,
                                         const CaseExecutors& executors, const Signature& signature,
                                         const conformance::JudgeSettings& settings,
                                         const Isolation& isolation);

// The signature of a child that did not do its work ("crash SIGSEGV", "timeout no-end", "memory
// out-of-memory"); nothing for one that did.
[[nodiscard]] std::optional<Signature> ending_of(const ChildResult& child,
                                                 const spec::CaseFile& the_case);

// The first finding of a report with this rule; null where there is none.
[[nodiscard]] const spec::Finding* finding_of(const conformance::CaseReport& report,
                                              const std::string& rule);

// "SIGSEGV"; "exit" for 0, a process that ended by itself.
[[nodiscard]] std::string crash_rule(int signal);

// Whether the finding is that the process does not survive: it shows in isolation alone.
[[nodiscard]] bool ends_process(const Signature& signature);

}  // namespace graphgate::fuzz
