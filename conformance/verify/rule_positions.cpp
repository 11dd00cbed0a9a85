// V3: what one iteration of a launch writes, no other iteration of it touches.
//
// Iterations run beside each other, or in an order that only the code of the loop tells. So where
// one reads an element that another one writes, it depends on the order which contents it finds.
// Judged from what nodes say of their positions: of a node that says nothing, nothing is asked.
#include <algorithm>
#include <unordered_map>

#include "conformance/verify/positions.h"
#include "conformance/verify/rule_families.h"
#include "spec/type_text.h"

namespace graphgate::verify {
namespace {

using spec::Outcome;

// Of larger loops, so many iterations are looked at.
constexpr std::int64_t kMaxIterations = std::int64_t{1} << 16;

// Calls `visit(iteration, byte)` for each element that a touch is about, until it returns false.
// `byte` is where the element begins, for a tensor of this place and element size.
template <class Visit>
void for_each_touched(const Positions& positions, const Touch& touch, std::int64_t begin_bytes,
                      std::int64_t item_bytes, Visit visit) {
  spec::SymbolValues variables;
  std::vector<std::int64_t*> counters;
  counters.reserve(positions.sizes.size());
  for (std::size_t i = 0; i < positions.sizes.size(); ++i) {
    counters.push_back(&variables["d" + std::to_string(i)]);
  }
  const std::int64_t count = std::min(positions.iterations(), kMaxIterations);
  for (std::int64_t iteration = 0; iteration < count; ++iteration) {
    std::int64_t rest = iteration;
    for (std::size_t i = counters.size(); i-- > 0;) {
      *counters[i] = rest % positions.sizes[i];
      rest /= positions.sizes[i];
    }
    if (touch.condition) {
      const auto holds = spec::evaluate(*touch.condition, variables);
      if (!holds.ok()) return;
      if (holds.value() == 0) continue;
    }
    const auto index = spec::evaluate(touch.index, variables);
    std::int64_t byte = 0;
    if (!index.ok() || __builtin_mul_overflow(index.value(), item_bytes, &byte) ||
        __builtin_add_overflow(byte, begin_bytes, &byte)) {
      return;
    }
    if (!visit(iteration, byte)) return;
  }
}

// A touch of memory, of one node of a step.
struct Site {
  const Positions* positions = nullptr;
  const Touch* touch = nullptr;
  std::uint32_t body = 0;  // which node of the step
  spec::ValueId value;
  spec::BufferId buffer;
  std::int64_t begin_bytes = 0;  // of the pool: where the tensor's first element lies
  std::int64_t item_bytes = 1;

  [[nodiscard]] bool writes() const { return touch->kind != TouchKind::kReads; }
  [[nodiscard]] bool is_result() const { return touch->kind == TouchKind::kResults; }
  // Iterations in each part.
  [[nodiscard]] std::int64_t inner() const { return positions->iterations() / positions->shared; }
};

// Two iterations that touch one element, one to write it.
struct Clash {
  std::int64_t byte = 0;
  std::int64_t iteration = 0;
  std::int64_t writing_iteration = 0;
};

class PositionCheck {
 public:
  PositionCheck(const RuleCase& rule_case, Findings& out)
      : plan_(rule_case.plan()),
        accesses_(rule_case.accesses),
        ops_(*rule_case.plan_case.ops),
        out_(out) {}

  void check() {
    for (std::uint32_t i = 0; i < plan_.steps.size(); ++i) check_step(i);
  }

 private:
  void check_step(std::uint32_t index) {
    const spec::PlanStep& step = plan_.steps[index];
    std::vector<std::optional<Positions>> all;
    const auto add = [&](const spec::Node& node) {
      auto positions = positions_of(node, ops_);
      all.push_back(positions.ok() ? std::move(positions).value() : std::nullopt);
    };
    if (step.body.empty()) add(step.node);
    for (const spec::Node& node : step.body) add(node);
    const std::vector<Site> sites = sites_of(step, all);
    for (std::size_t w = 0; w < sites.size(); ++w) {
      if (!sites[w].writes()) continue;
      for (std::size_t t = 0; t < sites.size(); ++t) {
        if (t == w || (sites[t].writes() && t < w)) continue;  // a pair is asked about once
        if (may_clash(sites[t], sites[w])) check_pair(index, sites[t], sites[w]);
      }
    }
  }

  [[nodiscard]] std::vector<Site> sites_of(const spec::PlanStep& step,
                                           const std::vector<std::optional<Positions>>& all) const {
    std::vector<Site> sites;
    for (std::uint32_t n = 0; n < all.size(); ++n) {
      if (!all[n]) continue;
      const spec::Node& node = step.body.empty() ? step.node : step.body[n];
      for (const Touch& touch : all[n]->touches) {
        const spec::PlanValue& value = plan_.values[touched_value(node, touch)->index];
        if (!value.buffer || !value.value.type) continue;  // an inner one has no bytes
        const auto geometry = spec::concrete_geometry(*value.value.type);
        const spec::PlanBuffer& buffer = plan_.buffers[value.buffer->index];
        const bool is_placed = plan_.pools[buffer.pool.index].kind != spec::PoolKind::kHeap;
        if (!geometry || !is_placed) continue;
        const std::int64_t item_bytes = spec::item_size_bytes(geometry->dtype);
        sites.push_back({&*all[n], &touch, n, *touched_value(node, touch), *value.buffer,
                         buffer.offset_bytes + geometry->storage_offset * item_bytes, item_bytes});
      }
    }
    return sites;
  }

  [[nodiscard]] bool may_clash(const Site& site, const Site& writing) const {
    if (site.positions->nest != writing.positions->nest) return false;
    if (site.positions->shared != writing.positions->shared) return false;
    const bool both_add =
        site.touch->kind == TouchKind::kAdds && writing.touch->kind == TouchKind::kAdds;
    if (both_add || site.item_bytes != writing.item_bytes) return false;
    const spec::PlanBuffer& a = plan_.buffers[site.buffer.index];
    const spec::PlanBuffer& b = plan_.buffers[writing.buffer.index];
    const bool meet = a.pool == b.pool && a.offset_bytes < b.offset_bytes + b.size_bytes &&
                      b.offset_bytes < a.offset_bytes + a.size_bytes;
    // Most touch the same element in the same iteration.
    const bool is_same = site.begin_bytes == writing.begin_bytes &&
                         site.positions->sizes == writing.positions->sizes &&
                         site.touch->index == writing.touch->index;
    return meet && !is_same;
  }

  // Whether the two iterations may come in either order.
  static bool are_apart(const Site& site, std::int64_t iteration, const Site& writing,
                        std::int64_t writing_iteration) {
    if (part_of(site, iteration) != part_of(writing, writing_iteration)) return true;
    if (site.positions->phase != writing.positions->phase) return false;
    if (site.is_result() || writing.is_result() || site.inner() != writing.inner()) return false;
    return iteration != writing_iteration;
  }
  static std::int64_t part_of(const Site& site, std::int64_t iteration) {
    return iteration / site.inner();
  }

  void check_pair(std::uint32_t step, const Site& site, const Site& writing) {
    constexpr std::int64_t kSeveral = -1;
    std::unordered_map<std::int64_t, std::int64_t> writer;  // by byte: the iteration
    for_each_touched(*writing.positions, *writing.touch, writing.begin_bytes, writing.item_bytes,
                     [&](std::int64_t iteration, std::int64_t byte) {
                       const auto [at, is_new] = writer.try_emplace(byte, iteration);
                       if (!is_new && part_of(writing, at->second) != part_of(writing, iteration)) {
                         at->second = kSeveral;
                       }
                       return true;
                     });
    // What comes later in the step is to find what the other one left.
    const bool follows = site.body > writing.body;
    std::optional<Clash>
        in_order;  // right where the loop runs from its first iteration to its last
    std::optional<Clash> wrong;
    for_each_touched(*site.positions, *site.touch, site.begin_bytes, site.item_bytes,
                     [&](std::int64_t iteration, std::int64_t byte) {
                       const auto at = writer.find(byte);
                       if (at == writer.end() || at->second == kSeveral) return true;
                       if (!are_apart(site, iteration, writing, at->second)) return true;
                       const Clash clash{byte, iteration, at->second};
                       const bool comes_later =
                           iteration / site.inner() != at->second / writing.inner()
                               ? part_of(site, iteration) > part_of(writing, at->second)
                               : iteration > at->second;
                       auto& place = comes_later == follows ? in_order : wrong;
                       if (!place) place = clash;
                       return !wrong;
                     });
    if (wrong) return report(step, site, writing, *wrong, Outcome::kFail);
    if (!in_order) return;
    const spec::PlanPool& pool = plan_.pools[plan_.buffers[site.buffer.index].pool.index];
    const bool may_run_in_order = pool.device.type == "cpu";
    report(step, site, writing, *in_order, may_run_in_order ? Outcome::kSuspect : Outcome::kFail);
  }

  static std::string iteration_text(const Positions& positions, std::int64_t iteration) {
    std::vector<std::int64_t> counters(positions.sizes.size());
    for (std::size_t i = counters.size(); i-- > 0;) {
      counters[i] = iteration % positions.sizes[i];
      iteration /= positions.sizes[i];
    }
    std::string out;
    for (const std::int64_t counter : counters) {
      out += (out.empty() ? "" : ", ") + std::to_string(counter);
    }
    return "iteration [" + out + "]";
  }

  [[nodiscard]] Access access_of(std::uint32_t step, const Site& site) const {
    Access access{.step = step, .value = site.value, .buffer = site.buffer};
    if (!plan_.steps[step].body.empty()) access.body = site.body;
    return access;
  }

  void report(std::uint32_t step, const Site& site, const Site& writing, const Clash& clash,
              Outcome outcome) {
    const Access access = access_of(step, site);
    const Access write = access_of(step, writing);
    const ByteRange range{clash.byte, clash.byte + site.item_bytes};
    const spec::PlanPool& pool = accesses_.pool_of(access);
    spec::Finding finding;
    finding.rule = "V3.other-iteration";
    finding.outcome = outcome;
    finding.message = accesses_.place_of(access) + (site.writes() ? " writes " : " reads ") +
                      value_name(plan_, site.value) + " in " +
                      iteration_text(*site.positions, clash.iteration) + " of its loop, bytes " +
                      range_text(range) + " of @" + pool.name + ", which ";
    if (site.body != writing.body)
      finding.message += accesses_.place_of(write) + " writes in ";
    else
      finding.message += "it writes in ";
    finding.message += iteration_text(*writing.positions, clash.writing_iteration);
    finding.message += outcome == Outcome::kFail
                           ? ": nothing makes the one come before the other"
                           : ": right only where the loop runs them one by one, in order";
    finding.nodes.push_back(accesses_.node_of(access).name);
    if (site.body != writing.body) finding.nodes.push_back(accesses_.node_of(write).name);
    finding.buffers.push_back(plan_.buffers[site.buffer.index].name);
    if (site.buffer != writing.buffer) {
      finding.buffers.push_back(plan_.buffers[writing.buffer.index].name);
    }
    finding.ranges.push_back({pool.name, range.begin_bytes, range.end_bytes});
    out_.push_back(std::move(finding));
  }

  const spec::Plan& plan_;
  const Accesses& accesses_;
  const spec::OpTable& ops_;
  Findings& out_;
};

}  // namespace

void check_positions_apart(const RuleCase& rule_case, Findings& out) {
  PositionCheck(rule_case, out).check();
}

}  // namespace graphgate::verify
