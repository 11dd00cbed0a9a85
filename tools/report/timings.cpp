#include "tools/report/timings.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "fuzz/campaign/workers.h"

namespace graphgate::tools {
namespace {

constexpr const char* kIdle = "idle";

double seconds_of(const StageTime& time) { return static_cast<double>(time.nanoseconds) * 1e-9; }

StageTimes sum_of(const Timings& timings) {
  StageTimes all = timings.between;
  for (const TimingLane& lane : timings.lanes) all.add(lane.times);
  return all;
}

// A lane that waits for cases has nothing to do.
double waited_seconds(const StageTimes& times) {
  const auto waits = times.rows().find({"", std::string(fuzz::kWaitsForCases)});
  return waits == times.rows().end() ? 0 : seconds_of(waits->second);
}

double worked_seconds(const StageTimes& times) { return times.seconds() - waited_seconds(times); }

struct Row {
  std::string name;
  double seconds = 0;
  std::uint64_t times = 0;  // 0: not told
};

// The largest first, with what is idle at the end; rows of no time at all are left out.
std::vector<Row> rows_of(const std::map<std::string, StageTime>& sums, const char* nobody,
                         double idle) {
  std::vector<Row> rows;
  for (const auto& [name, time] : sums) {
    if (name == fuzz::kWaitsForCases || time.times == 0) continue;
    rows.push_back({name.empty() ? nobody : name, seconds_of(time), time.times});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.seconds > b.seconds; });
  rows.push_back({kIdle, idle, 0});
  return rows;
}

std::vector<Row> judge_rows(const Timings& timings) {
  const StageTimes all = sum_of(timings);
  StageTimes worked;
  for (const auto& [key, time] : all.rows()) {
    if (key.second != fuzz::kWaitsForCases) worked.add(key.first, key.second, time);
  }
  return rows_of(worked.by_asker(), "no judge", idle_seconds(timings));
}

std::vector<Row> stage_rows(const Timings& timings) {
  return rows_of(sum_of(timings).by_stage(), "", idle_seconds(timings));
}

Json json_of(const std::vector<Row>& rows, const char* what) {
  Json json = Json::array();
  for (const Row& row : rows) {
    Json one{{what, row.name}, {"seconds", row.seconds}};
    if (row.times > 0) one["times"] = row.times;
    json.push_back(std::move(one));
  }
  return json;
}

Json json_of(const StageTimes& times) {
  Json json = Json::array();
  for (const auto& [key, time] : times.rows()) {
    json.push_back({{"judge", key.first},
                    {"stage", key.second},
                    {"seconds", seconds_of(time)},
                    {"times", time.times}});
  }
  return json;
}

std::string describe_rows(const char* title, const std::vector<Row>& rows, double whole) {
  std::string text = formatted("  %-26s %10s %7s %9s\n", title, "seconds", "share", "times");
  for (const Row& row : rows) {
    const double share = whole > 0 ? 100 * row.seconds / whole : 0;
    const std::string times = row.times > 0 ? std::to_string(row.times) : "";
    text += formatted("  %-26s %10.3f %6.1f%% %9s", row.name.c_str(), row.seconds, share,
                      times.c_str());
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

}  // namespace

Timings timings_of(const fuzz::CampaignTimes& times) {
  Timings timings;
  timings.seconds = times.seconds;
  for (std::size_t w = 0; w < times.workers.size(); ++w) {
    timings.lanes.push_back({"worker " + std::to_string(w), times.workers[w]});
  }
  timings.between = times.findings;
  timings.beside = times.campaign;
  return timings;
}

double whole_seconds(const Timings& timings) {
  return timings.seconds * static_cast<double>(timings.lanes.size());
}

double idle_seconds(const Timings& timings) {
  return std::max(whole_seconds(timings) - worked_seconds(sum_of(timings)), 0.0);
}

Json json_of(const Timings& timings) {
  Json json{{"seconds", timings.seconds},
            {"whole", whole_seconds(timings)},
            {"idle", idle_seconds(timings)},
            {"judges", json_of(judge_rows(timings), "judge")},
            {"stages", json_of(stage_rows(timings), "stage")},
            {"lanes", Json::array()}};
  for (const TimingLane& lane : timings.lanes) {
    json["lanes"].push_back({{"lane", lane.name},
                             {"idle", std::max(timings.seconds - worked_seconds(lane.times), 0.0)},
                             {"rows", json_of(lane.times)}});
  }
  json["findings"] = json_of(timings.between);
  json["beside"] = json_of(timings.beside);
  return json;
}

std::string describe(const Timings& timings) {
  const double whole = whole_seconds(timings);
  std::string text = formatted("timings: %.3f s by the clock, on %zu at a time: %.3f s in all\n",
                               timings.seconds, timings.lanes.size(), whole);
  text += describe_rows("by judge", judge_rows(timings), whole);
  text += describe_rows("by stage", stage_rows(timings), whole);
  for (const TimingLane& lane : timings.lanes) {
    const double worked = worked_seconds(lane.times);
    text += formatted("  %s: %.3f s worked, %.3f s idle\n", lane.name.c_str(), worked,
                      std::max(timings.seconds - worked, 0.0));
  }
  const auto beside = timings.beside.by_stage();
  if (beside.empty()) return text;
  text += "  beside them, the campaign's own process:";
  const char* comma = " ";
  for (const auto& [stage, time] : beside) {
    text += formatted("%s%s %.3f s", comma, stage.c_str(), seconds_of(time));
    comma = ", ";
  }
  return text + "\n";
}

void add_timings(const Timings& timings, bool with_panel, Report& report) {
  const std::size_t end = report.totals.empty() ? 0 : report.totals.size() - 1;
  const std::size_t line = report.totals.rfind('\n', end == 0 ? 0 : end - 1);
  report.totals.insert(line == std::string::npos ? 0 : line + 1, describe(timings));
  report.facts["timings"] = json_of(timings);
  if (!with_panel) return;
  Json panel{{"panel", "timings"}};
  for (const auto& [name, value] : report.facts["timings"].items()) panel[name] = value;
  report.panels.push_back(std::move(panel));
}

}  // namespace graphgate::tools
