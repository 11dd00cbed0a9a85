#include "tools/golden/kernel_collector.h"

#include "tools/executors/optimized_executor.h"
#include "tools/executors/optimized_options.h"

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
  GRAPHGATE_TRY(optimized::Options options, options_of(configuration, ops));
  GRAPHGATE_TRY_VOID(open_cache(configuration, options));
  options.device = device_;
  return make_optimized(configuration, std::move(options));
}

}  // namespace graphgate::tools
