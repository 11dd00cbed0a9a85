// A finding by the right rule for every wrong decision that makes a launch read what it should not.
#include "optimized/runtime/host/shadow_test.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;

// A program on which the deviation makes memory wrong, and what shadow memory says of it.
struct Trigger {
  Deviation deviation;
  const char* rule;
  const char* words;  // of some finding by that rule
  const char* text;
  std::vector<Inputs> calls;
  Change change;
};

constexpr const char* kThree = R"(program "three" {
  input %x : f32[8, 8]
  %a = aten.mm.default(%x, %x)
  %b = aten.mm.default(%a, %x)
  %c = aten.mm.default(%b, %x)
  output %c
})";

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

constexpr const char* kSizes = R"(program "sizes" {
  input %x : f32[8, 8]
  input %y : f32[64, 8]
  %a = aten.mm.default(%x, %x)
  %b = aten.mm.default(%a, %x)
  %c = aten.mm.default(%y, %x)
  %d = aten.mm.default(%c, %b)
  output %d
})";

constexpr const char* kState = R"(program "state" {
  parameter %w "w" : f32[2, 2] = [1.0, 2.0, 3.0, 4.0]
  input %x : f32[2, 2]
  %a = aten.mm.default(%x, %w)
  %b = aten.mm.default(%a, %x)
  %c = aten.mm.default(%b, %x)
  output %c
})";

constexpr const char* kArms = R"(program "arms" {
  input %p : bool[]
  input %x : f32[8, 8]
  graph @yes {
    input %u : f32[8, 8]
    input %ux : f32[8, 8]
    %u1 = aten.mm.default(%u, %ux)
    output %u1
  }
  graph @no {
    input %v : f32[8, 8]
    input %vx : f32[8, 8]
    %v1 = aten.mm.default(%vx, %vx)
    %v2 = aten.mm.default(%v1, %vx)
    %v3 = aten.mm.default(%v2, %v)
    output %v3
  }
  %s = aten.mm.default(%x, %x)
  %y = higher_order.cond(%p, @yes, @no, [%s, %x])
  output %y
})";

constexpr const char* kSymbolic = R"(program "symbolic" {
  symbol s0 in [2, 64] hint 4
  input %x : f32[s0, s0]
  %a : f32[s0, s0] = aten.mm.default(%x, %x)
  %b : f32[s0, s0] = aten.mm.default(%a, %x)
  %c : f32[s0, s0] = aten.mm.default(%a, %b)
  output %c
})";

constexpr const char* kSharedInput = R"(program "shared" {
  input %x : f32[8]
  %h = aten.mul.Tensor(%x, 2.0)
  %view = aten.view.default(%h, [2, 4])
  %shared = aten.mul.Tensor(%view, 5.0)
  %experts = aten.add_.Tensor(%h, 1.0)
  output %shared
  output %experts
})";

constexpr const char* kSideStream = R"(program "side" {
  input %x : f32[8]
  %p = aten.mul.Tensor(%x, 2.0)
  %t = aten.mul.Tensor(%x, 3.0)
  %u = aten.add.Tensor(%t, 1.0)
  %v = aten.mul.Tensor(%p, 5.0)
  %w = aten.add.Tensor(%u, %v)
  output %w
})";

constexpr const char* kPieces = R"(program "pieces" {
  symbol s0 in [1, 1024]
  input %x : f32[s0]
  %a : f32[s0] = aten.neg.default(%x)
  %b : f32[s0] = aten.mul.Tensor(%a, 3.0)
  output %b
})";

constexpr const char* kSum = R"(program "sum" {
  symbol s0 in [1, 64]
  input %x : f32[s0, 2]
  %y : f32[2] = aten.sum.dim_IntList(%x, [0])
  output %y
})";

constexpr const char* kScatter = R"(program "scatter" {
  symbol s0 in [1, 64]
  input %z : f32[3]
  input %x : f32[s0]
  input %i : i64[s0]
  %y : f32[3] = aten.index_put_.default(%z, [%i], %x)
  output %y
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

constexpr const char* kViewOnly = R"(program "viewed" {
  input %x : f32[8, 8]
  %a = aten.flip.default(%x, [0])
  %v = aten.view.dtype(%a, i16)
  %b = aten.cumsum.default(%x, 0)
  %c = aten.cumsum.default(%b, 0)
  %d = aten.cumsum.default(%c, 0)
  output %v
  output %d
})";

constexpr const char* kReturnedAlias = R"(program "alias" {
  input %x : f32[4]
  %y = aten.add.Tensor(%x, 1.0)
  %s = aten.add_.Tensor(%y, %x)
  %a = aten.neg.default(%x)
  %b = aten.mul.Tensor(%a, 10.0)
  %c = aten.add.Tensor(%b, %s)
  output %c
})";

constexpr const char* kLookup = R"(program "lookup" {
  symbol s0 in [1, 8]
  symbol s1 in [1, 100]
  input %i : i64[s0]
  input %w : f32[s1, 2]
  %y : f32[s0, 2] = aten.embedding.default(%w, %i)
  output %y
})";

std::vector<Trigger> triggers() {
  const Inputs square = {counting_tensor({8, 8})};
  const Inputs eight = {counting_tensor({8})};
  std::vector<Trigger> out;
  out.push_back({Deviation::kReusesInvertedRanges,
                 "S2.stale-read",
                 "its result $b over",
                 kThree,
                 {square},
                 lines});
  out.push_back({Deviation::kAllocatedTestedLate, "S2.stale-read", "", kShort, {square}, lines});
  out.push_back({Deviation::kFreesTwice,
                 "S2.stale-read",
                 "step 2 'c' has overwritten for $c; it expects what "
                 "step 1 'b' made",
                 kInPlaceThenReuse,
                 {square},
                 lines});
  out.push_back({Deviation::kTailAllocationsByGraphOutputs,
                 "S2.stale-read",
                 "",
                 kSplit,
                 {{counting_tensor({2, 2, 4})}},
                 lines});
  out.push_back({Deviation::kKeyWithoutLayout,
                 "S2.stale-read",
                 "",
                 kSizes,
                 {{counting_tensor({8, 8}), counting_tensor({64, 8})}},
                 lines});
  out.push_back({Deviation::kPersistentDiesAtLastUse,
                 "S2.stale-read",
                 "state w reads",
                 kState,
                 {{counting_tensor({2, 2})}},
                 lines});
  out.push_back({Deviation::kOneFreeListAcrossArms,
                 "S2.stale-read",
                 "",
                 kArms,
                 {{bools({}, {0}), counting_tensor({8, 8})}},
                 lines});
  out.push_back({Deviation::kOffsetsFromHints,
                 "S2.stale-read",
                 "",
                 kSymbolic,
                 {{counting_tensor({16, 16})}},
                 [](Options& options) { options.compile.memory.alignment_bytes = 64; }});
  out.push_back({Deviation::kLifetimesTouchWrongly,
                 "S2.stale-read",
                 "which it reads in the same launch",
                 kShort,
                 {square},
                 {}});
  out.push_back(
      {Deviation::kOutputByExactName,
       "S2.stale-read",
       "output 0 reads",
       kViewOnly,
       {square},
       [](Options& options) { options.compile.memory.strategy = MemoryStrategy::kPools; }});
  out.push_back({Deviation::kForksWithoutAliasTest,
                 "S3.old-version",
                 "too late",
                 kSharedInput,
                 {eight},
                 [](Options& options) {
                   on_two_streams(options);
                   options.interleaving_seed = 1;
                 }});
  out.push_back({Deviation::kFreesOnMainStream,
                 "S2.stale-read",
                 "",
                 kSideStream,
                 {eight},
                 [](Options& options) {
                   on_two_streams(options);
                   options.interleaving_seed = 1;
                 }});
  out.push_back({Deviation::kEagerOutputNotCopied,
                 "S1.unwritten-read",
                 "'b'",
                 kPieces,
                 {{counting_tensor({2})}, {counting_tensor({2})}},
                 cut_at_neg});
  out.push_back({Deviation::kEagerResultsAreStatic,
                 "S3.old-version",
                 "",
                 kPieces,
                 {{counting_tensor({2})}, {counting_tensor({300})}, {counting_tensor({2})}},
                 [](Options& options) {
                   cut_at_neg(options);
                   options.runtime.share_pools = true;
                 }});
  out.push_back({Deviation::kPadsThroughReductions,
                 "S5.pad-read",
                 "hang on rows behind the true size 2",
                 kSum,
                 {{rows(2, 2, 1)}},
                 sized_four});
  out.push_back({Deviation::kPadsThroughScatters,
                 "S5.pad-read",
                 "output 0",
                 kScatter,
                 {{f32({3}, {9, 9, 9}), f32({2}, {1, 2}), i64({2}, {1, 2})}},
                 [](Options& options) {
                   sized_four(options);
                   options.runtime.padded_symbol = "s0";
                 }});
  out.push_back({Deviation::kIgnoresReturnedAlias,
                 "S2.stale-read",
                 "",
                 kReturnedAlias,
                 {{counting_tensor({4})}},
                 {}});
  out.push_back({Deviation::kKeepsStaleTail,
                 "",
                 "S5.pad-read: step 0 'y' refuses",
                 kLookup,
                 {{i64({4}, {9, 8, 7, 6}), rows(10, 2, 0)}, {i64({2}, {1, 0}), rows(2, 2, 0)}},
                 [](Options& options) {
                   sized_four(options);
                   options.runtime.share_pools = true;
                 }});
  out.push_back({Deviation::kPadsThroughState,
                 "S5.pad-read",
                 "state b",
                 kRowsOfState,
                 {{f32({2}, {5, 6})}},
                 sized_four});
  return out;
}

void PrintTo(const Trigger& trigger, std::ostream* out) { *out << trigger.text; }

class ShadowOfDeviation : public testing::TestWithParam<Trigger> {};

TEST_P(ShadowOfDeviation, IsAFindingByItsRuleAndNothingWithoutIt) {
  const Trigger& trigger = GetParam();
  EXPECT_EQ(text_of(findings_of(trigger.text, trigger.calls, shadowed(trigger.change))), "");
  Options wrong = shadowed(trigger.change);
  wrong.compile.deviations.add(trigger.deviation);
  std::vector<spec::Finding> findings;
  // Which order of streams shows a race hangs on the seed.
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
