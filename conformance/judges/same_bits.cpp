#include "conformance/judges/same_bits.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <span>

#include "conformance/compare/element.h"
#include "conformance/compare/input_spread.h"

namespace graphgate::conformance {
namespace {

using spec::CallResult;
using spec::HostTensor;

std::string print_number(long double value, const std::byte* bytes, spec::DType dtype) {
  const auto size = static_cast<std::size_t>(spec::item_size_bytes(dtype));
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes, size);
  char text[32];
  std::snprintf(text, sizeof(text), " (bits 0x%0*llx)", static_cast<int>(2 * size),
                static_cast<unsigned long long>(bits));
  return shown_element(std::span(&value, 1), dtype) + text;
}

// How one element counts.
enum class Weight { kCounts, kOpen, kIgnored };

Weight weigh(const spec::Spread* spread, std::size_t index, const BitOptions& options) {
  if (!spread || index >= spread->radii.size()) {
    return options.exact_only ? Weight::kIgnored : Weight::kCounts;
  }
  const double radius = spread->radii[index];
  if (std::isinf(radius) || std::isnan(radius)) return Weight::kOpen;
  if (!options.exact_only) return Weight::kCounts;
  const bool is_exact = radius == 0 && !std::isnan(spread->values[index]);
  return is_exact ? Weight::kCounts : Weight::kIgnored;
}

// Elements of one pair of tensors, already known to have some bits that differ. Parts of complex
// elements are looked at one by one.
class ElementScan {
 public:
  ElementScan(const HostTensor& actual, const HostTensor& expected, const spec::Spread* spread,
              const BitOptions& options)
      : actual_(actual),
        part_(spec::component_dtype(actual.dtype)),
        spread_(spread),
        options_(options) {
    a_ = spec::packed_bytes(actual);
    b_ = spec::packed_bytes(expected);
    same_ = a_ == b_;
    if (same_) return;
    a_values_ = decode_elements(actual);
    b_values_ = decode_elements(expected);
  }

  std::string run(const std::string& expected_name, BitReport& report) {
    const std::size_t parts = parts_of(actual_.dtype);
    const auto count = static_cast<std::size_t>(spec::element_count(actual_.sizes)) * parts;
    std::size_t differing = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Weight weight = weigh(spread_, i, options_);
      report.compared += weight == Weight::kCounts ? 1 : 0;
      report.open += weight == Weight::kOpen ? 1 : 0;
      if (same_ || weight != Weight::kCounts || is_same(i)) continue;
      if (differing++ == 0) first = i;
    }
    if (differing == 0) return "";
    const std::size_t size = item();
    return shown_part(first % parts, actual_.dtype) + "element " +
           print_index(static_cast<std::int64_t>(first / parts), actual_.sizes) + " is " +
           print_number(a_values_[first], &a_[first * size], part_) + ", " + expected_name + " " +
           print_number(b_values_[first], &b_[first * size], part_) + " (" +
           std::to_string(differing) + " of " + std::to_string(count) +
           (parts == 1 ? " elements differ)" : " parts differ)");
  }

 private:
  [[nodiscard]] std::size_t item() const {
    return static_cast<std::size_t>(spec::item_size_bytes(part_));
  }
  [[nodiscard]] bool is_same(std::size_t i) const {
    if (std::memcmp(&a_[i * item()], &b_[i * item()], item()) == 0) return true;
    if (std::isnan(a_values_[i]) && std::isnan(b_values_[i])) return true;
    return !options_.signed_zeros && a_values_[i] == b_values_[i];
  }

  const HostTensor& actual_;
  spec::DType part_;  // of the numbers that are compared
  const spec::Spread* spread_;
  const BitOptions& options_;
  std::vector<std::byte> a_;
  std::vector<std::byte> b_;
  bool same_ = false;
  std::vector<long double> a_values_;
  std::vector<long double> b_values_;
};

std::string describe_number(const spec::OutputValue& value) {
  char text[64] = "None";
  if (const auto* i = std::get_if<std::int64_t>(&value)) return std::to_string(*i);
  if (const auto* b = std::get_if<bool>(&value)) return *b ? "True" : "False";
  if (const auto* x = std::get_if<double>(&value)) std::snprintf(text, sizeof(text), "%.17g", *x);
  if (std::holds_alternative<HostTensor>(value)) return "a tensor";
  return text;
}

bool same_number(const spec::OutputValue& a, const spec::OutputValue& b) {
  if (a.index() != b.index()) return false;
  if (const auto* x = std::get_if<double>(&a)) {
    const double y = std::get<double>(b);
    const bool same_bits = std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(y);
    return same_bits || (std::isnan(*x) && std::isnan(y));
  }
  if (const auto* i = std::get_if<std::int64_t>(&a)) return *i == std::get<std::int64_t>(b);
  if (const auto* flag = std::get_if<bool>(&a)) return *flag == std::get<bool>(b);
  return true;
}

spec::OutputValue as_output(const spec::InputValue& value) {
  return std::visit([](const auto& x) { return spec::OutputValue(x); }, value);
}

// Every tensor that a call returns, with its name; and numbers of storages in order of first use.
struct Returned {
  std::vector<std::string> names;
  std::vector<spec::OutputValue> values;
  std::vector<const spec::Spread*> spreads;
  std::deque<spec::Spread> made;  // some of these
};

const spec::Spread* spread_at(const std::vector<spec::Spread>* spreads, std::size_t index) {
  return spreads && index < spreads->size() ? &(*spreads)[index] : nullptr;
}

Returned returned_of(const CallResult& result, const CallResult* oracle) {
  Returned all;
  const auto add = [&all](std::string name, spec::OutputValue value, const spec::Spread* spread) {
    all.names.push_back(std::move(name));
    all.values.push_back(std::move(value));
    all.spreads.push_back(spread);
  };
  for (std::size_t i = 0; i < result.outputs.size(); ++i) {
    add("output " + std::to_string(i), result.outputs[i],
        spread_at(oracle ? &oracle->output_spreads : nullptr, i));
  }
  for (std::size_t i = 0; i < result.final_inputs.size(); ++i) {
    add("final input " + std::to_string(i), as_output(result.final_inputs[i]),
        oracle ? spread_of_input(*oracle, i, all.made.emplace_back()) : nullptr);
  }
  for (std::size_t i = 0; i < result.final_states.size(); ++i) {
    const spec::Spread* spread = nullptr;
    for (std::size_t k = 0; oracle && k < oracle->state_targets.size(); ++k) {
      if (oracle->state_targets[k] != result.state_targets[i]) continue;
      spread = spread_at(&oracle->final_state_spreads, k);
    }
    add("state '" + result.state_targets[i] + "'", result.final_states[i], spread);
  }
  return all;
}

// Of each tensor with elements: the first tensor whose storage it shares, or its own name.
std::vector<std::string> sharing_of(const Returned& all) {
  std::map<const spec::HostStorage*, std::string> first;
  std::vector<std::string> out;
  for (std::size_t i = 0; i < all.values.size(); ++i) {
    const auto* tensor = std::get_if<HostTensor>(&all.values[i]);
    if (!tensor || spec::element_count(tensor->sizes) == 0) {
      out.emplace_back();
      continue;
    }
    out.push_back(first.emplace(tensor->storage.get(), all.names[i]).first->second);
  }
  return out;
}

void compare_one(std::size_t index, const Returned& a, const Returned& b,
                 const std::string& expected_name, const BitOptions& options, BitReport& report) {
  const auto note = [&](const std::string& message) {
    if (!message.empty()) report.differences.push_back({a.names[index], message});
  };
  const auto* x = std::get_if<HostTensor>(&a.values[index]);
  const auto* y = std::get_if<HostTensor>(&b.values[index]);
  if (!x || !y) {
    if (options.exact_only) return;
    ++report.compared;
    if (!same_number(a.values[index], b.values[index])) {
      note("is " + describe_number(a.values[index]) + ", " + expected_name + " " +
           describe_number(b.values[index]));
    }
    return;
  }
  std::string geometry = compare_form(*x, geometry_of(*y));
  if (geometry.empty() && options.layouts) geometry = compare_layout(*x, geometry_of(*y));
  if (!geometry.empty()) return note(geometry + " (" + expected_name + ")");
  note(compare_element_bits(*x, *y, b.spreads[index], expected_name, options, report));
}

// "; it alone has state 'w'": the first name that one of two lists lacks.
std::string only_one_has(const Returned& a, const Returned& b) {
  for (const auto& [has, lacks] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    for (const std::string& name : has->names) {
      if (std::find(lacks->names.begin(), lacks->names.end(), name) != lacks->names.end()) continue;
      return "; " + std::string(has == &a ? "it alone" : "the latter alone") + " has " + name;
    }
  }
  return "";
}

}  // namespace

std::string compare_element_bits(const HostTensor& actual, const HostTensor& expected,
                                 const spec::Spread* spread, const std::string& expected_name,
                                 const BitOptions& options, BitReport& report) {
  return ElementScan(actual, expected, spread, options).run(expected_name, report);
}

BitReport compare_bits(const CallResult& actual, const CallResult& expected,
                       const std::string& expected_name, const BitOptions& options) {
  BitReport report;
  const Returned a = returned_of(actual, nullptr);
  const Returned b = returned_of(expected, options.oracle);
  if (a.names != b.names) {
    report.differences.push_back(
        {"results", "there are " + std::to_string(actual.outputs.size()) + " outputs and " +
                        std::to_string(actual.final_states.size()) + " states, " + expected_name +
                        " " + std::to_string(expected.outputs.size()) + " and " +
                        std::to_string(expected.final_states.size()) + only_one_has(a, b)});
    return report;
  }
  for (std::size_t i = 0; i < a.names.size(); ++i) {
    compare_one(i, a, b, expected_name, options, report);
  }
  if (!options.sharing) return report;
  const auto a_shares = sharing_of(a);
  const auto b_shares = sharing_of(b);
  for (std::size_t i = 0; i < a_shares.size(); ++i) {
    if (a_shares[i] == b_shares[i] || a_shares[i].empty() || b_shares[i].empty()) continue;
    const auto words = [&](const std::string& with) {
      return with == a.names[i] ? std::string("nothing before it") : with;
    };
    report.differences.push_back({a.names[i], "shares its storage with " + words(a_shares[i]) +
                                                  ", " + expected_name + " with " +
                                                  words(b_shares[i])});
  }
  return report;
}

bool began_otherwise(const Trace& actual, const Trace& expected, std::size_t call) {
  const auto has_other_bytes = [](const HostTensor& a, const HostTensor& b) {
    return a.sizes == b.sizes && a.dtype == b.dtype &&
           spec::packed_bytes(a) != spec::packed_bytes(b);
  };
  const auto differ = [&](const std::vector<spec::InputValue>& a,
                          const std::vector<spec::InputValue>& b) {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      const auto* x = std::get_if<HostTensor>(&a[i]);
      const auto* y = std::get_if<HostTensor>(&b[i]);
      if (x && y && x->storage != y->storage && has_other_bytes(*x, *y)) return true;
    }
    return false;
  };
  for (std::size_t c = 0; c < std::min({call, actual.calls.size(), expected.calls.size()}); ++c) {
    const CallResult& a = actual.calls[c].result;
    const CallResult& b = expected.calls[c].result;
    for (std::size_t i = 0; i < std::min(a.final_states.size(), b.final_states.size()); ++i) {
      if (has_other_bytes(a.final_states[i], b.final_states[i])) return true;
    }
  }
  return differ(actual.calls[call].inputs, expected.calls[call].inputs);
}

}  // namespace graphgate::conformance
