// graphgate bench: how fast planning and replay are, and what judges cost, as ratios of times taken
// in one run.
#include <algorithm>
#include <memory>

#include "base/atomic_file.h"
#include "tools/bench/decode_bench.h"
#include "tools/bench/fuzz_bench.h"
#include "tools/bench/judge_bench.h"
#include "tools/bench/plan_bench.h"
#include "tools/bench/report.h"
#include "tools/cli/option_flags.h"
#include "tools/cli/option_types.h"
#include "tools/cli/verb.h"
#include "tools/executors/optimized_options.h"
#include "tools/report/forms.h"
#include "tools/report/plan_words.h"

namespace graphgate::tools {
namespace {

constexpr std::size_t kChainOps = 8;
constexpr std::size_t kKernels = 20;
constexpr double kKernelSeconds = 10e-6;
constexpr const char* kStartedModel = "golden/models/llama_sdpa.pt2";

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

Result<Json> bench_fusion(const BenchOptions& verb) {
  std::FILE* const page = page_of(verb);
  GRAPHGATE_TRY(const FusionTimes times, measure_fusion(kChainOps, verb.tensor_mib << 20));
  std::fprintf(
      page, "fusion: %zu pointwise ops on a tensor of %s (largest cache: %s), %zu fused launches\n",
      times.ops, print_bytes(times.tensor_bytes).c_str(), print_bytes(times.cache_bytes).c_str(),
      times.fused_launches);
  print_ratio(page, "op at a time / fused", times.unfused_by_fused);
  print_ratio(page, "fused / memcpy of the tensor", times.fused_by_memcpy);
  return Json{{"ops", times.ops},
              {"tensor_bytes", times.tensor_bytes},
              {"cache_bytes", times.cache_bytes},
              {"fused_launches", times.fused_launches},
              {"unfused_by_fused", json_of(times.unfused_by_fused, "unfused", "fused")},
              {"fused_by_memcpy", json_of(times.fused_by_memcpy, "fused", "memcpy")}};
}

Result<Json> bench_replay(const BenchOptions& verb) {
  std::FILE* const page = page_of(verb);
  GRAPHGATE_TRY(const ReplayTimes times, measure_replay(kKernels, kKernelSeconds));
  std::fprintf(page, "replay: %zu partitions of %zu kernels on f32[%lld], %.2f us each\n",
               times.partitions, times.kernels, static_cast<long long>(times.elements),
               times.kernel_seconds() * 1e6);
  print_ratio(page, "replay / the kernels called directly", times.replay_by_direct);
  std::fprintf(page, "  %-36s %8.3f us  (%.2f%%)\n", "overhead of a partition",
               times.overhead_seconds_per_partition() * 1e6,
               100 * (times.replay_by_direct.ratio - 1));
  return Json{{"partitions", times.partitions},
              {"kernels", times.kernels},
              {"elements", times.elements},
              {"kernel_seconds", times.kernel_seconds()},
              {"replay_by_direct", json_of(times.replay_by_direct, "replay", "direct")},
              {"overhead_seconds_per_partition", times.overhead_seconds_per_partition()}};
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

// ---- judges ----

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

// ---- fuzz ----

Result<Json> bench_draw(const BenchOptions& verb) {
  std::FILE* const page = page_of(verb);
  const DrawTimes times = measure_drawing(std::min<std::uint64_t>(verb.cases, 100'000), verb.cases);
  const auto cases = static_cast<double>(times.cases);
  std::fprintf(page, "draw: %.0f cases/s, %.1f nodes a case; %llu of %llu cases not valid%s%s\n",
               cases / times.draw_seconds, static_cast<double>(times.nodes) / cases,
               static_cast<unsigned long long>(times.invalid),
               static_cast<unsigned long long>(times.checked), times.invalid > 0 ? ": " : "",
               times.first_complaint.c_str());
  return Json{{"cases_per_second", cases / times.draw_seconds},
              {"nodes_per_case", static_cast<double>(times.nodes) / cases},
              {"checked", times.checked},
              {"invalid", times.invalid}};
}

// "judge: 512 cases/s (20.1 nodes, 4.0 calls): draw 2%, optimized 31%..."
Json print_judging(std::FILE* page, const char* what, const JudgeTimes& times) {
  const auto cases = static_cast<double>(times.cases);
  std::fprintf(page, "%s: %.0f cases/s, %.1f nodes and %.1f calls a case;", what,
               cases / times.seconds, static_cast<double>(times.nodes) / cases,
               static_cast<double>(times.calls) / cases);
  Json parts = Json::object();
  for (const auto& [name, seconds] : times.parts) {
    std::fprintf(page, " %s %.0f us", name.c_str(), 1e6 * seconds / cases);
    parts[name] = seconds;
  }
  std::fprintf(page, "\n");
  return {{"cases", times.cases}, {"cases_per_second", cases / times.seconds}, {"seconds", parts}};
}

Result<Json> bench_judging(const BenchOptions& verb) {
  GRAPHGATE_TRY(const JudgeTimes median, measure_judging(verb.cases));
  Json json = {{"median", print_judging(page_of(verb), "judge, median case", median)}};
  GRAPHGATE_TRY(const JudgeTimes campaign, measure_campaign_cases(verb.cases));
  json["campaign"] = print_judging(page_of(verb), "judge, as a campaign", campaign);
  return json;
}

// In eighths; features, or the highest score where one is searched for.
Json print_curve(std::FILE* page, const char* name, const Curve& points,
                 std::optional<fuzz::Score> target) {
  std::fprintf(page, "  %-10s", name);
  Json json = Json::array();
  for (const CampaignPoint& point : points) {
    const double shown = target ? point.score : static_cast<double>(point.features);
    std::fprintf(page, " %.0f (%.1f s)", shown, point.seconds);
    json.push_back({{"cases", point.cases},
                    {"features", point.features},
                    {"score", point.score},
                    {"seconds", point.seconds}});
  }
  std::fprintf(page, "\n");
  return json;
}

constexpr std::uint64_t kCurveSeed = 3;

Json print_curves(std::FILE* page, const std::string& what, const Curves& curves,
                  std::optional<fuzz::Score> target) {
  std::fprintf(page, "%s in eighths of %llu cases, and the processor time\n", what.c_str(),
               static_cast<unsigned long long>(curves.blind.back().cases));
  Json blind = print_curve(page, "blind", curves.blind, target);
  Json bred = print_curve(page, "bred", curves.bred, target);
  return Json{{"blind", std::move(blind)}, {"bred", std::move(bred)}};
}

std::uint64_t curve_cases(const BenchOptions& verb) {
  return std::min<std::uint64_t>(verb.cases, 100'000);
}

Result<Json> bench_features(const BenchOptions& verb) {
  GRAPHGATE_TRY(const Curves curves, measure_features(kCurveSeed, curve_cases(verb)));
  return print_curves(page_of(verb), "features: seen", curves, {});
}

Result<Json> bench_search(const BenchOptions& verb) {
  Json json;
  for (const auto target : {fuzz::Score::kPeak, fuzz::Score::kReuseDepth}) {
    const std::string name(fuzz::score_name(target));
    GRAPHGATE_TRY(const Curves curves, measure_search(kCurveSeed, curve_cases(verb), target));
    json[name] = print_curves(page_of(verb), "search: highest " + name, curves, target);
  }
  return json;
}

// ---- decode ----

Json print_decode(std::FILE* page, const char* what, const DecodeShape& shape,
                  const DecodeTimes& times) {
  const double bytes = static_cast<double>(shape.weight_bytes() + shape.cache_bytes());
  std::fprintf(
      page, "%s, batch %lld: %.1f us, %.2fx the floor of %.1f us (%.2f GB read once, %.0f GB/s)\n",
      what, static_cast<long long>(shape.batch), times.step_seconds * 1e6,
      times.step_seconds / times.floor_seconds, times.floor_seconds * 1e6, bytes / 1e9,
      bytes / times.floor_seconds / 1e9);
  std::fprintf(
      page,
      "  %zu nodes, %zu kernels in %zu graphs and %zu launches beside them; %.1f us of the "
      "processor a step; ready after %.1f s\n",
      times.nodes, times.kernels, times.graphs, times.eager_kernels, times.launch_seconds * 1e6,
      times.prepare_seconds);
  std::fprintf(page, "  plan: %s%s\n",
               times.findings == 0 ? "no findings of the verifier" : "findings, the first: ",
               times.first_finding.c_str());
  if (times.error >= 0) std::fprintf(page, "  logits: %.2g from the host's\n", times.error);
  Json kernels = Json::array();
  for (const KernelTime& kernel : times.by_kernel) {
    std::fprintf(page, "  %8.1f us  %4zu x %6.2f  %s\n", kernel.seconds * 1e6, kernel.count,
                 kernel.seconds * 1e6 / static_cast<double>(kernel.count), kernel.name.c_str());
    kernels.push_back(
        {{"kernel", kernel.name}, {"count", kernel.count}, {"seconds", kernel.seconds}});
  }
  std::fflush(page);
  return Json{{"batch", shape.batch},
              {"layers", shape.layers},
              {"step_seconds", times.step_seconds},
              {"floor_seconds", times.floor_seconds},
              {"ratio", times.step_seconds / times.floor_seconds},
              {"bytes", bytes},
              {"launch_seconds", times.launch_seconds},
              {"kernels", times.kernels},
              {"graphs", times.graphs},
              {"eager_kernels", times.eager_kernels},
              {"prepare_seconds", times.prepare_seconds},
              {"findings", times.findings},
              {"error", times.error},
              {"by_kernel", kernels}};
}

// Beside one graph's time.
Result<Json> bench_torch(const BenchOptions& verb, ExternalProcess& torch, const DecodeShape& shape,
                         double step_seconds) {
  GRAPHGATE_TRY(const auto times, measure_torch(torch, shape));
  std::fprintf(page_of(verb), "PyTorch, batch %lld\n", static_cast<long long>(shape.batch));
  Json json = Json::array();
  for (const TorchTime& time : times) {
    if (!time.error.empty()) {
      std::fprintf(page_of(verb), "  %s: %s\n", time.mode.c_str(), time.error.c_str());
      json.push_back({{"mode", time.mode}, {"error", time.error}});
      continue;
    }
    std::fprintf(page_of(verb), "  %s, %s: %.1f us, %.2fx one graph\n", time.version.c_str(),
                 time.mode.c_str(), time.step_seconds * 1e6, time.step_seconds / step_seconds);
    json.push_back(
        {{"mode", time.mode}, {"torch", time.version}, {"step_seconds", time.step_seconds}});
  }
  std::fflush(page_of(verb));
  return json;
}

// Every batch as one graph, and piecewise with attention as a split op; then PyTorch's steps. Its
// process comes last: launches of the one take longer while the other has the GPU open.
Result<Json> bench_decoder(const BenchOptions& verb, DecodeShape shape) {
  Json json = Json::array();
  for (const std::int64_t batch : verb.batches) {
    shape.batch = batch;
    double one_graph = 0;
    for (const bool is_piecewise : {false, true}) {
      DecodeMeasure measure;
      measure.shape = shape;
      measure.is_piecewise = is_piecewise;
      measure.compares = !is_piecewise && batch <= 16;
      measure.by_kernel = !is_piecewise;
      GRAPHGATE_TRY(measure.device, open_device(verb.device));
      GRAPHGATE_TRY(const DecodeTimes times, measure_decode(measure));
      const char* const what = is_piecewise ? "piecewise" : "one graph";
      Json one = print_decode(page_of(verb), what, shape, times);
      one["form"] = what;
      if (is_piecewise) {
        one["by_one_graph"] = times.step_seconds / one_graph;
        std::fprintf(page_of(verb), "  %.3fx one graph\n", times.step_seconds / one_graph);
      } else {
        one_graph = times.step_seconds;
      }
      json.push_back(std::move(one));
    }
  }
  if (verb.torch.empty()) return json;
  GRAPHGATE_TRY(const auto torch, ExternalProcess::start(verb.torch));
  for (Json& one : json) {
    if (one["form"] != "one graph") continue;
    shape.batch = one["batch"];
    GRAPHGATE_TRY(one["torch"], bench_torch(verb, *torch, shape, one["step_seconds"]));
  }
  return json;
}

// Shapes of Llama 3.2 1B, and of Llama 3.1 8B with four layers.
Result<Json> bench_llama_1b(const BenchOptions& verb) { return bench_decoder(verb, {}); }
Result<Json> bench_llama_8b(const BenchOptions& verb) {
  DecodeShape shape;
  shape.layers = 4;
  shape.width = 4096;
  shape.head_size = 128;
  shape.hidden = 14336;
  return bench_decoder(verb, shape);
}

struct Part {
  const char* what;
  const char* name;
  Result<Json> (*run)(const BenchOptions& verb);
  bool needs_device = false;  // another --device than the host
};
constexpr Part kParts[] = {{"plan", "planning", bench_planning},
                           {"plan", "fusion", bench_fusion},
                           {"plan", "replay", bench_replay},
                           {"plan", "start", bench_start},
                           {"replay", "runtime", bench_runtime},
                           {"replay", "launch", bench_launch, true},
                           {"replay", "boundaries", bench_boundaries, true},
                           {"replay", "graphs", bench_graphs, true},
                           {"replay", "sizes", bench_sizes, true},
                           {"decode", "llama-1b", bench_llama_1b},
                           {"decode", "llama-8b", bench_llama_8b},
                           {"judges", "provenance", bench_provenance},
                           {"judges", "reference-provenance", bench_reference_provenance},
                           {"judges", "shadow", bench_shadow},
                           {"judges", "verifier", bench_verifier},
                           {"fuzz", "draw", bench_draw},
                           {"fuzz", "judge", bench_judging},
                           {"fuzz", "features", bench_features},
                           {"fuzz", "search", bench_search}};

std::vector<std::string> part_names() {
  std::vector<std::string> names;
  for (const Part& part : kParts) names.emplace_back(part.name);
  return names;
}

// Whether the flags go together, and the device is there.
Result<void> check_bench(const BenchOptions& verb) {
  const bool has_device = !is_on_host(verb.device);
  for (const std::string& name : verb.only) {
    const auto* const part =
        std::find_if(std::begin(kParts), std::end(kParts),
                     [&](const Part& one) { return one.name == name && one.what == verb.what; });
    if (part == std::end(kParts)) {
      return bad_input("--only: '" + name + "' is no part of '" + verb.what + "'");
    }
    if (part->needs_device && !has_device) {
      return bad_input("--only: '" + name + "' takes --device cuda or emulated");
    }
  }
  if (!has_device) return check_device(verb.device);
  if (verb.what != "replay" && verb.what != "decode") {
    return bad_input("--device: '" + verb.what + "' takes none");
  }
  if (device_of(verb.device) == "compiled") {
    return bad_input("--device compiled: nothing runs there that could be measured");
  }
  const auto device = open_device(verb.device);
  return device.ok() ? Result<void>() : device.error();
}

Result<ExitCode> run_bench(const BenchOptions& verb) {
  GRAPHGATE_TRY_VOID(check_bench(verb));
  Json json = {{"version", GRAPHGATE_VERSION},
               {"build_type", GRAPHGATE_BUILD_TYPE},
               {"allocator", GRAPHGATE_ALLOCATOR}};
  std::fprintf(page_of(verb), "%s build by %s, %s allocator\n", GRAPHGATE_BUILD_TYPE,
               GRAPHGATE_COMPILER, GRAPHGATE_ALLOCATOR);
  for (const Part& part : kParts) {
    const auto& only = verb.only;
    if (part.what != verb.what || (part.needs_device && is_on_host(verb.device))) continue;
    if (!only.empty() && std::find(only.begin(), only.end(), part.name) == only.end()) continue;
    GRAPHGATE_TRY(json[part.name], part.run(verb));
    std::fflush(page_of(verb));
  }
  if (!verb.json.empty()) GRAPHGATE_TRY_VOID(write_text(print_json(json), verb.json));
  return ExitCode::kGood;
}

}  // namespace

Verb add_bench(CLI::App& app) {
  const auto owned = std::make_shared<BenchOptions>();
  BenchOptions& verb = *owned;
  CLI::App* bench = app.add_subcommand(
      "bench", "measure planning, replay, judges and drawing, as ratios of times taken in one run");
  bench
      ->add_option(
          "what", verb.what,
          "what is measured: plan, the optimized executor on the host; judges, what they "
          "cost beside plain runs; fuzz, how cases are drawn; replay, what the runtime "
          "adds to launches of graphs, with --device on a device, too; decode, a decoder's "
          "step, on a GPU unless --device says emulated. Times of an emulated device say "
          "nothing")
      ->required()
      ->check(CLI::IsMember({"plan", "judges", "fuzz", "replay", "decode"}));
  bench->add_option("--only", verb.only, "measure this part alone (repeatable)")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(part_names()));
  bench->add_option("--nodes", verb.nodes, "nodes of the largest chain that is planned")
      ->check(CLI::Range(100, 100'000'000));
  bench->add_option("--cases", verb.cases, "cases that are drawn, and run for their features")
      ->check(CLI::Range(std::uint64_t{8}, std::uint64_t{1} << 40U))
      ->capture_default_str();
  bench->add_option("--batch", verb.batches, "sequences of a decoder's step (repeatable)")
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 1024));
  bench
      ->add_option("--torch", verb.torch,
                   "a command that times a decoder's step in PyTorch (tools/bench/decode_torch.py)")
      ->type_name(takes::kCommand);
  add_device_flags(*bench, verb.device);
  bench->add_option("--tensor-mib", verb.tensor_mib, "size of the tensors of the fused chain")
      ->check(CLI::Range(1, 1 << 20));
  bench
      ->add_option(
          "--model", verb.model,
          "the program that is started cold and warm (default: " + std::string(kStartedModel) +
              "), or whose capture sizes are measured (default: layers of a product)")
      ->type_name(takes::kFile);
  bench
      ->add_option(std::string("--") + spec::option::kCaptureSizes, verb.capture_sizes,
                   "sizes whose graphs are measured, 1,2,4 (default: powers of two up to 512)")
      ->delimiter(',')
      ->allow_extra_args(false);
  bench->add_option("--models", verb.models, "the folder of programs that judges are measured on")
      ->type_name(takes::kFolder);
  bench->add_option("--json", verb.json, "write it as JSON to this file (- for stdout)")
      ->type_name(takes::kOutput);
  bench->footer(
      "Examples:\n  graphgate bench plan\n"
      "  graphgate bench plan --only planning --nodes 10000 --json -\n"
      "  graphgate bench judges --only provenance\n"
      "  graphgate bench fuzz --only draw --cases 1000000\n"
      "  graphgate bench replay --device cuda --json replay.json\n"
      "  graphgate bench replay --device cuda --only sizes --model m.pt2 --capture-sizes 1,2,4,8\n"
      "  graphgate bench decode --batch 1 --torch 'python3 tools/bench/decode_torch.py'");
  return {bench, [owned](const auto& /*words*/) { return run_bench(*owned); }};
}

}  // namespace graphgate::tools
