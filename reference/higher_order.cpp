#include "reference/higher_order.h"

#include <algorithm>

#include "reference/follow.h"
#include "reference/loops.h"
#include "reference/ops/view.h"
#include "spec/follow.h"
#include "spec/loops.h"
#include "spec/missing_op.h"

namespace graphgate::reference {
namespace {

constexpr std::string_view kCond = "higher_order.cond";
constexpr std::string_view kAutoFunctionalized = "higher_order.auto_functionalized_v2";
constexpr std::string_view kFirstAutoFunctionalized = "higher_order.auto_functionalized";

bool is_auto_functionalized(std::string_view op) {
  return op == kAutoFunctionalized || op == kFirstAutoFunctionalized;
}

const spec::Argument& operand(const spec::Node& node, std::size_t index) {
  if (index >= node.arguments.size()) throw OpError("too few operands");
  return node.arguments[index].argument;
}

const Prepared& branch(const Prepared& prepared, const spec::Argument& argument) {
  const auto* id = argument.as<spec::SubgraphId>();
  if (!id || id->index >= prepared.subgraphs.size()) throw OpError("expected a subgraph");
  return prepared.subgraphs[id->index];
}

std::vector<Datum> run_cond(const Prepared& prepared, const spec::Node& node,
                            const Environment& environment, Run& run) {
  const bool taken = truth(evaluate_argument(operand(node, 0), environment));
  const Prepared& chosen = branch(prepared, operand(node, taken ? 1 : 2));
  std::vector<Datum> inputs;
  if (node.arguments.size() > 3) {
    const Datum operands = evaluate_argument(operand(node, 3), environment);
    if (const auto* list = operands.as<Datum::List>()) inputs = *list;
  }
  std::vector<Datum> results = run_graph(chosen, std::move(inputs), run);
  run.node = &node;
  return results;
}

// A copy of a tensor with a storage of its own and the same geometry.
TensorRef clone_with_geometry(const Tensor& tensor, Provenance* provenance) {
  auto copy = std::make_shared<Tensor>(tensor);
  copy->storage = std::make_shared<Storage>(*tensor.storage);
  copy->storage->borrowed = true;  // bytes are copied by the first write
  if (provenance) provenance->duplicate(*tensor.storage, copy->storage);
  return copy;
}

// The keyword arguments of one auto_functionalized_v2 node.
class Keywords {
 public:
  Keywords(const spec::Node& node, const Environment& environment)
      : node_(node), environment_(environment) {}

  [[nodiscard]] Datum find(const std::string& name) const {
    for (const spec::NamedArgument& named : node_.arguments) {
      if (named.name == name) return evaluate_argument(named.argument, environment_);
    }
    return {};
  }
  [[nodiscard]] bool has(const std::string& name) const {
    return std::any_of(node_.arguments.begin(), node_.arguments.end(),
                       [&](const auto& named) { return named.name == name; });
  }
  [[nodiscard]] Sizes integers(const std::string& name) const {
    const Datum datum = find(name);
    Sizes out;
    if (const auto* list = datum.as<Datum::List>()) {
      for (const Datum& element : *list) out.push_back(as_integer(element, name));
    }
    return out;
  }
  [[nodiscard]] std::int64_t integer(const std::string& name) const {
    return as_integer(find(name), name);
  }

 private:
  static std::int64_t as_integer(const Datum& datum, const std::string& name) {
    const auto* value = datum.as<std::int64_t>();
    if (!value) throw OpError("expected an integer for '" + name + "'");
    return *value;
  }

  const spec::Node& node_;
  const Environment& environment_;
};

// The tensor that a written argument is: a base, or the described view of one.
Datum written_argument(const Keywords& keywords, const std::string& name,
                       const std::vector<TensorRef>& bases) {
  const std::string prefix = "_" + name;
  const Datum base_index = keywords.find(prefix + "_base_index");
  const auto* index = base_index.as<std::int64_t>();
  if (!index) return {};  // an optional argument that was None
  const auto position = static_cast<std::size_t>(*index);
  if (*index < 0 || position >= bases.size() || !bases[position]) {
    throw OpError("'" + prefix + "_base_index' names no base");
  }
  const TensorRef& base = bases[position];
  if (keywords.has(prefix + "_size")) {
    return {view_of(*base, strided_at(*base, keywords.integers(prefix + "_size"),
                                      keywords.integers(prefix + "_stride"),
                                      keywords.integer(prefix + "_storage_offset")))};
  }
  if (!keywords.has(prefix + "_slice_dim")) return {base};
  return {view_of(*base, sliced(*base, keywords.integer(prefix + "_slice_dim"),
                                keywords.integer(prefix + "_slice_start"),
                                keywords.integer(prefix + "_slice_end"), 1))};
}

// A written argument, or a written list of tensors (`_NAME_length`, `_NAME_0_base_index`...).
Datum written_datum(const Keywords& keywords, const std::string& name,
                    const std::vector<TensorRef>& bases) {
  if (!keywords.has("_" + name + "_length")) return written_argument(keywords, name, bases);
  Datum::List list;
  const std::int64_t length = keywords.integer("_" + name + "_length");
  for (std::int64_t i = 0; i < length; ++i) {
    list.push_back(written_argument(keywords, name + "_" + std::to_string(i), bases));
  }
  return {std::move(list)};
}

// The row of the op that an auto_functionalized_v2 node runs; null where nobody has it.
const spec::OpRow* wrapped_row(const spec::Node& node, const spec::OpTable& ops) {
  const auto* op = operand(node, 0).as<spec::OpName>();
  return op ? ops.find(op->name) : nullptr;
}

std::vector<Datum> run_auto_functionalized(const spec::Node& node, const Environment& environment,
                                           const Run& run) {
  const spec::OpRow* row = wrapped_row(node, *run.options.ops);  // check_higher_order has found it
  const Body body = find_body(*row);
  const Keywords keywords(node, environment);
  std::vector<TensorRef> bases;
  const Datum all_bases = keywords.find("_all_bases");
  if (const auto* list = all_bases.as<Datum::List>()) {
    for (const Datum& base : *list) {
      const auto* tensor = base.as<TensorRef>();
      bases.push_back(tensor ? clone_with_geometry(**tensor, run.provenance) : nullptr);
    }
  }
  std::vector<Datum> arguments;
  for (std::size_t i = 0; i < row->schema.arguments.size(); ++i) {
    const spec::SchemaArgument& parameter = row->schema.arguments[i];
    if (row->effects.mutates(i)) {
      arguments.push_back(written_datum(keywords, parameter.name, bases));
    } else {
      arguments.push_back(keywords.has(parameter.name) ? keywords.find(parameter.name)
                                                       : default_datum(parameter));
    }
  }
  std::vector<Datum> results = run_op(*row, body, arguments, run);
  if (row->schema.returns.empty()) results.push_back({});  // the place of the op's own result
  for (const TensorRef& base : bases) results.push_back(base ? Datum{base} : Datum{});
  return results;
}

// What a written argument of the first version holds, copied: a tensor, a list of them, or None.
Datum written_copy_of(const Datum& given, Provenance* provenance) {
  if (const auto* tensor = given.as<TensorRef>())
    return {clone_with_geometry(**tensor, provenance)};
  const auto* list = given.as<Datum::List>();
  if (!list) return given;
  Datum::List copies;
  for (const Datum& element : *list) copies.push_back(written_copy_of(element, provenance));
  return {std::move(copies)};
}

// The first version: the op's own parameters by name; each that it writes is copied on its own, and
// the copies follow the op's results, in the order of the parameters.
std::vector<Datum> run_first_auto_functionalized(const spec::Node& node,
                                                 const Environment& environment, const Run& run) {
  const spec::OpRow* row = wrapped_row(node, *run.options.ops);  // check_higher_order has found it
  const Keywords keywords(node, environment);
  std::vector<Datum> arguments;
  std::vector<Datum> written;
  for (std::size_t i = 0; i < row->schema.arguments.size(); ++i) {
    const spec::SchemaArgument& parameter = row->schema.arguments[i];
    Datum given =
        keywords.has(parameter.name) ? keywords.find(parameter.name) : default_datum(parameter);
    if (row->effects.mutates(i)) {
      given = written_copy_of(given, run.provenance);
      written.push_back(given);
    }
    arguments.push_back(std::move(given));
  }
  std::vector<Datum> results = run_op(*row, find_body(*row), arguments, run);
  if (row->schema.returns.empty()) results.push_back({});  // the place of the op's own result
  for (Datum& copy : written) results.push_back(std::move(copy));
  return results;
}

}  // namespace

bool is_higher_order(std::string_view op) {
  return op == kCond || is_auto_functionalized(op) || op == spec::kFollow || spec::is_loop(op);
}

Result<void> check_higher_order(const spec::Node& node, const spec::OpTable& ops) {
  if (!is_auto_functionalized(node.op)) return {};
  const std::string place = "node '" + node.name + "': ";
  const auto* op =
      node.arguments.empty() ? nullptr : node.arguments.front().argument.as<spec::OpName>();
  if (!op) return bad_input(place + node.op + " expects an op as its first operand");
  const spec::OpRow* row = wrapped_row(node, ops);
  if (row && find_body(*row)) return {};
  spec::MissingOps missing;
  missing.add(node.name, op->name);
  return missing.error(spec::kNoBody);
}

std::vector<Datum> run_higher_order(const Prepared& prepared, const spec::Node& node,
                                    const Environment& environment, Run& run) {
  if (node.op == kCond) return run_cond(prepared, node, environment, run);
  if (spec::is_loop(node.op)) return run_loop(prepared, node, environment, run);
  if (node.op == spec::kFollow) return run_follow(node, environment, run);
  if (node.op == kFirstAutoFunctionalized) {
    return run_first_auto_functionalized(node, environment, run);
  }
  return run_auto_functionalized(node, environment, run);
}

}  // namespace graphgate::reference
