#include "optimized/compilers/compiler.h"

#include "optimized/program_test.h"

namespace graphgate::optimized {
namespace {

// relu and mul go row by row, the mean takes rows together, mm cuts.
constexpr std::string_view kProgram =
    R"(program "p" {
  parameter %w "w" : f32[6, 6] = [)"
    R"(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5,)"
    R"( 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5,)"
    R"( 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
  input %x : f32[5, 6]
  %a = aten.mul.Tensor(%x, 3.0)
  %m = aten.mean.dim(%a, [-1], True)
  %c = aten.sub.Tensor(%a, %m)
  %y = aten.mm.default(%c, %w)
  %z = aten.relu.default(%y)
  %o = aten.add.Tensor(%z, %x)
  output %o
})";

spec::HostTensor numbers(std::int64_t rows, std::int64_t columns) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    values.push_back(static_cast<float>(i * 7 % 11) - 4.3F);
  }
  return f32({rows, columns}, std::move(values));
}

CompileOptions with(const std::string& compiler) {
  CompileOptions options;
  options.compiler.name = compiler;
  return options;
}

std::vector<float> result_of(const spec::Program& program, const CompileOptions& compile,
                             const spec::HostTensor& input) {
  Options options;
  options.compile = compile;
  const auto results = run_calls(program, {{input}}, options);
  return results.empty() ? std::vector<float>() : floats(results[0].outputs.at(0));
}

TEST(Compilers, AgreeToTheBitAndDifferInLaunches) {
  const spec::Program program = program_of(std::string(kProgram));
  const spec::HostTensor x = numbers(5, 6);
  EXPECT_EQ(good_plan_of(program, {x}, with("eager"), Launches::kAsAsked).steps.size(), 6U);
  EXPECT_EQ(good_plan_of(program, {x}, with("fused"), Launches::kAsAsked).steps.size(), 3U);
  EXPECT_EQ(good_plan_of(program, {x}, with("standalone"), Launches::kAsAsked),
            good_plan_of(program, {x}, with("fused"), Launches::kAsAsked));
  const auto eager = result_of(program, with("eager"), x);
  ASSERT_EQ(eager.size(), 30U);
  EXPECT_EQ(result_of(program, with("fused"), x), eager);
  EXPECT_EQ(result_of(program, with("standalone"), x), eager);
}

TEST(FusedPlans, NameInnerValuesAndNothingElse) {
  const spec::Program program = program_of(std::string(kProgram));
  const spec::Plan plan = good_plan_of(program, {numbers(5, 6)}, with("fused"), Launches::kAsAsked);
  const spec::PlanStep& group = plan.steps[0];
  ASSERT_EQ(group.body.size(), 3U);
  EXPECT_EQ(group.node.name, "c");
  EXPECT_TRUE(group.workspace.has_value());
  ASSERT_EQ(group.node.arguments.size(), 1U);
  ASSERT_EQ(group.node.results.size(), 1U);
  std::size_t inner = 0;
  for (const spec::PlanValue& value : plan.values) {
    if (value.value.kind == spec::ValueKind::kTensor && !value.buffer) ++inner;
  }
  EXPECT_EQ(inner, 3U);  // %a, %m and %z
  const spec::Plan numbered = spec::number_plan(plan);
  const std::string text = spec::print_plan(numbered, spec::builtin_op_table());
  const auto parsed = must(spec::parse_plan(text, spec::builtin_op_table()));
  EXPECT_EQ(parsed, numbered);
}

// One launch for two nodes, whatever they are.
class Greedy final : public PartitionCompiler {
 public:
  explicit Greedy(bool leaves_one) : leaves_one_(leaves_one) {}
  std::string name() const override { return "greedy"; }
  std::string hash() const override { return leaves_one_ ? "a" : "b"; }
  Result<CompiledPartition> compile(const CompilerSource& source,
                                    const CompilerContext& /*context*/) override {
    CompiledPartition compiled;
    const auto count = static_cast<std::uint32_t>(source.nodes().size());
    for (std::uint32_t n = 0; n + 1 < count; n += 2) compiled.launches.push_back({n, n + 1});
    if (count % 2 == 1 && !leaves_one_) compiled.launches.push_back({count - 1});
    return compiled;
  }

 private:
  bool leaves_one_;
};

TEST(Compilers, MayBeTheUsersOwn) {
  const spec::Program program = program_of(R"(program "p" {
  input %x : f32[4, 3]
  %a = aten.neg.default(%x)
  %b = aten.mul.Tensor(%a, 2.0)
  %c = aten.add.Tensor(%b, %x)
  output %c
})");
  CompileOptions options;
  options.compiler.own = std::make_shared<Greedy>(false);
  const spec::HostTensor x = numbers(4, 3);
  const spec::Plan plan = good_plan_of(program, {x}, options, Launches::kAsAsked);
  ASSERT_EQ(plan.steps.size(), 2U);
  EXPECT_EQ(plan.steps[0].body.size(), 2U);
  EXPECT_EQ(result_of(program, options, x), result_of(program, with("eager"), x));
}

TEST(Compilers, AreHeldToWhatTheyMayAnswer) {
  const spec::Program program = program_of(std::string(kProgram));
  CompileOptions options;
  options.compiler.own = std::make_shared<Greedy>(false);
  EXPECT_EQ(failure_of(plan_of(program, {numbers(5, 6)}, options, Launches::kAsAsked)).message,
            "compiler 'greedy': partition 0: the nodes from 'c' to 'y' cannot run in one launch");
  options.compiler.own = std::make_shared<Greedy>(true);
  options.partition.max_nodes = 3;
  EXPECT_EQ(failure_of(plan_of(program, {numbers(5, 6)}, options, Launches::kAsAsked)).message,
            "compiler 'greedy': partition 0: node 2 is in no launch");
}

TEST(Compilers, AreKnownByName) {
  const Error plan = failure_of(plan_of(program_of(std::string(kProgram)), {numbers(5, 6)},
                                        with("fuse"), Launches::kAsAsked));
  EXPECT_EQ(plan.kind, ErrorKind::kBadInput);
  EXPECT_EQ(plan.message, "there is no compiler 'fuse': there are fused, eager, standalone");
  CompilerOptions options;
  options.limits.nodes = 0;
  EXPECT_FALSE(validate(options).ok());
}

TEST(CompiledText, ReadsBackAndNamesTheLineOfAnError) {
  const CompiledPartition compiled{{{0, 3}, {1}, {2, 4, 5}}};
  const std::string text = print_compiled(compiled);
  EXPECT_EQ(text, "launch 0 3\nlaunch 1\nlaunch 2 4 5\n");
  const auto parsed = must(parse_compiled(text));
  EXPECT_EQ(parsed, compiled);
  const auto error = [](std::string_view bad) { return parse_compiled(bad).error().message; };
  EXPECT_EQ(error("launch 0\nlunch 1\n"), "line 2: expected 'launch' and places of nodes");
  EXPECT_EQ(error("launch 0 x\n"), "line 1: expected the place of a node");
  EXPECT_EQ(error("launch 0,1\n"), "line 1: expected a blank between places");
  EXPECT_EQ(error("launch 0"), "line 1: expected a line end");
}

}  // namespace
}  // namespace graphgate::optimized
