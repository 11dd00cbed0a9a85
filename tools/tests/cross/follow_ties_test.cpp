// Ties, followed along what the subject chose: right executors that choose differently pass, and a
// wrong choice, or a wrong value behind one, is found.
#include <bit>
#include <functional>
#include <regex>

#include "base/result_test.h"
#include "conformance/run/runs.h"
#include "reference/reference.h"
#include "spec/graph_text.h"
#include "spec/host_tensor_test.h"
#include "tools/executors/executor_sources.h"

namespace graphgate {
namespace {

using conformance::CaseReport;
using spec::Outcome;
using Edit = std::function<void(spec::Program&)>;

// The reference in eager mode, on another program than it is given.
class EditedExecutor final : public spec::Executor {
 public:
  explicit EditedExecutor(Edit edit) : edit_(std::move(edit)) {}
  [[nodiscard]] std::string_view name() const override { return "edited"; }
  Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program& program) override {
    programs_.push_back(std::make_unique<spec::Program>(program));
    if (edit_) edit_(*programs_.back());
    return inner_->load(*programs_.back());
  }

 private:
  std::unique_ptr<spec::Executor> inner_ = reference::make_executor({});
  Edit edit_;
  std::vector<std::unique_ptr<spec::Program>> programs_;
};

class EditedSource final : public conformance::ExecutorSource {
 public:
  explicit EditedSource(Edit edit) : edit_(std::move(edit)) {}
  [[nodiscard]] std::string_view name() const override { return "edited"; }
  [[nodiscard]] conformance::Promises promises(
      const conformance::Configuration& /*options*/) const override {
    conformance::Promises promised;
    promised.arithmetic = arithmetic;
    return promised;
  }
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(
      const conformance::Configuration& /*configuration*/, const spec::OpTable&) const override {
    return std::unique_ptr<spec::Executor>(std::make_unique<EditedExecutor>(edit_));
  }
  std::string arithmetic = "strict";

 private:
  Edit edit_;
};

spec::Node& node_called(spec::Program& program, std::string_view name) {
  for (spec::Node& node : program.graph.nodes) {
    if (node.name == name) return node;
  }
  ADD_FAILURE() << "no node " << name;
  return program.graph.nodes.front();
}

std::size_t outputs_of(const spec::Program& program) { return program.outputs.size(); }

// One call with these inputs, by the judge of bounds.
CaseReport judge(const std::string& text, std::vector<spec::InputValue> inputs, Edit edit = {},
                 const std::string& arithmetic = "strict") {
  conformance::Script script{
      .name = "p", .ops = std::make_shared<const spec::OpTable>(spec::builtin_op_table())};
  script.programs = {
      std::make_shared<const spec::Program>(must(spec::parse_program(text, *script.ops)))};
  conformance::ScriptCall call;
  call.inputs = std::move(inputs);
  script.steps = {std::move(call)};
  EditedSource subject(std::move(edit));
  subject.arithmetic = arithmetic;
  const auto oracle = tools::reference_source(/*allow_zero_and_one=*/false);
  conformance::Runs runs(script, subject, *oracle);
  const conformance::JudgeSettings settings{.judge_nodes = false, .localize = false};
  return must(
      conformance::judge_script(runs, conformance::parse_judges("bounds").value(), settings));
}

// Whether every element was compared, along ties.
void expect_followed(const CaseReport& report) {
  EXPECT_EQ(report.outcome, Outcome::kPass) << report.reason;
  const auto& figures = report.judges.at(0).figures;
  ASSERT_TRUE(figures.contains("followed")) << report.judges.at(0).remark;
  EXPECT_GT(figures.at("followed"), 0);
  EXPECT_EQ(figures.at("undecided"), 0) << report.judges.at(0).remark;
}

// In bfloat16 numbers are cut.
spec::InputValue floats(std::vector<std::int64_t> sizes, const std::vector<float>& values,
                        spec::DType dtype = spec::DType::kFloat32) {
  if (dtype == spec::DType::kFloat32) return spec::host_tensor(dtype, std::move(sizes), values);
  std::vector<std::uint16_t> cut;
  for (const float x : values) {
    cut.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16U));
  }
  return spec::host_tensor(dtype, std::move(sizes), cut);
}

// Two tokens, four experts of which the first takes both; experts 0 and 2 are alike for each token
// up to rounding. `%nudge` stands for what another order of summation does to a score.
constexpr const char* kExperts = R"(program "experts" {
  input %x : f32[2, 4]
  input %router : f32[4, 4]
  input %nudge : f32[4]
  input %weights : f32[4, 3]
  %scores = aten.mm.default(%x, %router)
  %nudged = aten.add.Tensor(%scores, %nudge, alpha=0.0)
  %value, %expert = aten.topk.default(%nudged, 1) as route
  %rows = aten.embedding.default(%weights, %expert) as rows
  %scale = aten.unsqueeze.default(%value, 2)
  %y = aten.mul.Tensor(%rows, %scale) as scaled
  output %y
  output %expert
})";

std::vector<spec::InputValue> expert_inputs(spec::DType dtype = spec::DType::kFloat32) {
  return {floats({2, 4}, {0.1F, 0.7F, -0.3F, 0.9F, 0.2F, 0.3F, 0.4F, 0.6F}, dtype),
          floats({4, 4},
                 {0.3F, 0.1F, 0.3F, -0.2F, 0.7F, -0.4F, 0.7F, 0.1F, 0.2F, 0.3F, 0.2F, 0.3F, 0.9F,
                  0.2F, 0.9F, 0.4F},
                 dtype),
          floats({4}, {0, 0, 1, 0}, dtype),
          floats({4, 3}, {1, 2, 3, 40, 50, 60, 700, 800, 900, 11, 12, 13}, dtype)};
}

void nudge_by(spec::Program& program, double alpha) {
  node_called(program, "nudged").arguments.back().argument = {alpha};
}

TEST(FollowTies, HoldsAMixtureOfExpertsToTheExpertsThatItChose) {
  for (const char* arithmetic : {"strict", "fast", "approximate", "tf32"}) {
    for (const double alpha : {0.0, 3e-8, -3e-8}) {
      SCOPED_TRACE(std::string(arithmetic) + ", " + std::to_string(alpha));
      expect_followed(judge(
          kExperts, expert_inputs(), [=](spec::Program& p) { nudge_by(p, alpha); }, arithmetic));
    }
  }
}

TEST(FollowTies, HoldsAMixtureOfExpertsIn16Bits) {
  const std::string text = std::regex_replace(kExperts, std::regex("f32"), "bf16");
  const auto inputs = expert_inputs(spec::DType::kBFloat16);
  expect_followed(judge(text, inputs));
  const CaseReport report = judge(text, inputs, [](spec::Program& program) {
    node_called(program, "route").arguments.push_back({"largest", {false}});
  });
  EXPECT_EQ(report.outcome, Outcome::kFail) << report.reason;
}

TEST(FollowTies, FindsAnExpertBeyondTheTie) {
  const auto chooses_the_worst = [](spec::Program& program) {
    node_called(program, "route").arguments.push_back({"largest", {false}});
  };
  const CaseReport report = judge(kExperts, expert_inputs(), chooses_the_worst);
  EXPECT_EQ(report.outcome, Outcome::kFail) << report.reason;
  EXPECT_EQ(report.rule, "B11.wrong-choice") << report.reason;
  EXPECT_TRUE(contains(report.reason, "node 'route'")) << report.reason;
}

TEST(FollowTies, FindsAScoreThatDecidesBeyondItsError) {
  const CaseReport report =
      judge(kExperts, expert_inputs(), [](spec::Program& p) { nudge_by(p, 1e-3); });
  EXPECT_EQ(report.outcome, Outcome::kFail) << report.reason;
}

TEST(FollowTies, FindsAWrongValueBehindAFollowedTie) {
  const auto scales_wrongly = [](spec::Program& program) {
    node_called(program, "scaled").op = "aten.add.Tensor";
  };
  const CaseReport report = judge(kExperts, expert_inputs(), scales_wrongly);
  EXPECT_EQ(report.outcome, Outcome::kFail) << report.reason;
  EXPECT_EQ(report.rule, "B1.outside-bound") << report.reason;
}

// Expert 0 is what it says, and expert 2 what it took: either is right by itself.
TEST(FollowTies, FindsAChoiceThatIsNotTheOneWhichWasUsed) {
  const auto takes_the_other = [](spec::Program& program) {
    spec::Node& rows = node_called(program, "rows");
    spec::Value value;
    value.name = "other";
    program.graph.values.push_back(value);
    const spec::ValueId other{static_cast<std::uint32_t>(program.graph.values.size() - 1)};
    const spec::ValueId expert = node_called(program, "route").results[1].values[0];
    rows.arguments[1].argument = {other};
    const auto place = program.graph.nodes.begin() + (&rows - program.graph.nodes.data());
    program.graph.nodes.insert(place, {"other",
                                       "aten.rsub.Scalar",
                                       {{"self", {expert}}, {"other", {std::int64_t{2}}}},
                                       {{false, {other}}}});
  };
  const CaseReport report = judge(kExperts, expert_inputs(), takes_the_other);
  EXPECT_EQ(report.outcome, Outcome::kFail) << report.reason;
}

// The values are the right ones, in another order than the indices.
TEST(FollowTies, FindsIndicesThatAreNotThoseOfTheValues) {
  constexpr const char* kPair = R"(program "pair" {
  input %x : f32[1, 4]
  input %router : f32[4, 4]
  input %nudge : f32[4]
  input %weights : f32[4, 3]
  %scores = aten.mm.default(%x, %router)
  %value, %expert = aten.topk.default(%scores, 3) as route
  %kept = aten.alias.default(%value) as kept
  output %kept
  output %expert
})";
  std::vector<spec::InputValue> inputs = expert_inputs();
  inputs[0] = floats({1, 4}, {0.1F, 0.7F, -0.3F, 0.9F});
  expect_followed(judge(kPair, inputs));
  const CaseReport report = judge(kPair, inputs, [](spec::Program& program) {
    spec::Node& kept = node_called(program, "kept");
    kept.op = "aten.flip.default";
    kept.arguments.push_back({"dims", {spec::Argument::List{{std::int64_t{1}}}}});
  });
  EXPECT_EQ(report.outcome, Outcome::kFail) << report.reason;
}

// What it does with more outputs tells nothing of what it does without.
TEST(FollowTies, TellsNothingWhereTapsChangeBits) {
  const auto rounds_otherwise_when_tapped = [](spec::Program& program) {
    if (outputs_of(program) > 2) nudge_by(program, 3e-8);
  };
  const CaseReport report = judge(kExperts, expert_inputs(), rounds_otherwise_when_tapped);
  EXPECT_EQ(report.outcome, Outcome::kUndecided) << report.reason;
  EXPECT_TRUE(contains(report.reason, "has other bits")) << report.reason;
}

// Each reads what rounding decides: %x * 3 of 0.1 is as near to 0.3 as not, that of 1 is exact.
struct Chooser {
  const char* what;
  const char* text;
};

void PrintTo(const Chooser& chooser, std::ostream* out) { *out << chooser.what; }

class Choosers : public testing::TestWithParam<Chooser> {};

TEST_P(Choosers, IsFollowed) {
  const std::string text = std::string(R"(program "p" {
  input %x : f32[4]
  input %v : f32[4]
  graph @yes {
    input %a : f32[4]
    %b = aten.mul.Tensor(%a, 2.0)
    output %b
  }
  graph @no {
    input %a : f32[4]
    %b = aten.neg.default(%a)
    output %b
  }
  %n = aten.mul.Tensor(%x, 3.0)
  %m = aten.mul.Tensor(%n, 10.0)
)") + GetParam().text + "\n}";
  const std::vector<spec::InputValue> inputs = {floats({4}, {0.1F, 1, 0.1F, -2}),
                                                floats({4}, {10, 20, 30, 40})};
  expect_followed(judge(text, inputs));
  expect_followed(judge(text, inputs, {}, "approximate"));
}

INSTANTIATE_TEST_SUITE_P(
    All, Choosers,
    testing::Values(Chooser{"where", R"(  %c = aten.ge.Scalar(%m, 3.0)
  %y = aten.where.self(%c, %v, %x)
  output %y
  output %c)"},
                    Chooser{"in place", R"(  %k = aten.clone.default(%m)
  %c = aten.floor_.default(%k)
  %d = aten._to_copy.default(%c, dtype=i64)
  %i = aten.clamp.default(%d, 0, 3)
  %y = aten.index.Tensor(%v, [%i])
  output %y
  output %k)"},
                    Chooser{"a comparison in place", R"(  %k = aten.clone.default(%m)
  %c = aten.ge_.Scalar(%k, 3.0)
  %y = aten.mul.Tensor(%c, %v)
  output %y)"},
                    Chooser{"floor", R"(  %c = aten.floor.default(%m)
  %y = aten.div.Tensor(%v, %c)
  %i = aten._to_copy.default(%c, dtype=i64)
  output %y
  output %i)"},
                    Chooser{"cast", R"(  %c = aten._to_copy.default(%m, dtype=i64)
  %i = aten.clamp.default(%c, 0, 3)
  %y = aten.index.Tensor(%v, [%i])
  output %y)"},
                    Chooser{"floor_divide",
                            R"(  %c = aten.div.Tensor_mode(%m, 3.0, rounding_mode="floor")
  %y = aten.mul.Tensor(%v, %c)
  %e = aten.eq.Scalar(%y, 10.0)
  output %e)"},
                    Chooser{"bucketize", R"(  %edges = aten.arange.default(5, dtype=f32)
  %c = aten.bucketize.Tensor(%m, %edges)
  %i = aten.clamp.default(%c, 0, 3)
  %y = aten.index.Tensor(%v, [%i])
  output %y)"},
                    Chooser{"sort", R"(  %s, %i = aten.sort.default(%n)
  %y = aten.index.Tensor(%v, [%i])
  output %y
  output %s)"},
                    Chooser{"argmin", R"(  %a = aten.abs.default(%n)
  %i = aten.argmin.default(%a)
  %y = aten.index.Tensor(%v, [%i])
  output %y)"},
                    Chooser{"max", R"(  %a = aten.neg.default(%n)
  %b = aten.slice.Tensor(%a, 0, 0, 3)
  %s, %i = aten.max.dim(%b, 0)
  %y = aten.index.Tensor(%v, [%i])
  output %y
  output %s)"},
                    Chooser{"median", R"(  %s, %i = aten.median.dim(%n, 0)
  %y = aten.index.Tensor(%v, [%i])
  output %y
  output %s)"},
                    Chooser{"kthvalue", R"(  %s, %i = aten.kthvalue.default(%n, 2)
  %y = aten.index.Tensor(%v, [%i])
  output %y)"},
                    Chooser{"cummin", R"(  %a = aten.abs.default(%n)
  %s, %i = aten.cummin.default(%a, 0)
  %y = aten.index.Tensor(%v, [%i])
  output %y
  output %s)"},
                    Chooser{"the reciprocal of a norm", R"(  %d = aten.sub.Tensor(%n, 0.3)
  %e = aten.mul.Tensor(%d, 1000000.0)
  %s = aten.mul.Tensor(%e, %e)
  %t = aten.add.Tensor(%s, 0.000001)
  %r = aten.rsqrt.default(%t)
  %y = aten.mul.Tensor(%e, %r)
  output %y)"},
                    Chooser{"nonzero", R"(  %c = aten.ge.Scalar(%m, 3.0)
  %i = aten.nonzero.default(%c)
  %s = aten.select.int(%i, 1, 0)
  %y = aten.index.Tensor(%v, [%s])
  output %y)"},
                    Chooser{"item", R"(  %e = aten.select.int(%m, 0, 0)
  %f : symfloat = aten._local_scalar_dense.default(%e)
  %g : symint = math.trunc(%f)
  %y = aten.mul.Scalar(%v, %g)
  output %y)"},
                    Chooser{"cond", R"(  %e = aten.select.int(%m, 0, 0)
  %p = aten.ge.Scalar(%e, 3.0)
  %y = higher_order.cond(%p, @yes, @no, [%v])
  output %y)"}));

}  // namespace
}  // namespace graphgate
