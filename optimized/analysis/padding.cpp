#include "optimized/analysis/padding.h"

#include <algorithm>
#include <exception>
#include <set>

#include "optimized/binding.h"
#include "optimized/passes/pass.h"
#include "spec/graph_text.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;
using spec::ValueId;

// Thrown where the proof ends.
class Refused : public std::exception {
 public:
  explicit Refused(std::string words) : why(std::move(words)) {}
  [[nodiscard]] const char* what() const noexcept override { return why.c_str(); }
  const std::string why;
};

class Prover {
 public:
  Prover(const spec::Program& program, const spec::Graph& graph, std::string_view symbol,
         const spec::OpTable& ops, const spec::DeviationSet& deviations)
      : program_(program), graph_(graph), symbol_(symbol), ops_(ops), deviations_(deviations) {
    facts_.resize(graph.values.size());
    roots_.resize(graph.values.size());
    hangs_.resize(graph.values.size(), false);
    for (std::uint32_t v = 0; v < roots_.size(); ++v) roots_[v] = {v};
  }

  void prove() {
    for (const spec::ProgramInput& input : program_.inputs) {
      if (!input.constant) add_input(input);
    }
    for (const spec::Node& node : graph_.nodes) {
      try {
        look_at(node);
      } catch (const Refused& refused) {
        throw Refused{"node '" + node.name + "' (" + node.op + "): " + refused.why};
      }
    }
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) look_at_output(i);
  }

 private:
  // The declared type says where the rows are; a value without one says nothing.
  void add_fact(ValueId id) {
    const spec::Value& value = graph_.value(id);
    if (value.kind == spec::ValueKind::kNone) return;
    if (value.kind == spec::ValueKind::kTensorList) return;
    if (value.kind != spec::ValueKind::kTensor) {
      if (value.expr) hangs_[id.index] = mentions(*value.expr, symbol_);
      return;
    }
    if (!value.type) throw Refused{"'" + value.name + "' has no stated type"};
    const auto rows = find_row_dim(*value.type, symbol_);
    if (!rows.ok()) throw Refused{"'" + value.name + "' " + rows.error().message};
    facts_[id.index] = {&*value.type, rows.value(), false};
  }

  void add_input(const spec::ProgramInput& input) {
    try {
      add_fact(input.value);
    } catch (const Refused& refused) {
      throw Refused{"input " + refused.why};
    }
    if (input.kind != spec::InputKind::kUserInput) states_.insert(input.value.index);
    const RowFact& fact = facts_[input.value.index];
    if (fact.rows && !(fact.rows->per_row == SizeProduct{})) {
      throw Refused{"input '" + input.target + "' has '" + symbol_ + "' in a product"};
    }
  }

  [[nodiscard]] const RowFact* fact_of(ValueId id) const {
    const RowFact& fact = facts_[id.index];
    return fact.type ? &fact : nullptr;
  }

  void look_at(const spec::Node& node) {
    for (const ValueId id : flat_results(node)) add_fact(id);
    if (spec::is_higher_order(node.op)) {
      refuse_rows(node, "holds subgraphs");
      return;
    }
    const spec::OpRow* row = ops_.find(node.op);
    if (!row) throw Refused{"is not known"};
    const RowCall call(*row, node, [this](ValueId id) { return fact_of(id); });
    if (row->schema.ns == "_operator" && row->schema.name == "getitem") return;
    spec::for_each_operand(node, [&](ValueId id) {
      // What is in it is known only where it is taken apart.
      if (graph_.value(id).kind == spec::ValueKind::kTensorList)
        throw Refused{"takes a whole list"};
    });
    pass_numbers_on(*row, node);
    pass_roots_on(*row, node);
    const bool has_rows = touches_rows(call);
    if (has_rows) {
      look_at_effects(*row);
      const RowRule rule = find_row_rule(*row, ops_);
      refuse(rule ? rule(call)
                  : std::optional(
                        Refusal{Refusal::Kind::kMixesRows, "is not known to keep rows apart"}));
      look_at_writes(*row, node);
    }
    if (call.results().size() == 1) {
      facts_[flat_results(node).front().index].is_row_number = makes_row_numbers(call);
    }
  }

  [[nodiscard]] static bool touches_rows(const RowCall& call) {
    const auto has = [](const RowFact* fact) { return fact->rows.has_value(); };
    return std::ranges::any_of(call.operands(), has) || std::ranges::any_of(call.results(), has);
  }

  void refuse_rows(const spec::Node& node, const char* why) const {
    bool has_rows = false;
    const auto look = [&](ValueId id) {
      has_rows |= facts_[id.index].rows.has_value() || hangs_[id.index];
    };
    spec::for_each_operand(node, look);
    for (const ValueId id : flat_results(node)) look(id);
    if (has_rows) throw Refused{why};
  }

  void refuse(const std::optional<Refusal>& refusal) const {
    if (!refusal) return;
    using Kind = Refusal::Kind;
    const bool is_ignored =
        (refusal->kind == Kind::kMixesRows && deviations_.has(Deviation::kPadsThroughReductions)) ||
        (refusal->kind == Kind::kScatters && deviations_.has(Deviation::kPadsThroughScatters)) ||
        (refusal->kind == Kind::kWritesState && deviations_.has(Deviation::kPadsThroughState));
    if (!is_ignored) throw Refused{refusal->why};
  }

  void look_at_effects(const spec::OpRow& row) const {
    if (!row.hidden_state_reads.empty() || !row.hidden_state_writes.empty()) {
      refuse(Refusal{Refusal::Kind::kWritesState, "reads or writes hidden state"});
    }
    if (!row.orders.empty()) refuse(Refusal{Refusal::Kind::kWritesState, "is ordered by a token"});
  }

  // Rows belong into storages that have them.
  void look_at_writes(const spec::OpRow& row, const spec::Node& node) const {
    for (std::size_t a = 0; a < row.schema.arguments.size(); ++a) {
      if (!row.writes(a)) continue;
      const spec::Argument* argument = find_argument(node.arguments, row.schema.arguments[a].name);
      if (!argument) continue;
      spec::for_each_value(*argument, [&](ValueId id) {
        for (const std::uint32_t root : roots_[id.index]) {
          const std::string name = "'" + graph_.values[root].name + "'";
          if (states_.contains(root)) {
            refuse(Refusal{Refusal::Kind::kWritesState, "writes rows into state " + name});
          } else if (!facts_[root].rows) {
            refuse(Refusal{Refusal::Kind::kScatters, "writes rows into " + name});
          }
        }
      });
    }
  }

  // sym_size of the dimension that counts the rows.
  [[nodiscard]] bool is_row_count(const spec::OpRow& row, const spec::Node& node) const {
    if (row.schema.base_name() != "sym_size") return false;
    const RowCall call(row, node, [this](ValueId id) { return fact_of(id); });
    const RowFact* self = call.tensor("self");
    const auto dim = call.integer("dim");
    if (!self || !self->rows || !dim) return self && self->rows;
    const auto rank = static_cast<std::int64_t>(self->rows->rank);
    return static_cast<std::size_t>(*dim < 0 ? *dim + rank : *dim) == self->rows->dim;
  }

  // A number depends on the symbol when it is a size that does, or is computed of such numbers.
  void pass_numbers_on(const spec::OpRow& row, const spec::Node& node) {
    bool hangs = false;
    for (const spec::NamedArgument& named : node.arguments) {
      spec::for_each_value(named.argument, [&](ValueId id) {
        if (!hangs_[id.index]) return;
        hangs = true;
        if (!is_size_argument(row, named.name)) {
          throw Refused{"computes with '" + graph_.value(id).name + "', which depends on '" +
                        symbol_ + "'"};
        }
      });
    }
    hangs |= is_row_count(row, node);
    for (const ValueId id : flat_results(node)) {
      const spec::Value& value = graph_.value(id);
      const bool is_number =
          value.kind != spec::ValueKind::kTensor && value.kind != spec::ValueKind::kTensorList;
      if (is_number && !value.expr && hangs) hangs_[id.index] = true;
    }
  }

  // Results that may share a storage with operands have the roots of all of them.
  void pass_roots_on(const spec::OpRow& row, const spec::Node& node) {
    for (std::size_t r = 0; r < node.results.size() && r < row.effects.returns.size(); ++r) {
      std::set<std::uint32_t> roots;
      const auto add = [&](std::string_view name) {
        const spec::Argument* argument = find_argument(node.arguments, name);
        if (!argument) return;
        spec::for_each_value(*argument, [&](ValueId id) {
          roots.insert(roots_[id.index].begin(), roots_[id.index].end());
        });
      };
      for (const std::size_t a : row.effects.returns[r].aliases) {
        add(row.schema.arguments[a].name);
      }
      for (const std::string& name : row.undeclared_aliases) add(name);
      if (roots.empty()) continue;
      for (const ValueId id : node.results[r].values) roots_[id.index] = roots;
    }
  }

  void look_at_output(std::size_t index) const {
    const auto* id = graph_.outputs[index].as<ValueId>();
    if (!id) return;
    const std::string name = "output '" + graph_.value(*id).name + "' ";
    if (hangs_[id->index]) throw Refused{name + "is a number that depends on '" + symbol_ + "'"};
    const RowFact& fact = facts_[id->index];
    if (fact.rows && !(fact.rows->per_row == SizeProduct{})) {
      throw Refused{name + "has '" + symbol_ + "' in a product"};
    }
    const bool is_state = program_.outputs[index].kind == spec::OutputKind::kBufferMutation ||
                          program_.outputs[index].kind == spec::OutputKind::kParameterMutation;
    if (is_state && fact.rows) throw Refused{name + "is state with rows"};
  }

  const spec::Program& program_;
  const spec::Graph& graph_;
  std::string symbol_;
  const spec::OpTable& ops_;
  const spec::DeviationSet& deviations_;
  std::vector<RowFact> facts_;                  // by value
  std::vector<std::set<std::uint32_t>> roots_;  // by value: the values whose storage it may be in
  std::vector<bool> hangs_;                     // by value: a number that depends on the symbol
  std::set<std::uint32_t> states_;              // values that are parameters, buffers, constants
};

std::optional<std::uint32_t> dim_of(const spec::Value& value, std::string_view symbol) {
  if (value.kind != spec::ValueKind::kTensor || !value.type) return {};
  const auto rows = find_row_dim(*value.type, symbol);
  if (!rows.ok() || !rows.value() || !(rows.value()->per_row == SizeProduct{})) return {};
  return static_cast<std::uint32_t>(rows.value()->dim);
}

}  // namespace

spec::PlanPadding padded_dims(const spec::Program& program, std::string_view symbol) {
  spec::PlanPadding padding{std::string(symbol), {}, {}};
  for (const spec::ProgramInput& input : program.inputs) {
    padding.input_dims.push_back(input.constant ? std::nullopt
                                                : dim_of(program.graph.value(input.value), symbol));
  }
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    if (program.outputs[i].kind != spec::OutputKind::kUserOutput) continue;
    const auto* id = program.graph.outputs[i].as<ValueId>();
    padding.output_dims.push_back(id ? dim_of(program.graph.value(*id), symbol) : std::nullopt);
  }
  return padding;
}

PaddingProof prove_padding(const spec::Program& program, std::string_view symbol,
                           const spec::OpTable& ops, const spec::DeviationSet& deviations) {
  spec::PlanPadding padding = padded_dims(program, symbol);
  const bool is_counted =
      std::ranges::any_of(padding.input_dims, [](const auto& dim) { return dim.has_value(); });
  if (!is_counted) return {{}, "no input has '" + std::string(symbol) + "' as a dimension"};
  spec::Graph graph = program.graph;
  PassContext context(ops);
  undo_functionalization(graph, context);
  try {
    Prover(program, graph, symbol, ops, deviations).prove();
  } catch (const Refused& refused) {
    return {{}, refused.why};
  }
  return {std::move(padding), {}};
}

}  // namespace graphgate::optimized
