#include "optimized/cache/bundle_folder.h"

#include <gtest/gtest.h>

#include <fstream>

#include "optimized/cache/cache_test_support.h"

namespace graphgate::optimized {
namespace {

namespace fs = std::filesystem;

class BundleTest : public testing::Test {
 protected:
  fs::path file() const { return folder_.path() / "all.plans"; }

  // Runs the program at these sizes and saves what was compiled.
  std::vector<spec::CallResult> build(const std::vector<std::int64_t>& sizes) {
    const auto store = BundleStore::make({});
    auto results = run(store, sizes);
    must(store->save(file()));
    return results;
  }
  std::shared_ptr<BundleStore> load(KeyContext context = {}) {
    return must(BundleStore::load(file(), {std::move(context), &counters_}));
  }
  std::vector<spec::CallResult> run(const std::shared_ptr<PlanStore>& store,
                                    const std::vector<std::int64_t>& sizes) {
    Options options;
    options.plan_store = store;
    options.compile.counters = &counters_;
    std::vector<Inputs> calls;
    for (const std::int64_t size : sizes) calls.push_back({rows_of(size)});
    return run_calls(program_of(kScaleProgram), calls, options);
  }
  static std::string refusal(const std::shared_ptr<BundleStore>& store, const CacheUser& user) {
    return message_of(store->open(user.program, user.options, user.allow_zero_and_one));
  }

  TestFolder folder_;
  CompileCounters counters_;
};

TEST_F(BundleTest, HoldsAllSizesAndGivesTheSameBits) {
  const auto cold = build({3, 5});
  counters_ = {};
  const auto store = load();
  EXPECT_EQ(store->plan_count(), 2U);
  const auto ahead = run(store, {5, 3});
  EXPECT_EQ(unmet({}, counters_, {.plans_compiled = 0, .cache_hits = 2}), "");
  EXPECT_EQ(floats(ahead[0].outputs[0]), floats(cold[1].outputs[0]));
  EXPECT_EQ(floats(ahead[1].outputs[0]), floats(cold[0].outputs[0]));
}

TEST_F(BundleTest, TakesUpSizesThatItLacks) {
  build({3});
  counters_ = {};
  const auto store = load();
  run(store, {3, 4});
  EXPECT_EQ(unmet({}, counters_, {.plans_compiled = 1, .cache_hits = 1, .cache_misses = 1}), "");
  ASSERT_TRUE(store->save(file()).ok());
  EXPECT_EQ(load()->plan_count(), 2U);
}

TEST_F(BundleTest, HoldsEqualPlansOnce) {
  CacheUser user;
  const auto store = BundleStore::make({});
  const auto cache = store->open(user.program, user.options, false).value();
  cache->store(user.request(), user.compiled());
  user.dispatch = {{"mode", "full"}};
  cache->store(user.request(), user.compiled());
  EXPECT_EQ(store->plan_count(), 2U);
  EXPECT_EQ(store->artifact_count(), 1U);
}

TEST_F(BundleTest, EvaluatesGuardsAndOptionsWhenItIsOpened) {
  build({3});
  EXPECT_EQ(refusal(load(), CacheUser()), "");
  CacheUser other;
  other.program.symbols.at("s0").max = 32;
  EXPECT_EQ(refusal(load(), other),
            "the ahead-of-time file was made from something else: guards.s0 differ");
  other = CacheUser();
  other.options.partition.max_nodes = 1;
  EXPECT_TRUE(contains(refusal(load(), other), "partition.max_nodes differ"));
  KeyContext context;
  context.environment["GRAPHGATE_OTHER"] = "1";
  EXPECT_TRUE(contains(refusal(load(context), CacheUser()), "environment.GRAPHGATE_OTHER"));
}

TEST_F(BundleTest, IsOfOneProgram) {
  build({3});
  CacheUser other;
  other.program.graph.nodes[0].arguments[1].argument = spec::Argument{3.0};
  EXPECT_TRUE(contains(refusal(load(), other), "graph.text differ"));
}

TEST_F(BundleTest, ComparesTheInputsOfEveryCall) {
  CacheUser user;
  const auto store = BundleStore::make({});
  const auto cache = store->open(user.program, user.options, false).value();
  cache->store(user.request(), user.compiled());
  EXPECT_TRUE(cache->lookup(user.request()).has_value());
  spec::HostTensor transposed = rows_of(3);
  transposed.strides = {1, 3};
  user.inputs = {transposed};
  EXPECT_FALSE(cache->lookup(user.request()).has_value());
}

TEST_F(BundleTest, RefusesDamage) {
  build({3});
  const std::string bytes = read_file(file()).value().value();
  const auto refused = [&](const std::string& text) {
    std::ofstream(file(), std::ios::binary | std::ios::trunc) << text;
    const auto store = BundleStore::load(file(), {});
    return !store.ok() && store.error().kind == ErrorKind::kBadInput;
  };
  for (std::size_t at = 0; at < bytes.size(); at += 7) {
    EXPECT_TRUE(refused(bytes.substr(0, at))) << at;
    std::string altered = bytes;
    altered[at] ^= 0x10;
    EXPECT_TRUE(refused(altered)) << at;
  }
  EXPECT_TRUE(refused(bytes + "x"));
  EXPECT_FALSE(refused(bytes));
}

TEST_F(BundleTest, SaysWhatIsMissing) {
  EXPECT_EQ(failure_of(BundleStore::load(file(), {})).kind, ErrorKind::kBadInput);
  EXPECT_TRUE(contains(failure_of(BundleStore::make({})->save(file())).message,
                       "there is no plan to save"));
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(BundleTest, LiesInAFolderForEachProgram) {
  EXPECT_EQ(bundle_file("f", "a b/%").string(), "f/a%20b%2f%25.ggbundle");
  const auto folder = [&] {
    return make_bundle_folder({folder_.path(), {.context = {}, .counters = &counters_}, {}});
  };
  const auto cold = folder();
  run(cold, {3});
  EXPECT_FALSE(fs::exists(bundle_file(folder_.path(), "scale"))) << "before it is closed";
  must(cold->close());
  counters_ = {};
  const auto warm = folder();
  run(warm, {3, 4});
  EXPECT_EQ(unmet({}, counters_, {.plans_compiled = 1, .cache_hits = 1}), "");
  must(warm->close());
  EXPECT_EQ(must(BundleStore::load(bundle_file(folder_.path(), "scale"), {}))->plan_count(), 2U);
}

TEST_F(BundleTest, InAFolderIsRefusedWhereTheProgramIsAnother) {
  const auto store = make_bundle_folder({folder_.path(), {}, {}});
  run(store, {3});
  must(store->close());
  CacheUser other;
  other.options.partition.split_ops = {"aten.mul.Tensor"};
  const auto open = [&](const spec::DeviationSet& deviations) {
    return message_of(make_bundle_folder({folder_.path(), {}, deviations})
                          ->open(other.program, other.options, other.allow_zero_and_one));
  };
  EXPECT_TRUE(contains(open({}), "made from something else: partition.split_ops differ"));
  spec::DeviationSet foreign;
  foreign.add(spec::Deviation::kServesForeignBundle);
  EXPECT_EQ(open(foreign), "");
}

}  // namespace
}  // namespace graphgate::optimized
