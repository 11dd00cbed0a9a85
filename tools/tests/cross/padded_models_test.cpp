// Padding on the golden models: where it is legal, a call in the plan of a larger size returns the
// bits and the geometry of one at its own size, whatever the rows behind the last one hold.
#include <map>

#include "optimized/analysis/padding.h"
#include "optimized/optimized.h"
#include "optimized/passes/pass_manager.h"
#include "tools/tests/cross/golden_models_test.h"

namespace graphgate {
namespace {

// What is legal shall stay so, and what is not has a reason.
TEST(PaddingOfModels, IsRefusedForThese) {
  std::map<std::string, std::string> refusals;
  for (const std::string& path : model_paths()) {
    const spec::Program program = tools::read_program(path, spec::builtin_op_table()).value();
    const auto symbol = optimized::leading_symbol(program);
    if (!symbol) continue;
    const auto proof = optimized::prove_padding(program, *symbol, spec::builtin_op_table());
    if (proof.padding) continue;
    refusals[std::filesystem::path(path).stem().string()] = proof.refusal;
  }
  const std::string attends =
      "node 'unified_attention_with_output' (vllm.unified_attention_with_output.default): attends "
      "over the rows";
  const std::string attends_core =
      "node 'auto_functionalized_v2_1' (vllm.unified_attention_with_output.default): attends over "
      "the rows";
  const std::string writes = "writes to as many places as there are rows";
  const std::map<std::string, std::string> expected = {
      {"decode_cuda", "node 'index_put_' (aten.index_put_.default): " + writes},
      {"decode_cuda.core", "node 'index_put' (aten.index_put.default): " + writes},
      {"decode_static_cache", "node 'index_put_' (aten.index_put_.default): " + writes},
      {"decode_static_cache.core", "node 'index_put' (aten.index_put.default): " + writes},
      {"quant_mixed", "node 'amax' (aten.amax.default): works along the rows"},
      {"quant_mixed.core", "node 'amax' (aten.amax.default): works along the rows"},
      {"vllm_like", attends},
      {"vllm_like.core", attends_core},
      {"vllm_like_bf16", attends},
      {"vllm_like_bf16.core", attends_core},
  };
  EXPECT_EQ(refusals, expected);
}

class PaddedModel : public testing::TestWithParam<std::string> {};

// One capture size above every call.
TEST_P(PaddedModel, HasTheSameBitsWhateverThePadHolds) {
  const Model model = read_model(GetParam());
  const auto symbol = optimized::leading_symbol(model.program);
  if (!symbol) GTEST_SKIP() << "no symbol";
  const auto proof = optimized::prove_padding(model.program, *symbol, spec::builtin_op_table());
  if (!proof.padding) GTEST_SKIP() << proof.refusal;
  for (const auto fill :
       {optimized::PadFill::kKeep, optimized::PadFill::kNan, optimized::PadFill::kHuge}) {
    optimized::Options options;
    const auto exact_executor = optimized::make_executor(options);
    options.runtime.capture_sizes = {11, 37};
    options.runtime.pad_fill = fill;
    const auto padded_executor = optimized::make_executor(options);
    auto exact = exact_executor->load(model.program).value();
    auto padded = padded_executor->load(model.program).value();
    for (const conformance::ExpectedCall& call : model.calls) {
      const auto expected = exact->call(call.inputs);
      const auto actual = padded->call(call.inputs);
      ASSERT_TRUE(expected.ok()) << expected.error().message;
      ASSERT_TRUE(actual.ok()) << actual.error().message;
      EXPECT_EQ(first_difference(actual.value(), expected.value()), "");
      ASSERT_TRUE(padded->plan()->padding);
      EXPECT_GT(padded->plan()->symbols.at(*symbol), exact->plan()->symbols.at(*symbol));
      EXPECT_TRUE(spec::check_plan(*padded->plan()).ok());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, PaddedModel, testing::ValuesIn(model_paths()), model_name);

}  // namespace
}  // namespace graphgate
