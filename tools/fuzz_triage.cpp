// Findings of a campaign, looked at again: whether they come again, and the least case that shows
// them.
#include <algorithm>

#include "tools/fuzz_case.h"

namespace graphgate::tools {
namespace {

using fuzz::CaseVerdict;
using fuzz::CheckResult;
using fuzz::TriageStatus;
using spec::CaseFile;
using spec::Outcome;

constexpr int kTimesAlone = 3;

bool shows(const PoolNews& news, const std::string& signature) {
  return std::any_of(
             news.done.begin(), news.done.end(),
             [&](const BatchDone& done) { return done.tally.signatures.contains(signature); }) ||
         std::any_of(news.lost.begin(), news.lost.end(),
                     [&](const CaseLost& lost) { return ending_signature(lost) == signature; });
}

}  // namespace

int FuzzCases::count_again(const TriageTask& task, const Batch& batch, int times) const {
  int count = 0;
  for (int i = 0; i < times; ++i) {
    const auto news = run_apart(
        setting_.pool, [this](auto index, const auto& begin) { return judge(index, begin); },
        batch);
    count += news.ok() && shows(news.value(), task.signature) ? 1 : 0;
  }
  return count;
}

CheckResult FuzzCases::classify_apart(const CaseFile& candidate, const std::string& signature,
                                      double timeout_seconds) const {
  PoolOptions options = setting_.pool;
  options.timeout_seconds = timeout_seconds;
  const auto news = run_apart(options,
                              [&](std::uint64_t index, const std::function<void()>& begin_judging) {
                                begin_judging();
                                CaseVerdict verdict =
                                    judge_case(candidate, conformance::JudgeSet::all());
                                verdict.index = index;
                                return verdict;
                              },
                              {0, 1});
  if (!news.ok()) return CheckResult::kOther;
  if (shows(news.value(), signature)) {
    return fuzz::check_reference_takes(candidate, executors()).ok() ? CheckResult::kSame
                                                                    : CheckResult::kOther;
  }
  const auto& done = news.value().done;
  const bool passes = !done.empty() && done.front().tally.count(Outcome::kPass) == 1;
  return passes ? CheckResult::kPasses : CheckResult::kOther;
}

fuzz::Reduced FuzzCases::reduce(const TriageTask& task, const CaseFile& the_case) const {
  fuzz::ReduceLimits limits;
  limits.seconds = setting_.reduce_seconds;
  for (const auto& [name, value] : setting_.flags) limits.kept_options.insert(name);
  if (!task.ends_process) {
    const auto signature = fuzz::parse_signature(task.signature);
    GRAPHGATE_CHECK(signature.ok());
    return fuzz::reduce(
        the_case,
        [&](const CaseFile& candidate) {
          return fuzz::check_signature(candidate, executors(), signature.value(),
                                       setting_.settings);
        },
        limits);
  }
  // A case takes milliseconds: one that hangs needs not be waited for as long as in a campaign.
  const double timeout = std::min(setting_.pool.timeout_seconds, 2.0);
  return fuzz::reduce(
      the_case,
      [&](const CaseFile& candidate) { return classify_apart(candidate, task.signature, timeout); },
      limits);
}

TriageResult FuzzCases::look_again(const TriageTask& task) const {
  TriageResult result;
  fuzz::Triage& triage = result.triage;
  triage.from = task.index;
  const int before = static_cast<int>(task.batch.end - 1 - task.batch.begin);
  const int again = count_again(task, {task.batch.end - 1, task.batch.end}, kTimesAlone);
  if (again == kTimesAlone) {
    triage.status = TriageStatus::kConfirmed;
  } else if (again > 0) {
    triage.status = TriageStatus::kFlaky;
    triage.remark =
        "comes in " + std::to_string(again) + " of " + std::to_string(kTimesAlone) + " runs alone";
  } else if (before > 0 && count_again(task, task.batch, 1) == 1) {
    triage.status = TriageStatus::kOrderDependent;
    triage.remark = "comes only behind cases before it, at most " + std::to_string(before);
  } else {
    triage.status = TriageStatus::kFlaky;
    triage.remark = "did not come again, alone or behind the cases before it";
  }
  keep_case(task, result);
  return result;
}

// Whose process the drawing of a case ends has no text: its number is all there is.
void FuzzCases::keep_case(const TriageTask& task, TriageResult& result) const {
  const bool is_confirmed = result.triage.status == TriageStatus::kConfirmed;
  const bool can_draw = !task.ends_process || draws(task);
  if (!can_draw) {
    result.triage.remark += result.triage.remark.empty() ? "" : "; ";
    result.triage.remark += "the case cannot be drawn";
    return;
  }
  CaseFile the_case = draw(task.index);
  std::optional<CaseFile> passing;
  if (is_confirmed && !task.signature.starts_with("generator ")) {
    result.folder =
        task.ends_process ? fuzz::CorpusFolder::kCrashing : fuzz::CorpusFolder::kRegression;
    fuzz::Reduced reduced = reduce(task, the_case);
    if (reduced.shows) {
      result.triage.nodes = static_cast<std::uint32_t>(reduced.after.nodes);
      result.triage.calls = static_cast<std::uint32_t>(reduced.after.calls);
      if (!reduced.is_finished) result.triage.remark = "the time to reduce it was up";
      the_case = std::move(reduced.the_case);
      passing = std::move(reduced.passing);
    } else {
      result.triage.remark = "could not be reduced: it shows in the campaign's judges alone";
    }
  }
  the_case.name = fuzz::finding_name(task.signature);
  if (passing) passing->name = the_case.name;
  the_case.header = header_of(task, the_case, passing);
  const auto text = spec::print_case(the_case);
  if (text.ok()) result.case_text = text.value();
}

// In a worker, whether the case gets past the generator.
bool FuzzCases::draws(const TriageTask& task) const {
  const auto news = run_apart(setting_.pool,
                              [this](std::uint64_t index, const std::function<void()>&) {
                                CaseVerdict verdict;
                                verdict.index = index;
                                (void)draw(index);
                                return verdict;
                              },
                              {task.batch.end - 1, task.batch.end});
  return news.ok() && news.value().lost.empty();
}

std::vector<std::string> FuzzCases::header_of(const TriageTask& task, const CaseFile& the_case,
                                              const std::optional<CaseFile>& passing) const {
  const fuzz::CaseId id{setting_.generator, setting_.seed, task.index};
  std::vector<std::string> lines = {"Found by graphgate fuzz in case " + print_case_id(id) + "."};
  auto signature = fuzz::parse_signature(task.signature);
  if (signature.ok()) {
    signature.value().configuration = fuzz::signature_of_ending("", "", the_case).configuration;
    lines.push_back("Signature: " + print_signature(signature.value()));
  }
  if (!passing) return lines;
  lines.emplace_back("The nearest case that passes:");
  for (const std::string& line : fuzz::differing_lines(the_case, *passing)) {
    lines.push_back("  " + line);
  }
  return lines;
}

}  // namespace graphgate::tools
