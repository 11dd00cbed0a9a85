// A model that is compiled once, at its first call, and dispatched to ever after.
//
//   auto model = CompiledModel::make(program, {.mode = CompileMode::kPartition}).value();
//   model->call(inputs);   // compiles; the callback fires
//   model->call(inputs);   // straight to the compiled program
//
//   mode        compiled                  a call that breaks what the first one fixed
//   kNone       an op at a time, no graph   has nothing to break
//   kStock      partitioned, captured       recompiles, and counts it
//   kSplit      cut as by split_graph       is refused, saying what changed
//   kPartition  cut as by the scheduler     is refused, saying what changed
//
// Dynamic symbols are no change: the program was compiled for all their values. A plan for another
// size within the range is made, or found in the cache, when it comes (plans_compiled counts them).
// What the first call fixes is the Contract (contract.h).
//
// The model keeps global settings as it found them (global_settings.h), also on errors. Its plans
// are kept under the current model tag (model_tag.h), so that several models live side by side. A
// failed first call leaves nothing behind: the next one compiles again.
#pragma once

#include <filesystem>
#include <functional>
#include <map>

#include "optimized/cache/disk_cache.h"
#include "optimized/optimized.h"
#include "optimized/wrapper/contract.h"
#include "optimized/wrapper/model_tag.h"

namespace graphgate::optimized {

enum class CompileMode : std::uint8_t { kNone, kStock, kSplit, kPartition };

// Which guards are evaluated in every call. Whatever is dropped here is made good, never trusted:
// results are right in each.
enum class GuardPolicy : std::uint8_t {
  kAll,
  // Sizes, dtypes and facts; an input of another layout is copied into the compiled one. Ranges of
  // symbols that begin at 2 begin at 0 (no specialization to 0 and 1).
  kShapesOnly,
  // As kShapesOnly, and symbols may take any value: passes prove nothing from ranges.
  kNone,
};

// "none", "stock", "split", "partition"; "all", "shapes", "none".
[[nodiscard]] std::optional<CompileMode> parse_compile_mode(std::string_view name);
[[nodiscard]] std::optional<GuardPolicy> parse_guard_policy(std::string_view name);

struct CompiledModelOptions {
  CompileMode mode = CompileMode::kPartition;
  GuardPolicy guards = GuardPolicy::kAll;
  Options executor = {};  // mode and guards alter a copy of it
  // Where plans are kept between processes; absent: nowhere. The one switch of the cache.
  std::optional<std::filesystem::path> cache_root = {};
  KeyContext key_context = {};  // ranks, profile, environment
  // Fires when compiling is complete: after the first call, and after each recompilation.
  std::function<void(const CompileCounters&)> on_compiled = {};
  // Every plan that comes into use is written here, readably, once for each of the forms: by
  // extension, what prints it. Absent: nowhere.
  std::optional<std::filesystem::path> dump_folder = {};
  std::map<std::string, std::function<std::string(const spec::Plan&, const spec::OpTable&)>>
      dump_forms = {{"plan.txt", {}}};  // an empty function: plan text
  CompileLog* log = nullptr;            // outlives the model
  // Refuses a program whose captured partitions write a buffer, and calls behind a buffer that was
  // bound anew after the first one, as vLLM's check for "update" does.
  bool refuses_updates = false;
};

// What mode, guards and tag come to for the executor that serves the models. kBadInput for options
// that contradict each other. `counters` outlives the executor.
[[nodiscard]] Result<Options> wrapped_options(const CompiledModelOptions& options,
                                              const ModelTag& tag, CompileCounters* counters);

class CompiledModel final : public spec::LoadedProgram {
 public:
  // `program` outlives the model. Takes the current model tag. kBadInput for options that
  // contradict each other.
  [[nodiscard]] static Result<std::unique_ptr<CompiledModel>> make(const spec::Program& program,
                                                                   CompiledModelOptions options);
  // The same on an executor that other models are served by, too: made of wrapped_options(), with
  // these counters, which all of them share. `options.executor` is that of the executor.
  [[nodiscard]] static std::unique_ptr<CompiledModel> make_on(
      std::shared_ptr<spec::Executor> executor, std::shared_ptr<CompileCounters> counters,
      const spec::Program& program, CompiledModelOptions options, const ModelTag& tag);
  ~CompiledModel() override;

  // Loads the program now, not in the first call.
  [[nodiscard]] Result<void> load();
  [[nodiscard]] Result<spec::CallResult> call(std::span<const spec::InputValue> inputs) override;
  [[nodiscard]] Result<spec::CallResult> call_with(std::span<const spec::InputValue> inputs,
                                                   const spec::CallOptions& options) override;
  [[nodiscard]] Result<std::shared_ptr<spec::HeldOutput>> hold(std::size_t index) override;
  // Kept through a first call that fails.
  [[nodiscard]] Result<void> set_state(std::string_view target, const spec::HostTensor& value,
                                       bool rebind) override;
  [[nodiscard]] std::map<std::string, std::int64_t> counts() const override;
  [[nodiscard]] bool is_as_unwatched() const override;

  [[nodiscard]] bool is_compiled() const { return !contracts_.empty(); }
  [[nodiscard]] const CompileCounters& counters() const { return *counters_; }
  [[nodiscard]] const ModelTag& tag() const { return tag_; }
  // The executor's, as mode, guards and tag have altered them.
  [[nodiscard]] const Options& executor_options() const { return options_.executor; }
  // The plan of the last call, or null.
  [[nodiscard]] std::shared_ptr<const spec::Plan> plan() const override;
  // Compiled once; null before.
  [[nodiscard]] spec::LoadedProgram* loaded() { return loaded_.get(); }

 private:
  // What every path to the compiled program needs of a call.
  struct Call {
    std::span<const spec::InputValue> inputs;
    const spec::CallOptions& options;
    const spec::SymbolValues& symbols;
  };
  struct NewState {
    spec::HostTensor value;
    bool rebind = false;
  };

  CompiledModel(std::shared_ptr<spec::Executor> executor, std::shared_ptr<CompileCounters> counters,
                const spec::Program& program, CompiledModelOptions options, const ModelTag& tag);

  Result<spec::CallResult> first_call(const Call& call);
  Result<spec::CallResult> dispatch(const Call& call);
  Result<spec::CallResult> dispatch_or_recompile(const Call& call);
  Result<spec::CallResult> call_relaid(const Call& call);
  [[nodiscard]] std::vector<std::string> broken_layouts(const Contract& contract,
                                                        const Call& call) const;
  [[nodiscard]] Result<void> check_updates() const;
  [[nodiscard]] bool has(spec::Deviation deviation) const {
    return options_.executor.compile.deviations.has(deviation);
  }
  Result<void> dump_plan();

  CompiledModelOptions options_;
  const ModelTag tag_;
  spec::Program opened_;          // with open ranges, where guards are dropped
  const spec::Program& program_;  // the caller's, or opened_
  std::shared_ptr<CompileCounters> counters_;
  std::shared_ptr<spec::Executor> executor_;
  std::unique_ptr<spec::LoadedProgram> loaded_;
  std::map<std::string, NewState, std::less<>> new_states_;  // until the first call is through
  std::string bound_anew_;                                   // a buffer, behind the first call
  std::vector<Contract> contracts_;  // the first call's, and in mode stock each recompilation's
  std::int64_t completions_ = 0;     // how often on_compiled was due
  std::int64_t plans_dumped_ = 0;
};

// Serves every program that it loads by a CompiledModel, all of them on one executor: what
// `--wrapper` asks for. Takes the current model tag. kBadInput for options that contradict each
// other.
[[nodiscard]] Result<std::unique_ptr<spec::Executor>> make_wrapped_executor(
    CompiledModelOptions options);

}  // namespace graphgate::optimized
