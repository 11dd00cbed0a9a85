// What a call costs on a GPU, beside the host.
//
//   build/release/tools/bench/device_calls FILE.pt2...      (default: golden/models/*.core.pt2)
//
// One JSON line for a program: partitions captured and eager; milliseconds of its first call on the
// GPU, which plans, generates, compiles, loads and captures; microseconds of a later call there
// (the median of 50), with everything that a call does: inputs to the device, the graphs, outputs
// and state back and copied for the caller; and the same of the host. The last line names the
// machine. Wall clock; ratios of one run compare.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "conformance/bounds/judge_call.h"
#include "optimized/optimized.h"
#include "optimized/runtime/cuda/cuda_device.h"
#include "optimized/runtime/cuda/facts.h"
#include "optimized/runtime/device/device.h"
#include "spec/plan.h"
#include "tools/bench/stopwatch.h"
#include "tools/report/json.h"
#include "tools/store/programs.h"

namespace {

using namespace graphgate;
using tools::Json;

constexpr int kCalls = 50;

struct Timed {
  double first_seconds = 0;
  double median_seconds = 0;
  std::unique_ptr<spec::LoadedProgram> program;
};

Result<Timed> time_calls(spec::Executor& executor, const spec::Program& program,
                         std::span<const spec::InputValue> inputs) {
  Timed out;
  GRAPHGATE_TRY(out.program, executor.load(program));
  Result<void> state;
  const auto call = [&] {
    const auto result = out.program->call(inputs);
    if (!result.ok()) state = result.error();
  };
  out.first_seconds = tools::seconds_of<tools::WallClock>(call);
  std::vector<double> seconds;
  seconds.reserve(kCalls);
  for (int i = 0; i < kCalls; ++i) seconds.push_back(tools::seconds_of<tools::WallClock>(call));
  if (!state.ok()) return state.error();
  std::sort(seconds.begin(), seconds.end());
  out.median_seconds = seconds[seconds.size() / 2];
  return out;
}

Result<Json> measure(const std::string& path, const std::shared_ptr<optimized::Device>& device) {
  GRAPHGATE_TRY(const spec::Program program, tools::read_program(path, spec::builtin_op_table()));
  GRAPHGATE_TRY(const auto calls, tools::read_expected_calls(path, ""));
  if (calls.empty()) return bad_input(path + ": no recorded call");
  optimized::Options options;
  GRAPHGATE_TRY(const Timed host,
                time_calls(*optimized::make_executor(options), program, calls.front().inputs));
  options.device = device;
  GRAPHGATE_TRY(const Timed gpu,
                time_calls(*optimized::make_executor(options), program, calls.front().inputs));
  int captured = 0;
  int eager = 0;
  for (const spec::PlanBlock& block : gpu.program->plan()->blocks) {
    for (const spec::PlanPartition& partition : block.partitions) {
      ++(partition.captured ? captured : eager);
    }
  }
  Json json;
  json["program"] = program.name;
  json["captured"] = captured;
  json["eager"] = eager;
  json["first_call_ms"] = gpu.first_seconds * 1e3;
  json["call_us"] = gpu.median_seconds * 1e6;
  json["host_call_us"] = host.median_seconds * 1e6;
  return json;
}

std::vector<std::string> default_files() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(GRAPHGATE_GOLDEN_DIR "/models")) {
    if (entry.path().string().ends_with(".core.pt2")) out.push_back(entry.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const auto device = optimized::cuda::make_cuda_device();
  if (!device.ok()) {
    std::fprintf(stderr, "device_calls: %s\n", device.error().message.c_str());
    return 3;
  }
  std::vector<std::string> files(argv + 1, argv + argc);
  if (files.empty()) files = default_files();
  for (const std::string& file : files) {
    const auto json = measure(file, device.value());
    if (!json.ok()) {
      std::fprintf(stderr, "device_calls: %s\n", json.error().message.c_str());
      return 4;
    }
    std::printf("%s\n", json.value().dump().c_str());
  }
  const auto facts = optimized::cuda::cuda_facts();
  const Json machine = {{"gpu", device.value()->description()},
                        {"driver_for_cuda", facts.driver},
                        {"toolkit", facts.toolkit},
                        {"nvrtc", facts.nvrtc}};
  std::printf("%s\n", machine.dump().c_str());
  return 0;
}
