// graphgate bench replay: what the runtime itself takes, what it adds to bare launches of graphs,
// and what graphs and capture sizes cost.
#include <cmath>

#include "base/formatted.h"
#include "tools/bench/chain.h"
#include "tools/bench/graph_bench.h"
#include "tools/bench/idle_device.h"
#include "tools/bench/report.h"
#include "tools/bench/size_bench.h"
#include "tools/executors/optimized_options.h"
#include "tools/report/plan_words.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

LaunchSubject chain_of(std::size_t partitions, std::size_t kernels) {
  return {std::to_string(partitions) + (partitions == 1 ? " partition of " : " partitions of ") +
              std::to_string(kernels) + (kernels == 1 ? " kernel" : " kernels"),
          partitions, kernels, 0};
}

LaunchSubject decoder_of(std::int64_t layers) {
  return {"a decoder of " + std::to_string(layers) + " layers", 0, 0, layers};
}

Json json_of(const LaunchSubject& subject, const LaunchTimes& times) {
  return {{"subject", subject.name},
          {"graphs", times.graphs},
          {"eager_launches", times.eager_launches},
          {"kernels", times.kernels},
          {"copied_bytes", times.copied_bytes},
          {"launch_by_bare", json_of(times.launch_by_bare, "launch", "bare")},
          {"run_by_bare", json_of(times.run_by_bare, "run", "bare")},
          {"own_seconds_per_launch", times.own_seconds()}};
}

Json json_of(const optimized::GraphCost& cost) {
  Json json = {{"copies", cost.copies},
               {"capture_seconds", cost.capture_seconds},
               {"instantiate_seconds", cost.instantiate_seconds},
               {"upload_seconds", cost.upload_seconds},
               {"device_bytes", nullptr}};
  if (cost.device_bytes) json["device_bytes"] = *cost.device_bytes;
  return json;
}

Json json_of(const SizeCost& cost) {
  Json json = {{"graphs", cost.graphs},
               {"kernels", cost.kernels},
               {"ready_seconds", cost.ready_seconds},
               {"load_seconds", cost.load_seconds},
               {"own_bytes", cost.own_bytes},
               {"added_bytes", cost.added_bytes},
               {"made", nullptr}};
  if (cost.made) json["made"] = json_of(*cost.made);
  return json;
}

// "257 to 512  32 graphs, 64 kernels: recorded in 1200 us (200 + 800 + 200), graphs 3 MiB; ..."
void print_size(std::FILE* page, const std::string& calls, const SizeCost& cost) {
  std::string made = "no graphs on the device";
  if (cost.made) {
    const double us =
        (cost.made->capture_seconds + cost.made->instantiate_seconds + cost.made->upload_seconds) *
        1e6;
    made =
        formatted("recorded in %.1f us (%.1f + %.1f + %.1f)", us, cost.made->capture_seconds * 1e6,
                  cost.made->instantiate_seconds * 1e6, cost.made->upload_seconds * 1e6);
    made += cost.made->device_bytes
                ? ", graphs " + print_bytes(std::llround(*cost.made->device_bytes))
                : ", no visible bytes of graphs";
  }
  std::fprintf(page,
               "  %-14s %4zu %-7s %5zu kernels: %s; memory %s (plan's %s); ready after %.2f s\n",
               calls.c_str(), cost.graphs, cost.graphs == 1 ? "graph," : "graphs,", cost.kernels,
               made.c_str(), print_bytes(cost.added_bytes).c_str(),
               print_bytes(cost.own_bytes).c_str(), cost.ready_seconds);
  std::fflush(page);
}

// Layers of a product, cut behind each or one graph.
SizeMeasure layers_of(std::size_t layers, bool is_cut) {
  constexpr std::int64_t kWidth = 256;
  constexpr std::int64_t kMostRows = 65'536;
  SizeMeasure measure;
  measure.program = make_layers(layers, kWidth, kMostRows);
  if (is_cut) measure.compile.partition.max_nodes = 2;
  return measure;
}

Result<Json> print_sizes(std::FILE* page, const std::string& name, const SizeMeasure& measure) {
  GRAPHGATE_TRY(const SizeCosts costs, measure_sizes(measure));
  std::fprintf(page, "  %s, state of %s; %s\n", name.c_str(),
               print_bytes(costs.state_bytes).c_str(),
               costs.refusal.empty() ? "calls run in the next larger size"
                                     : ("no call is padded: " + costs.refusal).c_str());
  Json json = Json::array();
  for (const SizeCost& cost : costs.sizes) {
    const std::string last = std::to_string(cost.size);
    print_size(page, cost.least == cost.size ? last : std::to_string(cost.least) + " to " + last,
               cost);
    Json one = {{"size", cost.size}, {"least", cost.least}};
    one.update(json_of(cost));
    json.push_back(std::move(one));
  }
  const SizeCost all = costs.all();
  print_size(page, "all", all);
  return Json{{"program", name},
              {"state_bytes", costs.state_bytes},
              {"padding_refusal", costs.refusal},
              {"sizes", json},
              {"all", json_of(all)}};
}

}  // namespace

// No GPU: launches do nothing, and what is left is the runtime's.
Result<Json> bench_runtime(const BenchOptions& options) {
  std::FILE* const page = page_of(options);
  std::fprintf(page, "runtime: a run on a device whose launches do nothing\n");
  Json json = Json::array();
  for (const LaunchSubject& subject :
       {chain_of(1, 1), chain_of(33, 1), chain_of(50, 20), decoder_of(32)}) {
    LaunchMeasure measure;
    measure.subject = subject;
    measure.device = std::make_shared<IdleDevice>();
    measure.launches = 20'000;
    measure.launched_kernels = 400'000;
    GRAPHGATE_TRY(const LaunchTimes times, measure_launches(measure));
    std::fprintf(page, "  %-36s %8.1f ns a launch, %.0f ns a run of %zu graphs%s\n",
                 subject.name.c_str(), times.own_seconds() * 1e9,
                 times.run_by_bare.first_seconds * 1e9, times.graphs,
                 times.eager_launches == 0
                     ? ""
                     : (" and " + std::to_string(times.eager_launches) + " eager steps").c_str());
    std::fflush(page);
    json.push_back(json_of(subject, times));
  }
  return json;
}

Result<Json> bench_launch(const BenchOptions& options) {
  std::FILE* const page = page_of(options);
  GRAPHGATE_TRY(const auto device, open_device(options.device));
  std::fprintf(page, "launch: processor time on %s, by bare launches of the same graphs\n",
               device->description().c_str());
  const bool is_gpu = device_of(options.device) == "cuda";
  Json json = Json::array();
  for (const LaunchSubject& subject :
       {chain_of(1, 1), chain_of(1, 10), chain_of(1, 100), chain_of(33, 1), chain_of(50, 1),
        chain_of(50, 20), decoder_of(32)}) {
    LaunchMeasure measure;
    measure.subject = subject;
    measure.device = device;
    if (!is_gpu) measure.rounds = 1;  // counts are the same
    if (!is_gpu) measure.launches = 1;
    GRAPHGATE_TRY(const LaunchTimes times, measure_launches(measure));
    const double bare =
        times.run_by_bare.second_seconds / static_cast<double>(times.graphs + times.eager_launches);
    std::fprintf(page, "  %s: %.3f us a bare launch", subject.name.c_str(), bare * 1e6);
    if (times.eager_launches > 0) {
      std::fprintf(page, " (%zu of %zu are eager)", times.eager_launches,
                   times.graphs + times.eager_launches);
    }
    std::fprintf(page, "\n");
    print_ratio(page, "launches / bare launches", times.launch_by_bare);
    print_ratio(page, "a run / bare launches", times.run_by_bare);
    std::fprintf(page, "  %-36s %8.1f ns a launch; %lld bytes copied\n", "the runtime's own",
                 times.own_seconds() * 1e9, static_cast<long long>(times.copied_bytes));
    std::fflush(page);
    json.push_back(json_of(subject, times));
  }
  return json;
}

Result<Json> bench_boundaries(const BenchOptions& options) {
  std::FILE* const page = page_of(options);
  GRAPHGATE_TRY(const auto device, open_device(options.device));
  std::fprintf(page, "boundaries: until %s is done, by one graph of the same kernels\n",
               device->description().c_str());
  Json json = Json::array();
  for (const LaunchSubject& subject : {chain_of(33, 5), chain_of(33, 20)}) {
    LaunchMeasure measure;
    measure.subject = subject;
    measure.device = device;
    if (device_of(options.device) != "cuda") measure.rounds = 1;  // counts are the same
    GRAPHGATE_TRY(const BoundaryTimes times, measure_boundaries(measure));
    std::fprintf(page, "  %s: %.2f us for each of %zu boundaries\n", subject.name.c_str(),
                 times.seconds_per_boundary() * 1e6, times.graphs - 1);
    print_ratio(page, "cut / one graph", times.cut_by_whole);
    std::fflush(page);
    json.push_back({{"subject", subject.name},
                    {"kernels", times.kernels},
                    {"graphs", times.graphs},
                    {"seconds_per_boundary", times.seconds_per_boundary()},
                    {"cut_by_whole", json_of(times.cut_by_whole, "cut", "whole")}});
  }
  return json;
}

Result<Json> bench_graphs(const BenchOptions& options) {
  std::FILE* const page = page_of(options);
  GRAPHGATE_TRY(const auto device, open_device(options.device));
  std::fprintf(page, "graphs: what one takes to make, on %s\n", device->description().c_str());
  struct Size {
    std::size_t kernels;
    int most;
  };
  Json json = Json::array();
  for (const auto& [kernels, most] :
       {Size{1, 4096}, Size{10, 2048}, Size{100, 1024}, Size{1000, 128}}) {
    GRAPHGATE_TRY(const auto cost, measure_graphs(*device, kernels, most));
    if (!cost) {
      std::fprintf(page, "  %s has no graphs\n", device->description().c_str());
      break;
    }
    const std::string bytes = cost->device_bytes
                                  ? std::to_string(std::llround(*cost->device_bytes)) + " bytes"
                                  : "no visible bytes";
    std::fprintf(page,
                 "  %4zu %s captured in %.1f us, instantiated in %.1f us, uploaded in %.1f "
                 "us; %s of the device (%d copies)\n",
                 kernels, kernels == 1 ? "kernel: " : "kernels:", cost->capture_seconds * 1e6,
                 cost->instantiate_seconds * 1e6, cost->upload_seconds * 1e6, bytes.c_str(),
                 cost->copies);
    std::fflush(page);
    Json one = {{"kernels", kernels}};
    one.update(json_of(*cost));
    json.push_back(std::move(one));
  }
  return json;
}

// What one more capture size takes: of a program of the user's, or of layers, as piecewise graphs
// and as one.
Result<Json> bench_sizes(const BenchOptions& options) {
  constexpr std::size_t kLayers = 32;
  std::FILE* const page = page_of(options);
  std::vector<std::pair<std::string, SizeMeasure>> measures;
  if (options.model.empty()) {
    const std::string layers = std::to_string(kLayers) + " layers";
    measures.emplace_back(layers + ", cut behind each", layers_of(kLayers, true));
    measures.emplace_back(layers + " in one", layers_of(kLayers, false));
  } else {
    measures.emplace_back(options.model, SizeMeasure{});
    GRAPHGATE_TRY(measures.back().second.program,
                  read_program(options.model, spec::builtin_op_table()));
  }
  Json json = Json::array();
  for (auto& [name, measure] : measures) {
    GRAPHGATE_TRY(measure.device, open_device(options.device));
    if (json.empty()) {
      std::fprintf(page, "sizes: what each capture size takes, the largest first, on %s\n",
                   measure.device->description().c_str());
    }
    measure.sizes =
        options.capture_sizes.empty() ? usual_sizes(measure.program) : options.capture_sizes;
    GRAPHGATE_TRY(json.emplace_back(), print_sizes(page, name, measure));
  }
  return json;
}

}  // namespace graphgate::tools
