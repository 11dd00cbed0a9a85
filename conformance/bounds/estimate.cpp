#include "conformance/bounds/estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "conformance/compare/element.h"
#include "conformance/run/runs.h"
#include "conformance/run/trials.h"

namespace graphgate::conformance {
namespace {

using spec::CallResult;
using spec::HostTensor;

const HostTensor* tensor_of(const HostTensor& tensor) { return &tensor; }
template <class... Kinds>
const HostTensor* tensor_of(const std::variant<Kinds...>& value) {
  return std::get_if<HostTensor>(&value);
}

bool is_among(const Difference& difference, const std::vector<Difference>& others) {
  return std::ranges::any_of(others, [&](const Difference& other) {
    return other.subject == difference.subject && other.where == difference.where;
  });
}

// What is wrong with a tensor as a whole is so in any arithmetic.
bool is_of_element(const Difference& difference) {
  return difference.kind == Difference::Kind::kNumber ||
         difference.kind == Difference::Kind::kExact;
}

// Opens what no radius holds: an element that is no number, where the estimate does not tell its
// size, and the worst case nothing. A divisor that is zero for one executor alone makes such.
void open_no_number(const HostTensor& actual, const spec::Spread& worst, spec::Spread& estimate) {
  const std::size_t count = estimate.values.size();
  const auto elements = decode_elements(actual);
  if (elements.size() != count || worst.radii.size() != count) return;
  for (std::size_t i = 0; i < count; ++i) {
    const auto reach = static_cast<long double>(Trials::kAllowedRadii * estimate.radii[i]);
    const bool has_size = !(reach >= std::fabs(estimate.values[i]));
    if (std::isfinite(elements[i]) || has_size || !std::isinf(worst.radii[i])) continue;
    estimate.radii[i] = std::numeric_limits<double>::infinity();
  }
}

CallResult with_no_number_open(CallResult estimate, const CallResult& actual,
                               const CallResult& worst) {
  const auto open = [](const auto& values, const std::vector<spec::Spread>& bounds,
                       std::vector<spec::Spread>& spreads) {
    for (std::size_t i = 0; i < std::min({values.size(), bounds.size(), spreads.size()}); ++i) {
      if (const auto* tensor = tensor_of(values[i])) open_no_number(*tensor, bounds[i], spreads[i]);
    }
  };
  open(actual.outputs, worst.output_spreads, estimate.output_spreads);
  open(actual.final_inputs, worst.final_input_spreads, estimate.final_input_spreads);
  open(actual.final_states, worst.final_state_spreads, estimate.final_state_spreads);
  return estimate;
}

}  // namespace

Result<EstimatedCall> judge_by_estimate(Runs& runs, const Trace& subject, std::size_t index,
                                        const ExpectedCall& expected, const JudgeOptions& options) {
  const auto judged = [&](const spec::CallResult& oracle, const JudgeOptions& with) {
    return judge_call(subject.executor, subject.calls[index].result, oracle, expected, with);
  };
  EstimatedCall out;
  GRAPHGATE_TRY(const Trace* const oracle, runs.oracle("sampled"));
  out.call = judged(oracle->calls[index].result, options);
  std::vector<Difference>& differences = out.call.differences;
  if (differences.empty()) return out;
  std::vector<Difference> proofs = differences;
  GRAPHGATE_TRY(const Trace* const bounds, runs.oracle("worst-case"));
  if (index < bounds->calls.size()) {
    JudgeOptions by_worst_case = options;
    by_worst_case.multiple = 1;
    proofs = judged(bounds->calls[index].result, by_worst_case).differences;
  }
  const auto is_proved = [&](const Difference& difference) {
    return !is_of_element(difference) || is_among(difference, proofs);
  };
  if (!std::ranges::all_of(differences, is_proved)) {
    GRAPHGATE_TRY(const auto* const widened, runs.widened_oracle());
    const bool has_bounds = index < bounds->calls.size();
    const CallReport again =
        judged(has_bounds ? with_no_number_open(widened->at(index), subject.calls[index].result,
                                                bounds->calls[index].result)
                          : widened->at(index),
               options);
    out.explained = static_cast<std::int64_t>(std::erase_if(differences, [&](const auto& it) {
      return !is_proved(it) && !is_among(it, again.differences);
    }));
    if (out.explained > 0) {
      out.call.worst_ratio = again.worst_ratio;
      out.call.worst_error = again.worst_error;
      out.call.worst_allowed = again.worst_allowed;
    }
  }
  for (const Difference& difference : differences) {
    out.is_proved.push_back(is_proved(difference));
  }
  return out;
}

}  // namespace graphgate::conformance
