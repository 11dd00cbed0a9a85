// Deviations of the planner that break a plan: the verifier says which rule, and says nothing of
// the same program without the deviation.
#include "base/result_test.h"
#include "conformance/verify/verify.h"
#include "optimized/optimized.h"
#include "reference/reference.h"
#include "spec/graph_text.h"
#include "tools/tests/cross/golden_models_test.h"

namespace graphgate {
namespace {

using spec::Deviation;

// Where a deviation shows: a golden model, or a small program.
struct Trigger {
  Deviation deviation;
  std::string program;  // the name of a model, or text
  std::string rule;
  optimized::MemoryStrategy memory = optimized::MemoryStrategy::kLines;
};

constexpr const char* kWriteThroughAView = R"(program "p" {
  input %x : f32[4]
  %v = aten.slice.Tensor(%x, 0, 1, 3)
  %w = aten.add_.Tensor(%v, 1.0)
  %y = aten.relu.default(%x)
  output %y
})";

// The last partition frees %y, which it knows as a view of another dtype alone.
constexpr const char* kFreedAsAnotherDtype = R"(program "p" {
  input %q : f32[2, 2, 4]
  %y = aten.add.Tensor(%q, 1.0)
  %v = aten.view.dtype(%y, i16)
  %o = aten.empty_like.default(%q)
  vllm.unified_attention_with_output.default(%q, %q, %q, %o, "layer") as attn
  %z = aten.bitwise_not.default(%v)
  output %o
  output %z
})";

// What adds integers up by index has no layout in torch._inductor.
constexpr const char* kCountedInPlace = R"(program "p" {
  input %q : f32[2, 2, 4]
  input %n : i64[4]
  %i = aten.arange.default(2)
  %c = aten.index_put.default(%n, [%i], %i, True)
  %o = aten.empty_like.default(%q)
  vllm.unified_attention_with_output.default(%q, %q, %q, %o, "layer") as attn
  %m = aten.mul.Tensor(%c, %n)
  output %o
  output %c
  output %m
})";

// The bytes of %y are needed by the fused node alone.
constexpr const char* kSizesAlone = R"(program "p" {
  input %q : f32[2, 2, 4]
  %y = aten.add.Tensor(%q, 1.0)
  %z = aten.mul.Tensor(%y, 2.0)
  %o = aten.neg.default(%q)
  vllm.unified_attention_with_output.default(%z, %z, %z, %o, "layer") as attn
  %e = aten.empty_like.default(%y)
  %w = aten.add.out(%o, %q, out=%e)
  output %w
})";

constexpr const char* kStarts = "program";

std::vector<Trigger> triggers() {
  using M = optimized::MemoryStrategy;
  return {
      {Deviation::kSignatureOmitsFrees, kFreedAsAnotherDtype, "V2.missing-output"},
      {Deviation::kSignatureIgnoresMutations, kCountedInPlace, "V2.missing-input"},
      {Deviation::kSignatureFiltersRemoved, kSizesAlone, "V2.missing-input"},
      {Deviation::kTailAllocationsByGraphOutputs, "vllm_like.core", "V3.overlap"},
      {Deviation::kStaleBaseForSiblings, "vllm_like.core", "V4.wrong-operand"},
      {Deviation::kIgnoresReturnedAlias, "cond_nonzero", "V3.overlap"},
      {Deviation::kReusesInvertedRanges, "vllm_like.core", "V3.overlap"},
      {Deviation::kInPlaceOverRemoved, "mutations.core", "V3.kept-bytes", M::kPools},
      {Deviation::kFreesTwice, "mutations.core", "V3.overlap"},
      {Deviation::kPersistentDiesAtLastUse, "decode_static_cache", "V3.kept-bytes"},
      {Deviation::kLifetimesTouchWrongly, "vllm_like.core", "V3.in-place"},
      {Deviation::kDeadCodeDropsAliasWrites, kWriteThroughAView, "V4.wrong-version"},
  };
}

spec::InputValue numbers(const spec::TensorType& type) {
  const auto geometry = [&] {
    std::vector<std::int64_t> sizes;
    for (const spec::SymExpr& size : type.sizes) sizes.push_back(size.constant());
    return sizes;
  }();
  return spec::make_host_tensor(type.dtype, geometry, type.device);
}

Model model_of(const Trigger& trigger) {
  if (trigger.program.rfind(kStarts, 0) != 0) {
    return read_model(GRAPHGATE_GOLDEN_DIR "/models/" + trigger.program + ".pt2");
  }
  Model model;
  model.program = spec::parse_program(trigger.program, spec::builtin_op_table()).value();
  model.calls.emplace_back();
  for (const spec::ValueId id : model.program.graph.inputs) {
    model.calls.front().inputs.push_back(numbers(*model.program.graph.value(id).type));
  }
  return model;
}

std::vector<spec::Finding> findings_of(const Model& model, const Trigger& trigger, bool deviates) {
  optimized::Options options;
  options.compile.memory.strategy = trigger.memory;
  if (deviates) options.compile.deviations.add(trigger.deviation);
  const auto subject = optimized::make_executor(options)->load(model.program);
  reference::Options provenance;
  provenance.mode = reference::Mode::kProvenance;
  const auto oracle = reference::make_executor(provenance)->load(model.program);
  EXPECT_TRUE(subject.ok() && oracle.ok());
  if (!subject.ok() || !oracle.ok()) return {};
  const auto& inputs = model.calls.front().inputs;
  const auto run = oracle.value()->call(inputs);
  EXPECT_TRUE(run.ok());
  EXPECT_TRUE(subject.value()->call(inputs).ok());
  verify::PlanCase plan_case{.plan = subject.value()->plan().get(),
                             .program = &model.program,
                             .ops = &spec::builtin_op_table()};
  if (run.ok()) plan_case.facts_of_run = &run.value().provenance;
  if (plan_case.plan == nullptr) return {};
  return verify::verify_plan(plan_case);
}

class Deviates : public testing::TestWithParam<Trigger> {};

TEST_P(Deviates, IsFoundByItsRuleAndNotWithoutTheDeviation) {
  const Model model = model_of(GetParam());
  for (const spec::Finding& finding : findings_of(model, GetParam(), false)) {
    ADD_FAILURE() << "without it: [" << finding.rule << "] " << finding.message;
  }
  std::string rules;
  for (const spec::Finding& finding : findings_of(model, GetParam(), true)) {
    rules += finding.rule + " ";
  }
  EXPECT_TRUE(contains(rules, GetParam().rule));
}

INSTANTIATE_TEST_SUITE_P(Planner, Deviates, testing::ValuesIn(triggers()), [](const auto& tested) {
  return std::string(spec::row_of(tested.param.deviation).name);
});

}  // namespace
}  // namespace graphgate
