// Where the time of a run went, as a report shows it (--timings): by judge, by stage, and what was
// idle. A lane is a worker or a job: its stages and what it was idle add up to the time of the run.
#pragma once

#include <string>
#include <vector>

#include "base/stage_clock.h"
#include "fuzz/campaign/run_campaign.h"
#include "tools/report/json.h"
#include "tools/report/report.h"

namespace graphgate::tools {

struct TimingLane {
  std::string name;  // "worker 0"
  StageTimes times;
};

struct Timings {
  double seconds = 0;  // of the run, by the clock on the wall
  std::vector<TimingLane> lanes;
  // In the place of a lane for a while: processes that looked at findings.
  StageTimes between;
  // Beside them: the process that hands out their work. No part of the sum.
  StageTimes beside;
};

[[nodiscard]] Timings timings_of(const fuzz::CampaignTimes& times);

// Seconds of all lanes: that of the run for each.
[[nodiscard]] double whole_seconds(const Timings& timings);
// Seconds that no stage has: waiting for work, and what is not told. 0 or more.
[[nodiscard]] double idle_seconds(const Timings& timings);

// {"seconds": 10.1, "whole": 20.2, "idle": 0.1, "judges": [...], "stages": [...], "lanes": [...],
// "findings": [...], "beside": [...]}: rows of {"judge", "stage", "seconds", "times"}. The sums of
// `judges` and `stages` have either name; a lane is {"lane", "idle", "rows"}.
[[nodiscard]] Json json_of(const Timings& timings);
// Lines for a person, the largest first; each ends in a line end.
[[nodiscard]] std::string describe(const Timings& timings);
// Adds them to a report: lines before the last of its totals, "timings" among its facts, and, where
// `with_panel`, a panel for a page.
void add_timings(const Timings& timings, bool with_panel, Report& report);

}  // namespace graphgate::tools
