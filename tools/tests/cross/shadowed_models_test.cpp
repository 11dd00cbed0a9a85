// Every golden model under shadow memory, however it is configured: not one finding, and the bits
// of a plain run.
#include "optimized/optimized.h"
#include "tools/tests/cross/golden_models_test.h"

namespace graphgate {
namespace {

using optimized::InstrumentKind;
using optimized::MemoryStrategy;
using optimized::Options;

using Change = void (*)(Options&);
struct Variant {
  const char* name;
  Change change;
};
const Variant kVariants[] = {
    {"default", [](Options&) {}},
    {"lines", [](Options& options) { options.compile.memory.strategy = MemoryStrategy::kLines; }},
    {"pools", [](Options& options) { options.compile.memory.strategy = MemoryStrategy::kPools; }},
    {"no reuse", [](Options& options) { options.compile.memory.reuse = false; }},
    {"eager", [](Options& options) { options.compile.compiler.name = "eager"; }},
    {"no capture", [](Options& options) { options.compile.partition.capture = false; }},
    {"split graph",
     [](Options& options) {
       options.compile.partition.mode = optimized::PartitionMode::kSplitGraph;
     }},
    {"streams",
     [](Options& options) {
       options.compile.streams.count = 3;
       options.compile.compiler.name = "eager";
       options.interleaving_seed = 5;
     }},
    {"streams, lines",
     [](Options& options) {
       options.compile.streams.count = 4;
       options.compile.memory.strategy = MemoryStrategy::kLines;
       options.interleaving_seed = 2;
     }},
    {"weak outputs", [](Options& options) { options.runtime.weak_outputs = true; }},
    {"shared pools", [](Options& options) { options.runtime.share_pools = true; }},
    {"padded",
     [](Options& options) {
       options.runtime.capture_sizes = {11, 37};
     }},
    {"warm-up, poison",
     [](Options& options) {
       options.runtime.warm_up_runs = 1;
       options.runtime.poison = std::byte{0xFF};
     }},
};

class ShadowedModel : public testing::TestWithParam<std::string> {};

TEST_P(ShadowedModel, HasNoFindingAndTheBitsOfAPlainRun) {
  const Model model = read_model(GetParam());
  for (const Variant& variant : kVariants) {
    Options options;
    variant.change(options);
    const auto plain = run_calls(*optimized::make_executor(options), model, 2);
    options.runtime.instrument = InstrumentKind::kShadow;
    const auto watched = run_calls(*optimized::make_executor(options), model, 2);
    ASSERT_EQ(watched.size(), plain.size());
    for (std::size_t i = 0; i < plain.size(); ++i) {
      EXPECT_EQ(first_difference(watched[i], plain[i]), "") << variant.name << ", call " << i;
      for (const spec::Finding& finding : watched[i].findings) {
        ADD_FAILURE() << variant.name << ", call " << i << ": " << finding.rule << ": "
                      << finding.message;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ShadowedModel, testing::ValuesIn(model_paths()), model_name);

}  // namespace
}  // namespace graphgate
