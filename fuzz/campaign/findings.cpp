#include "fuzz/campaign/findings.h"

#include <algorithm>

#include "fuzz/campaign/case_runs.h"

namespace graphgate::fuzz {
namespace {

// What the process that looks hands back.
std::string print_triage_result(const TriageResult& result, const StageTimes& times) {
  const Triage& triage = result.triage;
  return join_texts({std::to_string(static_cast<int>(triage.status)), std::to_string(triage.from),
                     std::to_string(triage.nodes), std::to_string(triage.calls), triage.remark,
                     std::to_string(static_cast<int>(result.folder)), result.case_text,
                     triage.known, result.script_text, print_stage_times(times)});
}

// Nothing for what is none: its process was ended while it wrote.
std::optional<TriageResult> parse_triage_result(const std::string& text, StageTimes& times) {
  const std::vector<std::string> texts = take_texts(text);
  if (texts.size() != 10 || !parse_stage_times(texts[9], times)) return std::nullopt;
  TriageResult result;
  result.triage.status = static_cast<TriageStatus>(std::stoi(texts[0]));
  result.triage.from = std::stoull(texts[1]);
  result.triage.nodes = static_cast<std::uint32_t>(std::stoul(texts[2]));
  result.triage.calls = static_cast<std::uint32_t>(std::stoul(texts[3]));
  result.triage.remark = texts[4];
  result.folder = static_cast<CorpusFolder>(std::stoi(texts[5]));
  result.case_text = texts[6];
  result.triage.known = texts[7];
  result.script_text = texts[8];
  return result;
}

}  // namespace

bool TriageTask::ends_process() const {
  const auto parsed = parse_signature(signature);
  return parsed.ok() && fuzz::ends_process(parsed.value());
}

Descent TriageTask::descent() const {
  Descent descent{index, {}};
  if (!batch.ancestors.empty()) descent.ancestors = batch.ancestors.back();
  return descent;
}

Findings::Findings(const FindingOptions& options, LookAgain look_again, MayBeKnown may_be_known,
                   const Corpus& corpus, const Ledger& ledger, CampaignView& view,
                   CampaignState& state)
    : options_(options),
      look_again_(std::move(look_again)),
      may_be_known_(std::move(may_be_known)),
      corpus_(corpus),
      ledger_(ledger),
      view_(view),
      state_(state),
      children_({1, options.timeout_seconds, 0}) {}

FindingNews Findings::news_of(const TriageTask& task) const {
  FindingNews news;
  news.name = finding_name(task.signature);
  news.signature = task.signature;
  news.id = {state_.key.generator, state_.key.seed, task.descent()};
  const auto counted = state_.tally.signatures.find(task.signature);
  if (counted != state_.tally.signatures.end()) {
    news.outcome = spec::outcome_name(counted->second.outcome);
    news.message = counted->second.message;
  }
  if (const LedgerEntry* known = known_entry(news.name)) news.issue = known->issue;
  return news;
}

// The ledger may have it by the name that its stored case had before.
const LedgerEntry* Findings::known_entry(const std::string& name) const {
  if (const LedgerEntry* known = ledger_.find_known(name)) return known;
  const std::string file = corpus_.find(name);
  return file.empty() ? nullptr : ledger_.find_known(stored_name(file));
}

void Findings::resume(const Shard& shard) {
  for (const auto& [signature, count] : state_.tally.signatures) {
    const auto triage = state_.triage.find(signature);
    const bool is_open =
        triage == state_.triage.end() ||
        (triage->second.status == TriageStatus::kPending && triage->second.remark.empty());
    const bool is_known = triage != state_.triage.end() && !triage->second.known.empty();
    const auto task_of = [&, &name = signature](std::uint64_t index) {
      const Descent descent = state_.tally.descent_of(index);
      const std::uint64_t ordinal = descent.index / shard.count;
      return TriageTask{name, descent.index, {ordinal, ordinal + 1, {descent.ancestors}}};
    };
    if (!is_open && !is_known) continue;
    if (is_open) {
      state_.triage.erase(signature);
      add(task_of(count.first.front()));
    }
    for (std::size_t i = 1; i < count.first.size(); ++i) add_another(task_of(count.first[i]));
  }
}

void Findings::add(const TriageTask& task) {
  const FindingNews news = news_of(task);
  view_.found(news);
  Triage& triage = state_.triage[task.signature];
  triage.from = task.index;
  triage.file = corpus_.find(news.name);
  if (!triage.file.empty()) {
    const bool is_doubtful = triage.file.starts_with(folder_name(CorpusFolder::kQuarantine));
    triage.status = is_doubtful ? TriageStatus::kFlaky : TriageStatus::kConfirmed;
    triage.remark = "the corpus had it";
    return;
  }
  if (!has_room()) {
    triage.remark =
        "not looked at: there were " + std::to_string(options_.most_looked_at) + " before it";
    return;
  }
  queue_.push_back(task);
}

void Findings::add_another(const TriageTask& task) {
  const auto triage = state_.triage.find(task.signature);
  const bool may_get_known = triage != state_.triage.end() && triage->second.remark.empty() &&
                             triage->second.status == TriageStatus::kPending;
  const bool is_known = triage != state_.triage.end() && !triage->second.known.empty();
  if (!may_be_known_ || (!may_get_known && !is_known)) return;
  Others& others = others_[task.signature];
  if (others.waiting.size() < kFirstCases) others.waiting.push_back(task);
  if (is_known) consider_others(task.signature);
}

// Of a signature that is known so far.
void Findings::consider_others(const std::string& signature) {
  constexpr int kAlwaysLookedAt = 2;  // beside the first one
  Others& others = others_[signature];
  for (const TriageTask& task : others.waiting) {
    const bool is_looked_at = others.looked_at < kAlwaysLookedAt || !may_be_known_(task);
    if (!is_looked_at || !has_room()) continue;
    ++others.looked_at;
    queue_.push_back(task);
  }
  others.waiting.clear();
}

Result<void> Findings::start() {
  const std::size_t number = next_;
  const TriageTask& task = queue_.front();
  GRAPHGATE_TRY_VOID(children_.start(number, [&] {
    StageClock clock("looking again");
    const TriageResult result = look_again_(task);
    return print_triage_result(result, clock.take());
  }));
  ++next_;
  started_[number] = task;
  queue_.pop_front();
  return {};
}

Result<void> Findings::collect(int milliseconds) {
  for (const auto& [number, child] : children_.wait(milliseconds)) {
    const auto started = started_.extract(number);
    GRAPHGATE_TRY_VOID(finish(started.mapped(), child));
  }
  return {};
}

Result<void> Findings::finish(const TriageTask& task, const ChildResult& child) {
  const FindingNews news = news_of(task);
  Triage& triage = state_.triage[task.signature];
  // A case of it was found to be new while others of the signature were known.
  const bool is_settled = triage.status != TriageStatus::kPending && triage.known.empty();
  if (is_settled) return {};
  const std::string known_before = triage.known;
  auto result = parse_triage_result(child.output, times_);
  if (!result) {
    triage.remark = "looking at it again was " +
                    (child.describe().empty() ? std::string("no use") : child.describe());
    // Where that is so of one case, nobody knows of the signature that it is a known finding.
    if (!known_before.empty()) triage.remark += "; others are " + known_before;
    triage.known.clear();
    triage.status = TriageStatus::kPending;
    view_.looked_at(news, triage);
    return {};
  }
  triage = result->triage;
  if (!known_before.empty() && triage.known.empty()) {
    triage.remark += (triage.remark.empty() ? "" : "; ") + ("others are " + known_before);
  }
  if (!result->case_text.empty()) {
    GRAPHGATE_TRY(triage.file, corpus_.keep(result->folder, news.name, result->case_text));
    if (!result->script_text.empty()) {
      const std::string path = corpus_.root() + "/" + script_path(triage.file);
      GRAPHGATE_TRY_VOID(corpus_.write(result->script_text, path));
    }
  }
  view_.looked_at(news, triage);
  if (!triage.known.empty()) consider_others(task.signature);
  return {};
}

std::uint64_t Findings::known() const {
  return static_cast<std::uint64_t>(std::count_if(
      state_.tally.signatures.begin(), state_.tally.signatures.end(), [&](const auto& row) {
        const auto triage = state_.triage.find(row.first);
        const bool is_shipped = triage != state_.triage.end() && !triage->second.known.empty();
        return is_shipped || known_entry(finding_name(row.first)) != nullptr;
      }));
}

std::uint64_t Findings::unknown() const { return state_.tally.signatures.size() - known(); }

}  // namespace graphgate::fuzz
