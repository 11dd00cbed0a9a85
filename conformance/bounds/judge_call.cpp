#include "conformance/bounds/judge_call.h"

#include <algorithm>
#include <cmath>

#include "conformance/compare/element.h"
#include "conformance/compare/input_spread.h"

namespace graphgate::conformance {
namespace {

using spec::CallResult;
using spec::HostTensor;
using spec::OutputValue;

constexpr const char* kRecording = "recording";

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool same_scalar(const OutputValue& a, const OutputValue& b) {
  if (a.index() != b.index()) return false;
  if (const auto* x = std::get_if<double>(&a)) return same_number(*x, std::get<double>(b));
  if (const auto* i = std::get_if<std::int64_t>(&a)) return *i == std::get<std::int64_t>(b);
  if (const auto* flag = std::get_if<bool>(&a)) return *flag == std::get<bool>(b);
  return true;
}

std::int64_t count_elements(const CallResult& result, bool with_outputs) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < result.final_input_spreads.size(); ++i) {
    count += numbers_of_input(result, i);
  }
  for (const auto* spreads : {&result.output_spreads, &result.final_state_spreads}) {
    if (spreads == &result.output_spreads && !with_outputs) continue;
    for (const spec::Spread& spread : *spreads) {
      count += static_cast<std::int64_t>(spread.values.size());
    }
  }
  return count;
}

class CallJudge {
 public:
  // Without an oracle, values are not looked at.
  CallJudge(std::string name, const CallResult& actual, const CallResult* oracle,
            const ExpectedCall& expected, const JudgeOptions& options)
      : name_(std::move(name)),
        actual_(actual),
        oracle_(oracle),
        expected_(expected),
        options_(options),
        multiple_(oracle ? options.multiple.value_or(sigma_multiple(
                               count_elements(*oracle, options.outputs), options.false_alarm_rate))
                         : 0) {}

  CallReport run() {
    if (oracle_ && !judge_form()) return std::move(report_);
    if (options_.outputs) judge_outputs();
    judge_final_inputs();
    judge_final_states();
    return std::move(report_);
  }

 private:
  using Kind = Difference::Kind;

  void add(const std::string& subject, const std::string& where, const std::string& message,
           Kind kind = Kind::kExact) {
    report_.differences.push_back({subject, where, message, kind});
  }

  // What is no floating value must be as the oracle has it, recorded or not: how many outputs,
  // which are tensors, their geometry, integers, and who shares a storage with whom. False when
  // there is nothing to compare one by one.
  bool judge_form() {
    if (options_.outputs && actual_.outputs.size() != oracle_->outputs.size()) {
      add(name_, "outputs",
          std::to_string(actual_.outputs.size()) + " outputs, the oracle has " +
              std::to_string(oracle_->outputs.size()));
      return false;
    }
    if (actual_.final_inputs.size() != oracle_->final_inputs.size() ||
        actual_.state_targets != oracle_->state_targets) {
      add(name_, "final inputs and states", "are not those of the program");
      return false;
    }
    for (std::size_t i = 0; i < actual_.final_inputs.size(); ++i) {
      const auto* tensor = std::get_if<HostTensor>(&actual_.final_inputs[i]);
      const auto* expected = std::get_if<HostTensor>(&oracle_->final_inputs[i]);
      if (tensor && expected)
        judge_geometry("final input " + std::to_string(i), *tensor, *expected);
    }
    for (std::size_t i = 0; i < actual_.final_states.size(); ++i) {
      judge_geometry("state '" + actual_.state_targets[i] + "'", actual_.final_states[i],
                     oracle_->final_states[i]);
    }
    if (!options_.outputs) return true;
    for (std::size_t i = 0; i < actual_.outputs.size(); ++i) judge_output_form(i);
    return true;
  }

  void judge_geometry(const std::string& where, const HostTensor& actual,
                      const HostTensor& expected) {
    judge_geometry(where, actual, geometry_of(expected), " (the oracle's)", true);
  }
  void judge_geometry(const std::string& where, const HostTensor& actual, const Geometry& expected,
                      const char* whose, bool layouts) {
    const std::string form = compare_form(actual, expected);
    if (!form.empty()) return add(name_, where, form + whose, Kind::kForm);
    const std::string layout = layouts ? compare_layout(actual, expected) : "";
    if (!layout.empty()) add(name_, where, layout + whose, Kind::kLayout);
  }

  // Compares dtype and sizes with a recorded tensor's. Recorders store tensors contiguous, so its
  // strides say nothing.
  void judge_form_as_recorded(const std::string& where, const HostTensor& actual,
                              const HostTensor& recorded) {
    judge_geometry(where, actual, geometry_of(recorded), " (the recording's)", false);
  }

  void judge_output_form(std::size_t i) {
    const std::string where = "output " + std::to_string(i);
    const OutputValue& actual = actual_.outputs[i];
    const OutputValue& expected = oracle_->outputs[i];
    if (actual.index() != expected.index()) {
      return add(name_, where, "another kind of value than the oracle's");
    }
    // Floats are judged by value.
    if (!std::holds_alternative<double>(actual) && !std::holds_alternative<HostTensor>(actual) &&
        !same_scalar(actual, expected)) {
      return add(name_, where, "another number than the oracle's");
    }
    const auto* tensor = std::get_if<HostTensor>(&actual);
    if (!tensor) return;
    const auto& oracle = std::get<HostTensor>(expected);
    judge_geometry(where, *tensor, geometry_of(oracle), " (the oracle's)", options_.layouts);
    if (spec::element_count(tensor->sizes) == 0) return;
    const auto shared = all_partners(actual_, i, *tensor);
    const auto wanted = all_partners(*oracle_, i, oracle);
    if (shared == wanted) return;
    add(name_, where,
        "shares storage with " + join(shared) + ", in the oracle with " + join(wanted),
        Kind::kSharing);
  }

  static std::string join(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? "nothing" : text;
  }

  // All that output `index` shares its storage with: inputs, states, and earlier outputs.
  static std::vector<std::string> all_partners(const CallResult& result, std::size_t index,
                                               const HostTensor& tensor) {
    std::vector<std::string> names = partners(result, index, tensor);
    for (std::size_t i = 0; i < result.final_states.size(); ++i) {
      if (result.final_states[i].storage == tensor.storage) {
        names.push_back("state '" + result.state_targets[i] + "'");
      }
    }
    return names;
  }

  // Elements of one tensor against the oracle's. Exact values (integers, radius 0) that differ are
  // proof; numbers outside a radius are kNumber. Nothing where it has another number of elements.
  std::optional<ValueComparison> judge_values(const std::string& subject, const std::string& where,
                                              const HostTensor& tensor,
                                              const spec::Spread& spread) {
    const auto parts = static_cast<std::int64_t>(parts_of(tensor.dtype));
    const auto count = static_cast<std::int64_t>(spread.values.size());
    if (spec::element_count(tensor.sizes) * parts != count) {
      add(subject, where, "has another number of elements than the oracle's");
      return std::nullopt;
    }
    ValueComparison values = compare_values(tensor, spread, multiple_);
    note(subject, where, tensor.dtype, values);
    return values;
  }

  void note(const std::string& subject, const std::string& where, spec::DType dtype,
            const ValueComparison& values) {
    report_.elements += values.elements;
    report_.undecided += values.undecided;
    report_.has_blind_tensor |= spec::is_floating_point(spec::component_dtype(dtype)) &&
                                values.elements > 0 && values.undecided == values.elements;
    if (values.worst_ratio > report_.worst_ratio) {
      report_.worst_ratio = values.worst_ratio;
      report_.worst_error = values.worst_error;
      report_.worst_allowed = values.worst_allowed;
    }
    if (subject == kRecording && values.worst_ratio > 0 && values.ok()) {
      report_.recording_ratios.push_back(values.worst_ratio);
    }
    if (!values.ok()) {
      add(subject, where, values.message,
          std::isinf(values.worst_ratio) ? Kind::kExact : Kind::kNumber);
    }
  }

  void judge_outputs() {
    if (!expected_.outputs.empty() && expected_.outputs.size() != actual_.outputs.size()) {
      add(name_, "outputs",
          std::to_string(actual_.outputs.size()) + " outputs, expected " +
              std::to_string(expected_.outputs.size()));
      return;
    }
    for (std::size_t i = 0; i < actual_.outputs.size(); ++i) judge_output(i);
  }

  void judge_output(std::size_t i) {
    const std::string where = "output " + std::to_string(i);
    const OutputValue& actual = actual_.outputs[i];
    const auto* tensor = std::get_if<HostTensor>(&actual);
    const auto* x = std::get_if<double>(&actual);
    std::optional<ValueComparison> values;
    if (oracle_ && tensor) {
      values = judge_values(name_, where, *tensor, oracle_->output_spreads[i]);
    }
    if (oracle_ && x) judge_float(where, *x, i);
    if (expected_.outputs.empty()) return;
    const OutputValue& expected = expected_.outputs[i];
    if (expected_.is_partial && std::holds_alternative<spec::None>(expected)) return;
    const auto* recorded = std::get_if<HostTensor>(&expected);
    if ((tensor != nullptr) != (recorded != nullptr)) {
      return add(name_, where, "a tensor where a number is recorded, or the reverse");
    }
    if (!tensor) {
      const bool is_open = !oracle_ && x && std::holds_alternative<double>(expected);
      if (!is_open && !same_scalar(actual, expected)) {
        add(name_, where, "another number than recorded");
      }
      return;
    }
    if (i < expected_.geometries.size() && expected_.geometries[i]) {
      judge_geometry(where, *tensor, *expected_.geometries[i], "", options_.layouts);
    } else if (!oracle_) {
      judge_form_as_recorded(where, *tensor, *recorded);
    }
    if (values && values->ok() && same_elements(*tensor, *recorded)) {
      note(kRecording, where, recorded->dtype, *values);
    } else if (oracle_) {
      judge_values(kRecording, where, *recorded, oracle_->output_spreads[i]);
    }
    if (i < expected_.shared_with.size()) judge_sharing(i, where, *tensor);
  }

  void judge_float(const std::string& where, double x, std::size_t output) {
    if (!std::holds_alternative<double>(oracle_->outputs[output])) return;  // judge_form() tells
    judge_values(name_, where, number_tensor(x), oracle_->output_spreads[output]);
  }

  // The names of all that output `index` shares its storage with: inputs and earlier outputs.
  static std::vector<std::string> partners(const CallResult& result, std::size_t index,
                                           const HostTensor& tensor) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < result.final_inputs.size(); ++i) {
      const auto* input = std::get_if<HostTensor>(&result.final_inputs[i]);
      if (input && input->storage == tensor.storage) names.push_back("input" + std::to_string(i));
    }
    for (std::size_t i = 0; i < index; ++i) {
      const auto* output = std::get_if<HostTensor>(&result.outputs[i]);
      if (output && output->storage == tensor.storage)
        names.push_back("output" + std::to_string(i));
    }
    return names;
  }

  // A recording names one partner, an input before an output or a state. Where it names none,
  // sharing with an input is a difference; sharing among outputs is not, since not every recorder
  // looks at it.
  void judge_sharing(std::size_t i, const std::string& where, const HostTensor& tensor) {
    const std::string& expected = expected_.shared_with[i];
    if (spec::element_count(tensor.sizes) == 0) return;
    const std::vector<std::string> actual = partners(actual_, i, tensor);
    const bool with_input = !actual.empty() && actual.front().compare(0, 5, "input") == 0;
    if (expected.empty() && !with_input) return;
    if (std::ranges::find(actual, expected) != actual.end()) return;
    if (shares_state(tensor, expected) || (options_.functionalized && !with_input)) return;
    if (actual.empty() && may_be_marked(i, tensor)) return;
    add(name_, where,
        "shares storage with " + (actual.empty() ? "nothing" : actual.front()) + ", expected " +
            (expected.empty() ? "nothing" : expected),
        Kind::kSharing);
  }

  // PyTorch conjugates a complex tensor by a mark: other elements over the same bytes, which no
  // caller elsewhere can be given. Then the oracle's output shares nothing, too.
  [[nodiscard]] bool may_be_marked(std::size_t i, const HostTensor& tensor) const {
    if (oracle_ == nullptr || !spec::is_complex(tensor.dtype)) return false;
    const auto* wanted = std::get_if<HostTensor>(&oracle_->outputs[i]);
    return wanted != nullptr && all_partners(*oracle_, i, *wanted).empty();
  }

  // Whether `expected` is a state ("buffer.NAME" or its bare name) that the tensor shares with.
  [[nodiscard]] bool shares_state(const HostTensor& tensor, const std::string& expected) const {
    constexpr std::string_view kPrefix = "buffer.";
    const bool prefixed = expected.compare(0, kPrefix.size(), kPrefix) == 0;
    const std::string name = prefixed ? expected.substr(kPrefix.size()) : expected;
    for (std::size_t i = 0; i < actual_.final_states.size(); ++i) {
      const bool shares = actual_.final_states[i].storage == tensor.storage;
      if (shares && actual_.state_targets[i] == name) return true;
    }
    return false;
  }

  void judge_final_inputs() {
    for (std::size_t i = 0; i < actual_.final_inputs.size(); ++i) {
      const auto* tensor = std::get_if<HostTensor>(&actual_.final_inputs[i]);
      if (!tensor) continue;
      const std::string where = "final input " + std::to_string(i);
      if (oracle_ && is_as_given(i, *tensor)) {
        report_.elements += numbers_of_input(*oracle_, i);
      } else if (oracle_) {
        judge_input_values(name_, where, *tensor, i);
      }
      const auto recorded = expected_.final_inputs.find(i);
      if (recorded != expected_.final_inputs.end()) {
        if (oracle_) {
          judge_input_values(kRecording, where, recorded->second, i);
        } else {
          judge_form_as_recorded(where, *tensor, recorded->second);
        }
      } else if (!expected_.outputs.empty() && options_.lists_changed_inputs &&
                 !expected_.is_partial) {
        judge_unchanged(where, *tensor, expected_.inputs[i]);
      }
    }
  }

  void judge_input_values(const std::string& subject, const std::string& where,
                          const HostTensor& tensor, std::size_t i) {
    spec::Spread made;
    judge_values(subject, where, tensor, *spread_of_input(*oracle_, i, made));
  }

  // Whether the elements of an input are still those that were given, for the oracle too: it has
  // written nothing into the storage. Then there is nothing to compare.
  [[nodiscard]] bool is_as_given(std::size_t i, const HostTensor& tensor) const {
    const auto* given =
        i < expected_.inputs.size() ? std::get_if<HostTensor>(&expected_.inputs[i]) : nullptr;
    const auto* known = std::get_if<HostTensor>(&oracle_->final_inputs[i]);
    // Then each element is exactly the oracle's bytes, wherever these lie.
    if (known && is_input_left_out(*oracle_, i)) return same_elements(tensor, *known);
    if (!given || !known || known->storage != given->storage || known->dtype != given->dtype) {
      return false;
    }
    if (known->storage_offset != given->storage_offset || known->strides != given->strides) {
      return false;
    }
    return known->sizes == given->sizes && same_elements(tensor, *given) &&
           std::ranges::all_of(oracle_->final_input_spreads[i].radii,
                               [](double radius) { return radius == 0; });
  }

  // Whether an input that the recording has as changed was given over the same storage.
  [[nodiscard]] bool is_beside_a_changed_input(const HostTensor& given) const {
    return std::ranges::any_of(expected_.final_inputs, [&](const auto& changed) {
      const auto& input = expected_.inputs[changed.first];
      const auto* tensor = std::get_if<HostTensor>(&input);
      return tensor && tensor->storage == given.storage;
    });
  }

  // An input that the recording does not list as changed.
  void judge_unchanged(const std::string& where, const HostTensor& tensor,
                       const spec::InputValue& given) {
    const auto* before = std::get_if<HostTensor>(&given);
    if (!before || tensor.storage == before->storage) return;
    if (is_beside_a_changed_input(*before)) return;
    if (same_elements(tensor, *before)) return;
    add(name_, where, "was changed, and the recording has it unchanged");
  }

  void judge_final_states() {
    for (std::size_t i = 0; i < actual_.final_states.size(); ++i) {
      const std::string& target = actual_.state_targets[i];
      const std::string where = "state '" + target + "'";
      if (oracle_) {
        judge_values(name_, where, actual_.final_states[i], oracle_->final_state_spreads[i]);
      }
      const auto recorded = expected_.final_states.find(target);
      if (recorded == expected_.final_states.end()) continue;
      if (oracle_) {
        judge_values(kRecording, where, recorded->second, oracle_->final_state_spreads[i]);
      } else {
        judge_form_as_recorded(where, actual_.final_states[i], recorded->second);
      }
    }
  }

  const std::string name_;
  const CallResult& actual_;
  const CallResult* const oracle_;  // null: none has run the call
  const ExpectedCall& expected_;
  const JudgeOptions& options_;
  const double multiple_;
  CallReport report_;
};

}  // namespace

CallReport judge_call(const std::string& name, const CallResult& actual, const CallResult& oracle,
                      const ExpectedCall& expected, const JudgeOptions& options) {
  return CallJudge(name, actual, &oracle, expected, options).run();
}

CallReport judge_recorded_form(const std::string& name, const CallResult& actual,
                               const ExpectedCall& expected, const JudgeOptions& options) {
  return CallJudge(name, actual, nullptr, expected, options).run();
}

}  // namespace graphgate::conformance
