#include "optimized/compilers/builtin_compilers.h"

namespace graphgate::optimized {
namespace {

// Raised whenever the same source and context would be answered in another way.
constexpr std::string_view kCompilerVersion = "1";

class FusedCompiler : public PartitionCompiler {
 public:
  [[nodiscard]] std::string name() const override { return "fused"; }
  [[nodiscard]] std::string hash() const override {
    return name() + " " + std::string(kCompilerVersion);
  }
  Result<CompiledPartition> compile(const CompilerSource& source,
                                    const CompilerContext& context) override {
    const auto nodes = source.nodes();
    const auto accesses = std::span(context.accesses[source.block])
                              .subspan(source.partition.begin_node, nodes.size());
    auto launches = find_groups(source.graph, nodes, accesses, context.limits, context.deviations);
    if (context.realize.recompute) {
      launches = recompute(source.graph, nodes, std::move(launches), context.mentions,
                           context.realize, context.limits);
    }
    return CompiledPartition{std::move(launches)};
  }
};

class EagerCompiler final : public PartitionCompiler {
 public:
  [[nodiscard]] std::string name() const override { return "eager"; }
  [[nodiscard]] std::string hash() const override {
    return name() + " " + std::string(kCompilerVersion);
  }
  Result<CompiledPartition> compile(const CompilerSource& source,
                                    const CompilerContext& /*context*/) override {
    CompiledPartition compiled;
    for (std::uint32_t n = 0; n < source.nodes().size(); ++n) compiled.launches.push_back({n});
    return compiled;
  }
};

// What runs is what was loaded, so that nothing can depend on more than the stored text says.
class StandaloneCompiler final : public FusedCompiler {
 public:
  [[nodiscard]] std::string name() const override { return "standalone"; }
  Result<CompiledPartition> compile(const CompilerSource& source,
                                    const CompilerContext& context) override {
    GRAPHGATE_TRY(const CompiledPartition compiled, FusedCompiler::compile(source, context));
    GRAPHGATE_TRY(CompiledPartition loaded, load(print_compiled(compiled), source, context));
    if (loaded == compiled) return loaded;
    return bad_input("the stored artifact is not what was compiled");
  }
};

}  // namespace

std::shared_ptr<PartitionCompiler> make_fused_compiler() {
  return std::make_shared<FusedCompiler>();
}
std::shared_ptr<PartitionCompiler> make_eager_compiler() {
  return std::make_shared<EagerCompiler>();
}
std::shared_ptr<PartitionCompiler> make_standalone_compiler() {
  return std::make_shared<StandaloneCompiler>();
}

}  // namespace graphgate::optimized
