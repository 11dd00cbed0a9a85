// Parts of `graphgate bench judges`: what watching a run costs beside the run itself, and what the
// plan verifier takes of a check.
//
// Processor time of one thread, both sides in turns (stopwatch.h).
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "base/file_io.h"
#include "conformance/judges/judge.h"
#include "conformance/run/runs.h"
#include "conformance/run/script.h"
#include "optimized/optimized.h"
#include "reference/reference.h"
#include "tools/bench/report.h"
#include "tools/executors/executor_sources.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

std::string name_of(const std::string& path) { return std::filesystem::path(path).stem().string(); }

// Names the executor that is called, and what watches it: an instrument of the optimized executor,
// or the reference's provenance mode, which is timed beside the eager one.
enum class Watched : std::uint8_t { kReferenceProvenance, kProvenance, kShadow };

std::unique_ptr<spec::Executor> reference_in(reference::Mode mode) {
  reference::Options options;
  options.mode = mode;
  return reference::make_executor(options);
}

std::unique_ptr<spec::Executor> optimized_with(optimized::InstrumentKind instrument) {
  optimized::Options options;
  options.runtime.instrument = instrument;
  return optimized::make_executor(options);
}

std::unique_ptr<spec::Executor> plain_of(Watched what) {
  return what == Watched::kReferenceProvenance ? reference_in(reference::Mode::kEager)
                                               : optimized_with(optimized::InstrumentKind::kNone);
}

std::unique_ptr<spec::Executor> watched_of(Watched what) {
  switch (what) {
    case Watched::kReferenceProvenance:
      return reference_in(reference::Mode::kProvenance);
    case Watched::kProvenance:
      return optimized_with(optimized::InstrumentKind::kProvenance);
    case Watched::kShadow:
      return optimized_with(optimized::InstrumentKind::kShadow);
  }
  return nullptr;
}

// One executor with one program, and the first error of its calls.
class Caller {
 public:
  Caller(std::unique_ptr<spec::Executor> executor, const spec::Program& program,
         const std::vector<conformance::ExpectedCall>& calls)
      : executor_(std::move(executor)), calls_(calls) {
    auto loaded = executor_->load(program);
    if (loaded.ok()) {
      loaded_ = std::move(loaded).value();
    } else {
      error_ = loaded.error();
    }
  }

  void make_calls(int repeats) {
    for (int r = 0; r < repeats; ++r) {
      for (const conformance::ExpectedCall& call : calls_) {
        if (!error_.ok()) return;
        const auto result = loaded_->call(call.inputs);
        if (!result.ok()) error_ = result.error();
      }
    }
  }
  [[nodiscard]] Result<void> error() const { return error_; }

 private:
  std::unique_ptr<spec::Executor> executor_;
  std::unique_ptr<spec::LoadedProgram> loaded_;
  const std::vector<conformance::ExpectedCall>& calls_;
  Result<void> error_;
};

// The programs (.pt2) of a folder, by name. kBadInput for a folder that has none.
Result<std::vector<std::string>> find_models(const std::string& folder) {
  GRAPHGATE_TRY(std::vector<std::string> out, list_files(folder, ".pt2", Depth::kFolder));
  if (out.empty()) return bad_input(folder + ": there is no .pt2 in this folder");
  return out;
}

// The recorded calls of one program, on executors that have been called before, watched by plain.
// `repeats`: how often the calls are made for one measurement.
struct WatchTimes {
  std::string model;
  std::size_t nodes = 0;
  int repeats = 0;
  Comparison watched_by_plain;
};
Result<WatchTimes> measure_watching(const std::string& path, Watched what) {
  constexpr int kRounds = 9;
  constexpr double kLeastSeconds = 4e-3;  // of the plain side of a round
  GRAPHGATE_TRY(const spec::Program program, read_program(path, spec::builtin_op_table()));
  GRAPHGATE_TRY(const auto calls, read_expected_calls(path, ""));
  if (calls.empty()) return bad_input(path + ": there are no recorded calls beside it");
  Caller plain(plain_of(what), program, calls);
  Caller watched(watched_of(what), program, calls);
  plain.make_calls(1);
  const double once = seconds_of<ThreadClock>([&] { plain.make_calls(1); });
  GRAPHGATE_TRY_VOID(plain.error());
  WatchTimes times{name_of(path), program.graph.nodes.size(), 1, {}};
  times.repeats = static_cast<int>(std::ceil(kLeastSeconds / std::max(once, 1e-7)));
  times.watched_by_plain = compare<ThreadClock>(
      kRounds, [&] { watched.make_calls(times.repeats); },
      [&] { plain.make_calls(times.repeats); });
  GRAPHGATE_TRY_VOID(plain.error());
  GRAPHGATE_TRY_VOID(watched.error());
  return times;
}

// A check of one program, its recorded calls compiled and run in it: the judges that it is asked by
// default (bounds, state), and the verifier, with the reference's run that it takes facts from.
struct VerifierTimes {
  std::string model;
  std::size_t nodes = 0;
  double check_seconds = 0;     // all three
  double verifier_seconds = 0;  // the verifier, the run included
  double run_seconds = 0;       // that run alone

  [[nodiscard]] double share() const { return (verifier_seconds - run_seconds) / check_seconds; }
  [[nodiscard]] double share_with_run() const { return verifier_seconds / check_seconds; }
};
Result<VerifierTimes> measure_verifier(const std::string& path) {
  constexpr int kRounds = 3;
  const auto ops = std::make_shared<const spec::OpTable>(spec::builtin_op_table());
  GRAPHGATE_TRY(spec::Program read, read_program(path, *ops));
  GRAPHGATE_TRY(const auto calls, read_expected_calls(path, ""));
  const auto program = std::make_shared<const spec::Program>(std::move(read));
  GRAPHGATE_TRY(const auto script, conformance::script_of(program, calls, 1, 1, ops));
  const auto subject = optimized_source();
  const auto oracle = reference_source(false);
  VerifierTimes best{name_of(path), program->graph.nodes.size(), 0, 0, 0};
  for (int round = 0; round < kRounds; ++round) {
    conformance::Runs runs(script, *subject, *oracle);
    const conformance::JudgeSettings settings;
    VerifierTimes times = best;
    GRAPHGATE_TRY(const auto bounds, judge_bounds(runs, settings));
    GRAPHGATE_TRY(const auto state, judge_state(runs, settings));
    Result<void> facts;
    times.run_seconds = seconds_of<ThreadClock>([&] {
      const auto trace = runs.oracle("geometry");
      if (!trace.ok()) facts = trace.error();
    });
    GRAPHGATE_TRY_VOID(std::move(facts));
    GRAPHGATE_TRY(const auto verifier, judge_verifier(runs, settings));
    if (verifier.checks == 0) return bad_input(path + ": the verifier had no plan to look at");
    times.verifier_seconds = times.run_seconds + verifier.seconds;
    times.check_seconds = bounds.seconds + state.seconds + times.verifier_seconds;
    if (round == 0 || times.check_seconds < best.check_seconds) best = times;
  }
  return best;
}

// Watched runs by plain ones: each model, the worst, and all together.
Result<Json> bench_watching(const BenchOptions& verb, const char* title, Watched what) {
  std::FILE* const page = page_of(verb);
  GRAPHGATE_TRY(const auto paths, find_models(verb.models));
  std::fprintf(page, "%s / plain: recorded calls of the programs in %s\n", title,
               verb.models.c_str());
  Json models = Json::array();
  Comparison sum;
  Comparison worst;
  std::string worst_model;
  for (const std::string& path : paths) {
    GRAPHGATE_TRY(const WatchTimes times, measure_watching(path, what));
    const Comparison& one = times.watched_by_plain;
    print_ratio(page, times.model.c_str(), one);
    Json json = {{"model", times.model}, {"nodes", times.nodes}, {"repeats", times.repeats}};
    json.update(json_of(one, "watched", "plain"));
    models.push_back(std::move(json));
    // Of one series of calls, so that no model counts more for being repeated.
    sum.first_seconds += one.first_seconds / times.repeats;
    sum.second_seconds += one.second_seconds / times.repeats;
    if (one.ratio > worst.ratio) {
      worst = one;
      worst_model = times.model;
    }
    std::fflush(page);
  }
  sum.ratio = sum.first_seconds / sum.second_seconds;
  print_ratio(page, ("worst: " + worst_model).c_str(), worst);
  print_ratio(page, "all, each once", sum);
  return Json{{"models", models},
              {"worst_model", worst_model},
              {"worst", worst.ratio},
              {"all", json_of(sum, "watched", "plain")}};
}

}  // namespace

Result<Json> bench_reference_provenance(const BenchOptions& verb) {
  return bench_watching(verb, "provenance, reference", Watched::kReferenceProvenance);
}
Result<Json> bench_provenance(const BenchOptions& verb) {
  return bench_watching(verb, "provenance, optimized", Watched::kProvenance);
}
Result<Json> bench_shadow(const BenchOptions& verb) {
  return bench_watching(verb, "shadow memory", Watched::kShadow);
}

Result<Json> bench_verifier(const BenchOptions& verb) {
  std::FILE* const page = page_of(verb);
  GRAPHGATE_TRY(const auto paths, find_models(verb.models));
  std::fprintf(page, "verifier: share of a check (bounds, state, verifier)\n");
  Json models = Json::array();
  for (const std::string& path : paths) {
    GRAPHGATE_TRY(const VerifierTimes times, measure_verifier(path));
    std::fprintf(page, "  %-36s %7.1f%%  (with the run that gives facts %.1f%%; check %.4g s)\n",
                 times.model.c_str(), 100 * times.share(), 100 * times.share_with_run(),
                 times.check_seconds);
    std::fflush(page);
    models.push_back({{"model", times.model},
                      {"nodes", times.nodes},
                      {"share", times.share()},
                      {"share_with_run", times.share_with_run()},
                      {"check_seconds", times.check_seconds},
                      {"verifier_seconds", times.verifier_seconds},
                      {"run_seconds", times.run_seconds}});
  }
  return Json{{"models", models}};
}

}  // namespace graphgate::tools
