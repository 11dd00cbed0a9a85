#include "tools/golden/kernel_collector.h"

#include "tools/cli/planner_options.h"
#include "tools/executors/executor_sources.h"

namespace graphgate::tools {

std::vector<std::unique_ptr<optimized::DeviceRun>> KernelCollector::load(
    const optimized::DeviceProgramText& text, std::span<const Job> jobs) {
  if (!text.empty()) sources_.push_back(text.source());
  for (const Job& job : jobs) {
    for (const optimized::DeviceCall& call : job.calls) ++launches_[call.name];
  }
  return std::vector<std::unique_ptr<optimized::DeviceRun>>(jobs.size());
}

Result<std::unique_ptr<spec::Executor>> CollectingSource::make(
    const conformance::Configuration& configuration, const spec::OpTable& ops) const {
  GRAPHGATE_TRY(const PlannerFlags flags, planner_flags(configuration));
  GRAPHGATE_TRY(PlannerChoice choice, choose_planner(flags, ops));
  choice.options.device = device_;
  return optimized::make_executor(std::move(choice.options));
}

}  // namespace graphgate::tools
