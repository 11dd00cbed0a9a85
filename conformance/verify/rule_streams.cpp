// HB: every two tenants of a byte are ordered by streams, events and joins.
//
// Quadratic: all pairs of steps that nothing orders, and all pairs of their accesses.
#include <algorithm>

#include "conformance/verify/happens_before.h"
#include "conformance/verify/rule_families.h"

namespace graphgate::verify {
namespace {

using spec::Finding;
using spec::PlanPartition;

std::string on_stream(const spec::Plan& plan, std::uint32_t step) {
  return " on stream " + std::to_string(plan.steps[step].stream);
}

std::string missing_edge(const spec::Plan& plan, std::uint32_t first, std::uint32_t second) {
  return "record an event after step " + std::to_string(first) + on_stream(plan, first) +
         " and wait for it before step " + std::to_string(second) + on_stream(plan, second);
}

const char* verb_of(const Access& access) {
  if (access.kind == AccessKind::kWorkspace) return " has for scratch bytes";
  return access.writes ? " writes" : " reads";
}

class Races {
 public:
  Races(const RuleCase& rule_case, Findings& out)
      : accesses_(rule_case.accesses),
        plan_(rule_case.plan()),
        order_(rule_case.accesses),
        out_(out) {}

  void check() {
    for (const IdleWait& wait : order_.idle_waits()) report(wait);
    for (const spec::PlanBlock& block : plan_.blocks) {
      for (const PlanPartition& partition : block.partitions) check_partition(partition);
    }
    check_hidden();
  }

 private:
  void check_partition(const PlanPartition& partition) {
    for (std::uint32_t b = partition.begin_step; b < partition.end_step; ++b) {
      const spec::PlanStep& step = plan_.steps[b];
      if (!partition.captured) {
        if (step.stream != 0 || !step.waits.empty() || !step.records.empty()) report_eager(b);
        continue;
      }
      for (std::uint32_t a = partition.begin_step; a < b; ++a) {
        if (plan_.steps[a].stream != step.stream && !order_.before(a, b)) check_pair(a, b);
      }
    }
  }

  [[nodiscard]] bool is_exact(const Access& access) const {
    return !access.value || accesses_.value_bytes[access.value->index].exact;
  }

  // One finding for a pair of steps: the first bytes that they fight for.
  void check_pair(std::uint32_t first, std::uint32_t second) {
    for (const Access& a : accesses_.of_step(first)) {
      for (const Access& b : accesses_.of_step(second)) {
        if (!a.writes && !b.writes) continue;
        const auto shared = accesses_.shared_bytes(a, b);
        const bool is_heap = shared && *shared == ByteRange{};
        if (!shared || (!is_heap && !(is_exact(a) && is_exact(b)))) continue;
        report(a, b, *shared);
        return;
      }
    }
  }

  void report(const Access& a, const Access& b, ByteRange bytes) {
    const std::string pool = pool_name(plan_, plan_.buffers[a.buffer->index].pool);
    out_.push_back(
        {.rule = "HB.race",
         .message = accesses_.place_of(b) + on_stream(plan_, b.step) + verb_of(b) + " bytes " +
                    range_text(bytes) + " of " + pool + " (" + buffer_name(plan_, *b.buffer) +
                    "), " + accesses_.place_of(a) + on_stream(plan_, a.step) + verb_of(a) +
                    " them too (" + buffer_name(plan_, *a.buffer) +
                    "), and nothing orders the two: " + missing_edge(plan_, a.step, b.step),
         .nodes = {accesses_.node_of(b).name, accesses_.node_of(a).name},
         .buffers = {plan_.buffers[b.buffer->index].name, plan_.buffers[a.buffer->index].name},
         .ranges = {{plan_.pools[plan_.buffers[a.buffer->index].pool.index].name, bytes.begin_bytes,
                     bytes.end_bytes}},
         .drawing = draw(a.step, b.step)});
  }

  // stream 0 |..a...
  // stream 1 |...b..     a: step 4 'mm', b: step 7 'add'; time is the program's order.
  [[nodiscard]] std::string draw(std::uint32_t a, std::uint32_t b) const {
    constexpr std::uint32_t kWidth = 60;
    const std::uint32_t from = a > kWidth / 2 && b - a < kWidth / 2 ? a - kWidth / 2 : a;
    const std::uint32_t last = std::min(b + 3, static_cast<std::uint32_t>(plan_.steps.size()) - 1);
    const std::uint32_t every = (last - from) / kWidth + 1;
    std::string picture;
    for (const std::uint32_t marked : {a, b}) {
      std::string line = "stream " + std::to_string(plan_.steps[marked].stream) + " |";
      for (std::uint32_t i = from; i <= last; i += every) {
        const bool is_here = marked >= i && marked < i + every;
        const bool is_busy = plan_.steps[i].stream == plan_.steps[marked].stream;
        line += is_here ? (marked == a ? 'a' : 'b') : (is_busy ? '-' : '.');
      }
      picture += line + "\n";
    }
    return picture + "a: " + step_name(plan_, a) + ", b: " + step_name(plan_, b) + "\n";
  }

  void report(const IdleWait& wait) {
    out_.push_back(
        {.rule = wait.recorder ? "HB.event-crosses" : "HB.unrecorded-event",
         .message = step_name(plan_, wait.step) + " waits for event " +
                    std::to_string(wait.event.index) +
                    (wait.recorder ? ", which only " + step_name(plan_, *wait.recorder) +
                                         " of another partition records: events do not cross "
                                         "the edges of partitions"
                                   : ", which no step before it records"),
         .nodes = {plan_.steps[wait.step].node.name}});
  }

  void report_eager(std::uint32_t step) {
    out_.push_back(
        {.rule = "HB.eager-stream",
         .message = step_name(plan_, step) +
                    " is in an eager partition, which launches step by step on stream 0, but it "
                    "has a stream or events of its own",
         .nodes = {plan_.steps[step].node.name}});
  }

  // State that ops reach by name, and tokens.
  void check_hidden() {
    const auto& hidden = accesses_.hidden;
    for (std::size_t i = 0; i < hidden.size(); ++i) {
      for (std::size_t k = i + 1; k < hidden.size(); ++k) {
        const HiddenAccess& a = hidden[i];
        const HiddenAccess& b = hidden[k];
        if (a.use.name != b.use.name || (!a.use.writes && !b.use.writes)) continue;
        if (a.step == b.step || order_.ordered(a.step, b.step)) continue;
        Finding finding;
        finding.rule = "HB.hidden-state";
        finding.message =
            step_name(plan_, b.step) + on_stream(plan_, b.step) + " and " +
            step_name(plan_, a.step) + on_stream(plan_, a.step) +
            (a.use.is_token ? " must keep their order (token '" : " use one hidden state ('") +
            a.use.name + "'), and nothing orders the two: " + missing_edge(plan_, a.step, b.step);
        finding.nodes = {plan_.steps[b.step].node.name, plan_.steps[a.step].node.name};
        out_.push_back(std::move(finding));
      }
    }
  }

  const Accesses& accesses_;
  const spec::Plan& plan_;
  HappensBefore order_;
  Findings& out_;
};

}  // namespace

void check_streams(const RuleCase& rule_case, Findings& out) {
  // Steps of one stream run in their order.
  const auto& steps = rule_case.plan().steps;
  const bool is_one_stream = std::ranges::all_of(steps, [](const spec::PlanStep& step) {
    return step.stream == 0 && step.waits.empty() && step.records.empty();
  });
  if (!is_one_stream) Races(rule_case, out).check();
}

}  // namespace graphgate::verify
