#include "reference/interpreter.h"

#include "reference/complex_calls.h"
#include "reference/effects_audit.h"
#include "reference/follow.h"
#include "reference/higher_order.h"
#include "reference/overlap.h"
#include "spec/missing_op.h"
#include "spec/provenance.h"

namespace graphgate::reference {
namespace {

// For every node, the values whose last mention it is. Outputs never die.
std::vector<std::vector<spec::ValueId>> last_uses(const spec::Graph& graph) {
  constexpr std::size_t kNever = static_cast<std::size_t>(-1);
  std::vector<std::size_t> last(graph.values.size(), kNever);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for_each_operand(graph.nodes[n], [&](spec::ValueId id) { last[id.index] = n; });
    for (const spec::NodeResult& result : graph.nodes[n].results) {
      for (const spec::ValueId id : result.values) last[id.index] = n;
    }
  }
  for (const spec::Argument& output : graph.outputs) {
    for_each_value(output, [&](spec::ValueId id) { last[id.index] = kNever; });
  }
  std::vector<std::vector<spec::ValueId>> dying(graph.nodes.size());
  for (std::size_t v = 0; v < last.size(); ++v) {
    if (last[v] != kNever) dying[last[v]].push_back({static_cast<std::uint32_t>(v)});
  }
  return dying;
}

// Adds the ops without a body of a node that holds others. kBadInput where it names no op.
Result<void> add_ops_without_body(const spec::Node& node, const spec::OpTable& ops,
                                  spec::MissingOps& missing) {
  auto checked = check_higher_order(node, ops);
  if (checked.ok()) return {};
  if (checked.error().kind != ErrorKind::kUnsupported) return checked;
  for (const std::string& op : spec::missing_ops_in(checked.error().message)) {
    missing.add(node.name, op);
  }
  return {};
}

// Adds the node's op where it has no body; then the step cannot run.
Result<Prepared::Step> prepare_step(const spec::Node& node, const spec::OpTable& ops,
                                    spec::MissingOps& missing) {
  Prepared::Step step;
  step.node = &node;
  if (is_higher_order(node.op)) {
    GRAPHGATE_TRY_VOID(add_ops_without_body(node, ops, missing));
    return step;
  }
  step.row = ops.find(node.op);
  if (step.row) step.body = find_body(*step.row);
  if (step.body) {
    step.given = find_given(step.row->schema, node.arguments);
  } else {
    missing.add(node.name, node.op);
  }
  return step;
}

void bind_results(const spec::Node& node, std::vector<Datum> results, Environment& environment) {
  std::size_t next = 0;
  for (const spec::NodeResult& result : node.results) {
    if (next == results.size()) return;  // a None place of an op without returns
    Datum& datum = results[next++];
    if (!result.is_list) {
      environment[result.values.front().index] = std::move(datum);
      continue;
    }
    auto* list = std::get_if<Datum::List>(&datum.value);
    if (!list || list->size() != result.values.size()) {
      throw OpError("the op does not return as many tensors as the program says");
    }
    for (std::size_t i = 0; i < list->size(); ++i) {
      environment[result.values[i].index] = std::move((*list)[i]);
    }
  }
}

// Adds the ops without a body, of subgraphs too. kBadInput for a node that names no op.
Result<Prepared> prepare_graph(const spec::Graph& graph, const spec::OpTable& ops,
                               spec::MissingOps& missing) {
  Prepared prepared;
  prepared.graph = &graph;
  auto dying = last_uses(graph);
  prepared.steps.reserve(graph.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    GRAPHGATE_TRY(Prepared::Step step, prepare_step(graph.nodes[n], ops, missing));
    step.dying = std::move(dying[n]);
    prepared.steps.push_back(std::move(step));
  }
  for (const spec::Graph& subgraph : graph.subgraphs) {
    GRAPHGATE_TRY(prepared.subgraphs.emplace_back(), prepare_graph(subgraph, ops, missing));
  }
  return prepared;
}

}  // namespace

Result<Prepared> prepare(const spec::Graph& graph, const spec::OpTable& ops) {
  spec::MissingOps missing;
  GRAPHGATE_TRY(Prepared prepared, prepare_graph(graph, ops, missing));
  if (!missing.empty()) return missing.error(spec::kNoBody);
  return prepared;
}

namespace {

std::vector<Datum> run_body(const spec::OpRow& row, Body body, const std::vector<Datum>& arguments,
                            const Run& run) {
  const bool is_provenance = run.options.mode == Mode::kProvenance;
  require_no_partial_overlap(row, arguments);
  Call call(is_provenance ? Mode::kEager : run.options.mode, row, arguments);
  call.seed_draws(spec::mix_provenance(run.executor_call, ++run.ops_run), run.options.knows_draws);
  if (!run.options.audit_effects) {
    run_call(body, call);
    return std::move(call.results());
  }
  const EffectsAudit audit(row, arguments);
  run_call(body, call);
  audit.check(call.results());
  return std::move(call.results());
}

// Of all that the op can have made: what it was given and left alone has no errors to draw.
void draw_errors_of(const std::vector<Datum>& data, const Trial& trial) {
  for (const Datum& datum : data) {
    for_each_tensor(datum, [&](const TensorRef& tensor) { draw_errors(*tensor, trial); });
  }
}

}  // namespace

namespace {

// Words know nothing of parts, nor of views that are read with other signs.
void require_real_words(std::span<const Datum> data, const Run& run) {
  if (!run.options.provenance_words || !touches_complex(data)) return;
  throw Undecidable("provenance follows no complex numbers");
}

}  // namespace

std::vector<Datum> run_op(const spec::OpRow& row, Body body, const std::vector<Datum>& arguments,
                          const Run& run) {
  if (!run.provenance) {
    std::vector<Datum> results = run_body(row, body, arguments, run);
    if (run.options.trial) {
      draw_errors_of(arguments, *run.options.trial);
      draw_errors_of(results, *run.options.trial);
    }
    return results;
  }
  if (run.options.provenance_words && is_made_of_others(row)) {
    throw Undecidable("provenance follows no op that is made of others: its parts make the words");
  }
  require_real_words(arguments, run);
  const Provenance::Operation operation =
      run.provenance->before_op(row, body, arguments, *run.node, *run.graph);
  std::vector<Datum> results = run_body(row, body, arguments, run);
  require_real_words(results, run);
  run.provenance->after_op(operation, results);
  return results;
}

namespace {

// The first operand whose strides are not those that the program says, in words; empty for none.
// Strides of dimensions of size 1 mean nothing.
std::string operand_with_other_strides(const spec::Graph& graph, const spec::Node& node,
                                       const Environment& environment) {
  std::string found;
  spec::for_each_operand(node, [&](spec::ValueId id) {
    const spec::Value& value = graph.value(id);
    const auto* tensor = environment[id.index].as<TensorRef>();
    if (!found.empty() || !tensor || !value.type) return;
    const std::vector<spec::SymExpr>& said = value.type->strides;
    if (said.size() != (*tensor)->strides.size()) return;
    for (std::size_t d = 0; d < said.size(); ++d) {
      if (!said[d].is_constant() || (*tensor)->sizes[d] == 1) continue;
      if (said[d].constant() == (*tensor)->strides[d]) continue;
      found = "'" + value.name + "' has strides " + print_sizes((*tensor)->strides) +
              ", and others in the program";
      return;
    }
  });
  return found;
}

std::vector<Datum> run_step(const Prepared::Step& step, const Environment& environment,
                            const Run& run) {
  const std::vector<Datum> arguments = bind_arguments(step.row->schema, step.given, environment);
  std::vector<Datum> results = run_op(*step.row, step.body, arguments, run);
  OpenChoices::look_at(*step.row, arguments, results, run);
  return results;
}

// A program was traced with strides that its own ops do not give, where a decomposition of
// PyTorch's makes others than the op: then a view of them may not be there, and PyTorch refuses it
// as well. That is no fault of who hands the program in.
std::vector<Datum> run_step_as_traced(const Prepared::Step& step, const Environment& environment,
                                      const Run& run) {
  if (!step.row->effects.is_view) return run_step(step, environment, run);
  try {
    return run_step(step, environment, run);
  } catch (const OpError& error) {
    const std::string other = operand_with_other_strides(*run.graph, *step.node, environment);
    if (other.empty()) throw;
    throw Undecidable(std::string(error.what()) + "; " + other);
  }
}

}  // namespace

std::vector<Datum> run_graph(const Prepared& prepared, std::vector<Datum> inputs, Run& run) {
  const spec::Graph& graph = *prepared.graph;
  if (inputs.size() != graph.inputs.size()) throw OpError("a subgraph has another input count");
  Environment environment(graph.values.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    environment[graph.inputs[i].index] = std::move(inputs[i]);
  }
  for (const Prepared::Step& step : prepared.steps) {
    run.node = step.node;
    run.graph = &graph;
    std::vector<Datum> results = step.row
                                     ? run_step_as_traced(step, environment, run)
                                     : run_higher_order(prepared, *step.node, environment, run);
    bind_results(*step.node, std::move(results), environment);
    for (const spec::ValueId id : step.dying) environment[id.index].value = spec::None{};
  }
  std::vector<Datum> outputs;
  outputs.reserve(graph.outputs.size());
  for (const spec::Argument& output : graph.outputs) {
    outputs.push_back(evaluate_argument(output, environment));
  }
  return outputs;
}

bool truth(const Datum& datum) {
  if (const auto* b = datum.as<bool>()) return *b;
  if (const auto* i = datum.as<std::int64_t>()) return *i != 0;
  if (const double* x = decided_float(datum)) return *x != 0;
  const auto* tensor = datum.as<TensorRef>();
  if (!tensor || (*tensor)->count() != 1) {
    throw OpError("a condition must be a number or a tensor of one element");
  }
  require_decided(**tensor);
  return load<Whole>(**tensor, spec::DType::kBool)[0].value != 0;
}

}  // namespace graphgate::reference
