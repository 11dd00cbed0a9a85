#include "tools/report/campaign_history.h"

#include <algorithm>

#include "base/file_io.h"
#include "fuzz/campaign/corpus.h"
#include "tools/report/escape.h"
#include "tools/report/json.h"
#include "tools/report/trace_events.h"

namespace graphgate::tools {
namespace {

constexpr std::size_t kMostText = 64U << 10U;  // of a case, or of a script

// How many things had been seen at which case: a curve of at most kMostCorners corners. `firsts`
// are the cases that showed something new.
Json curve_of(std::vector<std::uint64_t> firsts, std::uint64_t cases) {
  constexpr std::size_t kMostCorners = 400;
  std::sort(firsts.begin(), firsts.end());
  Json curve = Json::array();
  const std::size_t every = firsts.size() / kMostCorners + 1;
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    const bool is_kept = i % every == 0 || i + 1 == firsts.size();
    if (is_kept) curve.push_back({firsts[i], i + 1});
  }
  curve.push_back({std::max(cases, firsts.empty() ? 0 : firsts.back()), firsts.size()});
  return curve;
}

// The text of a file, cut; nothing where it cannot be read.
Json text_of(const std::string& path) {
  auto text = read_whole(path);
  if (!text.ok()) return nullptr;
  if (text.value().size() <= kMostText) return std::move(text).value();
  return text.value().substr(0, kMostText) + "\n... (cut)\n";
}

Json points_of(const std::vector<CampaignPoint>& points) {
  Json list = Json::array();
  for (const CampaignPoint& point : points) {
    list.push_back(
        {point.seconds, point.cases, point.cases_per_second, point.features, point.findings});
  }
  return list;
}

}  // namespace

void HistoryView::begin(const fuzz::CampaignState& state, const fuzz::Shard& shard, int jobs) {
  begin_ = std::chrono::steady_clock::now();
  begin_nanoseconds_ = fuzz::Journal::now_nanoseconds();
  begin_seconds_ = state.seconds;
  shown_.begin(state, shard, jobs);
}

void HistoryView::progress(const fuzz::CampaignProgress& progress) {
  std::vector<CampaignPoint>& points = history_.points;
  if (points.empty() || progress.seconds >= points.back().seconds + interval_seconds_) {
    points.push_back({progress.seconds, progress.cases, progress.cases_per_second,
                      progress.features, progress.findings});
  }
  // Too many: every second one goes, and the next ones come half as often.
  if (points.size() > kMostPoints) {
    for (std::size_t i = 0; 2 * i < points.size(); ++i) points[i] = points[2 * i];
    points.resize((points.size() + 1) / 2);
    interval_seconds_ *= 2;
  }
  const bool is_due =
      told_seconds_ < 0 || progress.seconds >= told_seconds_ + shown_.progress_seconds();
  if (!is_due) return;
  told_seconds_ = progress.seconds;
  shown_.progress(progress);
}

double HistoryView::progress_seconds() const { return std::min(shown_.progress_seconds(), 1.0); }

void HistoryView::note(const std::string& signature, std::string what) {
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
  history_.events[signature].push_back({begin_seconds_ + spent.count(), std::move(what)});
}

void HistoryView::ran(const fuzz::CaseTime& time) {
  shown_.ran(time);
  if (history_.cases.size() >= kMostCases) {
    ++history_.further_cases;
    return;
  }
  const auto seconds = [](std::uint64_t from, std::uint64_t to) {
    return to > from ? 1e-9 * static_cast<double>(to - from) : 0.0;
  };
  history_.cases.push_back(
      {time.worker, time.index,
       begin_seconds_ + seconds(begin_nanoseconds_, time.begin_nanoseconds),
       seconds(time.begin_nanoseconds, time.end_nanoseconds),
       time.outcome ? std::string(spec::outcome_name(*time.outcome)) : "lost with its worker"});
}

void HistoryView::found(const fuzz::FindingNews& news) {
  note(news.signature, "found in " + fuzz::print_case_id(news.id));
  shown_.found(news);
}

void HistoryView::looked_at(const fuzz::FindingNews& news, const fuzz::Triage& triage) {
  std::string what(triage_name(triage.status));
  if (triage.nodes > 0) {
    what += ", reduced to " + count_text(triage.nodes, "node", "nodes") + " and " +
            count_text(triage.calls, "call", "calls");
  }
  if (!triage.known.empty()) what += ", known as " + triage.known;
  note(news.signature, std::move(what));
  shown_.looked_at(news, triage);
}

void HistoryView::replayed(const std::string& file, const std::string& outcome,
                           const std::string& why) {
  shown_.replayed(file, outcome, why);
}
void HistoryView::remark(const std::string& line) { shown_.remark(line); }
void HistoryView::end(const std::string& summary) { shown_.end(summary); }

Json campaign_panel(const FuzzOutcome& outcome, const Report& report,
                    const CampaignHistory& history) {
  const fuzz::Tally& tally = outcome.state.tally;
  Json panel{{"panel", "campaign"}};
  for (const char* name : {"generator", "seed", "settings", "cases", "seconds", "outcomes", "new",
                           "known", "mended", "findings", "inconclusive", "best", "replayed"}) {
    if (report.facts.contains(name)) panel[name] = report.facts[name];
  }
  for (const char* name : {"features", "signatures"}) {
    panel[name] = report.facts[name];
    panel[name].erase("list");
  }
  std::vector<std::uint64_t> firsts;
  firsts.reserve(tally.features.size());
  for (const auto& [feature, count] : tally.features) firsts.push_back(count.first);
  panel["features"]["curve"] = curve_of(firsts, tally.cases);
  firsts.clear();
  for (const auto& [signature, count] : tally.signatures) firsts.push_back(count.first.front());
  panel["signatures"]["curve"] = curve_of(std::move(firsts), tally.cases);
  panel["points"] = points_of(history.points);
  for (Json& finding : panel["findings"]) {
    const auto signature = finding["signature"].get<std::string>();
    const auto file = finding["file"].get<std::string>();
    const auto count = tally.signatures.find(signature);
    if (count != tally.signatures.end()) finding["at"] = count->second.first;
    const auto events = history.events.find(signature);
    if (events != history.events.end()) {
      for (const FindingEvent& event : events->second) {
        finding["history"].push_back({event.seconds, event.what});
      }
    }
    if (file.empty()) continue;
    const std::string path = outcome.corpus + "/" + file;
    finding["path"] = path;
    if (!report.left_out.empty()) continue;
    finding["case"] = text_of(path);
    finding["script"] = text_of(fuzz::script_path(path));
  }
  return panel;
}

std::string campaign_trace(const CampaignHistory& history) {
  std::vector<CaseSpan> by_worker = history.cases;  // tracks come in the order of their spans
  std::stable_sort(by_worker.begin(), by_worker.end(),
                   [](const CaseSpan& a, const CaseSpan& b) { return a.worker < b.worker; });
  std::vector<TraceSpan> cases;
  cases.reserve(by_worker.size());
  for (const CaseSpan& one : by_worker) {
    cases.push_back({"worker " + std::to_string(one.worker),
                     "case " + std::to_string(one.index),
                     one.begin_seconds,
                     one.seconds,
                     {{"outcome", one.outcome}}});
  }
  std::vector<TraceSpan> findings;
  for (const auto& [signature, events] : history.events) {
    const FindingEvent& last = events.back();
    const double begin = events.front().seconds;
    findings.push_back({signature, last.what, begin, last.seconds - begin, Json::object()});
  }
  TraceEvents trace;
  std::string title = "cases";
  if (history.further_cases > 0) {
    title += " (" + count_text(history.further_cases, "later one", "later ones") + " left out)";
  }
  trace.add_spans(title, cases);
  trace.add_spans("findings", findings);
  return trace.print();
}

}  // namespace graphgate::tools
