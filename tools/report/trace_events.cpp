#include "tools/report/trace_events.h"

#include <algorithm>
#include <map>
#include <utility>

#include "conformance/judges/plan_stats.h"
#include "spec/plan_drawing.h"
#include "tools/report/escape.h"
#include "tools/report/forms.h"
#include "tools/report/plan_words.h"

namespace graphgate::tools {
namespace {

// Of a plan's process: the partitions, then the streams.
constexpr int kPartitions = 1;
constexpr int kFirstStream = 2;

Json dollar_names(const spec::Plan& plan, const std::vector<spec::BufferId>& ids) {
  Json names = Json::array();
  for (const spec::BufferId id : ids) names.push_back("$" + plan.buffers[id.index].name);
  return names;
}

Json args_of(const spec::Plan& plan, const spec::PlanPartition& partition) {
  Json args = {{"captured", partition.captured}};
  if (!partition.reason.empty()) args["cut reason"] = partition.reason;
  args["steps"] = partition.end_step - partition.begin_step;
  std::vector<spec::BufferId> inputs;
  std::vector<spec::BufferId> freed;
  for (const spec::SignatureInput& input : partition.signature.inputs) {
    (input.deallocate ? freed : inputs).push_back(input.buffer);
  }
  args["in"] = dollar_names(plan, inputs);
  args["in, freed"] = dollar_names(plan, freed);
  args["out"] = dollar_names(plan, partition.signature.outputs);
  args["constants"] = dollar_names(plan, partition.signature.constants);
  args["symbols"] = partition.signature.symbols;
  return args;
}

void add_buffer(const spec::Plan& plan, spec::ValueId id, Json& names) {
  const auto buffer = plan.values[id.index].buffer;
  if (!buffer) return;
  const std::string name = "$" + plan.buffers[buffer->index].name;
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

Json args_of(const spec::Plan& plan, const spec::PlanStep& step,
             const spec::PlanPartition& partition) {
  Json args = {{"op", step.node.op}, {"captured", partition.captured}};
  if (!partition.reason.empty()) args["cut reason"] = partition.reason;
  args["reads"] = Json::array();
  args["makes"] = Json::array();
  spec::for_each_operand(step.node, [&](spec::ValueId id) { add_buffer(plan, id, args["reads"]); });
  for (const spec::NodeResult& result : step.node.results) {
    for (const spec::ValueId id : result.values) add_buffer(plan, id, args["makes"]);
  }
  for (const spec::Node& node : step.body) args["fused"].push_back(node.name + " = " + node.op);
  if (step.workspace) args["workspace"] = "$" + plan.buffers[step.workspace->index].name;
  return args;
}

// Where each step begins in the order of execution, and the end of all that it runs.
struct Places {
  std::vector<std::size_t> begin;
  std::vector<std::size_t> end;
};

class PlaceFinder {
 public:
  explicit PlaceFinder(const spec::Plan& plan)
      : plan_(plan), places_{std::vector<std::size_t>(plan.steps.size()), {}} {
    places_.end = places_.begin;
    walk(plan.blocks.front());
  }
  [[nodiscard]] Places take() { return std::move(places_); }

 private:
  void walk(const spec::PlanBlock& block) {
    for (const spec::PlanPartition& partition : block.partitions) {
      for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) {
        places_.begin[s] = now_++;
        for (const std::uint32_t arm : spec::arms_of(plan_.steps[s])) walk(plan_.blocks[arm]);
        places_.end[s] = now_;
      }
    }
  }

  const spec::Plan& plan_;
  Places places_;
  std::size_t now_ = 0;
};

double micros(std::size_t position) { return static_cast<double>(position); }

}  // namespace

double TraceClock::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

int TraceEvents::begin_process(const std::string& name) {
  const int process = ++processes_;
  events_.push_back({{"ph", "M"},
                     {"name", "process_name"},
                     {"pid", process},
                     {"tid", 0},
                     {"args", {{"name", plain_text(name)}}}});
  return process;
}

void TraceEvents::name_thread(int process, int thread, const std::string& name) {
  events_.push_back({{"ph", "M"},
                     {"name", "thread_name"},
                     {"pid", process},
                     {"tid", thread},
                     {"args", {{"name", plain_text(name)}}}});
  events_.push_back({{"ph", "M"},
                     {"name", "thread_sort_index"},
                     {"pid", process},
                     {"tid", thread},
                     {"args", {{"sort_index", thread}}}});
}

void TraceEvents::add_slice(int process, int thread, const std::string& name, double begin,
                            double length, Json args) {
  if (args.is_null()) args = Json::object();
  events_.push_back({{"ph", "X"},
                     {"name", plain_text(name)},
                     {"cat", "graphgate"},
                     {"pid", process},
                     {"tid", thread},
                     {"ts", begin},
                     {"dur", length},
                     {"args", std::move(args)}});
}

void TraceEvents::add_plan(const std::string& name, const spec::Plan& plan) {
  const int process = begin_process("plan: " + name + " (a position in its order is 1 us)");
  name_thread(process, kPartitions, "partitions");
  std::uint32_t streams = 1;
  for (const spec::PlanStep& step : plan.steps) streams = std::max(streams, step.stream + 1);
  for (std::uint32_t s = 0; s < streams; ++s) {
    name_thread(process, kFirstStream + static_cast<int>(s), "stream " + std::to_string(s));
  }
  const Places places = PlaceFinder(plan).take();
  const auto flow = [&](const char* phase, const spec::PlanStep& step, spec::EventId event,
                        std::size_t at) {
    events_.push_back({{"ph", phase},
                       {"name", "event " + std::to_string(event.index)},
                       {"cat", "graphgate"},
                       {"id", flows_ + static_cast<int>(event.index)},
                       {"pid", process},
                       {"tid", kFirstStream + static_cast<int>(step.stream)},
                       {"ts", micros(at)}});
    if (*phase == 'f') events_.back()["bp"] = "e";  // it ends at the slice around it
  };
  for (const spec::PlanBlock& block : plan.blocks) {
    for (std::size_t p = 0; p < block.partitions.size(); ++p) {
      const spec::PlanPartition& partition = block.partitions[p];
      const bool is_run = partition.begin_step < partition.end_step &&
                          places.end[partition.begin_step] > 0;  // no arm that nothing names
      if (!is_run) continue;
      const std::size_t begin = places.begin[partition.begin_step];
      std::string title = std::to_string(p) + (partition.captured ? " captured" : " eager");
      if (&block != &plan.blocks.front()) title = "@" + block.name + " " + title;
      if (!partition.reason.empty()) title += ": " + partition.reason;
      add_slice(process, kPartitions, title, micros(begin),
                micros(places.end[partition.end_step - 1] - begin), args_of(plan, partition));
      for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) {
        const spec::PlanStep& step = plan.steps[s];
        add_slice(process, kFirstStream + static_cast<int>(step.stream), step.node.name,
                  micros(places.begin[s]), micros(places.end[s] - places.begin[s]),
                  args_of(plan, step, partition));
        for (const spec::EventId event : step.records) flow("s", step, event, places.begin[s]);
        for (const spec::EventId event : step.waits) flow("f", step, event, places.begin[s]);
      }
    }
  }
  flows_ += static_cast<int>(plan.event_count);
  for (std::uint32_t p = 0; p < plan.pools.size(); ++p) {
    const spec::PlanPool& pool = plan.pools[p];
    if (pool.kind != spec::PoolKind::kArena) continue;
    const std::vector<std::int64_t> live = conformance::bytes_in_use(plan, {p});
    if (live.empty()) continue;
    const std::int64_t bound = *std::max_element(live.begin(), live.end());
    for (std::size_t at = 0; at <= live.size(); ++at) {
      const std::int64_t now = at < live.size() ? live[at] : 0;
      events_.push_back({{"ph", "C"},
                         {"name", "arena @" + plain_name(pool.name) + " (bytes)"},
                         {"pid", process},
                         {"tid", 0},
                         {"ts", micros(at)},
                         {"args", {{"live", now}, {"bound", bound}, {"peak", pool.size_bytes}}}});
    }
  }
}

void TraceEvents::add_spans(const std::string& name, const std::vector<TraceSpan>& spans) {
  const int process = begin_process(name);
  std::map<std::string, int> threads;
  for (const TraceSpan& span : spans) {
    const auto [at, is_new] = threads.emplace(span.track, static_cast<int>(threads.size()) + 1);
    if (is_new) name_thread(process, at->second, span.track);
    add_slice(process, at->second, span.name, 1e6 * span.begin_seconds, 1e6 * span.seconds,
              span.args);
  }
}

std::string TraceEvents::print() const {
  Json json = {{"displayTimeUnit", "ms"}, {"otherData", {{"graphgate", GRAPHGATE_VERSION}}}};
  json["traceEvents"] = events_;
  return json_line(json) + "\n";
}

}  // namespace graphgate::tools
