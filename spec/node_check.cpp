#include "spec/node_check.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "spec/argument_text.h"
#include "spec/base_name.h"
#include "spec/graph_text.h"
#include "spec/type_text.h"

namespace graphgate::spec {
namespace {

// What an argument is to a schema, whether a constant or a value.
enum class Shape { kNone, kTensor, kTensorList, kBool, kInt, kFloat, kComplex, kList, kOther };

Shape shape_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::kTensor:
      return Shape::kTensor;
    case ValueKind::kTensorList:
      return Shape::kTensorList;
    case ValueKind::kSymInt:
      return Shape::kInt;
    case ValueKind::kSymFloat:
      return Shape::kFloat;
    case ValueKind::kSymBool:
      return Shape::kBool;
    case ValueKind::kNone:
      return Shape::kNone;
  }
  return Shape::kOther;
}

Shape shape_of(const Graph& graph, const Argument& argument) {
  if (const auto* id = argument.as<ValueId>()) return shape_of(graph.value(*id).kind);
  if (argument.as<None>() != nullptr) return Shape::kNone;
  if (argument.as<bool>() != nullptr) return Shape::kBool;
  if (argument.as<std::int64_t>() != nullptr) return Shape::kInt;
  if (argument.as<double>() != nullptr) return Shape::kFloat;
  if (argument.as<ComplexNumber>() != nullptr) return Shape::kComplex;
  if (argument.as<Argument::List>() != nullptr) return Shape::kList;
  return Shape::kOther;
}

// Whether one argument, no list and not None, fits a base type.
bool fits_base(BaseType base, Shape shape, const Argument& argument) {
  const bool number = shape == Shape::kBool || shape == Shape::kInt || shape == Shape::kFloat;
  switch (base) {
    case BaseType::kTensor:
      return shape == Shape::kTensor || number || shape == Shape::kComplex;
    case BaseType::kGenerator:
      return shape == Shape::kTensor;  // that holds the generator's state
    case BaseType::kInt:
    case BaseType::kSymInt:
      return shape == Shape::kInt || shape == Shape::kBool;
    case BaseType::kBool:
    case BaseType::kSymBool:
      return shape == Shape::kBool;
    case BaseType::kFloat:
    case BaseType::kSymFloat:
      return number;
    case BaseType::kComplex:
    case BaseType::kScalar:
      return number || shape == Shape::kComplex;
    case BaseType::kString:
      return argument.as<std::string>() != nullptr;
    case BaseType::kScalarType:
      return argument.as<DType>() != nullptr;
    case BaseType::kDevice:
      return argument.as<Device>() != nullptr;
    case BaseType::kLayout:
      return argument.as<Layout>() != nullptr;
    case BaseType::kMemoryFormat:
      return argument.as<MemoryFormat>() != nullptr;
    case BaseType::kAny:
      return true;
    default:
      return false;
  }
}

// Types that None can stand for, and nothing else but a generator's state.
bool has_no_value(BaseType base) {
  return base == BaseType::kGenerator || base == BaseType::kQScheme || base == BaseType::kDimname ||
         base == BaseType::kStorage || base == BaseType::kStream;
}

class TypeChecker {
 public:
  explicit TypeChecker(const Graph& graph) : graph_(graph) {}

  bool fits(const SchemaType& type, const Argument& argument) const {
    const Shape shape = shape_of(graph_, argument);
    if (shape == Shape::kNone && (type.optional || has_no_value(type.base))) return true;
    return fits_level(type, type.list_sizes.size(), argument);
  }

 private:
  // `levels` of list nesting are still to come.
  bool fits_level(const SchemaType& type, std::size_t levels, const Argument& argument) const {
    const Shape shape = shape_of(graph_, argument);
    if (levels == 0) {
      if (shape == Shape::kNone) return type.optional_element || type.base == BaseType::kAny;
      return fits_base(type.base, shape, argument);
    }
    if (const auto* list = argument.as<Argument::List>()) {
      return std::all_of(list->begin(), list->end(), [&](const Argument& element) {
        return fits_level(type, levels - 1, element);
      });
    }
    if (shape == Shape::kTensorList) return type.holds_tensors();
    const bool repeated = type.list_sizes[levels - 1].has_value();
    return repeated && shape != Shape::kNone && fits_level(type, levels - 1, argument);
  }

  const Graph& graph_;
};

bool result_fits(const Graph& graph, const SchemaType& type, const NodeResult& result) {
  const auto kind_is = [&](ValueId id, ValueKind kind) { return graph.value(id).kind == kind; };
  if (result.is_list) {
    return type.is_list() && std::all_of(result.values.begin(), result.values.end(), [&](auto id) {
             return type.holds_tensors()
                        ? kind_is(id, ValueKind::kTensor) || kind_is(id, ValueKind::kNone)
                        : !kind_is(id, ValueKind::kTensor);
           });
  }
  const ValueKind kind = graph.value(result.values.front()).kind;
  if (kind == ValueKind::kNone) return true;  // a place in a tuple that nobody uses
  if (type.is_list()) return kind == ValueKind::kTensorList && type.holds_tensors();
  switch (type.base) {
    case BaseType::kTensor:
      return kind == ValueKind::kTensor;
    case BaseType::kInt:
    case BaseType::kSymInt:
      return kind == ValueKind::kSymInt;
    case BaseType::kFloat:
    case BaseType::kSymFloat:
      return kind == ValueKind::kSymFloat;
    case BaseType::kBool:
    case BaseType::kSymBool:
      return kind == ValueKind::kSymBool;
    case BaseType::kScalar:
      return is_symbolic(kind);
    case BaseType::kAny:
      return true;
    default:
      return false;
  }
}

Result<void> check_arguments(const Graph& graph, const Node& node, const OpSchema& schema) {
  std::vector<bool> given(schema.arguments.size(), false);
  const TypeChecker types(graph);
  for (const NamedArgument& named : node.arguments) {
    const auto index = schema.find_argument(named.name);
    const auto place = [&] { return "argument '" + named.name + "'"; };
    if (!index) return bad_input("the schema has no such argument").at(place());
    if (given[*index]) return bad_input("it is given twice").at(place());
    given[*index] = true;
    if (types.fits(schema.arguments[*index].type, named.argument)) continue;
    std::string shown;
    print_argument(graph, named.argument, shown);
    return bad_input("expected " + print_type(schema.arguments[*index].type) + ", found " + shown)
        .at(place());
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] || schema.arguments[i].default_value) continue;
    return bad_input("argument '" + schema.arguments[i].name + "' is missing");
  }
  return {};
}

Result<void> check_results(const Graph& graph, const Node& node, const OpSchema& schema) {
  const bool none_alone = schema.returns.empty() && node.results.size() == 1 &&
                          !node.results[0].is_list &&
                          graph.value(node.results[0].values[0]).kind == ValueKind::kNone;
  if (none_alone) return {};
  if (node.results.size() != schema.returns.size()) {
    return bad_input("the schema has " + std::to_string(schema.returns.size()) +
                     " results, the node " + std::to_string(node.results.size()));
  }
  for (std::size_t i = 0; i < node.results.size(); ++i) {
    if (result_fits(graph, schema.returns[i].type, node.results[i])) continue;
    return bad_input("result " + std::to_string(i) + " is no " +
                     print_type(schema.returns[i].type));
  }
  return {};
}

// Ops of PyTorch, beside those with the tag `pointwise`, whose kernels refuse tensors on two
// devices. Not here: who copies, takes indices or a source from elsewhere, or looks at sizes alone.
constexpr std::array<std::string_view, 16> kOneDeviceOps = {
    "addbmm", "addmm",        "addmv",  "baddbmm", "bmm", "cat", "convolution", "dot",
    "gather", "index_select", "linear", "matmul",  "mm",  "mv",  "stack",       "where"};

bool wants_one_device(const OpRow& row) {
  if (row.schema.ns != "aten") return false;
  return row.has_tag("pointwise") ||
         std::ranges::binary_search(kOneDeviceOps, base_name_of(row.schema));
}

// PyTorch refuses a node whose tensors are on two devices, in eager mode and when it traces. One
// without dimensions on the CPU stands for a number. A value without a type tells nothing.
Result<void> check_devices(const Graph& graph, const Node& node, const OpRow& row) {
  if (!wants_one_device(row)) return {};
  const std::string* owner = nullptr;
  const Device* home = nullptr;
  for (const NamedArgument& named : node.arguments) {
    std::optional<Error> error;
    for_each_value(named.argument, [&](ValueId id) {
      const Value& value = graph.value(id);
      if (error || value.kind != ValueKind::kTensor || !value.type) return;
      const Device& device = value.type->device;
      if (device.type == "cpu" && value.type->sizes.empty()) return;
      if (home == nullptr) {
        owner = &named.name;
        home = &device;
      } else if (device.type != home->type) {
        error = bad_input("it is on " + print_device_name(device) + ", and '" + *owner + "' on " +
                          print_device_name(*home) +
                          "; only a CPU tensor without dimensions goes with another device")
                    .at("argument '" + named.name + "'");
      }
    });
    if (error) return *error;
  }
  return {};
}

Result<void> check_node(const Graph& graph, const Node& node, const OpTable& ops) {
  if (is_higher_order(node.op)) return {};
  const OpRow* row = ops.find(node.op);
  if (row == nullptr) return {};  // missing_op.h says so
  GRAPHGATE_TRY_VOID(check_arguments(graph, node, row->schema));
  GRAPHGATE_TRY_VOID(check_devices(graph, node, *row));
  return check_results(graph, node, row->schema);
}

}  // namespace

Result<void> check_nodes(const Graph& graph, const OpTable& ops) {
  for (const Node& node : graph.nodes) {
    const auto result = check_node(graph, node, ops);
    if (!result.ok()) return result.error().at("node '" + node.name + "' (" + node.op + ")");
  }
  for (const Graph& subgraph : graph.subgraphs) {
    const auto result = check_nodes(subgraph, ops);
    if (!result.ok()) return result.error().at("graph '" + subgraph.name + "'");
  }
  return {};
}

}  // namespace graphgate::spec
