#include "conformance/compare/input_spread.h"

#include <variant>

#include "conformance/compare/element.h"
#include "spec/spread_limit.h"

namespace graphgate::conformance {
namespace {

// The tensor whose spread was left out; null where it was not.
const spec::HostTensor* left_out(const spec::CallResult& oracle, std::size_t index) {
  if (!oracle.final_input_spreads[index].values.empty()) return nullptr;
  if (index >= oracle.final_inputs.size()) return nullptr;
  const auto* tensor = std::get_if<spec::HostTensor>(&oracle.final_inputs[index]);
  const bool is_large = tensor && spec::element_count(tensor->sizes) > spec::kMostSpreadElements;
  return is_large ? tensor : nullptr;
}

}  // namespace

const spec::Spread* spread_of_input(const spec::CallResult& oracle, std::size_t index,
                                    spec::Spread& made) {
  if (index >= oracle.final_input_spreads.size()) return nullptr;
  const spec::HostTensor* tensor = left_out(oracle, index);
  if (!tensor) return &oracle.final_input_spreads[index];
  made.values = decode_elements(*tensor);
  made.radii.assign(made.values.size(), 0);
  return &made;
}

bool is_input_left_out(const spec::CallResult& oracle, std::size_t index) {
  return left_out(oracle, index) != nullptr;
}

std::int64_t numbers_of_input(const spec::CallResult& oracle, std::size_t index) {
  if (const spec::HostTensor* tensor = left_out(oracle, index)) {
    return spec::element_count(tensor->sizes) * static_cast<std::int64_t>(parts_of(tensor->dtype));
  }
  return std::ssize(oracle.final_input_spreads[index].values);
}

}  // namespace graphgate::conformance
