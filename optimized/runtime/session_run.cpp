// Session: running a plan, and handing out what it made.
#include <algorithm>
#include <cstring>
#include <utility>

#include "optimized/analysis/specialize.h"
#include "optimized/runtime/held_output.h"
#include "optimized/runtime/plan_facts.h"
#include "optimized/runtime/session.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;
using spec::HostTensor;
using spec::InputKind;
using spec::InputValue;

// How many user inputs the plan writes.
std::size_t count_written_inputs(const spec::Plan& plan, const spec::OpTable& ops) {
  const auto written = written_buffers(plan, ops);
  return static_cast<std::size_t>(
      std::ranges::count_if(plan.inputs, [&](const spec::PlanInput& input) {
        return input.kind == InputKind::kUserInput && !input.constant &&
               written.contains(plan.values[input.value.index].buffer->index);
      }));
}

bool has_bytes(std::span<const std::byte> bytes, const spec::HostStorage& storage) {
  return bytes.size() == storage.bytes.size() &&
         (bytes.data() == storage.bytes.data() || bytes.empty() ||
          std::memcmp(bytes.data(), storage.bytes.data(), bytes.size()) == 0);
}

}  // namespace

Result<spec::CallResult> Session::run(Compiled& compiled, const Request& request) {
  GRAPHGATE_TRY_VOID(check_static_inputs(request.inputs));
  LastCall last{compiled.program, 0, nullptr, {}};
  if (request.padding) {
    GRAPHGATE_TRY(last.exact, exact_shapes_of(request));
  }
  const auto sources = sources_of(request.inputs);
  const std::uint64_t recorded_before = compiled.program->recordings();
  warm_up(compiled, sources);
  compiled.program->run(sources);
  if (options_.compile.counters) {
    const std::uint64_t made = compiled.program->recordings() - recorded_before;
    options_.compile.counters->captures += static_cast<std::int64_t>(made);
  }
  last.run = compiled.program->last_run();
  spec::CallResult result = collect(*compiled.program, request.inputs, last.exact.get());
  if (instrument_) drain_instrument(*compiled.program, result);
  last.outputs = result.outputs;
  if (trusts_places_) remember_outputs(last);
  last_ = std::move(last);
  if (options_.compile.deviations.has(Deviation::kOutputsOffByMutations)) {
    const std::size_t leading =
        count_written_inputs(compiled.program->plan(), *options_.compile.ops);
    const std::size_t cut = std::min(leading, result.outputs.size());
    result.outputs.erase(result.outputs.begin(),
                         result.outputs.begin() + static_cast<std::ptrdiff_t>(cut));
  }
  return result;
}

Result<void> Session::check_static_inputs(std::span<const InputValue> inputs) {
  for (const std::size_t index : static_inputs_) {
    const auto& storage = std::get<HostTensor>(inputs[index]).storage;
    const auto [at, is_first] = static_addresses_.emplace(index, storage->bytes.data());
    if (is_first) static_storages_[index] = storage;
    if (at->second == storage->bytes.data()) continue;
    std::size_t next = 0;
    for (const spec::ProgramInput& input : program_.inputs) {
      if (input.kind != InputKind::kUserInput || input.constant || next++ != index) continue;
      return bad_input(program_.name + ": input " + std::to_string(index) + " ('" + input.target +
                       "') is static and has moved");
    }
  }
  return {};
}

// Bytes come from the caller, whatever the tensor once was.
std::vector<InputSource> Session::sources_of(std::span<const InputValue> inputs) const {
  std::vector<InputSource> sources;
  sources.reserve(inputs.size());
  for (const InputValue& input : inputs) {
    const auto* tensor = std::get_if<HostTensor>(&input);
    if (!tensor) continue;
    sources.push_back({tensor, tensor->storage->bytes});
    if (!trusts_places_) continue;
    for (const OwnOutput& own : own_outputs_) {
      if (own.storage.lock() == tensor->storage) sources.back().bytes = own.bytes;
    }
  }
  return sources;
}

// Runs the plan for what its first run does beside its work. State is put back; inputs are copied
// in anew by every run.
void Session::warm_up(Compiled& compiled, std::span<const InputSource> sources) {
  if (std::exchange(compiled.is_warm, true)) return;
  const bool stays = options_.compile.deviations.has(Deviation::kWarmUpMutates);
  const std::uint32_t runs = std::max<std::uint32_t>(options_.runtime.warm_up_runs, stays ? 1 : 0);
  if (runs == 0) return;
  const StateSnapshot before(state_.memory());
  try {
    for (std::uint32_t r = 0; r < runs; ++r) compiled.program->run(sources);
  } catch (...) {
    before.restore(state_.memory());
    compiled.is_warm = false;
    throw;
  }
  if (stays) return;
  before.restore(state_.memory());
  if (instrument_) instrument_->undo_runs(runs);
}

// What the plan of the call's own size would return.
Result<std::shared_ptr<const ExactShapes>> Session::exact_shapes_of(const Request& request) {
  constexpr std::size_t kKept = 256;
  const PlanKey key = plan_key(shapes_of(request.inputs), program_, request.symbols);
  const auto found = exact_.find(key);
  if (found != exact_.end()) return found->second;
  GRAPHGATE_TRY(const spec::Graph* const prepared, prepared_for(request.dispatch.range));
  const SizedGraph graph = specialize(program_, *prepared, request.inputs, request.symbols,
                                      *options_.compile.ops, options_.compile.deviations);
  if (exact_.size() >= kKept) exact_.clear();
  return exact_[key] = std::make_shared<ExactShapes>(exact_shapes(graph));
}

spec::CallResult Session::collect(const HostProgram& program, std::span<const InputValue> inputs,
                                  const ExactShapes* exact) const {
  const spec::Plan& plan = program.plan();
  spec::CallResult result;
  Exporter exporter(program, exact);
  std::map<std::string, HostTensor, std::less<>> states;
  std::vector<HostTensor> tensors;
  std::vector<const HostTensor*> given;
  tensors.reserve(plan.inputs.size());
  given.reserve(inputs.size());
  result.outputs.reserve(plan.outputs.size());
  result.final_inputs.reserve(inputs.size());
  for (const InputValue& input : inputs) {
    if (const auto* tensor = std::get_if<HostTensor>(&input)) given.push_back(tensor);
  }
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    const spec::PlanInput& input = plan.inputs[i];
    if (input.constant) continue;
    const spec::ValueId at_the_end = input.final_value.value_or(input.value);
    const Tensor& tensor = *program.tensor_of(at_the_end);
    if (input.kind == InputKind::kUserInput) {
      const bool is_cut = exact && plan.padding && plan.padding->input_dims[i];
      const Tensor* shape = is_cut ? &exact->inputs[tensors.size()] : nullptr;
      const HostTensor& passed = *given[tensors.size()];
      if (shape) exporter.begin_with(shape->storage, passed.storage->bytes);
      // What nobody has written stays the caller's, without a copy.
      if (!shape && has_bytes(program.storage_bytes(tensor), *passed.storage)) {
        exporter.adopt(tensor.storage, passed.storage);
      }
      tensors.push_back(exporter.tensor(tensor, shape));
      continue;
    }
    if (!program.is_written({tensor.storage})) {
      exporter.adopt(tensor.storage, program_.tensors.at(input.target).storage);
    }
    states.emplace(input.target, exporter.tensor(tensor));
  }
  for (std::size_t o = 0; o < plan.outputs.size(); ++o) {
    result.outputs.push_back(exporter.output(o));
  }
  std::size_t next = 0;
  for (const InputValue& input : inputs) {
    if (std::holds_alternative<HostTensor>(input)) {
      result.final_inputs.emplace_back(std::move(tensors[next++]));
    } else {
      result.final_inputs.push_back(input);
    }
  }
  result.state_targets.reserve(states.size());
  result.final_states.reserve(states.size());
  for (auto& [target, tensor] : states) {
    result.state_targets.push_back(target);
    result.final_states.push_back(std::move(tensor));
  }
  return result;
}

// What the instrument saw of the runs of this call, the end of it included.
void Session::drain_instrument(const HostProgram& program, spec::CallResult& result) const {
  const spec::Plan& plan = program.plan();
  for (std::size_t o = 0; o < plan.outputs.size(); ++o) {
    const Tensor* tensor = program.tensor_of(plan.outputs[o]);
    if (tensor) instrument_->collect("output " + std::to_string(o), *tensor);
  }
  for (const spec::PlanInput& input : plan.inputs) {
    if (input.constant) continue;
    const Tensor* tensor = program.tensor_of(input.final_value.value_or(input.value));
    const char* kind = input.kind == InputKind::kUserInput ? "input " : "state ";
    if (tensor) instrument_->collect(kind + input.target, *tensor);
  }
  result.findings = instrument_->drain_findings();
  result.provenance = instrument_->drain_provenance();
}

// For sources_of: the arena places of the outputs that are handed out.
void Session::remember_outputs(const LastCall& last) {
  std::erase_if(own_outputs_, [](const OwnOutput& own) { return own.storage.expired(); });
  const spec::Plan& plan = last.program->plan();
  for (std::size_t o = 0; o < plan.outputs.size() && !plan.padding; ++o) {
    const auto* handed_out = std::get_if<HostTensor>(&last.outputs[o]);
    const Tensor* tensor = last.program->tensor_of(plan.outputs[o]);
    if (!handed_out || !tensor || tensor->storage >= plan.buffers.size()) continue;
    const auto pool = plan.buffers[tensor->storage].pool;
    if (plan.pools[pool.index].kind != spec::PoolKind::kArena) continue;
    own_outputs_.push_back({handed_out->storage, last.program->memory_of({tensor->storage}),
                            last.program->storage_bytes(*tensor)});
  }
}

Result<std::shared_ptr<spec::HeldOutput>> Session::hold(std::size_t index) {
  const std::string name = "output " + std::to_string(index) + " of '" + program_.name + "'";
  if (!last_.program) return bad_input(name + ": there was no call");
  const auto* copied =
      index < last_.outputs.size() ? std::get_if<HostTensor>(&last_.outputs[index]) : nullptr;
  if (!copied) return bad_input(name + " is no tensor, or does not exist");
  const spec::Plan& plan = last_.program->plan();
  const Tensor planned = *last_.program->tensor_of(plan.outputs[index]);
  const auto lifetime =
      plan.output_lifetimes.empty() ? spec::OutputLifetime::kStrong : plan.output_lifetimes[index];
  const auto& pool = last_.program->pool();
  const bool is_in_pool =
      planned.storage < plan.buffers.size() &&
      plan.pools[plan.buffers[planned.storage].pool.index].kind == spec::PoolKind::kArena;
  const bool is_gone = pool->runs() != last_.run;
  if (!is_in_pool || (is_gone && lifetime == spec::OutputLifetime::kStrong)) {
    return std::shared_ptr<spec::HeldOutput>(std::make_shared<CopiedOutput>(*copied));
  }
  OutputPlace place{planned,
                    {},
                    0,
                    last_.program->storage_bytes(planned),
                    last_.program->memory_of({planned.storage})};
  if (plan.padding && plan.padding->output_dims[index] && last_.exact->outputs[index]) {
    place.exact = last_.exact->outputs[index];
    place.exact_storage_bytes = last_.exact->storage_bytes[place.exact->storage];
  }
  auto held = std::make_shared<PoolOutput>(name, std::move(place), pool, last_.run, lifetime,
                                           options_.compile.deviations);
  if (lifetime == spec::OutputLifetime::kStrong) pool->hold(held);
  return std::shared_ptr<spec::HeldOutput>(std::move(held));
}

Result<void> Session::set_state(std::string_view target, const HostTensor& value, bool rebind) {
  if (asleep_.contains(state_.part_of(target))) {
    return bad_input(program_.name + ": state '" + std::string(target) + "' is asleep");
  }
  const std::span<const std::byte> before = state_.bytes_of(target);
  GRAPHGATE_TRY_VOID(state_.set(target, value, rebind));
  if (instrument_) instrument_->replace_state(before, state_.bytes_of(target));
  return {};
}

Session::~Session() {
  if (sessions_) sessions_->erase(this);
}

void Session::join(std::shared_ptr<std::set<Session*>> sessions) {
  sessions_ = std::move(sessions);
  sessions_->insert(this);
}

void Session::sleep(const spec::SleepRequest& asked) {
  asleep_ = {spec::SleepPart::kWeights, spec::SleepPart::kCaches};
  state_.sleep(asked, options_.compile.deviations);
  for (const Compiled& compiled : compiled_) {
    compiled.program->sleep(options_.runtime.sleep_drops_graphs);
  }
}

void Session::wake(std::optional<spec::SleepPart> part) {
  if (asleep_.empty()) return;
  const bool elsewhere = options_.runtime.wakes_elsewhere;
  state_.wake(part, elsewhere, options_.compile.deviations, instrument_.get());
  for (const Compiled& compiled : compiled_) compiled.program->wake(elsewhere);
  if (part) {
    asleep_.erase(*part);
  } else {
    asleep_.clear();
  }
}

Result<void> Session::check_awake() const {
  if (asleep_.empty() || options_.compile.deviations.has(Deviation::kRunsWhileAsleep)) return {};
  const bool are_weights = asleep_.contains(spec::SleepPart::kWeights);
  return bad_input(program_.name + ": " + (are_weights ? "its weights are" : "its cache is") +
                   " asleep: wake the executor first");
}

std::shared_ptr<const spec::Plan> Session::plan() const {
  return last_.program ? last_.program->shared_plan() : nullptr;
}

std::uint64_t Session::recordings() const {
  std::uint64_t count = 0;
  for (const Compiled& compiled : compiled_) count += compiled.program->recordings();
  return count;
}

}  // namespace graphgate::optimized
