// Programs served by compiled models; declared in compiled_model.h.
#include "optimized/wrapper/compiled_model.h"

namespace graphgate::optimized {
namespace {

class WrappedExecutor final : public spec::Executor {
 public:
  WrappedExecutor(CompiledModelOptions options, ModelTag tag,
                  std::shared_ptr<CompileCounters> counters)
      : options_(std::move(options)),
        tag_(std::move(tag)),
        counters_(std::move(counters)),
        inner_(make_executor(options_.executor)) {}

  [[nodiscard]] std::string_view name() const override { return inner_->name(); }

  // Loads at once, so that what cannot run is refused here and not in the first call.
  Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program& program) override {
    auto model = CompiledModel::make_on(inner_, counters_, program, options_, tag_);
    GRAPHGATE_TRY_VOID(model->load());
    return std::unique_ptr<spec::LoadedProgram>(std::move(model));
  }

  Result<bool> sleep(const spec::SleepRequest& asked) override { return inner_->sleep(asked); }
  Result<void> wake(std::optional<spec::SleepPart> part) override { return inner_->wake(part); }
  Result<void> close() override { return inner_->close(); }

 private:
  const CompiledModelOptions options_;
  const ModelTag tag_;
  const std::shared_ptr<CompileCounters> counters_;
  const std::shared_ptr<spec::Executor> inner_;
};

}  // namespace

Result<std::unique_ptr<spec::Executor>> make_wrapped_executor(CompiledModelOptions options) {
  const ModelTag& tag = current_model_tag();
  auto counters = std::make_shared<CompileCounters>();
  GRAPHGATE_TRY(options.executor, wrapped_options(options, tag, counters.get()));
  return std::unique_ptr<spec::Executor>(
      std::make_unique<WrappedExecutor>(std::move(options), tag, std::move(counters)));
}

}  // namespace graphgate::optimized
