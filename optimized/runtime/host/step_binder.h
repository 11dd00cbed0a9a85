// One step of a plan, bound to where its values are: its arguments, its launch, its results.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "optimized/codegen/work.h"
#include "optimized/runtime/host/plan_memory.h"
#include "spec/op_table.h"

namespace graphgate::optimized {

// A step that is bound. False where nothing is to be done when it runs.
struct BoundLaunch {
  std::uint32_t step = 0;
  Launch launch;                          // empty where the op only allocates
  std::shared_ptr<const BoundStep> seen;  // what the instrument is told; null without one
  bool hangs_on_data = false;             // bound to what tensors held then
  explicit operator bool() const { return launch || seen; }
};

class StepBinder {
 public:
  // All that is passed outlives it.
  StepBinder(const spec::Plan& plan, const spec::OpTable& ops, PlanMemory& memory,
             const HostOptions& options)
      : plan_(plan), ops_(ops), memory_(memory), options_(options) {}

  // `has_data`: the step runs now, and what it makes may depend on what it reads. Throws OpError,
  // Unsupported, and NeedsData without data.
  [[nodiscard]] BoundLaunch bind(std::uint32_t step, bool has_data,
                                 const DeviceListener* listener = nullptr);
  // Whether no call can bind the step to something else: all its values have places in the plan.
  [[nodiscard]] bool is_fixed(const spec::PlanStep& step) const;
  // Whether the step, bound and run, would be bound to the same in the next call.
  [[nodiscard]] bool may_keep(const BoundLaunch& bound) const;
  // A run has come to its end.
  void note_run() { has_run_ = true; }

 private:
  [[nodiscard]] BoundLaunch bind_body(std::uint32_t index, const DeviceListener* listener);
  [[nodiscard]] BoundLaunch watched(BoundStep made, Launch launch);
  [[nodiscard]] bool is_planned(const spec::PlanStep& step) const;
  [[nodiscard]] bool allocates_per_call() const;
  void take_results(const spec::PlanStep& step, std::vector<Made>& made, bool has_data);
  void take_result(spec::ValueId id, Made& made, bool has_data);

  const spec::Plan& plan_;
  const spec::OpTable& ops_;
  PlanMemory& memory_;
  const HostOptions& options_;
  std::vector<std::shared_ptr<const BoundStep>> last_bound_;  // by step, for the instrument
  bool has_run_ = false;
};

// Runs `work`, and puts the node of the step that runs in front of what it throws.
void with_place(const spec::Plan& plan, const std::uint32_t& running,
                const std::function<void()>& work);

}  // namespace graphgate::optimized
