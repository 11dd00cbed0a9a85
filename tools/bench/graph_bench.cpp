#include "tools/bench/graph_bench.h"

#include <algorithm>

#include "tools/bench/chain.h"
#include "tools/bench/decode_program.h"
#include "tools/bench/planned.h"

namespace graphgate::tools {
namespace {

using optimized::CompileOptions;
using optimized::Device;
using optimized::DeviceRun;
using optimized::HostProgram;

constexpr std::int64_t kElements = 256;  // of the chain's tensors: a block

Result<spec::Program> program_of(const LaunchSubject& subject) {
  if (subject.layers == 0) {
    return make_turning_chain(subject.partitions * subject.kernels, kElements);
  }
  DecodeShape shape = DecodeShape::small();
  shape.layers = subject.layers;
  return make_decode_program(shape);
}

CompileOptions compile_options_of(const LaunchSubject& subject) {
  CompileOptions options;
  options.partition.device_kernels = true;
  if (subject.layers == 0) {
    options.compiler.name = "eager";
    options.partition.max_nodes = static_cast<std::uint32_t>(subject.kernels);
  } else {
    options.arithmetic = optimized::Arithmetic::kFast;
    options.partition.split_ops.emplace_back("aten.scaled_dot_product_attention");
  }
  return options;
}

// What a run launches, in order.
struct Launches {
  std::vector<DeviceRun*> runs;
  std::vector<std::function<void()>> bare;  // an eager launch stays what it is
};

// A subject that is planned and ready on a device. State stays zeros: no number is looked at.
class Ready {
 public:
  static Result<std::unique_ptr<Ready>> make(const LaunchMeasure& measure) {
    GRAPHGATE_TRY(const spec::Program program, program_of(measure.subject));
    const CompileOptions options = compile_options_of(measure.subject);
    GRAPHGATE_TRY(spec::Plan plan, plan_of(program, options));
    optimized::HostOptions host;
    host.device = measure.device;
    auto out = std::make_unique<Ready>();
    out->program_ =
        std::make_unique<HostProgram>(std::move(plan), *options.ops, out->state_, std::move(host));
    GRAPHGATE_TRY_VOID(out->find_launches());
    return out;
  }

  void start() { program_->start(std::span<const optimized::InputSource>()); }
  void finish() { program_->finish(); }
  [[nodiscard]] const Launches& launches() const { return launches_; }
  [[nodiscard]] const LaunchTimes& counts() const { return counts_; }

 private:
  Result<void> find_launches() {
    GRAPHGATE_TRY(const auto units, units_of(*program_));
    for (const optimized::OnDevice::Unit* unit : units) {
      DeviceRun* const run = unit->run.get();
      launches_.runs.push_back(run);
      counts_.kernels += unit->calls.size();
      std::function<void()> bare;
      if (unit->is_captured) bare = run->bare_launch();
      ++(bare ? counts_.graphs : counts_.eager_launches);
      launches_.bare.push_back(bare ? std::move(bare) : [run] { run->launch(); });
    }
    return {};
  }

  optimized::StateMemory state_;
  std::unique_ptr<HostProgram> program_;
  Launches launches_;
  LaunchTimes counts_;
};

// Seconds of one run instead of `runs`.
Comparison of_one(Comparison comparison, std::size_t runs) {
  comparison.first_seconds /= static_cast<double>(runs);
  comparison.second_seconds /= static_cast<double>(runs);
  return comparison;
}

Result<LaunchTimes> time_launches(const LaunchMeasure& measure) {
  GRAPHGATE_TRY(const auto ready, Ready::make(measure));
  LaunchTimes times = ready->counts();
  const std::size_t launches = std::max<std::size_t>(times.graphs + times.eager_launches, 1);
  const std::size_t runs = std::max<std::size_t>(
      1, std::min(measure.launches / launches,
                  measure.launched_kernels / std::max<std::size_t>(times.kernels, 1)));
  const auto repeat = [&](auto&& once) {
    return [&, once] {
      for (std::size_t i = 0; i < runs; ++i) once();
    };
  };
  const auto start = repeat([&] { ready->start(); });
  const auto launch = repeat([&] {
    for (DeviceRun* run : ready->launches().runs) run->launch();
  });
  const auto bare = repeat([&] {
    for (const auto& one : ready->launches().bare) one();
  });
  const auto settle = [&] { measure.device->finish(); };
  ready->start();
  ready->finish();
  const optimized::DeviceMemory& memory = measure.device->memory();
  const std::int64_t copied = memory.bytes_to_device() + memory.bytes_to_host();
  times.launch_by_bare = of_one(compare<ThreadClock>(measure.rounds, launch, bare, settle), runs);
  times.run_by_bare = of_one(compare<ThreadClock>(measure.rounds, start, bare, settle), runs);
  times.copied_bytes = memory.bytes_to_device() + memory.bytes_to_host() - copied;
  ready->finish();
  return times;
}

Result<BoundaryTimes> time_boundaries(const LaunchMeasure& measure) {
  LaunchMeasure one = measure;
  one.subject.kernels = measure.subject.partitions * measure.subject.kernels;
  one.subject.partitions = 1;
  GRAPHGATE_TRY(const auto cut, Ready::make(measure));
  GRAPHGATE_TRY(const auto whole, Ready::make(one));
  const auto to_the_end = [&](Ready& ready) {
    return [&] {
      ready.start();
      measure.device->finish();
    };
  };
  BoundaryTimes times;
  times.kernels = whole->counts().kernels;
  times.graphs = cut->counts().graphs;
  GRAPHGATE_CHECK(cut->counts().kernels == times.kernels && whole->counts().graphs == 1);
  times.cut_by_whole =
      compare<WallClock>(measure.rounds, to_the_end(*cut), to_the_end(*whole), [] {});
  cut->finish();
  whole->finish();
  return times;
}

}  // namespace

Result<BoundaryTimes> measure_boundaries(const LaunchMeasure& measure) {
  try {
    return time_boundaries(measure);
  } catch (const optimized::DeviceError& error) {
    return infrastructure(error.what());
  }
}

Result<LaunchTimes> measure_launches(const LaunchMeasure& measure) {
  try {
    return time_launches(measure);
  } catch (const optimized::DeviceError& error) {
    return infrastructure(error.what());
  }
}

Result<std::optional<optimized::GraphCost>> measure_graphs(Device& device, std::size_t kernels,
                                                           int most) {
  optimized::TextWork work;
  work.threads = kElements;
  work.statements = "  reinterpret_cast<float*>(p0)[thread] += 1.0f;\n";
  try {
    const auto bytes = device.memory().reserve(kElements * 4);
    work.pointers = {bytes->data()};
    optimized::DeviceProgramText text;
    const auto calls = text.add({work});
    std::vector<Device::Job> jobs = {{{}, true}};
    for (std::size_t k = 0; k < kernels; ++k) {
      jobs.front().calls.insert(jobs.front().calls.end(), calls.begin(), calls.end());
    }
    const auto runs = device.load(text, jobs);
    return runs.front()->measure_graph(most);
  } catch (const optimized::DeviceError& error) {
    return infrastructure(error.what());
  }
}

}  // namespace graphgate::tools
