// V3: a result over an operand's bytes. Legal where the operand is done with, begins where the
// result begins, and every element is read, in the same place of both index maps, before it is
// written.
#include <algorithm>

#include "conformance/verify/memory_drawing.h"
#include "conformance/verify/rule_families.h"
#include "spec/type_text.h"

namespace graphgate::verify {
namespace {

class InPlaceCheck {
 public:
  InPlaceCheck(const RuleCase& rule_case, Findings& out)
      : plan_(rule_case.plan()),
        accesses_(rule_case.accesses),
        ops_(*rule_case.plan_case.ops),
        out_(out) {}

  void check() {
    for (const Access& made : accesses_.all) {
      if (!made.makes || !made.buffer || !is_placed(*made.buffer)) continue;
      for (const Access& read : accesses_.of_step(made.step)) {
        if (!read.buffer || read.buffer == made.buffer) continue;
        if (read.kind != AccessKind::kOperand) continue;
        if (!accesses_.shared_bytes(made, read)) continue;
        if (needed_behind(*read.buffer, made.step)) continue;  // an overlap, see there
        const std::string fault = fault_of(made, read);
        if (!fault.empty()) report(made, read, fault);
      }
    }
  }

 private:
  bool is_placed(spec::BufferId id) const {
    return plan_.pools[plan_.buffers[id.index].pool.index].kind != spec::PoolKind::kHeap;
  }

  bool needed_behind(spec::BufferId buffer, std::uint32_t step) const {
    return std::ranges::any_of(accesses_.all, [&](const Access& access) {
      return access.buffer == buffer &&
             accesses_.position[access.step] > accesses_.position[step] &&
             !accesses_.are_exclusive(access.step, step);
    });
  }

  // What is illegal about it, or "".
  std::string fault_of(const Access& made, const Access& read) const {
    const spec::PlanBuffer& over = plan_.buffers[made.buffer->index];
    const spec::PlanBuffer& under = plan_.buffers[read.buffer->index];
    if (over.offset_bytes != under.offset_bytes) {
      return "begins at another byte, so that elements are overwritten before they are read";
    }
    if (read.writes) return "is written by the same step";
    if (made.body && read.body && *read.body > *made.body)
      return "is read after it was overwritten";
    const auto a = spec::concrete_geometry(*plan_.values[made.value->index].value.type);
    const auto b = spec::concrete_geometry(*plan_.values[read.value->index].value.type);
    if (!a || !b) return "";
    if (!same_index_map(*a, *b)) return "is read in another order than the result is written";
    // A body runs tile by tile, and reads a tile before it writes it.
    if (made.body) return "";
    if (works_in_place(accesses_.node_of(made), read.argument)) return "";
    return "is read by an op that is not pointwise, and may read an element again";
  }

  // Pointwise, by its tag or that of an overload that takes the same arguments by other types (of
  // rsub.Tensor and rsub.Scalar, PyTorch tags one), or with an in-place form that writes this
  // argument, or aten.copy, which reads an element where it writes one, or an operator of Python's
  // (__and__), none of which has the tag.
  bool works_in_place(const spec::Node& node, std::uint32_t argument) const {
    const spec::OpRow* row = ops_.find(node.op);
    if (row == nullptr) return false;
    const bool is_operator = row->schema.base_name().rfind("__", 0) == 0;
    if (node.op == "aten.copy.default" || is_operator) return true;
    const std::string& name = node.arguments[argument].name;
    const auto family = ops_.find_by_base_name(row->schema.ns + "." + row->schema.base_name());
    return std::ranges::any_of(family, [&](const spec::OpRow* other) {
      if (other->has_tag("pointwise") && takes_the_same(*row, *other)) return true;
      const auto index = other->schema.find_argument(name);
      return other->effects.is_in_place && index && other->effects.mutates(*index);
    });
  }

  static bool takes_the_same(const spec::OpRow& a, const spec::OpRow& b) {
    return std::equal(a.schema.arguments.begin(), a.schema.arguments.end(),
                      b.schema.arguments.begin(), b.schema.arguments.end(),
                      [](const auto& x, const auto& y) { return x.name == y.name; });
  }

  void report(const Access& made, const Access& read, const std::string& fault) {
    spec::Finding finding;
    finding.rule = "V3.in-place";
    const ByteRange range = *accesses_.shared_bytes(made, read);
    finding.message = accesses_.place_of(made) + " makes " + value_name(plan_, *made.value) +
                      " over its operand " + value_name(plan_, *read.value) + ", bytes " +
                      range_text(range) + " of " +
                      pool_name(plan_, plan_.buffers[made.buffer->index].pool) + "; the operand " +
                      fault;
    finding.nodes.push_back(accesses_.node_of(made).name);
    finding.buffers = {plan_.buffers[made.buffer->index].name,
                       plan_.buffers[read.buffer->index].name};
    finding.ranges.push_back({accesses_.pool_of(made).name, range.begin_bytes, range.end_bytes});
    finding.drawing = draw_buffers(accesses_, {*made.buffer, *read.buffer});
    out_.push_back(std::move(finding));
  }

  const spec::Plan& plan_;
  const Accesses& accesses_;
  const spec::OpTable& ops_;
  Findings& out_;
};

}  // namespace

void check_in_place(const RuleCase& rule_case, Findings& out) {
  InPlaceCheck(rule_case, out).check();
}

}  // namespace graphgate::verify
