#include "optimized/runtime/host/step_binder.h"
#include "optimized/draws.h"

#include <algorithm>

#include "optimized/codegen/fused_works.h"
#include "optimized/launch.h"
#include "optimized/runtime/host/fused_launch.h"
#include "spec/graph_text.h"

namespace graphgate::optimized {
namespace {

using spec::ValueId;

// Whether an op makes what the program stated of it. The stride of a size of 1, and any stride of a
// tensor without elements, places nothing: there the statement stands.
bool is_as_stated(const Tensor& made, const Tensor& stated) {
  if (made.dtype != stated.dtype || made.sizes != stated.sizes) return false;
  if (made.count() == 0) return true;
  for (std::size_t d = 0; d < made.sizes.size(); ++d) {
    if (made.sizes[d] != 1 && made.strides[d] != stated.strides[d]) return false;
  }
  return true;
}

}  // namespace

BoundLaunch StepBinder::bind(std::uint32_t index, bool has_data, const DeviceListener* listener) {
  const spec::PlanStep& step = plan_.steps[index];
  if (!step.body.empty()) return bind_body(index, listener);
  const spec::OpRow* row = ops_.find(step.node.op);
  const Kernel* kernel = row != nullptr ? find_kernel(*row) : nullptr;
  if (kernel == nullptr) throw OpError("is captured, and has no kernel: it can only run eagerly");
  Inference inference = infer_call(
      *kernel, *row, bind_arguments(row->schema, step.node.arguments, memory_.values()), has_data);
  const bool hangs_on_data = inference.asks_for_data();
  memory_.note_writes(*row, inference.arguments());
  take_results(step, inference.results(), has_data);
  if (!takes_step(*kernel, inference)) return {index, {}, nullptr, hangs_on_data};
  std::span<std::byte> workspace;
  if (step.workspace) {
    workspace = memory_.bytes_of(*step.workspace);
  } else if (inference.workspace_bytes() > 0) {
    workspace = memory_.allocate(inference.workspace_bytes());
  }
  std::vector<Tensor> results = flat_tensors(std::move(inference.results()));
  BoundStep made;
  made.step = index;
  if (options_.instrument) {
    made.calls.push_back({&step.node, row, inference.arguments(), results});
    made.workspace = workspace;
  }
  const DrawSourceScope draws(step.node.name);
  BoundLaunch bound =
      watched(std::move(made), bind_call(*kernel, *row, std::move(inference.arguments()),
                                         std::move(results), workspace.data(), listener));
  bound.hangs_on_data = hangs_on_data;
  return bound;
}

// A fused step: its nodes, tile by tile.
BoundLaunch StepBinder::bind_body(std::uint32_t index, const DeviceListener* listener) {
  const spec::PlanStep& step = plan_.steps[index];
  BodyCalls body = body_calls(plan_, step, ops_, memory_.values());
  for (const TileCall& call : body.calls) memory_.note_writes(*call.row, call.arguments);
  const auto is_inner = [&](StorageIndex storage) { return storage >= body.first_inner; };
  const std::span<std::byte> workspace =
      step.workspace ? memory_.bytes_of(*step.workspace)
                     : memory_.allocate(lay_out_tile(body.calls, is_inner).scratch_bytes);
  Launch launch = fused_launch(body.calls, is_inner, workspace);
  if (listener != nullptr) {
    auto works = fused_works(body.calls, body.first_inner, *listener);
    if (works) launch = described(std::move(launch), std::move(*works));
  }
  BoundStep made;
  made.step = index;
  if (options_.instrument) made.calls.reserve(body.calls.size());
  for (std::size_t c = 0; options_.instrument && c < body.calls.size(); ++c) {
    TileCall& call = body.calls[c];
    made.calls.push_back(
        {body.nodes[c], call.row, std::move(call.arguments), std::move(call.results)});
  }
  made.workspace = workspace;
  return watched(std::move(made), std::move(launch));
}

// The launch of the step, with what the instrument is to see of it.
BoundLaunch StepBinder::watched(BoundStep made, Launch launch) {
  const std::uint32_t step = made.step;
  if (!options_.instrument) return {step, std::move(launch), nullptr};
  // What is bound anew is mostly bound to the same: what was found out of it stays known.
  last_bound_.resize(plan_.steps.size());
  std::shared_ptr<const BoundStep>& bound = last_bound_[step];
  if (!bound || !bound->does_the_same(made)) {
    bound = std::make_shared<const BoundStep>(std::move(made));
  }
  return {step, std::move(launch), bound};
}

// Whether every tensor of the step has a place in the plan, so that a launch may be kept.
bool StepBinder::is_planned(const spec::PlanStep& step) const {
  bool is_planned = true;
  const auto look_at = [&](ValueId id) {
    is_planned &=
        !memory_.is_dynamic(id) || plan_.values[id.index].value.kind != spec::ValueKind::kTensor;
  };
  for_each_operand(step.node, look_at);
  for (const spec::NodeResult& result : step.node.results) {
    for (const ValueId id : result.values) look_at(id);
    is_planned &=
        std::ranges::none_of(result.values, [&](ValueId id) { return memory_.is_dynamic(id); });
  }
  return is_planned;
}

bool StepBinder::is_fixed(const spec::PlanStep& step) const {
  bool is_fixed = is_planned(step);
  for_each_operand(step.node, [&](ValueId id) { is_fixed &= !memory_.is_dynamic(id); });
  return is_fixed;
}

bool StepBinder::may_keep(const BoundLaunch& bound) const {
  const spec::PlanStep& step = plan_.steps[bound.step];
  if (options_.deviations.has(spec::Deviation::kPlansOnlyInWarmUp)) return is_planned(step);
  return !allocates_per_call() && !bound.hangs_on_data && is_fixed(step);
}

// Whether eager ops allocate in every call after the first, and nobody copies what they made.
bool StepBinder::allocates_per_call() const {
  return options_.deviations.has(spec::Deviation::kEagerOutputNotCopied);
}

void StepBinder::take_results(const spec::PlanStep& step, std::vector<Made>& made, bool has_data) {
  for (std::size_t i = 0; i < made.size() && i < step.node.results.size(); ++i) {
    const spec::NodeResult& result = step.node.results[i];
    if (!result.is_list) {
      take_result(result.values.front(), made[i], has_data);
      continue;
    }
    if (made[i].list.size() != result.values.size()) {
      throw OpError("the op returns " + std::to_string(made[i].list.size()) +
                    " tensors, the program says " + std::to_string(result.values.size()));
    }
    for (std::size_t e = 0; e < result.values.size(); ++e) {
      take_result(result.values[e], made[i].list[e], has_data);
    }
  }
}

// Gives a result its place: the planned one, or new bytes for what only this call can tell.
void StepBinder::take_result(ValueId id, Made& made, bool has_data) {
  Item& item = memory_.value(id);
  if (made.kind == Made::Kind::kNew) {
    if (memory_.is_dynamic(id)) {
      memory_.allocate(made.tensor);
    } else {
      const Tensor& planned = std::get<Tensor>(item.value);
      if (!is_as_stated(made.tensor, planned)) {
        throw OpError("makes " + print_sizes(made.tensor.sizes) + " with strides " +
                      print_sizes(made.tensor.strides) + ", the program states " +
                      print_sizes(planned.sizes) + " with strides " + print_sizes(planned.strides));
      }
      if (has_data && has_run_ && allocates_per_call()) {
        memory_.allocate(made.tensor);
        item = {made.tensor};
        return;
      }
      made.tensor = planned;
    }
  }
  if (memory_.is_dynamic(id)) {
    item = made.kind == Made::Kind::kNumber ? made.number : Item{made.tensor};
  } else if (const auto* planned = item.as<Tensor>()) {
    // Were it a view of bytes that the plan does not place it over, nobody would write its place.
    if (!same_geometry(*planned, made.tensor)) {
      throw OpError("gives back bytes that it was given, and the plan has %" +
                    plan_.values[id.index].value.name +
                    " in other ones: the plan was made for an op with other effects");
    }
  }
}

void with_place(const spec::Plan& plan, const std::uint32_t& running,
                const std::function<void()>& work) {
  const auto place = [&] {
    if (plan.steps.empty()) return std::string();
    const spec::Node& node = plan.steps[running].node;
    return "node '" + node.name + "' (" + node.op + "): ";
  };
  try {
    work();
  } catch (const OpError& error) {
    throw OpError(place() + error.what());
  } catch (const Unsupported& error) {
    throw Unsupported(place() + error.what());
  }
}

}  // namespace graphgate::optimized
