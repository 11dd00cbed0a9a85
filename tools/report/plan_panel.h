// A plan as a page draws it (Report::panels): memory over time, partitions and streams, the graph.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "conformance/judges/judge.h"
#include "conformance/verify/packing.h"
#include "spec/finding.h"
#include "spec/op_table.h"
#include "spec/plan.h"

namespace graphgate::tools {

// What is known of a plan beside itself.
struct PlanPanelFacts {
  std::string title;                         // "golden/models/llama.pt2, optimized"
  std::string place = {};                    // of the item that it belongs to; empty: of none
  conformance::NodeRatios ratios = {};       // where nodes were judged
  std::vector<spec::Finding> findings = {};  // of this plan: their nodes and buffers are marked
};

// {"panel": "plan", ...}: steps, buffers and edges as columns. Times are positions in the order of
// execution (spec/plan_drawing.h). The plan must pass check_plan.
[[nodiscard]] nlohmann::ordered_json plan_panel(const spec::Plan& plan, const spec::OpTable& ops,
                                                const PlanPanelFacts& facts);

// The same of a packing, which has buffers alone. Times are those of its table.
[[nodiscard]] nlohmann::ordered_json packing_panel(const std::vector<verify::PackedBuffer>& buffers,
                                                   const PlanPanelFacts& facts);

// Adds another plan to a panel, with which it is compared.
void add_other_plan(nlohmann::ordered_json& panel, nlohmann::ordered_json other);

}  // namespace graphgate::tools
