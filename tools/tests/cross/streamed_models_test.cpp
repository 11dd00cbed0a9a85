// Every golden model on several streams, its launches in other orders than the program's: the same
// bits as on one stream.
#include <set>

#include "base/result_test.h"
#include "optimized/optimized.h"
#include "tools/tests/cross/golden_models_test.h"

namespace graphgate {
namespace {

struct Streaming {
  std::uint32_t streams = 1;
  std::uint64_t seed = 0;  // of the order of launches
  const char* compiler = "eager";
};

std::unique_ptr<spec::Executor> executor_of(const Streaming& run) {
  optimized::Options options;
  options.compile.streams.count = run.streams;
  options.compile.compiler.name = run.compiler;
  options.interleaving_seed = run.seed;
  return optimized::make_executor(options);
}

class EveryStreamedModel : public testing::TestWithParam<std::string> {};

TEST_P(EveryStreamedModel, HasTheSameBitsInEveryOrder) {
  const Model model = read_model(GetParam());
  const auto expected = run_calls(*executor_of({}), model);
  const Streaming runs[] = {{2, 1},  {4, 0},          {4, 1},         {4, 2},
                            {16, 3}, {3, 4, "fused"}, {3, 5, "fused"}};
  for (const Streaming& run : runs) {
    const auto actual = run_calls(*executor_of(run), model);
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
      EXPECT_EQ(first_difference(actual[i], expected[i]), "")
          << run.streams << " streams, seed " << run.seed << ", " << run.compiler << ", call " << i;
    }
  }
}

// That orders agree says something only if there are streams to order.
TEST(StreamedModels, UseTheirStreams) {
  const Model model = read_model(GRAPHGATE_GOLDEN_DIR "/models/mixtral_eager.pt2");
  auto executor = executor_of({4});
  auto loaded = must(executor->load(model.program));
  ASSERT_TRUE(loaded->call(model.calls.at(0).inputs).ok());
  std::set<std::uint32_t> streams;
  for (const spec::PlanStep& step : loaded->plan()->steps) streams.insert(step.stream);
  EXPECT_EQ(streams.size(), 4U);
  EXPECT_GT(loaded->plan()->event_count, 20U);
}

INSTANTIATE_TEST_SUITE_P(Models, EveryStreamedModel, testing::ValuesIn(model_paths()), model_name);

}  // namespace
}  // namespace graphgate
