// What each deviation of the cache comes to: who is served whose plan.
//
// The same story each time: one user stores a plan, another one, who differs in a single point,
// asks. A right cache has nothing for the second; with the deviation it serves the first one's.
#include <gtest/gtest.h>

#include "optimized/cache/cache_test_support.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;

struct Story {
  CacheUser first;
  CacheUser second;
  KeyContext first_context;
  KeyContext second_context;

  bool serves(std::optional<Deviation> deviation) {
    const TestFolder folder;
    DiskCacheOptions disk;
    disk.root = folder.path();
    first.options.deviations = {};
    if (deviation) first.options.deviations.add(*deviation);
    second.options.deviations = first.options.deviations;
    disk.context = first_context;
    first.open(disk)->store(first.request(), first.compiled());
    disk.context = second_context;
    const auto found = second.open(disk)->lookup(second.request());
    if (found) {
      EXPECT_EQ(*found, first.compiled());
    }
    return found.has_value();
  }
  void expect_served_only_with(Deviation deviation) {
    EXPECT_FALSE(serves(std::nullopt));
    EXPECT_TRUE(serves(deviation)) << spec::row_of(deviation).name;
    // And whoever differs in nothing is served in both.
    second = first;
    second_context = first_context;
    EXPECT_TRUE(serves(std::nullopt));
    EXPECT_TRUE(serves(deviation));
  }
};

TEST(CacheDeviations, AForgottenEnvironmentServesAnotherOnesPlan) {
  Story story;
  story.first_context.environment["GRAPHGATE_LAYERS"] = "1";
  story.second_context.environment["GRAPHGATE_LAYERS"] = "2";
  story.expect_served_only_with(Deviation::kKeyDropsEnvironment);
}

TEST(CacheDeviations, ForgottenPassOptionsServeAPlanOfOtherPasses) {
  Story story;
  story.second.options.passes.disabled = {"dead_code"};
  story.expect_served_only_with(Deviation::kKeyDropsPassOptions);
}

TEST(CacheDeviations, AForgottenRangeServesAPlanOfAnotherRange) {
  Story story;
  story.first.range = SizeRange{2, 8};
  story.second.range = SizeRange{2, 64};
  story.expect_served_only_with(Deviation::kKeyDropsRange);
}

TEST(CacheDeviations, AKeyOfShapesServesAPlanForOtherStrides) {
  Story story;
  spec::HostTensor transposed = rows_of(3);
  transposed.strides = {1, 3};
  story.second.inputs = {transposed};
  story.expect_served_only_with(Deviation::kKeyIsShapeOnly);
}

TEST(CacheDeviations, ForgottenSplitOpsServeAPlanThatIsCutElsewhere) {
  Story story;
  story.second.options.partition.split_ops = {"aten.mul"};
  story.expect_served_only_with(Deviation::kKeyDropsSplitOps);
  EXPECT_NE(partitions_of(CacheUser().compiled()), [] {
    CacheUser user;
    user.options.partition.split_ops = {"aten.mul"};
    return partitions_of(user.compiled());
  }());
}

TEST(CacheDeviations, ForgottenGuardsServeAPlanForOtherRanges) {
  Story story;
  story.second.program.symbols.at("s0").max = 128;
  story.expect_served_only_with(Deviation::kKeyDropsGuards);
}

// The two tables differ in what mul is said to write, as when a custom op's schema is corrected.
TEST(CacheDeviations, AKeyOfOpNamesServesAPlanMadeFromAnotherSchema) {
  const auto table_with = [](std::string_view self) {
    spec::OpTable ops;
    const std::string text = "aten::mul.Tensor(" + std::string(self) +
                             " self, Tensor other) -> Tensor\n"
                             "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> "
                             "Tensor\n";
    must(ops.add_text(text, "t"));
    return ops;
  };
  const spec::OpTable reads = table_with("Tensor");
  const spec::OpTable writes = table_with("Tensor(a!)");
  Story story;
  story.first.options.ops = &reads;
  story.second.options.ops = &writes;
  story.first.options.partition.split_ops = {};
  story.second.options.partition.split_ops = {};
  story.expect_served_only_with(Deviation::kKeyByOpName);
}

TEST(CacheDeviations, RanksThatShareAFolderServeEachOther) {
  Story story;
  story.second_context.rank = 1;
  story.expect_served_only_with(Deviation::kRanksShareFolder);
}

// Another factor of the program: the wrong plan gives wrong numbers.
TEST(CacheDeviations, APositionalKeyComputesAnotherProgram) {
  const CacheUser tripled(R"(program "scale" {
    symbol s0 in [2, 64] hint 8
    input %x : f32[s0, 4]
    %y = aten.mul.Tensor(%x, 3.0)
    %z = aten.add.Tensor(%y, %x)
    output %z
  })");
  Story story;
  story.second = tripled;
  story.expect_served_only_with(Deviation::kCacheKeyIsPositional);

  const TestFolder folder;
  const auto last_number = [&](const CacheUser& user, bool deviates) {
    Options options;
    if (deviates) options.compile.deviations.add(Deviation::kCacheKeyIsPositional);
    DiskCacheOptions disk;
    disk.root = folder.path() / (deviates ? "deviating" : "right");
    options.plan_store = make_disk_store(disk);
    return floats(run_calls(user.program, {user.inputs}, options).at(0).outputs[0]).back();
  };
  for (const bool deviates : {false, true}) {
    EXPECT_EQ(last_number(CacheUser(), deviates), 12 * 3);
    EXPECT_EQ(last_number(tripled, deviates), deviates ? 12 * 3 : 12 * 4);
  }
}

// The entry outlives the failure; only the checks on a hit keep it from being served.
TEST(CacheDeviations, AnEntrySavedBeforeSuccessOutlivesTheFailure) {
  const auto entries_after_failure = [](bool deviates, bool skips_validation) {
    const TestFolder folder;
    DiskCacheOptions disk;
    disk.root = folder.path();
    CacheUser user;
    if (deviates) user.options.deviations.add(Deviation::kSavesBeforeSuccess);
    if (skips_validation) user.options.deviations.add(Deviation::kSkipsValidationOnHit);
    const auto cache = user.open(disk);
    const auto failed = find_or_make_plan(
        cache.get(), user.request(), [] { return Result<spec::Plan>(unsupported("no kernel")); });
    EXPECT_FALSE(failed.ok());
    EXPECT_EQ(cache->lookup(user.request()).has_value(), deviates && skips_validation);
    return files_in(folder.path(), "entries").size();
  };
  EXPECT_EQ(entries_after_failure(false, false), 0U);
  EXPECT_EQ(entries_after_failure(false, true), 0U);
  EXPECT_EQ(entries_after_failure(true, false), 1U);
  EXPECT_EQ(entries_after_failure(true, true), 1U);
}

TEST(CacheDeviations, AHitWithoutValidationServesAnUnsoundPlan) {
  for (const bool deviates : {false, true}) {
    const TestFolder folder;
    DiskCacheOptions disk;
    disk.root = folder.path();
    CacheUser user;
    if (deviates) user.options.deviations.add(Deviation::kSkipsValidationOnHit);
    spec::Plan plan = user.compiled();
    plan.buffers.back().offset_bytes = 1 << 20;  // outside of its pool
    ASSERT_FALSE(spec::check_plan(plan).ok());
    user.open(disk)->store(user.request(), plan);
    EXPECT_EQ(user.open(disk)->lookup(user.request()).has_value(), deviates);
  }
}

// kWritesInPlace needs a process that dies: processes_test.cpp.

}  // namespace
}  // namespace graphgate::optimized
