#include "fuzz/campaign/campaign_cases.h"

#include <algorithm>
#include <new>
#include <system_error>

#include "base/split_mix.h"
#include "fuzz/campaign/own_findings.h"

namespace graphgate::fuzz {
namespace {

using spec::CaseFile;
using spec::Outcome;

CaseVerdict out_of_memory() {
  CaseVerdict verdict;
  verdict.outcome = Outcome::kCrash;
  verdict.signature = std::string(kNoMemorySignature);
  verdict.message = "the case ran out of memory";
  return verdict;
}

CaseVerdict verdict_of_error(const Error& error) {
  if (error.message.ends_with("out of memory")) return out_of_memory();
  CaseVerdict verdict;
  verdict.message = error.message;
  if (error.kind == ErrorKind::kUnsupported) {
    verdict.outcome = Outcome::kUnsupported;
    verdict.inconclusive = spec::outcome_name(verdict.outcome);
    return verdict;
  }
  verdict.outcome = Outcome::kInfra;
  switch (error.kind) {
    case ErrorKind::kBadInput:
      verdict.signature = std::string(kInvalidCase);
      break;
    case ErrorKind::kInfrastructure:
      verdict.signature = std::string(kMachineFailed);
      break;
    default:
      verdict.signature = std::string(kHarnessError);
  }
  return verdict;
}

bool is_inconclusive(Outcome outcome) {
  return outcome == Outcome::kSuspect || outcome == Outcome::kUndecided ||
         outcome == Outcome::kMistrusted || outcome == Outcome::kUnsupported;
}

CaseVerdict verdict_of_report(const conformance::CaseReport& report, const CaseFile& the_case,
                              const std::set<std::string>& expected) {
  CaseVerdict verdict;
  verdict.outcome = report.outcome;
  const std::vector<Signature> all = signatures_of(report, the_case);
  if (all.empty()) {
    if (!is_inconclusive(report.outcome)) return verdict;
    verdict.inconclusive = std::string(spec::outcome_name(report.outcome)) + " " + report.rule;
    verdict.message = report.reason;
    return verdict;
  }
  const auto named = std::find_if(all.begin(), all.end(), [&](const Signature& one) {
    return expected.contains(finding_name(print_signature(fault_of(one))));
  });
  const Signature& signature = named == all.end() ? all.front() : *named;
  // Options vary from case to case, until a case is reduced.
  verdict.signature = print_signature(fault_of(signature));
  verdict.message = report.reason;
  if (const spec::Finding* finding = finding_of(report, signature.rule)) {
    verdict.message = finding->message;
    verdict.nodes = finding->nodes;
  }
  return verdict;
}

}  // namespace

bool is_picked_for_nodes(std::uint64_t seed, std::uint64_t index) {
  constexpr std::uint64_t kOneOf = 16;
  return SplitMix64(SplitMix64(seed).next() ^ index).next() % kOneOf == 0;
}

Result<std::string> CampaignCases::print(const Descent& descent,
                                         std::vector<std::string> header) const {
  CaseFile the_case = draw(descent);
  the_case.header = std::move(header);
  for (std::string& line : found_in_lines(setting_.found_in)) {
    the_case.header.push_back(std::move(line));
  }
  return spec::print_case(the_case);
}

JudgeChoice CampaignCases::choice_of(std::uint64_t index) const {
  JudgeChoice choice{setting_.judges, setting_.settings};
  const std::uint64_t every = setting_.all_judges_every;
  if (every > 0 && index % every == 0) choice.judges = conformance::JudgeSet::all();
  // Where all judges are asked, nothing is taken on trust.
  choice.settings.judge_nodes =
      choice.judges == conformance::JudgeSet::all() || is_picked_for_nodes(setting_.seed, index);
  return choice;
}

CaseVerdict CampaignCases::judge(const Descent& descent,
                                 const std::function<void()>& begin_judging) const {
  const CaseFile the_case = draw(descent);
  begin_judging();
  CaseVerdict verdict = judge_by(the_case, choice_of(descent.index), {});
  verdict.index = descent.index;
  verdict.ancestors = descent.ancestors;
  verdict.content = source_.content_of(descent);
  return verdict;
}

CaseVerdict CampaignCases::judge_case(const CaseFile& the_case, conformance::JudgeSet judges,
                                      const std::set<std::string>& expected) const {
  return judge_by(the_case, {judges, setting_.settings}, expected);
}

CaseVerdict CampaignCases::judge_by(const CaseFile& the_case, const JudgeChoice& choice,
                                    const std::set<std::string>& expected) const {
  try {
    CaseShown shown;
    const auto report = fuzz::judge_case(the_case, executors_, choice, &shown, setting_.target);
    if (!report.ok()) return verdict_of_error(report.error());
    CaseVerdict verdict = verdict_of_report(report.value(), the_case, expected);
    // What the judges do not trust covers nothing.
    if (verdict.outcome != Outcome::kMistrusted) {
      verdict.features = std::move(shown.features);
      verdict.score = shown.score;
    }
    if (verdict.signature.empty()) return verdict;
    // A case that the reference refuses says nothing of another executor.
    const auto taken = check_reference_takes(the_case, executors_);
    return taken.ok() ? verdict : verdict_of_error(taken.error());
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::system_error& error) {
    return verdict_of_error(infrastructure(std::string("the machine refused: ") + error.what()));
  }
}

}  // namespace graphgate::fuzz
