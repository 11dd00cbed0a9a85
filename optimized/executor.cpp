// LoadedProgram for the optimized executor: a plan per geometry of the inputs, state kept between
// calls, results handed out.
#include <algorithm>
#include <list>
#include <new>

#include "optimized/analysis/symbols.h"
#include "optimized/optimized.h"
#include "optimized/runtime/host/host_program.h"

namespace graphgate::optimized {
namespace {

using spec::HostTensor;
using spec::InputKind;
using spec::InputValue;

// Everything about a call's inputs that a plan hangs on: numbers, geometries, and which tensors
// share a storage of which size. (The values of symbols follow from these.)
std::string plan_key(std::span<const InputValue> inputs) {
  std::string key;
  std::vector<const spec::HostStorage*> storages;
  const auto add = [&key](std::int64_t number) { key += std::to_string(number) + ","; };
  for (const InputValue& input : inputs) {
    key += std::to_string(input.index()) + ":";
    if (const auto* tensor = std::get_if<HostTensor>(&input)) {
      auto at = std::find(storages.begin(), storages.end(), tensor->storage.get());
      if (at == storages.end()) at = storages.insert(at, tensor->storage.get());
      add(at - storages.begin());
      add(static_cast<std::int64_t>(tensor->storage->bytes.size()));
      add(static_cast<std::int64_t>(tensor->dtype));
      for (const std::int64_t size : tensor->sizes) add(size);
      key += "/";
      for (const std::int64_t stride : tensor->strides) add(stride);
      add(tensor->storage_offset);
    } else if (const auto* integer = std::get_if<std::int64_t>(&input)) {
      add(*integer);
    } else if (const auto* real = std::get_if<double>(&input)) {
      key.append(reinterpret_cast<const char*>(real), sizeof *real);
    } else {
      add(std::get<bool>(input) ? 1 : 0);
    }
    key += ";";
  }
  return key;
}

// Copies results out of the pools. Tensors over one storage come out over one storage.
class Exporter {
 public:
  explicit Exporter(const HostProgram& program) : program_(program) {}

  spec::OutputValue operator()(const Item& item) {
    if (const auto* tensor = item.as<Tensor>()) return export_tensor(*tensor);
    if (const auto* i = item.as<std::int64_t>()) return *i;
    if (const auto* x = item.as<double>()) return *x;
    if (const auto* b = item.as<bool>()) return *b;
    return spec::None{};
  }

  HostTensor export_tensor(const Tensor& tensor) {
    auto& storage = storages_[tensor.storage];
    if (!storage) {
      const auto bytes = program_.storage_bytes(tensor);
      storage = std::make_shared<spec::HostStorage>();
      storage->bytes.assign(bytes.begin(), bytes.end());
    }
    return {tensor.dtype, tensor.sizes, tensor.strides, tensor.offset, tensor.device, storage};
  }

  // State that nothing writes is the program's own.
  void adopt(const Tensor& tensor, const std::shared_ptr<spec::HostStorage>& storage) {
    storages_.try_emplace(tensor.storage, storage);
  }

 private:
  const HostProgram& program_;
  std::map<StorageIndex, std::shared_ptr<spec::HostStorage>> storages_;
};

class OptimizedProgram final : public spec::LoadedProgram {
 public:
  OptimizedProgram(const spec::Program& program, const Options& options)
      : program_(program), options_(options), graph_(prepare(program, options.compile)) {}

  Result<spec::CallResult> call(std::span<const InputValue> inputs) override {
    try {
      GRAPHGATE_TRY(HostProgram* const program, find_or_compile(inputs));
      std::vector<const HostTensor*> tensors;
      for (const InputValue& input : inputs) {
        if (const auto* tensor = std::get_if<HostTensor>(&input)) tensors.push_back(tensor);
      }
      program->run(tensors);
      return collect(*program, inputs);
    } catch (const OpError& error) {
      return bad_input(program_.name + ": " + error.what());
    } catch (const Unsupported& error) {
      return unsupported(program_.name + ": " + error.what());
    } catch (const std::bad_alloc&) {
      return infrastructure(program_.name + ": out of memory");
    } catch (const std::length_error&) {
      return infrastructure(program_.name + ": a result is larger than memory can be");
    }
  }

  [[nodiscard]] const spec::Plan* plan() const override {
    return compiled_.empty() ? nullptr : &compiled_.front().program->plan();
  }

 private:
  struct Compiled {
    std::string key;
    std::unique_ptr<HostProgram> program;
  };

  // The most recently used stands first.
  Result<HostProgram*> find_or_compile(std::span<const InputValue> inputs) {
    GRAPHGATE_TRY(const spec::SymbolValues symbols,
                  bind_symbols(program_, inputs, options_.allow_zero_and_one));
    std::string key = plan_key(inputs);
    const auto found = std::find_if(compiled_.begin(), compiled_.end(),
                                    [&](const Compiled& c) { return c.key == key; });
    if (found != compiled_.end()) {
      compiled_.splice(compiled_.begin(), compiled_, found);
      return compiled_.front().program.get();
    }
    GRAPHGATE_TRY(spec::Plan plan, compile(program_, graph_, inputs, symbols, options_.compile));
    auto program = std::make_unique<HostProgram>(std::move(plan), *options_.compile.ops, state_);
    if (!state_is_loaded_) load_state(*program);
    state_is_loaded_ = true;
    compiled_.push_front({std::move(key), std::move(program)});
    if (compiled_.size() > options_.plans_kept) compiled_.pop_back();
    return compiled_.front().program.get();
  }

  void load_state(const HostProgram& program) {
    for (const spec::PlanInput& input : program.plan().inputs) {
      if (input.kind == InputKind::kUserInput) continue;
      const auto& bytes = program_.tensors.at(input.target).storage->bytes;
      const auto slot = program.buffer_bytes(*program.plan().values[input.value.index].buffer);
      std::copy(bytes.begin(), bytes.end(), slot.begin());
    }
  }

  [[nodiscard]] spec::CallResult collect(const HostProgram& program,
                                         std::span<const InputValue> inputs) const {
    const spec::Plan& plan = program.plan();
    spec::CallResult result;
    Exporter exporter(program);
    std::map<std::string, HostTensor, std::less<>> states;
    std::vector<Tensor> user_inputs;
    for (const spec::PlanInput& input : plan.inputs) {
      if (input.constant) continue;
      const spec::ValueId at_the_end = input.final_value.value_or(input.value);
      const Tensor tensor = *program.read({at_the_end}).as<Tensor>();
      if (input.kind == InputKind::kUserInput) {
        user_inputs.push_back(tensor);
        continue;
      }
      if (!program.is_written({tensor.storage})) {
        exporter.adopt(tensor, program_.tensors.at(input.target).storage);
      }
      states.emplace(input.target, exporter.export_tensor(tensor));
    }
    for (const spec::Argument& output : plan.outputs) {
      result.outputs.push_back(exporter(program.read(output)));
    }
    std::size_t next = 0;
    for (const InputValue& input : inputs) {
      if (std::holds_alternative<HostTensor>(input)) {
        result.final_inputs.emplace_back(exporter.export_tensor(user_inputs[next++]));
      } else {
        result.final_inputs.push_back(input);
      }
    }
    for (auto& [target, tensor] : states) {
      result.state_targets.push_back(target);
      result.final_states.push_back(std::move(tensor));
    }
    return result;
  }

  const spec::Program& program_;
  const Options options_;
  const spec::Graph graph_;
  StateMemory state_;
  bool state_is_loaded_ = false;
  std::list<Compiled> compiled_;
};

// The first node, subgraphs included, that has no kernel.
Result<void> check_supported(const spec::Graph& graph, const spec::OpTable& ops) {
  for (const spec::Node& node : graph.nodes) {
    if (node.op == "higher_order.cond") continue;
    const spec::OpRow* row = ops.find(node.op);
    if (!row) return bad_input("node '" + node.name + "': unknown op " + node.op);
    if (!find_kernel(*row)) {
      return unsupported("node '" + node.name + "': the optimized executor has no kernel for " +
                         node.op);
    }
  }
  for (const spec::Graph& subgraph : graph.subgraphs) {
    GRAPHGATE_TRY_VOID(check_supported(subgraph, ops));
  }
  return {};
}

class OptimizedExecutor final : public spec::Executor {
 public:
  explicit OptimizedExecutor(Options options) : options_(std::move(options)) {}

  [[nodiscard]] std::string_view name() const override { return "optimized"; }

  Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program& program) override {
    const auto supported =
        check_supported(prepare(program, options_.compile), *options_.compile.ops);
    if (!supported.ok()) return supported.error().at(program.name);
    for (const spec::ProgramInput& input : program.inputs) {
      if (input.kind != InputKind::kUserInput && !program.tensors.contains(input.target)) {
        return bad_input(program.name + ": no data for '" + input.target + "'");
      }
    }
    return std::unique_ptr<spec::LoadedProgram>(
        std::make_unique<OptimizedProgram>(program, options_));
  }

 private:
  Options options_;
};

}  // namespace

std::unique_ptr<spec::Executor> make_executor(Options options) {
  return std::make_unique<OptimizedExecutor>(std::move(options));
}

std::string_view family_of(const spec::OpRow& row) { return kernel_family(row); }

}  // namespace graphgate::optimized
