// V10, padding: a plan that serves smaller calls lists every dimension that the padded symbol
// fills, and nothing that it computes lets a row behind the true size reach one before it.
//
// The types that the program states say which tensors have rows. How ops mix rows is not known
// here: what is certain is a failure, what is likely is suspect.
#include <algorithm>
#include <set>

#include "conformance/verify/rule_families.h"

namespace graphgate::verify {
namespace {

using spec::Graph;
using spec::Node;
using spec::Plan;
using spec::SymExpr;
using spec::Value;
using spec::ValueId;
using spec::ValueKind;

class PaddingCheck {
 public:
  PaddingCheck(const RuleCase& rule_case, Findings& out)
      : rule_case_(rule_case),
        plan_(rule_case.plan()),
        program_(*rule_case.plan_case.program),
        symbol_(plan_.padding->symbol),
        out_(out) {}

  void check() {
    check_dims();
    check_nodes(program_.graph);
    if (rule_case_.facts != nullptr) check_state(*rule_case_.facts);
  }

 private:
  [[nodiscard]] bool hangs_on(const SymExpr& expr) const {
    const auto names = spec::free_symbols(expr);
    return std::ranges::find(names, symbol_) != names.end();
  }

  // The dimension that is as long as the symbol.
  [[nodiscard]] std::optional<std::uint32_t> dim_of(const Value& value) const {
    if (value.kind != ValueKind::kTensor || !value.type) return std::nullopt;
    const auto& sizes = value.type->sizes;
    for (std::uint32_t d = 0; d < sizes.size(); ++d) {
      if (sizes[d].op() == spec::SymOp::kSymbol && sizes[d].name() == symbol_) return d;
    }
    return std::nullopt;
  }

  [[nodiscard]] bool has_rows(const Value& value) const {
    if (value.kind != ValueKind::kTensor || !value.type) return false;
    return std::ranges::any_of(value.type->sizes,
                               [&](const SymExpr& size) { return hangs_on(size); });
  }

  // --- Which dimensions are listed --------------------------------------------------------------

  void check_dims() {
    const auto& inputs = plan_.padding->input_dims;
    for (std::size_t i = 0; i < std::min(inputs.size(), program_.inputs.size()); ++i) {
      if (program_.inputs[i].constant || plan_.inputs[i].constant) continue;
      compare("input '" + program_.inputs[i].target + "'",
              dim_of(program_.graph.value(program_.inputs[i].value)), inputs[i]);
    }
    const auto& outputs = plan_.padding->output_dims;
    std::size_t next = 0;
    for (std::size_t i = 0; i < program_.outputs.size() && next < outputs.size(); ++i) {
      if (program_.outputs[i].kind != spec::OutputKind::kUserOutput) continue;
      const std::size_t at = next++;
      const auto* id = program_.graph.outputs[i].as<ValueId>();
      if (id != nullptr && program_.graph.value(*id).type) {
        compare("output " + std::to_string(at), dim_of(program_.graph.value(*id)), outputs[at]);
      }
    }
  }

  void compare(const std::string& what, std::optional<std::uint32_t> stated,
               std::optional<std::uint32_t> listed) {
    if (stated == listed) return;
    const auto text = [](std::optional<std::uint32_t> dim) {
      return dim ? "dimension " + std::to_string(*dim) : std::string("no dimension");
    };
    out_.push_back({.rule = "V10.pad-dims",
                    .message = what + " has " + symbol_ + " in " + text(stated) +
                               " by the program, and the plan pads or cuts " + text(listed) +
                               " of it"});
  }

  // --- What mixes rows --------------------------------------------------------------------------

  void check_nodes(const Graph& graph) {
    for (const Node& node : graph.nodes) {
      const spec::OpRow* row = rule_case_.plan_case.ops->find(node.op);
      // Results of updates are what was updated: see check_state.
      const bool makes = row != nullptr && !row->effects.is_view && !row->effects.mutates();
      if (makes) check_node(graph, node, *row);
    }
    for (const Graph& subgraph : graph.subgraphs) check_nodes(subgraph);
  }

  // An op that is given a number that depends on the symbol may know how many rows are true.
  [[nodiscard]] bool knows_the_count(const Graph& graph, const Node& node) const {
    bool found = false;
    spec::for_each_operand(node, [&](ValueId id) {
      const Value& value = graph.value(id);
      found = found || (value.expr && hangs_on(*value.expr));
    });
    return found;
  }

  void check_node(const Graph& graph, const Node& node, const spec::OpRow& row) {
    const Value* rows = nullptr;
    spec::for_each_operand(node, [&](ValueId id) {
      if (rows == nullptr && has_rows(graph.value(id))) rows = &graph.value(id);
    });
    if (rows == nullptr || takes_no_byte(row) || knows_the_count(graph, node)) return;
    bool has_result = false;
    bool keeps_rows = false;
    for (const spec::NodeResult& result : node.results) {
      for (const ValueId id : result.values) {
        const Value& value = graph.value(id);
        has_result = has_result || (value.kind == ValueKind::kTensor && value.type);
        keeps_rows = keeps_rows || has_rows(value);
      }
    }
    if (!has_result) return;  // a size, or a check
    if (adds_a_dimension(graph, node, *rows)) return;
    if (!keeps_rows) {
      report(node, row.has_tag("reduction") ? spec::Outcome::kFail : spec::Outcome::kSuspect,
             "makes a result without rows of %" + rows->name);
    } else if (!is_copied_view(row) && names_rows(graph, node, *rows)) {
      report(node, spec::Outcome::kSuspect, "works along the rows of %" + rows->name);
    }
  }

  // `dim` of stack and its kin is that of the result, not one of the operand.
  static bool adds_a_dimension(const Graph& graph, const Node& node, const Value& rows) {
    if (node.results.size() != 1 || node.results.front().values.size() != 1) return false;
    const Value& result = graph.value(node.results.front().values.front());
    return result.type && result.type->sizes.size() > rows.type->sizes.size();
  }

  // permute_copy and its kin: rows that the view does not mix its copy does not. (slice_scatter has
  // the tag, too.)
  static bool is_copied_view(const spec::OpRow& row) {
    return row.has_tag("view_copy") && row.schema.base_name().ends_with("_copy");
  }

  // Whether an argument `dim` or `dims`, which is about the first operand, is the dimension of the
  // rows.
  [[nodiscard]] bool names_rows(const Graph& graph, const Node& node, const Value& rows) const {
    const auto dim = dim_of(rows);
    const Value* first = nullptr;
    spec::for_each_operand(node, [&](ValueId id) {
      if (first == nullptr) first = &graph.value(id);
    });
    if (!dim || first != &rows) return false;
    const auto rank = static_cast<std::int64_t>(rows.type->sizes.size());
    const auto is_it = [&](const spec::Argument& argument) {
      const auto* integer = argument.as<std::int64_t>();
      return integer && (*integer < 0 ? *integer + rank : *integer) == *dim;
    };
    return std::ranges::any_of(node.arguments, [&](const spec::NamedArgument& named) {
      if (named.name != "dim" && named.name != "dims") return false;
      const auto* list = named.argument.as<spec::Argument::List>();
      return list ? std::ranges::any_of(*list, is_it) : is_it(named.argument);
    });
  }

  void report(const Node& node, spec::Outcome outcome, const std::string& what) {
    out_.push_back({.rule = "V10.pad-mixes-rows",
                    .outcome = outcome,
                    .message = "'" + node.name + "' (" + node.op + ") " + what + ", and " +
                               symbol_ +
                               " is padded: rows behind the true size are garbage and would count",
                    .nodes = {node.name}});
  }

  // --- State ------------------------------------------------------------------------------------

  // A node that writes state from something with rows writes garbage rows, too.
  void check_state(const GraphFacts& facts) {
    std::set<std::uint32_t> state;
    for (std::size_t i = 0; i < facts.input_storages.size(); ++i) {
      const bool is_state = program_.inputs[i].kind != spec::InputKind::kUserInput;
      if (is_state && facts.input_storages[i]) state.insert(*facts.input_storages[i]);
    }
    for (std::uint32_t n = 0; n < facts.nodes.size(); ++n) {
      const NodeFact& fact = facts.nodes[n];
      const Graph& graph = *facts.frames[fact.frame].graph;
      bool writes_state = false;
      bool has_some_rows = false;  // what it reads, or what it writes: a view of as many rows
      for (const OperandFact& operand : fact.operands) {
        const bool is_state =
            operand.use.writes && operand.tensor && state.contains(operand.tensor->storage);
        writes_state = writes_state || is_state;
        const bool is_read = operand.use.reads && !operand.use.writes;
        has_some_rows =
            has_some_rows || ((is_state || is_read) && has_rows(graph.value(operand.use.value)));
      }
      const Node& node = facts.node(n);
      if (!writes_state || !has_some_rows || knows_the_count(graph, node)) continue;
      out_.push_back({.rule = "V10.pad-state",
                      .message = "'" + node.name + "' (" + node.op +
                                 ") writes state from a tensor with " + symbol_ + " rows, and " +
                                 symbol_ + " is padded: rows behind the true size are written, too",
                      .nodes = {node.name}});
    }
  }

  const RuleCase& rule_case_;
  const Plan& plan_;
  const spec::Program& program_;
  const std::string& symbol_;
  Findings& out_;
};

}  // namespace

void check_padding(const RuleCase& rule_case, Findings& out) {
  const bool can = rule_case.plan().padding && rule_case.plan_case.program != nullptr &&
                   rule_case.plan_case.program->inputs.size() == rule_case.plan().inputs.size();
  if (can) PaddingCheck(rule_case, out).check();
}

}  // namespace graphgate::verify
