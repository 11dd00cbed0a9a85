#include "conformance/judges/verified_plans.h"

#include <algorithm>
#include <set>

#include "conformance/judges/plan_intent.h"
#include "conformance/run/compile_once.h"
#include "conformance/run/runs.h"
#include "conformance/verify/verify.h"
#include "spec/option.h"

namespace graphgate::conformance {
namespace {

namespace option = spec::option;

// Facts of a run are at the call's sizes: they say nothing of a plan for larger ones.
bool is_of_its_size(const spec::Plan& plan, const spec::Program& program, const CallRecord& call) {
  if (!plan.padding) return true;
  std::size_t passed = 0;
  for (std::size_t i = 0; i < program.inputs.size() && i < plan.inputs.size(); ++i) {
    const spec::ProgramInput& input = program.inputs[i];
    if (input.kind != spec::InputKind::kUserInput || input.constant) continue;
    const auto* tensor = std::get_if<spec::HostTensor>(&call.inputs[passed++]);
    if (!tensor || plan.inputs[i].constant) continue;
    const auto& type = plan.values[plan.inputs[i].value.index].value.type;
    if (!type || !std::equal(type->sizes.begin(), type->sizes.end(), tensor->sizes.begin(),
                             tensor->sizes.end())) {
      return false;
    }
  }
  return true;
}

class PlansVerifier {
 public:
  explicit PlansVerifier(Runs& runs) : runs_(runs) {
    for (const verify::Rule& rule : verify::rules()) {
      (is_about_order(rule.id) ? out_.order_rules : out_.rules) += 1;
    }
  }

  Result<VerifiedPlans> run() {
    GRAPHGATE_TRY(const Trace* const trace, runs_.subject());
    take_own_plans(*trace);
    const bool has_plans = std::ranges::any_of(
        trace->calls, [](const CallRecord& call) { return call.plan != nullptr; });
    if (!has_plans) return std::move(out_);
    GRAPHGATE_TRY(const Trace* const facts, facts_of_run());
    std::vector<verify::PlanUse> uses;
    for (std::size_t i = 0; i < trace->calls.size(); ++i) {
      const CallRecord& call = trace->calls[i];
      if (!call.plan) continue;
      const Configuration options = options_at(runs_.script(), trace->configuration, call.step);
      const verify::PlanCase plan_case = case_of(call, facts, i, options);
      GRAPHGATE_TRY(const bool is_well_formed, verify_once(call, plan_case, i));
      if (!is_well_formed) continue;
      const spec::Program& program = *runs_.script().programs[call.program];
      if (is_relaid(options, program, *call.plan, call.inputs)) continue;  // of a copy
      uses.push_back(use_of(*trace, i, plan_case, options));
    }
    take(verify::verify_plan_uses(uses), "", "");
    return std::move(out_);
  }

 private:
  // Of plans for graphs of the executor's own making, which were verified where they came from.
  // With an instrument its findings are of that.
  void take_own_plans(const Trace& trace) {
    if (trace.configuration.contains(option::kInstrument)) return;
    for (const CallRecord& call : trace.calls) {
      for (const spec::Finding& finding : call.result.findings) {
        if (finding.rule == kOwnPlan) {
          ++out_.plans;
        } else {
          out_.findings.push_back(finding);
        }
      }
    }
  }

  // Null where the oracle cannot tell.
  Result<const Trace*> facts_of_run() {
    // Words cost more, and are asked for where a rule depends on them.
    auto trace = runs_.oracle(runs_.has_oracle("provenance") ? "provenance" : "geometry");
    if (trace.ok()) return trace;
    if (trace.error().kind != ErrorKind::kUnsupported) return trace.error();
    out_.remark = "without facts of a run: " + trace.error().message;
    return nullptr;
  }

  verify::PlanCase case_of(const CallRecord& call, const Trace* facts, std::size_t index,
                           const Configuration& options) const {
    verify::PlanCase plan_case;
    plan_case.plan = call.plan.get();
    plan_case.ops = &ops_at(runs_.script(), call.step);
    if (!has_pass_of_users(options)) {
      plan_case.program = runs_.script().programs[call.program].get();
      plan_case.facts_of_run = rows_of(call, facts, index);
    }
    plan_case.unaligned_ops = unaligned_ops(*call.plan, options);
    return plan_case;
  }

  // What that run shows of the call; null where it shows nothing that holds for the plan.
  const std::vector<spec::ProvenanceRow>* rows_of(const CallRecord& call, const Trace* facts,
                                                  std::size_t index) const {
    if (!facts || index >= facts->calls.size()) return nullptr;
    const auto& rows = facts->calls[index].result.provenance;
    const spec::Program& program = *runs_.script().programs[call.program];
    return !rows.empty() && is_of_its_size(*call.plan, program, call) ? &rows : nullptr;
  }

  // Ops of the plan that the option names.
  static std::set<std::string, std::less<>> unaligned_ops(const spec::Plan& plan,
                                                          const Configuration& options) {
    std::set<std::string, std::less<>> out;
    const auto named = options.find(option::kUnalignedOp);
    if (named == options.end()) return out;
    for (const std::string& name : split_list(named->second)) {
      for (const spec::PlanStep& step : plan.steps) {
        if (option_names_op(name, step.node.op)) out.insert(step.node.op);
      }
    }
    return out;
  }

  // What the call asked for, and which of its outputs were read later.
  verify::PlanUse use_of(const Trace& trace, std::size_t index, const verify::PlanCase& plan_case,
                         const Configuration& options) const {
    const CallRecord& call = trace.calls[index];
    verify::PlanUse use{plan_case, index, call.program, call.inputs};
    const auto& steps = runs_.script().steps;
    const auto end = steps.begin() + static_cast<std::ptrdiff_t>(call.step);
    use.session =
        static_cast<std::size_t>(std::count_if(steps.begin(), end, [](const ScriptStep& step) {
          return std::holds_alternative<ScriptRestart>(step);
        }));
    if (const auto* asked = std::get_if<ScriptCall>(&steps[call.step])) {
      use.options = asked->options;
    }
    use.allows_weak = options.contains(option::kWeakOutputs);
    use.shares_pools = options.contains(option::kSharePools);
    use.plans_kept = number_option(options, option::kPlansKept).value_or(0);
    use.read_until.resize(call.plan->outputs.size());
    for (const HeldRecord& held : trace.held) {
      if (held.output.index >= use.read_until.size() || !held.now) continue;
      if (call_held(trace, held) != index) continue;
      for (std::size_t i = index; i < trace.calls.size(); ++i) {
        if (trace.calls[i].step < held.step) use.read_until[held.output.index] = i;
      }
    }
    return use;
  }

  // The call whose output it is.
  static std::optional<std::size_t> call_held(const Trace& trace, const HeldRecord& held) {
    std::optional<std::size_t> latest;
    for (std::size_t i = 0; i < trace.calls.size(); ++i) {
      const CallRecord& call = trace.calls[i];
      if (call.program == held.output.program && call.step < held.held_at) latest = i;
    }
    return latest;
  }

  // False where the plan is not well formed: then nothing else is asked of it.
  Result<bool> verify_once(const CallRecord& call, const verify::PlanCase& plan_case,
                           std::size_t index) {
    const bool is_new = seen_.insert(call.plan.get()).second;
    if (!is_new) return !malformed_.contains(call.plan.get());
    ++out_.plans;
    const auto checked = spec::check_plan(*call.plan);
    if (!checked.ok()) {
      malformed_.insert(call.plan.get());
      out_.findings.push_back({.rule = "V0.malformed", .message = checked.error().message});
      return false;
    }
    std::vector<spec::Finding> findings = verify::verify_plan(plan_case);
    if (hangs_on_words(findings)) {
      const auto trace = runs_.oracle("provenance");
      if (!trace.ok() && trace.error().kind != ErrorKind::kUnsupported) return trace.error();
      if (trace.ok()) {
        verify::PlanCase with_words = plan_case;
        with_words.facts_of_run = rows_of(call, trace.value(), index);
        findings = verify::verify_plan(with_words);
      }
    }
    take(std::move(findings), label(call), runs_.script().programs[call.program]->name);
    return true;
  }

  // Whether a node that is missing may be gone, as words alone tell.
  static bool hangs_on_words(const std::vector<spec::Finding>& findings) {
    return std::ranges::any_of(
        findings, [](const spec::Finding& finding) { return finding.rule == "V4.missing-node"; });
  }

  // Which plan it is, where there are several.
  [[nodiscard]] std::string label(const CallRecord& call) const {
    if (seen_.size() == 1) return "";
    std::string sizes;
    for (const auto& [symbol, size] : call.plan->symbols) {
      sizes += " " + symbol + "=" + std::to_string(size);
    }
    return "plan of '" + call.plan->name + "'" + (sizes.empty() ? "" : " at" + sizes) + ": ";
  }

  void take(std::vector<spec::Finding> findings, const std::string& place,
            const std::string& program) {
    for (spec::Finding& finding : findings) {
      finding.program = program;
      finding.message = place + finding.message;
      out_.findings.push_back(std::move(finding));
    }
  }

  Runs& runs_;
  VerifiedPlans out_;
  std::set<const spec::Plan*> seen_;
  std::set<const spec::Plan*> malformed_;
};

}  // namespace

bool is_about_order(std::string_view rule) { return rule.starts_with("HB"); }

bool has_pass_of_users(const Configuration& options) {
  return std::ranges::any_of(spec::split_list(spec::value_of(options, option::kPass)),
                             [](const std::string& name) { return name.ends_with(".so"); });
}

Result<VerifiedPlans> verify_plans(Runs& runs) { return PlansVerifier(runs).run(); }

Result<std::vector<spec::Finding>> faults_of_plans(const Runs& runs, const Script& script,
                                                   Trace trace, const std::string& place) {
  Runs other = runs.on(script);
  other.provide(std::move(trace));
  auto verified = verify_plans(other);
  if (!verified.ok()) {
    if (verified.error().kind == ErrorKind::kInfrastructure) return verified.error();
    return std::vector<spec::Finding>();
  }
  std::vector<spec::Finding> faults;
  for (spec::Finding& finding : verified.value().findings) {
    if (finding.outcome != spec::Outcome::kFail) continue;
    finding.message = place + finding.message;
    faults.push_back(std::move(finding));
  }
  return faults;
}

JudgeReport report_of_plans(const VerifiedPlans& verified, Judge judge, const StopWatch& watch) {
  const bool is_order = judge == Judge::kHappensBefore;
  JudgeReport report;
  report.judge = judge;
  for (const spec::Finding& finding : verified.findings) {
    if (is_about_order(finding.rule) == is_order) report.findings.push_back(finding);
  }
  report.checks = verified.plans * (is_order ? verified.order_rules : verified.rules);
  report.remark = verified.remark;
  const auto not_shown = std::ranges::find_if(
      report.findings, [](const spec::Finding& finding) { return finding.rule == kNotShown; });
  if (report.remark.empty() && not_shown != report.findings.end()) {
    report.remark = not_shown->message;
  }
  conclude(report, watch, spec::Outcome::kUnsupported, "the executor shows no plans");
  return report;
}

}  // namespace graphgate::conformance
