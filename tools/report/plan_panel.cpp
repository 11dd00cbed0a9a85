#include "tools/report/plan_panel.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "conformance/judges/plan_stats.h"
#include "spec/plan_drawing.h"
#include "spec/plan_text.h"
#include "tools/report/escape.h"
#include "tools/report/json.h"
#include "tools/report/plan_edges.h"

namespace graphgate::tools {
namespace {

// The step of each position, and the position of each step.
struct Order {
  std::vector<std::uint32_t> steps;
  std::vector<std::uint32_t> positions;

  explicit Order(const spec::Plan& plan)
      : steps(spec::execution_order(plan)), positions(plan.steps.size()) {
    for (std::uint32_t i = 0; i < steps.size(); ++i) positions[steps[i]] = i;
  }
};

Json pools_of(const spec::Plan& plan) {
  Json pools = Json::array();
  for (const spec::PlanPool& pool : plan.pools) {
    pools.push_back({{"name", plain_name(pool.name)},
                     {"kind", spec::pool_kind_name(pool.kind)},
                     {"size", pool.size_bytes},
                     {"alignment", pool.alignment_bytes}});
  }
  return pools;
}

// Those that something uses; `rows` gets the row of each buffer.
Json buffers_of(const spec::Plan& plan, std::vector<std::optional<std::size_t>>& rows) {
  Json columns{{"name", Json::array()}, {"pool", Json::array()},  {"offset", Json::array()},
               {"size", Json::array()}, {"first", Json::array()}, {"last", Json::array()}};
  rows.resize(plan.buffers.size());
  std::size_t count = 0;
  for (const spec::BufferUse& use : spec::buffer_uses(plan)) {
    const spec::PlanBuffer& buffer = plan.buffers[use.buffer.index];
    rows[use.buffer.index] = count++;
    columns["name"].push_back(plain_name(buffer.name));
    columns["pool"].push_back(buffer.pool.index);
    columns["offset"].push_back(buffer.offset_bytes);
    columns["size"].push_back(buffer.size_bytes);
    columns["first"].push_back(use.first_step);
    columns["last"].push_back(use.last_step);
  }
  return columns;
}

Json numbers_of(const std::vector<spec::EventId>& events) {
  Json numbers = Json::array();
  for (const spec::EventId event : events) numbers.push_back(event.index);
  return numbers;
}

// The largest of what a step computes; nothing where none of it was judged.
std::optional<double> ratio_of(const spec::PlanStep& step,
                               const std::map<std::string, double>& ratios) {
  std::optional<double> worst;
  const auto look_at = [&](const std::string& name) {
    const auto found = ratios.find(name);
    if (found != ratios.end()) worst = std::max(worst.value_or(0), found->second);
  };
  look_at(step.node.name);
  for (const spec::Node& node : step.body) look_at(node.name);
  return worst;
}

Json steps_of(const spec::Plan& plan, const Order& order, const PlanPanelFacts& facts) {
  Json columns{{"name", Json::array()},  {"op", Json::array()},      {"stream", Json::array()},
               {"waits", Json::array()}, {"records", Json::array()}, {"body", Json::array()}};
  const auto ratios = facts.ratios.find(plan.name);
  const bool has_ratios = ratios != facts.ratios.end();
  if (has_ratios) columns["ratio"] = Json::array();
  for (const std::uint32_t index : order.steps) {
    const spec::PlanStep& step = plan.steps[index];
    columns["name"].push_back(plain_name(step.node.name));
    columns["op"].push_back(plain_name(step.node.op));
    columns["stream"].push_back(step.stream);
    columns["waits"].push_back(numbers_of(step.waits));
    columns["records"].push_back(numbers_of(step.records));
    Json body = Json::array();
    for (const spec::Node& node : step.body)
      body.push_back({plain_name(node.name), plain_name(node.op)});
    columns["body"].push_back(std::move(body));
    if (!has_ratios) continue;
    const auto ratio = ratio_of(step, ratios->second);
    // What is no number of JSON's is beyond every bound.
    const bool is_finite = ratio && std::isfinite(*ratio);
    columns["ratio"].push_back(!ratio ? Json(nullptr) : is_finite ? Json(*ratio) : Json("inf"));
  }
  return columns;
}

Json names_of(const spec::Plan& plan, const std::vector<spec::BufferId>& buffers) {
  Json names = Json::array();
  for (const spec::BufferId id : buffers) names.push_back(plain_name(plan.buffers[id.index].name));
  return names;
}

Json partition_of(const spec::Plan& plan, const spec::PlanBlock& block,
                  const spec::PlanPartition& partition, const Order& order) {
  Json one{{"block", plain_name(block.name)},
           {"captured", partition.captured},
           {"reason", plain_text(partition.reason)}};
  // The steps of an arm stand behind the conditional's own.
  std::uint32_t begin = static_cast<std::uint32_t>(order.steps.size());
  std::uint32_t end = 0;
  for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) {
    begin = std::min(begin, order.positions[s]);
    end = std::max(end, order.positions[s] + 1);
  }
  one["begin"] = std::min(begin, end);
  one["end"] = end;
  one["in"] = Json::array();
  one["freed"] = Json::array();
  for (const spec::SignatureInput& input : partition.signature.inputs) {
    one[input.deallocate ? "freed" : "in"].push_back(
        plain_name(plan.buffers[input.buffer.index].name));
  }
  one["out"] = names_of(plan, partition.signature.outputs);
  one["constants"] = names_of(plan, partition.signature.constants);
  one["symbols"] = partition.signature.symbols;
  return one;
}

// From, to and buffer of each, in one list; -1 stands for what is outside.
Json edges_of(const spec::Plan& plan, const spec::OpTable& ops, const Order& order,
              const std::vector<std::optional<std::size_t>>& rows) {
  Json edges = Json::array();
  const auto position = [&](const std::optional<std::uint32_t>& step) {
    return step ? static_cast<std::int64_t>(order.positions[*step]) : -1;
  };
  for (const PlanEdge& edge : plan_edges(plan, ops)) {
    const auto row = rows[edge.buffer.index];
    edges.push_back(position(edge.from));
    edges.push_back(position(edge.to));
    edges.push_back(row ? static_cast<std::int64_t>(*row) : -1);
  }
  return edges;
}

Json findings_of(const std::vector<spec::Finding>& findings) {
  Json list = Json::array();
  for (const spec::Finding& finding : findings) {
    list.push_back({{"rule", finding.rule},
                    {"message", finding.message},
                    {"nodes", finding.nodes},
                    {"buffers", finding.buffers}});
  }
  return list;
}

}  // namespace

Json plan_panel(const spec::Plan& plan, const spec::OpTable& ops, const PlanPanelFacts& facts) {
  const Order order(plan);
  const conformance::PlanStats stats = conformance::plan_stats(plan);
  Json panel{
      {"panel", "plan"}, {"title", plain_name(facts.title)}, {"place", plain_name(facts.place)}};
  panel["symbols"] = plan.symbols;
  panel["captured_steps"] = stats.captured_steps;
  panel["peak"] = stats.peak_bytes;
  panel["no_reuse"] = stats.no_reuse_bytes;
  panel["bound"] = stats.lower_bound_bytes;
  panel["pools"] = pools_of(plan);
  std::vector<std::optional<std::size_t>> rows;
  panel["buffers"] = buffers_of(plan, rows);
  panel["steps"] = steps_of(plan, order, facts);
  panel["partitions"] = Json::array();
  for (const spec::PlanBlock& block : plan.blocks) {
    for (const spec::PlanPartition& partition : block.partitions) {
      panel["partitions"].push_back(partition_of(plan, block, partition, order));
    }
  }
  panel["edges"] = edges_of(plan, ops, order, rows);
  panel["findings"] = findings_of(facts.findings);
  return panel;
}

Json packing_panel(const std::vector<verify::PackedBuffer>& buffers, const PlanPanelFacts& facts) {
  Json panel{
      {"panel", "plan"}, {"title", plain_name(facts.title)}, {"place", plain_name(facts.place)}};
  std::int64_t size = 0;
  Json columns{{"name", Json::array()}, {"pool", Json::array()},  {"offset", Json::array()},
               {"size", Json::array()}, {"first", Json::array()}, {"last", Json::array()}};
  for (const verify::PackedBuffer& buffer : buffers) {
    size = std::max(size, buffer.offset_bytes + buffer.size_bytes);
    columns["name"].push_back(plain_name(buffer.name));
    columns["pool"].push_back(0);
    columns["offset"].push_back(buffer.offset_bytes);
    columns["size"].push_back(buffer.size_bytes);
    columns["first"].push_back(buffer.lower);
    columns["last"].push_back(buffer.upper - 1);
  }
  panel["pools"] = {{{"name", "table"}, {"kind", "arena"}, {"size", size}, {"alignment", 1}}};
  panel["buffers"] = std::move(columns);
  panel["steps"] = {{"name", Json::array()}};
  panel["findings"] = findings_of(facts.findings);
  return panel;
}

void add_other_plan(Json& panel, Json other) { panel["before"] = std::move(other); }

}  // namespace graphgate::tools
