#include "tools/bench/size_bench.h"

#include <algorithm>
#include <map>

#include "conformance/run/input_layout.h"
#include "conformance/run/seeded_inputs.h"
#include "optimized/analysis/padding.h"
#include "optimized/optimized.h"
#include "optimized/passes/pass_manager.h"
#include "tools/bench/stopwatch.h"

namespace graphgate::tools {
namespace {

using optimized::Device;
using optimized::DeviceRun;
using optimized::GraphCost;

// In front of a device: what it has captured since it was asked last, and how often that is
// launched.
class Meter final : public Device {
 public:
  struct Captured {
    DeviceRun* run = nullptr;  // lives as long as its plan does
    std::size_t kernels = 0;
    std::size_t launches = 0;
  };
  explicit Meter(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  [[nodiscard]] std::string description() const override { return device_->description(); }
  [[nodiscard]] optimized::DeviceMemory& memory() override { return device_->memory(); }
  [[nodiscard]] std::vector<optimized::DeviceArena> arenas() override { return device_->arenas(); }
  std::vector<std::unique_ptr<DeviceRun>> load(const optimized::DeviceProgramText& text,
                                               std::span<const Job> jobs) override {
    const double begin = WallClock::now();
    auto runs = device_->load(text, jobs);
    load_seconds_ += WallClock::now() - begin;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (!runs[i] || !jobs[i].is_captured || jobs[i].calls.empty()) continue;
      const auto captured =
          std::make_shared<Captured>(Captured{runs[i].get(), jobs[i].calls.size()});
      captured_.push_back(captured);
      runs[i] = std::make_unique<MeteredRun>(std::move(runs[i]), captured);
    }
    return runs;
  }
  void finish() override { device_->finish(); }

  using Captures = std::vector<std::shared_ptr<Captured>>;
  [[nodiscard]] Captures take() { return std::exchange(captured_, {}); }
  [[nodiscard]] double take_load_seconds() { return std::exchange(load_seconds_, 0); }
  [[nodiscard]] std::int64_t arena_bytes() const {
    std::int64_t bytes = 0;
    for (const auto& arena : device_->memory().arenas()) bytes += arena.size_bytes;
    return bytes;
  }

 private:
  class MeteredRun final : public DeviceRun {
   public:
    MeteredRun(std::unique_ptr<DeviceRun> run, std::shared_ptr<Captured> captured)
        : run_(std::move(run)), captured_(std::move(captured)) {}
    void launch() override {
      ++captured_->launches;
      run_->launch();
    }
    [[nodiscard]] optimized::DeviceCapture captured() const override { return run_->captured(); }

   private:
    std::unique_ptr<DeviceRun> run_;
    std::shared_ptr<Captured> captured_;
  };

  std::shared_ptr<Device> device_;
  Captures captured_;
  double load_seconds_ = 0;
};

// Both, made behind each other. Where one is not told, neither is the sum.
void add(const std::optional<GraphCost>& one, std::optional<GraphCost>& sum, bool is_first) {
  if (is_first || !one || !sum) {
    sum = is_first ? one : std::nullopt;
    return;
  }
  sum->copies = std::min(sum->copies, one->copies);
  sum->capture_seconds += one->capture_seconds;
  sum->instantiate_seconds += one->instantiate_seconds;
  sum->upload_seconds += one->upload_seconds;
  const bool both_tell = sum->device_bytes && one->device_bytes;
  sum->device_bytes =
      both_tell ? std::optional(*sum->device_bytes + *one->device_bytes) : std::nullopt;
}

std::int64_t bytes_of(const spec::Plan& plan, bool is_state) {
  std::int64_t bytes = 0;
  for (const spec::PlanPool& pool : plan.pools) {
    if ((pool.kind == spec::PoolKind::kState) == is_state) bytes += pool.size_bytes;
  }
  return bytes;
}

// A program that is loaded, and called at one size after the other.
class Sizes {
 public:
  static Result<std::unique_ptr<Sizes>> make(const SizeMeasure& measure) {
    const auto symbol = optimized::leading_symbol(measure.program);
    if (!symbol) return bad_input(measure.program.name + ": no size of an input is symbolic");
    if (measure.sizes.empty()) return bad_input(measure.program.name + ": no sizes to capture");
    auto out = std::make_unique<Sizes>(measure, *symbol);
    optimized::Options options;
    options.compile = measure.compile;
    options.device = out->meter_;
    options.runtime.capture_sizes = measure.sizes;
    options.runtime.share_pools = true;
    options.plans_kept = measure.sizes.size();
    GRAPHGATE_TRY_VOID(validate(options.runtime));
    out->order_ = capture_order(options.runtime);
    GRAPHGATE_TRY(out->loaded_, optimized::make_executor(options)->load(measure.program));
    return out;
  }
  Sizes(const SizeMeasure& measure, std::string symbol)
      : measure_(measure),
        symbol_(std::move(symbol)),
        meter_(std::make_shared<Meter>(measure.device)) {}

  Result<SizeCosts> measure_all() {
    SizeCosts costs;
    const auto& ops = *measure_.compile.ops;
    costs.refusal = optimized::prove_padding(measure_.program, symbol_, ops).refusal;
    for (const std::int64_t size : order_) {
      GRAPHGATE_TRY(const SizeCost cost, record(size, costs.state_bytes));
      costs.sizes.push_back(cost);
    }
    for (SizeCost& cost : costs.sizes) {
      GRAPHGATE_TRY_VOID(find_least(cost));
    }
    return costs;
  }

 private:
  Result<void> call(std::int64_t size) {
    const spec::Program& program = measure_.program;
    spec::SymbolValues symbols;
    for (const auto& [name, info] : program.symbols) symbols[name] = conformance::traced_size(info);
    symbols[symbol_] = size;
    std::vector<spec::InputValue> inputs;
    for (const spec::ProgramInput* input : conformance::passed_inputs(program)) {
      const spec::Value& value = program.graph.value(input->value);
      GRAPHGATE_TRY(inputs.emplace_back(), conformance::seeded_input(program, value, symbols, 1));
    }
    conformance::lay_out_inputs(program, inputs);
    const auto result = loaded_->call(inputs);
    return result.ok() ? Result<void>() : result.error();
  }

  // The first size brings the state.
  Result<SizeCost> record(std::int64_t size, std::int64_t& state_bytes) {
    SizeCost cost;
    cost.size = cost.least = size;
    const std::int64_t bytes_before = meter_->arena_bytes();
    const double begin = WallClock::now();
    GRAPHGATE_TRY_VOID(call(size));
    cost.ready_seconds = WallClock::now() - begin;
    cost.load_seconds = meter_->take_load_seconds();
    cost.own_bytes = bytes_of(*loaded_->plan(), false);
    cost.added_bytes = meter_->arena_bytes() - bytes_before;
    if (captures_.empty()) {
      state_bytes = bytes_of(*loaded_->plan(), true);
      cost.added_bytes -= state_bytes;
    }
    Meter::Captures& captures = captures_[size] = meter_->take();
    for (const auto& captured : captures) {
      cost.kernels += captured->kernels;
      add(captured->run->measure_graph(measure_.most), cost.made, cost.graphs++ == 0);
    }
    return cost;
  }

  // Calls the smallest size for which this is the next larger one.
  Result<void> find_least(SizeCost& cost) {
    const auto here = std::find(measure_.sizes.begin(), measure_.sizes.end(), cost.size);
    const spec::SymbolInfo& info = measure_.program.symbols.at(symbol_);
    const std::int64_t before = here == measure_.sizes.begin() ? info.min - 1 : *std::prev(here);
    const std::int64_t least = std::max(before + 1, std::int64_t{1});
    Meter::Captures& captures = captures_[cost.size];
    const auto launches = [&] {
      std::size_t count = 0;
      for (const auto& captured : captures) count += captured->launches;
      return count;
    };
    const std::size_t launches_before = launches();
    GRAPHGATE_TRY_VOID(call(least));
    const bool runs_here = launches() - launches_before == cost.graphs && meter_->take().empty();
    if (runs_here) cost.least = least;
    return {};
  }

  const SizeMeasure& measure_;
  const std::string symbol_;
  std::shared_ptr<Meter> meter_;
  std::vector<std::int64_t> order_;
  std::unique_ptr<spec::LoadedProgram> loaded_;
  std::map<std::int64_t, Meter::Captures> captures_;  // by size
};

}  // namespace

SizeCost SizeCosts::all() const {
  SizeCost sum;
  for (const SizeCost& one : sizes) {
    add(one.made, sum.made, &one == &sizes.front());
    sum.graphs += one.graphs;
    sum.kernels += one.kernels;
    sum.ready_seconds += one.ready_seconds;
    sum.load_seconds += one.load_seconds;
    sum.own_bytes += one.own_bytes;
    sum.added_bytes += one.added_bytes;
  }
  return sum;
}

std::vector<std::int64_t> usual_sizes(const spec::Program& program) {
  std::vector<std::int64_t> sizes;
  const auto symbol = optimized::leading_symbol(program);
  if (!symbol) return sizes;
  const spec::SymbolInfo& info = program.symbols.at(*symbol);
  for (std::int64_t size = 1; size <= 512; size *= 2) {
    if (size >= info.min && (!info.max || size <= *info.max)) sizes.push_back(size);
  }
  return sizes;
}

Result<SizeCosts> measure_sizes(const SizeMeasure& measure) {
  try {
    GRAPHGATE_TRY(const auto sizes, Sizes::make(measure));
    return sizes->measure_all();
  } catch (const optimized::DeviceError& error) {
    return infrastructure(error.what());
  }
}

}  // namespace graphgate::tools
