// Parts of `graphgate bench plan`: how fast the host backend replays, against the bare launches,
// fused against op at a time, and against memcpy.
#include <unistd.h>

#include <cstring>

#include "optimized/binding.h"
#include "optimized/launch.h"
#include "tools/bench/chain.h"
#include "tools/bench/planned.h"
#include "tools/bench/report.h"
#include "tools/report/plan_words.h"

namespace graphgate::tools {
namespace {

using optimized::CompileOptions;
using optimized::HostProgram;
using optimized::Launch;
using optimized::Tensor;

constexpr std::size_t kChainOps = 8;
constexpr std::size_t kKernels = 20;
constexpr double kKernelSeconds = 10e-6;
// A chain that is planned and recorded. Its input is a buffer, so that a run copies nothing.
class Recorded {
 public:
  static Result<std::unique_ptr<Recorded>> make(const spec::Program& program,
                                                const CompileOptions& options) {
    GRAPHGATE_TRY(spec::Plan plan, plan_of(program, options));
    auto out = std::make_unique<Recorded>();
    out->program_ = std::make_unique<HostProgram>(std::move(plan), *options.ops, out->state_);
    return out;
  }

  void replay() { program_->run(std::span<const spec::HostTensor* const>()); }
  [[nodiscard]] const HostProgram& program() const { return *program_; }

  // The launches of all steps, bound once more to the same bytes.
  [[nodiscard]] std::vector<Launch> bind_launches(const spec::OpTable& ops) const {
    std::vector<Launch> launches;
    for (const spec::PlanStep& step : program_->plan().steps) {
      const spec::OpRow& row = *ops.find(step.node.op);
      const optimized::Kernel& kernel = *optimized::find_kernel(row);
      const auto look_up = [this](spec::ValueId id) { return program_->read({id}); };
      auto call = infer_call(
          kernel, row, optimized::bind_arguments(row.schema, step.node.arguments, look_up), false);
      std::vector<Tensor> results;
      for (const spec::ValueId id : optimized::flat_results(step.node)) {
        results.push_back(*program_->read({id}).as<Tensor>());
      }
      launches.push_back(
          bind_call(kernel, row, std::move(call.arguments()), std::move(results), nullptr));
    }
    return launches;
  }

 private:
  optimized::StateMemory state_;
  std::unique_ptr<HostProgram> program_;
};

CompileOptions compiled_by(const char* compiler) {
  CompileOptions options;
  options.compiler.name = compiler;
  return options;
}

// So many elements that a kernel of the chain takes about `kernel_seconds`.
Result<std::int64_t> calibrate(std::size_t kernels, double kernel_seconds) {
  std::int64_t elements = 1024;
  for (int attempt = 0; attempt < 24; ++attempt) {
    GRAPHGATE_TRY(const auto chain,
                  Recorded::make(make_straight_chain(kernels, elements), compiled_by("eager")));
    const std::vector<Launch> launches = chain->bind_launches(spec::builtin_op_table());
    const auto run = [&] {
      for (const Launch& launch : launches) launch.run();
    };
    const double seconds =
        compare<ThreadClock>(20, run, run).first_seconds / static_cast<double>(launches.size());
    if (seconds > 0.8 * kernel_seconds) {
      const double scaled = static_cast<double>(elements) * kernel_seconds / seconds;
      return std::max<std::int64_t>(1, static_cast<std::int64_t>(scaled));
    }
    elements *= 2;
  }
  return elements;
}

// Replays of make_straight_chain(ops, elements): with the fused compiler, with a kernel for every
// op, and a memcpy of the same tensor (which moves as many bytes as the fused chain must).
struct FusionTimes {
  std::size_t ops = 0;
  std::int64_t tensor_bytes = 0;
  std::int64_t cache_bytes = 0;  // of the largest cache, 0 where the system does not say
  std::size_t fused_launches = 0;
  Comparison unfused_by_fused;
  Comparison fused_by_memcpy;
};
Result<FusionTimes> measure_fusion(std::size_t ops, std::int64_t tensor_bytes) {
  constexpr int kRounds = 7;
  std::optional<spec::Program> program = make_straight_chain(ops, tensor_bytes / 4);
  GRAPHGATE_TRY(const auto fused, Recorded::make(*program, compiled_by("fused")));
  GRAPHGATE_TRY(const auto unfused, Recorded::make(*program, compiled_by("eager")));
  program.reset();  // its zeros are in memory now, twice
  const spec::Plan& plan = fused->program().plan();
  FusionTimes times{
      ops, tensor_bytes, std::max(0L, sysconf(_SC_LEVEL3_CACHE_SIZE)), plan.steps.size(), {}, {}};
  times.unfused_by_fused = compare<ThreadClock>(
      kRounds, [&] { unfused->replay(); }, [&] { fused->replay(); });
  const auto place_of = [&](spec::ValueId id) {
    return fused->program().buffer_bytes(*plan.values[id.index].buffer);
  };
  const auto from = place_of(plan.inputs.front().value);
  const auto to = place_of(*plan.outputs.front().as<spec::ValueId>());
  times.fused_by_memcpy = compare<ThreadClock>(
      kRounds, [&] { fused->replay(); }, [&] { std::memcpy(to.data(), from.data(), from.size()); });
  return times;
}

// Replays of a chain of `partitions` captured partitions of `kernels` kernels, each of which takes
// about as long as was asked for, against a loop over the very same launches.
struct ReplayTimes {
  std::size_t partitions = 0;
  std::size_t kernels = 0;    // in each partition
  std::int64_t elements = 0;  // of the tensors
  Comparison replay_by_direct;

  [[nodiscard]] double kernel_seconds() const {
    return replay_by_direct.second_seconds / static_cast<double>(partitions * kernels);
  }
  [[nodiscard]] double overhead_seconds_per_partition() const {
    return (replay_by_direct.ratio - 1) * replay_by_direct.second_seconds /
           static_cast<double>(partitions);
  }
};
Result<ReplayTimes> measure_replay(std::size_t kernels, double kernel_seconds) {
  constexpr std::size_t kPartitions = 50;
  constexpr int kRounds = 101;
  GRAPHGATE_TRY(const std::int64_t elements, calibrate(kernels, kernel_seconds));
  CompileOptions options = compiled_by("eager");
  options.partition.max_nodes = static_cast<std::uint32_t>(kernels);
  GRAPHGATE_TRY(const auto chain,
                Recorded::make(make_straight_chain(kPartitions * kernels, elements), options));
  const std::size_t partitions = chain->program().plan().blocks.front().partitions.size();
  if (partitions != kPartitions) {
    return Error{ErrorKind::kInternal, "the chain was cut into " + std::to_string(partitions) +
                                           " partitions, not " + std::to_string(kPartitions)};
  }
  const std::vector<Launch> launches = chain->bind_launches(spec::builtin_op_table());
  ReplayTimes times{partitions, kernels, elements, {}};
  times.replay_by_direct = compare<ThreadClock>(
      kRounds, [&] { chain->replay(); },
      [&] {
        for (const Launch& launch : launches) launch.run();
      });
  return times;
}

}  // namespace

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

}  // namespace graphgate::tools
