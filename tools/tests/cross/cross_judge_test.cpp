// Both executors on the same programs, and judges on wrong executors: one of the few places that
// name both.
#include <cstring>
#include <set>

#include "base/result_test.h"
#include "conformance/judges/judge_nodes.h"
#include "conformance/run/runs.h"
#include "optimized/optimized.h"
#include "reference/reference.h"
#include "spec/graph_text.h"
#include "spec/host_tensor_test.h"
#include "tools/executors/executor_sources.h"
#include "tools/tests/cross/golden_models_test.h"

namespace graphgate {
namespace {

// Every tensor input and state replaced by small integers, so that sums and products are exact in
// float32: where the reference and the optimized executor both accumulate exactly, bits are equal.
spec::Program with_text(const char* text) {
  return must(spec::parse_program(text, spec::builtin_op_table()));
}

HostTensor small_integers(const spec::TensorType& type, std::uint64_t seed) {
  std::vector<std::int64_t> sizes;
  for (const spec::SymExpr& size : type.sizes) sizes.push_back(size.constant());
  HostTensor tensor = spec::make_host_tensor(spec::DType::kFloat32, sizes);
  for (std::size_t i = 0; i < tensor.storage->bytes.size() / 4; ++i) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    const auto value = static_cast<float>(static_cast<int>(seed >> 60U) - 8);
    std::memcpy(tensor.storage->bytes.data() + 4 * i, &value, 4);
  }
  return tensor;
}

TEST(Executors, HaveTheSameBitsWhereBothAccumulateExactly) {
  const spec::Program program = with_text(R"(program "exact" {
  buffer %state "state" : f32[16, 8] = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
  input %x : f32[16, 32]
  input %w : f32[32, 8]
  %y = aten.mm.default(%x, %w)
  %z = aten.add_.Tensor(%state, %y)
  %t = aten.transpose.int(%z, 0, 1)
  %s = aten.sum.dim_IntList(%t, [1], True)
  %a = aten.sub.Tensor(%t, %s)
  %m = aten.amax.default(%a, [0])
  %c = aten.cumsum.default(%m, 0)
  %r = aten.relu.default(%a)
  output %r
  output %c
  output %z
})");
  const auto reference = reference::make_executor({});
  const auto optimized = optimized::make_executor({});
  auto a = reference->load(program);
  auto b = optimized->load(program);
  ASSERT_TRUE(a.ok() && b.ok());
  for (std::uint64_t call = 0; call < 4; ++call) {
    std::vector<spec::InputValue> inputs;
    for (const spec::ProgramInput& input : program.inputs) {
      if (input.kind != spec::InputKind::kUserInput) continue;
      inputs.emplace_back(
          small_integers(*program.graph.value(input.value).type, call * 7 + inputs.size() + 1));
    }
    const auto x = a.value()->call(inputs);
    const auto y = b.value()->call(inputs);
    ASSERT_TRUE(x.ok() && y.ok());
    EXPECT_EQ(first_difference(x.value(), y.value()), "") << "call " << call;
  }
}

// An executor that runs another program than it is given: a wrong executor, to judge the judges by.
class EditingExecutor final : public spec::Executor {
 public:
  using Edit = void (*)(spec::Program&);
  explicit EditingExecutor(Edit edit, const reference::Options& options = {})
      : inner_(reference::make_executor(options)), edit_(edit) {}

  [[nodiscard]] std::string_view name() const override { return "edited"; }
  Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program& program) override {
    programs_.push_back(std::make_unique<spec::Program>(program));
    edit_(*programs_.back());
    return inner_->load(*programs_.back());
  }

 private:
  std::unique_ptr<spec::Executor> inner_;
  Edit edit_;
  std::vector<std::unique_ptr<spec::Program>> programs_;
};

spec::Node& node_named(spec::Program& program, std::string_view name) {
  for (spec::Node& node : program.graph.nodes) {
    if (node.name == name) return node;
  }
  ADD_FAILURE() << "no node " << name;
  return program.graph.nodes.front();
}

constexpr const char* kJudged = R"(program "judged" {
  buffer %state "state" : f32[3] = [1.0, 2.0, 3.0]
  input %x : f32[3]
  %a = aten.mul.Tensor(%x, 3.0)
  %b = aten.relu.default(%a)
  %c = aten.add_.Tensor(%state, %b)
  %d = aten.alias.default(%c)
  output %d
})";

std::unique_ptr<spec::Executor> bounds_executor() {
  reference::Options options;
  options.mode = reference::Mode::kWorstCase;
  return reference::make_executor(options);
}

Result<conformance::NodeReport> judge_edited(EditingExecutor::Edit edit) {
  const spec::Program program = with_text(kJudged);
  EditingExecutor executor(edit);
  const auto bounds = bounds_executor();
  const auto type = *program.graph.values.at(1).type;
  const std::vector<std::vector<spec::InputValue>> calls = {{small_integers(type, 3)},
                                                            {small_integers(type, 4)}};
  return conformance::judge_nodes(program, calls, executor, *bounds, spec::builtin_op_table());
}

TEST(JudgeNodes, FindsNothingWhereNothingIsWrong) {
  const auto report = must(judge_edited([](spec::Program&) {}));
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.judged, 8U);
}

TEST(JudgeNodes, NamesTheOneNodeThatIsOff) {
  const auto report = must(judge_edited([](spec::Program& program) {
    node_named(program, "a").arguments[1].argument = {3.0 * (1 + 0x1p-8)};
  }));
  ASSERT_EQ(report.findings.size(), 2U) << "once in each call";
  for (const conformance::NodeFinding& finding : report.findings) {
    EXPECT_EQ(finding.node, "a");
  }
}

TEST(JudgeNodes, SeesWhatANodeWroteInPlace) {
  const auto report = must(judge_edited([](spec::Program& program) {
    node_named(program, "c").arguments.push_back({"alpha", {std::int64_t{2}}});
  }));
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings.front().node, "c");
}

class EditingSource final : public conformance::ExecutorSource {
 public:
  explicit EditingSource(EditingExecutor::Edit edit) : edit_(edit) {}
  [[nodiscard]] std::string_view name() const override { return "edited"; }
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(
      const conformance::Configuration& configuration, const spec::OpTable&) const override {
    reference::Options options;
    if (configuration.contains("instrument")) options.mode = reference::Mode::kProvenance;
    return std::unique_ptr<spec::Executor>(std::make_unique<EditingExecutor>(edit_, options));
  }

 private:
  EditingExecutor::Edit edit_;
};

// Two seeded calls of one executor against the oracle.
conformance::CaseReport check_seeded(const spec::Program& program,
                                     const conformance::ExecutorSource& subject,
                                     const char* judges = "bounds", int calls = 2) {
  const std::shared_ptr<const spec::OpTable> ops(&spec::builtin_op_table(),
                                                 [](const spec::OpTable*) {});
  const conformance::Script script =
      conformance::script_of(std::make_shared<const spec::Program>(program), {}, calls, 1, ops)
          .value();
  const auto oracle = tools::reference_source(/*allow_zero_and_one=*/false);
  conformance::Runs runs(script, subject, *oracle);
  conformance::JudgeSettings settings{.judge_nodes = false, .localize = false};
  return must(conformance::judge_script(runs, conformance::parse_judges(judges).value(), settings));
}

conformance::CaseReport check_edited(EditingExecutor::Edit edit) {
  return check_seeded(with_text(kJudged), EditingSource(edit));
}

// Without a recording the oracle says what an output has to look like.
TEST(BoundsJudge, FailsAnExecutorThatReturnsACopyForAView) {
  const auto report = check_edited(
      [](spec::Program& program) { node_named(program, "d").op = "aten.clone.default"; });
  EXPECT_EQ(report.outcome, spec::Outcome::kFail);
  EXPECT_TRUE(
      contains(report.reason, "shares storage with nothing, in the oracle with state 'state'"));
}

TEST(BoundsJudge, FailsAnExecutorThatReturnsAnotherShapeOfAsManyElements) {
  const auto report = check_edited([](spec::Program& program) {
    spec::Node& node = node_named(program, "d");
    node.op = "aten.unsqueeze.default";
    node.arguments.push_back({"dim", {std::int64_t{0}}});
  });
  EXPECT_EQ(report.outcome, spec::Outcome::kFail);
  EXPECT_TRUE(contains(report.reason, "sizes are [1, 3], expected [3] (the oracle's)"));
}

// softmax adds up to 1 or next to it: which arm runs depends on rounding, and either is right.
constexpr const char* kOpenPath = R"(program "path" {
  input %x : f32[5]
  graph @yes {
    input %u : f32[5]
    %a = aten.neg.default(%u)
    output %a
  }
  graph @no {
    input %u : f32[5]
    %b = aten.relu.default(%u)
    output %b
  }
  %s = aten._softmax.default(%x, 0, False)
  %t = aten.sum.default(%s)
  %p = aten.ge.Scalar(%t, 1)
  %y = higher_order.cond(%p, @yes, @no, [%x])
  output %y
})";

TEST(BoundsJudge, FollowsThePathThatAComparisonChooses) {
  const auto report = check_seeded(with_text(kOpenPath), *tools::optimized_source());
  EXPECT_EQ(report.outcome, spec::Outcome::kPass) << report.reason;
  EXPECT_TRUE(contains(report.judges.at(0).remark, "followed")) << report.judges.at(0).remark;
}

// A number that is true unless it is 0 chooses without a comparison: nobody is asked.
TEST(BoundsJudge, LeavesAProgramUndecidedWhosePathHangsOnRounding) {
  std::string text = kOpenPath;
  const std::string compares = "aten.ge.Scalar(%t, 1)";
  text.replace(text.find(compares), compares.size(), "aten.sub.Tensor(%t, 1)");
  const auto report = check_seeded(with_text(text.c_str()), *tools::optimized_source());
  EXPECT_EQ(report.outcome, spec::Outcome::kUndecided) << report.reason;
}

// The executors part in some of so many calls.
conformance::JudgeReport provenance_of(const char* text) {
  const auto report =
      check_seeded(with_text(text), *tools::optimized_source(), "provenance", /*calls=*/32);
  EXPECT_EQ(report.judges.size(), 1U) << report.reason;
  return report.judges.empty() ? conformance::JudgeReport{} : report.judges.front();
}

// It blames nobody, and says behind what it compares no words.
void expect_stops(const conformance::JudgeReport& report, const std::string& words) {
  EXPECT_TRUE(report.findings.empty()) << report.findings.front().message;
  EXPECT_TRUE(contains(report.remark, words));
}

TEST(ProvenanceJudge, ComparesNoWordsBehindABranchThatHangsOnRounding) {
  const auto report = provenance_of(kOpenPath);
  expect_stops(report, "behind 'y' are not compared: which arm");
}

TEST(ProvenanceJudge, ComparesNoWordsBehindASizeThatHangsOnRounding) {
  const auto report = provenance_of(R"(program "size" {
  symbol u0 in [0, 5]
  input %x : f32[5]
  %s = aten._softmax.default(%x, 0, False)
  %t = aten.sum.default(%s)
  %p = aten.ge.Scalar(%t, 1)
  %m : f32[u0] = aten.masked_select.default(%x, %p)
  %y = aten.sum.default(%m)
  output %y
})");
  expect_stops(report, "behind 'm' are not compared");
}

TEST(ProvenanceJudge, ComparesNoWordsThatAnIntegerEntersWhichHangsOnRounding) {
  const auto report = provenance_of(R"(program "integer" {
  input %x : f32[5]
  %s = aten._softmax.default(%x, 0, False)
  %t = aten.sum.default(%s)
  %i : i64[] = aten.to.dtype(%t, i64)
  %n : symint = aten._local_scalar_dense.default(%i)
  %y = aten.mul.Tensor(%x, %n)
  output %y
})");
  expect_stops(report, "behind 'y' are not compared");
}

TEST(ProvenanceJudge, ComparesNoWordsBehindAMaskThatDecidesASizeBelowIt) {
  const auto report = provenance_of(R"(program "mask" {
  symbol u0 in [0, 5]
  input %x : f32[5]
  %s = aten._softmax.default(%x, 0, False)
  %t = aten.sum.default(%s)
  %p = aten.ge.Scalar(%t, 1)
  %y = aten.masked_scatter.default(%x, %p, %s)
  %m : f32[u0] = aten.masked_select.default(%y, %p)
  output %m
  output %y
})");
  expect_stops(report, "behind 'y' are not compared: a rounding error");
}

// The states of both executors part by roundings in one call, and decide in the next.
TEST(ProvenanceJudge, ComparesNoWordsBehindAnIndexThatAStateHangsOn) {
  const auto report = provenance_of(R"(program "state" {
  buffer %b "b" : f32[1] = [0.0]
  input %x : f32[5]
  %p = aten.ge.Scalar(%b, 1)
  %n = aten.neg.default(%x)
  %y = aten.masked_scatter.default(%x, %p, %n)
  %s = aten._softmax.default(%x, 0, False)
  %t = aten.sum.dim_IntList(%s, [0], True)
  %c = aten.copy_.default(%b, %t)
  output %y
})");
  expect_stops(report, "behind 'y' are not compared: a rounding error");
}

// The predicate is another one than the program's, and that is no matter of rounding.
TEST(ProvenanceJudge, HoldsWhatComesBeforeSuchABranchToItsWords) {
  const EditingSource subject([](spec::Program& program) {
    for (spec::Node& node : program.graph.nodes) {
      if (node.name == "p") node.arguments.back().argument = {std::int64_t{2}};
    }
  });
  const auto report = check_seeded(with_text(kOpenPath), subject, "provenance");
  EXPECT_EQ(report.outcome, spec::Outcome::kFail);
  ASSERT_FALSE(report.judges.front().findings.empty());
  EXPECT_EQ(report.judges.front().findings.front().nodes.front(), "p") << report.reason;
}

// The executors add up in other orders, so the number that leaves the tensor has other bits.
TEST(ProvenanceJudge, ComparesNoWordsThatAComputedFloatEnters) {
  const spec::Program program = with_text(R"(program "float" {
  input %x : f32[64]
  %s = aten.sum.default(%x)
  %f : symfloat = aten._local_scalar_dense.default(%s)
  %y : f32[64] = aten.mul.Tensor(%x, %f)
  output %y
})");
  const auto report = check_seeded(program, *tools::optimized_source(), "provenance");
  ASSERT_EQ(report.judges.size(), 1U) << report.reason;
  EXPECT_TRUE(report.judges.front().findings.empty()) << report.reason;
  EXPECT_TRUE(contains(report.judges.front().remark, "a float that the call computes"));
}

// What the verifier says of a plan depends on no judge that was asked before it.
TEST(VerifierJudge, MissesANodeWhetherOrNotWordsWereAskedFor) {
  const spec::Program program = with_text(R"(program "steps" {
  input %x : f32[4, 4]
  input %y : f32[4, 4]
  %a = aten.mm.default(%x, %y)
  %w = aten.copy_.default(%x, %y)
  %b = aten.mm.default(%x, %y)
  output %a
  output %b
})");
  const auto ops = std::make_shared<const spec::OpTable>(spec::builtin_op_table());
  auto script =
      conformance::script_of(std::make_shared<const spec::Program>(program), {}, 2, 1, ops).value();
  script.options = {{"plan-mutation", "step-dropped"}};
  const auto subject = tools::optimized_source();
  const auto oracle = tools::reference_source(/*allow_zero_and_one=*/false);
  const auto rules_after = [&](const char* judges) {
    conformance::Runs runs(script, *subject, *oracle);
    conformance::JudgeSettings settings;
    settings.localize = false;
    const auto report =
        must(conformance::judge_script(runs, conformance::parse_judges(judges).value(), settings));
    std::multiset<std::string> rules;
    for (const conformance::JudgeReport& judge : report.judges) {
      if (judge.judge != conformance::Judge::kVerifier) continue;
      for (const spec::Finding& finding : judge.findings) rules.insert(finding.rule);
    }
    return rules;
  };
  const auto alone = rules_after("verifier");
  EXPECT_TRUE(alone.contains("V4.missing-node"));
  EXPECT_EQ(alone, rules_after("provenance,verifier"));
}

// What the oracle knows of %x it knows as numbers; the view sees their bits.
TEST(BoundsJudge, LeavesBitsOfInexactNumbersUndecided) {
  const spec::Program program = with_text(R"(program "bits" {
  input %x : f32[3]
  %v = aten.view.dtype(%x, i32)
  %s = aten.sigmoid_.default(%x)
  output %v
})");
  const auto report = check_seeded(program, *tools::optimized_source());
  EXPECT_EQ(report.outcome, spec::Outcome::kUndecided) << report.reason;
}

// What lay around the elements of the recorded %x was 100 and 103: the recording does not say so.
TEST(BoundsJudge, LeavesOpenWhatARecordingDoesNotHoldOfAnInputsStorage) {
  const auto program = std::make_shared<const spec::Program>(with_text(R"(program "part" {
  input %x : f32[2, 2]{3, 1}@1
  %v : f32[6] = aten.as_strided.default(%x, [6], [1], 0)
  %a : f32[6] = aten.add.Tensor(%v, 1.0)
  output %a
})"));
  const auto ops = std::make_shared<const spec::OpTable>(spec::builtin_op_table());
  const auto outcome_of = [&](const std::vector<float>& recorded) {
    conformance::ExpectedCall call;
    call.inputs = {
        spec::host_tensor(spec::DType::kFloat32, {2, 2}, std::vector<float>{1, 2, 4, 5})};
    call.outputs = {spec::host_tensor(spec::DType::kFloat32, {6}, recorded)};
    const conformance::Script script =
        must(conformance::script_of(program, std::vector{call}, 1, 1, ops));
    const auto subject = tools::optimized_source();
    const auto oracle = tools::reference_source(/*allow_zero_and_one=*/false);
    conformance::Runs runs(script, *subject, *oracle);
    const conformance::JudgeSettings settings{.judge_nodes = true, .localize = false};
    const auto report = must(conformance::judge_script(
        runs, conformance::parse_judges("bounds,state").value(), settings));
    return report.outcome;
  };
  EXPECT_EQ(outcome_of({101, 2, 3, 104, 5, 6}), spec::Outcome::kPass);
  EXPECT_EQ(outcome_of({101, 2, 3, 104, 5, 7}), spec::Outcome::kFail);
}

TEST(JudgeNodes, LeavesWhatNobodyWroteAndWhatClonesDoNotKeepAlone) {
  const spec::Program program = with_text(R"(program "alone" {
  input %x : f32[4, 2]
  %t = aten.transpose.int(%x, 0, 1)
  %a = aten.as_strided.default(%t, [3], [2], 1)
  %l : tensors = aten.split.Tensor(%x, 2)
  %g = _operator.getitem(%l, 1)
  %e = aten.empty_like.default(%x)
  %n : none, %w = higher_order.auto_functionalized_v2(vllm.silu_and_mul.default, input=%x, _out_base_index=0, _out_size=[4, 1], _out_stride=[2, 1], _out_storage_offset=1, _all_bases=[%t])
  output %a
  output %g
  output %e
  output %w
})");
  const auto optimized = optimized::make_executor({});
  const auto bounds = bounds_executor();
  const std::vector<std::vector<spec::InputValue>> calls = {
      {small_integers(*program.graph.values.at(0).type, 5)}};
  const auto report =
      must(conformance::judge_nodes(program, calls, *optimized, *bounds, spec::builtin_op_table()));
  EXPECT_TRUE(report.findings.empty()) << report.findings.front().message;
}

// A product of 16 bits is rounded before a bias is added where the input is strided: 256 + 1 is 256
// in bfloat16, and 257 with the bias is 256, where 258 has no rounding. A clone of it is dense.
TEST(JudgeNodes, LayOperandsAsTheProgramDeclaresThem) {
  const spec::Program program = with_text(R"(program "strided" {
  input %x : bf16[4]
  input %w : bf16[4, 2]
  input %b : bf16[4]
  %v : bf16[2]{2} = aten.slice.Tensor(%x, 0, 0, 4, 2)
  %y = aten.linear.default(%v, %w, %b)
  output %y
})");
  const auto bfloat16 = [](const std::vector<std::int64_t>& sizes,
                           const std::vector<std::uint16_t>& bits) {
    auto out = spec::make_host_tensor(spec::DType::kBFloat16, sizes);
    std::memcpy(out.storage->bytes.data(), bits.data(), bits.size() * sizeof(std::uint16_t));
    return out;
  };
  constexpr std::uint16_t one = 0x3f80;
  constexpr std::uint16_t many = 0x4380;
  const std::vector<std::vector<spec::InputValue>> calls = {
      {bfloat16({4}, std::vector(4, one)),
       bfloat16({4, 2}, {many, one, many, one, many, one, many, one}),
       bfloat16({4}, std::vector(4, one))}};
  const auto executor = reference::make_executor({});
  const auto bounds = bounds_executor();
  const auto report =
      must(conformance::judge_nodes(program, calls, *executor, *bounds, spec::builtin_op_table()));
  EXPECT_TRUE(report.findings.empty()) << report.findings.front().message;
  EXPECT_EQ(report.judged, 2U);
}

// The two operands that the norm writes share two elements; the unfolded view has two elements
// twice.
TEST(JudgeNodes, LeavesWritesThatClonesPartAlone) {
  const spec::Program program = with_text(R"(program "parted" {
  input %x : f32[2, 4]
  input %weight : f32[3]
  %c = aten.clone.default(%x)
  %a = aten.slice.Tensor(%c, 1, 0, 3)
  %b = aten.slice.Tensor(%c, 1, 1, 4)
  vllm.fused_add_rms_norm.default(%a, %b, %weight, 1e-5) as norm
  %u = aten.unfold.default(%c, 1, 2, 1)
  %w = aten.fill_.Scalar(%u, 1.0)
  %y = aten.add_.Tensor(%x, %c)
  output %c
  output %w
  output %y
})");
  const auto executor = reference::make_executor({});
  const auto bounds = bounds_executor();
  const std::vector<std::vector<spec::InputValue>> calls = {
      {small_integers(*program.graph.values.at(0).type, 5),
       small_integers(*program.graph.values.at(1).type, 6)}};
  const auto report =
      must(conformance::judge_nodes(program, calls, *executor, *bounds, spec::builtin_op_table()));
  EXPECT_TRUE(report.findings.empty()) << report.findings.front().message;
  EXPECT_EQ(report.judged, 5U);  // all but the norm and the filling
}

}  // namespace
}  // namespace graphgate
