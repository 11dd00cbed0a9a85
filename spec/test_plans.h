// Plans for tests: one that has everything the text can say, and plans drawn from genes.
//
// Tests of the text, the check, the diff, the drawing and the JSON form share them. Every gene
// makes one step, whatever its value, and what is drawn always passes check_plan and stands in the
// numbering of its text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result_test.h"
#include "spec/plan_text.h"

namespace graphgate::spec {

inline constexpr std::string_view kFullPlan = R"(plan "tiny" strict {
  events 2
  key "mode" = "piecewise"
  key "the \"second\"" = ""
  symbol s0 = 8
  symbol s1 = -1
  padding s0
  pool @state state on cuda 4096 align 256
  pool @slots input on cuda:1 1024 align 1
  pool @arena arena on cpu 1536 align 256
  pool @"my heap" heap on cuda 0 align 512
  pool @theirs caller on cuda 64 align 16
  buffer $w @state [0, 1024)
  buffer $x @slots [3, 515)
  buffer $y @arena [0, 512)
  buffer $z @arena [512, 1024)
  buffer $scratch @arena [1024, 1280)
  buffer $n @"my heap"
  buffer $0 @arena [256, 256)
  buffer $given @theirs [16, 64)
  input parameter "layer.weight" %w : f32[16, 16] $w
  input buffer "state" %state : f32[4]{2}@1 on cuda:0 $w
  input constant "c" %c : bool[2] $w
  input user "x" %x : f32[8, 16] $x pad 0
  input user "n" %n : symint(u0) hint 3
  input user "flag" = True
  input user "none" = None
  block @main {
    partition 0 captured {
      in $x, free $y
      out $z
      constants $w, $w
      symbols s0, u0
      %y : f32[8, 16] $y = aten.mul.Tensor(%x, 2.0)
      %z : f32[8, 16] $z = aten.mm.default(%y, %w) as mm workspace $scratch stream 1 wait 0, 1
      %z = aten.add_.Tensor(%z, %n, alpha=-0.5) as add_ record 1
      (%a : f32[4, 16] $z, %b : f32[4, 16]@64 $z) = aten.split.Tensor(%z, 4) as halves
      %z = aten.add_.Tensor(%z, %n) as add_ wait 1 record 0
      view %"the row" : f32[16]@16 $z
      view %wt : f32[16, 16]{1, 16} $w
      %"the row" = aten.add_.Tensor(%"the row", %wt) as add_
    }
    partition 1 eager "conditional \"op\"" {
      %p : bool[] $y = aten.gt.Scalar(%a, 0) as ""
      %r : f32[4] $scratch, %i : i64[4]@4 $scratch = higher_order.cond(%p, @"the yes", @no, [%x])
      aten._assert_scalar.default(%n, "odd")
      %size : symint(u0 + 1) hint 4 = aten.sym_size.int(%x, 0)
    }
    partition 2 captured {
    }
    partition 3 eager "" {
      in free $x
      %nz : i64[u0, 2] $n = aten.nonzero.default(%x)
      %"odd name" $n = aten.neg.default(%nz)
      view %theirs : f32[4] $x
      %f : f32[16] $y, %fv : f32[8]@8 $y, %z = graphgate.fused(%x, %z, %theirs) as group stream 1 {
        %inner : f32[16] = aten.mul.Tensor(%x, %theirs)
        %f = aten.neg.default(%inner) as neg
        view %half : f32[8] $y
        %fv = aten.mul_.Tensor(%fv, %half) as mul_
        %z = aten.add_.Tensor(%z, %half) as add_
        aten._assert_scalar.default(3, "odd")
      }
    }
    output [%z, 3]
  }
  block @"the yes" {
    partition 0 captured {
      %t : f32[4] $scratch = aten.neg.default(%x) as inner
      %r = aten.copy_.default(%r, %t) as copy
    }
    output %r
    view %column : f32[8]{16} $x
    output %column
    output None
  }
  block @no {
    output %x
  }
  view %flat : f32[128] $x
  final %x = %flat
  output weak %z pad 0
  output -inf
  view %last : f32[1]@1 $z
  output [%z, %last]
  view %"nobody's" : f32[2] $x
  view %unused : f32[] $y
}
)";

inline Plan parse_sample(std::string_view text) {
  return must(parse_plan(text, builtin_op_table(), "t"));
}

// Builds a plan step by step. All tensors are f32[4, 4] but for those in the heap.
class PlanDrawer {
 public:
  PlanDrawer() {
    plan_.name = "drawn";
    plan_.symbols = {{"s0", 4}};
    plan_.event_count = 4;
    plan_.pools = {PlanPool{"state", PoolKind::kState, {"cuda", -1}, 64, 64},
                   PlanPool{"arena", PoolKind::kArena, {"cuda", 0}, 0, 64},
                   PlanPool{"heap", PoolKind::kHeap, {}, 0, 1}};
    plan_.inputs.push_back(PlanInput{InputKind::kParameter, "w", add_value(add_buffer(0)), {}, {}});
    plan_.inputs.push_back(PlanInput{InputKind::kUserInput, "k", {}, Argument{0.5}, {}});
    visible_.push_back(plan_.inputs[0].value);
    main_.name = "main";
  }

  void add_step(std::uint16_t gene) {
    if (main_.partitions.empty() || gene % 4U == 0) open_partition(gene);
    const ValueId picked = pick(gene / 3U);
    const ValueId a = gene % 13U == 0 ? view_of(picked) : picked;
    if (gene % 17U == 0) view_of(plan_.inputs[0].value);  // that nothing mentions
    PlanStep step;
    switch (gene % 7U) {
      case 0:
        step = make("aten.add.Tensor", {{"self", a}, {"other", pick(gene / 7U)}}, {fresh()});
        break;
      case 1:
        step = make("aten.mul_.Tensor", {{"self", a}}, {a});
        step.node.arguments.push_back({"other", Argument{0.1 * gene}});
        break;
      case 2: {
        const BufferId buffer = add_buffer(1);
        step = make("aten.split.Tensor", {{"self", a}}, {add_value(buffer), add_value(buffer)});
        step.node.arguments.push_back({"split_size", Argument{std::int64_t{gene}}});
        step.node.results = {NodeResult{true, {result(step, 0), result(step, 1)}}};
        break;
      }
      case 3:
        step = make_conditional(a);
        break;
      case 4:
        step = make("aten.nonzero.default", {{"self", a}}, {add_value(add_buffer(2))});
        plan_.values.back().value.type->sizes = {SymExpr::symbol("u0"), SymExpr(2)};
        break;
      case 5:
        step = make_fused(a, pick(gene / 5U));
        break;
      default:
        step =
            make("aten.alias.default", {{"self", a}}, {add_value(*plan_.values[a.index].buffer)});
        break;
    }
    decorate(step, gene);
    for (const NodeResult& list : step.node.results) {
      visible_.insert(visible_.end(), list.values.begin(), list.values.end());
    }
    plan_.steps.push_back(std::move(step));
    ++main_.partitions.back().end_step;
  }

  Plan finish() {
    plan_.outputs = {Argument{visible_.back()}};
    if (plan_.steps.size() % 4 == 1) plan_.output_lifetimes = {OutputLifetime::kWeak};
    if (plan_.steps.size() % 5 == 1) plan_.key = {{"mode", "full"}, {"size", "4"}};
    if (plan_.steps.size() % 6 == 1) plan_.padding = {"s0", {0U, std::nullopt}, {std::nullopt}};
    PlanInput& input = plan_.inputs.front();
    if (plan_.steps.size() % 3 == 1) input.final_value = view_of(input.value);
    plan_.blocks.push_back(std::move(main_));
    for (auto& [block, steps] : arms_) {
      const auto begin = static_cast<std::uint32_t>(plan_.steps.size());
      plan_.steps.insert(plan_.steps.end(), steps.begin(), steps.end());
      const auto end = static_cast<std::uint32_t>(plan_.steps.size());
      block.partitions.push_back(PlanPartition{false, "in an arm", begin, end, {}});
      plan_.blocks.push_back(std::move(block));
    }
    return number_plan(std::move(plan_));
  }

 private:
  using Operands = std::vector<std::pair<std::string, ValueId>>;

  ValueId pick(unsigned gene) const { return visible_[gene % visible_.size()]; }
  ValueId fresh() { return add_value(add_buffer(1)); }
  static ValueId result(const PlanStep& step, std::size_t index) {
    return step.node.results[index].values[0];
  }

  BufferId add_buffer(std::uint32_t pool) {
    const auto index = static_cast<std::uint32_t>(plan_.buffers.size());
    PlanBuffer buffer{"b" + std::to_string(index), PoolId{pool}, 0, pool == 2 ? 0 : 64};
    if (pool == 1) {
      buffer.offset_bytes = 64 * static_cast<std::int64_t>(index * 7U % 13U);
      std::int64_t& size = plan_.pools[1].size_bytes;
      size = std::max(size, buffer.offset_bytes + buffer.size_bytes);
    }
    plan_.buffers.push_back(std::move(buffer));
    return BufferId{index};
  }

  ValueId add_value(BufferId buffer) {
    PlanValue value;
    value.value.name = "v" + std::to_string(plan_.values.size());
    value.value.type = TensorType{DType::kFloat32, {4, 4}, {4, 1}, 0, {}, Layout::kStrided};
    value.buffer = buffer;
    plan_.values.push_back(std::move(value));
    return ValueId{static_cast<std::uint32_t>(plan_.values.size() - 1)};
  }

  // Transposed; a tensor in a heap is its own.
  ValueId view_of(ValueId id) {
    const BufferId buffer = *plan_.values[id.index].buffer;
    if (plan_.buffers[buffer.index].pool == PoolId{2}) return id;
    const ValueId view = add_value(buffer);
    plan_.values.back().value.type->strides = {1, 4};
    return view;
  }

  static PlanStep make(std::string op, const Operands& operands,
                       const std::vector<ValueId>& results) {
    PlanStep step;
    step.node.op = std::move(op);
    for (const auto& [name, id] : operands) step.node.arguments.push_back({name, Argument{id}});
    for (const ValueId id : results) step.node.results.push_back(NodeResult{false, {id}});
    return step;
  }

  // Half of the arms write the conditional's result themselves, through a view of their own.
  PlanStep make_conditional(ValueId predicate) {
    const std::size_t block = 1 + arms_.size();
    PlanStep inner = make("aten.neg.default", {{"self", predicate}}, {fresh()});
    inner.node.name = "inner";
    const ValueId made = result(inner, 0);
    const ValueId joined = fresh();
    PlanBlock arm{"arm" + std::to_string(block), {}, {Argument{block % 2 == 0 ? joined : made}}};
    std::vector<PlanStep> steps = {std::move(inner)};
    if (block % 2 == 0) {
      steps.push_back(
          make("aten.copy_.default", {{"self", joined}, {"src", view_of(made)}}, {joined}));
      steps.back().node.name = "copy";
    }
    arms_.emplace_back(std::move(arm), std::move(steps));
    PlanStep step = make("higher_order.cond", {{"", predicate}}, {joined});
    for (int i = 0; i < 2; ++i) {
      step.node.arguments.push_back({"", Argument{SubgraphId{static_cast<std::uint32_t>(block)}}});
    }
    step.node.arguments.push_back({"", Argument{Argument::List{Argument{predicate}}}});
    return step;
  }

  // inner = a + b; made = -inner; written *= inner, through a view of what is made.
  PlanStep make_fused(ValueId a, ValueId b) {
    const ValueId inner = add_value(BufferId{});
    plan_.values.back().buffer.reset();
    const ValueId made = fresh();
    const ValueId view = view_of(made);
    Operands operands = {{"", a}};
    if (b != a) operands.emplace_back("", b);
    PlanStep step = make("graphgate.fused", operands, {made, view});
    step.body = {make("aten.add.Tensor", {{"self", a}, {"other", b}}, {inner}).node,
                 make("aten.neg.default", {{"self", inner}}, {made}).node,
                 make("aten.mul_.Tensor", {{"self", view}, {"other", inner}}, {view}).node};
    for (std::size_t i = 0; i < step.body.size(); ++i) {
      step.body[i].name = "inner" + std::to_string(plan_.steps.size() + i);
    }
    return step;
  }

  void open_partition(std::uint16_t gene) {
    const auto begin = static_cast<std::uint32_t>(plan_.steps.size());
    const bool captured = gene % 8U == 0;
    PlanPartition partition{
        captured, captured ? "" : "rule " + std::to_string(gene % 5U), begin, begin, {}};
    const BufferId buffer{static_cast<std::uint32_t>(gene % plan_.buffers.size())};
    partition.signature.inputs = {{buffer, gene % 3U == 0}, {BufferId{0}, gene % 5U == 0}};
    if (gene % 7U != 0) partition.signature.outputs = {buffer};
    if (gene % 11U != 0) partition.signature.constants = {BufferId{0}};
    if (gene % 2U != 0) partition.signature.symbols = {"s0", "u0"};
    main_.partitions.push_back(std::move(partition));
  }

  void decorate(PlanStep& step, std::uint16_t gene) {
    step.node.name = "node" + std::to_string(plan_.steps.size() / 2);
    step.stream = gene % 3U;
    if (gene % 5U == 0) step.waits = {EventId{gene % 4U}, EventId{0}};
    if (gene % 7U == 0) step.records = {EventId{gene / 4U % 4U}};
    if (gene % 11U == 0) step.workspace = add_buffer(1);
  }

  Plan plan_;
  PlanBlock main_;
  std::vector<std::pair<PlanBlock, std::vector<PlanStep>>> arms_;
  std::vector<ValueId> visible_;  // in the block of the program
};

inline Plan draw_plan(const std::vector<std::uint16_t>& genes) {
  PlanDrawer drawer;
  for (const std::uint16_t gene : genes) drawer.add_step(gene);
  return drawer.finish();
}

}  // namespace graphgate::spec
