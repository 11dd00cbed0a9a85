// Parts of `graphgate bench plan`: planning, and starts with and without a cache. replay_bench.cpp
// has the others.
//
// Times of one machine say little about another: what counts is ratios of times that were taken in
// one run, in turns, on stated work (stopwatch.h). Planning and replay compute on one thread, and
// are timed by the processor; starts read and write files, and are timed by the wall.
#include <filesystem>
#include <set>

#include "base/temporary_folder.h"
#include "conformance/run/seeded_inputs.h"
#include "optimized/analysis/symbols.h"
#include "optimized/cache/disk_cache.h"
#include "optimized/compile.h"
#include "optimized/runtime/host/host_program.h"
#include "tools/bench/chain.h"
#include "tools/bench/report.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

using optimized::CompileOptions;
using Inputs = std::vector<spec::InputValue>;

// Sums what compile() tells of its stages, in the order of their first mention.
class StageTimes final : public optimized::CompileLog {
 public:
  void stage(std::string_view name, double seconds) override {
    for (auto& [known, sum] : times) {
      if (known == name) return void(sum += seconds);
    }
    times.emplace_back(name, seconds);
  }
  void warning(std::string_view message) override {
    std::fprintf(stderr, "graphgate: %.*s\n", static_cast<int>(message.size()), message.data());
  }

  std::vector<std::pair<std::string, double>> times;
};

Result<spec::Plan> make_plan(const spec::Program& program, const Inputs& inputs,
                             const CompileOptions& options) {
  GRAPHGATE_TRY(const spec::Graph prepared, prepare(program, options));
  GRAPHGATE_TRY(const auto symbols, optimized::bind_symbols(program, inputs, false));
  return compile(program, prepared, inputs, symbols, options);
}

// From a program in memory to a checked plan, stage by stage, for make_reusing_chain(nodes).
struct PlanTime {
  std::size_t nodes = 0;
  double seconds = 0;
  std::vector<std::pair<std::string, double>> stages;  // in order; of the fastest run
};
Result<PlanTime> measure_planning(std::size_t nodes) {
  constexpr int kRounds = 3;
  const spec::Program program = make_reusing_chain(nodes);
  GRAPHGATE_TRY(const Inputs inputs, conformance::seeded_inputs(program, 1, 0));
  PlanTime best{nodes, 0, {}};
  for (int round = 0; round < kRounds; ++round) {
    StageTimes stages;
    CompileOptions options;
    options.log = &stages;
    std::optional<Result<spec::Plan>> plan;
    const double seconds =
        seconds_of<ThreadClock>([&] { plan.emplace(make_plan(program, inputs, options)); });
    GRAPHGATE_TRY(const spec::Plan made, *std::move(plan));
    GRAPHGATE_TRY_VOID(spec::check_plan(made));
    if (round == 0 || seconds < best.seconds) best = {nodes, seconds, std::move(stages.times)};
  }
  return best;
}

// ---- start ----

// What a process does until all sizes of a program can be called, as often as it is asked to.
class Starter {
 public:
  Starter(const spec::Program& program, std::vector<Inputs> sizes, std::filesystem::path root)
      : program_(program), sizes_(std::move(sizes)), root_(std::move(root)) {}

  // Plans, with captures if asked for; cold: in a new folder. The first error is kept.
  void start(bool capture, bool cold) {
    if (cold) ++folders_;
    const Result<void> done = try_start(capture);
    if (error_.ok() && !done.ok()) error_ = done;
  }
  [[nodiscard]] Result<void> error() const { return error_; }
  [[nodiscard]] std::int64_t cache_hits() const { return counters_.cache_hits; }
  // Why the cache kept nothing, or lost it; empty: it did neither.
  [[nodiscard]] const std::string& cache_warning() const { return log_.last; }

 private:
  struct LastWarning final : optimized::CompileLog {
    void stage(std::string_view /*name*/, double /*seconds*/) override {}
    void warning(std::string_view message) override { last = message; }
    std::string last;
  };

  Result<void> try_start(bool capture) {
    const CompileOptions options;
    optimized::DiskCacheOptions cache_options;
    cache_options.root = root_ / std::to_string(folders_);
    cache_options.counters = &counters_;
    cache_options.log = &log_;
    GRAPHGATE_TRY(const auto cache, make_disk_store(cache_options)->open(program_, options, false));
    std::optional<spec::Graph> prepared;
    std::vector<std::unique_ptr<optimized::HostProgram>> ready;
    optimized::StateMemory state;
    for (const Inputs& inputs : sizes_) {
      GRAPHGATE_TRY(const auto symbols, optimized::bind_symbols(program_, inputs, false));
      const auto make = [&]() -> Result<spec::Plan> {
        if (!prepared) {
          GRAPHGATE_TRY(prepared, prepare(program_, options));
        }
        return compile(program_, *prepared, inputs, symbols, options);
      };
      GRAPHGATE_TRY(spec::Plan plan,
                    find_or_make_plan(cache.get(), {inputs, &symbols, {}, {}}, make));
      if (!capture) continue;
      ready.push_back(
          std::make_unique<optimized::HostProgram>(std::move(plan), *options.ops, state));
    }
    return {};
  }

  const spec::Program& program_;
  std::vector<Inputs> sizes_;
  std::filesystem::path root_;
  int folders_ = 0;
  optimized::CompileCounters counters_;
  LastWarning log_;
  Result<void> error_;
};

// From a program in memory to plans for some sizes of its inputs, with an empty cache folder and
// with the one that the cold start left; and the same with all captures made, ready to be called.
struct StartTimes {
  std::string program;
  std::size_t nodes = 0;
  std::size_t plans = 0;
  Comparison plans_cold_by_warm;
  Comparison ready_cold_by_warm;
};
Result<StartTimes> measure_start(const std::string& path) {
  constexpr int kMostSizes = 15;  // seeded inputs have no more
  constexpr int kRounds = 5;
  GRAPHGATE_TRY(const TemporaryFolder folder, TemporaryFolder::make("cache"));
  GRAPHGATE_TRY(const spec::Program program, read_program(path, spec::builtin_op_table()));
  std::vector<Inputs> sizes;
  std::set<spec::SymbolValues> seen;
  for (int call = 0; call < kMostSizes; ++call) {
    GRAPHGATE_TRY(Inputs inputs, conformance::seeded_inputs(program, 1, call));
    GRAPHGATE_TRY(const auto symbols, optimized::bind_symbols(program, inputs, false));
    if (seen.insert(symbols).second) sizes.push_back(std::move(inputs));
  }
  Starter starter(program, std::move(sizes), folder.path());
  StartTimes times{path, program.graph.nodes.size(), seen.size(), {}, {}};
  const auto measure = [&](bool capture) {
    return compare<WallClock>(
        kRounds, [&] { starter.start(capture, true); }, [&] { starter.start(capture, false); });
  };
  times.plans_cold_by_warm = measure(false);
  times.ready_cold_by_warm = measure(true);
  GRAPHGATE_TRY_VOID(starter.error());
  constexpr std::int64_t kWarmStarts = 2 * (std::int64_t{kRounds} + 1);
  if (!starter.cache_warning().empty()) {
    return infrastructure(path + ": the cache of the measurement: " + starter.cache_warning());
  }
  if (starter.cache_hits() != kWarmStarts * std::ssize(seen)) {
    return Error{ErrorKind::kInternal, path + ": a warm start compiled"};
  }
  return times;
}

}  // namespace

Result<Json> bench_planning(const BenchOptions& verb) {
  std::FILE* const page = page_of(verb);
  std::fprintf(page, "planning: a chain of pointwise nodes on f32[8], from the graph to a plan\n");
  Json sizes = Json::array();
  std::vector<double> per_node;
  for (const std::size_t nodes : {verb.nodes / 100, verb.nodes / 10, verb.nodes}) {
    GRAPHGATE_TRY(const PlanTime time, measure_planning(nodes));
    per_node.push_back(time.seconds / static_cast<double>(nodes));
    std::fprintf(page, "  %8zu nodes %9.4f s  %7.2f us a node  (", nodes, time.seconds,
                 per_node.back() * 1e6);
    Json stages = Json::object();
    const char* comma = "";
    double of_stages = 0;
    for (const auto& [name, seconds] : time.stages) of_stages += seconds;
    for (const auto& [name, seconds] : time.stages) {
      std::fprintf(page, "%s%s %.0f%%", comma, name.c_str(), 100 * seconds / of_stages);
      stages[name] = seconds;
      comma = ", ";
    }
    std::fprintf(page, ")\n");
    std::fflush(page);
    sizes.push_back({{"nodes", nodes}, {"seconds", time.seconds}, {"stage_seconds", stages}});
  }
  const double growth = per_node.back() / per_node.front();
  std::fprintf(page, "  %-36s %8.3fx\n", "a node at the last size / at the first", growth);
  return Json{{"sizes", sizes}, {"growth_per_node", growth}};
}

Result<Json> bench_start(const BenchOptions& verb) {
  std::FILE* const page = page_of(verb);
  GRAPHGATE_TRY(const StartTimes times,
                measure_start(verb.model.empty() ? kStartedModel : verb.model));
  std::fprintf(page, "start: %s, %zu nodes, plans for %zu sizes\n", times.program.c_str(),
               times.nodes, times.plans);
  print_ratio(page, "plans, cold / warm cache", times.plans_cold_by_warm);
  print_ratio(page, "plans and captures, cold / warm", times.ready_cold_by_warm);
  return Json{{"program", times.program},
              {"nodes", times.nodes},
              {"plans", times.plans},
              {"plans_cold_by_warm", json_of(times.plans_cold_by_warm, "cold", "warm")},
              {"ready_cold_by_warm", json_of(times.ready_cold_by_warm, "cold", "warm")}};
}

}  // namespace graphgate::tools
