// The optimized executor: loads programs into sessions.
#include <algorithm>
#include <set>

#include "optimized/analysis/composite.h"
#include "optimized/runtime/resolve_mode.h"
#include "optimized/runtime/session.h"
#include "spec/graph_text.h"
#include "spec/loops.h"
#include "spec/missing_op.h"

namespace graphgate::optimized {
namespace {

constexpr std::string_view kCond = "higher_order.cond";

// Adds the nodes, those of subgraphs included, that have no kernel.
void add_ops_without_kernel(const spec::Graph& graph, const spec::OpTable& ops,
                            spec::MissingOps& missing) {
  for (const spec::Node& node : graph.nodes) {
    if (node.op == kCond || spec::is_loop(node.op)) continue;  // others have been undone
    const spec::OpRow* row = ops.find(node.op);
    if (!row || (!find_kernel(*row) && !find_composite(*row))) missing.add(node.name, node.op);
  }
  for (const spec::Graph& subgraph : graph.subgraphs) {
    add_ops_without_kernel(subgraph, ops, missing);
  }
}

Result<void> check_supported(const spec::Graph& graph, const spec::OpTable& ops) {
  GRAPHGATE_TRY_VOID(spec::check_schemas_known(graph, ops));
  spec::MissingOps missing;
  add_ops_without_kernel(graph, ops, missing);
  if (missing.empty()) return {};
  return missing.error(spec::kNoKernel);
}

// A device captures only what it has kernels for.
Options for_device(Options options) {
  const bool has_split_ops = !options.compile.partition.split_ops.empty();
  auto resolved = resolve_mode(options.runtime, has_split_ops, options.compile.deviations);
  if (resolved.ok()) options.runtime = std::move(resolved).value();  // load() says what is wrong
  options.compile.partition.device_kernels = options.device != nullptr;
  return options;
}

// Passes that put one node in the place of several.
bool fuses_nodes(std::string_view pass) { return pass.starts_with("fuse_"); }

Options without_fused_nodes(Options options) {
  PassOptions& passes = options.compile.passes;
  for (const Pass& pass : builtin_passes()) {
    if (!fuses_nodes(pass.name)) continue;
    std::erase(passes.enabled, pass.name);
    passes.disabled.push_back(pass.name);
  }
  return options;
}

class OptimizedExecutor final : public spec::Executor {
 public:
  explicit OptimizedExecutor(Options options) : options_(for_device(std::move(options))) {
    if (options_.runtime.share_pools) {
      shared_pool_ = std::make_shared<RunPool>(options_.compile.deviations);
    }
    instrument_ = make_instrument(options_.runtime.instrument);
  }

  [[nodiscard]] std::string_view name() const override { return "optimized"; }

  Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program& program) override {
    if (!asleep_.empty()) return bad_input(program.name + ": the executor is asleep");
    try {
      return try_load(program);
    } catch (const std::bad_alloc&) {
      return infrastructure(program.name + ": out of memory");
    } catch (const std::system_error& error) {
      return infrastructure(program.name + ": the machine refused: " + error.what());
    }
  }

  Result<bool> sleep(const spec::SleepRequest& asked) override {
    if (!asleep_.empty()) return true;
    asleep_ = {spec::SleepPart::kWeights, spec::SleepPart::kCaches};
    for (Session* const session : *sessions_) session->sleep(asked);
    return true;
  }

  Result<void> wake(std::optional<spec::SleepPart> part) override {
    for (Session* const session : *sessions_) session->wake(part);
    if (part) {
      asleep_.erase(*part);
    } else {
      asleep_.clear();
    }
    return {};
  }

  Result<void> close() override {
    return options_.plan_store ? options_.plan_store->close() : Result<void>();
  }

 private:
  Result<std::unique_ptr<spec::LoadedProgram>> try_load(const spec::Program& program) {
    GRAPHGATE_TRY_VOID(validate(options_.runtime));
    GRAPHGATE_TRY_VOID(resolve_mode(options_.runtime, !options_.compile.partition.split_ops.empty(),
                                    options_.compile.deviations));
    if (options_.device && options_.runtime.instrument != InstrumentKind::kNone) {
      return bad_input("instruments watch the host: they do not go with a device");
    }
    PassCounts counts;
    auto prepared = prepare(program, options_.compile, &counts);
    if (!prepared.ok()) return prepared.error().at(program.name);
    if (is_fused_under_words(counts)) return load_unfused(program);
    return load_prepared(program, std::move(prepared).value(), options_, instrument_ != nullptr);
  }

  // A run with words follows the program's own nodes: one node in the place of several would hash
  // another op (docs/provenance.md). Passes of a range run later, and may find what these did not.
  [[nodiscard]] bool is_fused_under_words(const PassCounts& counts) const {
    if (options_.runtime.instrument != InstrumentKind::kProvenance) return false;
    return !options_.runtime.compile_ranges.empty() ||
           std::ranges::any_of(counts, [](const auto& count) {
             return fuses_nodes(count.first) && count.second.matches > 0;
           });
  }

  Result<std::unique_ptr<spec::LoadedProgram>> load_unfused(const spec::Program& program) {
    const Options options = without_fused_nodes(options_);
    auto prepared = prepare(program, options.compile);
    if (!prepared.ok()) return prepared.error().at(program.name);
    return load_prepared(program, std::move(prepared).value(), options, false);
  }

  Result<std::unique_ptr<spec::LoadedProgram>> load_prepared(const spec::Program& program,
                                                             spec::Graph prepared,
                                                             const Options& options,
                                                             bool is_as_unwatched) {
    const auto supported = check_supported(prepared, *options.compile.ops);
    if (!supported.ok()) return supported.error().at(program.name);
    auto session = Session::make(program, std::move(prepared), options, shared_pool_,
                                 {instrument_, is_as_unwatched});
    if (!session.ok()) return session.error().at(program.name);
    if (options_.compile.counters) ++options_.compile.counters->graphs_seen;
    session.value()->join(sessions_);
    return std::unique_ptr<spec::LoadedProgram>(std::move(session).value());
  }

  const Options options_;
  std::shared_ptr<RunPool> shared_pool_;  // where programs share memory
  std::shared_ptr<Instrument> instrument_;
  const std::shared_ptr<std::set<Session*>> sessions_ = std::make_shared<std::set<Session*>>();
  std::set<spec::SleepPart> asleep_;  // what has not come back
};

}  // namespace

std::unique_ptr<spec::Executor> make_executor(Options options) {
  return std::make_unique<OptimizedExecutor>(std::move(options));
}

// Both versions of auto_functionalized become the op that they hold
// (passes/undo_functionalization.cpp).
bool runs_higher_order(std::string_view op) {
  return op == kCond || op == "higher_order.auto_functionalized" ||
         op == "higher_order.auto_functionalized_v2" || spec::is_loop(op);
}

std::string_view family_of(const spec::OpRow& row) {
  return find_composite(row) != nullptr ? "composite" : kernel_family(row);
}

}  // namespace graphgate::optimized
