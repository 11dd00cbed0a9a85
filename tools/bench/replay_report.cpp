// graphgate bench replay: what the runtime itself takes, what it adds to bare launches of graphs,
// and what graphs cost to make.
#include <cmath>

#include "tools/bench/graph_bench.h"
#include "tools/bench/idle_device.h"
#include "tools/bench/report.h"

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

}  // namespace

// No GPU: launches do nothing, and what is left is the runtime's.
Result<Json> bench_runtime(const BenchVerb& verb) {
  std::FILE* const page = page_of(verb);
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

Result<Json> bench_launch(const BenchVerb& verb) {
  std::FILE* const page = page_of(verb);
  GRAPHGATE_TRY(const auto device, make_device(verb.device, "plain", ""));
  std::fprintf(page, "launch: processor time on %s, by bare launches of the same graphs\n",
               device->description().c_str());
  const bool is_gpu = verb.device == "cuda";
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

Result<Json> bench_graphs(const BenchVerb& verb) {
  std::FILE* const page = page_of(verb);
  GRAPHGATE_TRY(const auto device, make_device(verb.device, "plain", ""));
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
    Json one = {{"kernels", kernels},
                {"copies", cost->copies},
                {"capture_seconds", cost->capture_seconds},
                {"instantiate_seconds", cost->instantiate_seconds},
                {"upload_seconds", cost->upload_seconds},
                {"device_bytes", nullptr}};
    if (cost->device_bytes) one["device_bytes"] = *cost->device_bytes;
    json.push_back(std::move(one));
  }
  return json;
}

}  // namespace graphgate::tools
