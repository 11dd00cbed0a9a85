// A finding by the right rule for every wrong decision that makes a launch read what it should not.
#include "optimized/runtime/host/shadow_test.h"

namespace graphgate::optimized {
namespace {

using D = spec::Deviation;

// A program on which the deviation makes memory wrong, and what shadow memory says of it.
struct Trigger {
  D deviation;
  const char* rule;
  const char* text;
  std::vector<Inputs> calls;
  Change change = {};
  const char* words = "";  // of some finding by that rule
};

constexpr const char* kSplit = R"(program "split" {
  input %q : f32[2, 2, 4]
  %k = aten.cumsum.default(%q, 0)
  %o = aten.empty_like.default(%q)
  vllm.unified_attention_with_output.default(%q, %k, %k, %o, "layer") as attn
  %y = aten.mul.Tensor(%o, 2.0)
  %z = aten.add.Tensor(%y, %k)
  %p = aten.relu.default(%q)
  output %z
  output %p
})";

constexpr const char* kRowsOfState = R"(program "cache" {
  symbol s0 in [1, 4]
  buffer %b "b" : f32[4] = [0.0, 0.0, 0.0, 0.0]
  input %x : f32[s0]
  %n : symint = aten.sym_size.int(%x, 0)
  %v : f32[s0] = aten.slice.Tensor(%b, 0, 0, %n)
  %a : f32[s0] = aten.add_.Tensor(%v, %x)
  %y : f32[s0] = aten.mul.Tensor(%x, 1.0)
  output %y
})";

void on_seeded_streams(Options& options) {
  on_two_streams(options);
  options.interleaving_seed = 1;
}

std::vector<Trigger> triggers() {
  const Inputs square = {counting_tensor({8, 8})};
  const Inputs eight = {counting_tensor({8})};
  return {
      {D::kReusesInvertedRanges,
       "S2.stale-read",
       programs::kThreeProducts,
       {square},
       lines,
       "its result $b over"},
      {D::kAllocatedTestedLate, "S2.stale-read", programs::kFourProducts, {square}, lines},
      {D::kFreesTwice,
       "S2.stale-read",
       programs::kInPlaceThenReuse,
       {square},
       lines,
       "step 2 'c' has overwritten for $c; it expects what step 1 'b' made"},
      {D::kTailAllocationsByGraphOutputs,
       "S2.stale-read",
       kSplit,
       {{counting_tensor({2, 2, 4})}},
       lines},
      {D::kKeyWithoutLayout,
       "S2.stale-read",
       programs::kTwoSizes,
       {{counting_tensor({8, 8}), counting_tensor({64, 8})}},
       lines},
      {D::kPersistentDiesAtLastUse,
       "S2.stale-read",
       programs::kProductsOfState,
       {{counting_tensor({2, 2})}},
       lines,
       "state w reads"},
      {D::kOneFreeListAcrossArms,
       "S2.stale-read",
       programs::kArms,
       {{bools({}, {0}), counting_tensor({8, 8})}},
       lines},
      {D::kOffsetsFromHints,
       "S2.stale-read",
       programs::kSymbolicProducts,
       {{counting_tensor({16, 16})}},
       [](Options& options) { options.compile.memory.alignment_bytes = 64; }},
      {D::kLifetimesTouchWrongly,
       "S2.stale-read",
       programs::kFourProducts,
       {square},
       {},
       "which it reads in the same launch"},
      {D::kOutputByExactName,
       "S2.stale-read",
       programs::kViewedOutput,
       {square},
       [](Options& options) { options.compile.memory.strategy = MemoryStrategy::kPools; },
       "output 0 reads"},
      {D::kForksWithoutAliasTest,
       "S3.old-version",
       programs::kSharedInput,
       {eight},
       on_seeded_streams,
       "too late"},
      {D::kFreesOnMainStream, "S2.stale-read", programs::kSideStream, {eight}, on_seeded_streams},
      {D::kEagerOutputNotCopied,
       "S1.unwritten-read",
       programs::kPieces,
       {{counting_tensor({2})}, {counting_tensor({2})}},
       cut_at_neg,
       "'b'"},
      {D::kEagerResultsAreStatic,
       "S3.old-version",
       programs::kPieces,
       {{counting_tensor({2})}, {counting_tensor({300})}, {counting_tensor({2})}},
       [](Options& options) {
         cut_at_neg(options);
         options.runtime.share_pools = true;
       }},
      {D::kPadsThroughReductions,
       "S5.pad-read",
       programs::kRowSum,
       {{rows(2, 2, 1)}},
       sized_four,
       "depend on rows behind the true size 2"},
      {D::kPadsThroughScatters,
       "S5.pad-read",
       programs::kScatter,
       {{f32({3}, {9, 9, 9}), f32({2}, {1, 2}), i64({2}, {1, 2})}},
       [](Options& options) {
         sized_four(options);
         options.runtime.padded_symbol = "s0";
       },
       "output 0"},
      {D::kIgnoresReturnedAlias,
       "S2.stale-read",
       programs::kReturnedAlias,
       {{counting_tensor({4})}}},
      {D::kKeepsStaleTail,
       "",
       programs::kLookup,
       {{i64({4}, {9, 8, 7, 6}), rows(10, 2, 0)}, {i64({2}, {1, 0}), rows(2, 2, 0)}},
       [](Options& options) {
         sized_four(options);
         options.runtime.share_pools = true;
       },
       "S5.pad-read: step 0 'y' refuses"},
      {D::kPadsThroughState,
       "S5.pad-read",
       kRowsOfState,
       {{f32({2}, {5, 6})}},
       sized_four,
       "state b"}};
}

void PrintTo(const Trigger& trigger, std::ostream* out) { *out << trigger.text; }

class ShadowOfDeviation : public testing::TestWithParam<Trigger> {};

TEST_P(ShadowOfDeviation, IsAFindingByItsRuleAndNothingWithoutIt) {
  const Trigger& trigger = GetParam();
  EXPECT_EQ(text_of(findings_of(trigger.text, trigger.calls, shadowed(trigger.change))), "");
  Options wrong = shadowed(trigger.change);
  wrong.compile.deviations.add(trigger.deviation);
  std::vector<spec::Finding> findings;
  // Which order of streams shows a race depends on the seed.
  const std::uint64_t last_seed = wrong.interleaving_seed == 0 ? 0 : 8;
  for (; findings.empty() && wrong.interleaving_seed <= last_seed; ++wrong.interleaving_seed) {
    findings = findings_of(trigger.text, trigger.calls, wrong);
  }
  const bool is_found =
      std::any_of(findings.begin(), findings.end(), [&](const spec::Finding& finding) {
        return finding.rule == trigger.rule &&
               finding.message.find(trigger.words) != std::string::npos;
      });
  EXPECT_TRUE(is_found) << "expected " << trigger.rule << "; found:\n" << text_of(findings);
}

INSTANTIATE_TEST_SUITE_P(Deviations, ShadowOfDeviation, testing::ValuesIn(triggers()),
                         [](const auto& tested) {
                           return std::string(spec::row_of(tested.param.deviation).name);
                         });

}  // namespace
}  // namespace graphgate::optimized
