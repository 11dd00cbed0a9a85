#include "tools/report/fuzz_view.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "base/one_line.h"
#include "tools/report/escape.h"
#include "tools/report/forms.h"
#include "tools/report/fuzz_report.h"
#include "tools/report/json.h"

namespace graphgate::tools {
namespace {

// A case that has run so long has its place in the line of a terminal.
constexpr double kLongCaseSeconds = 5;

std::string print_rate(double rate) { return formatted(rate < 10 ? "%.1f/s" : "%.0f/s", rate); }

std::string status_line(const CampaignProgress& p) {
  std::string line = std::to_string(p.cases);
  if (p.planned_cases > 0) line += "/" + std::to_string(p.planned_cases);
  line += " cases, " + print_rate(p.cases_per_second) + ", " + std::to_string(p.features) +
          " features, " + std::to_string(p.findings) + (p.findings == 1 ? " finding" : " findings");
  if (p.known > 0) line += " (" + std::to_string(p.known) + " known)";
  if (p.waiting > 0) line += ", " + std::to_string(p.waiting) + " being reduced";
  line += ", last new " + print_duration(p.seconds_since_new) + " ago";
  if (p.spent.asked > 0) {
    line += formatted(", %.0f%% subject", 100 * p.spent.asked / p.spent.whole);
    if (p.spent.compile > 0) {
      line += formatted(" (%.0f%% compiling)", 100 * p.spent.compile / p.spent.whole);
    }
  }
  if (!p.in_work.empty() && p.in_work.front().seconds >= kLongCaseSeconds) {
    const fuzz::CaseInWork& longest = p.in_work.front();
    line += ", case " + std::to_string(longest.index) + " for " + print_duration(longest.seconds);
  }
  if (const auto left = seconds_left(p)) line += ", ETA " + print_duration(*left);
  return line;
}

// What a campaign was asked and given, without what it has found.
fuzz::CampaignState asked_of(const fuzz::CampaignState& state) {
  fuzz::CampaignState asked;
  asked.key = state.key;
  asked.run = state.run;
  return asked;
}

std::string replay_line_of(const fuzz::CampaignState& campaign, const FindingNews& news) {
  return campaign_replay_line(campaign, fuzz::print_case_id(news.id), /*is_drawn=*/true,
                              news.signature);
}

class TextView final : public CampaignView {
 public:
  TextView(std::FILE* file, bool redraws, int columns) : line_(file, redraws, columns) {}

  void begin(const fuzz::CampaignState& state, const fuzz::Shard& shard, int jobs) override {
    campaign_ = asked_of(state);
    std::string line = "campaign of seed " + std::to_string(state.key.seed) + ", generator " +
                       std::to_string(state.key.generator) + ", shard " + print_shard(shard) +
                       ", " + std::to_string(jobs) + (jobs == 1 ? " job" : " jobs");
    if (state.tally.cases > 0) {
      line += ", resumed behind " + std::to_string(state.tally.cases) + " cases";
    }
    print(line);
  }
  void progress(const CampaignProgress& progress) override { line_.show(status_line(progress)); }
  [[nodiscard]] double progress_seconds() const override { return 0.25; }
  void found(const FindingNews& news) override {
    const std::string where = fuzz::print_case_id(news.id);
    if (!news.issue.empty()) {
      print("known " + news.name + " (" + where + "): " + news.issue);
      return;
    }
    print("found " + news.outcome + " " + news.name + " (" + where + "): " + news.message);
    print("  " + replay_line_of(campaign_, news));
  }
  void looked_at(const FindingNews& news, const fuzz::Triage& triage) override {
    std::string line = std::string(triage_name(triage.status)) + " " + news.name;
    if (!triage.known.empty()) line += " is known: " + triage.known;
    if (triage.nodes > 0) {
      line += ": " + std::to_string(triage.nodes) + (triage.nodes == 1 ? " node, " : " nodes, ") +
              std::to_string(triage.calls) + (triage.calls == 1 ? " call" : " calls");
    }
    if (!triage.remark.empty()) line += "; " + triage.remark;
    if (!triage.file.empty()) line += "; " + triage.file;
    print(line);
  }
  void replayed(const std::string& file, const std::string& outcome,
                const std::string& why) override {
    print("replayed " + outcome + " " + file + (why.empty() ? "" : ": " + why));
  }
  void remark(const std::string& line) override { print(line); }
  void end(const std::string& summary) override { line_.end(summary); }

 private:
  void print(const std::string& line) { line_.print(line); }

  fuzz::CampaignState campaign_;
  StatusLine line_;
};

class NdjsonView final : public CampaignView {
 public:
  explicit NdjsonView(std::FILE* file) : file_(file) {}

  void begin(const fuzz::CampaignState& state, const fuzz::Shard& shard, int jobs) override {
    campaign_ = asked_of(state);
    Json json = event("begin");
    json["generator"] = state.key.generator;
    json["seed"] = state.key.seed;
    json["shard"] = print_shard(shard);
    json["jobs"] = jobs;
    json["settings"] = state.key.settings;
    json["resumed_cases"] = state.tally.cases;
    print(json);
  }
  void progress(const CampaignProgress& progress) override {
    Json json = event("progress");
    add(json, progress);
    print(json);
  }
  [[nodiscard]] double progress_seconds() const override { return 10; }
  void found(const FindingNews& news) override { print(finding("finding", news)); }
  void looked_at(const FindingNews& news, const fuzz::Triage& triage) override {
    Json json = finding("triage", news);
    json["status"] = triage_name(triage.status);
    json["nodes"] = triage.nodes;
    json["calls"] = triage.calls;
    json["file"] = triage.file;
    json["remark"] = triage.remark;
    if (!triage.known.empty()) json["known"] = triage.known;
    print(json);
  }
  void replayed(const std::string& file, const std::string& outcome,
                const std::string& why) override {
    Json json = event("replay");
    json["file"] = file;
    json["outcome"] = outcome;
    if (!why.empty()) json["message"] = why;
    print(json);
  }
  void remark(const std::string& line) override {
    Json json = event("remark");
    json["message"] = line;
    print(json);
  }
  void end(const std::string& summary) override {
    Json json = event("end");
    json["summary"] = summary;
    print(json);
  }

 private:
  static Json event(const char* name) {
    Json json;
    json["event"] = name;
    return json;
  }
  [[nodiscard]] Json finding(const char* name, const FindingNews& news) const {
    Json json = event(name);
    json["name"] = news.name;
    json["signature"] = news.signature;
    json["outcome"] = news.outcome;
    json["case"] = fuzz::print_case_id(news.id);
    json["message"] = news.message;
    json["replay"] = replay_line_of(campaign_, news);
    if (!news.issue.empty()) json["issue"] = news.issue;
    return json;
  }
  static void add(Json& json, const CampaignProgress& p) {
    json["cases"] = p.cases;
    if (p.planned_cases > 0) json["planned_cases"] = p.planned_cases;
    json["seconds"] = std::round(p.seconds * 1000) / 1000;
    json["cases_per_second"] = std::round(p.cases_per_second * 10) / 10;
    json["features"] = p.features;
    json["findings"] = p.findings;
    json["known"] = p.known;
    json["waiting"] = p.waiting;
    json["seconds_since_new"] = std::round(p.seconds_since_new * 1000) / 1000;
    if (const auto left = seconds_left(p)) json["seconds_left"] = std::round(*left);
    if (p.spent.asked > 0) {
      json["seconds_of"] = {{"subject", std::round(10 * p.spent.asked) / 10},
                            {"compile", std::round(10 * p.spent.compile) / 10},
                            {"judges", std::round(10 * (p.spent.whole - p.spent.asked)) / 10}};
    }
    for (const fuzz::CaseInWork& each : p.in_work) {
      json["in_work"].push_back({{"case", each.index},
                                 {"phase", fuzz::phase_name(each.phase)},
                                 {"seconds", std::round(each.seconds * 10) / 10}});
    }
  }
  void print(const Json& json) {
    std::fprintf(file_, "%s\n", json_line(json).c_str());
    std::fflush(file_);
  }

  fuzz::CampaignState campaign_;
  std::FILE* file_;
};

}  // namespace

std::optional<double> seconds_left(const CampaignProgress& p) {
  std::optional<double> left;
  if (p.planned_seconds > 0) left = std::max(0.0, p.planned_seconds - p.seconds);
  if (p.planned_cases > 0 && p.cases_per_second > 0) {
    const auto cases = static_cast<double>(p.planned_cases - std::min(p.planned_cases, p.cases));
    const double by_cases = cases / p.cases_per_second;
    left = left ? std::min(*left, by_cases) : by_cases;
  }
  return left;
}

std::unique_ptr<CampaignView> text_view(std::FILE* file, bool redraws, int columns) {
  return std::make_unique<TextView>(file, redraws, columns);
}

std::unique_ptr<CampaignView> ndjson_view(std::FILE* file) {
  return std::make_unique<NdjsonView>(file);
}

std::unique_ptr<CampaignView> view_for(std::FILE* file) {
  const auto columns = terminal_columns(file);
  return columns ? text_view(file, true, *columns) : ndjson_view(file);
}

}  // namespace graphgate::tools
