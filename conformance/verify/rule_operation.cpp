// V4: a step that is given what the graph's node is given computes what the node computes.
//
// A node may be taken apart, be one with others, or update in place what it made anew: then a step
// of its name has another op, and is given something else. No schema says which ops compute the
// same. So this rule speaks only where the answer is known: of pointwise ops and reductions of
// ATen, on floats, where the step is given the very tensors and numbers that
// the node is given, in the same places. Two such ops are one function only where
// may_be_one_function() says so. Of the same op, the numbers that scale and shift (alpha, a bound,
// an epsilon) must be those of the graph.
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "conformance/verify/rule_families.h"
#include "conformance/verify/same_function.h"
#include "spec/text_lexer.h"
#include "spec/type_text.h"

namespace graphgate::verify {
namespace {

using spec::Argument;
using spec::Node;
using spec::OpRow;

// What a node gives an argument of its schema; null where it gives none. `place` is that among
// Node::arguments.
struct Given {
  const Argument* argument = nullptr;
  std::uint32_t place = 0;
};

// By argument of the schema, those that are only written (out=) apart. Nothing where the node gives
// one that the schema does not have.
std::optional<std::vector<Given>> given_to(const Node& node, const OpRow& row) {
  std::vector<Given> out(row.schema.arguments.size());
  for (std::uint32_t a = 0; a < node.arguments.size(); ++a) {
    const auto index = row.schema.find_argument(node.arguments[a].name);
    if (!index) return std::nullopt;
    const spec::SchemaArgument& argument = row.schema.arguments[*index];
    if (argument.kwarg_only && argument.type.writes()) continue;
    out[*index] = {&node.arguments[a].argument, a};
  }
  return out;
}

std::optional<double> number_of(const Argument& argument) {
  if (const auto* flag = argument.as<bool>()) return *flag ? 1.0 : 0.0;
  if (const auto* integer = argument.as<std::int64_t>()) return static_cast<double>(*integer);
  if (const auto* real = argument.as<double>()) return *real;
  return std::nullopt;
}

// Numbers are the same if a float32 holds both alike: a plan may have kept them so.
bool is_same_number(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || static_cast<float>(a) == static_cast<float>(b);
}

bool is_same_constant(const Argument& a, const Argument& b) {
  const auto x = number_of(a);
  const auto y = number_of(b);
  return x && y ? is_same_number(*x, *y) : a == b;
}

// The number that an argument has where nobody gives one.
std::optional<double> default_number(const spec::SchemaArgument& argument) {
  if (!argument.default_value) return std::nullopt;
  const auto& data = argument.default_value->value.data;
  if (const auto* integer = std::get_if<std::int64_t>(&data)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&data)) return *real;
  return std::nullopt;
}

// Whether what is given is the argument's default.
bool is_default(const Argument& given, const spec::SchemaArgument& argument) {
  if (!argument.default_value) return false;
  const auto& data = argument.default_value->value.data;
  if (given.as<spec::None>()) return argument.default_value->value.is_none();
  if (const auto* text = given.as<std::string>()) {
    const auto* expected = std::get_if<std::string>(&data);
    return expected != nullptr && *expected == *text;
  }
  if (const auto* flag = given.as<bool>()) {
    const auto* expected = std::get_if<bool>(&data);
    return expected != nullptr && *expected == *flag;
  }
  const auto number = number_of(given);
  const auto expected = default_number(argument);
  return number && expected && is_same_number(*number, *expected);
}

// Whether 0 or 1 is all that makes it another function: x + 0 is x - 0.
bool is_neutral(const Argument& given) {
  const auto number = number_of(given);
  return number && (*number == 0 || *number == 1);
}

bool is_arithmetic(std::string_view family) {
  constexpr std::string_view kFamilies[] = {"add",
                                            "bitwise_left_shift",
                                            "bitwise_or",
                                            "div",
                                            "bitwise_right_shift",
                                            "bitwise_xor",
                                            "divide",
                                            "float_power",
                                            "floor_divide",
                                            "fmod",
                                            "mul",
                                            "multiply",
                                            "pow",
                                            "remainder",
                                            "rsub",
                                            "sub",
                                            "subtract",
                                            "true_divide",
                                            "__lshift__",
                                            "__rshift__",
                                            "__or__",
                                            "__xor__"};
  return std::ranges::find(kFamilies, family) != std::end(kFamilies);
}

// An op of ATen that makes the same of the same.
bool is_known(const OpRow& row) {
  return row.schema.ns == "aten" && !row.has_tag("nondeterministic_seeded");
}

bool computes_by_elements(const OpRow& row) {
  return row.has_tag("pointwise") || row.has_tag("reduction");
}

class OperationCheck {
 public:
  OperationCheck(const RuleCase& rule_case, Findings& out)
      : case_(rule_case), facts_(*rule_case.facts), flow_(*rule_case.flow), out_(out) {}

  void check() {
    std::size_t first = 0;  // reads stand in the order of nodes
    for (std::uint32_t n = 0; n < flow_.nodes.size(); ++n) {
      while (first < flow_.reads.size() && flow_.reads[first].node < n) ++first;
      std::size_t end = first;
      while (end < flow_.reads.size() && flow_.reads[end].node == n) ++end;
      const FlowNode& node = flow_.nodes[n];
      if (node.match == NodeMatch::kExtra || !node.graph_node || node.row == nullptr) continue;
      const NodeFact& fact = facts_.nodes[*node.graph_node];
      if (fact.use.row == nullptr || !is_known(*node.row) || !is_known(*fact.use.row)) continue;
      reads_ = std::span(flow_.reads).subspan(first, end - first);
      check_node(node, fact);
    }
  }

 private:
  void check_node(const FlowNode& node, const NodeFact& fact) {
    const Node& original = facts_.node(*node.graph_node);
    const auto given = given_to(*node.node, *node.row);
    const auto expected = given_to(original, *fact.use.row);
    if (!given || !expected) return;
    if (node.match == NodeMatch::kSame) {
      check_numbers(node, fact, *given, *expected);
    } else if (computes_by_elements(*node.row) && computes_by_elements(*fact.use.row)) {
      check_op(node, fact, *given, *expected);
    }
  }

  void check_op(const FlowNode& node, const NodeFact& fact, const std::vector<Given>& given,
                const std::vector<Given>& expected) {
    const std::string family = node.row->schema.base_name();
    const std::string wanted = fact.use.row->schema.base_name();
    if (may_be_one_function(family, wanted)) return;
    const bool may_be_neutral = is_arithmetic(family) && is_arithmetic(wanted);
    bool reads_tensors = false;
    for (std::size_t i = 0; i < std::max(given.size(), expected.size()); ++i) {
      const Argument* a = i < given.size() ? given[i].argument : nullptr;
      const Argument* b = i < expected.size() ? expected[i].argument : nullptr;
      if (a == nullptr && b == nullptr) continue;
      if (a == nullptr || b == nullptr) {
        const OpRow& row = a != nullptr ? *node.row : *fact.use.row;
        if (!is_default(a != nullptr ? *a : *b, row.schema.arguments[i])) return;
      } else if (a->as<spec::ValueId>() || b->as<spec::ValueId>()) {
        if (!is_same_operand(given[i], expected[i], fact)) return;
        reads_tensors = true;
      } else if (!is_same_constant(*a, *b) || (may_be_neutral && is_neutral(*a))) {
        return;
      }
    }
    if (!reads_tensors || reduces_nothing(node, fact)) return;
    report(node, place() + " is given what the graph gives to " +
                     facts_.name_of(facts_.writer_of(*node.graph_node)) +
                     ", and computes another function");
  }

  void check_numbers(const FlowNode& node, const NodeFact& fact, const std::vector<Given>& given,
                     const std::vector<Given>& expected) {
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (given[i].argument == nullptr || !is_scale(node.row->schema.arguments[i].type)) continue;
      const auto found = number_of(*given[i].argument);
      const std::string& name = node.row->schema.arguments[i].name;
      const auto index = fact.use.row->schema.find_argument(name);
      if (!found || !index) continue;
      const auto wanted = expected[*index].argument != nullptr
                              ? number_of(*expected[*index].argument)
                              : default_number(fact.use.row->schema.arguments[*index]);
      if (!wanted || is_same_number(*found, *wanted)) continue;
      if (!is_given_the_same_tensors(node, fact, given, expected)) return;
      report(node, place() + " has " + name + " = " + spec::print_float(*found) +
                       "; the graph says " + spec::print_float(*wanted));
    }
  }

  // A number that is computed with; dimensions may be counted from either end.
  static bool is_scale(const spec::SchemaType& type) {
    return !type.is_list() &&
           (type.base == spec::BaseType::kScalar || type.base == spec::BaseType::kFloat ||
            type.base == spec::BaseType::kTensor);
  }

  bool is_given_the_same_tensors(const FlowNode& node, const NodeFact& fact,
                                 const std::vector<Given>& given,
                                 const std::vector<Given>& expected) const {
    bool some = false;
    for (std::size_t i = 0; i < given.size(); ++i) {
      const auto index = fact.use.row->schema.find_argument(node.row->schema.arguments[i].name);
      if (given[i].argument == nullptr || !index || expected[*index].argument == nullptr) continue;
      if (!given[i].argument->as<spec::ValueId>()) continue;
      if (!is_same_operand(given[i], expected[*index], fact)) return false;
      some = true;
    }
    return some;
  }

  // The step reads there what the graph's node reads, as those left it whom the graph names.
  bool is_same_operand(const Given& given, const Given& expected, const NodeFact& fact) const {
    const auto* id = given.argument->as<spec::ValueId>();
    if (id == nullptr || !expected.argument->as<spec::ValueId>()) return false;
    const auto operand = std::ranges::find_if(
        fact.operands, [&](const OperandFact& one) { return one.use.argument == expected.place; });
    const auto read = std::ranges::find_if(reads_, [&](const FlowRead& one) {
      return case_.accesses.all[one.access].argument == given.place;
    });
    if (operand == fact.operands.end() || !operand->tensor || read == reads_.end()) return false;
    const spec::Value& value = case_.plan().values[id->index].value;
    if (!value.type || !spec::is_floating_point(value.type->dtype)) return false;
    if (operand->tensor->geometry) {
      const auto geometry = spec::concrete_geometry(*value.type);
      if (!geometry || geometry->sizes != operand->tensor->geometry->sizes ||
          value.type->dtype != operand->tensor->geometry->dtype) {
        return false;
      }
    }
    const Writers writers = operand->tensor->writers();
    const Lineage& lineage = *case_.lineage;
    return !read->contents.empty() &&
           std::ranges::all_of(read->contents, [&](const Content& content) {
             return !content.writers.empty() &&
                    std::ranges::all_of(content.writers, [&](Writer token) {
                      return std::ranges::any_of(
                          writers, [&](Writer writer) { return lineage.is_of(writer, token); });
                    });
           });
  }

  // A reduction of one element each: a sum of it is its mean.
  bool reduces_nothing(const FlowNode& node, const NodeFact& fact) const {
    if (node.row->has_tag("pointwise") && fact.use.row->has_tag("pointwise")) return false;
    if (fact.results.empty() || !fact.results.front().geometry) return true;
    const auto& read = *case_.accesses.all[reads_.front().access].value;
    const auto& type = case_.plan().values[read.index].value.type;
    const auto geometry = type ? spec::concrete_geometry(*type) : std::nullopt;
    return !geometry || spec::element_count(geometry->sizes) ==
                            spec::element_count(fact.results.front().geometry->sizes);
  }

  std::string place() const {
    return case_.accesses.place_of(case_.accesses.all[reads_.front().access]);
  }

  void report(const FlowNode& node, std::string message) {
    out_.push_back(
        {.rule = "V4.other-operation", .message = std::move(message), .nodes = {node.node->name}});
  }

  const RuleCase& case_;
  const GraphFacts& facts_;
  const PlanFlow& flow_;
  std::span<const FlowRead> reads_;  // of the node that is looked at
  Findings& out_;
};

}  // namespace

void check_operations(const RuleCase& rule_case, Findings& out) {
  if (rule_case.facts != nullptr) OperationCheck(rule_case, out).check();
}

}  // namespace graphgate::verify
