#include "tools/bench/decode_bench.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "conformance/verify/verify.h"
#include "optimized/runtime/cuda/cuda_device.h"
#include "optimized/runtime/state_store.h"
#include "tools/bench/planned.h"
#include "tools/bench/report.h"
#include "tools/executors/op_case_judge.h"
#include "tools/executors/optimized_options.h"

namespace graphgate::tools {
namespace {

using optimized::CompileOptions;
using optimized::Device;
using optimized::DeviceCall;
using optimized::DeviceProgramText;
using optimized::HostProgram;
using optimized::OnDevice;

// A program, its plan, and the memory that it runs in.
struct Loaded {
  explicit Loaded(const spec::Program& program)
      : pool(std::make_shared<optimized::RunPool>()), state(program, pool) {}

  std::shared_ptr<optimized::RunPool> pool;
  optimized::StateStore state;
  std::unique_ptr<HostProgram> host;
};

Result<std::unique_ptr<Loaded>> run_once(const spec::Program& program, spec::Plan plan,
                                         const CompileOptions& options,
                                         std::shared_ptr<Device> device) {
  auto out = std::make_unique<Loaded>(program);
  optimized::HostOptions host;
  host.device = std::move(device);
  try {
    out->host = std::make_unique<HostProgram>(std::move(plan), *options.ops, out->state.memory(),
                                              std::move(host), out->pool);
    GRAPHGATE_TRY_VOID(out->state.load(*out->host));
    out->host->run(std::span<const spec::HostTensor* const>());
  } catch (const optimized::DeviceError& error) {
    return infrastructure(error.what());
  }
  return out;
}

// Seconds of one time that `launch` starts, among many behind each other.
template <class LaunchAll>
double time_launches(Device& device, const DecodeMeasure& measure, LaunchAll&& launch) {
  launch();
  device.finish();
  std::vector<double> seconds;
  seconds.reserve(static_cast<std::size_t>(measure.rounds));
  for (int round = 0; round < measure.rounds; ++round) {
    seconds.push_back(seconds_of<WallClock>([&] {
      for (int i = 0; i < measure.replays; ++i) launch();
      device.finish();
    }));
  }
  return median(std::move(seconds)) / measure.replays;
}

// A kernel that reads bytes and keeps nothing of them. No compiler can know that the number of
// threads rules its store out, so the reads stay.
double time_reading(Device& device, const DecodeMeasure& measure, std::span<std::byte> bytes) {
  constexpr std::int64_t kThreads = std::int64_t{132} * 8 * 256;
  const auto count = static_cast<std::int64_t>(bytes.size()) / 16;
  optimized::TextWork work;
  work.threads = kThreads;
  work.pointers = {bytes.data()};
  work.statements =
      "  const uint4* const from = reinterpret_cast<const uint4*>(p0);\n"
      "  unsigned all = 0;\n#pragma unroll 8\n  for (std::int64_t i = thread; i < " +
      std::to_string(count) + "; i += " + std::to_string(kThreads) +
      ") {\n    const uint4 v = from[i];\n    all ^= v.x ^ v.y ^ v.z ^ v.w;\n  }\n"
      "  if (all == 0x12345678u && thread >= " +
      std::to_string(kThreads) + ") p0[0] = 1;\n";
  DeviceProgramText text;
  const std::vector<Device::Job> jobs = {{text.add({work}), true}};
  const auto runs = device.load(text, jobs);
  return time_launches(device, measure, [&] { runs.front()->launch(); });
}

// Kernels by name, the longest together first.
std::vector<KernelTime> time_kernels(Device& device, const DecodeMeasure& measure,
                                     const DeviceProgramText& text,
                                     std::span<const OnDevice::Unit* const> units) {
  std::map<std::string, std::vector<DeviceCall>> calls;
  for (const OnDevice::Unit* unit : units) {
    for (DeviceCall call : unit->calls) {
      call.stream = 0;  // one after the other
      calls[call.name].push_back(std::move(call));
    }
  }
  std::vector<Device::Job> jobs;
  std::vector<KernelTime> times;
  for (auto& [name, same] : calls) {
    const std::string what = same.front().what.empty() ? name : same.front().what;
    times.push_back({what, same.size(), 0});
    jobs.push_back({std::move(same), true});
  }
  const auto runs = device.load(text, jobs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    times[i].seconds = time_launches(device, measure, [&] { runs[i]->launch(); });
  }
  std::sort(times.begin(), times.end(),
            [](const KernelTime& a, const KernelTime& b) { return a.seconds > b.seconds; });
  return times;
}

// The logits, widened.
std::vector<double> logits_of(const HostProgram& program) {
  const auto tensor = *program.read(program.plan().outputs.front()).as<optimized::Tensor>();
  std::vector<double> out;
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, tensor.data() + i * tensor.item_bytes(), sizeof half);
    const std::uint32_t bits = std::uint32_t{half} << 16U;
    float number = 0;
    std::memcpy(&number, &bits, sizeof number);
    out.push_back(number);
  }
  return out;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return std::sqrt(difference / norm);
}

}  // namespace

Result<DecodeTimes> measure_decode(const DecodeMeasure& measure) {
  std::shared_ptr<Device> device = measure.device;
  if (!device) {
    GRAPHGATE_TRY(device, optimized::cuda::make_cuda_device());
  }
  GRAPHGATE_TRY(const spec::Program program, make_decode_program(measure.shape));
  CompileOptions options;
  options.arithmetic = optimized::Arithmetic::kFast;
  options.partition.device_kernels = true;
  if (measure.is_piecewise) {
    options.partition.split_ops.emplace_back("aten.scaled_dot_product_attention");
  }
  DecodeTimes times;
  times.nodes = program.graph.nodes.size();
  const double begin = WallClock::now();
  GRAPHGATE_TRY(const spec::Plan plan, plan_of(program, options));
  GRAPHGATE_TRY(const auto loaded, run_once(program, plan, options, device));
  times.prepare_seconds = WallClock::now() - begin;

  const auto findings = verify::verify_plan({&plan, &program, options.ops, nullptr});
  times.findings = findings.size();
  if (!findings.empty()) {
    times.first_finding = findings.front().rule + ": " + findings.front().message;
  }
  GRAPHGATE_TRY(const auto units, units_of(*loaded->host));
  for (const OnDevice::Unit* unit : units) {
    ++(unit->is_captured ? times.graphs : times.eager_kernels);
    if (!unit->is_captured) times.eager_kernels += unit->calls.size() - 1;
    times.kernels += unit->calls.size();
  }
  if (measure.compares) {
    const std::vector<double> logits = logits_of(*loaded->host);
    GRAPHGATE_TRY(const auto host, run_once(program, plan, options, nullptr));
    times.error = distance(logits, logits_of(*host->host));
  }
  try {
    const auto step = [&] {
      for (const OnDevice::Unit* unit : units) unit->run->launch();
    };
    times.step_seconds = time_launches(*device, measure, step);
    times.launch_seconds = seconds_of<WallClock>([&] {
                             for (int i = 0; i < measure.replays; ++i) step();
                           }) /
                           measure.replays;
    device->finish();
    const auto& state = *loaded->state.memory().pools.begin()->second;
    times.floor_seconds = time_reading(
        *device, measure, {state.data(), static_cast<std::size_t>(state.size_bytes())});
    if (measure.by_kernel) {
      times.by_kernel = time_kernels(*device, measure, loaded->host->on_device()->text(), units);
    }
  } catch (const optimized::DeviceError& error) {
    return infrastructure(error.what());
  }
  return times;
}

Result<std::vector<TorchTime>> measure_torch(ExternalProcess& process, const DecodeShape& shape) {
  constexpr std::chrono::minutes kLongest(10);  // max-autotune tries many kernels
  std::vector<TorchTime> times;
  for (const char* mode : {"eager", "reduce-overhead", "max-autotune"}) {
    const Json request = {{"mode", mode},
                          {"batch", shape.batch},
                          {"layers", shape.layers},
                          {"width", shape.width},
                          {"heads", shape.heads},
                          {"kv_heads", shape.kv_heads},
                          {"head_size", shape.head_size},
                          {"hidden", shape.hidden},
                          {"vocabulary", shape.vocabulary},
                          {"context", shape.context}};
    const auto line = process.exchange(request.dump(), kLongest);
    if (!line.ok()) return infrastructure("--torch: " + line.error().message);
    const auto answer = nlohmann::json::parse(line.value(), nullptr, false);
    TorchTime time;
    time.mode = mode;
    if (answer.is_object() && answer.contains("error")) {
      time.error = answer.value("error", "");
    } else if (answer.is_object() && answer.value("microseconds", 0.0) > 0) {
      time.step_seconds = answer.value("microseconds", 0.0) * 1e-6;
      time.version = answer.value("torch", "");
    } else {
      return infrastructure("--torch: expected microseconds, found " + line.value());
    }
    times.push_back(std::move(time));
  }
  return times;
}

namespace {

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

}  // namespace

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

}  // namespace graphgate::tools
