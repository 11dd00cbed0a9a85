#include "tools/executors/executor_sources.h"
#include "tools/executors/optimized_executor.h"
#include "tools/executors/optimized_options.h"

namespace graphgate::tools {
namespace {

namespace option = spec::option;
using conformance::Configuration;

class OptimizedSource final : public Subject {
 public:
  [[nodiscard]] std::string_view name() const override { return "optimized"; }
  [[nodiscard]] bool takes(std::string_view /*option*/) const override { return true; }
  [[nodiscard]] conformance::Promises promises(const Configuration& options) const override {
    conformance::Promises promises;
    if (spec::value_of(options, option::kArithmetic) == "fast") {
      promises.arithmetic = "tensor-core";
    }
    promises.torch = semantics_asked(options).value_or(promises.torch);
    // An input that is copied into the compiled layout gives results in that layout.
    promises.keeps_layouts = spec::value_of(options, option::kGuards, "all") == "all";
    return promises;
  }
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(
      const Configuration& configuration, const spec::OpTable& ops) const override {
    GRAPHGATE_TRY(optimized::Options options, options_of(configuration, ops));
    GRAPHGATE_TRY_VOID(open_resources(configuration, options));
    const bool is_watched = options.runtime.instrument != optimized::InstrumentKind::kNone;
    if (options.device && is_watched) return unsupported("instruments watch the host alone");
    return make_optimized(configuration, std::move(options));
  }
};

}  // namespace

std::unique_ptr<Subject> optimized_source() { return std::make_unique<OptimizedSource>(); }

}  // namespace graphgate::tools
