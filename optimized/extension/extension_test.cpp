#include "optimized/extension/extension.h"

#include "optimized/compilers/compiler.h"
#include "optimized/extension/extension_text.h"
#include "optimized/passes/pass_manager.h"
#include "optimized/program_test.h"

namespace graphgate::optimized {
namespace {

constexpr std::string_view kProgram = R"(program "p" {
  input %x : f32[4, 6]
  %a = aten.mul.Tensor(%x, 2.0)
  %b = aten.relu.default(%a)
  %c = aten.add.Tensor(%b, 1.0)
  %d = aten.neg.default(%c)
  %e = aten.mul.Tensor(%d, 0.5)
  output %e
})";

std::string path_of(const std::string& name) {
  return std::string(GRAPHGATE_EXTENSIONS) + "/" + name + ".so";
}

std::shared_ptr<const Extension> extension(const std::string& name) {
  return must(Extension::load(path_of(name)));
}

spec::HostTensor numbers() {
  std::vector<float> values;
  for (int i = 0; i < 24; ++i) values.push_back(static_cast<float>(i * 7 % 11) - 4.3F);
  return f32({4, 6}, values);
}

Options with_pass(const std::string& name) {
  Options options;
  options.compile.passes.user_passes = {must(pass_of(extension(name)))};
  return options;
}

std::vector<float> result_of(const Options& options) {
  const auto results = run_calls(program_of(std::string(kProgram)), {{numbers()}}, options);
  return results.empty() ? std::vector<float>() : floats(results[0].outputs.at(0));
}

// What comes of compiling with the pass or the compiler of that extension.
std::string message_of(const CompileOptions& options) {
  const auto plan =
      plan_of(program_of(std::string(kProgram)), {numbers()}, options, Launches::kAsAsked);
  return plan.ok() ? "" : plan.error().message;
}

std::string message_of_pass(const std::string& name) { return message_of(with_pass(name).compile); }

std::string message_of_compiler(const std::string& name) {
  CompileOptions options;
  options.compiler.own = must(compiler_of(extension(name)));
  return message_of(options);
}

TEST(Extensions, RewriteAGraphAsAPassOfOurOwnDoes) {
  const auto pass = extension("product_is_sum");
  EXPECT_EQ(pass->name(), "product_is_sum");
  EXPECT_EQ(pass->version().substr(0, 2), "1 ");
  EXPECT_TRUE(pass->has_pass());
  EXPECT_FALSE(pass->has_compiler());
  PassCounts counts;
  const spec::Program program = program_of(std::string(kProgram));
  const spec::Graph graph = must(run_passes(program, spec::builtin_op_table(), {},
                                            with_pass("product_is_sum").compile.passes, &counts));
  EXPECT_EQ(graph.nodes.front().op, "aten.add.Tensor");
  EXPECT_EQ(graph.nodes.front().results, program.graph.nodes.front().results);
  EXPECT_EQ(counts.at("product_is_sum").matches, 1);
  EXPECT_EQ(result_of(with_pass("product_is_sum")), result_of({}));
}

TEST(Extensions, ChooseLaunches) {
  CompileOptions pairs;
  pairs.compiler.own = must(compiler_of(extension("pairs")));
  const spec::Program program = program_of(std::string(kProgram));
  EXPECT_EQ(good_plan_of(program, {numbers()}, pairs, Launches::kAsAsked).steps.size(), 3U);
  EXPECT_EQ(good_plan_of(program, {numbers()}, {}, Launches::kAsAsked).steps.size(), 1U);
  Options options;
  options.compile = pairs;
  EXPECT_EQ(result_of(options), result_of({}));
}

// What a wrong pass does is found by whoever looks at results: nothing here knows better.
TEST(Extensions, MayComputeSomethingElse) {
  EXPECT_EQ(message_of_pass("ComputesAnother"), "");
  EXPECT_NE(result_of(with_pass("ComputesAnother")), result_of({}));
}

TEST(Extensions, ThatEndTheirProcessAreNamed) {
  EXPECT_EQ(message_of_pass("Crashes"), "pass 'misbehaving': " + path_of("Crashes") +
                                            ": was killed by signal 11 (Segmentation fault)");
  EXPECT_EQ(message_of_pass("Exits"),
            "pass 'misbehaving': " + path_of("Exits") + ": ended by itself without a result");
  EXPECT_EQ(message_of_compiler("Crashes"),
            "compiler 'misbehaving': partition 0: " + path_of("Crashes") +
                ": was killed by signal 11 (Segmentation fault)");
  const auto hangs = must(Extension::load(path_of("Hangs"), {.seconds = 1}));
  EXPECT_EQ(failure_of(hangs->run_pass("program"), "hangs").message,
            path_of("Hangs") + ": did not end within 1 s");
  EXPECT_EQ(failure_of(Extension::load(path_of("CrashesAtLoading")), "loading").message,
            path_of("CrashesAtLoading") + ": was killed by signal 11 (Segmentation fault)");
}

TEST(Extensions, SayWhatIsWrongWithTheirAnswers) {
  EXPECT_EQ(message_of_pass("SaysNo"),
            "pass 'misbehaving': " + path_of("SaysNo") + ": no such rewrite today");
  EXPECT_EQ(message_of_pass("WritesNonsense"), "pass 'misbehaving': the answer of " +
                                                   path_of("WritesNonsense") +
                                                   ":1:1: expected 'program', found 'nonsense'");
  EXPECT_NE(message_of_pass("DropsAnOutput"), "");
  EXPECT_EQ(message_of_compiler("WritesNonsense"),
            "compiler 'misbehaving': partition 0: the answer of " + path_of("WritesNonsense") +
                ": line 1: expected a line end");
  EXPECT_EQ(message_of_compiler("LeavesANodeOut"),
            "compiler 'misbehaving': partition 0: node 1 is in no launch");
}

TEST(Extensions, ThatAreNoneAreRefusedWhereTheyAreNamed) {
  const auto failure = [](const std::string& name) {
    const Error error = failure_of(Extension::load(path_of(name)), name);
    EXPECT_EQ(error.kind, ErrorKind::kBadInput);
    return error.message.substr(path_of(name).size());
  };
  EXPECT_EQ(failure("OfAnotherAbi"),
            ": was built for version 99 of graphgate_extension.h, expected 1");
  EXPECT_EQ(failure("HasNoName"), ": has no name or no version");
  EXPECT_NE(failure("NotThere"), "");
  EXPECT_EQ(failure_of(pass_of(extension("HasNothing")), "pass").message,
            path_of("HasNothing") + ": has no pass");
  EXPECT_EQ(failure_of(compiler_of(extension("product_is_sum")), "compiler").message,
            path_of("product_is_sum") + ": has no compiler");
}

// An empty answer leaves the graph alone.
TEST(Extensions, MayPrintAndAnswerNothing) {
  EXPECT_EQ(result_of(with_pass("Prints")), result_of({}));
}

// The text that a pass is given is a program that is taken back as it was.
TEST(Extensions, AreGivenWhatTheyMayAnswer) {
  const spec::Program program = program_of(R"(program "p" {
  symbol s0 in [2, 64] hint 4
  input %x : f32[s0, 3]
  input %n : symint(s0)
  graph @then {
    input %t : f32[s0, 3]
    %u = aten.mul.Tensor(%t, 2.0)
    output %u
  }
  graph @else {
    input %t : f32[s0, 3]
    %u = aten.neg.default(%t)
    output %u
  }
  %s = aten.sum.default(%x)
  %g = aten.gt.Scalar(%s, 0)
  %c = higher_order.cond(%g, @then, @else, [%x])
  %v : f32[s0], %i = aten.max.dim(%c, 1)
  output %v
  output %i
})");
  PassContext context(spec::builtin_op_table(), {},
                      {program.symbols.begin(), program.symbols.end()});
  spec::Graph graph = program.graph;
  const std::string text = print_graph(graph, context);
  EXPECT_FALSE(must(take_graph(text, "x.so", graph, context)));
  // With a node more, values that stay keep their ids.
  std::string more = text;
  more.insert(more.rfind("  output %v"), "  %new = aten.abs.default(%v)\n");
  EXPECT_TRUE(must(take_graph(more, "x.so", graph, context)));
  EXPECT_EQ(graph.nodes.size(), program.graph.nodes.size() + 1);
  EXPECT_EQ(graph.outputs, program.graph.outputs);
  EXPECT_EQ(graph.values.size(), program.graph.values.size() + 1);
  graph.nodes.pop_back();
  EXPECT_EQ(graph.nodes, program.graph.nodes);
  // Its subgraphs stay, and its inputs.
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return failure_of(take_graph(changed, "x.so", graph, context), to).message;
  };
  EXPECT_EQ(refused("aten.neg.default", "aten.abs.default"),
            "the answer of x.so: changes a subgraph, which passes are given by itself");
  EXPECT_EQ(refused("input %n : symint(s0)", "input %n : symint"),
            "the answer of x.so: has another input 1 than %n");
  EXPECT_NE(refused("aten.sum.default(%x)", "aten.no_such.default(%x)"), "");
}

}  // namespace
}  // namespace graphgate::optimized
