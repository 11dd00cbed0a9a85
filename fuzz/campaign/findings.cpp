#include "fuzz/campaign/findings.h"

#include <algorithm>

#include "fuzz/campaign/case_runs.h"

namespace graphgate::fuzz {
namespace {

// What the process that looks hands back.
std::string print_triage_result(const TriageResult& result) {
  const Triage& triage = result.triage;
  return join_texts({std::to_string(static_cast<int>(triage.status)), std::to_string(triage.from),
                     std::to_string(triage.nodes), std::to_string(triage.calls), triage.remark,
                     std::to_string(static_cast<int>(result.folder)), result.case_text});
}

// Nothing for what is none: its process was ended while it wrote.
std::optional<TriageResult> parse_triage_result(const std::string& text) {
  const std::vector<std::string> texts = take_texts(text);
  if (texts.size() != 7) return std::nullopt;
  TriageResult result;
  result.triage.status = static_cast<TriageStatus>(std::stoi(texts[0]));
  result.triage.from = std::stoull(texts[1]);
  result.triage.nodes = static_cast<std::uint32_t>(std::stoul(texts[2]));
  result.triage.calls = static_cast<std::uint32_t>(std::stoul(texts[3]));
  result.triage.remark = texts[4];
  result.folder = static_cast<CorpusFolder>(std::stoi(texts[5]));
  result.case_text = texts[6];
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

Findings::Findings(const FindingOptions& options, LookAgain look_again, const Corpus& corpus,
                   const Ledger& ledger, CampaignView& view, CampaignState& state)
    : options_(options),
      look_again_(std::move(look_again)),
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
  if (const LedgerEntry* known = ledger_.find_known(news.name)) news.issue = known->issue;
  return news;
}

void Findings::resume(const Shard& shard) {
  for (const auto& [signature, count] : state_.tally.signatures) {
    const auto triage = state_.triage.find(signature);
    const bool is_open =
        triage == state_.triage.end() ||
        (triage->second.status == TriageStatus::kPending && triage->second.remark.empty());
    if (!is_open) continue;
    state_.triage.erase(signature);
    const Descent descent = state_.tally.descent_of(count.first.front());
    const std::uint64_t ordinal = descent.index / shard.count;
    add({signature, descent.index, {ordinal, ordinal + 1, {descent.ancestors}}});
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
  if (next_ + queue_.size() >= options_.most_looked_at) {
    triage.remark =
        "not looked at: there were " + std::to_string(options_.most_looked_at) + " before it";
    return;
  }
  queue_.push_back(task);
}

Result<void> Findings::start() {
  const std::size_t number = next_;
  const TriageTask& task = queue_.front();
  GRAPHGATE_TRY_VOID(
      children_.start(number, [&] { return print_triage_result(look_again_(task)); }));
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
  auto result = parse_triage_result(child.output);
  if (!result) {
    triage.remark = "looking at it again was " +
                    (child.describe().empty() ? std::string("no use") : child.describe());
    view_.looked_at(news, triage);
    return {};
  }
  triage = result->triage;
  if (!result->case_text.empty()) {
    GRAPHGATE_TRY(triage.file, corpus_.keep(result->folder, news.name, result->case_text));
  }
  view_.looked_at(news, triage);
  return {};
}

std::uint64_t Findings::known() const {
  return static_cast<std::uint64_t>(std::count_if(
      state_.tally.signatures.begin(), state_.tally.signatures.end(),
      [&](const auto& row) { return ledger_.find_known(finding_name(row.first)) != nullptr; }));
}

std::uint64_t Findings::unknown() const { return state_.tally.signatures.size() - known(); }

}  // namespace graphgate::fuzz
