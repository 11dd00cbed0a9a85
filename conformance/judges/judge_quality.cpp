// Plans that work, and cost more than they need, or do not do what was asked for.
//
// Rules: Q1.peak (above what no reuse at all takes), Q2 to Q5 (plan_intent.h), Q6.worse (than the
// stored baseline, plan_quality.h). What was asked for comes from the script's options alone.
#include <cmath>
#include <map>

#include "conformance/judges/judge_report.h"
#include "conformance/judges/plan_intent.h"
#include "conformance/judges/plan_quality.h"
#include "conformance/run/runs.h"
#include "conformance/run/seeded_inputs.h"
#include "spec/option.h"

namespace graphgate::conformance {
namespace {

namespace option = spec::option;
using spec::Finding;
using spec::HostTensor;
using spec::Outcome;
using spec::Plan;
using spec::PlanStep;

// Whether an op writes nothing into what it makes: the reference leaves every element open,
// whatever the op is given. Asked once per op, on operands of the step's own geometry: zeros, and
// drawn ones, since a function may be open at zero alone (a cubic root has no slope there).
class AllocationTest {
 public:
  explicit AllocationTest(Runs& runs) : runs_(runs) {}

  bool operator()(const Plan& plan, const PlanStep& step) {
    if (!step.body.empty()) return false;
    const auto known = known_.find(step.node.op);
    if (known != known_.end()) return known->second;
    const auto answer = ask(plan, step);
    if (answer) known_.emplace(step.node.op, *answer);
    return answer.value_or(false);
  }

 private:
  // Nothing where this step cannot tell: no elements, or what cannot stand alone.
  std::optional<bool> ask(const Plan& plan, const PlanStep& step) {
    Script script{.name = "allocation", .ops = runs_.script().ops};
    ScriptCall call;
    const auto program = one_step(plan, step, call.inputs);
    if (!program) return std::nullopt;
    script.programs = {program};
    script.steps = {std::move(call)};
    const auto answer = leaves_all_open(script);
    if (answer != std::optional(true)) return answer;
    constexpr std::uint64_t kDraws = 4;
    for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
      auto drawn = seeded_inputs(*program, seed, 0);
      if (!drawn.ok()) continue;
      std::get<ScriptCall>(script.steps[0]).inputs = std::move(drawn).value();
      if (leaves_all_open(script) == std::optional(false)) return false;
    }
    return true;
  }

  // Nothing where the call makes no elements, or is refused.
  std::optional<bool> leaves_all_open(const Script& script) {
    // What an op draws it writes, though nobody knows what.
    const auto trace = runs_.oracle_with_known_draws_on(script, "worst-case");
    if (!trace.ok() || trace.value().calls.empty()) return std::nullopt;
    std::size_t elements = 0;
    for (const spec::Spread& spread : trace.value().calls[0].result.output_spreads) {
      for (const double radius : spread.radii) {
        if (!std::isinf(radius)) return false;
        ++elements;
      }
    }
    return elements > 0 ? std::optional(true) : std::nullopt;
  }

  static std::shared_ptr<const spec::Program> one_step(const Plan& plan, const PlanStep& step,
                                                       std::vector<spec::InputValue>& inputs) {
    auto program = std::make_shared<spec::Program>();
    program->name = "allocation";
    std::map<spec::ValueId, spec::ValueId> ids;
    bool fits = true;
    const auto add = [&](spec::ValueId id) {
      const auto [at, is_new] =
          ids.emplace(id, spec::ValueId{static_cast<std::uint32_t>(program->graph.values.size())});
      if (is_new) program->graph.values.push_back(plan.values[id.index].value);
      return std::pair(at->second, is_new);
    };
    spec::for_each_operand(step.node, [&](spec::ValueId id) {
      const auto [copy, is_new] = add(id);
      if (!is_new) return;
      auto zeros = zeros_like(program->graph.value(copy));
      fits = fits && zeros.has_value();
      if (!zeros) return;
      inputs.emplace_back(std::move(*zeros));
      program->graph.inputs.push_back(copy);
      program->inputs.push_back(
          {spec::InputKind::kUserInput, copy, program->graph.value(copy).name, true, std::nullopt});
    });
    spec::Node node = step.node;
    for (spec::NamedArgument& named : node.arguments) renumber(named.argument, ids);
    for (spec::NodeResult& result : node.results) {
      for (spec::ValueId& id : result.values) {
        const auto [copy, is_new] = add(id);
        fits = fits && is_new && program->graph.value(copy).kind == spec::ValueKind::kTensor;
        id = copy;
        program->graph.outputs.push_back({copy});
        program->outputs.push_back({spec::OutputKind::kUserOutput, ""});
      }
    }
    fits = fits && !program->outputs.empty();
    program->graph.nodes.push_back(std::move(node));
    return fits ? program : nullptr;
  }

  static std::optional<HostTensor> zeros_like(const spec::Value& value) {
    if (value.kind != spec::ValueKind::kTensor || !value.type) return std::nullopt;
    std::vector<std::int64_t> sizes;
    for (const spec::SymExpr& size : value.type->sizes) {
      if (!size.is_constant()) return std::nullopt;
      sizes.push_back(size.constant());
    }
    return spec::make_host_tensor(value.type->dtype, sizes, value.type->device);
  }

  static void renumber(spec::Argument& argument,
                       const std::map<spec::ValueId, spec::ValueId>& ids) {
    if (auto* id = std::get_if<spec::ValueId>(&argument.value)) *id = ids.at(*id);
    if (auto* list = std::get_if<spec::Argument::List>(&argument.value)) {
      for (spec::Argument& element : *list) renumber(element, ids);
    }
  }

  Runs& runs_;
  std::map<std::string, bool> known_;
};

class QualityJudge {
 public:
  QualityJudge(Runs& runs, const JudgeSettings& settings)
      : runs_(runs), settings_(settings), is_allocation_(runs) {
    report_.judge = Judge::kQuality;
  }

  Result<JudgeReport> run() {
    GRAPHGATE_TRY(const QualityBaseline baseline, parse_quality(settings_.quality_baseline));
    const auto trace = runs_.subject();
    if (!trace.ok()) {
      if (trace.error().kind != ErrorKind::kUnsupported) return trace.error();
      report_.remark = trace.error().message;
      conclude(report_, watch_, Outcome::kUnsupported, "");
      return std::move(report_);
    }
    const Plan* before = nullptr;
    spec::CallOptions asked_before;
    std::size_t c = 0;
    for (const CallRecord& call : trace.value()->calls) {
      const Plan* plan = call.plan.get();
      const auto* step = std::get_if<ScriptCall>(&runs_.script().steps[call.step]);
      const spec::CallOptions asked = step ? step->options : spec::CallOptions{};
      const bool is_known = before && plan && *plan == *before && asked == asked_before;
      if (plan && !is_known && spec::check_plan(*plan).ok()) {
        look_at(c, call, baseline);
        before = plan;
        asked_before = asked;
      }
      ++c;
    }
    conclude(report_, watch_, Outcome::kUnsupported, "the executor shows no plan");
    return std::move(report_);
  }

 private:
  void look_at(std::size_t index, const CallRecord& call, const QualityBaseline& baseline) {
    const Plan& plan = *call.plan;
    ++report_.checks;
    const std::string place = "call " + std::to_string(index) + ": ";
    const PlanStats stats = plan_stats(plan);
    if (stats.peak_bytes > stats.no_reuse_bytes) {
      add("Q1.peak", place + "the plan of '" + plan.name + "' takes " +
                         std::to_string(stats.peak_bytes) + " bytes, without any reuse it would " +
                         std::to_string(stats.no_reuse_bytes));
    }
    IntentCase intent{
        .plan = &plan,
        .ops = runs_.script().ops.get(),
        .configuration = options_at(runs_.script(), runs_.script().options, call.step)};
    const auto* step = std::get_if<ScriptCall>(&runs_.script().steps[call.step]);
    if (step) intent.call = step->options;
    intent.is_allocation = [&](const PlanStep& s) { return is_allocation_(plan, s); };
    for (Finding& finding : judge_intent(intent)) {
      finding.message = place + finding.message;
      finding.program = plan.name;
      report_.findings.push_back(std::move(finding));
    }
    compare_with(baseline, plan, index, place);
    if (index == 0) remark(stats);
  }

  void compare_with(const QualityBaseline& baseline, const Plan& plan, std::size_t index,
                    const std::string& place) {
    const auto stored = baseline.find(runs_.script().name + " call " + std::to_string(index) +
                                      quality_suffix(runs_.script().options));
    if (stored == baseline.end()) return;
    for (const std::string& worse : worse_than(quality_of(plan), stored->second)) {
      std::string message = place;
      message.append("'").append(plan.name).append("': ").append(worse);
      add("Q6.worse", std::move(message));
    }
  }

  void remark(const PlanStats& stats) {
    report_.remark = "peak " + std::to_string(stats.peak_bytes) + " bytes, at least " +
                     std::to_string(stats.lower_bound_bytes) + ", " +
                     std::to_string(stats.no_reuse_bytes) + " without reuse; " +
                     std::to_string(stats.captured_steps) + " of " + std::to_string(stats.steps) +
                     " steps captured";
    const bool padding_asked = runs_.script().options.contains(option::kCaptureSizes) ||
                               runs_.script().options.contains(option::kMaxCaptureSize);
    if (padding_asked && !runs_.script().steps.empty()) report_.remark += padding_remark();
  }

  // Whether padding is legal is an analysis of the executor's own: that no call is padded is said,
  // not judged.
  std::string padding_remark() {
    const auto trace = runs_.subject();
    for (const CallRecord& call : trace.value()->calls) {
      if (call.plan && call.plan->padding) return "";
    }
    return "; no call was padded";
  }

  void add(std::string rule, std::string message) {
    report_.findings.push_back({.rule = std::move(rule), .message = std::move(message)});
  }

  Runs& runs_;
  const JudgeSettings& settings_;
  StopWatch watch_;
  JudgeReport report_;
  AllocationTest is_allocation_;
};

}  // namespace

Result<JudgeReport> judge_quality(Runs& runs, const JudgeSettings& settings) {
  return QualityJudge(runs, settings).run();
}

}  // namespace graphgate::conformance
