#include "optimized/kernels/einsum_equation.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace graphgate::optimized {
namespace {

using Order = EinsumOrder;
constexpr char kEllipsis = '.';

// "ij,...k" as labels; an ellipsis is one label.
std::string read_labels(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text.substr(i, 3) == "...") {
      if (out.find(kEllipsis) != std::string::npos) throw OpError("two ellipses in one operand");
      out += kEllipsis;
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(text[i])) != 0) {
      out += text[i];
    } else {
      throw OpError("einsum: '" + std::string(1, text[i]) + "' is no subscript");
    }
  }
  return out;
}

struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

// Without an arrow: the ellipsis, then all labels that occur once, A-Z before a-z.
std::string implied_result(const std::vector<std::string>& operands) {
  std::string all;
  for (const std::string& operand : operands) all += operand;
  std::string out;
  for (int c = 0; c < 128; ++c) {
    const auto count = std::count(all.begin(), all.end(), static_cast<char>(c));
    if (c == kEllipsis ? count > 0 : count == 1) out += static_cast<char>(c);
  }
  return out;
}

Equation read_equation(std::string_view text) {
  const std::size_t arrow = text.find("->");
  std::string_view left = text.substr(0, arrow);
  Equation out;
  while (true) {
    const std::size_t comma = left.find(',');
    out.operands.push_back(read_labels(left.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  out.result = arrow == std::string_view::npos ? implied_result(out.operands)
                                               : read_labels(text.substr(arrow + 2));
  return out;
}

std::int64_t ellipsis_rank_of(const std::string& labels, const Tensor& operand) {
  const bool has = labels.find(kEllipsis) != std::string::npos;
  const auto named = static_cast<std::int64_t>(labels.size()) - (has ? 1 : 0);
  if (has ? operand.rank() < named : operand.rank() != named) {
    throw OpError("einsum: the subscripts '" + labels + "' do not fit an operand of rank " +
                  std::to_string(operand.rank()));
  }
  return operand.rank() - named;
}

Order order_of(const Equation& equation, const std::vector<Tensor>& operands) {
  Order order;
  order.position.fill(-1);
  std::string all;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    all += equation.operands[i];
    order.ellipsis_rank =
        std::max(order.ellipsis_rank, ellipsis_rank_of(equation.operands[i], operands[i]));
  }
  const auto place = [&](char label) {
    order.position[static_cast<unsigned char>(label)] = order.rank;
    order.rank += label == kEllipsis ? order.ellipsis_rank : 1;
  };
  for (const char label : equation.result) {
    if (order.position[static_cast<unsigned char>(label)] >= 0) {
      throw OpError("einsum: a subscript appears twice in the result");
    }
    if (label != kEllipsis && all.find(label) == std::string::npos) {
      throw OpError("einsum: a subscript of the result is in no operand");
    }
    place(label);
  }
  order.result_rank = order.rank;
  std::sort(all.begin(), all.end());
  for (const char label : all) {
    if (order.position[static_cast<unsigned char>(label)] < 0) place(label);
  }
  return order;
}

// An operand as a view with the common dimensions; a repeated label is a diagonal.
Tensor placed(const Order& order, const std::string& labels, const Tensor& operand) {
  Tensor out = operand;
  out.sizes.assign(at(order.rank), 1);
  out.strides.assign(at(order.rank), 0);
  std::int64_t dim = 0;
  const auto put = [&](std::int64_t to) {
    const std::int64_t size = operand.sizes[at(dim)];
    if (out.strides[at(to)] != 0 && out.sizes[at(to)] != size) {
      throw OpError("einsum: a repeated subscript has two sizes");
    }
    out.sizes[at(to)] = size;
    out.strides[at(to)] += operand.strides[at(dim++)];
  };
  for (const char label : labels) {
    std::int64_t to = order.position[static_cast<unsigned char>(label)];
    if (label != kEllipsis) {
      put(to);
      continue;
    }
    const std::int64_t mine = ellipsis_rank_of(labels, operand);
    to += order.ellipsis_rank - mine;
    for (std::int64_t i = 0; i < mine; ++i) put(to + i);
  }
  return out;
}

}  // namespace

Einsum read_einsum(const KernelCall& call) {
  const Equation equation = read_equation(call.text("equation"));
  Einsum out;
  std::vector<Tensor> given;
  for (const Tensor* tensor : call.tensors("tensors")) {
    if (!tensor || tensor->dtype != call.tensors("tensors").front()->dtype) {
      throw OpError("einsum: the operands must have one dtype");
    }
    given.push_back(*tensor);
  }
  if (given.empty() || given.size() != equation.operands.size()) {
    throw OpError("einsum: the equation and the operands differ in number");
  }
  out.order = order_of(equation, given);
  Sizes common;
  for (std::size_t i = 0; i < given.size(); ++i) {
    out.operands.push_back(placed(out.order, equation.operands[i], given[i]));
    common = broadcast_sizes(common, out.operands.back().sizes);
  }
  return out;
}

}  // namespace graphgate::optimized
