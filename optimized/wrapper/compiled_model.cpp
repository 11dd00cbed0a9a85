#include "optimized/wrapper/compiled_model.h"

#include <algorithm>

#include "base/atomic_file.h"
#include "base/join_words.h"
#include "optimized/analysis/symbols.h"
#include "optimized/runtime/plan_facts.h"
#include "optimized/wrapper/global_settings.h"
#include "optimized/wrapper/relayout.h"
#include "spec/plan_text.h"

namespace graphgate::optimized {
namespace {

using spec::CallResult;
using spec::HostTensor;
using spec::InputValue;

// But the one without which functionalized programs have no kernels.
PassOptions no_passes() {
  PassOptions options;
  for (const Pass& pass : builtin_passes()) {
    if (pass.name != "undo_functionalization") options.disabled.push_back(pass.name);
  }
  return options;
}

spec::Program with_open_ranges(const spec::Program& program) {
  spec::Program opened = program;
  for (auto& [name, info] : opened.symbols) {
    info.min = 0;
    info.max.reset();
  }
  return opened;
}

Result<void> check_options(const CompiledModelOptions& options) {
  if (options.mode == CompileMode::kStock && options.guards != GuardPolicy::kAll) {
    return bad_input("mode stock recompiles when guards fail: it needs all guards");
  }
  if (options.mode == CompileMode::kNone && options.cache_root) {
    return bad_input("mode none compiles nothing: it has no use for a cache folder");
  }
  if (options.cache_root && options.executor.plan_store) {
    return bad_input("plans can be kept in a cache folder or in a plan store, not in both");
  }
  return {};
}

}  // namespace

std::optional<CompileMode> parse_compile_mode(std::string_view name) {
  if (name == "none") return CompileMode::kNone;
  if (name == "stock") return CompileMode::kStock;
  if (name == "split") return CompileMode::kSplit;
  if (name == "partition") return CompileMode::kPartition;
  return std::nullopt;
}

std::optional<GuardPolicy> parse_guard_policy(std::string_view name) {
  if (name == "all") return GuardPolicy::kAll;
  if (name == "shapes") return GuardPolicy::kShapesOnly;
  if (name == "none") return GuardPolicy::kNone;
  return std::nullopt;
}

Result<Options> wrapped_options(const CompiledModelOptions& options, const ModelTag& tag,
                                CompileCounters* counters) {
  GRAPHGATE_TRY_VOID(check_options(options));
  Options executor = options.executor;
  CompileOptions& compile = executor.compile;
  compile.log = options.log;
  compile.counters = counters;
  if (options.guards != GuardPolicy::kAll) executor.allow_zero_and_one = true;
  switch (options.mode) {
    case CompileMode::kNone:
      compile.passes = no_passes();
      compile.compiler = {};
      compile.compiler.name = "eager";
      executor.runtime.mode = GraphMode::kNone;
      compile.partition.capture = false;
      compile.partition.max_nodes = 1;
      break;
    case CompileMode::kStock:
      break;
    case CompileMode::kSplit:
      compile.partition.mode = PartitionMode::kSplitGraph;
      break;
    case CompileMode::kPartition:
      compile.partition.mode = PartitionMode::kScheduler;
      break;
  }
  std::vector<SizeRange>& ranges = executor.runtime.compile_ranges;
  const bool is_closed = compile.deviations.has(spec::Deviation::kClosesEncoderRange);
  if (tag.is_encoder && !ranges.empty() && !is_closed) ranges.back().end = kEncoderRangeEnd;
  if (options.cache_root) {
    executor.plan_store = make_disk_store({.root = *options.cache_root,
                                           .tag = tag.name,
                                           .context = options.key_context,
                                           .log = options.log,
                                           .counters = counters});
  }
  return executor;
}

Result<std::unique_ptr<CompiledModel>> CompiledModel::make(const spec::Program& program,
                                                           CompiledModelOptions options) {
  const ModelTag& tag = current_model_tag();
  auto counters = std::make_shared<CompileCounters>();
  GRAPHGATE_TRY(options.executor, wrapped_options(options, tag, counters.get()));
  std::shared_ptr<spec::Executor> executor = make_executor(options.executor);
  return make_on(std::move(executor), std::move(counters), program, std::move(options), tag);
}

std::unique_ptr<CompiledModel> CompiledModel::make_on(std::shared_ptr<spec::Executor> executor,
                                                      std::shared_ptr<CompileCounters> counters,
                                                      const spec::Program& program,
                                                      CompiledModelOptions options,
                                                      const ModelTag& tag) {
  return std::unique_ptr<CompiledModel>(new CompiledModel(std::move(executor), std::move(counters),
                                                          program, std::move(options), tag));
}

CompiledModel::CompiledModel(std::shared_ptr<spec::Executor> executor,
                             std::shared_ptr<CompileCounters> counters,
                             const spec::Program& program, CompiledModelOptions options,
                             const ModelTag& tag)
    : options_(std::move(options)),
      tag_(tag),
      opened_(options_.guards == GuardPolicy::kNone ? with_open_ranges(program) : spec::Program()),
      program_(options_.guards == GuardPolicy::kNone ? opened_ : program),
      counters_(std::move(counters)),
      executor_(std::move(executor)) {}

CompiledModel::~CompiledModel() = default;

Result<void> CompiledModel::load() {
  if (loaded_) return {};
  const GlobalSettings kept;
  GRAPHGATE_TRY(loaded_, executor_->load(program_));
  for (const auto& [target, state] : new_states_) {
    GRAPHGATE_TRY_VOID(loaded_->set_state(target, state.value, state.rebind));
  }
  return {};
}

Result<CallResult> CompiledModel::call(std::span<const InputValue> inputs) {
  return call_with(inputs, {});
}

Result<CallResult> CompiledModel::call_with(std::span<const InputValue> inputs,
                                            const spec::CallOptions& options) {
  const GlobalSettings kept;
  GRAPHGATE_TRY_VOID(load());
  GRAPHGATE_TRY(const spec::SymbolValues symbols,
                bind_symbols(program_, inputs, options_.executor.allow_zero_and_one));
  const Call call{inputs, options, symbols};
  const CompileCounters before = *counters_;
  const bool is_first = contracts_.empty();
  GRAPHGATE_TRY(CallResult result, is_first ? first_call(call) : dispatch(call));
  if (is_first || counters_->recompiles > before.recompiles) {
    ++completions_;
    if (options_.on_compiled) options_.on_compiled(*counters_);
  }
  if (counters_->plans_compiled + counters_->cache_hits >
      before.plans_compiled + before.cache_hits) {
    GRAPHGATE_TRY_VOID(dump_plan());
  }
  return result;
}

// A failed one leaves nothing behind.
Result<CallResult> CompiledModel::first_call(const Call& call) {
  auto result = loaded_->call_with(call.inputs, call.options);
  const auto allowed = result.ok() ? check_updates() : Result<void>();
  if (!result.ok() || !allowed.ok()) {
    loaded_.reset();
    return result.ok() ? Result<CallResult>(allowed.error()) : result;
  }
  new_states_.clear();
  contracts_.emplace_back(program_, call.inputs, call.symbols);
  contracts_.back().note_result(result.value());
  return result;
}

std::vector<std::string> CompiledModel::broken_layouts(const Contract& contract,
                                                       const Call& call) const {
  std::vector<std::string> broken;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    std::string clause = contract.broken_layout(i, call.inputs[i], call.symbols);
    if (!clause.empty()) broken.push_back(std::move(clause));
  }
  return broken;
}

Result<CallResult> CompiledModel::dispatch(const Call& call) {
  GRAPHGATE_TRY_VOID(check_updates());
  if (options_.mode == CompileMode::kNone) return loaded_->call_with(call.inputs, call.options);
  if (options_.mode == CompileMode::kStock) return dispatch_or_recompile(call);
  std::vector<std::string> broken = contracts_.front().broken_facts(call.inputs);
  const bool facts_hold = broken.empty();
  for (std::string& clause : broken_layouts(contracts_.front(), call)) {
    broken.push_back(std::move(clause));
  }
  const bool is_served = broken.empty() || has(spec::Deviation::kRecompilesSilently);
  if (is_served) {
    GRAPHGATE_TRY(CallResult result, loaded_->call_with(call.inputs, call.options));
    contracts_.front().note_result(result);
    return result;
  }
  if (facts_hold && options_.guards != GuardPolicy::kAll) return call_relaid(call);
  return bad_input(program_.name +
                   ": this call would need another compilation: " + join_words(broken, "; "));
}

// Each contract stands for what has been compiled; one of them must hold.
Result<CallResult> CompiledModel::dispatch_or_recompile(const Call& call) {
  const auto holds = [&](const Contract& contract) {
    return contract.broken_facts(call.inputs).empty() && broken_layouts(contract, call).empty();
  };
  if (std::ranges::any_of(contracts_, holds)) {
    return loaded_->call_with(call.inputs, call.options);
  }
  GRAPHGATE_TRY(CallResult result, loaded_->call_with(call.inputs, call.options));
  ++counters_->recompiles;
  if (!has(spec::Deviation::kForgetsRecompiles)) {
    contracts_.emplace_back(program_, call.inputs, call.symbols);
  }
  return result;
}

// A copy is apart from whatever shares a storage with the input: what one of them wrote, the other
// would not see, and an output that is a view of the input would be one of the copy.
Result<CallResult> CompiledModel::call_relaid(const Call& call) {
  const Contract& contract = contracts_.front();
  std::vector<InputValue> relaid(call.inputs.begin(), call.inputs.end());
  std::vector<std::size_t> moved;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (contract.broken_layout(i, call.inputs[i], call.symbols).empty()) continue;
    const auto& tensor = std::get<HostTensor>(call.inputs[i]);
    if (contract.shares_storage(i)) {
      return bad_input(program_.name + ": input " + std::to_string(i) +
                       " shares its storage, and cannot be copied into the layout that was "
                       "compiled");
    }
    GRAPHGATE_TRY(HostTensor expected, contract.expected_layout(i, tensor, call.symbols));
    copy_elements(tensor, expected);
    relaid[i] = std::move(expected);
    moved.push_back(i);
  }
  GRAPHGATE_TRY(CallResult result, loaded_->call_with(relaid, call.options));
  for (const std::size_t i : moved) {
    HostTensor caller = std::get<HostTensor>(call.inputs[i]);
    caller.storage = std::make_shared<spec::HostStorage>(*caller.storage);
    if (!has(spec::Deviation::kRelaidResultsStay)) {
      copy_elements(std::get<HostTensor>(result.final_inputs[i]), caller);
    }
    result.final_inputs[i] = std::move(caller);
  }
  return result;
}

// What a graph that is captured writes into a buffer, and where a buffer lies, are fixed with it.
Result<void> CompiledModel::check_updates() const {
  if (!options_.refuses_updates || plan() == nullptr) return {};
  if (!bound_anew_.empty()) {
    return bad_input(program_.name + ": buffer '" + bound_anew_ +
                     "' was bound anew, and graphs are captured that read it where it lay");
  }
  if (has(spec::Deviation::kCapturesWrittenState)) return {};
  const auto written = states_written_by_captures(*plan(), *options_.executor.compile.ops);
  if (written.empty()) return {};
  return bad_input(program_.name + ": buffer '" + written.front() +
                   "' is written by a graph that is captured");
}

Result<std::shared_ptr<spec::HeldOutput>> CompiledModel::hold(std::size_t index) {
  if (!loaded_) return bad_input(program_.name + ": nothing was called yet");
  return loaded_->hold(index);
}

Result<void> CompiledModel::set_state(std::string_view target, const HostTensor& value,
                                      bool rebind) {
  GRAPHGATE_TRY_VOID(load());
  GRAPHGATE_TRY_VOID(loaded_->set_state(target, value, rebind));
  if (contracts_.empty()) {
    HostTensor kept = value;
    kept.storage = std::make_shared<spec::HostStorage>(*value.storage);
    new_states_.insert_or_assign(std::string(target), NewState{std::move(kept), rebind});
  } else if (rebind) {
    bound_anew_ = target;
  }
  return {};
}

std::map<std::string, std::int64_t> CompiledModel::counts() const {
  std::map<std::string, std::int64_t> counts = counts_by_name(*counters_);
  counts["completions"] = completions_;
  return counts;
}

bool CompiledModel::is_as_unwatched() const { return loaded_ && loaded_->is_as_unwatched(); }

std::shared_ptr<const spec::Plan> CompiledModel::plan() const {
  return loaded_ ? loaded_->plan() : nullptr;
}

Result<void> CompiledModel::dump_plan() {
  if (!options_.dump_folder || plan() == nullptr) return {};
  std::error_code error;
  std::filesystem::create_directories(*options_.dump_folder, error);
  if (error) {
    return infrastructure("the folder " + options_.dump_folder->string() +
                          " cannot be made: " + error.message());
  }
  const spec::OpTable& ops = *options_.executor.compile.ops;
  const std::string stem = tag_.name + "." + std::to_string(plans_dumped_++) + ".";
  for (const auto& [extension, print] : options_.dump_forms) {
    const std::string text =
        print ? print(*plan(), ops) : spec::print_plan(spec::number_plan(*plan()), ops);
    GRAPHGATE_TRY_VOID(write_file(*options_.dump_folder / (stem + extension), text));
  }
  return {};
}

}  // namespace graphgate::optimized
