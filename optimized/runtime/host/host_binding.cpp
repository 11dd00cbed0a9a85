// One step of a plan: its arguments, its launch, and where its results are.
#include <algorithm>

#include "optimized/binding.h"
#include "optimized/codegen/fused_works.h"
#include "optimized/launch.h"
#include "optimized/runtime/host/fused_launch.h"
#include "optimized/runtime/host/host_program.h"
#include "spec/graph_text.h"

namespace graphgate::optimized {
namespace {

using spec::ValueId;

constexpr std::int64_t kHeapAlignment = 64;

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

// What a step is bound to write, dynamic views of state included: their storage is the buffer's.
void HostProgram::note_writes(const spec::OpRow& row, const std::vector<Item>& arguments) {
  const std::function<void(const Item&)> note = [&](const Item& item) {
    if (const auto* list = item.as<Item::List>()) {
      for (const Item& element : *list) note(element);
    }
    const auto* tensor = item.as<Tensor>();
    if (!tensor || tensor->storage >= plan_.buffers.size()) return;
    const spec::PoolId pool = plan_.buffers[tensor->storage].pool;
    if (plan_.pools[pool.index].kind == spec::PoolKind::kState) {
      state_.written.insert(state_place({tensor->storage}));
    }
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (row.writes(i)) note(arguments[i]);
  }
}

const spec::OpRow& HostProgram::row_of(const spec::PlanStep& step) const {
  const spec::OpRow* row = ops_.find(step.node.op);
  GRAPHGATE_CHECK(row != nullptr);
  return *row;
}

std::vector<Item> HostProgram::arguments_of(const spec::PlanStep& step,
                                            const spec::OpRow& row) const {
  return bind_arguments(row.schema, step.node.arguments,
                        [this](ValueId id) { return values_[id.index]; });
}

// `has_data`: the step runs now, and what it makes may hang on what it reads.
HostProgram::Recorded HostProgram::bind_step(const spec::PlanStep& step, bool has_data,
                                             const DeviceListener* listener) {
  if (!step.body.empty()) return bind_body(step, listener);
  const spec::OpRow& row = row_of(step);
  const Kernel* kernel = find_kernel(row);
  GRAPHGATE_CHECK(kernel != nullptr);
  Inference inference = infer_call(*kernel, row, arguments_of(step, row), has_data);
  const bool hangs_on_data = inference.asks_for_data();
  note_writes(row, inference.arguments());
  take_results(step, inference.results(), has_data);
  if (!takes_step(*kernel, inference)) return {running_, {}, nullptr, hangs_on_data};
  std::span<std::byte> workspace;
  if (step.workspace) {
    workspace = buffer_bytes(*step.workspace);
  } else if (inference.workspace_bytes() > 0) {
    workspace = allocate(inference.workspace_bytes());
  }
  std::vector<Tensor> results = flat_tensors(std::move(inference.results()));
  BoundStep made;
  if (options_.instrument) {
    made.calls.push_back({&step.node, &row, inference.arguments(), results});
    made.workspace = workspace;
  }
  Recorded bound =
      watched(std::move(made), bind_call(*kernel, row, std::move(inference.arguments()),
                                         std::move(results), workspace.data(), listener));
  bound.hangs_on_data = hangs_on_data;
  return bound;
}

// A fused step: its nodes, tile by tile.
HostProgram::Recorded HostProgram::bind_body(const spec::PlanStep& step,
                                             const DeviceListener* listener) {
  BodyCalls body = body_calls(plan_, step, ops_, [this](ValueId id) { return values_[id.index]; });
  for (const TileCall& call : body.calls) note_writes(*call.row, call.arguments);
  const auto is_inner = [&](StorageIndex storage) { return storage >= body.first_inner; };
  const std::span<std::byte> workspace =
      step.workspace ? buffer_bytes(*step.workspace)
                     : allocate(lay_out_tile(body.calls, is_inner).scratch_bytes);
  Launch launch = fused_launch(body.calls, is_inner, workspace);
  if (listener != nullptr) {
    auto works = fused_works(body.calls, body.first_inner, *listener);
    if (works) launch = described(std::move(launch), std::move(*works));
  }
  BoundStep made;
  if (options_.instrument) made.calls.reserve(body.calls.size());
  for (std::size_t c = 0; options_.instrument && c < body.calls.size(); ++c) {
    TileCall& call = body.calls[c];
    made.calls.push_back(
        {body.nodes[c], call.row, std::move(call.arguments), std::move(call.results)});
  }
  made.workspace = workspace;
  return watched(std::move(made), std::move(launch));
}

// The launch of the step that is being bound, with what the instrument is to see of it.
HostProgram::Recorded HostProgram::watched(BoundStep made, Launch launch) {
  if (!options_.instrument) return {running_, std::move(launch), nullptr};
  made.step = running_;
  // What is bound anew is mostly bound to the same: what was found out of it stays known.
  last_bound_.resize(plan_.steps.size());
  std::shared_ptr<const BoundStep>& bound = last_bound_[running_];
  if (!bound || !bound->does_the_same(made)) {
    bound = std::make_shared<const BoundStep>(std::move(made));
  }
  return {running_, std::move(launch), bound};
}

// Whether every tensor of the step has a place in the plan, so that a launch may be kept.
bool HostProgram::is_planned(const spec::PlanStep& step) const {
  bool is_planned = true;
  const auto look_at = [&](ValueId id) {
    is_planned &=
        !is_dynamic_[id.index] || plan_.values[id.index].value.kind != spec::ValueKind::kTensor;
  };
  for_each_operand(step.node, look_at);
  for (const spec::NodeResult& result : step.node.results) {
    for (const ValueId id : result.values) look_at(id);
    is_planned &= std::none_of(result.values.begin(), result.values.end(),
                               [&](ValueId id) { return is_dynamic_[id.index]; });
  }
  return is_planned;
}

// Whether no call can bind it to something else: no number that only the call knows, either.
bool HostProgram::is_fixed(const spec::PlanStep& step) const {
  bool is_fixed = is_planned(step);
  for_each_operand(step.node, [&](ValueId id) { is_fixed &= !is_dynamic_[id.index]; });
  return is_fixed;
}

// Whether eager ops allocate in every call after the first, and nobody copies what they made.
bool HostProgram::allocates_per_call() const {
  return options_.deviations.has(spec::Deviation::kEagerOutputNotCopied);
}

void HostProgram::take_results(const spec::PlanStep& step, std::vector<Made>& made, bool has_data) {
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
void HostProgram::take_result(ValueId id, Made& made, bool has_data) {
  Item& item = values_[id.index];
  if (made.kind == Made::Kind::kNew) {
    if (is_dynamic_[id.index]) {
      allocate(made.tensor);
    } else {
      const Tensor& planned = std::get<Tensor>(item.value);
      if (!is_as_stated(made.tensor, planned)) {
        throw OpError("makes " + print_sizes(made.tensor.sizes) + " with strides " +
                      print_sizes(made.tensor.strides) + ", the program states " +
                      print_sizes(planned.sizes) + " with strides " + print_sizes(planned.strides));
      }
      if (has_data && has_run_ && allocates_per_call()) {
        allocate(made.tensor);
        item = {made.tensor};
        return;
      }
      made.tensor = planned;
    }
  }
  if (is_dynamic_[id.index]) {
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

// New bytes of the heap.
std::span<std::byte> HostProgram::allocate(std::int64_t size_bytes) {
  heap_.emplace_back(size_bytes, kHeapAlignment, options_.instrument != nullptr);
  heap_bytes_.push_back(size_bytes);
  const std::span bytes(heap_.back().data(), static_cast<std::size_t>(size_bytes));
  if (options_.instrument) options_.instrument->allocate(bytes);
  return bytes;
}

void HostProgram::allocate(Tensor& tensor) {
  (void)allocate(byte_range(tensor).end);
  tensor.storage = static_cast<StorageIndex>(plan_.buffers.size() + heap_.size() - 1);
  tensor.bytes = heap_.back().data();
}

}  // namespace graphgate::optimized
