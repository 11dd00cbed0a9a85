// What a campaign shows while it runs: a line that redraws itself on a terminal, NDJSON elsewhere.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "fuzz/campaign/campaign_view.h"
#include "tools/report/status_line.h"

namespace graphgate::tools {

using fuzz::CampaignProgress;
using fuzz::CampaignView;
using fuzz::FindingNews;

// Seconds until it ends, by cases or by time; nothing where that cannot be told.
[[nodiscard]] std::optional<double> seconds_left(const CampaignProgress& progress);
// For people. With `redraws` the last line is written over: for terminals of `columns`.
[[nodiscard]] std::unique_ptr<CampaignView> text_view(std::FILE* file, bool redraws, int columns);
// A JSON object a line: {"event": "progress", ...}.
[[nodiscard]] std::unique_ptr<CampaignView> ndjson_view(std::FILE* file);
// In the form that the file has.
[[nodiscard]] std::unique_ptr<CampaignView> view_for(std::FILE* file);

}  // namespace graphgate::tools
