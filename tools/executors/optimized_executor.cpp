#include "tools/executors/optimized_executor.h"

#include "optimized/torch_release.h"
#include "optimized/wrapper/compiled_model.h"
#include "tools/executors/subject.h"

namespace graphgate::tools {
namespace {

namespace option = spec::option;
using spec::Configuration;

// In mode none nothing is compiled or captured: what says how contradicts it.
constexpr const char* kOfCompiling[] = {
    option::kCache,     option::kAheadOfTime,  option::kPass,
    option::kNoPass,    option::kCompiler,     option::kMaxPartition,
    option::kPartition, option::kCompileRange, option::kRefuseUpdates};

bool is_split_graph(std::string_view partition) { return partition.starts_with("split-graph"); }

Result<void> check_none(const Configuration& asked) {
  for (const char* name : kOfCompiling) {
    if (!asked.contains(name)) continue;
    return bad_input("--wrapper none compiles nothing: it does not go with --" + std::string(name));
  }
  const std::string_view mode = spec::value_of(asked, option::kMode);
  if (mode.empty() || mode == "none") return {};
  return bad_input("--wrapper none captures nothing: it does not go with --mode " +
                   std::string(mode));
}

// What the wrapper is asked for, under the tag that its models have.
struct Wrapped {
  optimized::CompiledModelOptions model;
  std::unique_ptr<optimized::ModelTagScope> tag;
};

Result<Wrapped> wrapped_of(const Configuration& asked, optimized::Options options) {
  Wrapped wrapped;
  wrapped.model.mode = *optimized::parse_compile_mode(spec::value_of(asked, option::kWrapper));
  wrapped.model.guards =
      *optimized::parse_guard_policy(spec::value_of(asked, option::kGuards, "all"));
  wrapped.model.refuses_updates = asked.contains(option::kRefuseUpdates);
  wrapped.model.executor = std::move(options);
  const std::string tag(spec::value_of(asked, option::kModelTag));
  const bool is_encoder = asked.contains(option::kEncoder);
  if (!tag.empty() || is_encoder) {
    GRAPHGATE_TRY(wrapped.tag, optimized::ModelTagScope::enter(tag.empty() ? option::kEncoder : tag,
                                                               is_encoder));
  }
  return wrapped;
}

using optimized::TorchReleaseScope;

// A program whose calls go by a release of PyTorch.
class ProgramOfRelease final : public spec::LoadedProgram {
 public:
  ProgramOfRelease(std::unique_ptr<spec::LoadedProgram> program, spec::TorchRelease release)
      : program_(std::move(program)), release_(release) {}

  Result<spec::CallResult> call(std::span<const spec::InputValue> inputs) override {
    const TorchReleaseScope scope(release_);
    return program_->call(inputs);
  }
  Result<spec::CallResult> call_with(std::span<const spec::InputValue> inputs,
                                     const spec::CallOptions& options) override {
    const TorchReleaseScope scope(release_);
    return program_->call_with(inputs, options);
  }
  Result<std::shared_ptr<spec::HeldOutput>> hold(std::size_t index) override {
    return program_->hold(index);
  }
  Result<void> set_state(std::string_view target, const spec::HostTensor& value,
                         bool rebind) override {
    return program_->set_state(target, value, rebind);
  }
  [[nodiscard]] std::shared_ptr<const spec::Plan> plan() const override { return program_->plan(); }
  [[nodiscard]] std::map<std::string, std::int64_t> counts() const override {
    return program_->counts();
  }
  [[nodiscard]] bool is_as_unwatched() const override { return program_->is_as_unwatched(); }

 private:
  std::unique_ptr<spec::LoadedProgram> program_;
  spec::TorchRelease release_;
};

class ExecutorOfRelease final : public spec::Executor {
 public:
  ExecutorOfRelease(std::unique_ptr<spec::Executor> executor, spec::TorchRelease release)
      : executor_(std::move(executor)), release_(release) {}

  [[nodiscard]] std::string_view name() const override { return executor_->name(); }
  Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program& program) override {
    const TorchReleaseScope scope(release_);
    GRAPHGATE_TRY(auto loaded, executor_->load(program));
    return std::unique_ptr<spec::LoadedProgram>(
        std::make_unique<ProgramOfRelease>(std::move(loaded), release_));
  }
  Result<bool> sleep(const spec::SleepRequest& asked) override { return executor_->sleep(asked); }
  Result<void> wake(std::optional<spec::SleepPart> part) override { return executor_->wake(part); }
  Result<void> close() override { return executor_->close(); }

 private:
  std::unique_ptr<spec::Executor> executor_;
  spec::TorchRelease release_;
};

Result<std::unique_ptr<spec::Executor>> make_of_newest(const Configuration& configuration,
                                                       optimized::Options options) {
  if (!configuration.contains(option::kWrapper)) {
    return optimized::make_executor(std::move(options));
  }
  GRAPHGATE_TRY(Wrapped wrapped, wrapped_of(configuration, std::move(options)));
  return optimized::make_wrapped_executor(std::move(wrapped.model));
}

}  // namespace

Result<void> check_wrapper(const Configuration& asked) {
  const std::string_view wrapper = spec::value_of(asked, option::kWrapper);
  if (wrapper.empty()) {
    for (const char* name :
         {option::kGuards, option::kRefuseUpdates, option::kModelTag, option::kEncoder}) {
      if (!asked.contains(name)) continue;
      return bad_input("--" + std::string(name) + " goes with --wrapper");
    }
    return {};
  }
  const std::string_view guards = spec::value_of(asked, option::kGuards, "all");
  if (wrapper == "stock" && guards != "all") {
    return bad_input("--wrapper stock compiles again when guards fail: it needs --guards all");
  }
  const std::string_view partition = spec::value_of(asked, option::kPartition);
  const bool contradicts = (wrapper == "split" && partition == "scheduler") ||
                           (wrapper == "partition" && is_split_graph(partition));
  if (contradicts) {
    return bad_input("--wrapper " + std::string(wrapper) + " and --partition " +
                     std::string(partition) + " contradict each other");
  }
  if (asked.contains(option::kEncoder) && !asked.contains(option::kCompileRange)) {
    return bad_input("--encoder opens the last --compile-range, and there is none");
  }
  const std::string tag(spec::value_of(asked, option::kModelTag));
  if (!tag.empty()) GRAPHGATE_TRY_VOID(optimized::ModelTagScope::enter(tag));
  return wrapper == "none" ? check_none(asked) : Result<void>();
}

Result<std::unique_ptr<spec::Executor>> make_optimized(const Configuration& configuration,
                                                       optimized::Options options) {
  GRAPHGATE_TRY_VOID(check_wrapper(configuration));
  const auto release = semantics_asked(configuration);
  if (!release || *release == spec::kNewestTorchRelease) {
    return make_of_newest(configuration, std::move(options));
  }
  const TorchReleaseScope scope(*release);
  GRAPHGATE_TRY(auto made, make_of_newest(configuration, std::move(options)));
  return std::unique_ptr<spec::Executor>(
      std::make_unique<ExecutorOfRelease>(std::move(made), *release));
}

Result<optimized::Options> behind_wrapper(const Configuration& configuration,
                                          optimized::Options options) {
  if (!configuration.contains(option::kWrapper)) return options;
  GRAPHGATE_TRY(const Wrapped wrapped, wrapped_of(configuration, std::move(options)));
  return optimized::wrapped_options(wrapped.model, optimized::current_model_tag(), nullptr);
}

}  // namespace graphgate::tools
