// The optimized executor: loads programs into sessions.
#include "optimized/runtime/session.h"

namespace graphgate::optimized {
namespace {

// The first node, subgraphs included, that has no kernel.
Result<void> check_supported(const spec::Graph& graph, const spec::OpTable& ops) {
  for (const spec::Node& node : graph.nodes) {
    if (node.op == "higher_order.cond") continue;
    const spec::OpRow* row = ops.find(node.op);
    if (!row) return bad_input("node '" + node.name + "': unknown op " + node.op);
    if (!find_kernel(*row)) {
      return unsupported("node '" + node.name + "': the optimized executor has no kernel for " +
                         node.op);
    }
  }
  for (const spec::Graph& subgraph : graph.subgraphs) {
    GRAPHGATE_TRY_VOID(check_supported(subgraph, ops));
  }
  return {};
}

// A device captures only what it has kernels for.
Options for_device(Options options) {
  options.compile.partition.device_kernels = options.device != nullptr;
  return options;
}

// A provenance run follows the program's own nodes: passes that put one node in the place of
// several are off, since its words would hash another op (docs/provenance.md).
Options for_instrument(Options options) {
  if (options.runtime.instrument != InstrumentKind::kProvenance) return options;
  PassOptions& passes = options.compile.passes;
  for (const Pass& pass : builtin_passes()) {
    if (!pass.name.starts_with("fuse_")) continue;
    std::erase(passes.enabled, pass.name);
    passes.disabled.push_back(pass.name);
  }
  return options;
}

class OptimizedExecutor final : public spec::Executor {
 public:
  explicit OptimizedExecutor(Options options)
      : options_(for_device(for_instrument(std::move(options)))) {
    if (options_.runtime.share_pools) {
      shared_pool_ = std::make_shared<RunPool>(options_.compile.deviations);
    }
    instrument_ = make_instrument(options_.runtime.instrument);
  }

  [[nodiscard]] std::string_view name() const override { return "optimized"; }

  Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program& program) override {
    GRAPHGATE_TRY_VOID(validate(options_.runtime));
    if (options_.device && options_.runtime.instrument != InstrumentKind::kNone) {
      return bad_input("instruments watch the host: they do not go with a device");
    }
    auto prepared = prepare(program, options_.compile);
    if (!prepared.ok()) return prepared.error().at(program.name);
    const auto supported = check_supported(prepared.value(), *options_.compile.ops);
    if (!supported.ok()) return supported.error().at(program.name);
    auto session =
        Session::make(program, std::move(prepared).value(), options_, shared_pool_, instrument_);
    if (!session.ok()) return session.error().at(program.name);
    if (options_.compile.counters) ++options_.compile.counters->graphs_seen;
    return std::unique_ptr<spec::LoadedProgram>(std::move(session).value());
  }

 private:
  const Options options_;
  std::shared_ptr<RunPool> shared_pool_;  // where programs share memory
  std::shared_ptr<Instrument> instrument_;
};

}  // namespace

std::unique_ptr<spec::Executor> make_executor(Options options) {
  return std::make_unique<OptimizedExecutor>(std::move(options));
}

std::string_view family_of(const spec::OpRow& row) { return kernel_family(row); }

}  // namespace graphgate::optimized
