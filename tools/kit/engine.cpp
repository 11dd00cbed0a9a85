#include "tools/kit/engine.h"

#include <algorithm>
#include <map>

#include "spec/option.h"

namespace graphgate::kit {
namespace {

using spec::HostTensor;

// Copies of storages: what shared one shares its copy.
class Copies {
 public:
  void copy(HostTensor& tensor) {
    if (!tensor.storage) return;
    std::shared_ptr<spec::HostStorage>& made = copies_[tensor.storage.get()];
    if (!made) made = std::make_shared<spec::HostStorage>(*tensor.storage);
    tensor.storage = made;
  }
  [[nodiscard]] bool has(const HostTensor& tensor) const {
    return copies_.contains(tensor.storage.get());
  }

 private:
  std::map<const spec::HostStorage*, std::shared_ptr<spec::HostStorage>> copies_;
};

template <class Values, class Visit>
void for_each_tensor(Values& values, Visit&& visit) {
  for (auto& value : values) {
    if (auto* tensor = std::get_if<HostTensor>(&value)) visit(*tensor);
  }
}

Error broken(const std::string& what) {
  return {ErrorKind::kInternal, "the executor returned " + what};
}

// A program whose engine is not trusted to keep its hands off what others hold: it gets inputs of
// its own, and its states and inputs are taken as they are when a call ends. Outputs stay where it
// put them: that it writes them in a later call is to be seen.
class GuardedProgram final : public spec::LoadedProgram {
 public:
  GuardedProgram(std::unique_ptr<spec::LoadedProgram> program, bool has_static_inputs)
      : program_(std::move(program)), has_static_inputs_(has_static_inputs) {}

  Result<spec::CallResult> call(std::span<const spec::InputValue> inputs) override {
    return call_with(inputs, {});
  }
  Result<spec::CallResult> call_with(std::span<const spec::InputValue> inputs,
                                     const spec::CallOptions& options) override {
    std::vector<spec::InputValue> own(inputs.begin(), inputs.end());
    if (!has_static_inputs_) {
      Copies copies;
      for_each_tensor(own, [&](HostTensor& tensor) { copies.copy(tensor); });
    }
    GRAPHGATE_TRY(spec::CallResult result, program_->call_with(own, options));
    GRAPHGATE_TRY_VOID(check(result));
    keep(result);
    return result;
  }
  Result<std::shared_ptr<spec::HeldOutput>> hold(std::size_t index) override {
    return program_->hold(index);
  }
  Result<void> set_state(std::string_view target, const HostTensor& value, bool rebind) override {
    HostTensor own = value;
    Copies().copy(own);
    return program_->set_state(target, own, rebind);
  }
  [[nodiscard]] std::shared_ptr<const spec::Plan> plan() const override { return program_->plan(); }
  [[nodiscard]] bool is_as_unwatched() const override { return program_->is_as_unwatched(); }

 private:
  static Result<void> check(spec::CallResult& result) {
    if (result.state_targets.size() != result.final_states.size()) {
      return broken(std::to_string(result.final_states.size()) + " states and " +
                    std::to_string(result.state_targets.size()) + " targets of states");
    }
    bool is_good = true;
    const auto look = [&is_good](const HostTensor& tensor) {
      is_good &=
          tensor.storage &&
          spec::geometry_fits(tensor, static_cast<std::int64_t>(tensor.storage->bytes.size()));
    };
    for_each_tensor(result.outputs, look);
    for_each_tensor(result.final_inputs, look);
    for (const HostTensor& state : result.final_states) look(state);
    return is_good ? Result<void>() : broken("a tensor whose elements lie outside of its storage");
  }

  static void keep(spec::CallResult& result) {
    Copies copies;
    for_each_tensor(result.final_inputs, [&](HostTensor& tensor) { copies.copy(tensor); });
    for (HostTensor& state : result.final_states) copies.copy(state);
    for_each_tensor(result.outputs, [&](HostTensor& tensor) {
      if (copies.has(tensor)) copies.copy(tensor);
    });
  }

  std::unique_ptr<spec::LoadedProgram> program_;
  bool has_static_inputs_;
};

class GuardedExecutor final : public spec::Executor {
 public:
  GuardedExecutor(std::unique_ptr<spec::Executor> executor, bool has_static_inputs)
      : executor_(std::move(executor)), has_static_inputs_(has_static_inputs) {}

  [[nodiscard]] std::string_view name() const override { return executor_->name(); }
  Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program& program) override {
    GRAPHGATE_TRY(auto loaded, executor_->load(program));
    return std::unique_ptr<spec::LoadedProgram>(
        std::make_unique<GuardedProgram>(std::move(loaded), has_static_inputs_));
  }
  Result<bool> sleep(const spec::SleepRequest& asked) override { return executor_->sleep(asked); }
  Result<void> wake(std::optional<spec::SleepPart> part) override { return executor_->wake(part); }
  Result<void> close() override { return executor_->close(); }

 private:
  std::unique_ptr<spec::Executor> executor_;
  bool has_static_inputs_;
};

}  // namespace

Result<std::unique_ptr<spec::Executor>> Engine::make(const spec::Configuration& options,
                                                     const spec::OpTable& ops) const {
  for (const auto& [option, value] : options) {
    if (!takes(option)) return unsupported(settings_.name + " takes no option '" + option + "'");
  }
  GRAPHGATE_TRY(auto executor, make_(options, ops));
  return std::unique_ptr<spec::Executor>(std::make_unique<GuardedExecutor>(
      std::move(executor), options.contains(spec::option::kStaticInput)));
}

bool Engine::takes(std::string_view option) const {
  return std::find(settings_.options.begin(), settings_.options.end(), option) !=
         settings_.options.end();
}

spec::CaseFile Engine::with_own_options(spec::CaseFile the_case) const {
  std::erase_if(the_case.options, [this](const auto& option) { return !takes(option.first); });
  return the_case;
}

Result<void> Engine::load(const spec::CaseFile& the_case) const {
  GRAPHGATE_TRY(const spec::OpTable ops, spec::case_ops(the_case));
  GRAPHGATE_TRY(const auto executor, make(with_own_options(the_case).options, ops));
  for (const spec::Program& program : the_case.programs) {
    GRAPHGATE_TRY(const auto loaded, executor->load(program));
  }
  return {};
}

fuzz::Isolation Engine::isolation() const {
  return {.is_on = settings_.is_forked, .timeout_seconds = settings_.timeout_seconds};
}

}  // namespace graphgate::kit
