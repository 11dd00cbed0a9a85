// How fast the host backend replays: against the bare launches, fused against op at a time, and
// against memcpy.
#include <unistd.h>

#include <cstring>

#include "optimized/binding.h"
#include "optimized/launch.h"
#include "tools/bench/chain.h"
#include "tools/bench/plan_bench.h"
#include "tools/bench/planned.h"

namespace graphgate::tools {
namespace {

using optimized::CompileOptions;
using optimized::HostProgram;
using optimized::Launch;
using optimized::Tensor;

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

}  // namespace

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

}  // namespace graphgate::tools
