// The reducer with checks that look at the case alone: what is left is what the check wants.
#include "fuzz/reduce/reducer.h"

#include <algorithm>

#include "base/result_test.h"
#include "fuzz/generate/generator.h"
#include "fuzz/reduce/graph_edit.h"

namespace graphgate::fuzz {
namespace {

using spec::CaseFile;

CaseFile case_of(const std::string& text) {
  auto parsed = must(spec::parse_case(text));
  must(spec::check_case(parsed));
  return parsed;
}

std::string text_of(const CaseFile& the_case) {
  const auto text = spec::print_case(the_case);
  return text.ok() ? text.value() : text.error().message;
}

std::size_t count_op(const spec::Graph& graph, std::string_view op) {
  std::size_t count = 0;
  for (const spec::Node& node : graph.nodes) count += node.op == op ? 1 : 0;
  for (const spec::Graph& subgraph : graph.subgraphs) count += count_op(subgraph, op);
  return count;
}

std::size_t count_op(const CaseFile& the_case, std::string_view op) {
  std::size_t count = 0;
  for (const spec::Program& program : the_case.programs) count += count_op(program.graph, op);
  return count;
}

// A check that also holds every candidate to what the reducer promises.
CheckCase watched(CheckCase check) {
  return [check = std::move(check)](const CaseFile& candidate) {
    EXPECT_TRUE(spec::check_case(candidate).ok());
    const auto again = spec::parse_case(text_of(candidate));
    EXPECT_TRUE(again.ok()) << again.error().message << "\n" << text_of(candidate);
    EXPECT_TRUE(again.ok() && spec::same_case(again.value(), candidate)) << text_of(candidate);
    return check(candidate);
  };
}

CheckCase has_op(std::string op) {
  return watched([op = std::move(op)](const CaseFile& one) { return count_op(one, op) > 0; });
}

Reduced reduced(const CaseFile& the_case, const CheckCase& check, const ReduceLimits& limits = {}) {
  Reduced out = reduce(the_case, check, limits);
  EXPECT_TRUE(out.shows);
  return out;
}

constexpr const char* kLayers = R"(graphgate-case 1
# A comment
name "layers"
seed 9
option "memory" "lines"
option "split-op" "aten.neg,aten.mm"
option "streams" "2"
program "g" {
  symbol s0 in [2, 64] hint 8
  parameter %w "w" : f32[16, 16]
  buffer %count "count" : f32[1]
  input %x : f32[s0, 16]
  input %unused : f32[4]
  %a : f32[s0, 16] = aten.mm.default(%x, %w)
  %b : f32[s0, 16] = aten.neg.default(%a)
  %c : f32[1] = aten.add_.Tensor(%count, 1.0)
  %d : f32[s0, 16] = aten.cumsum.default(%b, 1)
  %e : f32[s0, 16] = aten.mul.Tensor(%d, %count)
  %f : f32[s0, 16] = aten.add.Tensor(%e, %a, alpha=2)
  output %f
  output %e
}
program "other" {
  input %y : f32[4, 4]
  %z : f32[4, 4] = aten.relu.default(%y)
  output %z
}
weights "g" seed 5
inputs "some" of "g" {
  x : f32[2, 16] seed 3
}
scenario {
  call g s0=8
  hold g.out0
  call other
  call g s0=16
  check held
  release g.out0
  swap-weights g seed=4
  call g s0=4
}
expect PASS
)";

CaseFile layers() {
  std::string text = kLayers;
  const std::string set = "inputs \"some\" of \"g\" {\n  x : f32[2, 16] seed 3\n}\n";
  text.erase(text.find(set), set.size());
  return case_of(text);
}

TEST(Reducer, LeavesOneNodeOneCallAndNoOptionOfWhatNeedsOneOp) {
  const Reduced made = reduced(layers(), has_op("aten.cumsum.default"));
  EXPECT_TRUE(made.is_finished);
  EXPECT_EQ(made.before, (CaseSize{7, 4, 3, 2}));
  EXPECT_EQ(made.after, (CaseSize{1, 0, 0, 1}));
  EXPECT_EQ(made.the_case.programs.front().symbols.size(), 0U);
  EXPECT_EQ(made.the_case.programs.front().inputs.size(), 1U);
  EXPECT_TRUE(made.the_case.header.empty());
}

TEST(Reducer, KeepsAnOperandWithItsMaker) {
  const auto wants = [](const CaseFile& one) {
    for (const spec::Program& program : one.programs) {
      std::set<spec::ValueId> made;
      for (const spec::Node& node : program.graph.nodes) {
        bool reads_product = false;
        spec::for_each_operand(node, [&](spec::ValueId id) { reads_product |= made.contains(id); });
        if (node.op == "aten.add.Tensor" && reads_product) return true;
        if (node.op == "aten.mm.default") made.insert(node.results.front().values.front());
      }
    }
    return false;
  };
  const Reduced made = reduced(layers(), watched(wants));
  EXPECT_EQ(made.after.nodes, 2U) << text_of(made.the_case);
}

TEST(Reducer, KeepsCallsWithWhatLiesBetween) {
  const auto wants = [](const CaseFile& one) {
    bool held = false;
    for (const spec::Step& step : one.scenario.steps) {
      if (std::holds_alternative<spec::HoldStep>(step)) held = true;
      const auto* call = std::get_if<spec::CallStep>(&step);
      if (held && call && call->sizes.size() == 1 && call->sizes[0].second == 16) return true;
    }
    return false;
  };
  const Reduced made = reduced(layers(), watched(wants));
  EXPECT_EQ(spec::print_scenario(made.the_case.scenario), "call g\nhold g.out0\ncall g s0=16\n");
}

TEST(Reducer, KeepsOptionsThatItIsTold) {
  ReduceLimits limits;
  limits.kept_options = {"memory"};
  const Reduced made = reduced(layers(), has_op("aten.mm.default"), limits);
  const std::map<std::string, std::string, std::less<>> kept = {{"memory", "lines"}};
  EXPECT_EQ(made.the_case.options, kept);
}

TEST(Reducer, TakesElementsOffListsOfOptions) {
  const auto wants = [](const CaseFile& one) {
    const auto found = one.options.find("split-op");
    return found != one.options.end() && found->second.find("aten.mm") != std::string::npos;
  };
  const Reduced made = reduced(layers(), watched(wants));
  EXPECT_EQ(made.the_case.options.at("split-op"), "aten.mm");
  EXPECT_EQ(made.after.options, 1U);
}

TEST(Reducer, NamesTheDeviationOfAProfile) {
  CaseFile the_case = layers();
  the_case.options = {{"profile", "torch-2.9.0"}};
  const auto wants = [](const CaseFile& one) {
    const auto found = one.options.find("deviation");
    return one.options.contains("profile") ||
           (found != one.options.end() && found->second == "frees_twice");
  };
  const Reduced made = reduced(the_case, watched(wants));
  EXPECT_EQ(made.the_case.options.size(), 1U);
  EXPECT_EQ(made.the_case.options.count("deviation"), 1U);
}

TEST(Reducer, MakesSizesSmallAndSymbolsNumbers) {
  const Reduced made = reduced(layers(), has_op("aten.mm.default"));
  const spec::Program& program = made.the_case.programs.front();
  for (const spec::ValueId id : program.graph.inputs) {
    for (const spec::SymExpr& size : program.graph.value(id).type->sizes) {
      ASSERT_TRUE(size.is_constant());
      EXPECT_LE(size.constant(), 2);
    }
  }
}

TEST(Reducer, StopsAtItsLimitOfChecks) {
  ReduceLimits limits;
  limits.checks = 5;
  const Reduced made = reduced(layers(), has_op("aten.cumsum.default"), limits);
  EXPECT_FALSE(made.is_finished);
  EXPECT_LE(made.checks, 6U);
  EXPECT_GT(count_op(made.the_case, "aten.cumsum.default"), 0U);
}

TEST(Reducer, StopsAtItsLimitOfTime) {
  ReduceLimits limits;
  limits.seconds = 0;
  const Reduced made = reduced(layers(), has_op("aten.cumsum.default"), limits);
  EXPECT_FALSE(made.is_finished);
  EXPECT_LE(made.checks, 2U);
}

TEST(Reducer, GivesTheSameTwice) {
  const CheckCase check = has_op("aten.add_.Tensor");
  EXPECT_EQ(text_of(reduced(layers(), check).the_case), text_of(reduced(layers(), check).the_case));
}

TEST(Reducer, ReturnsWhatDoesNotShowIt) {
  const CaseFile the_case = layers();
  const Reduced made = reduce(the_case, has_op("aten.sort.default"), {});
  EXPECT_FALSE(made.shows);
  EXPECT_TRUE(spec::same_case(made.the_case, the_case));
  EXPECT_EQ(made.checks, 1U);
}

TEST(Reducer, ShowsTheNearestNeighbourThatPasses) {
  const ClassifyCase classify = [](const CaseFile& one) {
    if (count_op(one, "aten.neg.default") == 0) return CheckResult::kOther;
    return one.options.contains("memory") ? CheckResult::kSame : CheckResult::kPasses;
  };
  const Reduced made = reduce(layers(), classify, {});
  ASSERT_TRUE(made.passing);
  EXPECT_EQ(differing_lines(made.the_case, *made.passing),
            std::vector<std::string>{"- option \"memory\" \"lines\""});
}

TEST(Reducer, TakesTheNeighbourWithTheFewestOtherLines) {
  // Without its option a case passes, and with smaller sizes, which changes more lines.
  const ClassifyCase classify = [](const CaseFile& one) {
    const bool is_large = text_of(one).find("f32[16, 16]") != std::string::npos;
    const bool is_same = is_large && one.options.contains("memory");
    return is_same ? CheckResult::kSame : CheckResult::kPasses;
  };
  const Reduced made = reduce(layers(), classify, {});
  ASSERT_TRUE(made.passing);
  EXPECT_EQ(differing_lines(made.the_case, *made.passing).size(), 1U);
}

TEST(Reducer, ChecksNoCandidateThatMakesNoSense) {
  const CaseFile the_case = case_of(R"(graphgate-case 1
name "custom"
seed 1
op my::scale(Tensor x, float by) -> Tensor
op my::other(Tensor x) -> Tensor
program "p" {
  input %x : f32[3]
  %y : f32[3] = my.scale.default(%x, 0.5)
  output %y
}
scenario {
  call p
}
expect FAIL "V3.overlap"
)");
  // has_op asserts that a candidate is valid.
  const Reduced made = reduced(the_case, has_op("my.scale.default"));
  EXPECT_EQ(made.the_case.ops, std::vector<std::string>{"my::scale(Tensor x, float by) -> Tensor"});
  EXPECT_EQ(made.the_case.expectation.outcome, spec::Outcome::kPass);
}

TEST(Reducer, CutsAValueOutThatNoOtherCanStandFor) {
  const CaseFile the_case = case_of(R"(graphgate-case 1
name "cut"
seed 1
program "p" {
  input %x : f32[4, 8]
  %a : f32[4] = aten.sum.dim_IntList(%x, [1])
  %b : i64[4] = aten._to_copy.default(%a, dtype=i64)
  %c : i64[2] = aten.slice.Tensor(%b, 0, 0, 2)
  %d : f32[2] = aten._to_copy.default(%c, dtype=f32)
  output %d
}
scenario {
  call p
}
expect PASS
)");
  const auto wants = [](const CaseFile& one) {
    for (const spec::Program& program : one.programs) {
      for (const spec::Node& node : program.graph.nodes) {
        bool reads_integers = false;
        spec::for_each_operand(node, [&](spec::ValueId id) {
          const auto& type = program.graph.value(id).type;
          reads_integers |= type && type->dtype == spec::DType::kInt64;
        });
        if (node.op == "aten.slice.Tensor" && reads_integers) return true;
      }
    }
    return false;
  };
  const Reduced made = reduced(the_case, watched(wants));
  EXPECT_EQ(made.after.nodes, 1U) << text_of(made.the_case);
  EXPECT_EQ(made.the_case.programs.front().inputs.size(), 1U);
}

TEST(GraphEdit, DropsStepsThatMakeNoSenseWithoutOthers) {
  CaseFile the_case = layers();
  name_ports(the_case);
  std::vector<bool> dropped(the_case.scenario.steps.size(), false);
  dropped[1] = true;  // the hold
  drop_steps(the_case, dropped);
  EXPECT_EQ(spec::print_scenario(the_case.scenario),
            "call g s0=8\ncall other\ncall g s0=16\ncheck held\nswap-weights g seed=4\n"
            "call g s0=4\n");
}

TEST(GraphEdit, MovesExpectationsWithTheirCallsAndOutputs) {
  CaseFile the_case = layers();
  name_ports(the_case);
  the_case.expectation.outputs.push_back({2, 1, std::int64_t{5}});
  the_case.expectation.outputs.push_back({0, 0, std::int64_t{6}});
  drop_outputs(the_case, 0, {true, false});
  ASSERT_EQ(the_case.expectation.outputs.size(), 1U);
  EXPECT_EQ(the_case.expectation.outputs.front().output, 0U);
  // The hold of the output that is gone went with it, and so did its release.
  EXPECT_EQ(the_case.scenario.steps.size(), 6U);
  drop_steps(the_case, {true, false, false, false, false, false});
  EXPECT_EQ(the_case.expectation.outputs.front().call, 1U);
}

TEST(Reducer, PutsAnArmInThePlaceOfItsConditional) {
  const CaseFile the_case = case_of(R"(graphgate-case 1
name "arms"
seed 1
program "arms" {
  input %p : bool[]
  input %x : f32[8, 8]
  graph @yes {
    input %u : f32[8, 8]
    input %v : f32[8, 8]
    %u1 : f32[8, 8] = aten.mm.default(%u, %v)
    %u2 : f32[8, 8] = aten.neg.default(%u1)
    output %u2
    output %v
  }
  graph @no {
    input %w : f32[8, 8]
    input %t : f32[8, 8]
    output %w
    output %t
  }
  %s : f32[8, 8] = aten.relu.default(%x)
  %y : f32[8, 8], %z : f32[8, 8] = higher_order.cond(%p, @yes, @no, [%s, %x])
  %r : f32[8, 8] = aten.sin.default(%y)
  output %r
  output %z
}
scenario {
  call arms
}
expect PASS
)");
  const Reduced made = reduced(the_case, has_op("aten.mm.default"));
  EXPECT_EQ(made.after.nodes, 1U) << text_of(made.the_case);
  EXPECT_EQ(count_op(made.the_case, "higher_order.cond"), 0U);
  // A conditional that is wanted loses the ports that it does not need.
  const Reduced kept = reduced(the_case, has_op("higher_order.cond"));
  EXPECT_EQ(kept.after.nodes, 1U) << text_of(kept.the_case);
  const spec::Graph& graph = kept.the_case.programs.front().graph;
  EXPECT_EQ(graph.nodes.front().results.size(), 1U);
  for (const spec::Graph& arm : graph.subgraphs) EXPECT_EQ(arm.outputs.size(), 1U);
}

TEST(Reducer, CallsFunctionalizedOpsPlainly) {
  const CaseFile the_case = case_of(R"(graphgate-case 1
name "norm"
seed 1
program "norm" {
  input %x : f32[2, 4]
  input %w : f32[4]
  %a : f32[2, 4] = aten.mul.Tensor(%x, 3.0)
  %b : f32[2, 4] = aten.neg.default(%x)
  %n : none, %i : f32[2, 4], %r : f32[2, 4] = higher_order.auto_functionalized_v2(vllm.fused_add_rms_norm.default, weight=%w, epsilon=1e-06, _input_base_index=0, _residual_base_index=1, _all_bases=[%a, %b]) as norm
  output %i
  output %r
}
scenario {
  call norm
}
expect PASS
)");
  const auto wants = [](const CaseFile& one) {
    return count_op(one, "vllm.fused_add_rms_norm.default") +
               count_op(one, "higher_order.auto_functionalized_v2") >
           0;
  };
  const Reduced made = reduced(the_case, watched(wants));
  EXPECT_EQ(count_op(made.the_case, "vllm.fused_add_rms_norm.default"), 1U)
      << text_of(made.the_case);
  EXPECT_EQ(made.after.nodes, 1U);
}

TEST(Reducer, DrawsDataThatNobodyNeeds) {
  const CaseFile the_case = case_of(R"(graphgate-case 1
name "data"
seed 77
program "p" {
  buffer %s "s" : f64[3] = [1.0, 2.5, -0.0]
  input %x : f64[3]
  %y : f64[3] = aten.add.Tensor(%x, %s)
  output %y
}
inputs "odd" of "p" {
  x : f64[3] = [nan, inf, 1.5]
}
scenario {
  call p inputs=odd
}
expect PASS
expect call 0 out0 : f64[3] = [nan, inf, 1.5]
)");
  const Reduced made =
      reduced(the_case, watched([](const CaseFile& one) {
                return count_op(one, "aten.add.Tensor") == 1 && size_of(one).calls == 1;
              }));
  EXPECT_TRUE(made.the_case.inputs.empty());
  EXPECT_TRUE(made.the_case.expectation.outputs.empty());
  EXPECT_TRUE(made.the_case.programs.front().tensors.empty());
  for (const spec::Value& value : made.the_case.programs.front().graph.values) {
    EXPECT_TRUE(!value.type || value.type->dtype == spec::DType::kFloat32);
  }
}

TEST(Reducer, DrawsStateThatNobodyNeeds) {
  const CaseFile the_case = case_of(R"(graphgate-case 1
name "state"
seed 1
program "p" {
  buffer %s "s" : f32[3] = [1.0, 2.5, -0.0]
  %y : f32[3] = aten.neg.default(%s)
  output %y
}
scenario {
  call p
}
expect PASS
)");
  const auto wants = [](const CaseFile& one) {
    return one.programs.front().inputs.size() == 1 &&
           one.programs.front().inputs.front().kind == spec::InputKind::kBuffer;
  };
  const Reduced made = reduced(the_case, watched(wants));
  EXPECT_TRUE(made.the_case.programs.front().tensors.empty()) << text_of(made.the_case);
  EXPECT_EQ(made.the_case.weights.size(), 1U);
}

TEST(Reducer, KeepsRefusedCallsRefused) {
  const CaseFile the_case = case_of(R"(graphgate-case 1
name "refused"
seed 1
program "p" {
  input %x : f32[3]
  %y : f32[3] = aten.neg.default(%x)
  output %y
}
inputs "long" of "p" {
  x : f32[4] = [1.0, 2.0, 3.0, 4.0]
}
scenario {
  call p
  call p
  call p inputs=long
}
expect PASS
expect call 2 refused "size"
)");
  const Reduced made =
      reduced(the_case, watched([](const CaseFile& one) {
                return one.expectation.refusal.has_value() && one.inputs.size() == 1;
              }));
  ASSERT_TRUE(made.the_case.expectation.refusal);
  EXPECT_EQ(made.the_case.expectation.refusal->call, 0U);
  EXPECT_EQ(made.after.calls, 1U);
}

TEST(Reducer, KeepsEveryDrawnCaseWhole) {
  const Alphabet alphabet;
  for (std::uint64_t index = 0; index < 12; ++index) {
    const CaseFile drawn = draw_case(genes_of(3, index), alphabet);
    const auto places = node_places(drawn);
    if (places.empty()) continue;
    const NodePlace& middle = places[places.size() / 2];
    const std::string op = graph_at(drawn, middle.graph).nodes[middle.node].op;
    const Reduced made = reduced(drawn, has_op(op));
    EXPECT_EQ(made.after.calls, 0U) << index;
    EXPECT_LE(made.after.nodes, 3U) << index << "\n" << text_of(made.the_case);
  }
}

}  // namespace
}  // namespace graphgate::fuzz
