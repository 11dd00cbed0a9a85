#include "optimized/runtime/host/provenance.h"

#include <algorithm>
#include <utility>

#include "optimized/binding.h"
#include "spec/provenance_words.h"

namespace graphgate::optimized {
namespace {

using spec::InputKind;
using spec::ValueId;

Address address_of(const std::byte* bytes) { return reinterpret_cast<Address>(bytes); }

// Where the words of a storage lie: beside its bytes, or, inside a fused step, far from all memory.
Address first_of(const Tensor& tensor) {
  constexpr Address kInner = Address{1} << 62;
  constexpr int kInnerBits = 40;  // bytes of one inner storage
  if (tensor.bytes != nullptr) return address_of(tensor.bytes);
  return kInner + (static_cast<Address>(tensor.storage) << kInnerBits) % kInner;
}

void flatten(const Item& item, std::size_t argument, std::vector<WordInput>& out) {
  if (const auto* tensor = item.as<Tensor>()) {
    const bool is_next = !out.empty() && out.back().argument == argument;
    out.push_back({argument, is_next ? out.back().element + 1 : 0, *tensor, {}});
  }
  if (const auto* list = item.as<Item::List>()) {
    for (const Item& element : *list) flatten(element, argument, out);
  }
}

}  // namespace

void ProvenanceInstrument::begin_run(const RunMemory& memory) {
  plan_ = memory.plan;
  rows_.clear();
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
  begin_words("input", input.target, calls_, address_of(bytes.data()), bytes.size(), item);
}

void ProvenanceInstrument::begin_state(const spec::PlanInput& input, std::span<std::byte> bytes) {
  if (bytes.empty()) return;  // may lie where other state lies
  const Address first = address_of(bytes.data());
  const bool is_rebound = rebound_.erase(first) > 0;
  const std::pair name(plan_->name, input.target);
  const auto known = states_.find(first);
  if (known != states_.end() && known->second.name == name && !is_rebound) return;
  const auto& type = plan_->values[input.value.index].value.type;
  const auto item = static_cast<std::uint32_t>(spec::item_size_bytes(type->dtype));
  std::uint64_t& times = replaced_[name];
  if (is_rebound) ++times;
  states_[first] = {name, item, bytes.size()};
  begin_words("state", input.target, times, first, bytes.size(), item);
}

void ProvenanceInstrument::begin_words(std::string_view kind, std::string_view name,
                                       std::uint64_t times, Address first, std::size_t size_bytes,
                                       std::uint32_t item_bytes) {
  std::vector<Word> words(size_bytes / item_bytes);
  for (std::size_t e = 0; e < words.size(); ++e) {
    words[e] = spec::initial_word(kind, name, times, static_cast<std::int64_t>(e));
  }
  memory_.store_elements(first, item_bytes, words);
}

void ProvenanceInstrument::allocate(std::span<const std::byte> bytes) {
  memory_.forget(address_of(bytes.data()), bytes.size());
}

void ProvenanceInstrument::before_launch(const BoundStep& step) {
  for (const BoundCall& call : step.calls) run_call(call, step.step);
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

void ProvenanceInstrument::run_call(const BoundCall& call, std::uint32_t step) {
  std::vector<WordInput> inputs;
  for (std::size_t a = 0; a < call.arguments.size(); ++a) flatten(call.arguments[a], a, inputs);
  std::vector<std::optional<ValueId>> values;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    inputs[k].words = memory_.load(inputs[k].tensor, first_of(inputs[k].tensor));
    const std::string& name = call.row->schema.arguments[inputs[k].argument].name;
    std::vector<ValueId> given;
    if (const auto* argument = find_argument(call.node->arguments, name)) {
      for_each_value(*argument, [&](ValueId id) { given.push_back(id); });
    }
    const bool is_known = inputs[k].element < given.size();
    values.push_back(is_known ? std::optional(given[inputs[k].element]) : std::nullopt);
    note(call, step, "operand " + std::to_string(k), inputs[k].tensor, values[k], inputs[k].words);
  }
  const std::vector<WordOutput> outputs = word_outputs(call, inputs);
  auto words = words_of_call(call, inputs, outputs, memory_.derived);
  const std::vector<ValueId> results = flat_results(*call.node);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const WordOutput& output = outputs[o];
    keep_state(output.tensor);
    if (words) {
      memory_.store(output.tensor, first_of(output.tensor), (*words)[o]);
    } else {
      memory_.forget(output.tensor, first_of(output.tensor));
    }
  }
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const WordOutput& output = outputs[o];
    std::vector<Word> now = memory_.load(output.tensor, first_of(output.tensor));
    if (output.input) {
      note(call, step, "written " + std::to_string(*output.input), output.tensor,
           values[*output.input], now);
    }
    if (!output.result) continue;
    const bool is_known = *output.result < results.size();
    note(call, step, "result " + std::to_string(*output.result), output.tensor,
         is_known ? std::optional(results[*output.result]) : std::nullopt, std::move(now));
  }
}

void ProvenanceInstrument::note(const BoundCall& call, std::uint32_t step, const std::string& port,
                                const Tensor& tensor, std::optional<ValueId> value,
                                std::vector<Word> words) {
  spec::ProvenanceRow row;
  row.node = call.node->name;
  row.op = call.row->schema.qualified_name();
  row.port = port;
  row.step = step;
  if (value && value->index < plan_->values.size()) {
    row.value = plan_->values[value->index].value.name;
  }
  if (tensor.storage < plan_->buffers.size()) row.buffer = plan_->buffers[tensor.storage].name;
  row.storage = tensor.storage;
  row.dtype = tensor.dtype;
  row.sizes = tensor.sizes;
  row.strides = tensor.strides;
  row.storage_offset = tensor.offset;
  row.words = std::move(words);
  rows_.push_back(std::move(row));
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

void ProvenanceInstrument::replace_state(std::span<const std::byte> bytes) {
  const Address first = address_of(bytes.data());
  const auto state = states_.find(first);
  if (bytes.empty()) return;  // no graph reads it, or none has run
  if (state == states_.end()) {
    rebound_.insert(first);
    return;
  }
  const StateWords& words = state->second;
  begin_words("state", words.name.second, ++replaced_[words.name], first, words.size_bytes,
              words.item_bytes);
}

void ProvenanceInstrument::collect(std::string_view port, const Tensor& tensor) {
  spec::ProvenanceRow row;
  row.port = port;
  if (tensor.storage < plan_->buffers.size()) row.buffer = plan_->buffers[tensor.storage].name;
  row.storage = tensor.storage;
  row.dtype = tensor.dtype;
  row.sizes = tensor.sizes;
  row.strides = tensor.strides;
  row.storage_offset = tensor.offset;
  row.words = memory_.load(tensor, first_of(tensor));
  rows_.push_back(std::move(row));
}

std::vector<spec::ProvenanceRow> ProvenanceInstrument::drain_provenance() {
  ++calls_;
  undo_.clear();
  return std::exchange(rows_, {});
}

}  // namespace graphgate::optimized
