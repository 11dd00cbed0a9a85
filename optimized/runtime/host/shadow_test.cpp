// Shadow memory on whole programs: silent on right runs, and clear about wrong ones.
#include "optimized/runtime/host/shadow_test.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;

// --- Right runs ---------------------------------------------------------------------------------

TEST(Shadow, IsSilentOnRightRunsHoweverTheyAreConfigured) {
  const std::vector<Change> changes = {
      {},
      lines,
      on_two_streams,
      cut_at_neg,
      [](Options& options) { options.compile.compiler.name = "fused"; },
      [](Options& options) { options.compile.partition.capture = false; },
      [](Options& options) { options.runtime.weak_outputs = true; },
      [](Options& options) { options.runtime.share_pools = true; },
      [](Options& options) { options.runtime.warm_up_runs = 2; },
      [](Options& options) { options.runtime.poison = std::byte{0xFF}; },
  };
  const Inputs inputs = {counting_tensor({8, 8})};
  for (std::size_t c = 0; c < changes.size(); ++c) {
    const auto findings =
        findings_of(programs::kFourProducts, {inputs, inputs}, shadowed(changes[c]));
    EXPECT_EQ(text_of(findings), "") << c;
  }
}

// copy_ writes its operand and does not look at it; add_ does. Schemas do not tell them apart.
TEST(Shadow, AsksTheLaunchWhetherItReadsWhatItWrites) {
  const char* const text = R"(program "fill" {
  input %p : bool[]
  input %x : f32[4]
  graph @yes {
    input %u : f32[4]
    %u1 = aten.mul.Tensor(%u, 2.0)
    output %u1
  }
  graph @no {
    input %v : f32[4]
    %v1 = aten.mul.Tensor(%v, 3.0)
    output %v1
  }
  %y = higher_order.cond(%p, @yes, @no, [%x])
  %z = aten.add.Tensor(%y, %x)
  output %z
})";
  for (const std::uint8_t predicate : {std::uint8_t{0}, std::uint8_t{1}}) {
    const Inputs inputs = {bools({}, {predicate}), counting_tensor({4})};
    EXPECT_EQ(text_of(findings_of(text, {inputs}, shadowed())), "");
  }
}

TEST(Shadow, NamesReaderWriterAndBytesOfAStaleReadAndDrawsThem) {
  Options options = shadowed(lines);
  options.compile.deviations.add(Deviation::kFreesTwice);
  const auto findings =
      findings_of(programs::kInPlaceThenReuse, {{counting_tensor({8, 8})}}, options);
  ASSERT_EQ(findings.size(), 1U) << text_of(findings);
  const spec::Finding& finding = findings.front();
  EXPECT_EQ(finding.rule, "S2.stale-read");
  EXPECT_EQ(finding.message,
            "step 3 'd' (aten.mm.default, self) reads bytes [0, 256) of $b, which step 2 'c' has "
            "overwritten for $c; it expects what step 1 'b' made");
  EXPECT_EQ(finding.nodes, (std::vector<std::string>{"d", "c", "b"}));
  EXPECT_EQ(finding.buffers, (std::vector<std::string>{"b", "c"}));
  ASSERT_EQ(finding.ranges.size(), 2U);
  EXPECT_EQ(finding.ranges[1], (spec::FindingRange{"b", 0, 256}));
  EXPECT_EQ(finding.drawing,
            "bytes of $b       b   c   d   \n"
            "[0, 256)          $b  $c  $c <- read as $b\n");
}

// --- State that moves between calls -------------------------------------------------------------

std::string after_rebinding(const std::string& target, const Options& options) {
  const Loaded loaded(programs::kCounter, options);
  EXPECT_EQ(text_of(loaded.call({f32({1}, {1})}).findings), "");
  EXPECT_TRUE(loaded.session->set_state(target, f32({1}, {100}), true).ok());
  return text_of(loaded.call({f32({1}, {1})}).findings);
}

TEST(Shadow, SeesRecordingsThatReadStateWhereItWas) {
  for (const char* target : {"b", "w"}) EXPECT_EQ(after_rebinding(target, shadowed()), "");
  const auto wrong = [](const char* target, Deviation deviation) {
    return after_rebinding(target, with_deviation(deviation, shadowed()));
  };
  EXPECT_TRUE(contains(wrong("w", Deviation::kStateAddressesUnchecked), "S3.old-version"));
  EXPECT_TRUE(contains(wrong("b", Deviation::kReplaysReboundState), "S3.old-version"));
}

TEST(Shadow, SeesStateInAWorkspaceThatOthersStillUse) {
  const auto last = [&](Options options) {
    options.runtime.share_pools = true;
    options.plans_kept = 1;
    const Loaded loaded(programs::kScaledRows, options);
    (void)loaded.run({rows(2, 2, 1)});
    (void)loaded.run({rows(1, 2, 1)});
    EXPECT_TRUE(loaded.session->set_state("w", f32({2}, {10, 10}), true).ok());
    return text_of(loaded.call({rows(1, 2, 1)}).findings);
  };
  EXPECT_EQ(last(shadowed()), "");
  const std::string found = last(with_deviation(Deviation::kWorkspaceOfFirstCapturer, shadowed()));
  EXPECT_TRUE(contains(found, "S2.stale-read"));
}

}  // namespace
}  // namespace graphgate::optimized
