#include "optimized/wrapper/compiled_model.h"

#include <algorithm>

#include "base/atomic_file.h"
#include "base/join_words.h"
#include "optimized/analysis/symbols.h"
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

Result<std::unique_ptr<CompiledModel>> CompiledModel::make(const spec::Program& program,
                                                           CompiledModelOptions options) {
  std::unique_ptr<CompiledModel> model(new CompiledModel(program, std::move(options)));
  GRAPHGATE_TRY_VOID(model->check_options());
  model->configure();
  return model;
}

CompiledModel::CompiledModel(const spec::Program& program, CompiledModelOptions options)
    : options_(std::move(options)),
      tag_(current_model_tag()),
      opened_(options_.guards == GuardPolicy::kNone ? with_open_ranges(program) : spec::Program()),
      program_(options_.guards == GuardPolicy::kNone ? opened_ : program) {}

CompiledModel::~CompiledModel() = default;

Result<void> CompiledModel::check_options() const {
  if (options_.mode == CompileMode::kStock && options_.guards != GuardPolicy::kAll) {
    return bad_input("mode stock recompiles when guards fail: it needs all guards");
  }
  if (options_.mode == CompileMode::kNone && options_.cache_root) {
    return bad_input("mode none compiles nothing: it has no use for a cache folder");
  }
  if (options_.cache_root && options_.executor.plan_store) {
    return bad_input("plans can be kept in a cache folder or in a plan store, not in both");
  }
  return {};
}

// What modes and guards come to for the executor.
void CompiledModel::configure() {
  Options& executor = options_.executor;
  CompileOptions& compile = executor.compile;
  compile.log = options_.log;
  compile.counters = &counters_;
  if (options_.guards != GuardPolicy::kAll) executor.allow_zero_and_one = true;
  switch (options_.mode) {
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
  if (tag_.is_encoder && !ranges.empty()) ranges.back().end = kEncoderRangeEnd;
  if (options_.cache_root) {
    executor.plan_store = make_disk_store({.root = *options_.cache_root,
                                           .tag = tag_.name,
                                           .context = options_.key_context,
                                           .log = options_.log,
                                           .counters = &counters_});
  }
}

Result<void> CompiledModel::load() {
  if (loaded_) return {};
  GRAPHGATE_TRY(loaded_, make_executor(options_.executor)->load(program_));
  return {};
}

Result<CallResult> CompiledModel::call(std::span<const InputValue> inputs) {
  const GlobalSettings kept;
  GRAPHGATE_TRY_VOID(load());
  GRAPHGATE_TRY(const spec::SymbolValues symbols,
                bind_symbols(program_, inputs, options_.executor.allow_zero_and_one));
  const CompileCounters before = counters_;
  const bool is_first = contracts_.empty();
  auto result = is_first ? loaded_->call(inputs) : dispatch(inputs, symbols);
  if (!result.ok()) {
    if (is_first) loaded_.reset();
    return result;
  }
  if (is_first) contracts_.emplace_back(program_, inputs, symbols);
  if (options_.on_compiled && (is_first || counters_.recompiles > before.recompiles)) {
    options_.on_compiled(counters_);
  }
  if (counters_.plans_compiled + counters_.cache_hits > before.plans_compiled + before.cache_hits) {
    GRAPHGATE_TRY_VOID(dump_plan());
  }
  return result;
}

Result<CallResult> CompiledModel::dispatch(std::span<const InputValue> inputs,
                                           const spec::SymbolValues& symbols) {
  if (options_.mode == CompileMode::kNone) return loaded_->call(inputs);
  if (options_.mode == CompileMode::kStock) return dispatch_or_recompile(inputs, symbols);
  std::vector<std::string> broken = contracts_.front().broken_facts(inputs);
  const bool facts_hold = broken.empty();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::string clause = contracts_.front().broken_layout(i, inputs[i], symbols);
    if (!clause.empty()) broken.push_back(std::move(clause));
  }
  if (broken.empty()) return loaded_->call(inputs);
  if (facts_hold && options_.guards != GuardPolicy::kAll) return call_relaid(inputs, symbols);
  return bad_input(program_.name +
                   ": this call would need another compilation: " + join_words(broken, "; "));
}

// Each contract stands for what has been compiled; one of them must hold.
Result<CallResult> CompiledModel::dispatch_or_recompile(std::span<const InputValue> inputs,
                                                        const spec::SymbolValues& symbols) {
  const auto holds = [&](const Contract& contract) {
    if (!contract.broken_facts(inputs).empty()) return false;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!contract.broken_layout(i, inputs[i], symbols).empty()) return false;
    }
    return true;
  };
  if (std::ranges::any_of(contracts_, holds)) return loaded_->call(inputs);
  auto result = loaded_->call(inputs);
  if (result.ok()) {
    ++counters_.recompiles;
    contracts_.emplace_back(program_, inputs, symbols);
  }
  return result;
}

Result<CallResult> CompiledModel::call_relaid(std::span<const InputValue> inputs,
                                              const spec::SymbolValues& symbols) {
  std::vector<InputValue> relaid(inputs.begin(), inputs.end());
  std::vector<std::size_t> moved;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (contracts_.front().broken_layout(i, inputs[i], symbols).empty()) continue;
    const auto& tensor = std::get<HostTensor>(inputs[i]);
    GRAPHGATE_TRY(HostTensor expected, contracts_.front().expected_layout(i, tensor, symbols));
    copy_elements(tensor, expected);
    relaid[i] = std::move(expected);
    moved.push_back(i);
  }
  GRAPHGATE_TRY(CallResult result, loaded_->call(relaid));
  for (const std::size_t i : moved) {
    HostTensor caller = std::get<HostTensor>(inputs[i]);
    caller.storage = std::make_shared<spec::HostStorage>(*caller.storage);
    copy_elements(std::get<HostTensor>(result.final_inputs[i]), caller);
    result.final_inputs[i] = std::move(caller);
  }
  return result;
}

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
