// V3: what is needed at one time shares no byte; places suit what lies there.
//
// A buffer is needed at a step if it was touched at or before it, and is touched behind it on some
// path, or kept beyond the run. Arms of a conditional that cannot both run do not meet. What a
// loop's blocks touch of the outside they touch in the next iteration too: to the loop's end.
//
//   $a  [====w-----------r]            needed at step 3, where $b is written:
//   $b           [==w=====r]           bytes that both have are an overlap
//        0   1   2   3   4   5
#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <limits>
#include <set>

#include "conformance/verify/memory_drawing.h"
#include "conformance/verify/rule_families.h"
#include "spec/loops.h"
#include "spec/type_text.h"

namespace graphgate::verify {
namespace {

// The touches of one buffer, in the order of running.
struct Tenant {
  absl::InlinedVector<std::uint32_t, 4> steps;  // each once
  bool from_start = false;                      // holds something before the run
  bool to_end = false;                          // is read after it
};

class OverlapCheck {
 public:
  OverlapCheck(const RuleCase& rule_case, Findings& out)
      : case_(rule_case),
        plan_(rule_case.plan()),
        accesses_(rule_case.accesses),
        tenants_(tenants_of(rule_case.accesses, rule_case.uses)),
        out_(out) {}

  void check() {
    for (std::uint32_t a = 0; a < plan_.buffers.size(); ++a) {
      if (lies_elsewhere(a)) continue;
      for (std::uint32_t b = a + 1; b < plan_.buffers.size(); ++b) {
        if (shared(a, b)) check_pair(a, b);
      }
    }
    for (std::uint32_t v = 0; v < plan_.values.size(); ++v) check_alignment(spec::ValueId{v});
    if (case_.facts != nullptr) check_geometry();
  }

 private:
  static std::vector<Tenant> tenants_of(const Accesses& accesses, const PartitionUses& uses) {
    const spec::Plan& plan = *accesses.plan;
    std::vector<Tenant> tenants(plan.buffers.size());
    for (const Access& access : accesses.all) {
      if (!access.buffer) continue;
      auto& steps = tenants[access.buffer->index].steps;
      if (steps.empty() || steps.back() != access.step) steps.push_back(access.step);
    }
    keep_through_loops(accesses, tenants);
    for (const std::uint32_t id : uses.program_inputs.ids()) {
      tenants[id].from_start = tenants[id].to_end = true;
    }
    for (const std::uint32_t id : uses.outputs.ids()) tenants[id].to_end = true;
    return tenants;
  }

  // Adds a touch by the last step of a loop to buffers that are touched inside and before it.
  static void keep_through_loops(const Accesses& accesses, std::vector<Tenant>& tenants) {
    const auto& steps = accesses.plan->steps;
    for (std::uint32_t loop = 0; loop < steps.size(); ++loop) {
      if (!spec::is_loop(steps[loop].node.op)) continue;
      const std::uint32_t begin = accesses.position[loop];
      std::uint32_t last = begin;
      while (last + 1 < accesses.order.size() &&
             is_inside(accesses, accesses.order[last + 1], loop))
        ++last;
      for (Tenant& tenant : tenants) {
        const auto at = [&](std::uint32_t step) { return accesses.position[step]; };
        const bool is_outer = !tenant.steps.empty() && at(tenant.steps.front()) <= begin;
        const auto behind = std::ranges::find_if(
            tenant.steps, [&](std::uint32_t step) { return at(step) >= last; });
        const bool is_touched = std::ranges::any_of(
            tenant.steps, [&](std::uint32_t step) { return at(step) >= begin && at(step) < last; });
        if (!is_outer || !is_touched) continue;
        if (behind != tenant.steps.end() && at(*behind) == last) continue;
        tenant.steps.insert(behind, accesses.order[last]);
      }
    }
  }

  static bool is_inside(const Accesses& accesses, std::uint32_t step, std::uint32_t loop) {
    for (auto around = accesses.places[step].conditional; around;
         around = accesses.places[*around].conditional) {
      if (*around == loop) return true;
    }
    return false;
  }

  // What the caller owns lies where the caller says, and what lies in a heap alone.
  bool lies_elsewhere(std::uint32_t id) const {
    const spec::PoolKind kind = plan_.pools[plan_.buffers[id].pool.index].kind;
    return kind == spec::PoolKind::kHeap || kind == spec::PoolKind::kCaller;
  }

  // Neither of the two lies elsewhere.
  std::optional<ByteRange> shared(std::uint32_t a, std::uint32_t b) const {
    const spec::PlanBuffer& x = plan_.buffers[a];
    const spec::PlanBuffer& y = plan_.buffers[b];
    if (x.pool != y.pool) return std::nullopt;
    const std::int64_t begin = std::max(x.offset_bytes, y.offset_bytes);
    const std::int64_t end = std::min(x.offset_bytes + x.size_bytes, y.offset_bytes + y.size_bytes);
    return begin < end ? std::optional(ByteRange{begin, end}) : std::nullopt;
  }

  // Why `kept` is needed at `step`, though it need not be touched there; "" if it is not.
  std::string needed_at(std::uint32_t kept, std::uint32_t step) const {
    const Tenant& tenant = tenants_[kept];
    const std::uint32_t at = accesses_.position[step];
    bool before = tenant.from_start;
    for (const std::uint32_t touch : tenant.steps) {
      before = before || (accesses_.position[touch] < at && !accesses_.are_exclusive(touch, step));
    }
    if (!before) return "";
    for (const std::uint32_t touch : tenant.steps) {
      if (accesses_.position[touch] > at && !accesses_.are_exclusive(touch, step)) {
        return "is needed until " + step_name(plan_, tenant.steps.back());
      }
    }
    return tenant.to_end ? "is kept to the end" : "";
  }

  void check_pair(std::uint32_t a, std::uint32_t b) {
    for (const auto& [kept, other] : {std::pair(a, b), std::pair(b, a)}) {
      for (const std::uint32_t step : tenants_[other].steps) {
        const std::string why = needed_at(kept, step);
        if (why.empty() || !touches_otherwise(other, step)) continue;
        const bool is_kept = why == "is kept to the end";
        report(is_kept ? "V3.kept-bytes" : "V3.overlap", kept, other, step, why);
        return;
      }
    }
    if (tenants_[a].from_start && tenants_[b].from_start) {
      // Neither is ever written; but both were filled before the run.
      if (tenants_[a].steps.empty() || tenants_[b].steps.empty()) return;
      report("V3.kept-bytes", a, b, tenants_[b].steps.front(), "is kept to the end");
      return;
    }
    for (const std::uint32_t step : tenants_[a].steps) {
      const auto& steps = tenants_[b].steps;
      if (std::ranges::find(steps, step) == steps.end()) continue;
      if (meet_in_place(a, b, step)) continue;  // rule_in_place.cpp has a word on that
      report("V3.overlap", a, b, step, "is needed in the same step");
      return;
    }
  }

  bool touches_otherwise(std::uint32_t id, std::uint32_t step) const {
    return std::ranges::any_of(accesses_.all, [&](const Access& access) {
      return access.step == step && access.buffer && access.buffer->index == id;
    });
  }

  // One is made in the step, the other is an operand that nothing touches behind it.
  bool meet_in_place(std::uint32_t a, std::uint32_t b, std::uint32_t step) const {
    bool makes_a = false;
    bool makes_b = false;
    bool scratch = false;
    for (const Access& access : accesses_.all) {
      if (access.step != step || !access.buffer) continue;
      const bool is_a = access.buffer->index == a;
      const bool is_b = access.buffer->index == b;
      makes_a = makes_a || (is_a && access.makes);
      makes_b = makes_b || (is_b && access.makes);
      scratch = scratch || ((is_a || is_b) && access.kind == AccessKind::kWorkspace);
    }
    return !scratch && makes_a != makes_b;
  }

  void report(std::string rule, std::uint32_t kept, std::uint32_t other, std::uint32_t step,
              const std::string& why) {
    const auto bytes = shared(kept, other);
    if (!bytes) return;
    const ByteRange& range = *bytes;
    const spec::PlanPool& pool = plan_.pools[plan_.buffers[kept].pool.index];
    spec::Finding finding;
    finding.rule = std::move(rule);
    const std::string kept_name = buffer_name(plan_, spec::BufferId{kept});
    const std::string other_name = buffer_name(plan_, spec::BufferId{other});
    finding.message = kept_name + " and " + other_name + " share bytes " + range_text(range) +
                      " of " + pool_name(plan_, plan_.buffers[kept].pool) + ": " +
                      step_name(plan_, step) + " uses " + other_name + " while " + kept_name + " " +
                      why;
    finding.nodes.push_back(plan_.steps[step].node.name);
    finding.buffers = {plan_.buffers[kept].name, plan_.buffers[other].name};
    finding.ranges.push_back({pool.name, range.begin_bytes, range.end_bytes});
    finding.drawing = draw_buffers(accesses_, {spec::BufferId{kept}, spec::BufferId{other}});
    out_.push_back(std::move(finding));
  }

  void check_alignment(spec::ValueId id) {
    const spec::PlanValue& value = plan_.values[id.index];
    if (!value.buffer || !value.value.type) return;
    const spec::PlanBuffer& buffer = plan_.buffers[value.buffer->index];
    const spec::PlanPool& pool = plan_.pools[buffer.pool.index];
    if (pool.kind == spec::PoolKind::kHeap || pool.kind == spec::PoolKind::kCaller) return;
    const std::int64_t item = spec::item_size_bytes(value.value.type->dtype);
    if (pool.alignment_bytes % item == 0 && buffer.offset_bytes % item == 0) return;
    out_.push_back(buffer_finding(plan_, value.buffer->index, "V3.alignment",
                                  value_name(plan_, id) + " has elements of " +
                                      std::to_string(item) + " bytes, but begins at byte " +
                                      std::to_string(buffer.offset_bytes) + " of " +
                                      pool_name(plan_, buffer.pool) + ", which is aligned to " +
                                      std::to_string(pool.alignment_bytes)));
  }

  // What steps make has the sizes that the program states at the plan's symbols.
  void check_geometry() {
    std::vector<spec::ValueId> made;
    for (const FlowNode& node : case_.flow->nodes) {
      if (node.match != NodeMatch::kSame || !node.graph_node) continue;
      const NodeFact& fact = case_.facts->nodes[*node.graph_node];
      made.clear();
      for (const spec::NodeResult& result : node.node->results) {
        for (const spec::ValueId id : result.values) {
          if (plan_.values[id.index].value.kind == spec::ValueKind::kTensor) made.push_back(id);
        }
      }
      if (made.size() != fact.results.size()) continue;
      for (std::size_t i = 0; i < made.size(); ++i) {
        // An update has the geometry that its operand had; squeeze_ changes that without a step.
        if (is_operand(*node.node, made[i])) continue;
        check_sizes(made[i], fact.results[i].geometry, node.node->name);
      }
    }
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
      if (plan_.inputs[i].constant || !case_.facts->finals[i]) continue;
      if (case_.plan_case.facts_of_run != nullptr) continue;
      check_sizes(plan_.inputs[i].value, case_.facts->finals[i]->geometry, "");
    }
  }

  static bool is_operand(const spec::Node& node, spec::ValueId id) {
    bool found = false;
    spec::for_each_operand(node, [&](spec::ValueId operand) { found = found || operand == id; });
    return found;
  }

  void check_sizes(spec::ValueId id, const Geometry& fact, const std::string& node) {
    const spec::PlanValue& value = plan_.values[id.index];
    if (!fact || !value.value.type) return;
    const auto& sizes = value.value.type->sizes;
    const bool is_as_stated =
        value.value.type->dtype == fact->dtype &&
        std::equal(sizes.begin(), sizes.end(), fact->sizes.begin(), fact->sizes.end(),
                   [](const spec::SymExpr& size, std::int64_t wanted) {
                     return size.is_constant() && size.constant() == wanted;
                   });
    if (is_as_stated) return;
    const auto geometry = spec::concrete_geometry(*value.value.type);
    if (!geometry || value.value.type->layout != spec::Layout::kStrided) return;
    if (geometry->sizes == fact->sizes && geometry->dtype == fact->dtype) return;
    spec::TensorType wanted = *value.value.type;
    wanted.dtype = fact->dtype;
    wanted.sizes.assign(fact->sizes.begin(), fact->sizes.end());
    wanted.strides.assign(fact->strides.begin(), fact->strides.end());
    wanted.storage_offset = fact->storage_offset;
    spec::Finding finding{
        .rule = "V3.geometry",
        .message = value_name(plan_, id) + " is " + spec::print_tensor_type(*value.value.type) +
                   " in the plan, but the program makes it " + spec::print_tensor_type(wanted)};
    if (!node.empty()) finding.nodes.push_back(node);
    if (value.buffer) finding.buffers.push_back(plan_.buffers[value.buffer->index].name);
    out_.push_back(std::move(finding));
  }

  const RuleCase& case_;
  const spec::Plan& plan_;
  const Accesses& accesses_;
  std::vector<Tenant> tenants_;
  Findings& out_;
};

}  // namespace

void check_overlap(const RuleCase& rule_case, Findings& out) {
  OverlapCheck(rule_case, out).check();
}

}  // namespace graphgate::verify
