#include "reference/ops/einsum_equation.h"

#include <algorithm>
#include <cctype>

namespace graphgate::reference {
namespace {

std::string parse_labels(std::string_view text) {
  std::string labels;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text.substr(i, 3) == "..." && labels.find(kEllipsis) == std::string::npos) {
      labels += kEllipsis;
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(text[i])) != 0) {
      labels += text[i];
    } else {
      throw OpError("einsum: '" + std::string(text) + "' is not a list of labels");
    }
  }
  return labels;
}

// The output of an equation without "->": "..." first, then in alphabetical order (capitals first)
// the labels that occur once.
std::string implied_output(const std::map<char, int>& counts) {
  std::string output;
  if (counts.contains(kEllipsis)) output += kEllipsis;
  for (const auto& [label, count] : counts) {
    if (label != kEllipsis && count == 1) output += label;
  }
  return output;
}

}  // namespace

Equation parse_equation(std::string_view text, std::size_t operand_count) {
  Equation equation;
  const std::size_t arrow = text.find("->");
  if (arrow != std::string_view::npos) equation.output = parse_labels(text.substr(arrow + 2));
  std::string_view left = text.substr(0, arrow);
  for (bool more = true; more;) {
    const std::size_t comma = left.find(',');
    equation.inputs.push_back(parse_labels(left.substr(0, comma)));
    more = comma != std::string_view::npos;
    if (more) left.remove_prefix(comma + 1);
  }
  if (equation.inputs.size() != operand_count) {
    throw OpError("einsum: the equation has " + std::to_string(equation.inputs.size()) +
                  " operands, the call " + std::to_string(operand_count));
  }
  return equation;
}

// Throws when the labels do not fit the operand's rank.
std::int64_t covered_dims(const std::string& labels, const Tensor& operand) {
  const bool has_ellipsis = labels.find(kEllipsis) != std::string::npos;
  const std::int64_t named = static_cast<std::int64_t>(labels.size()) - (has_ellipsis ? 1 : 0);
  if (named > operand.rank() || (!has_ellipsis && named != operand.rank())) {
    throw OpError("einsum: " + std::to_string(named) + " labels for an operand of rank " +
                  std::to_string(operand.rank()));
  }
  return operand.rank() - named;
}

Order order_of(const Equation& equation, const std::vector<TensorRef>& operands) {
  Order order;
  std::map<char, int> counts;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::int64_t covered = covered_dims(equation.inputs[i], *operands[i]);
    order.ellipsis_dims = std::max(order.ellipsis_dims, covered);
    for (const char label : equation.inputs[i]) ++counts[label];
  }
  const auto append = [&order](char label) {
    order.place[label] = order.dims;
    order.dims += label == kEllipsis ? order.ellipsis_dims : 1;
  };
  for (const char label : equation.output ? *equation.output : implied_output(counts)) {
    const bool is_known = counts.contains(label) || label == kEllipsis;
    if (!is_known || order.place.contains(label)) {
      throw OpError(std::string("einsum: output label '") + label + "' is unknown or occurs twice");
    }
    append(label);
  }
  order.output_dims = order.dims;
  for (const auto& [label, count] : counts) {
    if (!order.place.contains(label)) append(label);
  }
  return order;
}

}  // namespace graphgate::reference
