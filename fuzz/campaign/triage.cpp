// Findings of a campaign, looked at again: whether they come again, and the least case that shows
// them.
#include <algorithm>

#include "base/stage_clock.h"
#include "fuzz/campaign/campaign_cases.h"

namespace graphgate::fuzz {
namespace {

using spec::CaseFile;

constexpr int kTimesAlone = 3;

// What may be a known finding is reduced for at least so long: it is told by what is left of it.
constexpr double kKnownReduceSeconds = 60;

// A campaign of before may have noted the signature by another name.
bool shows(const PoolNews& news, const std::string& noted) {
  const auto parsed = parse_signature(noted);
  const std::string signature = parsed.ok() ? print_signature(fault_of(parsed.value())) : noted;
  return std::any_of(
             news.done.begin(), news.done.end(),
             [&](const BatchDone& done) { return done.tally.signatures.contains(signature); }) ||
         std::any_of(news.lost.begin(), news.lost.end(),
                     [&](const CaseLost& lost) { return ending_signature(lost) == signature; });
}

}  // namespace

int CampaignCases::count_again(const TriageTask& task, const Batch& batch, int times) const {
  int count = 0;
  for (int i = 0; i < times; ++i) {
    const auto news = run_apart(
        setting_.pool,
        [this](const auto& descent, const auto& begin) { return judge(descent, begin); }, batch);
    count += news.ok() && shows(news.value(), task.signature) ? 1 : 0;
  }
  return count;
}

Result<ReducedCase> CampaignCases::reduce(const TriageTask& task, const CaseFile& the_case) const {
  const Stage stage("reducing");
  ReduceRequest request;
  request.the_case = the_case;
  request.choice = choice_of(task.index);
  request.choice.settings.judge_nodes = true;
  GRAPHGATE_TRY(request.signature, parse_signature(task.signature));
  const bool may_be_known = setting_.known && setting_.known->has_fault(task.signature);
  request.limits.seconds = may_be_known ? std::max(setting_.reduce_seconds, kKnownReduceSeconds)
                                        : setting_.reduce_seconds;
  request.limits.kept_options = setting_.kept_options;
  request.isolation.timeout_seconds = static_cast<std::uint32_t>(
      std::clamp(setting_.pool.timeout_seconds, 1.0, setting_.longest_look_seconds));
  request.isolation.memory_bytes = setting_.pool.memory_bytes;
  return reduce_case(request, executors_);
}

TriageResult CampaignCases::look_again(const TriageTask& task) const {
  TriageResult result;
  Triage& triage = result.triage;
  triage.from = task.index;
  const int before = static_cast<int>(task.batch.end - 1 - task.batch.begin);
  const int again = count_again(task, task.alone(), kTimesAlone);
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

// A case whose drawing ends the process has no text: its number is all there is.
void CampaignCases::keep_case(const TriageTask& task, TriageResult& result) const {
  const bool is_confirmed = result.triage.status == TriageStatus::kConfirmed;
  const bool can_draw = !task.ends_process() || draws(task);
  if (!can_draw) {
    result.triage.remark += result.triage.remark.empty() ? "" : "; ";
    result.triage.remark += "the case cannot be drawn";
    return;
  }
  CaseFile the_case = draw(task.descent());
  std::optional<CaseFile> passing;
  if (is_confirmed && !task.signature.starts_with("generator ")) {
    result.folder = task.ends_process() ? CorpusFolder::kCrashing : CorpusFolder::kRegression;
    auto reduced = reduce(task, the_case);
    if (reduced.ok()) {
      Reduced& least = reduced.value().reduced;
      result.triage.nodes = static_cast<std::uint32_t>(least.after.nodes);
      result.triage.calls = static_cast<std::uint32_t>(least.after.calls);
      if (!least.is_finished) result.triage.remark = "the time to reduce it was up";
      const KnownMatch known = match_known(task, least.the_case);
      if (known.finding) {
        result.triage.known = known.finding->name;
        return;
      }
      if (!known.doubt.empty()) {
        result.triage.remark += (result.triage.remark.empty() ? "" : "; ") + known.doubt;
      }
      the_case = std::move(least.the_case);
      passing = std::move(least.passing);
    } else {
      result.triage.remark = "not reduced: " + reduced.error().message;
    }
  }
  the_case.name = finding_name(task.signature);
  if (passing) passing->name = the_case.name;
  the_case.header = header_of(task, the_case, passing);
  const auto text = spec::print_case(the_case);
  if (text.ok()) result.case_text = text.value();
  const bool is_least = is_confirmed && result.triage.nodes > 0;
  if (is_least && source_.script) {
    result.script_text = source_.script(the_case, task.signature);
  }
}

KnownMatch CampaignCases::match_known(const TriageTask& task, const CaseFile& reduced) const {
  const auto signature = parse_signature(task.signature);
  if (!setting_.known || !signature.ok()) return {};
  return setting_.known->match(task.signature, reduced, [&](const CaseFile& known) {
    return check_signature(with_flags(known), executors_, signature.value(), setting_.settings) ==
           CheckResult::kSame;
  });
}

// In a worker, whether the case gets past the generator.
bool CampaignCases::draws(const TriageTask& task) const {
  const auto news = run_apart(
      setting_.pool,
      [this](const Descent& descent, const std::function<void()>&) {
        CaseVerdict verdict;
        verdict.index = descent.index;
        (void)draw(descent);
        return verdict;
      },
      task.alone());
  return news.ok() && news.value().lost.empty();
}

std::vector<std::string> CampaignCases::header_of(const TriageTask& task, const CaseFile& the_case,
                                                  const std::optional<CaseFile>& passing) const {
  const CaseId id{setting_.generator, setting_.seed, task.descent()};
  std::vector<std::string> lines = {"Found by graphgate fuzz in case " + print_case_id(id) + "."};
  auto signature = parse_signature(task.signature);
  if (signature.ok()) {
    signature.value().configuration = configuration_bits(the_case);
    lines.push_back(signature_line(signature.value()));
  }
  for (std::string& line : found_in_lines(setting_.found_in)) lines.push_back(std::move(line));
  if (!passing) return lines;
  lines.emplace_back("The nearest case that passes:");
  for (const std::string& line : differing_lines(the_case, *passing)) {
    lines.push_back("  " + line);
  }
  return lines;
}

}  // namespace graphgate::fuzz
