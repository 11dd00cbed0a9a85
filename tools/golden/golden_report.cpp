// What golden check and golden update came to, as a report.
#include <algorithm>
#include <map>

#include "tools/golden/golden_run.h"
#include "tools/report/escape.h"
#include "tools/report/json.h"

namespace graphgate::tools {
namespace {

constexpr std::size_t kSentencesShown = 20;  // of one file

std::string describe(const GoldenItem& item) {
  std::string text =
      plain_text(item.file + ": " + std::string(golden_state_name(item.state))) + "\n";
  const std::size_t shown = std::min(item.sentences.size(), kSentencesShown);
  for (std::size_t i = 0; i < shown; ++i) text += "  " + plain_text(item.sentences[i]) + "\n";
  if (item.sentences.size() > shown) {
    text += "  and " + std::to_string(item.sentences.size() - shown) + " more (--json has all)\n";
  }
  return text;
}

spec::Outcome outcome_of(GoldenState state, bool is_update) {
  if (state == GoldenState::kRefused) return spec::Outcome::kFail;
  if (state == GoldenState::kNotRun) return spec::Outcome::kUndecided;
  if (state == GoldenState::kSame || is_update) return spec::Outcome::kPass;
  return state == GoldenState::kSkipped ? spec::Outcome::kUnsupported : spec::Outcome::kFail;
}

ReportItem item_of(const GoldenItem& golden, bool is_update) {
  ReportItem item;
  item.place = golden.file;
  item.outcome = outcome_of(golden.state, is_update);
  const std::string state(golden_state_name(golden.state));
  item.reason = golden.sentences.empty() ? state : golden.sentences.front();
  // A damaged file is made anew by an update.
  const bool is_damaged = golden.state == GoldenState::kDamaged;
  if (!is_damaged || !is_update) item.error = golden.error;
  if (item.error) item.trouble = plain_text("graphgate: " + item.error->message) + "\n";
  const bool is_told = golden.state != GoldenState::kSame && (!golden.error || is_damaged);
  if (is_told) item.text = describe(golden);
  if (is_damaged && is_update) item.text += "  " + plain_text(golden.error->message) + "\n";
  if (item.outcome == spec::Outcome::kPass || item.error) return item;
  item.replay = golden.replay;
  const bool is_replayed = is_told && !golden.replay.empty();
  if (is_replayed) item.text += "  replay: " + plain_text(golden.replay) + "\n";
  for (const std::string& sentence : golden.sentences) {
    item.findings.push_back(
        {{"golden." + state, item.outcome, sentence, {}, {}, {}, {}}, "optimized", ""});
  }
  return item;
}

}  // namespace

Report report_of(const std::vector<GoldenItem>& items, bool is_update) {
  Report report = one_section(is_update ? "graphgate golden update" : "graphgate golden check");
  std::map<std::string, std::size_t> counts;
  report.facts["items"] = Json::array();
  for (const GoldenItem& item : items) {
    const std::string state(golden_state_name(item.state));
    Json facts = {
        {"name", item.name}, {"file", item.file}, {"state", state}, {"changes", item.sentences}};
    if (item.error) facts["error"] = item.error->message;
    report.facts["items"].push_back(std::move(facts));
    ++counts[state];
    report.sections.front().items.push_back(item_of(item, is_update));
    report.code = worse(report.code, report.sections.front().items.back().exit_code());
  }
  report.facts["counts"] = counts;
  const auto found = counts.find(std::string(golden_state_name(GoldenState::kNotRun)));
  const std::size_t not_run = found == counts.end() ? 0 : found->second;
  report.facts["interrupted"] = not_run > 0;
  if (not_run > 0) {
    report.interruption = "interrupted, " + std::to_string(not_run) + " of " +
                          count_text(items.size(), "file", "files") + " not compared";
  }
  report.facts["exit_code"] = static_cast<int>(report.code);
  for (const auto& [state, count] : counts) {
    report.totals += (report.totals.empty() ? "" : ", ") + std::to_string(count) + " " + state;
  }
  report.totals += '\n';
  return report;
}

}  // namespace graphgate::tools
