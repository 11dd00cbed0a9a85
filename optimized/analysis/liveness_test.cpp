#include "optimized/analysis/liveness.h"

#include "optimized/analysis/sized_test.h"

namespace graphgate::optimized {
namespace {

std::vector<float> result_of(const CompileOptions& compile) {
  Options options;
  options.compile = compile;
  options.compile.compiler.name = "eager";  // fused, %a and %b would take no bytes
  const auto results =
      run_calls(program_of(programs::kReturnedAlias), {{f32({4}, {1, 2, 3, 4})}}, options);
  return results.empty() ? std::vector<float>() : floats(results.front().outputs.front());
}

Lifetime lifetime_of(const SizedGraph& graph, const std::string& name,
                     const spec::DeviationSet& deviations) {
  const Liveness liveness = analyze_liveness(graph, deviations);
  for (std::size_t s = 0; s < graph.storages.size(); ++s) {
    if (graph.storages[s].name == name) return liveness.storages[s];
  }
  ADD_FAILURE() << "no storage " << name;
  return {};
}

TEST(Liveness, LastsAsLongAsAnyNameOfTheStorage) {
  const SizedGraph graph = sized_graph_of(program_of(programs::kReturnedAlias), {zeros({4})});
  EXPECT_EQ(lifetime_of(graph, "y", {}).end, 5);
  EXPECT_EQ(result_of({}), (std::vector<float>{-7, -15, -23, -31}));
}

// PyTorch 189735: %y dies with the node that returns it, and its bytes go to another.
TEST(Liveness, ForgetsReturnedAliasesWhereADeviationAsksForIt) {
  const auto deviations = only(spec::Deviation::kIgnoresReturnedAlias);
  const SizedGraph graph = sized_graph_of(program_of(programs::kReturnedAlias), {zeros({4})});
  EXPECT_EQ(lifetime_of(graph, "y", deviations).end, 2);
  CompileOptions options;
  options.deviations = deviations;
  EXPECT_NE(result_of(options), result_of({}));
}

}  // namespace
}  // namespace graphgate::optimized
