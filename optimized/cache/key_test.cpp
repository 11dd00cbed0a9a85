#include "optimized/cache/key.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>

#include "optimized/cache/cache_test_support.h"
#include "optimized/cache/key_json.h"

namespace graphgate::optimized {
namespace {

KeyFactors folder_of(const CacheUser& user, const KeyContext& context = {}) {
  return must(folder_factors(user.program, user.options, user.allow_zero_and_one, context));
}

KeyFactors entry_of(CacheUser user) { return entry_factors(user.request(), user.options); }

// The factors in which two users' folders differ.
std::vector<std::string> folder_changes(const CacheUser& a, const CacheUser& b) {
  return KeyFactors::differences(folder_of(a), folder_of(b));
}
std::vector<std::string> entry_changes(const CacheUser& a, const CacheUser& b) {
  return KeyFactors::differences(entry_of(a), entry_of(b));
}
using Names = std::vector<std::string>;

TEST(CacheKey, IsTheSameForTheSameProgram) {
  EXPECT_EQ(folder_of(CacheUser()).hash(), folder_of(CacheUser()).hash());
  EXPECT_EQ(entry_of(CacheUser()).hash(), entry_of(CacheUser()).hash());
}

TEST(CacheKey, HasTheContentOfTheGraph) {
  const CacheUser other(R"(program "scale" {
    symbol s0 in [2, 64] hint 8
    input %x : f32[s0, 4]
    %y = aten.mul.Tensor(%x, 3.0)
    %z = aten.add.Tensor(%y, %x)
    output %z
  })");
  EXPECT_EQ(folder_changes(CacheUser(), other), Names{"graph.text"});
}

TEST(CacheKey, HasTheGuards) {
  CacheUser other;
  other.program.symbols.at("s0").max = 128;
  EXPECT_EQ(folder_changes(CacheUser(), other), Names{"guards.s0"});
  other = CacheUser();
  other.allow_zero_and_one = true;
  EXPECT_EQ(folder_changes(CacheUser(), other), Names{"guards.allow_zero_and_one"});
}

TEST(CacheKey, HasTheGeometryAndSharingOfParametersButNotTheirContents) {
  const char* text = R"(program "p" {
    parameter %v "v" : f32[2] = [1.0, 2.0]
    parameter %w "w" : f32[2] = [1.0, 2.0]
    input %x : f32[2]
    %y = aten.add.Tensor(%x, %w)
    output %y
  })";
  const CacheUser user(text);
  CacheUser other(text);
  other.program.tensors.at("w") = f32({2}, {5, 6});
  EXPECT_EQ(folder_changes(user, other), Names{});
  other.program.tensors.at("w").storage = other.program.tensors.at("v").storage;
  EXPECT_EQ(folder_changes(user, other), Names{"graph.tensors"});
}

TEST(CacheKey, HasTheSchemasOfTheOpsInUse) {
  spec::OpTable reads;
  spec::OpTable writes;
  ASSERT_TRUE(reads.add_text("my::op(Tensor x) -> Tensor\nmy::other() -> ()\n", "t").ok());
  ASSERT_TRUE(writes.add_text("my::op(Tensor(a!) x) -> Tensor\n", "t").ok());
  const char* text =
      "program \"p\" {\n  input %x : f32[2]\n  %y = my.op.default(%x)\n  output %y\n}";
  const auto key = [&](const spec::OpTable& ops) {
    const spec::Program program = spec::parse_program(text, ops).value();
    CompileOptions options;
    options.ops = &ops;
    return folder_factors(program, options, false, {}).value();
  };
  EXPECT_EQ(KeyFactors::differences(key(reads), key(writes)), Names{"ops.my.op.default"});
}

TEST(CacheKey, RefusesAnOpThatTheTableLacks) {
  const spec::OpTable none;
  CacheUser user;
  user.options.ops = &none;
  EXPECT_TRUE(contains(failure_of(folder_factors(user.program, user.options, false, {})).message,
                       "the op table has no schema for aten."));
}

TEST(CacheKey, HasEveryKindOfOption) {
  const auto change = [](auto&& set) {
    CacheUser other;
    set(other.options);
    return folder_changes(CacheUser(), other);
  };
  EXPECT_EQ(change([](auto& o) { o.partition.split_ops.push_back("aten.mul"); }),
            Names{"partition.split_ops"});
  EXPECT_EQ(change([](auto& o) { o.partition.max_nodes = 1; }), Names{"partition.max_nodes"});
  EXPECT_EQ(change([](auto& o) { o.partition.cut_after = {"add"}; }), Names{"partition.cut_after"});
  EXPECT_EQ(change([](auto& o) { o.partition.device_kernels = true; }),
            Names{"partition.device_kernels"});
  EXPECT_EQ(change([](auto& o) { o.partition.mode = PartitionMode::kSplitGraph; }),
            Names{"partition.mode"});
  EXPECT_EQ(change([](auto& o) { o.memory.reuse = false; }), Names{"memory.reuse"});
  EXPECT_EQ(change([](auto& o) { o.streams.count = 2; }), Names{"streams.count"});
  EXPECT_EQ(change([](auto& o) { o.arithmetic = Arithmetic::kFast; }), Names{"arithmetic.mode"});
  EXPECT_EQ(change([](auto& o) { o.compiler.name = "standalone"; }),
            (Names{"compiler.hash", "compiler.name"}));
  EXPECT_EQ(change([](auto& o) { o.compiler.limits.nodes = 2; }), Names{"compiler.limits.nodes"});
  EXPECT_EQ(change([](auto& o) { o.reorder.memory_budget = 2; }), Names{"reorder.memory_budget"});
  EXPECT_EQ(change([](auto& o) { o.passes.disabled = {"dead_code"}; }), Names{"passes.uuid"});
  EXPECT_EQ(change([](auto& o) { o.deviations.add(spec::Deviation::kFreesTwice); }),
            Names{"deviations.names"});
}

// Every field by name: options with another field do not compile until the key has it
// (option_factors.cpp).
TEST(CacheKey, KnowsEveryFieldOfTheOptions) {
  const CompileOptions options;
  [[maybe_unused]] const auto& [ops, deviations, passes, reorder, partition, compiler, streams,
                                memory, arithmetic, log, counters] = options;
  [[maybe_unused]] const auto& [disabled, enabled, user_passes, pass_range] = passes;
  [[maybe_unused]] const auto& [reorder_rule, memory_budget] = reorder;
  [[maybe_unused]] const auto& [mode, split_generation, split_ops, unsafe_unbacked_ops,
                                skip_dynamic_graphs, min_partition_size, max_nodes, cut_after,
                                capture, device_kernels] = partition;
  [[maybe_unused]] const auto& [compiler_name, own, limits, realize] = compiler;
  [[maybe_unused]] const auto& [limit_nodes, row_bytes] = limits;
  [[maybe_unused]] const auto& [rule, reads_threshold, opcount_threshold, cpu_opcount_threshold,
                                opusers_threshold, heavy_newer, recompute] = realize;
  [[maybe_unused]] const auto& [stream_count] = streams;
  [[maybe_unused]] const auto& [strategy, reuse, in_place, outputs_apart, pool_rule,
                                alignment_bytes, unaligned_ops, pack] = memory;
  [[maybe_unused]] const auto& [fit_work, search_work, search_items_max] = pack;
  const KeyFactors factors = folder_of(CacheUser());
  const auto count = [&](const char* section) { return factors.sections().at(section).size(); };
  EXPECT_EQ(count("passes"), 1U);  // all in the uuid; the range is a factor of entries
  EXPECT_EQ(count("reorder"), 2U);
  EXPECT_EQ(count("partition"), 10U);
  EXPECT_EQ(count("compiler"), 11U);  // the hash besides
  EXPECT_EQ(count("streams"), 1U);
  EXPECT_EQ(count("memory"), 10U);
  EXPECT_EQ(count("arithmetic"), 1U);
  EXPECT_EQ(count("deviations"), 2U);  // the profile besides
}

TEST(CacheKey, HasAUsersPassByNameAndVersion) {
  const auto with_pass = [](const char* version) {
    CacheUser user;
    user.options.passes.user_passes = {{"mine", version, [](spec::Graph&, PassContext&) {}}};
    return user;
  };
  EXPECT_EQ(folder_changes(with_pass("1"), with_pass("1")), Names{});
  EXPECT_EQ(folder_changes(with_pass("1"), with_pass("2")), Names{"passes.uuid"});
}

TEST(CacheKey, DoesNotHangOnWhoIsToldAboutTheCompile) {
  RecordingLog log;
  CompileCounters counters;
  CacheUser other;
  other.options.log = &log;
  other.options.counters = &counters;
  EXPECT_EQ(folder_changes(CacheUser(), other), Names{});
}

TEST(CacheKey, DoesNotHangOnTheOrderOfASet) {
  CacheUser a;
  CacheUser b;
  a.options.partition.split_ops = {"aten.mul", "aten.add"};
  b.options.partition.split_ops = {"aten.add", "aten.mul", "aten.add"};
  EXPECT_EQ(folder_changes(a, b), Names{});
}

TEST(CacheKey, HasTheEnvironmentButNotWhereTheCacheLies) {
  ::setenv("GRAPHGATE_TEST_FACTOR", "1", 1);
  ::setenv("GRAPHGATE_CACHE_ROOT", "/somewhere", 1);
  const auto environment = environ_factors();
  ::unsetenv("GRAPHGATE_TEST_FACTOR");
  ::unsetenv("GRAPHGATE_CACHE_ROOT");
  EXPECT_EQ(environment.at("GRAPHGATE_TEST_FACTOR"), "1");
  EXPECT_FALSE(environment.contains("GRAPHGATE_CACHE_ROOT"));
  KeyContext context;
  context.environment = environment;
  EXPECT_EQ(KeyFactors::differences(folder_of(CacheUser()), folder_of(CacheUser(), context)),
            Names{"environment.GRAPHGATE_TEST_FACTOR"});
  context = {};
  context.profile = "torch-2.9.0";
  EXPECT_EQ(KeyFactors::differences(folder_of(CacheUser()), folder_of(CacheUser(), context)),
            Names{"deviations.profile"});
}

TEST(CacheKey, OfAnEntryHasGeometryNotContents) {
  CacheUser a;
  CacheUser b;
  b.inputs = {rows_of(3, 100)};
  EXPECT_EQ(entry_changes(a, b), Names{});
  b.inputs = {rows_of(4)};
  EXPECT_EQ(entry_changes(a, b), (Names{"inputs.0.sizes", "inputs.0.storage", "symbols.s0"}));
  spec::HostTensor transposed = rows_of(3);
  transposed.strides = {1, 3};
  b.inputs = {transposed};
  EXPECT_EQ(entry_changes(a, b), Names{"inputs.0.strides"});
  b = CacheUser();
  b.range = SizeRange{2, 8};
  EXPECT_EQ(entry_changes(a, b), (Names{"range.begin", "range.end"}));
  b = CacheUser();
  b.dispatch = {{"mode", "full"}};
  EXPECT_EQ(entry_changes(a, b), Names{"dispatch.mode"});
}

TEST(CacheKey, OfAnEntryHasSharingAndNumbers) {
  const char* text = R"(program "p" {
    input %x : f32[2]
    input %y : f32[2]
    input %k : symfloat
    %z = aten.add.Tensor(%x, %y)
    output %z
  })";
  CacheUser a(text);
  CacheUser b(text);
  a.inputs = {f32({2}, {1, 2}), f32({2}, {1, 2}), 0.0};
  b.inputs = a.inputs;
  b.inputs[1] = b.inputs[0];
  EXPECT_EQ(entry_changes(a, b), Names{"inputs.1.storage"});
  b.inputs = a.inputs;
  b.inputs[2] = -0.0;
  EXPECT_EQ(entry_changes(a, b), Names{"inputs.2.bits"});
}

TEST(KeyFactors, CannotBeForgedByAValue) {
  KeyFactors a;
  KeyFactors b;
  a.set("s", "x", "1\n1 y = 2");
  b.set("s", "x", "1");
  b.set("s", "y", "2");
  EXPECT_NE(a.text(), b.text());
  a = {};
  b = {};
  a.set("s", "x = 1", "2");
  b.set("s", "x", "1 = 2");
  EXPECT_NE(a.text(), b.text());
}

// What two different sets of factors print is different.
RC_GTEST_PROP(KeyFactors, PrintOneText,
              (const std::map<std::string, std::string>& a,
               const std::map<std::string, std::string>& b)) {
  KeyFactors of_a;
  KeyFactors of_b;
  for (const auto& [name, value] : a) of_a.set(name, value, name);
  for (const auto& [name, value] : b) of_b.set(name, value, name);
  RC_ASSERT((of_a.text() == of_b.text()) == (of_a == of_b));
}

TEST(KeyFactors, AreShownAsJson) {
  KeyFactors factors;
  factors.set("a", "x", "1 \"quoted\"\n");
  factors.set("b", "y", "\xff");
  EXPECT_EQ(print_factors_json(factors),
            "{\n  \"a\": {\n    \"x\": \"1 \\\"quoted\\\"\\n\"\n  },\n"
            "  \"b\": {\n    \"y\": \"\xEF\xBF\xBD\"\n  }\n}\n");
}

}  // namespace
}  // namespace graphgate::optimized
