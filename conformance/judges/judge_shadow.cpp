// Memory watched: the executor's own shadow memory, arenas full of poison, garbage in the pad, and
// outputs that the caller keeps.
//
// Rules: S1 to S5, S7, S8 come from the executor's instrument; S6.held-overwritten (an output that
// the caller holds did not stay what it was), S9.poison (what a call returns depends on bytes that
// nothing wrote). docs/shadow_memory.md explains each.
#include <algorithm>
#include <optional>

#include "conformance/judges/judge_report.h"
#include "conformance/judges/same_bits.h"
#include "conformance/run/runs.h"
#include "spec/option.h"

namespace graphgate::conformance {
namespace {

namespace option = spec::option;
using spec::Finding;
using spec::HostTensor;
using spec::Outcome;
using spec::OutputLifetime;

constexpr std::size_t kMostFindings = 64;
// Zeros, a NaN in every floating dtype, and a large finite number in each.
constexpr std::string_view kPoisons[] = {"0x00", "0xff", "0x7b"};
constexpr std::string_view kPadFills[] = {"nan", "huge"};

bool holds_anything(const Script& script) {
  return std::ranges::any_of(
      script.steps, [](const auto& step) { return std::holds_alternative<ScriptHold>(step); });
}

// The script up to where `trace` ended, with every tensor that a call returns held from then on.
Script with_holds(const Script& script, const Trace& trace) {
  Script out = script;
  out.steps.clear();
  auto call = trace.calls.begin();
  for (std::size_t s = 0; s < script.steps.size(); ++s) {
    if (trace.error && s >= trace.error_step) break;
    out.steps.push_back(script.steps[s]);
    if (call == trace.calls.end() || call->step != s) continue;
    for (std::size_t o = 0; o < call->result.outputs.size(); ++o) {
      if (!std::holds_alternative<HostTensor>(call->result.outputs[o])) continue;
      out.steps.emplace_back(ScriptHold{{call->program, o}});
    }
    ++call;
  }
  return out;
}

class ShadowJudge {
 public:
  explicit ShadowJudge(Runs& runs) : runs_(runs) { report_.judge = Judge::kShadow; }

  Result<JudgeReport> run() {
    const auto base = runs_.subject();
    if (!base.ok()) return not_run(std::move(report_), watch_, base.error());
    base_ = base.value();
    if (base_->calls.empty() && base_->error)
      return not_run(std::move(report_), watch_, *base_->error);
    GRAPHGATE_TRY_VOID(watch_memory());
    for (const std::string_view poison : kPoisons) {
      GRAPHGATE_TRY_VOID(compare_fill(option::kPoison, std::string(poison), "S9.poison"));
    }
    for (const std::string_view fill : kPadFills) {
      if (is_padded()) {
        GRAPHGATE_TRY_VOID(compare_fill(option::kPadFill, std::string(fill), "S5.pad-read"));
      }
    }
    GRAPHGATE_TRY_VOID(look_at_held());
    if (!lacks_.empty()) {
      report_.remark = std::string(runs_.subject_name()) + " has no " + join_names(lacks_);
    }
    conclude(report_, watch_, Outcome::kUnsupported, "nothing could be watched");
    return std::move(report_);
  }

 private:
  void add(Finding finding) {
    if (report_.findings.size() < kMostFindings) report_.findings.push_back(std::move(finding));
  }
  void add(std::string_view rule, std::string message, std::vector<std::string> nodes = {}) {
    Finding finding{
        .rule = std::string(rule), .message = std::move(message), .nodes = std::move(nodes)};
    if (!finding.nodes.empty()) finding.program = program_;
    add(std::move(finding));
  }

  Result<void> watch_memory() {
    const auto shadow = runs_.subject({{option::kInstrument, "shadow"}});
    if (!shadow.ok()) {
      if (!is_refusal(shadow.error())) return shadow.error();
      lacks_.emplace_back("shadow memory");
      return {};
    }
    const Trace& trace = *shadow.value();
    for (std::size_t i = 0; i < trace.calls.size(); ++i) {
      ++report_.checks;
      for (Finding finding : trace.calls[i].result.findings) {
        if (finding.rule.empty() || finding.rule.front() != 'S') continue;
        finding.message = "call " + std::to_string(i) + ": " + finding.message;
        finding.program = runs_.script().programs[trace.calls[i].program]->name;
        add(std::move(finding));
      }
    }
    if (trace.error) look_at_error(trace);
    return {};
  }

  // An executor that breaks off says what its instrument had seen behind its reason:
  // "... (S2.stale-read: ...)".
  void look_at_error(const Trace& trace) {
    const std::string& text = trace.error->message;
    const std::size_t open = text.find(" (S");
    const std::size_t colon = open == std::string::npos ? open : text.find(": ", open);
    if (colon != std::string::npos) {
      add(text.substr(open + 2, colon - open - 2),
          "step " + std::to_string(trace.error_step) + ": " + text);
    } else if (!base_->error) {
      add("S9.poison", "step " + std::to_string(trace.error_step) +
                           ": watched, the run ends where it did not before: " + text);
    }
  }

  [[nodiscard]] bool is_padded() const {
    return std::ranges::any_of(base_->calls, [](const CallRecord& call) {
      return call.plan && call.plan->padding.has_value();
    });
  }

  // The same script, with other bytes where nobody has written.
  Result<void> compare_fill(const std::string& option, const std::string& value,
                            std::string_view rule) {
    const auto filled = runs_.subject({{option, value}});
    if (!filled.ok()) {
      if (!is_refusal(filled.error())) return filled.error();
      if (lacks_.empty() || lacks_.back() != option) lacks_.push_back(option);
      return {};
    }
    const Trace& trace = *filled.value();
    const std::string name = option + "=" + value;
    find_place();
    if (trace.error && !base_->error) {
      add(rule,
          "with " + name + " step " + std::to_string(trace.error_step) +
              " ends: " + trace.error->message + place_,
          nodes_);
    }
    const std::size_t calls = std::min(trace.calls.size(), base_->calls.size());
    for (std::size_t i = 0; i < calls; ++i) {
      BitOptions options;
      BitReport bits =
          compare_bits(trace.calls[i].result, base_->calls[i].result, "the plain run", options);
      report_.checks += bits.compared;
      if (bits.differences.empty()) continue;
      // What the program itself leaves open (the contents of `empty`) is nobody's fault.
      options.oracle = oracle_of(i);
      if (options.oracle) {
        bits =
            compare_bits(trace.calls[i].result, base_->calls[i].result, "the plain run", options);
      }
      for (const BitDifference& difference : bits.differences) {
        add(rule,
            "call " + std::to_string(i) + ", " + difference.where +
                ", depends on bytes that nothing wrote: with " + name + " " + difference.message +
                place_,
            nodes_);
      }
    }
    return {};
  }

  // Where shadow memory has seen a read of such bytes.
  void find_place() {
    if (!nodes_.empty()) return;
    for (const Finding& finding : report_.findings) {
      if (finding.nodes.empty() || finding.rule == "S9.poison") continue;
      nodes_ = finding.nodes;
      program_ = finding.program;
      place_ = "; shadow memory saw '" + finding.nodes.front() + "' (" + finding.rule + ")";
      return;
    }
  }

  const spec::CallResult* oracle_of(std::size_t call) {
    const auto oracle = runs_.oracle("sampled");
    if (!oracle.ok() || call >= oracle.value()->calls.size()) return nullptr;
    return &oracle.value()->calls[call].result;
  }

  // What the script holds; where it holds nothing, everything that its calls return.
  Result<void> look_at_held() {
    if (holds_anything(runs_.script())) {
      for (const HeldRecord& held : base_->held) judge_held(runs_.script(), *base_, held);
      return {};
    }
    const Script script = with_holds(runs_.script(), *base_);
    auto trace = runs_.subject_on(script, {});
    if (!trace.ok()) {
      if (!is_refusal(trace.error())) return trace.error();
      return {};
    }
    for (const HeldRecord& held : trace.value().held) judge_held(script, trace.value(), held);
    return {};
  }

  // The call that returned a held output, by its place in the trace.
  static std::optional<std::size_t> maker_of(const Trace& trace, const HeldRecord& held) {
    std::optional<std::size_t> maker;
    for (std::size_t c = 0; c < trace.calls.size(); ++c) {
      const CallRecord& call = trace.calls[c];
      if (call.step < held.held_at && call.program == held.output.program) maker = c;
    }
    return maker;
  }

  // Whether the executor gave its memory back between the hold and the look, by steps of `script`.
  [[nodiscard]] static bool slept(const Script& script, const HeldRecord& held) {
    const auto& steps = script.steps;
    return std::any_of(steps.begin() + static_cast<std::ptrdiff_t>(held.held_at),
                       steps.begin() + static_cast<std::ptrdiff_t>(held.step),
                       [](const ScriptStep& s) { return std::holds_alternative<ScriptSleep>(s); });
  }

  void judge_held(const Script& script, const Trace& trace, const HeldRecord& held) {
    const auto maker = maker_of(trace, held);
    if (!maker) return;
    ++report_.checks;
    const CallRecord& made = trace.calls[*maker];
    const std::size_t index = held.output.index;
    // A plan may not make weak what nobody asked to be weak.
    const bool is_weak = trace.configuration.contains(option::kWeakOutputs) && made.plan &&
                         index < made.plan->output_lifetimes.size() &&
                         made.plan->output_lifetimes[index] == OutputLifetime::kWeak;
    const std::string what = std::string(is_weak ? "weak" : "strong") + " output " +
                             std::to_string(index) + " of call " + std::to_string(*maker) +
                             ", held from step " + std::to_string(held.held_at);
    const auto later = std::find_if(trace.calls.begin() + static_cast<std::ptrdiff_t>(*maker) + 1,
                                    trace.calls.end(),
                                    [&](const CallRecord& call) { return call.step < held.step; });
    if (!held.now) {
      const bool may_be_gone = later != trace.calls.end() || slept(script, held);
      if (!is_weak || !may_be_gone) {
        add("S6.held-overwritten", "the " + what + " is refused at step " +
                                       std::to_string(held.step) + ": " + held.refusal);
      }
      return;
    }
    BitReport bits;
    const std::string difference =
        compare_element_bits(*held.now, held.then, nullptr, "when it was held", {}, bits);
    if (!difference.empty()) {
      Finding finding = overwritten(trace, *maker, index, held.step);
      finding.message = "the " + what + " did not stay: " + difference + finding.message +
                        (slept(script, held) ? "; the executor slept in between" : "");
      add(std::move(finding));
    }
  }

  // Which step of a later run lies over the output's bytes, as far as plans tell.
  [[nodiscard]] Finding overwritten(const Trace& trace, std::size_t maker, std::size_t index,
                                    std::size_t until_step) const {
    Finding finding;
    finding.rule = "S6.held-overwritten";
    const auto bytes = place_of(trace.calls[maker].plan.get(), index);
    if (!bytes) return finding;
    for (std::size_t c = maker + 1; c < trace.calls.size(); ++c) {
      const CallRecord& call = trace.calls[c];
      if (!call.plan || call.step >= until_step) continue;
      const spec::PlanStep* writer = writer_over(*call.plan, *bytes);
      if (!writer) continue;
      finding.message =
          "; '" + writer->node.name + "' of call " + std::to_string(c) + " makes its result there";
      finding.nodes = {writer->node.name};
      finding.program = runs_.script().programs[call.program]->name;
      finding.ranges = {*bytes};
      break;
    }
    return finding;
  }

  static std::optional<spec::FindingRange> place_of(const spec::Plan* plan, std::size_t index) {
    if (!plan || index >= plan->outputs.size()) return {};
    const auto* id = plan->outputs[index].as<spec::ValueId>();
    if (!id || !plan->values[id->index].buffer) return {};
    const spec::PlanBuffer& buffer = plan->buffers[plan->values[id->index].buffer->index];
    const spec::PlanPool& pool = plan->pools[buffer.pool.index];
    if (pool.kind != spec::PoolKind::kArena) return {};
    return spec::FindingRange{pool.name, buffer.offset_bytes,
                              buffer.offset_bytes + buffer.size_bytes};
  }

  static const spec::PlanStep* writer_over(const spec::Plan& plan,
                                           const spec::FindingRange& range) {
    for (const spec::PlanStep& step : plan.steps) {
      for (const spec::NodeResult& result : step.node.results) {
        for (const spec::ValueId id : result.values) {
          if (!plan.values[id.index].buffer) continue;
          const spec::PlanBuffer& buffer = plan.buffers[plan.values[id.index].buffer->index];
          if (plan.pools[buffer.pool.index].name == range.where &&
              buffer.offset_bytes < range.end_bytes &&
              range.begin_bytes < buffer.offset_bytes + buffer.size_bytes) {
            return &step;
          }
        }
      }
    }
    return nullptr;
  }

  Runs& runs_;
  const StopWatch watch_;
  const Trace* base_ = nullptr;
  JudgeReport report_;
  std::vector<std::string> lacks_;
  std::vector<std::string> nodes_;  // of the first read that shadow memory complained of
  std::string program_;             // theirs
  std::string place_;
};

}  // namespace

Result<JudgeReport> judge_shadow(Runs& runs, const JudgeSettings& /*settings*/) {
  return ShadowJudge(runs).run();
}

}  // namespace graphgate::conformance
