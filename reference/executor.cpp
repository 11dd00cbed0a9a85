// LoadedProgram for the reference: inputs checked and bound, states kept, results handed out.
#include <algorithm>
#include <optional>
#include <set>

#include "reference/complex_array.h"
#include "reference/effects_audit.h"
#include "reference/follow.h"
#include "reference/higher_order.h"
#include "reference/interpreter.h"
#include "reference/movement.h"
#include "reference/overlap.h"
#include "reference/symbol_binding.h"
#include "spec/follow.h"
#include "spec/spread_limit.h"

namespace graphgate::reference {
namespace {

using spec::HostTensor;
using spec::InputKind;
using spec::OutputKind;

// Tensors that come from outside share one Storage when they share bytes.
class Importer {
 public:
  TensorRef import(const HostTensor& host) {
    auto& storage = storages_[host.storage.get()];
    if (!storage) {
      storage = std::make_shared<Storage>();
      storage->host = host.storage;
      storage->borrowed = true;
    }
    auto tensor = std::make_shared<Tensor>();
    tensor->storage = storage;
    tensor->dtype = host.dtype;
    tensor->sizes = host.sizes;
    tensor->strides = host.strides;
    tensor->offset = host.storage_offset;
    tensor->device = host.device;
    return tensor;
  }

 private:
  std::map<const spec::HostStorage*, std::shared_ptr<Storage>> storages_;
};

// What a caller is given of a conjugate view: the same geometry over a storage of its own, whose
// elements have their signs. Nothing but PyTorch reads bytes with other signs.
TensorRef as_handed_out(const TensorRef& tensor) {
  if (!has_bits(*tensor)) return tensor;
  auto plain = std::make_shared<Tensor>(*tensor);
  plain->is_conj = plain->is_neg = false;
  plain->storage = std::make_shared<Storage>(*tensor->storage);
  plain->storage->borrowed = true;  // the first write copies the bytes
  Tensor once = *plain;             // each element of it
  for (std::size_t d = 0; d < once.sizes.size(); ++d) {
    if (once.strides[d] == 0 && once.sizes[d] > 1) once.sizes[d] = 1;
  }
  turn_signs(once, tensor->is_conj, tensor->is_neg);
  return plain;
}

// A result shares its bytes with the live storage until either side writes.
HostTensor export_tensor(const Tensor& tensor) {
  tensor.storage->borrowed = true;
  return {tensor.dtype,  tensor.sizes,  tensor.strides,
          tensor.offset, tensor.device, tensor.storage->host};
}

spec::Spread export_spread(const Tensor& tensor) {
  if (spec::is_complex(tensor.dtype)) return export_spread(as_components(tensor));
  const auto count = static_cast<std::size_t>(tensor.count());
  spec::Spread spread;
  spread.values.resize(count);
  spread.radii.resize(count);
  std::size_t next = 0;
  ElementWalk walk(tensor);
  for_each_block<Mark>(
      tensor.count(), [&](std::span<Mark> block) { read_marks(tensor, walk, block); },
      [&](std::span<const Mark> block) {
        for (const Mark& mark : block) {
          spread.values[next] = mark.value;
          spread.radii[next++] = mark.radius;
        }
      });
  return spread;
}

// Marks what lies around the elements of a tensor as open. It is the only one in its storage.
void open_gaps_around(const Tensor& tensor) {
  Tensor whole = tensor;
  add_marks(whole);
  std::vector<StoredMark>& marks = tensor.storage->marks;
  std::vector<bool> is_known(marks.size());
  for_each_position(as_components(tensor), [&](std::int64_t position) {
    is_known[static_cast<std::size_t>(position)] = true;
  });
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (!is_known[i]) marks[i].set_radius(std::numeric_limits<double>::infinity());
  }
}

Datum import_input(const spec::InputValue& value, Importer& importer) {
  if (const auto* host = std::get_if<HostTensor>(&value)) return {importer.import(*host)};
  if (const auto* i = std::get_if<std::int64_t>(&value)) return {*i};
  if (const auto* x = std::get_if<double>(&value)) return {*x};
  return {std::get<bool>(value)};
}

// A caller holds bytes; the program says which device they are on.
void place_on_device(const Datum& datum, const spec::Value& value) {
  const auto* tensor = datum.as<TensorRef>();
  if (tensor && value.type) (*tensor)->device = value.type->device;
}

class ReferenceProgram final : public spec::LoadedProgram {
 public:
  // `calls` counts the calls that the executor has finished, whatever the program.
  ReferenceProgram(const spec::Program& program, const Options& options, Prepared prepared,
                   std::shared_ptr<std::uint64_t> calls)
      : program_(program),
        options_(options),
        prepared_(std::move(prepared)),
        calls_(std::move(calls)),
        provenance_(options.provenance_words, rows_expected()) {
    Importer importer;
    for (const spec::ProgramInput& input : program_.inputs) {
      if (input.kind == InputKind::kUserInput) continue;
      const TensorRef tensor = importer.import(program_.tensors.at(input.target));
      states_.emplace(input.target, tensor);
    }
  }

  Result<spec::CallResult> call(std::span<const spec::InputValue> inputs) override {
    GRAPHGATE_TRY_VOID(check_inputs(program_, inputs, options_.allow_zero_and_one));
    const DeclaredArithmetic declared(options_.arithmetic);
    const DeclaredSemantics semantics(options_.semantics);
    Run run{options_};
    run.executor_call = *calls_;
    if (options_.mode == Mode::kProvenance) run.provenance = &provenance_;
    provenance_.forget_rows();  // of a call that failed
    if (!std::exchange(has_begun_, true)) begin_states(nullptr);
    try {
      std::optional<OpenChoices> choices;
      if (options_.mode == Mode::kSampled && !options_.trial) choices.emplace(program_.graph);
      spec::CallResult result = execute(inputs, run);
      if (choices) add_open_choices(*choices, result);
      ++*calls_;
      return result;
    } catch (const OpError& error) {
      return bad_input(place(run) + error.what());
    } catch (const Undecidable& error) {
      return unsupported(place(run) + error.what());
    } catch (const AuditError& error) {
      return Error{ErrorKind::kInternal, place(run) + error.what()};
    } catch (const std::length_error&) {
      return infrastructure(place(run) + "a result is larger than memory can be");
    } catch (const std::bad_alloc&) {
      return infrastructure(place(run) + "out of memory");
    }
  }

  Result<void> set_state(std::string_view target, const HostTensor& value, bool rebind) override {
    const std::string place = program_.name + ": state '" + std::string(target) + "'";
    const auto found = states_.find(target);
    if (found == states_.end()) return bad_input(place + " does not exist");
    Tensor& state = *found->second;
    if (value.dtype != state.dtype || value.sizes != state.sizes) {
      return bad_input(place + " has another dtype or other sizes than it is given");
    }
    const auto sharing = std::count_if(states_.begin(), states_.end(), [&](const auto& entry) {
      return entry.second->storage == state.storage;
    });
    if (rebind && sharing > 1) {
      return unsupported(place + " shares its storage with other state, and cannot be bound anew");
    }
    const TensorRef given = Importer().import(value);
    const TensorRef copy = copy_of(*given);
    move_all(state, *copy);
    if (has_begun_) begin_states(state.storage.get());
    return {};
  }

 private:
  // Names the nodes that rounding left a choice (spec/follow.h).
  static void add_open_choices(const OpenChoices& choices, spec::CallResult& result) {
    for (const spec::Node* node : choices.nodes()) {
      spec::Finding finding;
      finding.rule = spec::kOpenChoice;
      finding.nodes.push_back(node->name);
      result.findings.push_back(std::move(finding));
    }
  }
  // A node has two operands and a result, and some have written.
  [[nodiscard]] std::size_t rows_expected() const {
    return options_.mode == Mode::kProvenance ? 4 * program_.graph.nodes.size() : 0;
  }

  [[nodiscard]] bool has_open_gaps(std::size_t input) const {
    const bool is_oracle = options_.mode == Mode::kWorstCase || options_.mode == Mode::kSampled;
    return is_oracle && std::ranges::find(options_.open_gaps, input) != options_.open_gaps.end();
  }

  // The words of states at the beginning, or of those in a storage with new contents.
  void begin_states(const Storage* changed) {
    if (options_.mode != Mode::kProvenance) return;
    std::set<const Storage*> seen;
    for (const spec::ProgramInput& input : program_.inputs) {
      if (input.kind == InputKind::kUserInput) continue;
      const TensorRef& tensor = states_.at(input.target);
      const bool is_meant = !changed || tensor->storage.get() == changed;
      if (!is_meant || !seen.insert(tensor->storage.get()).second) continue;
      const std::uint64_t times = changed ? ++replaced_[input.target] : 0;
      provenance_.begin(*tensor, "state", input.target, times);
    }
  }

  [[nodiscard]] std::string place(const Run& run) const {
    if (!run.node) return program_.name + ": ";
    return program_.name + ": node '" + run.node->name + "' (" + run.node->op + "): ";
  }

  spec::CallResult execute(std::span<const spec::InputValue> inputs, Run& run) {
    Importer importer;
    std::vector<Datum> user_inputs;
    std::vector<Datum> graph_inputs;
    std::map<std::string, Datum, std::less<>> user_by_name;
    std::set<const Storage*> begun;
    user_inputs.reserve(inputs.size());
    graph_inputs.reserve(program_.inputs.size());
    for (const spec::ProgramInput& input : program_.inputs) {
      if (input.constant) continue;
      if (input.kind != InputKind::kUserInput) {
        graph_inputs.push_back({states_.at(input.target)});
        continue;
      }
      const Datum datum = import_input(inputs[user_inputs.size()], importer);
      place_on_device(datum, program_.graph.value(input.value));
      const auto* tensor = datum.as<TensorRef>();
      if (tensor && has_open_gaps(user_inputs.size())) open_gaps_around(**tensor);
      if (run.provenance && tensor && begun.insert((*tensor)->storage.get()).second) {
        provenance_.begin(**tensor, "input", input.target, *calls_);
      }
      user_inputs.push_back(datum);
      if (asks_for_names_) user_by_name.emplace(input.target, datum);
      graph_inputs.push_back(datum);
    }
    std::vector<Datum> outputs = run_graph(prepared_, std::move(graph_inputs), run);
    run.node = nullptr;
    for (Datum& output : outputs) {
      if (const auto* tensor = output.as<TensorRef>()) output = {as_handed_out(*tensor)};
    }
    apply_mutations(outputs, user_by_name);
    spec::CallResult result = collect(outputs, user_inputs, inputs);
    if (run.provenance) result.provenance = rows_of(outputs, user_by_name);
    return result;
  }

  // Writes what a functionalized program returns as the new contents of its inputs and buffers. A
  // user output that is the same value then is the tensor that it was last written to, as
  // torch.export's unlifting has it.
  void apply_mutations(std::vector<Datum>& outputs,
                       const std::map<std::string, Datum, std::less<>>& user_by_name) {
    std::map<spec::ValueId, TensorRef> written;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const spec::ProgramOutput& output = program_.outputs[i];
      const auto* id = program_.graph.outputs[i].as<spec::ValueId>();
      const auto* contents = outputs[i].as<TensorRef>();
      if (output.kind == OutputKind::kUserOutput || !contents) continue;
      TensorRef target;
      if (output.kind == OutputKind::kUserInputMutation) {
        const auto* tensor = user_by_name.at(output.target).as<TensorRef>();
        if (!tensor) throw OpError("a number cannot be mutated");
        target = *tensor;
      } else {
        target = states_.at(output.target);
      }
      if (*contents != target) {
        require_copyable(output.target, *target, **contents);
        copy_into(*target, **contents);
      }
      if (id) written.insert_or_assign(*id, target);
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto* id = program_.graph.outputs[i].as<spec::ValueId>();
      if (!id || program_.outputs[i].kind != OutputKind::kUserOutput) continue;
      const auto found = written.find(*id);
      if (found != written.end()) outputs[i] = {found->second};
    }
  }

  // Throws OpError where copy_ does not take the contents: they must broadcast to their target,
  // which no program resizes in this way.
  static void require_copyable(const std::string& name, const Tensor& target,
                               const Tensor& contents) {
    if (!broadcasts_to(contents, target.sizes)) {
      throw OpError("the new contents of '" + name + "' have sizes " + print_sizes(contents.sizes) +
                    ", which do not broadcast to its sizes " + print_sizes(target.sizes));
    }
    require_no_partial_overlap(target, contents);
  }

  void copy_into(Tensor& target, const Tensor& source) {
    if (options_.mode == Mode::kProvenance) provenance_.assign(target, source);
    if (spec::is_complex(target.dtype) || spec::is_complex(source.dtype)) {
      const TensorRef copy = copy_of(source);
      assign(options_.mode, target,
             *view_of(*copy, target.sizes, stretched_strides(*copy, target.sizes), 0));
      return;
    }
    with_number(options_.mode, source.dtype, [&]<class N>() {
      const TensorRef wide =
          view_of(source, target.sizes, stretched_strides(source, target.sizes), source.offset);
      Reader<N> reader(*wide, source.dtype);
      Writer<N> writer(target);
      for_each_block<N>(
          target.count(), [&](std::span<N> block) { reader.read(block); },
          [&](std::span<const N> block) { writer.write(block); });
    });
  }

  // What the nodes did, and what the call leaves behind.
  std::vector<spec::ProvenanceRow> rows_of(
      const std::vector<Datum>& outputs, const std::map<std::string, Datum, std::less<>>& inputs) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (program_.outputs[i].kind != OutputKind::kUserOutput) continue;
      const std::string port = "output " + std::to_string(next++);
      if (const auto* tensor = outputs[i].as<TensorRef>()) provenance_.note_end(port, **tensor);
    }
    for (const auto& [name, datum] : inputs) {
      if (const auto* tensor = datum.as<TensorRef>()) {
        provenance_.note_end("input " + name, **tensor);
      }
    }
    for (const auto& [target, tensor] : states_) provenance_.note_end("state " + target, *tensor);
    return provenance_.take_rows();
  }

  spec::CallResult collect(const std::vector<Datum>& outputs, const std::vector<Datum>& user_inputs,
                           std::span<const spec::InputValue> given) const {
    spec::CallResult result;
    result.outputs.reserve(outputs.size());
    result.output_spreads.reserve(outputs.size());
    result.final_inputs.reserve(user_inputs.size());
    result.final_input_spreads.reserve(user_inputs.size());
    result.state_targets.reserve(states_.size());
    result.final_states.reserve(states_.size());
    result.final_state_spreads.reserve(states_.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (program_.outputs[i].kind != OutputKind::kUserOutput) continue;
      result.outputs.push_back(export_output(outputs[i]));
      result.output_spreads.push_back(spread_of(outputs[i]));
    }
    for (std::size_t i = 0; i < user_inputs.size(); ++i) {
      const Datum& input = user_inputs[i];
      const bool is_left_out = is_large_and_as_given(input, given[i]);
      if (const auto* tensor = input.as<TensorRef>()) {
        result.final_inputs.emplace_back(export_tensor(**tensor));
      } else if (const auto* whole = input.as<std::int64_t>()) {
        result.final_inputs.emplace_back(*whole);
      } else if (const auto* x = input.as<double>()) {
        result.final_inputs.emplace_back(*x);
      } else {
        result.final_inputs.emplace_back(*input.as<bool>());
      }
      result.final_input_spreads.push_back(is_left_out ? spec::Spread{} : spread_of(input));
    }
    for (const auto& [target, tensor] : states_) {
      result.state_targets.push_back(target);
      result.final_states.push_back(export_tensor(*tensor));
      result.final_state_spreads.push_back(spread_of({tensor}));
    }
    return result;
  }

  // Whether an input is a tensor of which nothing is said but its bytes: it is large, and lies
  // where the caller gave it, for who writes into a storage of the caller's has a copy.
  static bool is_large_and_as_given(const Datum& input, const spec::InputValue& given) {
    const auto* tensor = input.as<TensorRef>();
    const auto* host = std::get_if<HostTensor>(&given);
    if (!tensor || !host || (*tensor)->count() <= spec::kMostSpreadElements) return false;
    const Storage& storage = *(*tensor)->storage;
    return storage.host == host->storage && storage.marks.empty();
  }

  static spec::OutputValue export_output(const Datum& datum) {
    if (const auto* tensor = datum.as<TensorRef>()) return export_tensor(**tensor);
    if (const auto* i = datum.as<std::int64_t>()) return *i;
    if (const auto* x = datum.as<double>()) return *x;
    if (const auto* rounded = datum.as<RoundedFloat>()) {
      return static_cast<double>(marks_of(*rounded->element)[0].value);
    }
    if (const auto* b = datum.as<bool>()) return *b;
    return spec::None{};
  }

  [[nodiscard]] spec::Spread spread_of(const Datum& datum) const {
    const bool is_exact = options_.mode == Mode::kEager || options_.mode == Mode::kProvenance;
    if (is_exact) return {};
    if (const auto* tensor = datum.as<TensorRef>()) return export_spread(**tensor);
    if (const auto* rounded = datum.as<RoundedFloat>()) return export_spread(*rounded->element);
    // What Python computes of numbers (a power) may be one float64 off.
    if (const auto* x = datum.as<double>()) {
      return {{static_cast<long double>(*x)}, {2 * half_ulp(*x, spec::DType::kFloat64)}};
    }
    return {};
  }

  // Whether somebody asks for inputs by their names: who writes into them, and who names rows.
  [[nodiscard]] bool asks_for_names() const {
    return options_.mode == Mode::kProvenance ||
           std::ranges::any_of(program_.outputs, [](const spec::ProgramOutput& output) {
             return output.kind == OutputKind::kUserInputMutation;
           });
  }

  const spec::Program& program_;
  const Options options_;
  const Prepared prepared_;
  const bool asks_for_names_ = asks_for_names();
  const std::shared_ptr<std::uint64_t> calls_;
  std::map<std::string, TensorRef, std::less<>> states_;
  std::map<std::string, std::uint64_t, std::less<>> replaced_;  // how often, by target
  Provenance provenance_;
  bool has_begun_ = false;  // a call
};

class ReferenceExecutor final : public spec::Executor {
 public:
  explicit ReferenceExecutor(Options options) : options_(std::move(options)) {}

  [[nodiscard]] std::string_view name() const override {
    switch (options_.mode) {
      case Mode::kEager:
        return "reference-eager";
      case Mode::kWorstCase:
        return "reference-worst-case";
      case Mode::kSampled:
        return "reference-sampled";
      case Mode::kProvenance:
        return "reference-provenance";
    }
    return "reference";
  }

  Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program& program) override {
    GRAPHGATE_TRY(Prepared prepared, prepare(program.graph, *options_.ops));
    for (const spec::ProgramInput& input : program.inputs) {
      if (input.kind != InputKind::kUserInput && !program.tensors.contains(input.target)) {
        return bad_input(program.name + ": no data for '" + input.target + "'");
      }
    }
    return std::unique_ptr<spec::LoadedProgram>(
        std::make_unique<ReferenceProgram>(program, options_, std::move(prepared), calls_));
  }

 private:
  Options options_;
  std::shared_ptr<std::uint64_t> calls_ = std::make_shared<std::uint64_t>(0);
};

}  // namespace

std::unique_ptr<spec::Executor> make_executor(Options options) {
  return std::make_unique<ReferenceExecutor>(std::move(options));
}

bool runs_higher_order(std::string_view op) { return is_higher_order(op); }

bool supports(const spec::OpRow& row) { return find_body(row) != nullptr; }

}  // namespace graphgate::reference
