#include "optimized/runtime/host/provenance.h"

#include <algorithm>
#include <utility>

#include "optimized/binding.h"
#include "spec/provenance_words.h"

namespace graphgate::optimized {
namespace {

using spec::InputKind;
using spec::ValueId;

Address word_address(const std::byte* bytes) { return reinterpret_cast<Address>(bytes); }

// Where the words of a storage lie: beside its bytes, or, inside a fused step, far from all memory.
Address first_of(const Tensor& tensor) {
  constexpr Address kInner = Address{1} << 62;
  constexpr int kInnerBits = 40;  // bytes of one inner storage
  if (tensor.bytes != nullptr) return word_address(tensor.bytes);
  return kInner + (static_cast<Address>(tensor.storage) << kInnerBits) % kInner;
}

}  // namespace

void ProvenanceInstrument::begin_run(const RunMemory& memory) {
  plan_ = memory.plan;
  rows_.clear();
  constexpr std::size_t kRowsOfAStep = 4;  // about
  rows_.reserve(std::max(most_rows_, kRowsOfAStep * plan_->steps.size()));
  undo_.emplace_back();
  std::set<std::uint32_t> begun;
  for (const spec::PlanInput& input : plan_->inputs) {
    if (input.constant) continue;
    const std::uint32_t buffer = plan_->values[input.value.index].buffer->index;
    if (!begun.insert(buffer).second) continue;  // named by the first that lies there
    if (input.kind == InputKind::kUserInput) {
      begin_input(input, memory.buffers[buffer]);
    } else {
      begin_state(input, memory.buffers[buffer]);
    }
  }
}

void ProvenanceInstrument::begin_input(const spec::PlanInput& input, std::span<std::byte> bytes) {
  const auto& type = plan_->values[input.value.index].value.type;
  const auto item = static_cast<std::uint32_t>(spec::item_size_bytes(type->dtype));
  begin_words("input", input.target, calls_, word_address(bytes.data()), bytes.size(), item);
}

void ProvenanceInstrument::begin_state(const spec::PlanInput& input, std::span<std::byte> bytes) {
  if (bytes.empty()) return;  // may lie where other state lies
  const Address first = word_address(bytes.data());
  const bool is_rebound = rebound_.erase(first) > 0;
  const auto known = states_.find(first);
  const bool is_known = known != states_.end() && known->second.name == input.target &&
                        known->second.plan == plan_->name;
  if (is_known && !is_rebound) return;
  const auto& type = plan_->values[input.value.index].value.type;
  const auto item = static_cast<std::uint32_t>(spec::item_size_bytes(type->dtype));
  std::uint64_t& times = replaced_[{plan_->name, input.target}];
  if (is_rebound) ++times;
  states_[first] = {plan_->name, input.target, item, bytes.size()};
  begin_words("state", input.target, times, first, bytes.size(), item);
}

void ProvenanceInstrument::begin_words(std::string_view kind, std::string_view name,
                                       std::uint64_t times, Address first, std::size_t size_bytes,
                                       std::uint32_t item_bytes) {
  const spec::InitialWords initial(kind, name, times);
  std::vector<Word> words(size_bytes / item_bytes);
  for (std::size_t e = 0; e < words.size(); ++e) {
    words[e] = initial.at(static_cast<std::int64_t>(e));
  }
  memory_.store_elements(first, item_bytes, make_words(std::move(words)));
}

void ProvenanceInstrument::allocate(std::span<const std::byte> bytes) {
  memory_.forget(word_address(bytes.data()), bytes.size());
}

void ProvenanceInstrument::before_launch(const BoundStep& step) {
  const auto* known = static_cast<const StepNotes*>(step.notes.get());
  if (!known || known->of != &step) {
    auto made = std::make_shared<StepNotes>();
    made->of = &step;
    made->calls.reserve(step.calls.size());
    for (const BoundCall& call : step.calls) made->calls.push_back(notes_of(call, step.step));
    step.notes = std::move(made);
    known = static_cast<const StepNotes*>(step.notes.get());
  }
  for (const CallNotes& notes : known->calls) run_call(notes);
}

void ProvenanceInstrument::after_launch(const BoundStep& step) {
  const auto forget = [&](const Tensor& tensor) {
    if (tensor.bytes == nullptr && tensor.storage != kNoStorage) {
      memory_.forget(first_of(tensor), static_cast<std::size_t>(byte_range(tensor).end));
    }
  };
  for (const BoundCall& call : step.calls) {
    for (const Tensor& result : call.results) forget(result);
  }
}

ProvenanceInstrument::CallNotes ProvenanceInstrument::notes_of(const BoundCall& call,
                                                               std::uint32_t step) const {
  CallNotes notes{WordRule(call), {}};
  const std::vector<WordInput>& inputs = notes.rule.inputs();
  const std::vector<WordOutput>& outputs = notes.rule.outputs();
  const std::string op = call.row->schema.qualified_name();
  const auto add = [&](const Tensor& tensor, const char* kind, std::size_t number,
                       std::optional<ValueId> value) {
    spec::ProvenanceRow& row = begin_row(tensor, kind + std::to_string(number), notes.rows);
    row.node = call.node->name;
    row.op = op;
    row.step = step;
    if (value && value->index < plan_->values.size()) {
      row.value = plan_->values[value->index].value.name;
    }
  };
  const auto value_of = [&](const WordInput& input) {
    std::optional<ValueId> value;
    const std::string& name = call.row->schema.arguments[input.argument].name;
    std::size_t element = 0;
    if (const auto* argument = find_argument(call.node->arguments, name)) {
      for_each_value(*argument, [&](ValueId id) {
        if (element++ == input.element) value = id;
      });
    }
    return value;
  };
  notes.rows.reserve(inputs.size() + 2 * outputs.size());
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    add(*inputs[k].tensor, "operand ", k, value_of(inputs[k]));
  }
  const std::vector<ValueId> results = flat_results(*call.node);
  for (const WordOutput& output : outputs) {
    if (output.input) {
      add(*output.tensor, "written ", *output.input, value_of(inputs[*output.input]));
    }
    if (!output.result) continue;
    const bool is_known = *output.result < results.size();
    add(*output.tensor, "result ", *output.result,
        is_known ? std::optional(results[*output.result]) : std::nullopt);
  }
  return notes;
}

void ProvenanceInstrument::run_call(const CallNotes& notes) {
  auto row = notes.rows.begin();
  std::vector<Words> operands;
  operands.reserve(notes.rule.inputs().size());
  for (const WordInput& input : notes.rule.inputs()) {
    operands.push_back(memory_.load(*input.tensor, first_of(*input.tensor)));
    add_row(*row++, operands.back());
  }
  const std::vector<WordOutput>& outputs = notes.rule.outputs();
  const auto words = notes.rule.apply(operands, memory_.derived);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const Tensor& tensor = *outputs[o].tensor;
    keep_state(tensor);
    if (words) {
      memory_.store(tensor, first_of(tensor), (*words)[o]);
    } else {
      memory_.forget(tensor, first_of(tensor));
    }
  }
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    // Of several, a later one may lie over it.
    const bool is_alone = words && outputs.size() == 1;
    const Words now =
        is_alone ? words->front() : memory_.load(*outputs[o].tensor, first_of(*outputs[o].tensor));
    if (outputs[o].input) add_row(*row++, now);
    if (outputs[o].result) add_row(*row++, now);
  }
}

spec::ProvenanceRow& ProvenanceInstrument::begin_row(const Tensor& tensor, std::string_view port,
                                                     std::vector<spec::ProvenanceRow>& rows) const {
  spec::ProvenanceRow& row = rows.emplace_back();
  row.port = port;
  if (tensor.storage < plan_->buffers.size()) row.buffer = plan_->buffers[tensor.storage].name;
  row.storage = tensor.storage;
  row.dtype = tensor.dtype;
  row.sizes = tensor.sizes;
  row.strides = tensor.strides;
  row.storage_offset = tensor.offset;
  return row;
}

void ProvenanceInstrument::add_row(const spec::ProvenanceRow& row, const Words& words) {
  rows_.push_back(row);
  rows_.back().words = shared_words(words);
}

// What a run is about to write over in state, once, for undo_runs.
void ProvenanceInstrument::keep_state(const Tensor& tensor) {
  if (tensor.bytes == nullptr || undo_.empty()) return;
  auto state = states_.upper_bound(first_of(tensor));
  if (state == states_.begin()) return;
  --state;
  if (first_of(tensor) >= state->first + state->second.size_bytes) return;
  auto& saved = undo_.back();
  if (saved.contains(state->first)) return;
  saved.emplace(state->first, memory_.save(state->first, state->second.size_bytes));
}

void ProvenanceInstrument::undo_runs(std::uint32_t runs) {
  for (; runs > 0 && !undo_.empty(); --runs) {
    for (const auto& [first, saved] : undo_.back()) memory_.restore(saved);
    undo_.pop_back();
  }
  rows_.clear();
}

// Where state lay that was bound anew other state may lie now: nothing of it stays there.
void ProvenanceInstrument::replace_state(std::span<const std::byte> before,
                                         std::span<const std::byte> now) {
  if (now.empty()) return;  // no graph reads it, or none has run
  const Address first = word_address(now.data());
  const auto known = states_.extract(word_address(before.data()));
  if (known.empty()) {
    rebound_.erase(word_address(before.data()));
    rebound_.insert(first);
    return;
  }
  const StateWords& words = states_.insert_or_assign(first, known.mapped()).first->second;
  begin_words("state", words.name, ++replaced_[{words.plan, words.name}], first, words.size_bytes,
              words.item_bytes);
}

void ProvenanceInstrument::move_memory(std::span<const std::byte> before,
                                       std::span<const std::byte> now, bool is_lost) {
  const Address from = word_address(before.data());
  const Address to = word_address(now.data());
  if (from != to) {
    memory_.move(from, before.size(), to);
    if (auto known = states_.extract(from); !known.empty()) {
      known.key() = to;
      states_.insert(std::move(known));
    }
    if (rebound_.erase(from) > 0) rebound_.insert(to);
  }
  if (is_lost) memory_.forget(to, now.size());
}

void ProvenanceInstrument::collect(std::string_view port, const Tensor& tensor) {
  begin_row(tensor, port, rows_).words = shared_words(memory_.load(tensor, first_of(tensor)));
}

std::vector<spec::ProvenanceRow> ProvenanceInstrument::drain_provenance() {
  ++calls_;
  undo_.clear();
  most_rows_ = std::max(most_rows_, rows_.size());
  return std::exchange(rows_, {});
}

}  // namespace graphgate::optimized
