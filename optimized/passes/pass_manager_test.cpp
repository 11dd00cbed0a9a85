#include "optimized/passes/pass_manager.h"

#include "optimized/passes/pass_test.h"

namespace graphgate::optimized {
namespace {

constexpr const char* kTiny = R"(program "tiny" {
  symbol s0 in [1, 64] hint 8
  input %x : f32[s0, 4]
  %unread = aten.exp.default(%x)
  %y = aten.relu.default(%x)
  output %y
})";

Pass user_pass(const std::string& name, const std::string& version) {
  return {name, version, [](spec::Graph&, PassContext&) {}};
}

std::string uuid_of(const PassOptions& options) {
  auto manager = PassManager::make(options);
  EXPECT_TRUE(manager.ok()) << manager.error().message;
  return manager.ok() ? manager.value().uuid() : "";
}

TEST(PassManager, RunsEveryBuiltInPassInOrder) {
  const auto names = PassManager::make({}).value().names();
  ASSERT_EQ(names.size(), builtin_passes().size());
  EXPECT_EQ(names.front(), "undo_functionalization");
  EXPECT_EQ(names.back(), "dead_code");
}

TEST(PassManager, TurnsAPassOff) {
  const spec::Program program = program_of(kTiny);
  EXPECT_EQ(ops_of(program), "relu");
  CompileOptions options;
  options.passes.disabled = {"dead_code"};
  EXPECT_EQ(ops_of(program, options), "exp relu");
}

TEST(PassManager, RefusesANameThatNoPassHas) {
  for (const bool enables : {false, true}) {
    CompileOptions options;
    (enables ? options.passes.enabled : options.passes.disabled) = {"inlining"};
    const Error graph = failure_of(prepare(program_of(kTiny), options));
    EXPECT_EQ(graph.kind, ErrorKind::kBadInput);
    EXPECT_TRUE(contains(graph.message, "unknown pass 'inlining'"));
    EXPECT_TRUE(contains(graph.message, "noop_elimination"));
  }
}

TEST(PassManager, TellsOfABadNameWhenAProgramIsLoaded) {
  Options options;
  options.compile.passes.disabled = {"inlining"};
  const spec::Program program = program_of(kTiny);
  EXPECT_EQ(failure_of(make_executor(options)->load(program)).kind, ErrorKind::kBadInput);
}

TEST(PassManager, RefusesAPassThatIsDisabledAndEnabled) {
  PassOptions options;
  options.disabled = {"reinplace"};
  options.enabled = {"reinplace"};
  EXPECT_FALSE(PassManager::make(options).ok());
}

TEST(PassManager, RunsAUsersPassBeforeDeadCode) {
  CompileOptions options;
  Pass pass = user_pass("rename", "1");
  pass.run = [](spec::Graph& graph, PassContext&) {
    for (spec::Node& node : graph.nodes) {
      if (node.op == "aten.relu.default") node.op = "aten.neg.default";
    }
  };
  options.passes.user_passes = {pass};
  EXPECT_EQ(ops_of(program_of(kTiny), options), "neg");
}

TEST(PassManager, LeavesAPassThatIsNotDefaultOffUntilItIsAskedFor) {
  PassOptions options;
  options.user_passes = {user_pass("mine", "1")};
  options.user_passes[0].is_default = false;
  const std::string off = uuid_of(options);
  EXPECT_EQ(off, uuid_of({}));
  options.enabled = {"mine"};
  EXPECT_NE(off, uuid_of(options));
}

TEST(PassManager, HashesNamesVersionsOrderAndRange) {
  PassOptions one;
  one.user_passes = {user_pass("a", "1"), user_pass("b", "1")};
  PassOptions version = one;
  version.user_passes[1].version = "2";
  PassOptions order = one;
  std::swap(order.user_passes[0], order.user_passes[1]);
  PassOptions off = one;
  off.disabled = {"reinplace"};
  PassOptions range = one;
  range.range = SizeRange{1, 9};
  PassOptions other_range = one;
  other_range.range = SizeRange{1, 10};
  const std::string base = uuid_of(one);
  EXPECT_EQ(base, uuid_of(one));
  std::vector<std::string> all = {base};
  for (const PassOptions& options : {version, order, off, range, other_range}) {
    all.push_back(uuid_of(options));
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
}

TEST(PassManager, RefusesAManagerWhereAPassBelongs) {
  PassManager manager = PassManager::make({}).value();
  const Error added = failure_of(manager.add(PassManager::make({}).value()));
  EXPECT_EQ(added.kind, ErrorKind::kBadInput);
  EXPECT_TRUE(contains(added.message, "manager"));
}

TEST(PassManager, TakesALackOfMemoryForNoFaultOfThePass) {
  Options options;
  Pass large = user_pass("large", "1");
  large.run = [](spec::Graph&, PassContext&) { throw std::bad_alloc(); };
  options.compile.passes.user_passes = {large};
  const Error loaded = failure_of(make_executor(options)->load(program_of(kTiny)));
  EXPECT_EQ(loaded.kind, ErrorKind::kInfrastructure);
  EXPECT_TRUE(contains(loaded.message, "out of memory"));
}

TEST(PassManager, RefusesAManagerThatHidesInAPass) {
  CompileOptions options;
  Pass hiding = user_pass("hiding", "1");
  hiding.run = [](spec::Graph& graph, PassContext& context) {
    const PassManager inner = PassManager::make({}).value();
    if (const auto ran = inner.run(graph, context); !ran.ok()) {
      throw std::runtime_error(ran.error().message);
    }
  };
  options.passes.user_passes = {hiding};
  const Error graph = failure_of(prepare(program_of(kTiny), options));
  EXPECT_EQ(graph.kind, ErrorKind::kBadInput);
  EXPECT_TRUE(contains(graph.message, "'hiding' runs a pass manager"));
}

TEST(PassManager, RefusesPassesWithoutNameVersionOrFunctionAndTakenNames) {
  PassManager manager = PassManager::make({}).value();
  EXPECT_FALSE(manager.add(user_pass("", "1")).ok());
  EXPECT_FALSE(manager.add(user_pass("mine", "")).ok());
  EXPECT_FALSE(manager.add(Pass{"mine", "1", {}}).ok());
  EXPECT_FALSE(manager.add(user_pass("dead_code", "1")).ok());
  EXPECT_TRUE(manager.add(user_pass("mine", "1")).ok());
}

TEST(PassManager, FindsAUsersPassThatLosesAnOutput) {
  CompileOptions options;
  Pass losing = user_pass("losing", "1");
  losing.run = [](spec::Graph& graph, PassContext&) { graph.nodes.clear(); };
  options.passes.user_passes = {losing};
  const Error graph = failure_of(prepare(program_of(kTiny), options));
  EXPECT_EQ(graph.kind, ErrorKind::kBadInput);
  EXPECT_EQ(graph.message, "pass 'losing': an output reads %y, which nothing makes before");
}

TEST(PassManager, GivesEachCompileItsOwnContextAndRange) {
  CompileOptions options;
  std::vector<std::int64_t> greatest;
  Pass looking = user_pass("looking", "1");
  looking.run = [&greatest](spec::Graph&, PassContext& context) {
    greatest.push_back(context.symbols().at("s0").max.value_or(-1));
  };
  options.passes.user_passes = {looking};
  const spec::Program program = program_of(kTiny);
  (void)prepared(program, options);
  options.passes.range = SizeRange{1, 17};
  (void)prepared(program, options);
  EXPECT_EQ(greatest, (std::vector<std::int64_t>{64, 16}));
  options.passes.range = SizeRange{4, 4};
  EXPECT_FALSE(prepare(program, options).ok());
}

TEST(PassManager, CountsWhatEachPassDid) {
  const auto counts = counts_of(program_of(kTiny));
  EXPECT_EQ(counts.at("dead_code").matches, 1);
  EXPECT_EQ(counts.at("dead_code").nodes_removed, 1);
  EXPECT_EQ(counts.at("noop_elimination").matches, 0);
}

}  // namespace
}  // namespace graphgate::optimized
